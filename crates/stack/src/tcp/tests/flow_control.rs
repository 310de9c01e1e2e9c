//! Flow control and failure: closed windows, slow readers, RST, limits of retransmissions. Also the
//! simultaneous open.

use umts_units::{BitRate, Time};

use super::pair::{Fate, MSS, Pair, Transmission, config, lose, lose_from, ms};
use crate::ids::{ConnectionId, End};
use crate::packet::{Flags, Segment};
use crate::tcp::{Failure, State, TcpConfig, TcpEvent, Variant, WindowSize};
use crate::trace::{SendCause, TraceEvent};

/// Payload of a full segment, in bytes.
const SEGMENT: u64 = MSS as u64;

/// A receiver with a buffer of eight segments, from which the application reads 10 segments/s. With
/// an application that reads at once, the connection would carry 80 segments/s: eight segments per
/// round trip of 100 ms.
fn slow_reader() -> TcpConfig {
    let read_rate = BitRate::from_bps(80_000);
    TcpConfig {
        read_rate,
        advertised_window: WindowSize::Segments(8),
        initial_window: WindowSize::Segments(10),
        ..config(Variant::NewReno)
    }
}

/// The windows that the UE advertised.
fn windows(pair: &Pair) -> Vec<u32> {
    pair.sent(End::Ue).into_iter().map(|sent| sent.segment.window).collect()
}

/// The failure of a connection, recorded by one end.
#[derive(Debug, PartialEq, Eq)]
struct RecordedFailure {
    at_ms: u64,
    end: End,
    cause: Failure,
}

fn failures(pair: &Pair) -> Vec<RecordedFailure> {
    let failed = pair.trace.iter().filter_map(|(at, event)| match event {
        TraceEvent::ConnectionFailed { end, failure, .. } => {
            Some(RecordedFailure { at_ms: at.as_nanos() / 1_000_000, end: *end, cause: *failure })
        }
        _ => None,
    });
    failed.collect()
}

#[test]
fn slow_reader_limits_the_sender() {
    let mut pair = Pair::sending(&slow_reader(), 100 * SEGMENT, |_| Fate::Deliver);
    pair.run_until(ms(5150));
    // Eight segments fill the buffer, and 50 are read in the 5 s since the first arrived.
    let delivered = pair.delivered(End::Ue) / SEGMENT;
    assert!((55..=60).contains(&delivered), "{delivered}");
    pair.run();
    assert_eq!(pair.delivered(End::Ue), 100 * SEGMENT);
    assert_eq!(pair.timeouts(), 0);
    assert_eq!(pair.retransmissions(), []);
}

#[test]
fn window_moves_by_whole_segments() {
    let mut pair = Pair::sending(&slow_reader(), 20 * SEGMENT, |_| Fate::Deliver);
    pair.run();
    let windows = windows(&pair);
    assert!(windows.contains(&0), "the buffer was full: {windows:?}");
    // Silly window avoidance: the window moves by at least a segment, so no segment is small.
    let payloads = pair.sent(End::Server).into_iter().map(|sent| sent.segment.payload);
    assert!(payloads.filter(|&payload| payload > 0).all(|payload| payload == MSS));
}

#[test]
fn lost_window_update_is_probed_for() {
    // From 180 ms to 2 s all segments of the UE are lost, including window updates.
    let script = |segment: &Segment| {
        let is_lost =
            segment.direction == End::Ue.sends() && (ms(180)..ms(2000)).contains(&segment.timestamp);
        if is_lost { Fate::Drop } else { Fate::Deliver }
    };
    let mut pair = Pair::sending(&slow_reader(), 20 * SEGMENT, script);
    pair.run();
    let probes = pair.sent_because(End::Server, SendCause::WindowProbe);
    // The window closes at 200 ms. The answer to the probe at 1.2 s is lost. The probe 2 s later is
    // answered.
    let tenths_of_seconds: Vec<_> = probes.iter().map(|probe| probe.at_ms() / 100).collect();
    assert_eq!(tenths_of_seconds, [12, 32]);
    assert!(probes.iter().all(|probe| probe.segment.payload == 0));
    assert_eq!(pair.delivered(End::Ue), 20 * SEGMENT);
    assert_eq!(pair.timeouts(), 0);
}

#[test]
fn window_probes_back_off_without_end() {
    // The application reads 1 bit/s, so the window stays closed.
    let config = TcpConfig { read_rate: BitRate::from_bps(1), ..slow_reader() };
    let mut pair = Pair::sending(&config, 20 * SEGMENT, |_| Fate::Deliver);
    pair.run_until(ms(600_000));
    let probes = pair.sent_because(End::Server, SendCause::WindowProbe);
    let intervals_s: Vec<_> = probes
        .windows(2)
        .map(|successive| (successive[1].at - successive[0].at).as_nanos() / 1_000_000_000)
        .collect();
    assert_eq!(intervals_s[..7], [2, 4, 8, 16, 32, 60, 60]);
    assert_eq!(pair.timeouts(), 0);
    assert_eq!(failures(&pair), []);
}

