//! The loop that every run goes through, whatever its clock.

use std::ops::ControlFlow;

use umts_kernel::{Clock, EventQueue, TraceSink, Wake};
use umts_stack::Cx;
use umts_stack::network::{Event, Network};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// Takes events until the end of the run. `outside` puts a packet that the clock brought into the network; `progress`
/// is told the time about a hundred times and may stop the run early, which is answered with `Break`.
pub fn drive<C: Clock, T: TraceSink<TraceEvent>>(
    network: &mut Network,
    queue: &mut EventQueue<Event>,
    clock: &mut C,
    trace: &mut T,
    mut outside: impl FnMut(&mut Network, Time, C::Packet),
    mut progress: impl FnMut(Time, &mut T) -> ControlFlow<(), Time>,
) -> ControlFlow<()> {
    let mut next_report = match progress(queue.now(), trace) {
        ControlFlow::Continue(at) => at,
        ControlFlow::Break(()) => return ControlFlow::Break(()),
    };
    while let Some(next) = queue.next_time() {
        if let Wake::Packet(at, packet) = clock.wait(next) {
            outside(network, at, packet);
            continue;
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
        network.handle(&mut Cx::new(now, trace), event, queue);
    }
    ControlFlow::Continue(())
}
