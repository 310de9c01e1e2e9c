//! The kernel's end of a connection: a socket behind a TUN device, in a network namespace of its
//! own. Segments of the script enter the device, and segments of the kernel leave it.
//!
//! ```text
//!   script ── segments ──► TUN ──► kernel's TCP ◄── socket ◄── application
//!          ◄─────────────      ◄──
//! ```
//!
//! Times are real. A busy machine makes departures late, never early.

mod namespace;
mod settings;
mod socket;
mod tcp_info;
mod wire;

use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::os::fd::AsFd;
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use umts_stack::packet::Segment;
use umts_units::{Duration, Time};

use self::namespace::Namespace;
pub(crate) use self::settings::Settings;
use self::socket::Application;
use self::wire::{KERNEL, PEER, Wire};
use crate::script::Quantity;
use crate::tested_end::{Action, Departure, TestedEnd, Tolerance, Value, WaitFor};

/// Tolerance for late departures. The kernel's timers have ticks of 4 ms (HZ 250) and expire late:
/// short ones by one or two ticks, long ones by up to an eighth of their time (timer wheel).
/// Measured round trips include the delays of the script's segments.
const LATE: Duration = Duration::from_millis(40);
/// Divisor of the time of a departure, for the part of the tolerance that grows with time.
const LATE_DIVISOR: u64 = 8;
/// Tolerance for early departures.
const EARLY: Duration = Duration::from_millis(4);
/// Tolerance for the timeout, in ms.
const TIMER_SLACK_MS: f64 = 16.0;
/// Tolerance for round-trip times, in ms.
const ROUND_TRIP_SLACK_MS: f64 = 6.0;
/// Octets of the largest packet of a device.
const MAX_PACKET: usize = 1 << 16;
/// Longest wait for a packet at a time, in ms.
const MAX_WAIT_MS: u64 = 60_000;
const KERNEL_PORT: u16 = 5001;
const PEER_PORT: u16 = 6001;

/// The scripts apply to this kernel version and later ones: only RACK detects losses, and data
/// beyond the window are dropped.
const OLDEST: (u32, u32) = (6, 17);

/// Returns why the kernel of this machine is too old for the scripts. `None`: new enough.
fn why_too_old() -> Option<String> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|number| number.parse().ok());
    let version = (numbers.next()?, numbers.next()?);
    let (major, minor) = OLDEST;
    (version < OLDEST).then(|| {
        format!("the kernel is {}, but the scripts require {major}.{minor} or later", release.trim())
    })
}

/// Returns why conversations with the kernel of this machine are impossible. `None` if they are
/// possible.
pub(crate) fn why_out_of_reach() -> Option<String> {
    why_too_old().or_else(namespace::why_out_of_reach)
}

pub(crate) struct Kernel {
    namespace: Namespace,
    application: Application,
    wire: Wire,
    /// The beginning of the conversation.
    began: Instant,
    /// The time reached, according to the script.
    now: Time,
    /// Segments that left and were not taken yet.
    departures: VecDeque<Departure>,
    /// Every segment that left: its end, its time, and its timestamp.
    sent: Vec<(u64, Time, Time)>,
    /// The highest acknowledgment that has arrived.
    acknowledged: u64,
    /// In bytes.
    segment_payload: u32,
}

impl Kernel {
    /// Moves this thread into a new namespace. The thread cannot return.
    pub fn new(settings: &Settings) -> Result<Self, String> {
        let namespace = Namespace::new(settings).map_err(|error| format!("no namespace: {error}"))?;
        let (kernel, peer) = (SocketAddrV4::new(KERNEL, KERNEL_PORT), SocketAddrV4::new(PEER, PEER_PORT));
        let application =
            Application::new(settings, kernel).map_err(|error| format!("no socket: {error}"))?;
        Ok(Kernel {
            namespace,
            application,
            wire: Wire::new(kernel, peer),
            began: Instant::now(),
            now: Time::ZERO,
            departures: VecDeque::new(),
            sent: Vec::new(),
            acknowledged: 0,
            segment_payload: settings.segment_payload,
        })
    }

