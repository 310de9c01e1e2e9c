//! Loss recovery with SACK and time-based loss detection: RACK (RFC 8985 §6), with any window law.
//! Windows and counts are in segments.
//!
//! [`Detection`] marks segments as lost. Segments that are neither lost nor SACKed are in flight
//! (`pipe`). While their number is below cwnd, the oldest lost segment is sent, or otherwise new
//! data. Counting of duplicates, limited transmit before a recovery (RFC 3042), rescue
//! retransmissions (RFC 6675 §4) and the distinction between retransmissions and originals are not
//! needed.
//!
//! | phase | begins when | ends when |
//! |---|---|---|
//! | open | no other phase is in progress | |
//! | recovery | a segment is marked as lost; the window is reduced once | all data outstanding at its beginning is acknowledged |
//! | expired | the retransmission timer expires | all data outstanding then is acknowledged, or a recovery begins |
//!
//! A lost retransmission is sent again within a recovery. After an expiry of the timer only the
//! oldest segment and those overdue by RACK are lost (§6.3). A lost retransmission then begins a
//! recovery, as in Linux, and so does any segment that the reordering timer marks.
//!
//! The calls for each acknowledgment: `process_ack` before its content is applied, then
//! `on_new_ack`, or `count_duplicate` and `on_duplicate_ack`.

mod detection;

use umts_units::{Duration, Time};

use self::detection::{AckKind, Detection, LossEvidence, MarkedSegments};
use super::{
    CongestionControl, Duplicate, Flight, NewAck, Outstanding, Prr, PrrAck, Reaction, Selection, Window,
};
use crate::packet::SackBlocks;
use crate::tcp::config::{RtoRule, TcpConfig, Variant};

pub use self::detection::RackAck;

/// The state of loss recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No recovery is in progress.
    Open,
    /// A recovery that a mark began.
    Recovery,
    /// A recovery after an expiry of the timer.
    Expired,
}

/// Whether the window may grow during a recovery (SafeACK of RFC 9937).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AckSafety {
    /// SND.UNA advanced, and no further segment is lost.
    Safe,
    NotSafe,
}

/// Scoreboard counts and recovery state.
#[derive(Debug, Clone)]
pub struct Rack {
    // Configuration.
    /// Linux from 4.4 on.
    is_recent_linux: bool,
    /// Linux: the retransmission timer restarts at a SACK of a segment sent before the oldest
    /// outstanding one.
    sack_restarts_timer: bool,

    // Loss detection.
    detection: Detection,
    /// Number of marked segments not yet reported by `take_marked`.
    marked: u32,
    /// Remaining time of the reordering timer. Zero if no segment waits for it.
    wait: Duration,
    /// A segment was retransmitted since losses were last marked.
    has_retransmitted: bool,
    /// When this sequence number is acknowledged, all retransmissions are.
    retransmitted_to: u64,

    // Counts of outstanding segments.
    /// Number of segments in flight: neither lost nor SACKed.
    pipe: u32,
    /// Number of segments that are marked as lost and were not sent again since.
    lost: u32,
    /// Number of SACKed segments.
    sacked: u32,
    /// Number of new segments that SACKs allowed to be sent before a recovery began. They do not
    /// count as load (RFC 5681 §3.2, step 2).
    limited: u32,

    // Recovery.
    phase: Phase,
    /// Present if the window is reduced proportionally.
    prr: Option<Prr>,
    /// The first lost segment is sent regardless of the window.
    must_send_first: bool,

    // The current acknowledgment.
    /// Number of segments newly SACKed by it, if it is a duplicate.
    newly_sacked: u32,
    /// Earliest transmission time of the segments newly SACKed by it that were sent once.
    sacked_sent_at: Option<Time>,
    /// RACK.rtt of the segments that it covers cumulatively.
    covered_rtt: Option<Duration>,
}

impl Rack {
    pub fn new(config: &TcpConfig) -> Self {
        // BBR sets the window itself.
        let proportional = config.prr && config.variant != Variant::Bbr;
        Rack {
            is_recent_linux: config.is_recent_linux(),
            sack_restarts_timer: config.rto_rule == RtoRule::Linux,
            detection: Detection::new(config.timestamp_tick),
            marked: 0,
            wait: Duration::ZERO,
            has_retransmitted: false,
            retransmitted_to: 0,
            pipe: 0,
            lost: 0,
            sacked: 0,
            limited: 0,
            phase: Phase::Open,
            prr: proportional.then(Prr::default),
            must_send_first: false,
            newly_sacked: 0,
            sacked_sent_at: None,
            covered_rtt: None,
        }
    }

