//! One tick of a carrier, by the way its members share it.

use umts_kernel::TraceSink;
use umts_units::{Bytes, Duration};

use super::super::Network;
use super::super::carrier::{Sharing, iub_octets};
use crate::Step;
use crate::ids::{CarrierId, UeId};
use crate::radio::mac::Access;
use crate::radio::phy::Lost;
use crate::trace::TraceEvent;

impl Network {
    /// Each UE has a channel of its own.
    pub(super) fn tick_dedicated<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: CarrierId,
        frame: u64,
        active: &[UeId],
    ) {
        let plan = &self.carriers[id.index()].plan;
        let (direction, mut octets) = (plan.direction, Bytes::ZERO);
        let mut flight = self.flights.begin(direction, plan.channel);
        let mut is_watched = false;
        for &ue in active {
            let ue = &mut self.ues[ue.index()];
            is_watched |= ue.control.as_ref().is_some_and(|control| control.is_takeable);
            let most = ue.legs[direction.index()].blocks;
            let blocks = ue.send(&mut step.cx, direction, frame, most, &mut flight);
            octets = octets.max(iub_octets(blocks, ue.legs[direction.index()].block_bits));
        }
        // All of them arrive with the longest.
        let arrival = plan.arrival(step.cx.now, octets, Duration::ZERO);
        self.depart(step, flight, arrival);
        if is_watched {
            for &ue in active {
                self.holder_changed(step, ue);
            }
        }
    }

    /// MAC-c fills one TTI with the blocks of the UEs whose turn it is.
    pub(super) fn tick_pull<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: CarrierId,
        frame: u64,
        active: &[UeId],
    ) {
        let carrier = &mut self.carriers[id.index()];
        let Sharing::Pull(ref mut turns) = carrier.sharing else {
            unreachable!("only pulled carriers come here")
        };
        let (plan, order) = (&carrier.plan, *turns);
        let (direction, mut left) = (plan.direction, plan.shared_blocks);
        let mut flight = self.flights.begin(direction, plan.channel);
        let mut bits = 0;
        for ue in order.order(active) {
            let context = &mut self.ues[ue.index()];
            let blocks = context.send(&mut step.cx, direction, frame, left, &mut flight);
            if blocks > 0 {
                bits = context.legs[direction.index()].block_bits;
                turns.served(ue);
                left -= blocks;
                if left == 0 {
                    break;
                }
            }
        }
        let octets = iub_octets(plan.shared_blocks - left, bits);
        let arrival = plan.arrival(step.cx.now, octets, Duration::ZERO);
        self.depart(step, flight, arrival);
    }

    /// The RACH: whoever gets access sends.
    pub(super) fn tick_rach<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: CarrierId,
        frame: u64,
        active: &[UeId],
    ) {
        let mut acquired = Vec::new();
        match &self.carriers[id.index()].sharing {
            Sharing::Contention(rach) => rach.resolve(frame, active.iter().copied(), &mut acquired),
            Sharing::PrivateAccess(most, draws) => {
                let draws = draws.tti(frame);
                acquired.extend(active.iter().map(|&ue| {
                    let delay = most.as_nanos() as f64 * draws.uniform(u32::from(ue.0));
                    Access { ue, delay: Duration::from_nanos(delay as u64), collides: false }
                }));
            }
            _ => unreachable!("only random access channels come here"),
        }
        for access in acquired {
            self.send_on_rach(step, id, frame, access);
        }
    }

    fn send_on_rach<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: CarrierId,
        frame: u64,
        access: Access,
    ) {
        let plan = &self.carriers[id.index()].plan;
        let (direction, ue) = (plan.direction, access.ue);
        let context = &mut self.ues[ue.index()];
        let mut flight = self.flights.begin(direction, plan.channel);
        let blocks = context.send(&mut step.cx, direction, frame, plan.shared_blocks, &mut flight);
        if blocks > 0 && access.collides {
            flight.last().lost = Lost::all(blocks);
            step.cx.record(|| TraceEvent::RachCollision { ue });
        }
        let bits = context.legs[direction.index()].block_bits;
        let arrival = plan.arrival(step.cx.now, iub_octets(blocks, bits), access.delay);
        self.depart(step, flight, arrival);
    }
}
