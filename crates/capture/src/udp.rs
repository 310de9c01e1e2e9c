//! UDP flows: packets, octets, rate and gaps of both directions, and round trips of QUIC if its
//! spin bit is in use.

use std::collections::HashMap;
use std::net::SocketAddr;

use foldhash::fast::RandomState;
use umts_units::{Duration, Time};

use crate::copies::{Recent, digest_of_datagram};
use crate::ends::Ends;
use crate::packet::{OtherProtocol, Packet};
use crate::rtt::RttSums;

/// Default of the maximum number of flows with rows.
const MAX_FLOWS: usize = 1 << 16;

/// One UDP flow: all datagrams between two addresses and ports.
#[derive(Debug, Clone, PartialEq)]
pub struct UdpFlowRow {
    /// Number of the flow, from 0 in the order of the first packets.
    pub flow: u64,
    /// The end that sent the first datagram of the flow.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// The end that sent more octets of payload, which `sent` describes: `client` or `server`.
    pub sender: &'static str,
    /// Version of QUIC, if a packet of the flow has one.
    pub quic_version: Option<u32>,
    /// TEIDs of the GTP-U tunnels that last carried packets of the client and of the server.
    pub teid: [Option<u32>; 2],
    /// Time of the first packet, in seconds since the first packet of the capture.
    pub opened_s: f64,
    /// Time from the first packet to the last, of both directions.
    pub duration_s: f64,
    /// Datagrams of `sender`.
    pub sent: UdpDirection,
    /// Datagrams of the other end.
    pub reverse: UdpDirection,
}

/// One direction of a UDP flow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct UdpDirection {
    /// Number of datagrams.
    pub packets: u64,
    /// Octets of payload.
    pub payload_bytes: u64,
    /// Payload divided by the time from the first datagram to the last. `None` if that time is 0.
    pub rate_kbps: Option<f64>,
    /// Mean time between datagrams.
    pub mean_gap_s: Option<f64>,
    /// Longest time between datagrams.
    pub longest_gap_s: Option<f64>,
    /// Mean round trip between changes of QUIC's spin bit. `None` if the spin bit is not in use.
    pub spin_rtt_s: Option<f64>,
    /// Shortest round trip between changes of the spin bit.
    pub min_spin_rtt_s: Option<f64>,
    /// Number of round trips between changes of the spin bit.
    pub spin_rtt_samples: u64,
}

/// Flows beyond the limit, which have no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UdpRest {
    /// Number of datagrams.
    pub packets: u64,
    /// Octets of payload.
    pub payload_bytes: u64,
}

/// The flows of a capture.
#[derive(Debug)]
pub(crate) struct UdpFlows {
    numbers: HashMap<Ends, u32, RandomState>,
    flows: Vec<Flow>,
    max_flows: usize,
    recent: Recent,
    pub rest: UdpRest,
}

impl Default for UdpFlows {
    fn default() -> Self {
        UdpFlows {
            numbers: HashMap::default(),
            flows: Vec::new(),
            max_flows: MAX_FLOWS,
            recent: Recent::default(),
            rest: UdpRest::default(),
        }
    }
}

impl UdpFlows {
    pub fn limit(&mut self, flows: usize) {
        self.max_flows = flows;
    }

    /// Adds a datagram to its flow. Returns false if the datagram is a copy of another, which is
    /// not counted.
    pub fn datagram(&mut self, now: Time, packet: &Packet) -> bool {
        let digest = digest_of_datagram(packet);
        // Without a checksum, equal digests do not mean equal contents. Without an identification,
        // a program may have sent the same datagram again at once.
        let is_decisive = packet.datagram.checksum != 0 && packet.segment.identification != 0;
        if is_decisive && self.recent.age(now, digest).is_some() {
            return false;
        }
        let octets = u64::from(packet.segment.payload);
        let Some(flow) = self.flow_of(now, packet) else {
            self.rest.packets += 1;
            self.rest.payload_bytes += octets;
            return true;
        };
        flow.last = now;
        flow.version = flow.version.or_else(|| quic_version(packet));
        let direction = usize::from(packet.is_from_first != flow.client_is_first);
        if packet.teid.is_some() {
            flow.teid[direction] = packet.teid;
        }
        flow.directions[direction].packet(now, octets, packet.datagram.first);
        true
    }

