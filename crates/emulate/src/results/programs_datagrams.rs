//! Metrics of the programs' UDP datagrams, derived from their packets by the recorder of simulated
//! datagrams.

use std::collections::BTreeMap;

use umts_kernel::TraceSink;
use umts_record::metrics::{MetricSet, Metrics, MetricsConfig};
use umts_stack::ids::{Direction, FlowId, PacketId};
use umts_stack::packet::{Content, Datagram, Packet};
use umts_stack::trace::{CapturePoint, TraceEvent};
use umts_units::Time;

use crate::packets::datagram::{self, End, Fragments};
use crate::packets::packet_store::PacketStore;

/// Prefix of the names of these metrics.
const PREFIX: &str = "udp_";

/// Maximum number of flows. Beyond it, a new flow replaces the first in the order of the keys.
const MAX_FLOWS: usize = 4096;

/// Maximum number of datagrams in the network, counted separately for whole and fragmented ones.
/// Beyond it, the first in the order of the keys is removed.
const MAX_IN_TRANSIT: usize = 65_536;

/// Octets of the UDP header.
const UDP_HEADER: usize = 8;

/// Datagrams with the same ends in the same direction.
#[derive(Debug, Clone, Copy)]
struct Flow {
    id: FlowId,
    /// Number of the next datagram.
    number: u64,
}

/// A fragmented datagram in the network.
#[derive(Debug)]
struct FragmentedDatagram {
    flow: FlowId,
    datagram: Datagram,
    /// Bytes that have not arrived, UDP header included.
    missing: usize,
}

/// Follows each datagram from host to host.
#[derive(Debug)]
pub struct ProgramsDatagrams {
    packet_store: PacketStore,
    metrics: Metrics,
    /// Flows by direction, sender and receiver.
    flows: BTreeMap<(usize, End, End), Flow>,
    /// Datagrams in the network that are not fragmented.
    whole: BTreeMap<PacketId, (FlowId, Datagram)>,
    fragmented: BTreeMap<Fragments, FragmentedDatagram>,
}

impl ProgramsDatagrams {
    /// Creates a recorder for the packets in `packet_store`.
    pub fn new(packet_store: PacketStore, config: MetricsConfig) -> Self {
        let (whole, fragmented) = (BTreeMap::new(), BTreeMap::new());
        ProgramsDatagrams {
            packet_store,
            metrics: Metrics::new(config),
            flows: BTreeMap::new(),
            whole,
            fragmented,
        }
    }

    /// Returns the metrics of datagrams of a run that ended at `end`.
    pub fn finish(self, end: Time) -> MetricSet {
        let network = self.metrics.finish_early(end).network;
        network.iter().filter(|(name, _)| name.starts_with(PREFIX)).collect()
    }

    /// A packet enters the network.
    fn sent(&mut self, now: Time, packet: &Packet) {
        let Some(Some(parsed)) = self.packet_store.with(packet.id, datagram::read) else { return };
        let direction = packet.direction();
        let flow = self.flow(direction, parsed.from, parsed.to);
        let header = (packet.size().0 as u32).saturating_sub(u32::from(parsed.payload));
        let datagram = Datagram {
            direction,
            number: flow.number,
            payload: parsed.payload.into(),
            header: u16::try_from(header).unwrap_or(u16::MAX),
            timestamp: now,
        };
        let id = flow.id;
        flow.number += 1;
        if let Some(fragments) = parsed.fragments {
            make_room(&mut self.fragmented);
            let missing = usize::from(parsed.payload) + UDP_HEADER;
            self.fragmented.insert(fragments, FragmentedDatagram { flow: id, datagram, missing });
        } else {
            make_room(&mut self.whole);
            self.whole.insert(packet.id, (id, datagram));
        }
        self.metrics.record(now, &TraceEvent::DatagramSent { flow: id, datagram });
    }

    /// A packet leaves the network. A fragmented datagram is received when all its bytes have left.
    fn received(&mut self, now: Time, packet: PacketId) {
        if let Some((flow, datagram)) = self.whole.remove(&packet) {
            self.metrics.record(now, &TraceEvent::DatagramReceived { flow, datagram });
            return;
        }
        let read = |octets: &[u8]| Some((datagram::fragments(octets)?, datagram::fragment_octets(octets)));
        let Some(Some((fragments, octets))) = self.packet_store.with(packet, read) else { return };
        let Some(fragmented) = self.fragmented.get_mut(&fragments) else { return };
        fragmented.missing = fragmented.missing.saturating_sub(octets);
        if fragmented.missing == 0
            && let Some(FragmentedDatagram { flow, datagram, .. }) = self.fragmented.remove(&fragments)
        {
            self.metrics.record(now, &TraceEvent::DatagramReceived { flow, datagram });
        }
    }

    /// Returns the flow of a datagram. The first datagram begins it.
    fn flow(&mut self, direction: Direction, from: End, to: End) -> &mut Flow {
        let key = (direction.index(), from, to);
        let mut next = Flow { id: FlowId(self.flows.len() as u32), number: 0 };
        if self.flows.len() >= MAX_FLOWS
            && !self.flows.contains_key(&key)
            && let Some((_, first)) = self.flows.pop_first()
        {
            // The numbers continue, so that datagrams of the replaced flow that have not arrived
            // count as lost.
            next = first;
        }
        self.flows.entry(key).or_insert(next)
    }
}

