//! The way of a packet through the chain of links between server and RNC. A packet enters at the
//! server, the proxy or the RNC (`enter`, `leave_proxy`, `enter_from_rnc`), subject to the
//! impairment script. It crosses each link of its route (`routes.rs`), and a proxy that does not
//! split connections (the helper) may act on it on the way. Losses and drops are recorded at the
//! time at which they happen.
//!
//! ```text
//!   enter ─► script ─► cross ─┬─ drop-tail, RED: Link::send ─► event LinkArrival ─► forward ─► cross …
//!                             └─ CoDel, PIE: enter_managed_queue ─► link_dequeue ─┘
//! ```

use std::collections::BTreeMap;

use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use super::link::{Link, SentPacket};
use super::managed::Arrival;
use super::{CoreNetwork, PlacedHelper, QueueAction, Treatment, Verdict};
use crate::EventContext;
use crate::event::Event;
use crate::ids::{Direction, HeldId, LinkId};
use crate::packet::Packet;
use crate::trace::{DropPlace, QueuePlace, TraceEvent};

/// Result for a packet that reaches the node of the helper, a proxy that does not split
/// connections.
enum HelperResult {
    /// The packet continues on its route.
    Continues,
    /// The helper consumed the packet and has already forwarded its packets.
    Consumed {
        /// Packet that the helper sends to the UE, if the helper is at the RNC.
        repeat: Option<Packet>,
    },
}

/// Packets enter the chain.
impl CoreNetwork {
    /// Sends a packet into the chain, subject to the script.
    #[inline]
    pub fn enter<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, packet: &mut Packet) {
        if self.impairments.is_empty() {
            self.cross(ctx, 0, packet);
        } else {
            self.apply_script(ctx, *packet);
        }
    }

    /// Sends a packet from the proxy. Returns true if the packet is already at its destination,
    /// because the proxy is at the RNC.
    pub fn leave_proxy<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packet: &mut Packet,
    ) -> bool {
        let is_at_destination = self.ends_at_rnc(packet);
        if !is_at_destination {
            self.cross(ctx, 0, packet);
        }
        is_at_destination
    }

    /// Whether packets from the RNC have no link to cross: packets for a proxy at the RNC.
    #[inline]
    pub fn ends_at_rnc(&self, packet: &Packet) -> bool {
        self.routes.of(packet).is_empty()
    }

    /// Sends a packet from the RNC. Returns a packet that a helper at the RNC sends to the UE in
    /// response.
    #[inline]
    pub fn enter_from_rnc<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packet: &mut Packet,
    ) -> Option<Packet> {
        if self.helper.as_ref().is_some_and(|placed| placed.hops == self.hops.len()) {
            return self.help(ctx, 0, *packet);
        }
        self.enter(ctx, packet);
        None
    }

    /// Treats a packet that enters the chain according to the impairment script.
    #[cold]
    fn apply_script<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, packet: Packet) {
        match self.impairments.treatment(&packet) {
            Treatment::Pass => self.pass_script(ctx, packet),
            Treatment::Drop => {
                ctx.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::Script, packet });
            }
            Treatment::Delay(by) => self.delay(ctx, ctx.cx.now + by, packet),
            Treatment::Duplicate(by) => {
                self.pass_script(ctx, packet);
                self.delay(ctx, ctx.cx.now + by, packet);
            }
            Treatment::Reorder(others) => self.impairments.hold(packet, others),
        }
    }

    /// Sends a packet that passed the script, and the reordered packets that waited for it.
    fn pass_script<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, packet: Packet) {
        let mut following = Vec::new();
        self.impairments.passed(&packet, &mut following);
        for mut packet in std::iter::once(packet).chain(following) {
            self.cross(ctx, 0, &mut packet);
        }
    }

    /// Keeps a packet until it enters the chain at `until`.
    fn delay<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        until: Time,
        packet: Packet,
    ) {
        let id = next_id(&self.delayed);
        self.delayed.insert(id, packet);
        ctx.at(until, Phase::Receive, Event::HeldPacketEnters(id));
    }

    /// A packet that the script delayed enters the chain.
    pub fn held_packet_enters<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        held: HeldId,
    ) {
        let packet = self.delayed.remove(&held).expect("the packet was stored when it was delayed");
        self.pass_script(ctx, packet);
    }
}

