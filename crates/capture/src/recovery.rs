//! Why a segment was sent again, from what passed the capture point, by the rules that a sender may have for it.
//!
//! - In answer to acknowledgments: the oldest outstanding segment after three duplicates (RFC 5681 §3.2), or one with
//!   selective acknowledgments above it (RFC 6675 §4, §5): a **fast retransmission**, which begins a recovery.
//! - Because something that left later has arrived, and the reordering window has passed (RFC 8985 §6, `rack.rs`): a fast
//!   retransmission too. It may come in answer to an acknowledgment or to a timer of a few milliseconds more than a round
//!   trip, takes one such arrival, and finds repetitions that were lost as well.
//! - The last segment after silence, while nothing is known to be missing: a **tail loss probe** (RFC 8985 §7). Where it
//!   is the only one, the sender's timeout would repeat it too; a probe is always due first, so it is a probe if it comes
//!   when one is due, if both ends know selective acknowledgments, and if this sender has sent no probe before that is not
//!   answered and was not seen to do without.
//! - The oldest outstanding segment without any of these reasons: an **expiry** of the retransmission timer (RFC 6298
//!   §5.4), which begins a recovery too: go-back-N.
//! - Whatever is repeated until all is acknowledged that was outstanding when a recovery began belongs to it. It ends
//!   before, for the next fast retransmission, when it shows to be needless and the sender takes it back (RFC 4015, RFC
//!   5682, RFC 3708), and in an expiry's recovery a repetition that is lost begins a fast one.
//! - Anything else is unknown.

use umts_units::{Duration, Time};

use crate::cause::Cause;
use crate::probe::{Answer, Estimate, Probes};
use crate::undo::Undo;

/// A sender answers an acknowledgment at once; this is for slow machines and pacing.
const REACTION: Duration = Duration::from_millis(10);
/// Timers are late by two ticks of a clock of 100 Hz.
const TIMER: Duration = Duration::from_millis(20);
/// Linux lets no retransmission timer expire sooner; and whoever goes by RACK does not wait so long.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(200);

/// RFC 5681 §3.2.
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

#[derive(Debug, Clone)]
struct Recovery {
    by_rto: bool,
    /// An expiry in no fast recovery, where F-RTO may look whether it was needed (RFC 5682; so does Linux).
    has_frto: bool,
    since: Time,
    /// All below was outstanding when it began.
    point: u64,
    /// All below that was repeated was repeated in it.
    repeated: u64,
    undo: Undo,
}

/// What is known when a segment is sent again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repetition {
    pub now: Time,
    pub start: u64,
    pub end: u64,
    pub una: u64,
    pub highest: u64,
    pub is_syn: bool,
    /// Value of its timestamp.
    pub timestamp: Option<u32>,
    /// Octets above the segment that were selectively acknowledged, and octets of a full segment.
    pub sacked_above: u64,
    pub full: u64,
    /// Both ends know selective acknowledgments.
    pub has_sack: bool,
    /// When it left before, and whether that was a repetition, if that was seen.
    pub before: Option<(Time, bool)>,
    /// When RACK has it lost: the reordering window is over.
    pub lost: Option<Time>,
    /// How long the sender takes to answer, seen from here.
    pub sender_delay: Duration,
    pub estimate: Estimate,
}

impl Repetition {
    fn is_oldest(&self) -> bool {
        self.start <= self.una && self.una < self.end
    }

    /// RFC 6675 §4, IsLost: as much was selectively acknowledged above it as three segments hold, the last one begun.
    fn is_lost_by_sack(&self) -> bool {
        self.sacked_above > u64::from(DUPLICATE_THRESHOLD - 1) * self.full
    }

    /// What a sender's answer takes at most until it is seen here.
    fn reaction(&self) -> Duration {
        REACTION.max(self.sender_delay + self.sender_delay)
    }

    /// It left when RACK would have it sent, its timer included.
    fn is_due_by_rack(&self) -> bool {
        self.lost.is_some_and(|due| self.now <= due + TIMER + self.reaction())
    }

    /// Nothing says that the copy before is lost, and the timer may have expired over it: whatever comes at the same time,
    /// no acknowledgment asks for another copy.
    fn may_be_by_timer(&self) -> bool {
        let before = self.before.filter(|_| self.lost.is_none());
        before.is_some_and(|(at, _)| self.now.saturating_since(at) >= SHORTEST_TIMEOUT)
    }

