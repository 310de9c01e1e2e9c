//! Where ns-2's window arithmetic departs from the RFCs: all of it, and nothing else.
//!
//! ns-2's other habits need no switch, because the RFCs allow them: one timed segment at a time (RFC 6298 §3), a timer
//! that restarts at a fast retransmit and at the first partial ACK only (RFC 6582 §3.2, "impatient"), the careful rule
//! about a third duplicate ACK after a timeout.

use crate::tcp::congestion::{DUPLICATE_THRESHOLD, Flight, Window};

/// Whose arithmetic a connection follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// RFC 5681 and RFC 6582.
    Rfc5681,
    /// ns-2.35 with its default switches.
    Ns2,
}

impl Rules {
    /// What is taken for the load: FlightSize (RFC 5681 equation 4), or ns-2's window in use. ns-2 never bounds cwnd by
    /// the receiver's window, so it does that here.
    pub(in crate::tcp) fn load(self, window: &Window, flight: &Flight) -> f64 {
        match self {
            Rules::Rfc5681 => f64::from(flight.segments),
            Rules::Ns2 => (window.cwnd + f64::from(window.inflation)).min(f64::from(flight.advertised)),
        }
    }

    /// ssthresh after a loss: at least two segments; ns-2 keeps it whole.
    pub(in crate::tcp) fn threshold(self, reduced: f64) -> f64 {
        match self {
            Rules::Rfc5681 => reduced.max(2.0),
            Rules::Ns2 => reduced.trunc().max(2.0),
        }
    }

    /// cwnd at the start of fast recovery: ssthresh (RFC 5681 §3.2, step 3, its three segments being the inflation);
    /// ns-2 keeps the fraction. It has no lower bound, but a window below one segment, which a law other than half of the
    /// load can ask for, would end a recovery with nothing under way and nothing allowed to leave: for ever.
    pub(in crate::tcp) fn reduced_cwnd(self, reduced: f64) -> f64 {
        match self {
            Rules::Rfc5681 => self.threshold(reduced),
            Rules::Ns2 => reduced.max(1.0),
        }
    }

    /// Whether a timeout lowers ssthresh. RFC 5681 §3.1 holds it when the segment has timed out before, and has no
    /// data in flight while the SYN is unanswered; ns-2 cuts every time.
    pub(in crate::tcp) fn timeout_cuts_ssthresh(self, repeated: bool, flight: &Flight) -> bool {
        match self {
            Rules::Rfc5681 => !repeated && flight.una > 0,
            Rules::Ns2 => true,
        }
    }

    /// cwnd after the ACK that ends Reno's recovery: ssthresh (RFC 5681 §3.2, step 6); in ns-2 the inflation ends and
    /// the ACK counts as any other.
    pub(in crate::tcp) fn leave_reno_recovery(self, window: &mut Window) {
        match self {
            Rules::Rfc5681 => window.cwnd = window.ssthresh,
            Rules::Ns2 => window.increase(),
        }
    }

    /// Whether Reno, after the ACK that ended a recovery, takes three duplicates of it for the next loss although they
    /// do not cover more than `recover`, and halves again. RFC 5681 knows no `recover`; ns-2 waits for the timer.
    pub(in crate::tcp) fn reno_repeats_fast_retransmit(self) -> bool {
        self == Rules::Rfc5681
    }

    /// Whether Tahoe's count of duplicate ACKs goes on after a timeout: in ns-2, so that limited transmit stays quiet.
    pub(in crate::tcp) fn tahoe_keeps_duplicates(self) -> bool {
        self == Rules::Ns2
    }

    /// cwnd after a full acknowledgment: RFC 6582 §3.2 step 3 (1), the form that avoids a burst; ns-2 as for Reno.
    pub(in crate::tcp) fn leave_newreno_recovery(self, window: &mut Window, flight: &Flight) {
        match self {
            Rules::Rfc5681 => window.cwnd = window.ssthresh.min(f64::from(flight.segments.max(1)) + 1.0),
            Rules::Ns2 => window.increase(),
        }
    }

    /// Segments per ACK while NewReno sees duplicates: ns-2 stops after two.
    pub(in crate::tcp) fn newreno_burst(self, duplicates: u32) -> u32 {
        match self {
            Rules::Ns2 if duplicates >= DUPLICATE_THRESHOLD => 2,
            _ => u32::MAX,
        }
    }
}
