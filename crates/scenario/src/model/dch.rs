//! Dedicated channels of the cells of a layout: `[cell] dch = { … }`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::radio::phy::ovsf::Code;
use umts_stack::radio::phy::sir::CHIP_RATE;
pub use umts_stack::rnc::multicell::WithoutCode;
use umts_stack::rnc::multicell::{AssociatedConfig, DchConfig, OneTree};
use umts_units::keyword::OrNone;
use umts_units::{BitRate, Db};

use super::dsch::TreeShare;

/// Codes of calls, and the cost of the DCH that accompanies a DSCH.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dchs {
    /// Whether codes for DCHs are unlimited, or limited to the rest of one code tree.
    #[schemars(extend("x-label" = "Codes of DCHs", "x-source" = "Rendón et al. (2004), §3.2: a second scrambling code"))]
    pub codes: DchCodes,
    /// Branch of the code tree that the common channels occupy (`one_tree` only).
    #[serde(with = "OrNone::<TreeShare>")]
    #[schemars(extend("x-label" = "Codes of the common channels", "x-range" = "1/1, 1/2, 1/4 … 1/512", "x-source" = "TS 25.213 §4.3.1.2: CPICH and P-CCPCH, beside them AICH, PICH and an S-CCPCH of spreading factor 64"))]
    pub common: Option<TreeShare>,
    /// Fate of a call whose next cell has no free code for it (`one_tree` only).
    #[schemars(extend("x-label" = "Handover of a call without a free code", "x-source" = "an assumption"))]
    pub without_code: WithoutCode,
    /// The DCH that accompanies the DSCH of each user. Without this table it takes neither code nor
    /// power.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Associated", extend("x-default" = "none"))]
    pub associated: Option<Associated>,
}

/// Number of codes for dedicated channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DchCodes {
    /// Unlimited: further scrambling codes are used.
    #[default]
    Unlimited,
    /// Only codes of the one tree that the common channels and the DSCH leave free. A call without
    /// a code is blocked.
    OneTree,
}

/// Downlink of the DCH that accompanies a DSCH. It carries signalling while RLC has data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Associated {
    /// Spreading factor of the code of the accompanying DCH.
    #[schemars(extend("x-label" = "Spreading factor of the associated DCH", "x-range" = "a power of two from 4 to 512", "x-source" = "TS 34.108 §6.10.2.4.1.2: 256 for 3.4 kbit/s"))]
    pub spreading_factor: u16,
    /// Bit rate of the signalling on the accompanying DCH.
    #[schemars(extend("x-label" = "Rate of the associated DCH", "x-max" = "1 Mbit/s", "x-source" = "TS 34.108 §6.10.2.4.1.2: signalling of 3.4 kbit/s"))]
    pub rate: BitRate,
    /// Eb/N0 target of power control for the accompanying DCH.
    #[schemars(extend("x-label" = "Eb/N0 of the associated DCH", "x-range" = "-30 dB to 30 dB", "x-source" = "an assumption: short blocks need more than a call"))]
    pub ebn0: Db,
}

impl Default for Dchs {
    fn default() -> Self {
        let common = Some("1/32".parse().expect("a share"));
        Dchs { codes: DchCodes::default(), common, without_code: WithoutCode::default(), associated: None }
    }
}

impl Default for Associated {
    fn default() -> Self {
        let rate = BitRate::from_bps(3_400).expect("not zero");
        Associated { spreading_factor: 256, rate, ebn0: Db(5.0) }
    }
}

impl Dchs {
    /// The branch of the common channels, which is the first of the tree.
    pub fn common_code(&self) -> Option<Code> {
        self.common.map(|share| Code { spreading_factor: share.spreading_factor(), number: 0 })
    }

    /// Configuration of the dedicated channels for the stack.
    pub fn config(&self) -> DchConfig {
        let tree = OneTree { common: self.common_code(), without: self.without_code };
        let associated = self.associated.as_ref().map(|dch| AssociatedConfig {
            spreading_factor: dch.spreading_factor,
            processing: CHIP_RATE / dch.rate.bps() as f64,
            target: libm::exp10(dch.ebn0.0 / 10.0),
        });
        DchConfig { codes: (self.codes == DchCodes::OneTree).then_some(tree), associated }
    }
}
