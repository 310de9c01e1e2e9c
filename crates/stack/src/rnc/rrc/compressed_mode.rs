//! Compressed mode: gaps in a DCH in which a UE measures other frequencies or systems (TS 25.212 §4.4,
//! TS 25.215 §6.1). Only the cost of the gaps is modelled, not the measurements.
//!
//! A frame with a gap carries the same data as a frame without one. With half of the spreading factor,
//! the rest of the frame has twice the rate and twice the power. With punctured bits, the power rises
//! by the factor 15 / (15 - gap) (TS 25.214 §5.2.1.3). In addition the target is raised, because power
//! control pauses in the gap.

use umts_units::{Db, Duration};

use crate::environment::Gains;
use crate::ids::CellId;
use crate::options::options;

/// Slots of a frame.
const SLOTS: f64 = 15.0;
/// Frames of a call's TTI.
const FRAMES: f64 = 2.0;
/// Longest gap within one frame, in slots. A longer gap is half in one frame and half in the next.
const LONGEST_IN_FRAME: u8 = 7;

options! {
    /// Compressed mode: the cost of gaps in which a user measures another cell.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct CompressedMode as "Compressed" {
        /// A user has gaps if it receives a second cell that is worse than its own by at most this
        /// margin.
        [label = "Margin for gaps", range = "0 dB to 30 dB", source = "an assumption"]
        pub within: Db = Db(3.0),
        /// Length of a gap in slots; a frame has 15 slots.
        [label = "Length of a gap", range = "3, 4, 5, 7, 10 or 14", source = "TS 25.215 §6.1.1.2"]
        pub gap: u8 = 7,
        /// Time from the start of one gap to the start of the next.
        [label = "Interval of gaps", range = "whole TTIs of 20 ms, 20 ms to 1.44 s",
            source = "TS 25.331 §10.3.6.33: 1 to 144 frames"]
        pub every: Duration = Duration::from_millis(80),
        /// Method by which room is made for a gap.
        [label = "Method of compressed mode", source = "TS 25.212 §4.4.3"]
        pub method: CompressedBy = CompressedBy::HalfSf,
        /// Increase of the Eb/N0 target in frames with a gap.
        [label = "Raised target of frames with a gap", range = "0 dB to 10 dB",
            source = "an assumption; TS 25.331 §10.3.6.33: 0 to 3 dB are signalled"]
        pub raise: Db = Db(1.0),
    }
}

/// Method that makes room for a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum CompressedBy {
    /// By a code of half the spreading factor, which is kept for as long as there are gaps.
    #[default]
    HalfSf,
    /// By leaving out coded bits.
    Puncturing,
}

impl CompressedMode {
    /// Ratio of the mean power of a TTI with a gap to the mean power of a TTI without: the frames
    /// without a gap have power 1, and the slots that remain in frames with a gap have `raise` times
    /// `boost`.
    pub fn factor(&self) -> f64 {
        let gap = f64::from(self.gap);
        let frames_with_gap = if self.gap > LONGEST_IN_FRAME { 2.0 } else { 1.0 };
        let slots_sent = SLOTS * frames_with_gap - gap;
        let boost = match self.method {
            CompressedBy::HalfSf => 2.0,
            CompressedBy::Puncturing => SLOTS * frames_with_gap / slots_sent,
        };
        let raise = libm::exp10(self.raise.0 / 10.0);
        let energy_with_gap = raise * boost * slots_sent / SLOTS;
        (FRAMES - frames_with_gap + energy_with_gap) / FRAMES
    }

    /// Whether another cell is worse than `own` by at most `within`, so that the UE has gaps.
    pub fn is_near(&self, own: CellId, gains: &Gains) -> bool {
        let min_gain = libm::exp10(-self.within.0 / 10.0) * gains.of(own);
        gains.iter().any(|(cell, gain)| cell != own.index() && gain >= min_gain)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::environment::Sites;

    #[test]
    fn power_factor_matches_the_closed_forms() {
        let factor_of = |method, gap, raise| {
            CompressedMode { gap, method, raise: Db(raise), ..CompressedMode::default() }.factor()
        };
        // In one of two frames, 8 of 15 slots have twice the power: its mean is 2 · 8/15.
        assert!((factor_of(CompressedBy::HalfSf, 7, 0.0) - (1.0 + 16.0 / 15.0) / 2.0).abs() < 1e-12);
        // The gap takes 14 of the 30 slots of both frames. The other 16 have twice the power.
        assert!((factor_of(CompressedBy::HalfSf, 14, 0.0) - 16.0 / 15.0).abs() < 1e-12);
        // With puncturing the same energy is sent in fewer slots.
        for gap in [3, 7, 10, 14] {
            assert!((factor_of(CompressedBy::Puncturing, gap, 0.0) - 1.0).abs() < 1e-12);
        }
        let raised = libm::exp10(0.1);
        assert!((factor_of(CompressedBy::Puncturing, 7, 1.0) - (1.0 + raised) / 2.0).abs() < 1e-12);
        assert!((factor_of(CompressedBy::Puncturing, 14, 1.0) - raised).abs() < 1e-12);
    }

    #[test]
    fn ues_near_another_cell_have_gaps() {
        let mode = CompressedMode::default();
        let gains = |other: f64| {
            let mut gains = Gains::of_sites(Arc::new(Sites::new(vec![0])));
            gains.each_site().for_each(|(_, site)| *site = [1e-12, 1e-12 * libm::exp10(-other / 10.0), 0.0]);
            gains
        };
        let [first, second] = [CellId(0), CellId(1)];
        assert!(mode.is_near(first, &gains(2.9)) && mode.is_near(second, &gains(2.9)));
        assert!(!mode.is_near(first, &gains(3.1)) && mode.is_near(second, &gains(3.1)));
    }
}
