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
//!
//! The rules are in `recovery/inference.rs`. This file has the sender's state.

mod expiry;
mod facts;
mod inference;

use umts_units::{Duration, Time};

use crate::cause::Cause;
use crate::probe::{AckOfProbe, Probes};
use crate::undo::{AckInRecovery, Undo};
use expiry::LoneProbe;
use facts::REACTION;

pub(crate) use facts::{AckInfo, NewData, Retransmission};

/// Number of duplicate acknowledgments before a fast retransmission (RFC 5681 §3.2).
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

/// Minimum retransmission timeout of Linux. A sender with RACK retransmits earlier than this.
const MIN_TIMEOUT: Duration = Duration::from_millis(200);

/// A sender's recoveries from loss.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recoveries {
    /// The recovery that has not ended.
    current: Option<Recovery>,
    pub probes: Probes,
    /// Number of duplicate acknowledgments in a row.
    duplicates: u32,

    /// When the last acknowledgment arrived.
    last_ack: Option<Time>,
    /// When new data were last acknowledged.
    advanced_at: Option<Time>,
    /// When the sender last sent a packet.
    last_sent: Option<Time>,

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

impl Recoveries {
    /// Returns whether the sender is in a recovery.
    pub fn is_recovering(&self) -> bool {
        self.current.is_some()
    }

    /// Returns whether there is neither a recovery nor an unanswered probe.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.current.is_none() && !self.probes.is_waiting()
    }

    /// Returns whether the last retransmission shows that the one before was not a probe.
    pub fn revokes_probe(&self) -> bool {
        self.revokes_probe
    }

    // ── Acknowledgments ─────────────────────────────────────────────────────────────────────────

    /// Processes an acknowledgment of new data. Returns whether it ends a recovery.
    pub fn new_ack(&mut self, info: &AckInfo) -> bool {
        self.duplicates = 0;
        self.advanced_at = Some(info.now);
        self.process_ack(info, true);
        self.current.take_if(|recovery| info.ack >= recovery.point).is_some()
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

    /// Returns the number of duplicate acknowledgments in a row.
    pub fn duplicates_in_row(&self) -> u32 {
        self.duplicates
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
            recovery.process_ack(info, advances, self.has_rack);
        }
    }

    // ── New data ────────────────────────────────────────────────────────────────────────────────

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
        let &NewData { now, last_sent, oldest, is_single, sender_delay, estimate } = data;
        let has_used_window =
            acked_at <= last_sent && last_sent.saturating_since(acked_at) <= data.reaction();
        let is_due = estimate.srtt().is_some()
            && estimate.is_probe_due(now, last_sent, oldest, is_single, sender_delay);
        has_used_window && is_due && self.is_calm()
    }

    // ── Retransmissions ─────────────────────────────────────────────────────────────────────────

    /// Decides why a segment was retransmitted, and updates the recovery.
    pub fn record_retransmission(&mut self, resent: &Retransmission) -> Cause {
        self.probes.confirm_new_data();
        let cause = self.cause(resent);
        let by_rto = cause == Cause::Rto;
        self.revise_probe(resent, cause);
        self.probes.are_unused |= by_rto && self.shows_missing_probe(resent);
        self.has_rack |= matches!(cause, Cause::Rack | Cause::Probe);
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
        let is_in_fast_recovery = self.current.as_ref().is_some_and(|previous| !previous.by_rto);
        let undo =
            self.current.take().map_or_else(Undo::default, |previous| previous.undo.for_next_recovery());
        self.current = Some(Recovery {
            by_rto,
            has_frto: by_rto && !is_in_fast_recovery,
            since: resent.now,
            point: resent.highest,
            highest_resent: resent.end,
            undo,
        });
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

    /// Returns the time since the sender last sent or received a packet. `None` if it did neither.
    fn silence_before(&self, now: Time) -> Option<Duration> {
        self.last_ack.max(self.last_sent).map(|at| now.saturating_since(at))
    }
}

impl Recovery {
    /// Looks for signs in an acknowledgment that the recovery was needless. `advances`: it
    /// acknowledges new data.
    fn process_ack(&mut self, info: &AckInfo, advances: bool, has_rack: bool) {
        // In a fast recovery, only the acknowledgment of all retransmitted segments is conclusive.
        let is_of_retransmissions = self.by_rto || info.ack >= self.highest_resent;
        let is_of_original = self.has_frto && info.original_end.is_some_and(|end| end <= self.point);
        let is_conclusive = advances && is_of_retransmissions;
        self.undo.process_ack(AckInRecovery { info, is_conclusive, is_of_original, has_rack });
    }
}