    /// Processes an acknowledgment before its content is applied: passes the segments that it
    /// covers cumulatively to the detection.
    pub fn process_ack(&mut self, sent: &Outstanding, ack: &RackAck) {
        self.detection.process_ack(ack);
        let covered = sent.ring.iter().take_while(|segment| segment.end() <= ack.ack);
        let mut has_delivered = false;
        for segment in covered.filter(|segment| !segment.sacked) {
            has_delivered |= self.detection.deliver(segment, AckKind::Cumulative);
        }
        self.covered_rtt = has_delivered.then(|| self.detection.rtt());
    }

    /// Number of segments in flight.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.pipe
    }

    /// The remaining time of the reordering timer after the last marking, if a segment waits for
    /// it.
    #[inline]
    pub fn reordering_wait(&self) -> Option<Duration> {
        (!self.wait.is_zero()).then_some(self.wait)
    }

    /// Whether no recovery is in progress and no segment is SACKed, so that a probe for a lost tail
    /// makes sense (§7.2).
    #[inline]
    pub fn may_probe(&self, sent: &Outstanding) -> bool {
        self.phase == Phase::Open && sent.sacked_to <= sent.una()
    }

    /// Whether a recovery after an expiry of the timer is in progress.
    #[inline]
    pub fn is_expired(&self) -> bool {
        self.phase == Phase::Expired
    }

    /// Takes the earliest transmission time of the segments that the current duplicate newly SACKs
    /// and that were sent once.
    pub fn take_sacked_sent_at(&mut self) -> Option<Time> {
        self.sacked_sent_at.take()
    }

    /// Takes the number of segments marked since the last call.
    #[inline]
    pub fn take_marked(&mut self) -> u32 {
        std::mem::take(&mut self.marked)
    }

    /// Handles the expiry of the reordering timer. The segments that it marks as lost begin a
    /// recovery, also after a timeout, or belong to the recovery in progress.
    pub fn on_reordering_timeout(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        flight: &Flight,
        now: Time,
    ) -> Reaction {
        let marked = self.mark_lost(sent, now);
        if marked.segments == 0 {
            return Reaction::NOTHING;
        }
        if self.phase == Phase::Recovery {
            // PRR permits no transmission without a delivery, so that one is assumed.
            self.continue_recovery(window, 1, AckSafety::NotSafe);
            return Reaction::NOTHING;
        }
        // No acknowledgment arrived.
        let delivered = 0;
        self.begin(window, sent, flight, delivered);
        Reaction::RECOVER
    }

    /// Marks the lost segments after an expiry of the retransmission timer. If the receiver has
    /// discarded SACKed data, all SACK marks are cleared first.
    pub fn mark_on_timeout(&mut self, sent: &mut Outstanding, now: Time) {
        if sent.first().is_some_and(|first| first.sacked) {
            sent.clear_sack_marks();
        }
        self.detection.mark_on_timeout(sent, now, self.loss_evidence());
    }

    /// The evidence of losses that determines the reordering window.
    fn loss_evidence(&self) -> LossEvidence {
        LossEvidence { in_recovery: self.phase != Phase::Open, sacked: self.sacked }
    }

    /// Whether no outstanding segment can be lost, because no recovery is in progress and all
    /// outstanding segments were sent after those that have arrived.
    #[inline]
    fn needs_no_marking(&self, sent: &Outstanding) -> bool {
        let has_no_gap = self.phase == Phase::Open && sent.sacked_to <= sent.una();
        let retransmissions_are_acked = !self.has_retransmitted && sent.una() >= self.retransmitted_to;
        // Linux looks for losses in TCP_CA_Open only if an acknowledgment is dubious
        // (`tcp_ack_is_dubious`).
        let has_no_retransmission = || !sent.ring.iter().any(|segment| segment.transmissions > 1);
        let is_beyond_doubt = || self.is_recent_linux && has_no_retransmission();
        has_no_gap && (retransmissions_are_acked || is_beyond_doubt())
    }

    /// Marks the segments that are lost at `now`, and counts those in flight.
    fn mark_lost(&mut self, sent: &mut Outstanding, now: Time) -> MarkedSegments {
        if std::mem::take(&mut self.has_retransmitted) {
            self.retransmitted_to = sent.max_sent();
        }
        if self.needs_no_marking(sent) {
            self.pipe = sent.len() as u32;
            self.lost = 0;
            self.sacked = 0;
            self.limited = 0;
            self.wait = Duration::ZERO;
            return MarkedSegments::default();
        }
        self.sacked = sent.ring.iter().filter(|segment| segment.sacked).count() as u32;
        let marked = self.detection.mark(sent, now, self.loss_evidence());
        self.count_segments(sent);
        self.wait = marked.wait;
        self.marked += marked.segments;
        marked
    }

    /// Counts the segments that are lost, SACKed and in flight.
    fn count_segments(&mut self, sent: &Outstanding) {
        self.lost = sent.ring.iter().filter(|segment| segment.lost).count() as u32;
        self.sacked = sent.ring.iter().filter(|segment| segment.sacked).count() as u32;
        self.pipe = sent.len() as u32 - self.lost - self.sacked;
    }

    /// Whether the segments that an acknowledgment marked begin a recovery. After a timeout only a
    /// lost retransmission does, because the timeout has already reduced the window for the others.
    fn begins_recovery(&self, marked: &MarkedSegments) -> bool {
        match self.phase {
            Phase::Open => marked.segments > 0,
            Phase::Recovery => false,
            Phase::Expired => marked.lost_retransmission,
        }
    }

    /// Begins a recovery. `delivered`: number of segments that the current event reports as
    /// received.
    fn begin(&mut self, window: &mut Window, sent: &Outstanding, flight: &Flight, delivered: u32) {
        self.phase = Phase::Recovery;
        self.must_send_first = true;
        let outstanding = sent.len() as u32;
        let load = outstanding - std::mem::take(&mut self.limited).min(outstanding);
        let cwnd_before = window.cwnd as u32;
        window.enter_fast_recovery(&Flight { segments: load, ..*flight });
        // `pipe` replaces the inflation.
        window.inflation = 0;
        if let Some(prr) = &mut self.prr {
            // RecoverFS. Linux uses the window instead (`prior_cwnd`).
            let in_flight_before = outstanding - self.sacked + delivered;
            *prr = Prr::begin(if self.is_recent_linux { cwnd_before } else { in_flight_before });
        }
        // PRR permits no transmission without a delivery, so that at least one is assumed.
        self.continue_recovery(window, delivered.max(1), AckSafety::NotSafe);
    }

    /// Updates proportional rate reduction (PRR) after `delivered` segments have arrived in a
    /// recovery.
    fn continue_recovery(&mut self, window: &mut Window, delivered: u32, safety: AckSafety) {
        let Some(prr) = &mut self.prr else { return };
        let is_safe = safety == AckSafety::Safe;
        let ack = PrrAck { ssthresh: window.ssthresh, pipe: self.pipe, delivered, is_safe };
        if let Some(cwnd) = prr.on_ack(&ack) {
            window.cwnd = cwnd;
        }
    }

    /// Linux does not reduce the window at an acknowledgment below SND.UNA (`tcp_ack`, old_ack).
    fn keeps_window(&self, ack: &Duplicate<'_>) -> bool {
        self.is_recent_linux && ack.is_late
    }

    /// Whether the current acknowledgment SACKs a segment that was sent before the oldest
    /// outstanding one was sent last.
    fn sacks_before_oldest(&self, sent: &Outstanding) -> bool {
        let (Some(sacked_sent_at), Some(oldest)) = (self.sacked_sent_at, sent.first()) else { return false };
        sacked_sent_at < oldest.sent_at
    }

    /// Ends the recovery: all data outstanding at its beginning is acknowledged.
    fn end(&mut self, window: &mut Window) {
        if self.phase == Phase::Recovery && self.prr.is_some() {
            window.cwnd = window.ssthresh;
        }
        self.phase = Phase::Open;
        self.must_send_first = false;
        self.detection.leave_recovery();
    }

    /// Marks the segments that the blocks newly SACK, and passes them to the detection. Returns
    /// their number.
    fn mark_newly_sacked(&mut self, sent: &mut Outstanding, ack: u64, sack: &SackBlocks) -> u32 {
        let mut earliest: Option<Time> = None;
        let newly_sacked = sent.mark_sacked_with(ack, sack, |segment| {
            self.detection.deliver(segment, AckKind::Selective);
            if segment.transmissions == 1 {
                earliest = Some(earliest.map_or(segment.sent_at, |at| at.min(segment.sent_at)));
            }
        });
        self.sacked_sent_at = earliest;
        // RACK.rtt of cumulatively acknowledged segments takes precedence over SACKed ones.
        if let Some(rtt) = self.covered_rtt.take() {
            self.detection.set_rtt(rtt);
        }
        newly_sacked.segments
    }
}

