//! The sending half of a connection end: which segment to send next, and whether the windows permit
//! it. `Connection::poll_transmit` calls `poll_data` until no segment may be sent. The order of
//! retransmissions is decided by the variant (`congestion`), the effect of ACKs is in `acks.rs`,
//! and the retransmission timer is in `expiry.rs`. Sequence numbers and the other end's window are
//! in bytes, the congestion window is in segments.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use crate::context::Context;
use crate::ids::ConnectionId;
use crate::packet::Segment;
use crate::trace::{Real, SendCause, TraceEvent};

use super::config::{Nagle, TcpConfig};
use super::congestion::{
    ByteCounting, CongestionControl, Exit, Flight, Law, Rules, Selection, Usage, VariantState, Window,
    WindowLoad,
};
use super::connection::Connection;
use super::outstanding::{Outstanding, Sent};
use super::persist::Persist;
use super::rto::RttEstimator;
use super::spurious::{Adaptation, Episode};
use super::tail_loss::TailLoss;
use super::timers::Timer;

#[derive(Debug)]
pub(super) struct Sender {
    pub outstanding: Outstanding,
    /// The SYN may be sent.
    pub opened: bool,
    /// The sequence number after the last byte that the application wrote.
    pub written: u64,
    /// A FIN follows the written data.
    pub close_requested: bool,
    pub fin_acked: bool,
    /// Largest payload that both ends accept, in bytes.
    pub mss: u32,
    /// The other end's window, in bytes.
    pub peer_window: u32,
    /// `peer_window` in whole segments. It limits only one-way connections, as in ns-2. Otherwise
    /// [`room`](Connection::room) limits bytes.
    pub advertised: u32,
    pub window: Window,
    pub variant: VariantState,
    pub estimator: RttEstimator,
    /// The segment being timed: the sequence number after it, and its transmission time.
    pub timed: Option<(u64, Time)>,
    /// The last duplicate ACK allows limited transmit to send a segment (RFC 3042).
    pub limited: bool,
    /// Segments sent by limited transmit since the last new acknowledgment.
    pub limited_sent: u32,
    /// Number of segments that may still be sent in answer to this ACK.
    pub burst: u32,
    /// The oldest segment must be sent again, regardless of the window.
    pub resend_first: bool,
    /// Cause of the last go-back.
    pub go_back_cause: SendCause,
    /// Number of expiries of the retransmission timer for a SYN.
    pub syn_expiries: u32,
    /// In answer to a late acknowledgment, only segments that it shows to be lost are sent. (RFC
    /// 6675 §5, step C, allows more, but the next acknowledgment is already under way.)
    pub only_holes: bool,
    /// New data was sent since the last call of `update_usage`.
    sent_new: bool,
    pub persist: Persist,
    /// Number of expiries of the retransmission timer since the last new acknowledgment.
    pub expiries: u32,
    /// The largest window that the other end has advertised, in bytes.
    pub largest_window: u32,
    /// The number of the segment that last updated the window (RFC 9293 SND.WL1).
    pub window_seq: u64,
    /// The last reaction to a loss, while it may still turn out to be spurious.
    pub episode: Option<Box<Episode>>,
    pub tail: TailLoss,
    /// The adaptation of the timer that is due after a spurious timeout.
    pub adaptation: Option<Adaptation>,
    /// Time of the last transmission other than a pure acknowledgment.
    last_sent: Time,
    /// The sequence number after the last small segment sent (Minshall's variant of Nagle's
    /// algorithm).
    small_end: u64,
}

