//! Suspension and re-establishment. Each test has one entity, and plays its upper layer and its peer.
//! The time (`at`) is in ms.
//!
//! - `submits(0, 1000)`: the upper layer sends SDU 0 of 1000 octets. A PDU holds 40 octets.
//! - `sends(4)`: the PDUs of a TTI of 4 blocks, as text ([`describe`](super::describe)). `"2 R P"` is
//!   PDU 2, retransmitted, with a poll.
//! - `receives_status(7, &[2])`: a STATUS arrives. The PDUs below 7 have arrived, except PDU 2.
//! - `receives(&data_with_poll(0, 1, &[sdu(7, 0..=1)]), &[])`: PDUs 0 and 1 arrive, in which SDU 7
//!   ends, and the last one polls. The second argument lists lost blocks.

use super::*;

#[test]
fn a_suspended_entity_keeps_its_state_and_continues_with_other_blocks_per_tti() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 1000).unwrap();
    assert_eq!(entity.at(10).sends(1), ["0"]);
    entity.am.suspend();
    assert!(entity.at(20).sends(1).is_empty() && !entity.am.has_work(ms(20)) && entity.am.is_suspended());
    // PDUs in flight still arrive at both ends.
    entity.at(30).receives_status(1, &[]).receives(&data_with_poll(0, 0, &[sdu(7, 0..=0)]), &[]);
    assert_eq!(entity.delivers(), [7]);
    entity.am.resume();
    assert!(entity.am.has_work(ms(500)));
    assert_eq!(entity.at(500).sends(12), ["STATUS ack 1", "1-11"]);
}

/// CRLC-SUSPEND with N at the sending end.
#[test]
fn suspension_with_n_permits_n_further_pdus() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 1000).unwrap();
    assert_eq!(entity.at(10).sends(4), ["0-3"]);
    assert_eq!(entity.am.suspend_after(3), Sn::of(4));
    assert_eq!(entity.at(20).sends(12), ["4-6"]);
    assert!(entity.at(30).sends(12).is_empty() && !entity.am.has_work(ms(30)));
    // Missing PDUs are retransmitted, and requested reports are sent. An acknowledgment does not
    // permit new PDUs.
    entity.at(40).receives_status(7, &[2]).receives(&data_with_poll(0, 0, &[]), &[]);
    assert_eq!(entity.at(50).sends(12), ["STATUS ack 1", "2 R P"]);
    entity.at(60).receives_status(7, &[]);
    assert!(entity.at(70).sends(12).is_empty());
    entity.am.resume();
    assert_eq!(entity.at(80).sends(2), ["7-8"]);
}

/// CRLC-SUSPEND with N during a RESET (state RESET_AND_SUSPEND, TS 25.322 §9.3.3.5).
#[test]
fn a_reset_keeps_the_limit_of_a_suspension() {
    let mut entity = TestEntity::new(config());
    for id in 0..3 {
        entity.submits(id, 390).unwrap();
    }
    assert_eq!(entity.at(10).sends(2), ["0-1"]);
    entity.am.suspend_after(3);
    entity.at(20).receives_status(100, &[]);
    assert_eq!(entity.at(30).sends(2), ["RESET 0"]);
    entity.at(40).receives_control(Pdu::ResetAck(false));
    // VT(S) is 0 again. The three PDUs of the suspension are still to be sent.
    assert_eq!(entity.at(50).sends(12), ["0-2"]);
    assert!(entity.at(60).sends(12).is_empty());
    entity.am.resume();
    assert_eq!(entity.at(70).sends(2), ["3-4"]);
}

/// A suspended peer does not answer polls, so they are repeated. Its earlier PDUs are still received
/// and reported.
#[test]
fn polls_to_a_suspended_peer_are_repeated() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 39).unwrap();
    assert_eq!(entity.at(10).sends(4), ["0 P"]);
    entity.at(20).receives(&data_with_poll(0, 1, &[sdu(7, 0..=1)]), &[]);
    assert_eq!((entity.delivers(), entity.at(30).sends(4)), (vec![7], vec!["STATUS ack 2".to_owned()]));
    // Timer_Poll of 170 ms expires at 180 and at 350 ms.
    assert_eq!(entity.at(180).sends(4), ["0 R P"]);
    assert_eq!(entity.at(350).sends(4), ["0 R P"]);
    entity.at(400).receives_status(1, &[]);
    assert_eq!((entity.am.poll_timeout(), entity.am.buffer_occupancy()), (None, Bytes(0)));
}

#[test]
fn a_poll_timer_that_expires_in_suspension_polls_afterwards() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 39).unwrap();
    assert_eq!(entity.at(10).sends(1), ["0 P"]);
    entity.am.suspend();
    assert!(entity.at(400).sends(1).is_empty());
    assert_eq!(entity.am.poll_timeout(), None);
    entity.am.resume();
    assert_eq!(entity.at(410).sends(4), ["0 R P"]);
}

#[test]
fn a_reestablished_entity_continues_with_the_unsent_sdus() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 100).unwrap();
    entity.submits(1, 50).unwrap();
    assert_eq!(entity.at(10).sends(2), ["0-1"]);
    // A report for the missing PDU 1 is due, but re-establishment cancels it.
    entity.receives(&data_with_poll(0, 2, &[]), &[1]);
    entity.am.reestablish(&mut Context::new(ms(20), &mut entity.trace));
    // A part of SDU 0 was sent, so it is lost. SDU 1 is sent in PDUs 0 and 1.
    assert_eq!(entity.discarded(), [0]);
    assert_eq!(entity.am.poll_timeout(), None);
    assert_eq!(entity.at(30).sends(4), ["0-1 P"]);
    entity.receives(&data(0, 0, &[sdu(5, 0..=0)]), &[]);
    assert_eq!(entity.delivers(), [5]);
}