impl CongestionControl for Rack {
    fn on_syn_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &NewAck<'_>,
        initial: u32,
    ) -> Reaction {
        self.phase = Phase::Open;
        self.mark_lost(sent, ack.now);
        window.cwnd = f64::from(initial);
        window.duplicates = 0;
        Reaction::NEW_ACK
    }

    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        let newly_sacked = self.mark_newly_sacked(sent, ack.flight.una, ack.sack);
        // Segments that were SACKed before have been counted as delivered.
        let delivered = newly_sacked + ack.segments - ack.removed.sacked;
        window.duplicates = 0;
        let phase_before = self.phase;
        let is_over = phase_before != Phase::Open && ack.flight.una >= window.recover;
        if is_over {
            self.end(window);
        }
        let marked = self.mark_lost(sent, ack.now);
        if self.begins_recovery(&marked) {
            self.begin(window, sent, &ack.flight, delivered);
            return Reaction { sample: super::Sample::Timed, ..Reaction::RECOVER };
        }
        if self.phase == Phase::Recovery {
            let safety = if marked.segments == 0 { AckSafety::Safe } else { AckSafety::NotSafe };
            self.continue_recovery(window, delivered, safety);
            return Reaction::NEW_ACK;
        }
        // RFC 5681 §3.1: the acknowledgment that ends a recovery after a timeout raises the window
        // like the acknowledgments before it. Linux raises it also at the end of other recoveries.
        let ends_recovery = is_over && phase_before == Phase::Recovery;
        let may_grow = !ends_recovery || self.is_recent_linux;
        if ack.segments > 0 && may_grow {
            window.increase();
        }
        Reaction::NEW_ACK
    }

    fn count_duplicate(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: u64,
        sack: &SackBlocks,
    ) -> bool {
        self.newly_sacked = self.mark_newly_sacked(sent, ack, sack);
        window.duplicates += u32::from(self.newly_sacked > 0);
        self.newly_sacked > 0
    }

    /// A detected loss begins a recovery. Other duplicates continue the recovery in progress.
    fn on_duplicate_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &Duplicate<'_>,
    ) -> Reaction {
        let marked = self.mark_lost(sent, ack.now);
        if self.begins_recovery(&marked) {
            let cwnd_before = window.cwnd;
            self.begin(window, sent, &ack.flight, self.newly_sacked);
            if self.keeps_window(ack) {
                window.cwnd = cwnd_before;
            }
            return Reaction::RECOVER;
        }
        if self.phase == Phase::Recovery && !self.keeps_window(ack) {
            self.continue_recovery(window, self.newly_sacked, AckSafety::NotSafe);
        }
        let restart_timer = self.sack_restarts_timer && self.sacks_before_oldest(sent);
        Reaction { restart_timer, ..Reaction::NOTHING }
    }

    fn on_undo(&mut self, sent: &mut Outstanding) {
        sent.clear_lost_marks();
        self.detection.clear_delivered();
        self.phase = Phase::Open;
        self.must_send_first = false;
        self.wait = Duration::ZERO;
        self.count_segments(sent);
    }

    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        // As in Linux, a recovery in progress has already responded to the losses of this window.
        let already_reduced = self.phase == Phase::Recovery && flight.una < window.recover;
        self.phase = Phase::Expired;
        self.must_send_first = false;
        self.wait = Duration::ZERO;
        window.duplicates = 0;
        window.start_again_after_timeout(flight, already_reduced);
        self.count_segments(sent);
        // Segments that are not lost are still in flight. The window is increased by their number
        // so that the oldest segment can be sent.
        window.cwnd += f64::from(self.pipe);
    }

    #[inline]
    fn select(&self, window: &Window, sent: &Outstanding, _advertised: u32) -> Selection {
        let may_send = self.pipe < window.cwnd as u32 || self.must_send_first;
        if !may_send {
            return Selection::Wait;
        }
        if self.lost == 0 {
            return Selection::InOrder;
        }
        let oldest_lost = sent.ring.iter().position(|segment| segment.lost);
        oldest_lost.map_or(Selection::Wait, Selection::Lost)
    }

    #[inline]
    fn on_sent(&mut self, selection: Selection, _number: u64, _now: Time) {
        match selection {
            Selection::Lost(_) => {
                self.lost -= 1;
                self.must_send_first = false;
                self.has_retransmitted = true;
            }
            // The segment is still counted as in flight.
            Selection::First | Selection::Probe(_) => {
                self.has_retransmitted = true;
                return;
            }
            // New data that SACKs allowed before a recovery.
            _ if self.phase == Phase::Open && self.sacked > 0 => self.limited += 1,
            _ => {}
        }
        self.pipe += 1;
        if self.phase == Phase::Recovery
            && let Some(prr) = &mut self.prr
        {
            prr.on_sent();
        }
    }
}
