//! Records one connection at full resolution, as the table `waterfall` for a figure with one time
//! axis: its segments, the RLC PDUs of its user with the places of losses, and RRC states. If a
//! proxy splits its transfer into two connections, records both and the buffer between them.

use std::collections::VecDeque;

use umts_stack::detail::{Detail, Stage};
use umts_stack::ids::{ConnectionId, Direction, PacketId, ProxyLeg, UeId};
use umts_stack::packet::Segment;
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::{BlockSet, Pdu};
use umts_stack::trace::{DropPlace, SendCause, TraceEvent};
use umts_units::Time;

use super::loss::Loss;
use crate::series::{Column, Table, Values};

/// The recording of one connection.
#[derive(Debug)]
pub(super) struct Waterfall {
    /// The requested connection.
    connection: ConnectionId,
    /// The recorded connection, or both connections of its transfer.
    recorded: Vec<RecordedConnection>,
    /// The transfer of the connection, if a proxy splits it.
    transfer: Option<ConnectionId>,
    /// The proxy's buffers for this transfer, by direction.
    buffers: [Option<Buffer>; 2],
    /// The UE of the connection, while the connection is open.
    ue: Option<UeId>,
    rows: Vec<Row>,
    segments: Vec<SegmentInTransit>,
    /// Block sets on the way, by direction.
    sets: [VecDeque<SetInTransit>; 2],
    /// RRC state, or switch, of each user.
    states: Vec<Option<State>>,
}

/// Last known state of a proxy's buffer in one direction.
#[derive(Debug, Clone, Copy)]
struct Buffer {
    since: Time,
    octets: u64,
    is_full: bool,
}

/// A recorded connection.
#[derive(Debug, Clone, Copy)]
struct RecordedConnection {
    id: ConnectionId,
    layer: &'static str,
    is_open: bool,
}

/// A segment on the way.
#[derive(Debug)]
struct SegmentInTransit {
    packet: PacketId,
    /// Index of its row in `rows`.
    row: usize,
}

/// A block set on the way.
#[derive(Debug)]
struct SetInTransit {
    serial: u64,
    left_at: Time,
}

/// Current RRC state of a user, or `switch`.
#[derive(Debug, Clone, Copy)]
struct State {
    name: &'static str,
    since: Time,
}

/// A bar or a mark of the figure.
#[derive(Debug, Clone, Copy)]
struct Row {
    start: Time,
    /// `None` if the segment was still on its way at the end of the recording.
    end: Option<Time>,
    /// Orders block sets that left at the same time: serial of the set, or zero.
    serial: u64,
    layer: &'static str,
    /// Empty for RRC states.
    direction: &'static str,
    kind: &'static str,
    /// First and last sequence number of a segment or of PDUs. For a buffer of a proxy, both are the
    /// octets in the buffer.
    first: u64,
    last: u64,
    /// Place of the loss, or [`NOT_LOST`].
    lost_at: &'static str,
}

impl Row {
    /// A row without subject, numbers and loss.
    fn between(start: Time, end: Time) -> Self {
        Row {
            start,
            end: Some(end),
            serial: 0,
            layer: "",
            direction: "",
            kind: "",
            first: 0,
            last: 0,
            lost_at: NOT_LOST,
        }
    }
}

// Values of `lost_at`.
/// The row is not lost, or not yet.
const NOT_LOST: &str = "";
const AIR: &str = "air";
const NODEB_QUEUE: &str = "nodeb_queue";
const RLC: &str = "rlc";

impl Waterfall {
    /// Records this connection, which opens later.
    pub fn new(connection: ConnectionId, ues: usize) -> Self {
        Waterfall {
            connection,
            recorded: Vec::new(),
            transfer: None,
            buffers: [None; 2],
            ue: None,
            rows: Vec::new(),
            segments: Vec::new(),
            sets: [VecDeque::new(), VecDeque::new()],
            states: vec![None; ues],
        }
    }

