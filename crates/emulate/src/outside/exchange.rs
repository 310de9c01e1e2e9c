//! Moves real packets into and out of the network, and orders about faults into it. Shared by
//! emulations and replays.

use std::net::IpAddr;

use umts_kernel::TraceSink;
use umts_stack::EventContext;
use umts_stack::ids::{Direction, ProxyLeg, UeId};
use umts_stack::network::Network;
use umts_stack::packet::{Foreign, Packet};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::clock::wall_clock::Arrival;
use crate::devices::addresses;
use crate::devices::port::Behind;
use crate::devices::topology::{SERVER_PORT, port_of, ue_port};
use crate::devices::wire::Frames;
use crate::faults::FaultOrder;
use crate::outside::answers::Answers;
use crate::packets::foreign;
use crate::packets::packet_store::{Header, Losses, PacketStore};

/// Counters of the programs' packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Packets that entered.
    pub packets_in: u64,
    /// Bytes of these packets.
    pub bytes_in: u64,
    /// Packets that left.
    pub packets_out: u64,
    /// Bytes of these packets.
    pub bytes_out: u64,
    /// Dropped packets that are neither IPv4 nor IPv6, or have an invalid header.
    pub malformed: u64,
    /// Dropped packets to an address that no UE has, multicast included.
    pub unroutable: u64,
    /// Packets that left the network but were rejected by the kernel.
    pub refused: u64,
    /// Packets that the network lost or still carries.
    pub losses: Losses,
    /// Frames of given devices that did not enter the network. Malformed and too large ones count
    /// as incoming.
    pub frames: Frames,
}

impl Counts {
    /// Whether every packet that came in is counted exactly once.
    pub fn is_balanced(&self) -> bool {
        let Losses { core, buffer, air, inside } = self.losses;
        let not_carried = self.malformed + self.unroutable + self.frames.too_large + self.refused;
        self.packets_in == self.packets_out + not_carried + core + buffer + air + inside
    }
}

/// Index of the proxy's port towards the servers.
const TO_SERVERS: usize = 0;

/// A packet or an order that enters the network.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A packet from a program.
    Program(Arrival),
    /// A packet from one UE to another, which enters again for the downlink.
    BetweenUes(Vec<u8>),
    /// An order about a fault.
    Fault(FaultOrder),
}

/// Path of a packet through the network.
struct PacketPath {
    /// Number of the UE. `None` if the address of the packet belongs to no UE.
    ue: Option<usize>,
    direction: Direction,
    leg: ProxyLeg,
}

/// The border between programs and network.
#[derive(Debug)]
pub struct Exchange {
    behind: Behind,
    packet_store: PacketStore,
    counts: Counts,
    /// Address translation of UDP answers, if the server side accepts packets to every address.
    answers: Option<Answers>,
    /// Time at which the last packet or order entered.
    pub last_entry: Time,
}

impl Exchange {
    /// Creates the border for the hosts in `behind`. With `every_address`, the server side accepts
    /// packets to every address, and answers of UDP servers are translated.
    pub fn new(behind: Behind, every_address: bool, packet_store: PacketStore) -> Self {
        let answers = every_address.then(Answers::default);
        Exchange { behind, packet_store, counts: Counts::default(), answers, last_entry: Time::ZERO }
    }

    /// Counters so far. `frames` are the frames that did not reach this border.
    pub fn counts(&self, frames: Frames) -> Counts {
        let Frames { malformed, too_large, .. } = frames;
        Counts {
            packets_in: self.counts.packets_in + malformed + too_large,
            malformed: self.counts.malformed + malformed,
            losses: self.packet_store.losses(),
            frames,
            ..self.counts
        }
    }

    /// Lets a packet enter the network, or counts why it cannot. Executes an order.
    pub fn enter<T: TraceSink<TraceEvent>>(
        &mut self,
        network: &mut Network,
        ctx: &mut EventContext<'_, T>,
        incoming: Incoming,
    ) {
        self.last_entry = ctx.cx.now;
        let is_between_ues = matches!(incoming, Incoming::BetweenUes(_));
        let (port, mut bytes, header) = match incoming {
            Incoming::Fault(order) => return order.apply_to(network, &mut ctx.cx),
            Incoming::BetweenUes(bytes) => (SERVER_PORT, bytes, Header::default()),
            Incoming::Program(Arrival { port, bytes, header }) => {
                self.counts.packets_in += 1;
                self.counts.bytes_in += bytes.len() as u64;
                (port, bytes, header)
            }
        };
        let Ok((from, to)) = foreign::addresses(&bytes) else {
            self.counts.malformed += 1;
            return;
        };
        let PacketPath { ue, direction, leg } = self.path_of(port, &bytes, [from, to]);
        let Some(ue) = ue.filter(|&ue| ue < self.behind.count() && !to.is_multicast()) else {
            self.counts.unroutable += 1;
            return;
        };
        if let Some(answers) = self.answers.as_mut().filter(|_| port == SERVER_PORT && !is_between_ues) {
            answers.translate_downlink(&mut bytes);
        }
        let packet = Foreign { direction, leg, size: bytes.len() as u32 };
        let packet = network.new_foreign(UeId(ue as u16), packet);
        self.packet_store.load(&packet, bytes, header);
        network.send_foreign(ctx, packet);
    }

