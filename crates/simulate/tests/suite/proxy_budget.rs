//! The time budget of transfers that a proxy splits: it adds up in all cases, and names the right
//! causes.

use std::ops::ControlFlow;

use proptest::prelude::*;
use umts_record::budget::{Budget, BudgetConfig, Cause, ConnectionOrigin, TransferBudget, TransferPart};
use umts_simulate::{network_config, observe};
use umts_stack::ids::ProxyLeg;
use umts_units::{Duration, Time};

use crate::common::{metrics, scenario, value};

fn transfers(overrides: &[(&str, &str)], run: u64) -> Vec<TransferBudget> {
    let scenario = scenario("split-download", overrides);
    let end = Time::ZERO + scenario.duration;
    let config = BudgetConfig {
        from: Time::ZERO,
        to: end,
        keeps_intervals: false,
        waterfall: None,
        origin: ConnectionOrigin::Simulated,
    };
    let budget = Budget::new(config, &network_config(&scenario));
    let done = observe(&scenario, scenario.seed, run, budget, |_, _| ControlFlow::Continue(()));
    done.expect("nothing stops it").1.into_transfers(end)
}

fn time(budget: &TransferBudget, is_it: impl Fn(TransferPart) -> bool) -> Duration {
    let those = budget.intervals.iter().filter(|interval| is_it(interval.part));
    those.fold(Duration::ZERO, |sum, interval| sum + (interval.end - interval.start))
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
        let set = [
            ("link.0.loss", loss.as_str()), ("radio.bler", &bler), ("proxy.buffer", buffer), ("proxy.setup", setup),
            ("flow.0.direction", direction), ("proxy.at", at), ("rlc.max_dat", max_dat),
        ];
        let budgets = transfers(&set, run);
        prop_assert_eq!(budgets.len(), 1);
        budgets.iter().for_each(check_sums);
    }
}

const CLEAN: [(&str, &str); 3] = [("radio.bler", "0"), ("link.0.loss", "0"), ("flow.0.size", "200 kB")];

fn only(more: &[(&str, &str)]) -> TransferBudget {
    let [budget] = transfers(&[&CLEAN[..], more].concat(), 0).try_into().expect("one transfer");
    budget
}

#[test]
fn a_buffer_below_the_window_keeps_the_octet_in_the_proxy() {
    let small = only(&[("proxy.buffer", "4 kB")]);
    let roomy = only(&[("proxy.buffer", "unlimited")]);
    assert!(time(&small, |part| part == TransferPart::Queue).as_secs() > 1.0);
    assert_eq!(time(&roomy, |part| part == TransferPart::Queue), Duration::ZERO);
}

/// The radio's handshake takes longer than the first octet from the server, or the SYN waits for
/// the complete handshake.
#[test]
fn set_up_of_the_second_connection_is_named() {
    let far = ("link.0.delay", "10 ms");
    let [early, server_first] = ["early", "server_first"]
        .map(|setup| time(&only(&[("proxy.setup", setup), far]), |part| part == TransferPart::Setup));
    assert!(early.as_secs() > 0.02 && server_first > early, "{early}, {server_first}");
}

/// With a fast server the radio has all of the time; a slow server has most of it.
#[test]
fn the_slower_leg_has_the_time() {
    let on = |budget: &TransferBudget, leg| {
        time(budget, |part| matches!(part, TransferPart::Leg(of, _) if of == leg))
    };
    let radio = only(&[("ue.0.bearer", "ps-64")]);
    let whole = radio.until - radio.opened;
    assert!(on(&radio, ProxyLeg::Radio).as_secs() > 0.95 * whole.as_secs());
    let server = only(&[("link.0.rate", "32 kbit/s")]);
    let whole = server.until - server.opened;
    // Each segment also waits on the radio, after its 0.4 s on the link.
    assert!(on(&server, ProxyLeg::Server).as_secs() > 0.6 * whole.as_secs());
}

#[test]
fn the_network_has_the_sums_of_its_transfers() {
    let set =
        [&CLEAN[..], &[("measure.budget", "true"), ("ue.0.count", "3"), ("duration", "120 s")]].concat();
    let metrics = metrics("split-download", &set);
    let total = value(&metrics, "transfer_budget_total_s");
    let parts = metrics.iter().filter(|(name, _)| name.starts_with("transfer_budget_")).skip(1);
    let parts: f64 = parts.filter_map(|(_, value)| value).sum();
    assert!(total > 10.0 && (parts - total).abs() < 1e-9 * total, "{parts} of {total}");
    assert_eq!(value(&metrics, "transfer_budget_server_unexplained_s"), 0.0);
}
