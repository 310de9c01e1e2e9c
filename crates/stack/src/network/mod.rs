//! The network put together: servers, core network, RNC, Node Bs and UEs, and what happens between them.
//!
//! [`Network::handle`] takes one event and schedules what follows from it. It knows no clock: simulation and emulation
//! run the same network on different ones.
//!
//! ```text
//!   tcp_path:    applications and TCP ⇄ links of the core network ⇄ RLC buffers
//!   capacity_path: a measured radio, in place of RLC and all below it
//!   flat_path: a rate and a delay in their place, for comparison
//!   radio_path:  RLC entities ⇄ ticks of the transport channels ⇄ block sets on their way
//!   rrc_path:    RLC buffers ⇄ RRC of each UE ⇄ admission of the cell ⇄ channels in use
//! ```

mod build;
mod capacity_path;
mod carrier;
mod config;
mod flat_path;
mod flight;
mod flow;
mod foreign;
mod full_cell;
mod radio_path;
mod rrc_path;
mod tcp_path;
mod ue;

use std::collections::{BTreeMap, VecDeque};

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

pub use crate::event::Event;
pub use config::{
    CellConfig, ChannelConfig, FachMode, FlowConfig, IubTiming, NetworkConfig, RachMode, SubstituteConfig,
    SwitchingConfig, UeConfig,
};

use self::carrier::Carrier;
use self::flight::Flights;
use self::flow::Flow;
use self::ue::UeContext;
use crate::Step;
use crate::core_network::{CoreNetwork, Impairments};
use crate::ids::{Direction, UeId};
use crate::packet::{Packet, Packets};
use crate::rnc::Admission;
use crate::step::Wakeup;
use crate::tcp::congestion::UserLaws;
use crate::trace::TraceEvent;

/// Everything between and including the two ends of every connection.
#[derive(Debug)]
pub struct Network {
    core: CoreNetwork,
    carriers: Vec<Carrier>,
    cells: Vec<CellContext>,
    ues: Vec<UeContext>,
    flights: Flights,
    flows: Vec<Flow>,
    impairments: Impairments,
    /// Packets that a script delays, by their ids.
    delayed: BTreeMap<u32, Packet>,
    packets: Packets,
    /// Connections opened so far.
    connections: u32,
    /// Packets of real programs that have come through.
    foreign_out: VecDeque<Packet>,
    /// Makes the laws of `Variant::User`.
    laws: Option<UserLaws>,
    /// Scratch: who is asked in a tick.
    active: Vec<UeId>,
}

/// What the network keeps of one cell, besides its carriers.
#[derive(Debug)]
struct CellContext {
    admission: Admission,
    /// When the UEs that wait for a DCH next ask; one wake-up at a time is outstanding.
    wake: Wakeup,
    /// Whether what is reserved at the beginning was told.
    announced: bool,
    /// Whether it was told to be full, and when that is looked at again.
    is_full: bool,
    opens: Wakeup,
}

impl Network {
    /// Connections of [`Variant::User`](crate::tcp::Variant::User) that are opened from now on have these laws.
    pub fn set_laws(&mut self, laws: UserLaws) {
        self.laws = Some(laws);
    }

    /// Schedules the beginning of every flow, and of every RRC.
    pub fn start(&self, queue: &mut EventQueue<Event>) {
        for ue in self.ues.iter().filter(|ue| ue.control.is_some()) {
            queue.push(Time::ZERO, Phase::Rrc, Event::RrcWake(ue.id));
        }
        for flow in &self.flows {
            queue.push(flow.start, Phase::Transmit, Event::FlowStarts(flow.id));
        }
    }

    /// Takes one event.
    #[inline]
    pub fn handle<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, event: Event) {
        match event {
            Event::Tick(carrier) => self.tick(step, carrier),
            Event::BlocksArrive(flight) => self.blocks_arrive(step, flight),
            Event::NodeBTick(carrier) => self.nodeb_tick(step, carrier),
            Event::Opportunity(ue, direction) => self.opportunity(step, ue, direction),
            Event::FlatSent(ue, direction) => self.flat_sent(step, ue, direction),
            Event::FlatArrival(ue, direction) => self.flat_arrival(step, ue, direction),
            Event::LinkArrival(link) => self.link_arrival(step, link),
            Event::HeldPacketEnters(held) => self.held_packet_enters(step, held),
            Event::RrcWake(ue) => self.rrc_wake(step, ue),
            Event::CellWake(cell) => self.cell_wake(step, cell),
            Event::CellOpens(cell) => self.cell_opens(step, cell),
            Event::RlcWake(ue, direction) => self.rlc_wake(step, ue, direction),
            Event::TcpWake(flow, end) => self.tcp_wake(step, flow, end),
            Event::TrafficWake(flow) => self.traffic_wake(step, flow),
            Event::FlowStarts(flow) => self.flow_starts(step, flow),
            Event::EndOfRun => {}
        }
    }

    /// SDU octets in the RLC entity of `ue` that sends in `direction`.
    pub fn rlc_buffer(&self, ue: UeId, direction: Direction) -> umts_units::Bytes {
        self.ues[ue.index()].rlc[direction.index()].buffer_occupancy()
    }
}
