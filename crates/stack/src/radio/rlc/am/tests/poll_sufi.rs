//! The POLL SUFI with PDUs of flexible size (TS 25.322 §9.2.2.11.9, §11.3.2, §11.3.5, §11.5.2). Without
//! a data PDU to carry it, a poll is a STATUS with Poll_SN, the number of the last PDU sent. Times (`at`)
//! are in ms.
//!
//! `"STATUS POLL 2"` is a STATUS with Poll_SN 2, and `"0-2 P"` are PDUs 0 to 2, the last of which has the
//! polling bit. A PDU has up to 100 octets of data, so an SDU of 250 octets takes three PDUs.

use super::*;

/// Octets of a STATUS with nothing but a POLL SUFI.
const POLL_STATUS: u32 = 3;

/// PDUs of up to 102 octets. Timer_Poll is 170 ms.
fn flexible() -> RlcConfig {
    RlcConfig { pdu_size: PduSize::Flexible, largest_pdu: Octets(102), poll_sufi: true, ..config() }
}

/// Polls only by the triggers that a test adds.
fn without_triggers() -> RlcConfig {
    RlcConfig { poll_last_pdu: false, poll_last_retransmitted_pdu: false, timer_poll: None, ..flexible() }
}

fn timer(milliseconds: u64) -> Option<Duration> {
    Some(Duration::from_millis(milliseconds))
}

/// The entity of a UE, which receives the PDUs of flexible size.
fn ue(config: RlcConfig) -> TestEntity {
    TestEntity { am: AmEntity::new(UeId(0), Direction::Uplink, config), now: Time::ZERO, trace: Vec::new() }
}

fn poll_sufi(last: u64) -> Pdu {
    Pdu::Status(Status { poll: Some(Sn::of(last)), octets: POLL_STATUS as u16, ..Status::default() })
}

#[test]
fn timer_poll_sends_a_poll_sufi_until_a_report_arrives() {
    let mut entity = TestEntity::new(flexible());
    entity.submits(0, 250).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0-2 P"]);
    assert!(entity.at(170).sends(10).is_empty());
    for expiry in [180, 350] {
        let octets = entity.at(expiry).am.available_for_transmission(ms(expiry));
        assert_eq!(octets, Bytes(0), "the timer is not handled yet");
        let set = entity.sends_set(10);
        assert_eq!(set.pdus.iter().map(describe).collect::<Vec<_>>(), ["STATUS POLL 2"]);
        assert_eq!((set.flexible_octets, set.blocks), (POLL_STATUS, 1));
        assert_eq!(entity.am.poll_timeout(), Some(ms(expiry + 170)));
    }
    entity.at(400).receives_status(3, &[]);
    assert_eq!((entity.am.poll_timeout(), entity.am.has_work(ms(10_000))), (None, false));
}

#[test]
fn a_due_poll_sufi_has_three_octets_in_the_backlog() {
    let mut entity = TestEntity::new(flexible());
    entity.submits(0, 250).unwrap();
    entity.at(10).sends(10);
    entity.am.handle_timeout(&mut Context::new(ms(180), &mut entity.trace));
    assert_eq!(entity.am.available_for_transmission(ms(180)), Bytes(u64::from(POLL_STATUS)));
    assert_eq!(entity.am.pdus_ready(ms(180)), 1);
}

#[test]
fn timer_poll_periodic_sends_a_poll_sufi() {
    let mut entity = TestEntity::new(RlcConfig { timer_poll_periodic: timer(100), ..without_triggers() });
    entity.submits(0, 250).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0-2"]);
    for expiry in [100, 200] {
        assert_eq!(entity.at(expiry).sends(10), ["STATUS POLL 2"]);
    }
}

#[test]
fn a_prohibited_poll_with_the_last_pdu_becomes_a_poll_sufi() {
    let prohibited = RlcConfig { poll_last_pdu: true, timer_poll_prohibit: timer(200), ..without_triggers() };
    let mut entity = TestEntity::new(prohibited);
    entity.submits(0, 100).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0 P"]);
    entity.submits(1, 100).unwrap();
    assert_eq!(entity.at(20).sends(10), ["1"]);
    assert!(entity.at(200).sends(10).is_empty());
    assert_eq!(entity.at(210).sends(10), ["STATUS POLL 1"]);
}

/// The window of 4 PDUs is full when polls are permitted again, so no data PDU can carry the poll.
#[test]
fn a_prohibited_poll_of_the_window_becomes_a_poll_sufi() {
    let config =
        RlcConfig { window: 4, poll_window: Some(50), timer_poll_prohibit: timer(100), ..without_triggers() };
    let mut entity = TestEntity::new(config);
    entity.submits(0, 600).unwrap();
    assert_eq!(entity.at(10).sends(2), ["0-1 P"]);
    assert_eq!(entity.at(20).sends(2), ["2-3"]);
    assert!(entity.at(30).sends(2).is_empty());
    assert_eq!(entity.at(110).sends(2), ["STATUS POLL 3"]);
}

