//! The scenario as types: what a TOML file says after defaults, with units checked.
//!
//! Each field is one key of the file, declared here and nowhere else: its type carries the unit, the doc comment is
//! its sentence in the reference, `x-min`/`x-max` are the range that the loader enforces, `x-source` is the clause,
//! RFC or tool it comes from. [`crate::schema`] and [`crate::params`] are generated from that.
//!
//! A file's keys are not an entity's variables, so tables and configurations are two; beside a table stands the way to
//! its configuration. What both know is said by the stack alone: words of options are its enums, and where a key is a
//! variable the `Default` takes the value from there.

mod calls;
mod cell;
mod dch;
mod dsch;
mod handover;
mod impairment;
mod layout;
mod mobility;
mod network;
mod pdcp;
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
use umts_stack::environment::EnvironmentConfig;
use umts_units::Duration;

pub use calls::Calls;
pub use cell::{Admission, Bearer, Cell, Dch, Fach, FachScheduling, Iub, IubTiming, Rach, RachAccess, TTIS};
pub(crate) use cell::{default_cells, default_sector};
pub use dch::{Associated, DchCodes, Dchs, WithoutCode};
pub use dsch::{Blocks, Dsch, DschFormat, TreeShare};
pub use handover::{BufferAtHandover, Compressed, CompressedBy, Handover, RlcAtHandover, Soft};
pub use impairment::{Action, Impairment, PacketChoice, PacketKind};
pub(crate) use layout::BEST;
pub use layout::{Border, Layout, Site};
pub use mobility::{Mobility, MobilityModel};
pub(crate) use network::default_chain;
pub use network::{InternetDelay, Link, Outage, QueueLimit, Red, Ways};
pub use pdcp::{HeaderCompression, Pdcp};
pub use power::{LinkTables, Power, Supply};
pub use propagation::{Antenna, PathLoss, Propagation, Shadowing};
pub use proxy::{
    AtLimit, FlowChoice, Proxy, ProxyAckRegulation, ProxyMode, ProxyOutage, ProxySnoop, ProxyWindowClamp,
    Setup, Then,
};
pub use radio::{BlockErrors, ErrorModel, ErrorUnit, Radio};
pub use rlc::{
    BufferCounts, ErroneousSdus, ErroneousSn, GapWhileProhibited, LengthIndicators, MaxDatReading,
    MissingPduIndication, MrwAcknowledgment, Piggyback, Rlc, RlcHeader, RlcMode, SduDiscard, StatusFormat,
};
pub use rrc::{DataWhileSwitching, Promotion, RestingState, RlcAtSwitch, Rrc, StatePower};
pub use streets::{Stations, StreetLoss, Streets};
pub use tcp::{
    ChargedOptions, Nagle, PythonClass, RtoRule, SlowStart, Tcp, TcpConnection, TcpKeys, TcpProfile,
    TcpVariant, Window,
};
pub use tdd::{Ack, Duplex, Frames, Grant, Interferers, Sdus, Tdd, TddRach, TddRadio};
pub use traffic::{
    Cbr, EtsiWww, FirstSession, FtpSessions, OnOff, Pace, ParetoWww, Record, Replay, Rounding, Segments,
    SizeOf, Transport, Truncation, Web, WebVariant,
};
pub(crate) use users::{CONVERSATIONAL, DSCH, FlowTable, SWITCHED};
pub use users::{Capacity, Flat, Flow, FlowDirection, Traffic, Ue};

use crate::text::{seed, word_end, word_off};

/// The version of the file format that this crate reads.
pub const VERSION: u32 = 1;

