//! The sending side of an entity of acknowledged mode (AM): its state variables, its window, and the
//! conditions under which it may send (TS 25.322 §9.4, §11.3.2).
//!
//! An SDU first waits in `buffer`. `transmission.rs` cuts it into PDUs, and it then stays in
//! `sent_sdus` until the peer has acknowledged all of its PDUs. `acknowledgment.rs` handles the
//! reports of the peer, `retransmission.rs` repeats missing PDUs, `discard.rs` gives up SDUs, and
//! `polling.rs` requests reports.
//!
//! State variables have the names of the standard. They count PDUs from 0 without wrapping around.
//! The PDU contains only the lowest 12 bits of its count, the sequence number [`Sn`].

use std::collections::VecDeque;
use std::num::NonZeroU16;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

use super::config::BufferCounts;
use super::discard::DiscardState;
use super::polling::Polls;
use super::timers::{Timer, Timers};
use crate::Context;
use crate::detail::DiscardReason;
use crate::ids::{Direction, UeId};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::buffer::Buffer;
use crate::radio::rlc::managed_sdus::{Entry, record_action};
use crate::radio::rlc::segmentation::SegmentationRules;
use crate::radio::rlc::window::PduSet;
use crate::radio::rlc::{Sdu, SduEnd, Sn};
use crate::trace::TraceEvent;

/// Value of [`Sender::suspended_from`] without a suspension: no PDU has this count.
const NOT_SUSPENDED: u64 = u64::MAX;

/// The sending side.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    pub(super) ue: UeId,
    /// Direction of the data that it sends.
    pub(super) direction: Direction,
    /// Sizes of a PDU and of its length indicators.
    pub(super) rules: SegmentationRules,

    // State variables and window, as counts of PDUs.
    /// VT(S): the next new PDU.
    pub(super) vt_s: u64,
    /// VT(A): the oldest PDU that is not acknowledged.
    pub(super) vt_a: u64,
    /// VT(WS): size of the window in PDUs.
    pub(super) vt_ws: u64,
    /// VT(MS): the first PDU that must not be sent yet, because it is beyond the window or blocked
    /// by a suspension after N PDUs (§9.7.5).
    vt_ms: u64,
    /// The first PDU that a suspension after N PDUs blocks, or [`NOT_SUSPENDED`].
    suspended_from: u64,

    // SDUs.
    /// SDUs with an unsent part, or with an end that no PDU has indicated yet.
    pub(super) buffer: Buffer,
    /// SDUs whose end is in a PDU between VT(A) and VT(S), in order.
    pub(super) sent_sdus: VecDeque<SentSdu>,
    /// Octets of the SDUs in `buffer` and `sent_sdus` that are not discarded.
    pub(super) stored_octets: u64,
    /// Number of SDUs that were completely acknowledged or discarded.
    pub(super) sdus_done: u64,

    // Sent PDUs between VT(A) and VT(S).
    /// PDUs with padding, in order. A PDU of flexible size is shorter instead.
    pub(super) padded: VecDeque<PaddedPdu>,
    /// PDUs reported missing and not retransmitted yet.
    pub(super) nacked: PduSet,
    /// Number of PDUs in `nacked`.
    pub(super) nacked_count: u32,
    /// PDUs that were retransmitted, or for which a POLL SUFI was sent. VT(DAT) of all others is 1.
    pub(super) retransmitted: PduSet,
    /// VT(DAT), the number of transmissions, of each PDU in `retransmitted`, as a ring of the window.
    /// Empty before the first retransmission, so that an idle user needs no memory for it.
    pub(super) vt_dat: Box<[u16]>,

    // Procedures.
    /// Polls, which request reports.
    pub(super) polls: Polls,
    /// Discarded SDUs, of which the receiver must still be informed.
    pub(super) discards: DiscardState,
    /// RLC must be reset.
    pub(super) wants_reset: bool,
}

/// A sent PDU with `padding` octets of padding, or of flexible size and shorter than the largest PDU
/// by this number of octets.
#[derive(Debug, Clone, Copy)]
pub(super) struct PaddedPdu {
    pub pdu: u64,
    pub padding: u16,
}

/// An SDU that is completely in PDUs: it begins in `first_pdu`, and `last_pdu` indicates its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentSdu {
    pub first_pdu: u64,
    pub last_pdu: u64,
    pub sdu: Sdu,
}

impl Sender {
    pub fn new(ue: UeId, direction: Direction, config: &RlcConfig) -> Self {
        let window = u64::from(config.window);
        Sender {
            ue,
            direction,
            rules: config.segmentation_rules(direction),
            vt_s: 0,
            vt_a: 0,
            vt_ws: window,
            vt_ms: window,
            suspended_from: NOT_SUSPENDED,
            buffer: Buffer::default(),
            sent_sdus: VecDeque::new(),
            stored_octets: 0,
            sdus_done: 0,
            padded: VecDeque::new(),
            nacked: PduSet::default(),
            nacked_count: 0,
            retransmitted: PduSet::default(),
            vt_dat: Box::default(),
            polls: Polls::default(),
            discards: DiscardState::default(),
            wants_reset: false,
        }
    }

