//! The WWW sessions of ETSI TR 101 112 (UMTS 30.03), B.1.2.2: packet calls of datagrams, reading times between them.
//!
//! The model sends datagrams without asking whether they arrive. One that is larger than an IP packet leaves in several.

use umts_kernel::random::{Stream, Streams};
use umts_units::{Duration, Time};

use super::laws::{Law, Truncation, exponential, geometric};
use super::{Action, Report, stream_name};
use crate::ids::{End, FlowId};

/// Exponent of the datagrams' sizes.
const ALPHA: f64 = 1.1;
/// Their least size, in bytes.
const LEAST: f64 = 81.5;
/// Their largest, in bytes.
const MOST: f64 = 66_666.0;

/// A session and what it consists of.
#[derive(Debug, Clone, PartialEq)]
pub struct EtsiWwwConfig {
    /// Mean number of packet calls in a session, geometric.
    pub calls: u32,
    /// Mean reading time between packet calls, exponential.
    pub reading: Duration,
    /// Mean number of datagrams in a packet call, geometric.
    pub datagrams: u32,
    /// Mean time between datagrams, exponential.
    pub interval: Duration,
    /// Mean time between sessions, exponential; also before the first.
    pub between_sessions: Duration,
    /// What becomes of sizes above the largest.
    pub truncation: Truncation,
    /// Largest payload of a packet, in bytes.
    pub packet: u32,
}

/// One user.
#[derive(Debug)]
pub struct EtsiWww {
    config: EtsiWwwConfig,
    sender: End,
    size: Law,
    draws: Draws,
    /// Packet calls of the session and datagrams of the call that are still to come.
    calls: u32,
    datagrams: u32,
    since: Time,
    /// Bytes of the present datagram that have not left.
    unsent: u64,
    ended: Option<Time>,
    timer: Option<Time>,
}

#[derive(Debug)]
struct Draws {
    calls: Stream,
    reading: Stream,
    datagrams: Stream,
    interval: Stream,
    sizes: Stream,
    sessions: Stream,
}

impl EtsiWww {
    /// The user of `flow`, whose data come from `sender`.
    pub fn new(config: &EtsiWwwConfig, sender: End, flow: FlowId, streams: &Streams) -> Self {
        let stream = |purpose| streams.stream(&stream_name(flow, purpose));
        EtsiWww {
            config: config.clone(),
            sender,
            size: Law::pareto(ALPHA, LEAST, MOST, config.truncation),
            draws: Draws {
                calls: stream("calls"),
                reading: stream("reading"),
                datagrams: stream("datagrams"),
                interval: stream("interval"),
                sizes: stream("sizes"),
                sessions: stream("sessions"),
            },
            calls: 0,
            datagrams: 0,
            since: Time::ZERO,
            unsent: 0,
            ended: None,
            timer: None,
        }
    }

    /// The flow starts: its first session comes after a while.
    pub fn handle_start(&mut self, now: Time) {
        self.timer = Some(now + exponential(self.config.between_sessions, &mut self.draws.sessions));
    }

    /// A datagram is due; it may begin a session or a packet call.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.calls == 0 {
            self.calls = geometric(self.config.calls, &mut self.draws.calls);
            self.since = now;
        }
        if self.datagrams == 0 {
            self.datagrams = geometric(self.config.datagrams, &mut self.draws.datagrams);
        }
        self.unsent = self.size.draw_octets(&mut self.draws.sizes);
        self.datagrams -= 1;
        let wait = if self.datagrams > 0 {
            exponential(self.config.interval, &mut self.draws.interval)
        } else {
            self.calls -= 1;
            if self.calls > 0 {
                exponential(self.config.reading, &mut self.draws.reading)
            } else {
                self.ended = Some(self.since);
                exponential(self.config.between_sessions, &mut self.draws.sessions)
            }
        };
        self.timer = Some(now + wait);
    }

    /// The packets of the datagram that is due, and the end of a session.
    pub fn poll_action(&mut self) -> Option<Action> {
        if self.unsent > 0 {
            let bytes = self.unsent.min(u64::from(self.config.packet)) as u32;
            self.unsent -= u64::from(bytes);
            return Some(Action::Send { end: self.sender, bytes });
        }
        self.ended.take().map(|since| Action::Report(Report::SessionEnded { since }))
    }

    /// When the next datagram is due.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.timer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_consist_of_calls_and_calls_of_datagrams() {
        let config = EtsiWwwConfig {
            calls: 5,
            reading: Duration::from_secs(412),
            datagrams: 25,
            interval: Duration::from_micros(62_500),
            between_sessions: Duration::from_secs(100),
            truncation: Truncation::Clip,
            packet: 1472,
        };
        let mut user = EtsiWww::new(&config, End::Server, FlowId(0), &Streams::new(1, 0));
        user.handle_start(Time::ZERO);
        let (mut sessions, mut length, mut bytes, mut datagrams) = (0u32, 0.0, 0u64, 0u32);
        while sessions < 2_000 {
            let now = user.poll_timeout().expect("it goes on for ever");
            user.handle_timeout(now);
            datagrams += 1;
            while let Some(action) = user.poll_action() {
                match action {
                    Action::Send { bytes: sent, .. } => {
                        assert!((1..=1472).contains(&sent));
                        bytes += u64::from(sent);
                    }
                    Action::Report(Report::SessionEnded { since }) => {
                        sessions += 1;
                        length += (now - since).as_secs();
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        // 125 datagrams a session; their number has a deviation of 123 and its mean of 2,000 a standard error of 2.7.
        let per_session = f64::from(datagrams) / 2_000.0;
        assert!((per_session - 125.0).abs() < 4.0 * 2.8, "{per_session}");
        // 479.7 bytes a datagram, with a deviation of 2,190 and 250,000 of them.
        let size = bytes as f64 / f64::from(datagrams);
        assert!((size - 479.7).abs() < 4.0 * 4.4, "{size}");
        // Four reading times and 120 intervals: 1,655.5 s, with a deviation of about 1,900.
        let mean = length / 2_000.0;
        assert!((mean - 1655.5).abs() < 4.0 * 43.0, "{mean}");
    }
}
