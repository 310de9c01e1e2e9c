//! The receiving side of an entity of acknowledged mode (AM): its window, gaps, and the delivery of
//! SDUs (TS 25.322 §9.4, §9.7.2, §11.3.3, §11.6.3).
//!
//! State variables have the names of the standard and count PDUs from 0 without wrapping around.
//! PDUs arrive in runs with the SDU ends in them. An SDU is delivered when all its PDUs have
//! arrived, in the order of the SDUs unless out-of-sequence delivery is configured. With an MRW
//! (move receiving window) the sender gives up SDUs, and the receiver stops waiting for them.

use std::collections::VecDeque;
use std::num::NonZeroU16;

use umts_kernel::TraceSink;
use umts_units::Time;

use super::config::{MissingPduIndication, MrwAcknowledgment};
use super::timers::Timers;
use crate::Context;
use crate::detail::Detail;
use crate::ids::{Direction, UeId};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::window::PduSet;
use crate::radio::rlc::{Mrw, Sdu, SduEnd, Sn, SnRun, Status};
use crate::trace::{PduDrop, TraceEvent};

/// The receiving side. `direction` is the direction of the data that it receives.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    /// Earliest time at which the pending report may be sent (Timer_Status_Prohibit).
    /// `Time::NEVER`: no report is pending.
    pub(super) report_due: Time,
    /// The last MRW, if it must still be answered.
    pub(super) unanswered_mrw: Option<Mrw>,
    ue: UeId,
    pub(super) direction: Direction,
    /// Number of SDUs ending in PDU `discarded_below` that the sender discarded, too (N_LENGTH of
    /// the last MRW). Their ends are removed when that PDU arrives. 0 if it has arrived.
    discarded_ends: u8,
    /// Window in PDUs that every report grants to the peer.
    pub(super) granted_window: Option<NonZeroU16>,
    /// VR(R): the next PDU in sequence.
    pub(super) vr_r: u64,
    /// VR(H): one above the highest PDU that has arrived.
    pub(super) vr_h: u64,
    /// SDUs that end in PDUs at or above VR(R) that have arrived, in order. With out-of-sequence
    /// delivery some of them are already delivered.
    ends: VecDeque<KnownEnd>,
    /// The sender discarded the PDUs below this count.
    discarded_below: u64,
    /// SDUs for the upper layer, which has not taken them yet.
    delivered: VecDeque<Sdu>,
    /// End of Timer_Status_Prohibit: no report is sent before.
    pub(super) prohibited_until: Time,
    /// PDUs that have arrived between VR(R) and VR(H).
    pub(super) arrived: PduSet,
    /// All PDUs requested by the last report are below this count (estimated PDU counter, EPC).
    pub(super) requested_below: u64,
    /// If a report did not fit into one STATUS: the first PDU of its next part.
    pub(super) next_part_from: Option<u64>,
    /// A report that was built before the TTI in which it is sent (EURANE).
    pub(super) prepared: Option<Status>,
    /// Missing PDUs of the prepared report.
    pub(super) prepared_missing: Vec<SnRun>,
}

/// An SDU with a received end: its first PDU, the PDU that indicates its end, and the SDU.
#[derive(Debug, Clone, Copy)]
struct KnownEnd {
    first: u64,
    sn: u64,
    sdu: Sdu,
    /// Delivered out of sequence.
    delivered: bool,
}

impl Receiver {
    pub fn new(ue: UeId, direction: Direction, config: &RlcConfig) -> Self {
        Receiver {
            ue,
            direction,
            vr_r: 0,
            vr_h: 0,
            arrived: PduSet::default(),
            ends: VecDeque::new(),
            discarded_below: 0,
            discarded_ends: 0,
            delivered: VecDeque::new(),
            report_due: Time::NEVER,
            prohibited_until: Time::ZERO,
            next_part_from: None,
            requested_below: 0,
            granted_window: config.granted_window.and_then(|window| NonZeroU16::new(window as u16)),
            unanswered_mrw: None,
            prepared: None,
            prepared_missing: Vec::new(),
        }
    }

