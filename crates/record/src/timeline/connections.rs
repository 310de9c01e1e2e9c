//! Segments of TCP connections, and their retransmission timers.

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
    ends: [Sender; 2],
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
    fn stop_timer(&mut self, now: Time, timers: &mut OpenRows<TimerRow>, outcome: &'static str) {
        if let Some(index) = self.timer.take()
            && let Some(row) = timers.close(index)
        {
            (row.end_s, row.outcome) = (Some(now.as_secs()), outcome);
        }
    }

    fn start_timer(
        &mut self,
        now: Time,
        timers: &mut OpenRows<TimerRow>,
        (id, end, ue): (ConnectionId, End, UeId),
    ) {
        self.timer = Some(timers.open(TimerRow::start(now, "rto", (ue, end.sends(), Some(id)))));
    }

    fn restart_timer(&mut self, now: Time, timers: &mut OpenRows<TimerRow>, of: (ConnectionId, End, UeId)) {
        if self.timer.is_none_or(|row| !timers.restart(now, row)) {
            self.start_timer(now, timers, of);
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
                    let (ue, sender) = (connection.ue, &mut connection.ends[end.sends().index()]);
                    sender.unacknowledged.retain(|_, copy| copy.end > *una);
                    if sender.unacknowledged.is_empty() {
                        sender.stop_timer(now, &mut self.timers, "stopped");
                    } else {
                        sender.restart_timer(now, &mut self.timers, (*id, *end, ue));
                    }
                }
            }
            TraceEvent::DupAck { connection, end, count } => {
                self.connection_event(now, *connection, Some(*end), "duplicate_ack", Some(*count));
            }
            TraceEvent::RtoExpired { connection: id, end, backoff } => {
                self.connection_event(now, *id, Some(*end), "rto", Some(*backoff));
                if let Some(connection) = self.connections.get(*id) {
                    let (ue, sender) = (connection.ue, &mut connection.ends[end.sends().index()]);
                    sender.stop_timer(now, &mut self.timers, "expired");
                    sender.start_timer(now, &mut self.timers, (*id, *end, ue));
                }
            }
            _ => {}
        }
    }

    fn closed(&mut self, now: Time, id: ConnectionId, kind: &'static str) {
        self.connection_event(now, id, None, kind, None);
        if let Some(mut connection) = self.connections.remove(id) {
            for sender in &mut connection.ends {
                sender.stop_timer(now, &mut self.timers, "stopped");
            }
        }
    }

    fn sent(&mut self, now: Time, packet: PacketId, segment: &Segment, cause: SendCause) {
        let (id, end) = (segment.connection, End::sending(segment.direction));
        let (mut repeats, mut ue) = (None, UeId(0));
        if let Some(connection) = self.connections.get(id) {
            ue = connection.ue;
            let sender = &mut connection.ends[segment.direction.index()];
            if segment.flags.syn {
                // In an emulation, the datagrams of a name lookup precede the SYN. They are not data of
                // the connection.
                sender.unacknowledged.retain(|seq, _| *seq < segment.end());
            }
            if segment.sequence_length() > 0 {
                let before = sender.unacknowledged.range(..=segment.seq).next_back();
                repeats = before.filter(|(_, copy)| copy.end > segment.seq).map(|(_, copy)| copy.packet);
                sender.unacknowledged.insert(segment.seq, SentCopy { end: segment.end(), packet });
                if sender.timer.is_none() {
                    sender.start_timer(now, &mut self.timers, (id, end, ue));
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
            // The stack does not know why a program's TCP sent a segment again.
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
