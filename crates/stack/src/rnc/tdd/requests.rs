//! Requests for capacity in a TDD cell: UEs request uplink capacity on the RACH, and the RNC itself
//! requests downlink capacity. The MAC decides them at the start of a frame, by the priority levels of
//! their UEs, then in order of arrival or as a scheduler ranks the UEs.

use std::collections::{BTreeSet, VecDeque};

use umts_kernel::TraceSink;
use umts_kernel::random::AddressedStream;

use super::config::TddConfig;
use crate::Context;
use crate::ids::{Direction, UeId};
use crate::radio::mac::TddAccess;
use crate::scheduling::{Candidate, PriorityLevel, Scheduler, UserScheduler};
use crate::trace::TraceEvent;
use crate::ue::CapacityRequest;

/// Capacity requests, from the need for capacity to the decision.
#[derive(Debug)]
pub(super) struct Demand {
    /// By UE and direction. Requests for the downlink are made in the RNC and take the same steps,
    /// except for the RACH.
    states: Vec<[CapacityRequest; 2]>,
    /// Requests that UEs are going to send on the RACH.
    pub planned: BTreeSet<PlannedRequest>,
    /// Contention on the RACH.
    pub access: TddAccess,
    /// Requests that the RNC knows.
    pub known: Requests,
    /// Schedulers of the requests, by direction. `None`: first come, first served.
    pub schedulers: Option<[Scheduler; 2]>,
    /// Replace the schedulers, by direction.
    pub user_schedulers: [Option<UserScheduler>; 2],
}

/// A request that a UE sends on the RACH of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlannedRequest {
    pub frame: u64,
    pub ue: UeId,
}

impl Demand {
    pub fn new(config: &TddConfig, draws: impl Fn(&str) -> AddressedStream) -> Self {
        let rach = config.rach;
        Demand {
            states: Vec::new(),
            planned: BTreeSet::new(),
            access: TddAccess::new(
                rach.codes,
                rach.backoff.0.into(),
                draws("rach/code"),
                draws("rach/backoff"),
            ),
            known: Requests::default(),
            schedulers: config.grant.order.scheduler().map(|kind| [kind; 2].map(Scheduler::new)),
            user_schedulers: [None, None],
        }
    }

    /// Requests capacity from `frame` on: on the RACH for the uplink, within the RNC for the
    /// downlink.
    #[inline(never)]
    pub fn request<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        ue: UeId,
        direction: Direction,
        frame: u64,
    ) {
        let state = self.state_mut(ue, direction);
        if !state.begin(frame) {
            return;
        }
        match direction {
            Direction::Uplink => {
                self.planned.insert(PlannedRequest { frame, ue });
            }
            Direction::Downlink => {
                state.received();
                self.known.push(Request {
                    ue,
                    direction,
                    from: frame,
                    reported_sdus: None,
                    was_refused: false,
                });
            }
        }
        cx.record(|| TraceEvent::CapacityNeeded { ue, direction });
    }

    #[inline]
    pub fn state(&self, ue: UeId, direction: Direction) -> CapacityRequest {
        self.states.get(ue.index()).map_or(CapacityRequest::Idle, |states| states[direction.index()])
    }

    pub fn state_mut(&mut self, ue: UeId, direction: Direction) -> &mut CapacityRequest {
        if self.states.len() <= ue.index() {
            self.states.resize(ue.index() + 1, [CapacityRequest::Idle; 2]);
        }
        &mut self.states[ue.index()][direction.index()]
    }

    /// The first frame with a planned request or a request that can be decided.
    pub fn next(&self) -> Option<u64> {
        let planned = self.planned.first().map(|request| request.frame);
        planned.into_iter().chain(self.known.next()).min()
    }

    /// Removes the next request that is planned for `frame` or earlier. Returns its UE.
    pub fn take_planned(&mut self, frame: u64) -> Option<UeId> {
        let is_due = self.planned.first().is_some_and(|request| request.frame <= frame);
        if is_due { self.planned.pop_first().map(|request| request.ue) } else { None }
    }

    /// `ue` repeats its request after a back-off that begins in `frame`.
    #[inline(never)]
    pub fn back_off(&mut self, frame: u64, ue: UeId) {
        let access = &self.access;
        let state = &mut self.states[ue.index()][Direction::Uplink.index()];
        let until = state.failed(|failures| access.backed_off_until(frame, ue, failures));
        self.planned.insert(PlannedRequest { frame: until, ue });
    }
}