#[test]
fn refused_connection_is_reported() {
    let mut pair = Pair::new(&TcpConfig { listens: false, ..config(Variant::NewReno) });
    pair.open(End::Server);
    pair.write(End::Server, 1000);
    pair.run();
    assert_eq!(failures(&pair), [RecordedFailure { at_ms: 100, end: End::Server, cause: Failure::Refused }]);
    assert_eq!(pair.event_count(End::Server, TcpEvent::Failed(Failure::Refused)), 1);
    assert_eq!(pair.event_count(End::Server, TcpEvent::Closed), 1);
    assert_eq!(pair.server.state(), State::Closed);
    let rst = pair.sent(End::Ue)[0].segment;
    assert!(rst.flags.rst && rst.flags.ack && rst.ack == 1);
}

#[test]
fn unanswered_syn_is_given_up() {
    // All transmissions of the segment with number 0, the SYN.
    let all_syns: Vec<_> = (0..20).map(|number| Transmission { seq: 0, number }).collect();
    let config = TcpConfig { syn_retries: Some(3), ..config(Variant::NewReno) };
    let mut pair = Pair::with_script(&config, lose(&all_syns));
    pair.open(End::Server);
    pair.run();
    // The SYN is sent at 0, 1, 3 and 7 s. The server gives up 8 s after the fourth transmission.
    assert_eq!(
        failures(&pair),
        [RecordedFailure { at_ms: 15_000, end: End::Server, cause: Failure::TimedOut }]
    );
    assert_eq!(pair.sent(End::Server).len(), 4);
    // The SYN+ACK is sent at 50 and 1050 ms. The UE gives up 2 s after the second transmission.
    let mut pair =
        Pair::with_script(&TcpConfig { syn_ack_retries: Some(1), ..config }, lose_from(End::Ue, &all_syns));
    pair.open(End::Server);
    pair.run();
    assert_eq!(failures(&pair)[0], RecordedFailure { at_ms: 3050, end: End::Ue, cause: Failure::TimedOut });
}

#[test]
fn undeliverable_data_resets_the_connection() {
    // All data segments from the server are lost.
    let config = TcpConfig { data_retries: Some(2), ..config(Variant::NewReno) };
    let mut pair =
        Pair::with_script(&config, |segment| if segment.payload > 0 { Fate::Drop } else { Fate::Deliver });
    pair.open(End::Server);
    pair.run();
    pair.write(End::Server, 1000);
    pair.run();
    let failures: Vec<_> = failures(&pair).iter().map(|failure| (failure.end, failure.cause)).collect();
    assert_eq!(failures, [(End::Server, Failure::TimedOut), (End::Ue, Failure::Reset)]);
    assert_eq!(pair.states(), (State::Closed, State::Closed));
    assert_eq!(pair.server.poll_timeout(), None);
    assert_eq!(pair.ue.poll_timeout(), None);
    // A late segment is answered with a RST.
    let sent_before = pair.sent(End::Server).len();
    let late = Segment {
        flags: Flags { ack: true, ..Flags::default() },
        seq: 1,
        ack: 1,
        ..Segment::new(ConnectionId(0), End::Ue.sends())
    };
    pair.arrive(End::Server, late);
    let answer = pair.sent(End::Server)[sent_before].segment;
    assert!(answer.flags.rst && answer.seq == 1);
}

#[test]
fn simultaneous_open_establishes_the_connection() {
    let config = TcpConfig { sack: true, timestamps: true, ..config(Variant::Sack) };
    let mut pair = Pair::new(&config);
    pair.open(End::Server);
    pair.open(End::Ue);
    pair.run_until(ms(50));
    assert_eq!(pair.states(), (State::SynReceived, State::SynReceived));
    pair.write(End::Server, 3000);
    pair.write(End::Ue, 2000);
    pair.run();
    assert_eq!(pair.delivered(End::Ue), 3000);
    assert_eq!(pair.delivered(End::Server), 2000);
    assert_eq!(pair.states(), (State::Established, State::Established));
    assert_eq!(pair.timeouts(), 0);
    // Both send SYN, then SYN+ACK. No timer expires.
    for end in [End::Server, End::Ue] {
        let flags: Vec<_> = pair
            .sent(end)
            .iter()
            .take(2)
            .map(|sent| (sent.at, sent.segment.flags.syn, sent.segment.flags.ack))
            .collect();
        assert_eq!(flags, [(Time::ZERO, true, false), (ms(50), true, true)]);
        assert_eq!(pair.event_count(end, TcpEvent::Established), 1);
    }
}
