//! RACK and tail loss probes (RFC 8985) between two ends, and the cases in which they are inactive.

use umts_units::Duration;

use super::pair::{Fate, MSS, Pair, config, lose, ms, nth};
use crate::ids::{End, FlowId, UeId};
use crate::tcp::{Connection, SlowStart, TcpConfig, TcpConnection, Variant, WindowSize};
use crate::trace::SendCause::{DupAck, TailLoss};
use crate::trace::TraceEvent;

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
            let tail: Vec<_> = (10 - lost..10).map(|n| (nth(n), 0)).collect();
            let mut pair = Pair::sending(&window_of_ten(variant), 10 * SEGMENT, lose(&tail));
            pair.run();
            assert_eq!((pair.timeouts(), pair.delivered(End::Ue)), (0, 10 * SEGMENT), "{variant:?} {lost}");
            // A repair by the probe would be detected only if more data followed.
            let one_retransmission = Probes { retransmissions: 1, ..Probes::default() };
            assert_eq!(probes(&pair), one_retransmission, "{variant:?} {lost}");
            let (_, _, cause) = pair.retransmissions()[0];
            assert_eq!(cause, TailLoss, "{variant:?} {lost}");
        }
    }
}

#[test]
fn probe_waits_for_a_delayed_acknowledgment() {
    let delayed = TcpConfig { delayed_ack: true, ..window_of_ten(Variant::Sack) };
    let mut pair = Pair::sending(&delayed, 100, |_| Fate::Deliver);
    pair.run();
    assert_eq!((pair.retransmissions(), probes(&pair)), (vec![], Probes::default()));
}

#[test]
fn rack_losses_are_recorded_and_retransmitted_once() {
    let lost = [(nth(0), 0), (nth(2), 0), (nth(4), 0)];
    let mut pair = Pair::sending(&window_of_ten(Variant::Sack), 30 * SEGMENT, lose(&lost));
    pair.run();
    let marked = pair.trace.iter().map(|(_, event)| match event {
        TraceEvent::RackLoss { segments, .. } => *segments,
        _ => 0,
    });
    assert_eq!((marked.sum::<u32>(), pair.timeouts()), (3, 0));
    let retransmissions = pair.retransmissions();
    assert!(retransmissions.iter().all(|(_, _, cause)| *cause == DupAck), "{retransmissions:?}");
    assert_eq!(pair.retransmissions().len(), 3);
}

#[test]
fn rack_and_probes_need_sack_at_the_other_end() {
    let mut pair = Pair::with_script(&window_of_ten(Variant::Sack), lose(&[(nth(9), 0)]));
    let plain = TcpConfig { sack: false, ..window_of_ten(Variant::NewReno) };
    pair.ue = Connection::new(pair.ue.id(), FlowId(0), UeId(0), End::Ue, plain);
    pair.open(End::Server);
    pair.write(End::Server, 10 * SEGMENT);
    pair.run();
    assert_eq!((pair.timeouts(), probes(&pair)), (1, Probes::default()));
}

#[test]
fn rack_is_inactive_for_one_way_and_fack() {
    for config in [
        TcpConfig { connection: TcpConnection::OneWay, ..window_of_ten(Variant::Sack) },
        window_of_ten(Variant::Fack),
    ] {
        let mut pair = Pair::sending(&config, 10 * SEGMENT, lose(&[(nth(9), 0)]));
        pair.run();
        assert_eq!((pair.timeouts(), probes(&pair)), (1, Probes::default()));
    }
}

#[test]
fn delay_based_exit_keeps_the_window_small() {
    // The link transmits a segment in 10 ms, so a round trip of 100 ms holds ten segments. Further
    // segments queue.
    let window = |slow_start| {
        let config = TcpConfig { slow_start, timestamps: true, ..window_of_ten(Variant::Cubic) };
        let link = |segment: &crate::packet::Segment| {
            if segment.payload > 0 { Fate::Link(Duration::from_millis(10)) } else { Fate::Deliver }
        };
        let mut pair = Pair::sending(&config, u64::MAX, link);
        pair.run_until(ms(1500));
        pair.server.cwnd()
    };
    let [standard, hystart, plus_plus] =
        [SlowStart::Standard, SlowStart::Hystart, SlowStart::HystartPlusPlus].map(window);
    assert!(standard > 1.5 * hystart && standard > 1.5 * plus_plus, "{standard} {hystart} {plus_plus}");
}
