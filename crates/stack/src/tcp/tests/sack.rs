//! Full duplex connections with SACK (RFC 6675), with FACK and its refinements, and with Vegas.
//!
//! In all tests the server sends its SYN at 0 ms and data from 100 ms on, in segments that are
//! numbered from 0. A round trip takes 100 ms ([`pair`](super::pair)).

use super::pair::{
    Fate, MSS, Pair, Retransmission, Transmission, config, lose, ms, original, retransmission, seq_of,
};
use crate::ids::{End, FlowId, UeId};
use crate::tcp::{Connection, TcpConfig, Variant, WindowSize};
use crate::trace::SendCause::{DupAck, Rto};

/// Unlimited data.
const GREEDY: u64 = u64::MAX;
/// Payload of a full segment, in bytes.
const SEGMENT: u64 = MSS as u64;

/// Ten segments are sent at 100 ms, and their ACKs arrive at 200 ms.
fn window_of_ten(variant: Variant) -> TcpConfig {
    TcpConfig { initial_window: WindowSize::Segments(10), sack: true, ..config(variant) }
}

/// Three losses in a window of ten.
const THREE_LOSSES: &[Transmission] = &[original(0), original(2), original(4)];

#[test]
fn sack_repairs_all_holes_in_one_round_trip() {
    let mut pair = Pair::sending(&window_of_ten(Variant::Sack), 30 * SEGMENT, lose(THREE_LOSSES));
    pair.run();
    let expected = [
        Retransmission { at_ms: 200, seq: seq_of(0), cause: DupAck },
        Retransmission { at_ms: 200, seq: seq_of(2), cause: DupAck },
        Retransmission { at_ms: 200, seq: seq_of(4), cause: DupAck },
    ];
    assert_eq!(pair.retransmissions(), expected);
    assert_eq!(pair.timeouts(), 0);
    assert_eq!(pair.delivered(End::Ue), 30 * SEGMENT);
}

#[test]
fn sack_halves_once_and_sends_up_to_pipe() {
    let mut pair = Pair::sending(&window_of_ten(Variant::Sack), GREEDY, lose(THREE_LOSSES));
    pair.run_until(ms(200));
    assert_eq!(pair.server.cwnd(), 5.0);
    assert_eq!(pair.server.ssthresh(), 5.0);
    assert_eq!(pair.server.inflation(), 0);
    // All seven segments that arrived are SACKed. In flight are three retransmissions and two new
    // segments.
    assert_eq!(pair.retransmissions().len(), 3);
    assert_eq!(pair.new_segments_at(200), 2);
    pair.run_until(ms(300));
    // The ACK that ends the recovery does not raise the window of 5. The ACKs of the two new
    // segments raise it by 1/cwnd each: to 5 + 1/5 = 5.2, then by 1/5.2.
    assert_eq!(pair.server.cwnd(), 5.2 + 1.0 / 5.2);
    pair.run_until(ms(400));
    assert!(pair.server.cwnd() > 5.0);
    assert_eq!(pair.server.ssthresh(), 5.0);
    assert_eq!(pair.timeouts(), 0);
}

#[test]
fn lost_retransmission_waits_for_the_timer() {
    let mut pair =
        Pair::sending(&window_of_ten(Variant::Sack), GREEDY, lose(&[original(0), retransmission(0, 1)]));
    pair.run_until(ms(2000));
    let retransmissions = pair.retransmissions();
    assert_eq!(
        retransmissions,
        [
            Retransmission { at_ms: 200, seq: seq_of(0), cause: DupAck },
            Retransmission { at_ms: 1200, seq: seq_of(0), cause: Rto }
        ],
        "no SACKed segment is sent again"
    );
    assert_eq!(pair.timeouts(), 1);
}

#[test]
fn three_sacked_segments_start_a_recovery_at_the_first_duplicate() {
    // The ACKs for segments 1 and 2 are lost. The duplicate that segment 3 causes SACKs three
    // segments.
    let mut duplicates = 0;
    let mut pair = Pair::sending(&window_of_ten(Variant::Sack), 4 * SEGMENT, move |segment| {
        let duplicate = segment.direction == End::Ue.sends() && !segment.sack.is_empty();
        duplicates += u32::from(duplicate);
        let lost = (segment.seq == seq_of(0) && segment.payload > 0 && segment.transmission == 0)
            || (duplicate && duplicates <= 2);
        if lost { Fate::Drop } else { Fate::Deliver }
    });
    pair.run();
    assert_eq!(pair.retransmissions(), [Retransmission { at_ms: 200, seq: seq_of(0), cause: DupAck }]);
    assert_eq!(pair.timeouts(), 0);
}

#[test]
fn rescue_repairs_a_lost_tail() {
    // Of ten segments the first and the last two are lost. Without new data, NextSeg rule 4 sends
    // the last one (segment 9). The SACK of segment 9 shows that segment 8 is missing.
    let lost: &[Transmission] = &[original(0), original(8), original(9)];
    let mut pair = Pair::sending(&window_of_ten(Variant::Sack), 10 * SEGMENT, lose(lost));
    pair.run();
    let expected = [
        Retransmission { at_ms: 200, seq: seq_of(0), cause: DupAck },
        Retransmission { at_ms: 200, seq: seq_of(9), cause: DupAck },
        Retransmission { at_ms: 300, seq: seq_of(8), cause: DupAck },
    ];
    assert_eq!(pair.retransmissions(), expected);
    assert_eq!(pair.timeouts(), 0);
}

