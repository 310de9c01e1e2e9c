//! Tests of the arrivals and ends of calls, with the default mean length of 120 s.

use super::*;
use crate::environment::{Border, Environment, EnvironmentConfig, Layout, MobilityConfig, PropagationConfig};
use crate::ids::CellId;
use crate::radio::phy::ovsf::Code;

fn erlang(value: f64) -> Erlang {
    Erlang::new(value).expect("it is not negative")
}

/// Calls in all cells together.
fn network(offered: f64) -> CallsConfig {
    CallsConfig { offered: erlang(offered), per: Offered::Network, ..CallsConfig::default() }
}

fn torus() -> EnvironmentConfig {
    EnvironmentConfig {
        layout: Layout::lattice([3, 4], 500.0, Border::Torus, None),
        propagation: PropagationConfig::default(),
    }
}

/// Calls that are never blocked, in an environment.
struct Simulation {
    environment: Environment,
    calls: Calls,
}

impl Simulation {
    fn new(config: &CallsConfig, cells: usize) -> Self {
        let streams = Streams::new(1, 0);
        let environment = Environment::new(&torus(), &streams);
        Simulation { environment, calls: Calls::new(config, 0, cells, &streams) }
    }

    /// Ends and begins calls at `now`. Returns the calls in progress.
    fn advance(&mut self, now: Time) -> &[Call] {
        let Simulation { environment, calls } = self;
        calls.end_until(now, |_| {});
        calls.begin_until(now, |number| {
            let mobile = environment.appear(number, &MobilityConfig::Still, None, now);
            Some(CallLocation::new(mobile, RadioLink::new(CellId(0), Code::last(32))))
        });
        calls.under_way()
    }
}

/// The offered traffic of 10 Erl changes after one mean length of a call. From 20 mean lengths on, the
/// mean number of calls is the new offered traffic.
#[test]
fn changed_offered_traffic_is_reached_after_some_holding_times() {
    let config = network(10.0);
    let mean_length = config.holding.as_secs() as u64;
    for offered in [40.0, 0.0] {
        let mut simulation = Simulation::new(&config, 1);
        let (mut sum, mut samples) = (0, 0);
        for second in 0..100 * mean_length {
            let now = Time::ZERO + Duration::from_secs(second);
            if second == mean_length {
                simulation.calls.set_offered(now, erlang(offered));
            }
            let calls = simulation.advance(now).len();
            if second > 20 * mean_length {
                sum += calls;
                samples += 1;
            }
        }
        let mean = sum as f64 / f64::from(samples);
        // The number of calls is Poisson, so its variance is `offered`. The 80 mean lengths count
        // like 40 independent samples. The limit is four standard errors.
        let limit = 4.0 * (offered / 40.0_f64).sqrt();
        assert!((mean - offered).abs() <= limit, "{mean} instead of {offered}");
    }
}

#[test]
fn calls_arrive_again_after_a_time_without_offered_traffic() {
    let mut calls = Calls::new(&network(10.0), 0, 1, &Streams::new(1, 0));
    calls.set_offered(Time::ZERO + Duration::from_secs(100), erlang(0.0));
    assert_eq!(calls.next_arrival, None);
    calls.set_offered(Time::ZERO + Duration::from_secs(200), erlang(10.0));
    assert!(calls.next_arrival.is_some());
}

/// 36 cells with 24 Erl each for 2400 s, in ticks of 100 ms.
#[test]
fn offered_traffic_is_reached_from_the_start() {
    let mut simulation = Simulation::new(&CallsConfig::default(), 36);
    let mut sums_of_halves = [0.0; 2];
    for tick in 0..24_000 {
        let half = usize::from(tick >= 12_000);
        let calls = simulation.advance(Time::ZERO + Duration::from_millis(100 * tick));
        sums_of_halves[half] += calls.len() as f64;
    }
    // The number of calls is Poisson with mean 36 · 24 = 864. Its average over a half of ten mean
    // lengths has a standard deviation of sqrt(864 · 2 / 10) = 13.2. The limit is four of them.
    for sum in sums_of_halves {
        let mean = sum / 12_000.0;
        assert!((mean - 864.0).abs() < 4.0 * 13.2, "{mean}");
    }
    // 864 calls at the start, and 864 / 120 s = 7.2 arrivals per second. The number is Poisson, and the
    // limit is four standard deviations.
    let expected = 864.0 + 7.2 * 2_400.0;
    let number = simulation.calls.next_number as f64;
    assert!((number - expected).abs() < 4.0 * expected.sqrt(), "{number}");
}

#[test]
fn calls_keep_their_order_and_end_in_time() {
    let mut simulation = Simulation::new(&network(40.0), 36);
    for tick in 0..6_000 {
        let now = Time::ZERO + Duration::from_millis(100 * tick);
        let calls = simulation.advance(now);
        assert!(calls.is_sorted_by(|a, b| a.number < b.number));
        assert!(calls.iter().all(|call| call.ends > now));
    }
}

#[test]
fn no_traffic_means_no_calls() {
    let config = CallsConfig { offered: erlang(0.0), ..CallsConfig::default() };
    let mut simulation = Simulation::new(&config, 36);
    for tick in 0..600 {
        assert!(simulation.advance(Time::ZERO + Duration::from_millis(100 * tick)).is_empty());
    }
    assert_eq!(simulation.calls.next_number, 0);
}