    /// Receives `count` PDUs of one run starting with number `first`, all of which have arrived.
    /// `ends` are their SDU ends.
    #[inline(always)]
    pub fn receive_pdus<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        first: Sn,
        count: u64,
        ends: &[SduEnd],
    ) {
        let in_sequence = self.vr_r == self.vr_h && first == Sn::of(self.vr_r);
        if in_sequence && count <= config.receive_window() && self.discarded_ends == 0 {
            self.vr_r += count;
            self.vr_h = self.vr_r;
            self.record_in_sequence(cx, count);
            // Usually no end is stored. The SDUs that end in this run are then delivered directly.
            if self.ends.is_empty() {
                ends.iter().for_each(|end| self.deliver_end(cx, count_below(self.vr_r, end.first), &end.sdu));
            } else {
                self.ends.extend(ends.iter().map(|end| KnownEnd::find(end, self.vr_r)));
                self.deliver(cx);
            }
        } else {
            self.receive_out_of_sequence(cx, config, timers, first, count, ends);
        }
    }

    #[inline]
    fn receive_out_of_sequence<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        first: Sn,
        count: u64,
        ends: &[SduEnd],
    ) {
        if !self.receive_new_run(cx.now, config, timers, first, count, ends) {
            self.receive_one_by_one(cx, config, timers, first, count, ends);
        }
        // Usually PDU VR(R) is still missing, and nothing can be delivered in sequence.
        if self.arrived.contains(self.vr_r) {
            self.advance(cx);
            self.deliver(cx);
        }
        if self.vr_r < self.vr_h && config.missing_pdu_indication == MissingPduIndication::EveryPdu {
            self.trigger_for_gap(cx.now, config, timers);
        }
        if !config.in_sequence {
            self.deliver_complete(cx);
        }
    }

    /// Receives a run of PDUs at once, unless some PDUs are outside the window or duplicates, or
    /// discarded SDU ends must be removed. Returns false without any effect in these cases.
    #[inline(always)]
    fn receive_new_run(
        &mut self,
        now: Time,
        config: &RlcConfig,
        timers: &mut Timers,
        first: Sn,
        count: u64,
        ends: &[SduEnd],
    ) -> bool {
        let from = first.count_from(self.vr_r);
        let to = from + count;
        let fits = to - self.vr_r <= config.receive_window() && self.discarded_ends == 0;
        if !fits || !self.arrived.insert_new_range(from, to) {
            return false;
        }
        if from > self.vr_h && config.missing_pdu_indication == MissingPduIndication::NewGap {
            self.trigger_for_gap(now, config, timers);
        }
        self.vr_h = self.vr_h.max(to);
        ends.iter().for_each(|end| self.store_end(KnownEnd::find(end, end.sn.count_from(from) + 1)));
        true
    }

    /// Receives a run PDU by PDU: drops those outside the window, ignores duplicates, and removes
    /// the ends of SDUs that the last MRW discarded.
    #[inline(never)]
    fn receive_one_by_one<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        first: Sn,
        count: u64,
        mut ends: &[SduEnd],
    ) {
        for offset in 0..count {
            let sn = first.plus(offset);
            let end_count = ends.iter().take_while(|end| end.sn == sn).count();
            let (mut ends_here, later_ends) = ends.split_at(end_count);
            ends = later_ends;
            if !sn.is_within(Sn::of(self.vr_r), config.receive_window()) {
                // PDUs within a window below VR(R) are duplicates or were discarded.
                if sn.is_within(Sn::of(self.vr_r), Sn::MODULUS - config.receive_window()) {
                    self.record_dropped(cx, 1, PduDrop::OutsideWindow);
                }
                continue;
            }
            let pdu = sn.count_from(self.vr_r);
            if pdu == self.discarded_below {
                let discarded_ends = usize::from(std::mem::take(&mut self.discarded_ends));
                ends_here = &ends_here[end_count.min(discarded_ends)..];
            }
            if pdu >= self.vr_h {
                if pdu > self.vr_h && config.missing_pdu_indication == MissingPduIndication::NewGap {
                    self.trigger_for_gap(cx.now, config, timers);
                }
                self.vr_h = pdu + 1;
            }
            if self.arrived.insert(pdu) {
                ends_here.iter().for_each(|end| self.store_end(KnownEnd::find(end, pdu + 1)));
            }
        }
    }

    /// Delivers complete SDUs, even if PDUs before them are missing (out-of-sequence delivery, TS
    /// 25.322 §4.2.1.3). No bit shows where an SDU begins: this follows from the end of the
    /// previous SDU, if no PDU is missing from there on.
    fn deliver_complete<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        for index in 1..self.ends.len() {
            let (previous_end, end) = (self.ends[index - 1].sn, self.ends[index]);
            if !end.delivered && self.arrived.first_gap(previous_end, end.sn + 1) > end.sn {
                self.ends[index].delivered = true;
                deliver_sdu(cx, self.ue, self.direction, &end.sdu, &mut self.delivered);
            }
        }
    }

    /// Whether all PDUs of an SDU have arrived. Only the implicit form of MRW may call this,
    /// because a real receiver cannot tell from the bits of the PDUs in which PDU an SDU begins.
    fn is_complete(&self, end: &KnownEnd) -> bool {
        end.first >= self.discarded_below
            && self.arrived.first_gap(end.first.max(self.vr_r), end.sn + 1) > end.sn
    }

    /// Inserts an SDU end in the order of its PDU, after other ends in the same PDU.
    #[inline]
    fn store_end(&mut self, end: KnownEnd) {
        if self.ends.back().is_none_or(|last| last.sn <= end.sn) {
            return self.ends.push_back(end);
        }
        let after = self.ends.partition_point(|known| known.sn <= end.sn);
        self.ends.insert(after, end);
    }

    /// Advances VR(R) over the PDUs that have arrived.
    fn advance<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let next = self.arrived.first_gap(self.vr_r, self.vr_h);
        self.arrived.clear_range(self.vr_r, next);
        let count = next - std::mem::replace(&mut self.vr_r, next);
        self.record_in_sequence(cx, count);
    }

    /// Records that the last `count` PDUs below VR(R) are now received in sequence.
    #[inline(always)]
    fn record_in_sequence<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>, count: u64) {
        let (ue, direction, vr_r) = (self.ue, self.direction, self.vr_r);
        cx.show(|| Detail::InSequence { ue, direction, first: Sn::of(vr_r - count), count });
    }

    /// Delivers complete SDUs in sequence.
    #[inline]
    fn deliver<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        while let Some(end) = self.ends.front().filter(|end| end.sn < self.vr_r) {
            if !end.delivered && end.first >= self.discarded_below {
                deliver_sdu(cx, self.ue, self.direction, &end.sdu, &mut self.delivered);
            }
            self.ends.pop_front();
        }
    }

    /// Delivers an SDU that is completely below VR(R) and began in PDU `first`. If an MRW discarded
    /// the start of the SDU but not its end, the rest is not a packet and is not delivered.
    #[inline]
    fn deliver_end<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, first: u64, sdu: &Sdu) {
        if first >= self.discarded_below {
            deliver_sdu(cx, self.ue, self.direction, sdu, &mut self.delivered);
        }
    }

    /// Records PDUs from the peer that are dropped.
    pub fn record_dropped<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        count: u32,
        why: PduDrop,
    ) {
        let (ue, direction) = (self.ue, self.direction);
        cx.record(|| TraceEvent::PdusDropped { ue, direction, count, why });
    }

    /// Whether an SDU is ready for the upper layer.
    #[inline]
    pub fn has_delivered(&self) -> bool {
        !self.delivered.is_empty()
    }

    /// The next SDU for the upper layer.
    #[inline]
    pub fn poll_delivered(&mut self) -> Option<Sdu> {
        self.delivered.pop_front()
    }

    /// Executes an MRW (TS 25.322 §11.6.3): the receiver no longer waits for PDUs below
    /// SN_MRW_LENGTH. `discarded`: the SN_MRW fields before it. In the implicit form, complete SDUs
    /// below it are still delivered, and the answer is a report.
    pub fn move_window<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        mrw: Mrw,
        discarded: &[Sn],
    ) {
        let implicit = config.mrw_acknowledgment == MrwAcknowledgment::Implicit;
        if implicit {
            self.trigger(cx.now, config, timers);
        } else {
            self.unanswered_mrw = Some(mrw);
        }
        let Some(target) = self.target_of(config, mrw, discarded) else { return };
        while self.ends.front().is_some_and(|end| end.sn < target) {
            let end = self.ends.pop_front().expect("the loop condition found an end");
            if implicit && !end.delivered && self.is_complete(&end) {
                deliver_sdu(cx, self.ue, self.direction, &end.sdu, &mut self.delivered);
            }
        }
        // N_LENGTH discarded SDUs end in the target PDU. If that PDU has not arrived yet, their ends
        // are removed when it arrives.
        let target_has_arrived = target < self.vr_h && self.arrived.first_gap(target, target + 1) > target;
        let (remove_now, remove_later) =
            if target_has_arrived { (mrw.n_length, 0) } else { (0, mrw.n_length) };
        for _ in 0..remove_now {
            if self.ends.front().is_some_and(|end| end.sn == target) {
                self.ends.pop_front();
            }
        }
        self.discarded_ends = remove_later;
        self.arrived.clear_range(self.vr_r, target);
        self.discarded_below = target;
        let (ue, direction, ends) = (self.ue, self.direction, mrw.n_length);
        let (first, count) = (Sn::of(self.vr_r), target - self.vr_r);
        cx.show(|| Detail::Skipped { ue, direction, first, count, ends });
        self.vr_r = target;
        self.vr_h = self.vr_h.max(target);
        self.advance(cx);
        self.deliver(cx);
    }

    /// The count of the PDU of SN_MRW_LENGTH, to which the window moves. `earlier_sns` are the
    /// SN_MRW fields before it. `None` if the PDU is below VR(R), as in a repetition of an MRW that
    /// was executed. The first SN_MRW is at VR(MR) or below, and the other SN_MRW follow it. A
    /// single SN_MRW with LENGTH = 0 is at VR(R) or above (TS 25.322 §11.6.3).
    fn target_of(&self, config: &RlcConfig, mrw: Mrw, earlier_sns: &[Sn]) -> Option<u64> {
        if mrw.beyond_window {
            return Some(mrw.sn.count_from(self.vr_r));
        }
        let first = earlier_sns.first().copied().unwrap_or(mrw.sn);
        let vr_mr = self.vr_r + config.receive_window();
        // Down from VR(MR) to the first SN_MRW, and up from there to SN_MRW_LENGTH.
        let from_first_to_vr_mr = Sn::of(vr_mr).steps_from(first);
        let from_first_to_target = mrw.sn.steps_from(first);
        let target = (vr_mr + from_first_to_target).checked_sub(from_first_to_vr_mr);
        target.filter(|&target| target >= self.vr_r)
    }

    /// Number of stored elements.
    #[cfg(test)]
    pub fn stored_elements(&self) -> usize {
        self.ends.len() + self.delivered.len() + self.prepared_missing.len()
    }

    /// Sets all variables to their initial values, with nothing received (TS 25.322 §11.4.3).
    pub fn reset(&mut self, config: &RlcConfig) {
        let delivered = std::mem::take(&mut self.delivered);
        *self = Receiver { delivered, ..Receiver::new(self.ue, self.direction, config) };
    }
}

impl KnownEnd {
    /// Restores the counts of an SDU's first and last PDU, both of which are below `above`.
    #[inline]
    fn find(end: &SduEnd, above: u64) -> Self {
        let (first, sn) = (count_below(above, end.first), count_below(above, end.sn));
        KnownEnd { first, sn, sdu: end.sdu, delivered: false }
    }
}

/// Records the delivery of an SDU from the peer, and appends it to `delivered`.
fn deliver_sdu<T: TraceSink<TraceEvent>>(
    cx: &mut Context<'_, T>,
    ue: UeId,
    direction: Direction,
    sdu: &Sdu,
    delivered: &mut VecDeque<Sdu>,
) {
    let (id, size, entered) = (sdu.packet.id, sdu.size(), sdu.entered);
    cx.record(|| TraceEvent::SduDelivered { ue, direction, sdu: id, size, entered });
    delivered.push_back(*sdu);
}

/// The highest count below `above` that has this sequence number.
#[inline]
fn count_below(above: u64, sn: Sn) -> u64 {
    // The SDU of a late PDU from before a RESET may have begun before count 0, so this saturates.
    (above - 1).saturating_sub(Sn::of(above - 1).steps_from(sn))
}
