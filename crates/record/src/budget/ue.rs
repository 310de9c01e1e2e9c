//! State of a user equipment for the time budget: both directions of its bearer, the channels that
//! it uses in its RRC state, and whether a switch, a cell update or a refused DCH stops its data.
//! A list of the UEs with data in their buffers ([`WaitingUes`]) serves to find the UEs that wait
//! while a shared channel carries blocks of another UE.

use umts_stack::ids::{ConnectionId, Direction, UeId};
use umts_stack::network::{ChannelConfig, UeConfig};
use umts_stack::rnc::rrc::RrcState;
use umts_stack::trace::{Channel, TraceEvent};

use umts_units::{Duration, Time};

use super::bearer::{Bearer, DchFormat};
use super::capacity::Capacity;
use super::cause::Cause;
use super::dsch_postponement::DschPostponement;

/// A channel of a cell: its type, and its number among the channels of this type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChannelId {
    pub kind: Channel,
    pub number: u16,
}

/// State of a UE that explains waits on the radio.
#[derive(Debug)]
pub(super) struct Ue {
    pub cell: usize,
    pub bearers: [Bearer; 2],
    pub capacity: Capacity,
    pub dsch: DschPostponement,
    /// Whether the UE is in a layout. Several users share a TTI of its DSCH, and an event reports
    /// each user that is not served.
    pub is_in_layout: bool,
    /// Open connections.
    pub open: Vec<ConnectionId>,
    /// Whether data continues during a switch between CELL_FACH and CELL_DCH.
    data_continues: bool,
    /// The RRC state, if RRC switches the UE.
    state: Option<RrcState>,
    /// Whether a switch of the RRC state stops all data.
    is_suspended: bool,
    /// Whether a cell update is in progress. RLC sends nothing until it is re-established.
    is_in_cell_update: bool,
    /// TTIs of the channels outside CELL_DCH, by direction.
    common: [Duration; 2],
    /// TTIs of the channels in CELL_DCH, by direction.
    dedicated: [Duration; 2],
    /// The DCH that the UE requests, by direction, if RRC switches it.
    dch: Option<[DchFormat; 2]>,
    /// Whether admission refused or queued the request for a DCH.
    is_refused: bool,
    /// Number of the UE's channel among channels of the same type, by direction.
    numbers: [u16; 2],
    /// The shared channel that the UE uses in its current state, by direction.
    shared_channels: [Option<ChannelId>; 2],
    /// The shared channel that the UE uses outside CELL_DCH, by direction.
    common_shared_channels: [Option<ChannelId>; 2],
    /// The shared channel that the UE uses in CELL_DCH, by direction.
    dedicated_shared_channels: [Option<ChannelId>; 2],
}

impl Ue {
    pub fn new(config: &UeConfig) -> Self {
        let ttis = config.channels.map(|channel| channel.format.tti);
        let switching = config.switching.as_ref();
        let dedicated = switching.and_then(|switching| switching.dchs.first());
        let has_emulated_link = config.substitute.is_some();
        let shared = |used: &ChannelConfig| {
            let is_shared = !used.channel.is_dedicated() && !has_emulated_link;
            is_shared.then_some(ChannelId { kind: used.channel, number: used.number })
        };
        let common_shared_channels = config.channels.each_ref().map(shared);
        // A UE without RRC states stays on its channels.
        let dedicated_shared_channels =
            dedicated.map_or(common_shared_channels, |dchs| dchs.each_ref().map(shared));
        let mut ue = Ue {
            cell: config.cell,
            bearers: [Bearer::new(&config.rlc), Bearer::new(&config.rlc)],
            capacity: Capacity::default(),
            dsch: DschPostponement::default(),
            is_in_layout: config.mobility.is_some(),
            open: Vec::new(),
            data_continues: switching.is_some_and(|switching| switching.rrc.data_continues()),
            state: None,
            is_suspended: false,
            is_in_cell_update: false,
            common: ttis,
            dedicated: dedicated.map_or(ttis, |dch| dch.map(|channel| channel.format.tti)),
            dch: dedicated.map(|dch| {
                dch.map(|channel| DchFormat {
                    blocks_per_tti: channel.format.blocks,
                    tti: channel.format.tti,
                })
            }),
            is_refused: false,
            numbers: config.channels.map(|channel| channel.number),
            shared_channels: [None; 2],
            common_shared_channels,
            dedicated_shared_channels,
        };
        ue.use_shared_channels(common_shared_channels);
        ue
    }

    fn use_shared_channels(&mut self, channels: [Option<ChannelId>; 2]) {
        self.shared_channels = channels;
        for (bearer, channel) in self.bearers.iter_mut().zip(channels) {
            bearer.needs_credits = channel.is_some_and(|channel| channel.kind == Channel::HsDsch);
        }
    }

