//! Users and their traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_units::{Bytes, Duration};

use super::{Radio, Rlc, Tcp};
use crate::text::KeyError;

/// `count` user equipments alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ue {
    /// Name of the group, which flows refer to.
    pub name: String,
    /// How many user equipments are in the group.
    #[serde(default = "one")]
    #[schemars(extend("x-min" = 1, "x-max" = 65535))]
    pub count: u16,
    /// The cell they are in; may be left out if there is only one.
    #[serde(default)]
    #[schemars(extend("x-default" = "the only cell", "x-range" = "the name of a [[cell]]"))]
    pub cell: String,
    /// `"common"` for FACH and RACH, the name of a `[[bearer]]`, or that of a reference bearer (`umts bearers`).
    #[serde(default = "common")]
    #[schemars(extend("x-range" = "common, the name of a [[bearer]], or a name of `umts bearers`"))]
    pub bearer: String,
    /// Keys of `[rlc]` that differ for these users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rlc", extend("x-default" = "[rlc]", "x-overrides" = "rlc"))]
    pub rlc: Option<Rlc>,
    /// Keys of `[radio]` that differ for these users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Radio", extend("x-default" = "[radio]", "x-overrides" = "radio"))]
    pub radio: Option<Radio>,
}

/// One flow for every UE of the named group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "FlowTable", into = "FlowTable")]
pub struct Flow {
    /// The group of users.
    pub ue: String,
    /// What is transferred.
    pub traffic: Traffic,
    /// Which way the data goes.
    pub direction: FlowDirection,
    /// When the connection is opened.
    pub start: Duration,
    /// The top-level `[tcp]` with this flow's own keys on top.
    pub tcp: Tcp,
}

/// What a flow transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic {
    /// Greedy: never runs out of data.
    Ftp,
    /// A file of this size (`traffic = "file"`, `size = "100 kB"`).
    File {
        /// Octets of payload.
        size: Bytes,
    },
}

/// Which way the data of a flow goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowDirection {
    /// From the server to the user.
    Downlink,
    /// From the user to the server.
    Uplink,
}

/// A flow as the file spells it.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Flow")]
pub(crate) struct FlowTable {
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
    /// Keys of `[tcp]` that differ for this flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Tcp", extend("x-default" = "[tcp]", "x-overrides" = "tcp"))]
    tcp: Option<Tcp>,
}

#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TrafficKind {
    /// Greedy: never runs out of data.
    Ftp,
    /// One file of `size`.
    File,
}

impl TryFrom<FlowTable> for Flow {
    type Error = KeyError;
    fn try_from(table: FlowTable) -> Result<Self, KeyError> {
        let traffic = match (table.traffic, table.size) {
            (TrafficKind::Ftp, None) => Traffic::Ftp,
            (TrafficKind::File, Some(size)) => Traffic::File { size },
            (TrafficKind::Ftp, Some(_)) => {
                return Err(KeyError::new("size", "belongs to traffic = \"file\"; \"ftp\" never ends"));
            }
            (TrafficKind::File, None) => {
                return Err(KeyError::new("traffic", "= \"file\" needs a size, as in size = \"100 kB\""));
            }
        };
        let FlowTable { ue, direction, start, tcp, .. } = table;
        Ok(Flow { ue, traffic, direction, start, tcp: tcp.unwrap_or_default() })
    }
}

impl Flow {
    /// The flow as a file spells it beside `[tcp]`: without a table of its own where it adds nothing.
    pub(crate) fn beside(&self, top: &Tcp) -> FlowTable {
        let table = FlowTable::from(self.clone());
        FlowTable { tcp: table.tcp.filter(|tcp| tcp != top), ..table }
    }
}

impl From<Flow> for FlowTable {
    fn from(flow: Flow) -> Self {
        let (traffic, size) = match flow.traffic {
            Traffic::Ftp => (TrafficKind::Ftp, None),
            Traffic::File { size } => (TrafficKind::File, Some(size)),
        };
        let Flow { ue, direction, start, tcp, .. } = flow;
        FlowTable { ue, traffic, size, direction, start, tcp: Some(tcp) }
    }
}

fn one() -> u16 {
    1
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
