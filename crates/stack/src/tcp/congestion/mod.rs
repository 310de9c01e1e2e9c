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
mod fack;
mod forward;
mod law;
mod newreno;
mod rate;
mod reaction;
mod reno;
mod rfc6675;
mod rules;
mod sack;
mod selective;
mod tahoe;
mod user;
mod vegas;
mod westwood;

pub use bbr::{Bbr, Mode};
pub use cubic::{Cubic, CubicConfig};
pub use fack::Fack;
pub use forward::Forward;
pub use law::{Departure, Heard, Law, Loss, Settled, WindowLaw};
pub use newreno::NewReno;
pub use rate::{RateSample, RateSampler};
pub use reaction::{Backoff, Reaction, Resend, Sample, Turn};
pub use reno::Reno;
pub use rfc6675::Rfc6675;
pub use rules::Rules;
pub use sack::Sack;
pub use selective::{LossRule, Selective};
pub use tahoe::Tahoe;
pub use user::{UserLaw, UserLaws};
pub use vegas::Vegas;
pub use westwood::Westwood;

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
pub struct NewAck {
    /// Segments that it covers whole; an ACK of a part covers none.
    pub segments: u32,
    /// What is left under way.
    pub flight: Flight,
    /// All that it took from the segments outstanding.
    pub done: Acknowledged,
    /// Its selective acknowledgments.
    pub sack: SackBlocks,
    /// The present instant.
    pub now: Time,
}

/// An acknowledgment of nothing new.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duplicate {
    /// What is under way.
    pub flight: Flight,
    /// Its selective acknowledgments.
    pub sack: SackBlocks,
    /// It has been counted in [`Window::duplicates`].
    pub counted: bool,
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
        ack: &NewAck,
        initial: u32,
    ) -> Reaction {
        let _ = (sent, ack);
        window.cwnd = f64::from(initial);
        window.duplicates = 0;
        Reaction::NEW_ACK
    }

    /// New data (not the SYN) was acknowledged.
    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck) -> Reaction;

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
    fn on_duplicate_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &Duplicate) -> Reaction;

    /// The retransmission timer expired; the connection goes back to the oldest segment.
    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        let _ = sent;
        window.duplicates = 0;
        window.collapse_after_timeout(flight);
    }

    /// The last reaction to a loss answered none: no recovery is going on any more.
    fn on_undo(&mut self) {}

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
pub enum Version {
    /// See [`Tahoe`].
    Tahoe(Tahoe),
    /// See [`Reno`].
    Reno(Reno),
    /// See [`NewReno`].
    NewReno(NewReno),
    /// See [`Sack`].
    Sack(Sack),
    /// See [`Rfc6675`].
    Rfc6675(Rfc6675),
    /// See [`Fack`].
    Fack(Fack),
    /// See [`Forward`].
    Forward(Forward),
    /// See [`Vegas`].
    Vegas(Vegas),
}

impl Version {
    /// The version that `config` names, at the start of a connection.
    pub fn new(config: &TcpConfig) -> Self {
        match config.version {
            Variant::Tahoe => Version::Tahoe(Tahoe),
            Variant::Reno => Version::Reno(Reno::default()),
            Variant::NewReno => Version::NewReno(NewReno::new(config.newreno)),
            Variant::Sack if config.one_way => Version::Sack(Sack::default()),
            Variant::Sack => Version::Rfc6675(Rfc6675::default()),
            Variant::Fack if config.one_way => Version::Fack(Fack::default()),
            Variant::Fack => Version::Forward(Forward::new(config.fack)),
            Variant::Vegas => Version::Vegas(Vegas::new(config)),
            // Their law is the window's; losses they repair as others do.
            Variant::Westwood | Variant::Cubic | Variant::Bbr | Variant::User(_)
                if config.sack_blocks == 0 =>
            {
                Version::NewReno(NewReno::new(config.newreno))
            }
            Variant::Westwood | Variant::Cubic | Variant::Bbr | Variant::User(_) if config.one_way => {
                Version::Sack(Sack::default())
            }
            Variant::Westwood | Variant::Cubic | Variant::Bbr | Variant::User(_) => {
                Version::Rfc6675(Rfc6675::default())
            }
        }
    }

