//! Loss recovery with SACK and time-based loss detection: RACK (RFC 8985 §6), with any window law.
//! Windows and counts are in segments.
//!
//! [`Detection`] marks segments as lost. Segments that are neither lost nor SACKed are in flight.
//! While their number is below cwnd, the oldest lost segment is sent, or otherwise new data.
//! Counting of duplicates, limited transmit before a recovery (RFC 3042), rescue retransmissions
//! (RFC 6675 §4) and the distinction between retransmissions and originals are not needed.
//!
//! A mark begins a recovery, which reduces the window once and ends when all data outstanding at
//! its beginning is acknowledged. A lost retransmission is sent again within the recovery. After an
//! expiry of the timer only the oldest segment and those overdue by RACK are lost (§6.3). A lost
//! retransmission then begins a recovery, as in Linux.

mod detection;

use umts_units::{Duration, Time};

use self::detection::{AckKind, Detection, MarkedSegments};
use super::{
    CongestionControl, Duplicate, Flight, NewAck, Outstanding, Prr, PrrAck, Reaction, Selection, Window,
};
use crate::packet::SackBlocks;
use crate::tcp::config::{RtoRule, TcpConfig, Variant};

pub use self::detection::RackAck;

/// `is_safe` of [`Rack::continue_recovery`] if SND.UNA did not advance or a further segment is
/// lost.
const NOT_SAFE: bool = false;

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

/// Scoreboard counts and recovery state.
#[derive(Debug, Clone)]
pub struct Rack {
    detection: Detection,
    phase: Phase,
    /// Present if the window is reduced proportionally.
    prr: Option<Prr>,
    /// Number of segments in flight.
    pipe: u32,
    /// Number of segments that are marked as lost and were not sent again since.
    lost: u32,
    /// Number of SACKed segments.
    sacked: u32,
    /// Number of new segments that SACKs allowed to be sent before a recovery began. They do not
    /// count as load (RFC 5681 §3.2, step 2).
    limited: u32,
    /// Number of segments newly SACKed by the current duplicate.
    newly_sacked: u32,
    /// Earliest transmission time of the segments newly SACKed by the current ACK that were sent
    /// once.
    sacked_sent_at: Option<Time>,
    /// Number of marked segments not yet reported by `take_marked`.
    marked: u32,
    /// Remaining time of the reordering timer. Zero if no segment waits for it.
    wait: Duration,
    /// The first lost segment is sent regardless of the window.
    must_send_first: bool,
    /// A segment was retransmitted since losses were last marked.
    has_retransmitted: bool,
    /// When this sequence number is acknowledged, all retransmissions are.
    retransmitted_to: u64,
    /// RACK.rtt of the segments that the current acknowledgment covers cumulatively.
    covered_rtt: Option<Duration>,
    /// Linux: the retransmission timer restarts at a SACK of a segment sent before the oldest
    /// outstanding one.
    reports_restart_timer: bool,
    /// Linux from 4.4 on.
    is_recent_linux: bool,
}

impl Rack {
    pub fn new(config: &TcpConfig) -> Self {
        // BBR sets the window itself.
        let proportional = config.prr && config.variant != Variant::Bbr;
        Rack {
            detection: Detection::new(config.timestamp_tick),
            phase: Phase::Open,
            prr: proportional.then(Prr::default),
            pipe: 0,
            lost: 0,
            sacked: 0,
            limited: 0,
            newly_sacked: 0,
            sacked_sent_at: None,
            marked: 0,
            wait: Duration::ZERO,
            must_send_first: false,
            has_retransmitted: false,
            retransmitted_to: 0,
            covered_rtt: None,
            reports_restart_timer: config.rto_rule == RtoRule::Linux,
            is_recent_linux: config.is_recent_linux(),
        }
    }

    /// Processes an acknowledgment before its content is applied.
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

