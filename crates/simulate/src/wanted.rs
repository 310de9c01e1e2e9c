//! What a scenario asks recorders for.

use std::path::Path;

use umts_record::RecorderConfig;
use umts_record::capture::CaptureConfig;
use umts_scenario::Scenario;
use umts_stack::network::NetworkConfig;
use umts_stack::trace::CapturePoint;

use crate::bearers::encodings;
use crate::build::{budget_config, metrics_config, series_config, server_ports};

/// What is recorded of a run of `scenario`, whose network this is: metrics, the time budget if the scenario says so, time
/// series, and captures into `pcap_dir`, a folder that exists.
pub fn wanted<'a>(
    scenario: &Scenario,
    network: &'a NetworkConfig,
    series: bool,
    pcap_dir: Option<&'a Path>,
) -> RecorderConfig<'a> {
    let metrics = metrics_config(scenario);
    let captures = |folder| {
        let mut config = CaptureConfig {
            bearers: encodings(scenario),
            server_ports: server_ports(scenario),
            ..CaptureConfig::default()
        };
        if scenario.proxy.is_some() {
            config.points.extend([CapturePoint::ProxyServer, CapturePoint::ProxyRadio]);
        }
        (folder, config)
    };
    RecorderConfig {
        network,
        budget: budget_config(scenario, &metrics, series),
        metrics,
        series: series.then(|| series_config(scenario)),
        captures: pcap_dir.map(captures),
    }
}
