//! State of one connection in a proxy that regulates acknowledgments: data in flight to the UE, and
//! held ACKs.

use std::collections::VecDeque;

use super::helper::{Passing, is_pure_ack};
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
    /// are held. Afterwards each new ACK releases at most two, so that ACKs leave at the rate of
    /// the radio. Any other packet releases all held ACKs.
    pub fn pass_up(&mut self, packet: Packet, segment: &Segment, queue: u64) -> Passing {
        let is_new = is_pure_ack(segment) && segment.ack > self.acked;
        self.acked = self.acked.max(segment.ack);
        self.held.push_back(packet);
        let under_way = self.passed.saturating_sub(self.acked);
        let go = match under_way {
            0 => self.held.len(),
            _ if !is_new => self.held.len(),
            _ if under_way <= queue => self.held.len().min(2),
            _ => 0,
        };
        let up: Vec<Packet> = self.held.drain(..go).collect();
        let done = (!self.held.is_empty()).then_some(Help::Held);
        Passing { up, done, ..Passing::default() }
    }
}
