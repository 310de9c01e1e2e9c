//! Tables with a row for each event.

use umts_stack::ids::{ConnectionId, Direction, FlowId};
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
    delay_s: Vec<f64>,
}

/// Web pages that users got whole.
#[derive(Debug, Default)]
pub(super) struct Pages {
    time_s: Vec<f64>,
    flow: Vec<u32>,
    page_time_s: Vec<f64>,
}

/// Blocks that acknowledgments report selectively.
#[derive(Debug, Default)]
pub(super) struct Sacked {
    time_s: Vec<f64>,
    connection: Vec<u32>,
    left: Vec<u64>,
    right: Vec<u64>,
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
        table.columns.push(Column::new("end", "B", Values::Count(all.end)));
        table.columns.push(Column::new("retransmission", "", Values::Flag(all.retransmission)));
        table
    }
}

impl Delivered {
    pub fn push(&mut self, at: Time, ue: u16, direction: Direction, octets: u64, entered: Time) {
        self.time_s.push(at.as_secs());
        self.ue.push(u32::from(ue));
        self.direction.push(if direction == Direction::Downlink { "downlink" } else { "uplink" });
        self.octets.push(octets);
        self.delay_s.push((at - entered).as_secs());
    }
}

impl Recorded for Delivered {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        let columns = vec![
            Column::new("time_s", "s", Values::Float(all.time_s)),
            Column::new("ue", "", Values::Id(all.ue)),
            Column::new("direction", "", Values::Word(all.direction)),
            Column::new("octets", "B", Values::Count(all.octets)),
            Column::new("delay_s", "s", Values::Float(all.delay_s)),
        ];
        Table { name: "rlc_delivered", columns }
    }
}

impl Pages {
    pub fn push(&mut self, at: Time, flow: FlowId, since: Time) {
        self.time_s.push(at.as_secs());
        self.flow.push(flow.0);
        self.page_time_s.push((at - since).as_secs());
    }
}

impl Recorded for Pages {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        let columns = vec![
            Column::new("time_s", "s", Values::Float(all.time_s)),
            Column::new("flow", "", Values::Id(all.flow)),
            Column::new("page_time_s", "s", Values::Float(all.page_time_s)),
        ];
        Table { name: "pages", columns }
    }
}

impl Sacked {
    pub fn push(&mut self, at: Time, segment: &Segment) {
        for (left, right) in segment.sack.ranges(segment.ack) {
            self.time_s.push(at.as_secs());
            self.connection.push(segment.connection.0);
            self.left.push(left);
            self.right.push(right);
        }
    }
}

impl Recorded for Sacked {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        let mut table = table("sacked", all.time_s, all.connection, ("left", "B", Values::Count(all.left)));
        table.columns.push(Column::new("right", "B", Values::Count(all.right)));
        table
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
