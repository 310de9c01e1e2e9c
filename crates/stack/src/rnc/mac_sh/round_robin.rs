//! The users take turns: the one after the last who was served is next.

use crate::ids::UeId;

/// Whose turn it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundRobin {
    next: u16,
}

impl RoundRobin {
    /// How many numbers are between the one whose turn it is and this user.
    #[inline]
    pub fn rank(&self, ue: UeId) -> f64 {
        f64::from(ue.0.wrapping_sub(self.next))
    }

    /// `ue` was served.
    #[inline]
    pub fn served(&mut self, ue: UeId) {
        self.next = ue.0.wrapping_add(1);
    }
}
