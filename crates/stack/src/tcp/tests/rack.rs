//! RACK and tail loss probes (RFC 8985) between two ends, and the cases in which they are inactive.
//!
//! In all tests the server sends its SYN at 0 ms and data from 100 ms on, in segments that are
//! numbered from 0. A round trip takes 100 ms ([`pair`](super::pair)).

use umts_units::Duration;

use super::pair::{Fate, MSS, Pair, config, lose, ms, original};
use crate::ids::{End, FlowId, UeId};
use crate::tcp::{Connection, SlowStart, TcpConfig, TcpConnection, Variant, WindowSize};
use crate::trace::SendCause::{DupAck, TailLoss};
use crate::trace::TraceEvent;

/// Payload of a full segment, in bytes.
const SEGMENT: u64 = MSS as u64;

/// Ten segments are sent at 100 ms, and their ACKs arrive at 200 ms.
fn window_of_ten(variant: Variant) -> TcpConfig {
    TcpConfig {
        initial_window: WindowSize::Segments(10),
        sack: true,
        rack: true,
        tail_loss_probes: true,
        prr: true,
        ..config(variant)
    }
}

/// Counts of tail loss probes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Probes {
    /// Probes that repeat a segment.
    retransmissions: usize,
    /// Probes with new data.
    new_data: usize,
    /// Losses that a probe is known to have repaired.
    repairs: usize,
}

fn probes(pair: &Pair) -> Probes {
    let count = |expected| {
        pair.count(|event| matches!(event, TraceEvent::TailLossProbe { repeats, .. } if *repeats == expected))
    };
    Probes {
        retransmissions: count(true),
        new_data: count(false),
        repairs: pair.count(|event| matches!(event, TraceEvent::TailLossRepaired { .. })),
    }
}

#[test]
fn lost_tail_is_repaired_without_a_timeout_by_all_laws() {
    for variant in [Variant::Sack, Variant::Cubic, Variant::Westwood, Variant::Bbr] {
        for lost in 1..10 {
            let tail: Vec<_> = (10 - lost..10).map(original).collect();
            let mut pair = Pair::sending(&window_of_ten(variant), 10 * SEGMENT, lose(&tail));
            pair.run();
            assert_eq!(pair.timeouts(), 0, "{variant:?} {lost}");
            assert_eq!(pair.delivered(End::Ue), 10 * SEGMENT, "{variant:?} {lost}");
            // A repair by the probe would be detected only if more data followed.
            let one_retransmission = Probes { retransmissions: 1, ..Probes::default() };
            assert_eq!(probes(&pair), one_retransmission, "{variant:?} {lost}");
            let cause = pair.retransmissions()[0].cause;
            assert_eq!(cause, TailLoss, "{variant:?} {lost}");
        }
    }
}

#[test]
fn probe_waits_for_a_delayed_acknowledgment() {
    let delayed = TcpConfig { delayed_ack: true, ..window_of_ten(Variant::Sack) };
    let mut pair = Pair::sending(&delayed, 100, |_| Fate::Deliver);
    pair.run();
    assert_eq!(pair.retransmissions(), []);
    assert_eq!(probes(&pair), Probes::default());
}

#[test]
fn rack_losses_are_recorded_and_retransmitted_once() {
    let lost = [original(0), original(2), original(4)];
    let mut pair = Pair::sending(&window_of_ten(Variant::Sack), 30 * SEGMENT, lose(&lost));
    pair.run();
    let marked = pair.trace.iter().map(|(_, event)| match event {
        TraceEvent::RackLoss { segments, .. } => *segments,
        _ => 0,
    });
    assert_eq!(marked.sum::<u32>(), 3);
    assert_eq!(pair.timeouts(), 0);
    let retransmissions = pair.retransmissions();
    assert!(retransmissions.iter().all(|repeat| repeat.cause == DupAck), "{retransmissions:?}");
    assert_eq!(pair.retransmissions().len(), 3);
}

#[test]
fn rack_and_probes_need_sack_at_the_other_end() {
    let mut pair = Pair::with_script(&window_of_ten(Variant::Sack), lose(&[original(9)]));
    let plain = TcpConfig { sack: false, ..window_of_ten(Variant::NewReno) };
    pair.ue = Connection::new(pair.ue.id(), FlowId(0), UeId(0), End::Ue, plain);
    pair.open(End::Server);
    pair.write(End::Server, 10 * SEGMENT);
    pair.run();
    assert_eq!(pair.timeouts(), 1);
    assert_eq!(probes(&pair), Probes::default());
}

#[test]
fn rack_is_inactive_for_one_way_and_fack() {
    for config in [
        TcpConfig { connection: TcpConnection::OneWay, ..window_of_ten(Variant::Sack) },
        window_of_ten(Variant::Fack),
    ] {
        let mut pair = Pair::sending(&config, 10 * SEGMENT, lose(&[original(9)]));
        pair.run();
        assert_eq!(pair.timeouts(), 1);
        assert_eq!(probes(&pair), Probes::default());
    }
}

#[test]
fn delay_based_exit_keeps_the_window_small() {
    // The link transmits a segment in 10 ms, so a round trip of 100 ms holds ten segments. Further
    // segments queue.
    let final_window = |slow_start| {
        let config = TcpConfig { slow_start, timestamps: true, ..window_of_ten(Variant::Cubic) };
        let link = |segment: &crate::packet::Segment| {
            if segment.payload > 0 { Fate::Link(Duration::from_millis(10)) } else { Fate::Deliver }
        };
        let mut pair = Pair::sending(&config, u64::MAX, link);
        pair.run_until(ms(1500));
        pair.server.cwnd()
    };
    let [standard, hystart, plus_plus] =
        [SlowStart::Standard, SlowStart::Hystart, SlowStart::HystartPlusPlus].map(final_window);
    assert!(standard > 1.5 * hystart && standard > 1.5 * plus_plus, "{standard} {hystart} {plus_plus}");
}
