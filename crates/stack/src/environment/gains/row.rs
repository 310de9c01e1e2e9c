//! A slice of gains that is stored inline if it is short.

use std::ops::{Deref, DerefMut};

/// Maximum inline length: the cells of a layout of 12 sites, or within a reach of five radii. A
/// loop over many mobiles then reads memory sequentially, which the processor prefetches.
const FEW: usize = 36;

#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "the variant avoids the allocation of short rows")]
pub enum Row {
    /// Stored inline.
    Few { number: u16, of: [f64; FEW] },
    /// On the heap.
    Many(Box<[f64]>),
}

impl Row {
    /// Creates a row of `number` zeros.
    pub fn new(number: usize) -> Self {
        match u16::try_from(number) {
            Ok(few) if number <= FEW => Row::Few { number: few, of: [0.0; FEW] },
            _ => Row::Many(vec![0.0; number].into()),
        }
    }
}

impl Default for Row {
    fn default() -> Self {
        Row::new(0)
    }
}

impl Deref for Row {
    type Target = [f64];

    #[inline]
    fn deref(&self) -> &[f64] {
        match self {
            Row::Few { number, of } => &of[..usize::from(*number)],
            Row::Many(of) => of,
        }
    }
}

impl DerefMut for Row {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f64] {
        match self {
            Row::Few { number, of } => &mut of[..usize::from(*number)],
            Row::Many(of) => of,
        }
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_and_heap_rows_hold_all_values() {
        for number in [0, 1, FEW, FEW + 1, 108] {
            let mut row = Row::new(number);
            row.iter_mut().zip(1..).for_each(|(gain, of)| *gain = f64::from(of));
            assert_eq!(row.iter().sum::<f64>(), (number * (number + 1) / 2) as f64);
            assert_eq!((row.len(), &row), (number, &row.clone()));
        }
    }
}
