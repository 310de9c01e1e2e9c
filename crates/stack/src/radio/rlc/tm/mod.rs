//! Transparent mode of RLC: TS 25.322 §4.2.1.1 (model), §9.2.1.2 (TMD PDU), §11.1 (transfer).
//!
//! There is no header and no padding. Without segmentation an SDU is a PDU; with it, all PDUs of an SDU go into one TTI,
//! and one SDU at most is sent in a TTI. An SDU that the channel cannot carry so is given up. What the last PDU of an SDU
//! does not fill is not used.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Duration, Time};

use crate::Context;
use crate::ids::{Direction, UeId};
use crate::radio::phy::Lost;
use crate::radio::rlc::am::BufferFull;
use crate::radio::rlc::backlog::Cut;
use crate::radio::rlc::buffer::Cutting;
use crate::radio::rlc::sdu_queue::SduQueue;
use crate::radio::rlc::{Backlog, BlockSet, Pdu, Sdu, SduEnd, Sn, WaitingSdu};
use crate::trace::{PduDrop, TraceEvent};

/// Configuration of a transparent-mode entity, both of its directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TmConfig {
    /// Octets of a PDU.
    pub pdu_payload: u16,
    /// Whether an SDU may be larger than a PDU.
    pub segmentation: bool,
    /// What becomes of an SDU with an error in it.
    pub erroneous_sdus: ErroneousSdus,
    /// Timer_Discard: an SDU that waits longer is given up; `None`: never.
    pub timer_discard: Option<Duration>,
    /// Room in the transmission buffer, in octets of SDUs; `None`: any.
    pub buffer: Option<Bytes>,
}

/// What transparent mode does with an SDU with an error in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum ErroneousSdus {
    /// It is dropped.
    Dropped,
    /// It goes up, marked; IP drops it.
    Marked,
    /// It goes up as if nothing were wrong; a checksum finds out.
    Undetected,
}

/// One end of a transparent-mode bearer.
#[derive(Debug, Clone)]
pub struct TmEntity {
    config: TmConfig,
    /// PDUs that a TTI of the channel holds.
    blocks: u32,
    queue: SduQueue,
    sent: u64,
    delivered: VecDeque<Sdu>,
    erroneous: VecDeque<Sdu>,
}

impl TmEntity {
    /// An entity of `ue`'s bearer that sends in direction `sends`, on a channel with `blocks` blocks in a TTI.
    pub fn new(ue: UeId, sends: Direction, config: TmConfig, blocks: u32) -> Self {
        TmEntity {
            queue: SduQueue::new(ue, sends, config.buffer, config.timer_discard),
            config,
            blocks,
            sent: 0,
            delivered: VecDeque::new(),
            erroneous: VecDeque::new(),
        }
    }

