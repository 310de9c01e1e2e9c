//! The hosts on both sides of the network: everything above IP. They contain flows with their
//! traffic models, the ends of TCP connections, datagrams, and packets of real programs.
//!
//! Hosts send packets down into the [`NetworkPath`]. [`Hosts::receive_packet`] receives packets
//! from the network.
//!
//! ```text
//!   flow.rs          a flow: its traffic model and its connections
//!   applications.rs  performs the actions of traffic models: connections, data, datagrams
//!   connections.rs   both ends of each connection: segments in and out, timers
//!   relaying.rs      the proxy's ends of split connections
//!   foreign.rs       packets of real programs
//! ```

mod applications;
mod connections;
mod flow;
mod foreign;
mod relaying;

use std::collections::VecDeque;

use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, Phase, TraceSink};

pub use self::flow::FlowConfig;

use self::applications::PendingEnds;
use self::flow::Flow;
use crate::EventContext;
use crate::event::Event;
use crate::ids::FlowId;
use crate::packet::{Content, Packet, Packets};
use crate::path::NetworkPath;
use crate::proxy::{ProxyConfig, Transfers};
use crate::tcp::congestion::UserLaws;
use crate::trace::TraceEvent;

/// All servers and UEs above IP.
#[derive(Debug)]
pub struct Hosts {
    flows: Vec<Flow>,
    packets: Packets,
    /// Number of connections opened so far.
    connections: u32,
    proxy: Option<ProxyConfig>,
    /// Transfers that the proxy splits.
    transfers: Transfers,
    /// Creates the congestion control of `Variant::User`.
    laws: Option<UserLaws>,
    /// Packets of real programs that have crossed the network.
    foreign_out: VecDeque<Packet>,
    /// Always empty between calls. Kept to reuse the memory.
    pending_ends: PendingEnds,
}

impl Hosts {
    /// Creates the hosts of these flows. Random draws come from `streams`.
    pub fn new(flows: &[FlowConfig], proxy: Option<&ProxyConfig>, streams: &Streams) -> Self {
        let numbered = flows.iter().enumerate();
        Hosts {
            flows: numbered.map(|(index, flow)| Flow::new(FlowId(index as u32), flow, streams)).collect(),
            packets: Packets::default(),
            connections: 0,
            proxy: proxy.cloned(),
            transfers: Transfers::default(),
            laws: None,
            foreign_out: VecDeque::new(),
            pending_ends: PendingEnds::default(),
        }
    }

    /// Sets the congestion control for later connections of
    /// [`Variant::User`](crate::tcp::Variant::User).
    pub fn set_laws(&mut self, laws: UserLaws) {
        self.laws = Some(laws);
    }

    /// Schedules the start of every flow, and the outages of the proxy.
    pub fn start(&self, agenda: &mut EventQueue<Event>) {
        self.start_proxy(agenda);
        for flow in &self.flows {
            agenda.push(flow.start, Phase::Transmit, Event::FlowStarts(flow.id));
        }
    }

    /// Handles a packet that has arrived at its destination host.
    #[inline]
    pub fn receive_packet<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packet: &Packet,
        path: &mut NetworkPath,
    ) {
        match &packet.content {
            Content::Segment(segment) => self.receive_segment(ctx, packet, segment, path),
            &Content::Datagram(datagram) => {
                let flow = packet.flow;
                ctx.cx.record(|| TraceEvent::DatagramReceived { flow, datagram });
            }
            Content::Foreign(_) => self.foreign_out.push_back(*packet),
        }
    }
}