    /// What takes its place when the other end does not acknowledge selectively.
    pub(super) fn without_sack(&self, config: NewRenoConfig) -> Option<Self> {
        matches!(self, Version::Rfc6675(_) | Version::Forward(_))
            .then(|| Version::NewReno(NewReno::new(config)))
    }
}

macro_rules! each_version {
    ($self:expr, $version:ident => $call:expr) => {
        match $self {
            Version::Tahoe($version) => $call,
            Version::Reno($version) => $call,
            Version::NewReno($version) => $call,
            Version::Sack($version) => $call,
            Version::Rfc6675($version) => $call,
            Version::Fack($version) => $call,
            Version::Forward($version) => $call,
            Version::Vegas($version) => $call,
        }
    };
}

impl CongestionControl for Version {
    fn on_syn_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &NewAck,
        initial: u32,
    ) -> Reaction {
        each_version!(self, version => version.on_syn_ack(window, sent, ack, initial))
    }

    #[inline]
    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck) -> Reaction {
        each_version!(self, version => version.on_new_ack(window, sent, ack))
    }

    fn count_duplicate(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: u64,
        sack: &SackBlocks,
    ) -> bool {
        each_version!(self, version => version.count_duplicate(window, sent, ack, sack))
    }

    #[inline]
    fn on_duplicate_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &Duplicate) -> Reaction {
        each_version!(self, version => version.on_duplicate_ack(window, sent, ack))
    }

    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        each_version!(self, version => version.on_timeout(window, sent, flight))
    }

    fn on_undo(&mut self) {
        each_version!(self, version => version.on_undo())
    }

    #[inline]
    fn burst(&self, window: &Window) -> u32 {
        each_version!(self, version => version.burst(window))
    }

    #[inline]
    fn turn(&self, window: &Window, sent: &Outstanding, advertised: u32) -> Turn {
        each_version!(self, version => version.turn(window, sent, advertised))
    }

    #[inline]
    fn on_sent(&mut self, turn: Turn, number: u64, now: Time) {
        each_version!(self, version => version.on_sent(turn, number, now))
    }

    #[inline]
    fn times_silence(&self, window: &Window) -> bool {
        each_version!(self, version => version.times_silence(window))
    }
}

/// The congestion window and what all versions do with it.
#[derive(Debug)]
pub struct Window {
    /// Congestion window, in segments, without inflation.
    pub cwnd: f64,
    /// Slow start threshold, in segments.
    pub ssthresh: f64,
    /// Segments that duplicate ACKs have shown to be off the network during fast recovery.
    pub inflation: u32,
    /// Duplicate ACKs in a row, as the version counts them.
    pub duplicates: u32,
    /// The sequence number after the highest sent at the last timeout or fast retransmit (RFC 6582 `recover` + 1).
    pub recover: u64,
    /// `una` at the last timeout: a second timeout there concerns the same segment.
    pub(super) timed_out_at: u64,
    /// RFC 5681 or ns-2.
    pub rules: Rules,
    /// How it grows and shrinks.
    pub law: Law,
    /// Payload of a full segment (SMSS), in bytes.
    pub smss: u32,
    /// What the acknowledgment being dealt with covers, in full segments.
    pub acked: f64,
    /// Growth by bytes in place of ACKs.
    pub abc: Option<ByteCounting>,
}

/// Appropriate byte counting (RFC 3465): cwnd grows by what an ACK covers, not by one for each ACK.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByteCounting {
    /// Full segments acknowledged since the last growth in congestion avoidance.
    acked: f64,
    /// In the slow start after a timeout an ACK of much may be of what had arrived before (§2.3).
    after_timeout: bool,
}

impl ByteCounting {
    /// L of §2.2: most segments by which one ACK raises the window in slow start.
    const LIMIT: f64 = 2.0;

    fn grow(&mut self, cwnd: f64, ssthresh: f64, acked: f64) -> f64 {
        if cwnd < ssthresh {
            return cwnd + acked.min(if self.after_timeout { 1.0 } else { Self::LIMIT });
        }
        self.after_timeout = false;
        self.acked += acked;
        if self.acked < cwnd {
            return cwnd;
        }
        self.acked -= cwnd;
        cwnd + 1.0
    }
}

