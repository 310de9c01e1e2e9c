//! Tables of users (`[[ue]]`) and of their traffic (`[[flow]]`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::ids::Direction as FlowDirection;
use umts_stack::ids::UeId;
use umts_stack::mac::e::EUeConfig;
use umts_stack::mac::hs::HsUeConfig;
use umts_stack::radio::flat::FlatConfig;
use umts_stack::scheduling::QosConfig;
use umts_units::keyword::Unlimited;
use umts_units::{BitRate, Bytes, Duration, Probability};

use super::traffic::{Cbr, EtsiWww, FtpSessions, OnOff, ParetoWww, Replay, Web};
use super::{Calls, Mobility, QueueLimit, Radio, Rlc, Rrc, Tcp, Transport, UeDch};
use crate::text::KeyError;

/// A group of `count` identical user equipments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ue {
    /// Name of the group, to which flows refer.
    #[schemars(extend("x-label" = "Group of users"))]
    pub name: String,
    /// Number of user equipments in the group; 0 for calls, which come and go.
    #[serde(default = "one", skip_serializing_if = "is_zero")]
    #[schemars(extend("x-label" = "Users", "x-min" = 1, "x-max" = UeId::MAX_COUNT))]
    pub count: u16,
    /// Cell of the group, optional if there is only one. With `[layout]`, `"best"` is the cell that
    /// each user receives best.
    #[serde(default)]
    #[schemars(extend("x-label" = "Cell", "x-default" = "the only cell; best with [layout]", "x-range" = "the name of a [[cell]], or best"))]
    pub cell: String,
    /// Position and movement of the users in a layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Mobility")]
    pub mobility: Option<Mobility>,
    /// Bearer of the users: `"common"` for FACH and RACH, `"switched"` for these and a DCH in turn
    /// (`[rrc]`), `"granted"` in a TDD cell, `"dsch"` in the cells of a `[layout]`,
    /// `"conversational-64"` for calls in a layout, the name of a `[[bearer]]`, or the name of a
    /// reference bearer (`umts bearers`).
    #[serde(default = "common")]
    #[schemars(extend("x-label" = "Bearer", "x-range" = "common, switched, granted, dsch, conversational-64, the name of a [[bearer]], or a name of `umts bearers`"))]
    pub bearer: String,
    /// Quality of service of the bearer: class, guaranteed rate, transfer delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "QosConfig", extend("x-default" = "with the values below"))]
    pub qos: Option<QosConfig>,
    /// Calls that come and go, each with a DCH, instead of permanent users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Calls", extend("x-default" = "none"))]
    pub calls: Option<Calls>,
    /// Keys of `[rlc]` that differ for these users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rlc", extend("x-label" = "RLC of the users", "x-default" = "[rlc]", "x-overrides" = "rlc"))]
    pub rlc: Option<Rlc>,
    /// Keys of `[rrc]` that differ for these users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rrc", extend("x-label" = "RRC of the users", "x-default" = "[rrc]", "x-overrides" = "rrc"))]
    pub rrc: Option<Rrc>,
    /// Keys of `[radio]` that differ for these users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Radio", extend("x-label" = "Radio of the users", "x-default" = "[radio]", "x-overrides" = "radio"))]
    pub radio: Option<Radio>,
    /// Code and Eb/N0 of users of a DCH bearer in a layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "UeDch", extend("x-default" = "with the values below"))]
    pub dch: Option<UeDch>,
    /// Category, radio link and block errors of users of an `hsdpa-…` or `hspa-…` bearer in the downlink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "HsUeConfig", extend("x-default" = "with the values below"))]
    pub hs_dsch: Option<HsUeConfig>,
    /// Category, power and block errors of users of an `hspa-…` bearer in the uplink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "EUeConfig", extend("x-default" = "with the values below"))]
    pub e_dch: Option<EUeConfig>,
    /// A measured radio instead of bearer, RLC and block errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Capacity", extend("x-default" = "none"))]
    pub capacity: Option<Capacity>,
    /// A flat radio instead of bearer, RLC and block errors: a rate and a delay, for comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Flat", extend("x-default" = "none"))]
    pub flat: Option<Flat>,
}