    /// Returns the flow of a packet, which begins with its first packet. `None` if there are too
    /// many flows.
    fn flow_of(&mut self, now: Time, packet: &Packet) -> Option<&mut Flow> {
        if let Some(&number) = self.numbers.get(&packet.ends) {
            return self.flows.get_mut(number as usize);
        }
        if self.flows.len() >= self.max_flows {
            return None;
        }
        self.numbers.insert(packet.ends, self.flows.len() as u32);
        self.flows.push(Flow {
            ends: packet.ends,
            client_is_first: packet.is_from_first,
            first: now,
            last: now,
            version: None,
            teid: [None; 2],
            directions: Default::default(),
        });
        self.flows.last_mut()
    }

    /// Returns the rows of all flows. The capture's first packet came at `first`.
    pub fn rows(&self, first: Time) -> Vec<UdpFlowRow> {
        self.flows.iter().enumerate().map(|(number, flow)| flow.row(number as u64, first)).collect()
    }
}

/// Returns the protocol of an unsupported tunnel, by the ports of the datagram.
pub(crate) fn unread_tunnel(packet: &Packet) -> Option<OtherProtocol> {
    let Ends(first, second) = packet.ends;
    [first.port(), second.port()].into_iter().find_map(|port| match port {
        1701 => Some(OtherProtocol::L2tp),
        3544 => Some(OtherProtocol::Teredo),
        4790 => Some(OtherProtocol::VxlanGpe),
        5247 => Some(OtherProtocol::Capwap),
        _ => None,
    })
}

/// Returns the version in a long header, if it is 1, 2, or a draft of QUIC.
fn quic_version(packet: &Packet) -> Option<u32> {
    let has_fixed_bit = packet.datagram.first & 0x40 != 0;
    let is_known = |&version: &u32| matches!(version, 1 | 0x6b33_43cf | 0xff00_0000..=0xff00_ffff);
    packet.datagram.version.filter(|version| has_fixed_bit && is_known(version))
}

/// A flow, as far as it was captured.
#[derive(Debug)]
struct Flow {
    ends: Ends,
    client_is_first: bool,
    first: Time,
    last: Time,
    version: Option<u32>,
    teid: [Option<u32>; 2],
    directions: [DatagramDirection; 2],
}

impl Flow {
    /// Describes the flow. Its sender is the end that sent more octets.
    fn row(&self, flow: u64, first: Time) -> UdpFlowRow {
        let Ends(first_end, second_end) = self.ends;
        let (client, server) =
            if self.client_is_first { (first_end, second_end) } else { (second_end, first_end) };
        let sender = usize::from(self.directions[1].octets > self.directions[0].octets);
        let direction = |direction: usize| self.directions[direction].direction(self.version.is_some());
        UdpFlowRow {
            flow,
            client: client.socket_address(),
            server: server.socket_address(),
            sender: ["client", "server"][sender],
            quic_version: self.version,
            teid: self.teid,
            opened_s: self.first.saturating_since(first).as_secs(),
            duration_s: self.last.saturating_since(self.first).as_secs(),
            sent: direction(sender),
            reverse: direction(1 - sender),
        }
    }
}

/// The datagrams of one end of a flow.
#[derive(Debug, Default)]
struct DatagramDirection {
    packets: u64,
    octets: u64,
    first: Option<Time>,
    last: Time,
    longest_gap: Duration,
    spin: Spin,
}

