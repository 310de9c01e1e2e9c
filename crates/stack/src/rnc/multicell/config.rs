//! Configuration of the cells of a layout.

use std::sync::Arc;

use umts_units::Duration;

use super::codes::OneTree;
use crate::environment::{EnvironmentConfig, MobilityConfig};
use crate::radio::phy::LinkTable;
use crate::radio::phy::power_control::PowerConfig;
use crate::rnc::calls::CallsConfig;
use crate::rnc::mac_sh::MacShConfig;
use crate::rnc::rrc::{CompressedMode, SoftHandover};

/// All cells of a layout.
#[derive(Debug, Clone)]
pub struct MulticellConfig {
    /// Sites, propagation and borders.
    pub environment: EnvironmentConfig,
    /// Power limits of each cell.
    pub power: PowerConfig,
    /// The DSCH of each cell.
    pub dsch: MacShConfig,
    /// The dedicated channels of each cell.
    pub dch: DchConfig,
    /// How users change cells.
    pub handover: HandoverConfig,
    /// Calls of each kind.
    pub calls: Vec<CallClassConfig>,
}

/// The dedicated channels of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DchConfig {
    /// Limit of codes. `None`: no limit.
    pub codes: Option<OneTree>,
    /// The DCH of each DSCH user. `None`: it needs neither codes nor power.
    pub associated: Option<AssociatedConfig>,
}

/// Calls of one kind.
#[derive(Debug, Clone)]
pub struct CallClassConfig {
    /// Arrivals and lengths.
    pub calls: CallsConfig,
    /// How the calling UEs move.
    pub mobility: MobilityConfig,
    /// The spreading factor of their codes.
    pub spreading_factor: u16,
    /// Target Eb/N0 of power control, linear.
    pub target: f64,
    /// The block error ratio at an Eb/N0.
    pub errors: Arc<LinkTable>,
}

/// How users change cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HandoverConfig {
    /// Hysteresis of cell selection in dB.
    pub hysteresis_db: f64,
    /// Time after a handover in which the user is not scheduled on the DSCH.
    pub interruption: Duration,
    /// Whether RLC is kept.
    pub rlc: RlcAtHandover,
    /// Whether SDUs are kept of which nothing was sent.
    pub buffer: BufferAtHandover,
    /// Soft handover of calls. `None`: a call has one cell at a time.
    pub soft: Option<SoftHandover>,
    /// Gaps of calls near another cell.
    pub compressed: Option<CompressedMode>,
}

/// Treatment of a user's RLC entities at a change of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RlcAtHandover {
    /// They stay as they are: the same RNC serves both cells.
    #[default]
    Kept,
    /// They are re-established: SDUs of which a part was sent are lost.
    Reestablished,
}

/// Treatment of SDUs at the RNC of which nothing was sent before their user changed cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum BufferAtHandover {
    /// They are sent in the new cell.
    #[default]
    Kept,
    /// They are lost, as if each cell had a buffer of its own. SDUs of which a part was sent are
    /// continued unless `rlc` is re-established.
    Lost,
}

/// Code and power of an associated DCH.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AssociatedConfig {
    /// The spreading factor of its code.
    pub spreading_factor: u16,
    /// Processing gain W/R, chips per bit.
    pub processing: f64,
    /// Target Eb/N0 of power control, linear.
    pub target: f64,
}
