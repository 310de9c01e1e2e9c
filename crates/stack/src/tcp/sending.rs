//! Selection of the data that a connection end sends next: a retransmission or new data, and
//! whether the windows permit it. `Connection::poll_transmit` calls `poll_data` until no segment
//! may be sent. The variant (`congestion`) decides the order of retransmissions, and `new_data.rs`
//! makes new segments. Sequence numbers are in bytes, windows and indices count segments.

use umts_kernel::TraceSink;
use umts_units::Time;

use crate::context::Context;
use crate::trace::{SendCause, TraceEvent};

use super::congestion::{CongestionControl, Selection};
use super::connection::Connection;
use super::outstanding::Sent;
use super::sender::Sender;
use super::timers::Timer;

/// The rule that permits the next segment in order to be sent.
#[derive(Debug, Clone, Copy)]
enum Permission {
    /// The congestion window and the other end's window.
    Window,
    /// Limited transmit (RFC 3042): the first duplicate ACKs each permit one segment beyond cwnd.
    LimitedTransmit,
}

impl Connection {
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
        let sent = self.send_selected(selection, cx.now)?;
        let is_new = sent.transmissions == 0;

        // The segment counts as sent: variant, law, episode and timers are updated.
        self.sender.variant.on_sent(selection, segment_number, cx.now);
        self.notify_law_of_transmission(cx.now, segment_number, &sent);
        self.sender.last_sent = cx.now;
        self.sender.sent_new |= is_new;
        if !is_new && self.sender.episode.is_some() {
            self.count_retransmission(sent.payload);
        }
        let cause = if is_new { SendCause::New } else { self.retransmission_cause(selection) };
        if !self.timers.is_running(Timer::Rto) {
            self.restart_timer(cx.now);
        }
        if self.rack().is_some() {
            self.process_transmission(cx, selection, is_new);
        }
        Some((sent, cause))
    }

    /// Whether all written data is sent and acknowledged, or this end has not opened, so that there
    /// is nothing to select. This shortcut serves the receiver of a download, which is polled twice
    /// for each received segment.
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
        // `has_new_data` is used only while a segment is SACKed.
        let has_sacked = self.sender.outstanding.sacked_to > self.sender.outstanding.una();
        if has_sacked {
            self.sender.outstanding.has_new_data = self.new_segment().is_some();
        }
        let sender = &self.sender;
        let selection = sender.variant.select(&sender.window, &sender.outstanding, sender.advertised);
        let is_hole = matches!(selection, Selection::Hole(_) | Selection::NextUnsacked(_));
        let is_deferred = sender.only_holes && !is_hole;
        if is_deferred { Selection::Wait } else { selection }
    }

    /// Marks the selected segment as sent now. Returns its state before, or `None` if it may not be
    /// sent.
    #[inline]
    fn send_selected(&mut self, selection: Selection, now: Time) -> Option<Sent> {
        match selection {
            Selection::Wait => None,
            Selection::First => Some(self.resend_oldest(now)),
            Selection::Hole(index)
            | Selection::Rescue(index)
            | Selection::Lost(index)
            | Selection::Probe(index) => self.sender.outstanding.send_hole(index, now),
            Selection::NextUnsacked(index) => self.sender.outstanding.send_from(index, now),
            Selection::InOrder => self.next_in_order(now),
            Selection::ByWindow => {
                let permission = self.permission()?;
                let sent = self.next_in_order(now)?;
                self.sender.use_permission(permission);
                Some(sent)
            }
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

    /// The rule that allows the next segment in order to be sent, if any.
    #[inline]
    fn permission(&self) -> Option<Permission> {
        let sender = &self.sender;
        let segments_ahead = sender.outstanding.next() as u32;
        let fits_window = segments_ahead < sender.window.usable(sender.advertised);
        if fits_window && sender.burst > 0 {
            return Some(Permission::Window);
        }
        if !sender.limited {
            return None;
        }
        // RFC 3042: one segment beyond cwnd for each of the first two duplicates.
        let cwnd = sender.window.cwnd as u32;
        let limit = cwnd.saturating_add(sender.window.duplicates).min(sender.advertised);
        (segments_ahead < limit).then_some(Permission::LimitedTransmit)
    }

    /// The cause of a retransmission for the trace. A selection by the window or in order continues
    /// a go-back.
    #[inline]
    fn retransmission_cause(&mut self, selection: Selection) -> SendCause {
        match selection {
            Selection::First | Selection::Hole(_) | Selection::Rescue(_) => SendCause::DupAck,
            Selection::Lost(_) => self.cause_of_lost(),
            Selection::Probe(_) => SendCause::TailLoss,
            _ => self.sender.go_back_cause,
        }
    }
}

impl Sender {
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
}