    /// Returns the path of a packet. A proxy splits TCP, except between UEs: both legs of such a
    /// connection would be on the radio side.
    fn path_of(&self, port: usize, bytes: &[u8], [from, to]: [IpAddr; 2]) -> PacketPath {
        if let Some(side) =
            self.behind.proxy().and_then(|ports| ports.iter().position(|&proxy_port| proxy_port == port))
        {
            return match side {
                TO_SERVERS => PacketPath {
                    ue: addresses::ue_of(from),
                    direction: Direction::Uplink,
                    leg: ProxyLeg::Server,
                },
                _ => PacketPath {
                    ue: addresses::ue_of(to),
                    direction: Direction::Downlink,
                    leg: ProxyLeg::Radio,
                },
            };
        }
        let is_between_ues = [from, to].into_iter().all(|address| addresses::ue_of(address).is_some());
        let leg = |ending: ProxyLeg| match self.behind.proxy() {
            Some(_) if foreign::is_tcp(bytes) && !is_between_ues => ending,
            _ => ProxyLeg::Whole,
        };
        let downlink = |ue, leg| PacketPath { ue, direction: Direction::Downlink, leg };
        match port.checked_sub(ue_port(0)) {
            Some(ue) => PacketPath { ue: Some(ue), direction: Direction::Uplink, leg: leg(ProxyLeg::Radio) },
            None if self.behind == Behind::OneUe => downlink(Some(0), ProxyLeg::Whole),
            None => downlink(addresses::ue_of(to), leg(ProxyLeg::Server)),
        }
    }

    /// The port at which a packet leaves the network.
    fn exit_port(&self, packet: &Packet, bytes: &[u8]) -> usize {
        match (packet.direction(), packet.leg(), self.behind.proxy()) {
            (Direction::Downlink, ProxyLeg::Server, Some([to_servers, _])) => to_servers,
            (Direction::Uplink, ProxyLeg::Radio, Some([_, to_users])) => to_users,
            (Direction::Downlink, ..) => ue_port(packet.ue.index()),
            (Direction::Uplink, ..) if self.behind == Behind::OneUe => SERVER_PORT,
            (Direction::Uplink, ProxyLeg::Server, _) => SERVER_PORT,
            (Direction::Uplink, ..) => {
                let (_, to) =
                    foreign::addresses(bytes).expect("the addresses were valid when the packet entered");
                port_of(to)
            }
        }
    }

    /// Writes packets that left the network. `write` receives port, link-layer header and packet,
    /// and returns whether the kernel accepted the packet. Returns a packet for another UE, which
    /// the caller must let enter again.
    pub fn leave(
        &mut self,
        network: &mut Network,
        mut write: impl FnMut(usize, &[u8], &[u8]) -> bool,
    ) -> Option<Incoming> {
        while let Some(packet) = network.poll_foreign() {
            let Some((mut bytes, header)) = self.packet_store.unload(&packet) else { continue };
            let port = self.exit_port(&packet, &bytes);
            let is_to_ue = (ue_port(0)..ue_port(self.behind.count())).contains(&port);
            if packet.direction() == Direction::Uplink && is_to_ue {
                return Some(Incoming::BetweenUes(bytes));
            }
            if let Some(answers) = self.answers.as_mut().filter(|_| port == SERVER_PORT) {
                answers.translate_uplink(&mut bytes);
            }
            let is_accepted = write(port, &header, &bytes);
            self.counts.packets_out += u64::from(is_accepted);
            self.counts.bytes_out += if is_accepted { bytes.len() as u64 } else { 0 };
            self.counts.refused += u64::from(!is_accepted);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use umts_scenario::Scenario;
    use umts_units::Duration;

    use super::*;
    use crate::outside::recording::Recording;
    use crate::run::{OutputConfig, Recorded, replay};

    /// Replays packets (time in milliseconds, port, bytes) in a network with `radio`.
    /// Returns the counters.
    fn counts(radio: &str, packets: &[(u64, usize, Vec<u8>)]) -> Counts {
        counts_behind(Behind::ues(2), radio, packets)
    }

    fn counts_behind(behind: Behind, radio: &str, packets: &[(u64, usize, Vec<u8>)]) -> Counts {
        let text = format!("version = 1\nduration = \"600 s\"\n{radio}\n[[ue]]\nname = \"u\"\ncount = 2\n");
        let scenario = Scenario::parse(&text, "x", Path::new(""), &[]).unwrap().scenario;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packets.pcapng");
        let mut recording = Recording::create(&path, behind).unwrap();
        for (ms, port, bytes) in packets {
            let at = Time::ZERO + Duration::from_millis(*ms);
            recording.record(at, &Arrival::bare(*port, bytes.clone()));
        }
        recording.finish().unwrap();
        let end = Time::ZERO + Duration::from_secs(300);
        let recorded =
            Recorded { packets: &path, faults: &[], end, behind, has_internet: true, keeps_flows: false };
        let (_, counts) = replay(&scenario, 1, &recorded, &OutputConfig::default()).unwrap();
        counts
    }

    fn datagram(to: [u8; 4], octets: usize) -> Vec<u8> {
        let mut packet = vec![0x45, 0];
        packet.extend((octets as u16).to_be_bytes());
        packet.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 45, 0, 2]);
        packet.extend(to);
        packet.resize(octets, 0);
        packet
    }

