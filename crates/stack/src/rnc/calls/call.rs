//! A call in progress: its place, its radio links and its power control.

use umts_units::Time;

use crate::environment::{Gains, Mobile};
use crate::ids::CellId;
use crate::radio::phy::ovsf::Code;
use crate::radio::phy::power_control::{InnerLoop, OuterLoop, PowerConfig};

/// A call in progress.
#[derive(Debug)]
pub struct Call {
    /// Number in the order of arrival from 0. It addresses the draws of the call.
    pub number: u64,
    /// Time of its end.
    pub(super) ends: Time,
    /// Its place and radio links.
    pub at: CallLocation,
    /// State of its power control.
    pub loops: PowerControlLoops,
    /// Mean Eb/N0 of the current TTI so far, if a TTI of the call lasts several scheduling intervals of
    /// the cells.
    pub ebn0_average: EbN0Average,
}

impl Call {
    /// Ends the call now.
    pub fn drop_at(&mut self, now: Time) {
        self.ends = now;
    }
}

/// The place of a call and its radio links.
#[derive(Debug)]
pub struct CallLocation {
    /// The calling UE.
    pub mobile: Mobile,
    /// Link from its cell; in soft handover from the best of its cells.
    pub main: RadioLink,
    /// Links from further cells of the active set.
    pub further: Vec<RadioLink>,
    /// Whether the call is in compressed mode, in which some TTIs have a gap.
    pub is_compressed: bool,
    /// Factor by which compressed mode raises the target Eb/N0 in this TTI: above 1 if the TTI has a
    /// gap, otherwise 1.
    pub raise: f64,
}

impl CallLocation {
    pub fn new(mobile: Mobile, main: RadioLink) -> Self {
        CallLocation { mobile, main, further: Vec::new(), is_compressed: false, raise: 1.0 }
    }

    /// All radio links, the best one first.
    pub fn legs(&self) -> impl Iterator<Item = &RadioLink> {
        std::iter::once(&self.main).chain(&self.further)
    }

    pub fn legs_mut(&mut self) -> impl Iterator<Item = &mut RadioLink> {
        std::iter::once(&mut self.main).chain(&mut self.further)
    }
}

/// Radio link of a call from one cell, also called a leg.
#[derive(Debug, Clone, Copy)]
pub struct RadioLink {
    pub cell: CellId,
    /// Code of the call in this cell.
    pub code: Code,
    /// Path gain, linear, as last measured.
    pub gain: f64,
    /// Power received from other cells in mW, as of their last TTI.
    pub interference: f64,
    /// Share of this leg in the target Eb/N0. 1 for a single leg.
    pub share: f64,
}

impl RadioLink {
    /// The only link of a call, not measured yet.
    pub fn new(cell: CellId, code: Code) -> Self {
        RadioLink { cell, code, gain: 0.0, interference: 0.0, share: 1.0 }
    }

    /// Updates path gain and interference when the cells send `powers`, in mW by cell.
    pub fn measure(&mut self, gains: &Gains, powers: &[f64]) {
        self.gain = gains.of(self.cell);
        self.interference = gains.from_others(powers, self.cell);
    }
}

/// Power control loops of one user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerControlLoops {
    /// The outer loop.
    outer: OuterLoop,
    /// Factor of the outer loop on the target Eb/N0.
    pub target_scale: f64,
    /// The inner loop, from its first slot on.
    pub inner: Option<InnerLoop>,
    /// With an inner loop: mean Eb/N0, linear, over the slots of the last TTI.
    pub achieved: f64,
}

impl Default for PowerControlLoops {
    fn default() -> Self {
        PowerControlLoops { outer: OuterLoop::default(), target_scale: 1.0, inner: None, achieved: 0.0 }
    }
}

impl PowerControlLoops {
    /// Updates the outer loop: `lost` of `blocks` blocks were lost.
    #[inline]
    pub fn handle_blocks(&mut self, power: &PowerConfig, blocks: u32, lost: u32) {
        if let Some(config) = &power.outer_loop {
            self.outer.handle_blocks(config, blocks, lost);
            self.target_scale = self.outer.factor();
        }
    }
}

/// Mean Eb/N0 of a TTI so far, over its scheduling intervals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EbN0Average {
    /// Sum of the linear Eb/N0 of all intervals.
    sum: f64,
    /// Number of intervals.
    intervals: u32,
}

impl EbN0Average {
    /// Adds the linear Eb/N0 of an interval. Returns the mean so far, linear.
    pub fn mean_with(&mut self, ebn0: f64) -> f64 {
        self.sum += ebn0;
        self.intervals += 1;
        self.sum / f64::from(self.intervals)
    }
}
