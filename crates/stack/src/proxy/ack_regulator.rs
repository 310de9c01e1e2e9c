//! State of one connection in a proxy that regulates acknowledgments: data in flight to the UE, and
//! held ACKs.

use std::collections::VecDeque;

use super::helper::{HelperOutput, is_pure_ack};
use crate::packet::{Packet, Segment};
use crate::trace::Help;

#[derive(Debug, Default)]
pub(super) struct AckRegulator {
    /// End of the data that passed towards the UE.
    passed: u64,
    /// Highest acknowledgment number of the UE.
    acked: u64,
    held: VecDeque<Packet>,
}

impl AckRegulator {
    /// Handles a packet to the UE. Returns whether the connection is over.
    pub fn pass_data(&mut self, segment: &Segment) -> bool {
        self.passed = self.passed.max(segment.end());
        segment.flags.rst
    }

    /// Handles a packet of the UE. While more than `queue` octets are in flight to the UE, new ACKs
    /// are held. Below this limit each new ACK releases at most two of them, so that ACKs leave at
    /// the rate of the radio. Any other packet releases all held ACKs.
    pub fn pass_up(&mut self, packet: Packet, segment: &Segment, queue: u64) -> HelperOutput {
        let is_new = is_pure_ack(segment) && segment.ack > self.acked;
        self.acked = self.acked.max(segment.ack);
        self.held.push_back(packet);
        let in_flight = self.passed.saturating_sub(self.acked);
        let released = match in_flight {
            0 => self.held.len(),
            _ if !is_new => self.held.len(),
            _ if in_flight <= queue => self.held.len().min(2),
            _ => 0,
        };
        let up: Vec<Packet> = self.held.drain(..released).collect();
        let action = (!self.held.is_empty()).then_some(Help::Held);
        HelperOutput { up, action, ..HelperOutput::default() }
    }
}
