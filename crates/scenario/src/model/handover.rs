//! How users of a layout change cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::rnc::multicell::HandoverConfig;
pub use umts_stack::rnc::multicell::{BufferAtHandover, RlcAtHandover};
use umts_stack::rnc::rrc;
pub use umts_stack::rnc::rrc::CompressedBy;
use umts_units::{Db, Duration};

/// Handover between the cells of a layout: each 100 ms a user is in the cell that it receives best, or stays; calls may have
/// several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Handover {
    /// By how much another cell must be better.
    #[schemars(extend("x-range" = "0 dB to 100 dB", "x-source" = "Rendón et al. (2004), §3.2"))]
    pub hysteresis: Db,
    /// How long a user has no turn on the DSCH afterwards.
    #[schemars(extend("x-max" = "10 s", "x-source" = "a reading: Rendón et al. (2004) say nothing"))]
    pub interruption: Duration,
    /// What becomes of its RLC entities.
    #[schemars(extend("x-source" = "a reading: Rendón et al. (2004) say nothing; TS 25.322 §9.7.7 for re-establishment"))]
    pub rlc: RlcAtHandover,
    /// What becomes of the SDUs at the RNC of which nothing was sent.
    #[schemars(extend("x-source" = "a reading: Rendón et al. (2004) say nothing"))]
    pub buffer: BufferAtHandover,
    /// Soft handover of calls; hard if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Soft", extend("x-default" = "none"))]
    pub soft: Option<Soft>,
    /// Gaps of calls near another cell; none if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Compressed", extend("x-default" = "none"))]
    pub compressed_mode: Option<Compressed>,
}

/// Soft and softer handover: the cells of a call's active set all send to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Soft {
    /// A cell joins that is worse than the best by no more than this.
    #[schemars(extend("x-range" = "0 dB to 30 dB", "x-source" = "Holma and Toskala (2000), §9.3.1: windows of 1 to 3 dB"))]
    pub add: Db,
    /// One leaves that is worse by more than this.
    #[schemars(extend("x-range" = "add to 30 dB", "x-source" = "Holma and Toskala (2000), §9.3.1: beyond the first by a hysteresis"))]
    pub drop: Db,
    /// The most cells at a time.
    #[schemars(extend("x-min" = 2, "x-max" = 6, "x-source" = "TS 25.133 §8.1.2: six can be measured; three are usual"))]
    pub legs: u8,
}

/// Compressed mode: what gaps cost in which a user listens elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compressed {
    /// Who receives a second cell that is worse than his own by no more than this has gaps.
    #[schemars(extend("x-range" = "0 dB to 30 dB", "x-source" = "an assumption"))]
    pub within: Db,
    /// Slots of a gap, of 15 in a frame.
    #[schemars(extend("x-range" = "3, 4, 5, 7, 10 or 14", "x-source" = "TS 25.215 §6.1.1.2"))]
    pub gap: u8,
    /// From one gap to the next.
    #[schemars(extend("x-range" = "whole TTIs of 20 ms, 20 ms to 1.44 s", "x-source" = "TS 25.331 §10.3.6.33: 1 to 144 frames"))]
    pub every: Duration,
    /// How room is made for it.
    #[schemars(extend("x-source" = "TS 25.212 §4.4.3"))]
    pub method: CompressedBy,
    /// What it adds to the target of frames with a gap.
    #[schemars(extend("x-range" = "0 dB to 10 dB", "x-source" = "an assumption; TS 25.331 §10.3.6.33: 0 to 3 dB are signalled"))]
    pub raise: Db,
}

impl Default for Handover {
    fn default() -> Self {
        Handover {
            hysteresis: Db(1.0),
            interruption: Duration::ZERO,
            rlc: RlcAtHandover::default(),
            buffer: BufferAtHandover::default(),
            soft: None,
            compressed_mode: None,
        }
    }
}

impl Default for Soft {
    fn default() -> Self {
        Soft { add: Db(3.0), drop: Db(5.0), legs: 3 }
    }
}

impl Default for Compressed {
    fn default() -> Self {
        Compressed {
            within: Db(3.0),
            gap: 7,
            every: Duration::from_millis(80),
            method: CompressedBy::default(),
            raise: Db(1.0),
        }
    }
}

impl Handover {
    /// What the stack is told.
    pub fn config(&self) -> HandoverConfig {
        HandoverConfig {
            hysteresis_db: self.hysteresis.0,
            interruption: self.interruption,
            rlc: self.rlc,
            buffer: self.buffer,
            soft: self.soft.as_ref().map(|soft| rrc::SoftHandover {
                add_db: soft.add.0,
                drop_db: soft.drop.0,
                legs: usize::from(soft.legs),
            }),
            compressed: self.compressed_mode.as_ref().map(|mode| rrc::CompressedMode {
                within_db: mode.within.0,
                gap: u32::from(mode.gap),
                every: mode.every,
                method: mode.method,
                raise_db: mode.raise.0,
            }),
        }
    }
}
