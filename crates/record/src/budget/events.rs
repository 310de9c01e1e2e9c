//! Interprets trace events for the budget: positions of packets, fates of PDUs, opening and closing
//! of connections.

use umts_kernel::TraceSink;
use umts_stack::core_network::LinkConfig;
use umts_stack::detail::{Detail, Stage};
use umts_stack::ids::{ConnectionId, Direction, End, FlowId, PacketId, ProxyLeg, UeId};
use umts_stack::packet::{Packet, Segment};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::BlockSet;
use umts_stack::trace::{CapturePoint, Channel, DropPlace, Real, TraceEvent};
use umts_units::{Bytes, Duration, Time};

use super::Budget;
use super::bearer::statuses;
use super::capacity::Capacity;
use super::connection::{Connection, Kind};
use super::direction_state::Place;
use super::dsch_postponement::DschPostponement;
use super::log::Log;
use super::loss::Loss;
use super::missing;
use super::ue::Ue;
use crate::metrics::Window;

impl Budget {
    /// Opens a flow of datagrams or a DNS lookup of a program. Its packets are traced as segments
    /// of `connection`. The sequence numbers count octets, or queries and answers.
    pub fn open_datagrams(&mut self, now: Time, connection: ConnectionId, ue: UeId, kind: Kind) {
        let (flow, sender, leg) = (FlowId(u32::MAX), End::Server, ProxyLeg::Whole);
        let transfer = connection;
        self.record(
            now,
            &TraceEvent::ConnectionOpened { connection, transfer, leg, flow, ue, sender, mss: 1 },
        );
        self.adopt(now, connection, kind);
    }

    /// The connection for which the lookup `connection` was made begins. The time of the lookup is
    /// part of its time.
    pub fn adopt(&mut self, now: Time, connection: ConnectionId, kind: Kind) {
        if let Some(connection) = self.at(now, connection) {
            connection.change_kind(kind, now);
        }
    }

    fn sent(&mut self, now: Time, packet: PacketId, segment: &Segment) {
        let (end, place) = (End::sending(segment.direction), self.first_place(now, segment));
        if let Some(connection) = self.at(now, segment.connection) {
            connection.way(end).sent(packet, segment, place);
            connection.active(end, now);
        }
    }

    fn received(&mut self, now: Time, packet: PacketId, segment: &Segment, delivered: u64) {
        let from = End::sending(segment.direction);
        if let Some(connection) = self.at(now, segment.connection) {
            connection.way(from).arrived(packet, segment, delivered);
            connection.way(from.other()).set_peer_window(segment.window);
            connection.settle_timeouts(packet, None);
            connection.active(from.other(), now);
        }
    }

    /// Position of a segment after it has left its host.
    fn first_place(&self, now: Time, segment: &Segment) -> Place {
        match (segment.direction, segment.leg) {
            (Direction::Uplink, ProxyLeg::Whole | ProxyLeg::Radio) => Place::Radio,
            (Direction::Downlink, _) | (Direction::Uplink, ProxyLeg::Server) => {
                let octets = u64::from(segment.payload) + u64::from(segment.header);
                self.in_core(now, segment.leg, octets)
            }
        }
    }

