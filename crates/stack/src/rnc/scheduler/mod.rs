//! Who of several UEs is served next on a channel that they share. TS 25.321 leaves it to the implementation.

mod largest_backlog;
mod oldest_first;
mod round_robin;

use umts_units::{Bytes, Time};

use self::largest_backlog::LargestBacklog;
use self::oldest_first::OldestFirst;
use self::round_robin::RoundRobin;
use crate::ids::{Direction, UeId};
use crate::ue::UeContext;

/// Which scheduler a channel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum SchedulerKind {
    /// The users take turns.
    #[default]
    RoundRobin,
    /// The user whose oldest packet has waited longest is next.
    OldestFirst,
    /// The user with the most octets to send is next.
    LargestBacklog,
}

/// What a scheduler may ask about a UE. Nothing of it is found out for one that does not ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Octets of SDUs that wait for their first transmission or for another one.
    pub waits: Bytes,
    /// Since when the oldest of these SDUs is there; `None` if control information alone waits, which goes before data.
    pub since: Option<Time>,
    /// Blocks that it can use now.
    pub most: u32,
}

impl Candidate {
    /// A UE that has something to send in `direction`.
    pub fn of(ue: &UeContext, direction: Direction) -> Self {
        let backlog = ue.rlc[direction.index()].backlog();
        Candidate { waits: backlog.octets, since: backlog.since, most: backlog.pdus.max(1) }
    }
}

/// A scheduler at work. In every TTI it is asked again and again until the TTI is full.
#[derive(Debug)]
pub enum Scheduler {
    /// See [`SchedulerKind::RoundRobin`].
    RoundRobin(RoundRobin),
    /// See [`SchedulerKind::OldestFirst`].
    OldestFirst(OldestFirst),
    /// See [`SchedulerKind::LargestBacklog`].
    LargestBacklog(LargestBacklog),
}

impl Scheduler {
    /// A scheduler that has served nobody yet.
    pub fn new(kind: SchedulerKind) -> Self {
        match kind {
            SchedulerKind::RoundRobin => Scheduler::RoundRobin(RoundRobin::default()),
            SchedulerKind::OldestFirst => Scheduler::OldestFirst(OldestFirst::default()),
            SchedulerKind::LargestBacklog => Scheduler::LargestBacklog(LargestBacklog::default()),
        }
    }

    /// The place in `ready` of the UE that is next, if there is any; `ready` is in index order.
    #[inline]
    pub fn next(&self, ready: &[UeId], about: impl Fn(UeId) -> Candidate) -> Option<usize> {
        match self {
            Scheduler::RoundRobin(turns) => turns.next(ready),
            Scheduler::OldestFirst(ages) => ages.next(ready, about),
            Scheduler::LargestBacklog(backlogs) => backlogs.next(ready, about),
        }
    }

    /// `ue` was served.
    #[inline]
    pub fn served(&mut self, ue: UeId) {
        match self {
            Scheduler::RoundRobin(turns) => turns.served(ue),
            Scheduler::OldestFirst(ages) => ages.served(ue),
            Scheduler::LargestBacklog(backlogs) => backlogs.served(ue),
        }
    }
}
