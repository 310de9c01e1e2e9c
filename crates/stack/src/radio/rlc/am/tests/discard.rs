//! SDU discard after MaxDAT, and the Move Receiving Window command (MRW) at sender and receiver. The
//! test plays the upper layer and the peer, and sets the time with `at` (ms).
//!
//! - `submits(0, 79)`: the upper layer sends SDU 0 of 79 octets. Together with its length indicator
//!   it fills two PDUs of 40 octets.
//! - `sends(10)`: the PDUs of a TTI of 10 blocks, as text ([`describe`]). `"2 R P"` is PDU 2,
//!   retransmitted, with a poll. In `"STATUS MRW 4/1"` SN_MRW_LENGTH is 4 and N_LENGTH is 1: the
//!   receiver needs no PDU below 4, and one discarded SDU ends in PDU 4. `"STATUS MRW ACK 4 ack 8"` confirms an
//!   MRW: the window of the receiver begins at PDU 4. With `ack 8` the STATUS is also a report that was due: its
//!   ACK super-field has LSN 8. The text leaves out the list of missing PDUs.
//! - `receives_status(6, &[2])`: a STATUS arrives. The PDUs below 6 have arrived, except PDU 2.
//! - `receives(&data(0, 5, &[sdu(1, 0..=1)]), &[3])`: PDUs 0 to 5 arrive except block 3, which is
//!   lost. SDU 1, in PDUs 0 and 1, ends in them.

use super::*;
use crate::radio::rlc::MrwAck;

fn with_two_transmissions() -> RlcConfig {
    RlcConfig { max_dat: Some(2), ..config() }
}

#[test]
fn sdu_is_discarded_when_its_pdu_was_sent_max_dat_times() {
    let mut entity = TestEntity::new(with_two_transmissions());
    for id in 0..3 {
        entity.submits(id, 79).unwrap();
    }
    assert_eq!(entity.at(10).sends(10), ["0-5 P"]);
    entity.at(80).receives_status(6, &[2]);
    assert_eq!(entity.at(90).sends(10), ["2 R P"]);
    entity.at(160).receives_status(6, &[2]);
    // SDU 0 (PDUs 0 and 1) is acknowledged, and SDU 1 (PDUs 2 and 3) is discarded. The window moves
    // to PDU 4, the first PDU of SDU 2.
    assert_eq!(entity.discarded(), [1]);
    assert_eq!(entity.at(170).sends(10), ["STATUS MRW 4"]);
}

#[test]
fn max_dat_of_one_means_no_retransmission() {
    let mut entity = TestEntity::new(RlcConfig { max_dat: Some(1), ..config() });
    entity.submits(0, 79).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0-1 P"]);
    entity.at(80).receives_status(2, &[1]);
    assert_eq!(entity.discarded(), [0]);
    assert_eq!(entity.at(90).sends(10), ["STATUS MRW 2"]);
}

#[test]
fn a_repeated_poll_counts_as_a_transmission() {
    let mut entity = TestEntity::new(with_two_transmissions());
    entity.submits(0, 30).unwrap();
    // Timer_Poll of 170 ms expires at 180 and at 350 ms.
    assert_eq!(entity.at(10).sends(10), ["0 P"]);
    assert_eq!(entity.at(180).sends(10), ["0 R P"]);
    assert!(entity.at(350).sends(10).is_empty());
    assert_eq!(entity.discarded(), [0]);
    assert_eq!(entity.at(360).sends(10), ["STATUS MRW 1"]);
}

#[test]
fn partly_sent_sdu_is_discarded_completely() {
    let mut entity = TestEntity::new(RlcConfig { max_dat: Some(1), ..config() });
    entity.submits(0, 1000).unwrap();
    entity.submits(1, 39).unwrap();
    assert_eq!(entity.at(10).sends(4), ["0-3"]);
    entity.at(80).receives_status(4, &[1]);
    assert_eq!(entity.discarded(), [0]);
    // Four PDUs of 40 octets were sent, so 840 octets are unsent. They would fill 21 further PDUs, 4
    // to 24. The window moves beyond them, and the next SDU begins in PDU 25.
    assert_eq!(entity.at(90).sends(4), ["STATUS MRW 25", "25 P"]);
    assert_eq!(entity.am.buffer_occupancy(), Bytes(39));
}

/// The MRW in a block set.
fn mrw_of(set: &BlockSet) -> Mrw {
    let mut statuses = set.pdus.iter().filter_map(|pdu| match pdu {
        Pdu::Status(status) => status.mrw,
        _ => None,
    });
    statuses.next().expect("the set contains an MRW")
}

