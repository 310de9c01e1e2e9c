//! The hosts' part of a proxy that splits connections. A segment for the proxy is passed to the
//! proxy's end of its connection (`receive_at_proxy`). Then the relay of the transfer
//! (`proxy/relay.rs`) moves data to the other connection, and both ends send (`advance_transfer`).
//! An outage of the proxy loses its ends of all transfers. Memory is in octets.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use super::Hosts;
use super::flow::Flow;
use crate::EventContext;
use crate::event::Event;
use crate::ids::{ConnectionId, End, FlowId, Site};
use crate::packet::{Content, Packet, Segment};
use crate::path::NetworkPath;
use crate::proxy::{
    AtLimit, ProxyConfig, ProxyEnds, Relay, Side, SplitConnections, Transfer, TransferId, Transfers,
};
use crate::tcp::reset_for;
use crate::trace::{DropPlace, TraceEvent};

/// The state of a transfer whose segment reaches the proxy.
enum TransferState {
    /// The proxy relays it.
    Known(TransferId),
    /// An outage lost it.
    Lost,
    /// Its connections were removed after their end.
    Removed,
}

impl Hosts {
    /// Schedules the start of every outage of the proxy.
    pub(super) fn start_proxy(&self, agenda: &mut EventQueue<Event>) {
        for outage in self.proxy.iter().flat_map(|proxy| &proxy.outages) {
            agenda.push(Time::ZERO + outage.from, Phase::Receive, Event::ProxyCrash);
        }
    }

    /// Creates the relay of a new transfer. `None` if the proxy has no room and lets the transfer
    /// pass.
    pub(super) fn new_relay(&self, transfer: ConnectionId) -> Option<Relay> {
        let proxy = self.proxy.as_ref()?;
        let relay = Relay::new(transfer, proxy.setup, proxy.buffer);
        if self.has_room(proxy) {
            return Some(relay);
        }
        match proxy.at_limit {
            AtLimit::Pass => None,
            AtLimit::Refuse => Some(relay.refusing()),
        }
    }

    /// Whether the proxy has memory for another transfer. Each open transfer takes two buffers.
    fn has_room(&self, proxy: &ProxyConfig) -> bool {
        let (Some(memory), Some(buffer)) = (proxy.memory, proxy.buffer) else { return true };
        let is_open = |transfer: &&Transfer| {
            !self.flows[transfer.flow.index()].are_closed_at_proxy(transfer.connections)
        };
        let transfers = self.transfers.iter().filter(is_open).count() as u64;
        (transfers + 1).saturating_mul(2 * buffer) <= memory
    }

