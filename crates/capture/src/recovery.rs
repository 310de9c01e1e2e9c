//! Infers why a segment was retransmitted. A capture does not contain the reason, so it is inferred
//! from the packets at the capture point, by the rules that senders follow. [`Recoveries`]
//! processes the acknowledgments and segments of one sender in their order, and returns the
//! [`Cause`] of each retransmission:
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
use crate::probe::{AckOfProbe, Estimate, Probes};
use crate::unacked_segments::LastCopy;
use crate::undo::Undo;

/// Time in which a sender answers an acknowledgment, with a margin for slow machines and pacing.
const REACTION: Duration = Duration::from_millis(10);
/// Delay of timers: two ticks of a clock of 100 Hz.
const TIMER_DELAY: Duration = Duration::from_millis(20);
/// Minimum retransmission timeout of Linux. A sender with RACK retransmits earlier than this.
const MIN_TIMEOUT: Duration = Duration::from_millis(200);

/// RFC 5681 §3.2.
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

/// A recovery from loss that has not ended.
#[derive(Debug, Clone)]
struct Recovery {
    /// Whether an expiry of the retransmission timer began it.
    by_rto: bool,
    /// An expiry outside a fast recovery, after which F-RTO may check whether it was needed (RFC
    /// 5682, as in Linux).
    has_frto: bool,
    /// When the recovery began.
    since: Time,
    /// End of the data that were outstanding at the beginning.
    point: u64,
    /// Highest end of the segments retransmitted in this recovery.
    highest_resent: u64,
    /// Whether the sender would undo the recovery as needless.
    undo: Undo,
}

/// The facts about a retransmission from which its cause is inferred.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retransmission {
    /// When the retransmission was captured.
    pub now: Time,
    /// First octet and end of the segment, as unwrapped sequence numbers.
    pub start: u64,
    pub end: u64,
    /// The oldest number that is not acknowledged.
    pub una: u64,
    /// End of the highest number sent.
    pub highest: u64,
    pub is_syn: bool,
    /// Value of the segment's timestamp.
    pub timestamp: Option<u32>,
    /// Selectively acknowledged octets above the segment.
    pub sacked_above: u64,
    /// Octets of a full segment.
    pub full_segment: u64,
    /// Whether selective acknowledgments are in use.
    pub has_sack: bool,
    /// The previous copy of the segment. `None` if no copy was captured.
    pub previous: Option<LastCopy>,
    /// When RACK declares the segment lost: at the end of the reordering window.
    pub lost_at: Option<Time>,
    /// How long the sender takes to answer, as seen at the capture point.
    pub sender_delay: Duration,
    /// The sender's smoothed round-trip time.
    pub estimate: Estimate,
}

impl Retransmission {
    /// Whether the segment has the oldest octet that is not acknowledged.
    fn is_oldest(&self) -> bool {
        self.start <= self.una && self.una < self.end
    }

    /// RFC 6675 §4, IsLost: more than two full segments above it are selectively acknowledged.
    fn is_lost_by_sack(&self) -> bool {
        self.sacked_above > u64::from(DUPLICATE_THRESHOLD - 1) * self.full_segment
    }

    /// Returns the longest time until a sender's answer is seen at the capture point.
    fn reaction(&self) -> Duration {
        REACTION.max(self.sender_delay + self.sender_delay)
    }

    /// Returns whether the segment left no later than a sender with RACK would send it, including
    /// the delay of its timer.
    fn is_due_by_rack(&self) -> bool {
        self.lost_at.is_some_and(|due| self.now <= due + TIMER_DELAY + self.reaction())
    }

    /// Returns whether the retransmission timer may have expired, because nothing shows that the
    /// previous copy is lost. Then no acknowledgment causes the retransmission, even if one comes
    /// at the same time.
    fn may_be_by_timer(&self) -> bool {
        let previous = self.previous.filter(|_| self.lost_at.is_none());
        previous.is_some_and(|previous| self.now.saturating_since(previous.copy.at) >= MIN_TIMEOUT)
    }