#[test]
fn new_and_retransmitted_data_carry_the_poll_themselves() {
    let mut entity = TestEntity::new(flexible());
    entity.submits(0, 100).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0 P"]);
    entity.at(175).submits(1, 100).unwrap();
    assert_eq!(entity.at(180).sends(10), ["1 P"]);
    entity.at(345).receives_status(1, &[0]);
    assert_eq!(entity.at(350).sends(10), ["0 R P"]);
}

/// MaxDAT of 3: PDU 0 is sent once, and each POLL SUFI counts as a transmission of it.
#[test]
fn a_poll_sufi_counts_as_a_transmission_of_the_last_pdu() {
    let mut entity = TestEntity::new(RlcConfig { max_dat: Some(3), ..flexible() });
    entity.submits(0, 100).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0 P"]);
    for expiry in [180, 350] {
        assert_eq!(entity.at(expiry).sends(10), ["STATUS POLL 0"]);
        assert!(entity.discarded().is_empty());
    }
    assert!(entity.at(520).sends(10).is_empty());
    assert_eq!(entity.discarded(), [0]);
    assert_eq!(entity.at(530).sends(10), ["STATUS MRW 1"]);
}

/// The last PDU was lost. The receiver reports it as missing because a POLL SUFI names it.
#[test]
fn the_report_on_a_poll_sufi_requests_a_lost_last_pdu() {
    let mut entity = TestEntity::new(flexible());
    entity.submits(0, 250).unwrap();
    let set = entity.at(10).sends_set(10);
    let mut peer = ue(flexible());
    peer.at(50).receives(&set, &[2]);
    assert!(peer.at(60).sends(1).is_empty());
    let poll = entity.at(180).sends_set(10);
    let report = peer.at(220).receives(&poll, &[]).at(230).sends_set(1);
    assert_eq!((describe(&report.pdus[0]).as_str(), missing(&report)), ("STATUS ack 3", vec![2]));
    let again = entity.at(270).receives(&report, &[]).at(280).sends_set(10);
    assert_eq!(again.pdus.iter().map(describe).collect::<Vec<_>>(), ["2 R P"]);
    assert_eq!(again.flexible_octets, 52);
    assert_eq!(peer.at(320).receives(&again, &[]).delivers(), [0]);
}

/// VR(H) is 3. Poll_SN 1 is below it, and 3,000 is beyond the window of 1,024 PDUs.
#[test]
fn a_poll_sufi_with_another_number_only_requests_a_report() {
    for last in [1, 3_000] {
        let mut peer = ue(flexible());
        peer.at(50).receives(&data(0, 2, &[sdu(0, 0..=2)]), &[]);
        let report = peer.at(60).receives_control(poll_sufi(last)).at(70).sends_set(1);
        assert_eq!((describe(&report.pdus[0]).as_str(), missing(&report)), ("STATUS ack 3", vec![]));
    }
}

#[test]
fn the_report_on_a_poll_sufi_waits_for_timer_status_prohibit() {
    let mut peer = ue(RlcConfig { timer_status_prohibit: timer(100), ..flexible() });
    peer.at(50).receives(&data_with_poll(0, 2, &[]), &[]);
    assert_eq!(peer.at(60).sends(1), ["STATUS ack 3"]);
    assert!(peer.at(90).receives_control(poll_sufi(2)).at(100).sends(1).is_empty());
    assert_eq!(peer.at(160).sends(1), ["STATUS ack 3"]);
}

/// TS 25.322 §9.2.2.11.9 allows a POLL SUFI only in a direction with PDUs of flexible size.
#[test]
fn a_poll_sufi_has_no_effect_on_pdus_of_fixed_size() {
    let mut peer = ue(config());
    peer.at(50).receives(&data(0, 2, &[]), &[]).receives_control(poll_sufi(3));
    assert!(!peer.am.has_work(ms(10_000)));
}

/// A packet of 1,428 octets in one PDU of 1,430. No report arrives in the first second, in which
/// Timer_Poll expires five times.
#[test]
fn poll_sufis_save_the_octets_of_repeated_pdus() {
    let octets_of_polls = [false, true].map(|poll_sufi| {
        let mut entity = TestEntity::new(RlcConfig { poll_sufi, largest_pdu: Octets(1_503), ..flexible() });
        entity.submits(0, 1_428).unwrap();
        assert_eq!(entity.at(10).sends_set(10).flexible_octets, 1_430);
        (2..=100).map(|tti| entity.at(tti * 10).sends_set(10).flexible_octets).sum::<u32>()
    });
    assert_eq!(octets_of_polls, [5 * 1_430, 5 * POLL_STATUS]);
}
