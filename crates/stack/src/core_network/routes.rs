//! The links that packets pass one behind the other, worked out once: on its route a packet looks up nothing but its place.

use std::ops::Range;

use crate::ids::{Direction, FlowId, LinkId, ProxyLeg};
use crate::packet::Packet;

/// One hop of the chain.
#[derive(Debug, Clone, Copy)]
pub struct Hop {
    /// The number of its first link.
    pub first: u32,
    /// Whether all flows share one link.
    pub shared: bool,
    /// Whether packets may overtake each other on it, by direction.
    pub reorders: [bool; 2],
}

/// A hop on the route of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Which hop from the server it is.
    pub hop: u8,
    /// The link of the first flow, and how many numbers on that of the next one is: none if they share it.
    link: u32,
    apart: u32,
    /// Whether what comes out is at once in the link behind: all packets that enter that one come out of this one, in the
    /// order in which they entered. Links of flows meet in front of one that is shared, and what a proxy sends joins what
    /// passes it; where order is lost, it is known when they come out. Not so for the last one of a route.
    pub goes_on: bool,
}

impl Stage {
    /// The link that packets of `flow` take.
    #[inline]
    pub fn link(&self, flow: FlowId) -> LinkId {
        LinkId(self.link + self.apart * flow.0)
    }
}

/// All routes, by the leg of a connection and by direction.
#[derive(Debug, Default)]
pub struct Routes([[Vec<Stage>; 2]; 3]);

impl Routes {
    /// Over the chain `hops` with a proxy behind the first `hops_to_proxy` of them, which may be all.
    pub fn new(hops: &[Hop], hops_to_proxy: usize) -> Self {
        // In the order of the legs.
        let spans = [0..hops.len(), 0..hops_to_proxy, hops_to_proxy..hops.len()];
        Routes(
            spans.map(|span| {
                Direction::BOTH.map(|direction| route(hops, span.clone(), hops_to_proxy, direction))
            }),
        )
    }

    /// The route of this packet, the hop first that it enters first; empty from a proxy at the RNC or to it.
    #[inline]
    pub fn of(&self, packet: &Packet) -> &[Stage] {
        let leg = match packet.leg() {
            ProxyLeg::Whole => 0,
            ProxyLeg::Server => 1,
            ProxyLeg::Radio => 2,
        };
        &self.0[leg][packet.direction().index()]
    }
}

fn route(hops: &[Hop], span: Range<usize>, hops_to_proxy: usize, direction: Direction) -> Vec<Stage> {
    let mut places: Vec<usize> = span.collect();
    if direction == Direction::Uplink {
        places.reverse();
    }
    let goes_on = |at: usize, behind: usize| {
        let meets_proxy = at.max(behind) == hops_to_proxy;
        let joins = hops[behind].shared && !hops[at].shared;
        !joins && !meets_proxy && !hops[at].reorders[direction.index()]
    };
    let stage = |(n, &at): (usize, &usize)| Stage {
        hop: at as u8,
        link: hops[at].first + direction.index() as u32,
        apart: if hops[at].shared { 0 } else { 2 },
        goes_on: places.get(n + 1).is_some_and(|&behind| goes_on(at, behind)),
    };
    places.iter().enumerate().map(stage).collect()
}
