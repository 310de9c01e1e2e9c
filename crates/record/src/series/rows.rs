//! Tables with a row for each event.

use umts_stack::ids::{ConnectionId, Direction, FlowId};
use umts_stack::packet::Segment;
use umts_stack::trace::SendCause;
use umts_units::{Duration, Time};

use super::table::{columns, word};

columns! {
    /// Samples of round-trip times.
    Samples "rtt" {
        time_s: Float "s",
        connection: Id "",
        rtt_s: Float "s",
    }
}

impl Samples {
    pub fn push(&mut self, at: Time, connection: ConnectionId, rtt: Duration) {
        self.time_s.push(at.as_secs());
        self.connection.push(connection.0);
        self.rtt_s.push(rtt.as_secs());
    }
}

columns! {
    /// Segments sent.
    Sent "sent" {
        time_s: Float "s",
        connection: Id "",
        seq: Count "B",
        end: Count "B",
        retransmission: Flag "",
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

columns! {
    /// SDUs delivered by RLC.
    Delivered "rlc_delivered" {
        time_s: Float "s",
        ue: Id "",
        direction: Word "",
        octets: Count "B",
        delay_s: Float "s",
    }
}

impl Delivered {
    pub fn push(&mut self, at: Time, ue: u16, direction: Direction, octets: u64, entered: Time) {
        self.time_s.push(at.as_secs());
        self.ue.push(u32::from(ue));
        self.direction.push(word(direction));
        self.octets.push(octets);
        self.delay_s.push((at - entered).as_secs());
    }
}

columns! {
    /// Web pages that users got whole.
    Pages "pages" {
        time_s: Float "s",
        flow: Id "",
        page_time_s: Float "s",
    }
}

impl Pages {
    pub fn push(&mut self, at: Time, flow: FlowId, since: Time) {
        self.time_s.push(at.as_secs());
        self.flow.push(flow.0);
        self.page_time_s.push((at - since).as_secs());
    }
}

columns! {
    /// Blocks that acknowledgments report selectively.
    Sacked "sacked" {
        time_s: Float "s",
        connection: Id "",
        left: Count "B",
        right: Count "B",
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

columns! {
    /// Cumulative acknowledgments.
    Acked "acked" {
        time_s: Float "s",
        connection: Id "",
        ack: Count "B",
    }
}

impl Acked {
    pub fn push(&mut self, at: Time, connection: ConnectionId, ack: u64) {
        self.time_s.push(at.as_secs());
        self.connection.push(connection.0);
        self.ack.push(ack);
    }
}
