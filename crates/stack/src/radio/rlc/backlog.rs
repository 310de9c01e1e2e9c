//! What an entity could send now: what a scheduler may ask of it.

use umts_units::{Bytes, Time};

/// What waits in an entity to be sent, for the first time or again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Octets of SDUs: those of which something was not yet sent, and the PDUs that are to be sent again.
    pub octets: Bytes,
    /// Since when the oldest SDU of these is in the buffer; `None` if there is none, but control information may wait.
    pub since: Option<Time>,
    /// Data PDUs that it could send now, as far as its window goes.
    pub pdus: u32,
    /// SDUs of which something was not yet sent; one at least where PDUs are to be sent again.
    pub sdus: u32,
}

/// An SDU that is not through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingSdu {
    /// When it came into RLC.
    pub entered: Time,
    /// Its size.
    pub size: Bytes,
    /// Blocks of it that are to be sent, for the first time or again. One that two SDUs share counts for the first.
    pub blocks: u32,
}

/// Counts blocks of SDUs that are cut one behind the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    payload: u64,
    octets: u64,
}

impl Cut {
    /// Blocks of `payload` octets.
    pub fn into(payload: u16) -> Self {
        Cut { payload: u64::from(payload), octets: 0 }
    }

    /// The blocks that the next `octets` begin.
    pub fn blocks(&mut self, octets: u64) -> u32 {
        let before = self.octets.div_ceil(self.payload);
        self.octets += octets;
        (self.octets.div_ceil(self.payload) - before) as u32
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::NoTrace;
    use umts_units::Duration;

    use super::*;
    use crate::Cx;
    use crate::ids::{Direction, UeId};
    use crate::radio::phy::Lost;
    use crate::radio::rlc::am::AmConfig;
    use crate::radio::rlc::testing::packet;
    use crate::radio::rlc::tm::{ErroneousSdus, TmConfig};
    use crate::radio::rlc::um::UmConfig;
    use crate::radio::rlc::{BlockSet, Rlc, RlcConfig, Sdu};

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// An entity on a channel of four blocks with SDUs of 100 octets that came at 0 and 10 ms.
    fn with_two_sdus(config: &RlcConfig, sends: Direction) -> Rlc {
        let mut rlc = Rlc::new(UeId(0), sends, config, 4);
        for at in [0, 10] {
            let sdu = Sdu::new(packet(at, 100), ms(at));
            rlc.handle_sdu(&mut Cx::new(ms(at), &mut NoTrace), &sdu).expect("there is room");
        }
        rlc
    }

    fn send(rlc: &mut Rlc, at: u64, blocks: u32) -> BlockSet {
        let mut set = BlockSet::default();
        rlc.poll_transmit(&mut Cx::new(ms(at), &mut NoTrace), blocks, &mut set);
        set
    }

    fn told(rlc: &Rlc) -> (u64, Option<Time>, u32) {
        let Backlog { octets, since, pdus, .. } = rlc.backlog();
        (octets.0, since, pdus)
    }

    #[test]
    fn acknowledged_mode_tells_what_is_new_and_what_is_to_be_sent_again() {
        let config = RlcConfig::Am(AmConfig::default().into());
        let mut rlc = with_two_sdus(&config, Direction::Downlink);
        assert_eq!(told(&rlc), (200, Some(ms(0)), 5));
        let first = send(&mut rlc, 20, 2);
        assert_eq!(told(&rlc), (120, Some(ms(0)), 3));
        let rest = send(&mut rlc, 30, 9);
        assert_eq!(told(&rlc), (0, None, 0));
        // The second PDU of all was lost, and the peer says so.
        let mut peer = Rlc::new(UeId(0), Direction::Uplink, &config, 4);
        peer.handle_blocks(&mut Cx::new(ms(40), &mut NoTrace), &first, Lost(0b10));
        peer.handle_blocks(&mut Cx::new(ms(50), &mut NoTrace), &rest, Lost(0));
        let report = send(&mut peer, 60, 1);
        rlc.handle_blocks(&mut Cx::new(ms(70), &mut NoTrace), &report, Lost(0));
        assert_eq!(told(&rlc), (40, Some(ms(0)), 1));
    }

    #[test]
    fn buffer_occupancy_leaves_out_what_was_sent_and_not_negatively_acknowledged() {
        let config = RlcConfig::Am(AmConfig::default().into());
        let occupancy = |rlc: &Rlc, at: u64| rlc.available_for_transmission(ms(at)).0;
        let mut rlc = with_two_sdus(&config, Direction::Downlink);
        assert_eq!(occupancy(&rlc, 10), 200);
        let first = send(&mut rlc, 20, 2);
        assert_eq!(occupancy(&rlc, 20), 120);
        let rest = send(&mut rlc, 30, 9);
        assert_eq!((occupancy(&rlc, 30), rlc.buffer_occupancy()), (0, Bytes(200)));
        // The second PDU of all was lost. The peer's report waits as a control PDU of 42 octets.
        let mut peer = Rlc::new(UeId(0), Direction::Uplink, &config, 4);
        peer.handle_blocks(&mut Cx::new(ms(40), &mut NoTrace), &first, Lost(0b10));
        peer.handle_blocks(&mut Cx::new(ms(50), &mut NoTrace), &rest, Lost(0));
        assert_eq!(occupancy(&peer, 50), 42);
        let report = send(&mut peer, 60, 1);
        assert_eq!(occupancy(&peer, 60), 0);
        // It is to be sent again, with its header.
        rlc.handle_blocks(&mut Cx::new(ms(70), &mut NoTrace), &report, Lost(0));
        assert_eq!(occupancy(&rlc, 70), 42);
    }

    #[test]
    fn buffer_occupancy_includes_what_lies_beyond_the_window() {
        let config = AmConfig { window: 3, ..AmConfig::default() };
        let mut rlc = with_two_sdus(&RlcConfig::Am(config.into()), Direction::Downlink);
        send(&mut rlc, 20, 9);
        assert_eq!(rlc.available_for_transmission(ms(20)), Bytes(81));
    }

    #[test]
    fn buffer_occupancy_of_unacknowledged_mode_is_what_is_not_sent_yet() {
        let config = UmConfig { pdu_payload: 40, timer_discard: None, buffer: None };
        let mut rlc = with_two_sdus(&RlcConfig::Um(config), Direction::Uplink);
        send(&mut rlc, 20, 1);
        let occupancy = rlc.available_for_transmission(ms(20));
        assert!((Bytes(160)..=Bytes(165)).contains(&occupancy), "{occupancy}");
    }

    /// Entry in ms, size and blocks of each SDU that waits.
    fn waiting(rlc: &Rlc) -> Vec<(u64, u64, u32)> {
        let mut sdus = Vec::new();
        rlc.waiting_sdus(&mut sdus);
        let ms = |entered: Time| entered.as_nanos() / 1_000_000;
        sdus.iter().map(|sdu| (ms(sdu.entered), sdu.size.0, sdu.blocks)).collect()
    }

    #[test]
    fn acknowledged_mode_tells_which_sdus_wait() {
        let config = RlcConfig::Am(AmConfig::default().into());
        let mut rlc = with_two_sdus(&config, Direction::Downlink);
        // 200 octets are five blocks of 40; the third holds the end of the first SDU and the start of the second.
        assert_eq!(waiting(&rlc), [(0, 100, 3), (10, 100, 2)]);
        let first = send(&mut rlc, 20, 2);
        assert_eq!(waiting(&rlc), [(0, 100, 1), (10, 100, 2)]);
        let rest = send(&mut rlc, 30, 9);
        assert_eq!(waiting(&rlc), []);
        let third = Sdu::new(packet(2, 90), ms(35));
        rlc.handle_sdu(&mut Cx::new(ms(35), &mut NoTrace), &third).expect("there is room");
        // The second and the last PDU of all that were sent are lost: of the first SDU, and of the second.
        let last = rest.blocks - 1;
        let mut peer = Rlc::new(UeId(0), Direction::Uplink, &config, 4);
        peer.handle_blocks(&mut Cx::new(ms(40), &mut NoTrace), &first, Lost(0b10));
        peer.handle_blocks(&mut Cx::new(ms(50), &mut NoTrace), &rest, Lost(1 << (last - 1)));
        let report = send(&mut peer, 60, 1);
        rlc.handle_blocks(&mut Cx::new(ms(70), &mut NoTrace), &report, Lost(0));
        assert_eq!(waiting(&rlc), [(0, 100, 1), (10, 100, 1), (35, 90, 3)]);
        let blocks: u32 = waiting(&rlc).iter().map(|sdu| sdu.2).sum();
        assert_eq!(blocks, rlc.backlog().pdus);
    }

    #[test]
    fn unacknowledged_mode_tells_which_sdus_wait() {
        let um = UmConfig { pdu_payload: 40, timer_discard: None, buffer: None };
        let rlc = with_two_sdus(&RlcConfig::Um(um), Direction::Downlink);
        assert_eq!(waiting(&rlc), [(0, 100, 3), (10, 100, 2)]);
    }

    #[test]
    fn acknowledged_mode_counts_blocks_within_its_window() {
        let config = AmConfig { window: 3, ..AmConfig::default() };
        let mut rlc = with_two_sdus(&RlcConfig::Am(config.into()), Direction::Downlink);
        assert_eq!(told(&rlc), (200, Some(ms(0)), 3));
        send(&mut rlc, 20, 9);
        // The window is closed: what waits can not go yet.
        assert_eq!(told(&rlc).2, 0);
        assert!(told(&rlc).0 > 0);
    }

    #[test]
    fn unacknowledged_mode_tells_what_is_not_sent_yet() {
        let config = UmConfig { pdu_payload: 40, timer_discard: None, buffer: None };
        let mut rlc = with_two_sdus(&RlcConfig::Um(config), Direction::Uplink);
        assert_eq!(told(&rlc), (200, Some(ms(0)), 5));
        while told(&rlc).1 == Some(ms(0)) {
            assert!(send(&mut rlc, 20, 1).blocks > 0);
        }
        assert_eq!(told(&rlc).1, Some(ms(10)));
        send(&mut rlc, 30, 9);
        assert_eq!(told(&rlc), (0, None, 0));
    }

    #[test]
    fn transparent_mode_tells_no_more_than_a_tti_holds() {
        let erroneous_sdus = ErroneousSdus::Dropped;
        let config = TmConfig {
            pdu_payload: 40,
            segmentation: true,
            erroneous_sdus,
            timer_discard: None,
            buffer: None,
        };
        let mut rlc = with_two_sdus(&RlcConfig::Tm(config), Direction::Downlink);
        assert_eq!(told(&rlc), (200, Some(ms(0)), 4));
        send(&mut rlc, 20, 4);
        assert_eq!(told(&rlc), (100, Some(ms(10)), 3));
    }
}
