//! Time series, recorded when something changes and not for each packet.
//!
//! | table | key | value |
//! |---|---|---|
//! | `cwnd`, `ssthresh` | connection | segments, as the congestion control has them |
//! | `outstanding` | connection | (highest payload byte sent - cumulative acknowledgment) / MSS |
//! | `srtt`, `rto` | connection | smoothed round-trip time and timeout |
//! | `rtt` | connection | each sample |
//! | `rrc_state` | UE | RRC state, and the state sought while the UE is switched |
//! | `cell` | cell | what is reserved: rates, DCHs, whether another fits |
//! | `rlc_buffer` | UE and direction | SDU octets in the sender's buffer |
//! | `rlc_delivered` | SDU | its octets, when it came up at the other end |
//! | `goodput` | connection | acknowledged payload per window of a constant grid |
//! | `sent`, `acked` | connection | sequence numbers, for the time-sequence diagram: a row per segment |
//!
//! All are about the sender of the connection's data. Rows are in the order of time, those of `goodput` of connection
//! and time: its windows begin at multiples of their length, and a connection has one for every window from its opening
//! to its closing, with zeros where nothing was acknowledged; `time_s` is the window's start. A window that the end of
//! the run cuts short is divided by what there is of it.

mod rrc;
mod steps;
mod table;

use umts_kernel::TraceSink;
use umts_stack::ids::{ConnectionId, Direction, End};
use umts_stack::packet::Segment;
use umts_stack::trace::{SendCause, TraceEvent};
use umts_units::{Duration, Time};

use steps::Steps;
pub use table::{Column, SeriesTables, Table, Values};

/// Payload starts here: number 0 is the SYN.
const FIRST_BYTE: u64 = 1;

/// What to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesConfig {
    /// Length of the goodput's windows, not zero.
    pub goodput_window: Duration,
    /// Whether to record `sent` and `acked`, which have a row per segment.
    pub time_sequence: bool,
}

impl Default for SeriesConfig {
    fn default() -> Self {
        SeriesConfig { goodput_window: Duration::from_secs(1), time_sequence: true }
    }
}

/// Records series. Memory grows with what is recorded.
#[derive(Debug)]
pub struct Series {
    config: SeriesConfig,
    connections: Vec<Option<Connection>>,
    cwnd: Steps,
    ssthresh: Steps,
    outstanding: Steps,
    srtt: Steps,
    rto: Steps,
    rlc_buffer: Steps,
    rlc_delivered: Delivered,
    states: rrc::States,
    reserved: rrc::Reserved,
    rtt: Samples,
    sent: Sent,
    acked: Acked,
}

#[derive(Debug)]
struct Connection {
    sender: End,
    mss: f64,
    highest_sent: u64,
    una: u64,
    /// Number of the window of the grid in which it opened, and the bytes acknowledged in that and the following.
    first_window: u64,
    acknowledged: Vec<u64>,
    closed: Option<Time>,
}

#[derive(Debug, Default)]
struct Samples {
    time_s: Vec<f64>,
    connection: Vec<u32>,
    rtt_s: Vec<f64>,
}

#[derive(Debug, Default)]
struct Sent {
    time_s: Vec<f64>,
    connection: Vec<u32>,
    seq: Vec<u64>,
    end: Vec<u64>,
    retransmission: Vec<bool>,
}

#[derive(Debug, Default)]
struct Delivered {
    time_s: Vec<f64>,
    ue: Vec<u32>,
    direction: Vec<&'static str>,
    octets: Vec<u64>,
}

#[derive(Debug, Default)]
struct Acked {
    time_s: Vec<f64>,
    connection: Vec<u32>,
    ack: Vec<u64>,
}

impl Series {
    /// Nothing has happened yet.
    ///
    /// # Panics
    /// If the goodput's windows have no length.
    pub fn new(config: SeriesConfig) -> Self {
        assert!(!config.goodput_window.is_zero(), "goodput needs windows with a length");
        Series {
            config,
            connections: Vec::new(),
            cwnd: Steps::default(),
            ssthresh: Steps::default(),
            outstanding: Steps::default(),
            srtt: Steps::default(),
            rto: Steps::default(),
            rlc_buffer: Steps::default(),
            rlc_delivered: Delivered::default(),
            states: rrc::States::default(),
            reserved: rrc::Reserved::default(),
            rtt: Samples::default(),
            sent: Sent::default(),
            acked: Acked::default(),
        }
    }

