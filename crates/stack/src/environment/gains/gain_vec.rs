//! The gains of the cells to one mobile: a slice that is stored inline if it is short, and
//! otherwise on the heap.

use std::ops::{Deref, DerefMut};

/// Maximum inline length: the cells of a layout of 12 sites, or within a reach of five sector radii.
/// With inline gains a loop over many mobiles reads memory sequentially, which the processor
/// prefetches.
const INLINE_CELLS: usize = 36;

#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "the inline variant avoids allocations")]
pub enum GainVec {
    /// Stored inline.
    Inline { len: u16, gains: [f64; INLINE_CELLS] },
    /// On the heap.
    Heap(Box<[f64]>),
}

impl GainVec {
    /// Creates a vector of `len` zeros.
    pub fn new(len: usize) -> Self {
        match u16::try_from(len) {
            Ok(short) if len <= INLINE_CELLS => GainVec::Inline { len: short, gains: [0.0; INLINE_CELLS] },
            _ => GainVec::Heap(vec![0.0; len].into()),
        }
    }
}

impl Default for GainVec {
    fn default() -> Self {
        GainVec::new(0)
    }
}

impl Deref for GainVec {
    type Target = [f64];

    #[inline]
    fn deref(&self) -> &[f64] {
        match self {
            GainVec::Inline { len, gains } => &gains[..usize::from(*len)],
            GainVec::Heap(gains) => gains,
        }
    }
}

impl DerefMut for GainVec {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f64] {
        match self {
            GainVec::Inline { len, gains } => &mut gains[..usize::from(*len)],
            GainVec::Heap(gains) => gains,
        }
    }
}

impl PartialEq for GainVec {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_and_heap_variants_hold_all_values() {
        for len in [0, 1, INLINE_CELLS, INLINE_CELLS + 1, 108] {
            let mut gains = GainVec::new(len);
            gains.iter_mut().zip(1..).for_each(|(gain, number)| *gain = f64::from(number));
            // 1 + 2 + … + len.
            assert_eq!(gains.iter().sum::<f64>(), (len * (len + 1) / 2) as f64);
            assert_eq!(gains.len(), len);
            assert_eq!(&gains, &gains.clone());
        }
    }
}
