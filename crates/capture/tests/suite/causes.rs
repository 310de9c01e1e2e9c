//! Causes of retransmissions: one conversation for each rule of a sender.
//!
//! The server sends, and the client is 100 ms away. So SRTT is about 100 ms, and min_rtt/4, the
//! reordering window of RACK, is 25 ms. The timeout of a probe (RFC 8985 §7.2) is 200 ms with
//! several outstanding segments and 400 ms with one. The RTO of Linux is at least 300 ms: SRTT plus
//! a minimum variance of 200 ms.
//!
//! `data(at, n)`: the server sends segment `n` at `at` ms. `ack(at, n)`: the client acknowledges
//! the first `n` segments. `sack(at, n, from, to)`: it also acknowledges segments `from..to`
//! selectively.

use crate::common::{Conversation, End, Packet, expect};
use etherparse::TcpOptionElement;
use umts_capture::Cause;

const SACK: TcpOptionElement = TcpOptionElement::SelectiveAcknowledgementPermitted;

/// A connection between two ends that permit selective acknowledgments.
fn with_sack() -> Conversation {
    let mut conversation = Conversation::new();
    conversation.handshake(&[SACK]);
    conversation
}

/// A connection with one segment acknowledged, and a second one outstanding since 200 ms.
fn one_outstanding(options: &[TcpOptionElement]) -> Conversation {
    let mut conversation = Conversation::new();
    conversation.handshake(options);
    conversation.data(100, 0).ack(200, 1).data(200, 1);
    conversation
}

/// Panics unless the causes of all retransmissions are `expected`.
#[track_caller]
fn expect_causes(conversation: Conversation, expected: &[Cause]) {
    let sent = conversation.analysis().time_sequences.remove(0).sent;
    let causes: Vec<_> = sent.iter().map(|point| point.cause).filter(|&cause| cause != Cause::New).collect();
    assert_eq!(causes, expected);
}

/// RFC 8985 §7.3 and §6.2: the probe causes a selective acknowledgment. All segments before the
/// probe are then lost.
#[test]
fn tail_loss_probe_starts_a_rack_recovery() {
    let mut conversation = with_sack();
    conversation.flight(100, 4);
    conversation.ack(200, 1).data(402, 3).sack(502, 1, 3, 4).data(502, 1).data(503, 2).ack(603, 4);
    expect(
        &conversation.row(),
        &[
            ("tail_loss_probes", 1.0),
            ("rto_count", 0.0),
            ("fast_retransmissions", 1.0),
            ("fast_retransmissions_by_rack", 1.0),
            ("tcp_retransmissions_by_dupack", 2.0),
            // The probe's loss is repaired in a recovery, which ends the wait for the probe's
            // answer.
            ("tail_loss_probe_repairs", 0.0),
        ],
    );
}

/// RFC 8985 §7.2: with one outstanding segment the probe comes after 2·SRTT and the longest delay
/// of an acknowledgment, or at the retransmission timeout if that is sooner.
#[test]
fn single_segment_is_probed_at_the_probe_timeout() {
    for at in [500, 600, 690] {
        let mut conversation = one_outstanding(&[SACK]);
        conversation.data(at, 1).ack(at + 100, 2);
        expect_causes(conversation, &[Cause::Probe]);
    }
    // RFC 6298 §2.4: so late a retransmission is due to a timeout of at least one second.
    let mut conversation = one_outstanding(&[SACK]);
    conversation.data(1250, 1).ack(1350, 2);
    expect_causes(conversation, &[Cause::Rto]);
}

/// RACK and its probes need selective acknowledgments (RFC 8985 §4). Without them, only a timeout
/// causes a retransmission of the only segment.
#[test]
fn single_segment_without_sack_is_not_probed() {
    let mut conversation = one_outstanding(&[]);
    conversation.data(500, 1).ack(600, 2);
    expect_causes(conversation, &[Cause::Rto]);
}

