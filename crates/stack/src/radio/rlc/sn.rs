//! Sequence numbers modulo 4096, as in acknowledged mode (TS 25.322 §9.4). They have no order by
//! themselves: every comparison subtracts a base first. Block sets of unacknowledged mode use them,
//! too. Its PDUs contain only the seven bits of `UmSn`.
//!
//! Inside an entity, PDUs have *counts* (`u64`), which do not wrap around. Only the [`Sn`] is sent.
//! The receiving side restores the count from the `Sn` and its own base.

/// A 12-bit sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Sn(u16);

impl Sn {
    /// Number of sequence numbers.
    pub const MODULUS: u64 = 4096;

    /// The sequence number of the PDU with this count.
    #[inline]
    pub fn of(count: u64) -> Self {
        Sn((count % Self::MODULUS) as u16)
    }

    /// The 12 bits.
    #[inline]
    pub fn value(self) -> u16 {
        self.0
    }

    /// Number of steps forward from `base` to this number, modulo 4096: 0 to 4095.
    #[inline]
    pub fn steps_from(self, base: Sn) -> u64 {
        u64::from(self.0.wrapping_sub(base.0)) % Self::MODULUS
    }

    /// The `n`-th following number.
    #[inline]
    pub fn plus(self, n: u64) -> Sn {
        Sn::of(u64::from(self.0) + n)
    }

    /// Whether this number is one of the `window` numbers that begin with `base`.
    #[inline]
    pub fn is_within(self, base: Sn, window: u64) -> bool {
        self.steps_from(base) < window
    }

    /// The first count at or after `base` with this number.
    #[inline]
    pub fn count_from(self, base: u64) -> u64 {
        base + self.steps_from(Sn::of(base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap() {
        assert_eq!(Sn::of(4096), Sn::of(0));
        assert_eq!(Sn::of(3).steps_from(Sn::of(4095)), 4);
        assert!(Sn::of(3).is_within(Sn::of(4090), 10) && !Sn::of(4).is_within(Sn::of(4090), 10));
        assert_eq!(Sn::of(2).count_from(4095), 4098);
        assert_eq!(Sn::of(4095).plus(2), Sn::of(1));
    }
}
