//! SDU discard after MaxDAT, and the move of the receiving window.

use super::*;
use crate::radio::rlc::MrwAck;

fn twice() -> RlcConfig {
    RlcConfig { max_dat: Some(2), ..config() }
}

#[test]
fn an_sdu_is_given_up_when_a_pdu_was_sent_max_dat_times() {
    let mut talk = Talk::new(twice());
    for id in 0..3 {
        talk.queues(id, 79).unwrap();
    }
    assert_eq!(talk.at(10).sends(10), ["0-5 P"]);
    talk.at(80).hears_status(6, &[2]);
    assert_eq!(talk.at(90).sends(10), ["2 R P"]);
    talk.at(160).hears_status(6, &[2]);
    // The first SDU is acknowledged. The window moves to the first PDU of the third one.
    assert_eq!(talk.discarded(), [1]);
    assert_eq!(talk.at(170).sends(10), ["STATUS MRW 4"]);
}

#[test]
fn max_dat_of_one_means_no_retransmission() {
    let mut talk = Talk::new(RlcConfig { max_dat: Some(1), ..config() });
    talk.queues(0, 79).unwrap();
    assert_eq!(talk.at(10).sends(10), ["0-1 P"]);
    talk.at(80).hears_status(2, &[1]);
    assert_eq!(talk.discarded(), [0]);
    assert_eq!(talk.at(90).sends(10), ["STATUS MRW 2"]);
}

#[test]
fn a_repeated_poll_counts_as_a_transmission() {
    let mut talk = Talk::new(twice());
    talk.queues(0, 30).unwrap();
    assert_eq!(talk.at(10).sends(10), ["0 P"]);
    assert_eq!(talk.at(180).sends(10), ["0 R P"]);
    assert!(talk.at(350).sends(10).is_empty());
    assert_eq!(talk.discarded(), [0]);
    assert_eq!(talk.at(360).sends(10), ["STATUS MRW 1"]);
}

#[test]
fn partly_sent_sdu_is_discarded_completely() {
    let mut talk = Talk::new(RlcConfig { max_dat: Some(1), ..config() });
    talk.queues(0, 1000).unwrap();
    talk.queues(1, 39).unwrap();
    assert_eq!(talk.at(10).sends(4), ["0-3"]);
    talk.at(80).hears_status(4, &[1]);
    assert_eq!(talk.discarded(), [0]);
    // 840 octets are unsent. They would fill 21 further PDUs, for whose numbers the receiver does
    // not wait.
    assert_eq!(talk.at(90).sends(4), ["STATUS MRW 25", "25 P"]);
    assert_eq!(talk.am.buffer_occupancy(), Bytes(39));
}

/// The MRW of a set.
fn mrw_of(set: &BlockSet) -> Mrw {
    let mut statuses = set.pdus.iter().filter_map(|pdu| match pdu {
        Pdu::Status(status) => status.mrw,
        _ => None,
    });
    statuses.next().expect("the set contains one")
}

#[test]
fn mrw_above_the_window_has_length_zero() {
    let mut talk = Talk::new(RlcConfig { max_dat: Some(1), window: 8, ..config() });
    talk.queues(0, 1000).unwrap();
    talk.queues(1, 39).unwrap();
    assert_eq!(talk.at(10).sends(12), ["0-7"]);
    talk.at(80).hears_status(8, &[3]);
    let set = talk.at(90).transmits(12);
    // The SDU would have ended in PDU 24. VT(S) = 25 is outside the window that begins at 3.
    assert_eq!(set.pdus.iter().map(describe).collect::<Vec<_>>(), ["STATUS MRW 25"]);
    assert_eq!(mrw_of(&set), Mrw { sn: Sn::of(25), n_length: 0, beyond_window: true });
    let mut peer = Talk::new(RlcConfig { rx_window: Some(8), ..config() });
    peer.at(80).hears(&data(0, 7, false, &[]), &[3]);
    peer.at(100).hears(&set, &[]);
    let answer = peer.at(110).transmits(1);
    assert_eq!(describe(&answer.pdus[0]), "STATUS MRW ACK 25 ack 25");
    talk.at(180).hears(&answer, &[]);
    assert_eq!(talk.at(190).sends(12), ["25 P"]);
    // Without LENGTH = 0 this would look like an old MRW.
    let mut peer = Talk::new(RlcConfig { rx_window: Some(8), ..config() });
    peer.at(80).hears(&data(0, 7, false, &[]), &[3]);
    peer.at(100).hears(&mrw(25), &[]);
    assert_eq!(describe(&peer.at(110).transmits(1).pdus[0]), "STATUS MRW ACK 3 ack 8");
}

