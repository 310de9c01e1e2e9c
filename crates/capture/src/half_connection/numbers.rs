//! Sequence numbers of 32 bits, unwrapped to 64 bits.

use super::HalfConnection;

/// The unwrapped number of the first sequence number 0: room below the first number seen.
const ORIGIN: u64 = 1 << 32;
/// The largest possible window (RFC 7323 §2.3). A number farther away does not belong to this
/// connection.
pub(super) const MAX_WINDOW: u64 = 1 << 30;

impl HalfConnection {
    /// Extends a sequence number to 64 bits, near the highest number in use.
    pub fn unwrap(&self, number: u32) -> u64 {
        self.reference().map_or(ORIGIN + u64::from(number), |known| unwrap(number, known))
    }

    /// Returns the highest number in use, against which other numbers are unwrapped.
    pub(super) fn reference(&self) -> Option<u64> {
        self.highest.max(self.una)
    }

    /// Returns `number` in octets since the first byte of payload.
    pub fn relative(&self, number: u64) -> i64 {
        number.wrapping_sub(self.base.unwrap_or(ORIGIN)) as i64
    }

    /// Returns whether `number` is at most `distance` from the numbers in use. True if none are
    /// known.
    pub fn is_near(&self, number: u32, distance: u32) -> bool {
        let near = |known: u64| number.wrapping_sub(known as u32).wrapping_add(distance) <= 2 * distance;
        self.reference().is_none_or(near)
    }

    /// Returns whether `number` is too far away to belong to this connection.
    pub(super) fn is_far(&self, number: u64) -> bool {
        self.reference().is_some_and(|known| number.abs_diff(known) > MAX_WINDOW)
    }
}

/// Returns the number nearest to `known` with `number` as its low 32 bits.
pub(super) fn unwrap(number: u32, known: u64) -> u64 {
    let distance = number.wrapping_sub(known as u32) as i32;
    known.saturating_add_signed(i64::from(distance))
}
