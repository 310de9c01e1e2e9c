//! External I/O of an emulation: real programs on the wall clock.

use std::io;

use umts_kernel::{Clock, Lookahead, TraceSink, Wake};
use umts_simulate::ExternalIo;
use umts_stack::EventContext;
use umts_stack::network::Network;
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use crate::clock::lateness::Lateness;
use crate::clock::wall_clock::{Ending, Input, WallClock, cpu_time};
use crate::devices::wire::Frames;
use crate::outside::exchange::{Exchange, Incoming};
use crate::outside::recording::Recording;
use crate::programs::children::{ChildId, Children};
use crate::readings::LiveReading;
use crate::results::fidelity::Fidelity;
use crate::results::live_state::SharedLiveState;

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
    /// The state for viewers, if they are answered.
    pub state: Option<SharedLiveState>,
    /// CPU time of the process before the first event.
    pub cpu_before: Duration,
    /// Whether the process has a real-time priority.
    pub is_real_time: bool,
}

/// An input of the event loop.
pub enum LiveInput {
    /// A packet or an order enters the network.
    Incoming(Incoming),
    /// Viewers request the state.
    Viewers,
}

impl Clock for Live<'_> {
    type Packet = LiveInput;

    fn wait(&mut self, until: Time, lookahead: &impl Lookahead) -> Wake<LiveInput> {
        let incoming = |at, incoming| Wake::Packet(at, LiveInput::Incoming(incoming));
        match self.clock.wait(until, lookahead) {
            Wake::Packet(at, Input::Packet(arrival)) => incoming(at, Incoming::Program(arrival)),
            Wake::Packet(at, Input::Fault(order)) => incoming(at, Incoming::Fault(order)),
            Wake::Packet(at, Input::Viewers) => Wake::Packet(at, LiveInput::Viewers),
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
        input: LiveInput,
    ) {
        let packet = match input {
            LiveInput::Incoming(packet) => packet,
            LiveInput::Viewers => return self.answer_viewers(network, ctx.cx.now),
        };
        if let (Some(recording), Incoming::Program(arrival)) = (&mut self.recording, &packet) {
            recording.record(ctx.cx.now, arrival);
        }
        let is_order = matches!(packet, Incoming::Fault(_));
        self.exchange.enter(network, ctx, packet);
        if is_order {
            self.clock.confirm_order(ctx.cx.now);
        }
    }

    fn leave(&mut self, network: &mut Network, now: Time) -> Option<LiveInput> {
        let (clock, released) = (&self.clock, &mut self.released);
        let returned = self.exchange.leave(network, |port, header, bytes| {
            released.record(clock.now() - now);
            clock.ports()[port].write(header, bytes)
        });
        returned.map(LiveInput::Incoming)
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
    /// Answers the requests of viewers that have arrived.
    fn answer_viewers(&mut self, network: &Network, now: Time) {
        let (Some(inbox), Some(state)) = (self.clock.viewers(), &self.state) else { return };
        for request in inbox.take() {
            // A viewer without an answer takes the emulation for ended.
            let Ok(fidelity) = self.fidelity(now) else { continue };
            let view = state.view(network, now, request.size);
            request.answer(LiveReading { at: now, view, fidelity });
        }
    }

    /// Effects of the machine on the emulation, which has run until `now`.
    ///
    /// # Errors
    /// If the kernel does not give the CPU time of the process.
    pub fn fidelity(&self, now: Time) -> io::Result<Fidelity> {
        let (mut tun_drops, mut devices_lost, mut frames) = (0, 0, Frames::default());
        for (number, port) in self.clock.ports().iter().enumerate() {
            frames += port.frames();
            match port.dropped() {
                Ok(dropped) if !self.clock.gone().contains(&number) => tun_drops += dropped,
                Ok(_) | Err(_) => devices_lost += 1,
            }
        }
        Ok(Fidelity {
            lateness: self.clock.lateness().clone(),
            released: self.released.clone(),
            work: self.clock.work().clone(),
            tun_drops,
            devices_lost,
            counts: self.exchange.counts(frames),
            cpu: cpu_time()? - self.cpu_before,
            duration: now - Time::ZERO,
            is_real_time: self.is_real_time,
        })
    }

    /// Reports devices that were removed since the last call.
    fn report_gone(&mut self) {
        for &port in &self.clock.gone()[self.reported_gone..] {
            (self.notice)(&self.clock.ports()[port].when_gone());
        }
        self.reported_gone = self.clock.gone().len();
    }
}
