//! Users and their traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::ids::Direction as FlowDirection;
use umts_stack::ids::UeId;
use umts_stack::radio::flat::FlatConfig;
use umts_units::{BitRate, Bytes, Duration, Probability};

use super::traffic::{Cbr, EtsiWww, FtpSessions, OnOff, ParetoWww, Replay, Web};
use super::{Calls, Mobility, QueueLimit, Radio, Rlc, Rrc, Tcp, Transport};
use crate::text::{KeyError, word_unlimited};

/// `count` user equipments alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ue {
    /// Name of the group, which flows refer to.
    pub name: String,
    /// How many user equipments are in the group; 0 for calls, which come and go.
    #[serde(default = "one", skip_serializing_if = "is_none")]
    #[schemars(extend("x-min" = 1, "x-max" = UeId::MOST))]
    pub count: u16,
    /// The cell they are in, which may be left out if there is only one; `"best"` with `[layout]`: that which is received best.
    #[serde(default)]
    #[schemars(extend("x-default" = "the only cell; best with [layout]", "x-range" = "the name of a [[cell]], or best"))]
    pub cell: String,
    /// Where in a layout they are, and how they move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Mobility")]
    pub mobility: Option<Mobility>,
    /// `"common"` for FACH and RACH, `"switched"` for those and a DCH by turns (`[rrc]`), `"granted"` in a TDD cell, `"dsch"`
    /// in the cells of a `[layout]` and `"conversational-64"` for calls there, the name of a `[[bearer]]`, or that of a
    /// reference bearer (`umts bearers`).
    #[serde(default = "common")]
    #[schemars(extend("x-range" = "common, switched, granted, dsch, conversational-64, the name of a [[bearer]], or a name of `umts bearers`"))]
    pub bearer: String,
    /// In place of users that stay: calls that come and go, each with a DCH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Calls", extend("x-default" = "none"))]
    pub calls: Option<Calls>,
    /// Keys of `[rlc]` that differ for these users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rlc", extend("x-default" = "[rlc]", "x-overrides" = "rlc"))]
    pub rlc: Option<Rlc>,
    /// Keys of `[rrc]` that differ for these users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rrc", extend("x-default" = "[rrc]", "x-overrides" = "rrc"))]
    pub rrc: Option<Rrc>,
    /// Keys of `[radio]` that differ for these users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Radio", extend("x-default" = "[radio]", "x-overrides" = "radio"))]
    pub radio: Option<Radio>,
    /// A measured radio in place of bearer, RLC and block errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Capacity", extend("x-default" = "none"))]
    pub capacity: Option<Capacity>,
    /// A flat radio in place of bearer, RLC and block errors: a rate and a delay, for comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Flat", extend("x-default" = "none"))]
    pub flat: Option<Flat>,
}

/// A radio of a rate, a delay, a queue and random loss, as browsers and test services emulate "3G". It is no UMTS: no
/// TTIs, no RLC, no states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flat {
    /// A profile that gives each other key a value (`umts bearers flat`); `"none"`: there is none.
    #[serde(default = "no_profile")]
    #[schemars(extend("x-range" = "none, or a flat one of `umts bearers`"))]
    pub profile: String,
    /// Bit rate of IP packets towards the user.
    pub downlink: BitRate,
    /// Bit rate of IP packets from the user.
    pub uplink: BitRate,
    /// Round-trip time that it adds to that of the fixed network, half each way.
    #[schemars(extend("x-max" = "1 h"))]
    pub rtt: Duration,
    /// Random loss of IP packets, each way.
    #[serde(default)]
    pub loss: Probability,
    /// Room for packets, the one being sent included, in each direction; unlimited if absent.
    #[serde(default = "flat_queue", with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<QueueLimit>", extend("x-min" = "1 packets", "x-source" = "as rlc.buffer, for comparison; the profiles say nothing"))]
    pub queue: Option<QueueLimit>,
}

