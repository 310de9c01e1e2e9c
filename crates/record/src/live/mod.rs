//! The state of a network at an instant, for a live view: users, cells, and the last notable
//! events.

mod history;
mod notable;
mod snapshot;

use std::collections::BTreeMap;

use umts_kernel::TraceSink;
use umts_stack::ids::{ConnectionId, End, UeId};
use umts_stack::network::{NetworkConfig, UeConfig};
use umts_stack::trace::{Channel, Real, RrcState, TraceEvent};
use umts_units::Time;

pub use self::history::{Point, RATE_WINDOW};
pub use self::notable::{Notable, NotableKind};
pub use self::snapshot::{Snapshot, SnapshotSize, UeSnapshot};

use self::history::Histories;
use self::notable::NotableEvents;

/// A sink that keeps the current state, and a short history of each user. Arrays are indexed by
/// direction.
#[derive(Debug)]
pub struct LiveState {
    ues: Vec<LiveUe>,
    cells: Vec<Option<LiveCell>>,
    connections: BTreeMap<ConnectionId, LiveConnection>,
    histories: Histories,
    notable: NotableEvents,
}

/// The state of a user.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct LiveUe {
    /// Number of the cell.
    pub cell: u16,
    /// State of RRC. `None` for a UE whose channels never change.
    pub state: Option<RrcState>,
    /// Target of the switch in progress.
    pub towards: Option<RrcState>,
    /// The channel that carried the last blocks, or the one for which it is configured. `None`
    /// without a channel: a radio that replaces RLC and MAC, or a state without user data.
    pub channels: [Option<Channel>; 2],
    /// Answer to the request for a DCH that is still open.
    pub request: Option<DchRequest>,
    /// SDU octets in the sending RLC entities.
    pub buffers: [u64; 2],
    /// Octets of SDUs that were delivered since the start.
    pub delivered: [u64; 2],
    /// Number of blocks on the air since the start, and number of lost blocks.
    pub blocks: [[u64; 2]; 2],
    /// Open TCP connections.
    pub connections: u32,
    /// Congestion window in segments of the sender of the newest connection.
    pub cwnd: Option<f64>,
    /// Expiries of retransmission timers since the start.
    pub timeouts: u64,
    /// Segments that were sent again since the start.
    pub retransmissions: u64,
    /// The channels in CELL_FACH and CELL_DCH.
    common: [Option<Channel>; 2],
    dedicated: [Option<Channel>; 2],
    newest: Option<ConnectionId>,
}

/// An open request of a UE for a DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DchRequest {
    /// The request was refused. The UE may repeat it.
    Refused,
    /// The UE waits for a DCH.
    Queued,
    /// The UE will get a DCH.
    Granted,
}

impl DchRequest {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            DchRequest::Refused => "refused",
            DchRequest::Queued => "queued",
            DchRequest::Granted => "granted",
        }
    }
}

/// Reservations of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveCell {
    /// Reserved bit rates in bit/s, including common channels.
    pub rates: [u64; 2],
    /// Number of DCHs of switched users.
    pub dchs: u32,
    /// Whether a request for a DCH would fail.
    pub is_full: bool,
}

#[derive(Debug, Clone, Copy)]
struct LiveConnection {
    ue: UeId,
    sender: End,
    is_open: bool,
}

impl LiveState {
    /// The state before the first event.
    pub fn new(network: &NetworkConfig) -> Self {
        LiveState {
            ues: network.ues.iter().map(LiveUe::new).collect(),
            cells: vec![None; network.cells.len()],
            connections: BTreeMap::new(),
            histories: Histories::new(network.ues.len()),
            notable: NotableEvents::default(),
        }
    }

    /// The users in the order of their numbers.
    pub fn ues(&self) -> &[LiveUe] {
        &self.ues
    }

    /// The cells in the order of their numbers. `None` if no user of the cell changes channels.
    pub fn cells(&self) -> &[Option<LiveCell>] {
        &self.cells
    }

    /// Number of notable events of a kind since the start.
    pub fn count(&self, kind: NotableKind) -> u64 {
        self.notable.count(kind)
    }

    /// The last notable events, the newest last.
    pub fn last_events(&self) -> impl Iterator<Item = &Notable> {
        self.notable.last()
    }

    /// Rates in bit/s of the SDUs that `ue` received during the last `RATE_WINDOW` before `now`.
    pub fn rates(&self, ue: UeId) -> [f64; 2] {
        self.histories.rates(ue)
    }

    /// Up to `count` points of the history of `ue`, oldest first. A point covers `bins` bins.
    pub fn history(&self, ue: UeId, bins: usize, count: usize) -> Vec<Point> {
        self.histories.points(ue, bins, count)
    }

