//! Service credits (Sallent et al. 2001): each TTI earns a user the blocks of his guaranteed rate, each block costs one.

use super::MacShConfig;
use super::config::{Accrual, CreditConfig, Debit, WithoutCredit};

/// What a user has coming to him from the past. It is brought up to date when he asks, so that an idle user costs nothing, and
/// goes with him from cell to cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Credit {
    /// Blocks that he might send.
    pub(super) blocks: f64,
    /// The TTI up to which they were earned.
    earned: u64,
    /// Blocks that he was sent in a TTI, on average.
    served: f64,
    /// The TTI up to which that is.
    averaged: u64,
}

impl Credit {
    /// Credit of a user whose first request is in TTI number `tti`. With [`Accrual::Always`] credit accrues from TTI 0 on,
    /// otherwise the user begins with the credit of one TTI.
    pub fn new(config: &CreditConfig, tti: u64) -> Self {
        let earned = match config.accrues {
            Accrual::Always => 0,
            Accrual::Backlogged => tti,
        };
        Credit { blocks: config.per_tti.min(config.most), earned, served: 0.0, averaged: tti }
    }

    /// Blocks that he might send now, as they were last counted.
    pub fn blocks(&self) -> f64 {
        self.blocks
    }

    /// He asks in TTI number `tti`: what was earned since is counted.
    #[inline]
    pub fn earn(&mut self, config: &CreditConfig, tti: u64) {
        let ttis = match config.accrues {
            Accrual::Always => (tti - self.earned) as f64,
            Accrual::Backlogged => f64::from(u8::from(tti > self.earned)),
        };
        self.blocks = (self.blocks + ttis * config.per_tti).min(config.most);
        self.earned = tti;
    }

    /// The number of the format that he wants; `None` if he has to wait for credits.
    #[inline]
    pub fn want(&self, config: &MacShConfig) -> Option<usize> {
        if self.blocks < 1.0 && config.credit.without == WithoutCredit::Waits {
            return None;
        }
        Some(config.up_to((self.blocks as u32).max(1)))
    }

    /// Of a grant for `granted` blocks so many were sent, and so many of those received.
    #[inline]
    pub fn spend(&mut self, config: &CreditConfig, granted: u32, sent: u32, received: u32) {
        let spent = match config.debit {
            Debit::Sent => sent,
            Debit::Received => received,
            Debit::Format => granted,
        };
        self.blocks -= f64::from(spent);
    }

    /// Blocks of a TTI that he was sent lately, on average up to TTI number `tti`; `keeps` is what a TTI leaves of the past.
    #[inline]
    pub fn mean_served(&mut self, keeps: f64, tti: u64) -> f64 {
        let ttis = tti - self.averaged;
        if ttis > 0 {
            self.served *= if ttis == 1 { keeps } else { libm::pow(keeps, ttis as f64) };
            self.averaged = tti;
        }
        self.served
    }

    /// In TTI number `tti` he was sent `blocks`.
    #[inline]
    pub fn serve(&mut self, keeps: f64, tti: u64, blocks: u32) {
        self.served = self.mean_served(keeps, tti) + (1.0 - keeps) * f64::from(blocks);
    }
}
