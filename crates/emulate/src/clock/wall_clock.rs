//! The wall clock of an emulation: the event loop calls [`WallClock::wait`] before each event. It
//! sleeps until the event is due, and returns early with a packet of a real program.
//!
//! One thread waits on one epoll set: packet devices, a timer, the signals, orders about faults,
//! requests of viewers, and a pipe to the parent process. Overdue events run in order at their due
//! times; their lateness is recorded. Events without a visible effect outside may be delayed, so
//! that one wake-up serves many of them.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId as TimerClock, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockId, clock_gettime};
use umts_kernel::{Clock, Lookahead, Wake};
use umts_units::{Duration, Time};

use crate::clock::lateness::Lateness;
use crate::devices::port::Port;
use crate::devices::tun::MTU;
use crate::faults::{FaultInbox, FaultOrder};
use crate::packets::packet_store::Header;
use crate::readings::LiveInbox;

/// Maximum number of packets that are read from one device before the other devices are read.
const BURST: usize = 64;

/// Maximum number of packets that wait for the event loop. At this limit no more are read, and the
/// kernel drops and counts packets that exceed its own queues.
const MAX_WAITING: usize = 4096;

/// Interval at which a clock that is late still polls for packets and signals.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Interval at which a device that was down is checked for removal, because the kernel does not
/// report the removal.
const REMOVAL_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum delay of events that are not visible outside. It bounds the work that remains when a
/// packet arrives.
const MAX_DELAY: Duration = Duration::from_millis(20);

/// Delayed events are handled this long before the next visible instant, so that they do not make
/// it late.
const LEAD: Duration = Duration::from_millis(1);

/// Data of the events of the epoll set. Other values are the numbers of devices.
const TIMER: u64 = u64::MAX;
const SIGNALS: u64 = u64::MAX - 1;
const PARENT: u64 = u64::MAX - 2;
const FAULTS: u64 = u64::MAX - 3;
const VIEWERS: u64 = u64::MAX - 4;

/// A packet of a real program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// Index of the device on which the packet arrived.
    pub port: usize,
    /// The packet, starting with the IP header.
    pub bytes: Vec<u8>,
    /// The link-layer header of the packet.
    pub header: Header,
}

impl Arrival {
    /// Creates a packet without a link-layer header.
    pub fn bare(port: usize, bytes: Vec<u8>) -> Self {
        Arrival { port, bytes, header: Header::default() }
    }
}

/// An input of the network.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A packet of a program.
    Packet(Arrival),
    /// An order about a fault.
    Fault(FaultOrder),
    /// Requests for the state: [`WallClock::viewers`].
    Viewers,
}

/// Why the clock stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A child process has ended, or a device is gone.
    SomethingEnded,
    /// The parent process has exited, or SIGTERM arrived.
    Abandoned,
}

/// An instant, while its events are handled.
#[derive(Debug, Clone, Copy)]
struct BegunInstant {
    due: Time,
    /// Whether its lateness was recorded.
    is_recorded: bool,
}

/// Clock of a run, driven by CLOCK_MONOTONIC.
pub struct WallClock {
    /// Value of CLOCK_MONOTONIC at time zero of the run.
    start: Duration,

    // Sources of wake-ups.
    epoll: Epoll,
    timer: TimerFd,
    signals: SignalFd,
    /// End of a pipe that closes when the parent process exits, which ends the emulation.
    _parent: OwnedFd,
    ports: Vec<Port>,
    /// Orders about faults, if they are accepted.
    faults: Option<FaultInbox>,
    /// Requests of viewers, if they are answered.
    viewers: Option<LiveInbox>,
    /// Numbers of the ports with removed devices, in the order of their removal.
    gone: Vec<usize>,
    /// When the sources were last polled.
    last_poll: Time,
    /// Inputs that were read and not handled yet, with the times at which they were read.
    waiting: VecDeque<(Time, Input)>,

    // Lateness.
    /// Time between the due time of an event and the handling.
    lateness: Lateness,
    /// CPU time from each wake-up to the next sleep.
    work: Lateness,
    /// CPU time of this thread at the last wake-up.
    woken_at: Option<Duration>,
    /// The instant being handled.
    begun: Option<BegunInstant>,
    /// End of the last intended delay. An event due before this time is late only after it.
    delayed_until: Time,

    // The end.
    /// Reason to stop and its time. Events and packets due until then are handled first.
    ending: Option<(Ending, Time)>,
    /// Number of SIGINTs received.
    interrupts: u32,
}

