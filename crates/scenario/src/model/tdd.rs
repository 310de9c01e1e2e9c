//! A cell of time division duplex: `[cell.tdd]`. What the study that it is after leaves open has a key for each reading.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::ids::Direction;
use umts_stack::radio::phy::Curve;
pub use umts_stack::radio::phy::tdd::Interferers;
use umts_stack::radio::phy::tdd::TddRadioConfig;
use umts_stack::radio::phy::tdd::layout::{FRAME, LayoutKind, PatternError};
use umts_stack::rnc::tdd::{
    AckChannel, AckConfig, GrantConfig, GrantEnds, GrantOrder, Refused, TddConfig, TddRachConfig,
};
use umts_units::{Db, Duration, Probability};

pub use crate::counts::{Frames, Sdus};
use crate::text::word_unlimited;

/// How the two directions of a cell are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Duplex {
    /// By frequency: FACH, RACH and DCHs.
    #[default]
    Fdd,
    /// By time: slots of one carrier, which users are granted on request (`[cell.tdd]`).
    Tdd,
}

/// Slots of that pattern change their direction as they are needed.
const DYNAMIC: &str = "dynamic";

/// Time division duplex.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tdd {
    /// Slots and codes of a frame.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), §II.A; TS 25.221 §5, §5A"))]
    pub layout: LayoutKind,
    /// Which way slots go: `"dynamic"`, as they are needed, or for good, as in `"RUUUUDDDDDDDDDC"`: a letter for each slot, `R`
    /// random access, `C` common channels, `U` up, `D` down.
    #[schemars(extend("x-range" = "dynamic, or a letter for each slot", "x-source" = "Baiocchi and Vacirca (2002), §II.B"))]
    pub slots: String,
    /// What is granted.
    pub grant: Grant,
    /// How users ask for it.
    pub rach: TddRach,
    /// How RLC's acknowledgments travel.
    pub ack: Ack,
    /// Block errors.
    pub radio: TddRadio,
}

/// A grant: a DCH of so many blocks per frame, until it is left unused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grant {
    /// SDUs that may be begun in one, N.
    #[schemars(extend("x-min" = 1, "x-max" = 65535, "x-source" = "Baiocchi and Vacirca (2002), Table I"))]
    pub sdus: u32,
    /// Backlogs up to which the first and the second of three levels reach.
    #[schemars(extend("x-default" = "1 SDU, 5 SDUs", "x-range" = "two, rising", "x-source" = "a reading: the study names three levels and no numbers"))]
    pub levels: Vec<Sdus>,
    /// Blocks of a frame for each of the three levels.
    #[schemars(extend("x-default" = "1, 2, 4", "x-range" = "three, not falling", "x-source" = "a reading: the study names a rough weighting factor and no numbers"))]
    pub weights: Vec<u32>,
    /// What ends it.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), §II.B, read literally"))]
    pub ends: GrantEnds,
    /// What becomes of a user for whom there is no room. What the RNC itself wants always waits.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), §II.B"))]
    pub refused: Refused,
    /// Whose request is granted first, of those of a frame that go the same way.
    #[schemars(extend("x-source" = "a reading: the study says nothing"))]
    pub order: GrantOrder,
}

/// Random access in a TDD cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TddRach {
    /// Codes to draw from; two users on one code are not heard.
    #[schemars(extend("x-min" = 1, "x-max" = 16, "x-source" = "TS 25.331 §10.3.6.51"))]
    pub codes: u32,
    /// From a request to its answer on the FACH, whole frames; the grant begins with the frame after that.
    #[schemars(extend("x-min" = "10 ms", "x-max" = "1 s", "x-source" = "a reading: the study names no delay"))]
    pub answer: Duration,
    /// The longest back-off after a collision or a refusal; failure n waits 1 to 2^n frames up to that.
    #[schemars(extend("x-min" = "1 frame", "x-max" = "65536 frames", "x-source" = "a reading: the study names back-off rules and no numbers"))]
    pub backoff: Frames,
}

/// Acknowledgments of RLC, and its other control PDUs, in a TDD cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ack {
    /// On which channel they travel.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), §II.C"))]
    pub channel: AckChannel,
    /// Of a downlink frame, the users in turn, each with the room of a block; `"unlimited"`: all that there are, in the room of
    /// one.
    #[serde(with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<u32>", extend("x-min" = 1, "x-max" = 48, "x-source" = "a reading: the study names simple TDM"))]
    pub downlink_per_frame: Option<u32>,
    /// Places of an uplink frame, each with the room of a block; two users on one place are lost.
    #[schemars(extend("x-min" = 1, "x-max" = 48, "x-source" = "a reading: the study names a collision type protocol"))]
    pub uplink_places: u32,
    /// The longest wait after a collision; it is drawn from 1 frame on.
    #[schemars(extend("x-min" = "1 frame", "x-max" = "65536 frames", "x-source" = "a reading: the study says nothing"))]
    pub uplink_backoff: Frames,
    /// How much later than at the end of the frame that they are about they are heard, on common channels.
    #[schemars(extend("x-max" = "1000 frames", "x-source" = "a reading: the study says nothing"))]
    pub delay: Frames,
    /// Whether they meet block errors, on common channels.
    #[schemars(extend("x-source" = "a reading: the study says nothing"))]
    pub errors: bool,
}