    /// Returns whether RACK would have sent the segment much earlier: by more than a round trip or
    /// the minimum timeout.
    fn is_overdue_by_rack(&self) -> bool {
        let tolerance = self.estimate.srtt().unwrap_or_default().max(MIN_TIMEOUT) + self.reaction();
        self.lost_at.is_some_and(|due| self.now > due + tolerance)
    }
}

/// The facts about new data that leave while other data are outstanding and none is selectively
/// acknowledged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewData {
    pub now: Time,
    /// When the sender last sent a packet.
    pub last_sent: Time,
    /// When the oldest outstanding segment left.
    pub oldest: Time,
    /// Whether the oldest outstanding segment is the only one.
    pub is_single: bool,
    pub sender_delay: Duration,
    pub estimate: Estimate,
}

/// An acknowledgment that the sender processes. "It" in the comments is the acknowledgment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AckInfo {
    pub now: Time,
    pub ack: u64,
    /// It selectively acknowledges data that were not acknowledged before.
    pub sacks_new_data: bool,
    /// It repeats the previous acknowledgment.
    pub repeats_last: bool,
    /// It repeats the previous acknowledgment while data are outstanding (a duplicate, RFC 5681
    /// §2).
    pub is_duplicate: bool,
    /// It reports that the segment before this number arrived twice.
    pub duplicate_end: Option<u64>,
    /// Echo of its timestamp option.
    pub echo: Option<u32>,
    /// It acknowledges, cumulatively or selectively, a segment that was never retransmitted and
    /// ends here.
    pub original_end: Option<u64>,
}

/// A probe that repeated the only outstanding segment.
#[derive(Debug, Clone, Copy)]
struct LoneProbe {
    at: Time,
    /// The wait before the probe.
    waited: Duration,
    /// First octet of the segment.
    start: u64,
}

/// A sender's recoveries from loss.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recoveries {
    current: Option<Recovery>,
    pub probes: Probes,
    /// Number of duplicate acknowledgments in a row.
    duplicates: u32,
    /// When the last acknowledgment arrived.
    last_ack: Option<Time>,
    /// When the sender last sent a packet.
    last_sent: Option<Time>,
    /// When new data were last acknowledged.
    advanced_at: Option<Time>,
    /// The sender sends without a preceding acknowledgment while data are outstanding, as with
    /// pacing.
    is_paced: bool,
    /// The sender has retransmitted a segment by RACK or as a probe.
    has_rack: bool,
    /// The last retransmission, if it was a probe that repeated the only outstanding segment.
    lone_probe: Option<LoneProbe>,
    /// The last retransmission shows that the one before was not a probe.
    revokes_probe: bool,
}

impl Recoveries {
    /// Returns whether the sender is in a recovery.
    pub fn is_recovering(&self) -> bool {
        self.current.is_some()
    }

