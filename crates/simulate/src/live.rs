//! Runs that their caller advances step by step. They process the same events as
//! [`run`](crate::run), so they have the same results to the bit.

use std::time;

use umts_kernel::{Clock, EventQueue, Lookahead, Phase, TraceSink, Wake};
use umts_record::capture::CaptureError;
use umts_record::live::{LiveState, NotableKind, Snapshot, SnapshotSize};
use umts_record::{Recorders, Records};
use umts_scenario::Scenario;
use umts_stack::EventContext;
use umts_stack::ids::UeId;
use umts_stack::mac::hs::NodebQueue;
use umts_stack::network::{Event, Network, NetworkConfig};
use umts_stack::trace::TraceEvent;
use umts_units::{Bytes, Duration, Time};

use crate::build::network_config;
use crate::drive::{ExternalIo, drive};
use crate::recorder_config::recorder_config;
use crate::run::{RunOptions, network_of};

/// Largest step of runs in lock step. The elapsed real time is checked after each.
const SLICE: Duration = Duration::from_millis(100);

/// Simulated time that stops before the first event after an instant, or after a number of events.
#[derive(Debug, Clone, Copy)]
struct SteppedClock {
    until: Time,
    events: u64,
}

impl Clock for SteppedClock {
    type Packet = std::convert::Infallible;

    #[inline]
    fn wait(&mut self, until: Time, _: &impl Lookahead) -> Wake<Self::Packet> {
        if until > self.until || self.events == 0 {
            return Wake::Stopped;
        }
        self.events -= 1;
        Wake::Reached
    }
}

impl ExternalIo for SteppedClock {
    fn enter<T: TraceSink<TraceEvent>>(
        &mut self,
        _: &mut Network,
        _: &mut EventContext<'_, T>,
        packet: Self::Packet,
    ) {
        match packet {}
    }

    #[inline]
    fn leave(&mut self, _: &mut Network, _: Time) -> Option<Self::Packet> {
        None
    }

    fn is_over(&mut self) -> bool {
        true
    }
}

/// One run that is advanced by its caller.
#[derive(Debug)]
struct SteppedRun {
    network: Network,
    queue: EventQueue<Event>,
    recorders: Recorders<LiveState>,
    end: Time,
    is_over: bool,
}

impl SteppedRun {
    fn new(scenario: &Scenario, mut options: RunOptions<'_>) -> Result<Self, CaptureError> {
        let config = network_config(scenario);
        let recorders = recorder_config(scenario, &config, options.series, options.pcap_dir.as_deref());
        let recorders = Recorders::new(recorders, LiveState::new(&config))?;
        let mut network = network_of(&config, &mut options);
        let mut queue = EventQueue::new();
        let end = Time::ZERO + scenario.duration;
        queue.push(end, Phase::Receive, Event::EndOfRun);
        network.start(&mut queue);
        Ok(SteppedRun { network, queue, recorders, end, is_over: false })
    }

    /// Processes the events up to and at `until`, at most `events` of them.
    fn advance(&mut self, until: Time, events: u64) {
        if self.is_over {
            return;
        }
        let mut clock = SteppedClock { until, events };
        let end = drive(&mut self.network, &mut self.queue, &mut clock, &mut self.recorders, |_, _| {
            std::ops::ControlFlow::Continue(Time::NEVER)
        });
        debug_assert!(end.is_continue(), "only the progress function stops a run");
        // The end of the run is the first event of its instant.
        self.is_over = self.queue.now() >= self.end;
    }

    fn next_time(&mut self) -> Option<Time> {
        if self.is_over { None } else { self.queue.next_time() }
    }
}

/// Where a step ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// At an instant, after its events.
    Until(Time),
    /// After the next event of any run. The instants of two runs are equal again afterwards.
    Event,
    /// After the instant of the next notable event of this kind in any run.
    Next(NotableKind),
}

/// Runs that are advanced together, one clock for all of them.
#[derive(Debug)]
pub struct LiveRuns {
    runs: Vec<SteppedRun>,
    now: Time,
    tti: Duration,
}