impl Sender {
    pub fn new(config: &TcpConfig, connection: ConnectionId) -> Self {
        let rules = if config.is_one_way() { Rules::Ns2 } else { Rules::Rfc5681 };
        // Without a SYN the numbers begin with the first byte.
        let first = u64::from(config.vegas_without_header());
        Sender {
            outstanding: Outstanding::starting_at(first),
            opened: false,
            written: 1,
            close_requested: false,
            fin_acked: false,
            mss: config.mss(),
            peer_window: config.receive_window(),
            advertised: in_segments(config.receive_window(), config),
            window: Window {
                abc: config.abc.then(|| ByteCounting::new(config.abc_limit)),
                has_whole_ssthresh: config.is_recent_linux(),
                usage: (config.window_validation && !config.is_one_way()).then(Usage::default),
                exit: Exit::new(config.slow_start, config.variant).filter(|_| !config.is_one_way()),
                ..Window::new(
                    config.initial_ssthresh.map(|window| window.in_segments(config.segment_payload)),
                    rules,
                    Law::new(config, connection),
                    config.mss(),
                )
            },
            variant: VariantState::new(config),
            estimator: RttEstimator::new(config),
            timed: None,
            limited: false,
            limited_sent: 0,
            burst: u32::MAX,
            resend_first: false,
            go_back_cause: SendCause::Rto,
            syn_expiries: 0,
            only_holes: false,
            sent_new: false,
            persist: Persist::default(),
            expiries: 0,
            largest_window: 0,
            window_seq: 0,
            episode: None,
            tail: TailLoss::default(),
            adaptation: None,
            last_sent: Time::ZERO,
            small_end: 0,
        }
    }

    /// Updates the counters of the rule that permitted a transmission.
    #[inline]
    fn use_permission(&mut self, permission: Permission) {
        match permission {
            Permission::Window => self.burst -= 1,
            Permission::LimitedTransmit => {
                self.limited = false;
                self.limited_sent += 1;
            }
        }
    }

    /// Whether the window in `segment` is newer than the current one (RFC 9293 §3.10.7.4, SND.WL1).
    /// For the same number, Linux accepts a smaller window only if it is 0
    /// (`tcp_may_update_window`).
    #[inline]
    pub fn updates_window(&self, segment: &Segment, config: &TcpConfig) -> bool {
        if segment.ack > self.outstanding.una() || segment.seq > self.window_seq {
            return true;
        }
        let is_smaller = segment.window > 0 && segment.window < self.peer_window;
        segment.seq == self.window_seq && !(is_smaller && config.is_recent_linux())
    }

    /// Processes the other end's window.
    #[inline]
    pub fn update_peer_window(&mut self, window: u32, config: &TcpConfig) {
        if window != self.peer_window {
            self.peer_window = window;
            self.advertised = in_segments(window, config);
        }
        self.largest_window = self.largest_window.max(window);
    }

    /// Sets the segment size on which both ends agreed.
    pub fn set_segment_size(&mut self, bytes: u32) {
        self.mss = bytes;
        self.window.smss = bytes;
    }

    /// Replaces the variant if the other end does not support SACK.
    pub fn disable_sack(&mut self, config: &TcpConfig) {
        if let Some(variant) = self.variant.without_sack(config) {
            self.variant = variant;
        }
    }

    /// Whether the FIN was sent at least once. It has the number after the last byte written.
    pub fn fin_sent(&self) -> bool {
        self.outstanding.max_sent() > self.written
    }
}

impl Connection {
    /// Congestion window in segments, without the inflation of fast recovery.
    pub fn cwnd(&self) -> f64 {
        self.sender.window.cwnd
    }

    /// Slow start threshold in segments. Infinite if there is none.
    pub fn ssthresh(&self) -> f64 {
        self.sender.window.ssthresh
    }

    /// Segments by which duplicate ACKs inflate the window in fast recovery.
    pub fn inflation(&self) -> u32 {
        self.sender.window.inflation
    }

    /// Sequence numbers sent and not acknowledged: payload, and one each for SYN and FIN.
    pub fn outstanding_bytes(&self) -> u64 {
        self.sender.outstanding.max_sent() - self.sender.outstanding.una()
    }

    /// The retransmission timeout with bounds and back-off.
    pub fn rto(&self) -> Duration {
        self.sender.estimator.timeout()
    }

    pub fn estimator(&self) -> &RttEstimator {
        &self.sender.estimator
    }

    /// Consecutive duplicate ACKs, as the variant counts them.
    pub fn duplicates(&self) -> u32 {
        self.sender.window.duplicates
    }

