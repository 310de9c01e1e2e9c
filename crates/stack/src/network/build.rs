//! A network from its configuration.

use std::collections::{BTreeMap, VecDeque};

use umts_kernel::random::Streams;
use umts_units::Time;

use super::Network;
use super::carrier::{Carrier, Plan, Push, Sharing};
use super::config::{CellConfig, ChannelConfig, FachMode, NetworkConfig, RachMode, UeConfig};
use super::flight::Flights;
use super::flow::Flow;
use super::ue::{Leg, UeContext};
use crate::core_network::{CoreNetwork, Impairments};
use crate::ids::{Direction, FlowId, UeId};
use crate::nodeb::FachQueue;
use crate::radio::capacity::CapacityLink;
use crate::radio::mac::RachAccess;
use crate::radio::pdcp::Pdcp;
use crate::radio::phy::BlockErrors;
use crate::radio::rlc::Rlc;
use crate::rnc::RoundRobin;
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
            ues: Vec::new(),
            flights: Flights::default(),
            flows: Vec::new(),
            impairments: Impairments::new(&config.impairments),
            delayed: BTreeMap::new(),
            packets: 0,
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
        let legs = DIRECTIONS.map(|direction| {
            let channel = config.channels[direction.index()];
            let name = format!("radio/{direction:?}/ue{}", ue.0);
            Leg {
                carrier: self.carrier_for(direction, config, cell, streams),
                blocks: channel.format.blocks,
                block_bits: channel.block_bits,
                errors: BlockErrors::new(config.errors[direction.index()].clone(), streams.addressed(&name)),
            }
        });
        self.ues.push(UeContext {
            id: ue,
            rlc: DIRECTIONS.map(|sends| rlc(ue, sends, config, legs[sends.index()].blocks)),
            capacity: config.capacity.as_ref().map(|capacity| {
                Box::new(DIRECTIONS.map(|direction| CapacityLink::new(ue, direction, capacity)))
            }),
            pdcp: DIRECTIONS.map(|_| Pdcp::new(config.pdcp)),
            legs,
            wake: [Time::NEVER; 2],
            shown: [0; 2],
        });
    }

    /// The carrier that a UE uses, made if it is the first to use it.
    fn carrier_for(
        &mut self,
        direction: Direction,
        ue: &UeConfig,
        cell: &CellConfig,
        streams: &Streams,
    ) -> u16 {
        let channel = ue.channels[direction.index()];
        let kind = match (channel.dedicated, direction) {
            (true, _) => Channel::Dch,
            (false, Direction::Downlink) => Channel::Fach,
            (false, Direction::Uplink) => Channel::Rach,
        };
        let same = |carrier: &Carrier| {
            carrier.plan.cell == ue.cell
                && carrier.plan.direction == direction
                && carrier.plan.channel == kind
                && carrier.plan.tti == channel.format.tti
        };
        let index = self.carriers.iter().position(same).unwrap_or_else(|| {
            self.carriers.push(new_carrier(ue.cell, direction, kind, channel, cell, streams));
            self.carriers.len() - 1
        });
        u16::try_from(index).expect("there are few combinations of cell, channel and TTI")
    }
}

fn rlc(ue: UeId, sends: Direction, config: &UeConfig, blocks: u32) -> Rlc {
    if config.wire_mode {
        Rlc::wired(ue, sends, &config.rlc, blocks).expect("a scenario was checked for that")
    } else {
        Rlc::new(ue, sends, &config.rlc, blocks)
    }
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
        (Channel::Rach, _, RachMode::Shared) => Sharing::Contention(RachAccess::new(draws("rach/access"))),
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
