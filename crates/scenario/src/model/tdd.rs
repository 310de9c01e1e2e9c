//! A cell with time division duplex: `[cell.tdd]`. Where Baiocchi and Vacirca (2002) leave a rule
//! open, a key selects the interpretation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::count::{Frames, Sdus};
use umts_stack::ids::Direction;
use umts_stack::radio::phy::Curve;
pub use umts_stack::radio::phy::tdd::Interferers;
use umts_stack::radio::phy::tdd::TddRadioConfig;
use umts_stack::radio::phy::tdd::layout::{LayoutKind, PatternError};
use umts_stack::rnc::tdd::{AckChannel, TddConfig};
pub use umts_stack::rnc::tdd::{AckConfig as Ack, GrantConfig as Grant, TddRachConfig as TddRach};
use umts_units::{Db, Probability};

/// How downlink and uplink of a cell are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Duplex {
    /// By frequency. The cell has FACH, RACH and DCHs.
    #[default]
    Fdd,
    /// By time. Users are granted slots of one carrier on request (`[cell.tdd]`).
    Tdd,
}

/// Value of [`Tdd::slots`] with which slots change their direction on demand.
const DYNAMIC: &str = "dynamic";

table! {
    /// Time division duplex.
    pub struct Tdd {
        /// Slots and codes of a frame.
        #[schemars(extend("x-label" = "TDD frame", "x-source" = "Baiocchi and Vacirca (2002), §II.A; TS 25.221 §5, §5A"))]
        pub layout: LayoutKind = LayoutKind::default(),
        /// Direction of the slots: `"dynamic"` on demand, or fixed as in `"RUUUUDDDDDDDDDC"`, with
        /// one letter per slot: `R` random access, `C` common channels, `U` uplink, `D` downlink.
        #[schemars(extend("x-label" = "Directions of the slots", "x-range" = "dynamic, or a letter for each slot", "x-source" = "Baiocchi and Vacirca (2002), §II.B"))]
        pub slots: String = DYNAMIC.to_owned(),
        /// Size, end and order of grants.
        pub grant: Grant = Grant::default(),
        /// Requests of users for grants.
        pub rach: TddRach = TddRach::default(),
        /// Channel of RLC's acknowledgments.
        pub ack: Ack = Ack::default(),
        /// Block errors of the TDD cell.
        pub radio: TddRadio = TddRadio::default(),
    }
}

table! {
    /// Block errors that follow from the interference of other transmissions.
    pub struct TddRadio {
        /// SIR target of power control.
        #[schemars(extend("x-label" = "SIR target", "x-source" = "Baiocchi and Vacirca (2002), Table I"))]
        pub sir_target: Db = Db(6.8),
        /// Margin of open-loop power control above the SIR target.
        #[schemars(extend("x-label" = "Power margin", "x-source" = "Baiocchi and Vacirca (2002), Table I"))]
        pub margin: Db = Db(3.0),
        /// Fraction of the power of other transmissions that remains after joint detection.
        #[schemars(extend("x-label" = "Joint detection factor", "x-source" = "Baiocchi and Vacirca (2002), Table I"))]
        pub joint_detection: Probability = Probability::new(TddRadioConfig::default().joint_detection).expect("a share"),
        /// Standard deviation of the channel estimation error.
        #[schemars(extend("x-label" = "Deviation of the estimation error", "x-source" = "Baiocchi and Vacirca (2002), Table I: variance \"10 dB\", read as 10 dB²; \"10 dB\" is the other reading"))]
        pub estimate_sigma: Db = Db(TddRadioConfig::default().estimate_sigma_db),
        /// Correlation of the channel estimation error between successive frames.
        #[schemars(extend("x-label" = "Correlation over one frame", "x-max" = 0.9999, "x-source" = "Baiocchi and Vacirca (2002), §III: 0.1 to 0.9"))]
        pub rho: Probability = Probability::new(TddRadioConfig::default().rho).expect("a correlation"),
        /// Transmissions that interfere with a block.
        #[schemars(extend("x-label" = "Interferers", "x-source" = "Baiocchi and Vacirca (2002), equation (1)"))]
        pub interferers: Interferers = TddRadioConfig::default().interferers,
        /// Number of terms in the interference sum for a block, which takes four or five codes.
        #[schemars(extend("x-label" = "Codes per block in the SIR", "x-min" = 1, "x-max" = 5, "x-source" = "Baiocchi and Vacirca (2002), equation (1), read literally"))]
        pub codes_per_block: u8 = TddRadioConfig::default().codes_per_block,
        /// Curve of the block error ratio over the SIR.
        #[schemars(extend("x-label" = "Block error curve", "x-source" = "Baiocchi and Vacirca (2002), §II.A; TS 25.222 §4.2.3.1"))]
        pub curve: Curve = TddRadioConfig::default().curve,
        /// Whether blocks are lost at all.
        #[schemars(extend("x-label" = "Block errors", "x-source" = "Baiocchi and Vacirca (2002), Figure 6: an ideal wireless channel"))]
        pub block_errors: bool = true,
    }
}

