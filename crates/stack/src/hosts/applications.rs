//! Performs the actions of traffic models: opens and closes connections, writes data, sends
//! datagrams. A model acts when its flow starts, at its wake-ups, and after TCP events of its
//! connections (`connections.rs`). All its actions are performed (`perform`) before its connections
//! send.

use umts_kernel::TraceSink;

use super::Hosts;
use super::flow::FlowConnection;
use crate::EventContext;
use crate::ids::{ConnectionId, End, FlowId, ProxyLeg};
use crate::packet::{Content, Datagram};
use crate::path::NetworkPath;
use crate::proxy::{Relay, SplitConnections, Transfer};
use crate::trace::TraceEvent;
use crate::traffic::{Action, ConnectionIndex, Report};

/// UDP and IPv4 headers without options (RFC 768, RFC 791).
const UDP_IP_HEADER: u16 = 28;

/// Ends of connections that may have segments to send after the actions of a traffic model, in the
/// order of the actions.
#[derive(Debug, Default)]
pub(super) struct PendingEnds {
    connections: Vec<PendingConnection>,
}

#[derive(Debug)]
struct PendingConnection {
    id: ConnectionId,
    /// Whether each end may have segments to send, indexed by [`End`].
    ends: [bool; 2],
}

impl PendingEnds {
    /// Adds an end. Successive actions on one connection share an entry.
    fn add(&mut self, connection: ConnectionId, end: End) {
        if let Some(last) = self.connections.last_mut().filter(|last| last.id == connection) {
            last.ends[end as usize] = true;
            return;
        }
        let mut ends = [false; 2];
        ends[end as usize] = true;
        self.connections.push(PendingConnection { id: connection, ends });
    }
}

