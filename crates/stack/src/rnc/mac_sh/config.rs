//! Configuration of a DSCH (downlink shared channel) and of its scheduler. The model is from Rendón et
//! al. (2004). Where their paper can be interpreted in several ways, each interpretation is an option.

use umts_units::{Bytes, Duration};

use crate::radio::mac::PowerFormat;
use crate::radio::phy::ovsf::Code;
use crate::radio::phy::sir::CHIP_RATE;
use crate::scheduling::{Candidate, CreditConfig, SchedulerKind, TimeoutConfig};

/// A DSCH and its scheduler.
#[derive(Debug, Clone, PartialEq)]
pub struct MacShConfig {
    pub tti: Duration,
    /// When TTIs are scheduled.
    pub decision: Decision,
    /// Octets of RLC payload in a block.
    pub block: Bytes,
    /// Transport formats TF1, TF2 …, with ascending blocks and descending spreading factors. TF0 is no
    /// transmission.
    pub formats: Vec<PowerFormat>,
    /// Branch of the code tree.
    pub codes: Code,
    /// Format that a user requests.
    pub requirement: RatePolicy,
    /// Order of the users.
    pub priority: SchedulerKind,
    /// Whether a user requests at most the format that its backlog fills.
    pub capped_by_backlog: bool,
    pub credit: CreditConfig,
    pub timeout: TimeoutConfig,
    /// Time constant of the mean rate of proportional fairness.
    pub mean_over: Duration,
}

/// When the DSCH is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Decision {
    /// At the start of a TTI. The TTIs of all users start together.
    #[default]
    EachTti,
    /// At the start of each radio frame of 10 ms, for half of the users: TTIs of 20 ms of UEs with even
    /// numbers start with even frames, of the others with odd frames.
    EachFrame,
    /// At the start of each radio frame, for all users that are not in the middle of a TTI.
    AnyFrame,
}

/// Rule for the format that a user requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RatePolicy {
    /// As many blocks as the user has service credits, which grow with the guaranteed rate.
    #[default]
    ServiceCredit,
    /// As many blocks as complete each of the user's packets before its timeout.
    Timeout,
    /// All waiting blocks.
    FullBacklog,
}

impl MacShConfig {
    /// Index of the largest format with at most `blocks` blocks, or of the smallest format.
    #[inline]
    pub fn up_to(&self, blocks: u32) -> usize {
        self.formats.partition_point(|format| format.blocks <= blocks).saturating_sub(1)
    }

    /// Index of the smallest format with at least `blocks` blocks, or of the largest format.
    #[inline]
    pub fn holding(&self, blocks: u32) -> usize {
        self.formats.partition_point(|format| format.blocks < blocks).min(self.formats.len() - 1)
    }

    /// Index of the largest format with at least twice the spreading factor of this one, which has about
    /// half its blocks. `None`: there is no such format.
    #[inline]
    pub fn halved(&self, format: usize) -> Option<usize> {
        let doubled = 2 * self.formats[format].spreading_factor;
        (0..format).rev().find(|&smaller| self.formats[smaller].spreading_factor >= doubled)
    }

    /// Decisions per TTI: the number of phases in which TTIs can start.
    #[inline]
    pub fn phases(&self) -> u64 {
        match self.decision {
            Decision::EachTti => 1,
            Decision::EachFrame | Decision::AnyFrame => 2,
        }
    }

    /// Time between decisions.
    pub fn interval(&self) -> Duration {
        Duration::from_nanos(self.tti.as_nanos() / self.phases())
    }

    /// Processing gain W/R of a format, in chips per bit of RLC payload.
    pub fn processing(&self, format: usize) -> f64 {
        let bits = f64::from(self.formats[format].blocks) * self.block.bits() as f64;
        CHIP_RATE * self.tti.as_secs() / bits
    }

    /// Credits of a candidate: its guaranteed rate replaces the guaranteed rate of the DSCH.
    #[inline]
    pub fn credit_of(&self, candidate: &Candidate) -> CreditConfig {
        let Some(rate) = candidate.guaranteed else { return self.credit };
        let per_tti = rate.bps() as f64 * self.tti.as_secs() / self.block.bits() as f64;
        CreditConfig { per_tti, max_blocks: self.credit.max_blocks.max(2.0 * per_tti), ..self.credit }
    }

    /// Whether candidates need a list of their waiting SDUs.
    pub fn needs_sdus(&self) -> bool {
        self.requirement == RatePolicy::Timeout || self.priority == SchedulerKind::Timeout
    }
}
