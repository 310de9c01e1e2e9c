//! The network put together: hosts, and what lies between them.
//!
//! [`Network::handle`] takes one event and schedules what follows from it. It knows no clock: simulation and emulation
//! run the same network on different ones.
//!
//! ```text
//!             hosts                     what asks for data, TCP, UDP
//!    down │           ▲ up
//!         ▼           │ pulled
//!            between                    core_network  ⇄  access: RNC, Node B, UE, the air
//! ```
//!
//! Hosts hand packets down. The one thing that comes up, a packet that has come through, is pulled here and handed to its
//! host, so nothing below ever calls what is above it.

mod config;

use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, TraceSink};
use umts_units::Bytes;

pub use self::config::{
    CellConfig, ChannelConfig, FachMode, FlowConfig, Iub, NetworkConfig, RachMode, SchedulerKind,
    SubstituteConfig, SwitchingConfig, UeConfig,
};
pub use crate::event::Event;

use crate::EventContext;
use crate::core_network::CoreNetwork;
use crate::hosts::Hosts;
use crate::ids::{Direction, LinkId, TransmissionId, UeId};
use crate::packet::{Foreign, Packet};
use crate::path::NetworkPath;
use crate::rnc::mac_sh::UserSchedulers;
use crate::tcp::congestion::UserLaws;
use crate::trace::TraceEvent;
use crate::utran::Utran;

/// Everything between and including the two ends of every connection.
#[derive(Debug)]
pub struct Network {
    hosts: Hosts,
    between: NetworkPath,
}

impl Network {
    /// Builds the network; its random draws come from `streams`.
    ///
    /// # Panics
    /// If a UE or flow names what does not exist: a scenario was checked for that.
    pub fn new(config: &NetworkConfig, streams: &Streams) -> Self {
        // Each flow has a server, and the programs of an emulation have one.
        let servers = config.flows.len() as u32 + u32::from(config.programs);
        let core = CoreNetwork::new(&config.core, servers, &config.impairments, streams);
        Network {
            hosts: Hosts::new(&config.flows, config.proxy.as_ref(), streams),
            between: NetworkPath {
                core: match &config.proxy {
                    None => core,
                    Some(proxy) => {
                        core.with_proxy(proxy, config.flows.iter().map(|flow| flow.helped).collect())
                    }
                },
                access: Utran::new(&config.cells, config.sectors.as_ref(), &config.ues, streams),
            },
        }
    }

    /// Connections of [`Variant::User`](crate::tcp::Variant::User) that are opened from now on have these laws.
    pub fn set_laws(&mut self, laws: UserLaws) {
        self.hosts.set_laws(laws);
    }

    /// The DSCHs of the cells of a layout are given away by these from now on.
    pub fn set_schedulers(&mut self, schedulers: &UserSchedulers) {
        self.between.access.set_schedulers(schedulers);
    }

    /// Schedules the beginning of every flow, and of every RRC.
    pub fn start(&mut self, agenda: &mut EventQueue<Event>) {
        self.between.access.start(agenda);
        self.hosts.start(agenda);
    }

    /// Whether programs may see when this event, the next, is handled: whether one of their packets may come out, or is sent on the
    /// radio. The rest is what simulated users do above the radio, most of all that happens in a network of many: it may wait
    /// in the same order until the next TTI is near, whose radio takes up what comes of it.
    pub fn is_seen(&self, event: &Event) -> bool {
        self.is_seen_if(event, |core, link| core.brings_foreign(link))
    }

    /// The same of an event before which others may come: it is told of more than are seen then.
    pub fn may_be_seen(&self, event: &Event) -> bool {
        self.is_seen_if(event, |core, link| core.has_foreign(link))
    }

    fn is_seen_if(&self, event: &Event, link: impl Fn(&CoreNetwork, LinkId) -> bool) -> bool {
        match event {
            Event::FlowStarts(_) | Event::TrafficWake(_) | Event::TcpWake(..) | Event::LinkLoss(_) => false,
            Event::LinkArrival(of) => link(&self.between.core, *of),
            _ => true,
        }
    }