impl LiveRuns {
    /// Runs at their start, one for each scenario with its options. `progress` and `finished` of the
    /// options are not called.
    ///
    /// # Errors
    /// If a capture cannot be created.
    pub fn new(scenarios: Vec<(&Scenario, RunOptions<'_>)>) -> Result<Self, CaptureError> {
        let ttis = scenarios.iter().map(|(scenario, _)| shortest_tti(&network_config(scenario)));
        let tti = ttis.min().unwrap_or(RADIO_FRAME);
        let runs = scenarios.into_iter().map(|(scenario, options)| SteppedRun::new(scenario, options));
        Ok(LiveRuns { runs: runs.collect::<Result<_, _>>()?, now: Time::ZERO, tti })
    }

    /// The current instant of all runs. Events at this instant may still follow after a step by one
    /// event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether all runs have ended.
    pub fn is_over(&self) -> bool {
        self.runs.iter().all(|run| run.is_over)
    }

    /// The beginning of the next TTI: of the shortest TTI of all channels.
    pub fn next_tti(&self) -> Time {
        (self.now + Duration::from_nanos(1)).round_up_to(self.tti)
    }

    /// Number of events since the start that run `number` has scheduled.
    pub fn events(&self, number: usize) -> u64 {
        self.runs[number].queue.scheduled()
    }

    /// A copy of the state of run `number` at the current instant, with its queues.
    pub fn view(&mut self, number: usize, size: SnapshotSize) -> LiveView {
        let run = &mut self.runs[number];
        LiveView::new(&run.network, &mut run.recorders.beside, self.now.min(run.end), size)
    }

    /// Advances all runs by one step, for at most about `real_time`. Returns whether the step is
    /// complete: if it is not, the same step continues. A run that has ended stays at its end.
    pub fn advance(&mut self, step: Step, real_time: time::Duration) -> bool {
        let deadline = time::Instant::now() + real_time;
        match step {
            Step::Until(until) => self.advance_until(until, deadline),
            Step::Event => {
                self.advance_event();
                true
            }
            Step::Next(kind) => self.advance_to(kind, deadline),
        }
    }

    fn advance_until(&mut self, until: Time, deadline: time::Instant) -> bool {
        let until = until.min(self.end());
        loop {
            let next = until.min(self.now + SLICE);
            self.all_until(next);
            if next >= until {
                return true;
            }
            if time::Instant::now() >= deadline {
                return false;
            }
        }
    }

    fn advance_event(&mut self) {
        let Some((at, number)) = self.next_event() else { return };
        self.now = at;
        self.runs[number].advance(at, 1);
    }

    fn advance_to(&mut self, kind: NotableKind, deadline: time::Instant) -> bool {
        let count =
            |runs: &LiveRuns| -> u64 { runs.runs.iter().map(|run| run.recorders.beside.count(kind)).sum() };
        let before = count(self);
        let mut check = self.now + SLICE;
        while let Some((at, _)) = self.next_event() {
            self.all_until(at);
            if count(self) > before {
                return true;
            }
            if at >= check {
                if time::Instant::now() >= deadline {
                    return false;
                }
                check = at + SLICE;
            }
        }
        true
    }

    fn all_until(&mut self, until: Time) {
        for run in &mut self.runs {
            run.advance(until, u64::MAX);
        }
        self.now = until;
    }

    /// Instant of the next event, and the number of its run.
    fn next_event(&mut self) -> Option<(Time, usize)> {
        let next = (0..).zip(&mut self.runs).filter_map(|(number, run)| Some((run.next_time()?, number)));
        next.min()
    }

    /// The end of the longest run.
    fn end(&self) -> Time {
        self.runs.iter().map(|run| run.end).max().unwrap_or(Time::ZERO)
    }

    /// The records of all runs that have ended, in their order.
    ///
    /// # Panics
    /// If a run has not ended.
    pub fn finish(self) -> Vec<Records<LiveState>> {
        assert!(self.is_over(), "a run that has not ended has no records");
        self.runs.into_iter().map(|run| run.recorders.finish(run.end)).collect()
    }
}

/// The state of a network at an instant: recorded events, and its queues.
#[derive(Debug, Clone)]
pub struct LiveView {
    pub recorded: Snapshot,
    /// Octets in the queues of the core network's links, as [`Network::link_queues`].
    pub link_queues: Vec<[Bytes; 2]>,
    /// Queues of the Node B for the users in `recorded`, as [`Network::nodeb_queue`].
    pub nodeb_queues: Vec<Option<NodebQueue>>,
}

impl LiveView {
    /// The state of `network` at `now`, which must not be before its last event. `state` has recorded
    /// its events.
    pub fn new(network: &Network, state: &mut LiveState, now: Time, size: SnapshotSize) -> Self {
        let recorded = state.snapshot(now, size);
        let shown = (0..).map(UeId).take(recorded.ues.len());
        LiveView {
            link_queues: network.link_queues(now),
            nodeb_queues: shown.map(|ue| network.nodeb_queue(ue, now)).collect(),
            recorded,
        }
    }
}

/// A radio frame (TS 25.211 §5), the usual TTI.
const RADIO_FRAME: Duration = Duration::from_millis(10);

/// The shortest TTI of the channels of a network.
fn shortest_tti(network: &NetworkConfig) -> Duration {
    let fixed = network.ues.iter().filter(|ue| ue.substitute.is_none()).flat_map(|ue| &ue.channels);
    let switched = network.ues.iter().flat_map(|ue| &ue.switching).flat_map(|switching| &switching.dchs);
    let ttis = fixed.chain(switched.flatten()).map(|channel| channel.format.tti);
    ttis.filter(|tti| !tti.is_zero()).min().unwrap_or(RADIO_FRAME)
}
