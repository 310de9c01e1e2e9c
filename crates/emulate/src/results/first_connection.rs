//! The time from the first packet of the command until the first packet of its first connection
//! (TCP, or UDP for QUIC) can leave. In that time a name is looked up, and RRC promotes the UE to
//! a state that carries data. The time budget divides that time by cause.

use umts_kernel::TraceSink;
use umts_stack::ids::{Direction, UeId};
use umts_stack::packet::{Content, Packet};
use umts_stack::rnc::rrc::RrcState::{self, CellDch, CellFach};
use umts_stack::trace::{CapturePoint, TraceEvent};
use umts_units::{Duration, Time};

use crate::packets::datagram;
use crate::packets::packet_store::PacketStore;
use crate::packets::transport::{self, Message, SYN};

/// The UE of the command.
const UE: UeId = UeId(0);
/// Port of DNS.
pub(super) const DNS: u16 = 53;

/// Time before a first connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BeforeConnection {
    /// From the first packet of the command's UE to the SYN, or to the first datagram that looks up
    /// no name. If that packet starts a promotion or arrives during one: to its end.
    pub waited: Duration,
    /// Part of `waited` during which RRC promoted the UE.
    pub promotion: Duration,
    /// Whether a name was looked up.
    pub has_lookup: bool,
}

/// Watches the command's UE until its first connection.
#[derive(Debug)]
pub struct FirstConnection {
    packet_store: PacketStore,
    /// When the first packet was sent.
    began: Option<Time>,
    /// Start of the promotion in progress, if there is one.
    promoted_since: Option<Time>,
    /// Total duration of promotions.
    promotion: Duration,
    /// Whether a DNS query preceded the connection.
    has_lookup: bool,
    /// Time at which the first packet of the first connection arrived at the UE.
    connected: Option<Time>,
    /// Part of `promotion` after `connected`.
    promotion_after: Duration,
}

impl FirstConnection {
    /// Creates a recorder for the packets in `packet_store`.
    pub fn new(packet_store: PacketStore) -> Self {
        FirstConnection {
            packet_store,
            began: None,
            promoted_since: None,
            promotion: Duration::ZERO,
            has_lookup: false,
            connected: None,
            promotion_after: Duration::ZERO,
        }
    }

    /// The time before the first connection; `None` if there was no connection, or if its first
    /// packet was the first packet of all and left at once.
    pub fn found(&self) -> Option<BeforeConnection> {
        let waited = self.connected? - self.began? + self.promotion_after;
        let (promotion, has_lookup) = (self.promotion, self.has_lookup);
        (!waited.is_zero()).then_some(BeforeConnection { waited, promotion, has_lookup })
    }

    /// The UE sends a packet before its first connection.
    fn sent(&mut self, now: Time, packet: &Packet) {
        self.began.get_or_insert(now);
        let is_syn = |octets: &[u8]| {
            let message = transport::read(octets).map(|parsed| parsed.message);
            matches!(message, Some(Message::Segment { ack: None, flags, .. }) if flags & SYN != 0)
        };
        let datagram = self.packet_store.with(packet.id, datagram::read).flatten();
        let server_port = datagram.map(|datagram| {
            let (_, port) = datagram.to;
            port
        });
        self.has_lookup |= server_port == Some(DNS);
        let is_other_datagram = server_port.is_some_and(|port| port != DNS);
        if is_other_datagram || self.packet_store.with(packet.id, is_syn) == Some(true) {
            self.connected = Some(now);
        }
    }

    /// Adds the time of a promotion that has ended.
    fn finish_promotion(&mut self, now: Time) {
        if let (Some(since), Some(began)) = (self.promoted_since.take(), self.began) {
            self.promotion += now.saturating_since(since.max(began));
            if let Some(connected) = self.connected {
                self.promotion_after = now.saturating_since(since.max(connected));
            }
        }
    }

    /// Whether the first packet of the first connection has left, or could have left.
    fn is_over(&self, now: Time) -> bool {
        self.promoted_since.is_none() && self.connected.is_some_and(|connected| connected < now)
    }
}

/// Whether a switch leads to a state with more capacity.
fn is_promotion(from: RrcState, to: RrcState) -> bool {
    matches!((from, to), (_, CellDch) | (RrcState::Idle | RrcState::UraPch | RrcState::CellPch, CellFach))
        && from != CellDch
}

