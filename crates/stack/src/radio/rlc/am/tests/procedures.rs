//! Move receiving window (MRW), RESET, WINDOW and the formats of reports. Each test has one entity,
//! and plays its upper layer and its peer. The time (`at`) is in ms.
//!
//! - `submits(0, 60)`: the upper layer sends SDU 0 of 60 octets. A PDU holds 40 octets.
//! - `sends(10)`: the PDUs of a TTI of 10 blocks, as text ([`describe`]). `"2 R P"` is PDU 2,
//!   retransmitted, with a poll. In `"STATUS MRW 1/1"` SN_MRW_LENGTH is 1 and N_LENGTH is 1.
//! - `receives_status(4, &[0])`: a STATUS arrives. The PDUs below 4 have arrived, except PDU 0.
//! - `receives(&data(0, 5, &[sdu(1, 0..=1)]), &[3])`: PDUs 0 to 5 arrive except block 3, which is
//!   lost. SDU 1, in PDUs 0 and 1, ends in them. `data_run(…, poll, …)`: the last PDU may poll.

use std::num::NonZeroU16;

use super::*;
use crate::radio::rlc::MrwAck;

fn mrw_ack(sn: u64, n: u8) -> Pdu {
    Pdu::Status(Status { mrw_ack: Some(MrwAck { sn: Sn::of(sn), n }), octets: 4, ..Status::default() })
}

fn with_one_transmission() -> RlcConfig {
    RlcConfig { max_dat: Some(1), timer_poll: None, ..config() }
}

/// The discard of SDU 0 in PDUs 0 and 1 needs an MRW to PDU 1 with N_LENGTH 1. An MRW_ACK with
/// another N does not end it: the MRW is repeated after Timer_MRW (500 ms).
#[test]
fn mrw_ends_only_with_the_matching_acknowledgment() {
    let mut entity = TestEntity::new(with_one_transmission());
    entity.submits(0, 60).unwrap();
    entity.submits(1, 60).unwrap();
    entity.at(10).sends(10);
    entity.at(80).receives_status(4, &[0]);
    assert_eq!(entity.at(90).sends(10), ["STATUS MRW 1/1"]);
    entity.at(150).receives_control(mrw_ack(1, 0));
    assert_eq!(entity.at(590).sends(10), ["STATUS MRW 1/1"]);
    entity.at(650).receives_control(mrw_ack(1, 1));
    assert!(entity.at(1_090).sends(10).is_empty());
}

#[test]
fn mrw_ends_with_an_acknowledgment_above_it() {
    for acknowledged_sn in [2, 3] {
        let mut entity = TestEntity::new(with_one_transmission());
        entity.submits(0, 60).unwrap();
        entity.submits(1, 60).unwrap();
        entity.at(10).sends(10);
        entity.at(80).receives_status(4, &[0]);
        entity.at(90).sends(10);
        entity.at(150).receives_control(mrw_ack(acknowledged_sn, 0));
        assert!(entity.at(590).sends(10).is_empty());
    }
}

#[test]
fn a_further_discard_waits_for_the_pending_mrw() {
    // An SDU of 79 octets and its length indicator fill two PDUs.
    let mut entity = TestEntity::new(RlcConfig { send_mrw: true, ..with_one_transmission() });
    for id in 0..3 {
        entity.submits(id, 79).unwrap();
    }
    assert_eq!(entity.at(10).sends(10), ["0-5 P"]);
    entity.at(80).receives_status(6, &[0]);
    assert_eq!(entity.at(90).sends(10), ["STATUS MRW 2"]);
    entity.at(100).receives_status(6, &[0, 2, 4]);
    assert_eq!(entity.discarded(), [0, 1, 2]);
    assert!(entity.at(110).sends(10).is_empty());
    entity.at(160).receives_control(mrw_ack(2, 0));
    // One MRW for SDUs 1 and 2: an SN_MRW for the PDU in which SDU 1 ends, and SN_MRW_LENGTH.
    let set = entity.at(170).sends_set(10);
    assert_eq!(describe(&set.pdus[0]), "STATUS MRW 6");
    assert_eq!(set.discarded, [Sn::of(3)]);
}

