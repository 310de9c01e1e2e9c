//! Replays recorded traffic: a given number of bytes at given times, in either direction.

use std::sync::Arc;

use umts_units::{Duration, Time};

use super::{Action, ConnectionIndex};
use crate::ids::{Direction, End};
#[cfg(feature = "schema")]
use crate::options::OrNone;
use crate::tcp::TcpEvent;

/// Replay of a recording.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields), schemars(rename = "Replay"))]
pub struct ReplayConfig {
    /// Text file, relative to the folder of the scenario file. Each line is `TIME BYTES DIRECTION`,
    /// as in `0.125 1460 down`: time in seconds since the flow's start, direction `down` or `up`.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "Recording")))]
    pub file: String,
    /// Transport of the recording: UDP datagrams, or one TCP connection, opened by the sender of
    /// the flow's direction.
    #[cfg_attr(feature = "schema", serde(default), schemars(extend("x-label" = "Transport of the recording")))]
    pub transport: Transport,
    /// Pause between the last line and the start of a repetition of the recording. `"none"`: no
    /// repetition.
    #[cfg_attr(feature = "schema", serde(default, with = "OrNone::<Duration>"), schemars(extend("x-label" = "Repetition of the recording after", "x-min" = "1 us", "x-max" = "1000 h")))]
    pub repeat_after: Option<Duration>,
    /// Content of the file. Filled in by the loader, and never empty in a loaded scenario.
    #[cfg_attr(feature = "schema", serde(skip))]
    pub records: Arc<[Record]>,
}

/// Transport of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Transport {
    /// One datagram per line.
    #[default]
    Udp,
    /// One connection, with one write per line.
    Tcp,
}

/// A line of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Time since the start of the flow.
    pub at: Duration,
    /// Payload in bytes.
    pub bytes: u32,
    pub direction: Direction,
}

/// The replay of a flow.
#[derive(Debug)]
pub struct Replay {
    config: ReplayConfig,
    /// The end that opens the connection.
    sender: End,
    /// Start of the flow, or of the current repetition.
    start: Time,
    /// Index of the next record to send.
    next: usize,
    /// Records below this index are due.
    due: usize,
    step: Step,
    /// The end that must close its direction, because `sender` has closed.
    answer_close: Option<End>,
}

/// The progress of the replay.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Before the start of the flow.
    Waiting,
    /// The connection must be opened.
    Open,
    /// Records are sent when they are due.
    Running,
    /// The connection must be closed.
    Close,
    Done,
}

/// The only connection of the flow.
const CONNECTION: ConnectionIndex = ConnectionIndex(0);

impl Replay {
    /// Creates a replay. `sender` opens its connection.
    pub fn new(config: &ReplayConfig, sender: End) -> Self {
        Replay {
            config: config.clone(),
            sender,
            start: Time::ZERO,
            next: 0,
            due: 0,
            step: Step::Waiting,
            answer_close: None,
        }
    }

    pub fn handle_start(&mut self, now: Time) {
        self.start = now;
        self.step = match self.config.transport {
            Transport::Udp => Step::Running,
            Transport::Tcp => Step::Open,
        };
        self.handle_timeout(now);
    }

    /// Marks all records up to `now` as due.
    pub fn handle_timeout(&mut self, now: Time) {
        let records = &self.config.records;
        while self.due < records.len() && self.start + records[self.due].at <= now {
            self.due += 1;
        }
    }

    /// The other end closes after `sender` has closed.
    pub fn handle_event(&mut self, end: End, event: TcpEvent) {
        if event == TcpEvent::PeerClosed && end != self.sender {
            self.answer_close = Some(end);
        }
    }

    pub fn poll_action(&mut self) -> Option<Action> {
        let connection = CONNECTION;
        if let Some(end) = self.answer_close.take() {
            return Some(Action::Close { connection, end });
        }
        match self.step {
            Step::Open => {
                self.step = Step::Running;
                Some(Action::Open { connection, end: self.sender, segment_payload: None })
            }
            Step::Running if self.next < self.due => Some(self.send()),
            Step::Close => {
                self.step = Step::Done;
                Some(Action::Close { connection, end: self.sender })
            }
            Step::Running | Step::Waiting | Step::Done => None,
        }
    }