    /// Selects the segment to send now, marks it as sent, notifies variant and law, and starts the
    /// timers. Returns the segment as it was before this transmission, so that its `transmissions`
    /// is 0 for new data, and the cause.
    #[inline]
    pub(super) fn poll_data<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
    ) -> Option<(Sent, SendCause)> {
        if self.waits_for_pacing() {
            return None;
        }
        if self.only_receives() {
            self.notify_law_nothing_to_send();
            return None;
        }
        self.restart_after_idle(cx);
        let selection = self.select();
        let segment_number = self.sender.outstanding.number_of(selection);
        let sent = match selection {
            Selection::Wait => return None,
            Selection::First => self.resend_oldest(cx.now),
            Selection::Hole(index)
            | Selection::Rescue(index)
            | Selection::Lost(index)
            | Selection::Probe(index) => self.sender.outstanding.send_hole(index, cx.now)?,
            Selection::NextUnsacked(index) => self.sender.outstanding.send_from(index, cx.now)?,
            Selection::InOrder => self.next_in_order(cx.now)?,
            Selection::ByWindow => {
                let permission = self.permission()?;
                let sent = self.next_in_order(cx.now)?;
                self.sender.use_permission(permission);
                sent
            }
        };
        self.sender.variant.on_sent(selection, segment_number, cx.now);
        self.notify_law_of_transmission(cx.now, segment_number, &sent);
        let is_new = sent.transmissions == 0;
        self.sender.last_sent = cx.now;
        self.sender.sent_new |= is_new;
        if !is_new && self.sender.episode.is_some() {
            self.count_retransmission(sent.payload);
        }
        let cause = match selection {
            _ if is_new => SendCause::New,
            Selection::First | Selection::Hole(_) | Selection::Rescue(_) => SendCause::DupAck,
            Selection::Lost(_) => self.cause_of_lost(),
            Selection::Probe(_) => SendCause::TailLoss,
            _ => self.sender.go_back_cause,
        };
        if !self.timers.is_running(Timer::Rto) {
            self.restart_timer(cx.now);
        }
        if self.rack().is_some() {
            self.process_transmission(cx, selection, is_new);
        }
        Some((sent, cause))
    }

    /// Whether all written data is sent and acknowledged, or this end has not opened: neither the
    /// window nor a law decides anything. This shortcut serves the receiver of a download, which is
    /// polled twice for each received segment.
    #[inline]
    pub(super) fn only_receives(&self) -> bool {
        let sender = &self.sender;
        let has_sent_all = || {
            sender.written == sender.outstanding.max_sent()
                && !(sender.close_requested | sender.resend_first | self.config.is_one_way())
                && sender.episode.is_none()
        };
        sender.outstanding.is_empty() && (!sender.opened || has_sent_all())
    }

    /// RFC 5681 §4.1: after a pause longer than a timeout, the window is reset.
    #[inline]
    fn restart_after_idle<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let sender = &self.sender;
        if !sender.outstanding.is_empty() || sender.outstanding.una() == 0 || !self.config.slow_start_restart
        {
            return;
        }
        let restart_cwnd = f64::from(self.config.initial_segments());
        let pause = cx.now.saturating_since(sender.last_sent);
        let is_idle = pause > sender.estimator.timeout();
        if is_idle && sender.window.cwnd > restart_cwnd && self.new_segment().is_some() {
            self.restart_window(pause, restart_cwnd);
            self.record_window(cx);
        }
    }

    /// RFC 5681 §4.1 reduces the window at once to the restart window of `restart_cwnd` segments.
    /// Linux halves it once for each timeout that fits into the pause, and raises the threshold to
    /// at least three quarters of the old window (`tcp_cwnd_restart`).
    fn restart_window(&mut self, pause: Duration, restart_cwnd: f64) {
        let timeout = self.sender.estimator.timeout();
        let window = &mut self.sender.window;
        if !self.config.is_recent_linux() {
            window.cwnd = restart_cwnd;
            return;
        }
        window.ssthresh = window.ssthresh.max((window.cwnd * 0.75).floor());
        let mut remaining = pause;
        while remaining > timeout && window.cwnd > restart_cwnd {
            remaining = remaining - timeout;
            window.cwnd = (window.cwnd / 2.0).floor();
        }
        window.cwnd = window.cwnd.max(restart_cwnd);
    }

    /// Records whether the congestion window is in full use, for window validation: an unused
    /// window must not grow. Call this when no more segments can be sent now.
    #[inline]
    pub(super) fn update_usage(&mut self) {
        let sender = &mut self.sender;
        let Some(usage) = &mut sender.window.usage else { return };
        let outstanding = &sender.outstanding;
        let in_flight = match &sender.variant {
            VariantState::Rack(rack) => rack.in_flight(),
            _ => outstanding.next() as u32,
        };
        let is_full = in_flight >= sender.window.cwnd as u32;
        let has_more = sender.written > outstanding.max_sent();
        if std::mem::take(&mut sender.sent_new) || (is_full && has_more) {
            usage.update(&WindowLoad {
                is_full,
                outstanding: outstanding.len() as u32,
                una: outstanding.una(),
                max_sent: outstanding.max_sent(),
            });
        }
    }

    /// Sends the oldest segment again. If none is outstanding, sends new data, which remains the
    /// next segment in order, or an empty segment if there is no new data. (Only Vegas can select
    /// the oldest segment while none is outstanding.)
    fn resend_oldest(&mut self, now: Time) -> Sent {
        if self.sender.outstanding.is_empty() {
            let _ = self.add_segment(now);
        }
        let outstanding = &mut self.sender.outstanding;
        let empty = Sent { seq: outstanding.max_sent(), ..Sent::default() };
        outstanding.resend_out_of_order(0, now).unwrap_or(empty)
    }

    /// Selects the segment to send: for F-RTO, a forced retransmission of the oldest one, a tail
    /// loss probe, or according to the variant.
    #[inline]
    fn select(&mut self) -> Selection {
        if let Some(selection) = self.select_for_frto() {
            return selection;
        }
        if std::mem::take(&mut self.sender.resend_first) {
            return Selection::First;
        }
        if self.sender.tail.is_due() {
            return self.probe_for_tail();
        }
        if self.sender.outstanding.sacked_to > self.sender.outstanding.una() {
            self.sender.outstanding.has_new_data = self.new_segment().is_some();
        }
        let sender = &self.sender;
        let selection = sender.variant.select(&sender.window, &sender.outstanding, sender.advertised);
        let is_deferred =
            sender.only_holes && !matches!(selection, Selection::Hole(_) | Selection::NextUnsacked(_));
        if is_deferred { Selection::Wait } else { selection }
    }

    /// Returns the next segment in order, as it was before this transmission. Adds a new one if all
    /// have been sent.
    #[inline]
    fn next_in_order(&mut self, now: Time) -> Option<Sent> {
        if self.sender.outstanding.next() == self.sender.outstanding.len() {
            self.add_segment(now)?;
        }
        self.sender.outstanding.send_next(now)
    }

    /// Appends a new segment, which is about to be sent, to the outstanding ones.
    #[inline]
    fn add_segment(&mut self, now: Time) -> Option<()> {
        let Some(new) = self.new_segment() else {
            self.notify_law_nothing_to_send();
            return None;
        };
        self.end_persist();
        self.sender.outstanding.push(new);
        if new.payload > 0 && new.payload < self.sender.mss {
            self.sender.small_end = new.end();
        }
        // One segment is timed at a time (RFC 6298 §3), and only from its first transmission on.
        self.sender.timed.get_or_insert((new.end(), now));
        Some(())
    }

    /// The rule that allows the next segment in order to be sent, if any.
    #[inline]
    fn permission(&self) -> Option<Permission> {
        let sender = &self.sender;
        let advertised = sender.advertised;
        let segments_ahead = sender.outstanding.next() as u32;
        if segments_ahead < sender.window.usable(advertised) && sender.burst > 0 {
            return Some(Permission::Window);
        }
        if !sender.limited {
            return None;
        }
        // RFC 3042: one segment beyond cwnd for each of the first two duplicates.
        let limit = (sender.window.cwnd as u32).saturating_add(sender.window.duplicates).min(advertised);
        (segments_ahead < limit).then_some(Permission::LimitedTransmit)
    }

    /// Bytes of new data that fit into the other end's window.
    #[inline]
    pub(super) fn room(&self) -> u64 {
        let sender = &self.sender;
        if self.config.is_one_way() {
            return u64::MAX;
        }
        (sender.outstanding.una() + u64::from(sender.peer_window))
            .saturating_sub(sender.outstanding.max_sent())
    }

    /// Whether a small segment must wait: while any data is unacknowledged (RFC 9293 §3.7.4), or in
    /// Minshall's variant while another small segment is unacknowledged.
    #[inline]
    fn is_held_by_nagle(&self) -> bool {
        let outstanding = &self.sender.outstanding;
        match self.config.nagle {
            Nagle::Off => false,
            Nagle::On => !outstanding.is_empty(),
            Nagle::Minshall => self.sender.small_end > outstanding.una(),
        }
    }

    /// The next new segment, if one may be sent.
    #[inline]
    pub(super) fn new_segment(&self) -> Option<Sent> {
        let sender = &self.sender;
        let seq = sender.outstanding.max_sent();
        let sent = Sent { seq, ..Sent::default() };
        if seq == 0 {
            return sender.opened.then_some(Sent { syn: true, ..sent });
        }
        // Data waits for the handshake.
        if sender.outstanding.una() == 0
            || !sender.opened
            || !(self.config.is_one_way() || self.receiver.is_synchronised())
        {
            return None;
        }
        let available = sender.written.saturating_sub(seq);
        let may_finish = sender.close_requested && !self.config.is_one_way();
        if available == 0 {
            return (may_finish && seq == sender.written).then_some(Sent { fin: true, ..sent });
        }
        let room = self.room();
        let payload = available.min(u64::from(sender.mss)).min(room);
        // RFC 9293 §3.8.6.2.1, silly window avoidance: send a full segment, all remaining data, or
        // half of the largest advertised window.
        let worthwhile = payload == u64::from(sender.mss)
            || payload == available
            || (payload > 0 && (2 * payload >= u64::from(sender.largest_window) || sender.persist.any_size));
        let fin = may_finish && payload == available;
        if payload < u64::from(sender.mss) && !fin && self.is_held_by_nagle() {
            return None;
        }
        worthwhile.then_some(Sent { payload: payload as u32, fin, ..sent })
    }

    /// The data in flight before the event that is being handled. Segments sent by limited transmit
    /// do not count (RFC 5681 §3.2, step 2).
    #[inline]
    pub(super) fn flight(&self) -> Flight {
        let sender = &self.sender;
        Flight {
            una: sender.outstanding.una(),
            max_sent: sender.outstanding.max_sent(),
            segments: (sender.outstanding.len() as u32).saturating_sub(sender.limited_sent),
            advertised: sender.advertised,
        }
    }

    pub(super) fn record_window<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>) {
        let (connection, end, window) = (self.id, self.end, &self.sender.window);
        let (cwnd, ssthresh) = (Real(window.cwnd), Real(window.ssthresh));
        cx.record(|| TraceEvent::Window { connection, end, cwnd, ssthresh });
    }

    pub(super) fn record_rto<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>) {
        let (connection, end, estimator) = (self.id, self.end, &self.sender.estimator);
        let (srtt, rto) = (estimator.srtt(), estimator.timeout());
        cx.record(|| TraceEvent::RtoUpdated { connection, end, srtt, rto });
    }
}

/// Computes [`Sender::advertised`]. One-way connections do not negotiate a segment size, so the
/// configured one counts.
fn in_segments(window: u32, config: &TcpConfig) -> u32 {
    if config.is_one_way() { (window / config.mss()).max(1) } else { u32::MAX }
}

/// The rule that permits the next segment in order to be sent.
#[derive(Debug, Clone, Copy)]
enum Permission {
    Window,
    LimitedTransmit,
}