impl Tdd {
    /// Direction of each slot, or `None` if slots are dynamic.
    ///
    /// # Errors
    /// The error in the pattern.
    pub(crate) fn pattern(&self) -> Result<Option<Vec<Option<Direction>>>, PatternError> {
        match &*self.slots {
            DYNAMIC => Ok(None),
            letters => self.layout.layout().pattern(letters).map(Some),
        }
    }

    /// Blocks per frame at the highest level.
    pub fn max_blocks(&self) -> u32 {
        self.grant.weights.iter().copied().max().unwrap_or(1)
    }

    /// Largest number of blocks per frame for data of this direction, without RLC's
    /// acknowledgments. Dynamic slots count for both directions, except the slot that the other
    /// direction always has.
    pub fn capacity(&self, direction: Direction) -> u32 {
        let layout = self.layout.layout();
        let blocks_per_slot = layout.blocks_per_slot();
        let slots = match self.pattern() {
            Ok(Some(directions)) => directions.iter().filter(|slot| **slot == Some(direction)).count(),
            _ => layout.data_slots().count(),
        } as u32;
        match self.ack.channel {
            AckChannel::Dedicated => slots * blocks_per_slot,
            AckChannel::Common => {
                let ack_capacity = |direction: Direction| match direction {
                    Direction::Downlink => self.ack.downlink_per_frame.unwrap_or(1),
                    Direction::Uplink => self.ack.uplink_places,
                };
                let reserved_slots = if self.slots == DYNAMIC {
                    ack_capacity(direction.reversed()).div_ceil(blocks_per_slot)
                } else {
                    0
                };
                (slots.saturating_sub(reserved_slots) * blocks_per_slot)
                    .saturating_sub(ack_capacity(direction))
            }
        }
    }

    /// Configuration of the cell for the stack. Panics if the scenario was not checked.
    pub fn config(&self) -> TddConfig {
        TddConfig {
            layout: self.layout,
            pattern: self.pattern().expect("it was checked"),
            grant: self.grant.clone(),
            rach: self.rach,
            ack: self.ack,
            radio: self.radio.block_errors.then(|| self.radio.config()),
        }
    }
}

impl TddRadio {
    fn config(&self) -> TddRadioConfig {
        TddRadioConfig {
            sir_target: linear(self.sir_target),
            margin: linear(self.margin),
            joint_detection: self.joint_detection.value(),
            estimate_sigma_db: self.estimate_sigma.0,
            rho: self.rho.value(),
            interferers: self.interferers,
            codes_per_block: self.codes_per_block,
            curve: self.curve,
            ..TddRadioConfig::default()
        }
    }
}

fn linear(ratio: Db) -> f64 {
    libm::exp10(ratio.0 / 10.0)
}
