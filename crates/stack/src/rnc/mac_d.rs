//! MAC-d on dedicated channels (TS 25.321 §4.2.3.2): each UE has a DCH of its own, and there is no scheduling.

use umts_kernel::TraceSink;
use umts_units::{Bytes, Duration};

use super::carrier_config::{TtiInput, TtiOutcome};
use crate::EventContext;
use crate::nodeb::Iub;
use crate::radio::Air;
use crate::trace::TraceEvent;
use crate::ue::{Pdus, Ues};

/// The DCHs of a cell with one TTI.
#[derive(Debug, Default)]
pub struct MacD;

impl MacD {
    /// Sends the blocks of all UEs with a backlog.
    #[inline]
    pub fn turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        turn: TtiInput<'_>,
        ues: &mut Ues,
        air: &mut Air,
    ) -> TtiOutcome {
        let (direction, mut octets) = (turn.plan.direction, Bytes::ZERO);
        let mut transmission = air.begin(direction, turn.plan.channel);
        let mut turned = TtiOutcome { is_watched: false, all_have_more: true };
        for &ue in turn.ready {
            let ue = &mut ues[ue];
            turned.is_watched |= ue.is_takeable;
            let (most, bits) = (ue.channel(direction).format.blocks, ue.channel(direction).block_bits);
            let blocks =
                ue.send(&mut ctx.cx, direction, Pdus::All, most, Some(turn.frame), &mut transmission);
            octets = octets.max(Iub::octets(blocks, bits));
            turned.all_have_more &= ue.has_more[direction.index()];
        }
        // All block sets of a TTI arrive with the longest one.
        let arrival = turn.plan.arrival(ctx.cx.now, octets, Duration::ZERO);
        air.depart(ctx, transmission, arrival);
        turned
    }
}
