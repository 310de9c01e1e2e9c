//! A proxy that splits nothing: it looks at the packets that pass it, holds some back, changes or hides them, and sends data
//! again from a copy of its own (RFC 3135 §3.1). Connections stay whole, and if it forgets everything they go on.
//!
//! It helps data that go to the UE. Of what comes back it touches nothing but acknowledgments without data.

use std::collections::BTreeMap;

use super::ack_regulator::AckRegulator;
use super::snoop::Snoop;
use crate::ids::{ConnectionId, Direction, FlowId, PacketId};
use crate::packet::{Content, Packet, Segment};
use crate::trace::Help;

/// What it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelperKind {
    /// It keeps what the UE has not acknowledged, and sends it again on duplicate
    /// acknowledgments, which the server does not see (Balakrishnan and others, MobiCom 1995).
    Snoop {
        /// Room for copies, of each connection.
        cache: u64,
    },
    /// It holds acknowledgments back while more than `queue` octets are between it and the UE, and lets them go as the UE
    /// acknowledges (after Chan and Ramjee, MobiCom 2002).
    AckRegulation {
        /// What may be under way to the UE.
        queue: u64,
    },
    /// It lowers the window that the UE advertises (after Chan and Ramjee, INFOCOM 2004).
    WindowClamp {
        /// The most that is advertised.
        window: u32,
    },
}

/// What becomes of a packet from the UE.
#[derive(Debug, Default)]
pub struct Passing {
    /// These go on to the server, in this order.
    pub up: Vec<Packet>,
    /// This goes to the UE.
    pub down: Option<Packet>,
    /// What was done.
    pub done: Option<Help>,
    /// The packet is not among those that go on, and will not be.
    pub hidden: bool,
}

/// The helper at a node, with what it knows of each connection.
#[derive(Debug)]
pub struct Helper {
    kind: HelperKind,
    /// By flow: whether it is helped.
    flows: Vec<bool>,
    snoops: BTreeMap<ConnectionId, Snoop>,
    regulators: BTreeMap<ConnectionId, AckRegulator>,
    /// The next packet of its own.
    own: PacketId,
}

impl Helper {
    /// A helper for the flows of which `flows` says so.
    pub fn new(kind: HelperKind, flows: Vec<bool>) -> Self {
        // Hosts number packets from 0 on, and never get there.
        let own = PacketId(1 << 48);
        Helper { kind, flows, snoops: BTreeMap::new(), regulators: BTreeMap::new(), own }
    }

    fn helps(&self, flow: FlowId) -> bool {
        self.flows.get(flow.index()).is_some_and(|&helps| helps)
    }

    /// A packet on its way to the UE passes.
    pub fn pass_down(&mut self, packet: &Packet) {
        let Some(segment) = packet.segment().filter(|_| self.helps(packet.flow)) else { return };
        match self.kind {
            HelperKind::Snoop { cache } => {
                let connection = self.snoops.entry(segment.connection).or_default();
                if connection.pass_data(packet, segment, cache) {
                    self.snoops.remove(&segment.connection);
                }
            }
            HelperKind::AckRegulation { .. } => {
                let connection = self.regulators.entry(segment.connection).or_default();
                if connection.pass_data(segment) {
                    self.regulators.remove(&segment.connection);
                }
            }
            HelperKind::WindowClamp { .. } => {}
        }
    }

    /// A packet from the UE comes.
    pub fn pass_up(&mut self, packet: Packet) -> Passing {
        let Some(&segment) = packet.segment().filter(|_| self.helps(packet.flow)) else {
            return Passing { up: vec![packet], ..Passing::default() };
        };
        match self.kind {
            HelperKind::Snoop { .. } => self.snoop(packet, &segment),
            HelperKind::AckRegulation { queue } => match self.regulators.get_mut(&segment.connection) {
                Some(connection) => connection.pass_up(packet, &segment, queue),
                None => Passing { up: vec![packet], ..Passing::default() },
            },
            HelperKind::WindowClamp { window } => clamp(packet, segment, window),
        }
    }

    fn snoop(&mut self, packet: Packet, segment: &Segment) -> Passing {
        let connection = self.snoops.get_mut(&segment.connection).filter(|_| is_pure_ack(segment));
        let mut passing = match connection {
            Some(connection) => connection.pass_ack(packet, segment),
            None => Passing { up: vec![packet], ..Passing::default() },
        };
        if let Some(repeated) = &mut passing.down {
            repeated.id = self.own;
            self.own.0 += 1;
        }
        passing
    }
}

/// An acknowledgment and nothing else.
pub(super) fn is_pure_ack(segment: &Segment) -> bool {
    let flags = segment.flags;
    flags.ack && !flags.syn && !flags.fin && !flags.rst && segment.payload == 0
}

/// Data on its way to the UE.
pub(super) fn is_data(segment: &Segment) -> bool {
    segment.direction == Direction::Downlink && segment.payload > 0
}

fn clamp(packet: Packet, segment: Segment, window: u32) -> Passing {
    let lowers = segment.flags.ack && !segment.flags.rst && segment.window > window;
    let content = if lowers { Content::Segment(Segment { window, ..segment }) } else { packet.content };
    let up = vec![Packet { content, ..packet }];
    Passing { up, done: lowers.then_some(Help::Clamped), ..Passing::default() }
}
