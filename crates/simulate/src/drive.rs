//! The event loop of all runs, with any clock.

use std::convert::Infallible;
use std::ops::ControlFlow;

use umts_kernel::{Clock, EventQueue, Lookahead, TraceSink, VirtualClock, Wake};
use umts_stack::EventContext;
use umts_stack::network::{Event, Network};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// The clock of a run and everything outside the model that exchanges packets with it: nothing in a
/// simulation, real programs in an emulation.
pub trait ExternalIo: Clock {
    /// Passes a received packet into the network.
    fn enter<T: TraceSink<TraceEvent>>(
        &mut self,
        network: &mut Network,
        ctx: &mut EventContext<'_, T>,
        packet: Self::Packet,
    );

    /// Takes packets that leave the network. A returned packet enters the network immediately, and
    /// the method is called again.
    fn leave(&mut self, network: &mut Network, now: Time) -> Option<Self::Packet>;

    /// Whether the run ends. Called after [`Wake::Stopped`].
    fn is_over(&mut self) -> bool;
}

impl ExternalIo for VirtualClock {
    fn enter<T: TraceSink<TraceEvent>>(
        &mut self,
        _: &mut Network,
        _: &mut EventContext<'_, T>,
        packet: Infallible,
    ) {
        match packet {}
    }

    #[inline]
    fn leave(&mut self, _: &mut Network, _: Time) -> Option<Infallible> {
        None
    }

    fn is_over(&mut self) -> bool {
        true
    }
}

/// The future events that a clock may query.
struct NetworkLookahead<'a> {
    network: &'a Network,
    queue: &'a EventQueue<Event>,
}

impl Lookahead for NetworkLookahead<'_> {
    fn is_seen(&self) -> bool {
        self.queue.next().is_none_or(|event| self.network.affects_programs(event))
    }

    fn first_seen(&self, end: Time) -> Time {
        self.queue.first_before(end, |event| self.network.may_affect_programs(event))
    }
}