impl WallClock {
    /// Starts the clock. The parent process holds the other end of pipe `parent` open while it
    /// wants the emulation. Instants later than `limit` are also counted separately. From now on
    /// this clock receives SIGCHLD, SIGTERM and SIGINT.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn new(
        ports: Vec<Port>,
        parent: OwnedFd,
        faults: Option<FaultInbox>,
        viewers: Option<LiveInbox>,
        limit: Duration,
    ) -> io::Result<Self> {
        let mut mask = SigSet::empty();
        for signal in [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT] {
            mask.add(signal);
        }
        mask.thread_block()?;
        let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let timer =
            TimerFd::new(TimerClock::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let readable = |data: u64| EpollEvent::new(EpollFlags::EPOLLIN, data);
        epoll.add(&timer, readable(TIMER))?;
        epoll.add(&signals, readable(SIGNALS))?;
        epoll.add(&parent, readable(PARENT))?;
        if let Some(inbox) = &faults {
            epoll.add(inbox.wake(), readable(FAULTS))?;
        }
        if let Some(inbox) = &viewers {
            epoll.add(inbox.wake(), readable(VIEWERS))?;
        }
        for (number, port) in ports.iter().enumerate() {
            epoll.add(port, readable(number as u64))?;
        }
        Ok(WallClock {
            start: monotonic()?,
            epoll,
            timer,
            signals,
            _parent: parent,
            ports,
            faults,
            viewers,
            waiting: VecDeque::new(),
            lateness: Lateness::new(limit),
            work: Lateness::new(limit),
            woken_at: None,
            begun: None,
            delayed_until: Time::ZERO,
            last_poll: Time::ZERO,
            // A child may have ended before the signals were blocked.
            ending: Some((Ending::SomethingEnded, Time::ZERO)),
            interrupts: 0,
            gone: Vec::new(),
        })
    }
}

impl Clock for WallClock {
    type Packet = Input;

    /// Waits for the next event, which is due at `until`. Returns an earlier packet, or the end.
    fn wait(&mut self, until: Time, lookahead: &impl Lookahead) -> Wake<Input> {
        loop {
            let stop = self.stops_at();
            let is_first = |(at, _): &mut (Time, Input)| *at < until && *at <= stop;
            if let Some((at, input)) = self.waiting.pop_front_if(is_first) {
                return Wake::Packet(at, input);
            }
            // An instant that has begun is completed, so that a replay can stop at the same event.
            let has_begun = self.begun.is_some_and(|begun| begun.due == until);
            if until > stop && !has_begun {
                return Wake::Stopped;
            }
            let now = self.now();
            if until > now {
                self.sleep(wake_up(until, lookahead)).expect("the descriptors are open");
            } else if now - self.last_poll > POLL_INTERVAL {
                self.poll_events(EpollTimeout::ZERO).expect("the descriptors are open");
            } else {
                self.begin(until, now, lookahead);
                return Wake::Reached;
            }
        }
    }
}

impl WallClock {
    /// The devices.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Current time of the run.
    ///
    /// # Panics
    /// Panics if CLOCK_MONOTONIC cannot be read.
    pub fn now(&self) -> Time {
        let now = monotonic().expect("every Linux kernel has CLOCK_MONOTONIC");
        Time::ZERO + Duration::from_nanos(now.as_nanos() - self.start.as_nanos())
    }

    /// Lateness of visible events.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// CPU time from each wake-up to the next sleep, independent of other load on the machine.
    pub fn work(&self) -> &Lateness {
        &self.work
    }

    /// Takes the time at which the clock stopped, and why. Returns `None` while it runs. A
    /// clock that stopped continues at the next `wait`.
    pub fn take_ending(&mut self) -> Option<(Ending, Time)> {
        self.ending.take()
    }

    /// Number of SIGINTs received so far.
    pub fn interrupts(&self) -> u32 {
        self.interrupts
    }

    /// Indices of the devices that are gone, in the order of their removal.
    pub fn gone(&self) -> &[usize] {
        &self.gone
    }

    /// Last instant that is handled before the clock stops.
    fn stops_at(&self) -> Time {
        match self.ending {
            None => Time::NEVER,
            Some((Ending::SomethingEnded, at)) => at,
            Some((Ending::Abandoned, _)) => Time::ZERO,
        }
    }

    /// Starts to handle an event that is due at `due`, and records its lateness, once per instant.
    /// Only visible events can be late: the others are delayed on purpose, and so are events that
    /// they schedule, which belong to simulated users only.
    fn begin(&mut self, due: Time, now: Time, lookahead: &impl Lookahead) {
        let was_recorded = self.begun.is_some_and(|begun| begun.due == due && begun.is_recorded);
        let is_recorded_now = !was_recorded && lookahead.is_seen();
        if is_recorded_now {
            self.lateness.record(now - due.max(self.delayed_until));
        }
        self.begun = Some(BegunInstant { due, is_recorded: was_recorded || is_recorded_now });
    }

