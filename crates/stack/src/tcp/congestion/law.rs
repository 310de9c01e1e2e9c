//! The laws of window growth and reduction, independent of loss detection and recovery.
//!
//! Tahoe, Reno, NewReno, SACK and FACK share one law: one segment per ACK in slow start, one
//! segment per round trip above the threshold, one half after a loss. Variants that differ only in
//! the law implement [`WindowLaw`]. Their loss recovery is SACK's if SACK is negotiated, and
//! NewReno's otherwise. The calls for each ACK:
//!
//! ```text
//!   on_ack ─► loss recovery ─┬─ the window may grow:     grow
//!                            ├─ a loss was detected:     reduce (also on a timeout)
//!                            └─ the loss was spurious:   undo
//!   on_round_trip, if a round trip was measured
//!   after_ack, at the end: the law may set the window itself
//! ```

use std::fmt;

use umts_units::{Duration, Time};

use super::{Bbr, Cubic, Outstanding, UserLaw, Westwood};
use crate::ids::ConnectionId;
use crate::tcp::config::{TcpConfig, Variant};

/// An acknowledgment, passed to a law before any decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LawAck {
    pub now: Time,
    /// Number of segments covered completely. 0 for a duplicate.
    pub segments: u32,
    /// No new data is acknowledged.
    pub duplicate: bool,
    /// Number of segments outstanding before the acknowledgment.
    pub flight: u32,
    /// Smoothed round-trip time. Zero before the first sample.
    pub srtt: Duration,
    /// The weight of the acknowledgment: 1, or with byte counting (`abc`) the number of covered
    /// segments.
    pub acks: f64,
    /// The weight of the acknowledgment in slow start.
    pub acks_in_slow_start: f64,
    /// Window validation is enabled and finds that the window limits the sender. No other criterion
    /// is needed then.
    pub is_limited: bool,
}

impl Default for LawAck {
    fn default() -> Self {
        LawAck {
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

impl LawAck {
    /// Whether the window limited the sender. In slow start it is enough if half of the window was
    /// used, because the window exceeds the flight size while it doubles.
    pub fn was_limited(&self, cwnd: f64, ssthresh: f64) -> bool {
        let flight = f64::from(self.flight);
        self.is_limited || if cwnd < ssthresh { cwnd < 2.0 * flight } else { cwnd < flight + 1.0 }
    }
}

/// How a loss was detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Duplicate or selective acknowledgments.
    Acks,
    /// The retransmission timer.
    Timeout,
}

/// A transmission of a segment, the first one or a retransmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmission {
    pub now: Time,
    /// Number of the segment, counted from the SYN.
    pub number: u64,
    /// Payload, in bytes.
    pub payload: u32,
    /// No other segment is in flight.
    pub idle: bool,
}

/// The state of the sender after an acknowledgment was processed.
#[derive(Debug, Clone, Copy)]
pub struct SenderState<'a> {
    pub now: Time,
    pub sent: &'a Outstanding,
    /// Number of segments that have left the network according to duplicate ACKs, which do not
    /// identify them.
    pub inflation: u32,
}

/// The law by which a window grows and shrinks. All windows are in segments.
pub trait WindowLaw: fmt::Debug {
    /// An acknowledgment arrived. Called before any other method for it.
    fn on_ack(&mut self, ack: &LawAck);

    /// A round-trip time was measured.
    fn on_round_trip(&mut self, rtt: Duration) {
        let _ = rtt;
    }

    /// Returns the window after an acknowledgment that allows growth.
    fn grow(&mut self, cwnd: f64, ssthresh: f64) -> f64;

    /// Returns the slow start threshold after a loss. The caller applies the lower bound of two
    /// segments. `load`: the flight size.
    fn reduce(&mut self, cwnd: f64, load: f64, loss: Loss) -> f64;

    /// The last reduction was spurious: the law must restore its state. The caller restores window
    /// and threshold.
    fn undo(&mut self) {}

    /// A segment is sent.
    fn on_sent(&mut self, transmission: &Transmission) {
        let _ = transmission;
    }

    /// The window allows more than the application has written. `flight`: payload in flight, in
    /// bytes.
    fn on_nothing_to_send(&mut self, flight: u64) {
        let _ = flight;
    }

    /// An acknowledgment was processed. Returns the window if the law sets it itself.
    fn after_ack(&mut self, state: &SenderState<'_>) -> Option<f64> {
        let _ = state;
        None
    }

    /// The pacing rate, in bytes of payload per second. `None`: no pacing.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
}

/// The law of a connection.
#[derive(Debug)]
pub enum Law {
    /// RFC 5681 §3.1 and equation 4.
    Standard,
    Westwood(Box<Westwood>),
    Cubic(Box<Cubic>),
    Bbr(Box<Bbr>),
    /// A custom law.
    User(UserLaw),
}

impl Law {
    /// The law of the configured variant, at the start of a connection.
    pub fn new(config: &TcpConfig, connection: ConnectionId) -> Self {
        match config.variant {
            Variant::Westwood => Law::Westwood(Box::default()),
            Variant::Cubic => Law::Cubic(Box::new(Cubic::new(config))),
            Variant::Bbr => {
                Law::Bbr(Box::new(Bbr::new(config.mss(), config.initial_segments(), connection.0)))
            }
            _ => Law::Standard,
        }
    }

    /// Whether it is the law of RFC 5681.
    #[inline]
    pub fn is_standard(&self) -> bool {
        matches!(self, Law::Standard)
    }

    /// The law if it is not the standard one.
    #[inline]
    pub fn non_standard(&mut self) -> Option<&mut dyn WindowLaw> {
        match self {
            Law::Standard => None,
            Law::Westwood(law) => Some(&mut **law),
            Law::Cubic(law) => Some(&mut **law),
            Law::Bbr(law) => Some(&mut **law),
            Law::User(law) => Some(&mut **law),
        }
    }
}
