//! MAC-c: whose blocks go on a shared channel in a TTI (TS 25.321 §4.2.3.3, priority handling between UEs left to the
//! implementation, which is a [`Scheduler`]).

use umts_kernel::TraceSink;
use umts_units::Duration;

use super::carrier_config::TtiInput;
use crate::EventContext;
use crate::ids::UeId;
use crate::nodeb::Iub;
use crate::radio::Air;
use crate::scheduling::Scheduler;
use crate::trace::TraceEvent;
use crate::ue::{Pdus, Ues};

/// A channel whose TTIs the UEs share.
#[derive(Debug)]
pub struct MacC {
    scheduler: Scheduler,
    /// Scratch: who was not asked yet in this TTI.
    rest: Vec<UeId>,
}

impl MacC {
    /// One on which `scheduler` says who is next.
    pub fn new(scheduler: Scheduler) -> Self {
        MacC { scheduler, rest: Vec::new() }
    }

    /// Fills one TTI with the blocks of the UEs whose turn it is.
    #[inline(never)]
    pub fn turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        turn: TtiInput<'_>,
        ues: &mut Ues,
        air: &mut Air,
    ) {
        let (direction, most) = (turn.plan.direction, turn.plan.format.blocks);
        let mut transmission = air.begin(direction, turn.plan.channel);
        let (mut left, mut bits) = (most, 0);
        let mut rest = std::mem::take(&mut self.rest);
        loop {
            let candidates = if rest.is_empty() { turn.ready } else { &rest[..] };
            let Some(at) = self.scheduler.next(candidates, |ue| ues[ue].candidate(direction)) else {
                break;
            };
            let (ue, is_last) = (candidates[at], candidates.len() == 1);
            let blocks = ues[ue].send(&mut ctx.cx, direction, Pdus::All, left, None, &mut transmission);
            if blocks > 0 {
                bits = ues[ue].channel(direction).block_bits;
                self.scheduler.served(ue);
                left -= blocks;
            }
            if left == 0 || is_last {
                break;
            }
            if rest.is_empty() {
                rest.extend_from_slice(turn.ready);
            }
            rest.remove(at);
        }
        rest.clear();
        self.rest = rest;
        ues.judge(direction, turn.frame, transmission.sets_mut());
        let arrival = turn.plan.arrival(ctx.cx.now, Iub::octets(most - left, bits), Duration::ZERO);
        air.depart(ctx, transmission, arrival);
    }
}
