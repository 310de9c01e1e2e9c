//! Admission of DCHs: the rates that a cell reserves for them, and their preemption for other UEs
//! (Dubois 2005, §5.2).
//!
//! A DCH is reserved from the decision that grants it until its release is complete. A preempted DCH
//! counts for its former holder until it is released, so the reserved rates never exceed the limits.

use std::collections::VecDeque;

use umts_units::{BitRate, Duration, Time};

use super::rrc::DchRates;
use crate::ids::UeId;

/// Limits of a cell. `None`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Sum of rates by direction.
    pub rates: [Option<BitRate>; 2],
    /// Number of users with a DCH, at least in the uplink.
    pub dchs: Option<u32>,
    /// Number of users of the HS-DSCH.
    pub hs_users: Option<u32>,
    /// Maximum number of requests that wait for a DCH. Further ones are refused.
    pub queue: u32,
}

/// Reserved rates and DCHs of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reserved {
    /// Bit/s by direction, the common channel included.
    pub rates: [u64; 2],
    /// Users with a DCH, at least in the uplink.
    pub dchs: u32,
    /// Users of the HS-DSCH.
    pub hs_users: u32,
}

impl Reserved {
    fn plus(self, other: Reserved) -> Reserved {
        Reserved {
            rates: [self.rates[0] + other.rates[0], self.rates[1] + other.rates[1]],
            dchs: self.dchs + other.dchs,
            hs_users: self.hs_users + other.hs_users,
        }
    }

    /// The part of `self` that `other` covers.
    fn min(self, other: Reserved) -> Reserved {
        Reserved {
            rates: [0, 1].map(|way| self.rates[way].min(other.rates[way])),
            dchs: self.dchs.min(other.dchs),
            hs_users: self.hs_users.min(other.hs_users),
        }
    }

    fn minus(self, other: Reserved) -> Reserved {
        Reserved {
            rates: [0, 1].map(|way| self.rates[way].saturating_sub(other.rates[way])),
            dchs: self.dchs.saturating_sub(other.dchs),
            hs_users: self.hs_users.saturating_sub(other.hs_users),
        }
    }

    fn of(dch: DchRates) -> Reserved {
        let [downlink, uplink] = dch.rates.map(BitRate::bps);
        Reserved {
            rates: [if dch.is_hs_dsch { 0 } else { downlink }, uplink],
            dchs: 1,
            hs_users: dch.is_hs_dsch.into(),
        }
    }

    fn fits(self, limits: &Limits) -> bool {
        let within = |way: usize| limits.rates[way].is_none_or(|limit| self.rates[way] <= limit.bps());
        within(0)
            && within(1)
            && limits.dchs.is_none_or(|limit| self.dchs <= limit)
            && limits.hs_users.is_none_or(|limit| self.hs_users <= limit)
    }
}

/// The DCH of one UE.
#[derive(Debug, Clone, PartialEq)]
struct Holding {
    ue: UeId,
    dch: Reserved,
    /// UEs that must release their DCHs first, and the promised part that they still hold.
    takes_from: Vec<UeId>,
    covered: Reserved,
}

impl Holding {
    fn counts(&self) -> Reserved {
        self.dch.minus(self.covered)
    }
}

/// A UE with a DCH that can be taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preemptible {
    /// Since when: the longest goes first.
    pub since: Time,
    /// Duration of the release.
    pub release: Duration,
}

/// Answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The DCH with this index in the list, after this duration.
    Granted {
        /// Index into the requested rates.
        dch: u8,
        /// Time until the last of `preempted` is released.
        after: Duration,
        /// UEs whose DCHs are preempted now.
        preempted: Vec<UeId>,
    },
    /// The request waits for a DCH.
    Queued,
    /// The request is refused.
    Refused,
}

/// Admission to the DCHs of one cell.
#[derive(Debug, Clone)]
pub struct Admission {
    limits: Limits,
    /// The common channel and the DCHs that are never released.
    base: Reserved,
    /// The different DCHs that UEs may request.
    offered: Vec<Reserved>,
    /// By UE.
    holdings: Vec<Holding>,
    waiting: VecDeque<UeId>,
    /// Sum of `base` and of all holdings.
    reserved: Reserved,
    /// No DCH can be preempted before this time, unless one is released.
    nothing_before: Time,
}

