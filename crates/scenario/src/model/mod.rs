//! The scenario as types: the content of a TOML file after defaults, with units checked.
//!
//! Each field is one key of the file and is declared only here or in the stack. Its type carries
//! the unit, and its doc comment is its description in the reference. `x-label` is the label in
//! figures, `x-min` and `x-max` are the range that the loader enforces; `x-source` is the clause,
//! RFC or tool that the value comes from. [`crate::schema`] and [`crate::params`] are generated
//! from the fields.
//!
//! Most tables are configurations of the stack, which declares them. Tables with values that must be
//! converted (levels in dB, references, distributions) have a method `config`. Words of options are
//! always enums of the stack.

/// Declares a table of a scenario file: each key with its default.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* pub $field:ident : $type:ty = $default:expr,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default),+ }
            }
        }
    };
}

mod cell;
mod changes;
mod dsch;
mod impairment;
mod layout;
mod mobility;
mod network;
mod power;
mod propagation;
mod proxy;
mod radio;
mod rlc;
mod rrc;
mod streets;
mod tcp;
mod tdd;
mod traffic;
mod users;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::PythonClass;
use umts_stack::environment::EnvironmentConfig;
use umts_units::Duration;
use umts_units::keyword::{End, Off};

pub use cell::{Admission, Bearer, Cell, Dch, Fach, FachScheduling, Iub, IubTiming, Rach, RachAccess, TTIS};
pub(crate) use cell::{default_cells, default_sector};
pub use changes::At;

pub use dsch::{Blocks, Dsch, DschFormat, TreeShare};
pub use impairment::{Action, Impairment, PacketChoice, PacketKind};
pub(crate) use layout::BEST;
pub use layout::{Border, Layout, Site};
pub use mobility::{Mobility, MobilityModel};
pub(crate) use network::default_chain;
pub use network::{InternetDelay, Link, LinkDirections, Outage, QueueLimit, RedConfig};
pub use power::{LinkTables, Power, Supply, milliwatts};
pub(crate) use propagation::complete as complete_propagation;
pub use propagation::{Antenna, PathLoss, Propagation, Shadowing, StreetLoss};
pub use proxy::{
    AtLimit, FlowChoice, LostTransferAnswer, Proxy, ProxyAckRegulation, ProxyMode, ProxyOutage, ProxySnoop,
    ProxyWindowClamp, Setup,
};
pub use radio::{BlockErrors, ErrorModel, ErrorUnit, Radio};
pub use rlc::{
    BufferCounts, ErroneousSdus, ErroneousSn, GapWhileProhibited, LengthIndicators, MaxDatReading,
    MissingPduIndication, MrwAcknowledgment, PduSize, Piggyback, Rlc, RlcHeader, RlcMode, SduDiscard,
    StatusFormat,
};
pub use rrc::{DataWhileSwitching, Promotion, RestingState, RlcAtSwitch, Rrc, StatePower};
pub use streets::{Stations, Streets};
pub use tcp::{
    ChargedOptions, Nagle, RtoRule, SlowStart, Tcp, TcpConnection, TcpKeys, TcpProfile, TcpVariant, Window,
};
pub use tdd::{Ack, Duplex, Frames, Grant, Interferers, Sdus, Tdd, TddRach, TddRadio};
pub use traffic::{
    Cbr, EtsiWww, FirstSession, FtpSessions, OnOff, Pace, ParetoWww, Record, Replay, Rounding, Segments,
    SizeOf, Transport, Truncation, Web, WebVariant,
};
pub use umts_stack::radio::pdcp::{HeaderCompression, PdcpConfig as Pdcp};
pub use umts_stack::rnc::calls::CallsConfig as Calls;
pub use umts_stack::rnc::multicell::{
    AssociatedConfig as Associated, BufferAtHandover, CodeLimit as DchCodes, DchConfig as Dchs,
    DchUserOptions as UeDch, HandoverConfig as Handover, RlcAtHandover, SccpchOptions as Sccpch, WithoutCode,
};
pub use umts_stack::rnc::rrc::{CompressedBy, CompressedMode as Compressed, SoftHandover as Soft};
pub(crate) use users::{CONVERSATIONAL, DSCH, FlowTable, SWITCHED};
pub use users::{Capacity, Flat, Flow, FlowDirection, Traffic, Ue};

use crate::text::seed;

/// The version of the file format that this crate reads.
pub const VERSION: u32 = 1;