    /// Continues the histories to `now`. Must be called before reading: events advance them too, but
    /// none may have occurred for a while.
    pub fn advance(&mut self, now: Time) {
        self.histories.advance(now, &self.ues);
    }

    fn ue(&mut self, ue: UeId) -> &mut LiveUe {
        &mut self.ues[ue.index()]
    }

    fn close(&mut self, connection: ConnectionId) {
        let Some(known) = self.connections.get_mut(&connection) else { return };
        if std::mem::take(&mut known.is_open) {
            let ue = &mut self.ues[known.ue.index()];
            ue.connections -= 1;
            if ue.newest == Some(connection) {
                ue.cwnd = None;
            }
        }
    }
}

impl LiveUe {
    fn new(config: &UeConfig) -> Self {
        let is_substitute = config.substitute.is_some();
        let fixed = config.channels.map(|channel| (!is_substitute).then_some(channel.channel));
        let dedicated = config.switching.as_ref().and_then(|switching| switching.dchs.first());
        LiveUe {
            cell: u16::try_from(config.cell).expect("numbers of cells have 16 bits"),
            channels: fixed,
            common: fixed,
            dedicated: dedicated.map_or([None; 2], |channels| channels.map(|channel| Some(channel.channel))),
            ..Self::default()
        }
    }

    fn enter(&mut self, state: RrcState) {
        self.state = Some(state);
        self.towards = None;
        self.channels = match state {
            RrcState::CellDch => self.dedicated,
            RrcState::CellFach => self.common,
            RrcState::Idle | RrcState::UraPch | RrcState::CellPch => [None; 2],
        };
        if state == RrcState::CellDch {
            self.request = None;
        }
    }
}

impl TraceSink<TraceEvent> for LiveState {
    fn wants_copies(&self) -> bool {
        false
    }

    fn record(&mut self, at: Time, event: &TraceEvent) {
        self.histories.advance(at, &self.ues);
        let owner = |connection| self.connections.get(&connection).map(|known| known.ue);
        self.notable.record(at, event, owner);
        match *event {
            TraceEvent::ConnectionOpened { connection, ue, sender, .. } => {
                self.connections.insert(connection, LiveConnection { ue, sender, is_open: true });
                let ue = self.ue(ue);
                ue.connections += 1;
                (ue.newest, ue.cwnd) = (Some(connection), None);
            }
            TraceEvent::ConnectionClosed { connection } => {
                self.close(connection);
                self.connections.remove(&connection);
            }
            TraceEvent::ConnectionFailed { connection, .. } => self.close(connection),
            TraceEvent::Window { connection, end, cwnd: Real(cwnd), .. } => {
                let Some(known) = self.connections.get(&connection) else { return };
                let ue = &mut self.ues[known.ue.index()];
                if known.sender == end && known.is_open && ue.newest == Some(connection) {
                    ue.cwnd = Some(cwnd);
                }
            }
            TraceEvent::RtoExpired { connection, .. } => {
                if let Some(ue) = owner(connection) {
                    self.ue(ue).timeouts += 1;
                }
            }
            TraceEvent::SegmentSent { segment, cause, .. } if cause.is_again() => {
                if let Some(ue) = owner(segment.connection) {
                    self.ue(ue).retransmissions += 1;
                }
            }
            TraceEvent::RlcBuffer { ue, direction, octets } => {
                self.ue(ue).buffers[direction.index()] = octets;
            }
            TraceEvent::SduDelivered { ue, direction, size, .. } => {
                self.ue(ue).delivered[direction.index()] += size.0;
                self.histories.deliver(ue, direction, size.0);
            }
            TraceEvent::BlocksReceived { ue, direction, channel, blocks, errors } => {
                let ue = self.ue(ue);
                let direction = direction.index();
                ue.blocks[direction][0] += u64::from(blocks);
                ue.blocks[direction][1] += u64::from(errors);
                // Blocks on the air at a switch arrive on the former channel.
                if ue.state.is_none_or(|state| state == channel.name().1) {
                    ue.channels[direction] = Some(channel);
                }
            }
            TraceEvent::Handover { ue, to, .. } => self.ue(ue).cell = to,
            TraceEvent::RrcState { ue, state } => self.ue(ue).enter(state),
            TraceEvent::RrcSwitch { ue, to, .. } => self.ue(ue).towards = Some(to),
            TraceEvent::DchRefused { ue } => self.ue(ue).request = Some(DchRequest::Refused),
            TraceEvent::DchQueued { ue } => self.ue(ue).request = Some(DchRequest::Queued),
            TraceEvent::DchGranted { ue, .. } => self.ue(ue).request = Some(DchRequest::Granted),
            TraceEvent::DchWithdrawn { ue } => self.ue(ue).request = None,
            TraceEvent::CellReserved { cell, rates, dchs, is_full } => {
                self.cells[usize::from(cell)] = Some(LiveCell { rates, dchs, is_full });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
