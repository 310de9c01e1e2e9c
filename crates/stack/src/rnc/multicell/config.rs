//! Configuration of the cells of a layout.

use std::sync::Arc;

use umts_units::{BitRate, Db, Dbm, Duration};

use super::codes::WithoutCode;
use super::hs_dsch::HsCellConfig;
use crate::environment::{EnvironmentConfig, MobilityConfig};
use crate::options::options;
#[cfg(feature = "schema")]
use crate::options::{Auto, OrNone};
use crate::radio::phy::LinkTable;
use crate::radio::phy::ovsf::{Code, TreeShare};
use crate::radio::phy::power_control::PowerConfig;
use crate::radio::phy::sir::CHIP_RATE;
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
    /// The S-CCPCH of each cell. `None`: the cells have no FACH.
    pub sccpch: Option<SccpchConfig>,
    /// The HS-DSCH of each cell. `None`: the cells have none.
    pub hs_dsch: Option<HsCellConfig>,
    /// Largest mean power of a cell, in mW, with which it admits a DCH or a call. `None`: unlimited.
    pub admission_power: Option<f64>,
    /// How users change cells.
    pub handover: HandoverConfig,
    /// Calls of each kind.
    pub calls: Vec<CallClassConfig>,
}

impl MulticellConfig {
    /// Largest mean power of a cell without its HS-DSCH, with which it admits a DCH or a call: the limit of admission
    /// less the power that the HS-DSCH has at most, unless it has all that other channels leave.
    pub(super) fn power_for_dchs(&self) -> Option<f64> {
        let hs_dsch = self.hs_dsch.map(|hs_dsch| hs_dsch.max_power);
        let reserved = hs_dsch.filter(|power| power.is_finite()).unwrap_or(0.0);
        self.admission_power.map(|limit| limit - reserved)
    }
}

options! {
    /// Codes of calls, and the cost of the DCH that accompanies a DSCH.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct DchConfig as "Dchs" {
        /// Whether codes for DCHs are unlimited, or limited to the rest of one code tree.
        [label = "Codes of DCHs", source = "Rendón et al. (2004), §3.2: a second scrambling code"]
        pub codes: CodeLimit = CodeLimit::Unlimited,
        /// Branch of the code tree that the common channels occupy (`one_tree` only).
        [label = "Codes of the common channels", keyword = "OrNone::<TreeShare>",
            range = "1/1, 1/2, 1/4 … 1/512",
            source = "TS 25.213 §4.3.1.2: CPICH and P-CCPCH, beside them AICH, PICH and an S-CCPCH of spreading factor 64"]
        pub common: Option<TreeShare> = Some(TreeShare::of(32)),
        /// Fate of a call whose next cell has no free code for it (`one_tree` only).
        [label = "Handover of a call without a free code", source = "an assumption"]
        pub without_code: WithoutCode = WithoutCode::Kept,
        /// The DCH that accompanies the DSCH or HS-DSCH of each user. Without this table it takes neither code
        /// nor power.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        #[cfg_attr(feature = "schema", schemars(with = "AssociatedConfig", extend("x-default" = "none")))]
        pub associated: Option<AssociatedConfig> = None,
    }
}

impl DchConfig {
    /// Whether codes come from the one tree of the cell.
    pub fn has_one_tree(&self) -> bool {
        self.codes == CodeLimit::OneTree
    }

    /// The branch of the common channels, which is the first of the tree.
    pub fn common_code(&self) -> Option<Code> {
        self.common.map(|share| Code { spreading_factor: share.spreading_factor(), number: 0 })
    }
}

/// Number of codes for dedicated channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"), schemars(rename = "DchCodes"))]
pub enum CodeLimit {
    /// Unlimited: further scrambling codes are used.
    #[default]
    Unlimited,
    /// Only codes of the one tree that the common channels and the DSCH leave free. A call without
    /// a code is blocked.
    OneTree,
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
    /// Downlink of a user with a DCH bearer in a layout.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct DchUserOptions as "UeDch" {
        /// Eb/N0 at which 1 % of the blocks are lost, unless `cell.power.tables` has a table with the name
        /// of the bearer.
        [label = "Eb/N0 of a DCH bearer", range = "-30 dB to 30 dB",
            source = "an assumption: the same as for calls, which have 64 kbit/s as well"]
        pub ebn0: Db = Db(2.25),
        /// Spreading factor of its code. `"auto"`: the largest one up to 128 with room for 2.5 bits per bit
        /// of RLC payload, as the reference bearers have: 32 for 64 kbit/s, 16 for 128, 8 for 384.
        [label = "Spreading factor of a DCH bearer", keyword = "Auto::<u16>",
            range = "a power of two from 4 to 512", source = "TS 34.108 §6.10.2.4.1"]
        pub spreading_factor: Option<u16> = None,
    }
}

impl DchUserOptions {
    /// The spreading factor of a DCH of this rate. `None` if one code is not enough.
    pub fn spreading_factor(&self, rate: BitRate) -> Option<u16> {
        self.spreading_factor.or_else(|| largest_factor(rate))
    }
}