#[test]
fn mrw_above_the_window_has_length_zero() {
    let mut entity = TestEntity::new(RlcConfig { max_dat: Some(1), window: 8, ..config() });
    entity.submits(0, 1000).unwrap();
    entity.submits(1, 39).unwrap();
    assert_eq!(entity.at(10).sends(12), ["0-7"]);
    entity.at(80).receives_status(8, &[3]);
    let set = entity.at(90).sends_set(12);
    // The SDU would have ended in PDU 24. VT(S) = 25 is outside the window that begins at 3.
    assert_eq!(set.pdus.iter().map(describe).collect::<Vec<_>>(), ["STATUS MRW 25"]);
    assert_eq!(mrw_of(&set), Mrw { sn: Sn::of(25), n_length: 0, beyond_window: true });
    let mut peer = TestEntity::new(RlcConfig { rx_window: Some(8), ..config() });
    peer.at(80).receives(&data(0, 7, &[]), &[3]);
    peer.at(100).receives(&set, &[]);
    let answer = peer.at(110).sends_set(1);
    assert_eq!(describe(&answer.pdus[0]), "STATUS MRW ACK 25 ack 25");
    entity.at(180).receives(&answer, &[]);
    assert_eq!(entity.at(190).sends(12), ["25 P"]);
    // An MRW for PDU 25 without LENGTH = 0 has no effect: the receiver takes 25 for a number below
    // its window.
    let mut peer = TestEntity::new(RlcConfig { rx_window: Some(8), ..config() });
    peer.at(80).receives(&data(0, 7, &[]), &[3]);
    peer.at(100).receives(&mrw(25), &[]);
    assert_eq!(describe(&peer.at(110).sends_set(1).pdus[0]), "STATUS MRW ACK 3 ack 8");
}

#[test]
fn discarding_the_whole_window_gives_an_mrw_above_the_window() {
    let mut entity = TestEntity::new(RlcConfig { max_dat: Some(1), window: 2, ..config() });
    entity.submits(0, 79).unwrap();
    entity.submits(1, 39).unwrap();
    assert_eq!(entity.at(10).sends(12), ["0-1"]);
    entity.at(80).receives_status(2, &[0]);
    let set = entity.at(90).sends_set(12);
    assert_eq!(mrw_of(&set), Mrw { sn: Sn::of(2), n_length: 0, beyond_window: true });
}

#[test]
fn an_mrw_that_names_several_sdus_may_end_above_the_window() {
    let mut entity = TestEntity::new(RlcConfig { max_dat: Some(1), window: 8, send_mrw: true, ..config() });
    entity.submits(0, 79).unwrap();
    entity.submits(1, 1000).unwrap();
    assert_eq!(entity.at(10).sends(12), ["0-7"]);
    entity.at(80).receives_status(8, &[0, 4]);
    let set = entity.at(90).sends_set(12);
    // The discard of SDU 0 starts the procedure, before SDU 1 is discarded. So the first MRW names
    // only SDU 0. The last SN_MRW (`sn`) of an MRW names its last SDU, and `discarded` has the
    // SN_MRW of the SDUs before, here none.
    let sn_mrw_before_the_last = set.discarded.len();
    assert_eq!((mrw_of(&set).sn, sn_mrw_before_the_last), (Sn::of(2), 0));
    entity.at(150).receives_control(Pdu::Status(Status {
        mrw_ack: Some(MrwAck { sn: Sn::of(2), n: 0 }),
        ..Status::default()
    }));
    // The second MRW names SDU 1, which would have ended in PDU 26, 19 PDUs after the last sent
    // one.
    let set = entity.at(160).sends_set(12);
    assert_eq!(mrw_of(&set), Mrw { sn: Sn::of(27), n_length: 0, beyond_window: true });
    // One MRW for both SDUs: the first SN_MRW (1) is in the window, and SN_MRW_LENGTH (27) is found
    // from it.
    let mut peer = TestEntity::new(RlcConfig { rx_window: Some(8), ..config() });
    peer.at(80).receives(&data(1, 7, &[]), &[]);
    let mut both = mrw(27);
    both.discarded.push(Sn::of(1));
    peer.at(100).receives(&both, &[]);
    assert_eq!(describe(&peer.at(110).sends_set(1).pdus[0]), "STATUS MRW ACK 27 ack 27");
    // The result is the same if the first SN_MRW is already below the window.
    let mut peer = TestEntity::new(RlcConfig { rx_window: Some(8), ..config() });
    peer.at(80).receives(&data(0, 3, &[]), &[]).receives(&data(5, 7, &[]), &[]);
    peer.at(100).receives(&both, &[]);
    assert_eq!(describe(&peer.at(110).sends_set(1).pdus[0]), "STATUS MRW ACK 27 ack 27");
    // When the window has passed the last SN_MRW, the MRW has no further effect.
    peer.at(200).receives(&data(27, 30, &[]), &[]).receives(&both, &[]);
    assert_eq!(describe(&peer.at(210).sends_set(1).pdus[0]), "STATUS MRW ACK 31");
}

#[test]
fn a_pdu_with_the_start_of_the_next_sdu_is_kept() {
    let mut entity = TestEntity::new(RlcConfig { max_dat: Some(1), ..config() });
    entity.submits(0, 60).unwrap();
    entity.submits(1, 60).unwrap();
    // PDU 1 holds the end of SDU 0 and the start of SDU 1.
    assert_eq!(entity.at(10).sends(10), ["0-3 P"]);
    entity.at(80).receives_status(4, &[0]);
    assert_eq!(entity.discarded(), [0]);
    assert_eq!(entity.at(90).sends(10), ["STATUS MRW 1/1"]);
}

