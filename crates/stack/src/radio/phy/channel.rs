//! Block losses of a UE that depend on no other UE: independent errors, the two-state Gilbert model and
//! recorded errors. [`BlockErrors`] is the process of one UE and direction.
//!
//! Draws are addressed by TTI and block, so a user has the same radio with another TCP version or in
//! the presence of another user. The only exception is a Gilbert chain that steps once per block: its
//! state depends on the number of blocks sent before.

use std::sync::Arc;

use umts_kernel::random::{AddressedStream, Chance, TtiDraws};

use super::Lost;
use crate::ids::{Direction, UeId};

/// Blocks that share one draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum ErrorUnit {
    /// Each PDU (transport block) has its own draw.
    Pdu,
    /// All blocks of a TTI together.
    Tti,
}

/// How the blocks of a channel are lost.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrorModel {
    ErrorFree,
    /// Loses each unit independently with probability `bler`.
    Independent {
        /// Block error ratio.
        bler: f64,
        unit: ErrorUnit,
    },
    /// Two states with one error probability each (Dubois 2005, §4.2 and Table 7.1).
    Gilbert {
        /// Probability per step of leaving the good state.
        good_to_bad: f64,
        /// Probability per step of leaving the bad state.
        bad_to_good: f64,
        /// Block error probability in the good state.
        bler_good: f64,
        /// Block error probability in the bad state.
        bler_bad: f64,
        /// The chain steps once per PDU or once per TTI.
        step: ErrorUnit,
    },
    /// A recorded result per block, true for a loss. At its end it repeats from the start.
    Trace(Arc<[bool]>),
    /// Loses all blocks.
    Cut,
}

impl ErrorModel {
    /// Sets the block error ratio, if errors are independent or there are none. Returns whether they
    /// are.
    pub fn set_rate(&mut self, bler: f64) -> bool {
        let unit = match self {
            ErrorModel::ErrorFree => ErrorUnit::Pdu,
            ErrorModel::Independent { unit, .. } => *unit,
            ErrorModel::Gilbert { .. } | ErrorModel::Trace(_) | ErrorModel::Cut => return false,
        };
        *self = ErrorModel::Independent { bler, unit };
        true
    }
}

/// The error process of one UE in one direction.
#[derive(Debug, Clone)]
pub struct BlockErrors {
    model: ErrorModel,
    /// The model without the cut, while the channel is cut.
    uncut: Option<ErrorModel>,
    draws: AddressedStream,
    /// Number of blocks so far: the position in a trace, and the address of the chain's steps.
    blocks_seen: u64,
    /// Whether the Gilbert chain is in the bad state. `None` before its first step.
    bad: Option<bool>,
    /// TTI of the last step of a chain that steps once per TTI.
    last_tti: u64,
    /// Probability of a loss in the good and in the bad state. Both are equal if the model has no
    /// states.
    loss: [Chance; 2],
    /// Probability that the chain is bad after one step from the good and from the bad state.
    bad_after_one_step: [Chance; 2],
}

/// Loses each of `blocks` blocks independently with probability `loss`. The draws have addresses from
/// `first` on.
#[inline]
pub(super) fn independent_losses(draws: TtiDraws, first: u32, blocks: u32, loss: Chance) -> Lost {
    Lost::which(blocks, |block| draws.happens(first + block, loss))
}

/// Name of the random stream for the blocks of a UE. The streams of its DCHs append a number.
pub fn errors_stream(direction: Direction, ue: UeId) -> String {
    format!("radio/{direction:?}/ue{}", ue.0)
}

/// The blocks of a TTI have addresses 0 to 127. The draw of the chain follows.
const CHAIN: u32 = Lost::MAX_BLOCKS;

/// Address of the draw for a block that is not sent, after the address for signalling.
const UNSENT: u32 = CHAIN + 2;

impl BlockErrors {
    /// Sets the block error ratio, if errors are independent or there are none.
    pub fn set_rate(&mut self, bler: f64) {
        let model = self.uncut.as_mut().unwrap_or(&mut self.model);
        if model.set_rate(bler) {
            self.loss = [Chance::of(bler); 2];
        }
    }

