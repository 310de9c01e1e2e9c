//! The two loops of power control (TS 25.214 §5.2, TS 25.133): the inner one follows a target in steps, the outer one moves the
//! target until the block error ratio is what is wanted.

/// The step with which the outer loop raises a target, and the ratio that it keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OuterLoopConfig {
    /// What a lost block adds to the target, in dB.
    pub up_db: f64,
    /// The block error ratio that is wanted.
    pub ratio: f64,
}

/// How far the outer loop has moved a target, in dB.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OuterLoop(pub f64);

impl OuterLoop {
    /// So many blocks came, so many of them were lost. Steps down are so much smaller than steps up that both are alike at the
    /// wanted ratio.
    #[inline]
    pub fn handle_blocks(&mut self, config: &OuterLoopConfig, blocks: u32, lost: u32) {
        let down = config.up_db * config.ratio / (1.0 - config.ratio);
        self.0 += config.up_db * f64::from(lost) - down * f64::from(blocks - lost);
    }

    /// What it multiplies a target with.
    #[inline]
    pub fn factor(&self) -> f64 {
        libm::exp10(self.0 / 10.0)
    }
}

/// A power that follows commands, one for each slot and each a slot late.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InnerLoop {
    /// The power of this slot, in mW.
    pub power: f64,
    /// Whether the command that is on its way says up.
    is_up: Option<bool>,
}

impl InnerLoop {
    /// Slots of a second.
    pub const SLOTS_PER_SECOND: u32 = 1500;

    /// One that begins with this power.
    pub fn new(power: f64) -> Self {
        InnerLoop { power, is_up: None }
    }

    /// A slot ends in which `achieved` was measured: the command about the slot before is obeyed, the one about this slot is
    /// sent. `step` is a factor.
    #[inline]
    pub fn handle_slot(&mut self, achieved: f64, target: f64, step: f64) {
        match self.is_up.replace(achieved < target) {
            Some(true) => self.power *= step,
            Some(false) => self.power /= step,
            None => {}
        }
    }
}
