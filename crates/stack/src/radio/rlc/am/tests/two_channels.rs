//! Control PDUs on a logical channel of their own, and a sender with a limit on the SDUs that it may
//! start. `sends_data(4)` and `sends_control(4)` return the PDUs of a TTI of 4 blocks on the data and
//! the control channel, as text ([`describe`]): `"4-5 R P"` are PDUs 4 and 5, retransmitted, the last
//! one polls. `receives_status(13, &[4])` is a STATUS for the PDUs below 13, of which PDU 4 is
//! missing. A PDU holds 40 octets.

use super::*;
use crate::radio::rlc::Rlc;

impl TestEntity {
    /// PDUs on the data channel.
    fn sends_data(&mut self, blocks: u32) -> Vec<String> {
        self.on_channel(|am, cx, set| am.poll_data(cx, blocks, set))
    }

    /// PDUs on the control channel.
    fn sends_control(&mut self, blocks: u32) -> Vec<String> {
        self.on_channel(|am, cx, set| am.poll_control(cx, blocks, set))
    }

    fn on_channel(
        &mut self,
        fill: impl FnOnce(&mut AmEntity, &mut Context<'_, Vec<(Time, TraceEvent)>>, &mut BlockSet),
    ) -> Vec<String> {
        let mut set = BlockSet::default();
        fill(&mut self.am, &mut Context::new(self.now, &mut self.trace), &mut set);
        set.pdus.iter().map(describe).collect()
    }

    /// Limits the number of SDUs that the entity may start.
    fn limit_sdus(&mut self, sdus: Option<u32>) {
        self.am.limit_sdus(&mut Context::new(self.now, &mut self.trace), sdus);
    }
}

#[test]
fn a_report_is_sent_on_the_control_channel() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 100).unwrap();
    entity.at(10).receives(&data_with_poll(0, 3, &[]), &[]);
    assert_eq!((entity.am.has_control(ms(10)), entity.am.has_data(ms(10))), (true, true));
    assert_eq!(entity.at(20).sends_data(4), ["0-2 P"]);
    assert_eq!(entity.sends_control(4), ["STATUS ack 4"]);
    assert_eq!((entity.am.has_control(ms(20)), entity.am.has_data(ms(20))), (false, false));
    assert!(entity.sends_control(4).is_empty());
}

#[test]
fn retransmissions_are_sent_on_the_data_channel() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 500).unwrap();
    assert_eq!(entity.at(10).sends_data(20), ["0-12 P"]);
    entity.at(20).receives_status(13, &[4, 5]);
    assert_eq!((entity.am.has_control(ms(20)), entity.am.has_data(ms(20))), (false, true));
    assert_eq!(entity.at(30).sends_data(20), ["4-5 R P"]);
    assert_eq!(entity.am.sdus_done(), 0);
    entity.at(40).receives_status(13, &[]);
    assert_eq!(entity.am.sdus_done(), 1);
}

#[test]
fn a_reset_is_sent_on_the_control_channel() {
    let mut entity =
        TestEntity::new(RlcConfig { max_dat: Some(1), sdu_discard: SduDiscard::Never, ..config() });
    entity.submits(0, 100).unwrap();
    assert_eq!(entity.at(10).sends_data(4), ["0-2 P"]);
    entity.at(20).receives_status(3, &[1]);
    assert_eq!((entity.am.has_control(ms(20)), entity.am.has_data(ms(20))), (true, false));
    assert_eq!(entity.at(30).sends_control(1), ["RESET 0"]);
}

#[test]
fn limited_sender_starts_no_further_sdu_and_polls_with_its_last_pdu() {
    let mut entity = TestEntity::new(config());
    (0..4).for_each(|id| entity.submits(id, 100).unwrap());
    entity.limit_sdus(Some(2));
    // Two SDUs of 100 octets and their indicators take six PDUs of 40 octets. The third SDU does not
    // start in the padding of the last one.
    assert_eq!(entity.at(10).sends_data(4), ["0-3"]);
    assert_eq!(entity.at(20).sends_data(4), ["4-5 P"]);
    assert!(!entity.am.has_data(ms(20)));
    // Missing PDUs may be retransmitted, and no SDU is started.
    entity.at(30).receives_status(6, &[5]);
    assert_eq!(entity.am.sdus_done(), 1);
    assert_eq!(entity.at(40).sends_data(4), ["5 R P"]);
    entity.at(50).receives_status(6, &[]);
    assert_eq!(entity.am.sdus_done(), 2);
    entity.limit_sdus(Some(1));
    assert_eq!(entity.at(60).sends_data(9), ["6-8 P"]);
    entity.limit_sdus(None);
    assert_eq!(entity.at(70).sends_data(9), ["9-11 P"]);
}

#[test]
fn started_sdu_continues_and_counts_once() {
    let mut entity = TestEntity::new(config());
    (0..3).for_each(|id| entity.submits(id, 1000).unwrap());
    entity.limit_sdus(Some(1));
    assert_eq!(entity.at(10).sends_data(10), ["0-9"]);
    // The limit is set again in the middle of the first SDU. It counts only SDUs started from now
    // on, so the first SDU is completed and the second one is sent.
    entity.limit_sdus(Some(1));
    assert_eq!(entity.at(20).sends_data(100), ["10-50 P"]);
    assert!(!entity.am.has_data(ms(20)));
}

#[test]
fn discarded_sdus_count_as_done() {
    let mut entity = TestEntity::new(RlcConfig { max_dat: Some(1), ..config() });
    (0..2).for_each(|id| entity.submits(id, 100).unwrap());
    entity.limit_sdus(Some(1));
    assert_eq!(entity.at(10).sends_data(9), ["0-2 P"]);
    entity.at(20).receives_status(3, &[1]);
    assert_eq!(entity.discarded(), [0]);
    assert_eq!(entity.am.sdus_done(), 1);
    assert_eq!(entity.at(20).sends_control(1), ["STATUS MRW 3"]);
}

/// In wire mode the composer follows the limit, too: `Wired::poll_delivered` compares the octets of
/// each SDU.
#[test]
fn wire_mode_follows_the_limit() {
    let config = config().into();
    let wired = |sends| Rlc::wired(UeId(0), sends, &config, 4).expect("these options have an encoding");
    let (mut sender, mut peer) = (wired(Direction::Uplink), wired(Direction::Downlink));
    let mut sink = Vec::new();
    let mut delivered = 0;
    for round in 0..20 {
        let cx = &mut Context::new(ms(round * 10), &mut sink);
        for n in 0..5 {
            sender.handle_sdu(cx, &Sdu::new(packet(round * 5 + n, 150 + n as u32), ms(0))).expect("room");
        }
        sender.limit_sdus(cx, Some(3));
        while sender.has_data(cx.now) {
            let mut set = BlockSet::default();
            sender.poll_data(cx, 4, &mut set);
            peer.handle_blocks(cx, &set, Lost(0));
            delivered += std::iter::from_fn(|| peer.poll_delivered()).count();
        }
        let mut report = BlockSet::default();
        peer.poll_control(cx, 1, &mut report);
        sender.handle_blocks(cx, &report, Lost(0));
        assert_eq!(sender.sdus_done(), 3 * (round + 1));
    }
    assert_eq!((delivered, sender.sdus_done()), (60, 60));
}
