//! The sending side of an entity of acknowledged mode (AM): its state variables and window, and the
//! transmission of new PDUs (TS 25.322 §9.4, §9.7.1, §11.3.2). SDUs wait in `buffer` until they are
//! cut into PDUs, and are kept until the peer has acknowledged all of their PDUs.
//!
//! State variables have the names of the standard. They count PDUs from 0 without wrapping around.
//! The PDU contains only the lowest 12 bits of its count, the sequence number [`Sn`].

use std::collections::VecDeque;
use std::num::NonZeroU16;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

use super::config::{BufferCounts, Piggyback};
use super::discard::DiscardState;
use super::polling::{PduKind, Polls};
use super::timers::{Timer, Timers};
use crate::Context;
use crate::detail::{DiscardReason, PollCauses};
use crate::ids::{Direction, UeId};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::buffer::{Buffer, SegmentationRules};
use crate::radio::rlc::managed_sdus::{Entry, QueueAction, UnrecordedActions, record_action};
use crate::radio::rlc::window::PduSet;
use crate::radio::rlc::wire::RESET_OCTETS;
use crate::radio::rlc::{BlockSet, DataRun, Pdu, Sdu, SduEnd, Sn, Status};
use crate::trace::TraceEvent;

/// The sending side.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    pub(super) polls: Polls,
    /// VT(S): the next new PDU.
    pub(super) vt_s: u64,
    /// VT(A): the oldest PDU that is not acknowledged.
    pub(super) vt_a: u64,
    /// VT(MS): the first PDU beyond the window, or the first PDU that a suspension after N PDUs
    /// blocks (§9.7.5), if that is lower.
    vt_ms: u64,
    /// VT(WS): the window.
    pub(super) vt_ws: u64,
    /// Number of PDUs in `nacked`.
    pub(super) nacked_count: u32,
    pub(super) rules: SegmentationRules,
    pub(super) ue: UeId,
    pub(super) direction: Direction,
    /// RLC must be reset.
    pub(super) wants_reset: bool,
    pub(super) buffer: Buffer,
    /// Octets of the SDUs that wait for transmission or for complete acknowledgment.
    pub(super) octets: u64,
    /// The first PDU that a suspension after N PDUs blocks. `u64::MAX`: not suspended.
    suspended_from: u64,
    pub(super) discards: DiscardState,
    /// SDUs whose end is in a PDU between VT(A) and VT(S), in order.
    pub(super) ends: VecDeque<SentSdu>,
    /// PDUs between VT(A) and VT(S) with padding, in order. PDUs of flexible size are shorter instead.
    pub(super) padded: VecDeque<PaddedPdu>,
    /// PDUs reported missing and not retransmitted yet.
    pub(super) nacked: PduSet,
    /// PDUs between VT(A) and VT(S) that were retransmitted. VT(DAT) of all others is 1.
    pub(super) retransmitted: PduSet,
    /// VT(DAT), the number of transmissions, of each retransmitted PDU, as a ring of the window.
    /// Empty before the first retransmission, so that an idle user needs no memory for it.
    pub(super) vt_dat: Box<[u16]>,
    /// Number of SDUs that were completely acknowledged or discarded.
    pub(super) sdus_done: u64,
}

/// A sent PDU with `padding` octets of padding, or of flexible size and shorter than the largest PDU
/// by this number of octets.
#[derive(Debug, Clone, Copy)]
pub(super) struct PaddedPdu {
    pub pdu: u64,
    pub padding: u16,
}

/// An SDU that is completely in PDUs: it begins in PDU `first`, and PDU `sn` indicates its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentSdu {
    pub first: u64,
    pub sn: u64,
    pub sdu: Sdu,
}

