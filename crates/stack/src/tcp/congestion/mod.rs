//! Congestion control: the versions of TCP behind one trait, one file each.
//!
//! A version decides about the window ([`Window`]: cwnd, ssthresh and the inflation of fast recovery), what to send
//! again ([`Reaction`]) and, if it has rules of its own, which segment leaves next ([`Turn`]); the connection keeps the
//! sequence numbers, the timers and the acknowledgments.
//!
//! cwnd and ssthresh are counted in segments and real valued. Fast recovery's inflation by duplicate ACKs is kept
//! beside cwnd, not in it: RFC 5681's "cwnd" in recovery is `cwnd + inflation` here.

mod bbr;
mod cubic;
mod forward;
mod law;
mod newreno;
mod ns2;
mod prr;
mod rack;
mod rate;
mod reaction;
mod recovery;
mod reno;
mod selective;
mod slow_start;
mod tahoe;
mod usage;
mod user;
mod vegas;
mod westwood;
mod window;

pub use bbr::{Bbr, Mode};
pub use cubic::{Cubic, CubicConfig};
pub use law::{Departure, Heard, Law, Loss, Settled, WindowLaw};
pub use newreno::NewReno;
pub use ns2::{Fack, Rules, Sack};
pub use prr::Prr;
pub use rack::{Rack, RackHeard};
pub use rate::{RateSample, RateSampler};
pub use reaction::{Backoff, Reaction, Resend, Sample, Turn};
pub use recovery::SackRecovery;
pub use reno::Reno;
pub use selective::{LossRule, Selective};
pub use slow_start::{Exit, RoundTrip};
pub use tahoe::Tahoe;
pub use usage::Usage;
pub use user::{UserLaw, UserLaws};
pub use vegas::Vegas;
pub use westwood::Westwood;
pub use window::{ByteCounting, Window};

use umts_units::Time;

use super::config::{NewRenoConfig, TcpConfig, Variant};
use super::outstanding::{Acknowledged, Outstanding};
use crate::packet::SackBlocks;

/// Duplicate ACKs that mean a loss (RFC 5681 §3.2).
pub const DUPLICATE_THRESHOLD: u32 = 3;

/// What is under way when something happens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flight {
    /// Oldest unacknowledged sequence number.
    pub una: u64,
    /// The sequence number after the highest ever sent.
    pub max_sent: u64,
    /// Segments outstanding, without those that limited transmit sent (RFC 5681 §3.2, step 2).
    pub segments: u32,
    /// The receiver's window, in whole segments.
    pub advertised: u32,
}

/// A cumulative acknowledgment of something new.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewAck<'a> {
    /// Segments that it covers whole; an ACK of a part covers none.
    pub segments: u32,
    /// What is left under way.
    pub flight: Flight,
    /// All that it took from the segments outstanding.
    pub done: &'a Acknowledged,
    /// Its selective acknowledgments.
    pub sack: &'a SackBlocks,
    /// The present instant.
    pub now: Time,
}

/// An acknowledgment of nothing new.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duplicate<'a> {
    /// What is under way.
    pub flight: Flight,
    /// Its selective acknowledgments.
    pub sack: &'a SackBlocks,
    /// It has been counted in [`Window::duplicates`].
    pub counted: bool,
    /// It is below what is acknowledged: another one has overtaken it.
    pub is_late: bool,
    /// The present instant.
    pub now: Time,
}

/// A version of TCP. `sent` are the segments outstanding, those that a [`NewAck`] covers already taken away.
pub trait CongestionControl {
    /// The SYN was acknowledged: the window of `initial` segments opens.
    fn on_syn_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &NewAck<'_>,
        initial: u32,
    ) -> Reaction {
        let _ = (sent, ack);
        window.cwnd = f64::from(initial);
        window.duplicates = 0;
        Reaction::NEW_ACK
    }

    /// New data (not the SYN) was acknowledged.
    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction;

    /// Whether a duplicate ACK with these blocks counts as one; counts it.
    fn count_duplicate(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: u64,
        sack: &SackBlocks,
    ) -> bool {
        let _ = (sent, ack, sack);
        window.duplicates += 1;
        true
    }

    /// A duplicate ACK arrived.
    fn on_duplicate_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &Duplicate<'_>,
    ) -> Reaction;

    /// The retransmission timer expired; the connection goes back to the oldest segment.
    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        let _ = sent;
        window.duplicates = 0;
        window.collapse_after_timeout(flight);
    }

    /// The last reaction to a loss answered none: no recovery is going on any more.
    fn on_undo(&mut self, sent: &mut Outstanding) {
        let _ = sent;
    }

    /// How many segments may leave in answer to one ACK by the window's rule, those of [`Reaction::resend`] apart.
    fn burst(&self, _window: &Window) -> u32 {
        u32::MAX
    }

    /// Which segment leaves now.
    #[inline]
    fn turn(&self, _window: &Window, _sent: &Outstanding, _advertised: u32) -> Turn {
        Turn::ByWindow
    }

    /// Segment `number` (the SYN is 0) left, for the first time or not.
    #[inline]
    fn on_sent(&mut self, _turn: Turn, _number: u64, _now: Time) {}

    /// Whether the retransmission timer runs although nothing is outstanding.
    #[inline]
    fn times_silence(&self, _window: &Window) -> bool {
        false
    }
}

