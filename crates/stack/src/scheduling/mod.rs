//! Schedulers: the order in which UEs with data are served on a channel that they share. TS 25.321
//! leaves it to the implementation.
//!
//! The service class of a UE's bearer is the first level of priority ([`Candidate::level`]), the order of
//! the discipline the second.
//!
//! Each discipline has a file with a function that ranks a candidate. The smallest rank is served
//! first. MAC-c and the TDD cell query the next UE repeatedly ([`Scheduler::next`]). MAC-c/sh ranks all
//! candidates of a TTI at once ([`Scheduler::rank`]). Only the values that a discipline reads are
//! computed: candidates are built on demand, and [`ChannelState`] computes the other values on query.

mod backlog;
mod credit;
mod fcds;
mod max_ci;
mod oldest;
mod proportional_fair;
mod python;
mod qos;
mod round_robin;
mod timeout;

use std::cmp::Ordering;

use umts_units::{BitRate, Bytes, Duration, Time};

pub use self::credit::{Accrual, Credit, CreditConfig, Credits, Debit};
pub use self::fcds::SnrFilter;
pub use self::proportional_fair::memory;
pub use self::python::{
    ChannelScheduler, FormatRequest, HsValues, RankedCandidate, RateValues, SharedChannel, Tti, Turn,
    UserCandidate, UserScheduler, UserSchedulers,
};
pub use self::qos::{QosConfig, RateGuarantee, ServiceClass};
use self::round_robin::RoundRobin;
pub use self::timeout::{Expired, LooksAt, TimeoutConfig, blocks_in_time, deadline};
use crate::ids::UeId;
use crate::radio::mac::PowerFormat;
use crate::radio::phy::sir::Link;

/// Discipline of a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum SchedulerKind {
    /// The users take turns.
    #[default]
    RoundRobin,
    /// The user with the packet that has waited longest is next.
    OldestFirst,
    /// The user with the most octets to send is next.
    LargestBacklog,
    /// The user with the most service credits is next (only on the DSCH of a layout).
    ServiceCredit,
    /// The user with the earliest deadline of its oldest packet is next. On the DSCH of a layout the
    /// deadline follows from the `timeout`, elsewhere from the `transfer_delay` of the user.
    Timeout,
    /// The user with the best radio is next: on the DSCH of a layout the one that needs the least power
    /// for the same rate, on an HS-DSCH the one with the highest CQI (only there).
    MaxCi,
    /// The user with the highest possible rate, relative to its recent mean rate, is next (only on
    /// the DSCH of a layout and on an HS-DSCH).
    ProportionalFair,
    /// Fair channel-dependent scheduling (EURANE): the user with the SNR that is highest relative to
    /// its recent mean, in units of its standard deviation, is next (only on an HS-DSCH).
    Fcds,
}

impl SchedulerKind {
    /// Whether the discipline needs credits or the state of the radio. On a FACH or shared DCH, which
    /// have none of these, it would rank all users equally.
    pub fn needs_dsch(self) -> bool {
        use SchedulerKind::{LargestBacklog, OldestFirst, RoundRobin, Timeout};
        !matches!(self, RoundRobin | OldestFirst | LargestBacklog | Timeout)
    }
}

/// A UE with data to send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    pub ue: UeId,
    /// Service class of the bearer.
    pub class: ServiceClass,
    /// Whether the UE has received its guaranteed rate. False without a guaranteed rate.
    pub is_rate_met: bool,
    /// Octets of SDUs that wait for their first transmission or for a retransmission.
    pub octets: Bytes,
    /// Blocks that the UE can use now, retransmissions and control PDUs included.
    pub blocks: u32,
    /// Arrival of the oldest of these SDUs. `None`: only control PDUs wait.
    pub since: Option<Time>,
    /// Guaranteed rate of the bearer.
    pub guaranteed: Option<BitRate>,
    /// Transfer delay of the bearer.
    pub transfer_delay: Option<Duration>,
    /// Path gain from the cell, 1/L. 0 where it is not known.
    pub gain: f64,
    /// Factor of the outer loop on Eb/N0 targets. 1 without an outer loop.
    pub outer_loop: f64,
}

impl Candidate {
    /// A candidate with default quality of service and unknown radio conditions.
    pub fn new(ue: UeId, octets: Bytes, blocks: u32, since: Option<Time>) -> Self {
        Candidate {
            ue,
            class: ServiceClass::default(),
            is_rate_met: false,
            octets,
            blocks,
            since,
            guaranteed: None,
            transfer_delay: None,
            gain: 0.0,
            outer_loop: 1.0,
        }
    }

    /// The candidate with this quality of service.
    #[must_use]
    pub fn with_qos(self, qos: &QosConfig, is_rate_met: bool) -> Self {
        let QosConfig { class, guaranteed, transfer_delay } = *qos;
        Candidate { class, is_rate_met, guaranteed, transfer_delay, ..self }
    }