    /// Handles the expiry of the reordering timer.
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
            self.continue_recovery(window, 1, NOT_SAFE);
            return Reaction::NOTHING;
        }
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
        self.detection.mark_on_timeout(sent, now, self.phase != Phase::Open, self.sacked);
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
        has_no_gap && (retransmissions_are_acked || (self.is_recent_linux && has_no_retransmission()))
    }

    /// Marks the segments that are lost at `now`, and counts those in flight.
    fn mark_lost(&mut self, sent: &mut Outstanding, now: Time) -> MarkedSegments {
        if std::mem::take(&mut self.has_retransmitted) {
            self.retransmitted_to = sent.max_sent();
        }
        if self.needs_no_marking(sent) {
            (self.pipe, self.lost, self.sacked, self.limited) = (sent.len() as u32, 0, 0, 0);
            self.wait = Duration::ZERO;
            return MarkedSegments::default();
        }
        self.sacked = sent.ring.iter().filter(|segment| segment.sacked).count() as u32;
        let marked = self.detection.mark(sent, now, self.phase != Phase::Open, self.sacked);
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

    /// Begins a recovery. `delivered`: number of segments that the current event reports as
    /// received.
    fn begin(&mut self, window: &mut Window, sent: &Outstanding, flight: &Flight, delivered: u32) {
        self.phase = Phase::Recovery;
        self.must_send_first = true;
        let outstanding = sent.len() as u32;
        let segments = outstanding - std::mem::take(&mut self.limited).min(outstanding);
        let cwnd_before = window.cwnd as u32;
        window.enter_fast_recovery(&Flight { segments, ..*flight });
        // `pipe` replaces the inflation.
        window.inflation = 0;
        if let Some(prr) = &mut self.prr {
            // RecoverFS. Linux uses the window instead (`prior_cwnd`).
            let load = outstanding - self.sacked + delivered;
            *prr = Prr::begin(if self.is_recent_linux { cwnd_before } else { load });
        }
        self.continue_recovery(window, delivered.max(1), NOT_SAFE);
    }

    /// Updates proportional rate reduction (PRR) after `delivered` segments have arrived in a
    /// recovery. `is_safe`: SND.UNA advanced, and no further segment is lost.
    fn continue_recovery(&mut self, window: &mut Window, delivered: u32, is_safe: bool) {
        if let Some(prr) = &mut self.prr
            && let Some(cwnd) =
                prr.on_ack(&PrrAck { ssthresh: window.ssthresh, pipe: self.pipe, delivered, is_safe })
        {
            window.cwnd = cwnd;
        }
    }

    /// Linux does not reduce the window at an acknowledgment below SND.UNA (`tcp_ack`, old_ack).
    fn keeps_window(&self, ack: &Duplicate<'_>) -> bool {
        self.is_recent_linux && ack.is_late
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
        let delivered =
            self.mark_newly_sacked(sent, ack.flight.una, ack.sack) + ack.segments - ack.removed.sacked;
        window.duplicates = 0;
        let is_over = self.phase != Phase::Open && ack.flight.una >= window.recover;
        // RFC 5681 §3.1: the acknowledgment that ends a recovery after a timeout raises the window
        // like the acknowledgments before it.
        let ends_recovery = is_over && self.phase == Phase::Recovery;
        if is_over {
            self.end(window);
        }
        let marked = self.mark_lost(sent, ack.now);
        let begins = match self.phase {
            Phase::Open => marked.segments > 0,
            Phase::Recovery => false,
            Phase::Expired => marked.lost_retransmission,
        };
        if begins {
            self.begin(window, sent, &ack.flight, delivered);
            return Reaction { sample: super::Sample::Timed, ..Reaction::RECOVER };
        }
        if self.phase == Phase::Recovery {
            self.continue_recovery(window, delivered, marked.segments == 0);
        } else if ack.segments > 0 && (!ends_recovery || self.is_recent_linux) {
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

    /// A detected loss begins a recovery. After a timeout it begins one only if a retransmission is
    /// lost. Other duplicates continue the recovery in progress.
    fn on_duplicate_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &Duplicate<'_>,
    ) -> Reaction {
        let marked = self.mark_lost(sent, ack.now);
        let begins = marked.segments > 0
            && (self.phase == Phase::Open || self.is_expired() && marked.lost_retransmission);
        if begins {
            let cwnd_before = window.cwnd;
            self.begin(window, sent, &ack.flight, self.newly_sacked);
            if self.keeps_window(ack) {
                window.cwnd = cwnd_before;
            }
            return Reaction::RECOVER;
        }
        if self.phase == Phase::Recovery && !self.keeps_window(ack) {
            self.continue_recovery(window, self.newly_sacked, NOT_SAFE);
        }
        let sent_before_oldest = |first: Time| sent.first().is_some_and(|oldest| first < oldest.sent_at);
        let restart_timer = self.reports_restart_timer && self.sacked_sent_at.is_some_and(sent_before_oldest);
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
            Selection::Wait
        } else if self.lost > 0 {
            sent.ring.iter().position(|segment| segment.lost).map_or(Selection::Wait, Selection::Lost)
        } else {
            Selection::InOrder
        }
    }

    #[inline]
    fn on_sent(&mut self, selection: Selection, _number: u64, _now: Time) {
        match selection {
            Selection::Lost(_) => {
                self.lost -= 1;
                self.must_send_first = false;
                self.has_retransmitted = true;
            }
            Selection::First | Selection::Probe(_) => {
                self.has_retransmitted = true;
                return;
            }
            _ if self.phase == Phase::Open && self.sacked > 0 => self.limited += 1,
            _ => {}
        }
        self.pipe += 1;
        if let Some(prr) = &mut self.prr
            && self.phase == Phase::Recovery
        {
            prr.on_sent();
        }
    }
}