impl TraceSink<TraceEvent> for FirstConnection {
    fn record(&mut self, now: Time, event: &TraceEvent) {
        if self.is_over(now) {
            return;
        }
        match event {
            TraceEvent::PacketCaptured { at: CapturePoint::Ue, packet }
                if self.connected.is_none()
                    && packet.ue == UE
                    && packet.direction() == Direction::Uplink
                    && matches!(packet.content, Content::Foreign(_)) =>
            {
                self.sent(now, packet);
            }
            TraceEvent::RrcSwitch { ue: UE, from, to, .. } if is_promotion(*from, *to) => {
                self.promoted_since.get_or_insert(now);
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
    use crate::packets::datagram::generated;
    use crate::run::tests::recorded;
    use crate::run::{OutputConfig, replay};

    const SWITCHED: &str = r#"
version = 1
duration = "60 s"
[rrc]
profile = "att-2010"
[[ue]]
name = "u"
bearer = "switched"
"#;

    const DEDICATED: &str = r#"
version = 1
duration = "60 s"
[[bearer]]
name = "ps"
downlink = { rate = "64 kbit/s", tti = "20 ms" }
uplink = { rate = "64 kbit/s", tti = "20 ms" }
[[ue]]
name = "u"
bearer = "ps"
"#;

    fn with_switched_channels(has_lookup: bool, syn_ms: u64) -> Option<BeforeConnection> {
        replay_connection(SWITCHED, has_lookup, syn_ms)
    }

    /// Replays a connection of the scenario `text`. With `has_lookup`, a name is looked up at 100
    /// ms, and the answer arrives at 2,300 ms. The SYN leaves at `syn_ms`.
    fn replay_connection(text: &str, has_lookup: bool, syn_ms: u64) -> Option<BeforeConnection> {
        let scenario = Scenario::parse(text, "x", std::path::Path::new(""), &[]).unwrap().scenario;
        let (ue, server) = ((addresses::of_ue(0)[0], 4000), (addresses::SERVER[0], DNS));
        let mut segment = generated::datagram(ue, server, &[0; 12]);
        segment[9] = 6;
        segment[32..34].copy_from_slice(&[0x50, SYN]);
        let mut packets = vec![(syn_ms, ue_port(0), segment)];
        if has_lookup {
            let question = (100, ue_port(0), generated::datagram(ue, server, b"question"));
            packets.extend([question, (2300, SERVER_PORT, generated::datagram(server, ue, b"answer"))]);
            packets.sort_by_key(|(ms, ..)| *ms);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packets.pcapng");
        let mut recording = Recording::create(&path, Behind::ues(1)).unwrap();
        for (ms, port, bytes) in packets {
            recording.record(Time::ZERO + Duration::from_millis(ms), &Arrival::bare(port, bytes));
        }
        recording.finish().unwrap();
        let end = Time::ZERO + Duration::from_secs(10);
        let (results, _) = replay(&scenario, 1, &recorded(&path, end), &OutputConfig::default()).unwrap();
        results.before_connection
    }

    #[test]
    fn promotion_during_a_lookup_is_reported() {
        let before = with_switched_channels(true, 2500).unwrap();
        // From the question at 100 ms to the SYN at 2,500 ms.
        assert_eq!((before.waited, before.has_lookup), (Duration::from_millis(2400), true));
        // Time of a promotion from idle mode in the profile.
        assert_eq!(before.promotion, Duration::from_secs(2));
    }

    #[test]
    fn promotion_for_the_first_packet_of_the_connection_is_reported() {
        let before = with_switched_channels(false, 100).unwrap();
        assert_eq!((before.waited, before.promotion), (Duration::from_secs(2), Duration::from_secs(2)));
        assert!(!before.has_lookup);
        // The connection opens during the promotion that the lookup started at 100 ms.
        let before = with_switched_channels(true, 1000).unwrap();
        assert_eq!((before.waited, before.promotion), (Duration::from_secs(2), Duration::from_secs(2)));
    }

    #[test]
    fn nothing_is_reported_if_the_first_packet_leaves_at_once() {
        assert_eq!(replay_connection(DEDICATED, false, 100), None);
    }
}
