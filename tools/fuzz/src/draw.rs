//! Random draws of an execution.

use umts_kernel::random::{Stream, Streams};

/// Sequential random draws of one execution.
pub struct Draw(Stream);

impl Draw {
    /// Returns the draws of execution `number` of a target.
    pub fn new(target: &str, number: u64) -> Self {
        Draw(Streams::new(number, 0).stream(target))
    }

    /// Returns a number of `0..n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    /// Returns a number of `from..=to`.
    pub fn range(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// Returns true with probability 1 / `n`.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Returns true with probability 1/2.
    pub fn bool(&mut self) -> bool {
        self.one_in(2)
    }

    /// Returns one of `choices`.
    pub fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }

    /// Returns bits that are set with probability 1/4.
    pub fn sparse_bits(&mut self) -> u128 {
        self.bits() & self.bits()
    }

    /// Returns bits that are set with probability 1/2.
    pub fn bits(&mut self) -> u128 {
        u128::from(self.below(u64::MAX)) << 64 | u128::from(self.below(u64::MAX))
    }

    /// Returns `count` random octets.
    pub fn octets(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}
