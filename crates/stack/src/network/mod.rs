//! The complete network: hosts, and the path between them.
//!
//! [`Network::handle`] handles one event and schedules the events that follow. It has no clock:
//! simulation and emulation run the same network with different clocks.
//!
//! ```text
//!             hosts                     applications, TCP, UDP
//!    down │           ▲ up
//!         ▼           │
//!             path                      core_network  ⇄  access: RNC, Node B, UE, the air
//! ```
//!
//! Hosts send packets down. `Network` polls the path for packets that have crossed it and passes
//! them to their host, so no lower layer calls a higher one.

mod changes;
mod config;
mod faults;

use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, TraceSink};
use umts_units::{Bytes, Time};

pub use self::changes::{Change, TimedChange};
pub use self::config::{
    CellConfig, ChannelConfig, FachMode, FlowConfig, Iub, NetworkConfig, RachMode, SchedulerKind,
    SubstituteConfig, SwitchingConfig, UeConfig,
};
use self::faults::Faults;
pub use crate::event::Event;

use crate::EventContext;
use crate::core_network::CoreNetwork;
use crate::hosts::Hosts;
use crate::ids::{Direction, LinkId, TransmissionId, UeId};
use crate::mac::hs::NodebQueue;
use crate::packet::{Foreign, Packet};
use crate::path::NetworkPath;
use crate::scheduling::UserSchedulers;
use crate::tcp::congestion::UserLaws;
use crate::trace::TraceEvent;
use crate::utran::Utran;

/// Both ends of every connection and everything between them.
#[derive(Debug)]
pub struct Network {
    hosts: Hosts,
    path: NetworkPath,
    changes: Vec<TimedChange>,
    faults: Faults,
}