    /// Handles a segment that reached the proxy's end of its connection.
    pub(super) fn receive_at_proxy<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packet: &Packet,
        segment: &Segment,
        path: &mut NetworkPath,
    ) {
        let proxy = self.proxy.as_ref().expect("a packet arrives at the proxy only if there is one");
        let now = ctx.cx.now;
        if proxy.is_down(now) {
            let place = DropPlace::ProxyDown;
            return ctx.cx.record(|| TraceEvent::PacketDropped { place, packet: *packet });
        }
        let answers_lost = proxy.answers_lost(now);
        match self.transfer_state(packet.flow, segment.connection) {
            TransferState::Known(id) => {
                self.pass_to_end(ctx, id, packet, segment.leg);
                self.advance_transfer(ctx, id, path);
            }
            TransferState::Lost if !answers_lost => {
                let place = DropPlace::NoConnection;
                ctx.cx.record(|| TraceEvent::PacketDropped { place, packet: *packet });
            }
            // The proxy answers with a RST.
            TransferState::Lost | TransferState::Removed => {
                self.refuse(ctx, Site::Proxy, packet, segment, path);
            }
        }
    }

    fn transfer_state(&mut self, flow: FlowId, connection: ConnectionId) -> TransferState {
        let flow = &mut self.flows[flow.index()];
        let Some(id) = flow.connection(connection).and_then(|open| open.transfer()) else {
            return TransferState::Removed;
        };
        match relay_and_ends(&mut self.transfers, flow, id) {
            None => TransferState::Removed,
            Some((relay, _)) if relay.is_lost() => TransferState::Lost,
            Some(_) => TransferState::Known(id),
        }
    }

    /// Passes a segment to the proxy's end on `side`, unless the relay keeps it.
    fn pass_to_end<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: TransferId,
        packet: &Packet,
        side: Side,
    ) {
        let flow = &mut self.flows[packet.flow.index()];
        let Some((relay, mut ends)) = relay_and_ends(&mut self.transfers, flow, id) else { return };
        if let Some(packet) = relay.admit(side, *packet, &ends) {
            ends.on(side).handle_packet(&mut ctx.cx, &packet);
        }
    }

    /// Relays data of a transfer until no more can be relayed, then lets both of the proxy's ends
    /// send.
    pub(super) fn advance_transfer<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: TransferId,
        path: &mut NetworkPath,
    ) {
        let Some(&mut Transfer { flow, connections, .. }) = self.transfers.get_mut(id) else { return };
        let is_known = self.relay_until_idle(ctx, id, flow, connections);
        if !is_known {
            return;
        }
        self.refuse_failed(ctx, id, flow, path);
        for side in SIDES {
            let end = proxy_end(side);
            if let Some(mut open) = self.flows[flow.index()].open_connection(connections.on(side)) {
                open.send(ctx, &mut self.packets, end, path);
                open.schedule_timer(ctx, end);
            }
        }
    }

    /// Lets the relay handle the events of both ends, kept SYNs and data until nothing changes.
    /// Returns whether the proxy still knows the transfer.
    fn relay_until_idle<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: TransferId,
        flow: FlowId,
        connections: SplitConnections,
    ) -> bool {
        let flow = &mut self.flows[flow.index()];
        loop {
            for side in SIDES {
                let (now, connection, end) = (ctx.cx.now, connections.on(side), proxy_end(side));
                while let Some(event) = flow.connection(connection).and_then(|open| open.poll_event(now, end))
                {
                    let Some((relay, _)) = relay_and_ends(&mut self.transfers, flow, id) else {
                        return false;
                    };
                    relay.handle_event(side, event);
                }
            }
            let Some((relay, mut ends)) = relay_and_ends(&mut self.transfers, flow, id) else { return false };
            if relay.is_lost() {
                return false;
            }
            // A SYN that the relay kept until the connection on the other side was established.
            if let Some((side, syn)) = relay.poll_held(&ends) {
                ends.on(side).handle_packet(&mut ctx.cx, &syn);
            } else if !relay.advance(&mut ctx.cx, &mut ends) {
                return true;
            }
        }
    }

    /// Answers the kept SYN of a transfer that has failed with a RST.
    fn refuse_failed<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: TransferId,
        flow_id: FlowId,
        path: &mut NetworkPath,
    ) {
        let flow = &mut self.flows[flow_id.index()];
        let Some((relay, _)) = relay_and_ends(&mut self.transfers, flow, id) else { return };
        let Some(refused) = relay.poll_refused() else { return };
        let Content::Segment(syn) = refused.content else { return };
        let rst = Content::Segment(reset_for(&syn, flow.tcp.header.0));
        let mut packet = self.packets.number(flow_id, flow.ue, rst);
        path.leave(ctx, Site::Proxy, &mut packet);
    }

    /// Starts an outage of the proxy, which loses its ends of all transfers.
    pub fn proxy_crash<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>) {
        for flow in &mut self.flows {
            for Transfer { connections, relay, .. } in self.transfers.of_flow_mut(flow.id) {
                if let Some(ends) = flow.proxy_ends(*connections) {
                    relay.crash(&mut ctx.cx, &ends);
                }
                flow.replace_proxy_ends(ctx.cx.now, *connections);
            }
        }
    }
}

/// The sides of the proxy, in the order in which their events are handled and their ends send.
const SIDES: [Side; 2] = [Side::Server, Side::Radio];

/// The end of the connection on `side` that is at the proxy.
fn proxy_end(side: Side) -> End {
    if side == Side::Server { End::Ue } else { End::Server }
}

/// The relay of a transfer of `flow`, and the proxy's ends of its connections. `None` if they were
/// removed.
fn relay_and_ends<'a>(
    transfers: &'a mut Transfers,
    flow: &'a mut Flow,
    id: TransferId,
) -> Option<(&'a mut Relay, ProxyEnds<'a>)> {
    let Transfer { connections, relay, .. } = transfers.get_mut(id)?;
    Some((relay, flow.proxy_ends(*connections)?))
}
