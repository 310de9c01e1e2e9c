//! First come, first served: the UE with the oldest SDU is next.

use super::{Candidate, Rank};

/// Ranks by the arrival of the oldest SDU. UEs with only control PDUs precede all others, as control
/// PDUs do within RLC.
#[inline]
pub fn rank(candidate: &Candidate) -> Rank {
    Rank::new(candidate.since.map_or(0.0, |since| since.as_nanos() as f64))
}

#[cfg(test)]
mod tests {
    use umts_units::{Bytes, Duration, Time};

    use crate::ids::UeId;
    use crate::scheduling::{Candidate, Scheduler, SchedulerKind};

    #[test]
    fn age_decides_then_turns() {
        let since = [Some(30), Some(10), None, Some(10)];
        let candidate = |ue: UeId| {
            let since = since[ue.index()].map(|ms| Time::ZERO + Duration::from_millis(ms));
            Candidate::new(ue, Bytes(100), 1, since)
        };
        let mut scheduler = Scheduler::new(SchedulerKind::OldestFirst);
        let mut ready: Vec<_> = (0..4).map(UeId).collect();
        let mut order = Vec::new();
        scheduler.served(UeId(1));
        while let Some(at) = scheduler.next(&ready, candidate) {
            let ue = ready.remove(at);
            scheduler.served(ue);
            order.push(ue.0);
        }
        assert_eq!(order, [2, 3, 1, 0]);
    }
}