/// A network, its users and what they do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of the scenario format; this one is 1.
    #[schemars(extend("x-min" = 1, "x-max" = 1, "x-source" = "umtslab"))]
    pub version: u32,
    /// Short name in results; the file's name without `.toml` if absent.
    #[serde(default)]
    #[schemars(extend("x-default" = "the file's name", "x-range" = "letters, digits, - _ and ."))]
    pub name: String,
    /// One line for people: what the scenario shows.
    #[serde(default)]
    pub title: String,
    /// Where the values come from: the study and its table.
    #[serde(default)]
    pub source: String,
    /// Simulated time of a run.
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000000 h"))]
    pub duration: Duration,
    /// Seed of every random stream of the run.
    #[serde(default = "one", with = "seed")]
    #[schemars(with = "u64")]
    pub seed: u64,
    /// The part of the run over which metrics are taken.
    #[serde(default)]
    pub measure: Measure,
    /// The fixed network, hop by hop from the server to the RNC, both ways alike.
    #[serde(default = "default_chain")]
    pub link: Vec<Link>,
    /// A proxy between servers and users; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Proxy", extend("x-default" = "none"))]
    pub proxy: Option<Proxy>,
    /// Sites whose sectors are the cells; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Layout", extend("x-default" = "none"))]
    pub layout: Option<Layout>,
    /// What lies between antennas and users of a layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Propagation")]
    pub propagation: Option<Propagation>,
    /// How users of a layout change cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Handover")]
    pub handover: Option<Handover>,
    /// The cells; with `[layout]` one, which describes each of its sectors.
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
    /// TCP, the same at both ends.
    #[serde(default)]
    pub tcp: Tcp,
    /// The users, in groups of equals.
    pub ue: Vec<Ue>,
    /// What the users transfer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<Flow>,
    /// What is done to single packets, for tests and for teaching.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub impairment: Vec<Impairment>,
}

impl Scenario {
    /// Where cells are, if that is said, and what lies between them and users. What was not checked is a panic.
    pub fn environment(&self) -> Option<EnvironmentConfig> {
        let (layout, propagation) = self.layout.as_ref().zip(self.propagation.as_ref())?;
        Some(EnvironmentConfig {
            layout: layout.config(),
            propagation: propagation.config(),
            shadowing: propagation.shadowing.config(),
        })
    }

    /// RLC of a group.
    pub fn rlc_of<'a>(&'a self, ue: &'a Ue) -> &'a Rlc {
        ue.rlc.as_ref().unwrap_or(&self.rlc)
    }

    /// Block errors of a group.
    pub fn radio_of<'a>(&'a self, ue: &'a Ue) -> &'a Radio {
        ue.radio.as_ref().unwrap_or(&self.radio)
    }

    /// The keys of RRC of a group, of which those of the cell update hold for users that are not switched, too.
    pub fn connection_of<'a>(&'a self, ue: &'a Ue) -> &'a Rrc {
        ue.rrc.as_ref().unwrap_or(&self.rrc)
    }

    /// RRC of a group, where it is switched between channels.
    pub fn rrc_of<'a>(&'a self, ue: &'a Ue) -> Option<&'a Rrc> {
        ue.is_switched().then(|| self.connection_of(ue))
    }
}

/// The part of a run over which metrics are taken.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// Start of the window: what happens before is warm-up.
    pub from: Duration,
    /// End of the window; `"end"` is the end of the run.
    #[serde(with = "word_end")]
    #[schemars(with = "crate::text::End<Duration>")]
    pub to: Option<Duration>,
    /// Divide the time of every TCP connection among its causes: the metrics `budget_…`, and with time series their
    /// intervals. Takes some time and memory.
    pub budget: bool,
    /// Number of a connection, in the order of opening from 0: with the time budget and time series, its segments, the RLC
    /// PDUs of its user and their losses, and RRC states are kept, for a figure with one time axis.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<u32>")]
    pub waterfall: Option<u32>,
    /// With time series, keep every PDU that leaves RLC: when, its number, its polling bit and why, what a STATUS says, and
    /// whether the block was lost. A row per PDU.
    pub rlc_pdus: bool,
    /// With time series, keep every block on the air of a TDD cell: its frame, slot and codes, its SIR, and whether it was lost.
    /// A row per block.
    pub slots: bool,
    /// With time series, keep every request for a TTI of the DSCHs of a layout: its format, code and power, or what was lacking.
    /// A row per request.
    pub dsch: bool,
}

fn one() -> u64 {
    1
}
