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
//! | reducing | Linux: an ECN echo reduces the window proportionally | more than was outstanding at its beginning is acknowledged, or a recovery begins |
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
    CongestionControl, DUPLICATE_THRESHOLD, Duplicate, Flight, NewAck, Outstanding, Prr, PrrAck, Reaction,
    Selection, Window,
};
use crate::packet::SackBlocks;
use crate::tcp::config::{RtoRule, TcpConfig, Variant};
use crate::tcp::outstanding::Sent;

pub use self::detection::RackAck;

/// The state of loss recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No recovery is in progress.
    Open,
    /// Linux reduces the window because of an ECN echo (TCP_CA_CWR).
    Reducing,
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
    /// Linux: acknowledgments are examined for losses, because segments were missing, SACKed or
    /// retransmitted at the previous examination (TCP_CA_Disorder and the states above it).
    is_disordered: bool,
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

    // Counts since the beginning of the connection.
    /// Retransmissions.
    all_retransmissions: u32,
    /// Segments that the other end has reported as duplicates.
    all_duplicates: u32,

    // Recovery.
    phase: Phase,
    /// Present if the window is reduced proportionally.
    prr: Option<Prr>,
    /// The first lost segment is sent regardless of the window.
    must_send_first: bool,

    // The current acknowledgment.
    /// Number of segments newly SACKed by it, if it is a duplicate.
    newly_sacked: u32,
    /// Number of segments reported as received for the first time or, in Linux, twice.
    delivered: u32,
    /// Number of segments reported as received twice. Only in Linux.
    duplicates: u32,
    /// Whether the window may grow during a reduction.
    safety: AckSafety,
    /// The congestion window before it grew.
    cwnd_before_growth: Option<f64>,
    /// The receiver has discarded the oldest segment, which it had reported before.
    reneges: bool,
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
            is_disordered: false,
            retransmitted_to: 0,
            pipe: 0,
            lost: 0,
            sacked: 0,
            limited: 0,
            all_retransmissions: 0,
            all_duplicates: 0,
            phase: Phase::Open,
            prr: proportional.then(Prr::default),
            must_send_first: false,
            newly_sacked: 0,
            delivered: 0,
            duplicates: 0,
            safety: AckSafety::NotSafe,
            cwnd_before_growth: None,
            reneges: false,
            sacked_sent_at: None,
            covered_rtt: None,
        }
    }

    /// Processes an acknowledgment before its content is applied: passes the segments that it
    /// covers cumulatively to the detection.
    pub fn process_ack(&mut self, sent: &Outstanding, ack: &RackAck) {
        self.delivered = 0;
        self.safety = AckSafety::NotSafe;
        self.cwnd_before_growth = None;
        self.duplicates = self.count_duplicates(ack);
        // Linux widens the reordering window only after reordering was observed.
        let may_widen = !self.is_recent_linux || (self.duplicates > 0 && self.detection.reordering_seen());
        self.detection.process_ack(&RackAck { duplicate: ack.duplicate && may_widen, ..*ack });
        let covered = sent.ring.iter().take_while(|segment| segment.end() <= ack.ack);
        let mut has_delivered = false;
        for segment in covered.filter(|segment| !segment.sacked) {
            has_delivered |= self.detection.deliver(segment, AckKind::Cumulative);
        }
        self.covered_rtt = has_delivered.then(|| self.detection.rtt());
    }

    /// Number of segments that the current acknowledgment reports as having arrived twice, which Linux
    /// counts as delivered.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Whether Linux lets the window grow with SACKed segments, because segments have arrived out of
    /// order by more than three (`tcp_may_raise_cwnd`). `smss`: payload of a full segment, in bytes.
    pub fn grows_by_sacks(&self, smss: u32) -> bool {
        let tolerated = u64::from(DUPLICATE_THRESHOLD * smss);
        self.is_recent_linux && self.detection.reordering_extent() > tolerated
    }

    /// Takes whether the current acknowledgment shows that the receiver has discarded SACKed data: the
    /// oldest outstanding segment is SACKed (RFC 2018 §8).
    pub fn take_reneging(&mut self) -> bool {
        std::mem::take(&mut self.reneges)
    }

    /// Counts the reported duplicates, if they are not more than the retransmissions so far
    /// (`tcp_dsack_seen`).
    fn count_duplicates(&mut self, ack: &RackAck) -> u32 {
        if !self.is_recent_linux {
            return 0;
        }
        self.all_duplicates = self.all_duplicates.saturating_add(ack.duplicates);
        if self.all_duplicates > self.all_retransmissions { 0 } else { ack.duplicates }
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
        matches!(self.phase, Phase::Open | Phase::Reducing) && sent.sacked_to <= sent.una()
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
        self.delivered = 0;
        self.begin(window, sent, flight);
        Reaction::RECOVER
    }

    /// Linux examines an acknowledgment that undoes a reaction for further losses. If there are some,
    /// a recovery begins.
    pub fn examine_after_undo(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        flight: &Flight,
        now: Time,
    ) -> Reaction {
        let begins = self.is_recent_linux && self.mark_lost(sent, now).segments > 0;
        if !begins {
            return Reaction::NOTHING;
        }
        self.begin(window, sent, flight);
        Reaction::RECOVER
    }

    /// Linux reduces the window proportionally after an ECN echo, instead of its growth. Returns
    /// whether the reduction begins.
    pub fn begin_reduction(&mut self, window: &mut Window, flight: &Flight) -> bool {
        if self.phase != Phase::Open {
            return false;
        }
        self.phase = Phase::Reducing;
        self.is_disordered = true;
        let cwnd = self.cwnd_before_growth.unwrap_or(window.cwnd);
        window.cwnd = cwnd;
        window.enter_fast_recovery(flight);
        (window.cwnd, window.inflation) = (cwnd, 0);
        if let Some(prr) = &mut self.prr {
            *prr = Prr::begin(cwnd as u32);
        }
        self.continue_recovery(window, self.delivered, self.safety);
        true
    }

    /// Whether the window is reduced proportionally after an ECN echo.
    pub fn reduces_after_echo(&self) -> bool {
        self.is_recent_linux && self.prr.is_some()
    }

    /// Marks the lost segments after an expiry of the retransmission timer. If the receiver has
    /// discarded SACKed data, all SACK marks are cleared first, and Linux marks all segments as lost
    /// (`tcp_timeout_mark_lost`).
    pub fn mark_on_timeout(&mut self, sent: &mut Outstanding, now: Time) {
        let reneges = sent.first().is_some_and(|first| first.sacked);
        if reneges {
            sent.clear_sack_marks();
        }
        if reneges && self.is_recent_linux {
            return sent.ring.iter_mut().for_each(|segment| segment.lost = true);
        }
        self.detection.mark_on_timeout(sent, now, self.loss_evidence());
    }

    /// The evidence of losses that determines the reordering window.
    fn loss_evidence(&self) -> LossEvidence {
        let in_recovery = matches!(self.phase, Phase::Recovery | Phase::Expired);
        LossEvidence { in_recovery, sacked: self.sacked }
    }

    /// Whether no outstanding segment can be lost, because no recovery is in progress and all
    /// outstanding segments were sent after those that have arrived.
    #[inline]
    fn needs_no_marking(&self, sent: &Outstanding) -> bool {
        let has_no_gap = self.phase == Phase::Open && sent.sacked_to <= sent.una();
        let retransmissions_are_acked = !self.has_retransmitted && sent.una() >= self.retransmitted_to;
        // In TCP_CA_Open Linux examines only a dubious acknowledgment for losses
        // (`tcp_ack_is_dubious`).
        let is_beyond_doubt = self.is_recent_linux && !self.is_disordered;
        has_no_gap && (retransmissions_are_acked || is_beyond_doubt)
    }

    /// Updates `is_disordered` outside of a recovery (`tcp_try_keep_open`).
    pub fn update_order(&mut self, sent: &Outstanding) {
        let is_missing = |segment: &Sent| segment.sacked || segment.lost || segment.transmissions > 1;
        self.is_disordered =
            self.is_recent_linux && (self.phase != Phase::Open || sent.ring.iter().any(is_missing));
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
            self.is_disordered = false;
            return MarkedSegments::default();
        }
        self.sacked = sent.ring.iter().filter(|segment| segment.sacked).count() as u32;
        let marked = self.detection.mark(sent, now, self.loss_evidence());
        self.count_segments(sent);
        self.wait = marked.wait;
        self.marked += marked.segments;
        self.update_order(sent);
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
            Phase::Open | Phase::Reducing => marked.segments > 0,
            Phase::Recovery => false,
            Phase::Expired => marked.lost_retransmission,
        }
    }

    /// Begins a recovery. A reduction in progress continues.
    fn begin(&mut self, window: &mut Window, sent: &Outstanding, flight: &Flight) {
        let is_reducing = self.phase == Phase::Reducing;
        self.phase = Phase::Recovery;
        self.is_disordered = true;
        self.must_send_first = true;
        let delivered = self.delivered;
        if is_reducing {
            return self.continue_recovery(window, delivered.max(1), AckSafety::NotSafe);
        }
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

    /// Counts the segments without marking any as lost, because the receiver has discarded the oldest
    /// one. Only the timer repairs this.
    fn mark_nothing(&mut self, sent: &Outstanding) -> MarkedSegments {
        self.count_segments(sent);
        self.wait = Duration::ZERO;
        MarkedSegments::default()
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

    /// Whether an acknowledgment up to `una` ends the phase. A reduction lasts a little longer, so that
    /// CWR reaches the receiver.
    fn is_over(&self, una: u64, recover: u64) -> bool {
        match self.phase {
            Phase::Open => false,
            Phase::Reducing => una > recover,
            Phase::Recovery | Phase::Expired => una >= recover,
        }
    }

    /// Ends the recovery: all data outstanding at its beginning is acknowledged.
    fn end(&mut self, window: &mut Window) {
        if matches!(self.phase, Phase::Recovery | Phase::Reducing) && self.prr.is_some() {
            window.cwnd = window.ssthresh;
        }
        if self.phase != Phase::Reducing {
            self.must_send_first = false;
            self.detection.leave_recovery();
        }
        self.phase = Phase::Open;
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
        let newly_delivered = newly_sacked + ack.segments - ack.removed.sacked;
        self.delivered = newly_delivered + self.duplicates;
        window.duplicates = 0;
        let phase_before = self.phase;
        self.reneges = self.is_recent_linux && sent.first().is_some_and(|first| first.sacked);
        let is_over = !self.reneges && self.is_over(ack.flight.una, window.recover);
        if is_over {
            self.end(window);
        }
        let marked = if self.reneges { self.mark_nothing(sent) } else { self.mark_lost(sent, ack.now) };
        if self.begins_recovery(&marked) {
            self.begin(window, sent, &ack.flight);
            return Reaction { sample: super::Sample::Timed, ..Reaction::RECOVER };
        }
        self.safety = if marked.segments == 0 { AckSafety::Safe } else { AckSafety::NotSafe };
        if matches!(self.phase, Phase::Recovery | Phase::Reducing) {
            self.continue_recovery(window, self.delivered, self.safety);
            return Reaction::NEW_ACK;
        }
        // RFC 5681 §3.1: the acknowledgment that ends a recovery after a timeout raises the window
        // like the acknowledgments before it. Linux raises it also at the end of other recoveries.
        let ends_recovery = is_over && phase_before != Phase::Expired;
        let may_grow = !ends_recovery || self.is_recent_linux;
        if ack.segments > 0 && may_grow {
            self.cwnd_before_growth = Some(window.cwnd);
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
        self.delivered = self.newly_sacked + self.duplicates;
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
        self.update_order(sent);
        if self.begins_recovery(&marked) {
            let cwnd_before = window.cwnd;
            self.begin(window, sent, &ack.flight);
            if self.keeps_window(ack) {
                window.cwnd = cwnd_before;
            }
            return Reaction::RECOVER;
        }
        if matches!(self.phase, Phase::Recovery | Phase::Reducing) && !self.keeps_window(ack) {
            self.continue_recovery(window, self.delivered, AckSafety::NotSafe);
        }
        let grows = self.newly_sacked > 0 && self.grows_by_sacks(window.smss);
        if grows && matches!(self.phase, Phase::Open | Phase::Expired) {
            self.cwnd_before_growth = Some(window.cwnd);
            window.acked = self.delivered.into();
            window.increase();
        }
        let restart_timer = self.sack_restarts_timer && self.sacks_before_oldest(sent);
        Reaction { restart_timer, ..Reaction::NOTHING }
    }

    fn on_undo(&mut self, sent: &mut Outstanding) {
        sent.clear_lost_marks();
        if !self.is_recent_linux {
            self.detection.clear_delivered();
        }
        self.phase = Phase::Open;
        self.must_send_first = false;
        self.wait = Duration::ZERO;
        self.count_segments(sent);
        self.is_disordered = self.is_recent_linux;
    }

    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        // As in Linux, a recovery in progress has already responded to the losses of this window.
        let is_reducing = matches!(self.phase, Phase::Recovery | Phase::Reducing);
        let already_reduced = is_reducing && flight.una < window.recover;
        self.phase = Phase::Expired;
        self.is_disordered = true;
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
                self.all_retransmissions = self.all_retransmissions.saturating_add(1);
            }
            // The segment is still counted as in flight.
            Selection::First | Selection::Probe(_) => {
                self.has_retransmitted = true;
                self.all_retransmissions = self.all_retransmissions.saturating_add(1);
                return;
            }
            // New data that SACKs allowed before a recovery.
            _ if self.phase == Phase::Open && self.sacked > 0 => self.limited += 1,
            _ => {}
        }
        self.pipe += 1;
        if matches!(self.phase, Phase::Recovery | Phase::Reducing)
            && let Some(prr) = &mut self.prr
        {
            prr.on_sent();
        }
    }
}
