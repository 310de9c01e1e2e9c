//! Metrics of applications: UDP datagrams, web pages and sessions.
//!
//! The loss of datagrams follows from their numbers (RFC 3550 §6.4.1): of the numbers from the
//! first datagram sent in the window to the highest one received, the missing ones are lost.

use umts_stack::ids::FlowId;
use umts_stack::packet::Datagram;
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use super::totals::{ApplicationTotals, DatagramTotals};
use super::window::Window;

/// Datagrams of one flow in one direction.
#[derive(Debug, Clone, Copy, Default)]
struct DatagramDirection {
    /// Number of the first datagram sent in the window.
    first: Option<u64>,
    /// Highest received number from `first` on, plus one.
    reached: u64,
    /// Number of received datagrams with a number from `first` on.
    received: u64,
    /// Delay of the last received datagram.
    last_delay: Option<Duration>,
}

#[derive(Debug)]
pub(super) struct ApplicationRecorder {
    pub window: Window,
    /// By flow and direction.
    directions: Vec<[DatagramDirection; 2]>,
    datagrams: [DatagramTotals; 2],
    totals: ApplicationTotals,
}

impl ApplicationRecorder {
    pub fn new(window: Window) -> Self {
        ApplicationRecorder {
            window,
            directions: Vec::new(),
            datagrams: Default::default(),
            totals: ApplicationTotals::default(),
        }
    }

    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        if !self.window.contains(at) {
            return;
        }
        match event {
            TraceEvent::DatagramSent { flow, datagram } => self.sent(*flow, datagram),
            TraceEvent::DatagramReceived { flow, datagram } => self.received(at, *flow, datagram),
            TraceEvent::PageEnded { since, .. } => self.totals.pages.record(at - *since),
            TraceEvent::SessionEnded { since, .. } => self.totals.sessions.record(at - *since),
            _ => {}
        }
    }

    /// Totals of the datagrams in each direction, and of the applications.
    pub fn finish(mut self) -> ([DatagramTotals; 2], ApplicationTotals) {
        for (direction, totals) in self.datagrams.iter_mut().enumerate() {
            totals.window = self.window.length();
            for numbers in self.directions.iter().map(|directions| directions[direction]) {
                totals.expected += numbers.first.map_or(0, |first| numbers.reached.saturating_sub(first));
                totals.arrived += numbers.received;
            }
        }
        (self.datagrams, self.totals)
    }

    fn direction(&mut self, flow: FlowId, datagram: &Datagram) -> &mut DatagramDirection {
        if flow.index() >= self.directions.len() {
            self.directions.resize(flow.index() + 1, [DatagramDirection::default(); 2]);
        }
        &mut self.directions[flow.index()][datagram.direction.index()]
    }

    fn sent(&mut self, flow: FlowId, datagram: &Datagram) {
        self.direction(flow, datagram).first.get_or_insert(datagram.number);
        self.datagrams[datagram.direction.index()].sent += 1;
    }

    fn received(&mut self, at: Time, flow: FlowId, datagram: &Datagram) {
        let delay = at - datagram.timestamp;
        let direction = self.direction(flow, datagram);
        if direction.first.is_some_and(|first| datagram.number >= first) {
            direction.received += 1;
            direction.reached = direction.reached.max(datagram.number + 1);
        }
        let previous = direction.last_delay.replace(delay);
        let totals = &mut self.datagrams[datagram.direction.index()];
        totals.received += 1;
        totals.bytes += u64::from(datagram.payload);
        totals.delay.record(delay);
        if let Some(previous) = previous {
            let difference = if delay > previous { delay - previous } else { previous - delay };
            totals.delay_steps.add(difference);
        }
    }
}
