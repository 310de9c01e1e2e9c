//! The path from the server to the RNC: a chain of links between routers, GGSN and SGSN, and a
//! script that acts on single packets as they enter.
//!
//! By default each server has its own first link, and all flows share the other links. The uplink
//! is the same chain in reverse, with separate queues. A node of the chain may be a proxy
//! ([`proxy`](crate::proxy)), where connections end and new ones begin.

mod crossing;
mod delay;
mod impairments;
mod link;
mod managed;
mod queue;
mod routes;

pub use delay::{InternetDelay, LinkDirections};
pub use impairments::{Impairment, Impairments, PacketKind, Treatment};
pub use link::{Link, LinkChange, LinkConfig, Outage, QueueAction, Verdict};

use std::collections::BTreeMap;

use umts_kernel::random::Streams;
use umts_units::{Bytes, Time};

use crate::ids::{Direction, HeldId};
use crate::packet::Packet;
use crate::proxy::{Helper, ProxyConfig};
use crate::trace::DropPlace;
use routes::{Hop, Routes};

/// The links of both directions, and the impairment script.
#[derive(Debug)]
pub struct CoreNetwork {
    /// The chain, server first.
    hops: Vec<Hop>,
    routes: Routes,
    /// The links, addressed by [`LinkId`](crate::ids::LinkId). Ordered by hop, then by server, then
    /// downlink before uplink. A shared hop has one pair.
    links: Vec<Link>,
    /// Hop of each link.
    hop_of: Vec<u8>,
    /// For links that get random losses during the run.
    streams: Streams,
    impairments: Impairments,
    /// Packets that the script delays.
    delayed: BTreeMap<HeldId, Packet>,
    /// Packets that will be lost in a later link, until the time of the loss.
    lost: BTreeMap<HeldId, (DropPlace, Packet)>,
    helper: Option<PlacedHelper>,
}

/// A proxy that does not split connections, and its place in the chain.
#[derive(Debug)]
struct PlacedHelper {
    helper: Helper,
    /// Number of hops between the servers and the helper.
    hops: usize,
}

impl CoreNetwork {
    /// The chain `hops`, server first, for `servers` servers. Each link has its own random losses.
    pub fn new(hops: &[LinkConfig], servers: u32, script: &[Impairment], streams: &Streams) -> Self {
        let servers = servers.max(1);
        let mut chain = Vec::new();
        let mut links = Vec::new();
        let mut hop_of = Vec::new();
        for (hop, config) in hops.iter().enumerate() {
            // By default each server has its own first link.
            let is_shared = config.shared.unwrap_or(hop > 0);
            chain.push(Hop {
                first: links.len() as u32,
                shared: is_shared || servers == 1,
                has_managed_queue: config.has_managed_queue(),
            });
            // Shared hops use the stream name of the first server.
            let owners = if is_shared { 1 } else { servers };
            for owner in 0..owners {
                for direction in Direction::BOTH {
                    let name = stream_name(direction, hop, owner);
                    links.push(Link::new(config, direction, streams, &name));
                    hop_of.push(hop as u8);
                }
            }
        }
        CoreNetwork {
            routes: Routes::new(&chain, chain.len()),
            hops: chain,
            links,
            hop_of,
            streams: *streams,
            impairments: Impairments::new(script),
            delayed: BTreeMap::new(),
            lost: BTreeMap::new(),
            helper: None,
        }
    }

    /// Changes all links of hop number `hop`, counted from the server, for packets that enter from
    /// now on.
    pub fn change_link(&mut self, hop: u8, change: LinkChange) {
        let first_link = self.hops[usize::from(hop)].first;
        for (number, link) in self.links.iter_mut().enumerate().filter(|(n, _)| self.hop_of[*n] == hop) {
            // Links of a hop are ordered by server, then downlink before uplink.
            let offset = number as u32 - first_link;
            let (server, direction) = (offset / 2, Direction::BOTH[offset as usize % 2]);
            let name = || stream_name(direction, usize::from(hop), server);
            link.change(change, direction, &self.streams, name);
        }
    }

