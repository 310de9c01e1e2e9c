//! Polls, reports, retransmissions and timers of one entity of acknowledged mode. The test plays the
//! upper layer and the peer, and sets the time with `at` (ms).
//!
//! - `submits(0, 500)`: the upper layer sends SDU 0 of 500 octets. A PDU holds 40 octets, and the end
//!   of an SDU takes one octet for its length indicator: 100 octets take 3 PDUs, 500 octets 13.
//! - `sends(4)`: the PDUs of a TTI of 4 blocks, as text. `"3-5 R P"` are PDUs 3 to 5, retransmitted,
//!   the last one polls. `"STATUS ack 7"` acknowledges the PDUs below 7.
//! - `receives_status(8, &[3])`: a STATUS arrives. The PDUs below 8 have arrived, except PDU 3.
//! - `receives(&data(0, 6, &[sdu(1, 0..=1)]), &[3])`: PDUs 0 to 6 arrive except block 3, which is
//!   lost. SDU 1, in PDUs 0 and 1, ends in them. `data_with_poll`: the last PDU polls.
//!
//! `poll_timeout` returns the next deadline of a timer. Timer_Poll is 170 ms.
//!
//! `eurane()` has the options of the simulator EURANE. A report waits 10 ms for data that can carry
//! it (`piggyback_wait`). After a report, further ones are prohibited for 150 ms
//! (`timer_status_prohibit`). A gap that is detected in this time is forgotten.

use super::*;

/// Timer_Poll in ms.
const TIMER_POLL: u64 = 170;

#[test]
fn the_last_pdu_of_the_buffer_polls() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 500).unwrap();
    assert_eq!(entity.at(10).sends(4), ["0-3"]);
    assert_eq!(entity.at(20).sends(40), ["4-12 P"]);
    assert!(entity.at(30).sends(4).is_empty());
    assert_eq!(entity.am.poll_timeout(), Some(ms(20 + TIMER_POLL)));
}

#[test]
fn missing_pdus_are_retransmitted_before_new_data_and_the_last_polls() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 2000).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0-9"]);
    entity.at(90).receives_status(8, &[3, 5, 6]);
    assert_eq!(entity.at(100).sends(2), ["3 R", "5 R"]);
    assert_eq!(entity.at(110).sends(4), ["6 R P", "10-12"]);
}

#[test]
fn an_acknowledgment_empties_the_buffer_and_stops_the_timer() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 100).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0-2 P"]);
    assert_eq!(entity.am.buffer_occupancy(), Bytes(100));
    entity.at(80).receives_status(3, &[]);
    assert_eq!(entity.am.buffer_occupancy(), Bytes(0));
    assert_eq!((entity.am.poll_timeout(), entity.am.has_work(ms(80))), (None, false));
}

#[test]
fn an_unanswered_poll_is_repeated_with_the_last_pdu() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 100).unwrap();
    entity.at(10).sends(10);
    assert!(entity.at(10 + TIMER_POLL - 1).sends(10).is_empty());
    assert_eq!(entity.at(10 + TIMER_POLL).sends(10), ["2 R P"]);
    assert_eq!(entity.am.poll_timeout(), Some(ms(10 + 2 * TIMER_POLL)));
}

#[test]
fn timer_poll_stops_when_the_last_polled_pdu_is_reported_missing() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 100).unwrap();
    entity.at(10).sends(10);
    entity.at(60).receives_status(3, &[2]);
    assert_eq!(entity.am.poll_timeout(), None);
    assert_eq!(entity.at(70).sends(10), ["2 R P"]);
    assert_eq!(entity.am.poll_timeout(), Some(ms(70 + TIMER_POLL)));
}

#[test]
fn poll_pdu_makes_every_nth_pdu_poll() {
    let mut entity = TestEntity::new(RlcConfig { poll_pdu: Some(4), poll_last_pdu: false, ..config() });
    entity.submits(0, 1000).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0-3 P", "4-7 P", "8-9"]);
    assert_eq!(entity.at(20).sends(3), ["10-11 P", "12"]);
}

#[test]
fn the_window_closes_and_an_acknowledgment_opens_it() {
    let mut entity = TestEntity::new(RlcConfig { window: 8, ..config() });
    entity.submits(0, 1000).unwrap();
    assert_eq!(entity.at(10).sends(12), ["0-7"]);
    assert!(entity.at(20).sends(12).is_empty());
    entity.at(30).receives_status(5, &[]);
    assert_eq!(entity.at(40).sends(12), ["8-12"]);
}

#[test]
fn sequence_numbers_wrap() {
    // After 4,100 PDUs the next sequence number is 4,100 mod 4,096 = 4.
    let mut entity = TestEntity::new(config());
    for n in 0..5 {
        entity.submits(n, 40_000).unwrap();
    }
    let mut sent = 0;
    while sent + 100 <= 4_100 {
        entity.at(sent).sends(100);
        sent += 100;
        entity.receives_status(sent, &[]);
    }
    assert_eq!(entity.at(9_000).sends(3), ["4-6"]);
    entity.receives_status(4_102, &[4_101]);
    assert_eq!(entity.at(9_010).sends(2), ["5 R P", "7"]);
}

