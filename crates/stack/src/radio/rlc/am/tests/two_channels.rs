//! Control PDUs on a separate channel, and a sender with a limit on started SDUs.

use super::*;
use crate::radio::rlc::Rlc;

impl Talk {
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

    fn may_begin(&mut self, sdus: Option<u32>) {
        self.am.limit_sdus(&mut Context::new(self.now, &mut self.trace), sdus);
    }
}

#[test]
fn a_report_leaves_on_the_channel_of_control_pdus_alone() {
    let mut talk = Talk::new(config());
    talk.queues(0, 100).unwrap();
    talk.at(10).hears(&data(0, 3, true, &[]), &[]);
    assert_eq!((talk.am.has_control(ms(10)), talk.am.has_data(ms(10))), (true, true));
    assert_eq!(talk.at(20).sends_data(4), ["0-2 P"]);
    assert_eq!(talk.sends_control(4), ["STATUS ack 4"]);
    assert_eq!((talk.am.has_control(ms(20)), talk.am.has_data(ms(20))), (false, false));
    assert!(talk.sends_control(4).is_empty());
}

#[test]
fn repetitions_are_data() {
    let mut talk = Talk::new(config());
    talk.queues(0, 500).unwrap();
    assert_eq!(talk.at(10).sends_data(20), ["0-12 P"]);
    talk.at(20).hears_status(13, &[4, 5]);
    assert_eq!((talk.am.has_control(ms(20)), talk.am.has_data(ms(20))), (false, true));
    assert_eq!(talk.at(30).sends_data(20), ["4-5 R P"]);
    assert!(!talk.am.is_settled());
    talk.at(40).hears_status(13, &[]);
    assert!(talk.am.is_settled());
}

#[test]
fn a_reset_goes_over_the_channel_of_control_pdus() {
    let mut talk = Talk::new(RlcConfig { max_dat: Some(1), sdu_discard: SduDiscard::Never, ..config() });
    talk.queues(0, 100).unwrap();
    assert_eq!(talk.at(10).sends_data(4), ["0-2 P"]);
    talk.at(20).hears_status(3, &[1]);
    assert_eq!((talk.am.has_control(ms(20)), talk.am.has_data(ms(20))), (true, false));
    assert_eq!(talk.at(30).sends_control(1), ["RESET 0"]);
}

#[test]
fn a_limited_sender_ends_its_last_sdu_in_a_pdu_of_its_own_and_polls() {
    let mut talk = Talk::new(config());
    (0..4).for_each(|id| talk.queues(id, 100).unwrap());
    talk.may_begin(Some(2));
    // Twice 101 octets in PDUs of 40 octets: six PDUs, the last one half empty.
    assert_eq!(talk.at(10).sends_data(4), ["0-3"]);
    assert_eq!(talk.at(20).sends_data(4), ["4-5 P"]);
    assert!(!talk.am.has_data(ms(20)));
    // Missing PDUs may be retransmitted, and no SDU is started.
    talk.at(30).hears_status(6, &[5]);
    assert_eq!((talk.am.sdus_done(), talk.am.is_settled()), (1, false));
    assert_eq!(talk.at(40).sends_data(4), ["5 R P"]);
    talk.at(50).hears_status(6, &[]);
    assert_eq!((talk.am.sdus_done(), talk.am.is_settled()), (2, true));
    talk.may_begin(Some(1));
    assert_eq!(talk.at(60).sends_data(9), ["6-8 P"]);
    talk.may_begin(None);
    assert_eq!(talk.at(70).sends_data(9), ["9-11 P"]);
}

#[test]
fn started_sdu_continues_and_counts_once() {
    let mut talk = Talk::new(config());
    (0..3).for_each(|id| talk.queues(id, 1000).unwrap());
    talk.may_begin(Some(1));
    assert_eq!(talk.at(10).sends_data(10), ["0-9"]);
    // The channel is removed in the middle of the first SDU, whose rest is not counted again.
    talk.may_begin(Some(1));
    assert_eq!(talk.at(20).sends_data(100), ["10-50 P"]);
    assert!(!talk.am.has_data(ms(20)));
}

#[test]
fn sdus_that_were_given_up_are_done_with() {
    let mut talk = Talk::new(RlcConfig { max_dat: Some(1), ..config() });
    (0..2).for_each(|id| talk.queues(id, 100).unwrap());
    talk.may_begin(Some(1));
    assert_eq!(talk.at(10).sends_data(9), ["0-2 P"]);
    talk.at(20).hears_status(3, &[1]);
    assert_eq!(talk.discarded(), [0]);
    assert_eq!((talk.am.sdus_done(), talk.am.is_settled()), (1, false));
    assert_eq!(talk.at(20).sends_control(1), ["STATUS MRW 3"]);
}

/// The encoded octets respect the limit: the delivered SDUs are the queued ones
/// (`Wired::poll_delivered` compares).
#[test]
fn octets_follow_the_limit() {
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
        assert!(sender.is_settled());
    }
    assert_eq!((delivered, sender.sdus_done()), (60, 60));
}
