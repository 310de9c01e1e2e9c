//! Writes the rows of the timeline about TCP: segments, retransmission timers, and events of
//! connections such as duplicate acknowledgments.
//!
//! The timer is derived from the segments according to RFC 6298 §5: it starts with the first
//! unacknowledged segment, restarts with an acknowledgment of new data, and stops when all data is
//! acknowledged.

use std::collections::BTreeMap;

use umts_stack::ids::{ConnectionId, End, PacketId, UeId};
use umts_stack::packet::Segment;
use umts_stack::trace::{SendCause, TraceEvent};
use umts_units::Time;

use super::Timeline;
use super::rows::{SegmentRow, TimerRow};
use super::table::{OpenRows, RowIndex};

/// State of an open connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub ue: UeId,
    /// Both ends, by the direction in which they send.
    ends: [Sender; 2],
}

/// The sender to which a timer belongs.
#[derive(Debug, Clone, Copy)]
struct TimerOwner {
    connection: ConnectionId,
    end: End,
    ue: UeId,
}

/// State of one end of a connection as a sender.
#[derive(Debug, Default)]
struct Sender {
    /// Last copy of each unacknowledged segment, by its first sequence number.
    unacknowledged: BTreeMap<u64, SentCopy>,
    /// The running retransmission timer.
    timer: Option<RowIndex>,
}

/// A copy of a segment.
#[derive(Debug)]
struct SentCopy {
    /// The sequence number after its last byte.
    end: u64,
    packet: PacketId,
}

impl Sender {
    /// Ends the row of the running timer, if there is one.
    fn stop_timer(&mut self, now: Time, timers: &mut OpenRows<TimerRow>, outcome: &'static str) {
        if let Some(index) = self.timer.take()
            && let Some(row) = timers.close(index)
        {
            (row.end_s, row.outcome) = (Some(now.as_secs()), outcome);
        }
    }

    /// Opens a row for a timer that starts now.
    fn start_timer(&mut self, now: Time, timers: &mut OpenRows<TimerRow>, owner: TimerOwner) {
        let TimerOwner { connection, end, ue } = owner;
        let row = TimerRow::start(now, "rto", ue, end.sends());
        self.timer = Some(timers.open(TimerRow { connection: Some(connection.0), ..row }));
    }

    /// Counts a restart in the row of the running timer, or opens a row.
    fn restart_timer(&mut self, now: Time, timers: &mut OpenRows<TimerRow>, owner: TimerOwner) {
        if self.timer.is_none_or(|row| !timers.restart(now, row)) {
            self.start_timer(now, timers, owner);
        }
    }
}

impl Timeline {
    pub(super) fn record_tcp(&mut self, now: Time, event: &TraceEvent) {
        match event {
            TraceEvent::ConnectionOpened { connection, ue, sender, .. } => {
                let opened = Connection { ue: *ue, ends: Default::default() };
                self.connections.insert(*connection, opened);
                self.connection_event(now, *connection, Some(*sender), "connection_opened", None);
            }
            TraceEvent::ConnectionClosed { connection } => {
                self.closed(now, *connection, "connection_closed");
            }
            TraceEvent::ConnectionFailed { connection, .. } => {
                self.closed(now, *connection, "connection_failed");
            }
            TraceEvent::SegmentSent { packet, segment, cause } => self.sent(now, *packet, segment, *cause),
            TraceEvent::SegmentReceived { packet, .. } => self.arrived(now, *packet),
            TraceEvent::Acked { connection: id, end, una, .. } => {
                if let Some(connection) = self.connections.get(*id) {
                    let owner = TimerOwner { connection: *id, end: *end, ue: connection.ue };
                    let sender = &mut connection.ends[end.sends().index()];
                    sender.unacknowledged.retain(|_, copy| copy.end > *una);
                    if sender.unacknowledged.is_empty() {
                        sender.stop_timer(now, &mut self.timers, "stopped");
                    } else {
                        sender.restart_timer(now, &mut self.timers, owner);
                    }
                }
            }
            TraceEvent::DupAck { connection, end, count } => {
                self.connection_event(now, *connection, Some(*end), "duplicate_ack", Some(*count));
            }
            TraceEvent::RtoExpired { connection: id, end, backoff } => {
                self.connection_event(now, *id, Some(*end), "rto", Some(*backoff));
                if let Some(connection) = self.connections.get(*id) {
                    let owner = TimerOwner { connection: *id, end: *end, ue: connection.ue };
                    let sender = &mut connection.ends[end.sends().index()];
                    sender.stop_timer(now, &mut self.timers, "expired");
                    sender.start_timer(now, &mut self.timers, owner);
                }
            }
            _ => {}
        }
    }

