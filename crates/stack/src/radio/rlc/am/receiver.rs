//! The receiving side of an entity of acknowledged mode (AM): its window, gaps, and the delivery of
//! SDUs to the upper layer (TS 25.322 §9.4, §9.7.2, §11.3.3).
//!
//! PDUs arrive in runs, with the SDU ends that they indicate. An SDU is delivered when all its PDUs
//! have arrived, in the order of the SDUs unless out-of-sequence delivery is configured. With an MRW
//! (move receiving window) the sender gives up SDUs, and the receiver stops waiting for them
//! (`window_move.rs`). `triggers.rs` decides when a report to the sender is due, and `status.rs`
//! builds it.
//!
//! State variables have the names of the standard. PDUs are identified by their *count*, from 0
//! without wrapping around. PDUs contain only its lowest 12 bits, the [`Sn`].

use std::collections::VecDeque;
use std::num::NonZeroU16;

use umts_kernel::TraceSink;
use umts_units::Time;

use super::config::MissingPduIndication;
use super::timers::Timers;
use crate::Context;
use crate::detail::Detail;
use crate::ids::{Direction, UeId};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::window::PduSet;
use crate::radio::rlc::{Mrw, Sdu, SduEnd, Sn, SnRun, Status};
use crate::trace::{PduDrop, TraceEvent};

/// The receiving side.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    ue: UeId,
    /// Direction of the data that it receives.
    pub(super) direction: Direction,

    // Window.
    /// VR(R): the next PDU in sequence.
    pub(super) vr_r: u64,
    /// VR(H): one above the highest PDU that has arrived, or that a POLL SUFI named.
    pub(super) vr_h: u64,
    /// PDUs that have arrived between VR(R) and VR(H).
    pub(super) arrived: PduSet,

    // SDUs.
    /// SDUs that end in arrived PDUs at or above VR(R), in order. With out-of-sequence delivery
    /// some of them are already delivered.
    pub(super) ends: VecDeque<KnownEnd>,
    /// SDUs for the upper layer, which has not taken them yet.
    delivered: VecDeque<Sdu>,

    // SDUs that the sender discarded.
    /// The sender discarded all PDUs below this one.
    pub(super) discarded_below: u64,
    /// Number of SDUs ending in PDU `discarded_below` that the sender discarded, too (N_LENGTH of
    /// the last MRW). Their ends are removed when that PDU arrives. 0 if it has arrived.
    pub(super) discarded_ends: u8,
    /// The last MRW, if it must still be answered.
    pub(super) unanswered_mrw: Option<Mrw>,

    // Reports.
    /// Earliest time at which the pending report may be sent (Timer_Status_Prohibit).
    /// `Time::NEVER`: no report is pending.
    pub(super) report_due: Time,
    /// End of Timer_Status_Prohibit: no report is sent before.
    pub(super) prohibited_until: Time,
    /// All PDUs requested by the last report are below this one (estimated PDU counter, EPC).
    pub(super) requested_below: u64,
    /// If a report did not fit into one STATUS: the first PDU of its next part.
    pub(super) next_part_from: Option<u64>,
    /// Window in PDUs that every report grants to the peer.
    pub(super) granted_window: Option<NonZeroU16>,
    /// A report that was built before the TTI in which it is sent (EURANE).
    pub(super) prepared: Option<Status>,
    /// Missing PDUs of the prepared report.
    pub(super) prepared_missing: Vec<SnRun>,
}

/// Consecutive PDUs, all of which have arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReceivedRun<'a> {
    pub first: Sn,
    pub count: u64,
    /// The SDU ends in these PDUs, in order.
    pub ends: &'a [SduEnd],
}

/// An SDU with a received end.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownEnd {
    /// The PDU in which the SDU begins.
    pub first_pdu: u64,
    /// The PDU that indicates the end.
    pub last_pdu: u64,
    pub sdu: Sdu,
    /// Delivered out of sequence.
    pub delivered: bool,
}

