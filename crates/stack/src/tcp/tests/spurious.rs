//! Detection and undo of spurious retransmissions: Eifel (RFC 3522, RFC 4015), F-RTO (RFC 5682) and
//! DSACK (RFC 3708).
//!
//! In all tests the server sends its SYN at 0 ms and data from 100 ms on, in segments that are
//! numbered from 0. A round trip takes 100 ms ([`pair`](super::pair)).

use umts_units::{Duration, Octets};

use super::pair::{Fate, MSS, Pair, Retransmission, config, lose, ms, original, seq_of};
use crate::ids::End;
use crate::packet::Segment;
use crate::tcp::{TcpConfig, Variant, WindowSize};
use crate::trace::SendCause::{DupAck, Rto};
use crate::trace::{SpuriousBy, TraceEvent};

/// Unlimited data.
const GREEDY: u64 = u64::MAX;

/// The only detection that is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detection {
    Off,
    Eifel,
    FRto,
    Dsack,
}

/// An initial window of ten segments: they are sent at 100 ms, and their ACKs arrive at 200 ms
/// unless the network disturbs them.
fn window_of_ten(variant: Variant, detection: Detection) -> TcpConfig {
    let eifel = detection == Detection::Eifel;
    let dsack_undo = detection == Detection::Dsack;
    TcpConfig {
        initial_window: WindowSize::Segments(10),
        timestamps: eifel,
        // Timestamps reduce the payload. This keeps it the same with and without them.
        segment_payload: Octets(MSS as u16 + if eifel { 12 } else { 0 }),
        sack: dsack_undo,
        eifel,
        frto: detection == Detection::FRto,
        dsack_undo,
        ..config(variant)
    }
}

/// The path stops for 1.5 s: data that would arrive between 140 ms and 1650 ms arrives at 1650 ms,
/// in order. No segment is lost, so every retransmission in these tests is spurious.
fn interruption(segment: &Segment) -> Fate {
    let arrives = segment.timestamp + Duration::from_millis(50);
    let interrupted = ms(140)..ms(1650);
    if segment.direction == End::Server.sends() && segment.payload > 0 && interrupted.contains(&arrives) {
        Fate::Delay(ms(1650) - arrives)
    } else {
        Fate::Deliver
    }
}

/// The server's timeouts. (The ACK of the handshake is delayed as well, so the other end's timer
/// expires once.)
fn timeouts(pair: &Pair) -> usize {
    pair.count(|event| matches!(event, TraceEvent::RtoExpired { end: End::Server, .. }))
}

/// A detected spurious retransmission.
#[derive(Debug, PartialEq, Eq)]
struct Spurious {
    at_ms: u64,
    by: SpuriousBy,
    /// The retransmission was caused by a timeout. Otherwise it was a fast retransmit.
    by_timeout: bool,
}

fn detections(pair: &Pair) -> Vec<Spurious> {
    let detections = pair.trace.iter().filter_map(|(at, event)| match event {
        TraceEvent::SpuriousRetransmission { by, timeout, .. } => {
            Some(Spurious { at_ms: at.as_nanos() / 1_000_000, by: *by, by_timeout: *timeout })
        }
        _ => None,
    });
    detections.collect()
}

#[test]
fn window_is_retransmitted_without_detection() {
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno, Detection::Off), GREEDY, interruption);
    pair.run_until(ms(2500));
    // The timeout occurs at 1100 ms. From 1700 ms on, the ACKs of the originals trigger further
    // retransmissions.
    assert_eq!(timeouts(&pair), 1);
    assert_eq!(pair.retransmissions()[0], Retransmission { at_ms: 1100, seq: seq_of(0), cause: Rto });
    assert!(pair.retransmissions().len() > 5, "go-back-N retransmits data that have arrived");
    assert_eq!(pair.server.ssthresh(), 5.0);
    assert_eq!(detections(&pair), []);
}

#[test]
fn eifel_undoes_a_timeout_with_the_first_ack() {
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno, Detection::Eifel), GREEDY, interruption);
    pair.run_until(ms(1700));
    assert_eq!(detections(&pair), [Spurious { at_ms: 1700, by: SpuriousBy::Eifel, by_timeout: true }]);
    assert_eq!(timeouts(&pair), 1, "only the oldest segment was sent again");
    assert_eq!(pair.retransmissions().len(), 1, "only the oldest segment was sent again");
    assert_eq!(pair.server.ssthresh(), f64::INFINITY);
    // RFC 4015: the RTO is computed from the next round trip. A sample of the delayed segment would
    // give an SRTT of at least 1.55 s.
    pair.run_until(ms(2500));
    assert_eq!(timeouts(&pair), 1);
    assert_eq!(pair.retransmissions().len(), 1);
    assert!(pair.server.rto() >= Duration::from_secs(1));
}

#[test]
fn frto_detects_at_the_second_ack() {
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno, Detection::FRto), GREEDY, interruption);
    pair.run_until(ms(1700));
    assert_eq!(detections(&pair), [Spurious { at_ms: 1700, by: SpuriousBy::FRto, by_timeout: true }]);
    assert_eq!(timeouts(&pair), 1);
    assert_eq!(pair.retransmissions().len(), 1);
    assert_eq!(pair.server.ssthresh(), f64::INFINITY);
    pair.run_until(ms(2500));
    assert_eq!(pair.retransmissions().len(), 1);
}