    /// Processes an acknowledgment of new data. Returns whether it ends a recovery.
    pub fn new_ack(&mut self, info: &AckInfo) -> bool {
        self.duplicates = 0;
        self.advanced_at = Some(info.now);
        self.process_ack(info, true);
        self.current.take_if(|recovery| info.ack >= recovery.point).is_some()
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
            self.advanced_at = Some(now);
        }
    }

    /// Processes an acknowledgment without new data. Returns the number of duplicates in a row.
    pub fn other_ack(&mut self, info: &AckInfo) -> u32 {
        self.duplicates += u32::from(info.is_duplicate);
        self.process_ack(info, false);
        self.duplicates
    }

    /// Begins another recovery at the end of one whose retransmissions are still outstanding: they
    /// count as lost until they arrive (RFC 6675 §5, step 2; Linux counts retransmitted segments as
    /// lost).
    pub fn carry_over(&mut self, now: Time, una: u64, highest: u64) {
        let mut undo = Undo::default();
        undo.record_retransmission(una, None);
        self.current = Some(Recovery {
            by_rto: false,
            has_frto: false,
            since: now,
            point: highest,
            highest_resent: highest,
            undo,
        });
    }

    /// Processes an acknowledgment in or outside a recovery. `advances`: it acknowledges new data.
    fn process_ack(&mut self, info: &AckInfo, advances: bool) {
        self.last_ack = Some(info.now);
        self.probes.confirm_new_data();
        let is_pure_duplicate = info.repeats_last && !info.sacks_new_data;
        self.probes.answered(AckOfProbe {
            ack: info.ack,
            duplicate_end: info.duplicate_end,
            is_pure_duplicate,
        });
        if let Some(recovery) = &mut self.current {
            let is_conclusive = advances && (recovery.by_rto || info.ack >= recovery.highest_resent);
            let is_of_original =
                recovery.has_frto && info.original_end.is_some_and(|end| end <= recovery.point);
            recovery.undo.process_ack(info, is_conclusive, is_of_original, self.has_rack);
        }
    }

    /// Records new data. Returns when the sender last sent a packet, if the new data may be a
    /// probe: other data are outstanding, and the sender was silent for longer than it takes to
    /// answer.
    #[inline]
    pub fn record_new_data(&mut self, now: Time, is_outstanding: bool) -> Option<Time> {
        let last_sent = self.last_sent.replace(now);
        self.probes.more_data();
        if let Some(recovery) = &mut self.current {
            recovery.undo.record_new_data();
        }
        let acked_at = self.last_ack?;
        if !is_outstanding || now.saturating_since(acked_at) <= REACTION {
            return None;
        }
        self.is_paced = true;
        last_sent.filter(|&at| now.saturating_since(at) > REACTION)
    }

    /// Returns whether new data are a probe: a sender that has unsent data probes with these (RFC
    /// 8985 §7.3). It must have used up its window in response to the last acknowledgment, and then
    /// have waited as long as before a probe.
    pub fn is_new_probe(&self, data: &NewData) -> bool {
        let Some(acked_at) = self.last_ack else { return false };
        let NewData { now, last_sent, oldest, is_single, sender_delay, estimate } = *data;
        let reaction = REACTION.max(sender_delay + sender_delay);
        let has_used_window = acked_at <= last_sent && last_sent.saturating_since(acked_at) <= reaction;
        has_used_window
            && self.current.is_none()
            && !self.probes.is_waiting()
            && estimate.srtt().is_some()
            && estimate.is_probe_due(now, last_sent, oldest, is_single, sender_delay)
    }

    /// Decides why a segment was retransmitted, and updates the recovery.
    pub fn record_retransmission(&mut self, resent: &Retransmission) -> Cause {
        self.probes.confirm_new_data();
        let cause = self.cause(resent);
        let by_rto = cause == Cause::Rto;
        self.revise_probe(resent, cause);
        self.has_rack |= matches!(cause, Cause::Rack | Cause::Probe);
        if by_rto && self.current.is_none() && resent.end < resent.highest && !self.probes.is_waiting() {
            // No loss was known, and the sender sent no probe before.
            self.probes.are_unused |=
                resent.sacked_above == 0 && resent.has_sack && !self.has_sent_since_ack(resent);
        }
        if by_rto || cause.begins_fast_recovery() {
            self.begin_recovery(resent, by_rto);
        } else if cause == Cause::Probe {
            self.probes.sent(resent.highest);
        }
        if let Some(recovery) = &mut self.current {
            recovery.highest_resent = recovery.highest_resent.max(resent.end);
            recovery.undo.record_retransmission(resent.una, resent.timestamp);
        }
        self.last_sent = Some(resent.now);
        cause
    }

    /// Begins a recovery with this retransmission. It replaces the current one, if there is one.
    fn begin_recovery(&mut self, resent: &Retransmission, by_rto: bool) {
        self.probes.stop_waiting();
        if by_rto {
            self.duplicates = 0;
        }
        let has_frto = by_rto && self.current.as_ref().is_none_or(|previous| previous.by_rto);
        let undo =
            self.current.take().map_or_else(Undo::default, |previous| previous.undo.for_next_recovery());
        self.current = Some(Recovery {
            by_rto,
            has_frto,
            since: resent.now,
            point: resent.highest,
            highest_resent: resent.end,
            undo,
        });
    }

    /// Returns whether the last retransmission shows that the one before was not a probe.
    pub fn revokes_probe(&self) -> bool {
        self.revokes_probe
    }

    /// Reclassifies a probe as an expiry. The timeout doubles with each expiry (RFC 6298 §5.5), but
    /// not after a probe. If the only segment is repeated after a wait, and again after about twice
    /// that wait, both were expiries.
    fn revise_probe(&mut self, resent: &Retransmission, cause: Cause) {
        let earlier_probe = self.lone_probe.take().filter(|probe| probe.start == resent.start);
        self.revokes_probe = false;
        match cause {
            Cause::Probe if resent.start <= resent.una => {
                let begin = self.last_ack.max(self.last_sent).unwrap_or(resent.now);
                let waited = resent.now.saturating_since(begin);
                self.lone_probe = Some(LoneProbe { at: resent.now, waited, start: resent.start });
            }
            Cause::Rto if let Some(probe) = earlier_probe => {
                let waited = probe.waited.as_nanos();
                let until_resent = resent.now.saturating_since(probe.at).as_nanos();
                // From 1.75 to 2.25 times the first wait.
                let about_twice = waited * 2 - waited / 4..=waited * 2 + waited / 4;
                self.revokes_probe = about_twice.contains(&until_resent);
                self.probes.are_unused |= self.revokes_probe;
            }
            _ => {}
        }
    }

    /// Returns why a segment was retransmitted.
    fn cause(&self, resent: &Retransmission) -> Cause {
        let is_answer = self.is_answer(resent);
        match &self.current {
            None => self.first_cause(resent, is_answer),
            Some(recovery) => self.next_cause(recovery, resent, is_answer),
        }
    }

    /// Returns whether a retransmission answers the last acknowledgment.
    fn is_answer(&self, resent: &Retransmission) -> bool {
        self.last_ack.is_some_and(|at| resent.now.saturating_since(at) <= resent.reaction())
    }

    /// Returns whether a segment may be retransmitted because of an acknowledgment of new data: in
    /// direct response to it, soon after it in response to a duplicate that opens the congestion
    /// window, or by the pacing clock.
    fn follows_advance(&self, resent: &Retransmission, is_answer: bool) -> bool {
        let soon = MIN_TIMEOUT.max(resent.reaction());
        let is_soon = self.advanced_at.is_some_and(|at| resent.now.saturating_since(at) <= soon);
        let is_in_turn = is_answer || self.may_wait_for_clock(resent);
        is_in_turn && is_soon && self.duplicates < DUPLICATE_THRESHOLD
    }

    /// Returns whether the sender may have waited for its pacing clock. The retransmission timer
    /// cannot have expired so soon after the last packet.
    fn may_wait_for_clock(&self, resent: &Retransmission) -> bool {
        let last = self.last_ack.max(self.last_sent);
        self.is_paced && last.is_some_and(|at| resent.now.saturating_since(at) < MIN_TIMEOUT)
    }

    /// Returns whether the segment leaves when RACK sends it, or later because of the pacing clock.
    fn is_due_by_rack(&self, resent: &Retransmission) -> bool {
        let may_wait =
            resent.lost_at.is_some() && self.may_wait_for_clock(resent) && !resent.is_overdue_by_rack();
        resent.is_due_by_rack() || may_wait
    }

    /// Returns the cause of a fast retransmission, if there is one.
    fn fast_cause(&self, resent: &Retransmission, is_answer: bool) -> Option<Cause> {
        let has_duplicates = self.duplicates >= DUPLICATE_THRESHOLD && resent.is_oldest();
        if has_duplicates && (is_answer || self.may_wait_for_clock(resent)) {
            Some(Cause::DupAcks)
        } else if is_answer && resent.is_lost_by_sack() {
            Some(Cause::Sack)
        } else if self.is_due_by_rack(resent) {
            Some(Cause::Rack)
        } else if is_answer && resent.sacked_above > 0 {
            Some(Cause::Sack)
        } else {
            None
        }
    }

    /// Returns the cause of a retransmission outside of a recovery.
    fn first_cause(&self, resent: &Retransmission, is_answer: bool) -> Cause {
        if let Some(cause) = self.fast_cause(resent, is_answer) {
            return cause;
        }
        if !is_answer && self.is_probe(resent) {
            Cause::Probe
        } else if resent.is_oldest() || !is_answer {
            Cause::Rto
        } else {
            // Already acknowledged, or not the oldest: the sender knows less or more than the
            // capture shows.
            Cause::Unknown
        }
    }

    /// Returns the cause of a retransmission in a recovery.
    fn next_cause(&self, recovery: &Recovery, resent: &Retransmission, is_answer: bool) -> Cause {
        let continued = if recovery.by_rto { Cause::RtoRecovery } else { Cause::FastRecovery };
        let is_first_time = match resent.previous {
            Some(previous) if resent.has_sack => {
                !previous.was_retransmission || previous.copy.at < recovery.since
            }
            _ => resent.start >= recovery.highest_resent,
        };
        // Only RACK finds a lost retransmission. The recovery is a fast one from then on.
        let is_lost_again = recovery.by_rto && !is_first_time && self.is_due_by_rack(resent);
        if recovery.undo.is_done() && !is_answer {
            return self.first_cause(resent, is_answer);
        }
        if (recovery.undo.is_done() || is_lost_again)
            && let Some(cause) = self.fast_cause(resent, is_answer)
        {
            return cause;
        }
        let belongs_to_recovery = !resent.is_oldest()
            || (is_first_time && self.follows_advance(resent, is_answer))
            || self.is_due_by_rack(resent)
            || is_driven_by_sack(resent, is_answer, is_first_time);
        let has_duplicates = is_answer && self.duplicates >= DUPLICATE_THRESHOLD;
        if belongs_to_recovery {
            continued
        } else if has_duplicates && (is_first_time || recovery.by_rto) {
            Cause::DupAcks
        } else if is_answer && resent.sacked_above > 0 && !resent.has_sack {
            // Selective acknowledgments came although the handshake did not permit them.
            continued
        } else {
            // The oldest segment, retransmitted a second time or without an acknowledgment that
            // causes it.
            Cause::Rto
        }
    }

    /// Returns whether a segment that leaves after silence is a tail loss probe: the last segment
    /// sent. If it is also the oldest outstanding one, the further conditions of the module's
    /// documentation hold.
    fn is_probe(&self, resent: &Retransmission) -> bool {
        if resent.end != resent.highest || resent.is_syn {
            return false;
        }
        if resent.start > resent.una {
            return true;
        }
        let begin = self.last_ack.max(self.last_sent).unwrap_or(resent.now);
        let is_single = true;
        let longest = resent.estimate.longest_probe_timeout(is_single, resent.sender_delay);
        resent.has_sack
            && resent.sacked_above == 0
            && !self.probes.is_waiting()
            && !self.probes.are_unused
            && resent.now.saturating_since(begin) <= longest
    }

    /// Returns whether the sender last sent well after the last acknowledgment: that packet may
    /// have been a probe with new data.
    fn has_sent_since_ack(&self, resent: &Retransmission) -> bool {
        let (Some(acked_at), Some(sent)) = (self.last_ack, self.last_sent) else { return true };
        sent.saturating_since(acked_at) > resent.reaction()
    }
}

/// Returns whether selective acknowledgments cause the retransmission in a recovery, and neither
/// its lateness nor a possible expiry of the timer speaks against this.
fn is_driven_by_sack(resent: &Retransmission, is_answer: bool, is_first_time: bool) -> bool {
    resent.has_sack
        && is_answer
        && resent.sacked_above > 0
        && !resent.is_overdue_by_rack()
        && (is_first_time || !resent.may_be_by_timer())
}