/// RFC 8985 §7.2 permits one probe. Later retransmissions are expiries of the timer (RFC 6298
/// §5.4).
#[test]
fn expiry_follows_an_unanswered_probe() {
    let mut conversation = one_outstanding(&[SACK]);
    conversation.data(500, 1).data(820, 1).data(1460, 1).ack(1560, 2);
    expect_causes(conversation, &[Cause::Probe, Cause::Rto, Cause::Rto]);
}

/// RFC 8985 §7.4.2: an acknowledgment beyond the probe, without a report of a duplicate, shows that
/// the loss was repaired.
#[test]
fn a_probe_repairs_a_loss_unless_both_copies_arrive() {
    let mut repaired = one_outstanding(&[SACK]);
    repaired.data(500, 1).ack(600, 2).data(600, 2).ack(700, 3);
    expect(&repaired.row(), &[("tail_loss_probes", 1.0), ("tail_loss_probe_repairs", 1.0)]);
    let mut duplicated = one_outstanding(&[SACK]);
    duplicated.data(500, 1).ack(550, 2).sack(600, 2, 1, 2).data(600, 2).ack(700, 3);
    expect(
        &duplicated.row(),
        &[("tail_loss_probes", 1.0), ("tail_loss_probe_repairs", 0.0), ("unneeded_by_dsack", 1.0)],
    );
}

/// RFC 8985 §7.3: a probe carries new data if there are some. The sender must have sent in response
/// to the last acknowledgment; at other times the application causes the transmission. A probe is
/// due at 400 ms.
#[test]
fn new_data_are_a_probe_only_when_a_probe_is_due() {
    for (at, probes) in [(310, 0.0), (402, 1.0), (600, 0.0)] {
        let mut conversation = with_sack();
        conversation.flight(100, 2);
        conversation
            .ack(200, 1)
            .data(200, 2)
            .data(at, 3)
            .sack(at + 100, 1, 3, 4)
            .data(at + 100, 1)
            .ack(at + 200, 4);
        expect(
            &conversation.row(),
            &[
                ("tail_loss_probes_of_new_data", probes),
                ("tail_loss_probes", 0.0),
                ("fast_retransmissions_by_rack", 1.0),
                ("rto_count", 0.0),
            ],
        );
    }
    // A probe is one segment (RFC 8985 §7.3); two come from the application.
    let mut burst = with_sack();
    burst.flight(100, 2);
    burst.ack(200, 1).data(200, 2).data(402, 3).data(402, 4).ack(502, 5);
    expect(&burst.row(), &[("tail_loss_probes_of_new_data", 0.0)]);
    let mut without_sack = Conversation::with_handshake();
    without_sack.flight(100, 2);
    without_sack.ack(200, 1).data(200, 2).data(402, 3).ack(502, 4);
    expect(&without_sack.row(), &[("tail_loss_probes_of_new_data", 0.0)]);
}

/// A sender whose timer expires over several segments, without a known loss, has no probes: a probe
/// would have come earlier (RFC 8985 §7.2). So the later retransmission of its only segment is also
/// an expiry.
#[test]
fn sender_without_probes_is_recognised() {
    let mut conversation = with_sack();
    conversation.flight(100, 3).data(420, 0).ack(520, 3);
    conversation.data(520, 3).data(830, 3).ack(930, 4);
    expect_causes(conversation, &[Cause::Rto, Cause::Rto]);
}

/// RFC 8985 §6.2, step 5: one selective acknowledgment is enough, after the reordering window of
/// min_rtt/4.
#[test]
fn rack_retransmits_after_the_reordering_window() {
    let mut conversation = with_sack();
    conversation.flight(100, 4);
    conversation.ack(200, 1).sack(210, 1, 2, 3).data(236, 1).ack(336, 4);
    expect(
        &conversation.row(),
        &[
            ("fast_retransmissions_by_rack", 1.0),
            ("fast_retransmissions", 1.0),
            ("rto_count", 0.0),
            ("tail_loss_probes", 0.0),
        ],
    );
}

