//! A run: its parameters in `runs.json`, and the connection that they describe.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use umts_stack::tcp::{RtoRule, TcpConfig, TcpConnection, Variant, WindowSize};
use umts_units::{Duration, Octets};

use crate::losses::LossList;

/// An entry of `runs.json`.
#[derive(Debug, Clone, Deserialize)]
pub struct Entry {
    /// Name of the scenario. Together with `algo` it identifies the run.
    pub id: String,
    /// The agent, by its name in ns-2.
    pub algo: String,
    /// Path of the event file in the folder.
    pub file: String,
    /// Phase of the agent's clock, in seconds.
    pub boot_time_s: f64,
    /// Arguments of the script that made the run.
    pub params: Params,
}

/// Arguments of the script that made a run, as text.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the README beside runs.json and the script explain them")]
pub struct Params {
    pub sink: String,
    pub bw: String,
    pub owd: String,
    pub window: String,
    pub npkts: String,
    pub stop: String,
    pub qlim: String,
    pub drops: String,
    pub ackdrops: String,
    pub losslist: String,
    pub spike: String,
    pub fifo: String,
    pub spikedir: String,
    pub tick: String,
    pub minrto: String,
    pub rtxinit: String,
    pub maxrto: String,
    pub ts: String,
    pub winit: String,
    pub delack: String,
    pub limtx: String,
    pub bugfix: String,
    pub psize: String,
    pub maxburst: String,
}

/// Configuration of a connection and its network.
#[derive(Debug, Clone)]
pub struct Run {
    /// Configuration of both ends.
    pub config: TcpConfig,
    /// Data packets to send after the SYN (Vegas: all packets). `None`: unlimited.
    pub packets: Option<u64>,
    /// Rate of both links, in bit/s.
    pub rate_bps: f64,
    /// One-way delay, in seconds.
    pub delay_s: f64,
    /// End of the run, in seconds.
    pub stop_s: f64,
    /// Capacity of the forward link's queue, including the packet in transmission.
    pub queue: u64,
    /// Copies of packets that are lost on the link.
    pub drops: Vec<LostCopy>,
    /// Acknowledgments that are lost, counted from 0.
    pub ack_drops: Vec<u64>,
    /// Packets that are lost on the forward link, counted from 0, ascending.
    pub crossing_losses: Vec<u64>,
    /// A period in which a link is slower.
    pub spike: Option<Spike>,
    /// Packets do not overtake packets that a spike delays.
    pub fifo: bool,
}

/// One of the times that a packet crosses the forward link, which loses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostCopy {
    /// Number of the packet.
    pub packet: i64,
    /// Number of the copy: 1 for the first transmission.
    pub copy: u32,
}

/// A period in which a link's delay is longer. All times are in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spike {
    /// Beginning of the period.
    pub from_s: f64,
    /// Length of the period.
    pub length_s: f64,
    /// Addition to the delay.
    pub extra_s: f64,
    /// The spike affects acknowledgments instead of data.
    pub reverse: bool,
}

