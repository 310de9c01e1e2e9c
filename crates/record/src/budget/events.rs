//! Passes each trace event to the part of the time budget that it concerns: the connection, the UE
//! and its bearers, a transfer split by a proxy, the waterfall and the timeline.
//!
//! From the events the budget knows where each packet is, which PDUs were lost, and when
//! connections open and close. Before an event changes the state of a connection or a UE, the waits
//! up to the event are logged with the old state (`connection_at`, `ue_at`).

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
use super::bearer::{Undeliverable, statuses};
use super::capacity::Capacity;
use super::connection::{Connection, Kind, Opening};
use super::direction_state::Position;
use super::dsch_postponement::DschPostponement;
use super::harq::Transmission;
use super::log::Log;
use super::loss::Loss;
use super::missing::LossPlace;
use super::ue::{ChannelId, Ue};
use crate::metrics::Window;

impl Budget {
    /// Opens a flow of datagrams or a DNS lookup of a program. Its packets are traced as segments
    /// of `connection`, whose sequence numbers count octets of datagrams, or queries and answers.
    pub fn open_datagrams(&mut self, now: Time, connection: ConnectionId, ue: UeId, kind: Kind) {
        let opened = TraceEvent::ConnectionOpened {
            connection,
            transfer: connection,
            leg: ProxyLeg::Whole,
            // Programs have no flow of the scenario.
            flow: FlowId(u32::MAX),
            ue,
            sender: End::Server,
            mss: 1,
        };
        self.record(now, &opened);
        self.change_kind(now, connection, kind);
    }

    /// Changes the kind of `connection`, when a program begins the connection for which it looked
    /// up a name. The time of the lookup then belongs to that connection.
    pub fn change_kind(&mut self, now: Time, connection: ConnectionId, kind: Kind) {
        if let Some(connection) = self.connection_at(now, connection) {
            connection.change_kind(kind, now);
        }
    }

    /// A segment left its host.
    fn sent(&mut self, now: Time, packet: PacketId, segment: &Segment) {
        let end = End::sending(segment.direction);
        let place = self.initial_position(now, segment);
        if let Some(connection) = self.connection_at(now, segment.connection) {
            connection.direction_mut(end).sent(packet, segment, place);
            connection.active(end, now);
        }
    }