#[test]
fn an_mrw_is_repeated_until_it_is_acknowledged() {
    let mut entity = TestEntity::new(RlcConfig { max_dat: Some(1), ..config() });
    entity.submits(0, 30).unwrap();
    entity.at(10).sends(10);
    entity.at(80).receives_status(1, &[0]);
    assert_eq!(entity.at(90).sends(10), ["STATUS MRW 1"]);
    // Timer_MRW is 500 ms.
    assert_eq!(entity.am.poll_timeout(), Some(ms(90 + 500)));
    assert_eq!(entity.at(590).sends(10), ["STATUS MRW 1"]);
    entity.at(650).receives_status(1, &[]);
    assert_eq!((entity.am.poll_timeout(), entity.am.has_work(ms(650))), (None, false));
}

/// A block set with an MRW up to PDU `sn`.
fn mrw(sn: u64) -> BlockSet {
    let mut set = BlockSet::default();
    let mrw = Some(Mrw { sn: Sn::of(sn), ..Mrw::default() });
    set.push_status(Status { mrw, octets: 4, ..Status::default() });
    set
}

/// `lose_unsent` discards the SDUs of which no part was sent.
#[test]
fn started_sdu_continues_when_unsent_sdus_are_lost() {
    let mut entity = TestEntity::new(config());
    for (id, octets) in [(1, 80), (2, 80), (3, 80)] {
        entity.submits(id, octets).unwrap();
    }
    // SDU 1 has 80 octets and fills two PDUs exactly. The third PDU must indicate its end.
    let two_pdus = entity.sends_set(2);
    assert!(
        two_pdus.pdus.iter().all(|pdu| !describe(pdu).contains('P')),
        "SDUs are still waiting: {two_pdus:?}"
    );
    entity.am.lose_unsent(&mut Context::new(entity.now, &mut entity.trace));
    assert_eq!(entity.discarded(), [2, 3]);
    // The PDU that indicates the end of SDU 1 polls, because it is the last PDU in the buffer.
    let remaining = entity.sends(4);
    assert!(remaining.last().is_some_and(|last| last.contains('P')), "{remaining:?}");
    assert!(entity.am.backlog().pdus == 0);
}

#[test]
fn last_sent_pdu_polls_when_the_buffer_is_lost() {
    let mut entity = TestEntity::new(config());
    // SDU 1 and its length indicator fill a PDU, so no part of SDU 2 is sent.
    entity.submits(1, 39).unwrap();
    entity.submits(2, 380).unwrap();
    let sent = entity.sends(1);
    assert!(!sent[0].contains('P'), "{sent:?}");
    entity.am.lose_unsent(&mut Context::new(entity.now, &mut entity.trace));
    let again = entity.sends(4);
    assert!(again.len() == 1 && again[0].contains('R') && again[0].contains('P'), "{again:?}");
}

#[test]
fn moved_window_delivers_complete_sdus_and_drops_the_rest() {
    for (mrw_acknowledgment, answer) in [
        (MrwAcknowledgment::Explicit, "STATUS MRW ACK 6 ack 6"),
        (MrwAcknowledgment::Implicit, "STATUS ack 6"),
    ] {
        let mut entity = TestEntity::new(RlcConfig { mrw_acknowledgment, ..config() });
        let sdus = [sdu(1, 0..=1), sdu(2, 2..=3), sdu(3, 4..=5)];
        entity.at(10).receives(&data(0, 5, &sdus), &[0]);
        assert!(entity.delivers().is_empty());
        entity.at(20).receives(&mrw(2), &[]);
        assert_eq!(entity.delivers(), [2, 3]);
        assert_eq!(entity.at(30).sends(1), [answer]);
    }
}

#[test]
fn discarded_sdu_that_ends_in_the_new_window_is_not_delivered() {
    // The MRW has N_LENGTH 0. SDU 2 is completely in PDU 3 and is delivered.
    let mut entity = TestEntity::new(config());
    entity.at(10).receives(&data(2, 3, &[sdu(2, 3..=3)]), &[]);
    entity.at(20).receives(&mrw(2), &[]);
    assert_eq!(entity.delivers(), [2]);
    // SDU 1 begins in PDU 0, which the MRW skips, so it is not delivered though its end arrives.
    let mut entity = TestEntity::new(config());
    entity.at(20).receives(&mrw(2), &[]);
    entity.at(30).receives(&data(2, 3, &[sdu(1, 0..=2), sdu(2, 3..=3)]), &[]);
    assert_eq!(entity.delivers(), [2]);
}

#[test]
fn old_mrw_has_no_effect_and_is_answered() {
    let mut entity = TestEntity::new(config());
    entity.at(10).receives(&data(0, 5, &[]), &[]);
    entity.at(20).receives(&mrw(2), &[]);
    assert_eq!(entity.at(30).sends(1), ["STATUS MRW ACK 6"]);
}
