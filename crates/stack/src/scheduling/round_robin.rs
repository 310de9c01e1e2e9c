//! Round robin: the UE after the one that was served last is next.

use super::Rank;
use crate::ids::UeId;

/// The order of turns by UE number.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundRobin {
    /// Number of the UE that is next in turn. If it has no data, the first UE after it with data is
    /// next.
    next: u16,
}

impl RoundRobin {
    /// Indices of `ready`, which is in ascending order, in the order of the turns.
    #[inline]
    pub fn turns(&self, ready: &[UeId]) -> impl Iterator<Item = usize> + use<> {
        let from = ready.partition_point(|ue| ue.0 < self.next);
        (from..ready.len()).chain(0..from)
    }

    /// Index in `ready` of the UE that is next in turn.
    #[inline]
    pub fn next(&self, ready: &[UeId]) -> Option<usize> {
        self.turns(ready).next()
    }

    /// Distance of `ue` from the UE that is next in turn.
    #[inline]
    pub fn rank(&self, ue: UeId) -> Rank {
        Rank::new(f64::from(ue.0.wrapping_sub(self.next)))
    }

    #[inline]
    pub fn served(&mut self, ue: UeId) {
        self.next = ue.0.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ues_are_served_in_turn_and_idle_ues_are_skipped() {
        let mut turns = RoundRobin::default();
        // Serves the next of these UEs. Returns its number.
        let mut serve = |ready: &[u16]| {
            let ready: Vec<_> = ready.iter().map(|&n| UeId(n)).collect();
            let ue = ready[turns.next(&ready).unwrap()];
            assert!(ready.iter().all(|&other| turns.rank(ue) <= turns.rank(other)));
            turns.served(ue);
            ue.0
        };
        assert_eq!([serve(&[0, 1, 2]), serve(&[0, 1, 2]), serve(&[0, 2]), serve(&[0, 1, 2])], [0, 1, 2, 0]);
        assert_eq!(turns.next(&[]), None);
    }
}