    /// Returns the change that would undo `change` if it were made now. All links of a hop have the
    /// same values.
    pub fn undo_of(&self, hop: u8, change: LinkChange) -> LinkChange {
        let first_link = self.hops[usize::from(hop)].first as usize;
        let pair = self.links[first_link..].iter().zip(Direction::BOTH);
        pair.fold(change, |undo, (link, direction)| link.undo_of(undo, direction))
    }

    /// Octets in the queues of the links of each hop, by direction: those that wait or are being
    /// sent at `now`.
    pub fn queued(&self, now: Time) -> Vec<[Bytes; 2]> {
        let mut queued = vec![[Bytes::ZERO; 2]; self.hops.len()];
        let directions = Direction::BOTH.into_iter().cycle();
        // The links of a hop are pairs, downlink before uplink.
        for ((link, &hop), direction) in self.links.iter().zip(&self.hop_of).zip(directions) {
            queued[usize::from(hop)][direction.index()] += link.queued(now);
        }
        queued
    }

    /// Adds a proxy. `helped` holds for each flow whether a proxy that does not split acts on the
    /// flow.
    #[must_use]
    pub fn with_proxy(self, proxy: &ProxyConfig, helped: Vec<bool>) -> Self {
        let hops = proxy.hops as usize;
        assert!((1..=self.hops.len()).contains(&hops), "a proxy is between server and RNC, or at the RNC");
        let helper = proxy.helper.map(|kind| PlacedHelper { helper: Helper::new(kind, helped), hops });
        CoreNetwork { routes: Routes::new(&self.hops, hops), helper, ..self }
    }
}

/// Name of the random stream of a link. `owner`: number of its server.
fn stream_name(direction: Direction, hop: usize, owner: u32) -> String {
    format!("core_network/{direction:?}/hop{hop}/server{owner}")
}

#[cfg(test)]
mod tests {
    use umts_kernel::{EventQueue, TraceSink};
    use umts_units::{Duration, Probability};

    use super::*;
    use crate::EventContext;
    use crate::event::Event;
    use crate::ids::{ConnectionId, FlowId, LinkId, PacketId, ProxyLeg, UeId};
    use crate::packet::{Content, Segment};
    use crate::trace::TraceEvent;

    const ONE_SERVER: u32 = 1;
    const TWO_SERVERS: u32 = 2;
    const THREE_SERVERS: u32 = 3;
    const NO_SCRIPT: &[Impairment] = &[];

    fn packet(direction: Direction, flow: FlowId) -> Packet {
        let segment = Segment::new(ConnectionId(0), direction);
        Packet { id: PacketId(0), flow, ue: UeId(0), content: Content::Segment(segment) }
    }

    /// A proxy with this number of hops between it and the servers.
    fn proxy(hops: u32) -> ProxyConfig {
        ProxyConfig {
            hops,
            setup: crate::proxy::Setup::Early,
            buffer: None,
            memory: None,
            at_limit: crate::proxy::AtLimit::Pass,
            outages: Vec::new(),
            helper: None,
        }
    }

    fn links(core: &CoreNetwork, packet: &Packet) -> Vec<LinkId> {
        core.routes.of(packet).iter().map(|stage| stage.link(packet.flow)).collect()
    }

    /// The hops, from the server to the UE, of connections on a leg in a chain of three hops with a
    /// proxy after `hops_to_proxy` of them. They must be the same in both directions.
    fn hops_of_leg(hops_to_proxy: u32, leg: ProxyLeg) -> Vec<u8> {
        let chain = vec![LinkConfig::default(); 3];
        let core = CoreNetwork::new(&chain, TWO_SERVERS, NO_SCRIPT, &Streams::new(1, 0))
            .with_proxy(&proxy(hops_to_proxy), Vec::new());
        let [down, mut up] = Direction::BOTH.map(|direction| {
            let segment = Segment { leg, ..Segment::new(ConnectionId(0), direction) };
            let packet = Packet { content: Content::Segment(segment), ..packet(direction, FlowId(1)) };
            core.routes.of(&packet).iter().map(|stage| stage.hop).collect::<Vec<u8>>()
        });
        up.reverse();
        assert_eq!(down, up);
        down
    }

