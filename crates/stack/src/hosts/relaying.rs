//! The hosts' part of a proxy that splits connections: it passes segments to the proxy's ends,
//! relays data between the two connections of a transfer, and simulates outages of the proxy.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use super::Hosts;
use super::flow::Flow;
use crate::EventContext;
use crate::event::Event;
use crate::ids::{ConnectionId, End, ProxyLeg, Site};
use crate::packet::{Content, Packet, Segment};
use crate::path::NetworkPath;
use crate::proxy::{AtLimit, ProxyConfig, Relay, Transfer, TransferId, Transfers};
use crate::tcp::{Connection, reset_for};
use crate::trace::{DropPlace, TraceEvent};

/// The sides of the proxy, each with the end that the proxy has of that connection: towards the
/// server it acts as the UE, towards the UE as the server.
const SIDES: [(ProxyLeg, End); 2] = [(ProxyLeg::Server, End::Ue), (ProxyLeg::Radio, End::Server)];

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
        let flow = &mut self.flows[packet.flow.index()];
        let id = flow.connection(segment.connection).and_then(|open| open.transfer());
        match id.and_then(|id| Some((id, relay_and_ends(&mut self.transfers, flow, id)?))) {
            // The proxy knows the transfer.
            Some((id, (relay, ends))) if !relay.is_lost() => {
                let side = segment.leg;
                let [server, radio] = ends;
                let (end, other_end) =
                    if side == ProxyLeg::Server { (server, radio) } else { (radio, server) };
                if let Some(packet) = relay.admit(side, *packet, other_end.is_established()) {
                    end.handle_packet(&mut ctx.cx, &packet);
                }
                self.advance_transfer(ctx, id, path);
            }
            // An outage lost the transfer, and the proxy does not answer its segments.
            Some(_) if !answers_lost => {
                let place = DropPlace::NoConnection;
                ctx.cx.record(|| TraceEvent::PacketDropped { place, packet: *packet });
            }
            // An outage lost the transfer, or it was removed. The proxy answers with a RST.
            _ => self.refuse(ctx, Site::Proxy, packet, segment, path),
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
        let Some(Transfer { flow, connections, .. }) = self.transfers.get_mut(id) else { return };
        let (flow_id, connections) = (*flow, *connections);
        let flow = &mut self.flows[flow_id.index()];
        loop {
            for (connection, (side, end)) in connections.into_iter().zip(SIDES) {
                let now = ctx.cx.now;
                while let Some(event) = flow.connection(connection).and_then(|open| open.poll_event(now, end))
                {
                    let Some((relay, _)) = relay_and_ends(&mut self.transfers, flow, id) else { return };
                    relay.handle_event(side, event);
                }
            }
            let Some((relay, ends)) = relay_and_ends(&mut self.transfers, flow, id) else { return };
            if relay.is_lost() {
                return;
            }
            // A SYN that the relay kept until the connection on the other side was established.
            if let Some((side, syn)) = relay.poll_held(&ends) {
                let [server, radio] = ends;
                let end = if side == ProxyLeg::Server { server } else { radio };
                end.handle_packet(&mut ctx.cx, &syn);
            } else if !relay.advance(&mut ctx.cx, ends) {
                break;
            }
        }
        let refused =
            relay_and_ends(&mut self.transfers, flow, id).and_then(|(relay, _)| relay.poll_refused());
        if let Some(Packet { content: Content::Segment(syn), .. }) = refused {
            let rst = Content::Segment(reset_for(&syn, flow.tcp.header.0));
            let mut packet = self.packets.number(flow_id, flow.ue, rst);
            path.leave(ctx, Site::Proxy, &mut packet);
        }
        for (connection, (_, end)) in connections.into_iter().zip(SIDES) {
            if let Some(mut open) = self.flows[flow_id.index()].open_connection(connection) {
                open.send(ctx, &mut self.packets, end, path);
                open.schedule_timer(ctx, end);
            }
        }
    }

    /// Starts an outage of the proxy, which loses its ends of all transfers.
    pub fn proxy_crash<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>) {
        for flow in &mut self.flows {
            for Transfer { connections, relay, .. } in self.transfers.of_flow_mut(flow.id) {
                if let Some([server, radio]) = flow.proxy_ends(*connections) {
                    relay.crash(&mut ctx.cx, server, radio);
                }
                flow.replace_proxy_ends(ctx.cx.now, *connections);
            }
        }
    }
}

/// The relay of a transfer of `flow`, and the proxy's ends of its connections. `None` if they were
/// removed.
fn relay_and_ends<'a>(
    transfers: &'a mut Transfers,
    flow: &'a mut Flow,
    id: TransferId,
) -> Option<(&'a mut Relay, [&'a mut Connection; 2])> {
    let Transfer { connections, relay, .. } = transfers.get_mut(id)?;
    Some((relay, flow.proxy_ends(*connections)?))
}