impl Admission {
    /// A cell in which `base` is always reserved.
    pub fn new(limits: Limits, base: Reserved) -> Self {
        Admission {
            limits,
            base,
            offered: Vec::new(),
            holdings: Vec::new(),
            waiting: VecDeque::new(),
            reserved: base,
            nothing_before: Time::ZERO,
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

    /// Whether no UE could get a DCH: none is free, and too little could be taken away.
    pub fn is_full(&self, now: Time, preemptible: impl Fn(UeId) -> Option<Preemptible>) -> bool {
        if self.has_room() {
            return false;
        }
        let can_go = |holding: &&Holding| preemptible(holding.ue).is_some_and(|holder| holder.since <= now);
        let freed = self.holdings.iter().filter(can_go).map(|holding| holding.dch);
        let freed = freed.fold(Reserved::default(), Reserved::plus);
        !self.is_free_beside(self.reserved.minus(freed))
    }

    /// UEs that have a DCH, or were promised one.
    pub fn holders(&self) -> impl Iterator<Item = UeId> {
        self.holdings.iter().map(|holding| holding.ue)
    }

    /// Decides on a request of `ue` for one of `dchs`, the largest first. The largest that is free is given; if none is,
    /// the smallest is taken from UEs that `preemptible` allows, or the request waits if it may. A
    /// UE that has a DCH requests a larger one. Such a request never preempts and never waits.
    pub fn request(
        &mut self,
        now: Time,
        ue: UeId,
        dchs: &[DchRates],
        preemptible: impl Fn(UeId) -> Option<Preemptible>,
    ) -> Decision {
        let own = self.holdings.binary_search_by_key(&ue, |holding| holding.ue);
        let others = own.map_or(self.reserved, |at| self.reserved.minus(self.holdings[at].counts()));
        let fits = |dch: &DchRates| others.plus(Reserved::of(*dch)).fits(&self.limits);
        if let Some(dch) = dchs.iter().position(fits) {
            self.give(ue, Reserved::of(dchs[dch]), Vec::new(), Reserved::default());
            return Decision::Granted { dch: dch as u8, after: Duration::ZERO, preempted: Vec::new() };
        }
        if own.is_ok() {
            return Decision::Refused;
        }
        if let Some(granted) = self.preempt(now, ue, dchs, preemptible) {
            return granted;
        }
        if self.waiting.contains(&ue) {
            return Decision::Queued;
        }
        if self.waiting.len() < self.limits.queue as usize {
            self.waiting.push_back(ue);
            return Decision::Queued;
        }
        Decision::Refused
    }

    fn preempt(
        &mut self,
        now: Time,
        ue: UeId,
        dchs: &[DchRates],
        preemptible: impl Fn(UeId) -> Option<Preemptible>,
    ) -> Option<Decision> {
        let wanted = Reserved::of(*dchs.last()?);
        if now < self.nothing_before {
            return None;
        }
        let mut candidates: Vec<(Preemptible, usize)> = Vec::new();
        let mut next = Time::NEVER;
        for (at, holding) in self.holdings.iter().enumerate() {
            match preemptible(holding.ue) {
                Some(holder) if holder.since <= now => candidates.push((holder, at)),
                Some(holder) => next = next.min(holder.since),
                None => {}
            }
        }
        candidates.sort_by_key(|&(holder, at)| (holder.since, at));
        let (mut freed, mut after, mut count) = (Reserved::default(), Duration::ZERO, 0);
        let fits = |freed| self.reserved.minus(freed).plus(wanted).fits(&self.limits);
        for (holder, at) in &candidates {
            if fits(freed) {
                break;
            }
            freed = freed.plus(self.holdings[*at].dch);
            after = after.max(holder.release);
            count += 1;
        }
        if !fits(freed) {
            // Those that can go are too few: the next moment at which there is one more.
            self.nothing_before = next;
            return None;
        }
        let preempted: Vec<UeId> = candidates[..count].iter().map(|&(_, at)| self.holdings[at].ue).collect();
        self.give(ue, wanted, preempted.clone(), freed);
        Some(Decision::Granted { dch: dchs.len() as u8 - 1, after, preempted })
    }

    fn give(&mut self, ue: UeId, dch: Reserved, takes_from: Vec<UeId>, freed: Reserved) {
        let holding = Holding { ue, dch, takes_from, covered: freed.min(dch) };
        match self.holdings.binary_search_by_key(&ue, |holding| holding.ue) {
            Ok(at) => self.holdings[at] = holding,
            Err(at) => self.holdings.insert(at, holding),
        }
        self.waiting.retain(|&waits| waits != ue);
        self.count_again();
    }

    /// Changes the rates of the DCH of `ue`.
    pub fn change(&mut self, ue: UeId, dch: DchRates) {
        if let Ok(at) = self.holdings.binary_search_by_key(&ue, |holding| holding.ue) {
            self.holdings[at].dch = Reserved::of(dch);
            self.count_again();
        }
    }

    /// Releases the DCH of `ue`. If it was promised to another UE, that UE gets it.
    pub fn release(&mut self, ue: UeId) {
        let Ok(at) = self.holdings.binary_search_by_key(&ue, |holding| holding.ue) else { return };
        self.holdings.remove(at);
        if let Some(taker) = self.holdings.iter_mut().find(|holding| holding.takes_from.contains(&ue)) {
            taker.takes_from.retain(|&from| from != ue);
            // DCHs that are still to be released cover the new one, up to its own size.
            let from = std::mem::take(&mut taker.takes_from);
            let taker = taker.ue;
            let left = from
                .iter()
                .filter_map(|from| self.holding(*from))
                .fold(Reserved::default(), |sum, holding| sum.plus(holding.dch));
            let at = self.holdings.binary_search_by_key(&taker, |holding| holding.ue).expect("it was found");
            let taker = &mut self.holdings[at];
            taker.covered = left.min(taker.dch);
            taker.takes_from = from;
        }
        self.count_again();
    }

    fn holding(&self, ue: UeId) -> Option<&Holding> {
        let at = self.holdings.binary_search_by_key(&ue, |holding| holding.ue).ok()?;
        Some(&self.holdings[at])
    }

    fn count_again(&mut self) {
        let counts = self.holdings.iter().map(Holding::counts);
        self.reserved = counts.fold(self.base, Reserved::plus);
        self.nothing_before = Time::ZERO;
    }

    /// `ue` no longer waits.
    pub fn withdraw(&mut self, ue: UeId) {
        self.waiting.retain(|&waits| waits != ue);
    }

    /// The first UE that waits: the next to repeat its request.
    pub fn first_waiting(&self) -> Option<UeId> {
        self.waiting.front().copied()
    }

    /// When the first UE that waits should repeat its request if nothing is released before: then
    /// another UE's DCH can be taken away.
    pub fn look_again_at(&self) -> Option<Time> {
        let known = self.nothing_before != Time::ZERO && self.nothing_before != Time::NEVER;
        (known && !self.waiting.is_empty()).then_some(self.nothing_before)
    }

    /// A UE has begun to use its DCH, which may be taken away one day.
    pub fn holder_settled(&mut self) {
        self.nothing_before = Time::ZERO;
    }
}

#[cfg(test)]
mod tests;
