//! MAC-es at the RNC: blocks of a UE back in the order of their numbers, and their PDUs to RLC.

use std::collections::VecDeque;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

use super::config::EDchConfig;
use crate::EventContext;
use crate::detail::Detail;
use crate::ids::UeId;
use crate::mac::CarrierConfig;
use crate::nodeb::QueuedBlock;
use crate::radio::Air;
use crate::radio::mac::hs::reordering::{ReorderingConfig, ReorderingQueue};
use crate::radio::mac::hs::tsn::Tsn;
use crate::radio::phy::Lost;
use crate::trace::TraceEvent;

/// The PDUs of a MAC-es PDU.
#[derive(Debug)]
pub(super) struct Content {
    /// Number of the MAC-es PDU, without wrap-around. The RNC knows only its TSN.
    pub count: u64,
    pub pdus: QueuedBlock,
}

/// A block that the Node B has decoded.
#[derive(Debug)]
pub(super) struct DecodedBlock {
    pub content: Content,
    /// Start of the TTI of its last transmission.
    pub tti: Time,
    pub retransmissions: u8,
}

#[derive(Debug)]
pub(super) struct Reception {
    ue: UeId,
    /// Blocks on the Iub, with their arrival.
    on_iub: VecDeque<(Time, DecodedBlock)>,
    queue: ReorderingQueue<Content>,
    /// Blocks that the queue passes on. Empty between calls.
    up: Vec<Content>,
}

impl Reception {
    pub fn new(ue: UeId, config: &EDchConfig) -> Self {
        let reordering = ReorderingConfig { window: config.window, t1: config.t1 };
        Reception { ue, on_iub: VecDeque::new(), queue: ReorderingQueue::new(reordering), up: Vec::new() }
    }

    /// The Node B decodes a block at `decoded`. `octets`: its size on the Iub, on which blocks do not
    /// overtake each other.
    pub fn send_to_rnc(
        &mut self,
        carrier: &CarrierConfig,
        decoded: Time,
        octets: Bytes,
        block: DecodedBlock,
    ) {
        let last = self.on_iub.back().map_or(Time::ZERO, |(at, _)| *at);
        self.on_iub.push_back((last.max(decoded + carrier.iub.crossing(octets)), block));
    }

    /// The next arrival or expiry of T1.
    pub fn poll_timeout(&self) -> Option<Time> {
        let arrival = self.on_iub.front().map(|(at, _)| *at);
        [arrival, self.queue.poll_timeout()].into_iter().flatten().min()
    }

    /// Handles arrivals and expiries of T1 up to now.
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: &CarrierConfig,
        air: &mut Air,
    ) {
        let now = ctx.cx.now;
        if self.queue.poll_timeout().is_some_and(|at| at <= now) {
            self.queue.handle_timeout(now, &mut self.up);
            ctx.cx.record(|| TraceEvent::ET1Expired { ue: self.ue });
        }
        while let Some((_, block)) = self.on_iub.pop_front_if(|(at, _)| *at <= now) {
            self.show_frame(ctx, &block);
            let content = block.content;
            let tsn = Tsn::of(content.count);
            if let Some(dropped) = self.queue.handle_block(now, tsn, content, &mut self.up) {
                let (ue, pdus) = (self.ue, dropped.pdus.set.blocks);
                ctx.cx.record(|| TraceEvent::EBlockDropped { ue, pdus });
                lose(ctx, carrier, air, now, dropped);
            }
        }
        self.deliver(ctx, carrier, air, now);
    }

    /// Passes all blocks on at `at`, those on the Iub too.
    pub fn reset<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: &CarrierConfig,
        air: &mut Air,
        at: Time,
    ) {
        self.queue.reset(&mut self.up);
        let at = self.on_iub.back().map_or(at, |(last, _)| at.max(*last));
        for (_, block) in std::mem::take(&mut self.on_iub) {
            self.show_frame(ctx, &block);
            self.up.push(block.content);
        }
        self.deliver(ctx, carrier, air, at);
    }

    /// Shows the frame that carries a block to the RNC.
    fn show_frame<T: TraceSink<TraceEvent>>(&self, ctx: &mut EventContext<'_, T>, block: &DecodedBlock) {
        let DecodedBlock { content: Content { count, pdus }, tti, retransmissions } = block;
        ctx.cx.show(|| Detail::EDchFrame {
            ue: self.ue,
            set: &pdus.set,
            tsn: Tsn::of(*count).value(),
            tti: *tti,
            retransmissions: *retransmissions,
        });
    }

    fn deliver<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: &CarrierConfig,
        air: &mut Air,
        at: Time,
    ) {
        let mut transmission = air.begin(carrier.direction, carrier.channel);
        for Content { pdus, .. } in self.up.drain(..) {
            let (sent, unused) = transmission.take(pdus.ue, pdus.set);
            (sent.epoch, sent.lost) = (pdus.epoch, Lost::default());
            air.return_set(unused);
        }
        air.depart(ctx, transmission, at);
    }
}

/// The PDUs of a block are lost at `at`.
pub(super) fn lose<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    carrier: &CarrierConfig,
    air: &mut Air,
    at: Time,
    content: Content,
) {
    let mut transmission = air.begin(carrier.direction, carrier.channel);
    let QueuedBlock { ue, set, epoch, .. } = content.pdus;
    let (sent, unused) = transmission.take(ue, set);
    (sent.epoch, sent.lost) = (epoch, Lost::all(sent.set.blocks));
    air.return_set(unused);
    air.depart(ctx, transmission, at);
}
