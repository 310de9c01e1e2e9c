//! Admission to the dedicated channels (DCHs) of a cell: the rates that the cell reserves for them, and
//! their preemption for other UEs (Dubois 2005, §5.2). RRC at the RNC requests a DCH for a UE, and
//! admission grants it, queues the request or refuses it.
//!
//! A request takes only DCHs of its own service class and of lower classes, and requests of higher
//! classes are decided first. In comparisons a higher class is the smaller one: the classes ascend from
//! conversational to background. TS 23.107 leaves the use of the classes in admission to the operator: its
//! allocation/retention priority is a property of the subscription.
//!
//! A DCH is reserved from the decision that grants it until its release is complete. A preempted DCH
//! counts for its former holder until it is released, so the reserved rates never exceed the limits.
//!
//! This file decides on requests and keeps the reservations, `preemption.rs` selects the DCHs to
//! preempt, `waiting.rs` is the queue of requests, and `reservation.rs` has the limits.

mod preemption;
mod reservation;
#[cfg(test)]
mod tests;
mod waiting;

use umts_units::{Duration, Time};

pub use self::preemption::Preemptible;
pub use self::reservation::{Limits, Preemption, Reserved};
use self::waiting::WaitingQueue;
use super::rrc::DchRates;
use crate::ids::UeId;
use crate::scheduling::ServiceClass;

/// A request of a UE for a DCH.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub ue: UeId,
    /// Service class of the UE.
    pub class: ServiceClass,
    /// The DCHs of which the UE wants one, the largest first.
    pub dchs: &'a [DchRates],
}

/// Answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The UE gets a DCH.
    Granted {
        /// Index of the DCH in [`Request::dchs`].
        dch: u8,
        /// Time until the last of `preempted` is released.
        after: Duration,
        /// UEs whose DCHs are preempted now.
        preempted: Vec<UeId>,
    },
    /// The request waits for a DCH.
    Queued {
        /// UE of a lower class whose request no longer waits, because the queue was full.
        displaced: Option<UeId>,
    },
    /// The request is refused.
    Refused,
}

/// The DCH of one UE.
#[derive(Debug, Clone, PartialEq)]
struct Holding {
    ue: UeId,
    dch: Reserved,
    /// UEs that must release their preempted DCHs before this DCH can be used.
    takes_from: Vec<UeId>,
    /// The part of `dch` that the UEs in `takes_from` still hold. Their holdings count it, so this
    /// holding does not.
    covered: Reserved,
}

impl Holding {
    /// The rates and DCHs that this holding adds to the sum of the cell.
    fn counted(&self) -> Reserved {
        self.dch.minus(self.covered)
    }
}

/// Admission to the DCHs of one cell.
#[derive(Debug, Clone)]
pub struct Admission {
    limits: Limits,
    /// The common channel and the DCHs that are never released.
    base: Reserved,
    /// The different DCHs that UEs may request.
    offered: Vec<Reserved>,
    /// Sorted by UE.
    holdings: Vec<Holding>,
    /// Requests that wait for a DCH.
    waiting: WaitingQueue,
    /// Sum of `base` and of all holdings.
    reserved: Reserved,
    /// By class: no DCH can be preempted for a UE of the class before this time, unless a DCH is
    /// released in the meantime. Spares the search for one.
    no_preemption_before: [Time; ServiceClass::ALL.len()],
}

impl Admission {
    /// A cell in which `base` is always reserved.
    pub fn new(limits: Limits, base: Reserved) -> Self {
        Admission {
            limits,
            base,
            offered: Vec::new(),
            holdings: Vec::new(),
            waiting: WaitingQueue::default(),
            reserved: base,
            no_preemption_before: [Time::ZERO; ServiceClass::ALL.len()],
        }
    }

    /// Users of this cell may request `dch`.
    pub fn offer(&mut self, dch: DchRates) {
        let dch = Reserved::of(dch);
        if !self.offered.contains(&dch) {
            self.offered.push(dch);
        }
    }

    /// Rates and DCHs that are reserved now.
    pub fn reserved(&self) -> Reserved {
        self.reserved
    }

    /// Whether a DCH is free.
    pub fn has_room(&self) -> bool {
        self.offered.is_empty() || self.is_free_beside(self.reserved)
    }

    /// Whether a DCH fits beside `reserved`.
    fn is_free_beside(&self, reserved: Reserved) -> bool {
        self.offered.iter().any(|dch| reserved.plus(*dch).fits(&self.limits))
    }

    /// Whether no UE could get a DCH: no DCH is free, and the preemption of all unused DCHs would not
    /// free enough.
    pub fn is_full(&self, now: Time, preemptible: impl Fn(UeId) -> Option<Preemptible>) -> bool {
        if self.has_room() {
            return false;
        }
        let unused_from = |ue| preemptible(ue).and_then(|holder| holder.unused_from());
        let is_unused = |holding: &&Holding| unused_from(holding.ue).is_some_and(|from| from <= now);
        let freed = self.holdings.iter().filter(is_unused).map(|holding| holding.dch);
        let freed = freed.fold(Reserved::default(), Reserved::plus);
        !self.is_free_beside(self.reserved.minus(freed))
    }

    /// UEs that have a DCH, or were promised one.
    pub fn holders(&self) -> impl Iterator<Item = UeId> {
        self.holdings.iter().map(|holding| holding.ue)
    }