/// A request for capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The UE that needs the capacity.
    pub ue: UeId,
    /// Direction of the data.
    pub direction: Direction,
    /// The first frame that can be granted.
    pub from: u64,
    /// The backlog in SDUs that a UE reported. `None` for the downlink: the RNC knows its own backlog.
    pub reported_sdus: Option<u32>,
    /// In an earlier frame there was no room for the request.
    pub was_refused: bool,
}

impl Request {
    /// Whether the request is for `direction` and can be granted in `frame`.
    fn is_due(&self, frame: u64, direction: Direction) -> bool {
        self.from <= frame && self.direction == direction
    }
}

/// What happens to a request after a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFate {
    /// It stays, and is decided again in the next frame.
    Kept,
    /// It was granted, refused or withdrawn.
    Removed,
}

/// All requests that the RNC knows.
#[derive(Debug, Default)]
pub struct Requests(VecDeque<Request>);

impl Requests {
    /// Appends a request.
    pub fn push(&mut self, request: Request) {
        self.0.push_back(request);
    }

    /// Calls `decide` for each request that can be granted in `frame`, in queue order.
    pub fn decide(&mut self, frame: u64, mut decide: impl FnMut(&mut Request) -> RequestFate) {
        self.0.retain_mut(|request| request.from > frame || decide(request) == RequestFate::Kept);
    }

    /// Reorders the requests for `direction` that can be granted in `frame` as `scheduler` ranks their
    /// users. The other requests keep their positions.
    pub fn reorder(
        &mut self,
        frame: u64,
        direction: Direction,
        scheduler: &Scheduler,
        candidate_of: impl Fn(&Request) -> Candidate,
    ) {
        let is_due = |request: &Request| request.is_due(frame, direction);
        let due: Vec<Request> = self.0.iter().filter(|request| is_due(request)).copied().collect();
        let request_of =
            |ue: UeId| due.iter().find(|request| request.ue == ue).expect("each candidate has a request");
        // A user has at most one request per direction, so its number identifies the request.
        let mut waiting: Vec<UeId> = due.iter().map(|request| request.ue).collect();
        waiting.sort_unstable();
        for position in self.0.iter_mut().filter(|request| is_due(request)) {
            let next = scheduler
                .next(&waiting, |ue| candidate_of(request_of(ue)))
                .expect("a user is left for each position");
            *position = *request_of(waiting.remove(next));
        }
    }

    /// Reorders the requests for `direction` that can be granted in `frame`. `order` returns indices of the
    /// requests that it is called with, in ascending order of their users. Requests that it leaves out
    /// follow the others, and are returned. The other requests keep their positions.
    pub fn reorder_by(
        &mut self,
        frame: u64,
        direction: Direction,
        order: impl FnOnce(&[Request]) -> Vec<usize>,
    ) -> Vec<UeId> {
        let is_due = |request: &Request| request.is_due(frame, direction);
        let mut due: Vec<Request> = self.0.iter().filter(|request| is_due(request)).copied().collect();
        if due.is_empty() {
            return Vec::new();
        }
        due.sort_by_key(|request| request.ue);
        let order = order(&due);
        let left_out: Vec<usize> = (0..due.len()).filter(|index| !order.contains(index)).collect();
        let positions = self.0.iter_mut().filter(|request| is_due(request));
        positions.zip(order.iter().chain(&left_out)).for_each(|(position, &index)| *position = due[index]);
        left_out.into_iter().map(|index| due[index].ue).collect()
    }

