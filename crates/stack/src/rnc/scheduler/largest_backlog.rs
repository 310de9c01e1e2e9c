//! The UE with the most to send is next.

use std::cmp::Reverse;

use super::Candidate;
use super::round_robin::RoundRobin;
use crate::ids::UeId;

/// By octets that wait, and where these are equal by the blocks that could go now; UEs with the same of both take turns.
#[derive(Debug, Clone, Copy, Default)]
pub struct LargestBacklog {
    turns: RoundRobin,
}

impl LargestBacklog {
    /// The place in `ready` of the UE with the largest backlog.
    pub fn next(&self, ready: &[UeId], about: impl Fn(UeId) -> Candidate) -> Option<usize> {
        let backlog = |at: &usize| {
            let candidate = about(ready[*at]);
            Reverse((candidate.waits, candidate.most))
        };
        // The first of several that are equal: `max_by_key` would take the last.
        self.turns.turns(ready).min_by_key(backlog)
    }

    /// `ue` was served.
    pub fn served(&mut self, ue: UeId) {
        self.turns.served(ue);
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Bytes;

    use super::*;

    #[test]
    fn octets_decide_then_blocks_then_turns() {
        let backlogs = [(100, 3), (900, 1), (100, 5), (100, 3)];
        let about = |ue: UeId| {
            let (octets, most) = backlogs[ue.index()];
            Candidate { waits: Bytes(octets), since: None, most }
        };
        let mut scheduler = LargestBacklog::default();
        scheduler.served(UeId(0));
        let mut ready: Vec<_> = (0..4).map(UeId).collect();
        let mut order = Vec::new();
        while let Some(at) = scheduler.next(&ready, about) {
            order.push(ready.remove(at).0);
        }
        assert_eq!(order, [1, 2, 3, 0]);
    }
}
