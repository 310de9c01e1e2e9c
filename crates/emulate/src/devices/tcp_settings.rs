//! Settings of the kernel's TCP, and their effective values.

use std::fs;
use std::io;
use std::path::Path;

use umts_netlink::{Netlink, RouteMetric, rto_min};

/// Settings of the kernel's TCP, applied in all namespaces of an emulation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TcpSettings {
    /// Sysctls below `net/ipv4`, with values.
    pub variables: Vec<(String, String)>,
    /// Route metrics: congestion control, initial windows, MSS, minimum RTO, quick acknowledgments.
    pub metrics: Vec<RouteMetric>,
}

impl TcpSettings {
    /// Parses pairs of name and value: `tcp_sack = 0` is a sysctl below `net/ipv4`, `route.initcwnd
    /// = 3` a route metric.
    ///
    /// # Errors
    /// A message about the invalid pair.
    pub fn from_pairs(pairs: &[(String, String)]) -> Result<Self, String> {
        let mut settings = TcpSettings::default();
        for (name, value) in pairs {
            match name.strip_prefix("route.") {
                None if name.starts_with("tcp_") && !name.contains('/') => {
                    settings.variables.push((name.clone(), value.clone()));
                }
                None => {
                    return Err(format!(
                        "{name} is not a TCP setting of the kernel; examples are tcp_sack and tcp_window_scaling"
                    ));
                }
                Some(metric) => settings.metrics.extend(route_metric(metric, value)?),
            }
        }
        Ok(settings)
    }
}

fn route_metric(name: &str, value: &str) -> Result<Vec<RouteMetric>, String> {
    let number = || value.parse::<u32>().map_err(|_| format!("route.{name} takes a number, not {value:?}"));
    Ok(match name {
        "congctl" => vec![RouteMetric::CcAlgo(value.to_owned())],
        "initcwnd" => vec![RouteMetric::InitCwnd(number()?)],
        "initrwnd" => vec![RouteMetric::InitRwnd(number()?)],
        "advmss" => vec![RouteMetric::Advmss(number()?)],
        "rto_min" => rto_min(number()?).into(),
        "quickack" => vec![RouteMetric::QuickAck(number()?)],
        _ => {
            let known = "congctl, initcwnd, initrwnd, advmss, rto_min (milliseconds) and quickack";
            return Err(format!("routes have no setting {name}; the settings are {known}"));
        }
    })
}

/// Inverse of [`route_metric`]. Returns `None` for metrics that do not concern TCP.
fn name_and_value(metric: &RouteMetric) -> Option<(&'static str, String)> {
    Some(match metric {
        RouteMetric::CcAlgo(name) => ("congctl", name.trim_end_matches('\0').to_owned()),
        RouteMetric::InitCwnd(segments) => ("initcwnd", segments.to_string()),
        RouteMetric::InitRwnd(segments) => ("initrwnd", segments.to_string()),
        RouteMetric::Advmss(octets) => ("advmss", octets.to_string()),
        RouteMetric::RtoMin(ms) => ("rto_min", ms.to_string()),
        RouteMetric::QuickAck(is_on) => ("quickack", is_on.to_string()),
        _ => return None,
    })
}

/// Formats route metrics for users. Returns `None` if there are none.
pub fn described(metrics: &[RouteMetric]) -> Option<String> {
    let pairs =
        metrics.iter().filter_map(name_and_value).map(|(name, value)| format!("route.{name}={value}"));
    let pairs: Vec<_> = pairs.collect();
    (!pairs.is_empty()).then(|| pairs.join(", "))
}

/// Sysctls that determine the behaviour of TCP, if the kernel has them. Sysctls that the user sets
/// are read too.
const READ_SYSCTLS: [&str; 24] = [
    "tcp_congestion_control",
    "tcp_sack",
    "tcp_dsack",
    "tcp_timestamps",
    "tcp_window_scaling",
    "tcp_ecn",
    "tcp_frto",
    "tcp_recovery",
    "tcp_early_retrans",
    "tcp_slow_start_after_idle",
    "tcp_no_metrics_save",
    "tcp_reordering",
    "tcp_rto_min_us",
    "tcp_rto_max_ms",
    "tcp_rmem",
    "tcp_wmem",
    "tcp_moderate_rcvbuf",
    "tcp_adv_win_scale",
    "tcp_limit_output_bytes",
    "tcp_autocorking",
    "tcp_mtu_probing",
    "tcp_syn_retries",
    "tcp_retries2",
    "tcp_comp_sack_delay_ns",
];

/// Effective settings of the kernel's TCP, with names as in [`TcpSettings::from_pairs`].
pub type Effective = Vec<(String, String)>;

/// Reads the sysctls of the current namespace, and the metrics of the routes over `device`.
///
/// # Errors
/// An error if a sysctl that was set, or the routes, cannot be read.
pub fn read_back(device: u32, settings: &TcpSettings) -> io::Result<Effective> {
    let mut in_force = Effective::new();
    for name in READ_SYSCTLS {
        if let Ok(value) = variable(name) {
            in_force.push((name.to_owned(), value));
        }
    }
    for (name, _) in settings.variables.iter().filter(|(name, _)| !READ_SYSCTLS.contains(&&**name)) {
        in_force.push((name.clone(), variable(name)?));
    }
    for metric in Netlink::open()?.route_metrics(device)? {
        if let Some((name, value)) = name_and_value(&metric) {
            let pair = (format!("route.{name}"), value);
            if !in_force.contains(&pair) {
                in_force.push(pair);
            }
        }
    }
    Ok(in_force)
}

fn variable(name: &str) -> io::Result<String> {
    let text = fs::read_to_string(Path::new("/proc/sys/net/ipv4").join(name))?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}