#[test]
fn eurane_drops_a_status_about_pdus_that_were_never_sent() {
    let mut entity = TestEntity::new(RlcConfig { erroneous_sn: ErroneousSn::Dropped, ..config() });
    entity.submits(0, 1000).unwrap();
    entity.at(10).sends(10);
    entity.at(20).receives_status(11, &[]).receives_status(5, &[12]).receives_status(5, &[4_000]);
    assert_eq!(entity.at(30).sends(2), ["10-11"]);
    assert_eq!(entity.am.buffer_occupancy(), Bytes(1000));
}

#[test]
fn poll_is_answered_with_the_missing_pdus() {
    let mut entity = TestEntity::new(config());
    entity.at(10).receives(&data_with_poll(0, 6, &[sdu(1, 0..=1), sdu(2, 2..=6)]), &[3, 4]);
    assert_eq!(entity.delivers(), [1]);
    let report = entity.at(20).sends_set(1);
    assert_eq!(describe(&report.pdus[0]), "STATUS ack 7");
    assert_eq!(missing(&report), [3, 4]);
    assert!(entity.at(30).sends(1).is_empty());
}

#[test]
fn a_new_gap_is_reported_once() {
    let mut entity = TestEntity::new(config());
    entity.at(10).receives(&data(0, 2, &[]), &[]);
    assert!(entity.at(11).sends(1).is_empty());
    entity.at(20).receives(&data(4, 4, &[]), &[]);
    assert_eq!(missing(&entity.at(21).sends_set(1)), [3]);
    // PDU 3 is still missing, but its gap was reported before.
    entity.at(30).receives(&data(5, 5, &[]), &[]);
    assert!(entity.at(31).sends(1).is_empty());
}

#[test]
fn eurane_reports_with_every_pdu_while_one_is_missing() {
    let config = RlcConfig { missing_pdu_indication: MissingPduIndication::EveryPdu, ..config() };
    let mut entity = TestEntity::new(config);
    entity.at(10).receives(&data(0, 4, &[]), &[3]);
    assert_eq!(entity.at(11).sends(1), ["STATUS ack 5"]);
    entity.at(20).receives(&data(5, 5, &[]), &[]);
    assert_eq!(entity.at(21).sends(1), ["STATUS ack 6"]);
}

#[test]
fn timer_status_prohibit_delays_a_triggered_report() {
    let prohibit = Some(Duration::from_millis(100));
    let mut entity = TestEntity::new(RlcConfig { timer_status_prohibit: prohibit, ..config() });
    entity.at(10).receives(&data_with_poll(0, 2, &[]), &[1]);
    assert_eq!(entity.at(20).sends(1), ["STATUS ack 3"]);
    // Further reports are prohibited until 20 + 100 ms.
    entity.at(30).receives(&data_with_poll(3, 4, &[]), &[]);
    assert!(entity.at(119).sends(1).is_empty());
    assert_eq!(entity.am.poll_timeout(), Some(ms(120)));
    assert_eq!(entity.at(120).sends(1), ["STATUS ack 5"]);
    assert!(entity.at(300).sends(1).is_empty());
}

#[test]
fn eurane_forgets_a_gap_while_reports_are_prohibited_but_not_a_poll() {
    let mut entity = TestEntity::new(RlcConfig { piggyback_wait: Duration::ZERO, ..eurane() });
    // After a report, further ones are prohibited for 150 ms.
    entity.at(0).receives(&data_with_poll(0, 0, &[]), &[]);
    assert_eq!(entity.at(0).sends(1), ["STATUS ack 1"]);
    // PDU 1 is missing, and the gap is detected during the prohibit time.
    entity.at(50).receives(&data(2, 2, &[]), &[]);
    assert!(entity.at(200).sends(1).is_empty());
    entity.at(210).receives(&data_with_poll(3, 3, &[]), &[]);
    assert_eq!(entity.at(210).sends(1), ["STATUS ack 4"]);
    // A poll during the prohibit time is answered at 210 + 150 ms.
    entity.at(220).receives(&data_with_poll(4, 4, &[]), &[]);
    assert!(entity.at(359).sends(1).is_empty());
    assert_eq!(entity.at(360).sends(1), ["STATUS ack 5"]);
}

#[test]
fn eurane_prepares_a_report_that_no_data_carried_and_sends_it_in_the_next_tti() {
    let mut entity = TestEntity::new(eurane());
    entity.at(0).receives(&data_with_poll(0, 1, &[]), &[]);
    assert!(entity.at(9).sends(1).is_empty());
    // The report is prepared at 10 ms. It does not include the PDU that arrives at 15 ms, before the
    // report is sent.
    entity.at(15).receives(&data(2, 2, &[]), &[]);
    assert_eq!(entity.at(20).sends(1), ["STATUS ack 2"]);
}

