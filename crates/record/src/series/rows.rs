//! Time series with one row per event: samples of the round-trip time, segments sent, cumulative
//! and selective acknowledgments, dropped packets, deliveries of RLC, and web pages. [`row!`]
//! declares the name of the table, and each column with its unit.

use umts_stack::ids::{ConnectionId, Direction, FlowId};
use umts_stack::packet::Segment;
use umts_stack::trace::{DropPlace, SendCause};
use umts_units::{Duration, Time};

use super::table::{Rows, row};

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
            direction: direction.name(),
            octets,
            delay_s: (at - entered).as_secs(),
        }
    }
}

row! {
    /// A web page that a user received completely.
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
    /// A block that an acknowledgment reports selectively (SACK): the sequence numbers from `left`
    /// to before `right`.
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

row! {
    /// A packet of a connection that was dropped above RLC.
    Dropped "dropped" {
        time_s: Float "s",
        connection: Id "",
        kind: Word "",
        seq: Count "B",
        end: Count "B",
        place: Word "",
    }
}

impl Dropped {
    /// A segment of the data's sender (`is_data`) has its sequence numbers; an acknowledgment has
    /// the number that it acknowledges.
    pub fn new(at: Time, segment: &Segment, is_data: bool, place: DropPlace) -> Self {
        let (kind, seq, end) =
            if is_data { ("data", segment.seq, segment.end()) } else { ("ack", segment.ack, segment.ack) };
        let connection = segment.connection.0;
        Dropped { time_s: at.as_secs(), connection, kind, seq, end, place: place_name(place) }
    }
}

/// Place of a drop in tables.
fn place_name(place: DropPlace) -> &'static str {
    match place {
        DropPlace::LinkQueue(_) => "link_queue",
        DropPlace::LinkLoss(_) => "link_loss",
        DropPlace::LinkDown(_) => "link_down",
        DropPlace::Script => "script",
        DropPlace::RlcBuffer => "rlc_buffer",
        DropPlace::FlatLoss | DropPlace::ErroneousSdu | DropPlace::Checksum => "radio",
        DropPlace::ProxyDown | DropPlace::ProxyHidden => "proxy",
        DropPlace::NoConnection => "host",
    }
}