#[test]
fn pdu_with_the_end_of_a_discarded_sdu_is_retransmitted_unchanged() {
    let age = Duration::from_millis(200);
    let mut entity =
        TestEntity::new(RlcConfig { sdu_discard: SduDiscard::Timer, timer_discard: Some(age), ..config() });
    // Both SDUs fit into PDU 0, which is lost. At 200 ms SDU 0 is too old, but SDU 1 is not.
    entity.at(0).submits(0, 20).unwrap();
    entity.at(100).submits(1, 10).unwrap();
    assert_eq!(entity.at(110).sends(10), ["0 P"]);
    entity.at(150).receives_status(1, &[0]);
    entity.am.handle_timeout(&mut Context::new(ms(200), &mut entity.trace));
    assert_eq!(entity.discarded(), [0]);
    let set = entity.at(210).sends_set(10);
    assert_eq!(set.pdus.iter().map(describe).collect::<Vec<_>>(), ["STATUS MRW 0/1", "0 R P"]);
    assert_eq!(set.ends.len(), 2);
    // The receiver executes the MRW before it receives the PDU, and discards SDU 0.
    let mut peer = TestEntity::new(config());
    peer.at(220).receives(&set, &[]);
    assert_eq!(peer.delivers(), [1]);
    // If the MRW (block 0) is lost, both SDUs are delivered.
    let mut peer = TestEntity::new(config());
    peer.at(220).receives(&set, &[0]);
    assert_eq!(peer.delivers(), [0, 1]);
}

#[test]
fn timer_discard_sends_no_mrw_for_unsent_sdus() {
    let mut entity = TestEntity::new(RlcConfig {
        sdu_discard: SduDiscard::Timer,
        timer_discard: Some(Duration::from_millis(100)),
        window: 2,
        ..config()
    });
    entity.at(0).submits(0, 79).unwrap();
    entity.at(50).submits(1, 79).unwrap();
    assert_eq!(entity.at(60).sends(10), ["0-1"]);
    entity.at(80).receives_status(0, &[]);
    assert_eq!(entity.am.poll_timeout(), Some(ms(100)));
    // SDU 0 was sent, so its discard starts an MRW. SDU 1 was not sent, and needs none.
    assert_eq!(entity.at(100).sends(10), ["STATUS MRW 2"]);
    assert_eq!(entity.discarded(), [0]);
    assert_eq!(entity.at(150).sends(10), [] as [&str; 0]);
    assert_eq!(entity.discarded(), [0, 1]);
    assert_eq!(entity.am.buffer_occupancy(), Bytes(0));
}

#[test]
fn max_mrw_leads_to_reset_and_max_rst_to_an_error() {
    let mut entity = TestEntity::new(RlcConfig { max_mrw: Some(3), max_rst: 3, ..with_one_transmission() });
    entity.submits(0, 30).unwrap();
    entity.at(10).sends(10);
    entity.at(80).receives_status(1, &[0]);
    // The MRW is sent MaxMRW - 1 = 2 times, every 500 ms (Timer_MRW).
    assert_eq!(entity.at(90).sends(10), ["STATUS MRW 1"]);
    assert_eq!(entity.at(590).sends(10), ["STATUS MRW 1"]);
    // The RESET is sent MaxRST - 1 = 2 times, every 300 ms (Timer_RST).
    assert_eq!(entity.at(1_090).sends(10), ["RESET 0"]);
    assert_eq!(entity.at(1_390).sends(10), ["RESET 0"]);
    assert!(!entity.am.has_failed());
    assert!(entity.at(1_690).sends(10).is_empty());
    assert!(entity.am.has_failed() && !entity.am.has_work(ms(1_690)));
    // The expired timer makes the caller fetch the error, which is returned once.
    assert_eq!(entity.am.poll_timeout(), Some(ms(1_690)));
    assert_eq!([(); 2].map(|()| entity.am.take_unrecoverable_error()), [true, false]);
    assert_eq!(entity.am.poll_timeout(), None);
    assert!(entity.trace.iter().any(|(_, event)| matches!(event, TraceEvent::RlcUnrecoverable { .. })));
}

