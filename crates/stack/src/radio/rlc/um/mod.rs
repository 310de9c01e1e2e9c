//! Unacknowledged mode of RLC: TS 25.322 §4.2.1.2 (model), §9.2.1.3 (UMD PDU), §11.2 (transfer), §9.7.3.2 (discard by
//! timer without signalling).
//!
//! ```text
//!   | SN 7 | E 1 | LI … | end of one SDU | whole SDUs … | start of the next | padding |
//! ```
//!
//! An SDU that begins with the first data octet of a PDU is told by a length indicator (0x7C, 0x7FFC), so that the
//! receiver finds its start after a loss. A PDU that does not come takes every SDU with a segment in it along. Of a loss of
//! 128 PDUs in a row, or a multiple, seven bits say nothing; it is noticed here all the same. Not modelled: ciphering,
//! duplicate avoidance and reordering (Release 6), out-of-sequence delivery.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Duration, Time};

use crate::Cx;
use crate::ids::{Direction, UeId};
use crate::radio::phy::Lost;
use crate::radio::rlc::am::{BufferFull, LengthIndicators, arrived_parts};
use crate::radio::rlc::buffer::{Buffer, Cutting};
use crate::radio::rlc::{BlockSet, DataRun, Pdu, Sdu, SduEnd, Sn};
use crate::trace::TraceEvent;

/// Configuration of an unacknowledged-mode entity, both of its directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UmConfig {
    /// Octets of a PDU behind its header octet: length indicators, data and padding.
    pub pdu_payload: u16,
    /// Timer_Discard: an SDU that waits longer is given up; `None`: never.
    pub timer_discard: Option<Duration>,
    /// Room in the transmission buffer, in octets of SDUs not wholly sent; `None`: any.
    pub buffer: Option<Bytes>,
}

impl UmConfig {
    /// A length indicator takes one octet up to PDUs of 125 octets (TS 25.322 §9.2.2.8).
    fn cutting(&self) -> Cutting {
        Cutting {
            payload: self.pdu_payload,
            length_indicator: if self.pdu_payload < 125 { 1 } else { 2 },
            rule: LengthIndicators::Ts25322,
            marks_start: true,
        }
    }
}

/// One end of an unacknowledged-mode bearer.
#[derive(Debug, Clone)]
pub struct UmEntity {
    ue: UeId,
    sends: Direction,
    config: UmConfig,
    buffer: Buffer,
    /// VT(US): the next PDU, counted without wrapping.
    vt_us: u64,
    /// VR(US): the PDU expected next, and the first of the unbroken row before it.
    vr_us: u64,
    unbroken_from: u64,
    delivered: VecDeque<Sdu>,
    suspended: bool,
}

impl UmEntity {
    /// An entity of `ue`'s bearer that sends in direction `sends`.
    pub fn new(ue: UeId, sends: Direction, config: UmConfig) -> Self {
        UmEntity {
            ue,
            sends,
            config,
            buffer: Buffer::default(),
            vt_us: 0,
            vr_us: 0,
            unbroken_from: 0,
            delivered: VecDeque::new(),
            suspended: false,
        }
    }