    /// Block error ratio, also while the channel is cut, if errors are independent or there are
    /// none.
    pub fn rate(&self) -> Option<f64> {
        match self.uncut.as_ref().unwrap_or(&self.model) {
            ErrorModel::ErrorFree => Some(0.0),
            ErrorModel::Independent { bler, .. } => Some(*bler),
            ErrorModel::Gilbert { .. } | ErrorModel::Trace(_) | ErrorModel::Cut => None,
        }
    }

    /// Cuts the channel, which then loses all blocks, or restores it.
    pub fn set_cut(&mut self, is_cut: bool) {
        if is_cut && self.uncut.is_none() {
            self.uncut = Some(std::mem::replace(&mut self.model, ErrorModel::Cut));
        } else if !is_cut && let Some(model) = self.uncut.take() {
            self.model = model;
        }
    }

    pub fn new(model: ErrorModel, draws: AddressedStream) -> Self {
        let (loss, bad_after_one_step) = match model {
            ErrorModel::Independent { bler, .. } => ([bler; 2], [0.0; 2]),
            ErrorModel::Gilbert { good_to_bad, bad_to_good, bler_good, bler_bad, .. } => {
                let bad = |before| bad_probability(Some(before), good_to_bad, bad_to_good, 1);
                ([bler_good, bler_bad], [false, true].map(bad))
            }
            ErrorModel::ErrorFree | ErrorModel::Trace(_) | ErrorModel::Cut => ([0.0; 2], [0.0; 2]),
        };
        BlockErrors {
            model,
            uncut: None,
            draws,
            blocks_seen: 0,
            bad: None,
            last_tti: 0,
            loss: loss.map(Chance::of),
            bad_after_one_step: bad_after_one_step.map(Chance::of),
        }
    }

    /// Decides which of `blocks` blocks in TTI `tti` are lost. `first` is the number of the first
    /// block in the TTI. `tti` must not decrease.
    #[inline]
    pub fn losses(&mut self, tti: u64, first: u32, blocks: u32) -> Lost {
        match self.model {
            ErrorModel::ErrorFree => Lost(0),
            ErrorModel::Independent { unit, .. } => self.independent(tti, first, blocks, unit),
            ErrorModel::Gilbert { step, .. } => self.gilbert(tti, first, blocks, step),
            ErrorModel::Trace(_) => self.traced(blocks),
            ErrorModel::Cut => Lost::all(blocks),
        }
    }

    /// Whether a block that is not sent would be lost in TTI `tti`. Does not advance traces and chains
    /// that step once per block.
    #[inline(never)]
    pub fn would_lose(&mut self, tti: u64) -> bool {
        match &self.model {
            ErrorModel::ErrorFree => false,
            ErrorModel::Cut => true,
            ErrorModel::Independent { unit, .. } => {
                let unit = *unit;
                !self.independent(tti, UNSENT, 1, unit).is_none()
            }
            ErrorModel::Gilbert { step: ErrorUnit::Tti, .. } => {
                !self.gilbert(tti, UNSENT, 1, ErrorUnit::Tti).is_none()
            }
            ErrorModel::Gilbert { step: ErrorUnit::Pdu, .. } => {
                self.bad.is_some_and(|bad| self.is_lost(tti, UNSENT, self.loss[usize::from(bad)]))
            }
            ErrorModel::Trace(losses) => losses[(self.blocks_seen % losses.len() as u64) as usize],
        }
    }

    /// The next `blocks` recorded results.
    fn traced(&mut self, blocks: u32) -> Lost {
        let ErrorModel::Trace(losses) = &self.model else { return Lost(0) };
        let from = self.blocks_seen;
        self.blocks_seen += u64::from(blocks);
        Lost::which(blocks, |block| losses[((from + u64::from(block)) % losses.len() as u64) as usize])
    }

    /// Losses with independent draws per block or per TTI.
    // Inlined despite its second caller (`would_lose`), because `losses` is called for every block
    // set.
    #[inline]
    fn independent(&self, tti: u64, first: u32, blocks: u32, unit: ErrorUnit) -> Lost {
        let (draws, loss) = (self.draws.tti(tti), self.loss[0]);
        match unit {
            ErrorUnit::Tti if draws.happens(0, loss) => Lost::all(blocks),
            ErrorUnit::Tti => Lost(0),
            ErrorUnit::Pdu => independent_losses(draws, first, blocks, loss),
        }
    }

