//! Congestion control: the variants of TCP behind one trait, one file each.
//!
//! A variant decides on the window ([`Window`]: cwnd, ssthresh and the inflation of fast recovery),
//! on retransmissions ([`Reaction`]) and, if it has its own rules, on the next segment to send
//! ([`Selection`]). The connection manages sequence numbers, timers and acknowledgments.
//!
//! cwnd and ssthresh are real numbers of segments. The inflation of fast recovery by duplicate ACKs
//! is stored separately: RFC 5681's "cwnd" in recovery is `cwnd + inflation` here.

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
pub use cubic::Cubic;
pub use law::{Law, LawAck, Loss, SenderState, Transmission, WindowLaw};
pub use newreno::NewReno;
pub use ns2::{Fack, Rules, Sack};
pub use prr::{Prr, PrrAck};
pub use rack::{Rack, RackAck};
pub use rate::{RateSample, RateSampler};
pub use reaction::{Backoff, Reaction, Resend, Sample, Selection};
pub use recovery::SackRecovery;
pub use reno::Reno;
pub use selective::{LossRule, Retransmissions, Selective};
pub use slow_start::{Exit, RoundTrip};
pub use tahoe::Tahoe;
pub use usage::{Usage, WindowLoad};
pub use user::{UserLaw, UserLaws};
pub use vegas::Vegas;
pub use westwood::Westwood;
pub use window::{ByteCounting, CwndAndSsthresh, Window};

use umts_units::Time;

use super::config::{TcpConfig, Variant};
use super::outstanding::{Acknowledged, Outstanding};
use crate::packet::SackBlocks;

/// Number of duplicate ACKs that indicate a loss (RFC 5681 §3.2).
pub const DUPLICATE_THRESHOLD: u32 = 3;

/// The data in flight at an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flight {
    /// Oldest unacknowledged sequence number.
    pub una: u64,
    /// The sequence number after the highest ever sent.
    pub max_sent: u64,
    /// Number of outstanding segments, without those sent by limited transmit (RFC 5681 §3.2, step
    /// 2).
    pub segments: u32,
    /// The receiver's window, in whole segments.
    pub advertised: u32,
}

/// A cumulative acknowledgment of new data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewAck<'a> {
    /// Number of segments that the ACK covers completely. An ACK of a part of a segment covers
    /// none.
    pub segments: u32,
    /// The data in flight after the ACK.
    pub flight: Flight,
    /// The outstanding segments that the ACK removed.
    pub removed: &'a Acknowledged,
    /// SACK blocks.
    pub sack: &'a SackBlocks,
    pub now: Time,
}

/// An acknowledgment without new data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duplicate<'a> {
    pub flight: Flight,
    /// SACK blocks.
    pub sack: &'a SackBlocks,
    /// Whether [`Window::duplicates`] counts this acknowledgment.
    pub counted: bool,
    /// The acknowledgment number is below SND.UNA, because of reordering.
    pub is_late: bool,
    pub now: Time,
}

/// A variant of TCP. `sent`: the outstanding segments, without those that a [`NewAck`] covers.
pub trait CongestionControl {
    /// The SYN was acknowledged: the window becomes `initial` segments.
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

    /// Counts a duplicate ACK if its blocks qualify. Returns whether they do.
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

    /// The retransmission timer expired. The caller goes back to the oldest segment afterwards.
    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        let _ = sent;
        window.duplicates = 0;
        window.collapse_after_timeout(flight);
    }

    /// The last reaction to a loss was spurious: ends any recovery.
    fn on_undo(&mut self, sent: &mut Outstanding) {
        let _ = sent;
    }

    /// Maximum number of segments that the window rule may send per ACK, in addition to
    /// [`Reaction::resend`].
    fn burst(&self, _window: &Window) -> u32 {
        u32::MAX
    }

    /// Selects the segment to send now.
    #[inline]
    fn select(&self, _window: &Window, _sent: &Outstanding, _advertised: u32) -> Selection {
        Selection::ByWindow
    }

    /// Segment `number` (the SYN is 0) was sent, for the first time or as a retransmission.
    #[inline]
    fn on_sent(&mut self, _selection: Selection, _number: u64, _now: Time) {}

    /// Whether the retransmission timer runs although no segment is outstanding.
    #[inline]
    fn needs_timer_when_empty(&self, _window: &Window) -> bool {
        false
    }
}

