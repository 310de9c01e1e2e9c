//! The timeline: all connections and UEs of a run at full resolution, as tables in order of time
//! with the identities that join them.
//!
//! | table | a row is | joined by |
//! |---|---|---|
//! | `timeline_segments` | a segment of TCP | `packet`, `connection`, `ue`; `repeats`: an earlier `packet` |
//! | `timeline_sdus` | an SDU of RLC | `packet`, `ue`, `direction`; `first` to `last`: its PDUs |
//! | `timeline_pdus` | consecutive PDUs of a block set with the same fate | `ue`, `direction`, `first` and `count`, `block_set` |
//! | `timeline_block_sets` | a transport block set | `block_set` |
//! | `timeline_status` | a STATUS | `block_set`; `below` and `missing`: PDUs of the other direction |
//! | `timeline_discards` | an SDU that RLC discarded | `packet` |
//! | `timeline_losses` | a lost packet, with its place | `packet` |
//! | `timeline_rrc` | an RRC state or a switch | `ue` |
//! | `timeline_dch_requests` | a request for a DCH with its answer | `ue` |
//! | `timeline_timers` | a timer from its start to its end | `connection`, `ue`, `direction` |
//! | `timeline_hs_blocks` | a transmission on the HS-DSCH | `ue` |
//! | `timeline_hs_credits` | an allocation of credits for the HS-DSCH | `ue` |
//! | `timeline_e_blocks` | a transmission on the E-DCH | `ue` |
//! | `timeline_e_grants` | a serving grant for the E-DCH | `ue` |
//! | `timeline_events` | an event without duration | `connection`, `ue` |
//!
//! Numbers of PDUs do not wrap around. They begin at zero again after a RESET or a
//! re-establishment. The retransmission timer of TCP is derived from the segments according to RFC
//! 6298 §5, Timer_Poll and Timer_Status_Prohibit from PDUs according to TS 25.322 §9.5.
//!
//! The timeline is recorded by the [`Budget`](crate::budget::Budget), which knows the losses of
//! packets.

mod bearer;
mod connections;
mod lanes;
mod radio;
mod rows;
mod table;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use umts_stack::detail::Detail;
use umts_stack::ids::{ConnectionId, Direction, End, PacketId, UeId};
use umts_stack::network::{NetworkConfig, UeConfig};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

pub use lanes::{AREAS, Area, Category, ColumnTest, Condition, Draw, LANES, Lane, Rows};

use crate::open::Open;
use crate::series::Table;
use bearer::Bearer;
use connections::Connection;
use rows::{
    BlockSetRow, DchRequestRow, DiscardRow, EBlockRow, EGrantRow, EventRow, HsBlockRow, HsCreditRow, LossRow,
    PduRun, RrcRow, SduRow, SegmentRow, StatusRow, TimerRow,
};
use table::{OpenRows, RowIndex, Taken};

/// Records the timeline.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    segments: OpenRows<SegmentRow>,
    sdus: OpenRows<SduRow>,
    pdus: OpenRows<PduRun>,
    block_sets: OpenRows<BlockSetRow>,
    statuses: OpenRows<StatusRow>,
    discards: OpenRows<DiscardRow>,
    losses: OpenRows<LossRow>,
    rrc: OpenRows<RrcRow>,
    dch_requests: OpenRows<DchRequestRow>,
    timers: OpenRows<TimerRow>,
    hs_blocks: OpenRows<HsBlockRow>,
    hs_credits: OpenRows<HsCreditRow>,
    e_blocks: OpenRows<EBlockRow>,
    e_grants: OpenRows<EGrantRow>,
    events: OpenRows<EventRow>,
    /// Blocks of the E-DCH that UEs of one cell sent in the TTI that begins now. Their noise rise
    /// is not known yet: the event `ENoiseRise`, which follows them, completes their rows.
    e_blocks_sent: Vec<RowIndex>,
    connections: Open<Connection>,
    /// Segments that have not arrived.
    packets: BTreeMap<PacketId, RowIndex>,
    ues: Vec<Ue>,
}

/// A packet that is lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LostPacket {
    pub packet: PacketId,
    pub ue: UeId,
    pub direction: Direction,
    pub connection: Option<ConnectionId>,
    /// Name of the place and reason.
    pub loss: &'static str,
    /// Number of the link, if a link of the fixed network lost the packet.
    pub link: Option<u8>,
}

/// State of a UE.
#[derive(Debug)]
struct Ue {
    cell: usize,
    bearers: [Bearer; 2],
    /// The current RRC state or switch.
    rrc: Option<RowIndex>,
    has_dch: bool,
    /// The request for a DCH without an answer.
    dch_request: Option<RowIndex>,
}

impl Timeline {
    /// The timeline of `network` before its first event.
    pub fn new(network: &NetworkConfig) -> Self {
        let ue = |config: &UeConfig| Ue {
            cell: config.cell,
            bearers: [Bearer::new(&config.rlc), Bearer::new(&config.rlc)],
            rrc: None,
            has_dch: false,
            dch_request: None,
        };
        Timeline { ues: network.ues.iter().map(ue).collect(), ..Timeline::default() }
    }

    fn tables(&mut self) -> [&mut dyn Taken; 15] {
        [
            &mut self.segments,
            &mut self.sdus,
            &mut self.pdus,
            &mut self.block_sets,
            &mut self.statuses,
            &mut self.discards,
            &mut self.losses,
            &mut self.rrc,
            &mut self.dch_requests,
            &mut self.timers,
            &mut self.hs_blocks,
            &mut self.hs_credits,
            &mut self.e_blocks,
            &mut self.e_grants,
            &mut self.events,
        ]
    }

