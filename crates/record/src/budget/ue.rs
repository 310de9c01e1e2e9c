//! A user equipment: its bearer, both ways, and whether its channels carry data now.

use umts_stack::ids::{ConnectionId, Direction, UeId};
use umts_stack::network::UeConfig;
use umts_stack::rnc::rrc::RrcState;
use umts_stack::trace::{Channel, TraceEvent};
use umts_units::{Duration, Time};

use super::bearer::{Bearer, DchFormat};
use super::capacity::Capacity;
use super::cause::Cause;
use super::dsch_postponement::Turns;

#[derive(Debug)]
pub(super) struct Ue {
    pub cell: usize,
    pub bearers: [Bearer; 2],
    pub capacity: Capacity,
    pub turns: Turns,
    /// It is in a layout: several users have a TTI of its DSCH, and whoever has none is told of it.
    pub has_turns: bool,
    /// Connections that are open.
    pub open: Vec<ConnectionId>,
    /// Data goes on during a switch between CELL_FACH and CELL_DCH.
    data_continues: bool,
    state: Option<RrcState>,
    is_suspended: bool,
    /// A cell update is under way: RLC sends nothing until it is re-established.
    is_in_cell_update: bool,
    /// TTIs of its common channels and DCHs.
    common: [Duration; 2],
    dedicated: [Duration; 2],
    /// The DCH that it asks for, by direction, if its channels are switched.
    dch: Option<[DchFormat; 2]>,
    /// It asked for a DCH, and admission refused or queued the request.
    is_refused: bool,
    /// The number of its channel among those of its kind.
    numbers: [u16; 2],
    /// The channel that it shares in this direction, now.
    shares: [Option<(Channel, u16)>; 2],
    shares_at_first: [Option<(Channel, u16)>; 2],
}

impl Ue {
    pub fn new(config: &UeConfig) -> Self {
        let ttis = config.channels.map(|channel| channel.format.tti);
        let switching = config.switching.as_ref();
        let dedicated = switching.and_then(|switching| switching.dchs.first());
        let has_substitute = config.substitute.is_some();
        let shares = config
            .channels
            .map(|of| (of.channel != Channel::Dch && !has_substitute).then_some((of.channel, of.number)));
        Ue {
            cell: config.cell,
            bearers: [Bearer::new(&config.rlc), Bearer::new(&config.rlc)],
            capacity: Capacity::default(),
            turns: Turns::default(),
            has_turns: config.mobility.is_some(),
            open: Vec::new(),
            data_continues: switching.is_some_and(|switching| switching.rrc.data_continues),
            state: None,
            is_suspended: false,
            is_in_cell_update: false,
            common: ttis,
            dedicated: dedicated.map_or(ttis, |dch| dch.map(|channel| channel.format.tti)),
            dch: dedicated.map(|dch| dch.map(|channel| (channel.format.blocks, channel.format.tti))),
            is_refused: false,
            numbers: config.channels.map(|channel| channel.number),
            shares,
            shares_at_first: shares,
        }
    }

    /// Nothing of its data can move.
    pub fn is_cut_off(&self) -> bool {
        self.is_suspended || self.state.is_some_and(|state| !state.carries_data())
    }

    pub fn is_in_cell_update(&self) -> bool {
        self.is_in_cell_update
    }

    pub fn begin_cell_update(&mut self) {
        self.is_in_cell_update = true;
    }

    pub fn end_cell_update(&mut self) {
        self.is_in_cell_update = false;
    }

    /// A RESET procedure of either end is under way: both wait for its end.
    pub fn is_resetting(&self) -> bool {
        self.bearers.iter().any(Bearer::is_resetting)
    }

    /// It is on common channels because it does not get the DCH that it asked for.
    pub fn is_refused_dch(&self) -> bool {
        self.is_refused && self.state != Some(RrcState::CellDch)
    }

    /// The DCH that it does not get, while it is on common channels.
    pub fn refused_dch(&self, direction: Direction) -> Option<DchFormat> {
        self.dch.filter(|_| self.is_refused_dch()).map(|dch| dch[direction.index()])
    }

    /// The user that a request for a DCH is about.
    pub fn is_asking(event: &TraceEvent) -> Option<UeId> {
        match event {
            TraceEvent::DchRefused { ue }
            | TraceEvent::DchQueued { ue }
            | TraceEvent::DchGranted { ue, .. }
            | TraceEvent::DchWithdrawn { ue } => Some(*ue),
            _ => None,
        }
    }

    /// One of these events happened.
    pub fn answered(&mut self, event: &TraceEvent) {
        self.is_refused = matches!(event, TraceEvent::DchRefused { .. } | TraceEvent::DchQueued { .. });
    }

    /// Why what waits for this direction cannot leave at this instant, and until when, as far as it is known.
    pub fn lacks(&self, direction: Direction, at: Time) -> Option<(Cause, Time)> {
        let turn = match direction {
            Direction::Downlink => self.turns.withheld(at),
            Direction::Uplink => None,
        };
        turn.or_else(|| self.capacity.needed(direction).map(|cause| (cause, Time::NEVER)))
    }

    /// Whether it shares this channel now.
    pub fn shares(&self, direction: usize, channel: (Channel, u16)) -> bool {
        self.shares[direction] == Some(channel)
    }

    /// The channel of this kind that it uses.
    pub fn channel(&self, direction: usize, kind: Channel) -> (Channel, u16) {
        (kind, self.numbers[direction])
    }

    pub fn tti(&self, direction: usize, channel: Channel) -> Duration {
        match channel {
            Channel::Dch => self.dedicated[direction],
            _ => self.common[direction],
        }
    }

    pub fn switch_begins(&mut self, from: RrcState, to: RrcState) {
        self.is_suspended = !(self.data_continues && from.carries_data() && to.carries_data());
    }

    pub fn is_in(&mut self, state: RrcState) {
        self.is_suspended = false;
        self.state = Some(state);
        self.is_refused &= state == RrcState::CellFach;
        let common = state != RrcState::CellDch;
        self.shares = self.shares_at_first.map(|shares| shares.filter(|_| common));
    }
}

/// The UEs of a cell that have something to send on its shared channels, by direction.
#[derive(Debug, Default)]
pub(super) struct Waiting(Vec<[Vec<UeId>; 2]>);

impl Waiting {
    pub fn new(cells: usize) -> Self {
        Waiting((0..cells).map(|_| Default::default()).collect())
    }

    pub fn insert(&mut self, cell: usize, direction: usize, ue: UeId) {
        let here = &mut self.0[cell][direction];
        if let Err(place) = here.binary_search(&ue) {
            here.insert(place, ue);
        }
    }

    pub fn remove(&mut self, cell: usize, direction: usize, ue: UeId) {
        let here = &mut self.0[cell][direction];
        if let Ok(place) = here.binary_search(&ue) {
            here.remove(place);
        }
    }

    pub fn in_cell(&self, cell: usize, direction: usize) -> &[UeId] {
        &self.0[cell][direction]
    }
}
