//! EURANE's FACH: the RNC pushes the blocks of each UE at the full rate without flow control, and
//! the Node B has one drop-tail queue for all UEs.
//!
//! Blocks cross the Iub and are queued here. Blocks that find the queue full are dropped silently.
//! RLC repairs the loss: with two users every data PDU crosses the Iub more than twice (Dubois
//! 2005, §6.3.4).

mod queue;

use umts_kernel::random::AddressedStream;
use umts_kernel::{Phase, TraceSink};
use umts_units::{Bytes, Duration, Time};

use self::queue::{FachQueue, Pushed};
use crate::EventContext;
use crate::detail::{Detail, Stage};
use crate::event::Event;
use crate::ids::CarrierId;
use crate::radio::Air;
use crate::radio::phy::Lost;
use crate::rnc::{CarrierConfig, TtiInput, TtiOutcome};
use crate::trace::TraceEvent;
use crate::ue::Ues;

/// The RNC's side of the FACH, and the queue and frames of the Node B.
#[derive(Debug)]
pub struct EuraneFach {
    queue: FachQueue,
    /// Maximum random delay of a block in nanoseconds.
    jitter: f64,
    draws: AddressedStream,
    frame_scheduled: bool,
}

impl EuraneFach {
    /// A Node B with a queue of `limit` blocks. Each block leaves the RNC up to `jitter` late.
    pub fn new(limit: u32, jitter: Duration, draws: AddressedStream) -> Self {
        EuraneFach {
            queue: FachQueue::new(limit),
            jitter: jitter.as_nanos() as f64,
            draws,
            frame_scheduled: false,
        }
    }

    /// Pushes the blocks of each UE as if it were the only one.
    pub fn turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        turn: TtiInput<'_>,
        ues: &mut Ues,
        air: &mut Air,
    ) -> TtiOutcome {
        let plan = turn.plan;
        let mut turned = TtiOutcome { is_watched: false, all_have_more: true };
        let (direction, blocks) = (plan.direction, plan.format.blocks);
        let draws = self.draws.tti(turn.frame);
        for &ue in turn.ready {
            let context = &mut ues[ue];
            let octets = Bytes(u64::from(context.channel(direction).block_bits).div_ceil(8));
            let crossing = plan.iub.crossing(octets);
            // Blocks of one UE keep their order, because RLC would treat late blocks as lost.
            let mut before = ctx.cx.now;
            for block in 0..blocks {
                let mut spare = air.spare_set();
                if context.take_blocks(&mut ctx.cx, direction, plan.channel, 1, &mut spare) == 0 {
                    air.return_set(spare);
                    break;
                }
                let late = self.jitter * draws.uniform(u32::from(ue.0) * blocks + block);
                let at = ctx.cx.now + crossing + Duration::from_nanos(late as u64);
                before = at.max(before);
                self.queue.push(Pushed { at: before, ue, set: spare, epoch: context.epoch });
            }
            turned.all_have_more &= context.has_more[direction.index()];
        }
        self.schedule_frame(ctx, turn.carrier, plan.format.tti, ctx.cx.now);
        turned
    }

    /// Starts a frame: queues or drops the blocks that crossed the Iub, and sends the blocks at the
    /// head of the queue.
    pub fn frame<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: CarrierId,
        plan: &CarrierConfig,
        ues: &mut Ues,
        air: &mut Air,
    ) {
        let (direction, tti, channel) = (plan.direction, plan.format.tti, plan.channel);
        let frame = ctx.cx.now.as_nanos() / tti.as_nanos();
        self.frame_scheduled = false;
        self.queue.settle(ctx.cx.now, |block| {
            record_drop(ctx, plan, ues, &block);
            air.return_set(block.set);
        });
        let mut transmission = air.begin(direction, channel);
        for block in 0..plan.format.blocks {
            let Some(next) = self.queue.pop() else { break };
            let ue = next.ue;
            let (sent, before) = transmission.take(ue, next.set);
            air.return_set(before);
            sent.epoch = next.epoch;
            sent.first = block;
            let set = &sent.set;
            ctx.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::OnAir });
        }
        ues.judge(direction, frame, transmission.sets_mut());
        let end = ctx.cx.now + tti;
        air.depart(ctx, transmission, end);
        self.schedule_frame(ctx, carrier, tti, end);
    }

    /// Schedules the next frame, at `from` or later, if there is a block to send.
    #[inline]
    fn schedule_frame<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: CarrierId,
        tti: Duration,
        from: Time,
    ) {
        if self.frame_scheduled {
            return;
        }
        if let Some(next) = self.queue.next(from) {
            self.frame_scheduled = true;
            ctx.at(next.max(from).round_up_to(tti), Phase::Transmit, Event::NodeBTick(carrier));
        }
    }
}

/// Records that the full queue dropped a block.
#[cold]
fn record_drop<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    plan: &CarrierConfig,
    ues: &Ues,
    block: &Pushed,
) {
    let (ue, set) = (block.ue, &block.set);
    let (direction, channel) = (plan.direction, plan.channel);
    ctx.cx.record(|| TraceEvent::FachQueueDropped { ue, blocks: 1 });
    ctx.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::Dropped });
    let receiver = &ues[ue].rlc[direction.reversed().index()];
    receiver.record_lost_ends(&mut ctx.cx, set, Lost::all(set.blocks));
}
