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
        // Arrival of the oldest SDU of each UE in ms. UE 2 has only control PDUs.
        let since = [Some(30), Some(10), None, Some(10)];
        let candidate = |ue: UeId| {
            let since = since[ue.index()].map(|ms| Time::ZERO + Duration::from_millis(ms));
            Candidate::new(ue, Bytes(100), 1, since)
        };
        let mut scheduler = Scheduler::new(SchedulerKind::OldestFirst);
        let mut ready: Vec<_> = (0..4).map(UeId).collect();
        let mut order = Vec::new();
        // Of UEs 1 and 3, which are equally old, UE 3 is next in turn.
        scheduler.served(UeId(1));
        while let Some(index) = scheduler.next(&ready, candidate) {
            let ue = ready.remove(index);
            scheduler.served(ue);
            order.push(ue.0);
        }
        assert_eq!(order, [2, 3, 1, 0]);
    }
}
