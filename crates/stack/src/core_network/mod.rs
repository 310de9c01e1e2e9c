//! From the server to the RNC: a chain of links with routers, GGSN and SGSN between them, and a script that does something
//! to single packets as they enter.
//!
//! Each server has the first hop to itself; the flows share the others. The uplink is the same chain backwards, with
//! queues of its own.

mod crossing;
mod impairments;
mod link;
mod red;

pub use impairments::{Impairment, Impairments, PacketKind, Treatment};
pub use link::{Link, LinkConfig, Outage, QueueLimit, Verdict};
pub use red::{Choice, Red, RedConfig};

use std::collections::BTreeMap;

use umts_kernel::random::Streams;

use crate::ids::{Direction, FlowId, HeldId, LinkId};
use crate::packet::Packet;

/// The links of both directions, and the script.
#[derive(Debug)]
pub struct CoreNetwork {
    hops: u32,
    servers: u32,
    /// The first hops of all servers, downlink and uplink, then the other hops, downlink and uplink.
    links: Vec<Link>,
    impairments: Impairments,
    /// Packets that the script delays.
    delayed: BTreeMap<HeldId, Packet>,
}

impl CoreNetwork {
    /// The chain `hops`, server first, for `servers` servers. Each link has losses of its own.
    pub fn new(hops: &[LinkConfig], servers: u32, script: &[Impairment], streams: &Streams) -> Self {
        let servers = servers.max(1);
        let mut links = Vec::new();
        for (hop, config) in hops.iter().enumerate() {
            // Hops after the first are shared: they have the names of the first server's.
            for owner in 0..if hop == 0 { servers } else { 1 } {
                for direction in [Direction::Downlink, Direction::Uplink] {
                    let name = format!("core_network/{direction:?}/hop{hop}/server{owner}");
                    links.push(Link::new(config, streams, &name));
                }
            }
        }
        let impairments = Impairments::new(script);
        CoreNetwork { hops: hops.len() as u32, servers, links, impairments, delayed: BTreeMap::new() }
    }

    /// The link that packets of `flow` take as hop number `hop` from the server.
    #[inline]
    fn link_id(&self, direction: Direction, hop: u32, flow: FlowId) -> LinkId {
        let pair = if hop == 0 { flow.0 } else { self.servers + hop - 1 };
        LinkId(pair * 2 + direction.index() as u32)
    }

    /// The link that a packet enters first.
    #[inline]
    fn entry(&self, direction: Direction, flow: FlowId) -> LinkId {
        let hop = match direction {
            Direction::Downlink => 0,
            Direction::Uplink => self.hops - 1,
        };
        self.link_id(direction, hop, flow)
    }

    /// The link after `link` for a packet of `flow`; `None` at the end of the chain.
    #[inline]
    fn next(&self, link: LinkId, direction: Direction, flow: FlowId) -> Option<LinkId> {
        let hop = self.hop(link);
        let next = match direction {
            Direction::Downlink if hop + 1 < self.hops => hop + 1,
            Direction::Uplink if hop > 0 => hop - 1,
            _ => return None,
        };
        Some(self.link_id(direction, next, flow))
    }

    /// Which hop from the server a link is.
    #[inline]
    fn hop(&self, link: LinkId) -> u32 {
        (link.0 / 2 + 1).saturating_sub(self.servers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_passes_every_hop_both_ways() {
        let hops = vec![LinkConfig::default(); 3];
        let core = CoreNetwork::new(&hops, 2, &[], &Streams::new(1, 0));
        for (direction, order) in [(Direction::Downlink, [0, 1, 2]), (Direction::Uplink, [2, 1, 0])] {
            let mut path = Vec::new();
            let mut at = Some(core.entry(direction, FlowId(1)));
            while let Some(link) = at {
                path.push(core.hop(link));
                at = core.next(link, direction, FlowId(1));
            }
            assert_eq!(path, order);
        }
    }

    #[test]
    fn servers_share_all_but_their_own_link() {
        let core = CoreNetwork::new(&vec![LinkConfig::default(); 2], 2, &[], &Streams::new(1, 0));
        let path = |flow| {
            let first = core.entry(Direction::Downlink, flow);
            (first, core.next(first, Direction::Downlink, flow).unwrap())
        };
        let (a, b) = (path(FlowId(0)), path(FlowId(1)));
        assert!(a.0 != b.0 && a.1 == b.1);
    }
}