impl Window {
    /// Before the SYN is acknowledged: one segment.
    pub fn new(ssthresh: Option<u32>, rules: Rules, law: Law, smss: u32) -> Self {
        Window {
            cwnd: 1.0,
            ssthresh: ssthresh.map_or(f64::INFINITY, f64::from),
            inflation: 0,
            duplicates: 0,
            recover: 0,
            timed_out_at: u64::MAX,
            rules,
            law,
            smss,
            acked: 0.0,
            abc: None,
        }
    }

    /// Whole segments that may be outstanding.
    #[inline]
    pub fn usable(&self, advertised: u32) -> u32 {
        // A cwnd beyond u32 saturates, which is what is meant.
        (self.cwnd as u32).saturating_add(self.inflation).min(advertised)
    }

    /// Growth by one ACK of new data (RFC 5681 §3.1): a segment below ssthresh, 1/cwnd above; or as the law has it.
    #[inline]
    pub fn increase(&mut self) {
        match self.law.own() {
            None => match &mut self.abc {
                None => self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd },
                Some(abc) => self.cwnd = abc.grow(self.cwnd, self.ssthresh, self.acked),
            },
            Some(law) => self.cwnd = law.grow(self.cwnd, self.ssthresh),
        }
    }

    /// ssthresh after a loss before its lower bound: half of the load, or as the law has it.
    fn reduced(&mut self, flight: &Flight, loss: Loss) -> f64 {
        let load = self.rules.load(self, flight);
        match self.law.own() {
            None => load / 2.0,
            Some(law) => law.reduce(self.cwnd, load, loss),
        }
    }

    /// Whether a third duplicate ACK tells of a loss that no earlier cut has answered (RFC 6582 §3.2, step 1): the
    /// ACK covers more than was sent before the last timeout or fast retransmit. While nothing but the SYN has been
    /// acknowledged there was no data to be resent, and it is always believed.
    #[inline]
    pub fn is_past_recover(&self, flight: &Flight) -> bool {
        flight.una > self.recover || flight.una <= 1
    }

    /// Fast recovery begins: ssthresh and cwnd are reduced, and the duplicates seen inflate the window.
    pub fn enter_fast_recovery(&mut self, flight: &Flight) {
        let reduced = self.reduced(flight, Loss::Acks);
        self.ssthresh = self.rules.threshold(reduced);
        self.cwnd = self.rules.reduced_cwnd(reduced);
        self.inflation = DUPLICATE_THRESHOLD;
        self.recover = flight.max_sent;
    }

    /// A router has marked a segment: the window falls as after a loss, but nothing is to be sent again (RFC 3168 §6.1.2).
    /// Not with a law that names the window itself; tells whether it fell.
    pub fn reduce_for_mark(&mut self, flight: &Flight) -> bool {
        if matches!(self.law, Law::Bbr(_)) {
            return false;
        }
        let reduced = self.reduced(flight, Loss::Acks);
        self.ssthresh = self.rules.threshold(reduced);
        self.cwnd = self.ssthresh;
        true
    }

    /// Slow start from one segment after duplicate ACKs: Tahoe's only answer.
    pub fn collapse_after_duplicates(&mut self, flight: &Flight) {
        let reduced = self.reduced(flight, Loss::Acks);
        self.ssthresh = self.rules.threshold(reduced);
        self.collapse(flight);
    }

    /// As [`collapse_after_duplicates`](Self::collapse_after_duplicates), but `recover` stays.
    pub fn cut_to_one(&mut self, flight: &Flight) {
        let reduced = self.reduced(flight, Loss::Acks);
        self.ssthresh = self.rules.threshold(reduced);
        self.cwnd = 1.0;
    }

    /// Slow start from one segment after an expiry of the timer (RFC 5681 §3.1, equation 4 and the text after it).
    pub fn collapse_after_timeout(&mut self, flight: &Flight) {
        self.inflation = 0;
        let repeated = self.timed_out_at == flight.una;
        if self.rules.timeout_cuts_ssthresh(repeated, flight) {
            let reduced = self.reduced(flight, Loss::Timeout);
            self.ssthresh = self.rules.threshold(reduced);
        }
        self.timed_out_at = flight.una;
        if let Some(abc) = &mut self.abc {
            *abc = ByteCounting { acked: 0.0, after_timeout: true };
        }
        self.collapse(flight);
    }

    fn collapse(&mut self, flight: &Flight) {
        self.cwnd = 1.0;
        self.inflation = 0;
        self.recover = flight.max_sent;
    }
}