    /// A segment reached its host. `delivered`: octets of payload that it brought into order.
    fn received(&mut self, now: Time, packet: PacketId, segment: &Segment, delivered: u64) {
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
    fn record_capture(&mut self, now: Time, at: CapturePoint, packet: &Packet) {
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
                if let Some(connection) = self.connection_at(now, syn.connection) {
                    connection.direction_mut(End::sending(direction)).syn_at_proxy = Some(packet.id);
                }
            }
            (CapturePoint::Server | CapturePoint::ProxyServer | CapturePoint::ProxyRadio, _)
            | (CapturePoint::Ue, Direction::Downlink) => {}
        }
    }

    /// A segment reached the position `place`.
    fn moved(&mut self, now: Time, packet: &Packet, place: Position) {
        let Some(segment) = packet.segment() else { return };
        let end = End::sending(segment.direction);
        if let Some(connection) = self.connection_at(now, segment.connection) {
            connection.direction_mut(end).moved(packet.id, place);
        }
    }

    /// A packet was dropped at `place`.
    fn dropped(&mut self, now: Time, place: DropPlace, packet: &Packet) {
        let direction = packet.direction();
        let Some(loss) = Loss::of_drop(place) else { return };
        if let Some(timeline) = &mut self.timeline {
            let connection = packet.segment().map(|segment| segment.connection);
            let link = match place {
                DropPlace::LinkQueue(link) | DropPlace::LinkLoss(link) | DropPlace::LinkDown(link) => {
                    Some(link)
                }
                _ => None,
            };
            timeline.lost(now, (packet.ue, direction), packet.id, (connection, loss.name(), link));
        }
        if loss.is_of_radio() {
            self.leaves_bearer(now, packet.ue, direction, packet.id);
        }
        if let Some(segment) = packet.segment() {
            self.lost(now, direction, packet.id, segment.connection, loss);
        }
    }

    /// A packet of a connection was lost. Lost datagrams are not repeated, so the wait for them ends.
    fn lost(
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

    /// An SDU was delivered or discarded. Returns its connection.
    fn leaves_bearer(
        &mut self,
        now: Time,
        ue: UeId,
        direction: Direction,
        packet: PacketId,
    ) -> Option<ConnectionId> {
        let ue_state = self.ue_at(now, ue);
        let bearer = &mut ue_state.bearers[direction.index()];
        let connection = bearer.remove(packet);
        if bearer.is_empty() {
            let cell = ue_state.cell;
            self.waiting.remove(cell, direction.index(), ue);
        }
        connection
    }

    /// Records the packets of a bearer that cannot arrive any more, as lost.
    fn record_undeliverable(&mut self, now: Time, ue: UeId, direction: Direction) {
        let ue_state = &self.ues[ue.index()];
        if ue_state.bearers[direction.index()].is_empty() {
            self.waiting.remove(ue_state.cell, direction.index(), ue);
        }
        while let Some(Undeliverable { packet, connection, loss }) = self.undeliverable.pop() {
            if let Some(waterfall) = &mut self.waterfall {
                waterfall.lost(now, packet, loss);
            }
            if let Some(timeline) = &mut self.timeline {
                timeline.lost(now, (ue, direction), packet, (connection, loss.name(), None));
            }
            if let Some(connection) = connection {
                self.lost(now, direction, packet, connection, loss);
            }
        }
    }

    /// A transport block set of a UE reached a stage of its way from RLC to RLC.
    fn record_blocks(
        &mut self,
        now: Time,
        (ue, direction, channel): (UeId, Direction, Channel),
        set: &BlockSet,
        stage: &Stage,
    ) {
        let (forward, reverse) = (direction.index(), direction.reversed().index());
        let cell = self.ues[ue.index()].cell;
        let is_queued_at_nodeb = match channel {
            Channel::HsDsch => true,
            Channel::Fach => self.has_fach_queue[cell],
            Channel::Rach | Channel::Dch | Channel::EDch | Channel::Dsch | Channel::Ack => false,
        };
        let mut undeliverable = std::mem::take(&mut self.undeliverable);
        let ue_state = self.ue_at(now, ue);
        let bearer = &mut ue_state.bearers[forward];
        match stage {
            Stage::Leaves => {
                bearer.leave(set, is_queued_at_nodeb);
                ue_state.capacity.leaves(direction, set);
                if statuses(set, Lost::default()).any(|status| status.lsn.is_some()) {
                    ue_state.bearers[reverse].report_sent(now);
                }
            }
            Stage::OnAir => bearer.leave_nodeb(set),
            Stage::Dropped => {
                bearer.leave_nodeb(set);
                bearer.arrive(set, Lost::all(set.blocks), LossPlace::NodebQueue, &mut undeliverable);
            }
            Stage::Arrives(lost) => {
                bearer.arrive(set, *lost, LossPlace::Air, &mut undeliverable);
                for status in statuses(set, *lost) {
                    ue_state.bearers[reverse].report_arrived(set, status);
                }
            }
        }
        self.undeliverable = undeliverable;
        self.record_undeliverable(now, ue, direction);
        let goes_on_air = match stage {
            Stage::Leaves => !is_queued_at_nodeb,
            Stage::OnAir => true,
            Stage::Dropped | Stage::Arrives(_) => false,
        };
        if goes_on_air {
            self.serve(now, (ue, direction, channel), set);
        }
    }

    /// The channel carries blocks of `ue` for one TTI. Outside a layout a shared channel serves one
    /// UE at a time, so its other UEs wait for this TTI.
    fn serve(&mut self, now: Time, (ue, direction, channel): (UeId, Direction, Channel), set: &BlockSet) {
        let forward = direction.index();
        let served_ue = &mut self.ues[ue.index()];
        let (cell, tti) = (served_ue.cell, served_ue.tti(forward, channel));
        let shared_channel = served_ue.channel(forward, channel);
        let refused_dch = served_ue.refused_dch(direction).filter(|_| !channel.is_dedicated());
        served_ue.bearers[forward].served(now, tti, set, refused_dch);
        if channel.is_dedicated() || served_ue.is_in_layout {
            return;
        }
        self.others_wait(now, (ue, direction), (cell, shared_channel), tti);
    }

    /// A shared channel of a cell carries blocks of `ue` for one TTI. All other UEs with data for
    /// this channel wait.
    fn others_wait(
        &mut self,
        now: Time,
        (ue, direction): (UeId, Direction),
        (cell, channel): (usize, ChannelId),
        tti: Duration,
    ) {
        let forward = direction.index();
        for index in 0..self.waiting.in_cell(cell, forward).len() {
            let other = self.waiting.in_cell(cell, forward)[index];
            if other != ue && self.ues[other.index()].uses_shared(forward, channel) {
                self.ue_at(now, other).bearers[forward].others_served(now, tti);
            }
        }
    }

    /// Records events of HARQ and reordering on the HS-DSCH and the E-DCH. Returns whether `event` is one.
    fn record_harq(&mut self, now: Time, event: &TraceEvent) -> bool {
        match *event {
            TraceEvent::HsBlockSent { ue, attempt, is_decoded, is_last, .. } => {
                let transmission = Transmission { attempt, is_decoded, is_last };
                self.block_transmitted(now, ue, Channel::HsDsch, transmission);
            }
            TraceEvent::EBlockSent { ue, attempt, is_decoded, is_last, .. } => {
                let transmission = Transmission { attempt, is_decoded, is_last };
                self.block_transmitted(now, ue, Channel::EDch, transmission);
            }
            TraceEvent::T1Expired { ue } => {
                self.ue_at(now, ue).bearers[Direction::Downlink.index()].harq.released();
            }
            TraceEvent::ET1Expired { ue } => {
                self.ue_at(now, ue).bearers[Direction::Uplink.index()].harq.released();
            }
            _ => return false,
        }
        true
    }

    /// A block of a UE is transmitted on the HS-DSCH or the E-DCH for one TTI.
    fn block_transmitted(&mut self, now: Time, ue: UeId, channel: Channel, transmission: Transmission) {
        let direction = if channel == Channel::HsDsch { Direction::Downlink } else { Direction::Uplink };
        let ue_state = self.ue_at(now, ue);
        let tti = ue_state.tti(direction.index(), channel);
        ue_state.bearers[direction.index()].harq.transmitted(now, tti, transmission);
        // All other UEs wait during a repetition. During a first transmission they wait too, which
        // `serve` records when the blocks leave the queue of the Node B.
        if channel == Channel::HsDsch && transmission.attempt > 1 {
            let (cell, channel) = (ue_state.cell, ue_state.channel(direction.index(), channel));
            self.others_wait(now, (ue, direction), (cell, channel), tti);
        }
    }

    /// Records that a user lacks a radio resource, or no longer lacks it.
    fn record_radio_shortage(&mut self, now: Time, event: &TraceEvent) {
        if let Some(ue) = Capacity::concerned_ue(event) {
            self.ue_at(now, ue).capacity.record(event);
        } else if let Some(ue) = Ue::requesting_ue(event) {
            self.ue_at(now, ue).record_dch_answer(event);
        } else if let Some(ue) = DschPostponement::concerned_ue(event) {
            let ue_state = self.ue_at(now, ue);
            let tti = ue_state.tti(Direction::Downlink.index(), Channel::Dsch);
            ue_state.dsch.record(now, event, tti);
        }
    }

    /// The sender of a bearer discarded an SDU.
    fn discarded(&mut self, now: Time, ue: UeId, direction: Direction, sdu: PacketId) {
        let ue_state = &self.ues[ue.index()];
        let is_by_reset = ue_state.is_resetting() || ue_state.is_in_cell_update();
        let loss = if is_by_reset { Loss::RlcReset } else { Loss::RlcDiscard };
        let connection = self.leaves_bearer(now, ue, direction, sdu);
        if let Some(timeline) = &mut self.timeline {
            timeline.lost(now, (ue, direction), sdu, (connection, loss.name(), None));
        }
        if let Some(connection) = connection {
            self.lost(now, direction, sdu, connection, loss);
        }
    }
}