#[test]
fn erroneous_sn_leads_to_reset_and_loss_of_sent_sdus() {
    // PDUs 0 to 8 will be outstanding. LSN 11, and missing PDUs 12 and 4,000, are outside VT(A) to VT(S).
    for (lsn, missing) in [(11, vec![]), (5, vec![12]), (5, vec![4_000])] {
        let mut entity = TestEntity::new(config());
        entity.submits(0, 390).unwrap();
        entity.submits(1, 390).unwrap();
        assert_eq!(entity.at(10).sends(9), ["0-8"]);
        entity.at(20).receives_status(lsn, &missing);
        assert_eq!(entity.at(30).sends(2), ["RESET 0"]);
        // No other PDUs are sent or received.
        entity.receives_status(9, &[]);
        assert!(entity.at(40).sends(2).is_empty());
        entity.at(100).receives_control(Pdu::ResetAck(true));
        assert!(entity.at(110).sends(2).is_empty());
        entity.at(120).receives_control(Pdu::ResetAck(false));
        assert_eq!(entity.discarded(), [0]);
        assert_eq!(entity.at(130).sends(2), ["0-1"]);
        // The next procedure has the other RSN.
        entity.at(140).receives_status(100, &[]);
        assert_eq!(entity.at(150).sends(2), ["RESET 1"]);
    }
}

#[test]
fn a_repeated_reset_is_only_answered() {
    let mut entity = TestEntity::new(config());
    entity.at(10).receives(&data(0, 0, &[sdu(1, 0..=0)]), &[]);
    assert_eq!(entity.delivers(), [1]);
    entity.at(20).receives_control(Pdu::Reset(false));
    assert_eq!(entity.at(30).sends(2), ["RESET ACK 0"]);
    entity.at(40).receives(&data(0, 0, &[sdu(2, 0..=0)]), &[]);
    assert_eq!(entity.delivers(), [2]);
    // The answer was lost, and the peer repeats the RESET. The entity is not reset again: otherwise
    // PDU 0 would be new and SDU 2 would be delivered again.
    entity.at(50).receives_control(Pdu::Reset(false));
    assert_eq!(entity.at(60).sends(2), ["RESET ACK 0"]);
    entity.at(70).receives(&data(0, 0, &[sdu(2, 0..=0)]), &[]);
    assert!(entity.delivers().is_empty());
}

#[test]
fn resets_may_cross() {
    let mut entity = TestEntity::new(config());
    entity.submits(0, 100).unwrap();
    entity.at(10).sends(10);
    entity.at(20).receives_status(100, &[]);
    assert_eq!(entity.at(30).sends(10), ["RESET 0"]);
    entity.at(40).receives_control(Pdu::Reset(false));
    assert_eq!(entity.at(50).sends(10), ["RESET ACK 0"]);
    entity.at(60).receives_control(Pdu::ResetAck(false));
    entity.submits(1, 39).unwrap();
    assert_eq!(entity.at(70).sends(10), ["0 P"]);
}

#[test]
fn with_no_discard_max_dat_leads_to_reset() {
    let mut entity =
        TestEntity::new(RlcConfig { sdu_discard: SduDiscard::Never, max_dat: Some(2), ..config() });
    entity.submits(0, 30).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0 P"]);
    entity.at(80).receives_status(1, &[0]);
    assert_eq!(entity.at(90).sends(10), ["0 R P"]);
    entity.at(160).receives_status(1, &[0]);
    assert_eq!(entity.at(170).sends(10), ["RESET 0"]);
}