/// A retransmission long after the reordering window is not caused by RACK's timer: the sender does
/// not use RACK.
#[test]
fn late_retransmission_after_sack_is_an_expiry() {
    let mut conversation = with_sack();
    conversation.flight(100, 4);
    conversation.ack(200, 1).sack(210, 1, 2, 3).data(1210, 1).ack(1310, 4);
    expect_causes(conversation, &[Cause::Rto]);
}

/// A sender with pacing retransmits when its clock is due. Pacing shows in transmissions without a
/// preceding acknowledgment. Its retransmission timer does not expire within 200 ms of the last
/// packet in either direction.
#[test]
fn paced_retransmission_is_not_an_expiry() {
    // A paced sender sends segment 1 at 150 ms, without an acknowledgment before.
    let (paced_at, burst_at) = (150, 100);
    for (second_segment_at, expected) in [(paced_at, Cause::Rack), (burst_at, Cause::Rto)] {
        let mut conversation = with_sack();
        conversation.data(100, 0).data(second_segment_at, 1).ack(200, 1).data(200, 2);
        conversation
            .sack(300, 1, 2, 3)
            .data(300, 3)
            .data(301, 4)
            .sack(400, 1, 2, 4)
            .data(400, 5)
            .data(450, 1)
            .ack(550, 6);
        expect_causes(conversation, &[expected]);
    }
}

/// A sender with pacing delays retransmissions after three duplicates too, without selective
/// acknowledgments.
#[test]
fn paced_fast_retransmission_is_not_an_expiry() {
    let mut conversation = Conversation::with_handshake();
    for number in 0..6 {
        conversation.data(100 + 30 * u64::from(number), number);
    }
    conversation.ack(255, 1).ack(260, 1).ack(265, 1).ack(270, 1).data(310, 1);
    // And after a partial acknowledgment (RFC 6582 §3.2, step 3).
    conversation.ack(410, 4).data(450, 4).ack(550, 6);
    expect_causes(conversation, &[Cause::DupAcks, Cause::FastRecovery]);
}

/// RFC 8985 §6.2, step 5: the timer waits for all segments that were passed. Here one
/// acknowledgment reports the oldest segment, with a long round trip, and a segment that left much
/// later. RACK.rtt comes from the former (step 2), so the timer for the latter is still running.
#[test]
fn reordering_timer_waits_for_all_passed_segments() {
    let mut conversation = with_sack();
    conversation.flight(100, 2);
    conversation.data(110, 2).ack(200, 1);
    conversation.data(400, 3).data(401, 4);
    // At 520 ms: segment 1 took 420 ms, segment 4 119 ms. Segment 3 is lost at 400 + 420 + 25 ms.
    conversation.sack(520, 2, 4, 5).data(846, 2).data(846, 3).ack(950, 5);
    expect_causes(conversation, &[Cause::Rack, Cause::FastRecovery]);
}

/// RFC 5682 §2.1 and Linux: F-RTO does not apply to an expiry in a fast recovery. Go-back-N
/// follows.
#[test]
fn frto_does_not_undo_an_expiry_in_fast_recovery() {
    let mut conversation = with_sack();
    conversation.flight(100, 8);
    conversation.ack(200, 1).sack(210, 1, 2, 3).data(236, 1).data(1036, 1).sack(1137, 3, 4, 5).data(1137, 3);
    conversation.ack(1237, 8);
    expect_causes(conversation, &[Cause::Rack, Cause::Rto, Cause::RtoRecovery]);
}

/// RFC 8985 §7.4.2: a pure duplicate shows that both copies arrived, even without a DSACK.
#[test]
fn duplicate_ack_after_a_probe_is_not_a_repair() {
    let mut conversation = one_outstanding(&[SACK]);
    conversation.data(500, 1).ack(550, 2).ack(600, 2).data(600, 2).ack(700, 3);
    expect(&conversation.row(), &[("tail_loss_probes", 1.0), ("tail_loss_probe_repairs", 0.0)]);
}

