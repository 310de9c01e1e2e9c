//! What a DSCH is configured with. The study that it is after (Rendón et al. 2004) leaves much open: each reading is an option.

use std::sync::Arc;

use umts_units::{Bytes, Duration};

use crate::radio::phy::LinkTable;
use crate::radio::phy::ovsf::Code;
use crate::radio::phy::sir::CHIP_RATE;

/// A transport format of the DSCH that carries something.
#[derive(Debug, Clone, PartialEq)]
pub struct Format {
    /// Transport blocks of a TTI.
    pub blocks: u32,
    /// The spreading factor of its code.
    pub spreading_factor: u16,
    /// The Eb/N0 that power control is after, linear.
    pub target: f64,
    /// The block error ratio at an Eb/N0.
    pub errors: Arc<LinkTable>,
}

/// A DSCH and who decides on it.
#[derive(Debug, Clone, PartialEq)]
pub struct MacShConfig {
    /// Its TTI.
    pub tti: Duration,
    /// When it is decided who has it.
    pub decision: Decision,
    /// Octets of RLC payload in a block.
    pub block: Bytes,
    /// Its transport formats TF1, TF2 …: rising in blocks, not rising in spreading factor. TF0 is nothing.
    pub formats: Vec<Format>,
    /// Its part of the code tree.
    pub codes: Code,
    /// What a user wants.
    pub requirement: RatePolicy,
    /// Who is first.
    pub priority: Priority,
    /// Whether a user wants no more than what waits, whatever his requirement says.
    pub capped_by_backlog: bool,
    /// Service credits.
    pub credit: CreditConfig,
    /// Timeouts.
    pub timeout: TimeoutConfig,
    /// The time constant of the mean rate of proportional fairness.
    pub mean_over: Duration,
}

/// When it is decided who has a DSCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Decision {
    /// When a TTI begins: those of all users begin together.
    #[default]
    EachTti,
    /// When a radio frame of 10 ms begins, on half of the users: TTIs of 20 ms of even UEs begin with even frames, of odd ones with
    /// odd frames.
    EachFrame,
    /// When a radio frame begins, on all users who are not in the middle of a TTI: it begins with whichever frame they get.
    AnyFrame,
}

/// What a user wants in a TTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RatePolicy {
    /// As many blocks as he has credits, which grow with the guaranteed rate.
    #[default]
    ServiceCredit,
    /// As many blocks as bring each of his packets through before its timeout.
    Timeout,
    /// All that waits.
    FullBacklog,
}

/// Who is first among users of one class. Users who are alike go by how long they have waited, then by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Priority {
    /// The user with the most credits.
    #[default]
    ServiceCredit,
    /// The user whose oldest packet has the least time left.
    Timeout,
    /// The users take turns.
    RoundRobin,
    /// The user who needs the least power for the same.
    MaxCi,
    /// The user whom power allows most, compared with what he had lately.
    ProportionalFair,
}

/// Service credits: blocks that a user may send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CreditConfig {
    /// Blocks of a TTI at the guaranteed rate; what a user begins with.
    pub per_tti: f64,
    /// The most that he keeps.
    pub most: f64,
    /// When they grow.
    pub accrues: Accrual,
    /// What they are spent for.
    pub debit: Debit,
    /// What becomes of a user who has none.
    pub without: WithoutCredit,
}

/// When credits grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Accrual {
    /// In every TTI.
    #[default]
    Always,
    /// In those in which something waits.
    Backlogged,
}

/// What credits are spent for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Debit {
    /// Blocks that were sent, also those that are sent again.
    #[default]
    Sent,
    /// Blocks that were received.
    Received,
    /// All blocks of the format, sent or not.
    Format,
}

/// What becomes of a user who has no credit left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum WithoutCredit {
    /// He wants one block.
    #[default]
    OneBlock,
    /// He waits for credits.
    Waits,
}

/// Timeouts of SDUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeoutConfig {
    /// From its entry into RLC until it shall be through.
    pub timeout: Duration,
    /// Whose size the timeout is meant for; smaller ones have as much less as they are smaller. `None`: all have the same.
    pub of_size: Option<Bytes>,
    /// What a user with an SDU wants whose time is over.
    pub expired: Expired,
    /// Which SDUs are looked at.
    pub looks_at: LooksAt,
}

/// What a user with an SDU wants whose time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Expired {
    /// The largest format.
    #[default]
    Largest,
    /// What is left up to the end of that SDU.
    Rest,
}

/// Which SDUs a timeout looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum LooksAt {
    /// All that wait.
    #[default]
    All,
    /// The oldest.
    Head,
}

impl MacShConfig {
    /// Number of the largest format with at most so many blocks, the smallest if none has.
    #[inline]
    pub fn up_to(&self, blocks: u32) -> usize {
        self.formats.partition_point(|format| format.blocks <= blocks).saturating_sub(1)
    }

    /// Number of the smallest format that holds so many blocks, the largest if none does.
    #[inline]
    pub fn holding(&self, blocks: u32) -> usize {
        self.formats.partition_point(|format| format.blocks < blocks).min(self.formats.len() - 1)
    }

    /// The largest format with at least twice the spreading factor of this one.
    #[inline]
    pub fn halved(&self, format: usize) -> Option<usize> {
        let doubled = 2 * self.formats[format].spreading_factor;
        (0..format).rev().find(|&smaller| self.formats[smaller].spreading_factor >= doubled)
    }

    /// Decisions in a TTI: in how many phases those of users are.
    #[inline]
    pub fn phases(&self) -> u64 {
        match self.decision {
            Decision::EachTti => 1,
            Decision::EachFrame | Decision::AnyFrame => 2,
        }
    }

    /// From one decision to the next.
    pub fn interval(&self) -> Duration {
        Duration::from_nanos(self.tti.as_nanos() / self.phases())
    }

    /// Chips for each bit of RLC's payload in a format, W/R.
    pub fn processing(&self, format: usize) -> f64 {
        let bits = f64::from(self.formats[format].blocks) * self.block.bits() as f64;
        CHIP_RATE * self.tti.as_secs() / bits
    }

    /// Whether anybody looks at the SDUs that wait: if not, nobody need be asked for them.
    pub fn asks_for_sdus(&self) -> bool {
        self.requirement == RatePolicy::Timeout || self.priority == Priority::Timeout
    }
}
