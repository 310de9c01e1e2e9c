//! How Westwood+ and CUBIC reduce the congestion window after a loss and increase it again,
//! compared with NewReno. Windows are in segments.
//!
//! In all tests the server sends its SYN at 0 ms and data from 100 ms on, in segments that are
//! numbered from 0. A round trip takes 100 ms ([`pair`](super::pair)).

use super::pair::{MSS, Pair, config, lose, ms, original, retransmission};
use crate::ids::End;
use crate::tcp::{TcpConfig, Variant, WindowSize};

/// Unlimited data.
const GREEDY: u64 = u64::MAX;
/// Payload of a full segment, in bytes.
const SEGMENT: u64 = MSS as u64;

/// A window of 20 in congestion avoidance, one ACK per segment, round trips of 100 ms.
fn window_of_twenty(variant: Variant) -> TcpConfig {
    TcpConfig {
        initial_window: WindowSize::Segments(20),
        initial_ssthresh: Some(WindowSize::Segments(20)),
        ..config(variant)
    }
}

/// Threshold after the loss of a segment in the fifth round trip.
fn ssthresh_after_a_loss(variant: Variant) -> f64 {
    let mut pair = Pair::sending(&window_of_twenty(variant), GREEDY, lose(&[original(90)]));
    pair.run_until(ms(690));
    assert_eq!(pair.timeouts(), 0, "{variant:?}");
    assert_eq!(pair.retransmissions().len(), 1, "{variant:?}");
    pair.server.ssthresh()
}

#[test]
fn loss_reduces_the_window_according_to_the_law() {
    // 24 segments are outstanding when the loss of segment 90 is detected: 20, and one more in each
    // of four round trips.
    let half = ssthresh_after_a_loss(Variant::NewReno);
    assert_eq!(half, 12.0);
    // RFC 9438 §4.6 reduces the window to 0.7 times its value. Before the first loss CUBIC's window
    // grew like Reno's (§4.3).
    assert!((ssthresh_after_a_loss(Variant::Cubic) - 0.7 * 24.0).abs() < 1e-9);
    // The pipe has no queue, so the bandwidth over the minimum round trip is the whole window.
    let westwood = ssthresh_after_a_loss(Variant::Westwood);
    assert!((19.0..=24.0).contains(&westwood), "{westwood}");
}

#[test]
fn all_laws_repair_losses() {
    let lost = [original(30), original(33), original(34), original(90), retransmission(90, 1)];
    for variant in [Variant::Westwood, Variant::Cubic] {
        let mut pair = Pair::sending(&window_of_twenty(variant), 200 * SEGMENT, lose(&lost));
        pair.run();
        assert_eq!(pair.delivered(End::Ue), 200 * SEGMENT, "{variant:?}");
    }
}

#[test]
fn cubic_returns_to_the_window_of_the_loss() {
    // One loss at 24 segments reduces the window to 17. With 100 ms and such a small window the
    // Reno-friendly growth of 9/17 segments per round trip is faster than the cubic (RFC 9438
    // §4.3), so it takes about (24 - 17) / (9/17) = 13 round trips.
    let mut pair = Pair::sending(&window_of_twenty(Variant::Cubic), GREEDY, lose(&[original(90)]));
    pair.run_until(ms(590));
    let cwnd_before_loss = pair.server.cwnd();
    pair.run_until(ms(700));
    assert!(pair.server.cwnd() < 0.8 * cwnd_before_loss);
    let mut round_trips = 0;
    while pair.server.cwnd() < cwnd_before_loss {
        round_trips += 1;
        pair.run_until(ms(700 + 100 * round_trips));
    }
    assert!((10..=20).contains(&round_trips), "{round_trips}");
}
