//! Spurious retransmissions: a segment was retransmitted although its original arrived later. Three
//! methods detect this, and one response undoes the reaction to the supposed loss.
//!
//! - [`eifel`](self): by the timestamp that an ACK echoes (RFC 3522).
//! - [`frto`](self): by ACKs of segments that were not retransmitted, after a timeout (RFC 5682).
//! - [`dsack`](self): by the receiver's reports of duplicates (RFC 2883, RFC 3708).
//!
//! The response follows RFC 4015 §3.2. The threshold is restored, and the window becomes the flight
//! size and an ACK's worth. After a spurious timeout the sender continues with new data, and the
//! next round trip makes the timer more conservative.
//!
//! If none is enabled, no state is kept.

mod dsack;
mod eifel;
mod frto;

use umts_kernel::TraceSink;
use umts_units::Time;

use self::dsack::Duplicates;
use self::eifel::Eifel;
use self::frto::{FRto, FrtoAck, Verdict};
use super::congestion::{CongestionControl, CwndAndSsthresh, Flight, Loss, Resend, Selection, VariantState};
use super::connection::Connection;
use super::rto::RttRegisters;
use super::sender::Sender;
use crate::context::Context;
use crate::packet::Segment;
use crate::trace::{SendCause, SpuriousBy, TraceEvent};

/// Number of new segments that F-RTO sends in step 2.
const FRTO_PROBES: u8 = 2;
/// The largest window after a probe without a result (RFC 5682 §2.1, step 3a).
const CONVENTIONAL_WINDOW: f64 = 3.0;

/// Minimum threshold, in segments (RFC 5681 §3.1, equation 4).
const MIN_SSTHRESH: f64 = 2.0;
/// Linux restores a threshold of at least this part of the window (`tcp_current_ssthresh`).
const LINUX_SSTHRESH_PART: f64 = 0.75;

/// State of a reaction to a loss, until it is known whether the loss was real.
#[derive(Debug)]
pub(super) struct Episode {
    /// The episode began with a timeout. Otherwise with duplicate ACKs.
    by_timeout: bool,
    /// Oldest unacknowledged sequence number at the beginning.
    una: u64,
    /// The sequence number after the highest one sent, at the beginning or when its segment last
    /// timed out.
    recover: u64,
    /// The larger of flight size and threshold (RFC 4015: pipe_prev), in segments.
    pipe: f64,
    /// The window and threshold that Linux restores (`prior_cwnd`, `prior_ssthresh`).
    prior: CwndAndSsthresh,
    /// SRTT and RTTVAR before the episode.
    registers: Option<RttRegisters>,
    /// Detection by timestamps, if in use.
    eifel: Option<Eifel>,
    /// Detection by originals after a timeout, if in use.
    frto: Option<FRto>,
    /// Number of new segments that F-RTO may still send.
    probes: u8,
    /// Detection by duplicate reports, if in use.
    duplicates: Option<Duplicates>,
}

impl Episode {
    /// An ECN echo has confirmed the congestion: an undo does not restore the window (Linux).
    pub fn keep_reduction(&mut self) {
        self.prior = CwndAndSsthresh { cwnd: 0.0, ssthresh: 0.0 };
    }

    /// The oldest segment has timed out again. `max_sent`: the sequence number after the highest
    /// one sent.
    fn repeat_timeout(&mut self, max_sent: u64, allows_frto: bool) {
        self.recover = max_sent;
        self.frto = self.frto.filter(|_| allows_frto);
        if let Some(frto) = &mut self.frto {
            frto.restart(max_sent);
        }
    }
}

/// Adaptation of the timer to the first round trip of data sent after a spurious timeout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Adaptation {
    /// The next sequence number when the timeout was found spurious. The first round trip ends with
    /// an ACK above it.
    pub after: u64,
    /// SRTT and RTTVAR before the timeout.
    pub registers: RttRegisters,
}

/// An acknowledgment by which an episode is decided.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AckEvidence {
    /// New data is acknowledged.
    pub advances: bool,
    /// Number of segments covered.
    pub acked: u32,
    /// Number of segments among them that were sent once and not SACKed before.
    pub originals: u32,
}