    /// The series of a run that ended at `end`.
    pub fn finish(self, end: Time) -> SeriesTables {
        let goodput = self.goodput(end);
        let steps =
            |name, steps: Steps, value| Table { name, columns: steps.into_columns("connection", value) };
        let tables = vec![
            steps("cwnd", self.cwnd, ("cwnd_segments", "segments")),
            steps("ssthresh", self.ssthresh, ("ssthresh_segments", "segments")),
            steps("outstanding", self.outstanding, ("outstanding_segments", "segments")),
            steps("srtt", self.srtt, ("srtt_s", "s")),
            steps("rto", self.rto, ("rto_s", "s")),
            self.rtt.into_table(),
            rlc_buffer(self.rlc_buffer),
            self.rlc_delivered.into_table(),
            self.states.into_table(),
            self.reserved.into_table(),
            goodput,
            self.sent.into_table(),
            self.acked.into_table(),
        ];
        SeriesTables { tables }
    }

    fn opened(&mut self, at: Time, id: ConnectionId, sender: End, mss: u32) {
        if id.index() >= self.connections.len() {
            self.connections.resize_with(id.index() + 1, || None);
        }
        self.connections[id.index()] = Some(Connection {
            sender,
            mss: f64::from(mss.max(1)),
            highest_sent: FIRST_BYTE,
            una: FIRST_BYTE,
            first_window: at.as_nanos() / self.config.goodput_window.as_nanos(),
            acknowledged: vec![0],
            closed: None,
        });
    }

    fn sent(&mut self, at: Time, segment: &Segment, cause: SendCause) {
        let id = segment.connection;
        let Some(connection) = self.sender(id, End::sending(segment.direction)) else { return };
        if segment.sequence_length() == 0 {
            return;
        }
        if segment.payload > 0 {
            connection.highest_sent = connection.highest_sent.max(segment.seq + u64::from(segment.payload));
            let outstanding = connection.outstanding();
            self.outstanding.set(at, id.index(), outstanding);
        }
        if self.config.time_sequence {
            self.sent.push(at, segment, cause);
        }
    }

    fn acked(&mut self, at: Time, id: ConnectionId, end: End, una: u64, payload: u64) {
        let window = at.as_nanos() / self.config.goodput_window.as_nanos();
        let Some(connection) = self.sender(id, end) else { return };
        connection.una = connection.una.max(una);
        connection.acknowledge(window, payload);
        let outstanding = connection.outstanding();
        self.outstanding.set(at, id.index(), outstanding);
        if self.config.time_sequence {
            self.acked.push(at, id, una);
        }
    }

    /// The connection, if `end` is the sender of its data.
    fn sender(&mut self, id: ConnectionId, end: End) -> Option<&mut Connection> {
        self.connections.get_mut(id.index())?.as_mut().filter(|connection| connection.sender == end)
    }

    fn goodput(&self, end: Time) -> Table {
        let (mut time_s, mut id, mut rate) = (Vec::new(), Vec::new(), Vec::new());
        let length = self.config.goodput_window;
        for (number, connection) in self.connections.iter().enumerate() {
            let Some(connection) = connection else { continue };
            let closed = connection.closed.unwrap_or(end).min(end);
            for window in connection.first_window..=closed.as_nanos() / length.as_nanos() {
                let start = Time::from_nanos(window * length.as_nanos());
                let measured = end.saturating_since(start).min(length);
                if measured.is_zero() {
                    continue;
                }
                let bytes = connection.acknowledged.get((window - connection.first_window) as usize);
                time_s.push(start.as_secs());
                id.push(number as u32);
                rate.push(bytes.copied().unwrap_or(0) as f64 * 8.0 / 1e3 / measured.as_secs());
            }
        }
        table("goodput", time_s, id, ("goodput_kbps", "kbit/s", Values::Float(rate)))
    }
}

impl TraceSink<TraceEvent> for Series {
    fn record(&mut self, at: Time, event: &TraceEvent) {
        match *event {
            TraceEvent::ConnectionOpened { connection, sender, mss, .. } => {
                self.opened(at, connection, sender, mss);
            }
            TraceEvent::ConnectionClosed { connection } => {
                if let Some(Some(connection)) = self.connections.get_mut(connection.index()) {
                    connection.closed = Some(at);
                }
            }
            TraceEvent::SegmentSent { ref segment, cause, .. } => self.sent(at, segment, cause),
            TraceEvent::Acked { connection, end, una, payload } => {
                self.acked(at, connection, end, una, payload)
            }
            TraceEvent::Window { connection, end, cwnd, ssthresh }
                if self.sender(connection, end).is_some() =>
            {
                self.cwnd.set(at, connection.index(), cwnd);
                self.ssthresh.set(at, connection.index(), ssthresh);
            }
            TraceEvent::RtoUpdated { connection, end, srtt, rto }
                if self.sender(connection, end).is_some() =>
            {
                self.srtt.set(at, connection.index(), srtt.as_secs());
                self.rto.set(at, connection.index(), rto.as_secs());
            }
            TraceEvent::RttSample { connection, end, rtt } if self.sender(connection, end).is_some() => {
                self.rtt.push(at, connection, rtt);
            }
            TraceEvent::RrcState { ue, state } => self.states.push(at, ue, state, None),
            TraceEvent::RrcSwitch { ue, from, to, .. } => self.states.push(at, ue, from, Some(to)),
            TraceEvent::CellReserved { cell, rates, dchs, is_full } => {
                self.reserved.push(at, cell, rates, dchs, is_full);
            }
            TraceEvent::RlcBuffer { ue, direction, octets } => {
                self.rlc_buffer.set(at, 2 * ue.index() + direction.index(), octets as f64);
            }
            TraceEvent::SduDelivered { ue, direction, size, .. } => {
                self.rlc_delivered.push(at, ue.0, direction, size.0);
            }
            _ => {}
        }
    }
}

