//! MAC-c at the RNC: the UEs share the TTIs of a FACH (forward access channel) or of the DSCH of a
//! single cell. In each TTI RLC of the UEs is queried for blocks in the order of a [`Scheduler`], until
//! the TTI is full (TS 25.321 §4.2.3.3, which leaves priority handling between UEs to the
//! implementation).

use umts_kernel::{Phase, TraceSink};
use umts_units::{Duration, Time};

use super::{Below, CarrierConfig, Mac, Ticks};
use crate::ids::{Direction, MacTimer, UeId};
use crate::nodeb::Iub;
use crate::radio::air::Transmission;
use crate::scheduling::{Scheduler, Turn, UserCandidate, UserScheduler};
use crate::trace::TraceEvent;
use crate::ue::{Pdus, UeContext, Ues};
use crate::{Context, EventContext};

/// A channel that UEs share.
#[derive(Debug)]
pub struct Shared {
    /// The UEs with data, and the time of the next TTI to fill.
    ticks: Ticks,
    scheduler: Scheduler,
    /// Replaces the scheduler.
    user_scheduler: Option<UserScheduler>,
    /// UEs that were not queried yet in this TTI. Empty between TTIs and until the first UE is queried.
    not_queried: Vec<UeId>,
}

impl Shared {
    pub fn new(scheduler: Scheduler) -> Self {
        Shared { ticks: Ticks::default(), scheduler, user_scheduler: None, not_queried: Vec::new() }
    }

    /// Sets the scheduler of the user. `None`: the built-in one decides.
    pub fn set_scheduler(&mut self, scheduler: Option<UserScheduler>) {
        self.user_scheduler = scheduler;
    }

    /// Fills a TTI in the order of the scheduler.
    fn fill<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        tti: &mut TtiBlocks,
        ues: &mut Ues,
    ) {
        let now = ctx.cx.now;
        loop {
            let candidates =
                if self.not_queried.is_empty() { self.ticks.members() } else { &self.not_queried[..] };
            let candidate = |ue: UeId| ues[ue].candidate(now, tti.direction);
            let Some(selected) = self.scheduler.next(candidates, candidate) else { break };
            let (ue, is_last) = (candidates[selected], candidates.len() == 1);
            if tti.add(ctx, &mut ues[ue]) > 0 {
                self.scheduler.served(ue);
            }
            if tti.free_blocks == 0 || is_last {
                break;
            }
            if self.not_queried.is_empty() {
                self.not_queried.extend_from_slice(self.ticks.members());
            }
            self.not_queried.remove(selected);
        }
        self.not_queried.clear();
    }

    /// Fills TTI number `number` in the order of the scheduler of the user. UEs that it leaves out send
    /// nothing.
    fn fill_in_user_order<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        number: u64,
        tti: &mut TtiBlocks,
        ues: &mut Ues,
    ) {
        let (now, members) = (ctx.cx.now, self.ticks.members());
        let Some(scheduler) = self.user_scheduler.as_mut().filter(|_| !members.is_empty()) else { return };
        let candidates: Vec<UserCandidate> =
            members.iter().map(|&ue| UserCandidate::new(ues[ue].candidate(now, tti.direction))).collect();
        for index in scheduler.order(Turn { now, number }, &candidates) {
            if tti.free_blocks == 0 {
                break;
            }
            tti.add(ctx, &mut ues[members[index]]);
        }
    }
}

/// The blocks of a TTI.
struct TtiBlocks {
    direction: Direction,
    transmission: Box<Transmission>,
    /// Blocks for which the TTI has room.
    free_blocks: u32,
    /// Bits of a block on the Iub.
    block_bits: u32,
}

impl TtiBlocks {
    /// Adds blocks of `ue` until the TTI is full. Returns their number.
    #[inline]
    fn add<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: &mut UeContext) -> u32 {
        let (direction, free) = (self.direction, self.free_blocks);
        let blocks = ue.send(&mut ctx.cx, direction, Pdus::All, free, None, &mut self.transmission);
        if blocks > 0 {
            self.block_bits = ue.channel(direction).block_bits;
            self.free_blocks -= blocks;
        }
        blocks
    }
}

impl Mac for Shared {
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
        [self.ticks.next(), None]
    }

    /// Fills one TTI with blocks of the UEs in the order of the scheduler.
    #[inline(never)]
    fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        _timer: MacTimer,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let (direction, max_blocks) = (config.direction, config.format.blocks);
        let (now, frame) = (ctx.cx.now, self.ticks.begin(ctx.cx.now, config));
        let transmission = below.air.begin(direction, config.channel);
        let mut tti = TtiBlocks { direction, transmission, free_blocks: max_blocks, block_bits: 0 };
        match self.user_scheduler {
            None => self.fill(ctx, &mut tti, below.ues),
            Some(_) => self.fill_in_user_order(ctx, frame, &mut tti, below.ues),
        }
        let TtiBlocks { mut transmission, free_blocks, block_bits, .. } = tti;
        below.ues.decide_losses(direction, frame, transmission.sets_mut());
        if let Some(scheduler) = &mut self.user_scheduler {
            for sent in transmission.sets() {
                let blocks = sent.set.blocks;
                scheduler.served(frame, sent.ue, blocks, Some(blocks - sent.lost.count()));
            }
        }
        let octets = Iub::octets(max_blocks - free_blocks, block_bits);
        let arrival = config.arrival(now, octets, Duration::ZERO);
        below.air.depart(ctx, transmission, arrival);
        self.ticks.end(ctx, config, below);
    }
}