#[test]
fn frto_does_not_undo_a_needed_timeout() {
    // Segments 0 to 7 of ten are lost, then the network delivers all.
    let lost: Vec<_> = (0..8).map(original).collect();
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let config = TcpConfig { sack: true, ..window_of_ten(variant, Detection::FRto) };
        let mut pair = Pair::sending(&config, 20 * u64::from(MSS), lose(&lost));
        pair.run();
        assert_eq!(pair.delivered(End::Ue), 20 * u64::from(MSS));
        assert_eq!(timeouts(&pair), 1);
        assert_eq!(detections(&pair), []);
    }
}

#[test]
fn frto_goes_back_after_a_duplicate() {
    // All four segments are lost. The first ACK advances only over segment 0, and the probe causes
    // a duplicate.
    let mut pair = Pair::sending(
        &TcpConfig {
            initial_window: WindowSize::Segments(4),
            ..window_of_ten(Variant::NewReno, Detection::FRto)
        },
        20 * u64::from(MSS),
        lose(&[original(0), original(1), original(2), original(3)]),
    );
    pair.run();
    assert_eq!(timeouts(&pair), 1);
    assert_eq!(detections(&pair), []);
    // RFC 5682 §2.1 step 2: two new segments, as a probe, at the ACK of 1200 ms. Step 3a: their
    // duplicate ACK at 1300 ms shows a loss, so the sender goes back to segment 1.
    assert_eq!(pair.new_segments_at(1200), 2);
    assert_eq!(pair.retransmissions()[1], Retransmission { at_ms: 1300, seq: seq_of(1), cause: Rto });
    assert_eq!(pair.delivered(End::Ue), 20 * u64::from(MSS));
}

#[test]
fn frto_applies_to_the_first_timeout_of_a_recovery() {
    // Only segments 1 and 3 of ten arrive. The first timeout repairs segment 0, and the two new
    // segments (10 and 11) that F-RTO then sends are lost.
    let lost: Vec<_> = [0, 2, 4, 5, 6, 7, 8, 9, 10, 11].map(original).to_vec();
    let mut pair =
        Pair::sending(&window_of_ten(Variant::NewReno, Detection::FRto), 30 * u64::from(MSS), lose(&lost));
    pair.run();
    assert_eq!(timeouts(&pair), 2);
    assert_eq!(detections(&pair), []);
    // The ACK of the retransmitted segment 2 also acknowledges segment 3. A second F-RTO would
    // mistake it for the ACK of an original. Without F-RTO, the holes are retransmitted before new
    // segments are sent.
    let retransmitted: Vec<_> = pair.retransmissions().into_iter().map(|repeat| repeat.seq).collect();
    assert_eq!(retransmitted[..4], [seq_of(0), seq_of(2), seq_of(4), seq_of(5)]);
    let second_timeout_ms = pair.retransmissions()[1].at_ms;
    assert_eq!(pair.new_segments_between(second_timeout_ms, second_timeout_ms + 300), 0);
    assert_eq!(pair.delivered(End::Ue), 30 * u64::from(MSS));
}

#[test]
fn reordering_mistaken_for_a_loss_is_undone() {
    // Segment 3 arrives after segment 9: six duplicates, one spurious fast retransmit.
    let late = |segment: &Segment| {
        let is_original = segment.seq == seq_of(3) && segment.transmission == 0;
        if is_original { Fate::Delay(Duration::from_millis(30)) } else { Fate::Deliver }
    };
    let run = |variant, detection| {
        let mut pair = Pair::sending(&window_of_ten(variant, detection), GREEDY, late);
        pair.run_until(ms(400));
        assert_eq!(pair.retransmissions()[0].cause, DupAck);
        pair
    };
    // The ACKs of segments 0 to 2 arrive first and raise the window to 13. Half of the 13 segments
    // in flight is 6.5.
    assert_eq!(run(Variant::NewReno, Detection::Off).server.ssthresh(), 6.5);
    // The late original arrives at the UE at 180 ms. Its ACK arrives at 230 ms, and Eifel decides.
    // The retransmission is sent at 200 ms, so the report of this second copy of segment 3 arrives
    // at 300 ms, and D-SACK decides. An undo restores the threshold, which was infinite.
    let eifel = run(Variant::NewReno, Detection::Eifel);
    assert_eq!(detections(&eifel), [Spurious { at_ms: 230, by: SpuriousBy::Eifel, by_timeout: false }]);
    assert_eq!(eifel.server.ssthresh(), f64::INFINITY);
    let dsack = run(Variant::Sack, Detection::Dsack);
    assert_eq!(detections(&dsack), [Spurious { at_ms: 300, by: SpuriousBy::Dsack, by_timeout: false }]);
    assert_eq!(dsack.server.ssthresh(), f64::INFINITY);
}

#[test]
fn duplicate_report_for_one_of_two_retransmissions_undoes_nothing() {
    // Segment 3 is late and segment 5 is lost. Both are retransmitted, and only segment 3 arrives
    // twice. The reduction was justified by the loss of segment 5, so it stays at 13/2.
    let script = |segment: &Segment| match (segment.seq, segment.transmission) {
        (seq, 0) if seq == seq_of(3) => Fate::Delay(Duration::from_millis(30)),
        (seq, 0) if seq == seq_of(5) => Fate::Drop,
        _ => Fate::Deliver,
    };
    let mut pair = Pair::sending(&window_of_ten(Variant::Sack, Detection::Dsack), GREEDY, script);
    pair.run_until(ms(600));
    assert_eq!(pair.retransmissions().len(), 2);
    assert_eq!(detections(&pair), []);
    assert_eq!(pair.server.ssthresh(), 6.5);
}
