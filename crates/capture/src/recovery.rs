//! Infers why a segment was retransmitted from the packets at the capture point, by the rules that
//! senders follow.
//!
//! - **Fast retransmission** after acknowledgments: the oldest outstanding segment after three
//!   duplicates (RFC 5681 §3.2), or a segment with selective acknowledgments above it (RFC 6675 §4,
//!   §5). It begins a recovery.
//! - **Fast retransmission by RACK**: a segment that left later has arrived, and the reordering
//!   window has passed (RFC 8985 §6, `rack.rs`). One such arrival is enough. The retransmission
//!   follows an acknowledgment, or a timer of a few milliseconds more than a round trip. RACK also
//!   finds lost retransmissions.
//! - **Tail loss probe**: the last segment after silence, while no loss is known (RFC 8985 §7). If
//!   it is the only outstanding segment, the retransmission timeout would repeat it too, but a
//!   probe is always due first. So it counts as a probe if it comes when a probe is due, both ends
//!   permit selective acknowledgments, no earlier probe is unanswered, and this sender has not been
//!   seen to use an expiry instead of a probe.
//! - **Expiry** of the retransmission timer (RFC 6298 §5.4): the oldest outstanding segment without
//!   any of these reasons. It begins a recovery too (go-back-N).
//! - Retransmissions until all data are acknowledged that were outstanding at the beginning of a
//!   recovery belong to the recovery. For the next fast retransmission, a recovery ends earlier if
//!   it proves needless and the sender undoes it (RFC 4015, RFC 5682, RFC 3708). In the recovery of
//!   an expiry, a lost retransmission begins a fast recovery.
//! - Other retransmissions have an unknown cause.

use umts_units::{Duration, Time};

use crate::cause::Cause;
use crate::probe::{Answer, Estimate, Probes};
use crate::undo::Undo;

/// Time in which a sender answers an acknowledgment, with a margin for slow machines and pacing.
const REACTION: Duration = Duration::from_millis(10);
/// Delay of timers: two ticks of a clock of 100 Hz.
const TIMER: Duration = Duration::from_millis(20);
/// Minimum retransmission timeout of Linux. A sender with RACK retransmits earlier than this.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(200);

/// RFC 5681 §3.2.
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

#[derive(Debug, Clone)]
struct Recovery {
    by_rto: bool,
    /// An expiry outside a fast recovery, after which F-RTO may check whether it was needed (RFC
    /// 5682, as in Linux).
    has_frto: bool,
    since: Time,
    /// End of the data that were outstanding at the beginning.
    point: u64,
    /// Highest end of the segments retransmitted in this recovery.
    repeated: u64,
    undo: Undo,
}

/// The facts about a retransmission.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repetition {
    pub now: Time,
    pub start: u64,
    pub end: u64,
    pub una: u64,
    pub highest: u64,
    pub is_syn: bool,
    /// Value of the segment's timestamp.
    pub timestamp: Option<u32>,
    /// Selectively acknowledged octets above the segment.
    pub sacked_above: u64,
    /// Octets of a full segment.
    pub full: u64,
    /// Whether selective acknowledgments are in use.
    pub has_sack: bool,
    /// When the segment left before, and whether that was a retransmission. `None` if that was not
    /// seen.
    pub before: Option<(Time, bool)>,
    /// When RACK declares the segment lost: at the end of the reordering window.
    pub lost: Option<Time>,
    /// How long the sender takes to answer, as seen at the capture point.
    pub sender_delay: Duration,
    pub estimate: Estimate,
}

impl Repetition {
    fn is_oldest(&self) -> bool {
        self.start <= self.una && self.una < self.end
    }

    /// RFC 6675 §4, IsLost: more than two full segments above it are selectively acknowledged.
    fn is_lost_by_sack(&self) -> bool {
        self.sacked_above > u64::from(DUPLICATE_THRESHOLD - 1) * self.full
    }

    /// Returns the longest time until a sender's answer is seen at the capture point.
    fn reaction(&self) -> Duration {
        REACTION.max(self.sender_delay + self.sender_delay)
    }