    #[test]
    fn split_connections_use_only_hops_on_their_side() {
        assert_eq!(hops_of_leg(1, ProxyLeg::Server), [0]);
        assert_eq!(hops_of_leg(1, ProxyLeg::Radio), [1, 2]);
    }

    #[test]
    fn proxy_at_the_rnc_has_no_hop_towards_the_ue() {
        assert_eq!(hops_of_leg(3, ProxyLeg::Server), [0, 1, 2]);
        assert!(hops_of_leg(3, ProxyLeg::Radio).is_empty());
    }

    #[test]
    fn unsplit_route_has_every_hop_in_both_directions() {
        let hops = vec![LinkConfig::default(); 3];
        let core = CoreNetwork::new(&hops, TWO_SERVERS, NO_SCRIPT, &Streams::new(1, 0));
        for (direction, order) in [(Direction::Downlink, [0, 1, 2]), (Direction::Uplink, [2, 1, 0])] {
            let route = core.routes.of(&packet(direction, FlowId(1))).iter();
            assert_eq!(route.map(|stage| stage.hop).collect::<Vec<_>>(), order);
        }
    }

    #[test]
    fn servers_share_all_links_except_the_first() {
        let hops = vec![LinkConfig::default(); 2];
        let core = CoreNetwork::new(&hops, TWO_SERVERS, NO_SCRIPT, &Streams::new(1, 0));
        let path = |flow| links(&core, &packet(Direction::Downlink, FlowId(flow)));
        let (first, second) = (path(0), path(1));
        assert_ne!(first[0], second[0]);
        assert_eq!(first[1], second[1]);
    }

    /// Three hops: shared, not shared, and with the default, which is shared for all but the first.
    fn shared_separate_default() -> CoreNetwork {
        let hop = |shared| LinkConfig { shared, ..LinkConfig::default() };
        let hops = [hop(Some(true)), hop(Some(false)), hop(None)];
        CoreNetwork::new(&hops, THREE_SERVERS, NO_SCRIPT, &Streams::new(1, 0))
    }

    #[test]
    fn shared_option_selects_one_link_or_one_per_flow() {
        let core = shared_separate_default();
        let paths = [0, 1, 2].map(|flow| links(&core, &packet(Direction::Downlink, FlowId(flow))));
        let link_count = |hop: usize| {
            let distinct: std::collections::BTreeSet<u32> = paths.iter().map(|path| path[hop].0).collect();
            distinct.len()
        };
        assert_eq!(link_count(0), 1);
        assert_eq!(link_count(1), 3);
        assert_eq!(link_count(2), 1);
    }

    /// The links of the flows meet before the third hop, a shared one. It receives packets of all
    /// flows in the order of their arrival, so that a packet cannot enter it ahead of time.
    #[test]
    fn packets_enter_a_link_at_once_unless_flows_meet() {
        let core = shared_separate_default();
        let route = core.routes.of(&packet(Direction::Downlink, FlowId(1)));
        let at_once: Vec<bool> = route.iter().map(|stage| stage.enters_next_at_once).collect();
        let is_last = false;
        assert_eq!(at_once, [true, false, is_last]);
    }

    /// Packets are sent every 20 ms over an Internet path and a link of 10 ms.
    #[test]
    fn packets_keep_their_order_over_the_internet() {
        let hops = [
            LinkConfig { internet_delay: Some(InternetDelay::default()), ..LinkConfig::default() },
            LinkConfig { delay: Duration::from_millis(10), ..LinkConfig::default() },
        ];
        let mut core = CoreNetwork::new(&hops, ONE_SERVER, NO_SCRIPT, &Streams::new(1, 0));
        let (mut log, mut agenda) = (DropLog::default(), EventQueue::new());
        // The packets that leave the second link, with their times in ms.
        let mut arrivals: Vec<(u64, PacketId)> = Vec::new();
        for n in 0..500 {
            let now = Time::ZERO + Duration::from_millis(n * 20);
            while agenda.next_time().is_some_and(|at| at <= now) {
                let (at, event) = agenda.pop().expect("next_time returned a time");
                let Event::LinkArrival(link) = event else { panic!("{event:?}") };
                let mut packet = core.link_arrival(link);
                if core.forward(&mut EventContext::new(at, &mut log, &mut agenda), link, &mut packet) {
                    arrivals.push((at.as_nanos() / 1_000_000, packet.id));
                }
            }
            let segment = Segment::new(ConnectionId(0), Direction::Downlink);
            let content = Content::Segment(segment);
            let mut packet = Packet { id: PacketId(n), flow: FlowId(0), ue: UeId(0), content };
            core.enter(&mut EventContext::new(now, &mut log, &mut agenda), &mut packet);
        }
        assert!(arrivals.len() > 450);
        assert!(arrivals.is_sorted_by(|(_, earlier), (_, later)| earlier < later));
        // Delays are at least 35 ms, plus 10 ms of the second link.
        assert!(arrivals.iter().all(|&(at_ms, id)| at_ms >= id.0 * 20 + 35 + 10));
    }

