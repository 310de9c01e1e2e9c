//! Loss recovery of the variants: RFC 5681, RFC 6582, RFC 6298 §5, RFC 3042.
//!
//! In all tests the server sends its SYN at 0 ms and data from 100 ms on, in segments that are
//! numbered from 0. A round trip takes 100 ms ([`pair`](super::pair)).

use umts_units::Duration;

use super::pair::{
    Fate, MSS, Pair, Retransmission, Transmission, config, lose, ms, original, retransmission, seq_of,
};
use crate::ids::End;
use crate::tcp::{TcpConfig, Variant, WindowSize};
use crate::trace::{SendCause, TraceEvent};

use SendCause::{DupAck, Rto};

/// Unlimited data.
const GREEDY: u64 = u64::MAX;
/// Payload of a full segment, in bytes.
const SEGMENT: u64 = MSS as u64;

/// Ten segments are sent at 100 ms, and their ACKs arrive at 200 ms.
fn window_of_ten(variant: Variant) -> TcpConfig {
    TcpConfig { initial_window: WindowSize::Segments(10), ..config(variant) }
}

#[test]
fn tahoe_restarts_with_one_segment() {
    // Segment 0 is lost: nine duplicate ACKs, the third at 200 ms.
    let mut pair = Pair::sending(&window_of_ten(Variant::Tahoe), GREEDY, lose(&[original(0)]));
    pair.run_until(ms(200));
    assert_eq!(pair.retransmissions(), [Retransmission { at_ms: 200, seq: seq_of(0), cause: DupAck }]);
    assert_eq!(pair.server.cwnd(), 1.0);
    assert_eq!(pair.server.ssthresh(), 5.0);
    assert_eq!(pair.server.inflation(), 0);
    pair.run_until(ms(300));
    // All ten are acknowledged at once, and slow start continues with new data.
    assert_eq!(pair.server.cwnd(), 2.0);
    assert_eq!(pair.new_segments_at(300), 2);
    assert_eq!(pair.timeouts(), 0);
}

#[test]
fn tahoe_retransmits_delivered_segments() {
    // Segment 5 is lost as well. Slow start repairs this loss by going back, without another
    // reduction. Its window of two also retransmits segment 6, which had arrived.
    let mut pair =
        Pair::sending(&window_of_ten(Variant::Tahoe), 10 * SEGMENT, lose(&[original(0), original(5)]));
    pair.run();
    let expected = [
        Retransmission { at_ms: 200, seq: seq_of(0), cause: DupAck },
        Retransmission { at_ms: 300, seq: seq_of(5), cause: DupAck },
        Retransmission { at_ms: 300, seq: seq_of(6), cause: DupAck },
    ];
    assert_eq!(pair.retransmissions(), expected);
    assert_eq!(pair.timeouts(), 0);
    assert_eq!(pair.delivered(End::Ue), 10 * SEGMENT);
}

#[test]
fn reno_halves_inflates_and_deflates() {
    let mut pair = Pair::sending(&window_of_ten(Variant::Reno), GREEDY, lose(&[original(0)]));
    pair.run_until(ms(200));
    // FlightSize is 10 and nine duplicates arrive: 10/2 + 9 = 14 segments may be outstanding. Ten
    // segments are outstanding, so four are sent.
    assert_eq!(pair.server.cwnd(), 5.0);
    assert_eq!(pair.server.ssthresh(), 5.0);
    assert_eq!(pair.server.inflation(), 9);
    assert_eq!(pair.retransmissions(), [Retransmission { at_ms: 200, seq: seq_of(0), cause: DupAck }]);
    assert_eq!(pair.new_segments_at(200), 4);
    pair.run_until(ms(300));
    // The ACK of all ten ends the recovery. The ACKs of the four segments sent in it follow.
    assert_eq!(pair.server.inflation(), 0);
    assert!(pair.server.cwnd() > 5.0 && pair.server.cwnd() < 6.0, "congestion avoidance continues from 5");
    assert_eq!(pair.timeouts(), 0);
}

/// Three losses in one window of ten.
const THREE_LOSSES: &[Transmission] = &[original(0), original(2), original(4)];

#[test]
fn reno_stalls_on_several_losses_in_a_window() {
    let mut pair = Pair::sending(&window_of_ten(Variant::Reno), 30 * SEGMENT, lose(THREE_LOSSES));
    pair.run();
    assert!(pair.timeouts() > 0, "Reno runs out of duplicate ACKs and waits for its timer");
    assert_eq!(pair.delivered(End::Ue), 30 * SEGMENT);
}