    /// Position in the fixed network on this leg, with the time that a packet of `octets` needs
    /// when the network is empty.
    fn in_core(&self, now: Time, leg: ProxyLeg, octets: u64) -> Place {
        let sending =
            |link: &LinkConfig| link.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(Bytes(octets)));
        let links = match leg {
            ProxyLeg::Whole => &self.core[..],
            ProxyLeg::Server => &self.core[..self.hops_to_proxy],
            ProxyLeg::Radio => &self.core[self.hops_to_proxy..],
        };
        let through = links.iter().fold(now, |at, link| at + sending(link) + link.delay);
        Place::Core(through)
    }

    fn record_capture(&mut self, now: Time, at: CapturePoint, packet: &Packet) {
        let direction = packet.direction();
        let connection = packet.segment().map(|segment| segment.connection);
        match (at, direction) {
            (CapturePoint::Rnc, Direction::Downlink) | (CapturePoint::Ue, Direction::Uplink) => {
                self.ue_at(now, packet.ue).bearers[direction.index()].enter(packet.id, connection);
                let ue = &self.ues[packet.ue.index()];
                self.waiting.insert(ue.cell, direction.index(), packet.ue);
                self.moved(now, packet, Place::Radio);
            }
            (CapturePoint::Rnc, Direction::Uplink) => {
                self.moved(now, packet, self.in_core(now, packet.leg(), packet.size().0));
            }
            (CapturePoint::ProxyServer, Direction::Downlink)
            | (CapturePoint::ProxyRadio, Direction::Uplink) => {
                let Some(syn) = packet.segment().filter(|segment| segment.flags.syn) else { return };
                if let Some(connection) = self.at(now, syn.connection) {
                    connection.way(End::sending(direction)).syn_at_proxy = Some(packet.id);
                }
            }
            (CapturePoint::Server | CapturePoint::ProxyServer | CapturePoint::ProxyRadio, _)
            | (CapturePoint::Ue, Direction::Downlink) => {}
        }
    }

    fn moved(&mut self, now: Time, packet: &Packet, place: Place) {
        let Some(segment) = packet.segment() else { return };
        let end = End::sending(segment.direction);
        if let Some(connection) = self.at(now, segment.connection) {
            connection.way(end).moved(packet.id, place);
        }
    }

    fn dropped(&mut self, now: Time, place: DropPlace, packet: &Packet) {
        let direction = packet.direction();
        let Some(loss) = Loss::of_drop(place) else { return };
        if loss.is_of_radio() {
            self.leaves_bearer(now, packet.ue, direction, packet.id);
        }
        if let Some(segment) = packet.segment() {
            self.lost(now, direction, packet.id, segment.connection, loss);
        }
    }

    fn lost(
        &mut self,
        now: Time,
        direction: Direction,
        packet: PacketId,
        connection: ConnectionId,
        loss: Loss,
    ) {
        if let Some(connection) = self.at(now, connection) {
            let is_repeated = connection.kind == Kind::Tcp;
            let way = connection.way(End::sending(direction));
            way.lost(packet, loss);
            if !is_repeated {
                way.forget_lost();
            }
            connection.settle_timeouts(packet, Some(loss));
        }
    }

    fn leaves_bearer(
        &mut self,
        now: Time,
        ue: UeId,
        direction: Direction,
        packet: PacketId,
    ) -> Option<ConnectionId> {
        let here = self.ue_at(now, ue);
        let bearer = &mut here.bearers[direction.index()];
        let connection = bearer.remove(packet);
        if bearer.is_empty() {
            let cell = here.cell;
            self.waiting.remove(cell, direction.index(), ue);
        }
        connection
    }

    /// Records the packets of a bearer that cannot arrive any more, as lost.
    fn record_undeliverable(&mut self, now: Time, ue: UeId, direction: Direction) {
        let here = &self.ues[ue.index()];
        if here.bearers[direction.index()].is_empty() {
            self.waiting.remove(here.cell, direction.index(), ue);
        }
        while let Some((packet, connection, loss)) = self.dead.pop() {
            if let Some(waterfall) = &mut self.waterfall {
                waterfall.lost(now, packet, loss);
            }
            if let Some(connection) = connection {
                self.lost(now, direction, packet, connection, loss);
            }
        }
    }

    fn blocks(
        &mut self,
        now: Time,
        (ue, direction, channel): (UeId, Direction, Channel),
        set: &BlockSet,
        stage: &Stage,
    ) {
        let (way, back) = (direction.index(), direction.reversed().index());
        let cell = self.ues[ue.index()].cell;
        let waits = match channel {
            Channel::HsDsch => true,
            Channel::Fach => self.has_queue[cell],
            Channel::Rach | Channel::Dch | Channel::Dsch | Channel::Ack => false,
        };
        let mut dead = std::mem::take(&mut self.dead);
        let here = self.ue_at(now, ue);
        let bearer = &mut here.bearers[way];
        match stage {
            Stage::Leaves => {
                bearer.leave(set, waits);
                here.capacity.leaves(direction, set);
                if statuses(set, Lost::default()).any(|status| status.lsn.is_some()) {
                    here.bearers[back].reported(now);
                }
            }
            Stage::OnAir => bearer.leave_nodeb(set),
            Stage::Dropped => {
                bearer.leave_nodeb(set);
                bearer.arrive(set, Lost::all(set.blocks), missing::Place::NodebQueue, &mut dead);
            }
            Stage::Arrives(lost) => {
                bearer.arrive(set, *lost, missing::Place::Air, &mut dead);
                for status in statuses(set, *lost) {
                    here.bearers[back].status(set, status);
                }
            }
        }
        self.dead = dead;
        self.record_undeliverable(now, ue, direction);
        let goes_on_air = match stage {
            Stage::Leaves => !waits,
            Stage::OnAir => true,
            Stage::Dropped | Stage::Arrives(_) => false,
        };
        if goes_on_air {
            self.serve(now, (ue, direction, channel), set);
        }
    }

    /// The channel carries blocks of `ue` for one TTI. On a shared channel without codes, all other
    /// users wait.
    fn serve(&mut self, now: Time, (ue, direction, channel): (UeId, Direction, Channel), set: &BlockSet) {
        let way = direction.index();
        let served = &mut self.ues[ue.index()];
        let (cell, tti) = (served.cell, served.tti(way, channel));
        let shared = served.channel(way, channel);
        let dch = served.refused_dch(direction).filter(|_| channel != Channel::Dch);
        served.bearers[way].served(now, tti, set, dch);
        if channel == Channel::Dch || served.is_in_layout {
            return;
        }
        for index in 0..self.waiting.in_cell(cell, way).len() {
            let other = self.waiting.in_cell(cell, way)[index];
            if other != ue && self.ues[other.index()].shares(way, shared) {
                self.ue_at(now, other).bearers[way].others_served(now, tti);
            }
        }
    }

    /// Records that a user lacks a radio resource, or no longer lacks it.
    fn record_radio_shortage(&mut self, now: Time, event: &TraceEvent) {
        if let Some(ue) = Capacity::concerned_ue(event) {
            self.ue_at(now, ue).capacity.record(event);
        } else if let Some(ue) = Ue::requesting_ue(event) {
            self.ue_at(now, ue).record_dch_answer(event);
        } else if let Some(ue) = DschPostponement::concerned_ue(event) {
            let here = self.ue_at(now, ue);
            let tti = here.tti(Direction::Downlink.index(), Channel::Dsch);
            here.dsch.record(now, event, tti);
        }
    }
}

