//! Combinations of recorders: each recorder gives the same results in any combination.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use umts_kernel::{NoTrace, TraceSink};
use umts_record::budget::Budget;
use umts_record::capture::Captures;
use umts_record::metrics::{Metrics, MetricsConfig, RunMetrics};
use umts_record::series::{Series, SeriesConfig, Table};
use umts_record::{Needs, PlainRecorders, RecorderConfig, Recorders, Records};
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, network_config, recorder_config, run};
use umts_units::{Duration, Time};

use crate::common::{events, observed, scenario};

/// A minute of web traffic on switched channels, with everything that can be recorded.
fn busy_scenario() -> Scenario {
    scenario(
        "web-cell-3gpp",
        &[("duration", "60 s"), ("measure.budget", "true"), ("measure.rlc_pdus", "true")],
    )
}

/// Contents of the files of a folder, by name.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files =
        fs::read_dir(folder).expect("the folder exists").map(|file| file.expect("the folder can be read"));
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

/// Results of each recorder when it is the only one.
struct SingleRecorders {
    metrics: RunMetrics,
    /// The metrics followed by the metrics of the budget, and the tables of the budget.
    with_budget: (RunMetrics, Vec<Table>),
    series: Vec<Table>,
    captures: BTreeMap<String, Vec<u8>>,
}

fn record_singly(scenario: &Scenario) -> SingleRecorders {
    let end = Time::ZERO + scenario.duration;
    let folder = tempfile::tempdir().unwrap();
    let network = network_config(scenario);
    let RecorderConfig { metrics, budget, series, captures, .. } =
        recorder_config(scenario, &network, true, Some(folder.path()));
    let metrics = observed(scenario, Metrics::new(metrics)).finish(end);
    let mut with_budget = metrics.clone();
    let budget = observed(scenario, Budget::new(budget.unwrap(), &network));
    let tables = budget.finish(end, &mut with_budget);
    let series = observed(scenario, Series::new(series.unwrap())).finish(end).tables;
    let (capture_folder, config) = captures.unwrap();
    observed(scenario, Captures::create(capture_folder, &config).unwrap()).finish().unwrap();
    SingleRecorders { metrics, with_budget: (with_budget, tables), series, captures: contents(folder.path()) }
}

#[test]
fn recorders_give_the_same_results_in_any_combination() {
    let scenario = busy_scenario();
    let single = record_singly(&scenario);
    assert!(
        single.captures.len() > 3 && single.metrics.connections.len() > 5,
        "the run has enough captures and connections to compare"
    );
    let network = network_config(&scenario);
    for combination in 0..8 {
        let [has_budget, has_series, has_captures] = [1, 2, 4].map(|bit| combination & bit != 0);
        let folder = tempfile::tempdir().unwrap();
        let all = recorder_config(&scenario, &network, true, Some(folder.path()));
        let some = RecorderConfig {
            budget: all.budget.filter(|_| has_budget),
            series: all.series.filter(|_| has_series),
            captures: all.captures.filter(|_| has_captures),
            ..all
        };
        let recorders = Recorders::new(some, NoTrace).unwrap();
        assert_eq!(recorders.needs() == Needs::Metrics, combination == 0);
        let end = Time::ZERO + scenario.duration;
        let Records { metrics, series, captures, .. } = observed(&scenario, recorders).finish(end);
        let files = captures.unwrap();
        let (with_budget, budget_tables) = &single.with_budget;
        assert_eq!(&metrics, if has_budget { with_budget } else { &single.metrics }, "{combination}");
        let tables = series.map(|series| series.tables);
        let expected = has_series.then(|| {
            let of_budget = budget_tables.iter().filter(|_| has_budget);
            single.series.iter().chain(of_budget).cloned().collect::<Vec<_>>()
        });
        assert!(tables == expected, "{combination}");
        let expected = if has_captures { single.captures.clone() } else { BTreeMap::new() };
        assert!(contents(folder.path()) == expected, "{combination}");
        assert_eq!(files.len(), expected.len(), "{combination}");
    }
}