    /// RACK would have had it sent long ago.
    fn is_overdue_by_rack(&self) -> bool {
        let patience = self.estimate.srtt().unwrap_or_default().max(SHORTEST_TIMEOUT) + self.reaction();
        self.lost.is_some_and(|due| self.now > due + patience)
    }
}

/// New data that leave while others are outstanding, and none of these is selectively acknowledged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewData {
    pub now: Time,
    /// When the sender sent before, and when the oldest segment left, and whether it is the only one.
    pub before: Time,
    pub oldest: Time,
    pub is_single: bool,
    pub sender_delay: Duration,
    pub estimate: Estimate,
}

/// An acknowledgment that a sender takes in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Heard {
    pub now: Time,
    pub ack: u64,
    /// It acknowledges selectively what was not acknowledged before.
    pub is_news: bool,
    /// It says the same as the one before, and is a duplicate if data are outstanding (RFC 5681 §2).
    pub is_repetition: bool,
    pub is_duplicate: bool,
    /// The segment before this number came twice.
    pub twice: Option<u64>,
    /// Echo of a timestamp.
    pub echo: Option<u32>,
    /// It acknowledges, one way or the other, a segment that was never repeated, which ends here.
    pub original: Option<u64>,
}

/// A sender's recoveries from loss.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recoveries {
    current: Option<Recovery>,
    pub probes: Probes,
    duplicates: u32,
    last_ack: Option<Time>,
    last_sent: Option<Time>,
    /// When new data were acknowledged last.
    advanced: Option<Time>,
    /// It sends in answer to nothing while data are outstanding: by a clock, as pacing is.
    is_paced: bool,
    /// It has repeated something because of RACK, or as a probe.
    has_rack: bool,
    /// The probe that repeated the only outstanding segment: its time, the time waited before it, and its first number.
    lone_probe: Option<(Time, Duration, u64)>,
    takes_probe_back: bool,
}

impl Recoveries {
    /// Whether the sender is in a recovery.
    pub fn is_recovering(&self) -> bool {
        self.current.is_some()
    }

    /// New data up to `una` are acknowledged; tells whether a recovery is over with that.
    pub fn new_ack(&mut self, heard: &Heard) -> bool {
        self.duplicates = 0;
        self.advanced = Some(heard.now);
        self.hears(heard, true);
        self.current.take_if(|recovery| heard.ack >= recovery.point).is_some()
    }