    /// Sleeps until `wanted` at the latest, and reads packets and signals.
    fn sleep(&mut self, wanted: Time) -> io::Result<()> {
        let may_be_removed = self.present().any(|number| self.ports[number].was_down());
        let until = if may_be_removed { wanted.min(self.now() + REMOVAL_CHECK_INTERVAL) } else { wanted };
        let at = self.start + (until - Time::ZERO);
        self.timer.set(Expiration::OneShot(time_spec(at)), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        if let Some(woken_at) = self.woken_at {
            self.work.record(read(ClockId::CLOCK_THREAD_CPUTIME_ID)? - woken_at);
        }
        self.poll_events(EpollTimeout::NONE)?;
        self.woken_at = Some(read(ClockId::CLOCK_THREAD_CPUTIME_ID)?);
        self.delayed_until = wanted.min(self.last_poll);
        Ok(())
    }

    /// Waits for events for at most `timeout`, and handles them: packets, signals, the end of the
    /// parent.
    fn poll_events(&mut self, timeout: EpollTimeout) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); 16];
        let count = match self.epoll.wait(&mut events, timeout) {
            Ok(count) => count,
            Err(nix::Error::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        self.last_poll = self.now();
        for event in &events[..count] {
            match event.data() {
                // Setting the timer again clears the expiration.
                TIMER => {}
                SIGNALS => self.take_signals()?,
                PARENT => self.ending = Some((Ending::Abandoned, self.last_poll)),
                FAULTS => self.take_orders(),
                VIEWERS => self.take_viewer_requests(),
                port => self.read_packets(port as usize)?,
            }
        }
        let closed_ports: Vec<usize> =
            self.present().filter(|&number| self.ports[number].is_gone()).collect();
        closed_ports.into_iter().try_for_each(|number| self.remove_device(number))
    }

    /// Indices of the devices that are not gone.
    fn present(&self) -> impl Iterator<Item = usize> {
        (0..self.ports.len()).filter(|number| !self.gone.contains(number))
    }

    /// Removes a device that another process has deleted. The other devices continue to work.
    fn remove_device(&mut self, number: usize) -> io::Result<()> {
        self.gone.push(number);
        self.ending.get_or_insert((Ending::SomethingEnded, self.last_poll));
        self.epoll.delete(&self.ports[number]).map_err(io::Error::from)
    }

    /// Reads the pending signals.
    fn take_signals(&mut self) -> io::Result<()> {
        while let Some(signal) = self.signals.read_signal()? {
            if signal.ssi_signo == Signal::SIGTERM as u32 {
                self.ending = Some((Ending::Abandoned, self.last_poll));
                continue;
            }
            // The command receives SIGINT too and decides how to react while it runs.
            self.interrupts += u32::from(signal.ssi_signo == Signal::SIGINT as u32);
            self.ending.get_or_insert((Ending::SomethingEnded, self.last_poll));
        }
        Ok(())
    }

    /// Reads the waiting orders about faults.
    fn take_orders(&mut self) {
        let now = self.now();
        let orders = self.faults.iter().flat_map(FaultInbox::take);
        self.waiting.extend(orders.map(|order| (now, Input::Fault(order))));
    }

    /// Acknowledges the requests of viewers, and notes that they wait for the state.
    fn take_viewer_requests(&mut self) {
        self.viewers.iter().for_each(LiveInbox::acknowledge);
        self.waiting.push_back((self.last_poll, Input::Viewers));
    }

    /// Confirms an order about a fault, which was executed at `at`.
    pub fn confirm_order(&self, at: Time) {
        if let Some(inbox) = &self.faults {
            inbox.confirm(at);
        }
    }

    /// Requests of viewers, if they are answered.
    pub fn viewers(&self) -> Option<&LiveInbox> {
        self.viewers.as_ref()
    }

    /// Reads the waiting packets of a device, up to [`BURST`]. If [`MAX_WAITING`] inputs wait
    /// already, reads only packets of which polling does not inform ([`Port::has_more`]).
    fn read_packets(&mut self, number: usize) -> io::Result<()> {
        let port = &self.ports[number];
        let mut buffer = [0; MTU as usize + 1];
        let mut remaining = if self.waiting.len() < MAX_WAITING { BURST } else { 0 };
        while remaining > 0 || port.has_more() {
            remaining = remaining.saturating_sub(1);
            let (length, header) = match port.read(&mut buffer) {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(_) => return self.remove_device(number),
            };
            let arrival = Arrival { port: number, bytes: buffer[..length].to_vec(), header };
            self.waiting.push_back((self.now(), Input::Packet(arrival)));
        }
        Ok(())
    }
}

/// Time to wake up if the next event is due at `next`: the time of the next visible event, or
/// `LEAD` earlier if other events wait for it.
fn wake_up(next: Time, lookahead: &impl Lookahead) -> Time {
    if lookahead.is_seen() {
        return next;
    }
    let first_seen_at = lookahead.first_seen(next + MAX_DELAY);
    if first_seen_at > next + LEAD { first_seen_at - LEAD } else { first_seen_at }
}