    /// Decides on a request. Grants the largest DCH that fits. If none fits, preempts DCHs that
    /// `preemptible` returns, for the smallest DCH of the request. If these are too few, the request
    /// waits if the queue has room. A UE that has a DCH requests a larger one: such a request never
    /// preempts and never waits. While requests of a higher class wait, no request of a lower class is
    /// granted.
    ///
    /// `is_possible`: whether the radio has room for the DCH with this index in the request. Preemption
    /// makes no such room.
    pub fn decide(
        &mut self,
        now: Time,
        request: &Request<'_>,
        preemptible: impl Fn(UeId) -> Option<Preemptible>,
        is_possible: impl Fn(usize) -> bool,
    ) -> Decision {
        let &Request { ue, dchs, .. } = request;
        let is_outranked = self.waiting.outranks(request);
        if !is_outranked && let Some(dch) = self.largest_free(request, &is_possible) {
            self.grant(ue, Reserved::of(dchs[dch]), Vec::new(), Reserved::default());
            return Decision::Granted { dch: dch as u8, after: Duration::ZERO, preempted: Vec::new() };
        }
        if self.holding(ue).is_some() {
            return Decision::Refused;
        }
        let smallest = dchs.len().checked_sub(1);
        if !is_outranked
            && smallest.is_some_and(is_possible)
            && let Some(granted) = self.preempt(now, request, preemptible)
        {
            return granted;
        }
        self.waiting.enqueue(request, self.limits.queue as usize)
    }

    /// Index of the largest DCH of a request for which the cell and the radio have room. A DCH that the
    /// UE already has is replaced and makes room.
    fn largest_free(&self, request: &Request<'_>, is_possible: impl Fn(usize) -> bool) -> Option<usize> {
        let own = self.holding(request.ue).map_or(Reserved::default(), Holding::counted);
        let reserved_for_others = self.reserved.minus(own);
        let fits = |dch: usize| reserved_for_others.plus(Reserved::of(request.dchs[dch])).fits(&self.limits);
        (0..request.dchs.len()).find(|&dch| fits(dch) && is_possible(dch))
    }

    /// Reserves `dch` for `ue`. `takes_from`: UEs that must release their DCHs before, which reserve
    /// `freed` together.
    fn grant(&mut self, ue: UeId, dch: Reserved, takes_from: Vec<UeId>, freed: Reserved) {
        let holding = Holding { ue, dch, takes_from, covered: freed.min(dch) };
        match self.index_of(ue) {
            Ok(index) => self.holdings[index] = holding,
            Err(index) => self.holdings.insert(index, holding),
        }
        self.waiting.remove(ue);
        self.recompute_reserved();
    }

    /// Changes the rates of the DCH of `ue`.
    pub fn change(&mut self, ue: UeId, dch: DchRates) {
        if let Ok(index) = self.index_of(ue) {
            self.holdings[index].dch = Reserved::of(dch);
            self.recompute_reserved();
        }
    }

    /// Moves the DCH of `ue`, if it has one, to this cell from `other`. A handover is never refused, so the
    /// reservations of this cell may exceed its limits. Returns whether there was a DCH.
    pub fn take_over(&mut self, ue: UeId, other: &mut Admission) -> bool {
        let Some(dch) = other.holding(ue).map(|holding| holding.dch) else { return false };
        other.release(ue);
        self.grant(ue, dch, Vec::new(), Reserved::default());
        true
    }

    /// Releases the DCH of `ue`. If it was promised to another UE, that UE gets it.
    pub fn release(&mut self, ue: UeId) {
        let Ok(index) = self.index_of(ue) else { return };
        self.holdings.remove(index);
        if let Some(taker) = self.holdings.iter().position(|holding| holding.takes_from.contains(&ue)) {
            self.holdings[taker].takes_from.retain(|&from| from != ue);
            self.update_covered(taker);
        }
        self.recompute_reserved();
    }

    /// Recomputes the part of a holding that the UEs in `takes_from` still hold: their DCHs cover the
    /// new DCH, up to its own size.
    fn update_covered(&mut self, taker: usize) {
        let unreleased = self.holdings[taker].takes_from.iter().filter_map(|&from| self.holding(from));
        let sum = unreleased.fold(Reserved::default(), |sum, holding| sum.plus(holding.dch));
        let taker = &mut self.holdings[taker];
        taker.covered = sum.min(taker.dch);
    }

    /// Index of the holding of `ue`, or the index at which it would be inserted.
    fn index_of(&self, ue: UeId) -> Result<usize, usize> {
        self.holdings.binary_search_by_key(&ue, |holding| holding.ue)
    }

    fn holding(&self, ue: UeId) -> Option<&Holding> {
        self.index_of(ue).ok().map(|index| &self.holdings[index])
    }

    /// Recomputes the sum of all holdings after a change.
    fn recompute_reserved(&mut self) {
        let counted = self.holdings.iter().map(Holding::counted);
        self.reserved = counted.fold(self.base, Reserved::plus);
        self.no_preemption_before = [Time::ZERO; ServiceClass::ALL.len()];
    }

    /// Withdraws the waiting request of `ue`. Returns whether requests of lower classes wait, which
    /// this request had blocked.
    pub fn withdraw(&mut self, ue: UeId) -> bool {
        self.waiting.remove(ue).is_some_and(|removed| self.waiting.has_lower_class_than(removed.class))
    }

    /// The first UE that waits: the next to repeat its request.
    pub fn first_waiting(&self) -> Option<UeId> {
        self.waiting.first().map(|waiting| waiting.ue)
    }

    /// When the first UE that waits should repeat its request if no DCH is released before: the
    /// time at which another UE's DCH becomes preemptible.
    pub fn retry_at(&self) -> Option<Time> {
        let first = self.waiting.first()?;
        let at = self.no_preemption_before[first.class as usize];
        (at != Time::ZERO && at != Time::NEVER).then_some(at)
    }

    /// Handles that a UE has begun to use its DCH, which may thus become preemptible.
    pub fn holder_settled(&mut self) {
        self.no_preemption_before = [Time::ZERO; ServiceClass::ALL.len()];
    }
}
