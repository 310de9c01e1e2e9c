//! How users of a layout change cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::rnc::multicell::HandoverConfig;
pub use umts_stack::rnc::multicell::{BufferAtHandover, RlcAtHandover};
use umts_stack::rnc::rrc;
pub use umts_stack::rnc::rrc::CompressedBy;
use umts_units::{Db, Duration};

/// Handover between the cells of a layout. Each 100 ms a user changes to the cell that it receives
/// best, or stays. A call may have several cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Handover {
    /// Margin by which another cell must be better before a user changes to it.
    #[schemars(extend("x-label" = "Hysteresis of handover", "x-range" = "0 dB to 100 dB", "x-source" = "Rendón et al. (2004), §3.2"))]
    pub hysteresis: Db,
    /// Time after a handover in which the user is not scheduled on the DSCH.
    #[schemars(extend("x-label" = "Interruption by a handover", "x-max" = "10 s", "x-source" = "an interpretation: Rendón et al. (2004) say nothing"))]
    pub interruption: Duration,
    /// What happens to the user's RLC entities at a handover.
    #[schemars(extend("x-label" = "RLC at a handover", "x-source" = "an interpretation: Rendón et al. (2004) say nothing; TS 25.322 §9.7.7 for re-establishment"))]
    pub rlc: RlcAtHandover,
    /// What happens at a handover to the SDUs in the RNC of which nothing was sent.
    #[schemars(extend("x-label" = "Buffer at a handover", "x-source" = "an interpretation: Rendón et al. (2004) say nothing"))]
    pub buffer: BufferAtHandover,
    /// Soft handover of calls. Handover is hard if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Soft", extend("x-default" = "none"))]
    pub soft: Option<Soft>,
    /// Gaps in the transmission of calls near another cell; no gaps if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Compressed", extend("x-default" = "none"))]
    pub compressed_mode: Option<Compressed>,
}

/// Soft and softer handover: all cells of a call's active set send to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Soft {
    /// A cell joins the active set if it is worse than the best cell by at most this margin.
    #[schemars(extend("x-label" = "Window to join an active set", "x-range" = "0 dB to 30 dB", "x-source" = "Holma and Toskala (2000), §9.3.1: windows of 1 to 3 dB"))]
    pub add: Db,
    /// A cell leaves the active set if it is worse than the best cell by more than this margin.
    #[schemars(extend("x-label" = "Window to leave an active set", "x-range" = "add to 30 dB", "x-source" = "Holma and Toskala (2000), §9.3.1: beyond the first by a hysteresis"))]
    pub drop: Db,
    /// Largest number of cells in the active set.
    #[schemars(extend("x-label" = "Maximum size of an active set", "x-min" = 2, "x-max" = 6, "x-source" = "TS 25.133 §8.1.2: six can be measured; three are usual"))]
    pub legs: u8,
}

/// Compressed mode: the cost of gaps in which a user measures another cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compressed {
    /// A user has gaps if it receives a second cell that is worse than its own by at most this
    /// margin.
    #[schemars(extend("x-label" = "Margin for gaps", "x-range" = "0 dB to 30 dB", "x-source" = "an assumption"))]
    pub within: Db,
    /// Length of a gap in slots; a frame has 15 slots.
    #[schemars(extend("x-label" = "Length of a gap", "x-range" = "3, 4, 5, 7, 10 or 14", "x-source" = "TS 25.215 §6.1.1.2"))]
    pub gap: u8,
    /// Time from the start of one gap to the start of the next.
    #[schemars(extend("x-label" = "Interval of gaps", "x-range" = "whole TTIs of 20 ms, 20 ms to 1.44 s", "x-source" = "TS 25.331 §10.3.6.33: 1 to 144 frames"))]
    pub every: Duration,
    /// Method by which room is made for a gap.
    #[schemars(extend("x-label" = "Method of compressed mode", "x-source" = "TS 25.212 §4.4.3"))]
    pub method: CompressedBy,
    /// Increase of the Eb/N0 target in frames with a gap.
    #[schemars(extend("x-label" = "Raised target of frames with a gap", "x-range" = "0 dB to 10 dB", "x-source" = "an assumption; TS 25.331 §10.3.6.33: 0 to 3 dB are signalled"))]
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
    /// Configuration of handover for the stack.
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
