//! All differences between ns-2's window arithmetic and the RFCs.
//!
//! Other properties of ns-2 need no switch, because the RFCs allow them: one timed segment at a
//! time (RFC 6298 §3), a timer that restarts at a fast retransmit and only at the first partial ACK
//! (RFC 6582 §3.2, "impatient"), and the careful rule for a third duplicate ACK after a timeout.

use crate::tcp::congestion::{DUPLICATE_THRESHOLD, Flight, Window};

/// The window arithmetic of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// RFC 5681 and RFC 6582.
    Rfc5681,
    /// ns-2.35 with its default switches.
    Ns2,
}

impl Rules {
    /// The load from which ssthresh is computed: FlightSize (RFC 5681 equation 4), or in ns-2 the
    /// window in use. ns-2 lets cwnd exceed the receiver's window, but limits the load to it.
    pub(in crate::tcp) fn load(self, window: &Window, flight: &Flight) -> f64 {
        match self {
            Rules::Rfc5681 => f64::from(flight.segments),
            Rules::Ns2 => (window.cwnd + f64::from(window.inflation)).min(f64::from(flight.advertised)),
        }
    }

    /// ssthresh after a loss: at least two segments. In ns-2 an integer.
    pub(in crate::tcp) fn threshold(self, reduced: f64) -> f64 {
        match self {
            Rules::Rfc5681 => reduced.max(2.0),
            Rules::Ns2 => reduced.trunc().max(2.0),
        }
    }

    /// cwnd at the start of fast recovery: ssthresh (RFC 5681 §3.2, step 3, whose three segments
    /// are the inflation). ns-2 keeps the fraction and has no lower bound. The bound of one segment
    /// in this model prevents a deadlock: a law other than half of the load could reduce the window
    /// below one segment, and a recovery could end with nothing in flight and no permission to
    /// send.
    pub(in crate::tcp) fn reduced_cwnd(self, reduced: f64) -> f64 {
        match self {
            Rules::Rfc5681 => self.threshold(reduced),
            Rules::Ns2 => reduced.max(1.0),
        }
    }

    /// Whether a timeout lowers ssthresh. RFC 5681 §3.1 keeps it if the segment has timed out
    /// before, and there is no data in flight before the SYN is answered. ns-2 lowers it each time.
    pub(in crate::tcp) fn timeout_cuts_ssthresh(self, same_segment_again: bool, flight: &Flight) -> bool {
        match self {
            Rules::Rfc5681 => !same_segment_again && flight.una > 0,
            Rules::Ns2 => true,
        }
    }

    /// cwnd after the ACK that ends Reno's recovery: ssthresh (RFC 5681 §3.2, step 6). In ns-2 the
    /// inflation ends and the ACK counts like any other.
    pub(in crate::tcp) fn leave_reno_recovery(self, window: &mut Window) {
        match self {
            Rules::Rfc5681 => window.cwnd = window.ssthresh,
            Rules::Ns2 => window.increase(),
        }
    }

    /// Whether Reno accepts three duplicates of the ACK that ended a recovery as the next loss,
    /// although they do not cover more than `recover`, and halves the window again. RFC 5681 has no
    /// `recover`. ns-2 waits for the timer.
    pub(in crate::tcp) fn reno_repeats_fast_retransmit(self) -> bool {
        self == Rules::Rfc5681
    }

    /// Whether Tahoe's count of duplicate ACKs continues after a timeout. It does in ns-2. After
    /// three duplicates limited transmit then stays inactive until an ACK of new data, because it
    /// applies only to the first two duplicates of a count.
    pub(in crate::tcp) fn tahoe_keeps_duplicates(self) -> bool {
        self == Rules::Ns2
    }

    /// cwnd after a full acknowledgment: RFC 6582 §3.2 step 3 (1), the form that avoids a burst. In
    /// ns-2 as for Reno.
    pub(in crate::tcp) fn leave_newreno_recovery(self, window: &mut Window, flight: &Flight) {
        match self {
            Rules::Rfc5681 => window.cwnd = window.ssthresh.min(f64::from(flight.segments.max(1)) + 1.0),
            Rules::Ns2 => window.increase(),
        }
    }

    /// Maximum number of segments that the window allows NewReno per ACK: in ns-2 it is 2 from the
    /// third duplicate on, until a timeout or an ACK of new data that is not partial.
    pub(in crate::tcp) fn newreno_burst(self, duplicates: u32) -> u32 {
        match self {
            Rules::Ns2 if duplicates >= DUPLICATE_THRESHOLD => 2,
            _ => u32::MAX,
        }
    }
}
