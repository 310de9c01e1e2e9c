//! Transparent mode of RLC: TS 25.322 §4.2.1.1 (model), §9.2.1.2 (TMD PDU), §11.1 (transfer).
//!
//! There is no header and no padding. Without segmentation an SDU is one PDU. With segmentation all
//! PDUs of an SDU are sent in one TTI, and at most one SDU per TTI. An SDU that the channel cannot
//! carry in this way is discarded. The last PDU of an SDU may be partly unused.

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
use crate::radio::rlc::am::BufferFull;
use crate::radio::rlc::backlog::BlockCounter;
use crate::radio::rlc::sdu_queue::SduQueue;
use crate::radio::rlc::segmentation::SegmentationRules;
use crate::radio::rlc::{Backlog, BlockSet, Pdu, RlcConfig, Sdu, SduEnd, Sn, WaitingSdu};
use crate::trace::{PduDrop, TraceEvent};

/// Treatment of an SDU with errors in transparent mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum ErroneousSdus {
    /// The SDU is discarded.
    Dropped,
    /// The SDU is delivered with an error mark, and IP drops it.
    Marked,
    /// The SDU is delivered without a mark. A checksum must detect the error.
    Undetected,
}

/// An SDU with errors for the upper layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErroneousSdu {
    pub sdu: Sdu,
    /// The upper layer is notified of the errors.
    pub is_marked: bool,
}

/// One end of a transparent-mode bearer.
#[derive(Debug, Clone)]
pub struct TmEntity {
    /// Octets of a PDU.
    pdu_payload: u16,
    /// Whether an SDU may be larger than a PDU.
    segmentation: bool,
    erroneous_sdus: ErroneousSdus,
    /// PDUs per TTI of the channel.
    blocks: u32,
    queue: SduQueue,
    /// Number of PDUs sent.
    sent: u64,
    delivered: VecDeque<Sdu>,
    erroneous: VecDeque<Sdu>,
}

impl TmEntity {
    /// An entity of `ue`'s bearer that sends in direction `sends`, on a channel with `blocks`
    /// blocks per TTI.
    pub fn new(ue: UeId, sends: Direction, config: &RlcConfig, blocks: u32) -> Self {
        TmEntity {
            queue: SduQueue::new(ue, sends, config.buffer, config.timer_discard),
            pdu_payload: config.pdu_payload.0,
            segmentation: config.tm_segmentation,
            erroneous_sdus: config.tm_erroneous_sdus,
            blocks,
            sent: 0,
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

    /// Receives the block set of a TTI. The blocks in `lost` have errors.
    pub fn handle_blocks<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        lost: Lost,
    ) {
        let mut block = 0;
        for pdu in &set.pdus {
            let count = pdu.blocks();
            match pdu {
                Pdu::Tmd(run) => {
                    // The run consists of the PDUs of one SDU.
                    let lost_blocks = lost.from(block).0 & Lost::all(count).0;
                    let has_errors = lost_blocks != 0;
                    for end in set.ends_of(run) {
                        self.receive_sdu(cx, end.sdu, has_errors);
                    }
                }
                _ => self.queue.record_dropped(cx, count, PduDrop::WrongMode),
            }
            block += count;
        }
    }

    /// Delivers an SDU, or drops it if it has errors and such SDUs are dropped.
    fn receive_sdu<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, sdu: Sdu, has_errors: bool) {
        if has_errors && self.erroneous_sdus == ErroneousSdus::Dropped {
            self.queue.record_lost(cx, &sdu);
            return;
        }
        self.queue.record_delivered(cx, &sdu);
        if has_errors { self.erroneous.push_back(sdu) } else { self.delivered.push_back(sdu) }
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

    /// Discards the SDUs that are too old.
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.queue.handle_timeout(cx);
    }

    /// Fills `set` with at most `blocks` blocks. An SDU that needs more blocks waits. Returns
    /// whether SDUs remain to be sent.
    pub fn poll_transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) -> bool {
        self.handle_timeout(cx);
        while let Some(octets) = self.queue.buffer.head_octets().filter(|_| !self.queue.suspended) {
            let pdus = octets.div_ceil(u64::from(self.pdu_payload));
            if pdus > self.max_pdus_per_sdu() {
                let sdu = self.queue.buffer.take_whole(cx.now).expect("the loop condition found an SDU");
                self.queue.record_managed(cx);
                self.queue.record_discarded(cx, &sdu, DiscardReason::TooLong);
                self.queue.record_level(cx);
                continue;
            }
            if set.blocks + pdus as u32 > blocks {
                break;
            }
            self.send_head(cx, pdus as u32, set);
            if self.segmentation {
                break;
            }
        }
        self.has_work()
    }

    /// Maximum number of PDUs of an SDU.
    fn max_pdus_per_sdu(&self) -> u64 {
        if self.segmentation { u64::from(self.blocks) } else { 1 }
    }

    /// Sends the first SDU in `count` PDUs.
    fn send_head<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        count: u32,
        set: &mut BlockSet,
    ) {
        let sdu = self.queue.buffer.take_whole(cx.now).expect("the caller found an SDU");
        self.queue.record_managed(cx);
        let first = self.sent;
        self.sent += u64::from(count);
        let first_end = set.next_end_index();
        set.ends.push(SduEnd { first: Sn::of(first), sn: Sn::of(self.sent - 1), sdu });
        self.queue.push_pdus(cx, set, first, count, first_end, Pdu::Tmd);
        self.queue.record_level(cx);
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

    /// The next SDU with errors.
    pub fn poll_erroneous(&mut self) -> Option<ErroneousSdu> {
        let is_marked = self.erroneous_sdus == ErroneousSdus::Marked;
        self.erroneous.pop_front().map(|sdu| ErroneousSdu { sdu, is_marked })
    }

    /// When Timer_Discard of the oldest SDU expires.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.queue.next_discard()
    }

    /// Whether there are SDUs to send, and sending is not suspended.
    pub fn has_work(&self) -> bool {
        self.queue.has_work()
    }

    /// Stops sending until [`resume`](Self::resume).
    pub fn suspend(&mut self) {
        self.queue.suspended = true;
    }

    /// Continues after [`suspend`](Self::suspend), with `blocks` blocks per TTI.
    pub fn resume(&mut self, blocks: u32) {
        self.queue.suspended = false;
        self.blocks = blocks;
    }

    /// Re-establishes the entity. There is no state to clear, because every SDU is sent within one
    /// TTI.
    pub fn reestablish<T: TraceSink<TraceEvent>>(&mut self, _: &mut Context<'_, T>) {}

    /// Discards the waiting SDUs.
    pub fn lose_unsent<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.queue.lose_unsent(cx);
    }

    /// Data to send.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog(&SegmentationRules::without_indicators(self.pdu_payload), u64::from(self.blocks))
    }

    /// Appends the SDUs that wait to be sent in order.
    pub fn waiting_sdus(&self, into: &mut Vec<WaitingSdu>) {
        self.queue.waiting_sdus(BlockCounter::one_sdu_per_pdu(self.pdu_payload), into);
    }

    /// Octets of SDUs that are not in PDUs yet.
    pub fn available_for_transmission(&self) -> Bytes {
        self.queue.unsent()
    }

    /// SDU octets in the queue.
    pub fn buffer_occupancy(&self) -> Bytes {
        self.queue.occupancy()
    }

    /// Octets of a PDU.
    pub fn pdu_payload(&self) -> Bytes {
        Bytes(u64::from(self.pdu_payload))
    }
}