/// RFC 3708 counts all retransmissions: after an expiry in a recovery, a report of one of two
/// copies proves nothing.
#[test]
fn dsack_of_one_of_two_copies_undoes_nothing() {
    let mut conversation = with_sack();
    conversation.flight(100, 8);
    conversation.ack(200, 1).sack(210, 1, 2, 3).data(236, 1).data(1036, 1);
    // The first block reports the second copy.
    let both = Packet::new(End::Client, "").sack((1001, 2001), [Some((4001, 5001)), None, None]);
    conversation.add(1137, 1, Some(3001), both);
    conversation.data(1137, 3).ack(1237, 8);
    expect_causes(conversation, &[Cause::Rack, Cause::Rto, Cause::RtoRecovery]);
}

/// An acknowledgment of new data causes a retransmission even if a duplicate follows it (RFC 6582
/// §3.2, step 3).
#[test]
fn duplicate_ack_does_not_hide_a_partial_ack() {
    let mut conversation = Conversation::with_handshake();
    conversation.flight(100, 8);
    conversation.ack(200, 1).ack(201, 1).ack(202, 1).ack(203, 1).data(203, 1);
    conversation.ack(303, 4).ack(303, 4).data(304, 4).ack(404, 8);
    expect_causes(conversation, &[Cause::DupAcks, Cause::FastRecovery]);
}

/// Within the reordering window, nothing is retransmitted (RFC 8985 §6.2, step 4).
#[test]
fn reordering_is_not_a_loss() {
    let mut conversation = with_sack();
    conversation.flight(100, 4);
    conversation.sack(200, 0, 1, 2).ack(205, 4);
    // The path is now known to reorder, so three duplicates do not close the reordering window.
    for number in 4..10 {
        conversation.data(210, number);
    }
    conversation.sack(310, 4, 5, 6).sack(311, 4, 5, 7).sack(312, 4, 5, 8).data(336, 4).ack(436, 10);
    expect(
        &conversation.row(),
        &[("fast_retransmissions_by_rack", 1.0), ("rto_count", 0.0), ("dupack_runs", 1.0)],
    );
}

/// RFC 8985 §6.2, step 4: reports of duplicates widen the reordering window, at most to SRTT.
#[test]
fn dsack_widens_the_reordering_window() {
    let mut conversation = with_sack();
    conversation.flight(100, 4);
    conversation.ack(200, 1).sack(210, 1, 2, 3).data(236, 1).ack(237, 4).sack(336, 4, 1, 2);
    for number in 4..8 {
        conversation.data(340, number);
    }
    // 50 ms after the selective acknowledgment: twice min_rtt/4.
    conversation.sack(440, 4, 5, 6).data(492, 4).ack(592, 8);
    expect_causes(conversation, &[Cause::Rack, Cause::Rack]);
}

/// RACK also finds a lost retransmission, when a segment sent after it arrives (RFC 8985 §6.2, step
/// 5). RFC 6675 leaves it to the timer.
#[test]
fn lost_retransmission_is_repeated_in_its_recovery() {
    let begin = || {
        let mut conversation = with_sack();
        conversation.flight(100, 6);
        conversation.sack(200, 0, 1, 2).sack(201, 0, 1, 3).sack(202, 0, 1, 4).data(202, 0).data(203, 6);
        conversation.sack(204, 0, 1, 5).sack(205, 0, 1, 6);
        conversation
    };
    let mut with_rack = begin();
    with_rack.sack(303, 0, 1, 7).data(303, 0).ack(403, 7);
    expect_causes(with_rack, &[Cause::DupAcks, Cause::FastRecovery]);
    let mut without_rack = begin();
    without_rack.data(1202, 0).ack(1302, 7);
    expect_causes(without_rack, &[Cause::DupAcks, Cause::Rto]);
    // With RFC 6675 the timer expires, also if an acknowledgment arrives shortly before.
    let mut with_ack_before_expiry = begin();
    with_ack_before_expiry.sack(303, 0, 1, 7).data(303, 7).sack(1198, 0, 1, 8).data(1202, 0).ack(1302, 8);
    expect_causes(with_ack_before_expiry, &[Cause::DupAcks, Cause::Rto]);
}

