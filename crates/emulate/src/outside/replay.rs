//! External I/O of a replay: recorded packets at their original times.

use std::collections::VecDeque;

use umts_kernel::{Clock, Lookahead, TraceSink, Wake};
use umts_simulate::ExternalIo;
use umts_stack::EventContext;
use umts_stack::network::Network;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::clock::wall_clock::Arrival;
use crate::outside::exchange::{Exchange, Incoming};

/// Recorded packets on simulated time.
pub struct Replay {
    arrivals: VecDeque<(Time, Arrival)>,
    /// Time at which the replay ends.
    pub end: Time,
    /// The border of the network.
    pub exchange: Exchange,
}

impl Replay {
    /// Creates a replay of packets in the order of their times until `end`.
    pub fn new(arrivals: Vec<(Time, Arrival)>, end: Time, exchange: Exchange) -> Self {
        Replay { arrivals: arrivals.into(), end, exchange }
    }
}

impl Clock for Replay {
    type Packet = Incoming;

    fn wait(&mut self, until: Time, _lookahead: &impl Lookahead) -> Wake<Incoming> {
        // Like the wall clock: events due at the time of a packet precede the packet.
        if self.arrivals.front().is_some_and(|&(at, _)| at < until) {
            let (at, arrival) = self.arrivals.pop_front().expect("the queue has this packet");
            return Wake::Packet(at, Incoming::Program(arrival));
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
        self.exchange.leave(network, |_, _, _| true)
    }

    fn is_over(&mut self) -> bool {
        true
    }
}
