//! External I/O of an emulation: real programs on the wall clock.

use umts_kernel::{Clock, Lookahead, TraceSink, Wake};
use umts_simulate::ExternalIo;
use umts_stack::EventContext;
use umts_stack::network::Network;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::clock::lateness::Lateness;
use crate::clock::wall_clock::{Ending, Input, WallClock};
use crate::outside::exchange::{Exchange, Incoming};
use crate::outside::recording::Recording;
use crate::programs::children::{ChildId, Children};

/// Real programs, their devices and their clock.
pub struct Live<'a> {
    /// The clock and the devices.
    pub clock: WallClock,
    /// The border of the network.
    pub exchange: Exchange,
    /// The programs.
    pub children: Children,
    /// The command. The emulation ends with this program.
    pub command: ChildId,
    /// Programs that must end too, unless SIGINT arrives after the command's end.
    pub waited_for: Vec<ChildId>,
    /// Number of SIGINTs when the command ended.
    pub interrupts_before: Option<u32>,
    /// Time of the end.
    pub end: Time,
    /// Number of removed devices that were reported.
    pub reported_gone: usize,
    /// Receives messages about problems.
    pub notice: &'a mut dyn FnMut(&str),
    /// The recording for a replay, if there is one.
    pub recording: Option<Recording>,
    /// The parent process has exited or stopped the emulation.
    pub is_abandoned: bool,
    /// Lateness of leaving packets.
    pub released: Lateness,
}

impl Clock for Live<'_> {
    type Packet = Incoming;

    fn wait(&mut self, until: Time, lookahead: &impl Lookahead) -> Wake<Incoming> {
        match self.clock.wait(until, lookahead) {
            Wake::Packet(at, Input::Packet(arrival)) => Wake::Packet(at, Incoming::Program(arrival)),
            Wake::Packet(at, Input::Fault(order)) => Wake::Packet(at, Incoming::Fault(order)),
            Wake::Reached => Wake::Reached,
            Wake::Stopped => Wake::Stopped,
        }
    }
}

impl ExternalIo for Live<'_> {
    fn enter<T: TraceSink<TraceEvent>>(
        &mut self,
        network: &mut Network,
        ctx: &mut EventContext<'_, T>,
        packet: Incoming,
    ) {
        if let (Some(recording), Incoming::Program(arrival)) = (&mut self.recording, &packet) {
            recording.record(ctx.cx.now, arrival);
        }
        let is_order = matches!(packet, Incoming::Fault(_));
        self.exchange.enter(network, ctx, packet);
        if is_order {
            self.clock.confirm_order(ctx.cx.now);
        }
    }

    fn leave(&mut self, network: &mut Network, now: Time) -> Option<Incoming> {
        let (clock, released) = (&self.clock, &mut self.released);
        self.exchange.leave(network, |port, header, bytes| {
            released.record(clock.now() - now);
            clock.ports()[port].write(header, bytes)
        })
    }

    fn is_over(&mut self) -> bool {
        let ending = self.clock.take_ending();
        self.end = ending.map_or(self.end, |(_, at)| at);
        if ending.is_some_and(|(ending, _)| ending == Ending::Abandoned) {
            self.is_abandoned = true;
            return true;
        }
        self.children.reap();
        self.report_gone();
        // The end: the command and the awaited programs have exited, or a SIGINT came since the
        // command exited.
        if self.children.status(self.command).is_none() {
            return false;
        }
        let interrupts = self.clock.interrupts();
        let is_interrupted = interrupts > *self.interrupts_before.get_or_insert(interrupts);
        is_interrupted || self.waited_for.iter().all(|child| self.children.status(*child).is_some())
    }
}

impl Live<'_> {
    /// Reports devices that were removed since the last call.
    fn report_gone(&mut self) {
        for &port in &self.clock.gone()[self.reported_gone..] {
            (self.notice)(&self.clock.ports()[port].when_gone());
        }
        self.reported_gone = self.clock.gone().len();
    }
}
