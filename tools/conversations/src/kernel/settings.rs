//! Converts the settings of a script for the kernel: variables of its TCP, metrics of a route,
//! options of the socket.

use umts_netlink::RouteMetric;
use umts_stack::tcp::{Nagle, TcpConfig, Variant};

use crate::problem::Mistake;
use crate::run;
use crate::script::{Script, Step};

/// The profile with the kernel's defaults.
const PROFILE: &str = "linux-6";

/// Keys with an equivalent in the kernel. Scripts for the kernel must not use others.
const KEYS: [&str; 20] = [
    "profile",
    "variant",
    "segment_payload",
    "initial_window",
    "timestamps",
    "eifel",
    "sack",
    "dsack",
    "frto",
    "tail_loss_probes",
    "slow_start_restart",
    "rto_min",
    "nagle",
    "ecn",
    "delayed_ack",
    "syn_retries",
    "data_retries",
    "keepalive",
    "keepalive_idle",
    "listens",
];

/// Further keys of keep-alives.
const KEEPALIVE_KEYS: [&str; 2] = ["keepalive_interval", "keepalive_probes"];

/// Bytes of the headers of a full segment.
const HEADERS: u32 = 40;

/// Configuration of the kernel's end.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Names below `net/ipv4`, with values.
    pub variables: Vec<(&'static str, String)>,
    pub metrics: Vec<RouteMetric>,
    /// Octets of the largest packet.
    pub mtu: u16,
    pub segment_payload: u32,
    pub congestion_control: &'static str,
    pub no_delay: bool,
    /// Options of keep-alives.
    pub config: TcpConfig,
    /// The kernel accepts connections.
    pub listens: bool,
    /// The script opens the connection. Otherwise the other end does.
    pub opens: bool,
}

impl Settings {
    /// Converts the settings of `script`.
    ///
    /// # Errors
    /// If a setting has no equivalent in the kernel, or the script does not use the kernel's
    /// profile.
    pub fn new(script: &Script) -> Result<Self, Mistake> {
        let config = run::config(&script.settings)?;
        let has_profile = script.settings.iter().any(|set| set.key == "profile" && set.value == PROFILE);
        if !has_profile {
            return Err(Mistake::new(
                1,
                format!("a script for the kernel begins with `set profile = {PROFILE}`"),
            ));
        }
        let known = |key: &str| KEYS.contains(&key) || KEEPALIVE_KEYS.contains(&key);
        if let Some(set) = script.settings.iter().find(|set| !known(&set.key)) {
            return Err(Mistake::new(set.line, format!("the kernel has no setting for `{}`", set.key)));
        }
        Ok(Settings {
            variables: variables(&config),
            metrics: metrics(&config),
            mtu: u16::try_from(config.mss() + HEADERS).unwrap_or(u16::MAX),
            segment_payload: config.mss(),
            congestion_control: congestion_control(script, &config)?,
            no_delay: config.nagle == Nagle::Off,
            listens: config.listens,
            opens: opens(script),
            config,
        })
    }
}

/// Returns whether the script opens the connection.
fn opens(script: &Script) -> bool {
    let first = script.lines.iter().find(|line| !matches!(line.step, Step::Is(_)));
    first.is_some_and(|line| matches!(line.step, Step::Open))
}

fn congestion_control(script: &Script, config: &TcpConfig) -> Result<&'static str, Mistake> {
    match config.variant {
        Variant::Sack | Variant::NewReno => Ok("reno"),
        Variant::Cubic => Ok("cubic"),
        _ => {
            let line = script.settings.iter().find(|set| set.key == "variant").map_or(1, |set| set.line);
            Err(Mistake::new(line, "conversations with the kernel are held with sack, newreno and cubic"))
        }
    }
}

fn variables(config: &TcpConfig) -> Vec<(&'static str, String)> {
    let switch = |on: bool| u8::from(on).to_string();
    // Unlimited retries: more than a script can await.
    let retries = |retries: Option<u32>| retries.unwrap_or(255).to_string();
    vec![
        ("tcp_timestamps", switch(config.timestamps)),
        ("tcp_sack", switch(config.max_sack_blocks() > 0)),
        ("tcp_dsack", switch(config.dsack)),
        ("tcp_frto", if config.frto { "2" } else { "0" }.to_owned()),
        ("tcp_early_retrans", if config.tail_loss_probes { "3" } else { "0" }.to_owned()),
        ("tcp_slow_start_after_idle", switch(config.slow_start_restart)),
        ("tcp_rto_min_us", (config.rto_min.as_nanos() / 1000).to_string()),
        ("tcp_ecn", if config.ecn { "1" } else { "2" }.to_owned()),
        ("tcp_syn_retries", retries(config.syn_retries)),
        ("tcp_retries2", retries(config.data_retries)),
        // Features that the model lacks are switched off: memory of earlier connections, growing
        // buffers, aggregation of acknowledgments.
        ("tcp_no_metrics_save", "1".to_owned()),
        ("tcp_wmem", "4096 4194304 4194304".to_owned()),
        ("tcp_autocorking", "0".to_owned()),
        ("tcp_comp_sack_nr", "0".to_owned()),
    ]
}

fn metrics(config: &TcpConfig) -> Vec<RouteMetric> {
    let mut metrics = vec![RouteMetric::InitCwnd(config.initial_segments())];
    if !config.delayed_ack {
        metrics.push(RouteMetric::QuickAck(1));
    }
    metrics
}