    /// Losses in the states of the chain, which steps once per block or once per TTI.
    // Inlined like `independent`: a call costs up to 31 more instructions per block
    // (docs/performance.md).
    #[inline]
    fn gilbert(&mut self, tti: u64, first: u32, blocks: u32, step: ErrorUnit) -> Lost {
        match step {
            ErrorUnit::Pdu => {
                let (mut before, seen) = (self.bad, self.blocks_seen);
                let lost = Lost::which(blocks, |block| {
                    let bad = self.is_bad_after(before, 1, self.draws.tti(seen + u64::from(block)));
                    before = Some(bad);
                    self.is_lost(tti, first + block, self.loss[usize::from(bad)])
                });
                (self.bad, self.blocks_seen) = (before, seen + u64::from(blocks));
                lost
            }
            ErrorUnit::Tti if blocks == 0 => Lost(0),
            ErrorUnit::Tti => {
                let bad = self.is_bad_after(self.bad, tti - self.last_tti, self.draws.tti(tti));
                (self.bad, self.last_tti) = (Some(bad), tti);
                Lost::which(blocks, |block| self.is_lost(tti, first + block, self.loss[usize::from(bad)]))
            }
        }
    }

    /// Whether block `block` of TTI `tti` is lost with probability `loss`. Skips the draw if the
    /// result is certain, which is possible because draws are addressed.
    #[inline]
    fn is_lost(&self, tti: u64, block: u32, loss: Chance) -> bool {
        let always = loss == Chance::ALWAYS;
        if always | (loss == Chance::NEVER) { always } else { self.draw(tti, block, loss) }
    }

    #[inline(never)]
    fn draw(&self, tti: u64, block: u32, loss: Chance) -> bool {
        self.draws.tti(tti).happens(block, loss)
    }

    /// Whether a chain in state `before` is bad after `steps` steps, decided by draw number [`CHAIN`].
    #[inline]
    fn is_bad_after(&self, before: Option<bool>, steps: u64, draws: TtiDraws) -> bool {
        match before {
            Some(bad) if steps == 1 => draws.happens(CHAIN, self.bad_after_one_step[usize::from(bad)]),
            before => self.jump(before, steps, draws),
        }
    }

    /// Like `is_bad_after`, for any number of steps or an unknown state.
    #[inline(never)]
    fn jump(&self, before: Option<bool>, steps: u64, draws: TtiDraws) -> bool {
        match before {
            Some(bad) if steps == 0 => bad,
            before => draws.happens(CHAIN, Chance::of(self.bad_after(before, steps))),
        }
    }

    fn bad_after(&self, bad: Option<bool>, steps: u64) -> f64 {
        match self.model {
            ErrorModel::Gilbert { good_to_bad, bad_to_good, .. } => {
                bad_probability(bad, good_to_bad, bad_to_good, steps)
            }
            _ => unreachable!("only this model has a chain"),
        }
    }
}

