//! A proxy that splits the connections of flows: its ends of both, and what joins them.

use umts_kernel::{EventQueue, Phase, TraceSink};

use super::Hosts;
use crate::EventContext;
use crate::core_network::proxy::{AtLimit, ProxyConfig, Relay};
use crate::event::Event;
use crate::ids::{ConnectionId, End, FlowId, ProxyLeg, Site};
use crate::packet::{Content, Packet, Segment};
use crate::path::NetworkPath;
use crate::tcp::reset_for;
use crate::trace::{DropPlace, TraceEvent};

/// The proxy's ends, the server's side first.
const SIDES: [(ProxyLeg, End); 2] = [(ProxyLeg::Server, End::Ue), (ProxyLeg::Radio, End::Server)];

impl Hosts {
    /// Schedules the beginning of every outage of the proxy.
    pub(super) fn start_proxy(&self, agenda: &mut EventQueue<Event>) {
        for outage in self.proxy.iter().flat_map(|proxy| &proxy.outages) {
            agenda.push(outage.from, Phase::Receive, Event::ProxyCrash);
        }
    }

    /// What joins both connections of a new transfer of a flow that is split; `None` if the proxy lets it pass.
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

    /// Whether the proxy has room for one more transfer: each that is not over takes both its buffers.
    fn has_room(&self, proxy: &ProxyConfig) -> bool {
        let (Some(memory), Some(buffer)) = (proxy.memory, proxy.buffer) else { return true };
        let transfers = self.flows.iter().map(|flow| flow.open_relays()).sum::<usize>() as u64;
        (transfers + 1).saturating_mul(2 * buffer) <= memory
    }

    /// A segment reaches the proxy's end of its connection, if there still is one.
    pub(super) fn reach_proxy<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packet: &Packet,
        segment: &Segment,
        between: &mut NetworkPath,
    ) {
        let proxy = self.proxy.as_ref().expect("a packet ends at the proxy that there is");
        let now = ctx.cx.now;
        if proxy.is_down(now) {
            let place = DropPlace::ProxyDown;
            return ctx.cx.record(|| TraceEvent::PacketDropped { place, packet: *packet });
        }
        let answers_lost = proxy.answers_lost(now);
        let flow = &mut self.flows[packet.flow.index()];
        match flow.split(segment.connection) {
            Some((split, ends)) if !split.relay.is_lost() => {
                let side = segment.leg;
                let established = ends[usize::from(side == ProxyLeg::Server)].is_established();
                if let Some(packet) = split.relay.admit(side, *packet, established) {
                    ends[usize::from(side == ProxyLeg::Radio)].handle_packet(&mut ctx.cx, &packet);
                }
                let transfer = split.transfer;
                self.proxy_changed(ctx, packet.flow, transfer, between);
            }
            Some(_) if !answers_lost => {
                let place = DropPlace::NoConnection;
                ctx.cx.record(|| TraceEvent::PacketDropped { place, packet: *packet });
            }
            _ => self.refuse(ctx, Site::Proxy, packet, segment, between),
        }
    }

    /// Both of the proxy's ends of a transfer hear what happened, carry on what they can, and send.
    pub(super) fn proxy_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        transfer: ConnectionId,
        between: &mut NetworkPath,
    ) {
        let ids = [transfer, ConnectionId(transfer.0 + 1)];
        let flow = &mut self.flows[id.index()];
        loop {
            for (connection, (side, end)) in ids.into_iter().zip(SIDES) {
                let now = ctx.cx.now;
                while let Some(event) = flow.connection(connection).and_then(|open| open.poll_event(now, end))
                {
                    let Some((split, _)) = flow.split(connection) else { return };
                    split.relay.handle_event(side, event);
                }
            }
            let Some((split, ends)) = flow.split(transfer) else { return };
            if split.relay.is_lost() {
                return;
            }
            if let Some((side, syn)) = split.relay.poll_held(&ends) {
                ends[usize::from(side == ProxyLeg::Radio)].handle_packet(&mut ctx.cx, &syn);
            } else if !split.relay.carry(&mut ctx.cx, ends) {
                break;
            }
        }
        let refused = flow.split(transfer).and_then(|(split, _)| split.relay.poll_refused());
        if let Some(Packet { content: Content::Segment(syn), .. }) = refused {
            let rst = Content::Segment(reset_for(&syn, flow.tcp.header));
            let mut packet = self.packets.number(id, flow.ue, rst);
            between.leave(ctx, Site::Proxy, &mut packet);
        }
        for (connection, (_, end)) in ids.into_iter().zip(SIDES) {
            if let Some(mut open) = self.flows[id.index()].open_connection(connection) {
                open.send(ctx, &mut self.packets, end, between);
                open.sleep(ctx, end);
            }
        }
    }

    /// The proxy is out of order: it knows nothing of its transfers any more.
    pub fn proxy_crash<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>) {
        for flow in &mut self.flows {
            for transfer in flow.transfers() {
                if let Some((split, [server, radio])) = flow.split(transfer) {
                    split.relay.crash(&mut ctx.cx, server, radio);
                }
                flow.lose_proxy_ends(ctx.cx.now, transfer);
            }
        }
    }
}
