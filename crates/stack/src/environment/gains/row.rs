//! Numbers of which there are mostly few.

use std::ops::{Deref, DerefMut};

/// So many are kept in place: the cells of a layout of 12 sites, or what is heard within a reach of five radii. Who goes through
/// many mobiles finds them one behind another in memory then, and need not wait for it.
const FEW: usize = 36;

/// A row of gains.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "few in place are what it is for")]
pub enum Row {
    /// In place.
    Few { number: u16, of: [f64; FEW] },
    /// Elsewhere.
    Many(Box<[f64]>),
}

impl Row {
    /// So many zeros.
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
    fn few_or_many_they_are_all_there() {
        for number in [0, 1, FEW, FEW + 1, 108] {
            let mut row = Row::new(number);
            row.iter_mut().zip(1..).for_each(|(gain, of)| *gain = f64::from(of));
            assert_eq!(row.iter().sum::<f64>(), (number * (number + 1) / 2) as f64);
            assert_eq!((row.len(), &row), (number, &row.clone()));
        }
    }
}
