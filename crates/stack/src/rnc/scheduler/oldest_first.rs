//! First come, first served: the UE whose oldest SDU has waited longest is next.

use umts_units::Time;

use super::Candidate;
use super::round_robin::RoundRobin;
use crate::ids::UeId;

/// By age; UEs of the same age take turns. Control information has no age and goes before data, as it does inside RLC.
#[derive(Debug, Clone, Copy, Default)]
pub struct OldestFirst {
    turns: RoundRobin,
}

impl OldestFirst {
    /// The place in `ready` of the UE that has waited longest.
    pub fn next(&self, ready: &[UeId], about: impl Fn(UeId) -> Candidate) -> Option<usize> {
        let since = |at: &usize| about(ready[*at]).since.unwrap_or(Time::ZERO);
        self.turns.turns(ready).min_by_key(since)
    }

    /// `ue` was served.
    pub fn served(&mut self, ue: UeId) {
        self.turns.served(ue);
    }
}

#[cfg(test)]
mod tests {
    use umts_units::{Bytes, Duration};

    use super::*;

    #[test]
    fn age_decides_then_turns() {
        let since = [Some(30), Some(10), None, Some(10)];
        let about = |ue: UeId| Candidate {
            waits: Bytes(100),
            since: since[ue.index()].map(|ms| Time::ZERO + Duration::from_millis(ms)),
            most: 1,
        };
        let mut scheduler = OldestFirst::default();
        let mut ready: Vec<_> = (0..4).map(UeId).collect();
        let mut order = Vec::new();
        scheduler.served(UeId(1));
        while let Some(at) = scheduler.next(&ready, about) {
            let ue = ready.remove(at);
            scheduler.served(ue);
            order.push(ue.0);
        }
        assert_eq!(order, [2, 3, 1, 0]);
    }
}