/// RFC 6298 §5.4: a timer may expire when an acknowledgment arrives. If no segment
/// has passed the second copy, no acknowledgment shows that the copy is lost.
#[test]
fn expiry_may_coincide_with_an_acknowledgment() {
    let mut conversation = with_sack();
    conversation.flight(100, 8);
    conversation.ack(200, 1).sack(210, 1, 2, 3).data(236, 1).sack(1035, 1, 2, 4).data(1036, 1).ack(1137, 8);
    expect_causes(conversation, &[Cause::Rack, Cause::Rto]);
}

/// After an expiry, a lost retransmission begins a fast recovery. Slow start retransmits the data
/// that were outstanding.
#[test]
fn lost_retransmission_after_an_expiry_begins_fast_recovery() {
    let mut conversation = with_sack();
    conversation.flight(100, 6).data(1100, 0).ack(1200, 1).data(1200, 1).data(1201, 2);
    conversation.sack(1301, 1, 2, 3).data(1301, 1).data(1302, 3).ack(1401, 3).ack(1402, 6);
    let rto = [Cause::Rto, Cause::RtoRecovery, Cause::RtoRecovery];
    expect_causes(conversation, &[&rto[..], &[Cause::Rack, Cause::FastRecovery]].concat());
}

/// A recovery ends when all data are acknowledged that were outstanding at its beginning. If
/// segments that were retransmitted in it are still outstanding, another recovery begins (RFC 6675
/// §5, step 2).
#[test]
fn outstanding_retransmissions_begin_another_recovery() {
    let mut conversation = with_sack();
    conversation.flight(100, 4);
    conversation.sack(200, 0, 1, 4).data(200, 0);
    for number in 4..10 {
        conversation.data(201, number);
    }
    // The sixth segment is lost, and retransmitted before the first recovery ends.
    conversation
        .sack(300, 0, 1, 5)
        .sack(301, 0, 1, 5)
        .sack(302, 0, 6, 10)
        .data(302, 5)
        .ack(303, 5)
        .ack(402, 10);
    expect(&conversation.row(), &[("fast_retransmissions", 2.0), ("tcp_retransmissions_by_dupack", 2.0)]);
}

/// The server sends segment `number` with this timestamp.
fn stamped(conversation: &mut Conversation, at: u64, number: u32, value: u32) {
    let data = Packet { payload: 1000, ..Packet::new(End::Server, "") };
    conversation.add(at, 1 + 1000 * number, Some(1), data.timestamps(value, 1));
}

/// The client acknowledges the first `number` segments, and segments `sack` selectively, with a
/// timestamp and an echo, (`value`, `echo`).
fn echoed(
    conversation: &mut Conversation,
    at: u64,
    number: u32,
    (value, echo): (u32, u32),
    sack: Option<(u32, u32)>,
) {
    let mut ack = Packet::new(End::Client, "").timestamps(value, echo);
    if let Some((from, to)) = sack {
        ack = ack.sack((1 + 1000 * from, 1 + 1000 * to), [None; 3]);
    }
    conversation.add(at, 1, Some(1 + 1000 * number), ack);
}