    /// Whether an acknowledgment has nothing to end: neither a recovery nor the wait for a probe's answer.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.current.is_none() && !self.probes.is_waiting()
    }

    /// An acknowledgment where all is calm, of new data or not.
    #[inline]
    pub fn calm_ack(&mut self, now: Time, advances: bool) {
        self.last_ack = Some(now);
        if advances {
            self.duplicates = 0;
            self.advanced = Some(now);
        }
    }

    /// An acknowledgment that acknowledges nothing new; returns the number of duplicates in a row.
    pub fn other_ack(&mut self, heard: &Heard) -> u32 {
        self.duplicates += u32::from(heard.is_duplicate);
        self.hears(heard, false);
        self.duplicates
    }

    /// A recovery is over while segments that were lost and sent again in it are outstanding: they are lost until they
    /// arrive, so another recovery begins with it (RFC 6675 §5, step 2; Linux counts as lost what it sent again).
    pub fn carry_over(&mut self, now: Time, una: u64, highest: u64) {
        let mut undo = Undo::default();
        undo.sent_again(una, None);
        let (by_rto, has_frto) = (false, false);
        let (since, point, repeated) = (now, highest, highest);
        self.current = Some(Recovery { by_rto, has_frto, since, point, repeated, undo });
    }

    fn hears(&mut self, heard: &Heard, advances: bool) {
        self.last_ack = Some(heard.now);
        self.probes.settle();
        let is_pure_duplicate = heard.is_repetition && !heard.is_news;
        self.probes.answered(Answer { ack: heard.ack, twice: heard.twice, is_pure_duplicate });
        if let Some(recovery) = &mut self.current {
            let is_telling = advances && (recovery.by_rto || heard.ack >= recovery.repeated);
            let is_of_original = recovery.has_frto && heard.original.is_some_and(|end| end <= recovery.point);
            recovery.undo.hears(heard, is_telling, is_of_original, self.has_rack);
        }
    }

    /// New data left, with others outstanding or not. Tells since when the sender had been silent with them, if it was so
    /// for longer than it takes to answer: what it sends then may be a probe.
    #[inline]
    pub fn sent_new(&mut self, now: Time, is_outstanding: bool) -> Option<Time> {
        let before = self.last_sent.replace(now);
        self.probes.more_data();
        if let Some(recovery) = &mut self.current {
            recovery.undo.sent_new();
        }
        let heard = self.last_ack?;
        if !is_outstanding || now.saturating_since(heard) <= REACTION {
            return None;
        }
        self.is_paced = true;
        before.filter(|&at| now.saturating_since(at) > REACTION)
    }

    /// RFC 8985 §7.3: a probe carries new data if there are some. So may any segment; but one of a sender that had sent
    /// what it was allowed to in answer to the last acknowledgment, and then waits for as long as a probe does, is one.
    pub fn is_new_probe(&self, what: &NewData) -> bool {
        let (Some(heard), sent) = (self.last_ack, what.before) else { return false };
        let reaction = REACTION.max(what.sender_delay + what.sender_delay);
        let had_more = heard <= sent && sent.saturating_since(heard) <= reaction;
        had_more
            && self.current.is_none()
            && !self.probes.is_waiting()
            && what.estimate.srtt().is_some()
            && what.estimate.is_probe_due(what.now, sent, what.oldest, what.is_single, what.sender_delay)
    }

    /// Judges a retransmission.
    pub fn sent_again(&mut self, what: &Repetition) -> Cause {
        self.probes.settle();
        let cause = self.cause(what);
        let by_rto = cause == Cause::Rto;
        self.revise_probe(what, cause);
        self.has_rack |= matches!(cause, Cause::Rack | Cause::Probe);
        if by_rto && self.current.is_none() && what.end < what.highest && !self.probes.is_waiting() {
            // Nothing was known to be lost, and no probe came before it.
            self.probes.are_absent |=
                what.sacked_above == 0 && what.has_sack && !self.has_sent_since_ack(what);
        }
        match cause {
            _ if by_rto || cause.begins_fast_recovery() => {
                self.probes.forget();
                if by_rto {
                    self.duplicates = 0;
                }
                let has_frto = by_rto && self.current.as_ref().is_none_or(|over| over.by_rto);
                let undo = self.current.take().map_or_else(Undo::default, |over| over.undo.begun_anew());
                let (since, point, repeated) = (what.now, what.highest, what.end);
                self.current = Some(Recovery { by_rto, has_frto, since, point, repeated, undo });
            }
            Cause::Probe => self.probes.sent(what.highest),
            _ => {}
        }
        if let Some(recovery) = &mut self.current {
            recovery.repeated = recovery.repeated.max(what.end);
            recovery.undo.sent_again(what.una, what.timestamp);
        }
        self.last_sent = Some(what.now);
        cause
    }

    /// Whether the last retransmission shows that the one before was not a probe.
    pub fn takes_probe_back(&self) -> bool {
        self.takes_probe_back
    }

    /// The timeout doubles with each expiry (RFC 6298 §5.5); after a probe it does not. So if the only segment is repeated
    /// after some time and again after twice that time, both were sent by expiries.
    fn revise_probe(&mut self, what: &Repetition, cause: Cause) {
        let before = self.lone_probe.take().filter(|&(_, _, start)| start == what.start);
        self.takes_probe_back = false;
        match cause {
            Cause::Probe if what.start <= what.una => {
                let begin = self.last_ack.max(self.last_sent).unwrap_or(what.now);
                self.lone_probe = Some((what.now, what.now.saturating_since(begin), what.start));
            }
            Cause::Rto if let Some((at, waited, _)) = before => {
                let (waited, again) = (waited.as_nanos(), what.now.saturating_since(at).as_nanos());
                self.takes_probe_back = (waited * 2 - waited / 4..=waited * 2 + waited / 4).contains(&again);
                self.probes.are_absent |= self.takes_probe_back;
            }
            _ => {}
        }
    }

    fn cause(&self, what: &Repetition) -> Cause {
        let answers = self.answers(what);
        match &self.current {
            None => self.first_cause(what, answers),
            Some(recovery) => self.next_cause(recovery, what, answers),
        }
    }

    fn answers(&self, what: &Repetition) -> bool {
        self.last_ack.is_some_and(|at| what.now.saturating_since(at) <= what.reaction())
    }

    /// Whether it is the next segment after an acknowledgment of new data: sent in answer to that, or soon after it to
    /// a duplicate that makes room for it in the congestion window, or when a pacing clock is due.
    fn follows_advance(&self, what: &Repetition, answers: bool) -> bool {
        let soon = SHORTEST_TIMEOUT.max(what.reaction());
        let is_soon = self.advanced.is_some_and(|at| what.now.saturating_since(at) <= soon);
        let is_in_turn = answers || self.may_wait_for_clock(what);
        is_in_turn && is_soon && self.duplicates < DUPLICATE_THRESHOLD
    }

    /// Whether the sender may have waited for its pacing clock: no retransmission timer expires so soon after something was
    /// sent or acknowledged.
    fn may_wait_for_clock(&self, what: &Repetition) -> bool {
        let last = self.last_ack.max(self.last_sent);
        self.is_paced && last.is_some_and(|at| what.now.saturating_since(at) < SHORTEST_TIMEOUT)
    }

    /// Whether it leaves when RACK would have it sent: by then, or later if the sender's clock was not due before.
    fn is_due_by_rack(&self, what: &Repetition) -> bool {
        let may_wait = what.lost.is_some() && self.may_wait_for_clock(what) && !what.is_overdue_by_rack();
        what.is_due_by_rack() || may_wait
    }

    /// The reason why a fast retransmission leaves now, if there is one.
    fn fast(&self, what: &Repetition, answers: bool) -> Option<Cause> {
        let has_duplicates = self.duplicates >= DUPLICATE_THRESHOLD && what.is_oldest();
        match () {
            () if has_duplicates && (answers || self.may_wait_for_clock(what)) => Some(Cause::DupAcks),
            () if answers && what.is_lost_by_sack() => Some(Cause::Sack),
            () if self.is_due_by_rack(what) => Some(Cause::Rack),
            () if answers && what.sacked_above > 0 => Some(Cause::Sack),
            () => None,
        }
    }

    fn first_cause(&self, what: &Repetition, answers: bool) -> Cause {
        if let Some(cause) = self.fast(what, answers) {
            return cause;
        }
        match () {
            () if !answers && self.is_probe(what) => Cause::Probe,
            () if what.is_oldest() || !answers => Cause::Rto,
            // Acknowledged already, or not the oldest: the sender knows less or more than passed here.
            () => Cause::Unknown,
        }
    }

    fn next_cause(&self, recovery: &Recovery, what: &Repetition, answers: bool) -> Cause {
        let goes_on = if recovery.by_rto { Cause::RtoRecovery } else { Cause::FastRecovery };
        let is_news = match what.before {
            Some((at, was_repeated)) if what.has_sack => !was_repeated || at < recovery.since,
            _ => what.start >= recovery.repeated,
        };
        // A repetition that is lost is found by RACK alone: the recovery is a fast one from then on.
        let is_lost_again = recovery.by_rto && !is_news && self.is_due_by_rack(what);
        if recovery.undo.is_done() && !answers {
            return self.first_cause(what, answers);
        }
        if (recovery.undo.is_done() || is_lost_again)
            && let Some(cause) = self.fast(what, answers)
        {
            return cause;
        }
        if !what.is_oldest() || (is_news && self.follows_advance(what, answers)) || self.is_due_by_rack(what)
        {
            return goes_on;
        }
        // The oldest segment, again or without an acknowledgment that asks for it.
        let has_duplicates = answers && self.duplicates >= DUPLICATE_THRESHOLD;
        let is_asked_for = answers && what.sacked_above > 0 && !what.is_overdue_by_rack();
        match () {
            () if what.has_sack && is_asked_for && (is_news || !what.may_be_by_timer()) => goes_on,
            () if has_duplicates && (is_news || recovery.by_rto) => Cause::DupAcks,
            () if answers && what.sacked_above > 0 && !what.has_sack => goes_on,
            () => Cause::Rto,
        }
    }

    /// After silence, the last segment.
    fn is_probe(&self, what: &Repetition) -> bool {
        if what.end != what.highest || what.is_syn {
            return false;
        }
        if what.start > what.una {
            return true;
        }
        let begin = self.last_ack.max(self.last_sent).unwrap_or(what.now);
        let longest = what.estimate.longest_probe_timeout(true, what.sender_delay);
        what.has_sack
            && what.sacked_above == 0
            && !self.probes.is_waiting()
            && !self.probes.are_absent
            && what.now.saturating_since(begin) <= longest
    }

    /// What left last did so well after the last acknowledgment: perhaps a probe with new data.
    fn has_sent_since_ack(&self, what: &Repetition) -> bool {
        let (Some(heard), Some(sent)) = (self.last_ack, self.last_sent) else { return true };
        sent.saturating_since(heard) > what.reaction()
    }
}