    /// A connection ended; `kind` is the kind of the event.
    fn closed(&mut self, now: Time, id: ConnectionId, kind: &'static str) {
        self.connection_event(now, id, None, kind, None);
        if let Some(mut connection) = self.connections.remove(id) {
            for sender in &mut connection.ends {
                sender.stop_timer(now, &mut self.timers, "stopped");
            }
        }
    }

    /// A segment left its host: opens its row, and starts the retransmission timer if it is not
    /// running. `repeats` is the last packet that carried the first byte of the segment before.
    fn sent(&mut self, now: Time, packet: PacketId, segment: &Segment, cause: SendCause) {
        let (id, end) = (segment.connection, End::sending(segment.direction));
        let (mut repeats, mut ue) = (None, UeId(0));
        if let Some(connection) = self.connections.get(id) {
            ue = connection.ue;
            let sender = &mut connection.ends[segment.direction.index()];
            if segment.flags.syn {
                // In an emulation, a connection can begin with a name lookup. Its datagrams have
                // sequence numbers after the SYN's, which the data of the connection use again.
                // They are removed, so that the first data do not count as a repetition of a
                // datagram.
                sender.unacknowledged.retain(|seq, _| *seq < segment.end());
            }
            if segment.sequence_length() > 0 {
                let earlier_copy = sender.unacknowledged.range(..=segment.seq).next_back();
                let covering_copy = earlier_copy.filter(|(_, copy)| copy.end > segment.seq);
                repeats = covering_copy.map(|(_, copy)| copy.packet);
                sender.unacknowledged.insert(segment.seq, SentCopy { end: segment.end(), packet });
                if sender.timer.is_none() {
                    sender.start_timer(now, &mut self.timers, TimerOwner { connection: id, end, ue });
                }
            }
        }
        let kind = match segment.flags {
            flags if flags.syn => "syn",
            flags if flags.rst => "reset",
            _ if segment.payload > 0 => "data",
            flags if flags.fin => "fin",
            _ => "ack",
        };
        let index = self.segments.open(SegmentRow {
            time_s: now.as_secs(),
            end_s: None,
            packet: packet.0 as u32,
            connection: id.0,
            ue: u32::from(ue.0),
            direction: segment.direction.name(),
            kind,
            // The reason of a repetition by a real program's TCP is unknown: its cause is `New`.
            cause: if cause == SendCause::New && repeats.is_some() { "again" } else { cause_name(cause) },
            seq: segment.seq,
            end: segment.end(),
            ack: segment.ack,
            payload: u64::from(segment.payload),
            repeats: repeats.map(|packet| packet.0 as u32),
            radio_s: None,
            lost: false,
            loss: "",
        });
        self.packets.insert(packet, index);
    }

    /// A segment arrived, maybe after it was recorded as lost: a discarded packet can still arrive.
    fn arrived(&mut self, now: Time, packet: PacketId) {
        if let Some(index) = self.packets.remove(&packet)
            && let Some(row) = self.segments.close(index)
        {
            (row.end_s, row.lost, row.loss) = (Some(now.as_secs()), false, "");
        }
    }
}

fn cause_name(cause: SendCause) -> &'static str {
    match cause {
        SendCause::New => "new",
        SendCause::Ack => "ack",
        SendCause::DupAck => "dup_ack",
        SendCause::Rto => "rto",
        SendCause::WindowProbe => "window_probe",
        SendCause::Reset => "reset",
        SendCause::TailLoss => "tail_loss",
        SendCause::KeepAlive => "keep_alive",
    }
}