/// The state of a variant.
#[derive(Debug, Clone)]
pub enum VariantState {
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
    /// ns-2's SACK, for one-way connections.
    Sack(Sack),
    /// ns-2's FACK, for one-way connections.
    Fack(Fack),
    Selective(SackRecovery),
    Rack(Box<Rack>),
    Vegas(Vegas),
}

impl VariantState {
    /// The state of the configured variant at the start of a connection.
    pub fn new(config: &TcpConfig) -> Self {
        match config.variant {
            Variant::Tahoe => VariantState::Tahoe(Tahoe),
            Variant::Reno => VariantState::Reno(Reno::default()),
            Variant::NewReno => VariantState::NewReno(NewReno::new(config)),
            Variant::Sack if config.is_one_way() => VariantState::Sack(Sack::default()),
            Variant::Fack if config.is_one_way() => VariantState::Fack(Fack::default()),
            Variant::Vegas => VariantState::Vegas(Vegas::new(config)),
            // These variants have a window law of their own and the loss recovery of another
            // variant.
            Variant::Westwood | Variant::Cubic | Variant::Bbr | Variant::User(_)
                if config.max_sack_blocks() == 0 =>
            {
                VariantState::NewReno(NewReno::new(config))
            }
            Variant::Westwood | Variant::Cubic | Variant::Bbr | Variant::User(_) if config.is_one_way() => {
                VariantState::Sack(Sack::default())
            }
            Variant::Fack => VariantState::Selective(SackRecovery::new(config)),
            _ if config.rack => VariantState::Rack(Box::new(Rack::new(config))),
            _ => VariantState::Selective(SackRecovery::new(config)),
        }
    }

    /// The replacement if the other end does not support SACK. `None`: no replacement is needed.
    pub(super) fn without_sack(&self, config: &TcpConfig) -> Option<Self> {
        matches!(self, VariantState::Selective(_) | VariantState::Rack(_))
            .then(|| VariantState::NewReno(NewReno::new(config)))
    }
}

/// Calls `$call` with the state of the variant as `$variant`: a method of [`CongestionControl`].
macro_rules! each_variant {
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
        each_variant!(self, variant => variant.on_syn_ack(window, sent, ack, initial))
    }

    #[inline]
    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        each_variant!(self, variant => variant.on_new_ack(window, sent, ack))
    }

    fn count_duplicate(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: u64,
        sack: &SackBlocks,
    ) -> bool {
        each_variant!(self, variant => variant.count_duplicate(window, sent, ack, sack))
    }

    #[inline]
    fn on_duplicate_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &Duplicate<'_>,
    ) -> Reaction {
        each_variant!(self, variant => variant.on_duplicate_ack(window, sent, ack))
    }

    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        each_variant!(self, variant => variant.on_timeout(window, sent, flight))
    }

    fn on_undo(&mut self, sent: &mut Outstanding) {
        each_variant!(self, variant => variant.on_undo(sent))
    }

    #[inline]
    fn burst(&self, window: &Window) -> u32 {
        each_variant!(self, variant => variant.burst(window))
    }

    #[inline]
    fn select(&self, window: &Window, sent: &Outstanding, advertised: u32) -> Selection {
        each_variant!(self, variant => variant.select(window, sent, advertised))
    }

    #[inline]
    fn on_sent(&mut self, selection: Selection, number: u64, now: Time) {
        each_variant!(self, variant => variant.on_sent(selection, number, now))
    }

    #[inline]
    fn needs_timer_when_empty(&self, window: &Window) -> bool {
        each_variant!(self, variant => variant.needs_timer_when_empty(window))
    }
}