/// Removes the first datagram if there are too many.
fn make_room<K: Ord, V>(in_transit: &mut BTreeMap<K, V>) {
    if in_transit.len() >= MAX_IN_TRANSIT {
        in_transit.pop_first();
    }
}

impl TraceSink<TraceEvent> for ProgramsDatagrams {
    fn record(&mut self, now: Time, event: &TraceEvent) {
        match event {
            TraceEvent::PacketCaptured { at, packet }
                if *at != CapturePoint::Rnc && matches!(packet.content, Content::Foreign(_)) =>
            {
                if (*at == CapturePoint::Server) == (packet.direction() == Direction::Downlink) {
                    self.sent(now, packet);
                } else {
                    self.received(now, packet.id);
                }
            }
            TraceEvent::PacketDropped { packet, .. } => {
                self.whole.remove(&packet.id);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use umts_scenario::Scenario;
    use umts_units::Duration;

    use super::*;
    use crate::clock::wall_clock::Arrival;
    use crate::devices::addresses;
    use crate::devices::port::Behind;
    use crate::devices::topology::{SERVER_PORT, ue_port};
    use crate::outside::recording::Recording;
    use crate::packets::datagram::generated;
    use crate::run::tests::recorded;
    use crate::run::{OutputConfig, replay};

    /// Replays packets (time in milliseconds, port, bytes) in addition to the `others`
    /// of the scenario. Returns the metrics and the end of the run in seconds.
    fn metrics_of(others: &str, packets: &[(u64, usize, Vec<u8>)]) -> (MetricSet, f64) {
        let text = format!(
            "version = 1\nduration = \"60 s\"\n[[cell]]\nname = \"cell\"\n[cell.fach]\nrate = \"32 kbit/s\"\n\
             tti = \"10 ms\"\n[[ue]]\nname = \"u\"\n{others}"
        );
        let scenario = Scenario::parse(&text, "x", std::path::Path::new(""), &[]).unwrap().scenario;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packets.pcapng");
        let mut recording = Recording::create(&path, Behind::ues(1)).unwrap();
        for (ms, port, bytes) in packets {
            let at = Time::ZERO + Duration::from_millis(*ms);
            recording.record(at, &Arrival::bare(*port, bytes.clone()));
        }
        recording.finish().unwrap();
        let end = Time::ZERO + Duration::from_secs(10);
        let (results, _) = replay(&scenario, 1, &recorded(&path, end), &OutputConfig::default()).unwrap();
        (results.metrics.network, results.end.as_secs())
    }

    fn ue(port: u16) -> End {
        (addresses::of_ue(0)[0], port)
    }

    const SERVER: End = (std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 9)), 53);

    #[test]
    fn datagrams_of_programs_are_counted_and_measured() {
        let mut packets: Vec<_> =
            (0..5).map(|n| (500 * n, ue_port(0), generated::datagram(ue(4000), SERVER, &[0; 72]))).collect();
        packets.push((2600, SERVER_PORT, generated::datagram(SERVER, ue(4000), &[0; 472])));
        let (metrics, end_s) = metrics_of("", &packets);
        let value = |name| metrics.value(name).unwrap();
        assert_eq!((value("udp_sent_uplink"), value("udp_received_uplink")), (5.0, 5.0));
        assert_eq!((value("udp_sent"), value("udp_received"), value("udp_loss_pct")), (1.0, 1.0, 0.0));
        // 500 bytes take at least 125 ms at 32 kbit/s.
        assert!((value("udp_goodput_kbps") - 0.472 * 8.0 / end_s).abs() < 1e-9);
        assert!(value("udp_delay_ms") > 125.0 && value("udp_max_delay_ms") < 500.0);
        assert_eq!(metrics.value("udp_jitter_ms"), None);
        assert_eq!(metrics.iter().filter(|(name, _)| *name == "udp_sent").count(), 1);
    }

    #[test]
    fn fragmented_datagram_is_received_with_its_last_fragment() {
        let whole = generated::datagram(SERVER, ue(4000), &[0; 1192]);
        let fragment = |at: usize, octets: usize, more: u8| {
            let mut packet = whole[..20].to_vec();
            packet[2..4].copy_from_slice(&(20 + octets as u16).to_be_bytes());
            packet[6..8].copy_from_slice(&[more, (at / 8) as u8]);
            packet.extend(&whole[20 + at..20 + at + octets]);
            packet
        };
        let first = (100, SERVER_PORT, fragment(0, 800, 0x20));
        let second = (101, SERVER_PORT, fragment(800, 400, 0));
        let (metrics, end_s) = metrics_of("", &[first.clone(), second]);
        assert_eq!((metrics.value("udp_sent"), metrics.value("udp_received")), (Some(1.0), Some(1.0)));
        assert!((metrics.value("udp_goodput_kbps").unwrap() - 1.192 * 8.0 / end_s).abs() < 1e-9);
        let (lost, _) = metrics_of("", &[first]);
        assert_eq!((lost.value("udp_sent"), lost.value("udp_received")), (Some(1.0), Some(0.0)));
    }

    #[test]
    fn simulated_datagrams_are_not_counted_for_programs() {
        let others = "[[flow]]\nue = \"u\"\ntraffic = \"cbr\"\n";
        let (metrics, _) =
            metrics_of(others, &[(0, ue_port(0), generated::datagram(ue(4000), SERVER, &[0; 72]))]);
        assert_eq!((metrics.value("udp_sent"), metrics.value("udp_sent_uplink")), (Some(0.0), Some(1.0)));
    }
}