    const CELL: &str = "[[cell]]\nname = \"cell\"\n[cell.fach]\nrate = \"32 kbit/s\"\ntti = \"10 ms\"";

    #[test]
    fn every_packet_is_counted_once_with_any_radio() {
        let packets: Vec<_> =
            (0..200).map(|n| (100 * n, ue_port((n % 2) as usize), datagram([9, 9, 9, 9], 300))).collect();
        // Keys of the scenario, and whether packets are lost on the air.
        let radios = [
            ("rlc.mode = \"am\"\nradio.uplink.bler = 0.2", false),
            ("rlc.mode = \"um\"\nradio.uplink.bler = 0.1", true),
            ("rlc.mode = \"am\"\nrlc.max_dat = 2\nradio.uplink.bler = 0.4", true),
        ];
        for (radio, loses) in radios {
            let counts = counts(&format!("{radio}\n{CELL}"), &packets);
            assert!(counts.is_balanced(), "{radio}: {counts:?}");
            assert_eq!(counts.packets_in, 200);
            assert_eq!(counts.losses.air > 0, loses, "{radio}: {counts:?}");
            assert!(counts.packets_out > 20 && counts.losses.inside <= 2, "{radio}: {counts:?}");
        }
    }

    /// A TCP segment with these addresses, like [`datagram`] otherwise.
    fn segment(from: [u8; 4], to: [u8; 4]) -> Vec<u8> {
        let mut packet = datagram(to, 60);
        packet[9] = 6;
        packet[12..16].copy_from_slice(&from);
        packet
    }

    #[test]
    fn proxy_ports_receive_tcp_only() {
        let behind = Behind::Ues { count: 2, are_split: true };
        let [to_servers, to_users] = behind.proxy().unwrap();
        let (server, ue) = ([9, 9, 9, 9], [10, 45, 0, 3]);
        let radio = format!("proxy = {{ at = \"ggsn\" }}\n{CELL}");
        // One packet per port that passes, and two that belong to no UE.
        let packets = [
            (0, ue_port(1), segment(ue, server)),
            (1000, to_servers, segment(ue, server)),
            (2000, SERVER_PORT, segment(server, ue)),
            (3000, to_users, segment(server, ue)),
            (4000, ue_port(1), datagram(server, 60)),
            (5000, to_servers, segment(server, server)),
            (5000, to_users, segment(server, server)),
            (6000, ue_port(0), segment([10, 45, 0, 2], ue)),
        ];
        let counted = counts_behind(behind, &radio, &packets);
        assert!(counted.is_balanced(), "{counted:?}");
        assert_eq!((counted.packets_in, counted.packets_out, counted.unroutable), (8, 6, 2), "{counted:?}");
        // A packet that is still on one leg is not lost because a packet of another leg has left.
        let mut forty_packets: Vec<_> = (0..40)
            .flat_map(|n| {
                packets[..4].iter().map(move |(at, port, octets)| (at / 50 + 100 * n, *port, octets.clone()))
            })
            .collect();
        forty_packets.sort_by_key(|(at, ..)| *at);
        let counted = counts_behind(behind, &radio, &forty_packets);
        assert_eq!(
            (counted.packets_out, counted.losses.air, counted.losses.inside),
            (160, 0, 0),
            "{counted:?}"
        );
    }

    #[test]
    fn flood_is_counted_at_the_place_of_loss() {
        let flood = |port, to| (0..3000).map(move |n| (n / 10, port, datagram(to, 1000))).collect::<Vec<_>>();
        let up = counts(CELL, &flood(ue_port(0), [9, 9, 9, 9]));
        assert!(up.is_balanced() && up.losses.buffer > 2000, "{up:?}");
        let down = counts(CELL, &flood(SERVER_PORT, [10, 45, 0, 3]));
        assert!(down.is_balanced() && down.losses.core + down.losses.buffer > 2000, "{down:?}");
        assert!(up.losses.inside + down.losses.inside == 0, "{up:?} {down:?}");
        let nobody = counts(CELL, &[(0, SERVER_PORT, datagram([10, 45, 0, 9], 100))]);
        assert_eq!((nobody.unroutable, nobody.is_balanced()), (1, true));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
        #[test]
        fn arbitrary_packets_are_counted_once(
            packets in prop::collection::vec((0_usize..3, foreign::generated::packet()), 1..60),
        ) {
            let packets: Vec<_> =
                packets.into_iter().zip(0..).map(|((port, bytes), n)| (20 * n, port, bytes)).collect();
            let counts = counts(CELL, &packets);
            prop_assert!(counts.is_balanced(), "{:?}", counts);
        }
    }
}
