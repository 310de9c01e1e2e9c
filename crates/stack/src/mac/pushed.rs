//! The FACH (forward access channel) of EURANE, an extension of ns-2: the RNC pushes the blocks of each
//! UE at the full rate without flow control, and the Node B has one drop-tail queue for all UEs.
//!
//! Blocks cross the Iub, the link from the RNC to the Node B, and are queued at the Node B. Blocks that
//! find the queue full are dropped silently. RLC repairs the loss: with two users every data PDU crosses
//! the Iub more than twice (Dubois 2005, §6.3.4).
//!
//! The MAC has two timers: the first one is the frame of the Node B, in which it sends blocks, the
//! second one the tick of the RNC, at which it pushes blocks.

use umts_kernel::random::AddressedStream;
use umts_kernel::{Phase, TraceSink};
use umts_units::{Bytes, Duration, Time};

use super::{Below, CarrierConfig, Mac, Ticks};
use crate::detail::{Detail, Stage};
use crate::ids::{Direction, MacTimer, UeId};
use crate::nodeb::{FachQueue, QueuedBlock};
use crate::radio::phy::Lost;
use crate::trace::TraceEvent;
use crate::ue::{UeContext, Ues};
use crate::{Context, EventContext};

/// The FACH of a cell: the RNC's side, and the queue of the Node B.
#[derive(Debug)]
pub struct Pushed {
    /// The UEs with data, and the next tick of the RNC.
    ticks: Ticks,
    queue: FachQueue,
    /// Maximum random delay of a block in nanoseconds.
    jitter: f64,
    draws: AddressedStream,
    /// Start of the next frame of the Node B.
    frame: Option<Time>,
}

impl Pushed {
    /// A Node B with a queue of `limit` blocks. Each block leaves the RNC up to `jitter` late.
    pub fn new(limit: u32, jitter: Duration, draws: AddressedStream) -> Self {
        let (ticks, queue) = (Ticks::default(), FachQueue::new(limit));
        Pushed { ticks, queue, jitter: jitter.as_nanos() as f64, draws, frame: None }
    }

    /// Tick of the RNC: pushes the blocks of each UE as if it were the only one.
    fn push<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let (direction, blocks) = (config.direction, config.format.blocks);
        let draws = self.draws.tti(self.ticks.begin(ctx.cx.now, config));
        for &ue in self.ticks.members() {
            let context = &mut below.ues[ue];
            let octets = Bytes(u64::from(context.channel(direction).block_bits).div_ceil(8));
            let crossing = config.iub.crossing(octets);
            // Blocks of one UE keep their order, because RLC would treat late blocks as lost.
            let mut arrival = ctx.cx.now;
            for block in 0..blocks {
                let mut set = below.air.spare_set();
                if context.take_blocks(&mut ctx.cx, direction, config.channel, 1, &mut set) == 0 {
                    below.air.return_set(set);
                    break;
                }
                let delay = self.jitter * draws.uniform(u32::from(ue.0) * blocks + block);
                let crossed = ctx.cx.now + crossing + Duration::from_nanos(delay as u64);
                arrival = crossed.max(arrival);
                self.queue.push(QueuedBlock { at: arrival, ue, set, epoch: context.epoch });
            }
        }
        self.schedule_frame(config, ctx.cx.now);
        self.ticks.end(ctx, config, below);
    }

    /// Frame of the Node B: queues or drops the blocks that crossed the Iub, and sends the blocks at
    /// the head of the queue.
    fn send<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let (direction, tti, channel) = (config.direction, config.format.tti, config.channel);
        let frame = ctx.cx.now.as_nanos() / tti.as_nanos();
        self.frame = None;
        let Below { ues, air, .. } = below;
        self.queue.receive(ctx.cx.now, |block| {
            record_drop(ctx, config, ues, &block);
            air.return_set(block.set);
        });
        let mut transmission = air.begin(direction, channel);
        for block in 0..config.format.blocks {
            let Some(queued) = self.queue.pop() else { break };
            let ue = queued.ue;
            let (sent, unused_set) = transmission.take(ue, queued.set);
            air.return_set(unused_set);
            sent.epoch = queued.epoch;
            sent.first = block;
            let set = &sent.set;
            ctx.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::OnAir });
        }
        ues.decide_losses(direction, frame, transmission.sets_mut());
        let end = ctx.cx.now + tti;
        air.depart(ctx, transmission, end);
        self.schedule_frame(config, end);
    }

    /// Schedules the next frame, at `from` or later, if there is a block to send.
    #[inline]
    fn schedule_frame(&mut self, config: &CarrierConfig, from: Time) {
        if self.frame.is_none() {
            let next = self.queue.next(from);
            self.frame = next.map(|next| next.max(from).round_up_to(config.format.tti));
        }
    }
}

impl Mac for Pushed {
    #[inline]
    fn handle_backlog<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &CarrierConfig,
        ue: &mut UeContext,
        direction: Direction,
    ) -> bool {
        self.ticks.join(cx.now, config, ue, direction);
        false
    }

    fn leave<T: TraceSink<TraceEvent>>(
        &mut self,
        _ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
    ) {
        self.ticks.leave(&mut below.ues[ue], config.direction);
    }

    #[inline]
    fn poll_timeouts(&self) -> [Option<(Time, Phase)>; 2] {
        [self.frame.map(|at| (at, Phase::Transmit)), self.ticks.next()]
    }

    fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        timer: MacTimer,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        match timer {
            MacTimer::First => self.send(ctx, config, below),
            MacTimer::Second => self.push(ctx, config, below),
        }
    }
}

/// Records that the full queue dropped a block.
#[cold]
fn record_drop<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    config: &CarrierConfig,
    ues: &Ues,
    block: &QueuedBlock,
) {
    let (ue, set) = (block.ue, &block.set);
    let (direction, channel) = (config.direction, config.channel);
    ctx.cx.record(|| TraceEvent::FachQueueDropped { ue, blocks: 1 });
    ctx.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::Dropped });
    let receiver = &ues[ue].rlc[direction.reversed().index()];
    receiver.record_lost_ends(&mut ctx.cx, set, Lost::all(set.blocks));
}