    pub fn record(&mut self, now: Time, event: &TraceEvent) {
        match event {
            TraceEvent::RrcState { ue, state } => self.set_state(now, *ue, state.name()),
            TraceEvent::RrcSwitch { ue, .. } => self.set_state(now, *ue, "switch"),
            TraceEvent::ConnectionOpened { connection, transfer, leg, ue, .. }
                if self.is_recorded(*connection, *transfer, *leg) =>
            {
                self.opened(now, *connection, *transfer, *leg, *ue);
            }
            TraceEvent::ConnectionClosed { connection } | TraceEvent::ConnectionFailed { connection, .. }
                if self.layer(*connection).is_some() =>
            {
                self.closed(now, *connection);
            }
            TraceEvent::SegmentSent { packet, segment, cause } => {
                if let Some(layer) = self.layer(segment.connection) {
                    self.sent(now, layer, *packet, segment, *cause);
                }
            }
            TraceEvent::SegmentReceived { packet, segment, .. }
                if self.layer(segment.connection).is_some() =>
            {
                self.arrived(now, *packet, NOT_LOST);
            }
            TraceEvent::ProxyBuffer { transfer, direction, octets, is_full }
                if self.transfer == Some(*transfer) =>
            {
                let buffer = Buffer { since: now, octets: *octets, is_full: *is_full };
                self.set_buffer(now, *direction, Some(buffer));
            }
            TraceEvent::PacketDropped { place, packet } => self.arrived(now, packet.id, lost_at(*place)),
            TraceEvent::SduDiscarded { sdu, .. } => self.arrived(now, *sdu, RLC),
            TraceEvent::RtoExpired { connection, end, .. } => {
                if let Some(layer) = self.layer(*connection) {
                    let direction = end.sends().name();
                    self.rows.push(Row { layer, direction, kind: "rto", ..Row::between(now, now) });
                }
            }
            _ => {}
        }
    }

    /// Whether to record a connection: the requested one, or the other connection of its transfer.
    /// The two connections of a transfer have the number of the transfer and the next number.
    fn is_recorded(&self, connection: ConnectionId, transfer: ConnectionId, leg: ProxyLeg) -> bool {
        let is_requested = connection == self.connection;
        let both_legs = transfer.0..=transfer.0 + 1;
        let is_of_requested_transfer = leg != ProxyLeg::Whole && both_legs.contains(&self.connection.0);
        is_requested || is_of_requested_transfer
    }

    fn opened(
        &mut self,
        now: Time,
        connection: ConnectionId,
        transfer: ConnectionId,
        leg: ProxyLeg,
        ue: UeId,
    ) {
        let layer = match leg {
            ProxyLeg::Whole => "tcp",
            ProxyLeg::Server => "tcp_server",
            ProxyLeg::Radio => "tcp_radio",
        };
        self.transfer = (leg != ProxyLeg::Whole).then_some(transfer);
        self.recorded.push(RecordedConnection { id: connection, layer, is_open: true });
        self.ue = Some(ue);
        if let Some(Some(state)) = self.states.get_mut(ue.index()) {
            state.since = now;
        }
    }

    /// A recorded connection closed. The recording ends with the last of them.
    fn closed(&mut self, now: Time, connection: ConnectionId) {
        for recorded in self.recorded.iter_mut().filter(|recorded| recorded.id == connection) {
            recorded.is_open = false;
        }
        if !self.recorded.iter().any(|recorded| recorded.is_open) {
            self.end(now);
        }
    }