/// The versions.
#[derive(Debug, Clone)]
pub enum VariantState {
    /// See [`Tahoe`].
    Tahoe(Tahoe),
    /// See [`Reno`].
    Reno(Reno),
    /// See [`NewReno`].
    NewReno(NewReno),
    /// See [`Sack`].
    Sack(Sack),
    /// See [`Fack`].
    Fack(Fack),
    /// See [`SackRecovery`].
    Selective(SackRecovery),
    /// See [`Rack`].
    Rack(Box<Rack>),
    /// See [`Vegas`].
    Vegas(Vegas),
}

impl VariantState {
    /// The version that `config` names, at the start of a connection.
    pub fn new(config: &TcpConfig) -> Self {
        match config.variant {
            Variant::Tahoe => VariantState::Tahoe(Tahoe),
            Variant::Reno => VariantState::Reno(Reno::default()),
            Variant::NewReno => VariantState::NewReno(NewReno::new(config.newreno)),
            Variant::Sack if config.one_way => VariantState::Sack(Sack::default()),
            Variant::Fack if config.one_way => VariantState::Fack(Fack::default()),
            Variant::Vegas => VariantState::Vegas(Vegas::new(config)),
            // Their law is the window's; losses they repair as others do.
            Variant::Westwood | Variant::Cubic | Variant::Bbr | Variant::User(_)
                if config.sack_blocks == 0 =>
            {
                VariantState::NewReno(NewReno::new(config.newreno))
            }
            Variant::Westwood | Variant::Cubic | Variant::Bbr | Variant::User(_) if config.one_way => {
                VariantState::Sack(Sack::default())
            }
            Variant::Fack => VariantState::Selective(SackRecovery::new(config)),
            _ if config.rack => VariantState::Rack(Box::new(Rack::new(config))),
            _ => VariantState::Selective(SackRecovery::new(config)),
        }
    }

    /// What takes its place when the other end does not acknowledge selectively.
    pub(super) fn without_sack(&self, config: NewRenoConfig) -> Option<Self> {
        matches!(self, VariantState::Selective(_) | VariantState::Rack(_))
            .then(|| VariantState::NewReno(NewReno::new(config)))
    }
}

macro_rules! each_version {
    ($self:expr, $variant:ident => $call:expr) => {
        match $self {
            VariantState::Tahoe($variant) => $call,
            VariantState::Reno($variant) => $call,
            VariantState::NewReno($variant) => $call,
            VariantState::Sack($variant) => $call,
            VariantState::Fack($variant) => $call,
            VariantState::Selective($variant) => $call,
            VariantState::Rack($variant) => $call,
            VariantState::Vegas($variant) => $call,
        }
    };
}

impl CongestionControl for VariantState {
    fn on_syn_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &NewAck<'_>,
        initial: u32,
    ) -> Reaction {
        each_version!(self, variant => variant.on_syn_ack(window, sent, ack, initial))
    }

    #[inline]
    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        each_version!(self, variant => variant.on_new_ack(window, sent, ack))
    }

    fn count_duplicate(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: u64,
        sack: &SackBlocks,
    ) -> bool {
        each_version!(self, variant => variant.count_duplicate(window, sent, ack, sack))
    }

    #[inline]
    fn on_duplicate_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &Duplicate<'_>,
    ) -> Reaction {
        each_version!(self, variant => variant.on_duplicate_ack(window, sent, ack))
    }

    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        each_version!(self, variant => variant.on_timeout(window, sent, flight))
    }

    fn on_undo(&mut self, sent: &mut Outstanding) {
        each_version!(self, variant => variant.on_undo(sent))
    }

    #[inline]
    fn burst(&self, window: &Window) -> u32 {
        each_version!(self, variant => variant.burst(window))
    }

    #[inline]
    fn turn(&self, window: &Window, sent: &Outstanding, advertised: u32) -> Turn {
        each_version!(self, variant => variant.turn(window, sent, advertised))
    }

    #[inline]
    fn on_sent(&mut self, turn: Turn, number: u64, now: Time) {
        each_version!(self, variant => variant.on_sent(turn, number, now))
    }

    #[inline]
    fn times_silence(&self, window: &Window) -> bool {
        each_version!(self, variant => variant.times_silence(window))
    }
}