    /// Takes the rows that no longer change from the tables with at least `rows` rows.
    pub fn take(&mut self, now: Time, rows: usize) -> Vec<Table> {
        let tables = self.tables().into_iter().filter(|table| table.rows() >= rows);
        let taken = tables.map(|table| table.take(now)).collect();
        let first = self.segments.taken();
        self.packets.retain(|_, row| *row >= first);
        taken
    }

    /// The tables of a run that has ended, without the rows that were taken.
    pub fn finish(mut self) -> Vec<Table> {
        self.tables().into_iter().map(|table| table.take(Time::NEVER)).collect()
    }

    /// Records an event of a connection or of the radio.
    pub fn record(&mut self, now: Time, event: &TraceEvent) {
        match event {
            TraceEvent::ConnectionOpened { .. }
            | TraceEvent::ConnectionClosed { .. }
            | TraceEvent::ConnectionFailed { .. }
            | TraceEvent::SegmentSent { .. }
            | TraceEvent::SegmentReceived { .. }
            | TraceEvent::Acked { .. }
            | TraceEvent::DupAck { .. }
            | TraceEvent::RtoExpired { .. } => self.record_tcp(now, event),
            _ => self.record_radio(now, event),
        }
    }

    /// Records a lost packet, and closes its rows. A packet that RLC discarded may still arrive, so its segment stays in
    /// `packets`: `arrived` then replaces the end and removes the loss.
    pub fn lost(&mut self, now: Time, lost: LostPacket) {
        let LostPacket { packet, ue, direction, connection, loss, link } = lost;
        if let Some(index) = self.packets.get(&packet)
            && let Some(row) = self.segments.close(*index)
        {
            (row.end_s, row.lost, row.loss) = (Some(now.as_secs()), true, loss);
        }
        self.close_sdu(now, ue, direction, packet, "lost", loss);
        self.losses.push(LossRow {
            time_s: now.as_secs(),
            packet: packet.0 as u32,
            connection: connection.map(|id| id.0),
            ue: Some(u32::from(ue.0)),
            direction: direction.name(),
            loss,
            link: link.map(u32::from),
        });
    }

    /// Records a detail of RLC or of the HS-DSCH.
    pub fn show(&mut self, now: Time, detail: &Detail<'_>) {
        match detail {
            Detail::Blocks { ue, direction, channel, set, stage } => {
                self.blocks(now, *ue, *direction, *channel, set, stage);
            }
            Detail::Poll { ue, direction, causes } => self.polled(now, *ue, *direction, *causes),
            Detail::Discarded { ue, direction, sdu, octets, reason, pdus } => {
                self.discards.push(DiscardRow {
                    time_s: now.as_secs(),
                    packet: sdu.0 as u32,
                    ue: u32::from(ue.0),
                    direction: direction.name(),
                    octets: octets.0,
                    reason: reason.name(),
                    first: pdus.map(|(first, _)| first as u32),
                    last: pdus.map(|(_, last)| last as u32),
                });
                let row = self.close_sdu(now, *ue, *direction, *sdu, "discarded", reason.name());
                if let (Some(row), Some((first, last))) = (row, pdus) {
                    (row.first, row.last) = (Some(*first as u32), Some(*last as u32));
                }
            }
            Detail::HsCredits { ue, credits, .. } => {
                let ue = u32::from(ue.0);
                self.hs_credits.push(HsCreditRow { time_s: now.as_secs(), ue, credits: *credits });
            }
            Detail::InSequence { .. }
            | Detail::Skipped { .. }
            | Detail::Slot { .. }
            | Detail::HsRequest { .. }
            | Detail::HsPdusSent { .. }
            | Detail::EDchFrame { .. } => {}
        }
    }

    /// The radio bearer of a UE in one direction.
    fn bearer(&mut self, ue: UeId, direction: Direction) -> &mut Bearer {
        &mut self.ues[ue.index()].bearers[direction.index()]
    }

    /// Closes the row of an SDU that leaves RLC with this fate. Returns the row, if it is open.
    fn close_sdu(
        &mut self,
        now: Time,
        ue: UeId,
        direction: Direction,
        sdu: PacketId,
        fate: &'static str,
        reason: &'static str,
    ) -> Option<&mut SduRow> {
        let index = self.bearer(ue, direction).sdus.remove(&sdu)?;
        let row = self.sdus.close(index)?;
        (row.end_s, row.fate, row.reason) = (Some(now.as_secs()), fate, reason);
        Some(row)
    }

    /// Adds an event of a UE.
    fn ue_event(
        &mut self,
        now: Time,
        ue: UeId,
        direction: Option<Direction>,
        kind: &'static str,
        number: Option<u32>,
    ) {
        self.events.push(EventRow {
            time_s: now.as_secs(),
            ue: Some(u32::from(ue.0)),
            connection: None,
            direction: direction.map_or("", Direction::name),
            kind,
            number,
        });
    }

    /// Adds an event at one end of a connection.
    fn connection_event(
        &mut self,
        now: Time,
        id: ConnectionId,
        end: Option<End>,
        kind: &'static str,
        number: Option<u32>,
    ) {
        let ue = self.connections.get(id).map(|connection| u32::from(connection.ue.0));
        self.events.push(EventRow {
            time_s: now.as_secs(),
            ue,
            connection: Some(id.0),
            direction: end.map_or("", |end| end.sends().name()),
            kind,
            number,
        });
    }
}
