//! Passes each trace event to the part of the time budget that it concerns: the connection, the UE
//! and its bearers, a transfer split by a proxy, the waterfall and the timeline.
//!
//! From the events the budget knows where each packet is, which PDUs were lost, and when
//! connections open and close. Before an event changes the state of a connection or a UE, the waits
//! up to the event are logged with the old state (`connection_at`, `ue_at`).
//!
//! This file dispatches events and details, and handles events of connections. Packets, SDUs in
//! bearers, and block sets on the channels have their own files.

mod bearers;
mod block_sets;
mod packets;

use umts_kernel::TraceSink;
use umts_stack::detail::Detail;
use umts_stack::ids::{ConnectionId, End, FlowId, ProxyLeg, UeId};
use umts_stack::trace::{Real, TraceEvent};
use umts_units::Time;

use super::Budget;
use super::connection::{Connection, Kind, Opening};
use super::direction_state::DirectionState;
use super::log::Log;
use crate::metrics::Window;
use block_sets::Carrier;

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
            // Connections.
            TraceEvent::ConnectionOpened { connection, transfer, leg, flow, ue, sender, mss } => {
                if *leg != ProxyLeg::Whole {
                    self.transfers.opened(now, *transfer, *sender);
                }
                let opening = Opening { id: *connection, flow: *flow, ue: *ue, sender: *sender, mss: *mss };
                self.open_connection(now, opening, *leg);
            }
            TraceEvent::ConnectionClosed { connection } | TraceEvent::ConnectionFailed { connection, .. } => {
                self.close(now, *connection);
            }
            TraceEvent::AppWrote { connection, end, bytes } => {
                self.change_direction(now, *connection, *end, |direction| direction.wrote(*bytes));
            }
            TraceEvent::Established { connection, end } => {
                self.change_direction(now, *connection, *end, |direction| direction.is_established = true);
            }
            TraceEvent::Acked { connection, end, una, .. } => {
                self.change_direction(now, *connection, *end, |direction| direction.acknowledged(*una));
            }
            TraceEvent::Window { connection, end, cwnd: Real(cwnd), ssthresh: Real(ssthresh) } => {
                self.change_direction(now, *connection, *end, |direction| {
                    direction.window(*cwnd, *ssthresh);
                });
            }
            TraceEvent::RtoExpired { connection, end, .. } => {
                if let Some(connection) = self.connection_at(now, *connection) {
                    connection.timeout(*end, now);
                }
            }
            // The fixed network.
            TraceEvent::LinkRateChanged { hop, rate } => self.core[usize::from(*hop)].rate = *rate,
            TraceEvent::LinkDelayChanged { hop, delay } => self.core[usize::from(*hop)].delay = *delay,
            // Packets.
            TraceEvent::SegmentSent { packet, segment, .. } => self.sent(now, *packet, segment),
            TraceEvent::SegmentReceived { packet, segment, delivered, .. } => {
                self.received(now, *packet, segment, *delivered);
            }
            TraceEvent::PacketCaptured { at, packet } => self.record_capture(now, *at, packet),
            TraceEvent::PacketDropped { place, packet } => self.dropped(now, *place, packet),
            // RLC.
            TraceEvent::SduDelivered { ue, direction, sdu, .. } => {
                self.leaves_bearer(now, *ue, *direction, *sdu);
            }
            TraceEvent::SduDiscarded { ue, direction, sdu, .. } => {
                self.discarded(now, *ue, *direction, *sdu);
            }
            TraceEvent::RlcReset { ue, direction } => {
                self.ue_at(now, *ue).bearers[direction.index()].begin_reset();
            }
            TraceEvent::RlcInitialState { ue, direction } => self.reinitialise(now, *ue, *direction),
            // RRC.
            TraceEvent::CellUpdateStarted { ue, .. } => self.ue_at(now, *ue).begin_cell_update(),
            TraceEvent::CellUpdateEnded { ue, .. } => self.ue_at(now, *ue).end_cell_update(),
            TraceEvent::RrcSwitch { ue, from, to, .. } => self.ue_at(now, *ue).begin_switch(*from, *to),
            TraceEvent::RrcState { ue, state } => self.ue_at(now, *ue).enter_state(*state),
            // Below RLC.
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
                let carrier = Carrier { ue: *ue, direction: *direction, channel: *channel };
                self.record_blocks(now, carrier, set, stage);
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

/// Connections.
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

    /// Opens a connection, which is the `leg` of a transfer.
    fn open_connection(&mut self, now: Time, opening: Opening, leg: ProxyLeg) {
        let window = Window::new(self.config.from, self.config.to);
        // The intervals of a split transfer follow from the intervals of its legs.
        let keeps_intervals = self.config.keeps_intervals || leg != ProxyLeg::Whole;
        let log = Log::new(window, keeps_intervals);
        let knows_senders = self.config.origin.knows_senders();
        self.ues[opening.ue.index()].open.push(opening.id);
        self.open.insert(opening.id, Connection::new(opening, now, log, knows_senders));
    }

    /// Applies `change` to the direction of the sender at `end`, if the connection is open.
    fn change_direction(
        &mut self,
        now: Time,
        connection: ConnectionId,
        end: End,
        change: impl FnOnce(&mut DirectionState),
    ) {
        if let Some(connection) = self.connection_at(now, connection) {
            change(connection.direction_mut(end));
        }
    }
}
