//! Uplink capacity of a UE (Baiocchi and Vacirca 2002, §II.B). The UE sends a request on the RACH,
//! gets the answer on the FACH and sends. It releases the capacity by leaving it unused for a
//! frame.
//!
//! ```text
//!              backlog                 heard                  granted
//!   idle ────────────────► asking ────────────► waiting ────────────────► sending
//!    ▲                       ▲  │ collided         │ refused                 │
//!    │                  time │  ▼                  │                         │
//!    │                    backed off ◄─────────────┘                         │
//!    └───────────────────────────────────────────────────────────────────────┘ an unused frame
//! ```
//!
//! A UE that is backed off is [`Asking`](CapacityRequest::Asking) with a later frame.

/// State of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CapacityRequest {
    #[default]
    Idle,
    /// The UE sends its request in the random access slot of this frame, or of the next frame with
    /// such a slot. `failures` counts collisions and refusals.
    Asking {
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
    pub fn backlog(&mut self, frame: u64) -> bool {
        let is_new = *self == CapacityRequest::Idle;
        if is_new {
            *self = CapacityRequest::Asking { frame, failures: 0 };
        }
        is_new
    }

    /// Withdraws the request because no data are left.
    pub fn withdraw(&mut self) {
        *self = CapacityRequest::Idle;
    }

    /// The request was received: no other UE has chosen the same access code.
    pub fn heard(&mut self) {
        *self = CapacityRequest::Waiting { failures: self.failures() };
    }

    /// Handles a collision or a refusal. `until` returns the frame of the next request for this
    /// number of failures. Returns that frame.
    pub fn failed(&mut self, until: impl FnOnce(u32) -> u64) -> u64 {
        let failures = self.failures() + 1;
        let frame = until(failures);
        *self = CapacityRequest::Asking { frame, failures };
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
            CapacityRequest::Asking { failures, .. } | CapacityRequest::Waiting { failures } => failures,
            CapacityRequest::Idle | CapacityRequest::Sending => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CapacityRequest::{Asking, Idle, Sending, Waiting};
    use super::*;

    #[test]
    fn capacity_request_passes_through_its_states() {
        let mut request = CapacityRequest::default();
        assert!(request.backlog(7));
        assert!(!request.backlog(9), "a request exists already");
        assert_eq!(request, Asking { frame: 7, failures: 0 });
        assert_eq!(request.failed(|failures| 10 + u64::from(failures)), 11);
        assert_eq!(request.failed(|failures| 10 + u64::from(failures)), 12);
        request.heard();
        assert_eq!(request, Waiting { failures: 2 });
        assert!(!request.backlog(12));
        // A refusal counts as a failure like a collision.
        assert_eq!(request.failed(|failures| 20 + u64::from(failures)), 23);
        request.heard();
        request.granted();
        assert_eq!(request, Sending);
        request.released();
        assert_eq!(request, Idle);
        request.backlog(30);
        assert_eq!(request, Asking { frame: 30, failures: 0 }, "earlier failures do not count");
    }
}