    /// Returns whether the segment left no later than RACK sends it, with the delay of its timer.
    fn is_due_by_rack(&self) -> bool {
        self.lost.is_some_and(|due| self.now <= due + TIMER + self.reaction())
    }

    /// Returns whether the retransmission timer may have expired, because nothing shows that the
    /// copy before is lost. Then no acknowledgment causes the retransmission, even if one comes at
    /// the same time.
    fn may_be_by_timer(&self) -> bool {
        let before = self.before.filter(|_| self.lost.is_none());
        before.is_some_and(|(at, _)| self.now.saturating_since(at) >= SHORTEST_TIMEOUT)
    }

    /// Returns whether RACK would have sent the segment much earlier.
    fn is_overdue_by_rack(&self) -> bool {
        let patience = self.estimate.srtt().unwrap_or_default().max(SHORTEST_TIMEOUT) + self.reaction();
        self.lost.is_some_and(|due| self.now > due + patience)
    }
}

/// The facts about new data that leave while other data are outstanding and none is selectively
/// acknowledged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewData {
    pub now: Time,
    /// When the sender sent before.
    pub before: Time,
    /// When the oldest outstanding segment left.
    pub oldest: Time,
    /// Whether the oldest outstanding segment is the only one.
    pub is_single: bool,
    pub sender_delay: Duration,
    pub estimate: Estimate,
}

/// An acknowledgment that the sender processes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Heard {
    pub now: Time,
    pub ack: u64,
    /// It selectively acknowledges data that were not acknowledged before.
    pub is_news: bool,
    /// It repeats the one before.
    pub is_repetition: bool,
    /// It repeats the one before while data are outstanding (a duplicate, RFC 5681 §2).
    pub is_duplicate: bool,
    /// It reports that the segment before this number arrived twice.
    pub twice: Option<u64>,
    /// Echo of its timestamp option.
    pub echo: Option<u32>,
    /// It acknowledges, cumulatively or selectively, a segment that was never retransmitted and
    /// ends here.
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
    /// When new data were last acknowledged.
    advanced: Option<Time>,
    /// The sender sends without a preceding acknowledgment while data are outstanding, as with
    /// pacing.
    is_paced: bool,
    /// The sender has retransmitted a segment by RACK or as a probe.
    has_rack: bool,
    /// The probe that repeated the only outstanding segment: its time, the wait before it, and its
    /// start.
    lone_probe: Option<(Time, Duration, u64)>,
    takes_probe_back: bool,
}

impl Recoveries {
    /// Returns whether the sender is in a recovery.
    pub fn is_recovering(&self) -> bool {
        self.current.is_some()
    }

    /// Processes an acknowledgment of new data. Returns whether it ends a recovery.
    pub fn new_ack(&mut self, heard: &Heard) -> bool {
        self.duplicates = 0;
        self.advanced = Some(heard.now);
        self.hears(heard, true);
        self.current.take_if(|recovery| heard.ack >= recovery.point).is_some()
    }