/// A radio with a rate, a delay, a queue and random loss, as browsers and test services emulate
/// "3G". It does not model UMTS: it has no TTIs, no RLC and no RRC states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flat {
    /// Profile that sets every other key (`umts bearers flat`), or `"none"`.
    #[serde(default = "no_profile")]
    #[schemars(extend("x-label" = "Flat radio", "x-range" = "none, or a flat one of `umts bearers`"))]
    pub profile: String,
    /// Bit rate of IP packets towards the user.
    #[schemars(extend("x-label" = "Flat radio, downlink"))]
    pub downlink: BitRate,
    /// Bit rate of IP packets from the user.
    #[schemars(extend("x-label" = "Flat radio, uplink"))]
    pub uplink: BitRate,
    /// Round-trip time that the radio adds to the fixed network, half in each direction.
    #[schemars(extend("x-label" = "Flat radio, RTT", "x-max" = "1 h"))]
    pub rtt: Duration,
    /// Random loss of IP packets in each direction.
    #[serde(default)]
    #[schemars(extend("x-label" = "Flat radio, loss rate"))]
    pub loss: Probability,
    /// Capacity of the queue in each direction, including the packet in transmission; unlimited if
    /// absent.
    #[serde(default = "flat_queue", with = "Unlimited::<QueueLimit>")]
    #[schemars(extend("x-label" = "Flat radio, queue", "x-min" = "1 packets", "x-source" = "as rlc.buffer, for comparison; the profiles say nothing"))]
    pub queue: Option<QueueLimit>,
}

impl Flat {
    /// Configuration of the radio of one user.
    pub fn config(&self) -> FlatConfig {
        FlatConfig {
            rates: [self.downlink, self.uplink],
            delay: Duration::from_nanos(self.rtt.as_nanos() / 2),
            loss: self.loss.value(),
            queue: self.queue,
        }
    }
}

/// A radio measured above RLC: the times at which 1,500 octets can pass, in each direction
/// (mahimahi's traces).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// Trace of the downlink, relative to the folder of the scenario file: one time in milliseconds
    /// per line. The trace repeats when it ends.
    #[schemars(extend("x-label" = "Capacity trace, downlink", "x-source" = "mahimahi, mm-link"))]
    pub downlink: String,
    /// Trace of the uplink, in the format of the downlink's trace.
    #[schemars(extend("x-label" = "Capacity trace, uplink", "x-source" = "mahimahi, mm-link"))]
    pub uplink: String,
    /// Capacity of the queue in each direction; unlimited if absent.
    #[serde(default, with = "Unlimited::<QueueLimit>")]
    #[schemars(extend("x-label" = "Queue of the capacity trace", "x-min" = "1 packets", "x-source" = "mahimahi: infinite by default"))]
    pub queue: Option<QueueLimit>,
}

impl Ue {
    /// Whether RRC switches these users between FACH and RACH, and a DCH.
    pub fn is_switched(&self) -> bool {
        self.bearer == SWITCHED && !self.has_emulated_link()
    }

    /// Whether a measured or a flat radio replaces channels, RLC and block errors.
    pub fn has_emulated_link(&self) -> bool {
        self.capacity.is_some() || self.flat.is_some()
    }
}

/// The bearer of users that RRC switches between channels.
pub(crate) const SWITCHED: &str = "switched";
/// The bearer of users of the DSCHs of a layout.
pub(crate) const DSCH: &str = "dsch";
/// The bearer of calls.
pub(crate) const CONVERSATIONAL: &str = "conversational-64";

/// One flow for every UE of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "FlowTable", into = "FlowTable")]
pub struct Flow {
    /// Name of the flow in other keys.
    pub name: Option<String>,
    /// Name of the group of users.
    pub ue: String,
    /// Content of the transfer.
    pub traffic: Traffic,
    /// Direction of the data.
    pub direction: FlowDirection,
    /// Time at which the connection is opened.
    pub start: Duration,
    /// Port of the server, or `None` for the default.
    pub port: Option<u16>,
    /// The top-level `[tcp]` with the flow's own keys applied.
    pub tcp: Tcp,
}

/// Content of a flow.
#[derive(Debug, Clone, PartialEq)]
pub enum Traffic {
    /// Greedy: never runs out of data.
    Ftp,
    /// A file of this size (`traffic = "file"`, `size = "100 kB"`).
    File {
        /// Payload, in octets.
        size: Bytes,
    },
    /// Web pages.
    Web(Web),
    /// Files with pauses between them.
    FtpSessions(FtpSessions),
    /// Requests for files with heavy-tailed sizes.
    ParetoWww(ParetoWww),
    /// Sessions of datagrams.
    EtsiWww(EtsiWww),
    /// Datagrams at a constant rate.
    Cbr(Cbr),
    /// Voice or video with silences.
    OnOff(OnOff),
    /// Replay of a recording.
    Replay(Replay),
}

