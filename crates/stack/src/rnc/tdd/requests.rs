//! Requests for capacity known at the RNC, its own and the users' requests, in order of arrival.

use std::collections::VecDeque;

use crate::ids::{Direction, UeId};
use crate::scheduling::{Candidate, Scheduler};

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The UE that needs the capacity.
    pub ue: UeId,
    pub direction: Direction,
    /// The first frame of a grant.
    pub from: u64,
    /// Backlog that a UE reported, in SDUs. `None` for requests of the RNC.
    pub reported: Option<u32>,
    /// It was refused before.
    pub was_refused: bool,
}

/// Result of a decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is decided again in the next frame.
    Stays,
    /// It ends.
    Over,
}

#[derive(Debug, Default)]
pub struct Requests(VecDeque<Request>);

impl Requests {
    pub fn push(&mut self, request: Request) {
        self.0.push_back(request);
    }

    /// Calls `decide` for each request that can be granted in `frame`, in queue order.
    pub fn decide(&mut self, frame: u64, mut decide: impl FnMut(&mut Request) -> Fate) {
        self.0.retain_mut(|request| request.from > frame || decide(request) == Fate::Stays);
    }

    /// Sorts the requests of `direction` that can be granted in `frame` by `scheduler`. The others keep
    /// their places.
    pub fn reorder(
        &mut self,
        frame: u64,
        direction: Direction,
        scheduler: &Scheduler,
        candidate: impl Fn(&Request) -> Candidate,
    ) {
        let is_due = |request: &Request| request.from <= frame && request.direction == direction;
        let due: Vec<Request> = self.0.iter().filter(|request| is_due(request)).copied().collect();
        let of = |ue: UeId| {
            due.iter().find(|request| request.ue == ue).expect("one of the candidates has a request")
        };
        // A user has one request each way: its number names it.
        let mut waiting: Vec<UeId> = due.iter().map(|request| request.ue).collect();
        waiting.sort_unstable();
        for place in self.0.iter_mut().filter(|request| is_due(request)) {
            let next = scheduler.next(&waiting, |ue| candidate(of(ue))).expect("a UE is left");
            *place = *of(waiting.remove(next));
        }
    }

    /// The first frame in which a request can be decided.
    pub fn next(&self) -> Option<u64> {
        self.0.iter().map(|request| request.from).min()
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Bytes;

    use super::*;
    use crate::scheduling::SchedulerKind;

    #[test]
    fn scheduler_sorts_due_requests_of_one_direction() {
        let request = |ue, direction, from, reported| Request {
            ue: UeId(ue),
            direction,
            from,
            reported: Some(reported),
            was_refused: false,
        };
        let mut requests = Requests::default();
        for (ue, direction, from, reported) in [
            (4, Direction::Uplink, 1, 2),
            (1, Direction::Downlink, 1, 9),
            (2, Direction::Uplink, 1, 7),
            (3, Direction::Uplink, 5, 99),
            (0, Direction::Uplink, 2, 7),
        ] {
            requests.push(request(ue, direction, from, reported));
        }
        let mut scheduler = Scheduler::new(SchedulerKind::LargestBacklog);
        scheduler.served(UeId(0));
        requests.reorder(2, Direction::Uplink, &scheduler, |request| {
            let reported = request.reported.unwrap_or(0);
            Candidate::new(request.ue, Bytes(reported.into()), reported, None)
        });
        let mut order = Vec::new();
        requests.decide(9, |request| {
            order.push(request.ue.0);
            Fate::Over
        });
        // Of two equal candidates, the next in turn comes first.
        assert_eq!(order, [2, 1, 0, 3, 4]);
    }
}
