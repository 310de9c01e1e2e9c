//! Limits on the data in flight, and the schedule of acknowledgments (RFC 5681 §3.1 and §4.2).
//!
//! In all tests the server sends its SYN at 0 ms and data from 100 ms on, in segments that are
//! numbered from 0. A round trip takes 100 ms ([`pair`](super::pair)).

use umts_units::Bytes;

use super::pair::{Fate, MSS, Pair, config, lose, ms, original, seq_of};
use crate::ids::End;
use crate::packet::Segment;
use crate::tcp::{TcpConfig, TcpConnection, TcpEvent, Variant, WindowSize};
use crate::trace::{SendCause, TraceEvent};

/// Unlimited data.
const GREEDY: u64 = u64::MAX;

/// The ACKs that the UE sent: time in ms and acknowledgment number.
fn acks(pair: &Pair) -> Vec<(u64, u64)> {
    let sent = pair.sent(End::Ue).into_iter().filter(|sent| !sent.segment.flags.syn);
    sent.map(|sent| (sent.at_ms(), sent.segment.ack)).collect()
}

fn delayed() -> TcpConfig {
    TcpConfig { delayed_ack: true, ..config(Variant::Reno) }
}

#[test]
fn slow_start_doubles_per_round_trip() {
    let mut pair = Pair::sending(&config(Variant::Reno), GREEDY, |_| Fate::Deliver);
    pair.run_until(ms(550));
    assert_eq!(pair.new_segments_per_round_trip(5), [2, 4, 8, 16, 32]);
}

#[test]
fn congestion_avoidance_adds_a_segment_per_round_trip() {
    let config = TcpConfig { initial_ssthresh: Some(WindowSize::Segments(4)), ..config(Variant::Reno) };
    let mut pair = Pair::sending(&config, GREEDY, |_| Fate::Deliver);
    pair.run_until(ms(1050));
    // 1/cwnd per ACK adds slightly less than a segment per round, so two rounds can be equal.
    assert_eq!(pair.new_segments_per_round_trip(9), [2, 4, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn receiver_window_is_never_exceeded() {
    for connection in [TcpConnection::FullDuplex, TcpConnection::OneWay] {
        let config =
            TcpConfig { advertised_window: WindowSize::Segments(5), connection, ..config(Variant::NewReno) };
        let mut pair = Pair::sending(&config, GREEDY, |_| Fate::Deliver);
        pair.run_until(ms(1000));
        assert_eq!(pair.server.outstanding_bytes(), u64::from(5 * MSS));
        assert_eq!(pair.new_segments_between(900, 1000), 5);
        assert!(pair.server.cwnd() > 5.0);
    }
}

#[test]
fn window_below_a_segment_still_moves_data() {
    let config = TcpConfig { advertised_window: WindowSize::Bytes(Bytes(700)), ..config(Variant::Reno) };
    let mut pair = Pair::sending(&config, 2000, |_| Fate::Deliver);
    pair.run();
    let payloads: Vec<_> = pair.sent(End::Server).iter().map(|sent| sent.segment.payload).collect();
    assert_eq!(payloads, [0, 700, 700, 600]);
    assert_eq!(pair.delivered(End::Ue), 2000);
}

#[test]
fn every_segment_is_acknowledged_without_delay() {
    let mut pair = Pair::sending(&config(Variant::Reno), 2 * u64::from(MSS), |_| Fate::Deliver);
    pair.run();
    assert_eq!(acks(&pair), [(150, seq_of(1)), (150, seq_of(2))]);
}

#[test]
fn delayed_acks_cover_two_segments_or_wait_for_the_timer() {
    let mut pair = Pair::sending(&delayed(), 3 * u64::from(MSS), |_| Fate::Deliver);
    pair.run();
    // Segments 0 and 1 arrive at 150 ms. Segment 2 arrives at 250 ms and waits for 200 ms.
    assert_eq!(acks(&pair), [(150, seq_of(2)), (250 + 200, seq_of(3))]);
}

#[test]
fn gap_and_its_end_are_reported_at_once() {
    let config = TcpConfig { initial_window: WindowSize::Segments(4), ..delayed() };
    let mut pair = Pair::sending(&config, 4 * u64::from(MSS), lose(&[original(0)]));
    pair.run();
    // Three segments arrive out of order at 150 ms. The third duplicate triggers the
    // retransmission, which fills the hole at 250 ms.
    assert_eq!(acks(&pair), [(150, seq_of(0)), (150, seq_of(0)), (150, seq_of(0)), (250, seq_of(4))]);
}

#[test]
fn duplicate_is_acknowledged_at_once() {
    let mut pair = Pair::sending(&delayed(), u64::from(MSS), |segment: &Segment| {
        if segment.payload > 0 { Fate::Duplicate } else { Fate::Deliver }
    });
    pair.run();
    assert_eq!(acks(&pair), [(150, seq_of(1))]);
    let is_duplicate =
        |event: &TraceEvent| matches!(event, TraceEvent::SegmentReceived { duplicate: true, .. });
    assert_eq!(pair.count(is_duplicate), 1);
    assert_eq!(pair.delivered(End::Ue), u64::from(MSS));
}

#[test]
fn data_in_both_directions_carries_acks() {
    let mut pair = Pair::new(&delayed());
    pair.open(End::Ue);
    pair.write(End::Ue, 4000);
    pair.write(End::Server, 6000);
    pair.run();
    assert_eq!(pair.delivered(End::Server), 4000);
    assert_eq!(pair.delivered(End::Ue), 6000);
    for end in [End::Server, End::Ue] {
        assert_eq!(pair.event_count(end, TcpEvent::AllAcked), 1);
    }
    let acks_with_data =
        pair.sent(End::Ue).iter().filter(|sent| sent.segment.payload > 0 && sent.segment.ack > 1).count();
    assert!(acks_with_data > 0, "data of the UE acknowledges data of the server");
    let duplicates = pair.count(|event| matches!(event, TraceEvent::DupAck { .. }));
    assert_eq!(duplicates, 0, "an ACK with data is no duplicate");
    assert_eq!(pair.retransmissions(), [], "an ACK with data is no duplicate");
}

#[test]
fn later_write_is_sent_without_a_timeout() {
    let mut pair = Pair::sending(&config(Variant::Reno), 1500, |_| Fate::Deliver);
    pair.run();
    pair.write(End::Server, 500);
    pair.run();
    assert_eq!(pair.delivered(End::Ue), 2000);
    assert_eq!(pair.event_count(End::Server, TcpEvent::AllAcked), 2);
    assert!(pair.sent(End::Server).iter().all(|sent| matches!(sent.cause, SendCause::New | SendCause::Ack)));
}

#[test]
fn windows_are_recorded_only_when_they_change() {
    let config = TcpConfig { advertised_window: WindowSize::Segments(4), ..config(Variant::Reno) };
    let mut pair = Pair::sending(&config, GREEDY, |_| Fate::Deliver);
    pair.run_until(ms(2000));
    let recorded_windows: Vec<_> = pair
        .trace
        .iter()
        .filter_map(|(_, event)| match event {
            TraceEvent::Window { end: End::Server, cwnd, ssthresh, .. } => Some((*cwnd, *ssthresh)),
            _ => None,
        })
        .collect();
    assert!(recorded_windows.windows(2).all(|successive| successive[0] != successive[1]));
    let is_rto_update = |event: &TraceEvent| matches!(event, TraceEvent::RtoUpdated { end: End::Server, .. });
    // The first sample sets SRTT. Equal samples lower the deviation, but the RTO stays at the
    // minimum of 1 s.
    assert_eq!(pair.count(is_rto_update), 1);
}
