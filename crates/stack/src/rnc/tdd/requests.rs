//! Requests for capacity known at the RNC, its own and the users' requests, in order of arrival.

use std::collections::VecDeque;

use crate::ids::{Direction, UeId};
use crate::scheduling::{Candidate, Scheduler};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The UE that needs the capacity.
    pub ue: UeId,
    /// The way of the data.
    pub direction: Direction,
    /// The first frame that can be granted.
    pub from: u64,
    /// The backlog that a user told, in SDUs; the RNC knows its own.
    pub told: Option<u32>,
    /// There was no room for it before.
    pub again: bool,
}

/// What becomes of a request that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is looked at again in the next frame.
    Stays,
    /// It is over.
    Over,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Requests(VecDeque<Request>);

impl Requests {
    /// One more.
    pub fn push(&mut self, request: Request) {
        self.0.push_back(request);
    }

    /// Calls `decide` for each request that can be granted in `frame`, in queue order.
    pub fn decide(&mut self, frame: u64, mut decide: impl FnMut(&mut Request) -> Fate) {
        self.0.retain_mut(|request| request.from > frame || decide(request) == Fate::Stays);
    }

    /// Puts those that go in `direction` and can be granted in `frame` into the order in which `scheduler` names their users; the
    /// others keep their places.
    pub fn reorder(
        &mut self,
        frame: u64,
        direction: Direction,
        scheduler: &Scheduler,
        about: impl Fn(&Request) -> Candidate,
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
            let next = scheduler.next(&waiting, |ue| about(of(ue))).expect("somebody is left");
            *place = *of(waiting.remove(next));
        }
    }

    /// The first frame for which a request can be decided.
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
    fn a_scheduler_orders_those_that_are_due_one_way_and_leaves_the_others() {
        let request = |ue, direction, from, told| Request {
            ue: UeId(ue),
            direction,
            from,
            told: Some(told),
            again: false,
        };
        let mut requests = Requests::default();
        for (ue, direction, from, told) in [
            (4, Direction::Uplink, 1, 2),
            (1, Direction::Downlink, 1, 9),
            (2, Direction::Uplink, 1, 7),
            (3, Direction::Uplink, 5, 99),
            (0, Direction::Uplink, 2, 7),
        ] {
            requests.push(request(ue, direction, from, told));
        }
        let mut scheduler = Scheduler::new(SchedulerKind::LargestBacklog);
        scheduler.served(UeId(0));
        requests.reorder(2, Direction::Uplink, &scheduler, |request| {
            let told = request.told.unwrap_or(0);
            Candidate::new(request.ue, Bytes(told.into()), told, None)
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
