//! The routes of packets through the chain of links between server and RNC: the sequence of links
//! for each direction and each leg of a connection, computed once at the start of a run. A hop has
//! two links (downlink and uplink) if all flows share it, and otherwise two for each flow.

use std::ops::Range;

use crate::ids::{Direction, FlowId, LinkId, ProxyLeg};
use crate::packet::Packet;

/// A hop of the chain.
#[derive(Debug, Clone, Copy)]
pub struct Hop {
    /// Number of the hop's first link.
    pub first: u32,
    /// Whether all flows share one link.
    pub shared: bool,
    /// Whether the queue keeps packets until they leave, so that an event is needed for each.
    pub has_managed_queue: bool,
}

/// A hop on the route of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Number of the hop, counted from the server.
    pub hop: u8,
    /// Number of the first flow's link.
    link: u32,
    /// Difference between the link numbers of successive flows. 0 if all flows share the link.
    stride: u32,
    /// Whether a packet that leaves this link enters the next one at once, without an event. This
    /// requires that all packets of the next link come from this one in the order in which they
    /// entered. It is false before a shared link where the links of flows meet, where packets of a
    /// proxy join, before and after a link with a managed queue, and for the last link of a route.
    pub enters_next_at_once: bool,
}

impl Stage {
    /// Link for packets of `flow`.
    #[inline]
    pub fn link(&self, flow: FlowId) -> LinkId {
        LinkId(self.link + self.stride * flow.0)
    }
}

/// Routes by leg of the connection and by direction.
#[derive(Debug, Default)]
pub struct Routes {
    /// Indexed by leg, in the order of [`ProxyLeg`], and by direction.
    by_leg: [[Vec<Stage>; 2]; 3],
}

impl Routes {
    /// Routes over the chain `hops` with a proxy after the first `hops_to_proxy` hops, which may be
    /// all of them.
    pub fn new(hops: &[Hop], hops_to_proxy: usize) -> Self {
        // In the order of `ProxyLeg`.
        let spans = [0..hops.len(), 0..hops_to_proxy, hops_to_proxy..hops.len()];
        let by_leg = spans
            .map(|span| Direction::BOTH.map(|direction| route(hops, span.clone(), hops_to_proxy, direction)));
        Routes { by_leg }
    }

    /// Route of a packet in the order of its hops. Empty between the RNC and a proxy at the RNC.
    #[inline]
    pub fn of(&self, packet: &Packet) -> &[Stage] {
        let leg = match packet.leg() {
            ProxyLeg::Whole => 0,
            ProxyLeg::Server => 1,
            ProxyLeg::Radio => 2,
        };
        &self.by_leg[leg][packet.direction().index()]
    }
}

/// The links of a direction through the hops of `span`. A packet may enter the next link at once,
/// without an event, unless a proxy or other flows join in between.
fn route(hops: &[Hop], span: Range<usize>, hops_to_proxy: usize, direction: Direction) -> Vec<Stage> {
    let mut hop_indices: Vec<usize> = span.collect();
    if direction == Direction::Uplink {
        hop_indices.reverse();
    }
    let enters_next_at_once = |hop: usize, next: usize| {
        let meets_proxy = hop.max(next) == hops_to_proxy;
        let flows_meet = hops[next].shared && !hops[hop].shared;
        let is_managed = hops[hop].has_managed_queue || hops[next].has_managed_queue;
        !flows_meet && !meets_proxy && !is_managed
    };
    let stage = |(position, &hop): (usize, &usize)| Stage {
        hop: hop as u8,
        link: hops[hop].first + direction.index() as u32,
        stride: if hops[hop].shared { 0 } else { 2 },
        enters_next_at_once: hop_indices
            .get(position + 1)
            .is_some_and(|&next| enters_next_at_once(hop, next)),
    };
    hop_indices.iter().enumerate().map(stage).collect()
}