    /// Whether no data of the UE can be transmitted.
    pub fn is_cut_off(&self) -> bool {
        self.is_suspended || self.state.is_some_and(|state| !state.carries_data())
    }

    /// Whether a cell update is in progress.
    pub fn is_in_cell_update(&self) -> bool {
        self.is_in_cell_update
    }

    pub fn begin_cell_update(&mut self) {
        self.is_in_cell_update = true;
    }

    pub fn end_cell_update(&mut self) {
        self.is_in_cell_update = false;
    }

    /// Whether a RESET procedure of either end is in progress. Both ends wait for its end.
    pub fn is_resetting(&self) -> bool {
        self.bearers.iter().any(Bearer::is_resetting)
    }

    /// Whether the UE is on common channels because it does not get the DCH that it requested.
    pub fn is_refused_dch(&self) -> bool {
        self.is_refused && self.state != Some(RrcState::CellDch)
    }

    /// Format of the refused DCH, while the UE is on common channels.
    pub fn refused_dch(&self, direction: Direction) -> Option<DchFormat> {
        self.dch.filter(|_| self.is_refused_dch()).map(|dch| dch[direction.index()])
    }

    /// The UE of an event about a request for a DCH.
    pub fn requesting_ue(event: &TraceEvent) -> Option<UeId> {
        match event {
            TraceEvent::DchRefused { ue }
            | TraceEvent::DchQueued { ue }
            | TraceEvent::DchGranted { ue, .. }
            | TraceEvent::DchWithdrawn { ue } => Some(*ue),
            _ => None,
        }
    }

    /// Records an event of [`Self::requesting_ue`].
    pub fn record_dch_answer(&mut self, event: &TraceEvent) {
        self.is_refused = matches!(event, TraceEvent::DchRefused { .. } | TraceEvent::DchQueued { .. });
    }

    /// The radio resource that data of this direction lack at `at`, as a cause, and the time until
    /// which they lack it (`Time::NEVER` if only an event ends the lack).
    pub fn missing_resource(&self, direction: Direction, at: Time) -> Option<(Cause, Time)> {
        let postponement = match direction {
            Direction::Downlink => self.dsch.blocking_cause(at),
            Direction::Uplink => None,
        };
        postponement.or_else(|| self.capacity.needed(direction).map(|cause| (cause, Time::NEVER)))
    }

    /// Whether the UE uses this shared channel now.
    pub fn uses_shared(&self, direction: usize, channel: ChannelId) -> bool {
        self.shared_channels[direction] == Some(channel)
    }

    /// The UE's channel of this type.
    pub fn channel(&self, direction: usize, kind: Channel) -> ChannelId {
        let in_use = self.shared_channels[direction].filter(|channel| channel.kind == kind);
        in_use.unwrap_or(ChannelId { kind, number: self.numbers[direction] })
    }

    /// TTI of the UE's channel of this type.
    pub fn tti(&self, direction: usize, channel: Channel) -> Duration {
        match channel {
            Channel::Dch | Channel::EDch | Channel::HsDsch => self.dedicated[direction],
            _ => self.common[direction],
        }
    }

    /// RRC starts to switch the UE. Data stop unless they continue between both states.
    pub fn begin_switch(&mut self, from: RrcState, to: RrcState) {
        self.is_suspended = !(self.data_continues && from.carries_data() && to.carries_data());
    }

    /// The UE is in `state`.
    pub fn enter_state(&mut self, state: RrcState) {
        self.is_suspended = false;
        self.state = Some(state);
        // Only a UE in CELL_FACH requests a DCH: in every other state its request has ended.
        self.is_refused &= state == RrcState::CellFach;
        if state == RrcState::CellDch {
            self.use_shared_channels(self.dedicated_shared_channels);
        } else {
            self.use_shared_channels(self.common_shared_channels);
            self.bearers.iter_mut().for_each(|bearer| bearer.harq.reset());
        }
    }
}

/// UEs with data in their RLC buffer, by cell and direction. Each list is sorted.
#[derive(Debug, Default)]
pub(super) struct WaitingUes(Vec<[Vec<UeId>; 2]>);

impl WaitingUes {
    pub fn new(cells: usize) -> Self {
        WaitingUes((0..cells).map(|_| Default::default()).collect())
    }

    pub fn insert(&mut self, cell: usize, direction: usize, ue: UeId) {
        let ues = &mut self.0[cell][direction];
        if let Err(place) = ues.binary_search(&ue) {
            ues.insert(place, ue);
        }
    }

    pub fn remove(&mut self, cell: usize, direction: usize, ue: UeId) {
        let ues = &mut self.0[cell][direction];
        if let Ok(place) = ues.binary_search(&ue) {
            ues.remove(place);
        }
    }

    pub fn in_cell(&self, cell: usize, direction: usize) -> &[UeId] {
        &self.0[cell][direction]
    }
}