impl Sender {
    pub fn new(ue: UeId, direction: Direction, config: &RlcConfig) -> Self {
        Sender {
            ue,
            direction,
            buffer: Buffer::default(),
            rules: config.segmentation_rules(direction),
            vt_s: 0,
            vt_a: 0,
            vt_ms: u64::from(config.window),
            vt_ws: u64::from(config.window),
            suspended_from: u64::MAX,
            retransmitted: PduSet::default(),
            vt_dat: Box::default(),
            polls: Polls::default(),
            nacked: PduSet::default(),
            nacked_count: 0,
            ends: VecDeque::new(),
            padded: VecDeque::new(),
            octets: 0,
            sdus_done: 0,
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
        let octets = self.octets + sdu.size().0;
        let counted = match config.buffer_counts {
            BufferCounts::Unacknowledged => octets,
            BufferCounts::Unsent => self.buffer.octets() + sdu.size().0,
        };
        if config.buffer.is_some_and(|capacity| counted > capacity.0) {
            return false;
        }
        let entry = self.buffer.push_managed(cx.now, sdu);
        if let Some(action) = entry.action() {
            record_action(cx, self.direction, action);
        }
        if entry == Entry::Dropped {
            return false;
        }
        self.octets = octets;
        self.start_timer_poll_periodic(cx.now, config, timers);
        if !timers.is_running(Timer::Discard) {
            self.set_timer_discard(config, timers);
        }
        let (ue, direction) = (self.ue, self.direction);
        cx.record(|| TraceEvent::SduQueued { ue, direction, sdu: sdu.packet.id, size: sdu.size() });
        cx.record(|| TraceEvent::RlcBuffer { ue, direction, octets });
        true
    }

    /// Octets of stored SDUs.
    pub fn occupancy(&self) -> Bytes {
        Bytes(self.octets)
    }

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

    #[inline]
    fn window_end(&self) -> u64 {
        (self.vt_a + self.vt_ws).min(self.suspended_from)
    }

    /// Limits new PDUs to the next `n`, those below the current VT(S) + `n` (TS 25.322 §9.7.5).
    pub fn suspend_from(&mut self, n: u64) {
        self.suspended_from = self.vt_s.saturating_add(n);
        self.update_vt_ms();
    }

    /// Ends a suspension.
    pub fn resume(&mut self) {
        self.suspended_from = u64::MAX;
        self.update_vt_ms();
    }

    #[inline]
    pub fn can_send_new(&self) -> bool {
        // Without a branch, because the processor cannot predict in which TTI the buffer runs
        // empty.
        !self.buffer.is_empty() & (self.window_left() > 0)
    }

    /// Whether no retransmission, MRW or poll is due, so that only new data may be sent.
    #[inline]
    pub fn has_only_new_data(&self, now: Time) -> bool {
        !((self.nacked_count > 0) | self.discards.mrw_due | self.polls.is_due(now))
    }

    /// Whether the last PDU may be repeated to carry a poll: it is neither acknowledged nor
    /// discarded.
    #[inline]
    fn can_repeat_last(&self) -> bool {
        self.vt_a < self.vt_s && self.vt_s > self.discards.floor
    }

    #[inline]
    pub fn has_work(&self, now: Time) -> bool {
        self.discards.mrw_due || self.has_data(now)
    }

    /// Whether a data PDU could be sent.
    #[inline]
    pub fn has_data(&self, now: Time) -> bool {
        self.nacked_count > 0 || self.can_send_new() || (self.polls.is_due(now) && self.can_repeat_last())
    }

    /// Handles a WINDOW SUFI (TS 25.322 §9.2.2.11.2): lowers the window, or raises it up to the
    /// configured one.
    pub fn apply_window(&mut self, config: &RlcConfig, wsn: NonZeroU16) {
        if u32::from(wsn.get()) <= config.window {
            self.vt_ws = u64::from(wsn.get());
            self.update_vt_ms();
        }
    }

    #[inline]
    pub(super) fn record_sent<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        first: u64,
        run: &DataRun,
    ) {
        let (ue, direction, count) = (self.ue, self.direction, u32::from(run.count));
        let (retransmission, poll) = (run.retransmission, run.poll);
        let first_sn = first as u32;
        cx.record(|| TraceEvent::PdusSent { ue, direction, first_sn, count, retransmission, poll });
    }

    /// Whether the next new PDU can carry a STATUS of `octets`.
    pub fn can_carry(&self, config: &RlcConfig, octets: u16) -> bool {
        let rules = self.rules;
        let li = rules.length_indicator;
        if rules.is_flexible || self.nacked_count > 0 || !self.can_send_new() {
            return false;
        }
        match config.piggyback {
            Piggyback::Off => false,
            Piggyback::Padding => {
                self.buffer.padding_of_last_pdu(&rules).is_some_and(|padding| padding >= octets + li)
            }
            // EURANE puts data beside a STATUS only if the PDU has room for at least three octets
            // of it.
            Piggyback::BuildAround => octets + 2 * li + 3 <= config.pdu_payload.0,
        }
    }