/// The largest spreading factor up to 128 whose code carries [`CODED_BITS`] per bit of RLC payload at `rate`.
/// `None` if one code is not enough.
fn largest_factor(rate: BitRate) -> Option<u16> {
    let needed = CODED_BITS * rate.bps() as f64;
    let has_room = |factor: &u16| 2.0 * CHIP_RATE / f64::from(*factor) >= needed;
    [128, 64, 32, 16, 8, 4].into_iter().find(has_room)
}

/// Bits on the air per bit of RLC payload that a code has at least.
const CODED_BITS: f64 = 2.5;

options! {
    /// S-CCPCH of a cell of a layout: the physical channel of the FACH. It has no power control.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SccpchOptions as "Sccpch" {
        /// Transmit power of the S-CCPCH while the FACH has data. Otherwise it is not transmitted.
        [label = "Power of the S-CCPCH", range = "-50 dBm to 80 dBm, with the pilot below power.max",
            source = "an assumption: a tenth of 43 dBm; TS 25.211 §5.3.3.4: transmitted only with data"]
        pub power: Dbm = Dbm(33.0),
        /// Eb/N0 at which 1 % of the blocks are lost, unless `cell.power.tables` has the table `fach`.
        [label = "Eb/N0 of the FACH", range = "-30 dB to 30 dB",
            source = "an assumption: 2.75 dB more than a DCH, because no power control follows the fading"]
        pub ebn0: Db = Db(5.0),
        /// Spreading factor of its code, which is number 1 of this factor. `"auto"`: as for a DCH of the
        /// rate of the FACH, 64 for 32 kbit/s.
        [label = "Spreading factor of the S-CCPCH", keyword = "Auto::<u16>",
            range = "a power of two from 4 to 256", source = "TS 25.211 §5.3.3.4, TS 34.108 §6.10.2.4.3"]
        pub spreading_factor: Option<u16> = None,
    }
}

impl SccpchOptions {
    /// The code of an S-CCPCH whose FACH has this rate. `None` if one code is not enough.
    pub fn code(&self, rate: BitRate) -> Option<Code> {
        let spreading_factor = self.spreading_factor.or_else(|| largest_factor(rate))?;
        Some(Code { spreading_factor, number: 1 })
    }
}

/// The S-CCPCH of a cell, with its FACH.
#[derive(Debug, Clone)]
pub struct SccpchConfig {
    /// Power in mW while the FACH has data.
    pub power: f64,
    pub code: Code,
    /// Processing gain: chips per bit of RLC payload at the full rate of the FACH.
    pub processing: f64,
    /// The block error ratio at an Eb/N0.
    pub errors: Arc<LinkTable>,
}

/// A downlink channel of a user in CELL_DCH.
#[derive(Debug, Clone)]
pub enum DownlinkConfig {
    /// A DCH, which carries the data.
    Dch(Arc<DchUserConfig>),
    /// The HS-DSCH of the cell. The cell has its options.
    HsDsch,
}

impl From<DchUserConfig> for DownlinkConfig {
    fn from(dch: DchUserConfig) -> Self {
        DownlinkConfig::Dch(dch.into())
    }
}

/// Downlink of the DCH of a user.
#[derive(Debug, Clone)]
pub struct DchUserConfig {
    /// Processing gain: chips per bit of RLC payload at the full rate.
    pub processing: f64,
    pub spreading_factor: u16,
    /// Target Eb/N0 of power control, linear.
    pub target: f64,
    /// The block error ratio at an Eb/N0.
    pub errors: Arc<LinkTable>,
}

options! {
    /// Handover between the cells of a layout. Each 100 ms a user changes to the cell that it receives
    /// best, or stays. Calls and users of DCH bearers may have several cells.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct HandoverConfig as "Handover" {
        /// Margin by which another cell must be better before a user changes to it.
        [label = "Hysteresis of handover", range = "0 dB to 100 dB", source = "Rendón et al. (2004), §3.2"]
        pub hysteresis: Db = Db(1.0),
        /// Time after a hard handover in which the user is not scheduled on the DSCH or HS-DSCH, and its DCHs
        /// carry nothing.
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
        /// Soft handover of calls and of users of DCH bearers. Handover is hard if absent.
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

options! {
    /// Downlink of the DCH that accompanies a DSCH or HS-DSCH. It carries signalling while RLC has data.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct AssociatedConfig as "Associated" {
        /// Spreading factor of the code of the accompanying DCH.
        [label = "Spreading factor of the associated DCH", range = "a power of two from 4 to 512",
            source = "TS 34.108 §6.10.2.4.1.2: 256 for 3.4 kbit/s"]
        pub spreading_factor: u16 = 256,
        /// Bit rate of the signalling on the accompanying DCH.
        [label = "Rate of the associated DCH", max = "1 Mbit/s",
            source = "TS 34.108 §6.10.2.4.1.2: signalling of 3.4 kbit/s"]
        pub rate: BitRate = BitRate::from_bps(3_400).expect("it is positive"),
        /// Eb/N0 target of power control for the accompanying DCH.
        [label = "Eb/N0 of the associated DCH", range = "-30 dB to 30 dB",
            source = "an assumption: short blocks need more than a call"]
        pub ebn0: Db = Db(5.0),
    }
}
