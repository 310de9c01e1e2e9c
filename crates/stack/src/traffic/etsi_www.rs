//! WWW sessions of ETSI TR 101 112 (UMTS 30.03), B.1.2.2: packet calls of datagrams with reading
//! times between them.
//!
//! ```text
//!   session: call ─ reading time ─ call ─ … ─ call      time between sessions      session …
//!   call:    datagram ─ interval ─ datagram ─ … ─ datagram
//! ```
//!
//! The model sends datagrams regardless of whether they arrive. A datagram larger than one IP
//! packet is sent in several packets. Sizes are in octets.

use umts_kernel::random::{Stream, Streams};
use umts_units::{Bytes, Duration, Octets, Time};

use super::laws::{Distribution, Truncation, exponential, geometric};
use super::{Action, Report, stream_name};
use crate::ids::{End, FlowId};
use crate::options::options;

/// Pareto exponent of the datagram sizes.
const ALPHA: f64 = 1.1;
/// Minimum datagram size in bytes.
const MIN_SIZE: f64 = 81.5;
/// IP and UDP headers of a datagram, in octets.
pub const HEADERS: u64 = 28;

/// How a user's first session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum FirstSession {
    /// After a time between sessions.
    AfterAPause,
    /// The user starts in the steady state: between sessions, reading, or within a packet call.
    UnderWay,
}

/// Meaning of a datagram's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum SizeOf {
    /// Payload, without the headers of 28 octets.
    Payload,
    /// IP packet, with its headers.
    Packet,
}

options! {
    /// WWW sessions of datagrams (ETSI TR 101 112, UMTS 30.03, B.1.2.2). Sizes follow its Pareto
    /// distribution from 81.5 B.
    #[derive(Debug, Clone, PartialEq)]
    pub struct EtsiWwwConfig as "EtsiWww" {
        /// Mean number of packet calls in a session, geometric.
        [label = "Mean packet calls of a session", min = 1, max = 1_000_000,
            source = "ETSI TR 101 112, B.1.2.2"]
        pub calls: u32 = 5,
        /// Mean reading time between packet calls, exponential.
        [label = "Mean reading time", max = "1000 h",
            source = "ETSI TR 101 112, B.1.2.2; 12 s in many studies"]
        pub reading_time: Duration = Duration::from_secs(412),
        /// Mean number of datagrams in a packet call, geometric.
        [label = "Mean datagrams of a packet call", min = 1, max = 1_000_000,
            source = "ETSI TR 101 112, B.1.2.2"]
        pub datagrams: u32 = 25,
        /// Mean time between datagrams, exponential: 3,840 bit divided by the rate of the source.
        [label = "Mean interval of the datagrams", max = "1 h",
            source = "ETSI TR 101 112, B.1.2.2: 0.0625 s for 64 kbit/s"]
        pub interval: Duration = Duration::from_micros(62_500),
        /// Mean time between sessions, exponential; also before the first.
        [label = "Mean time between sessions", min = "1 us", max = "1000 h", source = "Rendon et al.: 100 s"]
        pub between_sessions: Duration = Duration::from_secs(100),
        /// Maximum size of a datagram.
        [label = "Maximum datagram size", min = "100 B", max = "66666 B",
            source = "ETSI TR 101 112, B.1.2.2; Rendon et al.: 570 B"]
        pub largest: Bytes = Bytes(66_666),
        /// Treatment of sizes above `largest`. Only clipping gives the mean of 480 B that the report
        /// states.
        [label = "Truncation of sizes"]
        pub truncation: Truncation = Truncation::Clip,
        /// Meaning of the size of a datagram: the payload, to which 28 B of headers are added, or the
        /// IP packet.
        [label = "Meaning of the datagram size"]
        pub size_of: SizeOf = SizeOf::Payload,
        /// How a user's first session begins.
        [label = "First session"]
        pub first_session: FirstSession = FirstSession::AfterAPause,
        /// Largest payload of a UDP packet: a larger datagram leaves in several.
        [label = "Maximum payload of a packet", min = "1 B", max = "65507 B"]
        pub packet: Octets = Octets(1472),
    }
}

/// A user of the model.
#[derive(Debug)]
pub struct EtsiWww {
    config: EtsiWwwConfig,
    /// The end that sends the data.
    sender: End,
    /// Size of a datagram in bytes.
    size: Distribution,
    draws: Draws,

    // Progress of the session.
    /// Start of the session.
    since: Time,
    /// Remaining packet calls of the session, including the current one. 0 between sessions.
    calls: u32,
    /// Remaining datagrams of the packet call. 0 between packet calls.
    datagrams: u32,
    /// Time of the next datagram.
    timer: Option<Time>,

    // Pending actions.
    /// Bytes of the current datagram that are not sent yet.
    unsent: u64,
    /// Start of a session that has ended and is not reported yet.
    ended: Option<Time>,
}

