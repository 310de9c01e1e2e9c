//! A network from its configuration.

use std::collections::{BTreeMap, VecDeque};

use umts_kernel::random::Streams;

use super::carrier::{Carrier, Plan, Push, Sharing};
use super::config::{
    CellConfig, ChannelConfig, FachMode, NetworkConfig, RachMode, SubstituteConfig, UeConfig,
};
use super::flight::Flights;
use super::flow::Flow;
use super::ue::{Control, Leg, Substitute, UeContext};
use super::{CellContext, Network, Packets};
use crate::core_network::{CoreNetwork, Impairments};
use crate::ids::{CellId, Direction, FlowId, UeId};
use crate::nodeb::FachQueue;
use crate::radio::capacity::CapacityLink;
use crate::radio::flat::FlatLink;
use crate::radio::mac::RachAccess;
use crate::radio::pdcp::Pdcp;
use crate::radio::phy::BlockErrors;
use crate::radio::rlc::Rlc;
use crate::rnc::rrc::Rrc;
use crate::rnc::{Admission, RoundRobin};
use crate::step::Wakeup;
use crate::trace::Channel;

const DIRECTIONS: [Direction; 2] = [Direction::Downlink, Direction::Uplink];

impl Network {
    /// Builds the network; its random draws come from `streams`.
    ///
    /// # Panics
    /// If a UE or flow names what does not exist: a scenario was checked for that.
    pub fn new(config: &NetworkConfig, streams: &Streams) -> Self {
        // Each flow has a server, and the programs of an emulation have one.
        let flows = config.flows.len() as u32;
        let mut network = Network {
            core: CoreNetwork::new(&config.core, flows + 1, streams),
            carriers: Vec::new(),
            cells: config.cells.iter().map(cell_context).collect(),
            ues: Vec::new(),
            flights: Flights::default(),
            flows: Vec::new(),
            laws: None,
            impairments: Impairments::new(&config.impairments),
            delayed: BTreeMap::new(),
            packets: Packets::default(),
            connections: 0,
            foreign_out: VecDeque::new(),
            active: Vec::new(),
        };
        for (index, ue) in config.ues.iter().enumerate() {
            network.add_ue(UeId(index as u16), ue, &config.cells[ue.cell], streams);
        }
        for (index, flow) in config.flows.iter().enumerate() {
            network.flows.push(Flow::new(FlowId(index as u32), flow, streams));
        }
        network
    }

    fn add_ue(&mut self, ue: UeId, config: &UeConfig, cell: &CellConfig, streams: &Streams) {
        let radio = |direction: Direction| format!("radio/{direction:?}/ue{}", ue.0);
        let legs = self.legs(config, config.channels, cell, streams, radio);
        let control = config.switching.as_ref().map(|switching| {
            // Each pair of channels meets a radio of its own.
            let dchs: Vec<[Leg; 2]> = switching
                .dchs
                .iter()
                .enumerate()
                .map(|(number, channels)| {
                    let radio = |direction| format!("{}/dch{number}", radio(direction));
                    self.legs(config, *channels, cell, streams, radio)
                })
                .collect();
            let admission = &mut self.cells[config.cell].admission;
            switching.rrc.dchs.iter().for_each(|dch| admission.offer(*dch));
            Box::new(Control::new(Rrc::new(ue, switching.rrc.clone()), dchs.into_iter()))
        });
        self.ues.push(UeContext {
            id: ue,
            cell: CellId(config.cell as u16),
            rlc: DIRECTIONS.map(|sends| rlc(ue, sends, config, legs[sends.index()].blocks)),
            substitute: substitute(ue, config, streams).map(Box::new),
            pdcp: DIRECTIONS.map(|_| Pdcp::new(config.pdcp)),
            legs,
            wake: [Wakeup::NONE; 2],
            shown: [0; 2],
            epoch: 0,
            control,
        });
    }

