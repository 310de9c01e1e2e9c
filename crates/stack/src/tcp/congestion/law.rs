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
//!   settle: when all that is done, a law may name the window itself
//! ```

use std::fmt;

use umts_units::{Duration, Time};

use super::{Bbr, Cubic, Outstanding, UserLaw, Westwood};
use crate::ids::ConnectionId;
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
    /// As how many ACKs it counts: one, or with `abc` as many as it covers segments.
    pub acks: f64,
    /// The same in slow start.
    pub acks_in_slow_start: f64,
    /// The window is validated, and is what limits the sender: no other measure counts.
    pub is_limited: bool,
}

impl Default for Heard {
    fn default() -> Self {
        Heard {
            now: Time::ZERO,
            segments: 0,
            duplicate: false,
            flight: 0,
            srtt: Duration::ZERO,
            acks: 1.0,
            acks_in_slow_start: 1.0,
            is_limited: false,
        }
    }
}

impl Heard {
    /// Whether the window was what limited the sender. In slow start half of it is enough, since the window is ahead of
    /// what is under way while it doubles.
    pub fn was_limited(&self, cwnd: f64, ssthresh: f64) -> bool {
        let flight = f64::from(self.flight);
        self.is_limited || if cwnd < ssthresh { cwnd < 2.0 * flight } else { cwnd < flight + 1.0 }
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

/// A segment that leaves, for the first time or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// The present instant.
    pub now: Time,
    /// Its number, counted from the SYN.
    pub number: u64,
    /// Its payload, in bytes.
    pub payload: u32,
    /// Nothing else is on the way.
    pub idle: bool,
}

/// The sender when an acknowledgment has been dealt with.
#[derive(Debug, Clone, Copy)]
pub struct Settled<'a> {
    /// The present instant.
    pub now: Time,
    /// Segments outstanding.
    pub sent: &'a Outstanding,
    /// Segments that duplicate ACKs have shown to be off the network, without saying which.
    pub inflation: u32,
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

    /// A segment leaves.
    fn on_sent(&mut self, departure: &Departure) {
        let _ = departure;
    }

    /// The window would let more leave than the application has, with `flight` bytes of payload under way.
    fn on_nothing_to_send(&mut self, flight: u64) {
        let _ = flight;
    }

    /// An acknowledgment has been dealt with: the window, if this law names it itself.
    fn settle(&mut self, settled: &Settled<'_>) -> Option<f64> {
        let _ = settled;
        None
    }

    /// Bytes of payload that may leave in a second; none if the window alone decides.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
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
    /// See [`Bbr`].
    Bbr(Box<Bbr>),
    /// From outside.
    User(UserLaw),
}

impl Law {
    /// The law of the version that `config` names, at the start of a connection.
    pub fn new(config: &TcpConfig, connection: ConnectionId) -> Self {
        match config.variant {
            Variant::Westwood => Law::Westwood(Box::default()),
            Variant::Cubic => Law::Cubic(Box::new(Cubic::new(config.cubic))),
            Variant::Bbr => {
                Law::Bbr(Box::new(Bbr::new(config.segment_payload, config.initial_window, connection.0)))
            }
            _ => Law::Standard,
        }
    }

    /// Whether it is that of the RFC.
    #[inline]
    pub fn is_standard(&self) -> bool {
        matches!(self, Law::Standard)
    }

    /// The law if it is not the standard one.
    #[inline]
    pub fn own(&mut self) -> Option<&mut dyn WindowLaw> {
        match self {
            Law::Standard => None,
            Law::Westwood(law) => Some(&mut **law),
            Law::Cubic(law) => Some(&mut **law),
            Law::Bbr(law) => Some(&mut **law),
            Law::User(law) => Some(&mut **law),
        }
    }
}