impl TraceSink<TraceEvent> for Budget {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, now: Time, event: &TraceEvent) {
        if let Some(waterfall) = &mut self.waterfall {
            waterfall.record(now, event);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.record(now, event);
        }
        match event {
            TraceEvent::ConnectionOpened { connection, transfer, leg, flow, ue, sender, mss } => {
                let window = Window::new(self.config.from, self.config.to);
                let is_split = *leg != ProxyLeg::Whole;
                if is_split {
                    self.transfers.opened(now, *transfer, *sender);
                }
                let log = Log::new(window, self.config.keeps_intervals || is_split);
                let knows_senders = self.config.origin.knows_senders();
                let opening = Opening { id: *connection, flow: *flow, ue: *ue, sender: *sender, mss: *mss };
                self.ues[ue.index()].open.push(*connection);
                self.open.insert(*connection, Connection::new(opening, now, log, knows_senders));
            }
            TraceEvent::ConnectionClosed { connection } | TraceEvent::ConnectionFailed { connection, .. } => {
                self.close(now, *connection);
            }
            TraceEvent::AppWrote { connection, end, bytes } => {
                if let Some(connection) = self.connection_at(now, *connection) {
                    connection.direction_mut(*end).wrote(*bytes);
                }
            }
            TraceEvent::Established { connection, end } => {
                if let Some(connection) = self.connection_at(now, *connection) {
                    connection.direction_mut(*end).is_established = true;
                }
            }
            TraceEvent::Acked { connection, end, una, .. } => {
                if let Some(connection) = self.connection_at(now, *connection) {
                    connection.direction_mut(*end).acknowledged(*una);
                }
            }
            TraceEvent::Window { connection, end, cwnd: Real(cwnd), ssthresh: Real(ssthresh) } => {
                if let Some(connection) = self.connection_at(now, *connection) {
                    connection.direction_mut(*end).window(*cwnd, *ssthresh);
                }
            }
            TraceEvent::LinkRateChanged { hop, rate } => self.core[usize::from(*hop)].rate = *rate,
            TraceEvent::LinkDelayChanged { hop, delay } => self.core[usize::from(*hop)].delay = *delay,
            TraceEvent::RtoExpired { connection, end, .. } => {
                if let Some(connection) = self.connection_at(now, *connection) {
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
                self.discarded(now, *ue, *direction, *sdu);
            }
            TraceEvent::RlcReset { ue, direction } => {
                self.ue_at(now, *ue).bearers[direction.index()].begin_reset();
            }
            TraceEvent::RlcInitialState { ue, direction } => {
                let mut undeliverable = std::mem::take(&mut self.undeliverable);
                self.ue_at(now, *ue).bearers[direction.index()].reinitialise(&mut undeliverable);
                self.undeliverable = undeliverable;
                self.record_undeliverable(now, *ue, *direction);
            }
            TraceEvent::CellUpdateStarted { ue, .. } => self.ue_at(now, *ue).begin_cell_update(),
            TraceEvent::CellUpdateEnded { ue, .. } => self.ue_at(now, *ue).end_cell_update(),
            TraceEvent::RrcSwitch { ue, from, to, .. } => self.ue_at(now, *ue).begin_switch(*from, *to),
            TraceEvent::RrcState { ue, state } => self.ue_at(now, *ue).enter_state(*state),
            _ if self.record_harq(now, event) => {}
            _ => self.record_radio_shortage(now, event),
        }
    }

    fn show(&mut self, now: Time, detail: &Detail<'_>) {
        if let Some(waterfall) = &mut self.waterfall {
            waterfall.show(now, detail);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.show(now, detail);
        }
        match detail {
            Detail::Blocks { ue, direction, channel, set, stage } => {
                self.record_blocks(now, (*ue, *direction, *channel), set, stage);
            }
            Detail::Skipped { ue, direction, first, count, .. } => {
                self.ue_at(now, *ue).bearers[direction.index()].skip(*first, *count);
            }
            Detail::Poll { .. }
            | Detail::InSequence { .. }
            | Detail::HsRequest { .. }
            | Detail::HsCredits { .. }
            | Detail::HsPdusSent { .. }
            | Detail::EDchFrame { .. }
            | Detail::Slot { .. }
            | Detail::Discarded { .. } => {}
        }
    }
}