/// A flow as written in the file.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Flow")]
pub(crate) struct FlowTable {
    /// Name of the flow in other keys, such as `proxy.flows`. Several flows may share a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("x-label" = "Name of the flow"))]
    name: Option<String>,
    /// Name of the group of users. Each of them has one flow.
    #[schemars(extend("x-label" = "Users of the flow"))]
    ue: String,
    /// Traffic model of the flow.
    #[serde(default = "ftp")]
    #[schemars(extend("x-label" = "Traffic"))]
    traffic: TrafficKind,
    /// Size of the file in octets (`traffic = "file"` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes", extend("x-label" = "File size", "x-min" = "1 B", "x-max" = "1000 GB"))]
    size: Option<Bytes>,
    /// Direction of the data.
    #[serde(default = "downlink")]
    #[schemars(extend("x-label" = "Direction"))]
    direction: FlowDirection,
    /// Time at which the connection is opened.
    #[serde(default)]
    #[schemars(extend("x-label" = "Start of the connection", "x-max" = "1000000 h"))]
    start: Duration,
    /// Port of the server. Captures show it, and `proxy.ports` selects by it. 5001 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u16", extend("x-label" = "Port of the server", "x-min" = 1, "x-max" = 65_535))]
    port: Option<u16>,
    /// Web pages (`traffic = "web"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Web")]
    web: Option<Web>,
    /// Files with pauses between them (`traffic = "ftp_sessions"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FtpSessions")]
    ftp_sessions: Option<FtpSessions>,
    /// Requests for files with heavy-tailed sizes (`traffic = "pareto_www"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ParetoWww")]
    pareto_www: Option<ParetoWww>,
    /// Sessions of datagrams (`traffic = "etsi_www"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "EtsiWww")]
    etsi_www: Option<EtsiWww>,
    /// Datagrams at a constant rate (`traffic = "cbr"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Cbr")]
    cbr: Option<Cbr>,
    /// Voice or video with silences (`traffic = "on_off"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "OnOff")]
    on_off: Option<OnOff>,
    /// Replay of a recording (`traffic = "replay"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Replay")]
    replay: Option<Replay>,
    /// Keys of `[tcp]` that differ for this flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Tcp", extend("x-label" = "TCP of the flow", "x-default" = "[tcp]", "x-overrides" = "tcp"))]
    tcp: Option<Tcp>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TrafficKind {
    /// Greedy: never runs out of data. The sender of the data opens the connection: for a download
    /// the server.
    Ftp,
    /// One file of `size`. The sender of the data opens the connection: for a download the server.
    File,
    /// Web pages, with reading times between them.
    Web,
    /// Files in succession, with reading times between them.
    FtpSessions,
    /// Requests for files with heavy-tailed sizes.
    ParetoWww,
    /// WWW sessions of UDP datagrams as in UMTS 30.03.
    EtsiWww,
    /// UDP datagrams at a constant rate.
    Cbr,
    /// UDP datagrams in spurts: voice or video.
    OnOff,
    /// Writes of given sizes at given times, read from a file.
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
    /// Returns an error if there is a key of another kind of traffic.
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
    /// Whether the traffic opens TCP connections.
    pub(crate) fn uses_tcp(&self) -> bool {
        match self {
            Traffic::EtsiWww(_) | Traffic::Cbr(_) | Traffic::OnOff(_) => false,
            Traffic::Replay(replay) => replay.transport == Transport::Tcp,
            Traffic::Ftp | Traffic::File { .. } | Traffic::Web(_) => true,
            Traffic::FtpSessions(_) | Traffic::ParetoWww(_) => true,
        }
    }
}

/// Default port of servers. No dissector takes its payload of zeros for a protocol.
const SERVER_PORT: u16 = 5001;

impl Flow {
    /// The port of the flow's server.
    pub fn server_port(&self) -> u16 {
        self.port.unwrap_or(SERVER_PORT)
    }

    /// The flow as a file spells it below `[tcp]`: without a table of its own if it adds nothing.
    pub(crate) fn without_defaults(&self, top: &Tcp) -> FlowTable {
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
fn is_zero(count: &u16) -> bool {
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
