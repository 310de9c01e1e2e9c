//! Configuration of the cells of a layout.

use std::sync::Arc;

use umts_units::{Db, Duration};

use super::codes::OneTree;
use crate::environment::{EnvironmentConfig, MobilityConfig};
use crate::options::options;
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
    /// Arrivals, lengths and codes.
    pub calls: CallsConfig,
    /// How the calling UEs move.
    pub mobility: MobilityConfig,
    /// Target Eb/N0 of power control, linear.
    pub target: f64,
    /// The block error ratio at an Eb/N0.
    pub errors: Arc<LinkTable>,
}

options! {
    /// Handover between the cells of a layout. Each 100 ms a user changes to the cell that it receives
    /// best, or stays. A call may have several cells.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct HandoverConfig as "Handover" {
        /// Margin by which another cell must be better before a user changes to it.
        [label = "Hysteresis of handover", range = "0 dB to 100 dB", source = "Rendón et al. (2004), §3.2"]
        pub hysteresis: Db = Db(1.0),
        /// Time after a handover in which the user is not scheduled on the DSCH.
        [label = "Interruption by a handover", max = "10 s",
            source = "an interpretation: Rendón et al. (2004) say nothing"]
        pub interruption: Duration = Duration::ZERO,
        /// What happens to the user's RLC entities at a handover.
        [label = "RLC at a handover",
            source = "an interpretation: Rendón et al. (2004) say nothing; TS 25.322 §9.7.7 for re-establishment"]
        pub rlc: RlcAtHandover = RlcAtHandover::Kept,
        /// What happens at a handover to the SDUs in the RNC of which nothing was sent.
        [label = "Buffer at a handover", source = "an interpretation: Rendón et al. (2004) say nothing"]
        pub buffer: BufferAtHandover = BufferAtHandover::Kept,
        /// Soft handover of calls. Handover is hard if absent.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        #[cfg_attr(feature = "schema", schemars(with = "SoftHandover", extend("x-default" = "none")))]
        pub soft: Option<SoftHandover> = None,
        /// Gaps in the transmission of calls near another cell; no gaps if absent.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        #[cfg_attr(feature = "schema", schemars(with = "CompressedMode", extend("x-default" = "none")))]
        pub compressed_mode: Option<CompressedMode> = None,
    }
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
