//! The time budget of transfers that a proxy splits: the parts add up, and the causes are right.

use proptest::prelude::*;
use umts_record::budget::{Budget, BudgetConfig, Cause, ConnectionOrigin, TransferBudget, TransferPart};
use umts_simulate::network_config;
use umts_stack::ids::ProxyLeg;
use umts_units::{Duration, Time};

use crate::common::{metrics, observed_run, scenario, value};

fn transfers(overrides: &[(&str, &str)], run: u64) -> Vec<TransferBudget> {
    let scenario = scenario("split-download", overrides);
    let end = Time::ZERO + scenario.duration;
    let config = BudgetConfig {
        from: Time::ZERO,
        to: end,
        keeps_intervals: false,
        waterfall: None,
        timeline: false,
        origin: ConnectionOrigin::Simulated,
    };
    let budget = Budget::new(config, &network_config(&scenario));
    observed_run(&scenario, scenario.seed, run, budget).into_transfers(end)
}

fn time(budget: &TransferBudget, matches: impl Fn(TransferPart) -> bool) -> Duration {
    let matching = budget.intervals.iter().filter(|interval| matches(interval.part));
    matching.fold(Duration::ZERO, |sum, interval| sum + (interval.end - interval.start))
}

fn check_sums(budget: &TransferBudget) {
    let mut at = budget.opened;
    for interval in &budget.intervals {
        assert!(interval.start == at && interval.end > at, "{interval:?} after {at:?}");
        at = interval.end;
    }
    assert_eq!(at, budget.until);
    let unexplained = time(budget, |part| matches!(part, TransferPart::Leg(_, Cause::Unexplained)));
    assert!(unexplained.as_secs() <= 0.01 * (budget.until - budget.opened).as_secs(), "{unexplained}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn parts_add_up_exactly(
        loss in 0.0..0.2_f64,
        bler in 0.0..0.4_f64,
        buffer in prop::sample::select(vec!["1460 B", "4 kB", "64 kB", "unlimited"]),
        setup in prop::sample::select(vec!["early", "accepted", "server_first"]),
        direction in prop::sample::select(vec!["downlink", "uplink"]),
        at in prop::sample::select(vec!["ggsn", "rnc"]),
        max_dat in prop::sample::select(vec!["2", "10"]),
        run in 0_u64..1000,
    ) {
        let (loss, bler) = (loss.to_string(), bler.to_string());
        let overrides = [
            ("link.0.loss", loss.as_str()), ("radio.bler", &bler), ("proxy.buffer", buffer), ("proxy.setup", setup),
            ("flow.0.direction", direction), ("proxy.at", at), ("rlc.max_dat", max_dat),
        ];
        let budgets = transfers(&overrides, run);
        prop_assert_eq!(budgets.len(), 1);
        budgets.iter().for_each(check_sums);
    }
}

const LOSSLESS: [(&str, &str); 3] = [("radio.bler", "0"), ("link.0.loss", "0"), ("flow.0.size", "200 kB")];

fn clean_transfer(more: &[(&str, &str)]) -> TransferBudget {
    let [budget] = transfers(&[&LOSSLESS[..], more].concat(), 0).try_into().expect("one transfer");
    budget
}

#[test]
fn time_in_a_full_proxy_buffer_is_queueing() {
    let small = clean_transfer(&[("proxy.buffer", "4 kB")]);
    let unlimited = clean_transfer(&[("proxy.buffer", "unlimited")]);
    assert!(time(&small, |part| part == TransferPart::Queue).as_secs() > 1.0);
    assert_eq!(time(&unlimited, |part| part == TransferPart::Queue), Duration::ZERO);
}

/// `early`: the first octet from the server waits for the radio's handshake, which takes longer.
/// `server_first`: the SYN on the radio also waits for the server's complete handshake.
#[test]
fn set_up_of_the_second_connection_has_its_cause() {
    let far = ("link.0.delay", "10 ms");
    let [early, server_first] = ["early", "server_first"].map(|setup| {
        time(&clean_transfer(&[("proxy.setup", setup), far]), |part| part == TransferPart::Setup)
    });
    assert!(early.as_secs() > 0.02 && server_first > early, "{early}, {server_first}");
}

/// With a fast server the radio leg has nearly all of the time, with a slow server the server leg
/// has most of it.
#[test]
fn the_slower_leg_has_the_time() {
    let time_on_leg = |budget: &TransferBudget, leg| {
        time(budget, |part| matches!(part, TransferPart::Leg(of, _) if of == leg))
    };
    let radio = clean_transfer(&[("ue.0.bearer", "ps-64")]);
    let whole = radio.until - radio.opened;
    assert!(time_on_leg(&radio, ProxyLeg::Radio).as_secs() > 0.95 * whole.as_secs());
    let server = clean_transfer(&[("link.0.rate", "32 kbit/s")]);
    let whole = server.until - server.opened;
    // Each segment also waits on the radio, after its 0.4 s on the link.
    assert!(time_on_leg(&server, ProxyLeg::Server).as_secs() > 0.6 * whole.as_secs());
}

#[test]
fn network_metrics_are_the_sums_of_the_transfers() {
    let overrides =
        [&LOSSLESS[..], &[("measure.budget", "true"), ("ue.0.count", "3"), ("duration", "120 s")]].concat();
    let metrics = metrics("split-download", &overrides);
    let total = value(&metrics, "transfer_budget_total_s");
    let parts = metrics.iter().filter(|(name, _)| name.starts_with("transfer_budget_")).skip(1);
    let parts: f64 = parts.filter_map(|(_, value)| value).sum();
    assert!(total > 10.0 && (parts - total).abs() < 1e-9 * total, "{parts} of {total}");
    assert_eq!(value(&metrics, "transfer_budget_server_unexplained_s"), 0.0);
}
