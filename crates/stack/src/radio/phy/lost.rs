//! The result of a transmission: which of its blocks are lost on the air.

/// Lost blocks of a set as bits: bit n is set if block n is lost. A set has at most 128 blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lost(pub u128);

impl Lost {
    /// Maximum number of blocks in a set.
    pub const MAX_BLOCKS: u32 = 128;

    /// All of `blocks` blocks.
    #[inline]
    pub fn all(blocks: u32) -> Self {
        Lost(if blocks >= Self::MAX_BLOCKS { u128::MAX } else { (1 << blocks) - 1 })
    }

    /// The blocks for which `is_lost` returns true. Called for each of `blocks` blocks in order.
    #[inline]
    pub fn which(blocks: u32, mut is_lost: impl FnMut(u32) -> bool) -> Self {
        // Two words, because shifting 128 bits takes several instructions. One loop, so that the
        // inlined body of `is_lost` exists only once.
        let mut words = [0_u64; 2];
        for block in 0..blocks.min(Self::MAX_BLOCKS) {
            // Without a branch, because the processor cannot predict losses.
            words[(block / 64) as usize] |= u64::from(is_lost(block)) << (block % 64);
        }
        let [low, high] = words;
        Lost(u128::from(high) << 64 | u128::from(low))
    }

    /// Whether no block is lost, the usual case.
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub fn contains(self, block: u32) -> bool {
        self.0 >> block & 1 == 1
    }

    /// The losses from block `block` on, renumbered from 0.
    #[inline]
    pub fn from(self, block: u32) -> Self {
        Lost(self.0.checked_shr(block).unwrap_or(0))
    }

    /// Number of lost blocks.
    #[inline]
    pub fn count(self) -> u32 {
        // Usually there are none or few, and `count_ones` is slow without a dedicated instruction.
        let (mut uncounted, mut count) = (self.0, 0);
        while uncounted != 0 {
            // Clears the lowest bit that is set.
            uncounted &= uncounted - 1;
            count += 1;
        }
        count
    }
}