impl DatagramDirection {
    fn packet(&mut self, now: Time, octets: u64, first_octet: u8) {
        if self.first.is_some() {
            self.longest_gap = self.longest_gap.max(now.saturating_since(self.last));
        }
        self.first.get_or_insert(now);
        self.last = now;
        self.packets += 1;
        self.octets += octets;
        // RFC 9000 §17.3.1: a short header, with the spin bit in it.
        if first_octet & 0xc0 == 0x40 {
            self.spin.packet(now, first_octet & 0x20 != 0);
        }
    }

    fn direction(&self, is_quic: bool) -> UdpDirection {
        let duration_s = self.first.map_or(0.0, |first| self.last.saturating_since(first).as_secs());
        let has_gaps = self.packets > 1;
        let rtt = if is_quic { self.spin.rtt() } else { RttSums::default() };
        UdpDirection {
            packets: self.packets,
            payload_bytes: self.octets,
            rate_kbps: (duration_s > 0.0).then(|| self.octets as f64 * 8.0 / 1e3 / duration_s),
            mean_gap_s: has_gaps.then(|| duration_s / (self.packets - 1) as f64),
            longest_gap_s: has_gaps.then(|| self.longest_gap.as_secs()),
            spin_rtt_s: rtt.mean_s(),
            min_spin_rtt_s: rtt.min_s(),
            spin_rtt_samples: rtt.count(),
        }
    }
}

/// QUIC's spin bit in one direction: it changes once per round trip (RFC 9000 §17.4).
#[derive(Debug, Default)]
struct Spin {
    /// Value of the last packet.
    last: Option<bool>,
    /// When the value last changed.
    changed: Option<Time>,
    packets: u64,
    changes: u64,
    /// Times between changes.
    rtt: RttSums,
}

impl Spin {
    fn packet(&mut self, now: Time, value: bool) {
        self.packets += 1;
        if self.last.replace(value).is_none_or(|last| last == value) {
            return;
        }
        self.changes += 1;
        if let Some(changed) = self.changed.replace(now) {
            self.rtt.record(now.saturating_since(changed));
        }
    }

    /// Returns the round trips. There are none if the bit is random, as an end without support may
    /// set it (RFC 9000 §17.4): about half of the packets then differ from the one before, within
    /// two standard deviations.
    fn rtt(&self) -> RttSums {
        let pairs = self.packets.saturating_sub(1) as f64;
        let distance_from_half = (self.changes as f64 - pairs / 2.0).abs();
        // The standard deviation of a binomial distribution of n pairs with probability 1/2 is
        // √n / 2.
        let two_deviations = pairs.sqrt();
        if distance_from_half <= two_deviations { RttSums::default() } else { self.rtt }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips of a spin bit with these values in successive packets, 10 ms apart.
    fn spin_of(values: impl Iterator<Item = bool>) -> RttSums {
        let mut spin = Spin::default();
        for (number, value) in values.enumerate() {
            spin.packet(Time::from_nanos(10_000_000 * number as u64), value);
        }
        spin.rtt()
    }

    #[test]
    fn spinning_bit_gives_round_trips() {
        // Eight packets per round trip: nine changes in 80 packets, with eight times between them.
        let rtt = spin_of((0..80).map(|number| number / 8 % 2 == 1));
        assert_eq!((rtt.count(), rtt.mean_s(), rtt.min_s()), (8, Some(0.08), Some(0.08)));
        // One packet per round trip: 39 changes.
        let rtt = spin_of((0..40).map(|number| number % 2 == 1));
        assert_eq!((rtt.count(), rtt.mean_s()), (38, Some(0.01)));
    }

    #[test]
    fn constant_or_random_bit_gives_no_round_trips() {
        assert_eq!(spin_of((0..100).map(|_| true)).count(), 0);
        // A linear congruential generator (Knuth).
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 63 == 1
        };
        assert_eq!(spin_of((0..1000).map(|_| random())).count(), 0);
    }
}