/// Processes events until the end of the run. `progress` is called with the current time and
/// returns the time of its next call; `Break` stops the run early.
pub fn drive<O: ExternalIo, T: TraceSink<TraceEvent>>(
    network: &mut Network,
    queue: &mut EventQueue<Event>,
    outside: &mut O,
    trace: &mut T,
    mut progress: impl FnMut(Time, &mut T) -> ControlFlow<(), Time>,
) -> ControlFlow<()> {
    let mut next_report = match progress(queue.now(), trace) {
        ControlFlow::Continue(at) => at,
        ControlFlow::Break(()) => return ControlFlow::Break(()),
    };
    let mut ctx = EventContext::new(queue.now(), trace, queue);
    while let Some(next) = ctx.agenda().next_time() {
        match outside.wait(next, &NetworkLookahead { network, queue: ctx.agenda() }) {
            Wake::Reached => {}
            Wake::Packet(at, packet) => {
                ctx.cx.now = at;
                outside.enter(network, &mut ctx, packet);
                continue;
            }
            Wake::Stopped if outside.is_over() => break,
            Wake::Stopped => continue,
        }
        let (now, event) = ctx.agenda().take().expect("next_time returned its time");
        if now >= next_report {
            match progress(now, ctx.cx.trace()) {
                ControlFlow::Continue(at) => next_report = at,
                ControlFlow::Break(()) => return ControlFlow::Break(()),
            }
        }
        if event == Event::EndOfRun {
            break;
        }
        ctx.cx.now = now;
        network.handle(&mut ctx, event);
        while let Some(packet) = outside.leave(network, now) {
            outside.enter(network, &mut ctx, packet);
        }
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use umts_kernel::random::Streams;
    use umts_kernel::{NoTrace, Phase};
    use umts_scenario::Scenario;
    use umts_stack::ids::{Direction, ProxyLeg, UeId};
    use umts_stack::network::NetworkConfig;
    use umts_stack::packet::Foreign;
    use umts_units::Duration;

    use super::*;
    use crate::network_config;

    /// Interval between packets of the program.
    const INTERVAL: Duration = Duration::from_millis(37);

    /// Sends packets of a program, alternately to the UE and from it.
    struct Program {
        /// Time of the next packet.
        next: Time,
        /// Whether the current event may affect the program.
        is_seen: bool,
        /// Packets that left the network, by direction.
        delivered: [u32; 2],
        /// Number of events that cannot affect the program, and of events that may affect it.
        events: [u32; 2],
    }

    impl Clock for Program {
        type Packet = Direction;

        fn wait(&mut self, until: Time, lookahead: &impl Lookahead) -> Wake<Direction> {
            if self.next < until {
                let at = self.next;
                self.next = at + INTERVAL;
                let number = at.as_nanos() / INTERVAL.as_nanos();
                return Wake::Packet(at, Direction::BOTH[number as usize % 2]);
            }
            self.is_seen = lookahead.is_seen();
            let first = lookahead.first_seen(until + Duration::from_millis(1));
            assert!(first >= until && (first == until) >= self.is_seen);
            self.events[usize::from(self.is_seen)] += 1;
            Wake::Reached
        }
    }

    impl ExternalIo for Program {
        fn enter<T: TraceSink<TraceEvent>>(
            &mut self,
            network: &mut Network,
            ctx: &mut EventContext<'_, T>,
            direction: Direction,
        ) {
            let packet = network.new_foreign(UeId(0), Foreign { direction, leg: ProxyLeg::Whole, size: 200 });
            network.send_foreign(ctx, packet);
        }

        fn leave(&mut self, network: &mut Network, _: Time) -> Option<Direction> {
            while let Some(packet) = network.poll_foreign() {
                assert!(self.is_seen, "a packet left outside the lookahead");
                self.delivered[packet.direction().index()] += 1;
            }
            None
        }

        fn is_over(&mut self) -> bool {
            true
        }
    }

    /// Runs a program for 60 s beside 40 users with this traffic, on this radio.
    fn program_among(radio: &str, traffic: &str) -> Program {
        let text = format!(
            "version = 1\nduration = \"60 s\"\n{radio}\n[[ue]]\nname = \"program\"\n[[ue]]\nname = \"web\"\ncount = 40\n\
             [[flow]]\nue = \"web\"\n{traffic}"
        );
        let scenario = Scenario::parse(&text, "x", Path::new(""), &[]).unwrap().scenario;
        let config = NetworkConfig { programs: true, ..network_config(&scenario) };
        let mut network = Network::new(&config, &Streams::new(1, 0));
        let mut queue = EventQueue::new();
        queue.push(Time::ZERO + scenario.duration, Phase::Receive, Event::EndOfRun);
        network.start(&mut queue);
        let mut program = Program { next: Time::ZERO, is_seen: false, delivered: [0; 2], events: [0; 2] };
        let end = drive(&mut network, &mut queue, &mut program, &mut NoTrace, |_, _| {
            ControlFlow::Continue(Time::NEVER)
        });
        assert!(end.is_continue());
        program
    }

    #[test]
    fn program_packets_leave_only_in_visible_events() {
        let www = "traffic = \"etsi_www\"\netsi_www = { first_session = \"under_way\", between_sessions = \"1 s\" }";
        let radios = ["[[cell]]\nname = \"c\"", "[radio]\nmodel = \"independent\"\nbler = 0.1"];
        for (radio, traffic) in
            radios.into_iter().flat_map(|radio| [(radio, www), (radio, "traffic = \"ftp\"")])
        {
            let Program { delivered, events: [unseen, seen], .. } = program_among(radio, traffic);
            assert!(delivered.into_iter().all(|packets| packets > 10), "{radio} {traffic}: {delivered:?}");
            assert!(unseen > 100 && seen > 500, "{radio} {traffic}: {unseen} {seen}");
        }
    }
}
