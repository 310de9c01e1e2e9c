//! By what law the window grows and shrinks, apart from how losses are found and repaired.
//!
//! Tahoe, Reno, NewReno, SACK and FACK share one law: a segment for each ACK in slow start, a segment in a round trip
//! above, half after a loss. Versions that differ in this law only have a [`WindowLaw`] of their own and repair losses
//! as SACK does where it is negotiated, as NewReno does elsewhere. A loop of theirs, for each ACK:
//!
//! ```text
//!   on_ack ─► the recovery decides ─┬─ the window may grow:  grow
//!                                   ├─ a loss was found:     reduce (also when the timer expires)
//!                                   └─ the loss was none:    undo
//!   on_round_trip, when one was measured
//! ```

use std::fmt;

use umts_units::{Duration, Time};

use super::{Cubic, Westwood};
use crate::tcp::config::{TcpConfig, Variant};

/// An acknowledgment, as a law hears of it before anything else is decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heard {
    /// The present instant.
    pub now: Time,
    /// Segments that it acknowledges whole; none if it is a duplicate.
    pub segments: u32,
    /// It acknowledges nothing new.
    pub duplicate: bool,
    /// Segments that were outstanding before it came.
    pub flight: u32,
    /// Smoothed round-trip time, zero before the first.
    pub srtt: Duration,
}

impl Default for Heard {
    fn default() -> Self {
        Heard { now: Time::ZERO, segments: 0, duplicate: false, flight: 0, srtt: Duration::ZERO }
    }
}

impl Heard {
    /// Whether the window was what limited the sender. In slow start half of it is enough, since the window is ahead of
    /// what is under way while it doubles.
    pub fn was_limited(&self, cwnd: f64, ssthresh: f64) -> bool {
        let flight = f64::from(self.flight);
        if cwnd < ssthresh { cwnd < 2.0 * flight } else { cwnd < flight + 1.0 }
    }
}

/// What told of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Duplicate or selective acknowledgments.
    Acks,
    /// The retransmission timer.
    Timeout,
}

/// How a window grows and shrinks. All windows are in segments.
pub trait WindowLaw: fmt::Debug {
    /// An acknowledgment arrived.
    fn on_ack(&mut self, heard: &Heard);

    /// A round trip was measured.
    fn on_round_trip(&mut self, rtt: Duration) {
        let _ = rtt;
    }

    /// The window after an acknowledgment by which it may grow.
    fn grow(&mut self, cwnd: f64, ssthresh: f64) -> f64;

    /// The slow start threshold after a loss, at least two segments whatever it says. `load`: what was under way.
    fn reduce(&mut self, cwnd: f64, load: f64, loss: Loss) -> f64;

    /// The last reduction answered no loss: window and threshold are what they were before it.
    fn undo(&mut self) {}
}

/// The law of a connection.
#[derive(Debug)]
pub enum Law {
    /// RFC 5681 §3.1 and equation 4.
    Standard,
    /// See [`Westwood`].
    Westwood(Box<Westwood>),
    /// See [`Cubic`].
    Cubic(Box<Cubic>),
}

impl Law {
    /// The law of the version that `config` names, at the start of a connection.
    pub fn new(config: &TcpConfig) -> Self {
        match config.version {
            Variant::Westwood => Law::Westwood(Box::default()),
            Variant::Cubic => Law::Cubic(Box::new(Cubic::new(config.cubic))),
            _ => Law::Standard,
        }
    }

    /// The law if it is not the standard one.
    #[inline]
    pub fn own(&mut self) -> Option<&mut dyn WindowLaw> {
        match self {
            Law::Standard => None,
            Law::Westwood(law) => Some(&mut **law),
            Law::Cubic(law) => Some(&mut **law),
        }
    }
}