    /// Returns the time of the next record.
    pub fn poll_timeout(&self) -> Option<Time> {
        let record = self.config.records.get(self.due)?;
        (self.step != Step::Done).then_some(self.start + record.at)
    }

    /// Returns the action of the next record. After the last record the recording is repeated or
    /// ends.
    fn send(&mut self) -> Action {
        let Record { at, bytes, direction } = self.config.records[self.next];
        self.next += 1;
        let is_last = self.next == self.config.records.len();
        if is_last {
            self.repeat_or_end(at);
        }
        let end = End::sending(direction);
        match self.config.transport {
            Transport::Udp => Action::Send { end, bytes },
            Transport::Tcp => Action::Write { connection: CONNECTION, end, bytes: u64::from(bytes) },
        }
    }

    /// Begins the repetition of the recording, or ends the replay. `last_at`: time of the last
    /// record since the start.
    fn repeat_or_end(&mut self, last_at: Duration) {
        if let Some(pause) = self.config.repeat_after {
            self.start = self.start + last_at + pause;
            self.next = 0;
            self.due = 0;
            return;
        }
        self.step = match self.config.transport {
            Transport::Udp => Step::Done,
            Transport::Tcp => Step::Close,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_REPETITION: Option<Duration> = None;
    /// At least as many actions as one run of the recording has, and fewer than two runs have.
    const MAX_ACTIONS: usize = 5;

    fn record(ms: u64, bytes: u32, direction: Direction) -> Record {
        Record { at: Duration::from_millis(ms), bytes, direction }
    }

    /// Replays three records at 0, 5 and 5 ms after the flow's start at 100 ms, at most up to
    /// `MAX_ACTIONS` actions. Returns the time of each action in ms, and the action.
    fn replay(transport: Transport, repeat_after: Option<Duration>) -> Vec<(u64, Action)> {
        use Direction::{Downlink, Uplink};
        let records = [record(0, 10, Downlink), record(5, 20, Uplink), record(5, 30, Downlink)].into();
        let config = ReplayConfig { file: String::new(), transport, repeat_after, records };
        let mut replay = Replay::new(&config, End::Server);
        let mut now = Time::ZERO + Duration::from_millis(100);
        replay.handle_start(now);
        let mut actions = Vec::new();
        loop {
            while let Some(action) = replay.poll_action() {
                actions.push((now.as_nanos() / 1_000_000, action));
            }
            match replay.poll_timeout() {
                Some(at) if actions.len() < MAX_ACTIONS => now = at,
                _ => return actions,
            }
            replay.handle_timeout(now);
        }
    }

    #[test]
    fn datagrams_are_sent_once_at_their_recorded_times() {
        let send = |end, bytes| Action::Send { end, bytes };
        let once = [(100, send(End::Server, 10)), (105, send(End::Ue, 20)), (105, send(End::Server, 30))];
        assert_eq!(replay(Transport::Udp, NO_REPETITION), once);
        let repeated = replay(Transport::Udp, Some(Duration::from_millis(45)));
        assert_eq!(repeated[..3], once);
        // The second run begins 45 ms after the last record, at 105 + 45 = 150 ms.
        assert_eq!(repeated[3..5], [(150, send(End::Server, 10)), (155, send(End::Ue, 20))]);
    }

    #[test]
    fn tcp_replay_opens_writes_at_both_ends_and_closes() {
        let (connection, end) = (CONNECTION, End::Server);
        let expected = [
            (100, Action::Open { connection, end, segment_payload: None }),
            (100, Action::Write { connection, end, bytes: 10 }),
            (105, Action::Write { connection, end: End::Ue, bytes: 20 }),
            (105, Action::Write { connection, end, bytes: 30 }),
            (105, Action::Close { connection, end }),
        ];
        assert_eq!(replay(Transport::Tcp, NO_REPETITION), expected);
    }
}
