//! The recorders that a scenario needs.

use std::path::Path;

use umts_record::RecorderConfig;
use umts_record::capture::CaptureConfig;
use umts_scenario::Scenario;
use umts_stack::network::NetworkConfig;
use umts_stack::trace::CapturePoint;

use crate::bearers::{encodings, has_iub};
use crate::build::{budget_config, metrics_config, series_config, server_ports};

/// Configuration of the recorders of a run of `scenario`, which has this network: metrics, the time
/// budget if the scenario enables it, time series, and captures in `pcap_dir`, which must exist.
pub fn recorder_config<'a>(
    scenario: &Scenario,
    network: &'a NetworkConfig,
    series: bool,
    pcap_dir: Option<&'a Path>,
) -> RecorderConfig<'a> {
    let metrics = metrics_config(scenario);
    let captures = |folder| {
        let mut config = CaptureConfig {
            bearers: encodings(scenario),
            has_iub: has_iub(scenario),
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
