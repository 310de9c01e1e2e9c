//! What a scenario asks recorders for.

use std::path::Path;

use umts_record::Wanted;
use umts_record::capture::CaptureConfig;
use umts_scenario::Scenario;
use umts_stack::network::NetworkConfig;

use crate::bearers::encodings;
use crate::build::{budget_config, metrics_config, series_config};

/// What is recorded of a run of `scenario`, whose network this is: metrics, the time budget if the scenario says so, time
/// series, and captures into `pcap_dir`, a folder that exists.
pub fn wanted<'a>(
    scenario: &Scenario,
    network: &'a NetworkConfig,
    series: bool,
    pcap_dir: Option<&'a Path>,
) -> Wanted<'a> {
    let metrics = metrics_config(scenario);
    let captures = |folder| {
        let bearers = encodings(scenario);
        (folder, CaptureConfig { bearers, ..CaptureConfig::default() })
    };
    Wanted {
        network,
        budget: budget_config(scenario, &metrics, series),
        metrics,
        series: series.then(|| series_config(scenario)),
        captures: pcap_dir.map(captures),
    }
}