/// A network, its users and their traffic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of the scenario format. This program reads version 1.
    #[schemars(extend("x-label" = "Format version", "x-min" = 1, "x-max" = 1, "x-source" = "umtslab"))]
    pub version: u32,
    /// Short name in results. If absent, the file's name without `.toml`.
    #[serde(default)]
    #[schemars(extend("x-label" = "Name", "x-default" = "the file's name", "x-range" = "letters, digits, - _ and ."))]
    pub name: String,
    /// Title of the scenario: its subject in one line.
    #[serde(default)]
    #[schemars(extend("x-label" = "Title"))]
    pub title: String,
    /// Source of the values: the study and its table.
    #[serde(default)]
    #[schemars(extend("x-label" = "Source"))]
    pub source: String,
    /// Simulated time of a run.
    #[schemars(extend("x-label" = "Duration", "x-min" = "1 us", "x-max" = "1000000 h"))]
    pub duration: Duration,
    /// Seed of every random stream of the run.
    #[serde(default = "one", with = "seed")]
    #[schemars(with = "u64", extend("x-label" = "Seed"))]
    pub seed: u64,
    /// The part of the run over which metrics are computed.
    #[serde(default)]
    pub measure: Measure,
    /// The fixed network, hop by hop from the server to the RNC, the same in both directions.
    #[serde(default = "default_chain")]
    pub link: Vec<Link>,
    /// A proxy between servers and users; no proxy if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Proxy", extend("x-default" = "none"))]
    pub proxy: Option<Proxy>,
    /// Sites with sectors as cells; no layout if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Layout", extend("x-default" = "none"))]
    pub layout: Option<Layout>,
    /// Path loss, antennas and shadowing in a layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Propagation")]
    pub propagation: Option<Propagation>,
    /// Handover of the users of a layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Handover")]
    pub handover: Option<Handover>,
    /// The cells. With `[layout]` exactly one, which describes each of its sectors.
    #[serde(default = "default_cells")]
    pub cell: Vec<Cell>,
    /// The dedicated bearers that users can name.
    #[serde(default)]
    pub bearer: Vec<Bearer>,
    /// Header compression above RLC.
    #[serde(default)]
    pub pdcp: Pdcp,
    /// Radio link control.
    #[serde(default)]
    pub rlc: Rlc,
    /// Radio resource control.
    #[serde(default)]
    pub rrc: Rrc,
    /// Block errors of the radio.
    #[serde(default)]
    pub radio: Radio,
    /// TCP parameters, the same at both ends.
    #[serde(default)]
    pub tcp: Tcp,
    /// The users, in groups of identical UEs.
    pub ue: Vec<Ue>,
    /// The transfers of the users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<Flow>,
    /// Treatment of single packets, for tests and teaching.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub impairment: Vec<Impairment>,
    /// Changes of the network during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<At>,
}

impl Scenario {
    /// Layout and propagation of the cells, if the scenario has a layout. Panics if the scenario
    /// was not checked.
    pub fn environment(&self) -> Option<EnvironmentConfig> {
        let (layout, propagation) = self.layout.as_ref().zip(self.propagation.as_ref())?;
        Some(EnvironmentConfig { layout: layout.config(), propagation: *propagation })
    }

    /// The RLC parameters of a group.
    pub fn rlc_of<'a>(&'a self, ue: &'a Ue) -> &'a Rlc {
        ue.rlc.as_ref().unwrap_or(&self.rlc)
    }

    /// The block errors of a group.
    pub fn radio_of<'a>(&'a self, ue: &'a Ue) -> &'a Radio {
        ue.radio.as_ref().unwrap_or(&self.radio)
    }

    /// The RRC parameters of a group. The keys of the cell update apply to users that are not
    /// switched, too.
    pub fn connection_of<'a>(&'a self, ue: &'a Ue) -> &'a Rrc {
        ue.rrc.as_ref().unwrap_or(&self.rrc)
    }

    /// The RRC parameters of a group that RRC switches between channels.
    pub fn rrc_of<'a>(&'a self, ue: &'a Ue) -> Option<&'a Rrc> {
        ue.is_switched().then(|| self.connection_of(ue))
    }
}

table! {
    /// The part of a run over which metrics are computed.
    pub struct Measure {
        /// Start of the measurement window. Earlier events are warm-up.
        #[schemars(extend("x-label" = "Start of the measurement window"))]
        pub from: Duration = Duration::ZERO,
        /// End of the measurement window. `"end"` is the end of the run.
        #[serde(with = "End::<Duration>")]
        #[schemars(extend("x-label" = "End of the measurement window"))]
        pub to: Option<Duration> = None,
        /// Minimum length of a stall: a time without a new acknowledgment at the sender while data
        /// is in flight. For the metrics `stalls`, `stalled_s` and `longest_stall_s`.
        #[schemars(extend("x-label" = "Minimum length of a stall"))]
        pub stall: Duration = Duration::from_millis(500),
        /// Divide the time of every TCP connection among its causes: the metrics `budget_…`, and,
        /// with time series, their intervals. Costs some time and memory.
        #[schemars(extend("x-label" = "Time budget"))]
        pub budget: bool = false,
        /// Number of a connection, in the order of opening from 0. With the time budget and time
        /// series, records its segments, the RLC PDUs of its user with their losses, and RRC
        /// states, for a figure with one time axis.
        #[serde(with = "Off::<u32>")]
        #[schemars(extend("x-label" = "Connection of the waterfall"))]
        pub waterfall: Option<u32> = None,
        /// With the time budget and time series, record all connections and UEs at full resolution,
        /// for `umts why`: segments, SDUs, PDUs, transport block sets, STATUS reports, RRC states,
        /// timers, and the place of each loss. Up to several rows per TTI.
        #[schemars(extend("x-label" = "Timeline"))]
        pub timeline: bool = false,
        /// With time series, record every PDU that leaves RLC: time, number, polling bit with its
        /// reason, content of a STATUS, and whether the block was lost. One row per PDU.
        #[schemars(extend("x-label" = "Record of RLC PDUs"))]
        pub rlc_pdus: bool = false,
        /// With time series, record every block on the air of a TDD cell: frame, slot, codes, SIR,
        /// and whether it was lost. One row per block.
        #[schemars(extend("x-label" = "Record of slots"))]
        pub slots: bool = false,
        /// With time series, record every request for a TTI of the DSCHs of a layout: format, code
        /// and power, or the reason of its refusal. One row per request.
        #[schemars(extend("x-label" = "Record of DSCH requests"))]
        pub dsch: bool = false,
    }
}

fn one() -> u64 {
    1
}
