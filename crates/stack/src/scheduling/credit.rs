//! Service credits (Sallent et al. 2001): a user earns the blocks of its guaranteed rate in each
//! TTI, and spends them on blocks that are sent. The user with the most credits is next.

use super::Rank;
use crate::ids::UeId;

/// Service credits, in blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CreditConfig {
    /// Blocks per TTI at the guaranteed rate. A user starts with this credit.
    pub per_tti: f64,
    pub max_blocks: f64,
    pub accrues: Accrual,
    pub debit: Debit,
}

/// When credits grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Accrual {
    /// In every TTI.
    #[default]
    Always,
    /// In TTIs in which the user has data waiting.
    Backlogged,
}

/// Blocks for which credits are spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Debit {
    /// Blocks that were sent, retransmissions included.
    #[default]
    Sent,
    /// All blocks of the granted format, sent or not.
    Format,
}

/// Credits and mean rate of a user. They are updated when the user has a request, so an idle user
/// costs nothing. They move with the user from cell to cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Credit {
    /// Credits in blocks.
    pub(crate) blocks: f64,
    /// Number of the TTI of the last update of `blocks`.
    earned_to: u64,
    /// Mean blocks per TTI that were sent to the user.
    mean_served: f64,
    /// Number of the TTI of the last update of `mean_served`.
    averaged_to: u64,
}

impl Credit {
    /// Credit of a user with its first request in TTI number `tti`. With [`Accrual::Always`] credit
    /// accrues from TTI 0 on, otherwise the user begins with the credit of one TTI.
    pub fn new(config: &CreditConfig, tti: u64) -> Self {
        let earned_to = match config.accrues {
            Accrual::Always => 0,
            Accrual::Backlogged => tti,
        };
        Credit {
            blocks: config.per_tti.min(config.max_blocks),
            earned_to,
            mean_served: 0.0,
            averaged_to: tti,
        }
    }

    /// Credits in blocks, as of the last update.
    pub fn blocks(&self) -> f64 {
        self.blocks
    }

    /// Adds the credits that were earned up to TTI number `tti`, in which the user has a request.
    #[inline]
    pub fn earn(&mut self, config: &CreditConfig, tti: u64) {
        let ttis_with_accrual = match config.accrues {
            Accrual::Always => (tti - self.earned_to) as f64,
            Accrual::Backlogged => f64::from(u8::from(tti > self.earned_to)),
        };
        self.blocks = (self.blocks + ttis_with_accrual * config.per_tti).min(config.max_blocks);
        self.earned_to = tti;
    }

    /// Blocks that the user may request: one if it has no credit.
    #[inline]
    pub fn blocks_to_request(&self) -> u32 {
        (self.blocks as u32).max(1)
    }

    /// Debits a grant for `granted` blocks, of which `sent` were sent.
    #[inline]
    pub fn spend(&mut self, config: &CreditConfig, granted: u32, sent: u32) {
        let spent = match config.debit {
            Debit::Sent => sent,
            Debit::Format => granted,
        };
        self.blocks -= f64::from(spent);
    }

    /// Mean blocks per TTI up to TTI number `tti`. `memory` is the weight of the past after one TTI.
    #[inline]
    pub fn mean_served(&mut self, memory: f64, tti: u64) -> f64 {
        let ttis = tti - self.averaged_to;
        if ttis > 0 {
            self.mean_served *= if ttis == 1 { memory } else { libm::pow(memory, ttis as f64) };
            self.averaged_to = tti;
        }
        self.mean_served
    }

    /// Adds `blocks` that were sent in TTI number `tti` to the mean.
    #[inline]
    pub fn serve(&mut self, memory: f64, tti: u64, blocks: u32) {
        self.mean_served = self.mean_served(memory, tti) + (1.0 - memory) * f64::from(blocks);
    }
}

/// Ranks by the credits: the user with the most credits is first.
#[inline]
pub fn rank(credit: f64) -> Rank {
    Rank::new(-credit)
}

/// Credits of the users of a cell. The user numbers are searched in each TTI, so they are stored apart
/// from the credits.
#[derive(Debug, Default)]
pub struct Credits {
    /// Ascending.
    ues: Vec<UeId>,
    credits: Vec<Credit>,
}

impl Credits {
    /// Adds a user with its credit.
    pub fn join(&mut self, ue: UeId, credit: Credit) {
        match self.ues.binary_search(&ue) {
            Ok(index) => self.credits[index] = credit,
            Err(index) => self.insert(index, ue, credit),
        }
    }

    /// Removes a user. Returns its credit if it was there.
    pub fn leave(&mut self, ue: UeId) -> Option<Credit> {
        let index = self.ues.binary_search(&ue).ok()?;
        self.ues.remove(index);
        Some(self.credits.remove(index))
    }

    pub fn get(&self, ue: UeId) -> Option<&Credit> {
        Some(&self.credits[self.ues.binary_search(&ue).ok()?])
    }

    /// Credit of a user, which is added if it is new in TTI number `tti`.
    pub fn of(&mut self, config: &CreditConfig, tti: u64, ue: UeId) -> &mut Credit {
        let index = self.ues.binary_search(&ue).unwrap_or_else(|index| {
            self.insert(index, ue, Credit::new(config, tti));
            index
        });
        &mut self.credits[index]
    }

    fn insert(&mut self, index: usize, ue: UeId, credit: Credit) {
        self.ues.insert(index, ue);
        self.credits.insert(index, credit);
    }
}
