//! Infers the cause of a retransmission from the facts about it and from the sender's state, by the
//! rules in the documentation of `recovery.rs`.

use super::facts::Retransmission;
use super::{DUPLICATE_THRESHOLD, MIN_TIMEOUT, Recoveries, Recovery};
use crate::cause::Cause;

impl Recoveries {
    /// Returns why a segment was retransmitted.
    pub(super) fn cause(&self, resent: &Retransmission) -> Cause {
        match &self.current {
            None => self.cause_outside_recovery(resent),
            Some(recovery) => self.cause_in_recovery(recovery, resent),
        }
    }

    /// Returns the cause of a retransmission outside of a recovery: it begins one, or is a probe.
    fn cause_outside_recovery(&self, resent: &Retransmission) -> Cause {
        let is_answer = self.is_answer(resent);
        if let Some(cause) = self.fast_cause(resent) {
            cause
        } else if !is_answer && self.is_probe(resent) {
            Cause::Probe
        } else if resent.is_oldest() || !is_answer {
            Cause::Rto
        } else {
            // Already acknowledged, or not the oldest: the sender knows less or more than the
            // capture shows.
            Cause::Unknown
        }
    }

    /// Returns the cause of a retransmission in a recovery: it belongs to the recovery or begins
    /// another one.
    fn cause_in_recovery(&self, recovery: &Recovery, resent: &Retransmission) -> Cause {
        let is_answer = self.is_answer(resent);
        let is_undone = recovery.undo.is_done();
        if is_undone && !is_answer {
            return self.cause_outside_recovery(resent);
        }
        // After an expiry, a lost retransmission begins a fast recovery. Only RACK finds it.
        let is_first_copy = recovery.is_first_copy(resent);
        let is_lost_again = recovery.by_rto && !is_first_copy && self.is_due_by_rack(resent);
        if (is_undone || is_lost_again)
            && let Some(cause) = self.fast_cause(resent)
        {
            return cause;
        }
        let has_duplicates = is_answer && self.duplicates >= DUPLICATE_THRESHOLD;
        // The handshake may not have permitted selective acknowledgments that come nevertheless.
        let has_unexpected_sack = is_answer && resent.sacked_above > 0 && !resent.has_sack;
        if self.belongs_to_recovery(recovery, resent) {
            recovery.cause_of_others()
        } else if has_duplicates && (is_first_copy || recovery.by_rto) {
            Cause::DupAcks
        } else if has_unexpected_sack {
            recovery.cause_of_others()
        } else {
            // The oldest segment, retransmitted a second time or without an acknowledgment that
            // causes it.
            Cause::Rto
        }
    }

    /// Returns whether a recovery causes a retransmission. An expiry can repeat the oldest segment
    /// only, so there must be another reason to send the oldest one.
    fn belongs_to_recovery(&self, recovery: &Recovery, resent: &Retransmission) -> bool {
        let is_first_copy = recovery.is_first_copy(resent);
        !resent.is_oldest()
            || (is_first_copy && self.follows_advance(resent))
            || self.is_due_by_rack(resent)
            || self.is_driven_by_sack(resent, is_first_copy)
    }

    /// Returns whether a segment may be retransmitted because of an acknowledgment of new data: in
    /// direct response to it, soon after it in response to a duplicate that opens the congestion
    /// window, or by the pacing clock.
    fn follows_advance(&self, resent: &Retransmission) -> bool {
        let soon = MIN_TIMEOUT.max(resent.reaction());
        let is_soon = self.advanced_at.is_some_and(|at| resent.now.saturating_since(at) <= soon);
        let has_trigger = self.is_answer(resent) || self.may_wait_for_clock(resent);
        is_soon && has_trigger && self.duplicates < DUPLICATE_THRESHOLD
    }

    /// Returns whether selective acknowledgments cause the retransmission in a recovery, and
    /// neither its lateness nor a possible expiry of the timer speaks against this.
    fn is_driven_by_sack(&self, resent: &Retransmission, is_first_copy: bool) -> bool {
        let answers_sack = resent.has_sack && resent.sacked_above > 0 && self.is_answer(resent);
        let is_in_time = !resent.is_overdue_by_rack() && (is_first_copy || !resent.may_be_by_timer());
        answers_sack && is_in_time
    }

    /// Returns the cause of a fast retransmission, if the segment can be one.
    fn fast_cause(&self, resent: &Retransmission) -> Option<Cause> {
        let is_answer = self.is_answer(resent);
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

    /// Returns whether a segment that leaves after silence is a tail loss probe: the last segment
    /// sent.
    fn is_probe(&self, resent: &Retransmission) -> bool {
        let is_last = resent.end == resent.highest && !resent.is_syn;
        // An expiry would repeat the oldest segment.
        let is_only_one = resent.start <= resent.una;
        is_last && (!is_only_one || self.may_be_lone_probe(resent))
    }

    /// Returns whether the only outstanding segment is repeated by a probe rather than by an
    /// expiry: by the conditions in the documentation of `recovery.rs`.
    fn may_be_lone_probe(&self, resent: &Retransmission) -> bool {
        let is_single = true;
        let longest_wait = resent.estimate.longest_probe_timeout(is_single, resent.sender_delay);
        let is_in_time = self.silence_before(resent.now).unwrap_or_default() <= longest_wait;
        let uses_probes = resent.has_sack && !self.probes.are_unused;
        uses_probes && is_in_time && resent.sacked_above == 0 && !self.probes.is_waiting()
    }

    /// Returns whether a retransmission answers the last acknowledgment.
    fn is_answer(&self, resent: &Retransmission) -> bool {
        self.last_ack.is_some_and(|at| resent.now.saturating_since(at) <= resent.reaction())
    }

    /// Returns whether the segment leaves when RACK sends it, or later because of the pacing clock.
    fn is_due_by_rack(&self, resent: &Retransmission) -> bool {
        let may_wait =
            resent.lost_at.is_some() && self.may_wait_for_clock(resent) && !resent.is_overdue_by_rack();
        resent.is_due_by_rack() || may_wait
    }

    /// Returns whether the sender may have waited for its pacing clock. The retransmission timer
    /// cannot have expired so soon after the last packet.
    fn may_wait_for_clock(&self, resent: &Retransmission) -> bool {
        self.is_paced && self.silence_before(resent.now).is_some_and(|silence| silence < MIN_TIMEOUT)
    }
}

impl Recovery {
    /// Returns whether a segment is retransmitted for the first time in this recovery.
    fn is_first_copy(&self, resent: &Retransmission) -> bool {
        match resent.previous {
            Some(previous) if resent.has_sack => {
                !previous.was_retransmission || previous.copy.at < self.since
            }
            // Without selective acknowledgments, a recovery retransmits in order of numbers.
            _ => resent.start >= self.highest_resent,
        }
    }

    /// Returns the cause of the retransmissions after the one that began the recovery.
    fn cause_of_others(&self) -> Cause {
        if self.by_rto { Cause::RtoRecovery } else { Cause::FastRecovery }
    }
}
