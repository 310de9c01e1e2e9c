//! MAC-d on dedicated channels, DCHs (TS 25.321 §4.2.3.2), at the RNC for the downlink and at the UE for
//! the uplink. Each UE has a DCH of its own, so nothing is scheduled: in each TTI RLC of every UE with
//! data is queried for the blocks of its DCH.

use umts_kernel::{Phase, TraceSink};
use umts_units::{Bytes, Duration, Time};

use super::{Below, CarrierConfig, Mac, Ticks};
use crate::ids::{Direction, MacTimer, UeId};
use crate::nodeb::Iub;
use crate::trace::TraceEvent;
use crate::ue::{Pdus, UeContext};
use crate::{Context, EventContext};

/// The DCHs of a cell in one direction with the same TTI.
#[derive(Debug, Default)]
pub struct Dedicated {
    /// The UEs with data, and the time of the next TTI to fill.
    ticks: Ticks,
}

impl Mac for Dedicated {
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

    /// Sends the blocks of all UEs with data.
    #[inline]
    fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        _timer: MacTimer,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let (direction, mut octets) = (config.direction, Bytes::ZERO);
        let frame = Some(self.ticks.begin(ctx.cx.now, config));
        let mut transmission = below.air.begin(direction, config.channel);
        for &ue in self.ticks.members() {
            let ue = &mut below.ues[ue];
            let max_blocks = ue.blocks_of_tti(&mut ctx.cx, direction);
            let block_bits = ue.channel(direction).block_bits;
            let blocks = ue.send(&mut ctx.cx, direction, Pdus::All, max_blocks, frame, &mut transmission);
            octets = octets.max(Iub::octets(blocks, block_bits));
        }
        // All block sets of a TTI arrive together: when the largest one has crossed the Iub.
        let arrival = config.arrival(ctx.cx.now, octets, Duration::ZERO);
        below.air.depart(ctx, transmission, arrival);
        self.ticks.end(ctx, config, below);
    }
}