/// RFC 4015: the echo shows that the expiry was needless. The sender then sends new data, and
/// repairs a later loss in a recovery of its own. A sender that continues to retransmit has ignored
/// the echo.
#[test]
fn loss_after_an_undone_expiry_begins_another_recovery() {
    let begin = || {
        let mut conversation = Conversation::new();
        conversation.handshake(&[SACK, TcpOptionElement::Timestamp(1, 0)]);
        (0..6).for_each(|number| stamped(&mut conversation, 100, number, 100));
        stamped(&mut conversation, 1100, 0, 1100);
        echoed(&mut conversation, 1150, 1, (150, 100), None);
        conversation
    };
    let mut with_undo = begin();
    stamped(&mut with_undo, 1150, 6, 1150);
    echoed(&mut with_undo, 1250, 1, (250, 100), Some((2, 7)));
    stamped(&mut with_undo, 1250, 1, 1250);
    echoed(&mut with_undo, 1350, 7, (350, 1250), None);
    expect_causes(with_undo, &[Cause::Rto, Cause::Sack]);
    let mut without_undo = begin();
    stamped(&mut without_undo, 1150, 1, 1150);
    stamped(&mut without_undo, 1151, 2, 1151);
    echoed(&mut without_undo, 1250, 7, (250, 1151), None);
    expect_causes(without_undo, &[Cause::Rto, Cause::RtoRecovery, Cause::RtoRecovery]);
}

/// RFC 5682: without timestamps, the acknowledgment of data that were never retransmitted shows
/// that the expiry was needless.
#[test]
fn new_data_show_that_frto_undid_an_expiry() {
    let mut conversation = with_sack();
    conversation.flight(100, 6).data(1100, 0).ack(1110, 2).data(1110, 6);
    conversation.sack(1210, 2, 3, 7).data(1210, 2).ack(1310, 7);
    expect_causes(conversation, &[Cause::Rto, Cause::Sack]);
}

/// A sender with RACK undoes the expiry at once: a loss that its acknowledgment shows belongs to
/// another recovery.
#[test]
fn rack_sender_undoes_a_needless_expiry_at_once() {
    let mut conversation = with_sack();
    conversation.flight(100, 8);
    conversation.ack(200, 1).sack(210, 1, 2, 3).data(236, 1).data(1036, 1).data(2636, 1);
    conversation.sack(2737, 2, 3, 6).data(2737, 2).data(2737, 6).data(2737, 7).ack(2837, 8);
    let mut expected = vec![Cause::Rack, Cause::Rto, Cause::Rto];
    expected.extend([Cause::Sack, Cause::FastRecovery, Cause::FastRecovery]);
    expect_causes(conversation, &expected);
}

/// RFC 3708: the receiver reports that all retransmissions in a recovery were duplicates. A later
/// loss begins another recovery.
#[test]
fn recovery_ends_when_all_retransmissions_are_duplicates() {
    let mut conversation = with_sack();
    conversation.flight(100, 8);
    conversation.sack(200, 0, 1, 2).sack(201, 0, 1, 3).sack(202, 0, 1, 4).data(202, 0);
    conversation.ack(210, 4).sack(302, 4, 0, 1).sack(303, 4, 5, 8).data(303, 4).ack(403, 8);
    expect(&conversation.row(), &[("fast_retransmissions", 2.0), ("unneeded_by_dsack", 1.0)]);
}

/// RFC 7323 §5.3: overtaken acknowledgments are ignored, so they cause no retransmission.
#[test]
fn overtaken_acknowledgment_causes_no_retransmission() {
    let mut conversation = Conversation::new();
    conversation.handshake(&[SACK, TcpOptionElement::Timestamp(1, 0)]);
    (0..6).for_each(|number| stamped(&mut conversation, 100, number, 100));
    echoed(&mut conversation, 200, 2, (200, 100), None);
    // It left before the previous acknowledgment, and its timestamp is older.
    echoed(&mut conversation, 1295, 1, (199, 100), Some((3, 6)));
    stamped(&mut conversation, 1300, 2, 1300);
    echoed(&mut conversation, 1400, 6, (1400, 1300), None);
    expect_causes(conversation, &[Cause::Rto]);
}

/// Without acknowledgments, the cause of a retransmission is unknown.
#[test]
fn cause_is_unknown_without_acknowledgments() {
    let mut conversation = Conversation::new();
    conversation.data(0, 0).data(10, 1).data(500, 0);
    expect_causes(conversation, &[Cause::Unknown]);
}
