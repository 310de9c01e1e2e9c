//! Blocks that the UE has decoded: the reordering queue with timer T1, reassembly, and RLC of the UE.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::User;
use super::harq::Content;
use crate::EventContext;
use crate::ids::UeId;
use crate::mac::CarrierConfig;
use crate::mac::hs::config::HsMac;
use crate::nodeb::QueuedBlock;
use crate::radio::Air;
use crate::radio::mac::hs::tsn::Tsn;
use crate::radio::phy::Lost;
use crate::trace::TraceEvent;

/// A block that the UE has decoded.
#[derive(Debug)]
pub(super) struct ReceivedBlock {
    /// Number of the block, without wrap-around. The UE knows only its TSN.
    pub(super) count: u64,
    pub(super) content: Content,
}

impl User {
    /// Ends HARQ: its blocks are lost, and those in the reordering queue go up. Returns the PDUs that were
    /// not sent yet.
    pub fn reset<T: TraceSink<TraceEvent>>(
        mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        ue: UeId,
    ) -> Vec<QueuedBlock> {
        self.reordering.reset(&mut self.up);
        // Not before blocks that are being decoded.
        let decoded_at = ctx.cx.now + self.timing.decoding;
        self.deliver(ctx, config, air, ue, decoded_at);
        for block in std::mem::take(&mut self.blocks).into_iter().flatten() {
            let pdus = block.content.map_or_else(Vec::new, |content| content.pdus);
            self.deliver_pdus(ctx, config, air, decoded_at, pdus, true);
        }
        let mut unsent: Vec<QueuedBlock> = self.queue.remove_if(|_| true);
        unsent.extend(self.on_iub);
        unsent
    }

    /// Passes a block that the UE has decoded at `at` to the reordering queue, and the blocks that are in
    /// order to RLC.
    pub(super) fn reorder<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        ue: UeId,
        at: Time,
        received: ReceivedBlock,
    ) {
        self.expire_t1(ctx, config, air, ue, at);
        let tsn = Tsn::of(received.count);
        let dropped = self.reordering.handle_block(at, tsn, received, &mut self.up);
        self.deliver(ctx, config, air, ue, at);
        if let Some(ReceivedBlock { count, content: Content { pdus, .. } }) = dropped {
            let number = pdus.len() as u32;
            ctx.cx.record(|| TraceEvent::HsBlockDropped { ue, pdus: number });
            // The queue can have given up or passed on only blocks before the next one.
            if count >= self.next_up {
                ctx.cx.record(|| TraceEvent::HsTsnMisread { ue });
            }
            self.deliver_pdus(ctx, config, air, at, pdus, true);
        }
    }

    /// Expiry of timer T1 of the reordering queue.
    pub fn t1_expiry(&self) -> Option<Time> {
        self.reordering.poll_timeout()
    }

    /// Handles expiries of T1 up to `until`.
    pub fn expire_t1<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        ue: UeId,
        until: Time,
    ) {
        while let Some(at) = self.reordering.poll_timeout().filter(|at| *at <= until) {
            self.reordering.handle_timeout(at, &mut self.up);
            ctx.cx.record(|| TraceEvent::T1Expired { ue });
            self.deliver(ctx, config, air, ue, at);
        }
    }

    /// Passes the PDUs of the blocks in `up` to RLC at `at`.
    fn deliver<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        ue: UeId,
        at: Time,
    ) {
        let mut up = std::mem::take(&mut self.up);
        for ReceivedBlock { count, content: Content { mut pdus, segmentation, .. } } in up.drain(..) {
            if count < self.next_up {
                ctx.cx.record(|| TraceEvent::HsTsnMisread { ue });
            }
            self.next_up = self.next_up.max(count + 1);
            if self.mac == HsMac::MacEhs {
                let lost = self.reassembly.handle_block(Tsn::of(count), segmentation, pdus.len());
                let kept = pdus.split_off(lost);
                let incomplete = std::mem::replace(&mut pdus, kept);
                self.deliver_pdus(ctx, config, air, at, incomplete, true);
            }
            self.deliver_pdus(ctx, config, air, at, pdus, false);
        }
        self.up = up;
    }

    /// Passes PDUs of a block to RLC of the UE at `at`, or counts them as lost.
    pub(super) fn deliver_pdus<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        at: Time,
        pdus: Vec<QueuedBlock>,
        is_lost: bool,
    ) {
        let (direction, channel) = (config.direction, config.channel);
        let mut transmission = air.begin(direction, channel);
        for pdu in pdus {
            self.in_flight.remove(&pdu);
            let (sent, unused) = transmission.take(pdu.ue, pdu.set);
            sent.epoch = pdu.epoch;
            sent.lost = if is_lost { Lost::all(sent.set.blocks) } else { Lost::default() };
            air.return_set(unused);
        }
        air.depart(ctx, transmission, at);
    }
}
