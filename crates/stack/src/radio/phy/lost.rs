//! What a radio answers: which blocks are lost.

/// Which blocks of a set are lost: bit n for block n. A set has 128 blocks at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lost(pub u128);

impl Lost {
    /// The most blocks that a set can have.
    pub const MOST_BLOCKS: u32 = 128;

    /// All of `blocks` blocks.
    #[inline]
    pub fn all(blocks: u32) -> Self {
        Lost(if blocks >= Self::MOST_BLOCKS { u128::MAX } else { (1 << blocks) - 1 })
    }

    /// Those of `blocks` blocks of which `is_lost` says so, asked in their order.
    #[inline]
    pub fn which(blocks: u32, mut is_lost: impl FnMut(u32) -> bool) -> Self {
        // In two words: to shift 128 bits takes several instructions. In one loop: who is asked is there once.
        let mut words = [0_u64; 2];
        for block in 0..blocks.min(Self::MOST_BLOCKS) {
            // No branch: nobody can guess which are lost.
            words[(block / 64) as usize] |= u64::from(is_lost(block)) << (block % 64);
        }
        let [low, high] = words;
        Lost(u128::from(high) << 64 | u128::from(low))
    }

    /// Whether none is lost, as mostly.
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether block number `block` is lost.
    #[inline]
    pub fn contains(self, block: u32) -> bool {
        self.0 >> block & 1 == 1
    }

    /// Of the blocks from number `block` on, which then is the first.
    #[inline]
    pub fn from(self, block: u32) -> Self {
        Lost(self.0.checked_shr(block).unwrap_or(0))
    }

    /// How many blocks are lost.
    #[inline]
    pub fn count(self) -> u32 {
        // Mostly none or few, and counting takes long on processors that are not known to have an instruction for it.
        let (mut left, mut count) = (self.0, 0);
        while left != 0 {
            left &= left - 1;
            count += 1;
        }
        count
    }
}