impl Network {
    /// Random draws come from `streams`.
    ///
    /// # Panics
    /// Panics if a UE or flow refers to something that does not exist. A checked scenario has no
    /// such reference.
    pub fn new(config: &NetworkConfig, streams: &Streams) -> Self {
        // One server per flow, and one for real programs.
        let servers = config.flows.len() as u32 + u32::from(config.programs);
        let core = CoreNetwork::new(&config.core, servers, &config.impairments, streams);
        Network {
            changes: config.changes.clone(),
            faults: Faults::default(),
            hosts: Hosts::new(&config.flows, config.proxy.as_ref(), streams),
            path: NetworkPath {
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

    /// Sets the congestion control for later connections of
    /// [`Variant::User`](crate::tcp::Variant::User).
    pub fn set_laws(&mut self, laws: UserLaws) {
        self.hosts.set_laws(laws);
    }

    /// Sets the schedulers of the user on the shared channels for which it has one.
    pub fn set_schedulers(&mut self, schedulers: UserSchedulers) {
        self.path.access.set_schedulers(schedulers);
    }

    /// Schedules the changes, and the start of every flow and of every RRC.
    pub fn start(&mut self, agenda: &mut EventQueue<Event>) {
        self.schedule_changes(agenda);
        self.path.access.start(agenda);
        self.hosts.start(agenda);
    }

    /// Whether the handling time of `event`, the next event, can matter to real programs: the event
    /// may deliver one of their packets, or send it on the radio. Other events, the majority in a
    /// large network, concern only simulated users above the radio. An emulation may handle them
    /// later, in the same order, before the next TTI.
    pub fn affects_programs(&self, event: &Event) -> bool {
        self.affects_programs_if(event, |core, link| core.next_is_foreign(link))
    }

    /// Like `affects_programs` for an event that other events may precede. Returns true for more
    /// events.
    pub fn may_affect_programs(&self, event: &Event) -> bool {
        self.affects_programs_if(event, |core, link| core.has_foreign(link))
    }

    /// `matters_on_arrival` decides about the arrival of a packet at the end of a link.
    fn affects_programs_if(
        &self,
        event: &Event,
        matters_on_arrival: impl Fn(&CoreNetwork, LinkId) -> bool,
    ) -> bool {
        match event {
            Event::FlowStarts(_) | Event::TrafficWake(_) | Event::TcpWake(..) | Event::LinkLoss(_) => false,
            Event::LinkArrival(link) => matters_on_arrival(&self.path.core, *link),
            Event::LinkDequeue(link) => self.path.core.has_foreign(*link),
            _ => true,
        }
    }

    /// Handles one event.
    #[inline]
    pub fn handle<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, event: Event) {
        let Network { hosts, path, .. } = self;
        let access = &mut path.access;
        match event {
            Event::MacTimeout(carrier, timer) => access.mac_timeout(ctx, carrier, timer),
            Event::BlocksArrive(transmission) => self.blocks_arrive(ctx, transmission),
            Event::Opportunity(ue, direction) => {
                let delivered = access.opportunity(ctx, ue, direction);
                self.deliver_emulated(ctx, direction, delivered);
                self.path.access.wait_for_opportunity(ctx, ue, direction);
            }
            Event::FlatSent(ue, direction) => access.flat_sent(ctx, ue, direction),
            Event::FlatArrival(ue, direction) => {
                let arrived = access.flat_arrival(ctx, ue, direction);
                self.deliver_emulated(ctx, direction, arrived);
            }
            Event::LinkArrival(link) => {
                if let Some(packet) = path.link_arrival(ctx, link) {
                    hosts.receive_packet(ctx, &packet, path);
                }
            }
            Event::LinkDequeue(link) => path.core.link_dequeue(ctx, link),
            Event::LinkLoss(lost) => path.core.link_loss(ctx, lost),
            Event::HeldPacketEnters(held) => path.core.held_packet_enters(ctx, held),
            Event::RrcWake(ue) => access.rrc_wake(ctx, ue),
            Event::ConnectionWake(ue) => access.connection_wake(ctx, ue),
            Event::CellWake(cell) => access.cell_wake(ctx, cell),
            Event::CellOpens(cell) => access.cell_opens(ctx, cell),
            Event::RlcWake(ue, direction) => access.rlc_wake(ctx, ue, direction),
            Event::TcpWake(flow, end) => hosts.tcp_wake(ctx, flow, end, path),
            Event::ProxyCrash => hosts.proxy_crash(ctx),
            Event::TrafficWake(flow) => hosts.traffic_wake(ctx, flow, path),
            Event::FlowStarts(flow) => hosts.flow_starts(ctx, flow, path),
            Event::Change(number) => self.make_change(&mut ctx.cx, number),
            Event::EndOfRun => {}
        }
    }

    /// Receives a block set, and delivers the SDUs that it completes.
    #[inline]
    fn blocks_arrive<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: TransmissionId) {
        let transmission = self.path.access.receive(id);
        let direction = transmission.direction;
        for sent in transmission.sets() {
            let Some(has_sdus) = self.path.access.deliver(ctx, &transmission, sent) else { continue };
            if has_sdus {
                while let Some(packet) = self.path.access.next_sdu(sent.ue, direction) {
                    self.deliver_upward(ctx, direction, packet);
                }
            }
            self.path.access.finish_delivery(ctx, sent.ue, direction);
        }
        self.path.access.recycle(transmission);
    }

    /// Delivers packets of the link emulation. Not inlined, so that the loop of `handle` stays
    /// small for most networks.
    #[inline(never)]
    fn deliver_emulated<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        direction: Direction,
        packets: impl IntoIterator<Item = Packet>,
    ) {
        packets.into_iter().for_each(|packet| self.deliver_upward(ctx, direction, packet));
    }

    /// Handles a packet from the radio access, which may have arrived at its host.
    #[inline]
    fn deliver_upward<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        direction: Direction,
        mut packet: Packet,
    ) {
        if self.path.leave_access(ctx, direction, &mut packet) {
            self.hosts.receive_packet(ctx, &packet, &mut self.path);
        }
    }

    /// Creates a packet of a real program to or from `ue`.
    pub fn new_foreign(&mut self, ue: UeId, packet: Foreign) -> Packet {
        self.hosts.new_foreign(ue, packet)
    }

    /// Sends the packet from its sender: the server in the downlink, the UE in the uplink, or the
    /// proxy.
    pub fn send_foreign<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, packet: Packet) {
        self.hosts.send_foreign(ctx, packet, &mut self.path);
    }

    /// Returns the next packet of a real program that has crossed the network.
    pub fn poll_foreign(&mut self) -> Option<Packet> {
        self.hosts.poll_foreign()
    }

    /// SDU octets in the RLC entity of `ue` that sends in `direction`.
    pub fn rlc_buffer(&self, ue: UeId, direction: Direction) -> Bytes {
        self.path.access.rlc_buffer(ue, direction)
    }

    /// Data of `ue` that wait at the Node B for the HS-DSCH at `now`. `None` if the UE has no HS-DSCH
    /// at present.
    pub fn nodeb_queue(&self, ue: UeId, now: Time) -> Option<NodebQueue> {
        self.path.access.nodeb_queue(ue, now)
    }

    /// Octets in the queues of each link of the core network at `now`, server first, by direction.
    pub fn link_queues(&self, now: Time) -> Vec<[Bytes; 2]> {
        self.path.core.queued(now)
    }
}