#[test]
fn newreno_repairs_one_hole_per_round_trip() {
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno), 30 * SEGMENT, lose(THREE_LOSSES));
    pair.run();
    let expected = [
        Retransmission { at_ms: 200, seq: seq_of(0), cause: DupAck },
        Retransmission { at_ms: 300, seq: seq_of(2), cause: DupAck },
        Retransmission { at_ms: 400, seq: seq_of(4), cause: DupAck },
    ];
    assert_eq!(pair.retransmissions(), expected);
    assert_eq!(pair.timeouts(), 0);
    assert_eq!(pair.delivered(End::Ue), 30 * SEGMENT);
}

#[test]
fn partial_ack_deflates_newreno_by_its_segments() {
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno), GREEDY, lose(THREE_LOSSES));
    pair.run_until(ms(200));
    // Seven segments arrived and caused seven duplicates. 10/2 + 7 = 12 segments may be
    // outstanding. Ten segments are outstanding, so two are sent.
    assert_eq!(pair.server.cwnd(), 5.0);
    assert_eq!(pair.server.inflation(), 7);
    assert_eq!(pair.new_segments_at(200), 2);
    pair.run_until(ms(300));
    // The partial ACK covers 2 of 12 segments, so the inflation is 7 - 2 + 1 = 6. The two new
    // segments cause two duplicates: 8.
    assert_eq!(pair.server.cwnd(), 5.0);
    assert_eq!(pair.server.inflation(), 8);
    pair.run_until(ms(500));
    // RFC 6582 §3.2 step 3: min(ssthresh, flight + 1), then congestion avoidance.
    assert!(pair.server.cwnd() >= 4.0 && pair.server.cwnd() < 6.0);
    assert_eq!(pair.server.inflation(), 0);
    assert_eq!(pair.server.ssthresh(), 5.0);
}

#[test]
fn duplicates_of_go_back_n_are_not_a_loss() {
    // Segments 0 to 4 are lost, segment 0 twice. After the timeout go-back-N also retransmits the
    // segments that had arrived. The duplicate ACKs of these must not start a fast retransmit.
    let lost: &[Transmission] =
        &[original(0), retransmission(0, 1), original(1), original(2), original(3), original(4)];
    for variant in [Variant::Tahoe, Variant::Reno, Variant::NewReno] {
        let mut pair = Pair::sending(&window_of_ten(variant), 20 * SEGMENT, lose(lost));
        pair.run();
        assert_eq!(pair.timeouts(), 1, "{variant:?}");
        assert_eq!(pair.delivered(End::Ue), 20 * SEGMENT, "{variant:?}");
        let by_duplicates = pair.retransmissions().iter().filter(|repeat| repeat.cause == DupAck).count();
        assert_eq!(by_duplicates, 1, "{variant:?}: only the fast retransmit before the timeout");
    }
}

#[test]
fn timeout_goes_back_and_slow_starts() {
    // Both segments of the initial window are lost. Without duplicates, only the timer repairs it.
    let mut pair = Pair::sending(&config(Variant::Reno), GREEDY, lose(&[original(0), original(1)]));
    pair.run_until(ms(1100));
    assert_eq!(pair.retransmissions(), [Retransmission { at_ms: 1100, seq: seq_of(0), cause: Rto }]);
    assert_eq!(pair.server.cwnd(), 1.0);
    assert_eq!(pair.server.ssthresh(), 2.0);
    pair.run_until(ms(1200));
    assert_eq!(pair.retransmissions()[1..], [Retransmission { at_ms: 1200, seq: seq_of(1), cause: Rto }]);
    assert_eq!(pair.new_segments_at(1200), 1);
}

