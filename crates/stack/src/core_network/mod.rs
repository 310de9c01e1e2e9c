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
use crate::trace::DropPlace;

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
    /// Packets that get lost behind the link that they entered last, when their time has come.
    lost: BTreeMap<HeldId, (DropPlace, Packet)>,
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
        CoreNetwork {
            hops: hops.len() as u32,
            servers,
            links,
            impairments,
            delayed: BTreeMap::new(),
            lost: BTreeMap::new(),
        }
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

    /// Whether all packets that enter `link` come out of one and the same other link. Links of servers meet in front of the
    /// second hop of the downlink; nowhere else does anything join.
    #[inline]
    fn is_entered_by_one(&self, link: LinkId, direction: Direction) -> bool {
        direction == Direction::Uplink || self.servers == 1 || self.hop(link) > 1
    }

    /// Which hop from the server a link is.
    #[inline]
    fn hop(&self, link: LinkId) -> u32 {
        (link.0 / 2 + 1).saturating_sub(self.servers)
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::{EventQueue, TraceSink};
    use umts_units::{Duration, Time};

    use super::*;
    use crate::Step;
    use crate::event::Event;
    use crate::ids::{ConnectionId, PacketId, UeId};
    use crate::packet::{Content, Segment};
    use crate::trace::TraceEvent;

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

    /// What is told of packets, and when.
    struct Told(Vec<(Time, DropPlace)>);

    impl TraceSink<TraceEvent> for Told {
        fn record(&mut self, now: Time, event: &TraceEvent) {
            if let TraceEvent::PacketDropped { place, .. } = event {
                self.0.push((now, *place));
            }
        }
    }

    #[test]
    fn links_behind_each_other_are_crossed_at_once_and_a_loss_is_told_when_it_happens() {
        let hop = |loss| LinkConfig { delay: Duration::from_millis(10), loss, ..LinkConfig::default() };
        let mut core =
            CoreNetwork::new(&[hop(0.0), hop(0.0), hop(0.0), hop(1.0)], 2, &[], &Streams::new(1, 0));
        let segment = Segment::new(ConnectionId(0), Direction::Downlink);
        let packet =
            Packet { id: PacketId(0), flow: FlowId(0), ue: UeId(0), content: Content::Segment(segment) };
        let (mut told, mut agenda) = (Told(Vec::new()), EventQueue::new());
        core.enter(&mut Step::new(Time::ZERO, &mut told, &mut agenda), packet);
        let mut happened = Vec::new();
        while let Some((now, event)) = agenda.pop() {
            happened.push((now.as_nanos() / 1_000_000, event));
            let mut step = Step::new(now, &mut told, &mut agenda);
            match event {
                Event::LinkArrival(link) => assert_eq!(core.link_arrival(&mut step, link), None),
                Event::LinkLoss(id) => core.link_loss(&mut step, id),
                other => panic!("{other:?}"),
            }
        }
        // The link of the server joins others in front of the second hop; from there on nothing does.
        assert_eq!(happened, [(10, Event::LinkArrival(LinkId(0))), (30, Event::LinkLoss(HeldId(0)))]);
        assert_eq!(told.0, [(Time::ZERO + Duration::from_millis(30), DropPlace::LinkLoss(3))]);
    }
}
