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

use std::cmp::Reverse;
use std::collections::VecDeque;

use umts_units::{BitRate, Duration, Time};

use super::rrc::DchRates;
use crate::ids::UeId;
use crate::scheduling::ServiceClass;

/// Limits of a cell. `None`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Sum of rates by direction.
    pub rates: [Option<BitRate>; 2],
    /// Number of users with a DCH. Users of the HS-DSCH count, too: they have a DCH in the uplink.
    pub dchs: Option<u32>,
    /// Number of users of the HS-DSCH.
    pub hs_users: Option<u32>,
    /// Maximum number of requests that wait for a DCH. Further ones are refused, except that a request
    /// displaces one of a lower class.
    pub queue: u32,
    /// DCHs that a request may take.
    pub preemption: Preemption,
}

/// DCHs that a request may take from other UEs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Preemption {
    /// DCHs of the own or a lower class whose inactivity timer has expired, if `preemptive_inactivity`
    /// keeps them.
    #[default]
    Inactive,
    /// In addition, all DCHs of lower classes, in use or not.
    LowerClass,
}

/// Reserved rates and DCHs of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reserved {
    /// Bit/s by direction, the common channel included.
    pub rates: [u64; 2],
    /// Users with a DCH, users of the HS-DSCH included.
    pub dchs: u32,
    /// Users of the HS-DSCH.
    pub hs_users: u32,
}

impl Reserved {
    /// The sum of two reservations.
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
            rates: [0, 1].map(|direction| self.rates[direction].min(other.rates[direction])),
            dchs: self.dchs.min(other.dchs),
            hs_users: self.hs_users.min(other.hs_users),
        }
    }

    /// The part of `self` that exceeds `other`.
    fn minus(self, other: Reserved) -> Reserved {
        Reserved {
            rates: [0, 1].map(|direction| self.rates[direction].saturating_sub(other.rates[direction])),
            dchs: self.dchs.saturating_sub(other.dchs),
            hs_users: self.hs_users.saturating_sub(other.hs_users),
        }
    }

    /// The reservation for a DCH. The HS-DSCH and the E-DCH reserve no rate in their direction.
    fn of(dch: DchRates) -> Reserved {
        let [downlink, uplink] = dch.rates.map(BitRate::bps);
        Reserved {
            rates: [if dch.is_hs_dsch { 0 } else { downlink }, if dch.is_e_dch { 0 } else { uplink }],
            dchs: 1,
            hs_users: dch.is_hs_dsch.into(),
        }
    }

    fn fits(self, limits: &Limits) -> bool {
        let within = |direction: usize| {
            limits.rates[direction].is_none_or(|limit| self.rates[direction] <= limit.bps())
        };
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

/// A DCH that can be taken from its UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preemptible {
    /// Service class of the UE. DCHs of the lowest class are preempted first.
    pub class: ServiceClass,
    /// End of its use. Within a class, the DCH that is unused for the longest time is preempted
    /// first.
    pub used_until: Time,
    /// Whether the DCH can be preempted from `used_until` on.
    pub is_free_then: bool,
    /// Duration of the release.
    pub release: Duration,
}

impl Preemptible {
    /// When the DCH can be taken because the UE does not use it.
    pub fn unused_from(&self) -> Option<Time> {
        self.is_free_then.then_some(self.used_until)
    }
}

/// Answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The UE gets the DCH with index `dch` in its list, after the duration `after`.
    Granted {
        /// Index into the requested rates.
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
    /// Waiting requests, sorted by class and then by arrival.
    waiting: VecDeque<(ServiceClass, UeId)>,
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
            waiting: VecDeque::new(),
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

    /// Decides on a request of `ue` for one of `dchs`, which are sorted, the largest first. Grants
    /// the largest DCH that fits. If none fits, preempts DCHs that `preemptible` returns, for the
    /// smallest one of `dchs`. If these are too few, the request waits if the queue has room. A UE
    /// that has a DCH requests a larger one: such a request never preempts and never waits. While
    /// requests of a higher class wait, no request of a lower class is granted.
    ///
    /// `is_possible`: whether the radio has room for the DCH with this index in `dchs`. Preemption
    /// makes no such room.
    pub fn decide(
        &mut self,
        now: Time,
        (ue, class): (UeId, ServiceClass),
        dchs: &[DchRates],
        preemptible: impl Fn(UeId) -> Option<Preemptible>,
        is_possible: impl Fn(usize) -> bool,
    ) -> Decision {
        let own = self.holding(ue);
        let reserved_for_others = own.map_or(self.reserved, |own| self.reserved.minus(own.counted()));
        let has_dch = own.is_some();
        let fits = |dch: usize| {
            reserved_for_others.plus(Reserved::of(dchs[dch])).fits(&self.limits) && is_possible(dch)
        };
        let is_outranked =
            self.waiting.iter().any(|&(other_class, other_ue)| other_class < class && other_ue != ue);
        if let Some(dch) = (0..dchs.len()).find(|&dch| fits(dch)).filter(|_| !is_outranked) {
            self.grant(ue, Reserved::of(dchs[dch]), Vec::new(), Reserved::default());
            return Decision::Granted { dch: dch as u8, after: Duration::ZERO, preempted: Vec::new() };
        }
        if has_dch {
            return Decision::Refused;
        }
        let can_preempt = !is_outranked && dchs.len().checked_sub(1).is_some_and(is_possible);
        if can_preempt && let Some(granted) = self.preempt(now, (ue, class), dchs, preemptible) {
            return granted;
        }
        if self.waiting.iter().any(|&(_, waiting_ue)| waiting_ue == ue) {
            return Decision::Queued { displaced: None };
        }
        let is_queue_full = self.waiting.len() >= self.limits.queue as usize;
        let displaced = self.waiting.pop_back_if(|&mut (last_class, _)| is_queue_full && last_class > class);
        if is_queue_full && displaced.is_none() {
            return Decision::Refused;
        }
        let position = self.waiting.partition_point(|&(other_class, _)| other_class <= class);
        self.waiting.insert(position, (class, ue));
        Decision::Queued { displaced: displaced.map(|(_, ue)| ue) }
    }

    /// When the DCH of a holder can be preempted for a UE of `class`. `None`: never.
    fn takeable_from(&self, class: ServiceClass, holder: &Preemptible) -> Option<Time> {
        if holder.class > class && self.limits.preemption == Preemption::LowerClass {
            return Some(Time::ZERO);
        }
        holder.unused_from().filter(|_| holder.class >= class)
    }

    /// Grants the smallest one of `dchs` by preempting other UEs' DCHs: first those of the lowest
    /// class, within a class first the DCH that is unused for the longest time. Preempts no DCH if all
    /// preemptible ones together are too few.
    fn preempt(
        &mut self,
        now: Time,
        (ue, class): (UeId, ServiceClass),
        dchs: &[DchRates],
        preemptible: impl Fn(UeId) -> Option<Preemptible>,
    ) -> Option<Decision> {
        let wanted = Reserved::of(*dchs.last()?);
        if now < self.no_preemption_before[class as usize] {
            return None;
        }
        let mut victims: Vec<(Preemptible, &Holding)> = Vec::new();
        let mut next_preemptible = Time::NEVER;
        for holding in &self.holdings {
            let Some(holder) = preemptible(holding.ue) else { continue };
            match self.takeable_from(class, &holder) {
                Some(from) if from <= now => victims.push((holder, holding)),
                Some(from) => next_preemptible = next_preemptible.min(from),
                None => {}
            }
        }
        victims.sort_by_key(|(holder, holding)| (Reverse(holder.class), holder.used_until, holding.ue));
        let (mut freed, mut after, mut preempted) = (Reserved::default(), Duration::ZERO, Vec::new());
        let fits = |freed| self.reserved.minus(freed).plus(wanted).fits(&self.limits);
        for (holder, holding) in victims {
            if fits(freed) {
                break;
            }
            freed = freed.plus(holding.dch);
            after = after.max(holder.release);
            preempted.push(holding.ue);
        }
        if !fits(freed) {
            self.no_preemption_before[class as usize] = next_preemptible;
            return None;
        }
        self.grant(ue, wanted, preempted.clone(), freed);
        Some(Decision::Granted { dch: dchs.len() as u8 - 1, after, preempted })
    }

    /// Reserves `dch` for `ue`. `takes_from`: UEs that must release their DCHs before, which reserve
    /// `freed` together.
    fn grant(&mut self, ue: UeId, dch: Reserved, takes_from: Vec<UeId>, freed: Reserved) {
        let holding = Holding { ue, dch, takes_from, covered: freed.min(dch) };
        match self.index_of(ue) {
            Ok(index) => self.holdings[index] = holding,
            Err(index) => self.holdings.insert(index, holding),
        }
        self.waiting.retain(|&(_, waiting_ue)| waiting_ue != ue);
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
        if let Some(taker) = self.holdings.iter_mut().find(|holding| holding.takes_from.contains(&ue)) {
            taker.takes_from.retain(|&from| from != ue);
            // The DCHs that are still to be released cover the new DCH, up to its own size.
            let takes_from = std::mem::take(&mut taker.takes_from);
            let taker_ue = taker.ue;
            let unreleased = takes_from
                .iter()
                .filter_map(|holder| self.holding(*holder))
                .fold(Reserved::default(), |sum, holding| sum.plus(holding.dch));
            let index = self.index_of(taker_ue).expect("the UE has a holding");
            let taker = &mut self.holdings[index];
            taker.covered = unreleased.min(taker.dch);
            taker.takes_from = takes_from;
        }
        self.recompute_reserved();
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
        let Some(position) = self.waiting.iter().position(|&(_, waiting_ue)| waiting_ue == ue) else {
            return false;
        };
        let class = self.waiting.remove(position).map(|(class, _)| class);
        self.waiting.back().is_some_and(|&(last_class, _)| Some(last_class) > class)
    }

    /// The first UE that waits: the next to repeat its request.
    pub fn first_waiting(&self) -> Option<UeId> {
        self.waiting.front().map(|&(_, ue)| ue)
    }

    /// When the first UE that waits should repeat its request if no DCH is released before: the
    /// time at which another UE's DCH becomes preemptible.
    pub fn retry_at(&self) -> Option<Time> {
        let &(class, _) = self.waiting.front()?;
        let at = self.no_preemption_before[class as usize];
        (at != Time::ZERO && at != Time::NEVER).then_some(at)
    }

    /// Handles that a UE has begun to use its DCH, which may thus become preemptible.
    pub fn holder_settled(&mut self) {
        self.no_preemption_before = [Time::ZERO; ServiceClass::ALL.len()];
    }
}

#[cfg(test)]
mod tests;