/// The random streams of a user, one for each quantity.
#[derive(Debug)]
struct Draws {
    calls: Stream,
    reading: Stream,
    datagrams: Stream,
    interval: Stream,
    sizes: Stream,
    sessions: Stream,
    first: Stream,
}

impl EtsiWww {
    /// Creates the user of `flow`. `sender` is the end that sends the data.
    pub fn new(config: &EtsiWwwConfig, sender: End, flow: FlowId, streams: &Streams) -> Self {
        let stream = |purpose| streams.stream(&stream_name(flow, purpose));
        EtsiWww {
            config: config.clone(),
            sender,
            size: Distribution::pareto(ALPHA, MIN_SIZE, config.largest.0 as f64, config.truncation),
            draws: Draws {
                calls: stream("calls"),
                reading: stream("reading"),
                datagrams: stream("datagrams"),
                interval: stream("interval"),
                sizes: stream("sizes"),
                sessions: stream("sessions"),
                first: stream("first"),
            },
            since: Time::ZERO,
            calls: 0,
            datagrams: 0,
            timer: None,
            unsent: 0,
            ended: None,
        }
    }

    pub fn handle_start(&mut self, now: Time) {
        let wait = match self.config.first_session {
            FirstSession::AfterAPause => exponential(self.config.between_sessions, &mut self.draws.sessions),
            FirstSession::UnderWay => self.draw_state(now),
        };
        self.timer = Some(now + wait);
    }

    /// Draws the state of a user in the long run, and the remaining time in that state. The
    /// remaining time has the same distribution as the whole, because all distributions of the
    /// model are memoryless.
    fn draw_state(&mut self, now: Time) -> Duration {
        let EtsiWwwConfig { calls, reading_time, datagrams, interval, between_sessions, .. } = self.config;
        // The parts of the mean cycle, in seconds: between sessions, reading, in packet calls.
        let between_s = between_sessions.as_secs();
        let reading_s = f64::from(calls.saturating_sub(1)) * reading_time.as_secs();
        let calling_s = f64::from(calls) * f64::from(datagrams.saturating_sub(1)) * interval.as_secs();
        let position_s = self.draws.first.uniform() * (between_s + reading_s + calling_s);
        if position_s < between_s {
            return exponential(between_sessions, &mut self.draws.sessions);
        }
        self.calls = geometric(calls, &mut self.draws.calls);
        self.since = now;
        if position_s < between_s + reading_s {
            return exponential(reading_time, &mut self.draws.reading);
        }
        self.datagrams = geometric(datagrams, &mut self.draws.datagrams);
        exponential(interval, &mut self.draws.interval)
    }

    /// Sends the next datagram, which may begin a session or a packet call.
    pub fn handle_timeout(&mut self, now: Time) {
        let begins_session = self.calls == 0;
        if begins_session {
            self.calls = geometric(self.config.calls, &mut self.draws.calls);
            self.since = now;
        }
        let begins_call = self.datagrams == 0;
        if begins_call {
            self.datagrams = geometric(self.config.datagrams, &mut self.draws.datagrams);
        }
        let size = self.size.draw_octets(&mut self.draws.sizes);
        self.unsent = match self.config.size_of {
            SizeOf::Payload => size,
            SizeOf::Packet => size - HEADERS,
        };
        self.datagrams -= 1;
        let wait = self.wait_after_datagram();
        self.timer = Some(now + wait);
    }

    /// Returns the time from a datagram to the next one, and ends the packet call and the session
    /// if it was their last.
    fn wait_after_datagram(&mut self) -> Duration {
        if self.datagrams > 0 {
            return exponential(self.config.interval, &mut self.draws.interval);
        }
        self.calls -= 1;
        if self.calls > 0 {
            return exponential(self.config.reading_time, &mut self.draws.reading);
        }
        self.ended = Some(self.since);
        exponential(self.config.between_sessions, &mut self.draws.sessions)
    }

    /// Returns the packets of the current datagram, then the end of the session.
    pub fn poll_action(&mut self) -> Option<Action> {
        if self.unsent > 0 {
            let bytes = self.unsent.min(u64::from(self.config.packet.0)) as u32;
            self.unsent -= u64::from(bytes);
            return Some(Action::Send { end: self.sender, bytes });
        }
        self.ended.take().map(|since| Action::Report(Report::SessionEnded { since }))
    }

    /// Whether the next datagram belongs to the same packet call as the last one.
    pub fn is_within_call(&self) -> bool {
        self.datagrams > 0
    }