impl TraceSink<TraceEvent> for Budget {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, now: Time, event: &TraceEvent) {
        if let Some(waterfall) = &mut self.waterfall {
            waterfall.record(now, event);
        }
        match event {
            TraceEvent::ConnectionOpened { connection, transfer, leg, flow, ue, sender, mss } => {
                let window = Window::new(self.config.from, self.config.to);
                let is_split = *leg != ProxyLeg::Whole;
                if is_split {
                    self.transfers.opened(now, *transfer, *sender);
                }
                let log = Log::new(window, self.config.keeps_intervals || is_split);
                let sees_sender = self.config.whose.sees_senders();
                self.ues[ue.index()].open.push(*connection);
                self.open.insert(
                    *connection,
                    Connection::new((*connection, *flow, *ue, *sender), *mss, now, (log, sees_sender)),
                );
            }
            TraceEvent::ConnectionClosed { connection } | TraceEvent::ConnectionFailed { connection, .. } => {
                self.close(now, *connection);
            }
            TraceEvent::AppWrote { connection, end, bytes } => {
                if let Some(connection) = self.at(now, *connection) {
                    connection.way(*end).wrote(*bytes);
                }
            }
            TraceEvent::Established { connection, end } => {
                if let Some(connection) = self.at(now, *connection) {
                    connection.way(*end).is_established = true;
                }
            }
            TraceEvent::Acked { connection, end, una, .. } => {
                if let Some(connection) = self.at(now, *connection) {
                    connection.way(*end).acknowledged(*una);
                }
            }
            TraceEvent::Window { connection, end, cwnd: Real(cwnd), ssthresh: Real(ssthresh) } => {
                if let Some(connection) = self.at(now, *connection) {
                    connection.way(*end).window(*cwnd, *ssthresh);
                }
            }
            TraceEvent::RtoExpired { connection, end, .. } => {
                if let Some(connection) = self.at(now, *connection) {
                    connection.timeout(*end, now);
                }
            }
            TraceEvent::SegmentSent { packet, segment, .. } => self.sent(now, *packet, segment),
            TraceEvent::SegmentReceived { packet, segment, delivered, .. } => {
                self.received(now, *packet, segment, *delivered);
            }
            TraceEvent::PacketCaptured { at, packet } => self.record_capture(now, *at, packet),
            TraceEvent::PacketDropped { place, packet } => self.dropped(now, *place, packet),
            TraceEvent::SduDelivered { ue, direction, sdu, .. } => {
                self.leaves_bearer(now, *ue, *direction, *sdu);
            }
            TraceEvent::SduDiscarded { ue, direction, sdu, .. } => {
                let here = &self.ues[ue.index()];
                let is_by_reset = here.is_resetting() || here.is_in_cell_update();
                let loss = if is_by_reset { Loss::RlcReset } else { Loss::RlcDiscard };
                if let Some(connection) = self.leaves_bearer(now, *ue, *direction, *sdu) {
                    self.lost(now, *direction, *sdu, connection, loss);
                }
            }
            TraceEvent::RlcReset { ue, direction } => {
                self.ue_at(now, *ue).bearers[direction.index()].begin_reset();
            }
            TraceEvent::RlcInitialState { ue, direction } => {
                let mut dead = std::mem::take(&mut self.dead);
                self.ue_at(now, *ue).bearers[direction.index()].reinitialise(&mut dead);
                self.dead = dead;
                self.record_undeliverable(now, *ue, *direction);
            }
            TraceEvent::CellUpdateStarted { ue, .. } => self.ue_at(now, *ue).begin_cell_update(),
            TraceEvent::CellUpdateEnded { ue, .. } => self.ue_at(now, *ue).end_cell_update(),
            TraceEvent::RrcSwitch { ue, from, to, .. } => self.ue_at(now, *ue).switch_begins(*from, *to),
            TraceEvent::RrcState { ue, state } => self.ue_at(now, *ue).is_in(*state),
            _ => self.record_radio_shortage(now, event),
        }
    }

    fn show(&mut self, now: Time, detail: &Detail<'_>) {
        if let Some(waterfall) = &mut self.waterfall {
            waterfall.show(now, detail);
        }
        match detail {
            Detail::Blocks { ue, direction, channel, set, stage } => {
                self.blocks(now, (*ue, *direction, *channel), set, stage);
            }
            Detail::Skipped { ue, direction, first, count, .. } => {
                self.ue_at(now, *ue).bearers[direction.index()].skip(*first, *count);
            }
            Detail::Poll { .. } | Detail::InSequence { .. } | Detail::Slot { .. } => {}
        }
    }
}
