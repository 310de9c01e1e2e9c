//! Unacknowledged mode of RLC: TS 25.322 §4.2.1.2 (model), §9.2.1.3 (UMD PDU), §11.2 (transfer),
//! §9.7.3.2 (discard by timer without signalling).
//!
//! ```text
//!   | SN 7 | E 1 | LI … | end of one SDU | whole SDUs … | start of the next | padding |
//! ```
//!
//! A length indicator (0x7C, 0x7FFC) marks an SDU that begins with the first data octet of a PDU,
//! so that the receiver finds its start after a loss. A lost PDU destroys every SDU with a segment
//! in it. The sequence number has seven bits, so the loss of 128 consecutive PDUs, or of a multiple
//! of 128, is not detected: the octets before and after such a loss are joined and delivered as an
//! erroneous SDU.
//!
//! Not modelled: ciphering, duplicate avoidance and reordering (Release 6), out-of-sequence
//! delivery.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

use crate::Context;
use crate::aqm::Aqm;
use crate::detail::DiscardReason;
use crate::ids::{Direction, UeId};
use crate::radio::phy::Lost;
use crate::radio::rlc::am::{BufferFull, LengthIndicators};
use crate::radio::rlc::arrived::{ArrivedPart, for_each_arrived};
use crate::radio::rlc::backlog::BlockCounter;
use crate::radio::rlc::sdu_queue::SduQueue;
use crate::radio::rlc::segmentation::SegmentationRules;
use crate::radio::rlc::wire::UmSn;
use crate::radio::rlc::{Backlog, BlockSet, DataRun, Pdu, RlcConfig, Sdu, SduEnd, Sn, WaitingSdu};
use crate::trace::{PduDrop, TraceEvent};

/// Octets of the largest PDU that has length indicators of one octet (TS 25.322 §9.2.2.8).
const MAX_OCTETS_WITH_SHORT_INDICATORS: u16 = 125;

/// Octets of the header of a UMD PDU.
const HEADER_OCTETS: u16 = 1;

/// Value of [`UmEntity::suspended_from`] without a suspension: no PDU has this count.
const NOT_SUSPENDED: u64 = u64::MAX;

/// Rules for segmenting SDUs.
pub(super) fn segmentation_rules(config: &RlcConfig) -> SegmentationRules {
    let payload = config.pdu_payload.0;
    let has_short_indicators = payload + HEADER_OCTETS <= MAX_OCTETS_WITH_SHORT_INDICATORS;
    SegmentationRules {
        payload,
        length_indicator: if has_short_indicators { 1 } else { 2 },
        indicator_rule: LengthIndicators::Ts25322,
        marks_start: true,
        is_flexible: false,
    }
}

/// One end of an unacknowledged-mode bearer.
#[derive(Debug, Clone)]
pub struct UmEntity {
    // Sending side.
    rules: SegmentationRules,
    /// SDUs to send.
    queue: SduQueue,
    /// VT(US): the next PDU, counted without wrapping.
    vt_us: u64,
    /// The first PDU that a suspension after N PDUs blocks (§9.7.5), or [`NOT_SUSPENDED`].
    suspended_from: u64,

    // Receiving side.
    /// VR(US): the next expected PDU. The receiver sees only its lowest 7 bits.
    vr_us: u64,
    /// According to the sequence numbers, the octets so far of the SDU that continues in PDU VR(US)
    /// have all arrived. Otherwise that SDU is lost.
    is_start_known: bool,
    /// First PDU of the contiguous run of PDUs before VR(US). A real receiver cannot derive it from
    /// seven bits. It is used only to distinguish erroneous SDUs from correct ones.
    contiguous_from: u64,
    /// Correct SDUs for the upper layer.
    delivered: VecDeque<Sdu>,
    /// SDUs joined from parts that do not belong together.
    erroneous: VecDeque<Sdu>,
}

impl UmEntity {
    /// An entity of `ue`'s bearer that sends in direction `sends`.
    pub fn new(ue: UeId, sends: Direction, config: &RlcConfig) -> Self {
        UmEntity {
            rules: segmentation_rules(config),
            queue: SduQueue::new(ue, sends, config.buffer, config.timer_discard),
            vt_us: 0,
            suspended_from: NOT_SUSPENDED,
            vr_us: 0,
            is_start_known: true,
            contiguous_from: 0,
            delivered: VecDeque::new(),
            erroneous: VecDeque::new(),
        }
    }