    /// A UE's `channels`, with radio streams of these names.
    fn legs(
        &mut self,
        ue: &UeConfig,
        channels: [ChannelConfig; 2],
        cell: &CellConfig,
        streams: &Streams,
        radio: impl Fn(Direction) -> String,
    ) -> [Leg; 2] {
        DIRECTIONS.map(|direction| {
            let (channel, errors) = (channels[direction.index()], ue.errors[direction.index()].clone());
            Leg {
                carrier: self.carrier_for(direction, ue.cell, channel, cell, streams),
                blocks: channel.format.blocks,
                tti: channel.format.tti,
                block_bits: channel.block_bits,
                errors: BlockErrors::new(errors, streams.addressed(&radio(direction))),
            }
        })
    }

    /// The carrier that a UE uses, made if it is the first to use it.
    fn carrier_for(
        &mut self,
        direction: Direction,
        index: usize,
        channel: ChannelConfig,
        cell: &CellConfig,
        streams: &Streams,
    ) -> u16 {
        let kind = match (channel.dedicated, direction) {
            (true, _) => Channel::Dch,
            (false, Direction::Downlink) => Channel::Fach,
            (false, Direction::Uplink) => Channel::Rach,
        };
        let same = |carrier: &Carrier| {
            carrier.plan.cell == index
                && carrier.plan.direction == direction
                && carrier.plan.channel == kind
                && carrier.plan.tti == channel.format.tti
        };
        let carrier = self.carriers.iter().position(same).unwrap_or_else(|| {
            self.carriers.push(new_carrier(index, direction, kind, channel, cell, streams));
            self.carriers.len() - 1
        });
        u16::try_from(carrier).expect("there are few combinations of cell, channel and TTI")
    }
}

fn rlc(ue: UeId, sends: Direction, config: &UeConfig, blocks: u32) -> Rlc {
    if config.wire_mode {
        Rlc::wired(ue, sends, &config.rlc, blocks).expect("a scenario was checked for that")
    } else {
        Rlc::new(ue, sends, &config.rlc, blocks)
    }
}

fn cell_context(config: &CellConfig) -> CellContext {
    let admission = Admission::new(config.limits, config.reserved);
    CellContext { admission, wake: Wakeup::NONE, announced: false, is_full: false, opens: Wakeup::NONE }
}

fn new_carrier(
    index: usize,
    direction: Direction,
    kind: Channel,
    channel: ChannelConfig,
    cell: &CellConfig,
    streams: &Streams,
) -> Carrier {
    let draws = |purpose: &str| streams.addressed(&format!("cell{index}/{purpose}"));
    let sharing = match (kind, cell.fach, cell.rach) {
        (Channel::Dch, _, _) => Sharing::Dedicated,
        (Channel::Fach, FachMode::Pull, _) => Sharing::Pull(RoundRobin::default()),
        (Channel::Fach, FachMode::PerUePush { nodeb_queue, jitter }, _) => Sharing::Push(Push {
            queue: FachQueue::new(nodeb_queue),
            jitter,
            draws: draws("fach/jitter"),
            frame_scheduled: false,
        }),
        (Channel::Rach, _, RachMode::Shared) => {
            Sharing::Contention(RachAccess::new(draws("rach/access"), channel.format.tti))
        }
        (Channel::Rach, _, RachMode::Private { access_delay }) => {
            Sharing::PrivateAccess(access_delay, draws("rach/delay"))
        }
    };
    let plan = Plan {
        cell: index,
        direction,
        channel: kind,
        tti: channel.format.tti,
        shared_blocks: channel.format.blocks,
        iub_rate: cell.iub_rate,
        iub_delay: cell.iub_delay,
        iub_timing: cell.iub_timing,
        lead: cell.rlc_lead,
    };
    Carrier::new(plan, sharing)
}

fn substitute(ue: UeId, config: &UeConfig, streams: &Streams) -> Option<Substitute> {
    Some(match config.substitute.as_ref()? {
        SubstituteConfig::Capacity(capacity) => {
            Substitute::Capacity(DIRECTIONS.map(|direction| CapacityLink::new(ue, direction, capacity)))
        }
        SubstituteConfig::Flat(flat) => Substitute::Flat(DIRECTIONS.map(|direction| {
            let losses = streams.stream(&format!("flat/{direction:?}/ue{}", ue.0));
            FlatLink::new(ue, direction, flat, losses)
        })),
    })
}