    /// Queues one SDU, or refuses it when it does not fit the transmission buffer.
    pub fn handle_sdu<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        sdu: Sdu,
    ) -> Result<(), BufferFull> {
        self.handle_timeout(cx);
        if self.config.buffer.is_some_and(|room| self.buffer.octets() + sdu.size().0 > room.0) {
            return Err(BufferFull);
        }
        self.buffer.push(sdu);
        let (ue, direction) = (self.ue, self.sends);
        cx.record(|| TraceEvent::SduQueued { ue, direction, sdu: sdu.packet.id, size: sdu.size() });
        self.record_buffer(cx);
        Ok(())
    }

    /// Takes the block set of a TTI, of which `lost` did not arrive.
    pub fn handle_blocks<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        set: &BlockSet,
        lost: Lost,
    ) {
        let mut block = 0;
        for pdu in &set.pdus {
            match pdu {
                Pdu::Umd(run) => {
                    for (from, count, ends) in arrived_parts(run, set.ends_of(run), lost.0 >> block) {
                        self.take_run(cx, run.first.plus(from), count, ends);
                    }
                    block += u32::from(run.count);
                }
                // PDUs of another mode come from a peer that is configured differently.
                Pdu::Data(run) | Pdu::Tmd(run) => block += u32::from(run.count),
                Pdu::Status(_) | Pdu::Reset(_) | Pdu::ResetAck(_) => block += 1,
            }
        }
    }

    fn take_run<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        first: Sn,
        count: u64,
        ends: &[SduEnd],
    ) {
        let pdu = first.count_from(self.vr_us);
        if pdu != self.vr_us {
            self.unbroken_from = pdu;
        }
        self.vr_us = pdu + count;
        for end in ends {
            let began = self.vr_us - 1 - Sn::of(self.vr_us - 1).steps_from(end.first).min(self.vr_us - 1);
            if began >= self.unbroken_from {
                self.hand_up(cx, end.sdu);
            }
        }
    }

    fn hand_up<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>, sdu: Sdu) {
        let (ue, direction, entered) = (self.ue, self.sends.reversed(), sdu.entered);
        let (id, size) = (sdu.packet.id, sdu.size());
        cx.record(|| TraceEvent::SduDelivered { ue, direction, sdu: id, size, entered });
        self.delivered.push_back(sdu);
    }

    /// Gives up the SDUs that are too old. Where a part of one was sent, VT(US) skips a number, so that the receiver sees a
    /// hole.
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>) {
        let Some(age) = self.config.timer_discard.filter(|_| self.poll_timeout() <= Some(cx.now)) else {
            return;
        };
        let too_old = Time::from_nanos(cx.now.as_nanos().saturating_sub(age.as_nanos()));
        let mut given_up = Vec::new();
        if self.buffer.discard_started(|_, sdu| sdu.entered <= too_old, |sdu| given_up.push(sdu)) {
            self.vt_us += 1;
        }
        self.buffer.discard_unsent(too_old, |sdu| given_up.push(sdu));
        let (ue, direction) = (self.ue, self.sends);
        for sdu in &given_up {
            cx.record(|| TraceEvent::SduDiscarded { ue, direction, sdu: sdu.packet.id, size: sdu.size() });
        }
        if !given_up.is_empty() {
            self.record_buffer(cx);
        }
    }

    /// Fills `set` with `blocks` blocks at most.
    pub fn poll_transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) {
        self.handle_timeout(cx);
        if self.suspended {
            return;
        }
        let cutting = self.config.cutting();
        let before = self.buffer.octets();
        while set.blocks < blocks && !self.buffer.is_empty() {
            let first = self.vt_us;
            let mark = set.ends_mark();
            let full = self.buffer.full_pdus(&cutting, blocks - set.blocks);
            if full > 0 {
                self.buffer.take_full(&cutting, first, full);
            } else {
                self.buffer.compose(&cutting, first, cutting.payload, set);
            }
            let count = full.max(1);
            self.vt_us += u64::from(count);
            let ends = (mark, set.ends_mark());
            set.push_run(Pdu::Umd(DataRun::new(first, count, ends)), count);
            let (ue, direction, first_sn) = (self.ue, self.sends, first as u32);
            let (retransmission, poll) = (false, false);
            cx.record(|| TraceEvent::PdusSent { ue, direction, first_sn, count, retransmission, poll });
        }
        if self.buffer.octets() != before {
            self.record_buffer(cx);
        }
    }

    fn record_buffer<T: TraceSink<TraceEvent>>(&self, cx: &mut Cx<'_, T>) {
        let (ue, direction, octets) = (self.ue, self.sends, self.buffer.octets());
        cx.record(|| TraceEvent::RlcBuffer { ue, direction, octets });
    }

    /// The next SDU for the upper layer.
    pub fn poll_delivered(&mut self) -> Option<Sdu> {
        self.delivered.pop_front()
    }

    /// When the oldest SDU will have waited too long.
    pub fn poll_timeout(&self) -> Option<Time> {
        Some(self.buffer.oldest()? + self.config.timer_discard?)
    }

    /// Whether the next TTI is of use to it.
    pub fn has_work(&self) -> bool {
        !self.suspended && !self.buffer.is_empty()
    }

    /// Sends nothing until [`resume`](Self::resume).
    pub fn suspend(&mut self) {
        self.suspended = true;
    }

    /// Goes on after [`suspend`](Self::suspend).
    pub fn resume(&mut self) {
        self.suspended = false;
    }

    /// SDU octets that wait.
    pub fn buffer_occupancy(&self) -> Bytes {
        Bytes(self.buffer.octets())
    }

    /// Octets of a PDU behind its header.
    pub fn pdu_payload(&self) -> Bytes {
        Bytes(u64::from(self.config.pdu_payload))
    }
}
