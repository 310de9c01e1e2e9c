//! MRW, RESET, WINDOW, report formats, suspension: procedures between two entities, one side at a
//! time.

use std::num::NonZeroU16;

use super::*;
use crate::radio::rlc::MrwAck;

fn mrw_ack(sn: u64, n: u8) -> Pdu {
    Pdu::Status(Status { mrw_ack: Some(MrwAck { sn: Sn::of(sn), n }), octets: 4, ..Status::default() })
}

fn once() -> RlcConfig {
    RlcConfig { max_dat: Some(1), timer_poll: None, ..config() }
}

#[test]
fn an_mrw_ends_with_its_acknowledgment_and_not_with_another() {
    let mut talk = Talk::new(once());
    talk.queues(0, 60).unwrap();
    talk.queues(1, 60).unwrap();
    talk.at(10).sends(10);
    talk.at(80).hears_status(4, &[0]);
    assert_eq!(talk.at(90).sends(10), ["STATUS MRW 1/1"]);
    talk.at(150).hears_control(mrw_ack(1, 0));
    assert_eq!(talk.at(590).sends(10), ["STATUS MRW 1/1"]);
    talk.at(650).hears_control(mrw_ack(1, 1));
    assert!(talk.at(1_090).sends(10).is_empty());
}

#[test]
fn an_acknowledgment_above_the_mrw_ends_it_too() {
    for (sn, n) in [(2, 0), (3, 0)] {
        let mut talk = Talk::new(once());
        talk.queues(0, 60).unwrap();
        talk.queues(1, 60).unwrap();
        talk.at(10).sends(10);
        talk.at(80).hears_status(4, &[0]);
        talk.at(90).sends(10);
        talk.at(150).hears_control(mrw_ack(sn, n));
        assert!(talk.at(590).sends(10).is_empty());
    }
}

#[test]
fn a_further_discard_waits_for_the_mrw_under_way() {
    let mut talk = Talk::new(RlcConfig { send_mrw: true, ..once() });
    for id in 0..3 {
        talk.queues(id, 79).unwrap();
    }
    assert_eq!(talk.at(10).sends(10), ["0-5 P"]);
    talk.at(80).hears_status(6, &[0]);
    assert_eq!(talk.at(90).sends(10), ["STATUS MRW 2"]);
    talk.at(100).hears_status(6, &[0, 2, 4]);
    assert_eq!(talk.discarded(), [0, 1, 2]);
    assert!(talk.at(110).sends(10).is_empty());
    talk.at(160).hears_control(mrw_ack(2, 0));
    // Both further SDUs in one command: the end of the second SDU, then the continuation.
    let set = talk.at(170).transmits(10);
    assert_eq!(describe(&set.pdus[0]), "STATUS MRW 6");
    assert_eq!(set.discarded, [Sn::of(3)]);
}

#[test]
fn a_pdu_with_given_up_ends_is_sent_again_as_it_was() {
    let age = Duration::from_millis(200);
    let mut talk =
        Talk::new(RlcConfig { sdu_discard: SduDiscard::Timer, timer_discard: Some(age), ..config() });
    talk.at(0).queues(0, 20).unwrap();
    talk.at(100).queues(1, 10).unwrap();
    assert_eq!(talk.at(110).sends(10), ["0 P"]);
    talk.at(150).hears_status(1, &[0]);
    talk.am.handle_timeout(&mut Context::new(ms(200), &mut talk.trace));
    assert_eq!(talk.discarded(), [0]);
    let set = talk.at(210).transmits(10);
    assert_eq!(set.pdus.iter().map(describe).collect::<Vec<_>>(), ["STATUS MRW 0/1", "0 R P"]);
    assert_eq!(set.ends.len(), 2);
    // The receiver discards the first of them, whether the command arrives before the PDU or …
    let mut peer = Talk::new(config());
    peer.at(220).hears(&set, &[]);
    assert_eq!(peer.delivers(), [1]);
    // … the PDU is lost.
    let mut peer = Talk::new(config());
    peer.at(220).hears(&set, &[0]);
    assert_eq!(peer.delivers(), [0, 1]);
}