impl Flat {
    /// The radio of one user.
    pub fn config(&self) -> FlatConfig {
        FlatConfig {
            rates: [self.downlink, self.uplink],
            delay: Duration::from_nanos(self.rtt.as_nanos() / 2),
            loss: self.loss.value(),
            queue: self.queue,
        }
    }
}

/// A radio that was measured above RLC: when 1,500 octets can pass, in each direction (mahimahi's traces).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// Trace towards the user, relative to the folder of the scenario file: a time in milliseconds on each line; at its end
    /// it begins again.
    #[schemars(extend("x-source" = "mahimahi, mm-link"))]
    pub downlink: String,
    /// Trace from the user.
    #[schemars(extend("x-source" = "mahimahi, mm-link"))]
    pub uplink: String,
    /// Room for packets that wait, in each direction; unlimited if absent.
    #[serde(default, with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<QueueLimit>", extend("x-min" = "1 packets", "x-source" = "mahimahi: infinite by default"))]
    pub queue: Option<QueueLimit>,
}

impl Ue {
    /// Whether RRC switches these users between FACH and RACH, and a DCH.
    pub fn is_switched(&self) -> bool {
        self.bearer == SWITCHED && !self.has_substitute()
    }

    /// Whether a measured or a flat radio stands in place of channels, RLC and block errors.
    pub fn has_substitute(&self) -> bool {
        self.capacity.is_some() || self.flat.is_some()
    }
}

/// The bearer of users whose channels RRC chooses.
pub(crate) const SWITCHED: &str = "switched";
/// The bearer of users of the DSCHs of a layout.
pub(crate) const DSCH: &str = "dsch";
/// That of calls.
pub(crate) const CONVERSATIONAL: &str = "conversational-64";

/// One flow for every UE of the named group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "FlowTable", into = "FlowTable")]
pub struct Flow {
    /// What other keys call it.
    pub name: Option<String>,
    /// The group of users.
    pub ue: String,
    /// What is transferred.
    pub traffic: Traffic,
    /// Which way the data goes.
    pub direction: FlowDirection,
    /// When the connection is opened.
    pub start: Duration,
    /// At which port the server listens, if not at the usual one.
    pub port: Option<u16>,
    /// The top-level `[tcp]` with this flow's own keys on top.
    pub tcp: Tcp,
}

/// What a flow transfers.
#[derive(Debug, Clone, PartialEq)]
pub enum Traffic {
    /// Greedy: never runs out of data.
    Ftp,
    /// A file of this size (`traffic = "file"`, `size = "100 kB"`).
    File {
        /// Octets of payload.
        size: Bytes,
    },
    /// Web pages.
    Web(Web),
    /// Files with pauses between.
    FtpSessions(FtpSessions),
    /// Requests for files with a heavy tail.
    ParetoWww(ParetoWww),
    /// Sessions of datagrams.
    EtsiWww(EtsiWww),
    /// Datagrams at a constant rate.
    Cbr(Cbr),
    /// Voice or video with silences.
    OnOff(OnOff),
    /// A recording.
    Replay(Replay),
}