#[test]
fn discarding_the_whole_window_gives_an_mrw_above_the_window() {
    let mut talk = Talk::new(RlcConfig { max_dat: Some(1), window: 2, ..config() });
    talk.queues(0, 79).unwrap();
    talk.queues(1, 39).unwrap();
    assert_eq!(talk.at(10).sends(12), ["0-1"]);
    talk.at(80).hears_status(2, &[0]);
    let set = talk.at(90).transmits(12);
    assert_eq!(mrw_of(&set), Mrw { sn: Sn::of(2), n_length: 0, beyond_window: true });
}

#[test]
fn an_mrw_that_names_several_sdus_may_end_above_the_window() {
    let mut talk = Talk::new(RlcConfig { max_dat: Some(1), window: 8, send_mrw: true, ..config() });
    talk.queues(0, 79).unwrap();
    talk.queues(1, 1000).unwrap();
    assert_eq!(talk.at(10).sends(12), ["0-7"]);
    talk.at(80).hears_status(8, &[0, 4]);
    let set = talk.at(90).transmits(12);
    // First only SDU 0, whose discard started the procedure. Then the other one, which ends 19 PDUs
    // above the last sent PDU.
    assert_eq!((mrw_of(&set).sn, set.discarded.len()), (Sn::of(2), 0));
    talk.at(150).hears_control(Pdu::Status(Status {
        mrw_ack: Some(MrwAck { sn: Sn::of(2), n: 0 }),
        ..Status::default()
    }));
    let set = talk.at(160).transmits(12);
    assert_eq!(mrw_of(&set), Mrw { sn: Sn::of(27), n_length: 0, beyond_window: true });
    // All at once: the first SN_MRW is in the window and shows the position of the last one.
    let mut peer = Talk::new(RlcConfig { rx_window: Some(8), ..config() });
    peer.at(80).hears(&data(1, 7, false, &[]), &[]);
    let mut both = mrw(27);
    both.discarded.push(Sn::of(1));
    peer.at(100).hears(&both, &[]);
    assert_eq!(describe(&peer.at(110).transmits(1).pdus[0]), "STATUS MRW ACK 27 ack 27");
    // Also if the first of them is already below the window.
    let mut peer = Talk::new(RlcConfig { rx_window: Some(8), ..config() });
    peer.at(80).hears(&data(0, 3, false, &[]), &[]).hears(&data(5, 7, false, &[]), &[]);
    peer.at(100).hears(&both, &[]);
    assert_eq!(describe(&peer.at(110).transmits(1).pdus[0]), "STATUS MRW ACK 27 ack 27");
    // An old MRW remains old.
    peer.at(200).hears(&data(27, 30, false, &[]), &[]).hears(&both, &[]);
    assert_eq!(describe(&peer.at(210).transmits(1).pdus[0]), "STATUS MRW ACK 31");
}

#[test]
fn a_pdu_with_the_start_of_the_next_sdu_is_kept() {
    let mut talk = Talk::new(RlcConfig { max_dat: Some(1), ..config() });
    talk.queues(0, 60).unwrap();
    talk.queues(1, 60).unwrap();
    // PDU 1 holds the end of the first and the start of the second.
    assert_eq!(talk.at(10).sends(10), ["0-3 P"]);
    talk.at(80).hears_status(4, &[0]);
    assert_eq!(talk.discarded(), [0]);
    assert_eq!(talk.at(90).sends(10), ["STATUS MRW 1/1"]);
}

