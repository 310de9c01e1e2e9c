//! Flow control of the Iub: Capacity Requests, and allocations of credits (TS 25.435 §5.9, §5.10).
//!
//! The RNC sends a Capacity Request when data arrive for a UE whose buffer the Node B believes to
//! be empty. Until the buffer is empty again, the Node B allocates credits at regular instants. Each
//! allocation allows the RNC to send that many PDUs once.

use std::collections::{BTreeMap, VecDeque};

use umts_units::{Duration, Time};

use super::{MacHs, TTI};
use crate::ids::UeId;
use crate::scheduling::{ServiceClass, memory};

/// Requests and allocations between RNC and Node B of one cell.
#[derive(Debug)]
pub(super) struct FlowControl {
    interval: Duration,
    /// UEs with data at the RNC, each with the instant from which the Node B knows.
    waiting: BTreeMap<UeId, Time>,
    /// The earliest of these instants.
    first_known: Option<Time>,
    /// Allocations on their way to the RNC, with their instants of arrival in ascending order.
    grants: VecDeque<(Time, UeId, u32)>,
    /// Last instant of allocation.
    last: Option<Time>,
}

impl FlowControl {
    pub fn new(interval: Duration) -> Self {
        FlowControl {
            interval,
            waiting: BTreeMap::new(),
            first_known: None,
            grants: VecDeque::new(),
            last: None,
        }
    }

    /// `ue` has data at the RNC: a Capacity Request reaches the Node B at `arrival`, unless it knows
    /// already. Returns whether the request is sent.
    pub fn request(&mut self, ue: UeId, arrival: Time) -> bool {
        if self.waiting.contains_key(&ue) {
            return false;
        }
        self.waiting.insert(ue, arrival);
        self.first_known = Some(self.first_known.map_or(arrival, |first| first.min(arrival)));
        true
    }

    /// Time between allocations.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// The RNC has no more data of `ue`. The frame with the last PDUs says so.
    pub fn buffer_is_empty(&mut self, ue: UeId) {
        self.waiting.remove(&ue);
        self.first_known = self.waiting.values().min().copied();
    }

    pub fn leave(&mut self, ue: UeId) {
        self.buffer_is_empty(ue);
        self.grants.retain(|(_, granted, _)| *granted != ue);
    }

    /// The next instant at which the Node B allocates credits.
    pub fn next_allocation(&self) -> Option<Time> {
        let known = self.first_known?;
        let after_last = self.last.map_or(Time::ZERO, |last| last + self.interval);
        Some(known.max(after_last).round_up_to(self.interval))
    }

    /// The next arrival of an allocation at the RNC.
    pub fn next_grant(&self) -> Option<Time> {
        self.grants.front().map(|(at, ..)| *at)
    }

    /// Removes an allocation that has reached the RNC: its UE and its credits.
    pub fn take_due_grant(&mut self, now: Time) -> Option<(UeId, u32)> {
        let (at, ue, credits) = *self.grants.front()?;
        if at > now {
            return None;
        }
        self.grants.pop_front();
        Some((ue, credits))
    }
}

impl MacHs {
    /// Allocates credits to all UEs with data at the RNC, if this is an instant of allocation.
    pub(super) fn allocate(&mut self, now: Time, iub_delay: Duration) {
        if self.flow_control.next_allocation().is_none_or(|at| at > now) {
            return;
        }
        self.flow_control.last = Some(now);
        let known: Vec<UeId> =
            self.flow_control.waiting.iter().filter(|(_, at)| **at <= now).map(|(ue, _)| *ue).collect();
        let (tti, memory) = (now.as_nanos() / TTI.as_nanos(), memory(TTI, self.config.mean_over));
        // UEs that share the channel from now on, by class: those of lower classes only use what is left.
        let others = self.active.iter().filter(|ue| known.binary_search(ue).is_err());
        let classes: Vec<ServiceClass> =
            known.iter().chain(others).filter_map(|ue| Some(self.users.get(ue)?.qos().class)).collect();
        for ue in known {
            let Some(user) = self.users.get_mut(&ue) else { continue };
            let class = user.qos().class;
            let sharing = classes.iter().filter(|other| **other <= class).count();
            let credits = user.credits(tti, memory, iub_delay, sharing);
            if credits > 0 {
                self.flow_control.grants.push_back((now + iub_delay, ue, credits));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn node_b_allocates_at_regular_instants_while_the_rnc_has_data() {
        let mut control = FlowControl::new(Duration::from_millis(10));
        assert_eq!(control.next_allocation(), None);
        assert!(control.request(UeId(1), ms(13)));
        // A second request says nothing new.
        assert!(!control.request(UeId(1), ms(40)));
        assert_eq!(control.next_allocation(), Some(ms(20)));
        control.last = Some(ms(20));
        assert_eq!(control.next_allocation(), Some(ms(30)));
        control.buffer_is_empty(UeId(1));
        assert_eq!(control.next_allocation(), None);
    }
}