/// A flow as the file spells it.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Flow")]
pub(crate) struct FlowTable {
    /// What other keys call it, as `proxy.flows` does; several flows may have one name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    name: Option<String>,
    /// The group of users: one flow for each of them.
    ue: String,
    /// What is transferred.
    #[serde(default = "ftp")]
    traffic: TrafficKind,
    /// Octets of the file (`traffic = "file"` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes", extend("x-min" = "1 B", "x-max" = "1000 GB"))]
    size: Option<Bytes>,
    /// Which way the data goes.
    #[serde(default = "downlink")]
    direction: FlowDirection,
    /// When the connection is opened.
    #[serde(default)]
    #[schemars(extend("x-max" = "1000000 h"))]
    start: Duration,
    /// The port at which the server listens: captures show it, and `proxy.ports` chooses by it. 5001 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u16", extend("x-min" = 1, "x-max" = 65_535))]
    port: Option<u16>,
    /// The web (`traffic = "web"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Web")]
    web: Option<Web>,
    /// Files with pauses between (`traffic = "ftp_sessions"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FtpSessions")]
    ftp_sessions: Option<FtpSessions>,
    /// Files with a heavy tail (`traffic = "pareto_www"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ParetoWww")]
    pareto_www: Option<ParetoWww>,
    /// Sessions of datagrams (`traffic = "etsi_www"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "EtsiWww")]
    etsi_www: Option<EtsiWww>,
    /// A constant rate (`traffic = "cbr"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Cbr")]
    cbr: Option<Cbr>,
    /// Voice or video (`traffic = "on_off"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "OnOff")]
    on_off: Option<OnOff>,
    /// A recording (`traffic = "replay"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Replay")]
    replay: Option<Replay>,
    /// Keys of `[tcp]` that differ for this flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Tcp", extend("x-default" = "[tcp]", "x-overrides" = "tcp"))]
    tcp: Option<Tcp>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TrafficKind {
    /// Greedy: never runs out of data. The end that sends the data opens the connection: for a download the server.
    Ftp,
    /// One file of `size`. The end that sends the data opens the connection: for a download the server.
    File,
    /// Web pages, with reading times between.
    Web,
    /// One file after another, with reading times between.
    FtpSessions,
    /// Requests for files whose sizes have a heavy tail.
    ParetoWww,
    /// WWW sessions of UDP datagrams as in UMTS 30.03.
    EtsiWww,
    /// UDP datagrams at a constant rate.
    Cbr,
    /// UDP datagrams in spurts: voice or video.
    OnOff,
    /// What a file says: so many bytes at such a time.
    Replay,
}

impl TrafficKind {
    fn keyword(self) -> &'static str {
        match self {
            TrafficKind::Ftp => "ftp",
            TrafficKind::File => "file",
            TrafficKind::Web => "web",
            TrafficKind::FtpSessions => "ftp_sessions",
            TrafficKind::ParetoWww => "pareto_www",
            TrafficKind::EtsiWww => "etsi_www",
            TrafficKind::Cbr => "cbr",
            TrafficKind::OnOff => "on_off",
            TrafficKind::Replay => "replay",
        }
    }
}

impl FlowTable {
    /// An error if there is a key of another kind of traffic.
    fn check_kind(&self) -> Result<(), KeyError> {
        let keys = [
            ("size", self.size.is_some(), TrafficKind::File),
            ("web", self.web.is_some(), TrafficKind::Web),
            ("ftp_sessions", self.ftp_sessions.is_some(), TrafficKind::FtpSessions),
            ("pareto_www", self.pareto_www.is_some(), TrafficKind::ParetoWww),
            ("etsi_www", self.etsi_www.is_some(), TrafficKind::EtsiWww),
            ("cbr", self.cbr.is_some(), TrafficKind::Cbr),
            ("on_off", self.on_off.is_some(), TrafficKind::OnOff),
            ("replay", self.replay.is_some(), TrafficKind::Replay),
        ];
        match keys.iter().find(|(_, is_present, owner)| *is_present && *owner != self.traffic) {
            None => Ok(()),
            Some((key, _, owner)) => {
                let (owner, kind) = (owner.keyword(), self.traffic.keyword());
                let help = format!("write traffic = \"{owner}\", or leave it out");
                Err(KeyError::new(key, format!("belongs to traffic = \"{owner}\", not to \"{kind}\""))
                    .help(help))
            }
        }
    }
}

