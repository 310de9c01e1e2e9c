//! BBR over a link that carries a segment of 1000 bytes every 10 ms (100,000 bytes/s) and has an
//! unlimited queue, and over a policer, which drops segments above a rate and queues none.

use std::cell::Cell;
use std::rc::Rc;

use umts_units::{Duration, Time};

use super::pair::{Fate, Pair, config, ms};
use crate::ids::End;
use crate::packet::Segment;
use crate::tcp::congestion::{Bbr, Law, Mode};
use crate::tcp::{TcpConfig, Variant, WindowSize};
use crate::trace::TraceEvent;

/// Unlimited data.
const GREEDY: u64 = u64::MAX;
/// Transmission time of a full segment on the link: 100 kB/s.
const SLOT: Duration = Duration::from_millis(10);

/// Which data segments are dropped before the link.
const NO_LOSS: Option<u64> = None;
const EVERY_20TH: Option<u64> = Some(20);
const EVERY_50TH: Option<u64> = Some(50);
const EVERY_70TH: Option<u64> = Some(70);

/// The server's data passes the link one segment after another. If `drop_every` is N, every N-th
/// data segment is dropped before the link.
fn link(drop_every: Option<u64>) -> impl FnMut(&Segment) -> Fate {
    let mut count = 0;
    move |segment| {
        if segment.direction != End::Server.sends() || segment.payload == 0 {
            return Fate::Deliver;
        }
        count += 1;
        if drop_every.is_some_and(|every| count % every == 0) { Fate::Drop } else { Fate::Link(SLOT) }
    }
}

fn bbr(pair: &Pair) -> &Bbr {
    match &pair.server.sender.window.law {
        Law::Bbr(bbr) => bbr,
        other => panic!("{other:?}"),
    }
}

/// A server with unlimited data behind the link. The window of 200 segments does not limit BBR.
fn pair(variant: Variant, drop_every: Option<u64>) -> Pair {
    let config = TcpConfig {
        advertised_window: WindowSize::Segments(200),
        initial_window: WindowSize::Segments(10),
        ..config(variant)
    };
    Pair::sending(&config, GREEDY, link(drop_every))
}

/// Bytes that arrived in the ten seconds from `from_s` on.
fn bytes_in_ten_seconds_from(pair: &mut Pair, from_s: u64) -> u64 {
    pair.run_until(ms(1000 * from_s));
    let delivered_before = pair.delivered(End::Ue);
    pair.run_until(ms(1000 * from_s + 10_000));
    pair.delivered(End::Ue) - delivered_before
}

/// The server's RTT samples from `from_s` on.
fn round_trips_ms_from(pair: &Pair, from_s: u64) -> Vec<u64> {
    let samples = pair.trace.iter().filter(|(at, _)| *at >= ms(1000 * from_s));
    samples
        .filter_map(|(_, event)| match event {
            TraceEvent::RttSample { rtt, end: End::Server, .. } => Some(rtt.as_nanos() / 1_000_000),
            _ => None,
        })
        .collect()
}

#[test]
fn startup_fills_the_pipe_and_drain_follows() {
    let mut pair = pair(Variant::Bbr, NO_LOSS);
    pair.run_until(ms(150));
    assert_eq!(bbr(&pair).mode(), Mode::Startup);
    let mut modes = vec![Mode::Startup];
    for step in 15..300 {
        pair.run_until(ms(10 * step));
        if modes.last() != Some(&bbr(&pair).mode()) {
            modes.push(bbr(&pair).mode());
        }
    }
    assert_eq!(modes, [Mode::Startup, Mode::Drain, Mode::ProbeBw]);
    let bandwidth = bbr(&pair).bandwidth();
    assert!((95_000.0..=105_000.0).contains(&bandwidth), "{bandwidth}");
}

#[test]
fn bbr_keeps_the_link_full_and_the_queue_short() {
    let mut paced = pair(Variant::Bbr, NO_LOSS);
    let bytes = bytes_in_ten_seconds_from(&mut paced, 20);
    assert!(bytes >= 950_000, "{bytes} of 1,000,000");
    // Without a queue a round trip takes 110 ms: 100 ms of propagation and one slot of 10 ms. A
    // ProbeBW phase with a gain of 1.25 adds a quarter of it, 28 ms.
    let mut round_trips = round_trips_ms_from(&paced, 20);
    round_trips.sort_unstable();
    let median = round_trips[round_trips.len() / 2];
    assert!(median <= 150, "{median} ms");
    // NewReno fills the queue until the advertised window of 200 segments is outstanding, which is
    // 200 · 10 ms = 2 s of transmission.
    let mut newreno = pair(Variant::NewReno, NO_LOSS);
    bytes_in_ten_seconds_from(&mut newreno, 20);
    assert!(round_trips_ms_from(&newreno, 20).iter().all(|&rtt| rtt > 1000));
}

