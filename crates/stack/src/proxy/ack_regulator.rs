//! What a proxy that regulates acknowledgments knows of one connection: how much is between it and the UE, and which
//! acknowledgments wait.

use std::collections::VecDeque;

use super::helper::{Passing, is_pure_ack};
use crate::packet::{Packet, Segment};
use crate::trace::Help;

#[derive(Debug, Default)]
pub(super) struct AckRegulator {
    /// The end of what has passed towards the UE.
    passed: u64,
    /// The highest acknowledgment of the UE.
    acked: u64,
    held: VecDeque<Packet>,
}

impl AckRegulator {
    /// A packet to the UE passes. Tells whether the connection is over.
    pub fn pass_data(&mut self, segment: &Segment) -> bool {
        self.passed = self.passed.max(segment.end());
        segment.flags.rst
    }

    /// A packet of the UE comes. New acknowledgments wait while too much is under way to the UE, then go at most two at a
    /// time with each one that comes: as fast as the radio takes data, and no faster. Whatever else comes takes all with it.
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
