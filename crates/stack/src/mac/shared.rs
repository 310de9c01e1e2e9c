//! MAC-c at the RNC: the UEs share the TTIs of a FACH (forward access channel) or of the DSCH of a
//! single cell. In each TTI RLC of the UEs is queried for blocks in the order of a [`Scheduler`], until
//! the TTI is full (TS 25.321 §4.2.3.3, which leaves priority handling between UEs to the
//! implementation).

use umts_kernel::{Phase, TraceSink};
use umts_units::{Duration, Time};

use super::{Below, CarrierConfig, Mac, Ticks};
use crate::ids::{Direction, MacTimer, UeId};
use crate::nodeb::Iub;
use crate::scheduling::Scheduler;
use crate::trace::TraceEvent;
use crate::ue::{Pdus, UeContext};
use crate::{Context, EventContext};

/// A channel that UEs share.
#[derive(Debug)]
pub struct Shared {
    /// The UEs with data, and the time of the next TTI to fill.
    ticks: Ticks,
    scheduler: Scheduler,
    /// UEs that were not queried yet in this TTI. Empty between TTIs and until the first UE is queried.
    not_queried: Vec<UeId>,
}

impl Shared {
    pub fn new(scheduler: Scheduler) -> Self {
        Shared { ticks: Ticks::default(), scheduler, not_queried: Vec::new() }
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
        self.ticks.handle_backlog(cx.now, config, ue, direction)
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
    fn poll_timeout(&self, timer: MacTimer) -> Option<(Time, Phase)> {
        if timer == MacTimer::First { self.ticks.next() } else { None }
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
        let mut transmission = below.air.begin(direction, config.channel);
        let (mut free_blocks, mut block_bits) = (max_blocks, 0);
        loop {
            let candidates =
                if self.not_queried.is_empty() { self.ticks.members() } else { &self.not_queried[..] };
            let candidate = |ue: UeId| below.ues[ue].candidate(now, direction);
            let Some(selected) = self.scheduler.next(candidates, candidate) else { break };
            let (ue, is_last) = (candidates[selected], candidates.len() == 1);
            let context = &mut below.ues[ue];
            let blocks =
                context.send(&mut ctx.cx, direction, Pdus::All, free_blocks, None, &mut transmission);
            if blocks > 0 {
                block_bits = context.channel(direction).block_bits;
                self.scheduler.served(ue);
                free_blocks -= blocks;
            }
            if free_blocks == 0 || is_last {
                break;
            }
            if self.not_queried.is_empty() {
                self.not_queried.extend_from_slice(self.ticks.members());
            }
            self.not_queried.remove(selected);
        }
        self.not_queried.clear();
        below.ues.decide_losses(direction, frame, transmission.sets_mut());
        let octets = Iub::octets(max_blocks - free_blocks, block_bits);
        let arrival = config.arrival(ctx.cx.now, octets, Duration::ZERO);
        below.air.depart(ctx, transmission, arrival);
        self.ticks.end(ctx, config, below);
    }
}