impl Connection {
    fn outstanding(&self) -> f64 {
        self.highest_sent.saturating_sub(self.una) as f64 / self.mss
    }

    fn acknowledge(&mut self, window: u64, payload: u64) {
        let window = (window - self.first_window) as usize;
        if window >= self.acknowledged.len() {
            self.acknowledged.resize(window + 1, 0);
        }
        self.acknowledged[window] += payload;
    }
}

impl Samples {
    fn push(&mut self, at: Time, connection: ConnectionId, rtt: Duration) {
        self.time_s.push(at.as_secs());
        self.connection.push(connection.0);
        self.rtt_s.push(rtt.as_secs());
    }

    fn into_table(self) -> Table {
        table("rtt", self.time_s, self.connection, ("rtt_s", "s", Values::Float(self.rtt_s)))
    }
}

impl Sent {
    fn push(&mut self, at: Time, segment: &Segment, cause: SendCause) {
        self.time_s.push(at.as_secs());
        self.connection.push(segment.connection.0);
        self.seq.push(segment.seq);
        self.end.push(segment.end());
        self.retransmission.push(matches!(cause, SendCause::DupAck | SendCause::Rto));
    }

    fn into_table(self) -> Table {
        let mut table = table("sent", self.time_s, self.connection, ("seq", "B", Values::Count(self.seq)));
        table.columns.push(Column { name: "end", unit: "B", values: Values::Count(self.end) });
        table.columns.push(Column {
            name: "retransmission",
            unit: "",
            values: Values::Flag(self.retransmission),
        });
        table
    }
}

impl Delivered {
    fn push(&mut self, at: Time, ue: u16, direction: Direction, octets: u64) {
        self.time_s.push(at.as_secs());
        self.ue.push(u32::from(ue));
        self.direction.push(if direction == Direction::Downlink { "downlink" } else { "uplink" });
        self.octets.push(octets);
    }

    fn into_table(self) -> Table {
        let column = |name, unit, values| Column { name, unit, values };
        let columns = vec![
            column("time_s", "s", Values::Float(self.time_s)),
            column("ue", "", Values::Id(self.ue)),
            column("direction", "", Values::Word(self.direction)),
            column("octets", "B", Values::Count(self.octets)),
        ];
        Table { name: "rlc_delivered", columns }
    }
}

impl Acked {
    fn push(&mut self, at: Time, connection: ConnectionId, ack: u64) {
        self.time_s.push(at.as_secs());
        self.connection.push(connection.0);
        self.ack.push(ack);
    }

    fn into_table(self) -> Table {
        table("acked", self.time_s, self.connection, ("ack", "B", Values::Count(self.ack)))
    }
}

fn table(
    name: &'static str,
    time_s: Vec<f64>,
    connection: Vec<u32>,
    (column, unit, values): (&'static str, &'static str, Values),
) -> Table {
    let columns = vec![
        Column { name: "time_s", unit: "s", values: Values::Float(time_s) },
        Column { name: "connection", unit: "", values: Values::Id(connection) },
        Column { name: column, unit, values },
    ];
    Table { name, columns }
}

/// Its key is twice the UE's number, plus one for the uplink.
fn rlc_buffer(steps: Steps) -> Table {
    let mut columns = steps.into_columns("ue", ("octets", "B"));
    if let Values::Id(keys) = &mut columns[1].values {
        let word = |key: &u32| if key.is_multiple_of(2) { "downlink" } else { "uplink" };
        let directions = keys.iter().map(word).collect();
        keys.iter_mut().for_each(|key| *key /= 2);
        columns.insert(2, Column { name: "direction", unit: "", values: Values::Word(directions) });
    }
    Table { name: "rlc_buffer", columns }
}

#[cfg(test)]
mod tests;