#[test]
fn timer_discard_sends_no_mrw_for_unsent_sdus() {
    let mut talk = Talk::new(RlcConfig {
        sdu_discard: SduDiscard::Timer,
        timer_discard: Some(Duration::from_millis(100)),
        window: 2,
        ..config()
    });
    talk.at(0).queues(0, 79).unwrap();
    talk.at(50).queues(1, 79).unwrap();
    assert_eq!(talk.at(60).sends(10), ["0-1"]);
    talk.at(80).hears_status(0, &[]);
    assert_eq!(talk.am.poll_timeout(), Some(ms(100)));
    // The first SDU was sent, the second was not.
    assert_eq!(talk.at(100).sends(10), ["STATUS MRW 2"]);
    assert_eq!(talk.discarded(), [0]);
    assert_eq!(talk.at(150).sends(10), [] as [&str; 0]);
    assert_eq!(talk.discarded(), [0, 1]);
    assert_eq!(talk.am.buffer_occupancy(), Bytes(0));
}

#[test]
fn max_mrw_leads_to_reset_and_max_rst_to_an_error() {
    let mut talk = Talk::new(RlcConfig { max_mrw: Some(3), max_rst: 3, ..once() });
    talk.queues(0, 30).unwrap();
    talk.at(10).sends(10);
    talk.at(80).hears_status(1, &[0]);
    assert_eq!(talk.at(90).sends(10), ["STATUS MRW 1"]);
    assert_eq!(talk.at(590).sends(10), ["STATUS MRW 1"]);
    assert_eq!(talk.at(1_090).sends(10), ["RESET 0"]);
    assert_eq!(talk.at(1_390).sends(10), ["RESET 0"]);
    assert!(!talk.am.has_failed());
    assert!(talk.at(1_690).sends(10).is_empty());
    assert!(talk.am.has_failed() && !talk.am.has_work(ms(1_690)));
    // The caller is woken immediately and fetches the error, which is reported once.
    assert_eq!(talk.am.poll_timeout(), Some(ms(1_690)));
    assert_eq!([(); 2].map(|()| talk.am.take_unrecoverable_error()), [true, false]);
    assert_eq!(talk.am.poll_timeout(), None);
    assert!(talk.trace.iter().any(|(_, event)| matches!(event, TraceEvent::RlcUnrecoverable { .. })));
}

#[test]
fn erroneous_sn_leads_to_reset_and_loss_of_sent_sdus() {
    for (lsn, missing) in [(11, vec![]), (5, vec![12]), (5, vec![4_000])] {
        let mut talk = Talk::new(config());
        talk.queues(0, 390).unwrap();
        talk.queues(1, 390).unwrap();
        assert_eq!(talk.at(10).sends(9), ["0-8"]);
        talk.at(20).hears_status(lsn, &missing);
        assert_eq!(talk.at(30).sends(2), ["RESET 0"]);
        // No other PDUs are sent or received.
        talk.hears_status(9, &[]);
        assert!(talk.at(40).sends(2).is_empty());
        talk.at(100).hears_control(Pdu::ResetAck(true));
        assert!(talk.at(110).sends(2).is_empty());
        talk.at(120).hears_control(Pdu::ResetAck(false));
        assert_eq!(talk.discarded(), [0]);
        assert_eq!(talk.at(130).sends(2), ["0-1"]);
        // The next procedure has the other RSN.
        talk.at(140).hears_status(100, &[]);
        assert_eq!(talk.at(150).sends(2), ["RESET 1"]);
    }
}

#[test]
fn a_repeated_reset_is_only_answered() {
    let mut talk = Talk::new(config());
    talk.at(10).hears(&data(0, 0, false, &[(1, 0, 0)]), &[]);
    assert_eq!(talk.delivers(), [1]);
    talk.at(20).hears_control(Pdu::Reset(false));
    assert_eq!(talk.at(30).sends(2), ["RESET ACK 0"]);
    talk.at(40).hears(&data(0, 0, false, &[(2, 0, 0)]), &[]);
    assert_eq!(talk.delivers(), [2]);
    // The answer was lost, and the RESET was repeated. After a second reset SN 0 would be new.
    talk.at(50).hears_control(Pdu::Reset(false));
    assert_eq!(talk.at(60).sends(2), ["RESET ACK 0"]);
    talk.at(70).hears(&data(0, 0, false, &[(2, 0, 0)]), &[]);
    assert!(talk.delivers().is_empty());
}

#[test]
fn resets_may_cross() {
    let mut talk = Talk::new(config());
    talk.queues(0, 100).unwrap();
    talk.at(10).sends(10);
    talk.at(20).hears_status(100, &[]);
    assert_eq!(talk.at(30).sends(10), ["RESET 0"]);
    talk.at(40).hears_control(Pdu::Reset(false));
    assert_eq!(talk.at(50).sends(10), ["RESET ACK 0"]);
    talk.at(60).hears_control(Pdu::ResetAck(false));
    talk.queues(1, 39).unwrap();
    assert_eq!(talk.at(70).sends(10), ["0 P"]);
}