impl TryFrom<FlowTable> for Flow {
    type Error = KeyError;
    fn try_from(table: FlowTable) -> Result<Self, KeyError> {
        table.check_kind()?;
        let FlowTable { name, ue, direction, start, port, tcp, .. } = table;
        let traffic = match table.traffic {
            TrafficKind::Ftp => Traffic::Ftp,
            TrafficKind::File => Traffic::File {
                size: table.size.ok_or_else(|| {
                    KeyError::new("traffic", "= \"file\" needs a size, as in size = \"100 kB\"")
                })?,
            },
            TrafficKind::Web => Traffic::Web(table.web.unwrap_or_default()),
            TrafficKind::FtpSessions => Traffic::FtpSessions(table.ftp_sessions.unwrap_or_default()),
            TrafficKind::ParetoWww => Traffic::ParetoWww(table.pareto_www.unwrap_or_default()),
            TrafficKind::EtsiWww => Traffic::EtsiWww(table.etsi_www.unwrap_or_default()),
            TrafficKind::Cbr => Traffic::Cbr(table.cbr.unwrap_or_default()),
            TrafficKind::OnOff => Traffic::OnOff(table.on_off.unwrap_or_default()),
            TrafficKind::Replay => Traffic::Replay(table.replay.ok_or_else(|| {
                KeyError::new("traffic", "= \"replay\" needs a file, as in replay.file = \"voice.txt\"")
            })?),
        };
        Ok(Flow { name, ue, traffic, direction, start, port, tcp: tcp.unwrap_or_default() })
    }
}

impl Traffic {
    /// Whether it opens TCP connections.
    pub(crate) fn uses_tcp(&self) -> bool {
        match self {
            Traffic::EtsiWww(_) | Traffic::Cbr(_) | Traffic::OnOff(_) => false,
            Traffic::Replay(replay) => replay.transport == Transport::Tcp,
            Traffic::Ftp | Traffic::File { .. } | Traffic::Web(_) => true,
            Traffic::FtpSessions(_) | Traffic::ParetoWww(_) => true,
        }
    }
}

/// The port of servers that were given none: no dissector takes its payload of zeros for a protocol.
const SERVER_PORT: u16 = 5001;

impl Flow {
    /// The port at which its server listens.
    pub fn server_port(&self) -> u16 {
        self.port.unwrap_or(SERVER_PORT)
    }

    /// The flow as a file spells it beside `[tcp]`: without a table of its own where it adds nothing.
    pub(crate) fn beside(&self, top: &Tcp) -> FlowTable {
        let table = FlowTable::from(self.clone());
        FlowTable { tcp: table.tcp.filter(|tcp| tcp != top), ..table }
    }
}

impl From<Flow> for FlowTable {
    fn from(flow: Flow) -> Self {
        let Flow { name, ue, direction, start, port, tcp, traffic } = flow;
        let mut table = FlowTable {
            name,
            ue,
            traffic: TrafficKind::Ftp,
            size: None,
            direction,
            start,
            port,
            web: None,
            ftp_sessions: None,
            pareto_www: None,
            etsi_www: None,
            cbr: None,
            on_off: None,
            replay: None,
            tcp: Some(tcp),
        };
        match traffic {
            Traffic::Ftp => {}
            Traffic::File { size } => (table.traffic, table.size) = (TrafficKind::File, Some(size)),
            Traffic::Web(web) => (table.traffic, table.web) = (TrafficKind::Web, Some(web)),
            Traffic::FtpSessions(sessions) => {
                (table.traffic, table.ftp_sessions) = (TrafficKind::FtpSessions, Some(sessions));
            }
            Traffic::ParetoWww(www) => {
                (table.traffic, table.pareto_www) = (TrafficKind::ParetoWww, Some(www));
            }
            Traffic::EtsiWww(www) => (table.traffic, table.etsi_www) = (TrafficKind::EtsiWww, Some(www)),
            Traffic::Cbr(cbr) => (table.traffic, table.cbr) = (TrafficKind::Cbr, Some(cbr)),
            Traffic::OnOff(on_off) => (table.traffic, table.on_off) = (TrafficKind::OnOff, Some(on_off)),
            Traffic::Replay(replay) => (table.traffic, table.replay) = (TrafficKind::Replay, Some(replay)),
        }
        table
    }
}

fn one() -> u16 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_none(count: &u16) -> bool {
    *count == 0
}

fn no_profile() -> String {
    "none".to_owned()
}

fn flat_queue() -> Option<QueueLimit> {
    Some(QueueLimit::Bytes(Bytes(100_000)))
}

fn common() -> String {
    "common".to_owned()
}

fn ftp() -> TrafficKind {
    TrafficKind::Ftp
}

fn downlink() -> FlowDirection {
    FlowDirection::Downlink
}