    /// Layer of a recorded connection, also after its end: late segments are recorded.
    #[inline]
    fn layer(&self, connection: ConnectionId) -> Option<&'static str> {
        self.recorded.iter().find(|recorded| recorded.id == connection).map(|recorded| recorded.layer)
    }

    /// Sets the proxy's buffer in this direction, `None` at the end. Adds a row for its previous
    /// state.
    fn set_buffer(&mut self, now: Time, direction: Direction, next: Option<Buffer>) {
        let previous = std::mem::replace(&mut self.buffers[direction.index()], next);
        if let Some(Buffer { since, octets, is_full }) = previous.filter(|previous| previous.octets > 0) {
            let kind = if is_full { "full" } else { "buffer" };
            self.rows.push(Row {
                layer: "proxy",
                direction: direction.name(),
                kind,
                first: octets,
                last: octets,
                ..Row::between(since, now)
            });
        }
    }

    pub fn show(&mut self, now: Time, detail: &Detail<'_>) {
        let Detail::Blocks { ue, direction, set, stage, .. } = detail else { return };
        if self.ue != Some(*ue) {
            return;
        }
        match stage {
            Stage::Leaves => {
                self.sets[direction.index()].push_back(SetInTransit { serial: set.serial, left_at: now });
            }
            Stage::OnAir => {}
            Stage::Dropped => self.push_blocks(now, *direction, set, Lost::all(set.blocks), NODEB_QUEUE),
            Stage::Arrives(lost) => self.push_blocks(now, *direction, set, *lost, AIR),
        }
    }

    /// A user enters an RRC state, or a switch. Adds a row for the previous one of the recorded
    /// user.
    fn set_state(&mut self, now: Time, ue: UeId, name: &'static str) {
        let Some(current) = self.states.get_mut(ue.index()) else { return };
        let previous = current.replace(State { name, since: now });
        if self.ue == Some(ue)
            && let Some(state) = previous
        {
            self.push_state(state, now);
        }
    }

    fn push_state(&mut self, state: State, end: Time) {
        self.rows.push(Row { layer: "rrc", kind: state.name, ..Row::between(state.since, end) });
    }

    /// Ends the recording, when the last recorded connection closes or the run ends.
    fn end(&mut self, now: Time) {
        for direction in Direction::BOTH {
            self.set_buffer(now, direction, None);
        }
        let Some(ue) = self.ue.take() else { return };
        if let Some(Some(state)) = self.states.get(ue.index()).copied() {
            self.push_state(state, now);
        }
    }

    /// A segment left its host. Its row ends when the segment arrives or is lost.
    fn sent(
        &mut self,
        now: Time,
        layer: &'static str,
        packet: PacketId,
        segment: &Segment,
        cause: SendCause,
    ) {
        let kind = match cause {
            _ if segment.flags.syn => "syn",
            SendCause::Ack | SendCause::WindowProbe | SendCause::KeepAlive => "ack",
            SendCause::Reset => "reset",
            SendCause::DupAck | SendCause::Rto | SendCause::TailLoss => "retransmission",
            SendCause::New if segment.payload == 0 => "fin",
            SendCause::New => "segment",
        };
        let (first, last) = match kind {
            "ack" => (segment.ack, segment.ack),
            _ => (segment.seq, segment.end()),
        };
        self.segments.push(SegmentInTransit { packet, row: self.rows.len() });
        let direction = segment.direction.name();
        let row = Row { layer, direction, kind, first, last, ..Row::between(now, now) };
        self.rows.push(Row { end: None, ..row });
    }

    /// A segment arrived, or was lost. A lost segment stays in transit, because a segment that RLC
    /// discarded may still arrive.
    fn arrived(&mut self, now: Time, packet: PacketId, lost_at: &'static str) {
        let Some(at) = self.segments.iter().position(|segment| segment.packet == packet) else { return };
        let row = &mut self.rows[self.segments[at].row];
        (row.end, row.lost_at) = (Some(now), lost_at);
        if lost_at == NOT_LOST {
            self.segments.remove(at);
        }
    }

    /// A packet was lost on a radio without repair, or by a reset of RLC.
    pub fn lost(&mut self, now: Time, packet: PacketId, loss: Loss) {
        let place = match loss {
            Loss::NodebDrop => NODEB_QUEUE,
            Loss::RadioLoss => AIR,
            _ => RLC,
        };
        self.arrived(now, packet, place);
    }

    /// Adds rows for a block set that arrived, except the blocks in `lost`, which were lost at
    /// `place`. Successive PDUs with the same fate share a row.
    fn push_blocks(
        &mut self,
        now: Time,
        direction: Direction,
        set: &BlockSet,
        lost: Lost,
        place: &'static str,
    ) {
        let Some(left_at) = self.take_departure(direction, set.serial) else { return };
        let mut first_block = 0;
        for pdu in &set.pdus {
            let (kind, first_sn) = match pdu {
                Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) => {
                    let kind = if run.retransmission { "pdu_again" } else { "pdu" };
                    (kind, u64::from(run.first.value()))
                }
                Pdu::Status(_) => ("status", 0),
                Pdu::Reset(_) | Pdu::ResetAck(_) => ("reset", 0),
            };
            let row = Row {
                layer: "rlc",
                direction: direction.name(),
                kind,
                serial: set.serial,
                ..Row::between(left_at, now)
            };
            let first_row = self.rows.len();
            for offset in 0..pdu.blocks() {
                let sn = first_sn + u64::from(offset);
                let lost_at = if lost.contains(first_block + offset) { place } else { NOT_LOST };
                match self.rows[first_row..].last_mut() {
                    Some(row) if row.lost_at == lost_at => row.last = sn,
                    _ => self.rows.push(Row { first: sn, last: sn, lost_at, ..row }),
                }
            }
            first_block += pdu.blocks();
        }
    }

    /// Returns the time at which a block set left RLC, and forgets the set. `None` if the set left
    /// before the recording.
    fn take_departure(&mut self, direction: Direction, serial: u64) -> Option<Time> {
        let sets = &mut self.sets[direction.index()];
        let at = sets.iter().position(|in_transit| in_transit.serial == serial)?;
        sets.remove(at).map(|in_transit| in_transit.left_at)
    }

    /// The table `waterfall` of a run that ended at `end`, ordered by start.
    pub fn finish(mut self, end: Time) -> Table {
        self.end(end);
        self.rows.sort_by_key(|row| (row.start, row.serial));
        let rows = &self.rows;
        let words = |column: &dyn Fn(&Row) -> &'static str| Values::Word(rows.iter().map(column).collect());
        let starts = Values::Float(rows.iter().map(|row| row.start.as_secs()).collect());
        let ends = Values::OptionalFloat(rows.iter().map(|row| row.end.map(Time::as_secs)).collect());
        let counts = |column: &dyn Fn(&Row) -> u64| Values::Count(rows.iter().map(column).collect());
        let columns = vec![
            Column::new("time_s", "s", starts),
            Column::new("end_s", "s", ends),
            Column::new("layer", "", words(&|row| row.layer)),
            Column::new("direction", "", words(&|row| row.direction)),
            Column::new("what", "", words(&|row| row.kind)),
            Column::new("first", "", counts(&|row| row.first)),
            Column::new("last", "", counts(&|row| row.last)),
            Column::new("lost", "", Values::Flag(rows.iter().map(|row| row.lost_at != NOT_LOST).collect())),
            Column::new("lost_at", "", words(&|row| row.lost_at)),
        ];
        Table { name: "waterfall", columns }
    }
}

/// Value of the column `lost_at` for a packet dropped at `place`.
fn lost_at(place: DropPlace) -> &'static str {
    match place {
        DropPlace::LinkQueue(_) | DropPlace::LinkLoss(_) | DropPlace::LinkDown(_) | DropPlace::Script => {
            "core_network"
        }
        DropPlace::RlcBuffer => "rlc_buffer",
        DropPlace::FlatLoss | DropPlace::ErroneousSdu | DropPlace::Checksum => AIR,
        DropPlace::NoConnection | DropPlace::ProxyDown | DropPlace::ProxyHidden => "host",
    }
}
