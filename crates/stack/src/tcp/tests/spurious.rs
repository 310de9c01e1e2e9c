//! Detection and undo of spurious retransmissions: Eifel (RFC 3522, RFC 4015), F-RTO (RFC 5682) and
//! DSACK (RFC 3708).

use umts_units::{Duration, Octets};

use super::pair::{Fate, MSS, Pair, config, lose, ms, nth};
use crate::ids::End;
use crate::packet::Segment;
use crate::tcp::{TcpConfig, Variant, WindowSize};
use crate::trace::SendCause::{DupAck, Rto};
use crate::trace::{SpuriousBy, TraceEvent};

const GREEDY: u64 = u64::MAX;

/// Whether Eifel, F-RTO and detection by D-SACK are enabled, in this order.
type Detections = [bool; 3];
const OFF: Detections = [false; 3];
const EIFEL: Detections = [true, false, false];
const FRTO: Detections = [false, true, false];
const DSACK: Detections = [false, false, true];

fn window_of_ten(variant: Variant, [eifel, frto, dsack_undo]: Detections) -> TcpConfig {
    TcpConfig {
        initial_window: WindowSize::Segments(10),
        timestamps: eifel,
        // Timestamps reduce the payload. This keeps it the same with and without them.
        segment_payload: Octets(MSS as u16 + if eifel { 12 } else { 0 }),
        sack: dsack_undo,
        eifel,
        frto,
        dsack_undo,
        ..config(variant)
    }
}

/// The path stops for 1.5 s: data that would arrive between 140 ms and 1650 ms arrives at 1650 ms,
/// in order.
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

/// The detections: time in ms, method, and whether a timeout was spurious.
fn detections(pair: &Pair) -> Vec<(u64, SpuriousBy, bool)> {
    let detections = pair.trace.iter().filter_map(|(at, event)| match event {
        TraceEvent::SpuriousRetransmission { by, timeout, .. } => {
            Some((at.as_nanos() / 1_000_000, *by, *timeout))
        }
        _ => None,
    });
    detections.collect()
}

#[test]
fn window_is_retransmitted_without_detection() {
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno, OFF), GREEDY, interruption);
    pair.run_until(ms(2500));
    // The timeout occurs at 1100 ms. From 1700 ms on, the ACKs of the originals trigger further
    // retransmissions.
    assert_eq!((timeouts(&pair), pair.retransmissions()[0]), (1, (1100, nth(0), Rto)));
    assert!(pair.retransmissions().len() > 5, "go-back-N retransmits data that have arrived");
    assert_eq!((pair.server.ssthresh(), detections(&pair)), (5.0, vec![]));
}

#[test]
fn eifel_undoes_a_timeout_with_the_first_ack() {
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno, EIFEL), GREEDY, interruption);
    pair.run_until(ms(1700));
    assert_eq!(detections(&pair), [(1700, SpuriousBy::Eifel, true)]);
    assert_eq!(
        (timeouts(&pair), pair.retransmissions().len()),
        (1, 1),
        "only the oldest segment was sent again"
    );
    assert_eq!(pair.server.ssthresh(), f64::INFINITY);
    // RFC 4015: the RTO is computed from the next round trip. A sample of the delayed segment
    // would give an SRTT of at least 1.55 s.
    pair.run_until(ms(2500));
    assert_eq!((timeouts(&pair), pair.retransmissions().len()), (1, 1));
    assert!(pair.server.rto() >= Duration::from_secs(1));
}

#[test]
fn frto_detects_at_the_second_ack() {
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno, FRTO), GREEDY, interruption);
    pair.run_until(ms(1700));
    assert_eq!(detections(&pair), [(1700, SpuriousBy::FRto, true)]);
    assert_eq!((timeouts(&pair), pair.retransmissions().len()), (1, 1));
    assert_eq!(pair.server.ssthresh(), f64::INFINITY);
    pair.run_until(ms(2500));
    assert_eq!(pair.retransmissions().len(), 1);
}

#[test]
fn frto_does_not_undo_a_needed_timeout() {
    // Segments 0 to 7 of ten are lost, then the network delivers all.
    let lost: Vec<_> = (0..8).map(|n| (nth(n), 0)).collect();
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let config = TcpConfig { sack: true, ..window_of_ten(variant, FRTO) };
        let mut pair = Pair::sending(&config, 20 * u64::from(MSS), lose(&lost));
        pair.run();
        assert_eq!(
            (pair.delivered(End::Ue), timeouts(&pair), detections(&pair)),
            (20 * u64::from(MSS), 1, vec![])
        );
    }
}