    /// Enqueues an SDU. Returns false if the buffer has no room, or queue management drops the SDU.
    pub fn queue<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        sdu: &Sdu,
    ) -> bool {
        if !self.has_room_for(config, sdu) {
            return false;
        }
        let entry = self.buffer.push_managed(cx.now, sdu);
        if let Some(action) = entry.action() {
            record_action(cx, self.direction, action);
        }
        if entry == Entry::Dropped {
            return false;
        }
        self.stored_octets += sdu.size().0;
        self.start_timer_poll_periodic(cx.now, config, timers);
        if !timers.is_running(Timer::Discard) {
            self.set_timer_discard(config, timers);
        }
        let (ue, direction, octets) = (self.ue, self.direction, self.stored_octets);
        cx.record(|| TraceEvent::SduQueued { ue, direction, sdu: sdu.packet.id, size: sdu.size() });
        cx.record(|| TraceEvent::RlcBuffer { ue, direction, octets });
        true
    }

    /// Whether the SDU fits into the configured capacity of the buffer.
    fn has_room_for(&self, config: &RlcConfig, sdu: &Sdu) -> bool {
        let occupied = match config.buffer_counts {
            BufferCounts::Unacknowledged => self.stored_octets,
            BufferCounts::Unsent => self.buffer.octets(),
        };
        config.buffer.is_none_or(|capacity| occupied + sdu.size().0 <= capacity.0)
    }

    /// Octets of stored SDUs.
    pub fn occupancy(&self) -> Bytes {
        Bytes(self.stored_octets)
    }

    /// Whether anything but a report could be sent.
    #[inline]
    pub fn has_work(&self, now: Time) -> bool {
        self.discards.mrw_due || self.has_data(now)
    }

    /// Whether a data PDU could be sent.
    #[inline]
    pub fn has_data(&self, now: Time) -> bool {
        let may_repeat_to_poll = || self.polls.is_due(now) && self.can_repeat_last();
        self.nacked_count > 0 || self.can_send_new() || may_repeat_to_poll()
    }

    /// Whether no retransmission, MRW or poll is due, so that only new data may be sent.
    #[inline]
    pub fn has_only_new_data(&self, now: Time) -> bool {
        // `|` instead of `||`, see `can_send_new`.
        let anything_else_is_due = (self.nacked_count > 0) | self.discards.mrw_due | self.polls.is_due(now);
        !anything_else_is_due
    }

    /// Whether the next new PDU exists and lies within the window.
    #[inline]
    pub fn can_send_new(&self) -> bool {
        // `&` instead of `&&` avoids a branch, because the processor cannot predict in which TTI
        // the buffer runs empty.
        !self.buffer.is_empty() & (self.window_left() > 0)
    }

    /// Whether the last PDU may be repeated to carry a poll: it is neither acknowledged nor
    /// discarded.
    #[inline]
    pub(super) fn can_repeat_last(&self) -> bool {
        let is_unacknowledged = self.vt_a < self.vt_s;
        let is_kept = self.vt_s > self.discards.floor;
        is_unacknowledged && is_kept
    }

    /// Number of new PDUs that may be sent before VT(MS) is reached.
    #[inline]
    pub(super) fn window_left(&self) -> u64 {
        debug_assert_eq!(self.vt_ms, self.window_end(), "update_vt_ms follows every change of VT(A)");
        self.vt_ms.saturating_sub(self.vt_s)
    }

    /// Updates VT(MS) after a change of VT(A), VT(WS) or a suspension.
    #[inline]
    pub(super) fn update_vt_ms(&mut self) {
        self.vt_ms = self.window_end();
    }

    /// The value that VT(MS) must have.
    #[inline]
    fn window_end(&self) -> u64 {
        (self.vt_a + self.vt_ws).min(self.suspended_from)
    }

    /// Handles a WINDOW SUFI (TS 25.322 §9.2.2.11.2): `wsn` is the new size of the window in PDUs.
    /// A size above the configured one is ignored.
    pub fn apply_window(&mut self, config: &RlcConfig, wsn: NonZeroU16) {
        if u32::from(wsn.get()) <= config.window {
            self.vt_ws = u64::from(wsn.get());
            self.update_vt_ms();
        }
    }

    /// Blocks all new PDUs after the next `n` (TS 25.322 §9.7.5).
    pub fn suspend_from(&mut self, n: u64) {
        self.suspended_from = self.vt_s.saturating_add(n);
        self.update_vt_ms();
    }

    /// Ends a suspension.
    pub fn resume(&mut self) {
        self.suspended_from = NOT_SUSPENDED;
        self.update_vt_ms();
    }

    /// Sets all variables to their initial values. SDUs with a sent part are lost (TS 25.322
    /// §11.4.3). The number of PDUs that a suspension after N PDUs still allows is kept.
    pub fn reset<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
    ) {
        self.discard_sent(cx, config, DiscardReason::Reset, |_, _| true);
        self.sent_sdus.clear();
        self.nacked.clear_range(self.vt_a, self.vt_s);
        self.nacked_count = 0;
        self.retransmitted.clear_range(self.vt_a, self.vt_s);
        self.padded.clear();
        if self.suspended_from != NOT_SUSPENDED {
            let pdus_still_allowed = self.suspended_from.saturating_sub(self.vt_s);
            self.suspended_from = pdus_still_allowed;
        }
        self.vt_s = 0;
        self.vt_a = 0;
        self.vt_ws = u64::from(config.window);
        self.update_vt_ms();
        self.polls = Polls::default();
        self.discards = DiscardState::default();
        self.wants_reset = false;
        self.set_timer_discard(config, timers);
    }

    /// Number of stored elements.
    #[cfg(test)]
    pub fn stored_elements(&self) -> usize {
        self.sent_sdus.len() + self.padded.len() + self.discards.stored_elements() + self.buffer.sdus()
    }

    /// Octets of memory for VT(DAT) of all PDUs.
    #[cfg(test)]
    pub fn window_octets(&self) -> usize {
        size_of_val(&*self.vt_dat)
    }
}

impl SentSdu {
    pub fn sdu_end(&self) -> SduEnd {
        SduEnd { first: Sn::of(self.first_pdu), sn: Sn::of(self.last_pdu), sdu: self.sdu }
    }
}