impl Connection {
    /// Begins an episode before a retransmission because of a timeout or of duplicate ACKs.
    /// `flight` and `window_before` must be the values before the window is reduced.
    pub(super) fn begin_loss_episode(
        &mut self,
        now: Time,
        flight: &Flight,
        window_before: CwndAndSsthresh,
        loss: Loss,
    ) {
        let is_enabled = self.config.eifel || self.config.frto || self.config.dsack_undo;
        let is_syn = flight.una == 0;
        if !is_enabled || self.config.is_one_way() || is_syn {
            return;
        }
        let by_timeout = loss == Loss::Timeout;
        let times_out_again = by_timeout && self.is_in_timeout_recovery(flight);
        let allows_frto = by_timeout && self.allows_frto(flight, times_out_again);
        if times_out_again
            && let Some(episode) = &mut self.sender.episode
            && episode.una == flight.una
        {
            return episode.repeat_timeout(flight.max_sent, allows_frto);
        }
        let CwndAndSsthresh { cwnd, ssthresh } = window_before;
        let counts_duplicates = self.config.dsack_undo && self.negotiated.blocks > 0;
        let episode = Episode {
            by_timeout,
            una: flight.una,
            recover: flight.max_sent,
            pipe: f64::from(flight.segments).max(ssthresh),
            prior: CwndAndSsthresh { cwnd, ssthresh: ssthresh.max((cwnd * LINUX_SSTHRESH_PART).floor()) },
            registers: self.sender.estimator.registers(),
            eifel: self.new_eifel(now),
            frto: (self.config.frto && allows_frto).then(|| self.new_frto(flight.max_sent)),
            duplicates: counts_duplicates.then(|| Duplicates::new(flight.una, flight.max_sent)),
            probes: 0,
        };
        self.sender.episode = Some(Box::new(episode));
    }

    /// RFC 5682 §2.1, step 1, allows F-RTO only for the first timeout of a recovery: otherwise each hole
    /// could cost a timeout. Linux recognises originals by their number of transmissions. It allows
    /// F-RTO outside of recoveries and if the same segment times out again (`tcp_enter_loss`).
    fn allows_frto(&self, flight: &Flight, times_out_again: bool) -> bool {
        if !self.config.is_recent_linux() {
            return !times_out_again;
        }
        let in_recovery = flight.una < self.sender.window.recover;
        !in_recovery || self.sender.expiries > 1
    }

    /// Whether the data outstanding at an earlier timeout is not yet acknowledged, so that a
    /// further timeout belongs to the same recovery.
    fn is_in_timeout_recovery(&self, flight: &Flight) -> bool {
        let episode = self.sender.episode.as_ref();
        episode.is_some_and(|episode| episode.by_timeout && episode.recover > flight.una)
    }

    /// The Eifel detection for a retransmission at `now`. RetransmitTS is the time of the first
    /// retransmission (RFC 3522 §3.2, step 1). If an earlier recovery has already retransmitted the
    /// segment, the ACK of that copy would echo a time before this one, so that nothing is
    /// detected.
    fn new_eifel(&self, now: Time) -> Option<Eifel> {
        let oldest = self.sender.outstanding.first();
        let is_first_retransmission = oldest.is_none_or(|sent| sent.transmissions == 1);
        let retransmitted_at = self.timestamp(now, self.negotiated.timestamps);
        (self.config.eifel && self.negotiated.timestamps && is_first_retransmission)
            .then(|| Eifel::new(retransmitted_at))
    }

    /// The state of F-RTO for a timeout while data below `recover` is outstanding.
    fn new_frto(&self, recover: u64) -> FRto {
        let frto = FRto::new(recover, self.negotiated.blocks > 0);
        if self.config.is_recent_linux() {
            frto.accepting_originals(self.sacked_originals(recover))
        } else {
            frto
        }
    }

    /// SACKed segments below `recover` that were sent once.
    fn sacked_originals(&self, recover: u64) -> usize {
        let below_recover = self.sender.outstanding.ring.iter().take_while(|sent| sent.end() <= recover);
        below_recover.filter(|sent| sent.sacked && sent.transmissions == 1).count()
    }

    /// The selection of F-RTO: the next new segment, or nothing. `None`: the variant selects.
    pub(super) fn select_for_frto(&mut self) -> Option<Selection> {
        let episode = self.sender.episode.as_mut()?;
        if !episode.frto.is_some_and(|frto| frto.is_probing()) {
            return None;
        }
        let may_probe = episode.probes > 0;
        episode.probes = episode.probes.saturating_sub(1);
        Some(if may_probe { Selection::InOrder } else { Selection::Wait })
    }

    /// Counts a retransmission.
    #[inline]
    pub(super) fn count_retransmission(&mut self, payload: u32) {
        if let Some(episode) = &mut self.sender.episode
            && let Some(duplicates) = &mut episode.duplicates
        {
            duplicates.on_retransmission(payload);
        }
    }