/// Block errors that follow from who else sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TddRadio {
    /// The SIR that power control is after.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), Table I"))]
    pub sir_target: Db,
    /// By how much open-loop power control sends more than that.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), Table I"))]
    pub margin: Db,
    /// What joint detection leaves of the others' power.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), Table I"))]
    pub joint_detection: Probability,
    /// Standard deviation of the estimation error of the channel.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), Table I: variance \"10 dB\", read as 10 dB²; \"10 dB\" is the other reading"))]
    pub estimate_sigma: Db,
    /// Correlation of that error from one frame to the next.
    #[schemars(extend("x-max" = 0.9999, "x-source" = "Baiocchi and Vacirca (2002), §III: 0.1 to 0.9"))]
    pub rho: Probability,
    /// Who disturbs whom.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), equation (1)"))]
    pub interferers: Interferers,
    /// In how many terms of the sum a block counts that takes four or five codes.
    #[schemars(extend("x-min" = 1, "x-max" = 5, "x-source" = "Baiocchi and Vacirca (2002), equation (1), read literally"))]
    pub codes_per_block: u8,
    /// The block error ratio at a SIR.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), §II.A; TS 25.222 §4.2.3.1"))]
    pub curve: Curve,
    /// Whether blocks are lost at all.
    #[schemars(extend("x-source" = "Baiocchi and Vacirca (2002), Figure 6: an ideal wireless channel"))]
    pub block_errors: bool,
}

impl Default for Tdd {
    fn default() -> Self {
        Tdd {
            layout: LayoutKind::default(),
            slots: DYNAMIC.to_owned(),
            grant: Grant::default(),
            rach: TddRach::default(),
            ack: Ack::default(),
            radio: TddRadio::default(),
        }
    }
}

impl Default for Grant {
    fn default() -> Self {
        Grant {
            sdus: 20,
            levels: vec![Sdus(1), Sdus(5)],
            weights: vec![1, 2, 4],
            ends: GrantEnds::default(),
            refused: Refused::default(),
            order: GrantOrder::default(),
        }
    }
}

impl Default for TddRach {
    fn default() -> Self {
        TddRach { codes: 8, answer: Duration::from_millis(20), backoff: Frames(64) }
    }
}

impl Default for Ack {
    fn default() -> Self {
        Ack {
            channel: AckChannel::default(),
            downlink_per_frame: None,
            uplink_places: 1,
            uplink_backoff: Frames(8),
            delay: Frames(0),
            errors: true,
        }
    }
}

impl Default for TddRadio {
    fn default() -> Self {
        let radio = TddRadioConfig::default();
        TddRadio {
            sir_target: Db(6.8),
            margin: Db(3.0),
            joint_detection: Probability::new(radio.joint_detection).expect("a share"),
            estimate_sigma: Db(radio.estimate_sigma_db),
            rho: Probability::new(radio.rho).expect("a correlation"),
            interferers: radio.interferers,
            codes_per_block: radio.codes_per_block,
            curve: radio.curve,
            block_errors: true,
        }
    }
}

impl Tdd {
    /// The way of each slot where that is fixed.
    ///
    /// # Errors
    /// What is wrong with the pattern.
    pub(crate) fn pattern(&self) -> Result<Option<Vec<Option<Direction>>>, PatternError> {
        match &*self.slots {
            DYNAMIC => Ok(None),
            letters => self.layout.layout().pattern(letters).map(Some),
        }
    }

    /// Blocks of a frame for the highest level.
    pub fn most_blocks(&self) -> u32 {
        self.grant.weights.iter().copied().max().unwrap_or(1)
    }

    /// Blocks of a frame that data of this direction may have at most, RLC's acknowledgments apart. Slots that may go either
    /// way count for both, but for the one that the other way always has.
    pub fn capacity(&self, direction: Direction) -> u32 {
        let layout = self.layout.layout();
        let per_slot = layout.blocks_per_slot();
        let slots = match self.pattern() {
            Ok(Some(ways)) => ways.iter().filter(|way| **way == Some(direction)).count(),
            _ => layout.data_slots().count(),
        } as u32;
        match self.ack.channel {
            AckChannel::Dedicated => slots * per_slot,
            AckChannel::Common => {
                let room = |way: Direction| match way {
                    Direction::Downlink => self.ack.downlink_per_frame.unwrap_or(1),
                    Direction::Uplink => self.ack.uplink_places,
                };
                let others =
                    if self.slots == DYNAMIC { room(direction.reversed()).div_ceil(per_slot) } else { 0 };
                (slots.saturating_sub(others) * per_slot).saturating_sub(room(direction))
            }
        }
    }

    /// The cell as the stack has it. What was not checked is a panic.
    pub fn config(&self) -> TddConfig {
        let Grant { sdus, ref levels, ref weights, ends, refused, order } = self.grant;
        let ack = &self.ack;
        TddConfig {
            layout: self.layout,
            pattern: self.pattern().expect("it was checked"),
            grant: GrantConfig {
                sdus,
                levels: [levels[0].0, levels[1].0],
                weights: [weights[0], weights[1], weights[2]],
                ends,
                refused,
                order,
            },
            rach: TddRachConfig {
                codes: self.rach.codes,
                answer: self.rach.answer / FRAME,
                backoff: self.rach.backoff.0.into(),
            },
            ack: AckConfig {
                channel: ack.channel,
                downlink_per_frame: ack.downlink_per_frame,
                uplink_places: ack.uplink_places,
                uplink_backoff: ack.uplink_backoff.0.into(),
                delay: ack.delay.0.into(),
                errors: ack.errors,
            },
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