#[test]
fn newreno_replaces_sack_without_support_at_the_other_end() {
    let mut pair = Pair::with_script(&window_of_ten(Variant::Sack), lose(THREE_LOSSES));
    let plain = TcpConfig { sack: false, ..window_of_ten(Variant::NewReno) };
    pair.ue = Connection::new(pair.ue.id(), FlowId(0), UeId(0), End::Ue, plain);
    pair.open(End::Server);
    pair.write(End::Server, 30 * SEGMENT);
    pair.run();
    let expected = [
        Retransmission { at_ms: 200, seq: seq_of(0), cause: DupAck },
        Retransmission { at_ms: 300, seq: seq_of(2), cause: DupAck },
        Retransmission { at_ms: 400, seq: seq_of(4), cause: DupAck },
    ];
    assert_eq!(pair.retransmissions(), expected);
    assert_eq!(pair.timeouts(), 0);
}

#[test]
fn gap_triggers_fack() {
    // Segments 0 to 3 of five are lost: the only ACK, of the fifth, shows a gap of four.
    let lost: Vec<_> = (0..4).map(original).collect();
    let window_of_five =
        |variant| TcpConfig { initial_window: WindowSize::Segments(5), ..window_of_ten(variant) };
    let mut fack = Pair::sending(&window_of_five(Variant::Fack), 5 * SEGMENT, lose(&lost));
    fack.run_until(ms(250));
    assert_eq!(
        fack.retransmissions()[..2],
        [
            Retransmission { at_ms: 200, seq: seq_of(0), cause: DupAck },
            Retransmission { at_ms: 200, seq: seq_of(1), cause: DupAck }
        ]
    );
    fack.run();
    assert_eq!(fack.timeouts(), 0);
    assert_eq!(fack.delivered(End::Ue), 5 * SEGMENT);
    let mut sack = Pair::sending(&window_of_five(Variant::Sack), 5 * SEGMENT, lose(&lost));
    sack.run();
    assert_eq!(sack.timeouts(), 1, "one duplicate and one SACKed segment are not enough for RFC 6675");
}

#[test]
fn data_smoothing_spreads_the_reduction() {
    let run = |data_smoothing| {
        let config = TcpConfig {
            initial_window: WindowSize::Segments(20),
            fack_data_smoothing: data_smoothing,
            ..window_of_ten(Variant::Fack)
        };
        let mut pair = Pair::sending(&config, GREEDY, lose(&[original(0)]));
        pair.run_until(ms(200));
        let sent_at_200_ms = pair.new_segments_at(200);
        pair.run_until(ms(350));
        (sent_at_200_ms, pair)
    };
    // At the third duplicate, 20 segments are outstanding: one is lost and three are SACKed. `pipe`
    // is 17: the other 16 and the retransmission. Without smoothing nothing is sent until `pipe` is
    // below 10. With smoothing the window falls from 20 by a half per ACK, so one segment is sent
    // for every two ACKs.
    let smoothing = true;
    let (sent_without_smoothing, _) = run(!smoothing);
    let (sent_with_smoothing, smoothed) = run(smoothing);
    assert!(sent_with_smoothing > sent_without_smoothing, "{sent_with_smoothing} {sent_without_smoothing}");
    assert!((10.0..11.0).contains(&smoothed.server.cwnd()), "{}", smoothed.server.cwnd());
    assert_eq!(smoothed.server.ssthresh(), 10.0);
}

#[test]
fn over_damping_halves_twice_after_slow_start() {
    let run = |over_damping, initial_ssthresh| {
        let config = TcpConfig {
            initial_window: WindowSize::Segments(4),
            initial_ssthresh,
            fack_over_damping: over_damping,
            ..window_of_ten(Variant::Fack)
        };
        let mut pair = Pair::sending(&config, GREEDY, lose(&[original(4)]));
        pair.run_until(ms(350));
        assert_eq!(pair.timeouts(), 0);
        pair.server.ssthresh()
    };
    // Segment 4 is the first of the second round trip, in which the window is 8 segments. One
    // halving gives a threshold of 8/2 = 4, and two give 8/4 = 2.
    let over_damping = true;
    assert_eq!(run(!over_damping, None), 4.0);
    assert_eq!(run(over_damping, None), 2.0);
    let two = Some(WindowSize::Segments(2));
    assert_eq!(
        run(over_damping, two),
        run(!over_damping, two),
        "without slow start there is no second halving"
    );
}

#[test]
fn vegas_repairs_a_loss_on_full_duplex_connections() {
    // The pipe has no queue, so the window grows by one segment per round trip after slow start.
    let config = TcpConfig { initial_ssthresh: Some(WindowSize::Segments(6)), ..config(Variant::Vegas) };
    let mut pair = Pair::sending(&config, 300 * SEGMENT, lose(&[original(60)]));
    pair.close(End::Server);
    pair.close(End::Ue);
    pair.run();
    assert_eq!(pair.delivered(End::Ue), 300 * SEGMENT);
    assert_eq!(pair.timeouts(), 0);
    assert_eq!(
        pair.retransmissions().len(),
        1,
        "Vegas detects the loss by its age at the first duplicate, or at the third duplicate"
    );
}
