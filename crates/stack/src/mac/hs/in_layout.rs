//! A UE on the HS-DSCH of a layout: the cells set its mean SNR, and MAC-hs counts its blocks, which need power.

use umts_units::Time;

use super::TTI;
use super::mean_snr::MeanSnr;

/// A UE on the HS-DSCH of a layout.
#[derive(Debug, Default)]
pub struct HsInLayout {
    pub(super) snr: MeanSnr,
    /// Transmissions of blocks since the last call of [`take_blocks`](Self::take_blocks).
    blocks: u32,
}

impl HsInLayout {
    /// The UE uses the HS-DSCH from `now` on, with the mean SNR `snr` (linear). CQIs that it measured before, in
    /// an earlier use of the channel, are obsolete.
    pub fn begin(&mut self, now: Time, snr: f64) {
        self.snr.restart(first_tti(now), decibels(snr));
    }

    /// The mean SNR is `snr` (linear) from `now` on.
    pub fn set_snr(&mut self, now: Time, snr: f64) {
        self.snr.set(first_tti(now), decibels(snr));
    }

    /// A block was transmitted.
    pub(super) fn count_block(&mut self) {
        self.blocks += 1;
    }

    /// Returns and resets the number of transmissions.
    pub fn take_blocks(&mut self) -> u32 {
        std::mem::take(&mut self.blocks)
    }
}

/// Number of the first TTI from `now` on.
fn first_tti(now: Time) -> u64 {
    now.as_nanos().div_ceil(TTI.as_nanos())
}

fn decibels(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}