    /// Sends new data until `set` has `blocks` blocks.
    pub fn send_new<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        blocks: u32,
        set: &mut BlockSet,
    ) {
        while set.blocks < blocks && self.can_send_new() {
            let max_run = (blocks - set.blocks).min(self.pdus_to_next_poll(cx.now, config, PduKind::New));
            let max_run = u64::from(max_run).min(self.window_left()) as u32;
            let count = self.buffer.full_pdus(&self.rules, max_run);
            if count == 0 {
                self.send_composed(cx, config, timers, None, set);
                continue;
            }
            let first = self.vt_s;
            self.buffer.take_full(&self.rules, first, count);
            self.vt_s += u64::from(count);
            let poll_causes = PollCauses::WINDOW.when(self.window_requires_poll(config));
            let first_end = set.next_end_index();
            let poll = self.decide_poll(cx, config, timers, count, poll_causes);
            let run = DataRun { poll, ..DataRun::new(first, count, (first_end, first_end)) };
            self.record_sent(cx, first, &run);
            set.push_data(run);
        }
    }

    /// Sends a new PDU in which an SDU ends or begins. The STATUS `piggyback` takes room in it.
    pub fn send_composed<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        piggyback: Option<&Status>,
        set: &mut BlockSet,
    ) {
        let rules = self.rules;
        let (first, first_end) = (self.vt_s, set.next_end_index());
        let status_octets = piggyback.map_or(0, |status| status.octets + rules.length_indicator);
        let composed = self.buffer.compose(cx.now, &rules, first, rules.payload - status_octets, set);
        if let Some(actions) = self.buffer.take_managed() {
            self.record_managed(cx, actions);
        }
        self.store_ends(first, &set.ends[usize::from(first_end)..]);
        if composed.padding > 0 && piggyback.is_none() {
            self.padded.push_back(PaddedPdu { pdu: first, padding: composed.padding });
        }
        let poll_sdu_reached = self.count_finished_sdus(config, composed.finished);
        self.vt_s += 1;
        let is_last_pdu = self.buffer.is_empty() && config.poll_last_pdu;
        let poll_causes = PollCauses::LAST_PDU.when(is_last_pdu)
            | PollCauses::POLL_SDU.when(poll_sdu_reached)
            | PollCauses::WINDOW.when(self.window_requires_poll(config));
        let poll = self.decide_poll(cx, config, timers, 1, poll_causes);
        let ends = (first_end, set.next_end_index());
        let run = DataRun { poll, piggyback: piggyback.copied(), ..DataRun::new(first, 1, ends) };
        self.record_sent(cx, first, &run);
        set.push_data(run);
    }

    /// Records the SDUs that queue management discarded or marked.
    #[cold]
    fn record_managed<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        actions: UnrecordedActions,
    ) {
        for sdu in actions.discarded {
            record_action(cx, self.direction, QueueAction::Drop);
            self.record_discard(cx, sdu, DiscardReason::QueueManagement, None);
        }
        (0..actions.marks).for_each(|_| record_action(cx, self.direction, QueueAction::Mark));
    }

    /// Fast path of [`send_new`](Self::send_new): sends at most `room` new PDUs that contain only
    /// the middle of an SDU and do not poll. Sends nothing if the next PDU is of another kind, if
    /// the run would end with a PDU that polls, or if Poll_Window is configured. Call only if no
    /// poll is due, and call `send_new` afterwards for the remaining blocks.
    #[inline]
    pub fn send_middle<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        room: u32,
        set: &mut BlockSet,
    ) {
        let to_next_poll = self.pdus_to_counted_poll(cx.now, config, PduKind::New);
        let max_run = u64::from(room.min(to_next_poll)).min(self.window_left()) as u32;
        let count = self.buffer.full_pdus(&self.rules, max_run);
        if count == 0 || count == to_next_poll || config.poll_window.is_some() {
            return;
        }
        let first = self.vt_s;
        self.buffer.take_full(&self.rules, first, count);
        self.vt_s += u64::from(count);
        self.polls.count(count);
        let first_end = set.next_end_index();
        let run = DataRun::new(first, count, (first_end, first_end));
        self.record_sent(cx, first, &run);
        set.push_data(run);
    }

    /// Stores the SDUs that end in PDU `pdu`.
    fn store_ends(&mut self, pdu: u64, ends: &[SduEnd]) {
        for end in ends {
            let first = pdu - Sn::of(pdu).steps_from(end.first);
            self.ends.push_back(SentSdu { first, sn: pdu, sdu: end.sdu });
        }
    }

    /// Repeats the last PDU to carry a due poll that nothing else can carry.
    pub fn send_poll<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        set: &mut BlockSet,
    ) {
        if !self.polls.is_due(cx.now) || !self.can_repeat_last() {
            return;
        }
        let last = self.vt_s - 1;
        if config.may_retransmit(self.transmissions(last)) {
            self.retransmit(cx, config, timers, last..self.vt_s, PollCauses::default(), None, set);
        } else {
            self.polls.cancel(timers);
            self.reach_max_dat(cx, config, timers, last);
        }
    }

    /// Octets by which PDU `pdu` is shorter than the largest PDU, or its padding. It is between VT(A) and
    /// VT(S).
    fn padding_of(&self, pdu: u64) -> u16 {
        let found = self.padded.binary_search_by_key(&pdu, |padded| padded.pdu);
        found.map_or(0, |index| self.padded[index].padding)
    }

    /// Octets of the PDUs of flexible size in `set`, which this entity has just filled.
    pub fn flexible_octets(&self, config: &RlcConfig, set: &BlockSet) -> u32 {
        let largest = u32::from(config.pdu_octets(self.direction));
        let octets = set.pdus.iter().map(|pdu| match pdu {
            Pdu::Data(run) => {
                let first = run.first.count_from(self.vt_a);
                let pdus = first..first + u64::from(run.count);
                pdus.map(|pdu| largest - u32::from(self.padding_of(pdu))).sum()
            }
            Pdu::Status(status) => u32::from(status.octets),
            Pdu::Reset(_) | Pdu::ResetAck(_) => RESET_OCTETS as u32,
            Pdu::Umd(_) | Pdu::Tmd(_) => unreachable!("acknowledged mode sends no such PDUs"),
        });
        octets.sum()
    }

    /// Octets of the PDUs that are reported missing and not sent again yet. `largest`: of a full PDU.
    pub fn missing_octets(&self, largest: u64) -> u64 {
        let octets = u64::from(self.nacked_count) * largest;
        if !self.rules.is_flexible || self.nacked_count == 0 {
            return octets;
        }
        let short = self.padded.iter().filter(|padded| self.nacked.contains(padded.pdu));
        octets - short.map(|padded| u64::from(padded.padding)).sum::<u64>()
    }

    /// Number of stored elements.
    #[cfg(test)]
    pub fn stored_elements(&self) -> usize {
        self.ends.len() + self.padded.len() + self.discards.stored_elements() + self.buffer.sdus()
    }

    /// Octets of memory for VT(DAT) of all PDUs.
    #[cfg(test)]
    pub fn window_octets(&self) -> usize {
        size_of_val(&*self.vt_dat)
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
        self.ends.clear();
        self.nacked.clear_range(self.vt_a, self.vt_s);
        self.retransmitted.clear_range(self.vt_a, self.vt_s);
        self.padded.clear();
        if self.suspended_from != u64::MAX {
            self.suspended_from = self.suspended_from.saturating_sub(self.vt_s);
        }
        self.vt_s = 0;
        self.vt_a = 0;
        self.vt_ws = u64::from(config.window);
        self.update_vt_ms();
        self.polls = Polls::default();
        self.nacked_count = 0;
        self.discards = DiscardState::default();
        self.wants_reset = false;
        self.set_timer_discard(config, timers);
    }
}

impl SentSdu {
    pub fn sdu_end(&self) -> SduEnd {
        SduEnd { first: Sn::of(self.first), sn: Sn::of(self.sn), sdu: self.sdu }
    }
}
