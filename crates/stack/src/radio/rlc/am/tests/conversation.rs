//! Polls, reports, retransmissions and timers.

use super::*;

#[test]
fn the_last_pdu_of_the_buffer_polls() {
    let mut talk = Talk::new(config());
    talk.queues(0, 500).unwrap();
    assert_eq!(talk.at(10).sends(4), ["0-3"]);
    assert_eq!(talk.at(20).sends(40), ["4-12 P"]);
    assert!(talk.at(30).sends(4).is_empty());
    assert_eq!(talk.am.poll_timeout(), Some(ms(190)));
}

#[test]
fn missing_pdus_are_retransmitted_before_new_data_and_the_last_polls() {
    let mut talk = Talk::new(config());
    talk.queues(0, 2000).unwrap();
    assert_eq!(talk.at(10).sends(10), ["0-9"]);
    talk.at(90).hears_status(8, &[3, 5, 6]);
    assert_eq!(talk.at(100).sends(2), ["3 R", "5 R"]);
    assert_eq!(talk.at(110).sends(4), ["6 R P", "10-12"]);
}

#[test]
fn an_acknowledgment_empties_the_buffer_and_stops_the_timer() {
    let mut talk = Talk::new(config());
    talk.queues(0, 100).unwrap();
    assert_eq!(talk.at(10).sends(10), ["0-2 P"]);
    assert_eq!(talk.am.buffer_occupancy(), Bytes(100));
    talk.at(80).hears_status(3, &[]);
    assert_eq!(talk.am.buffer_occupancy(), Bytes(0));
    assert_eq!((talk.am.poll_timeout(), talk.am.has_work(ms(80))), (None, false));
}

#[test]
fn an_unanswered_poll_is_repeated_with_the_last_pdu() {
    let mut talk = Talk::new(config());
    talk.queues(0, 100).unwrap();
    talk.at(10).sends(10);
    assert!(talk.at(179).sends(10).is_empty());
    assert_eq!(talk.at(180).sends(10), ["2 R P"]);
    assert_eq!(talk.am.poll_timeout(), Some(ms(350)));
}

#[test]
fn timer_poll_stops_when_the_last_polled_pdu_is_reported_missing() {
    let mut talk = Talk::new(config());
    talk.queues(0, 100).unwrap();
    talk.at(10).sends(10);
    talk.at(60).hears_status(3, &[2]);
    assert_eq!(talk.am.poll_timeout(), None);
    assert_eq!(talk.at(70).sends(10), ["2 R P"]);
    assert_eq!(talk.am.poll_timeout(), Some(ms(240)));
}

#[test]
fn every_poll_pdu_th_pdu_polls() {
    let mut talk = Talk::new(RlcConfig { poll_pdu: Some(4), poll_last_pdu: false, ..config() });
    talk.queues(0, 1000).unwrap();
    assert_eq!(talk.at(10).sends(10), ["0-3 P", "4-7 P", "8-9"]);
    assert_eq!(talk.at(20).sends(3), ["10-11 P", "12"]);
}

#[test]
fn the_window_closes_and_an_acknowledgment_opens_it() {
    let mut talk = Talk::new(RlcConfig { window: 8, ..config() });
    talk.queues(0, 1000).unwrap();
    assert_eq!(talk.at(10).sends(12), ["0-7"]);
    assert!(talk.at(20).sends(12).is_empty());
    talk.at(30).hears_status(5, &[]);
    assert_eq!(talk.at(40).sends(12), ["8-12"]);
}

#[test]
fn sequence_numbers_wrap() {
    let mut talk = Talk::new(config());
    for n in 0..5 {
        talk.queues(n, 40_000).unwrap();
    }
    let mut sent = 0;
    while sent + 100 <= 4_100 {
        talk.at(sent).sends(100);
        sent += 100;
        talk.hears_status(sent, &[]);
    }
    assert_eq!(talk.at(9_000).sends(3), ["4-6"]);
    talk.hears_status(4_102, &[4_101]);
    assert_eq!(talk.at(9_010).sends(2), ["5 R P", "7"]);
}

#[test]
fn eurane_drops_a_status_about_pdus_that_were_never_sent() {
    let mut talk = Talk::new(RlcConfig { erroneous_sn: ErroneousSn::Dropped, ..config() });
    talk.queues(0, 1000).unwrap();
    talk.at(10).sends(10);
    talk.at(20).hears_status(11, &[]).hears_status(5, &[12]).hears_status(5, &[4_000]);
    assert_eq!(talk.at(30).sends(2), ["10-11"]);
    assert_eq!(talk.am.buffer_occupancy(), Bytes(1000));
}