/// Position of a received PDU relative to the receiving window.
enum Position {
    /// In the window. The content is the count of the PDU.
    Inside(u64),
    /// At most one window below VR(R): the PDU is a duplicate or was discarded.
    Below,
    /// Elsewhere: the sender does not keep its window.
    Outside,
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
            delivered: VecDeque::new(),
            discarded_below: 0,
            discarded_ends: 0,
            unanswered_mrw: None,
            report_due: Time::NEVER,
            prohibited_until: Time::ZERO,
            requested_below: 0,
            next_part_from: None,
            granted_window: config.granted_window.and_then(|window| NonZeroU16::new(window as u16)),
            prepared: None,
            prepared_missing: Vec::new(),
        }
    }

    /// Receives a run of PDUs, and delivers the SDUs that it completes.
    #[inline(always)]
    pub fn receive_pdus<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        run: ReceivedRun<'_>,
    ) {
        let nothing_is_missing = self.vr_r == self.vr_h && run.first == Sn::of(self.vr_r);
        let fits_window = run.count <= config.receive_window();
        if nothing_is_missing && fits_window && self.discarded_ends == 0 {
            self.receive_in_sequence(cx, run);
        } else {
            self.receive_out_of_sequence(cx, config, timers, run);
        }
    }

    /// Receives the PDUs that begin with VR(R) when no PDU below them is missing.
    #[inline(always)]
    fn receive_in_sequence<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        run: ReceivedRun<'_>,
    ) {
        self.vr_r += run.count;
        self.vr_h = self.vr_r;
        self.record_in_sequence(cx, run.count);
        // Usually no end is stored. The SDUs that end in this run are then delivered directly.
        if self.ends.is_empty() {
            for end in run.ends {
                let first_pdu = count_below(self.vr_r, end.first);
                self.deliver_unless_discarded(cx, first_pdu, &end.sdu);
            }
        } else {
            self.ends.extend(run.ends.iter().map(|end| KnownEnd::find(end, self.vr_r)));
            self.deliver_in_sequence(cx);
        }
    }

    /// Receives any other run: PDUs are missing before it, or it repeats PDUs.
    #[inline]
    fn receive_out_of_sequence<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        run: ReceivedRun<'_>,
    ) {
        if !self.receive_new_run(cx.now, config, timers, run) {
            self.receive_one_by_one(cx, config, timers, run);
        }
        // Usually PDU VR(R) is still missing, and nothing can be delivered in sequence.
        if self.arrived.contains(self.vr_r) {
            self.advance(cx);
            self.deliver_in_sequence(cx);
        }
        let has_gap = self.vr_r < self.vr_h;
        if has_gap && config.missing_pdu_indication == MissingPduIndication::EveryPdu {
            self.trigger_for_gap(cx.now, config, timers);
        }
        if !config.in_sequence {
            self.deliver_out_of_sequence(cx);
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
        run: ReceivedRun<'_>,
    ) -> bool {
        let from = run.first.count_from(self.vr_r);
        let to = from + run.count;
        let fits_window = to - self.vr_r <= config.receive_window();
        if !fits_window || self.discarded_ends > 0 || !self.arrived.insert_new_range(from, to) {
            return false;
        }
        self.raise_vr_h(now, config, timers, from, to);
        for end in run.ends {
            let pdu = end.sn.count_from(from);
            self.store_end(KnownEnd::find(end, pdu + 1));
        }
        true
    }

    /// Receives a run PDU by PDU: drops PDUs outside the window and ignores duplicates.
    #[inline(never)]
    fn receive_one_by_one<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        run: ReceivedRun<'_>,
    ) {
        let mut ends = run.ends;
        for offset in 0..run.count {
            let sn = run.first.plus(offset);
            let end_count = ends.iter().take_while(|end| end.sn == sn).count();
            let (ends_here, later_ends) = ends.split_at(end_count);
            ends = later_ends;
            match self.position(config, sn) {
                Position::Inside(pdu) => self.receive_pdu(cx.now, config, timers, pdu, ends_here),
                Position::Below => {}
                Position::Outside => self.record_dropped(cx, 1, PduDrop::OutsideWindow),
            }
        }
    }

    fn position(&self, config: &RlcConfig, sn: Sn) -> Position {
        let window = config.receive_window();
        let steps_above_vr_r = sn.steps_from(Sn::of(self.vr_r));
        if steps_above_vr_r < window {
            Position::Inside(self.vr_r + steps_above_vr_r)
        } else if steps_above_vr_r < Sn::MODULUS - window {
            Position::Outside
        } else {
            Position::Below
        }
    }

    /// Receives PDU `pdu` of the window, in which the SDUs of `ends` end. Removes the ends of SDUs
    /// that the last MRW discarded.
    fn receive_pdu(
        &mut self,
        now: Time,
        config: &RlcConfig,
        timers: &mut Timers,
        pdu: u64,
        mut ends: &[SduEnd],
    ) {
        if pdu == self.discarded_below {
            let discarded_ends = usize::from(std::mem::take(&mut self.discarded_ends));
            ends = &ends[discarded_ends.min(ends.len())..];
        }
        self.raise_vr_h(now, config, timers, pdu, pdu + 1);
        if self.arrived.insert(pdu) {
            ends.iter().for_each(|end| self.store_end(KnownEnd::find(end, pdu + 1)));
        }
    }

    /// Raises VR(H) above the arrived PDUs `from..to`. Triggers a report if PDUs between the former
    /// VR(H) and `from` are missing and the configuration requires a report for each new gap.
    #[inline(always)]
    fn raise_vr_h(&mut self, now: Time, config: &RlcConfig, timers: &mut Timers, from: u64, to: u64) {
        let is_new_gap = from > self.vr_h;
        if is_new_gap && config.missing_pdu_indication == MissingPduIndication::NewGap {
            self.trigger_for_gap(now, config, timers);
        }
        self.vr_h = self.vr_h.max(to);
    }

    /// Handles a POLL SUFI: the sender has sent all PDUs up to `last`, so VR(H) is above it. PDUs below
    /// VR(H) that have not arrived are missing (TS 25.322 §9.4, §11.5.2).
    pub fn handle_poll_sufi(&mut self, now: Time, config: &RlcConfig, timers: &mut Timers, last: Sn) {
        if let Position::Inside(pdu) = self.position(config, last) {
            self.vr_h = self.vr_h.max(pdu + 1);
        }
        self.trigger(now, config, timers);
    }

    /// Inserts an SDU end in the order of its PDU, after other ends in the same PDU.
    #[inline]
    fn store_end(&mut self, end: KnownEnd) {
        if self.ends.back().is_none_or(|last| last.last_pdu <= end.last_pdu) {
            return self.ends.push_back(end);
        }
        let after = self.ends.partition_point(|known| known.last_pdu <= end.last_pdu);
        self.ends.insert(after, end);
    }

    /// Advances VR(R) over the PDUs that have arrived.
    pub(super) fn advance<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let next = self.arrived.first_gap(self.vr_r, self.vr_h);
        self.arrived.clear_range(self.vr_r, next);
        let count = next - std::mem::replace(&mut self.vr_r, next);
        self.record_in_sequence(cx, count);
    }

    /// Delivers the SDUs that end below VR(R), in order.
    #[inline]
    pub(super) fn deliver_in_sequence<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        while let Some(&end) = self.ends.front().filter(|end| end.last_pdu < self.vr_r) {
            if !end.delivered {
                self.deliver_unless_discarded(cx, end.first_pdu, &end.sdu);
            }
            self.ends.pop_front();
        }
    }

    /// Delivers complete SDUs, even if PDUs before them are missing (out-of-sequence delivery, TS
    /// 25.322 §4.2.1.3). No bit shows where an SDU begins: this follows from the end of the
    /// previous SDU, if no PDU is missing from there on.
    fn deliver_out_of_sequence<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        for index in 1..self.ends.len() {
            let (previous, end) = (self.ends[index - 1], self.ends[index]);
            if !end.delivered && self.have_arrived(previous.last_pdu, end.last_pdu) {
                self.ends[index].delivered = true;
                self.deliver(cx, &end.sdu);
            }
        }
    }

    /// Whether all PDUs from `first` to `last` have arrived.
    #[inline]
    pub(super) fn have_arrived(&self, first: u64, last: u64) -> bool {
        self.arrived.first_gap(first, last + 1) > last
    }

    /// Delivers an SDU that is completely below VR(R) and began in PDU `first_pdu`. If an MRW
    /// discarded the start of the SDU but not its end, the rest is not a packet and is not
    /// delivered.
    #[inline]
    fn deliver_unless_discarded<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        first_pdu: u64,
        sdu: &Sdu,
    ) {
        if first_pdu >= self.discarded_below {
            self.deliver(cx, sdu);
        }
    }

    /// Delivers an SDU to the upper layer.
    pub(super) fn deliver<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, sdu: &Sdu) {
        let (ue, direction) = (self.ue, self.direction);
        let (id, size, entered) = (sdu.packet.id, sdu.size(), sdu.entered);
        cx.record(|| TraceEvent::SduDelivered { ue, direction, sdu: id, size, entered });
        self.delivered.push_back(*sdu);
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

    /// Sets all variables to their initial values, with nothing received (TS 25.322 §11.4.3).
    /// Delivered SDUs remain.
    pub fn reset(&mut self, config: &RlcConfig) {
        let delivered = std::mem::take(&mut self.delivered);
        *self = Receiver { delivered, ..Receiver::new(self.ue, self.direction, config) };
    }

    /// Records that the last `count` PDUs below VR(R) are received in sequence.
    #[inline(always)]
    fn record_in_sequence<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>, count: u64) {
        let (ue, direction, vr_r) = (self.ue, self.direction, self.vr_r);
        cx.show(|| Detail::InSequence { ue, direction, first: Sn::of(vr_r - count), count });
    }

    /// Records that an MRW skipped the PDUs from VR(R) to below `target`, and `ends` SDU ends in PDU
    /// `target`.
    pub(super) fn record_skipped<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        target: u64,
        ends: u8,
    ) {
        let (ue, direction) = (self.ue, self.direction);
        let (first, count) = (Sn::of(self.vr_r), target - self.vr_r);
        cx.show(|| Detail::Skipped { ue, direction, first, count, ends });
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

    /// Number of stored elements.
    #[cfg(test)]
    pub fn stored_elements(&self) -> usize {
        self.ends.len() + self.delivered.len() + self.prepared_missing.len()
    }
}

impl KnownEnd {
    /// Restores the counts of an SDU's first and last PDU, both of which are below `above`.
    #[inline]
    fn find(end: &SduEnd, above: u64) -> Self {
        KnownEnd {
            first_pdu: count_below(above, end.first),
            last_pdu: count_below(above, end.sn),
            sdu: end.sdu,
            delivered: false,
        }
    }
}

/// The highest count below `above` that has this sequence number.
#[inline]
fn count_below(above: u64, sn: Sn) -> u64 {
    let highest = above - 1;
    let steps_down = Sn::of(highest).steps_from(sn);
    // The SDU of a late PDU from before a RESET may have begun before count 0, so this saturates.
    highest.saturating_sub(steps_down)
}
