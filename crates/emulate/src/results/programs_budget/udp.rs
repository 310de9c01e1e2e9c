//! UDP datagrams of programs: their flows, and the DNS lookups that precede connections and flows.

use umts_record::budget::Kind;
use umts_stack::ids::{ConnectionId, Direction, End, UeId};
use umts_stack::packet::{Flags, Packet, Segment};
use umts_stack::trace::{SendCause, TraceEvent};
use umts_units::{Duration, Time};

use super::{ConnectionColumns, Ends, Key, MAX_CONNECTIONS, MAX_SEGMENTS, ProgramsBudget};
use crate::packets::datagram;
use crate::results::first_connection::DNS;

/// Longest time from the last packet of a lookup to the first packet of its connection.
const MAX_LOOKUP_GAP: Duration = Duration::from_secs(5);

/// A UDP flow, or a DNS lookup.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    id: ConnectionId,
    /// Bytes sent so far, or for a lookup the number of questions and answers, by the end that
    /// sends.
    sent: [u64; 2],
    /// Time of the last packet.
    last: Time,
}

impl ProgramsBudget {
    /// Records a UDP datagram that enters the network, as an event of a flow or lookup. Returns
    /// `None` if the packet is not UDP, or is the late answer of a lookup.
    pub(super) fn record_datagram(&mut self, now: Time, packet: &Packet) -> Option<()> {
        let datagram = self.packet_store.with(packet.id, datagram::read)??;
        let direction = packet.direction();
        let ends = Ends::of(direction, datagram.from, datagram.to);
        let (_, server_port) = ends.server;
        let is_lookup = server_port == DNS;
        let flow = if is_lookup {
            self.lookup(now, packet.ue, direction, ends)?
        } else {
            self.flow(now, packet, ends)
        };
        let end = End::sending(direction);
        // Questions and answers of a lookup count as one byte each.
        let payload = if is_lookup { 1 } else { u32::from(datagram.payload) };
        let sent = &mut flow.sent[end as usize];
        let segment = Segment {
            flags: Flags::default(),
            seq: 1 + *sent,
            payload,
            leg: packet.leg(),
            header: (packet.size().0 as u32).saturating_sub(u32::from(datagram.payload)) as u16,
            ..Segment::new(flow.id, direction)
        };
        *sent += u64::from(payload);
        flow.last = now;
        if self.datagrams.len() >= MAX_SEGMENTS {
            self.datagrams.pop_first();
        }
        self.datagrams.insert(packet.id, segment);
        self.columns[segment.connection.0 as usize].packets += 1;
        self.record_event(now, TraceEvent::SegmentSent { packet: packet.id, segment, cause: SendCause::New });
        Some(())
    }

    /// Returns the lookup to which a question or an answer belongs. `None` for an answer after the
    /// end of its lookup.
    fn lookup(&mut self, now: Time, ue: UeId, direction: Direction, ends: Ends) -> Option<&mut Flow> {
        if !self.lookups.contains_key(&ue) {
            if direction == Direction::Downlink {
                return None;
            }
            let id = self.next_id(ends);
            self.budget.open_datagrams(now, id, ue, Kind::Lookup);
            self.lookups.insert(ue, Flow { id, sent: [0; 2], last: now });
        }
        self.lookups.get_mut(&ue)
    }

    /// Returns the UDP flow of a packet. The first packet opens the flow.
    fn flow(&mut self, now: Time, packet: &Packet, ends: Ends) -> &mut Flow {
        let key = Key { leg: packet.leg(), ends };
        if !self.flows.contains_key(&key) {
            if self.flows.len() >= MAX_CONNECTIONS
                && let Some((_, flow)) = self.flows.pop_first()
            {
                self.record_event(now, TraceEvent::ConnectionClosed { connection: flow.id });
            }
            let id = match self.adopt_lookup(now, packet.ue, ends, Kind::Datagrams) {
                Some(id) => id,
                None => {
                    let id = self.next_id(ends);
                    self.budget.open_datagrams(now, id, packet.ue, Kind::Datagrams);
                    id
                }
            };
            self.flows.insert(key, Flow { id, sent: [0; 2], last: now });
        }
        self.flows.get_mut(&key).expect("inserted above if missing")
    }

    /// Turns the recent lookup of a UE into the connection that begins now, and returns its number.
    pub(super) fn adopt_lookup(
        &mut self,
        now: Time,
        ue: UeId,
        ends: Ends,
        kind: Kind,
    ) -> Option<ConnectionId> {
        let lookup = self.lookups.remove(&ue)?;
        if lookup.last + MAX_LOOKUP_GAP < now {
            self.record_event(now, TraceEvent::ConnectionClosed { connection: lookup.id });
            return None;
        }
        self.datagrams.retain(|_, segment| segment.connection != lookup.id);
        let columns = &mut self.columns[lookup.id.0 as usize];
        *columns = ConnectionColumns { packets: columns.packets, ..ConnectionColumns::of(ends) };
        self.budget.change_kind(now, lookup.id, kind);
        Some(lookup.id)
    }
}
