//! Preemption: DCHs are taken from some UEs for a UE whose request fits into the cell otherwise not.

use std::cmp::Reverse;

use umts_units::{Duration, Time};

use super::{Admission, Decision, Holding, Preemption, Request, Reserved};
use crate::ids::UeId;
use crate::scheduling::ServiceClass;

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

impl Admission {
    /// Grants the smallest DCH of a request by preempting other UEs' DCHs: first those of the lowest
    /// class, within a class first the DCH that is unused for the longest time. Preempts no DCH if all
    /// preemptible ones together are too few.
    pub(super) fn preempt(
        &mut self,
        now: Time,
        request: &Request<'_>,
        preemptible: impl Fn(UeId) -> Option<Preemptible>,
    ) -> Option<Decision> {
        let wanted = Reserved::of(*request.dchs.last()?);
        if now < self.no_preemption_before[request.class as usize] {
            return None;
        }
        let Victims { sorted, next_preemptible } = self.victims(now, request.class, preemptible);
        let fits_without = |freed| self.reserved.minus(freed).plus(wanted).fits(&self.limits);
        let mut freed = Reserved::default();
        let mut longest_release = Duration::ZERO;
        let mut preempted = Vec::new();
        for (holder, holding) in sorted {
            if fits_without(freed) {
                break;
            }
            freed = freed.plus(holding.dch);
            longest_release = longest_release.max(holder.release);
            preempted.push(holding.ue);
        }
        if !fits_without(freed) {
            self.no_preemption_before[request.class as usize] = next_preemptible;
            return None;
        }
        self.grant(request.ue, wanted, preempted.clone(), freed);
        let smallest = request.dchs.len() as u8 - 1;
        Some(Decision::Granted { dch: smallest, after: longest_release, preempted })
    }

    /// The DCHs that can be preempted at `now` for a UE of `class`.
    fn victims(
        &self,
        now: Time,
        class: ServiceClass,
        preemptible: impl Fn(UeId) -> Option<Preemptible>,
    ) -> Victims<'_> {
        let mut victims = Victims { sorted: Vec::new(), next_preemptible: Time::NEVER };
        for holding in &self.holdings {
            let Some(holder) = preemptible(holding.ue) else { continue };
            match self.takeable_from(class, &holder) {
                Some(from) if from <= now => victims.sorted.push((holder, holding)),
                Some(from) => victims.next_preemptible = victims.next_preemptible.min(from),
                None => {}
            }
        }
        victims
            .sorted
            .sort_by_key(|(holder, holding)| (Reverse(holder.class), holder.used_until, holding.ue));
        victims
    }

    /// When the DCH of a holder can be preempted for a UE of `class`. `None`: never.
    fn takeable_from(&self, class: ServiceClass, holder: &Preemptible) -> Option<Time> {
        if holder.class > class && self.limits.preemption == Preemption::LowerClass {
            return Some(Time::ZERO);
        }
        holder.unused_from().filter(|_| holder.class >= class)
    }
}

/// The DCHs that can be preempted for a UE.
struct Victims<'a> {
    /// In the order of preemption.
    sorted: Vec<(Preemptible, &'a Holding)>,
    /// When the next of the other DCHs can be preempted. `Time::NEVER`: none.
    next_preemptible: Time,
}