#[test]
fn backoff_remains_until_a_segment_sent_once_is_timed() {
    let mut pair = Pair::sending(
        &config(Variant::Reno),
        GREEDY,
        lose(&[original(0), retransmission(0, 1), retransmission(0, 2)]),
    );
    pair.run_until(ms(7100));
    let expected = [
        Retransmission { at_ms: 1100, seq: seq_of(0), cause: Rto },
        Retransmission { at_ms: 3100, seq: seq_of(0), cause: Rto },
        Retransmission { at_ms: 7100, seq: seq_of(0), cause: Rto },
    ];
    assert_eq!(pair.retransmissions(), expected);
    // RFC 5681 §3.1: ssthresh is reduced once per segment, however often the segment times out.
    assert_eq!(pair.server.ssthresh(), 2.0);
    let samples =
        |pair: &Pair| pair.count(|event| matches!(event, TraceEvent::RttSample { end: End::Server, .. }));
    pair.run_until(ms(7200));
    // The ACK of a segment sent four times gives no sample (Karn), and the back-off factor of 8
    // remains. The only sample so far is the SYN's, and the RTO is 8 times the minimum of 1 s.
    assert_eq!(samples(&pair), 1);
    assert_eq!(pair.server.rto(), Duration::from_secs(8));
    pair.run_until(ms(7300));
    assert_eq!(samples(&pair), 2);
    assert_eq!(pair.server.rto(), Duration::from_secs(1));
    let backoffs: Vec<_> = pair
        .trace
        .iter()
        .filter_map(|(_, event)| match event {
            TraceEvent::RtoExpired { backoff, .. } => Some(*backoff),
            _ => None,
        })
        .collect();
    assert_eq!(backoffs, [2, 4, 8]);
}

#[test]
fn limited_transmit_sends_new_data_on_two_duplicates() {
    // Of three segments the first is lost, so only two duplicates arrive. Under RFC 3042 two new
    // segments are sent, which cause the third duplicate.
    let three = TcpConfig { initial_window: WindowSize::Segments(3), ..config(Variant::NewReno) };
    let mut standard = Pair::sending(&three, 10 * SEGMENT, lose(&[original(0)]));
    standard.run();
    assert_eq!(standard.timeouts(), 1);
    assert_eq!(standard.new_segments_at(200), 0);
    let mut limited =
        Pair::sending(&TcpConfig { limited_transmit: true, ..three }, 10 * SEGMENT, lose(&[original(0)]));
    limited.run_until(ms(200));
    assert_eq!(limited.new_segments_at(200), 2);
    assert_eq!(limited.server.cwnd(), 3.0);
    limited.run();
    assert_eq!(limited.timeouts(), 0);
    assert_eq!(limited.retransmissions(), [Retransmission { at_ms: 300, seq: seq_of(0), cause: DupAck }]);
    // RFC 5681 §3.2 step 2: ssthresh is half of the outstanding segments, at least 2. Segments sent
    // by limited transmit do not count, so it is max(3/2, 2).
    assert_eq!(limited.server.ssthresh(), 2.0);
}

#[test]
fn reordering_by_two_is_not_a_loss() {
    // Of ten segments, segment 3 arrives after segment 9. This causes six duplicate ACKs and one
    // spurious retransmission, which arrives as a duplicate.
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno), 10 * SEGMENT, |segment| {
        if segment.seq == seq_of(3) { Fate::Delay(Duration::from_millis(1)) } else { Fate::Deliver }
    });
    pair.run();
    let is_duplicate =
        |event: &TraceEvent| matches!(event, TraceEvent::SegmentReceived { duplicate: true, .. });
    assert_eq!(pair.retransmissions(), [Retransmission { at_ms: 200, seq: seq_of(3), cause: DupAck }]);
    assert_eq!(pair.count(is_duplicate), 1);
    // Of six segments, segment 3 arrives after segment 5. Two duplicate ACKs are not a loss.
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno), 6 * SEGMENT, |segment| {
        if segment.seq == seq_of(3) { Fate::Delay(Duration::from_millis(1)) } else { Fate::Deliver }
    });
    pair.run();
    assert_eq!(pair.retransmissions(), []);
}

#[test]
fn old_acks_are_ignored() {
    // The ACK with number seq_of(3) is delayed and arrives after all others.
    let mut was_delayed = false;
    let mut pair = Pair::sending(&window_of_ten(Variant::Reno), 10 * SEGMENT, move |segment| {
        let is_the_ack = segment.direction == End::Ue.sends() && segment.ack == seq_of(3) && !was_delayed;
        was_delayed |= is_the_ack;
        if is_the_ack { Fate::Delay(Duration::from_millis(5)) } else { Fate::Deliver }
    });
    pair.run();
    assert_eq!(pair.retransmissions(), []);
    assert_eq!(pair.count(|event| matches!(event, TraceEvent::DupAck { .. })), 0);
}