impl Hosts {
    /// Starts the traffic model of a flow.
    pub fn flow_starts<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        path: &mut NetworkPath,
    ) {
        self.flows[id.index()].traffic.handle_start(ctx.cx.now);
        self.perform_actions(ctx, id, path);
    }

    /// Handles a wake-up of a traffic model. If the wake-up is early, only schedules the next one.
    pub fn traffic_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        path: &mut NetworkPath,
    ) {
        let flow = &mut self.flows[id.index()];
        flow.traffic_wake.fired(ctx.cx.now);
        if flow.traffic.poll_timeout().is_some_and(|at| at <= ctx.cx.now) {
            flow.traffic.handle_timeout(ctx.cx.now);
        }
        self.perform_actions(ctx, id, path);
    }

    /// Performs the pending actions of a flow's traffic model.
    fn perform_actions<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        path: &mut NetworkPath,
    ) {
        let first = self.flows[id.index()].traffic.poll_action();
        self.perform(ctx, id, first, path);
    }

    /// Performs `next` and all further actions of a flow's traffic model, and only then lets the
    /// connections send.
    pub(super) fn perform<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        mut next: Option<Action>,
        path: &mut NetworkPath,
    ) {
        let mut pending_ends = std::mem::take(&mut self.pending_ends);
        while let Some(action) = next {
            match action {
                Action::Open { connection, end, segment_payload } => {
                    pending_ends.add(self.open(ctx, id, connection, end, segment_payload), end);
                }
                Action::Write { connection, end, bytes } => {
                    let connection = self.application_connection(id, connection, end);
                    connection.end(end).handle_write(&mut ctx.cx, bytes);
                    pending_ends.add(connection.id, end);
                }
                Action::Close { connection, end } => {
                    let connection = self.application_connection(id, connection, end);
                    connection.end(end).handle_close(&mut ctx.cx);
                    pending_ends.add(connection.id, end);
                }
                Action::Send { end, bytes } => self.send_datagram(ctx, id, end, bytes, path),
                Action::Report(report) => self.report(ctx, id, report),
            }
            next = self.flows[id.index()].traffic.poll_action();
        }
        self.flush(ctx, id, &mut pending_ends, path);
        self.pending_ends = pending_ends;
        self.flows[id.index()].schedule_traffic_wake(ctx);
    }

    /// Lets the pending ends send, and empties the list.
    fn flush<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        pending_ends: &mut PendingEnds,
        path: &mut NetworkPath,
    ) {
        for pending in pending_ends.connections.drain(..) {
            for end in [End::Server, End::Ue] {
                if pending.ends[end as usize] {
                    self.flush_connection(ctx, id, pending.id, end, path);
                }
            }
        }
    }

    /// The connection that the traffic model calls `nth`. If a proxy splits it, the one of the two
    /// whose `end` is at the application, not at the proxy.
    fn application_connection(&mut self, id: FlowId, nth: ConnectionIndex, end: End) -> &mut FlowConnection {
        self.flows[id.index()].nth(nth, end).expect("a traffic model uses open connections only")
    }

    /// Opens connection `nth` of a flow at `end`: one end-to-end connection, or two if the proxy
    /// splits the flow. Returns the connection of the application at `end`.
    fn open<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        nth: ConnectionIndex,
        end: End,
        segment_payload: Option<u32>,
    ) -> ConnectionId {
        // In events and tables a transfer is identified by its first connection.
        let transfer = ConnectionId(self.connections);
        let is_split = self.flows[id.index()].is_split();
        let relay = if is_split { self.new_relay(transfer) } else { None };
        match relay {
            None => {
                let flow = &mut self.flows[id.index()];
                let mss = flow.open(ctx.cx.now, transfer, nth, segment_payload);
                self.add_leg(ctx, id, transfer, ProxyLeg::Whole, mss);
            }
            Some(relay) => self.open_split(ctx, id, nth, segment_payload, relay),
        }
        if is_split {
            let flow = &self.flows[id.index()];
            self.transfers.remove_expired(id, |connection| flow.has(connection));
        }
        let connection = self.application_connection(id, nth, end);
        connection.end(end).handle_open(&mut ctx.cx);
        connection.id
    }

    /// Opens the two connections of a split transfer.
    fn open_split<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        nth: ConnectionIndex,
        segment_payload: Option<u32>,
        relay: Relay,
    ) {
        let transfer = ConnectionId(self.connections);
        let connections = SplitConnections { server: transfer, radio: ConnectionId(transfer.0 + 1) };
        let split = self.transfers.insert(Transfer { flow: id, connections, relay });
        let flow = &mut self.flows[id.index()];
        let [server_mss, proxy_mss] = flow.open_split(ctx.cx.now, connections, nth, segment_payload, split);
        self.add_leg(ctx, id, transfer, ProxyLeg::Server, server_mss);
        self.add_leg(ctx, id, transfer, ProxyLeg::Radio, proxy_mss);
    }

    /// Numbers the connection on one leg of a transfer, records it, and sets its congestion
    /// control. `mss`: payload of full segments of the end that sends to the UE.
    fn add_leg<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        transfer: ConnectionId,
        leg: ProxyLeg,
        mss: u32,
    ) {
        let connection = ConnectionId(self.connections);
        self.connections += 1;
        let flow = &mut self.flows[id.index()];
        let (ue, sender) = (flow.ue, flow.sender);
        let opened = TraceEvent::ConnectionOpened { connection, transfer, leg, flow: id, ue, sender, mss };
        ctx.cx.record(|| opened);
        if let Some(laws) = &self.laws {
            flow.set_laws(connection, laws);
        }
    }

    fn send_datagram<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        end: End,
        bytes: u32,
        path: &mut NetworkPath,
    ) {
        let flow = &mut self.flows[id.index()];
        let direction = end.sends();
        let sent_count = &mut flow.datagrams[direction.index()];
        let datagram = Datagram {
            direction,
            number: *sent_count,
            payload: bytes,
            header: UDP_IP_HEADER,
            timestamp: ctx.cx.now,
        };
        *sent_count += 1;
        let mut packet = self.packets.number(id, flow.ue, Content::Datagram(datagram));
        ctx.cx.record(|| TraceEvent::DatagramSent { flow: id, datagram });
        path.leave(ctx, ProxyLeg::Whole.site(end), &mut packet);
    }

    /// Records an event that only the application knows.
    fn report<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        flow: FlowId,
        report: Report,
    ) {
        let sender = self.flows[flow.index()].sender;
        match report {
            Report::CallStarted { connection } => {
                let connection = self.application_connection(flow, connection, sender).id;
                ctx.cx.record(|| TraceEvent::PacketCallStarted { connection });
            }
            Report::CallEnded { connection, since } => {
                let connection = self.application_connection(flow, connection, sender).id;
                ctx.cx.record(|| TraceEvent::PacketCallEnded { connection, since });
            }
            Report::PageEnded { since } => ctx.cx.record(|| TraceEvent::PageEnded { flow, since }),
            Report::SessionEnded { since } => ctx.cx.record(|| TraceEvent::SessionEnded { flow, since }),
        }
    }
}