    /// Takes one event.
    #[inline]
    pub fn handle<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, event: Event) {
        let Network { hosts, between } = self;
        let access = &mut between.access;
        match event {
            Event::Tick(carrier) => access.turn(ctx, carrier),
            Event::BlocksArrive(transmission) => self.blocks_arrive(ctx, transmission),
            Event::ControlTurn(carrier) => access.control_turn(ctx, carrier),
            Event::NodeBTick(carrier) => access.frame(ctx, carrier),
            Event::Opportunity(ue, direction) => {
                let through = access.opportunity(ctx, ue, direction);
                self.substitute_hands_up(ctx, direction, through);
                self.between.access.wait_for_opportunity(ctx, ue, direction);
            }
            Event::FlatSent(ue, direction) => access.flat_sent(ctx, ue, direction),
            Event::FlatArrival(ue, direction) => {
                let arrived = access.flat_arrival(ctx, ue, direction);
                self.substitute_hands_up(ctx, direction, arrived);
            }
            Event::LinkArrival(link) => {
                if let Some(packet) = between.link_arrival(ctx, link) {
                    hosts.reach(ctx, &packet, between);
                }
            }
            Event::LinkLoss(lost) => between.core.link_loss(ctx, lost),
            Event::HeldPacketEnters(held) => between.core.held_packet_enters(ctx, held),
            Event::RrcWake(ue) => access.rrc_wake(ctx, ue),
            Event::ConnectionWake(ue) => access.connection_wake(ctx, ue),
            Event::CellWake(cell) => access.cell_wake(ctx, cell),
            Event::CellOpens(cell) => access.cell_opens(ctx, cell),
            Event::RlcWake(ue, direction) => access.rlc_wake(ctx, ue, direction),
            Event::TcpWake(flow, end) => hosts.tcp_wake(ctx, flow, end, between),
            Event::ProxyCrash => hosts.proxy_crash(ctx),
            Event::TrafficWake(flow) => hosts.traffic_wake(ctx, flow, between),
            Event::FlowStarts(flow) => hosts.flow_starts(ctx, flow, between),
            Event::EndOfRun => {}
        }
    }

    /// Block sets come down: what they complete is taken up, packet by packet.
    #[inline]
    fn blocks_arrive<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: TransmissionId) {
        let transmission = self.between.access.receive(id);
        let direction = transmission.direction;
        for sent in transmission.sets() {
            let Some(has_sdus) = self.between.access.deliver(ctx, &transmission, sent) else { continue };
            if has_sdus {
                while let Some(packet) = self.between.access.next_sdu(sent.ue, direction) {
                    self.goes_up(ctx, direction, packet);
                }
            }
            self.between.access.finish_delivery(ctx, sent.ue, direction);
        }
        self.between.access.recycle(transmission);
    }

    /// Packets come up from what stands in place of UMTS: a call, so that the loop has what most networks need at hand.
    #[inline(never)]
    fn substitute_hands_up<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        direction: Direction,
        packets: impl IntoIterator<Item = Packet>,
    ) {
        packets.into_iter().for_each(|packet| self.goes_up(ctx, direction, packet));
    }

    /// A packet comes up from radio access, and may have reached its host.
    #[inline]
    fn goes_up<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        direction: Direction,
        mut packet: Packet,
    ) {
        if self.between.leave_access(ctx, direction, &mut packet) {
            self.hosts.reach(ctx, &packet, &mut self.between);
        }
    }

    /// A packet of a real program that goes to `ue` or comes from it, with a number of its own.
    pub fn new_foreign(&mut self, ue: UeId, packet: Foreign) -> Packet {
        self.hosts.new_foreign(ue, packet)
    }

    /// Its sender sends it: the server side downlink, the UE uplink, or a proxy between the two.
    pub fn enter_foreign<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, packet: Packet) {
        self.hosts.enter_foreign(ctx, packet, &mut self.between);
    }

    /// The next packet of a real program that has come through.
    pub fn poll_foreign(&mut self) -> Option<Packet> {
        self.hosts.poll_foreign()
    }

    /// SDU octets in the RLC entity of `ue` that sends in `direction`.
    pub fn rlc_buffer(&self, ue: UeId, direction: Direction) -> Bytes {
        self.between.access.rlc_buffer(ue, direction)
    }
}