#[test]
fn poll_is_answered_with_the_missing_pdus() {
    let mut talk = Talk::new(config());
    talk.at(10).hears(&data(0, 6, true, &[(1, 0, 1), (2, 2, 6)]), &[3, 4]);
    assert_eq!(talk.delivers(), [1]);
    let report = talk.at(20).transmits(1);
    assert_eq!(describe(&report.pdus[0]), "STATUS ack 7");
    assert_eq!(missing(&report), [3, 4]);
    assert!(talk.at(30).sends(1).is_empty());
}

#[test]
fn a_new_gap_is_reported_at_once() {
    let mut talk = Talk::new(config());
    talk.at(10).hears(&data(0, 2, false, &[]), &[]);
    assert!(talk.at(11).sends(1).is_empty());
    talk.at(20).hears(&data(4, 4, false, &[]), &[]);
    assert_eq!(missing(&talk.at(21).transmits(1)), [3]);
    // The gap remains, but is no longer new.
    talk.at(30).hears(&data(5, 5, false, &[]), &[]);
    assert!(talk.at(31).sends(1).is_empty());
}

#[test]
fn eurane_reports_with_every_pdu_while_one_is_missing() {
    let config = RlcConfig { missing_pdu_indication: MissingPduIndication::EveryPdu, ..config() };
    let mut talk = Talk::new(config);
    talk.at(10).hears(&data(0, 4, false, &[]), &[3]);
    assert_eq!(talk.at(11).sends(1), ["STATUS ack 5"]);
    talk.at(20).hears(&data(5, 5, false, &[]), &[]);
    assert_eq!(talk.at(21).sends(1), ["STATUS ack 6"]);
}

#[test]
fn reports_keep_their_distance_and_one_trigger_is_remembered() {
    let prohibit = Some(Duration::from_millis(100));
    let mut talk = Talk::new(RlcConfig { timer_status_prohibit: prohibit, ..config() });
    talk.at(10).hears(&data(0, 2, true, &[]), &[1]);
    assert_eq!(talk.at(20).sends(1), ["STATUS ack 3"]);
    talk.at(30).hears(&data(3, 4, true, &[]), &[]);
    assert!(talk.at(119).sends(1).is_empty());
    assert_eq!(talk.am.poll_timeout(), Some(ms(120)));
    assert_eq!(talk.at(120).sends(1), ["STATUS ack 5"]);
    assert!(talk.at(300).sends(1).is_empty());
}

#[test]
fn eurane_forgets_a_gap_while_reports_are_prohibited_but_not_a_poll() {
    let mut talk = Talk::new(RlcConfig { piggyback_wait: Duration::ZERO, ..eurane() });
    talk.at(0).hears(&data(0, 0, true, &[]), &[]);
    assert_eq!(talk.at(0).sends(1), ["STATUS ack 1"]);
    talk.at(50).hears(&data(2, 2, false, &[]), &[]);
    assert!(talk.at(200).sends(1).is_empty());
    talk.at(210).hears(&data(3, 3, true, &[]), &[]);
    assert_eq!(talk.at(210).sends(1), ["STATUS ack 4"]);
    talk.at(220).hears(&data(4, 4, true, &[]), &[]);
    assert!(talk.at(359).sends(1).is_empty());
    assert_eq!(talk.at(360).sends(1), ["STATUS ack 5"]);
}

#[test]
fn eurane_writes_a_report_that_found_no_ride_and_sends_it_later() {
    let mut talk = Talk::new(eurane());
    talk.at(0).hears(&data(0, 1, true, &[]), &[]);
    assert!(talk.at(9).sends(1).is_empty());
    // Written at 10 ms. PDUs that arrive before its TTI at 20 ms are not included.
    talk.at(15).hears(&data(2, 2, false, &[]), &[]);
    assert_eq!(talk.at(20).sends(1), ["STATUS ack 2"]);
}

