//! The loop that every run goes through, whatever its clock.

use std::convert::Infallible;
use std::ops::ControlFlow;

use umts_kernel::{Clock, EventQueue, TraceSink, VirtualClock, Wake};
use umts_stack::Step;
use umts_stack::network::{Event, Network};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// What is beyond the model, and passes its time: nothing in a simulation, real programs in an emulation.
pub trait Outside: Clock {
    /// Puts a packet that came in into the network.
    fn enter<T: TraceSink<TraceEvent>>(
        &mut self,
        network: &mut Network,
        step: &mut Step<'_, T>,
        packet: Self::Packet,
    );

    /// Takes what came out of the network; what it answers goes back in at once, and it is asked again.
    fn leave(&mut self, network: &mut Network, now: Time) -> Option<Self::Packet>;

    /// Whether the run ends, after [`Wake::Stopped`].
    fn is_over(&mut self) -> bool;
}

impl Outside for VirtualClock {
    fn enter<T: TraceSink<TraceEvent>>(&mut self, _: &mut Network, _: &mut Step<'_, T>, packet: Infallible) {
        match packet {}
    }

    #[inline(always)]
    fn leave(&mut self, _: &mut Network, _: Time) -> Option<Infallible> {
        None
    }

    fn is_over(&mut self) -> bool {
        true
    }
}

/// Takes events until the end of the run. `progress` is told the time, next when that it answers has come, and may stop
/// the run early with `Break`.
pub fn drive<O: Outside, T: TraceSink<TraceEvent>>(
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
    while let Some(next) = queue.next_time() {
        match outside.wait(next) {
            Wake::Reached => {}
            Wake::Packet(at, packet) => {
                outside.enter(network, &mut Step::new(at, trace, queue), packet);
                continue;
            }
            Wake::Stopped if outside.is_over() => break,
            Wake::Stopped => continue,
        }
        let (now, event) = queue.pop().expect("next_time saw it");
        if now >= next_report {
            match progress(now, trace) {
                ControlFlow::Continue(at) => next_report = at,
                ControlFlow::Break(()) => return ControlFlow::Break(()),
            }
        }
        if event == Event::EndOfRun {
            break;
        }
        network.handle(&mut Step::new(now, trace, queue), event);
        while let Some(packet) = outside.leave(network, now) {
            outside.enter(network, &mut Step::new(now, trace, queue), packet);
        }
    }
    ControlFlow::Continue(())
}