    /// Queues one SDU, or refuses it when it does not fit the transmission buffer.
    pub fn handle_sdu<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        sdu: &Sdu,
    ) -> Result<(), BufferFull> {
        self.handle_timeout(cx);
        self.queue.push(cx, sdu)
    }

    /// Takes the block set of a TTI, of which `lost` arrived with errors.
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
                    let bad = lost.from(block).0 & Lost::all(count).0;
                    for end in set.ends_of(run) {
                        self.take(cx, end.sdu, bad != 0);
                    }
                }
                _ => self.queue.record_dropped(cx, count, PduDrop::WrongMode),
            }
            block += count;
        }
    }

    fn take<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, sdu: Sdu, is_bad: bool) {
        if is_bad && self.config.erroneous_sdus == ErroneousSdus::Dropped {
            self.queue.record_lost(cx, &sdu);
            return;
        }
        self.queue.record_delivered(cx, &sdu);
        if is_bad { self.erroneous.push_back(sdu) } else { self.delivered.push_back(sdu) }
    }

    /// These blocks of the peer never come: neither do the SDUs that end in them.
    pub fn record_lost_ends<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        lost: Lost,
    ) {
        self.queue.record_lost_ends(cx, set, lost);
    }

    /// Gives up the SDUs that are too old.
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.queue.handle_timeout(cx);
    }

    /// Fills `set` with `blocks` blocks at most: fewer than an SDU needs are left to others.
    pub fn poll_transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) -> bool {
        self.handle_timeout(cx);
        while let Some(octets) = self.queue.buffer.head_octets().filter(|_| !self.queue.suspended) {
            let pdus = octets.div_ceil(u64::from(self.config.pdu_payload));
            if pdus > self.most_pdus() {
                let sdu = self.queue.buffer.take_whole().expect("it was looked at");
                self.queue.record_discarded(cx, &sdu);
                self.queue.record_level(cx);
                continue;
            }
            if set.blocks + pdus as u32 > blocks {
                break;
            }
            self.send_head(cx, pdus as u32, set);
            if self.config.segmentation {
                break;
            }
        }
        self.has_work()
    }

    /// PDUs that an SDU may take.
    fn most_pdus(&self) -> u64 {
        if self.config.segmentation { u64::from(self.blocks) } else { 1 }
    }

    fn send_head<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        count: u32,
        set: &mut BlockSet,
    ) {
        let sdu = self.queue.buffer.take_whole().expect("it was looked at");
        let first = self.sent;
        self.sent += u64::from(count);
        let mark = set.ends_mark();
        set.ends.push(SduEnd { first: Sn::of(first), sn: Sn::of(self.sent - 1), sdu });
        self.queue.put_into(cx, set, first, count, mark, Pdu::Tmd);
        self.queue.record_level(cx);
    }

    /// Whether an SDU waits for the upper layer.
    #[inline]
    pub fn has_delivered(&self) -> bool {
        !self.delivered.is_empty()
    }

    /// The next SDU for the upper layer.
    pub fn poll_delivered(&mut self) -> Option<Sdu> {
        self.delivered.pop_front()
    }

    /// The next SDU with errors in it, and whether the upper layer is told so.
    pub fn poll_erroneous(&mut self) -> Option<(Sdu, bool)> {
        let is_marked = self.config.erroneous_sdus == ErroneousSdus::Marked;
        self.erroneous.pop_front().map(|sdu| (sdu, is_marked))
    }

    /// When the oldest SDU will have waited too long.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.queue.next_discard()
    }

    /// Whether the next TTI is of use to it.
    pub fn has_work(&self) -> bool {
        self.queue.has_work()
    }

    /// Sends nothing until [`resume`](Self::resume).
    pub fn suspend(&mut self) {
        self.queue.suspended = true;
    }

    /// Goes on after [`suspend`](Self::suspend), with `blocks` blocks in a TTI.
    pub fn resume(&mut self, blocks: u32) {
        self.queue.suspended = false;
        self.blocks = blocks;
    }

    /// Begins anew: there is nothing to forget, since every SDU leaves in one TTI.
    pub fn reestablish<T: TraceSink<TraceEvent>>(&mut self, _: &mut Context<'_, T>) {}

    /// The SDUs of which nothing was sent are lost.
    pub fn lose_unsent<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.queue.lose_unsent(cx);
    }

    /// What waits to be sent.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog(&Cutting::without_indicators(self.config.pdu_payload), u64::from(self.blocks))
    }

    /// The SDUs that wait to be sent, in order.
    pub fn waiting_sdus(&self, into: &mut Vec<WaitingSdu>) {
        self.queue.waiting_sdus(Cut::apart(self.config.pdu_payload), into);
    }

    /// Octets of SDUs that are in no PDU yet.
    pub fn available_for_transmission(&self) -> Bytes {
        self.queue.unsent()
    }

    /// SDU octets that wait.
    pub fn buffer_occupancy(&self) -> Bytes {
        self.queue.occupancy()
    }

    /// Octets of a PDU.
    pub fn pdu_payload(&self) -> Bytes {
        Bytes(u64::from(self.config.pdu_payload))
    }
}