#[test]
fn with_no_discard_max_dat_leads_to_reset() {
    let mut talk = Talk::new(RlcConfig { sdu_discard: SduDiscard::Never, max_dat: Some(2), ..config() });
    talk.queues(0, 30).unwrap();
    assert_eq!(talk.at(10).sends(10), ["0 P"]);
    talk.at(80).hears_status(1, &[0]);
    assert_eq!(talk.at(90).sends(10), ["0 R P"]);
    talk.at(160).hears_status(1, &[0]);
    assert_eq!(talk.at(170).sends(10), ["RESET 0"]);
}

#[test]
fn a_granted_window_lowers_the_peers_and_raises_it_again() {
    let mut receiver = Talk::new(config());
    receiver.am.grant_window(NonZeroU16::new(3));
    receiver.at(10).hears(&data(0, 0, true, &[]), &[]);
    let lower = receiver.at(20).transmits(1);
    assert_eq!(describe(&lower.pdus[0]), "STATUS window 3 ack 1");
    let mut talk = Talk::new(RlcConfig { window: 8, ..config() });
    talk.queues(0, 1000).unwrap();
    assert_eq!(talk.at(10).sends(5), ["0-4"]);
    // Five were outstanding, one is acknowledged. No PDU is revoked and no new one is sent.
    talk.at(20).hears(&lower, &[]);
    assert!(talk.at(30).sends(5).is_empty());
    talk.at(40).hears_status(5, &[]);
    assert_eq!(talk.at(50).sends(5), ["5-7"]);
    let window = |wsn| Pdu::Status(Status { window: NonZeroU16::new(wsn), octets: 3, ..Status::default() });
    // Values above the configured window are ignored.
    talk.at(60).hears_control(window(9));
    assert!(talk.at(60).sends(5).is_empty());
    talk.at(70).hears_control(window(8));
    assert_eq!(talk.at(70).sends(9), ["8-12"]);
}

/// Octets of a report up to `highest` with `missing` PDUs.
fn report(status_format: StatusFormat, highest: u64, missing_pdus: &[u32]) -> (u16, Vec<u16>) {
    let mut talk = Talk::new(RlcConfig { status_format, ..config() });
    for first in (0..=highest).step_by(100) {
        let last = (first + 99).min(highest);
        let here = missing_pdus.iter().filter(|&&sn| (first..=last).contains(&u64::from(sn)));
        let lost: Vec<u32> = here.map(|sn| sn - first as u32).collect();
        talk.at(first).hears(&data(first, last, last == highest, &[]), &lost);
    }
    let set = talk.at(1_000).transmits(1);
    let Pdu::Status(status) = set.pdus[0] else { panic!("{set:?}") };
    (status.octets, missing(&set))
}

#[test]
fn reports_have_the_size_of_their_fields() {
    let mut lost = vec![300, 301, 326];
    lost.extend(309..319);
    lost.sort_unstable();
    let told: Vec<u16> = lost.iter().map(|&sn| sn as u16).collect();
    // BITMAP from 300 to 349: 7 octets of map. 4 + 20 + 56 + 16 bits.
    assert_eq!(report(StatusFormat::Bitmap, 349, &lost), (12, told.clone()));
    // LIST of three runs: 4 + 8 + 48 + 16.
    assert_eq!(report(StatusFormat::List, 349, &lost), (10, told.clone()));
    // RLIST of eight codewords: 4 + 20 + 32 + 16.
    assert_eq!(report(StatusFormat::Rlist, 349, &lost), (9, told));
    // No PDU is missing: ACK alone, 4 + 16.
    for format in [StatusFormat::Bitmap, StatusFormat::List, StatusFormat::Rlist] {
        assert_eq!(report(format, 349, &[]), (3, vec![]));
    }
    // A run of 17 takes two pairs: 4 + 8 + 32 + 16. Sixteen runs take two LISTs: 4 + 16 + 256 + 16.
    assert_eq!(report(StatusFormat::List, 50, &(10..27).collect::<Vec<_>>()).0, 8);
    assert_eq!(report(StatusFormat::List, 50, &(1..32).step_by(2).collect::<Vec<_>>()).0, 37);
    // Sixteen numbers of one codeword after FSN take two RLISTs. The second one begins with its own
    // FSN: 4 + 40 + 15 * 4 + 16.
    assert_eq!(report(StatusFormat::Rlist, 50, &(1..35).step_by(2).collect::<Vec<_>>()).0, 15);
}