#[test]
fn data_at_the_last_instant_of_the_wait_carry_the_report() {
    let mut entity = TestEntity::new(eurane());
    entity.at(0).receives(&data_with_poll(0, 1, &[]), &[]);
    entity.at(5).submits(1, 20).unwrap();
    assert_eq!(entity.at(10).sends(1), ["0 P +STATUS"]);
    // After the wait of 10 ms the report is prepared and sent in a PDU of its own, before the data.
    let mut entity = TestEntity::new(eurane());
    entity.at(0).receives(&data_with_poll(0, 1, &[]), &[]);
    entity.at(5).submits(1, 20).unwrap();
    assert_eq!(entity.at(11).sends(1), ["STATUS ack 2"]);
}

#[test]
fn a_duplicate_is_dropped_but_its_poll_is_answered() {
    let mut entity = TestEntity::new(config());
    entity.at(10).receives(&data(0, 0, &[sdu(1, 0..=0)]), &[]);
    entity.at(20).receives(&data_with_poll(0, 0, &[sdu(1, 0..=0)]), &[]);
    assert_eq!(entity.delivers(), [1]);
    assert_eq!(entity.at(30).sends(1), ["STATUS ack 1"]);
}

#[test]
fn sdus_are_delivered_in_sequence() {
    let mut entity = TestEntity::new(config());
    let sdus = [sdu(1, 0..=0), sdu(2, 1..=1), sdu(3, 2..=2)];
    entity.at(10).receives(&data(0, 2, &sdus), &[0]);
    assert!(entity.delivers().is_empty());
    entity.at(50).receives(&data(0, 0, &sdus[..1]), &[]);
    assert_eq!(entity.delivers(), [1, 2, 3]);
}

#[test]
fn oversized_report_lists_the_oldest_pdus_first() {
    let mut entity = TestEntity::new(config());
    // Every second PDU of 600 is missing. A STATUS has 42 octets, which hold two maps of 128 PDUs and
    // the start of a third, so it reports on 256 to 310 PDUs.
    let lost: Vec<u32> = (0..100).step_by(2).collect();
    for set in 0..6 {
        entity.at(set * 10).receives(&data(set * 100, set * 100 + 99, &[]), &lost);
    }
    let report = entity.at(100).sends_set(1);
    let Pdu::Status(status) = report.pdus[0] else { panic!("{report:?}") };
    assert!(status.octets <= 42, "{}", status.octets);
    let missing = missing(&report);
    assert_eq!(missing[..3], [0, 2, 4]);
    assert!((256..310).contains(&status.lsn.unwrap().value()), "{:?}", status.lsn);
    assert!(missing.iter().all(|&sn| sn < status.lsn.unwrap().value()));
}

#[test]
fn a_full_buffer_refuses_the_sdu() {
    let mut entity = TestEntity::new(RlcConfig { buffer: Some(Bytes(1000)), ..config() });
    assert_eq!(entity.submits(0, 600), Ok(()));
    assert_eq!(entity.submits(1, 401), Err(BufferFull));
    assert_eq!(entity.submits(2, 400), Ok(()));
    // Sent data that is not acknowledged still occupies the buffer.
    entity.at(10).sends(100);
    assert_eq!(entity.submits(3, 1), Err(BufferFull));
    entity.at(90).receives_status(26, &[]);
    assert_eq!(entity.submits(4, 1000), Ok(()));
}

#[test]
fn out_of_sequence_delivery_needs_the_end_of_the_previous_sdu() {
    let config = RlcConfig { in_sequence: false, ..config() };
    let sdus = [sdu(0, 0..=1), sdu(1, 2..=3), sdu(2, 3..=4)];
    let mut entity = TestEntity::new(config.clone());
    entity.at(10).receives(&data(0, 4, &sdus), &[0]);
    assert_eq!(entity.delivers(), [1, 2]);
    // Without PDU 1 the receiver cannot know that an SDU begins with the first octet of PDU 2.
    let mut entity = TestEntity::new(config);
    entity.at(10).receives(&data(0, 4, &sdus), &[1]);
    assert_eq!(entity.delivers(), [2]);
    entity.at(80).receives(&data(1, 1, &sdus[..1]), &[]);
    assert_eq!(entity.delivers(), [0, 1]);
}

#[test]
fn timer_status_periodic_starts_with_the_first_received_pdu() {
    let mut entity =
        TestEntity::new(RlcConfig { timer_status_periodic: Some(Duration::from_millis(100)), ..config() });
    entity.at(10).receives(&data(0, 1, &[]), &[0, 1]);
    assert_eq!(entity.am.poll_timeout(), None);
    entity.at(20).receives(&data(0, 1, &[]), &[0]);
    assert_eq!(entity.am.poll_timeout(), Some(ms(20 + 100)));
}
