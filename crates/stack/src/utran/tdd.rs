//! The carrier of a TDD cell: it has both directions, and its MAC says itself when it is next asked.

#[cfg(test)]
mod tests;

use umts_kernel::TraceSink;

use super::Utran;
use super::carrier_mac::CarrierMac;
use super::wake::schedule_wake;
use crate::EventContext;
use crate::ids::CarrierId;
use crate::trace::TraceEvent;

impl Utran {
    /// A frame begins.
    pub(super) fn granted_turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: CarrierId,
    ) {
        let carrier = &mut self.carriers[id];
        let CarrierMac::Granted(mac) = &mut carrier.sharing else { return };
        mac.turn(ctx, &carrier.plan, &mut self.ues, &mut self.air);
        mac.look_at_touched(ctx, id, &mut self.ues, schedule_wake);
    }

    /// A frame ends: control PDUs travel on the channels that all share.
    pub fn control_turn<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: CarrierId) {
        let carrier = &mut self.carriers[id];
        let CarrierMac::Granted(mac) = &mut carrier.sharing else { return };
        mac.control_turn(ctx, &carrier.plan, &mut self.ues, &mut self.air);
        mac.look_at_touched(ctx, id, &mut self.ues, schedule_wake);
    }
}