    /// Adds queue management to the transmission buffer.
    pub fn manage_buffer(&mut self, aqm: Aqm) {
        self.queue.buffer.manage(aqm);
    }

    /// Enqueues an SDU. Returns an error if it does not fit into the transmission buffer.
    pub fn handle_sdu<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        sdu: &Sdu,
    ) -> Result<(), BufferFull> {
        self.handle_timeout(cx);
        self.queue.push(cx, sdu)
    }

    /// Receives the block set of a TTI without the blocks in `lost`.
    pub fn handle_blocks<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        lost: Lost,
    ) {
        let mut first_block = 0;
        for pdu in &set.pdus {
            match pdu {
                Pdu::Umd(run) => {
                    let lost_of_run = lost.from(first_block).0;
                    for_each_arrived(run, set.ends_of(run), lost_of_run, |part| {
                        self.receive_part(cx, run, &part);
                    });
                }
                _ => self.queue.record_dropped(cx, pdu.blocks(), PduDrop::WrongMode),
            }
            first_block += pdu.blocks();
        }
        if !lost.is_none() {
            self.queue.record_lost_ends(cx, set, lost);
        }
    }

    /// Records the SDUs of the peer that end in the `lost` blocks of `set` as lost.
    pub fn record_lost_ends<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        lost: Lost,
    ) {
        self.queue.record_lost_ends(cx, set, lost);
    }

    /// Receives a part of `run` without a lost PDU, and delivers the SDUs that end in it if, according
    /// to the sequence numbers, their start has arrived.
    fn receive_part<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        run: &DataRun,
        part: &ArrivedPart<'_>,
    ) {
        let first = run.first.plus(part.offset).count_from(self.vr_us);
        if first != self.vr_us {
            // PDUs are missing. The receiver detects this unless their number is a multiple of 128.
            let is_undetected = UmSn::of(first) == UmSn::of(self.vr_us);
            self.is_start_known &= is_undetected;
            self.contiguous_from = first;
        }
        // A length indicator marks an SDU that begins with the first data octet.
        self.is_start_known |= run.starts;
        self.vr_us = first + part.count;
        for end in part.ends {
            if self.is_start_known {
                self.deliver(cx, end);
            } else {
                self.queue.record_lost(cx, &end.sdu);
            }
            // The next SDU begins after this end, in a PDU that has arrived.
            self.is_start_known = true;
        }
    }

    /// Delivers an SDU that ends below VR(US). It is erroneous if PDUs of it are missing, which the
    /// receiver has not detected.
    fn deliver<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, end: &SduEnd) {
        // The PDU in which the SDU began: the highest count that has the number `end.first`.
        let last_received = self.vr_us - 1;
        let steps_back = Sn::of(last_received).steps_from(end.first);
        let first_pdu = last_received.saturating_sub(steps_back);
        if first_pdu >= self.contiguous_from {
            self.queue.record_delivered(cx, &end.sdu);
            self.delivered.push_back(end.sdu);
        } else {
            self.queue.record_lost(cx, &end.sdu);
            self.erroneous.push_back(end.sdu);
        }
    }

    /// Discards the SDUs that are too old. If a part of one was sent, VT(US) skips a number, so
    /// that the receiver detects a gap.
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.vt_us += u64::from(self.queue.handle_timeout(cx));
    }

    /// Fills `set` with at most `blocks` blocks. Returns whether PDUs remain to be sent.
    pub fn poll_transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) -> bool {
        self.handle_timeout(cx);
        let occupancy_before = self.queue.occupancy();
        while set.blocks < blocks && self.has_work() {
            self.send_run(cx, blocks - set.blocks, set);
        }
        if self.queue.occupancy() != occupancy_before {
            self.queue.record_level(cx);
        }
        self.has_work()
    }

    /// Sends the next PDUs that contain only the middle of an SDU, at most `free_blocks`. If the next PDU
    /// is of another kind, sends this PDU alone.
    fn send_run<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        free_blocks: u32,
        set: &mut BlockSet,
    ) {
        let first = self.vt_us;
        let first_end = set.next_end_index();
        let starts = self.queue.buffer.marks_start(&self.rules);
        let allowed = u32::try_from(self.suspended_from - first).unwrap_or(u32::MAX);
        let full = self.queue.buffer.full_pdus(&self.rules, allowed.min(free_blocks));
        let count = if full > 0 {
            self.queue.buffer.take_full(&self.rules, first, full);
            full
        } else {
            self.queue.buffer.compose(cx.now, &self.rules, first, self.rules.payload, set);
            self.queue.record_managed(cx);
            1
        };
        self.vt_us += u64::from(count);
        let umd = |run| Pdu::Umd(DataRun { starts, ..run });
        self.queue.push_pdus(cx, set, first, count, first_end, umd);
    }

    /// Whether an SDU is ready for the upper layer.
    #[inline]
    pub fn has_delivered(&self) -> bool {
        !self.delivered.is_empty()
    }

    /// The next SDU for the upper layer.
    pub fn poll_delivered(&mut self) -> Option<Sdu> {
        self.delivered.pop_front()
    }

    /// The next SDU with undetected errors: the receiver could not detect that parts are missing.
    pub fn poll_erroneous(&mut self) -> Option<Sdu> {
        self.erroneous.pop_front()
    }

    /// When Timer_Discard of the oldest SDU expires.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.queue.next_discard()
    }

    /// Whether there are PDUs to send, and sending is not suspended.
    pub fn has_work(&self) -> bool {
        self.queue.has_work() && self.vt_us < self.suspended_from
    }

    /// Stops sending until [`resume`](Self::resume).
    pub fn suspend(&mut self) {
        self.queue.suspended = true;
    }

    /// Sends only `n` further PDUs until [`resume`](Self::resume). Returns VT(US) (TS 25.322
    /// §9.7.5).
    pub fn suspend_after(&mut self, n: u32) -> Sn {
        self.suspended_from = self.vt_us + u64::from(n);
        Sn::of(self.vt_us)
    }

    /// Continues after [`suspend`](Self::suspend) or [`suspend_after`](Self::suspend_after).
    pub fn resume(&mut self) {
        self.queue.suspended = false;
        self.suspended_from = NOT_SUSPENDED;
    }

    /// Re-establishes the entity: sequence numbers start from zero. An SDU with a sent part is lost,
    /// the others stay. The peer must be re-established, too.
    pub fn reestablish<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let mut discarded = Vec::new();
        self.queue.buffer.discard_started(|_, _| true, |_, sdu| discarded.push(sdu));
        discarded.iter().for_each(|sdu| self.queue.record_discarded(cx, sdu, DiscardReason::Reset));
        if self.suspended_from != NOT_SUSPENDED {
            self.suspended_from = self.suspended_from.saturating_sub(self.vt_us);
        }
        self.vt_us = 0;
        self.vr_us = 0;
        self.is_start_known = true;
        self.contiguous_from = 0;
        let (ue, direction) = (self.queue.ue, self.queue.sends);
        cx.record(|| TraceEvent::RlcInitialState { ue, direction });
        self.queue.record_level(cx);
    }

    /// Discards the SDUs without a sent part.
    pub fn lose_unsent<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.queue.lose_unsent(cx);
    }

    pub fn backlog(&self) -> Backlog {
        self.queue.backlog(&self.rules, self.suspended_from - self.vt_us)
    }

    /// Appends the SDUs that wait to be sent in order.
    pub fn waiting_sdus(&self, into: &mut Vec<WaitingSdu>) {
        self.queue.waiting_sdus(BlockCounter::new(self.rules), into);
    }

    /// Octets of SDUs that are not in PDUs yet.
    pub fn available_for_transmission(&self) -> Bytes {
        self.queue.unsent()
    }

    /// SDU octets in the queue.
    pub fn buffer_occupancy(&self) -> Bytes {
        self.queue.occupancy()
    }

    /// Octets of a PDU after its header.
    pub fn pdu_payload(&self) -> Bytes {
        Bytes(u64::from(self.rules.payload))
    }
}