#[test]
fn a_long_report_goes_into_several_pdus_that_together_name_everything() {
    for status_format in [StatusFormat::Bitmap, StatusFormat::List, StatusFormat::Rlist] {
        let mut talk = Talk::new(RlcConfig { status_format, ..config() });
        let lost: Vec<u32> = (0..100).step_by(2).collect();
        for set in 0..6u64 {
            talk.at(set * 10).hears(&data(set * 100, set * 100 + 99, set == 5, &[]), &lost);
        }
        let set = talk.at(100).transmits(40);
        let statuses: Vec<Status> = set
            .pdus
            .iter()
            .map(|pdu| match pdu {
                Pdu::Status(status) => *status,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(statuses.len() > 1 && statuses.iter().all(|status| status.octets <= 42), "{statuses:?}");
        // All parts except the first acknowledge nothing: the missing PDUs below are not listed in
        // them.
        assert!(statuses[1..].iter().all(|status| status.lsn == Some(Sn::of(0))));
        assert_eq!(missing(&set), (0..600).step_by(2).collect::<Vec<u16>>(), "{status_format:?}");
        assert!(talk.at(110).sends(40).is_empty());
        // A sender processes them like one report.
        let mut sender = Talk::new(config());
        sender.queues(0, 600 * 40 - 1).unwrap();
        for tti in 0..6 {
            sender.at(tti).sends(100);
        }
        sender.at(100).hears(&set, &[]);
        let again: u32 = (0..3).map(|tti| sender.at(110 + tti).transmits(100).blocks).sum();
        assert_eq!(again, 300);
    }
}

#[test]
fn later_parts_of_a_report_do_not_wait() {
    let mut talk = Talk::new(RlcConfig {
        missing_pdu_indication: MissingPduIndication::Off,
        piggyback: Piggyback::BuildAround,
        piggyback_wait: Duration::from_millis(10),
        ..config()
    });
    let lost: Vec<u32> = (0..100).step_by(2).collect();
    for set in 0..6u64 {
        talk.at(50).hears(&data(set * 100, set * 100 + 99, set == 5, &[]), &lost);
    }
    // The entity is queried in each TTI of the wait.
    assert!(talk.at(60).sends(40).is_empty() && talk.am.has_work(ms(60)));
    assert_eq!(missing(&talk.at(70).transmits(40)), (0..600).step_by(2).collect::<Vec<u16>>());
    assert_eq!((talk.am.has_work(ms(70)), talk.am.poll_timeout()), (false, None));
}

#[test]
fn a_report_rides_in_the_padding_of_a_pdu_that_is_sent_again() {
    let mut talk = Talk::new(RlcConfig { piggyback: Piggyback::Padding, ..config() });
    talk.queues(0, 90).unwrap();
    assert_eq!(talk.at(10).sends(10), ["0-2 P"]);
    talk.at(80).hears_status(3, &[1, 2]);
    talk.hears(&data(0, 0, true, &[(9, 0, 0)]), &[]);
    // 10 octets and a length indicator leave 29 of 40 in PDU 2.
    assert_eq!(talk.at(90).sends(10), ["1 R", "2 R P +STATUS"]);
    // Not if that PDU must wait for the next TTI.
    talk.at(150).hears_status(3, &[1, 2]);
    talk.hears(&data(1, 1, true, &[(10, 1, 1)]), &[]);
    assert_eq!(talk.at(160).sends(1), ["STATUS ack 2"]);
}

#[test]
fn out_of_sequence_delivery_delivers_complete_sdus_immediately() {
    let mut talk = Talk::new(RlcConfig { in_sequence: false, ..config() });
    let sdus = [(1, 0, 1), (2, 2, 3), (3, 3, 5)];
    talk.at(10).hears(&data(0, 5, false, &sdus), &[0, 4]);
    assert_eq!(talk.delivers(), [2]);
    talk.at(50).hears(&data(4, 4, false, &[]), &[]);
    assert_eq!(talk.delivers(), [3]);
    talk.at(60).hears(&data(0, 0, false, &[]), &[]);
    assert_eq!(talk.delivers(), [1]);
}

#[test]
fn a_pdu_beyond_the_receiving_window_is_dropped_but_its_poll_is_answered() {
    let mut talk = Talk::new(RlcConfig { rx_window: Some(4), ..config() });
    talk.at(10).hears(&data(1, 4, true, &[]), &[]);
    let report = talk.at(20).transmits(1);
    assert_eq!((describe(&report.pdus[0]).as_str(), missing(&report)), ("STATUS ack 4", vec![0]));
}

#[test]
fn a_suspended_entity_keeps_its_state_and_goes_on_with_another_number_of_blocks() {
    let mut talk = Talk::new(config());
    talk.queues(0, 1000).unwrap();
    assert_eq!(talk.at(10).sends(1), ["0"]);
    talk.am.suspend();
    assert!(talk.at(20).sends(1).is_empty() && !talk.am.has_work(ms(20)) && talk.am.is_suspended());
    // PDUs in flight still arrive at both ends.
    talk.at(30).hears_status(1, &[]).hears(&data(0, 0, true, &[(7, 0, 0)]), &[]);
    assert_eq!(talk.delivers(), [7]);
    talk.am.resume();
    assert!(talk.am.has_work(ms(500)));
    assert_eq!(talk.at(500).sends(12), ["STATUS ack 1", "1-11"]);
}

/// CRLC-SUSPEND with N at the sending end.
#[test]
fn suspension_with_n_permits_n_further_pdus() {
    let mut talk = Talk::new(config());
    talk.queues(0, 1000).unwrap();
    assert_eq!(talk.at(10).sends(4), ["0-3"]);
    assert_eq!(talk.am.suspend_after(3), Sn::of(4));
    assert_eq!(talk.at(20).sends(12), ["4-6"]);
    assert!(talk.at(30).sends(12).is_empty() && !talk.am.has_work(ms(30)));
    // Missing PDUs are retransmitted, and requested reports are sent. An acknowledgment does not
    // permit new PDUs.
    talk.at(40).hears_status(7, &[2]).hears(&data(0, 0, true, &[]), &[]);
    assert_eq!(talk.at(50).sends(12), ["STATUS ack 1", "2 R P"]);
    talk.at(60).hears_status(7, &[]);
    assert!(talk.at(70).sends(12).is_empty());
    talk.am.resume();
    assert_eq!(talk.at(80).sends(2), ["7-8"]);
}

/// The same during a RESET (RESET_AND_SUSPEND, TS 25.322 §9.3.3.5).
#[test]
fn a_reset_keeps_the_limit_of_a_suspension() {
    let mut talk = Talk::new(config());
    for id in 0..3 {
        talk.queues(id, 390).unwrap();
    }
    assert_eq!(talk.at(10).sends(2), ["0-1"]);
    talk.am.suspend_after(3);
    talk.at(20).hears_status(100, &[]);
    assert_eq!(talk.at(30).sends(2), ["RESET 0"]);
    talk.at(40).hears_control(Pdu::ResetAck(false));
    // VT(S) is 0 again. The three PDUs of the suspension are still to be sent.
    assert_eq!(talk.at(50).sends(12), ["0-2"]);
    assert!(talk.at(60).sends(12).is_empty());
    talk.am.resume();
    assert_eq!(talk.at(70).sends(2), ["3-4"]);
}

/// The peer is suspended: its PDUs are received and reported, and a poll that it cannot answer is
/// repeated.
#[test]
fn polls_to_a_suspended_peer_are_repeated() {
    let mut talk = Talk::new(config());
    talk.queues(0, 39).unwrap();
    assert_eq!(talk.at(10).sends(4), ["0 P"]);
    talk.at(20).hears(&data(0, 1, true, &[(7, 0, 1)]), &[]);
    assert_eq!((talk.delivers(), talk.at(30).sends(4)), (vec![7], vec!["STATUS ack 2".to_owned()]));
    assert_eq!(talk.at(180).sends(4), ["0 R P"]);
    assert_eq!(talk.at(350).sends(4), ["0 R P"]);
    talk.at(400).hears_status(1, &[]);
    assert_eq!((talk.am.poll_timeout(), talk.am.buffer_occupancy()), (None, Bytes(0)));
}

fn counting(timer_epc: u64) -> RlcConfig {
    let arrivals = [Arrivals { pdus: 4, tti: Duration::from_millis(10) }; 2];
    RlcConfig { timer_epc: Some(Duration::from_millis(timer_epc)), arrivals, ..config() }
}

#[test]
fn unanswered_status_report_is_repeated_by_timer_epc() {
    let mut talk = Talk::new(counting(100));
    // Ten PDUs are missing. At four per TTI they take three TTIs.
    talk.at(10).hears(&data(0, 11, false, &[]), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(talk.at(20).sends(1), ["STATUS ack 12"]);
    assert_eq!(talk.am.poll_timeout(), Some(ms(20 + 100 + 30)));
    // All except two arrive. Newer gaps are not requested here.
    talk.at(120).hears(&data(1, 8, false, &[]), &[]);
    let again = talk.at(150).transmits(1);
    assert_eq!((describe(&again.pdus[0]).as_str(), missing(&again)), ("STATUS ack 12", vec![9, 10]));
    // Two take one TTI. When they have arrived, the EPC stops.
    assert_eq!(talk.am.poll_timeout(), Some(ms(150 + 100 + 10)));
    talk.at(200).hears(&data(9, 10, false, &[]), &[]);
    assert!(talk.at(260).sends(1).is_empty());
    assert_eq!(talk.am.poll_timeout(), None);
}

#[test]
fn report_without_requests_starts_no_epc() {
    let mut talk = Talk::new(counting(100));
    talk.at(10).hears(&data(0, 3, true, &[]), &[]);
    assert_eq!(talk.at(20).sends(1), ["STATUS ack 4"]);
    assert_eq!(talk.am.poll_timeout(), None);
}

#[test]
fn report_due_by_epc_respects_status_prohibit() {
    let prohibit = Some(Duration::from_millis(200));
    let mut talk = Talk::new(RlcConfig { timer_status_prohibit: prohibit, ..counting(50) });
    talk.at(10).hears(&data(0, 2, false, &[]), &[1]);
    assert_eq!(talk.at(20).sends(1), ["STATUS ack 3"]);
    assert!(talk.at(100).sends(1).is_empty());
    assert_eq!(talk.at(220).sends(1), ["STATUS ack 3"]);
}

#[test]
fn unexpected_pdus_are_dropped_and_recorded() {
    let mut talk = Talk::new(RlcConfig { rx_window: Some(4), ..config() });
    let of_other_modes =
        |run| BlockSet { pdus: vec![Pdu::Umd(run), Pdu::Tmd(run)], blocks: 4, ..BlockSet::default() };
    talk.at(10).hears(&of_other_modes(DataRun::new(0, 2, (0, 0))), &[1]);
    talk.at(20).hears(&data(2, 6, false, &[]), &[]);
    talk.at(30).hears_status(9, &[]);
    assert_eq!(talk.at(40).sends(1), ["RESET 0"]);
    talk.at(50).hears(&data(0, 2, false, &[]), &[0]).hears_status(0, &[]);
    let drops: Vec<_> = talk
        .trace
        .iter()
        .filter_map(|(_, event)| match *event {
            TraceEvent::PdusDropped { count, why, direction: Direction::Uplink, .. } => Some((why, count)),
            _ => None,
        })
        .collect();
    let expected = [
        (PduDrop::WrongMode, 1),
        (PduDrop::WrongMode, 2),
        (PduDrop::OutsideWindow, 1),
        (PduDrop::OutsideWindow, 1),
        (PduDrop::OutsideWindow, 1),
        (PduDrop::ErroneousSn, 1),
        (PduDrop::Resetting, 2),
        (PduDrop::Resetting, 1),
    ];
    assert_eq!(drops, expected);
}

#[test]
fn a_poll_timer_that_expires_in_suspension_polls_afterwards() {
    let mut talk = Talk::new(config());
    talk.queues(0, 39).unwrap();
    assert_eq!(talk.at(10).sends(1), ["0 P"]);
    talk.am.suspend();
    assert!(talk.at(400).sends(1).is_empty());
    assert_eq!(talk.am.poll_timeout(), None);
    talk.am.resume();
    assert_eq!(talk.at(410).sends(4), ["0 R P"]);
}

#[test]
fn a_reestablished_entity_begins_with_the_sdus_of_which_nothing_was_sent() {
    let mut talk = Talk::new(config());
    talk.queues(0, 100).unwrap();
    talk.queues(1, 50).unwrap();
    assert_eq!(talk.at(10).sends(2), ["0-1"]);
    talk.hears(&data(0, 2, true, &[]), &[1]);
    talk.am.reestablish(&mut Context::new(ms(20), &mut talk.trace));
    assert_eq!(talk.discarded(), [0]);
    assert_eq!(talk.am.poll_timeout(), None);
    assert_eq!(talk.at(30).sends(4), ["0-1 P"]);
    talk.hears(&data(0, 0, false, &[(5, 0, 0)]), &[]);
    assert_eq!(talk.delivers(), [5]);
}
