//! Tables with a row for each event.

use umts_stack::ids::{ConnectionId, Direction};
use umts_stack::packet::Segment;
use umts_stack::trace::SendCause;
use umts_units::{Duration, Time};

use super::table::{Column, Recorded, Table, Values, table};

/// Samples of round-trip times.
#[derive(Debug, Default)]
pub(super) struct Samples {
    time_s: Vec<f64>,
    connection: Vec<u32>,
    rtt_s: Vec<f64>,
}

/// Segments sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    time_s: Vec<f64>,
    connection: Vec<u32>,
    seq: Vec<u64>,
    end: Vec<u64>,
    retransmission: Vec<bool>,
}

/// SDUs delivered by RLC.
#[derive(Debug, Default)]
pub(super) struct Delivered {
    time_s: Vec<f64>,
    ue: Vec<u32>,
    direction: Vec<&'static str>,
    octets: Vec<u64>,
}

/// Cumulative acknowledgments.
#[derive(Debug, Default)]
pub(super) struct Acked {
    time_s: Vec<f64>,
    connection: Vec<u32>,
    ack: Vec<u64>,
}

impl Samples {
    pub fn push(&mut self, at: Time, connection: ConnectionId, rtt: Duration) {
        self.time_s.push(at.as_secs());
        self.connection.push(connection.0);
        self.rtt_s.push(rtt.as_secs());
    }
}

impl Recorded for Samples {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        table("rtt", all.time_s, all.connection, ("rtt_s", "s", Values::Float(all.rtt_s)))
    }
}

impl Sent {
    pub fn push(&mut self, at: Time, segment: &Segment, cause: SendCause) {
        self.time_s.push(at.as_secs());
        self.connection.push(segment.connection.0);
        self.seq.push(segment.seq);
        self.end.push(segment.end());
        self.retransmission.push(cause.is_again());
    }
}

impl Recorded for Sent {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        let mut table = table("sent", all.time_s, all.connection, ("seq", "B", Values::Count(all.seq)));
        table.columns.push(Column { name: "end", unit: "B", values: Values::Count(all.end) });
        table.columns.push(Column {
            name: "retransmission",
            unit: "",
            values: Values::Flag(all.retransmission),
        });
        table
    }
}

impl Delivered {
    pub fn push(&mut self, at: Time, ue: u16, direction: Direction, octets: u64) {
        self.time_s.push(at.as_secs());
        self.ue.push(u32::from(ue));
        self.direction.push(if direction == Direction::Downlink { "downlink" } else { "uplink" });
        self.octets.push(octets);
    }
}

impl Recorded for Delivered {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        let column = |name, unit, values| Column { name, unit, values };
        let columns = vec![
            column("time_s", "s", Values::Float(all.time_s)),
            column("ue", "", Values::Id(all.ue)),
            column("direction", "", Values::Word(all.direction)),
            column("octets", "B", Values::Count(all.octets)),
        ];
        Table { name: "rlc_delivered", columns }
    }
}

impl Acked {
    pub fn push(&mut self, at: Time, connection: ConnectionId, ack: u64) {
        self.time_s.push(at.as_secs());
        self.connection.push(connection.0);
        self.ack.push(ack);
    }
}

impl Recorded for Acked {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        table("acked", all.time_s, all.connection, ("ack", "B", Values::Count(all.ack)))
    }
}
