//! Scheduling by backlog: the UE with the most octets to send is next.

use super::{Candidate, Rank};

/// Ranks by waiting octets, and if they are equal by the blocks that could be sent now.
#[inline]
pub fn rank(candidate: &Candidate) -> Rank {
    Rank::with_tie_breaker(-(candidate.octets.0 as f64), -f64::from(candidate.blocks))
}

#[cfg(test)]
mod tests {
    use umts_units::Bytes;

    use crate::ids::UeId;
    use crate::scheduling::{Candidate, Scheduler, SchedulerKind};

    #[test]
    fn octets_decide_then_blocks_then_turns() {
        // Octets and blocks of each UE.
        let backlogs = [(100, 3), (900, 1), (100, 5), (100, 3)];
        let candidate = |ue: UeId| {
            let (octets, blocks) = backlogs[ue.index()];
            Candidate::new(ue, Bytes(octets), blocks, None)
        };
        let mut scheduler = Scheduler::new(SchedulerKind::LargestBacklog);
        // Of UEs 0 and 3, which have equal backlogs, UE 3 is next in turn.
        scheduler.served(UeId(0));
        let mut ready: Vec<_> = (0..4).map(UeId).collect();
        let mut order = Vec::new();
        while let Some(index) = scheduler.next(&ready, candidate) {
            order.push(ready.remove(index).0);
        }
        assert_eq!(order, [1, 2, 3, 0]);
    }
}