#[test]
fn probe_rtt_reduces_the_window_to_four_segments_after_ten_seconds() {
    let mut pair = pair(Variant::Bbr, NO_LOSS);
    pair.run_until(ms(25_000));
    let seconds_at_four: Vec<u64> = pair
        .trace
        .iter()
        .filter_map(|(at, event)| match event {
            TraceEvent::Window { end: End::Server, cwnd, .. } if cwnd.0 == 4.0 => {
                Some(at.as_nanos() / 1_000_000_000)
            }
            _ => None,
        })
        .collect();
    assert!(!seconds_at_four.is_empty(), "the window was never four segments");
    assert!(seconds_at_four.iter().all(|&second| second >= 10), "{seconds_at_four:?}");
}

#[test]
fn random_losses_cost_bbr_little() {
    // With a loss ratio p of 2 %, NewReno's mean window is about 1.2 / sqrt(p) = 8.6 segments. The
    // pipe holds ten.
    let mut paced = pair(Variant::Bbr, EVERY_50TH);
    let bytes = bytes_in_ten_seconds_from(&mut paced, 10);
    let mut newreno = pair(Variant::NewReno, EVERY_50TH);
    let newreno_bytes = bytes_in_ten_seconds_from(&mut newreno, 10);
    assert!(bytes > 900_000 && newreno_bytes < 700_000, "{bytes} and {newreno_bytes} of 1,000,000");
}

/// A token bucket: packets that find too few tokens are dropped and counted, the others pass at
/// once. `rate` in bytes per second, `burst` in bytes.
fn policer(rate: f64, burst: f64, dropped: Rc<Cell<u64>>) -> impl FnMut(Time, &Segment) -> Fate {
    let (mut tokens, mut last) = (burst, Time::ZERO);
    move |now, segment| {
        if segment.direction != End::Server.sends() || segment.payload == 0 {
            return Fate::Deliver;
        }
        tokens = (tokens + rate * (now - last).as_secs()).min(burst);
        last = now;
        if tokens < f64::from(segment.payload) {
            dropped.set(dropped.get() + 1);
            return Fate::Drop;
        }
        tokens -= f64::from(segment.payload);
        Fate::Deliver
    }
}

#[test]
fn bbr_detects_a_policer_and_keeps_its_rate() {
    let rate = 100_000.0;
    let config = TcpConfig {
        advertised_window: WindowSize::Segments(200),
        initial_window: WindowSize::Segments(10),
        sack: true,
        ..config(Variant::Bbr)
    };
    let dropped = Rc::new(Cell::new(0));
    let mut pair = Pair::sending_timed(&config, GREEDY, policer(rate, 60_000.0, dropped.clone()));
    // The dropped packets in steps of 100 ms, by whether a policer is detected at the start of the
    // step.
    let (mut undetected, mut detected) = (Vec::new(), Vec::new());
    let mut estimates = Vec::new();
    for step in 1..600 {
        let policed_rate = bbr(&pair).policed_rate();
        estimates.extend(policed_rate);
        let dropped_before = dropped.get();
        pair.run_until(ms(100 * step));
        let drops = if policed_rate.is_some() { &mut detected } else { &mut undetected };
        drops.push(dropped.get() - dropped_before);
    }
    assert!(estimates.len() > 100, "detected in {} of 599 steps", estimates.len());
    assert!(estimates.iter().all(|estimate| (estimate / rate - 1.0).abs() < 0.15), "{estimates:?}");
    let drops_per_step = |drops: &[u64]| drops.iter().sum::<u64>() as f64 / drops.len() as f64;
    let (undetected, detected) = (drops_per_step(&undetected), drops_per_step(&detected));
    assert!(detected < undetected / 4.0, "{detected} and {undetected} per step, {estimates:?}");
}

#[test]
fn random_losses_indicate_no_policer() {
    let mut pair = pair(Variant::Bbr, EVERY_20TH);
    for step in 1..300 {
        pair.run_until(ms(100 * step));
        assert_eq!(bbr(&pair).policed_rate(), None);
    }
}

#[test]
fn probe_phases_are_reproducible() {
    let run = || {
        let mut pair = pair(Variant::Bbr, EVERY_70TH);
        pair.run_until(ms(30_000));
        pair.trace
    };
    assert_eq!(run(), run());
}