/// Packets cross links.
impl CoreNetwork {
    /// Sends a packet into the link at `position` of its route. Also sends it at once into the
    /// following links that have no other input: all packets that can affect it there have already
    /// been sent. Only the last of these links stores the packet until it leaves.
    fn cross<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        position: usize,
        packet: &mut Packet,
    ) {
        let size = packet.size();
        // When the packet enters the link.
        let mut at = ctx.cx.now;
        for stage in &self.routes.of(packet)[position..] {
            let id = stage.link(packet.flow);
            let link = &mut self.links[id.index()];
            if link.has_managed_queue() {
                return self.enter_managed_queue(ctx, id, packet);
            }
            match link.send(at, size, packet) {
                Verdict::Arrives(arrives_at) => {
                    at = arrives_at;
                    record_internet_delay(ctx, link, packet);
                    if link.red_action() == Some(QueueAction::Marked) {
                        record_queue_action(ctx, stage.hop, packet, QueueAction::Marked);
                    }
                    if !stage.enters_next_at_once {
                        link.store(packet);
                        return ctx.at(at, Phase::Receive, Event::LinkArrival(id));
                    }
                }
                Verdict::QueueFull => {
                    if link.red_action() == Some(QueueAction::Dropped) {
                        record_queue_action(ctx, stage.hop, packet, QueueAction::Dropped);
                    }
                    return self.drop_at(ctx, at, DropPlace::LinkQueue(stage.hop), *packet);
                }
                Verdict::Lost => return self.drop_at(ctx, at, DropPlace::LinkLoss(stage.hop), *packet),
                Verdict::Down => return self.drop_at(ctx, at, DropPlace::LinkDown(stage.hop), *packet),
            }
        }
        unreachable!("the last link of a route stores the packet");
    }

    /// A packet enters a link with CoDel or PIE.
    #[cold]
    fn enter_managed_queue<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: LinkId,
        packet: &Packet,
    ) {
        let hop = self.hop_of[id.index()];
        let drop_place = match self.links[id.index()].enqueue(ctx.cx.now, *packet) {
            Some(Arrival::Waits { marked, is_idle }) => {
                if marked {
                    record_queue_action(ctx, hop, packet, QueueAction::Marked);
                }
                if is_idle {
                    self.link_dequeue(ctx, id);
                }
                return;
            }
            Some(Arrival::Dropped) => {
                record_queue_action(ctx, hop, packet, QueueAction::Dropped);
                DropPlace::LinkQueue(hop)
            }
            Some(Arrival::Full) => DropPlace::LinkQueue(hop),
            None => DropPlace::LinkDown(hop),
        };
        ctx.cx.record(|| TraceEvent::PacketDropped { place: drop_place, packet: *packet });
    }

    /// The transmitter of a link with CoDel or PIE is free: the next packet leaves the queue.
    #[cold]
    pub fn link_dequeue<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: LinkId) {
        let hop = self.hop_of[id.index()];
        let link = &mut self.links[id.index()];
        let departure = link.dequeue(ctx.cx.now);
        for packet in departure.dropped {
            record_queue_action(ctx, hop, &packet, QueueAction::Dropped);
            ctx.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::LinkQueue(hop), packet });
        }
        if let Some(at) = departure.next {
            ctx.at(at, Phase::Receive, Event::LinkDequeue(id));
        }
        let Some(SentPacket { packet, is_marked_now, verdict }) = departure.sent else { return };
        if is_marked_now {
            record_queue_action(ctx, hop, &packet, QueueAction::Marked);
        }
        let Verdict::Arrives(at) = verdict else {
            ctx.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::LinkLoss(hop), packet });
            return;
        };
        record_internet_delay(ctx, link, &packet);
        link.store(&packet);
        ctx.at(at, Phase::Receive, Event::LinkArrival(id));
    }

    /// Records the loss of a packet at time `at`.
    #[cold]
    fn drop_at<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        at: Time,
        place: DropPlace,
        packet: Packet,
    ) {
        if at == ctx.cx.now {
            ctx.cx.record(|| TraceEvent::PacketDropped { place, packet });
        } else {
            let id = next_id(&self.lost);
            self.lost.insert(id, (place, packet));
            ctx.at(at, Phase::Receive, Event::LinkLoss(id));
        }
    }

    /// Records the loss of a packet that was decided when it entered an earlier link.
    pub fn link_loss<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: HeldId) {
        let (place, packet) =
            self.lost.remove(&id).expect("the packet was stored when it entered the earlier link");
        ctx.cx.record(|| TraceEvent::PacketDropped { place, packet });
    }

    /// Returns the packet that leaves the link now.
    #[inline]
    pub fn link_arrival(&mut self, link: LinkId) -> Packet {
        self.links[link.index()].take_next()
    }

    /// Forwards a packet that left a link. Returns whether a packet has passed the whole chain.
    /// `packet` is then that packet: the same one, or a packet that a helper sends to the UE in
    /// response.
    #[inline]
    pub fn forward<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        link: LinkId,
        packet: &mut Packet,
    ) -> bool {
        let hop = self.hop_of[link.index()];
        let route = self.routes.of(packet);
        let position = usize::from(hop.abs_diff(route[0].hop));
        let next = position + 1;
        let is_last = next == route.len();
        if self.helper.is_some()
            && let HelperResult::Consumed { repeat } = self.pass_helper(ctx, hop, next, packet)
        {
            *packet = repeat.unwrap_or(*packet);
            return repeat.is_some();
        }
        if !is_last {
            self.cross(ctx, next, packet);
        }
        is_last
    }

    /// Whether the next packet to leave the link belongs to a real program.
    pub fn next_is_foreign(&self, link: LinkId) -> bool {
        self.links[link.index()].next_is_foreign()
    }

    /// Whether the link carries packets of real programs.
    pub fn has_foreign(&self, link: LinkId) -> bool {
        self.links[link.index()].has_foreign()
    }
}