#[test]
fn a_report_rides_with_data_that_leave_at_the_very_end_of_its_wait() {
    let mut talk = Talk::new(eurane());
    talk.at(0).hears(&data(0, 1, true, &[]), &[]);
    talk.at(5).queues(1, 20).unwrap();
    assert_eq!(talk.at(10).sends(1), ["0 P +STATUS"]);
    // One nanosecond later the report is written and sent alone, and the data follow.
    let mut talk = Talk::new(eurane());
    talk.at(0).hears(&data(0, 1, true, &[]), &[]);
    talk.at(5).queues(1, 20).unwrap();
    assert_eq!(talk.at(11).sends(1), ["STATUS ack 2"]);
}

#[test]
fn a_duplicate_is_dropped_but_its_poll_is_answered() {
    let mut talk = Talk::new(config());
    talk.at(10).hears(&data(0, 0, false, &[(1, 0, 0)]), &[]);
    talk.at(20).hears(&data(0, 0, true, &[(1, 0, 0)]), &[]);
    assert_eq!(talk.delivers(), [1]);
    assert_eq!(talk.at(30).sends(1), ["STATUS ack 1"]);
}

#[test]
fn sdus_go_up_in_sequence() {
    let mut talk = Talk::new(config());
    let sdus = [(1, 0, 0), (2, 1, 1), (3, 2, 2)];
    talk.at(10).hears(&data(0, 2, false, &sdus), &[0]);
    assert!(talk.delivers().is_empty());
    talk.at(50).hears(&data(0, 0, false, &sdus[..1]), &[]);
    assert_eq!(talk.delivers(), [1, 2, 3]);
}

#[test]
fn oversized_report_lists_the_oldest_pdus_first() {
    let mut talk = Talk::new(config());
    // Every second PDU of 600 is missing. 42 octets hold two maps of 128 PDUs and the start of a
    // third.
    let lost: Vec<u32> = (0..100).step_by(2).collect();
    for set in 0..6 {
        talk.at(set * 10).hears(&data(set * 100, set * 100 + 99, false, &[]), &lost);
    }
    let report = talk.at(100).transmits(1);
    let Pdu::Status(status) = report.pdus[0] else { panic!("{report:?}") };
    assert!(status.octets <= 42, "{}", status.octets);
    let missing = missing(&report);
    assert_eq!(missing[..3], [0, 2, 4]);
    assert!((256..310).contains(&status.lsn.unwrap().value()), "{:?}", status.lsn);
    assert!(missing.iter().all(|&sn| sn < status.lsn.unwrap().value()));
}

#[test]
fn a_full_buffer_refuses_the_sdu() {
    let mut talk = Talk::new(RlcConfig { buffer: Some(Bytes(1000)), ..config() });
    assert_eq!(talk.queues(0, 600), Ok(()));
    assert_eq!(talk.queues(1, 401), Err(BufferFull));
    assert_eq!(talk.queues(2, 400), Ok(()));
    // Unacknowledged data still count against the buffer.
    talk.at(10).sends(100);
    assert_eq!(talk.queues(3, 1), Err(BufferFull));
    talk.at(90).hears_status(26, &[]);
    assert_eq!(talk.queues(4, 1000), Ok(()));
}

#[test]
fn out_of_sequence_an_sdu_goes_up_once_its_beginning_is_known() {
    let config = RlcConfig { in_sequence: false, ..config() };
    // SDU 0: PDUs 0, 1; SDU 1: 2, 3; SDU 2: 3, 4.
    let sdus = [(0, 0, 1), (1, 2, 3), (2, 3, 4)];
    let mut talk = Talk::new(config.clone());
    talk.at(10).hears(&data(0, 4, false, &sdus), &[0]);
    assert_eq!(talk.delivers(), [1, 2]);
    // Without PDU 1 the receiver cannot know that an SDU begins with the first octet of PDU 2.
    let mut talk = Talk::new(config);
    talk.at(10).hears(&data(0, 4, false, &sdus), &[1]);
    assert_eq!(talk.delivers(), [2]);
    talk.at(80).hears(&data(1, 1, false, &sdus[..1]), &[]);
    assert_eq!(talk.delivers(), [0, 1]);
}

#[test]
fn the_status_period_begins_with_a_pdu_that_arrives() {
    let mut talk =
        Talk::new(RlcConfig { timer_status_periodic: Some(Duration::from_millis(100)), ..config() });
    talk.at(10).hears(&data(0, 1, false, &[]), &[0, 1]);
    assert_eq!(talk.am.poll_timeout(), None);
    talk.at(20).hears(&data(0, 1, false, &[]), &[0]);
    assert_eq!(talk.am.poll_timeout(), Some(ms(120)));
}
