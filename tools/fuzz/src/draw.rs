//! What an execution draws.

use umts_kernel::random::{Stream, Streams};

/// Draws of one execution, in order.
pub struct Draw(Stream);

impl Draw {
    /// Those of execution `number` of a target.
    pub fn new(target: &str, number: u64) -> Self {
        Draw(Streams::new(number, 0).stream(target))
    }

    /// One of `0..n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    /// One of `from..=to`.
    pub fn range(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Either.
    pub fn bool(&mut self) -> bool {
        self.one_in(2)
    }

    /// One of `choices`.
    pub fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }

    /// Bits, each set once in four times.
    pub fn sparse_bits(&mut self) -> u128 {
        self.bits() & self.bits()
    }

    /// Bits.
    pub fn bits(&mut self) -> u128 {
        u128::from(self.below(u64::MAX)) << 64 | u128::from(self.below(u64::MAX))
    }

    /// So many octets.
    pub fn octets(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}
