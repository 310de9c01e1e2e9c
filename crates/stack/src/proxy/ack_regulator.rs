//! State of one connection in a proxy that regulates acknowledgments (after Chan and Ramjee,
//! MobiCom 2002): it holds ACKs of the UE while more than a limit of octets is in flight to the UE,
//! so that the server sends at the rate of the radio.

use std::collections::VecDeque;

use super::helper::{HelperOutput, is_pure_ack};
use crate::packet::{Packet, Segment};
use crate::trace::Help;

#[derive(Debug, Default)]
pub(super) struct AckRegulator {
    /// Sequence number after the data that passed towards the UE.
    passed: u64,
    /// Highest acknowledgment number of the UE.
    acked: u64,
    /// Packets of the UE that wait in the proxy.
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
        let release_count = if in_flight == 0 || !is_new {
            self.held.len()
        } else if in_flight <= queue {
            self.held.len().min(2)
        } else {
            0
        };
        let up: Vec<Packet> = self.held.drain(..release_count).collect();
        let action = (!self.held.is_empty()).then_some(Help::Held);
        HelperOutput { up, action, ..HelperOutput::default() }
    }
}