/// The reason why a run is not compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Skip {
    /// The agent is unknown.
    #[error("the agent {0} is not known")]
    Agent(String),
    /// The one-way connections do not support the value of a parameter.
    #[error("{0} = {1} is not modelled")]
    Unmodelled(&'static str, String),
    /// A parameter cannot be parsed.
    #[error("{0} = {1:?} cannot be read")]
    Malformed(&'static str, String),
    /// A list of random losses is missing.
    #[error("no list of losses {0}")]
    NoLosses(String),
}

/// Returns the TCP variant that ns-2 calls `agent`.
pub fn variant(agent: &str) -> Result<Variant, Skip> {
    match agent {
        "Tahoe" => Ok(Variant::Tahoe),
        "Reno" => Ok(Variant::Reno),
        "Newreno" => Ok(Variant::NewReno),
        "Sack1" => Ok(Variant::Sack),
        "Fack" => Ok(Variant::Fack),
        "Vegas" => Ok(Variant::Vegas),
        "cubic" => Ok(Variant::Cubic),
        "westwood" => Ok(Variant::Westwood),
        other => Err(Skip::Agent(other.to_owned())),
    }
}

/// Returns the configuration of the golden runs: `window` packets of 1000 B, clock ticks of 10 ms.
pub fn one_way(variant: Variant, window: u32, phase: Duration) -> TcpConfig {
    TcpConfig {
        variant,
        connection: TcpConnection::OneWay,
        segment_payload: Octets(1000),
        header: Octets(40),
        advertised_window: WindowSize::Segments(window),
        initial_window: WindowSize::Segments(2),
        initial_ssthresh: Some(WindowSize::Segments(window)),
        delayed_ack: false,
        limited_transmit: true,
        sack: matches!(variant, Variant::Cubic | Variant::Westwood),
        ns2_vegas_no_header: true,
        rto_rule: RtoRule::Ns2,
        rto_granularity: Duration::from_millis(10),
        rto_clock_phase: phase,
        rto_initial: Duration::from_secs(3),
        rto_min: Duration::from_millis(200),
        rto_max: Duration::from_secs(60),
        ..TcpConfig::default()
    }
}

impl Entry {
    /// Returns whether the agent is ns-2's copy of Linux code. Its handshake, estimator and
    /// recovery differ from the agents that the one-way connections follow.
    pub fn is_of_linux(&self) -> bool {
        matches!(self.algo.as_str(), "cubic" | "westwood")
    }

    /// Converts the parameters into a run, or returns why that is not possible. `losses` has the
    /// folder's lists of random losses.
    pub fn run(&self, losses: &[LossList]) -> Result<Run, Skip> {
        let params = &self.params;
        let modelled =
            [("ts", &params.ts, "0"), ("bugfix", &params.bugfix, "1"), ("maxburst", &params.maxburst, "0")];
        for (name, value, modelled) in modelled {
            if value != modelled {
                return Err(Skip::Unmodelled(name, value.clone()));
            }
        }
        let window: u32 = read("window", &params.window)?;
        let mut config = one_way(variant(&self.algo)?, window, Duration::from_secs_f64(self.boot_time_s));
        config.segment_payload = Octets(read("psize", &params.psize)?);
        config.initial_window = WindowSize::Segments(read("winit", &params.winit)?);
        config.limited_transmit = params.limtx != "0";
        match params.sink.as_str() {
            "plain" => {}
            "delack" => {
                (config.delayed_ack, config.delayed_ack_timeout) = (true, seconds("delack", &params.delack)?);
            }
            other => return Err(Skip::Unmodelled("sink", other.to_owned())),
        }
        config.rto_granularity = seconds("tick", &params.tick)?;
        config.rto_initial = seconds("rtxinit", &params.rtxinit)?;
        config.rto_min = seconds("minrto", &params.minrto)?;
        config.rto_max = seconds("maxrto", &params.maxrto)?;
        let packets: u64 = read("npkts", &params.npkts)?;
        Ok(Run {
            config,
            packets: (packets > 0).then_some(packets),
            rate_bps: read("bw", &params.bw)?,
            delay_s: read("owd", &params.owd)?,
            stop_s: read("stop", &params.stop)?,
            queue: read("qlim", &params.qlim)?,
            drops: list("drops", &params.drops, lost_copy)?,
            ack_drops: list("ackdrops", &params.ackdrops, range)?.into_iter().flatten().collect(),
            crossing_losses: crossing_losses(&params.losslist, losses)?,
            spike: spike(&params.spike, &params.spikedir)?,
            fifo: params.fifo != "0",
        })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id, self.algo)
    }
}

fn read<T: FromStr>(name: &'static str, text: &str) -> Result<T, Skip> {
    text.parse().map_err(|_| Skip::Malformed(name, text.to_owned()))
}

fn seconds(name: &'static str, text: &str) -> Result<Duration, Skip> {
    let value: f64 = read(name, text)?;
    // A `Duration` cannot be negative, infinite or NaN, and holds some 10^10 s.
    if !(0.0..1e9).contains(&value) {
        return Err(Skip::Malformed(name, text.to_owned()));
    }
    Ok(Duration::from_secs_f64(value))
}

/// Parses a list separated by slashes.
fn list<T>(name: &'static str, text: &str, part: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Skip> {
    let parts = text.split('/').filter(|part| !part.is_empty());
    parts.map(|text| part(text).ok_or_else(|| Skip::Malformed(name, text.to_owned()))).collect()
}

/// Parses `packet:copy`. Without a copy it is the first.
fn lost_copy(text: &str) -> Option<LostCopy> {
    let (packet, copy) = text.split_once(':').unwrap_or((text, "1"));
    Some(LostCopy { packet: packet.parse().ok()?, copy: copy.parse().ok()? })
}

/// Parses `from-to` or a single number.
fn range(text: &str) -> Option<std::ops::RangeInclusive<u64>> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    Some(from.parse().ok()?..=to.parse().ok()?)
}

/// Parses `start/length/extra`.
fn spike(text: &str, direction: &str) -> Result<Option<Spike>, Skip> {
    match list("spike", text, |part| part.parse().ok())?.as_slice() {
        [] => Ok(None),
        &[from_s, length_s, extra_s] => {
            Ok(Some(Spike { from_s, length_s, extra_s, reverse: direction == "rev" }))
        }
        _ => Err(Skip::Malformed("spike", text.to_owned())),
    }
}

/// Parses `file,loss,seed`. The file is always the folder's own.
fn crossing_losses(text: &str, losses: &[LossList]) -> Result<Vec<u64>, Skip> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let named = text.split_once(',').and_then(|(_file, name)| name.split_once(','));
    let loss_list = named.and_then(|(loss, seed)| losses.iter().find(|list| list.is_named(loss, seed)));
    loss_list.map(|list| list.indices.clone()).ok_or_else(|| Skip::NoLosses(text.to_owned()))
}
