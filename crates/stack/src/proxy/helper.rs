//! A proxy that does not split connections ("helper"): it delays, changes or hides passing packets,
//! and retransmits data from its own copy (RFC 3135 §3.1). If the helper loses its state,
//! connections continue. The core network passes the packets of the flows that are to be helped
//! through it.
//!
//! It acts on data to the UE. In the reverse direction it delays or hides only ACKs without data.
//! The window clamp changes every segment of the UE with ACK and without RST.

use std::collections::BTreeMap;

use super::ack_regulator::AckRegulator;
use super::snoop::Snoop;
use crate::ids::{ConnectionId, Direction, FlowId, PacketId};
use crate::packet::{Content, Packet, Segment};
use crate::trace::Help;

/// The method of the helper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelperKind {
    /// Keeps unacknowledged data, and retransmits on duplicate ACKs, which are hidden from the
    /// server (Balakrishnan and others, MobiCom 1995).
    Snoop {
        /// Octets of copies per connection.
        cache: u64,
    },
    /// Holds ACKs while more than `queue` octets are in flight to the UE, and releases them as the
    /// UE acknowledges (after Chan and Ramjee, MobiCom 2002).
    AckRegulation {
        /// Maximum octets in flight to the UE.
        queue: u64,
    },
    /// Lowers the window that the UE advertises (after Chan and Ramjee, INFOCOM 2004).
    WindowClamp {
        /// Maximum advertised window.
        window: u32,
    },
}

/// Result of a packet from the UE.
#[derive(Debug, Default)]
pub struct HelperOutput {
    /// Packets to the server, in this order.
    pub up: Vec<Packet>,
    /// Packet to the UE.
    pub down: Option<Packet>,
    /// Action for the trace.
    pub action: Option<Help>,
    /// The packet is not in `up` and is never forwarded.
    pub hidden: bool,
}

/// The helper at a node, with the state of each connection.
#[derive(Debug)]
pub struct Helper {
    kind: HelperKind,
    /// By flow: whether the helper acts on the flow.
    flows: Vec<bool>,
    snoops: BTreeMap<ConnectionId, Snoop>,
    regulators: BTreeMap<ConnectionId, AckRegulator>,
    /// Id of the helper's next own packet.
    next_own_id: PacketId,
}

/// Id of the first packet of a helper: far above the ids that hosts assign from 0 on.
pub(super) const FIRST_OWN_ID: PacketId = PacketId(1 << 48);

impl Helper {
    /// `flows`: whether the helper acts on each flow.
    pub fn new(kind: HelperKind, flows: Vec<bool>) -> Self {
        let next_own_id = FIRST_OWN_ID;
        Helper { kind, flows, snoops: BTreeMap::new(), regulators: BTreeMap::new(), next_own_id }
    }

    fn acts_on(&self, flow: FlowId) -> bool {
        self.flows.get(flow.index()).is_some_and(|&acts| acts)
    }

    /// Handles a packet to the UE.
    pub fn pass_down(&mut self, packet: &Packet) {
        let Some(segment) = packet.segment().filter(|_| self.acts_on(packet.flow)) else { return };
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

    /// Handles a packet from the UE.
    pub fn pass_up(&mut self, packet: Packet) -> HelperOutput {
        let Some(&segment) = packet.segment().filter(|_| self.acts_on(packet.flow)) else {
            return HelperOutput { up: vec![packet], ..HelperOutput::default() };
        };
        match self.kind {
            HelperKind::Snoop { .. } => self.snoop(packet, &segment),
            HelperKind::AckRegulation { queue } => match self.regulators.get_mut(&segment.connection) {
                Some(connection) => connection.pass_up(packet, &segment, queue),
                None => HelperOutput { up: vec![packet], ..HelperOutput::default() },
            },
            HelperKind::WindowClamp { window } => clamp(packet, segment, window),
        }
    }

    /// Passes a packet from the UE to the snooping of its connection.
    fn snoop(&mut self, packet: Packet, segment: &Segment) -> HelperOutput {
        let connection = self.snoops.get_mut(&segment.connection).filter(|_| is_pure_ack(segment));
        let mut output = match connection {
            Some(connection) => connection.pass_ack(packet, segment),
            None => HelperOutput { up: vec![packet], ..HelperOutput::default() },
        };
        if let Some(repeated) = &mut output.down {
            repeated.id = self.next_own_id;
            self.next_own_id.0 += 1;
        }
        output
    }
}

/// An ACK without data, SYN, FIN or RST.
pub(super) fn is_pure_ack(segment: &Segment) -> bool {
    let flags = segment.flags;
    flags.ack && !flags.syn && !flags.fin && !flags.rst && segment.payload == 0
}

/// Data to the UE.
pub(super) fn is_data(segment: &Segment) -> bool {
    segment.direction == Direction::Downlink && segment.payload > 0
}

/// Lowers the window that the segment advertises to `window`, if it is larger.
fn clamp(packet: Packet, segment: Segment, window: u32) -> HelperOutput {
    let lowers = segment.flags.ack && !segment.flags.rst && segment.window > window;
    let content = if lowers { Content::Segment(Segment { window, ..segment }) } else { packet.content };
    let up = vec![Packet { content, ..packet }];
    HelperOutput { up, action: lowers.then_some(Help::Clamped), ..HelperOutput::default() }
}