    /// Decides by an acknowledgment that has been processed whether the episode was spurious.
    pub(super) fn decide_episode<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
        evidence: &AckEvidence,
    ) {
        let AckEvidence { advances, acked, .. } = *evidence;
        let believes_report = self.believes_duplicate_report();
        let Some(mut episode) = self.sender.episode.take() else { return };
        let by_duplicates = believes_report
            && episode.duplicates.as_mut().is_some_and(|duplicates| duplicates.on_ack(segment));
        let by_timestamp = advances && episode.eifel.as_mut().is_some_and(|eifel| eifel.on_new_ack(segment));
        if by_timestamp || by_duplicates {
            let by = if by_timestamp { SpuriousBy::Eifel } else { SpuriousBy::Dsack };
            return self.respond(cx, &episode, by, acked);
        }
        let verdict = self.frto_verdict(&mut episode, evidence);
        match verdict {
            Verdict::Spurious => return self.respond(cx, &episode, SpuriousBy::FRto, acked),
            Verdict::Probe => {
                episode.probes = FRTO_PROBES;
                self.sender.outstanding.go_to_end();
            }
            Verdict::Conventional => {
                let window = &mut self.sender.window;
                window.cwnd = window.cwnd.min(CONVENTIONAL_WINDOW);
                self.go_back(SendCause::Rto);
            }
            Verdict::Undecided => {}
        }
        self.sender.episode = Some(episode);
    }

    /// Linux ignores reports of more duplicates than it has retransmitted (`tcp_dsack_seen`).
    fn believes_duplicate_report(&mut self) -> bool {
        !self.config.is_recent_linux() || self.rack().is_none_or(|rack| rack.duplicates() > 0)
    }

    fn frto_verdict(&self, episode: &mut Episode, evidence: &AckEvidence) -> Verdict {
        let Some(frto) = &mut episode.frto else { return Verdict::Undecided };
        frto.on_ack(&FrtoAck {
            una: self.sender.outstanding.una(),
            advances: evidence.advances,
            originals: evidence.originals,
            sacked: self.sacked_originals(frto.recover()),
            has_new_data: self.new_segment().is_some(),
        })
    }

    /// Undoes the reaction to the loss (RFC 4015 §3.2, steps 3 to 6). `by`: the method that
    /// detected the spurious retransmission. `acked`: number of segments that the deciding ACK
    /// covers.
    fn respond<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        episode: &Episode,
        by: SpuriousBy,
        acked: u32,
    ) {
        let sender = &mut self.sender;
        sender.variant.on_undo(&mut sender.outstanding);
        self.restore_window(episode, acked);
        let sender = &mut self.sender;
        sender.resend_first = false;
        if episode.by_timeout {
            sender.outstanding.go_to_end();
            sender.estimator.end_back_off();
            let after = sender.outstanding.max_sent();
            // Linux uses its estimator unchanged, which already contains the long round trip.
            let registers = episode.registers.filter(|_| !self.config.is_recent_linux());
            sender.adaptation = registers.map(|registers| Adaptation { after, registers });
        }
        let (connection, end, timeout) = (self.id, self.end, episode.by_timeout);
        cx.record(|| TraceEvent::SpuriousRetransmission { connection, end, by, timeout });
        self.restart_timer(cx.now);
        let recovers = self.examine_after_undo(cx, episode, by);
        if self.config.is_recent_linux() && acked > 0 && !recovers {
            // After the undo, the acknowledgment raises the window as outside of a recovery.
            self.sender.window.increase();
        }
    }

    /// Restores window and threshold, of the standard rules and of a window law. `acked`: number of
    /// segments that the deciding acknowledgment covers.
    fn restore_window(&mut self, episode: &Episode, acked: u32) {
        let is_linux = self.config.is_recent_linux();
        let sender = &mut self.sender;
        let window = &mut sender.window;
        if is_linux {
            // tcp_undo_cwnd_reduction.
            window.cwnd = window.cwnd.max(episode.prior.cwnd);
            window.ssthresh = window.ssthresh.max(episode.prior.ssthresh);
        } else {
            let flight = sender.outstanding.len() as u32;
            let acked_at_most_initial = acked.min(self.config.initial_segments());
            window.cwnd = f64::from(flight.saturating_add(acked_at_most_initial)).max(window.cwnd);
            window.ssthresh = episode.pipe.max(MIN_SSTHRESH);
        }
        window.inflation = 0;
        window.duplicates = 0;
        window.recover = sender.outstanding.una().saturating_sub(1);
        if let Some(law) = window.law.non_standard() {
            law.undo();
        }
    }

    /// Examines the acknowledgment that undid a reaction for further losses, as Linux does
    /// (`tcp_fastretrans_alert`), except in a recovery that timestamps undo. Returns whether a recovery
    /// begins.
    fn examine_after_undo<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        episode: &Episode,
        by: SpuriousBy,
    ) -> bool {
        let flight = self.flight();
        let window_before = self.sender.window.size();
        let Sender { variant: VariantState::Rack(rack), window, outstanding, .. } = &mut self.sender else {
            return false;
        };
        if by == SpuriousBy::Eifel && !episode.by_timeout {
            rack.update_order(outstanding);
            return false;
        }
        let reaction = rack.examine_after_undo(window, outstanding, &flight, cx.now);
        let recovers = reaction.resend == Resend::Lost;
        if recovers {
            self.begin_recovery(cx, &flight, window_before);
        }
        recovers
    }
}