    pub fn poll_timeout(&self) -> Option<Time> {
        self.timer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Users of Rendon et al.: in each cycle a session of 10 packet calls of 25 datagrams with a mean
    /// size of 225.6 bytes.
    fn rendon() -> EtsiWwwConfig {
        EtsiWwwConfig {
            calls: 10,
            reading_time: Duration::from_millis(2_500),
            interval: Duration::from_micros(75_200),
            largest: Bytes(570),
            size_of: SizeOf::Packet,
            first_session: FirstSession::UnderWay,
            ..EtsiWwwConfig::default()
        }
    }

    /// 4,000 users send for 40 s. Tolerances are four standard errors.
    #[test]
    fn users_that_start_under_way_send_at_a_constant_mean_rate() {
        const USERS: u32 = 4_000;
        // Square root of the number of users.
        const ROOT_OF_USERS: f64 = 63.0;
        let mut bytes_in_10_s = [0.0; 4];
        let mut datagrams = 0.0;
        for user in 0..USERS {
            let mut user = EtsiWww::new(&rendon(), End::Server, FlowId(user), &Streams::new(1, 0));
            user.handle_start(Time::ZERO);
            while let Some(now) = user.poll_timeout().filter(|now| now.as_secs() < 40.0) {
                user.handle_timeout(now);
                while let Some(action) = user.poll_action() {
                    if let Action::Send { bytes: payload, .. } = action {
                        // From 82 - 28 to 570 - 28.
                        assert!((54..=542).contains(&payload));
                        bytes_in_10_s[(now.as_secs() / 10.0) as usize] += f64::from(payload) + HEADERS as f64;
                        datagrams += 1.0;
                    }
                }
            }
        }
        // The mean cycle of 140.5 s: 100 s between sessions, 24 intervals of 75.2 ms in each call,
        // and 9 reading times of 2.5 s.
        let cycle_s = 100.0 + 10.0 * 24.0 * 0.0752 + 9.0 * 2.5;
        let datagrams_per_second = 10.0 * 25.0 / cycle_s;
        // A user's datagram count in 40 s has a mean of about 70 and a standard deviation of about
        // 85.
        let expected = f64::from(USERS) * 40.0 * datagrams_per_second;
        let ratio: f64 = datagrams / expected;
        assert!((ratio - 1.0).abs() < 4.0 * 85.0 / 70.0 / ROOT_OF_USERS, "{ratio}");
        // In 10 s the mean is 17.7 and the standard deviation about 35.
        let expected_bytes = f64::from(USERS) * 10.0 * datagrams_per_second * 225.6;
        for bytes in bytes_in_10_s {
            let ratio: f64 = bytes / expected_bytes;
            assert!((ratio - 1.0).abs() < 4.0 * 35.0 / 17.7 / ROOT_OF_USERS, "{ratio}");
        }
    }

    /// The sums over the sessions of a user.
    struct Sessions {
        /// Duration of all sessions, in seconds.
        duration_s: f64,
        datagrams: f64,
        bytes: f64,
    }

    /// Runs a user with the default configuration for this number of sessions.
    fn run_sessions(count: u32) -> Sessions {
        let config = EtsiWwwConfig::default();
        let mut user = EtsiWww::new(&config, End::Server, FlowId(0), &Streams::new(1, 0));
        user.handle_start(Time::ZERO);
        let mut sums = Sessions { duration_s: 0.0, datagrams: 0.0, bytes: 0.0 };
        let mut ended_sessions = 0;
        while ended_sessions < count {
            let now = user.poll_timeout().expect("sessions repeat without end");
            user.handle_timeout(now);
            sums.datagrams += 1.0;
            while let Some(action) = user.poll_action() {
                match action {
                    Action::Send { bytes, .. } => {
                        assert!((1..=1472).contains(&bytes));
                        sums.bytes += f64::from(bytes);
                    }
                    Action::Report(Report::SessionEnded { since }) => {
                        ended_sessions += 1;
                        sums.duration_s += (now - since).as_secs();
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        sums
    }

    /// Tolerances are four standard errors over 2,000 sessions, which have 250,000 datagrams.
    #[test]
    fn sessions_calls_and_datagrams_have_the_expected_means() {
        let sums = run_sessions(2_000);
        // 5 · 25 = 125 datagrams per session, with a standard deviation of 123.
        let datagrams = sums.datagrams / 2_000.0;
        assert!((datagrams - 125.0).abs() < 4.0 * 2.8, "{datagrams}");
        // 479.7 bytes per datagram, with a standard deviation of 2,190.
        let size = sums.bytes / sums.datagrams;
        assert!((size - 479.7).abs() < 4.0 * 4.4, "{size}");
        // Four reading times of 412 s and 120 intervals of 62.5 ms are 1,655.5 s, with a standard
        // deviation of about 1,900.
        let duration_s = sums.duration_s / 2_000.0;
        assert!((duration_s - 1655.5).abs() < 4.0 * 43.0, "{duration_s}");
    }
}
