//! Uplink capacity of a UE (Baiocchi and Vacirca 2002, §II.B). The UE sends a request on the RACH,
//! gets the answer on the FACH and sends. It releases the capacity by leaving it unused for a
//! frame.
//!
//! ```text
//!            data to send            request received            granted
//!   idle ─────────────────► requesting ──────────────► waiting ──────────────► sending
//!    ▲                       ▲  │ collided               │ refused                │
//!    │                  time │  ▼                        │                        │
//!    │                    backed off ◄───────────────────┘                        │
//!    └────────────────────────────────────────────────────────────────────────────┘ an unused frame
//! ```
//!
//! A UE that is backed off is [`Requesting`](CapacityRequest::Requesting) in a later frame. Requests of
//! the RNC for downlink capacity have the same states, except that no request collides.

/// State of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CapacityRequest {
    #[default]
    Idle,
    /// The UE sends its request in the random access slot of this frame, or of the next frame with
    /// such a slot. `failures` counts collisions and refusals.
    Requesting {
        /// Later than the next frame if the UE backs off.
        frame: u64,
        /// Successive failures.
        failures: u32,
    },
    /// The request was received. The UE waits for the answer.
    Waiting {
        /// Successive failures.
        failures: u32,
    },
    /// The UE has capacity.
    Sending,
}

impl CapacityRequest {
    /// Handles new data to send, with `frame` as the first possible frame of a request. Returns
    /// whether this starts a request.
    pub fn begin(&mut self, frame: u64) -> bool {
        let is_new = *self == CapacityRequest::Idle;
        if is_new {
            *self = CapacityRequest::Requesting { frame, failures: 0 };
        }
        is_new
    }

    /// Withdraws the request because no data are left.
    pub fn withdraw(&mut self) {
        *self = CapacityRequest::Idle;
    }

    /// The request was received: no other UE has chosen the same access code.
    pub fn received(&mut self) {
        *self = CapacityRequest::Waiting { failures: self.failures() };
    }

    /// Handles a collision or a refusal. `until` returns the frame of the next request for this
    /// number of failures. Returns that frame.
    pub fn failed(&mut self, until: impl FnOnce(u32) -> u64) -> u64 {
        let failures = self.failures() + 1;
        let frame = until(failures);
        *self = CapacityRequest::Requesting { frame, failures };
        frame
    }

    /// The request was granted.
    pub fn granted(&mut self) {
        *self = CapacityRequest::Sending;
    }

    /// Releases the capacity after an unused frame.
    pub fn released(&mut self) {
        *self = CapacityRequest::Idle;
    }

    fn failures(self) -> u32 {
        match self {
            CapacityRequest::Requesting { failures, .. } | CapacityRequest::Waiting { failures } => failures,
            CapacityRequest::Idle | CapacityRequest::Sending => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CapacityRequest::{Idle, Requesting, Sending, Waiting};
    use super::*;

    #[test]
    fn capacity_request_passes_through_its_states() {
        let mut request = CapacityRequest::default();
        assert!(request.begin(7));
        assert!(!request.begin(9), "a request exists already");
        assert_eq!(request, Requesting { frame: 7, failures: 0 });
        assert_eq!(request.failed(|failures| 10 + u64::from(failures)), 11);
        assert_eq!(request.failed(|failures| 10 + u64::from(failures)), 12);
        request.received();
        assert_eq!(request, Waiting { failures: 2 });
        assert!(!request.begin(12));
        // A refusal counts as a failure like a collision.
        assert_eq!(request.failed(|failures| 20 + u64::from(failures)), 23);
        request.received();
        request.granted();
        assert_eq!(request, Sending);
        request.released();
        assert_eq!(request, Idle);
        request.begin(30);
        assert_eq!(request, Requesting { frame: 30, failures: 0 }, "earlier failures do not count");
    }
}
