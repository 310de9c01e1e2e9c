//! Options that change when segments and ACKs are sent: Nagle's rule for small segments, the
//! restart of the window after a pause, byte counting (RFC 3465), and quick acknowledgments.

use super::pair::{Fate, MSS, Pair, config, ms, seq_of};
use crate::ids::End;
use crate::tcp::{Nagle, TcpConfig, Variant, WindowSize};

/// Payload of a full segment, in bytes.
const SEGMENT: u64 = MSS as u64;

/// The server's data segments: time in ms, and payload in bytes.
fn data_sent(pair: &Pair) -> Vec<(u64, u32)> {
    let sent = pair.sent(End::Server).into_iter().filter(|sent| sent.segment.payload > 0);
    sent.map(|sent| (sent.at_ms(), sent.segment.payload)).collect()
}

#[test]
fn small_segments_wait_for_acknowledgments() {
    let run = |nagle| {
        let mut pair = Pair::new(&TcpConfig {
            nagle,
            initial_window: WindowSize::Segments(10),
            ..config(Variant::NewReno)
        });
        pair.open(End::Server);
        pair.run_until(ms(200));
        pair.write(End::Server, 2 * SEGMENT + 300);
        pair.run_until(ms(220));
        pair.write(End::Server, 100);
        pair.run();
        data_sent(&pair)
    };
    assert_eq!(run(Nagle::Off), [(200, 1000), (200, 1000), (200, 300), (220, 100)]);
    assert_eq!(
        run(Nagle::On),
        [(200, 1000), (200, 1000), (300, 400)],
        "data that arrive in between join the segment"
    );
    assert_eq!(run(Nagle::Minshall), [(200, 1000), (200, 1000), (200, 300), (300, 100)]);
}

#[test]
fn last_segment_before_a_close_does_not_wait() {
    let config =
        TcpConfig { nagle: Nagle::On, initial_window: WindowSize::Segments(10), ..config(Variant::NewReno) };
    let mut pair = Pair::sending(&config, SEGMENT + 300, |_| Fate::Deliver);
    pair.close(End::Server);
    pair.run_until(ms(150));
    assert_eq!(data_sent(&pair), [(100, 1000), (100, 300)]);
}

#[test]
fn pause_longer_than_the_rto_restores_the_initial_window() {
    let run = |slow_start_restart| {
        let config = TcpConfig { slow_start_restart, ..config(Variant::NewReno) };
        let mut pair = Pair::sending(&config, 30 * SEGMENT, |_| Fate::Deliver);
        pair.run_until(ms(900));
        pair.write(End::Server, 30 * SEGMENT);
        pair.run_until(ms(5000));
        let after_short_pause = pair.new_segments_at(900);
        pair.write(End::Server, 30 * SEGMENT);
        let after_long_pause = pair.new_segments_at(5000);
        (after_short_pause, after_long_pause)
    };
    // 30 segments are sent until 500 ms. The first pause, until 900 ms, is shorter than the RTO of
    // 1 s and has no effect. The second one restores the initial window of two segments.
    let restarts = true;
    let (short, long) = run(!restarts);
    assert!(short > 20 && long > 20, "{short} and {long}");
    assert_eq!(run(restarts), (short, 2));
}

#[test]
fn byte_counting_compensates_delayed_acks() {
    // New segments in each of the first three round trips.
    let rounds = |abc| {
        let config = TcpConfig {
            abc,
            delayed_ack: true,
            initial_window: WindowSize::Segments(4),
            ..config(Variant::NewReno)
        };
        let mut pair = Pair::sending(&config, u64::MAX, |_| Fate::Deliver);
        pair.run_until(ms(450));
        pair.new_segments_per_round_trip(3)
    };
    // With an ACK for every two segments, counting ACKs multiplies the window by 1.5 per round
    // trip, counting bytes by 2.
    let byte_counting = true;
    assert_eq!(rounds(!byte_counting), [4, 6, 9]);
    assert_eq!(rounds(byte_counting), [4, 8, 16]);
    // In congestion avoidance byte counting adds one segment for each acknowledged window.
    let config = TcpConfig {
        abc: true,
        initial_window: WindowSize::Segments(4),
        initial_ssthresh: Some(WindowSize::Segments(4)),
        ..config(Variant::NewReno)
    };
    let mut pair = Pair::sending(&config, u64::MAX, |_| Fate::Deliver);
    pair.run_until(ms(550));
    assert_eq!(pair.new_segments_per_round_trip(4), [4, 5, 6, 7]);
}

#[test]
fn quick_acks_acknowledge_the_first_segments_at_once() {
    let acks = |quick_acks| {
        let config = TcpConfig {
            quick_acks,
            delayed_ack: true,
            initial_window: WindowSize::Segments(4),
            ..config(Variant::NewReno)
        };
        let mut pair = Pair::sending(&config, 4 * SEGMENT, |_| Fate::Deliver);
        pair.run_until(ms(160));
        let sent = pair.sent(End::Ue).into_iter().filter(|sent| !sent.segment.flags.syn);
        sent.map(|sent| sent.segment.ack).collect::<Vec<_>>()
    };
    assert_eq!(acks(0), [seq_of(2), seq_of(4)]);
    assert_eq!(acks(2), [seq_of(1), seq_of(2), seq_of(4)]);
}