    /// Returns the real time since the beginning of the conversation.
    fn elapsed(&self) -> Time {
        Time::from_nanos(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Collects the packets that the kernel has sent.
    fn drain(&mut self) -> Result<(), String> {
        let mut packet = vec![0; MAX_PACKET];
        while let Some(length) = self.namespace.read(&mut packet).map_err(|error| error.to_string())? {
            let at = self.elapsed();
            if let Some(segment) = self.wire.decode(&packet[..length]) {
                self.sent.push((segment.end(), at, segment.timestamp));
                self.departures.push_back(Departure { at, segment });
            }
        }
        Ok(())
    }

    /// Lets the application react to an event, and collects the packets that the kernel has sent.
    fn settle(&mut self) -> Result<(), String> {
        self.application.proceed();
        self.drain()
    }

    /// Waits until the kernel has sent a packet, or until `until`. It may return earlier.
    fn wait(&self, until: Time) -> Result<(), String> {
        let wait_ms = until.saturating_since(self.elapsed()).as_nanos().div_ceil(1_000_000);
        let timeout = PollTimeout::try_from(wait_ms.min(MAX_WAIT_MS) as i32).unwrap_or(PollTimeout::ZERO);
        let mut device = [PollFd::new(self.namespace.as_fd(), PollFlags::POLLIN)];
        poll(&mut device, timeout).map(drop).map_err(|error| error.to_string())
    }

    /// Returns the name of the connection's state in scripts.
    fn state(&self) -> Result<String, String> {
        let found = tcp_info::look_up(self.wire.kernel, self.wire.peer).map_err(|error| error.to_string())?;
        Ok(match found {
            // If the connection no longer exists, the kernel finds the listening socket.
            Some(info) if !(info.is_listening() && self.application.is_accepted()) => {
                info.state_name().to_owned()
            }
            _ if self.application.is_accepted() => "closed".to_owned(),
            _ => "listen".to_owned(),
        })
    }
}

impl TestedEnd for Kernel {
    fn now(&self) -> Time {
        self.now
    }

    fn act(&mut self, action: Action) -> Result<(), String> {
        match action {
            Action::Open => self.application.open(self.wire.peer)?,
            Action::Write(bytes) => self.application.write(bytes),
            Action::Close => self.application.close(),
        }
        self.settle()
    }

    fn receive(&mut self, segment: &Segment) -> Result<(), String> {
        if segment.flags.syn && segment.options.window_scale.is_none() {
            self.wire.without_scaling();
        }
        if segment.flags.ack && segment.ack <= self.wire.max_sent() {
            self.acknowledged = self.acknowledged.max(segment.ack);
        }
        let packet = self.wire.encode(segment)?;
        self.namespace.write(&packet).map_err(|error| error.to_string())?;
        self.settle()
    }

    fn pass(&mut self, until: Time, wait_for: WaitFor) -> Result<(), String> {
        loop {
            self.settle()?;
            if wait_for == WaitFor::Departure
                && let Some(first) = self.departures.front()
            {
                self.now = self.now.max(first.at);
                return Ok(());
            }
            if self.elapsed() >= until {
                if wait_for == WaitFor::Time {
                    self.now = self.now.max(until);
                }
                return Ok(());
            }
            self.wait(until)?;
        }
    }

    fn take_departure(&mut self) -> Option<Departure> {
        self.departures.pop_front()
    }

    fn timestamp_of(&self, ack: u64) -> Time {
        let answered = self.sent.iter().rev().find(|(end, ..)| *end == ack);
        answered.map_or(Time::ZERO, |(.., timestamp)| *timestamp)
    }

    /// Returns the timestamp of the last segment that had left by then, allowing for delays.
    fn timestamp_at(&self, at: Time) -> Time {
        let before = self.sent.iter().rev().find(|(_, left, _)| *left <= at + LATE);
        before.map_or(Time::ZERO, |(.., timestamp)| *timestamp)
    }

    fn segment_payload(&self) -> u32 {
        self.segment_payload
    }

    fn value(&mut self, quantity: Quantity) -> Result<Value, String> {
        let info = tcp_info::look_up(self.wire.kernel, self.wire.peer).map_err(|error| error.to_string())?;
        let info = info.unwrap_or_default();
        let in_ms = |microseconds: u32| Value::Number(f64::from(microseconds) / 1000.0);
        Ok(match quantity {
            Quantity::Cwnd => Value::Number(f64::from(info.cwnd)),
            Quantity::Ssthresh => Value::Number(info.ssthresh.map_or(f64::INFINITY, f64::from)),
            Quantity::Inflation => return Err("the kernel has no `inflation`".to_owned()),
            Quantity::Outstanding => {
                Value::Number(self.wire.max_sent().saturating_sub(self.acknowledged) as f64)
            }
            Quantity::Rto => in_ms(info.rto),
            Quantity::Srtt => in_ms(info.srtt),
            Quantity::Timeouts => Value::Number(f64::from(info.timeouts)),
            Quantity::Delivered => Value::Number(self.application.delivered as f64),
            Quantity::State => Value::Word(self.state()?),
            Quantity::Failure => Value::Word(self.application.failure().to_owned()),
        })
    }

    fn tolerance(&self, due: Time) -> Tolerance {
        Tolerance { early: EARLY, late: LATE + Duration::from_nanos(due.as_nanos() / LATE_DIVISOR) }
    }

    fn slack(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Rto => TIMER_SLACK_MS,
            Quantity::Srtt => ROUND_TRIP_SLACK_MS,
            _ => 0.0,
        }
    }
}