    #[test]
    fn loss_and_delay_apply_only_in_the_configured_direction() {
        let delay = InternetDelay { direction: LinkDirections::Uplink, ..InternetDelay::default() };
        let config = LinkConfig {
            loss: Probability::ONE,
            downlink_loss: Some(Probability::ZERO),
            internet_delay: Some(delay),
            ..LinkConfig::default()
        };
        let send = |config: &LinkConfig, direction| {
            let mut packet = Packet {
                id: PacketId(0),
                flow: FlowId(0),
                ue: UeId(0),
                content: Content::Segment(Segment::new(ConnectionId(0), direction)),
            };
            let mut link = Link::new(config, direction, &Streams::new(1, 0), "link");
            link.send(Time::ZERO, packet.size(), &mut packet)
        };
        assert_eq!(send(&config, Direction::Downlink), Verdict::Arrives(Time::ZERO));
        assert_eq!(send(&config, Direction::Uplink), Verdict::Lost);
        let lossless = LinkConfig { loss: Probability::ZERO, ..config };
        let Verdict::Arrives(at) = send(&lossless, Direction::Uplink) else { panic!("nothing is lost") };
        assert!(at >= Time::ZERO + Duration::from_millis(35));
    }

    /// The places of dropped packets, with the time of the record.
    #[derive(Default)]
    struct DropLog {
        drops: Vec<(Time, DropPlace)>,
    }

    impl TraceSink<TraceEvent> for DropLog {
        fn record(&mut self, now: Time, event: &TraceEvent) {
            if let TraceEvent::PacketDropped { place, .. } = event {
                self.drops.push((now, *place));
            }
        }
    }

    #[test]
    fn chained_links_need_one_event_and_losses_are_recorded_on_time() {
        let (none, all) = (Probability::ZERO, Probability::ONE);
        let hop = |loss| LinkConfig { delay: Duration::from_millis(10), loss, ..LinkConfig::default() };
        let mut core = CoreNetwork::new(
            &[hop(none), hop(none), hop(none), hop(all)],
            TWO_SERVERS,
            NO_SCRIPT,
            &Streams::new(1, 0),
        );
        let mut packet = packet(Direction::Downlink, FlowId(0));
        let (mut log, mut agenda) = (DropLog::default(), EventQueue::new());
        core.enter(&mut EventContext::new(Time::ZERO, &mut log, &mut agenda), &mut packet);
        let mut handled_events = Vec::new();
        while let Some((now, event)) = agenda.pop() {
            handled_events.push((now.as_nanos() / 1_000_000, event));
            let mut ctx = EventContext::new(now, &mut log, &mut agenda);
            match event {
                Event::LinkArrival(link) => {
                    let mut packet = core.link_arrival(link);
                    assert!(!core.forward(&mut ctx, link, &mut packet), "more links follow");
                }
                Event::LinkLoss(id) => core.link_loss(&mut ctx, id),
                other => panic!("{other:?}"),
            }
        }
        // The links of the two servers meet before the second hop. After the second hop there are
        // no other inputs.
        assert_eq!(handled_events, [(10, Event::LinkArrival(LinkId(0))), (30, Event::LinkLoss(HeldId(0)))]);
        assert_eq!(log.drops, [(Time::ZERO + Duration::from_millis(30), DropPlace::LinkLoss(3))]);
    }
}