#[test]
fn metrics_are_the_same_without_other_recorders() {
    let scenario = scenario("web-cell-3gpp", &[("duration", "60 s")]);
    let network = network_config(&scenario);
    let recorders = Recorders::new(recorder_config(&scenario, &network, false, None), NoTrace).unwrap();
    let end = Time::ZERO + scenario.duration;
    let PlainRecorders(recorders) = observed(&scenario, PlainRecorders::<false>(recorders));
    let recorded = recorders.finish(end).metrics;
    let metrics = Metrics::new(recorder_config(&scenario, &network, false, None).metrics);
    assert_eq!(recorded, observed(&scenario, metrics).finish(end));
    let output = run(&scenario, RunOptions { seed: scenario.seed, ..RunOptions::default() }).unwrap();
    assert_eq!(recorded, output.metrics);
}

#[test]
fn metrics_and_series_are_the_same_without_details() {
    let scenario = scenario("web-cell-3gpp", &[("duration", "60 s")]);
    let network = network_config(&scenario);
    let end = Time::ZERO + scenario.duration;
    let recorders = || {
        let recorder_config = recorder_config(&scenario, &network, true, None);
        let series = recorder_config.series.map(|series| SeriesConfig { rlc_pdus: false, ..series });
        Recorders::new(RecorderConfig { budget: None, series, ..recorder_config }, NoTrace).unwrap()
    };
    assert_eq!(recorders().needs(), Needs::Series);
    let PlainRecorders(both) = observed(&scenario, PlainRecorders::<true>(recorders()));
    let (both, whole) = (both.finish(end), observed(&scenario, recorders()).finish(end));
    assert_eq!(both.metrics, whole.metrics);
    assert_eq!(both.series, whole.series);
    let with_pdus = SeriesConfig { rlc_pdus: true, ..SeriesConfig::default() };
    let recorder_config = RecorderConfig {
        budget: None,
        series: Some(with_pdus),
        ..recorder_config(&scenario, &network, true, None)
    };
    let needs = Recorders::new(recorder_config, NoTrace).unwrap().needs();
    assert_eq!(needs, Needs::Everything, "PDUs are details");
}

#[test]
fn additional_sink_receives_all_events_without_effect() {
    let scenario = scenario("ftp-on-fach", &[("duration", "60 s")]);
    let network = network_config(&scenario);
    let recorders = Recorders::new(recorder_config(&scenario, &network, true, None), Vec::new()).unwrap();
    let end = Time::ZERO + scenario.duration;
    let recorded = observed(&scenario, recorders).finish(end);
    assert!(recorded.beside == events(&scenario));
    let options = RunOptions { seed: scenario.seed, series: true, ..RunOptions::default() };
    let output = run(&scenario, options).unwrap();
    assert_eq!((recorded.metrics, recorded.series), (output.metrics, output.series));
}

#[test]
fn a_run_that_ends_early_ends_the_window() {
    let scenario = scenario("ftp-on-fach", &[("duration", "60 s")]);
    let network = network_config(&scenario);
    let half = Time::ZERO + Duration::from_secs(30);
    let recorders = |until| {
        let whole = recorder_config(&scenario, &network, false, None);
        let metrics = MetricsConfig { to: until, ..whole.metrics };
        Recorders::new(RecorderConfig { metrics, ..whole }, NoTrace).unwrap()
    };
    // Both get the events of the first half. The window of the first pair would last longer.
    let mut recorders: [Recorders; 2] = [recorders(Time::ZERO + scenario.duration), recorders(half)];
    for (at, event) in events(&scenario).iter().filter(|(at, _)| *at < half) {
        recorders.iter_mut().for_each(|recorders| recorders.record(*at, event));
    }
    let [early, measured] = recorders.map(|recorders| recorders.finish(half).metrics);
    assert_eq!(early, measured);
}