#[test]
fn window_sufi_lowers_and_raises_the_window_of_the_peer() {
    let mut receiver = TestEntity::new(config());
    receiver.am.grant_window(NonZeroU16::new(3));
    receiver.at(10).receives(&data_with_poll(0, 0, &[]), &[]);
    let lower = receiver.at(20).sends_set(1);
    assert_eq!(describe(&lower.pdus[0]), "STATUS window 3 ack 1");
    let mut entity = TestEntity::new(RlcConfig { window: 8, ..config() });
    entity.submits(0, 1000).unwrap();
    assert_eq!(entity.at(10).sends(5), ["0-4"]);
    // Five PDUs were outstanding, and one is acknowledged. The other four exceed the window of
    // three, so no new PDU is sent.
    entity.at(20).receives(&lower, &[]);
    assert!(entity.at(30).sends(5).is_empty());
    entity.at(40).receives_status(5, &[]);
    assert_eq!(entity.at(50).sends(5), ["5-7"]);
    let window = |wsn| Pdu::Status(Status { window: NonZeroU16::new(wsn), octets: 3, ..Status::default() });
    // Values above the configured window are ignored.
    entity.at(60).receives_control(window(9));
    assert!(entity.at(60).sends(5).is_empty());
    entity.at(70).receives_control(window(8));
    assert_eq!(entity.at(70).sends(9), ["8-12"]);
}

/// The report of an entity.
struct Report {
    /// Size of the STATUS.
    octets: u16,
    /// The missing PDUs that it lists.
    missing: Vec<u16>,
}

/// The report of an entity that has received PDUs 0 to `highest` except `missing_pdus`.
fn report(status_format: StatusFormat, highest: u64, missing_pdus: &[u32]) -> Report {
    let mut entity = TestEntity::new(RlcConfig { status_format, ..config() });
    for first in (0..=highest).step_by(100) {
        let last = (first + 99).min(highest);
        let in_set = missing_pdus.iter().filter(|&&sn| (first..=last).contains(&u64::from(sn)));
        let lost: Vec<u32> = in_set.map(|sn| sn - first as u32).collect();
        entity.at(first).receives(&data_run(first, last, last == highest, &[]), &lost);
    }
    let set = entity.at(1_000).sends_set(1);
    let Pdu::Status(status) = set.pdus[0] else { panic!("{set:?}") };
    Report { octets: status.octets, missing: missing(&set) }
}

#[test]
fn reports_have_the_size_of_their_fields() {
    let lost: Vec<u32> = (300..302).chain(309..319).chain(326..327).collect();
    let missing_sns: Vec<u16> = lost.iter().map(|&sn| sn as u16).collect();
    // Octets of a report on PDUs up to 349 that lists all of them.
    let octets = |format| {
        let report = report(format, 349, &lost);
        assert_eq!(report.missing, missing_sns);
        report.octets
    };
    // Bits of a STATUS: 4 (type), the SUFIs with the missing PDUs, and 16 (ACK), in whole octets.
    // BITMAP from 300 to 349: a head of 20 bits and 7 octets of map, 4 + 20 + 56 + 16 bits.
    assert_eq!(octets(StatusFormat::Bitmap), 12);
    // LIST of three runs: a head of 8 bits and 16 bits per run, 4 + 8 + 48 + 16.
    assert_eq!(octets(StatusFormat::List), 10);
    // RLIST: a head of 20 bits and eight codewords of 4 bits, 4 + 20 + 32 + 16.
    assert_eq!(octets(StatusFormat::Rlist), 9);
    // No PDU is missing: ACK alone, 4 + 16.
    for format in [StatusFormat::Bitmap, StatusFormat::List, StatusFormat::Rlist] {
        let Report { octets, missing } = report(format, 349, &[]);
        assert_eq!((octets, missing), (3, vec![]));
    }
    // A run of 17 PDUs takes two runs of LIST: 4 + 8 + 32 + 16. Sixteen runs take two LISTs: 4 + 16
    // + 256 + 16.
    assert_eq!(report(StatusFormat::List, 50, &(10..27).collect::<Vec<_>>()).octets, 8);
    assert_eq!(report(StatusFormat::List, 50, &(1..32).step_by(2).collect::<Vec<_>>()).octets, 37);
    // Of 17 single missing PDUs the first is in the FSN. Fifteen distances of one codeword fill the
    // first RLIST, and the last PDU is in the FSN of a second RLIST: 4 + 2 · 20 + 15 · 4 + 16.
    assert_eq!(report(StatusFormat::Rlist, 50, &(1..35).step_by(2).collect::<Vec<_>>()).octets, 15);
}