    /// First level of priority. All UEs of a lower level are served before UEs of a higher level: the
    /// classes in their order, then UEs that have received their guaranteed rate.
    #[inline]
    pub fn level(&self) -> PriorityLevel {
        if self.is_rate_met { PriorityLevel::RateMet } else { PriorityLevel::Class(self.class) }
    }

    /// Deadline of the oldest SDU: [`Time::NEVER`] without a transfer delay, `None` if only control PDUs
    /// wait.
    pub fn deadline(&self) -> Option<Time> {
        let deadline = |since| self.transfer_delay.map_or(Time::NEVER, |delay| since + delay);
        self.since.map(deadline)
    }

    /// The link of this UE in a format of processing gain `processing`, for power control.
    #[inline]
    pub fn link(&self, format: &PowerFormat, processing: f64, interference: f64) -> Link {
        Link { processing, target: format.target * self.outer_loop, gain: self.gain, interference }
    }
}

/// First level of priority, in the order of service. The order of a discipline is the second level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriorityLevel {
    /// UEs of a class.
    Class(ServiceClass),
    /// UEs of any class that have received their guaranteed rate.
    RateMet,
}

/// Values of a candidate beyond its backlog. A channel computes them when a discipline queries them.
/// The defaults are for channels without credits, timeouts and path gains.
pub trait ChannelState {
    /// Service credits in blocks.
    fn credit(&self) -> f64 {
        0.0
    }
    /// Deadline of the oldest SDU of `candidate`. `None`: only control PDUs wait.
    fn deadline(&self, candidate: &Candidate) -> Option<Time> {
        candidate.deadline()
    }
    /// Interference from other cells and noise, relative to the signal of the own cell (the inverse of
    /// C/I). Only ratios between the UEs of a cell count, so channels choose the unit.
    fn interference_to_signal(&self) -> f64 {
        0.0
    }
    /// Blocks per TTI for which the cell has power.
    fn possible_blocks(&self) -> u32 {
        0
    }
    /// Recent mean of the blocks per TTI that were sent to the UE.
    fn mean_blocks(&mut self) -> f64 {
        0.0
    }
    /// Difference of the SNR to its recent mean, in units of its recent standard deviation.
    fn snr_deviation(&mut self) -> f64 {
        0.0
    }
}

/// A channel without any of these.
impl ChannelState for () {}

/// Rank of a candidate in the order of a discipline. The smallest rank is served first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rank {
    rank: f64,
    /// Decides between candidates of equal `rank`.
    tie_breaker: f64,
}

impl Rank {
    #[inline]
    pub fn new(rank: f64) -> Self {
        Rank { rank, tie_breaker: 0.0 }
    }

    #[inline]
    pub fn with_tie_breaker(rank: f64, tie_breaker: f64) -> Self {
        Rank { rank, tie_breaker }
    }
}

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.total_cmp(&other.rank).then(self.tie_breaker.total_cmp(&other.tie_breaker))
    }
}

/// A discipline, and a round robin that decides among candidates of equal rank.
#[derive(Debug, Clone, Copy)]
pub struct Scheduler {
    kind: SchedulerKind,
    turns: RoundRobin,
    /// Whether UEs can differ in their priority level.
    has_levels: bool,
}

impl Scheduler {
    pub fn new(kind: SchedulerKind) -> Self {
        Scheduler { kind, turns: RoundRobin::default(), has_levels: true }
    }

    /// A scheduler of UEs that always have the same priority level. It is faster.
    pub fn of_one_level(kind: SchedulerKind) -> Self {
        Scheduler { has_levels: false, ..Scheduler::new(kind) }
    }

    /// Index in `ready` of the UE that is next. `ready` is in ascending order.
    #[inline]
    pub fn next(&self, ready: &[UeId], candidate: impl Fn(UeId) -> Candidate) -> Option<usize> {
        if self.kind == SchedulerKind::RoundRobin && !self.has_levels {
            return self.turns.next(ready);
        }
        self.turns.turns(ready).min_by_key(|&index| {
            let candidate = candidate(ready[index]);
            (candidate.level(), self.rank(&candidate, &mut ()))
        })
    }

    /// Second level of priority: the rank of a candidate within its level.
    #[inline]
    pub fn rank(&self, candidate: &Candidate, state: &mut impl ChannelState) -> Rank {
        match self.kind {
            SchedulerKind::RoundRobin => self.turns.rank(candidate.ue),
            SchedulerKind::OldestFirst => oldest::rank(candidate),
            SchedulerKind::LargestBacklog => backlog::rank(candidate),
            SchedulerKind::ServiceCredit => credit::rank(state.credit()),
            SchedulerKind::Timeout => timeout::rank(state.deadline(candidate)),
            SchedulerKind::MaxCi => max_ci::rank(state.interference_to_signal()),
            SchedulerKind::ProportionalFair => {
                proportional_fair::rank(state.possible_blocks(), state.mean_blocks())
            }
            SchedulerKind::Fcds => fcds::rank(state.snr_deviation()),
        }
    }

    /// Records that `ue` was served.
    #[inline]
    pub fn served(&mut self, ue: UeId) {
        self.turns.served(ue);
    }
}

#[cfg(test)]
mod tests;