    /// Returns whether there is neither a recovery nor an unanswered probe.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.current.is_none() && !self.probes.is_waiting()
    }

    /// Processes an acknowledgment if [`is_calm`](Self::is_calm). `advances`: it acknowledges new
    /// data.
    #[inline]
    pub fn calm_ack(&mut self, now: Time, advances: bool) {
        self.last_ack = Some(now);
        if advances {
            self.duplicates = 0;
            self.advanced = Some(now);
        }
    }

    /// Processes an acknowledgment without new data. Returns the number of duplicates in a row.
    pub fn other_ack(&mut self, heard: &Heard) -> u32 {
        self.duplicates += u32::from(heard.is_duplicate);
        self.hears(heard, false);
        self.duplicates
    }

    /// Begins another recovery at the end of one whose retransmissions are still outstanding: they
    /// count as lost until they arrive (RFC 6675 §5, step 2; Linux counts retransmitted segments as
    /// lost).
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

    /// Records new data. Returns when the sender sent before, if the new data may be a probe:
    /// others are outstanding, and the sender was silent for longer than it takes to answer.
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

    /// Returns whether new data are a probe, which carries new data if there are some (RFC 8985
    /// §7.3). The sender must have used up its window in answer to the last acknowledgment, and
    /// then have waited as long as a probe does.
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

    /// Decides why a segment was retransmitted, and updates the recovery.
    pub fn sent_again(&mut self, what: &Repetition) -> Cause {
        self.probes.settle();
        let cause = self.cause(what);
        let by_rto = cause == Cause::Rto;
        self.revise_probe(what, cause);
        self.has_rack |= matches!(cause, Cause::Rack | Cause::Probe);
        if by_rto && self.current.is_none() && what.end < what.highest && !self.probes.is_waiting() {
            // No loss was known, and the sender sent no probe before.
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
                let undo =
                    self.current.take().map_or_else(Undo::default, |over| over.undo.for_next_recovery());
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

    /// Returns whether the last retransmission shows that the one before was not a probe.
    pub fn takes_probe_back(&self) -> bool {
        self.takes_probe_back
    }

    /// Reclassifies a probe as an expiry. The timeout doubles with each expiry (RFC 6298 §5.5), but
    /// not after a probe. If the only segment is repeated after a wait, and again after about twice
    /// that wait, both were expiries.
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

    /// Returns whether this is the next segment after an acknowledgment of new data. It is sent in
    /// answer to the acknowledgment, soon after it in answer to a duplicate that opens the
    /// congestion window, or by the pacing clock.
    fn follows_advance(&self, what: &Repetition, answers: bool) -> bool {
        let soon = SHORTEST_TIMEOUT.max(what.reaction());
        let is_soon = self.advanced.is_some_and(|at| what.now.saturating_since(at) <= soon);
        let is_in_turn = answers || self.may_wait_for_clock(what);
        is_in_turn && is_soon && self.duplicates < DUPLICATE_THRESHOLD
    }

    /// Returns whether the sender may have waited for its pacing clock. The retransmission timer
    /// cannot have expired so soon after the last packet.
    fn may_wait_for_clock(&self, what: &Repetition) -> bool {
        let last = self.last_ack.max(self.last_sent);
        self.is_paced && last.is_some_and(|at| what.now.saturating_since(at) < SHORTEST_TIMEOUT)
    }

    /// Returns whether the segment leaves when RACK sends it, or later because of the pacing clock.
    fn is_due_by_rack(&self, what: &Repetition) -> bool {
        let may_wait = what.lost.is_some() && self.may_wait_for_clock(what) && !what.is_overdue_by_rack();
        what.is_due_by_rack() || may_wait
    }

    /// Returns the cause of a fast retransmission, if there is one.
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
            // Already acknowledged, or not the oldest: the sender knows less or more than the
            // capture shows.
            () => Cause::Unknown,
        }
    }

    fn next_cause(&self, recovery: &Recovery, what: &Repetition, answers: bool) -> Cause {
        let goes_on = if recovery.by_rto { Cause::RtoRecovery } else { Cause::FastRecovery };
        let is_news = match what.before {
            Some((at, was_repeated)) if what.has_sack => !was_repeated || at < recovery.since,
            _ => what.start >= recovery.repeated,
        };
        // Only RACK finds a lost retransmission. The recovery is a fast one from then on.
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
        // The oldest segment, again or without an acknowledgment that causes it.
        let has_duplicates = answers && self.duplicates >= DUPLICATE_THRESHOLD;
        let is_asked_for = answers && what.sacked_above > 0 && !what.is_overdue_by_rack();
        match () {
            () if what.has_sack && is_asked_for && (is_news || !what.may_be_by_timer()) => goes_on,
            () if has_duplicates && (is_news || recovery.by_rto) => Cause::DupAcks,
            () if answers && what.sacked_above > 0 && !what.has_sack => goes_on,
            () => Cause::Rto,
        }
    }

    /// Returns whether a segment that leaves after silence is a tail loss probe.
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

    /// Returns whether the sender last sent well after the last acknowledgment: that may have been
    /// a probe with new data.
    fn has_sent_since_ack(&self, what: &Repetition) -> bool {
        let (Some(heard), Some(sent)) = (self.last_ack, self.last_sent) else { return true };
        sent.saturating_since(heard) > what.reaction()
    }
}
