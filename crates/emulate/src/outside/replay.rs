//! External I/O of a replay: recorded packets and orders about faults at their original times.

use std::collections::VecDeque;

use umts_kernel::{Clock, Lookahead, TraceSink, Wake};
use umts_simulate::ExternalIo;
use umts_stack::EventContext;
use umts_stack::network::Network;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::clock::wall_clock::Arrival;
use crate::faults::FaultOrder;
use crate::outside::exchange::{Exchange, Incoming};

/// Recorded inputs on simulated time.
pub struct Replay {
    inputs: VecDeque<(Time, Incoming)>,
    /// Time at which the replay ends.
    pub end: Time,
    /// The border of the network.
    pub exchange: Exchange,
}

impl Replay {
    /// Creates a replay until `end` of packets and orders, each in the order of their times.
    pub fn new(
        arrivals: Vec<(Time, Arrival)>,
        orders: &[(Time, FaultOrder)],
        end: Time,
        exchange: Exchange,
    ) -> Self {
        let packets = arrivals.into_iter().map(|(at, arrival)| (at, Incoming::Program(arrival)));
        let orders = orders.iter().map(|(at, order)| (*at, Incoming::Fault(order.clone())));
        let mut inputs: Vec<_> = packets.chain(orders).collect();
        inputs.sort_by_key(|(at, _)| *at);
        Replay { inputs: inputs.into(), end, exchange }
    }
}

impl Clock for Replay {
    type Packet = Incoming;

    fn wait(&mut self, until: Time, _lookahead: &impl Lookahead) -> Wake<Incoming> {
        // Like the wall clock: events due at the time of a packet precede the packet.
        if self.inputs.front().is_some_and(|&(at, _)| at < until) {
            let (at, input) = self.inputs.pop_front().expect("the queue has this input");
            return Wake::Packet(at, input);
        }
        if until > self.end { Wake::Stopped } else { Wake::Reached }
    }
}

impl ExternalIo for Replay {
    fn enter<T: TraceSink<TraceEvent>>(
        &mut self,
        network: &mut Network,
        ctx: &mut EventContext<'_, T>,
        packet: Incoming,
    ) {
        self.exchange.enter(network, ctx, packet);
    }

    fn leave(&mut self, network: &mut Network, _now: Time) -> Option<Incoming> {
        // No devices exist in a replay: each packet is discarded and counted as accepted.
        self.exchange.leave(network, |_, _, _| true)
    }

    /// Always true: called only after [`Wake::Stopped`], which `wait` returns at the end of the
    /// replay. Only a live run can continue after it.
    fn is_over(&mut self) -> bool {
        true
    }
}
