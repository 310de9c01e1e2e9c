//! Transmission sequence numbers of MAC-hs: 6 bits, compared within a window.

/// Number of different values.
pub const MODULUS: u8 = 64;

/// A transmission sequence number (TSN), 0 to 63.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tsn(u8);

impl Tsn {
    /// The TSN of a count that does not wrap around.
    pub fn of(count: u64) -> Self {
        Tsn((count % u64::from(MODULUS)) as u8)
    }

    pub fn value(self) -> u8 {
        self.0
    }

    /// The TSN `steps` further.
    pub fn plus(self, steps: u8) -> Self {
        Tsn((self.0 + steps % MODULUS) % MODULUS)
    }

    /// Steps from `base` up to this TSN, 0 to 63.
    pub fn since(self, base: Tsn) -> u8 {
        (self.0 + MODULUS - base.0) % MODULUS
    }
}
