//! The hosts at both sides of the network: what is above IP. Flows with their traffic models, the ends of their TCP
//! connections, datagrams, and the packets of real programs.
//!
//! Hosts call down: a packet that leaves goes to what lies [`NetworkPath`] them. What comes up is handed to [`Hosts::reach`].
//!
//! ```text
//!   flow.rs          one flow: its traffic model, and its connections
//!   applications.rs  what traffic models ask for: connections, data, datagrams
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

use self::applications::Touched;
use self::flow::Flow;
use crate::EventContext;
use crate::event::Event;
use crate::ids::FlowId;
use crate::packet::{Content, Packet, Packets};
use crate::path::NetworkPath;
use crate::proxy::{ProxyConfig, Transfers};
use crate::tcp::congestion::UserLaws;
use crate::trace::TraceEvent;

/// All hosts.
#[derive(Debug)]
pub struct Hosts {
    flows: Vec<Flow>,
    packets: Packets,
    /// Connections opened so far.
    connections: u32,
    /// The proxy, if there is one.
    proxy: Option<ProxyConfig>,
    /// Transfers that the proxy splits.
    transfers: Transfers,
    /// Makes the laws of `Variant::User`.
    laws: Option<UserLaws>,
    /// Packets of real programs that have come through.
    foreign_out: VecDeque<Packet>,
    /// Of what an application asked for last: empty, and its memory is used again.
    touched: Touched,
}

impl Hosts {
    /// Hosts with these flows, whose random draws come from `streams`.
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
            touched: Touched::default(),
        }
    }

    /// Connections of [`Variant::User`](crate::tcp::Variant::User) that are opened from now on have these laws.
    pub fn set_laws(&mut self, laws: UserLaws) {
        self.laws = Some(laws);
    }

    /// Schedules the beginning of every flow, and the outages of a proxy.
    pub fn start(&self, agenda: &mut EventQueue<Event>) {
        self.start_proxy(agenda);
        for flow in &self.flows {
            agenda.push(flow.start, Phase::Transmit, Event::FlowStarts(flow.id));
        }
    }

    /// A packet reaches the host at the end of its way.
    #[inline]
    pub fn reach<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packet: &Packet,
        between: &mut NetworkPath,
    ) {
        match &packet.content {
            Content::Segment(segment) => self.reach_connection(ctx, packet, segment, between),
            &Content::Datagram(datagram) => {
                let flow = packet.flow;
                ctx.cx.record(|| TraceEvent::DatagramReceived { flow, datagram });
            }
            Content::Foreign(_) => self.foreign_out.push_back(*packet),
        }
    }
}
