//! Why a segment was sent again: a guess from what passed the capture point, with its reasons.
//!
//! A sender repeats a segment because acknowledgments told it to, and then does so in answer to one of them; or because
//! its timer expired, and then in answer to nothing. So each repetition is held against the last acknowledgment:
//!
//! - The oldest outstanding segment, in answer to an acknowledgment, after three duplicates or with selective
//!   acknowledgments above it: a **fast retransmission**, which begins a recovery (RFC 5681 §3.2, RFC 6675).
//! - The oldest outstanding segment without such a reason: an **expiry** of the retransmission timer (RFC 6298 §5.4),
//!   which begins a recovery too: go-back-N.
//! - The last segment of several, after silence: a **tail loss probe** (RFC 8985 §7), neither of both.
//! - Whatever is repeated until all is acknowledged that was outstanding when a recovery began belongs to it.

use umts_units::{Duration, Time};

/// Why a segment left, as far as a capture tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// For the first time.
    New,
    /// Fast retransmission after three duplicate acknowledgments.
    DupAcks,
    /// Fast retransmission because of selective acknowledgments.
    Sack,
    /// Sent again in the recovery that a fast retransmission began.
    FastRecovery,
    /// The retransmission timer expired.
    Rto,
    /// Sent again in the recovery that an expiry began.
    RtoRecovery,
    /// Tail loss probe.
    Probe,
}

impl Cause {
    /// As tables and figures call it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::New => "new",
            Cause::DupAcks => "dupacks",
            Cause::Sack => "sack",
            Cause::FastRecovery => "fast_recovery",
            Cause::Rto => "rto",
            Cause::RtoRecovery => "rto_recovery",
            Cause::Probe => "probe",
        }
    }

    /// Whether it is a retransmission after an expiry.
    pub fn is_by_rto(self) -> bool {
        matches!(self, Cause::Rto | Cause::RtoRecovery)
    }

    /// Whether it is a retransmission because of acknowledgments.
    pub fn is_by_dupack(self) -> bool {
        matches!(self, Cause::DupAcks | Cause::Sack | Cause::FastRecovery)
    }
}

/// A sender answers an acknowledgment at once; this is for slow machines and pacing.
const REACTION: Duration = Duration::from_millis(10);

/// RFC 5681 §3.2.
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

#[derive(Debug, Clone, Copy)]
struct Recovery {
    by_rto: bool,
    /// All below was outstanding when it began.
    point: u64,
    /// All below that was repeated was repeated in it.
    repeated: u64,
}

/// What is known when a segment is sent again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repetition {
    pub now: Time,
    pub start: u64,
    pub end: u64,
    pub una: u64,
    pub highest: u64,
    /// Octets above the segment that were selectively acknowledged.
    pub sacked_above: u64,
    /// How long the sender takes to answer, seen from here.
    pub sender_delay: Duration,
}

/// A sender's recoveries from loss.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recoveries {
    current: Option<Recovery>,
    pub duplicates: u32,
    last_ack: Option<Time>,
    /// The last acknowledgment acknowledged new data.
    advanced: bool,
}

impl Recoveries {
    /// New data up to `una` are acknowledged.
    pub fn new_ack(&mut self, now: Time, una: u64) {
        self.duplicates = 0;
        self.last_ack = Some(now);
        self.advanced = true;
        self.current = self.current.filter(|recovery| una < recovery.point);
    }

    /// An acknowledgment that acknowledges nothing new; returns the number of duplicates in a row.
    pub fn other_ack(&mut self, now: Time, is_duplicate: bool) -> u32 {
        self.last_ack = Some(now);
        self.advanced = false;
        self.duplicates += u32::from(is_duplicate);
        self.duplicates
    }

    /// Judges a retransmission.
    pub fn sent_again(&mut self, what: &Repetition) -> Cause {
        let cause = self.cause(what);
        match cause {
            Cause::Rto | Cause::DupAcks | Cause::Sack => {
                let by_rto = cause == Cause::Rto;
                self.current = Some(Recovery { by_rto, point: what.highest, repeated: what.end });
                if by_rto {
                    self.duplicates = 0;
                }
            }
            _ => {
                if let Some(recovery) = &mut self.current {
                    recovery.repeated = recovery.repeated.max(what.end);
                }
            }
        }
        cause
    }

    fn cause(&self, what: &Repetition) -> Cause {
        let is_oldest = what.start <= what.una && what.una < what.end;
        let answers = self.last_ack.is_some_and(|at| {
            what.now.saturating_since(at) <= REACTION.max(what.sender_delay + what.sender_delay)
        });
        let Some(recovery) = self.current else { return self.first_cause(what, is_oldest, answers) };
        let goes_on = if recovery.by_rto { Cause::RtoRecovery } else { Cause::FastRecovery };
        let is_news = what.start >= recovery.repeated;
        if !is_oldest || (is_news && answers && self.advanced) {
            return goes_on;
        }
        // The oldest segment, again or without an acknowledgment that asks for it.
        match () {
            () if answers && self.duplicates >= DUPLICATE_THRESHOLD && (is_news || recovery.by_rto) => {
                Cause::DupAcks
            }
            () if answers && what.sacked_above > 0 => goes_on,
            () => Cause::Rto,
        }
    }

    fn first_cause(&self, what: &Repetition, is_oldest: bool, answers: bool) -> Cause {
        match () {
            () if answers && self.duplicates >= DUPLICATE_THRESHOLD && is_oldest => Cause::DupAcks,
            () if answers && what.sacked_above > 0 => Cause::Sack,
            () if !answers && what.end == what.highest && what.start > what.una => Cause::Probe,
            () if is_oldest || !answers => Cause::Rto,
            // Acknowledged already, or not the oldest: the sender knows less or more than passed here.
            () => Cause::FastRecovery,
        }
    }
}