#[test]
fn frto_goes_back_after_a_duplicate() {
    // All four segments are lost. The first ACK advances only over segment 0, and the probe causes
    // a duplicate.
    let mut pair = Pair::sending(
        &TcpConfig { initial_window: WindowSize::Segments(4), ..window_of_ten(Variant::NewReno, FRTO) },
        20 * u64::from(MSS),
        lose(&[(nth(0), 0), (nth(1), 0), (nth(2), 0), (nth(3), 0)]),
    );
    pair.run();
    assert_eq!((timeouts(&pair), detections(&pair)), (1, vec![]));
    // Step 2: two new segments at 1200 ms. Step 3a: back to segment 1 at 1300 ms.
    assert_eq!((pair.new_segments(1200, 1201), pair.retransmissions()[1]), (2, (1300, nth(1), Rto)));
    assert_eq!(pair.delivered(End::Ue), 20 * u64::from(MSS));
}

#[test]
fn frto_applies_to_the_first_timeout_of_a_recovery() {
    // Segments 1 and 3 of ten arrive. The first timeout repairs 0, and both new segments of F-RTO
    // are lost.
    let lost: Vec<_> = [0, 2, 4, 5, 6, 7, 8, 9, 10, 11].map(|n| (nth(n), 0)).to_vec();
    let mut pair = Pair::sending(&window_of_ten(Variant::NewReno, FRTO), 30 * u64::from(MSS), lose(&lost));
    pair.run();
    assert_eq!((timeouts(&pair), detections(&pair)), (2, vec![]));
    // The ACK of the retransmitted segment 2 also acknowledges segment 3. A second F-RTO would
    // mistake it for the ACK of an original. Without F-RTO, the holes are retransmitted before new
    // segments are sent.
    let retransmitted: Vec<_> = pair.retransmissions().into_iter().map(|(_, seq, _)| seq).collect();
    assert_eq!(retransmitted[..4], [nth(0), nth(2), nth(4), nth(5)]);
    let (second_timeout_ms, ..) = pair.retransmissions()[1];
    assert_eq!(pair.new_segments(second_timeout_ms, second_timeout_ms + 300), 0);
    assert_eq!(pair.delivered(End::Ue), 30 * u64::from(MSS));
}

#[test]
fn reordering_mistaken_for_a_loss_is_undone() {
    // Segment 3 arrives after segment 9: six duplicates, one spurious fast retransmit.
    let late = |segment: &Segment| {
        let is_original = segment.seq == nth(3) && segment.transmission == 0;
        if is_original { Fate::Delay(Duration::from_millis(30)) } else { Fate::Deliver }
    };
    let run = |variant, enabled| {
        let mut pair = Pair::sending(&window_of_ten(variant, enabled), GREEDY, late);
        pair.run_until(ms(400));
        let (_, _, cause) = pair.retransmissions()[0];
        (detections(&pair), pair.server.ssthresh(), cause)
    };
    // The ACKs of segments 0 to 2 arrive first and raise the window to 13. Half of the 13 segments
    // in flight is 6.5.
    let (_, ssthresh, _) = run(Variant::NewReno, OFF);
    assert_eq!(ssthresh, 6.5);
    // The late original's ACK is sent at 180 ms and arrives at 230 ms. The report of the second
    // copy arrives at 300 ms.
    assert_eq!(run(Variant::NewReno, EIFEL), (vec![(230, SpuriousBy::Eifel, false)], f64::INFINITY, DupAck));
    assert_eq!(run(Variant::Sack, DSACK), (vec![(300, SpuriousBy::Dsack, false)], f64::INFINITY, DupAck));
}

#[test]
fn duplicate_report_for_one_of_two_retransmissions_undoes_nothing() {
    // Segment 3 is late and segment 5 is lost. Both are retransmitted, and segment 3 arrives twice.
    let script = |segment: &Segment| match (segment.seq, segment.transmission) {
        (seq, 0) if seq == nth(3) => Fate::Delay(Duration::from_millis(30)),
        (seq, 0) if seq == nth(5) => Fate::Drop,
        _ => Fate::Deliver,
    };
    let mut pair = Pair::sending(&window_of_ten(Variant::Sack, DSACK), GREEDY, script);
    pair.run_until(ms(600));
    assert_eq!((pair.retransmissions().len(), detections(&pair), pair.server.ssthresh()), (2, vec![], 6.5));
}
