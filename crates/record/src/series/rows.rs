//! Tables with a row for each event.

use umts_stack::ids::{ConnectionId, Direction, FlowId};
use umts_stack::packet::Segment;
use umts_stack::trace::SendCause;
use umts_units::{Duration, Time};

use super::table::{Rows, row, word};

row! {
    /// A sample of the round-trip time.
    Sample "rtt" {
        time_s: Float "s",
        connection: Id "",
        rtt_s: Float "s",
    }
}

impl Sample {
    pub fn new(at: Time, connection: ConnectionId, rtt: Duration) -> Self {
        Sample { time_s: at.as_secs(), connection: connection.0, rtt_s: rtt.as_secs() }
    }
}

row! {
    /// A segment sent.
    Sent "sent" {
        time_s: Float "s",
        connection: Id "",
        seq: Count "B",
        end: Count "B",
        retransmission: Flag "",
    }
}

impl Sent {
    pub fn new(at: Time, segment: &Segment, cause: SendCause) -> Self {
        Sent {
            time_s: at.as_secs(),
            connection: segment.connection.0,
            seq: segment.seq,
            end: segment.end(),
            retransmission: cause.is_again(),
        }
    }
}

row! {
    /// An SDU delivered by RLC.
    Delivered "rlc_delivered" {
        time_s: Float "s",
        ue: Id "",
        direction: Word "",
        octets: Count "B",
        delay_s: Float "s",
    }
}

impl Delivered {
    pub fn new(at: Time, ue: u16, direction: Direction, octets: u64, entered: Time) -> Self {
        Delivered {
            time_s: at.as_secs(),
            ue: u32::from(ue),
            direction: word(direction),
            octets,
            delay_s: (at - entered).as_secs(),
        }
    }
}

row! {
    /// A web page that a user got whole.
    Page "pages" {
        time_s: Float "s",
        flow: Id "",
        page_time_s: Float "s",
    }
}

impl Page {
    pub fn new(at: Time, flow: FlowId, since: Time) -> Self {
        Page { time_s: at.as_secs(), flow: flow.0, page_time_s: (at - since).as_secs() }
    }
}

row! {
    /// A block that an acknowledgment reports selectively.
    Sacked "sacked" {
        time_s: Float "s",
        connection: Id "",
        left: Count "B",
        right: Count "B",
    }
}

impl Rows<Sacked> {
    /// Adds a row for each block that `segment` reports.
    pub fn push_blocks(&mut self, at: Time, segment: &Segment) {
        for (left, right) in segment.sack.ranges(segment.ack) {
            self.push(Sacked { time_s: at.as_secs(), connection: segment.connection.0, left, right });
        }
    }
}

row! {
    /// A cumulative acknowledgment.
    Acked "acked" {
        time_s: Float "s",
        connection: Id "",
        ack: Count "B",
    }
}

impl Acked {
    pub fn new(at: Time, connection: ConnectionId, ack: u64) -> Self {
        Acked { time_s: at.as_secs(), connection: connection.0, ack }
    }
}
