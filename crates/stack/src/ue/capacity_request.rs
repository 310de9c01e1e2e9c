//! How a UE comes to capacity for its uplink (Baiocchi and Vacirca 2002, §II.B): it asks on the RACH, is answered on the FACH,
//! sends, and lets go by leaving its capacity unused for a frame.
//!
//! ```text
//!              backlog                 heard                  granted
//!   idle ────────────────► asking ────────────► waiting ────────────────► sending
//!    ▲                       ▲  │ collided         │ refused                 │
//!    │                  time │  ▼                  │                         │
//!    │                    backed off ◄─────────────┘                         │
//!    └───────────────────────────────────────────────────────────────────────┘ an unused frame
//! ```

/// Where a UE stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CapacityRequest {
    /// It wants nothing.
    #[default]
    Idle,
    /// It asks in the random access slot of this frame, or of the first one after it. It was not heard, or refused, so often.
    Asking {
        /// The frame; later than the next one after a failure: it backs off.
        frame: u64,
        /// Failures in a row.
        failures: u32,
    },
    /// It was heard, and waits for the answer.
    Waiting {
        /// Failures in a row.
        failures: u32,
    },
    /// It has capacity.
    Sending,
}

impl CapacityRequest {
    /// It has something to send, and could ask in `frame`. Tells whether it asks because of that.
    pub fn backlog(&mut self, frame: u64) -> bool {
        let is_new = *self == CapacityRequest::Idle;
        if is_new {
            *self = CapacityRequest::Asking { frame, failures: 0 };
        }
        is_new
    }

    /// Nothing is left to be sent before it was heard.
    pub fn withdraw(&mut self) {
        *self = CapacityRequest::Idle;
    }

    /// It was alone on its code.
    pub fn heard(&mut self) {
        *self = CapacityRequest::Waiting { failures: self.failures() };
    }

    /// It met another on its code, or was refused: it asks again in the frame that `until` finds for this number of failures.
    /// Returns that frame.
    pub fn failed(&mut self, until: impl FnOnce(u32) -> u64) -> u64 {
        let failures = self.failures() + 1;
        let frame = until(failures);
        *self = CapacityRequest::Asking { frame, failures };
        frame
    }

    /// It may send.
    pub fn granted(&mut self) {
        *self = CapacityRequest::Sending;
    }

    /// It left a frame unused, and has nothing any more.
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
    fn a_request_goes_its_way() {
        let mut request = CapacityRequest::default();
        assert!(request.backlog(7));
        assert!(!request.backlog(9), "it asks already");
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
        assert_eq!(request, Asking { frame: 30, failures: 0 }, "what failed before does not count");
    }
}
