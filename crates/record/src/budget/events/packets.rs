//! Packets between the hosts: sent, moved through the network, received, or lost.

use umts_stack::core_network::LinkConfig;
use umts_stack::ids::{ConnectionId, Direction, End, PacketId, ProxyLeg};
use umts_stack::packet::{Packet, Segment};
use umts_stack::trace::{CapturePoint, DropPlace};
use umts_units::{Bytes, Duration, Time};

use crate::budget::Budget;
use crate::budget::connection::Kind;
use crate::budget::direction_state::Position;
use crate::budget::loss::Loss;
use crate::timeline::LostPacket;

impl Budget {
    /// A segment left its host.
    pub(super) fn sent(&mut self, now: Time, packet: PacketId, segment: &Segment) {
        let end = End::sending(segment.direction);
        let place = self.initial_position(now, segment);
        if let Some(connection) = self.connection_at(now, segment.connection) {
            connection.direction_mut(end).sent(packet, segment, place);
            connection.active(end, now);
        }
    }

    /// A segment reached its host. `delivered`: octets of payload that it brought into order.
    pub(super) fn received(&mut self, now: Time, packet: PacketId, segment: &Segment, delivered: u64) {
        let from = End::sending(segment.direction);
        if let Some(connection) = self.connection_at(now, segment.connection) {
            connection.direction_mut(from).arrived(packet, segment, delivered);
            connection.direction_mut(from.other()).set_peer_window(segment.window);
            connection.resolve_timeouts(packet, None);
            connection.active(from.other(), now);
        }
    }

    /// Position of a segment after it has left its host.
    fn initial_position(&self, now: Time, segment: &Segment) -> Position {
        match (segment.direction, segment.leg) {
            (Direction::Uplink, ProxyLeg::Whole | ProxyLeg::Radio) => Position::Radio,
            (Direction::Downlink, _) | (Direction::Uplink, ProxyLeg::Server) => {
                let octets = u64::from(segment.payload) + u64::from(segment.header);
                self.position_in_core(now, segment.leg, octets)
            }
        }
    }

    /// Position of a packet of `octets` that enters the fixed network at `now`, on the links of
    /// this leg. In an empty network it leaves after the sum over links of its transmission time
    /// (size / rate) and the delay of the link.
    fn position_in_core(&self, now: Time, leg: ProxyLeg, octets: u64) -> Position {
        let sending =
            |link: &LinkConfig| link.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(Bytes(octets)));
        let links = match leg {
            ProxyLeg::Whole => &self.core[..],
            ProxyLeg::Server => &self.core[..self.hops_to_proxy],
            ProxyLeg::Radio => &self.core[self.hops_to_proxy..],
        };
        let leaves_at = links.iter().fold(now, |at, link| at + sending(link) + link.delay);
        Position::Core(leaves_at)
    }

    /// A packet passed a capture point: it enters the bearer or the core network, or a SYN reaches
    /// the proxy.
    pub(super) fn record_capture(&mut self, now: Time, at: CapturePoint, packet: &Packet) {
        let direction = packet.direction();
        let connection = packet.segment().map(|segment| segment.connection);
        match (at, direction) {
            (CapturePoint::Rnc, Direction::Downlink) | (CapturePoint::Ue, Direction::Uplink) => {
                self.ue_at(now, packet.ue).bearers[direction.index()].enter(packet.id, connection);
                let ue = &self.ues[packet.ue.index()];
                self.waiting.insert(ue.cell, direction.index(), packet.ue);
                self.moved(now, packet, Position::Radio);
            }
            (CapturePoint::Rnc, Direction::Uplink) => {
                self.moved(now, packet, self.position_in_core(now, packet.leg(), packet.size().0));
            }
            (CapturePoint::ProxyServer, Direction::Downlink)
            | (CapturePoint::ProxyRadio, Direction::Uplink) => {
                let Some(syn) = packet.segment().filter(|segment| segment.flags.syn) else { return };
                self.change_direction(now, syn.connection, End::sending(direction), |sending| {
                    sending.syn_at_proxy = Some(packet.id);
                });
            }
            (CapturePoint::Server | CapturePoint::ProxyServer | CapturePoint::ProxyRadio, _)
            | (CapturePoint::Ue, Direction::Downlink) => {}
        }
    }

    /// A segment reached the position `place`.
    fn moved(&mut self, now: Time, packet: &Packet, place: Position) {
        if let Some(segment) = packet.segment() {
            let end = End::sending(segment.direction);
            self.change_direction(now, segment.connection, end, |sending| sending.moved(packet.id, place));
        }
    }

    /// A packet was dropped at `place`.
    pub(super) fn dropped(&mut self, now: Time, place: DropPlace, packet: &Packet) {
        let direction = packet.direction();
        let Some(loss) = Loss::of_drop(place) else { return };
        if let Some(timeline) = &mut self.timeline {
            let link = match place {
                DropPlace::LinkQueue(link) | DropPlace::LinkLoss(link) | DropPlace::LinkDown(link) => {
                    Some(link)
                }
                _ => None,
            };
            let lost = LostPacket {
                packet: packet.id,
                ue: packet.ue,
                direction,
                connection: packet.segment().map(|segment| segment.connection),
                loss: loss.name(),
                link,
            };
            timeline.lost(now, lost);
        }
        if loss.is_of_radio() {
            self.leaves_bearer(now, packet.ue, direction, packet.id);
        }
        if let Some(segment) = packet.segment() {
            self.lost(now, direction, packet.id, segment.connection, loss);
        }
    }

    /// A packet of a connection was lost. Lost datagrams are not repeated, so the wait for them
    /// ends.
    pub(super) fn lost(
        &mut self,
        now: Time,
        direction: Direction,
        packet: PacketId,
        connection: ConnectionId,
        loss: Loss,
    ) {
        if let Some(connection) = self.connection_at(now, connection) {
            let is_retransmitted = connection.kind == Kind::Tcp;
            let state = connection.direction_mut(End::sending(direction));
            state.lost(packet, loss);
            if !is_retransmitted {
                state.forget_lost();
            }
            connection.resolve_timeouts(packet, Some(loss));
        }
    }
}
