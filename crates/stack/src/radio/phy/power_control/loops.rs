//! The two loops of power control (TS 25.214 §5.2, TS 25.133). The inner loop follows a target in
//! steps. The outer loop moves the target to keep the block error ratio.

/// Configuration of the outer loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OuterLoopConfig {
    /// Increase of the target for each lost block, in dB.
    pub up_db: f64,
    /// Target block error ratio.
    pub ratio: f64,
}

/// The outer loop of one target.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OuterLoop {
    /// Offset of the target, in dB.
    offset_db: f64,
}

impl OuterLoop {
    /// Adjusts the target after `blocks` blocks with `lost` losses. Steps down are smaller than
    /// steps up, so that both balance at the target ratio.
    #[inline]
    pub fn handle_blocks(&mut self, config: &OuterLoopConfig, blocks: u32, lost: u32) {
        let down_db = config.up_db * config.ratio / (1.0 - config.ratio);
        self.offset_db += config.up_db * f64::from(lost) - down_db * f64::from(blocks - lost);
    }

    /// Factor to multiply a target with.
    #[inline]
    pub fn factor(&self) -> f64 {
        libm::exp10(self.offset_db / 10.0)
    }
}

/// A power that is controlled by commands, one per slot. A command takes effect one slot later.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InnerLoop {
    /// Power in the current slot, in mW.
    pub power: f64,
    /// The command that takes effect at the end of this slot. True: up.
    is_up: Option<bool>,
}

impl InnerLoop {
    pub const SLOTS_PER_SECOND: u32 = 1500;

    pub fn new(power: f64) -> Self {
        InnerLoop { power, is_up: None }
    }

    /// Ends a slot in which the Eb/N0 `achieved` was measured. Applies the command of the previous
    /// slot, and issues the command of this slot. `step` is the factor of a command.
    #[inline]
    pub fn handle_slot(&mut self, achieved: f64, target: f64, step: f64) {
        match self.is_up.replace(achieved < target) {
            Some(true) => self.power *= step,
            Some(false) => self.power /= step,
            None => {}
        }
    }
}
