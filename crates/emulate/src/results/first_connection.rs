//! The time from the command's first packet to its first connection by TCP or UDP (QUIC). It
//! includes DNS lookups and the promotion of the UE by RRC. The time budget contains the same time
//! by cause.

use umts_kernel::TraceSink;
use umts_stack::ids::{Direction, UeId};
use umts_stack::packet::{Content, Packet};
use umts_stack::rnc::rrc::RrcState::{self, CellDch, CellFach};
use umts_stack::trace::{CapturePoint, TraceEvent};
use umts_units::{Duration, Time};

use crate::packets::datagram;
use crate::packets::packet_store::PacketStore;
use crate::packets::transport::{self, Message};

/// The UE of the command.
const UE: UeId = UeId(0);
/// Port of DNS.
const DNS: u16 = 53;
/// SYN flag of a TCP header.
const SYN: u8 = 2;

/// Time before the first connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BeforeConnection {
    /// From the first packet of the command's UE to the SYN, or to the first UDP datagram that is
    /// not DNS.
    pub waited: Duration,
    /// Part of this time in which RRC promoted the UE.
    pub promotion: Duration,
    /// Whether names were looked up.
    pub has_lookup: bool,
}

/// Observes the command's UE until its first connection.
#[derive(Debug)]
pub struct FirstConnection {
    packet_store: PacketStore,
    began: Option<Time>,
    /// Start of the promotion in progress.
    up_since: Option<Time>,
    promotion: Duration,
    has_lookup: bool,
    found: Option<BeforeConnection>,
}

impl FirstConnection {
    /// Creates an observer of the packets in `packet_store`.
    pub fn new(packet_store: PacketStore) -> Self {
        let promotion = Duration::ZERO;
        FirstConnection {
            packet_store,
            began: None,
            up_since: None,
            promotion,
            has_lookup: false,
            found: None,
        }
    }

    /// Returns the time before the first connection. `None` if there was no connection, or no
    /// packet before it.
    pub fn found(&self) -> Option<BeforeConnection> {
        self.found.filter(|found| !found.waited.is_zero())
    }

    fn sent(&mut self, now: Time, packet: &Packet) {
        let began = *self.began.get_or_insert(now);
        let is_syn = |octets: &[u8]| {
            let message = transport::read(octets).map(|found| found.message);
            matches!(message, Some(Message::Segment { ack: None, flags, .. }) if flags & SYN != 0)
        };
        let to = self.packet_store.with(packet.id, |octets| Some(datagram::read(octets)?.to.1)).flatten();
        self.has_lookup |= to == Some(DNS);
        if self.packet_store.with(packet.id, is_syn) == Some(true) || to.is_some_and(|port| port != DNS) {
            self.finish_promotion(now);
            let (promotion, has_lookup) = (self.promotion, self.has_lookup);
            self.found = Some(BeforeConnection { waited: now - began, promotion, has_lookup });
        }
    }

    fn finish_promotion(&mut self, now: Time) {
        if let (Some(since), Some(began)) = (self.up_since.take(), self.began) {
            self.promotion += now.saturating_since(since.max(began));
        }
    }
}

/// Whether a switch moves a UE to a state with more capacity.
fn is_promotion(from: RrcState, to: RrcState) -> bool {
    matches!((from, to), (_, CellDch) | (RrcState::Idle | RrcState::UraPch | RrcState::CellPch, CellFach))
        && from != CellDch
}

impl TraceSink<TraceEvent> for FirstConnection {
    fn record(&mut self, now: Time, event: &TraceEvent) {
        if self.found.is_some() {
            return;
        }
        match event {
            TraceEvent::PacketCaptured { at: CapturePoint::Ue, packet }
                if packet.ue == UE
                    && packet.direction() == Direction::Uplink
                    && matches!(packet.content, Content::Foreign(_)) =>
            {
                self.sent(now, packet);
            }
            TraceEvent::RrcSwitch { ue: UE, from, to, .. } if is_promotion(*from, *to) => {
                self.up_since.get_or_insert(now);
            }
            TraceEvent::RrcState { ue: UE, .. } => self.finish_promotion(now),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use umts_scenario::Scenario;

    use super::*;
    use crate::clock::wall_clock::Arrival;
    use crate::devices::addresses;
    use crate::devices::port::Behind;
    use crate::devices::topology::{SERVER_PORT, ue_port};
    use crate::outside::recording::Recording;
    use crate::packets::datagram::made;
    use crate::run::tests::recorded;
    use crate::run::{OutputConfig, replay};

    /// Replays a SYN at `syn` milliseconds. With `with_lookup`, a DNS question at 100 ms and its
    /// answer at 2300 ms precede it.
    fn before(with_lookup: bool, syn: u64) -> Option<BeforeConnection> {
        let text = "version = 1\nduration = \"60 s\"\n[rrc]\nprofile = \"att-2010\"\n[[ue]]\nname = \"u\"\nbearer = \"switched\"\n";
        let scenario = Scenario::parse(text, "x", std::path::Path::new(""), &[]).unwrap().scenario;
        let (ue, server) = ((addresses::of_ue(0)[0], 4000), (addresses::SERVER[0], DNS));
        let mut segment = made::datagram(ue, server, &[0; 12]);
        segment[9] = 6;
        segment[32..34].copy_from_slice(&[0x50, SYN]);
        let mut packets = vec![(syn, ue_port(0), segment)];
        if with_lookup {
            let question = (100, ue_port(0), made::datagram(ue, server, b"question"));
            packets.splice(0..0, [question, (2300, SERVER_PORT, made::datagram(server, ue, b"answer"))]);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packets.pcapng");
        let mut recording = Recording::create(&path, Behind::ues(1)).unwrap();
        for (ms, port, bytes) in packets {
            recording.note(Time::ZERO + Duration::from_millis(ms), &Arrival::bare(port, bytes));
        }
        recording.finish().unwrap();
        let end = Time::ZERO + Duration::from_secs(10);
        replay(&scenario, 1, &recorded(&path, end), &OutputConfig::default()).unwrap().0.before_connection
    }

    #[test]
    fn promotion_during_a_lookup_is_measured() {
        let found = before(true, 2500).unwrap();
        assert_eq!((found.waited, found.has_lookup), (Duration::from_millis(2400), true));
        // The promotion time from idle of the profile.
        assert_eq!(found.promotion, Duration::from_secs(2));
    }

    #[test]
    fn connection_without_earlier_packets_has_no_waiting_time() {
        assert_eq!(before(false, 100), None);
    }
}