/// Reads CLOCK_MONOTONIC.
pub fn monotonic() -> io::Result<Duration> {
    read(ClockId::CLOCK_MONOTONIC)
}

/// Converts a time to the type of system calls.
pub fn time_spec(at: Duration) -> TimeSpec {
    TimeSpec::new((at.as_nanos() / 1_000_000_000) as i64, (at.as_nanos() % 1_000_000_000) as i64)
}

/// CPU time of this process so far.
pub fn cpu_time() -> io::Result<Duration> {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// Reads a clock of the kernel.
fn read(clock: ClockId) -> io::Result<Duration> {
    let now = clock_gettime(clock)?;
    Ok(Duration::from_nanos(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Expected {
        /// Whether the next event is visible.
        is_seen: bool,
        /// Time of the first visible event.
        first_seen: Time,
    }

    impl Lookahead for Expected {
        fn is_seen(&self) -> bool {
            self.is_seen
        }

        fn first_seen(&self, end: Time) -> Time {
            self.first_seen.min(end)
        }
    }

    /// The next event is visible.
    fn visible(at: Time) -> Expected {
        Expected { is_seen: true, first_seen: at }
    }

    /// The next event is not visible, but the one at `first_seen` is.
    fn hidden(first_seen: Time) -> Expected {
        Expected { is_seen: false, first_seen }
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_micros(us)
    }

    #[test]
    fn wakes_up_on_time_for_a_visible_event() {
        assert_eq!(wake_up(us(5_000), &visible(us(5_000))), us(5_000));
    }

    #[test]
    fn hidden_events_wait_until_shortly_before_the_next_visible_one() {
        // The visible event is due at 8 ms. The lead is 1 ms.
        assert_eq!(wake_up(us(5_000), &hidden(us(8_000))), us(7_000));
        // A hidden event within the lead waits for the visible one.
        assert_eq!(wake_up(us(7_100), &hidden(us(8_000))), us(8_000));
    }

    #[test]
    fn hidden_events_have_a_maximum_delay() {
        // 5 ms, the maximum delay of 20 ms, less the lead of 1 ms.
        assert_eq!(wake_up(us(5_000), &hidden(Time::NEVER)), us(24_000));
    }

    #[test]
    fn events_due_at_the_end_are_handled_before_the_clock_stops() {
        let (parent, _held) = nix::unistd::pipe().unwrap();
        let mut clock = WallClock::new(Vec::new(), parent, None, None, Duration::from_millis(10)).unwrap();
        clock.take_ending();
        while clock.now() < us(5_000) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        clock.ending = Some((Ending::SomethingEnded, us(5_000)));
        let packet = |byte| Input::Packet(Arrival::bare(0, vec![byte]));
        clock.waiting.push_back((us(4_500), packet(1)));
        clock.waiting.push_back((us(5_500), packet(2)));
        let visible = visible(us(3_000));
        assert_eq!(clock.wait(us(3_000), &visible), Wake::Reached);
        assert_eq!(clock.wait(us(5_000), &visible), Wake::Packet(us(4_500), packet(1)));
        assert_eq!(clock.wait(us(5_000), &visible), Wake::Reached);
        assert_eq!(clock.wait(us(6_000), &visible), Wake::Stopped);
        assert_eq!(clock.take_ending(), Some((Ending::SomethingEnded, us(5_000))));
        assert_eq!(clock.wait(us(6_000), &visible), Wake::Packet(us(5_500), packet(2)));
    }

    #[test]
    fn one_sleep_serves_all_delayed_events_and_only_visible_ones_are_late() {
        let (parent, _held) = nix::unistd::pipe().unwrap();
        let mut clock = WallClock::new(Vec::new(), parent, None, None, Duration::from_millis(10)).unwrap();
        assert_eq!(clock.take_ending(), Some((Ending::SomethingEnded, Time::ZERO)));
        let delayed = hidden(Time::NEVER);
        assert_eq!(clock.wait(us(2_000), &delayed), Wake::Reached);
        // The clock slept as long as the first event may be delayed, so the others became due.
        let woken = clock.now();
        assert!(woken >= us(21_000), "{woken}");
        assert_eq!(clock.wait(us(20_900), &delayed), Wake::Reached);
        assert_eq!(clock.lateness().count(), 0);
        // Events of one instant are recorded once. Events scheduled by delayed events are not late.
        let visible = visible(us(20_950));
        assert_eq!(clock.wait(us(20_950), &delayed), Wake::Reached);
        assert_eq!(
            [clock.wait(us(20_950), &visible), clock.wait(us(20_950), &visible)],
            [Wake::Reached, Wake::Reached]
        );
        assert_eq!(clock.lateness().count(), 1);
        assert!(clock.lateness().quantile(1.0) <= clock.now() - us(21_000));
    }
}