#[test]
fn an_mrw_is_repeated_until_it_is_acknowledged() {
    let mut talk = Talk::new(RlcConfig { max_dat: Some(1), ..config() });
    talk.queues(0, 30).unwrap();
    talk.at(10).sends(10);
    talk.at(80).hears_status(1, &[0]);
    assert_eq!(talk.at(90).sends(10), ["STATUS MRW 1"]);
    assert_eq!(talk.am.poll_timeout(), Some(ms(590)));
    assert_eq!(talk.at(590).sends(10), ["STATUS MRW 1"]);
    talk.at(650).hears_status(1, &[]);
    assert_eq!((talk.am.poll_timeout(), talk.am.has_work(ms(650))), (None, false));
}

fn mrw(sn: u64) -> BlockSet {
    let mut set = BlockSet::default();
    let mrw = Some(Mrw { sn: Sn::of(sn), ..Mrw::default() });
    set.push_status(Status { mrw, octets: 4, ..Status::default() });
    set
}

#[test]
fn started_sdu_continues_when_unsent_sdus_are_lost() {
    let mut talk = Talk::new(config());
    for (id, octets) in [(1, 80), (2, 80), (3, 80)] {
        talk.queues(id, octets).unwrap();
    }
    // Two PDUs. The second one holds the end of the first SDU or a part of it.
    let first = talk.transmits(2);
    assert!(first.pdus.iter().all(|pdu| !describe(pdu).contains('P')), "more was waiting: {first:?}");
    talk.am.lose_unsent(&mut Context::new(talk.now, &mut talk.trace));
    let lost = talk.trace.iter().filter_map(|(_, event)| match event {
        TraceEvent::SduDiscarded { sdu, .. } => Some(sdu.0),
        _ => None,
    });
    assert_eq!(lost.collect::<Vec<_>>(), [2, 3]);
    // The end of the started SDU polls, as the last PDU in the buffer.
    let rest = talk.sends(4);
    assert!(rest.last().is_some_and(|last| last.contains('P')), "{rest:?}");
    assert!(talk.am.backlog().pdus == 0);
}

#[test]
fn last_sent_pdu_polls_when_the_buffer_is_lost() {
    let mut talk = Talk::new(config());
    // The first SDU fills a PDU with its length indicator: the PDU has nothing of the second one.
    talk.queues(1, 39).unwrap();
    talk.queues(2, 380).unwrap();
    let sent = talk.sends(1);
    assert!(!sent[0].contains('P'), "{sent:?}");
    talk.am.lose_unsent(&mut Context::new(talk.now, &mut talk.trace));
    let again = talk.sends(4);
    assert!(again.len() == 1 && again[0].contains('R') && again[0].contains('P'), "{again:?}");
}

#[test]
fn moved_window_delivers_complete_sdus_and_drops_the_rest() {
    for (mrw_acknowledgment, answer) in [
        (MrwAcknowledgment::Explicit, "STATUS MRW ACK 6 ack 6"),
        (MrwAcknowledgment::Implicit, "STATUS ack 6"),
    ] {
        let mut talk = Talk::new(RlcConfig { mrw_acknowledgment, ..config() });
        let sdus = [(1, 0, 1), (2, 2, 3), (3, 4, 5)];
        talk.at(10).hears(&data(0, 5, false, &sdus), &[0]);
        assert!(talk.delivers().is_empty());
        talk.at(20).hears(&mrw(2), &[]);
        assert_eq!(talk.delivers(), [2, 3]);
        assert_eq!(talk.at(30).sends(1), [answer]);
    }
}

#[test]
fn an_sdu_that_reaches_above_the_new_window_is_dropped_when_its_end_comes() {
    let mut talk = Talk::new(config());
    talk.at(10).hears(&data(2, 3, false, &[(2, 3, 3)]), &[]);
    talk.at(20).hears(&mrw(2), &[]);
    assert_eq!(talk.delivers(), [2]);
    let mut talk = Talk::new(config());
    talk.at(20).hears(&mrw(2), &[]);
    talk.at(30).hears(&data(2, 3, false, &[(1, 0, 2), (2, 3, 3)]), &[]);
    assert_eq!(talk.delivers(), [2]);
}

#[test]
fn old_mrw_has_no_effect_and_is_answered() {
    let mut talk = Talk::new(config());
    talk.at(10).hears(&data(0, 5, false, &[]), &[]);
    talk.at(20).hears(&mrw(2), &[]);
    assert_eq!(talk.at(30).sends(1), ["STATUS MRW ACK 6"]);
}
