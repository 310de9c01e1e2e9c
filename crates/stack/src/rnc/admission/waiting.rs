//! The requests of a cell that wait for a DCH.

use std::collections::VecDeque;

use super::{Decision, Request};
use crate::ids::UeId;
use crate::scheduling::ServiceClass;

/// A waiting request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WaitingRequest {
    pub class: ServiceClass,
    pub ue: UeId,
}

/// Waiting requests, sorted by class, the highest first, and then by arrival.
#[derive(Debug, Clone, Default)]
pub(super) struct WaitingQueue {
    requests: VecDeque<WaitingRequest>,
}

impl WaitingQueue {
    /// Adds a request to a queue of at most `limit` requests, unless it waits already. A request for
    /// which there is no room displaces the last request if that has a lower class.
    pub fn enqueue(&mut self, request: &Request<'_>, limit: usize) -> Decision {
        let &Request { ue, class, .. } = request;
        if self.requests.iter().any(|waiting| waiting.ue == ue) {
            return Decision::Queued { displaced: None };
        }
        let is_full = self.requests.len() >= limit;
        let displaced = self.requests.pop_back_if(|last| is_full && last.class > class);
        if is_full && displaced.is_none() {
            return Decision::Refused;
        }
        let position = self.requests.partition_point(|waiting| waiting.class <= class);
        self.requests.insert(position, WaitingRequest { class, ue });
        Decision::Queued { displaced: displaced.map(|displaced| displaced.ue) }
    }

    /// The first request: the next to be repeated.
    pub fn first(&self) -> Option<WaitingRequest> {
        self.requests.front().copied()
    }

    /// Whether a request of another UE and a higher class waits.
    pub fn outranks(&self, request: &Request<'_>) -> bool {
        self.requests.iter().any(|waiting| waiting.class < request.class && waiting.ue != request.ue)
    }

    /// Removes the request of `ue`. Returns it if it was waiting.
    pub fn remove(&mut self, ue: UeId) -> Option<WaitingRequest> {
        let position = self.requests.iter().position(|waiting| waiting.ue == ue)?;
        self.requests.remove(position)
    }

    /// Whether requests of a lower class than `class` wait.
    pub fn has_lower_class_than(&self, class: ServiceClass) -> bool {
        self.requests.back().is_some_and(|last| last.class > class)
    }
}