#[test]
fn a_long_report_is_split_into_several_pdus() {
    for status_format in [StatusFormat::Bitmap, StatusFormat::List, StatusFormat::Rlist] {
        let mut entity = TestEntity::new(RlcConfig { status_format, ..config() });
        let lost: Vec<u32> = (0..100).step_by(2).collect();
        for set in 0..6u64 {
            entity.at(set * 10).receives(&data_run(set * 100, set * 100 + 99, set == 5, &[]), &lost);
        }
        let set = entity.at(100).sends_set(40);
        let statuses: Vec<Status> = set
            .pdus
            .iter()
            .map(|pdu| match pdu {
                Pdu::Status(status) => *status,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(statuses.len() > 1 && statuses.iter().all(|status| status.octets <= 42), "{statuses:?}");
        // Later parts acknowledge nothing, because they do not list the missing PDUs of the first
        // part.
        assert!(statuses[1..].iter().all(|status| status.lsn == Some(Sn::of(0))));
        assert_eq!(missing(&set), (0..600).step_by(2).collect::<Vec<u16>>(), "{status_format:?}");
        assert!(entity.at(110).sends(40).is_empty());
        // The sender retransmits the PDUs listed in all parts.
        let mut sender = TestEntity::new(config());
        sender.submits(0, 600 * 40 - 1).unwrap();
        for tti in 0..6 {
            sender.at(tti).sends(100);
        }
        sender.at(100).receives(&set, &[]);
        let retransmitted: u32 = (0..3).map(|tti| sender.at(110 + tti).sends_set(100).blocks).sum();
        assert_eq!(retransmitted, 300);
    }
}

#[test]
fn later_parts_of_a_report_do_not_wait() {
    let mut entity = TestEntity::new(RlcConfig {
        missing_pdu_indication: MissingPduIndication::Off,
        piggyback: Piggyback::BuildAround,
        piggyback_wait: Duration::from_millis(10),
        ..config()
    });
    let lost: Vec<u32> = (0..100).step_by(2).collect();
    for set in 0..6u64 {
        entity.at(50).receives(&data_run(set * 100, set * 100 + 99, set == 5, &[]), &lost);
    }
    // At the end of the wait the report is not sent yet, and the entity has work for the next TTI.
    assert!(entity.at(60).sends(40).is_empty() && entity.am.has_work(ms(60)));
    assert_eq!(missing(&entity.at(70).sends_set(40)), (0..600).step_by(2).collect::<Vec<u16>>());
    assert_eq!((entity.am.has_work(ms(70)), entity.am.poll_timeout()), (false, None));
}

#[test]
fn mrw_ack_that_does_not_fit_beside_a_prepared_report_is_sent_in_the_next_status() {
    let mut entity = TestEntity::new(RlcConfig {
        missing_pdu_indication: MissingPduIndication::Off,
        piggyback: Piggyback::BuildAround,
        piggyback_wait: Duration::from_millis(10),
        mrw_acknowledgment: MrwAcknowledgment::Explicit,
        granted_window: Some(512),
        ..config()
    });
    // Every second PDU of 600 is missing, so a part of the report fills a PDU.
    let lost: Vec<u32> = (0..100).step_by(2).collect();
    for set in 0..6u64 {
        entity.at(50).receives(&data_run(set * 100, set * 100 + 99, set == 5, &[]), &lost);
    }
    // The report is prepared when the wait ends. The MRW arrives after that.
    assert!(entity.at(61).sends(0).is_empty());
    entity.at(65).receives_control(Pdu::Status(Status {
        mrw: Some(Mrw { sn: Sn::of(1), n_length: 0, beyond_window: false }),
        ..Status::default()
    }));
    let statuses = entity.at(70).sends(2);
    assert_eq!(statuses, ["STATUS window 512 ack 256", "STATUS window 512 MRW ACK 2 ack 2"]);
}

#[test]
fn a_report_is_piggybacked_on_the_padding_of_a_retransmitted_pdu() {
    let mut entity = TestEntity::new(RlcConfig { piggyback: Piggyback::Padding, ..config() });
    entity.submits(0, 90).unwrap();
    assert_eq!(entity.at(10).sends(10), ["0-2 P"]);
    entity.at(80).receives_status(3, &[1, 2]);
    entity.receives(&data_with_poll(0, 0, &[sdu(9, 0..=0)]), &[]);
    // 10 octets and a length indicator leave 29 of the 40 octets of PDU 2 for the report.
    assert_eq!(entity.at(90).sends(10), ["1 R", "2 R P +STATUS"]);
    // With one block per TTI, PDU 2 must wait for a later TTI, so the report is sent in a PDU of its
    // own.
    entity.at(150).receives_status(3, &[1, 2]);
    entity.receives(&data_with_poll(1, 1, &[sdu(10, 1..=1)]), &[]);
    assert_eq!(entity.at(160).sends(1), ["STATUS ack 2"]);
}

#[test]
fn out_of_sequence_delivery_delivers_complete_sdus_immediately() {
    let mut entity = TestEntity::new(RlcConfig { in_sequence: false, ..config() });
    let sdus = [sdu(1, 0..=1), sdu(2, 2..=3), sdu(3, 3..=5)];
    entity.at(10).receives(&data(0, 5, &sdus), &[0, 4]);
    assert_eq!(entity.delivers(), [2]);
    entity.at(50).receives(&data(4, 4, &[]), &[]);
    assert_eq!(entity.delivers(), [3]);
    entity.at(60).receives(&data(0, 0, &[]), &[]);
    assert_eq!(entity.delivers(), [1]);
}

#[test]
fn a_pdu_beyond_the_receiving_window_is_dropped_but_its_poll_is_answered() {
    let mut entity = TestEntity::new(RlcConfig { rx_window: Some(4), ..config() });
    entity.at(10).receives(&data_with_poll(1, 4, &[]), &[]);
    let report = entity.at(20).sends_set(1);
    assert_eq!((describe(&report.pdus[0]).as_str(), missing(&report)), ("STATUS ack 4", vec![0]));
}

#[test]
fn unexpected_pdus_are_dropped_and_recorded() {
    let mut entity = TestEntity::new(RlcConfig { rx_window: Some(4), ..config() });
    let of_other_modes =
        |run| BlockSet { pdus: vec![Pdu::Umd(run), Pdu::Tmd(run)], blocks: 4, ..BlockSet::default() };
    entity.at(10).receives(&of_other_modes(DataRun::new(0, 2, IndexRange::default())), &[1]);
    entity.at(20).receives(&data(2, 6, &[]), &[]);
    entity.at(30).receives_status(9, &[]);
    assert_eq!(entity.at(40).sends(1), ["RESET 0"]);
    entity.at(50).receives(&data(0, 2, &[]), &[0]).receives_status(0, &[]);
    let drops: Vec<_> = entity
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