    /// Reorders the requests for `direction` that can be granted in `frame` by the priority levels of
    /// their users. Requests of one level keep their order, the other requests their positions.
    pub fn order_by_level(
        &mut self,
        frame: u64,
        direction: Direction,
        level_of: impl Fn(&Request) -> PriorityLevel,
    ) {
        let is_due = |request: &Request| request.is_due(frame, direction);
        if self.0.iter().filter(|request| is_due(request)).is_sorted_by_key(&level_of) {
            return;
        }
        let mut due: Vec<Request> = self.0.iter().filter(|request| is_due(request)).copied().collect();
        due.sort_by_key(level_of);
        let positions = self.0.iter_mut().filter(|request| is_due(request));
        positions.zip(due).for_each(|(position, request)| *position = request);
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
    use crate::scheduling::{SchedulerKind, ServiceClass};

    const UP: Direction = Direction::Uplink;
    const DOWN: Direction = Direction::Downlink;

    /// A request that can be granted from frame `from` on.
    fn request(ue: u16, direction: Direction, from: u64) -> Request {
        Request { ue: UeId(ue), direction, from, reported_sdus: None, was_refused: false }
    }

    /// In frame 2 the uplink requests are reordered, except the request of UE 3, which can be granted
    /// only from frame 9 on.
    #[test]
    fn order_by_level_keeps_the_order_within_a_level_and_the_positions_of_other_requests() {
        use ServiceClass::{Background, Conversational, Streaming};
        let mut requests = Requests::default();
        requests.push(request(0, UP, 1));
        requests.push(request(1, DOWN, 1));
        requests.push(request(2, UP, 1));
        requests.push(request(3, UP, 9));
        requests.push(request(4, UP, 1));
        requests.push(request(5, UP, 1));
        requests.push(request(6, DOWN, 1));
        // By UE.
        let classes =
            [Background, Background, Streaming, Conversational, Conversational, Streaming, Streaming];
        requests.order_by_level(2, UP, |request| PriorityLevel::Class(classes[request.ue.index()]));
        // The due uplink requests are now those of UEs 4 (conversational), 2 and 5 (streaming), and 0
        // (background). UEs 1, 3 and 6 keep their positions.
        let order: Vec<u16> = requests.0.iter().map(|request| request.ue.0).collect();
        assert_eq!(order, [4, 1, 2, 3, 5, 0, 6]);
    }

    #[test]
    fn requests_that_an_order_leaves_out_follow_the_others() {
        let mut requests = Requests::default();
        requests.push(request(4, UP, 1));
        requests.push(request(1, DOWN, 1));
        requests.push(request(2, UP, 1));
        requests.push(request(3, UP, 5));
        requests.push(request(0, UP, 2));
        let left_out = requests.reorder_by(2, UP, |due| {
            // UEs 0, 2 and 4 in ascending order. UE 2 is left out.
            assert_eq!(due.iter().map(|request| request.ue.0).collect::<Vec<_>>(), [0, 2, 4]);
            vec![2, 0]
        });
        assert_eq!(left_out, [UeId(2)]);
        let order: Vec<u16> = requests.0.iter().map(|request| request.ue.0).collect();
        assert_eq!(order, [4, 1, 0, 3, 2]);
    }

    #[test]
    fn reorder_changes_only_due_requests_of_the_direction() {
        let with_backlog = |sdus, request| Request { reported_sdus: Some(sdus), ..request };
        let mut requests = Requests::default();
        requests.push(with_backlog(2, request(4, UP, 1)));
        requests.push(with_backlog(9, request(1, DOWN, 1)));
        requests.push(with_backlog(7, request(2, UP, 1)));
        requests.push(with_backlog(99, request(3, UP, 5)));
        requests.push(with_backlog(7, request(0, UP, 2)));
        let mut scheduler = Scheduler::new(SchedulerKind::LargestBacklog);
        scheduler.served(UeId(0));
        requests.reorder(2, UP, &scheduler, |request| {
            let reported_sdus = request.reported_sdus.unwrap_or(0);
            Candidate::new(request.ue, Bytes(reported_sdus.into()), reported_sdus, None)
        });
        let mut order = Vec::new();
        requests.decide(9, |request| {
            order.push(request.ue.0);
            RequestFate::Removed
        });
        // The due uplink requests are those of UEs 2 and 0 with 7 SDUs and of UE 4 with 2. UE 2 precedes
        // UE 0, which was served last.
        assert_eq!(order, [2, 1, 0, 3, 4]);
    }
}