/// Packets pass the helper.
impl CoreNetwork {
    /// Passes a packet that left a link of `hop` to the helper, if the helper is behind that link.
    /// `next` is the position of the following link in the packet's route.
    fn pass_helper<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        hop: u8,
        next: usize,
        packet: &Packet,
    ) -> HelperResult {
        let Some(PlacedHelper { helper, hops }) = self.helper.as_mut() else {
            return HelperResult::Continues;
        };
        match packet.direction() {
            Direction::Downlink if usize::from(hop) + 1 == *hops => {
                helper.pass_down(packet);
                HelperResult::Continues
            }
            Direction::Uplink if usize::from(hop) == *hops => {
                HelperResult::Consumed { repeat: self.help(ctx, next, *packet) }
            }
            _ => HelperResult::Continues,
        }
    }

    /// Passes an uplink packet to the helper, and sends the helper's packets: those to the server
    /// from position `next` of their route on, and one to the UE. Returns the packet to the UE if
    /// the helper is at the RNC, so that no link follows.
    fn help<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        next: usize,
        packet: Packet,
    ) -> Option<Packet> {
        let PlacedHelper { helper, hops } = self.helper.as_mut()?;
        let hops_to_helper = *hops;
        let output = helper.pass_up(packet);
        if let (Some(help), Some(segment)) = (output.action, packet.segment()) {
            let connection = segment.connection;
            ctx.cx.record(|| TraceEvent::ProxyHelped { connection, help });
        }
        if output.hidden {
            ctx.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::ProxyHidden, packet });
        }
        // A helper at the RNC is in front of the chain, where the script applies.
        let enters_chain = next == 0;
        for mut packet in output.up {
            if enters_chain {
                self.enter(ctx, &mut packet);
            } else {
                self.cross(ctx, next, &mut packet);
            }
        }
        let is_at_rnc = hops_to_helper == self.hops.len();
        if is_at_rnc {
            return output.down;
        }
        if let Some(mut repeat) = output.down {
            self.cross(ctx, hops_to_helper, &mut repeat);
        }
        None
    }
}

/// Records the Internet delay of the packet that was sent last, if the link has Internet delays.
#[inline]
fn record_internet_delay<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    link: &Link,
    packet: &Packet,
) {
    if let Some(delay) = link.internet_delay() {
        let direction = packet.direction();
        ctx.cx.record(|| TraceEvent::InternetDelay { direction, delay });
    }
}

/// Records an action of queue management on a packet in front of a link.
#[cold]
fn record_queue_action<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    hop: u8,
    packet: &Packet,
    action: QueueAction,
) {
    let direction = packet.direction();
    let marked = action == QueueAction::Marked;
    ctx.cx.record(|| TraceEvent::QueueManaged { place: QueuePlace::Link(hop), direction, marked });
}

/// A number above all stored ones.
fn next_id<T>(stored: &BTreeMap<HeldId, T>) -> HeldId {
    stored.last_key_value().map_or(HeldId(0), |(id, _)| HeldId(id.0 + 1))
}