/// Probability that the chain is bad `steps` steps after state `bad`. In closed form, so that TTIs
/// without transmission cost no time. If the state is unknown (`None`), the stationary probability.
fn bad_probability(bad: Option<bool>, good_to_bad: f64, bad_to_good: f64, steps: u64) -> f64 {
    let sum = good_to_bad + bad_to_good;
    if sum == 0.0 {
        // The chain never leaves its state.
        return f64::from(u8::from(bad == Some(true)));
    }
    let stationary = good_to_bad / sum;
    match bad {
        None => stationary,
        Some(bad) => {
            let start = f64::from(u8::from(bad));
            stationary + (start - stationary) * libm::pow(1.0 - sum, steps as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;

    use super::*;

    /// The error process of a UE in the downlink.
    fn process(model: ErrorModel) -> BlockErrors {
        BlockErrors::new(model, Streams::new(1, 0).addressed("radio/downlink/ue0"))
    }

    /// Block error ratio over `ttis` TTIs with `blocks` blocks each.
    fn ratio(process: &mut BlockErrors, ttis: u64, blocks: u32) -> f64 {
        let lost: u64 = (0..ttis).map(|tti| u64::from(process.losses(tti, 0, blocks).count())).sum();
        lost as f64 / (ttis * u64::from(blocks)) as f64
    }

    #[test]
    fn independent_errors_have_the_configured_ratio() {
        for unit in [ErrorUnit::Pdu, ErrorUnit::Tti] {
            let mut errors = process(ErrorModel::Independent { bler: 0.1, unit });
            // Per TTI there are 12 times fewer draws. The standard error is 0.0009.
            let measured = ratio(&mut errors, 100_000, 12);
            assert!((measured - 0.1).abs() < 0.005, "{unit:?}: {measured}");
        }
    }

    #[test]
    fn errors_per_tti_lose_all_blocks_of_the_tti() {
        let mut errors = process(ErrorModel::Independent { bler: 0.5, unit: ErrorUnit::Tti });
        let losses_per_tti: Vec<_> = (0..100).map(|tti| errors.losses(tti, 0, 12).count()).collect();
        assert!(losses_per_tti.iter().all(|&losses| losses == 0 || losses == 12));
        assert!(losses_per_tti.contains(&0) && losses_per_tti.contains(&12));
    }

    #[test]
    fn losses_do_not_depend_on_earlier_traffic() {
        let model = ErrorModel::Independent { bler: 0.3, unit: ErrorUnit::Pdu };
        let (mut busy, mut idle) = (process(model.clone()), process(model));
        for tti in 0..999 {
            busy.losses(tti, 0, 12);
        }
        assert_eq!(busy.losses(999, 0, 4), idle.losses(999, 0, 4));
    }

    /// Dubois (2005), Table 7.1. The chain is bad, and so loses each block, for a share of 0.0087 / (0.0087
    /// + 0.1491) = 0.0551 of the time, in bursts of 1 / 0.1491 = 6.71 blocks on average.
    fn table_7_1(step: ErrorUnit) -> ErrorModel {
        ErrorModel::Gilbert { good_to_bad: 0.0087, bad_to_good: 0.1491, bler_good: 0.0, bler_bad: 1.0, step }
    }

    #[test]
    fn gilbert_ratio_and_bursts_match_the_table() {
        let mut errors = process(table_7_1(ErrorUnit::Pdu));
        let lost: Vec<bool> = (0..2_000_000).map(|tti| errors.losses(tti, 0, 1).count() == 1).collect();
        let ratio = lost.iter().filter(|&&is_lost| is_lost).count() as f64 / lost.len() as f64;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        let mean_burst = ratio * lost.len() as f64 / bursts;
        assert!((ratio - 0.0551).abs() < 0.002, "{ratio}");
        assert!((mean_burst - 6.71).abs() < 0.2, "{mean_burst}");
    }

    #[test]
    fn chain_per_tti_advances_without_transmissions() {
        // After 1,000 TTIs the state of the chain no longer depends on the previous one, so errors are
        // independent, with the same ratio.
        let mut errors = process(table_7_1(ErrorUnit::Tti));
        let lost: Vec<bool> = (0..200_000).map(|n| errors.losses(n * 1000, 0, 1).count() == 1).collect();
        let ratio = lost.iter().filter(|&&is_lost| is_lost).count() as f64 / lost.len() as f64;
        let pairs_lost = lost.windows(2).filter(|pair| pair[0] && pair[1]).count();
        let pair_ratio = pairs_lost as f64 / lost.len() as f64;
        assert!((ratio - 0.0551).abs() < 0.003, "{ratio}");
        assert!((pair_ratio - ratio * ratio).abs() < 0.001, "{pair_ratio}");
    }

    #[test]
    fn error_trace_repeats_at_its_end() {
        let mut errors = process(ErrorModel::Trace([true, false, false].into()));
        assert_eq!(errors.losses(0, 0, 2), Lost(0b01));
        assert_eq!(errors.losses(9, 0, 2), Lost(0b10));
    }
}
