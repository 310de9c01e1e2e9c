//! State of one connection in a snooping proxy: segments that the UE has not acknowledged.

use std::collections::BTreeMap;

use super::helper::{Passing, is_data};
use crate::packet::{Packet, Segment};
use crate::trace::Help;

#[derive(Debug, Default)]
pub(super) struct Snoop {
    /// Kept segments by sequence number.
    kept: BTreeMap<u64, Packet>,
    octets: u64,
    /// End of the data that passed towards the UE.
    passed: u64,
    /// Highest acknowledgment number of the UE, and its last window.
    acked: u64,
    window: u32,
    /// Duplicate ACKs that the segments after the retransmitted one will still cause.
    expected: Option<usize>,
    /// Duplicate ACKs expected from segments that the server retransmitted although the UE may have
    /// them.
    excused: usize,
}

impl Snoop {
    /// Handles a packet to the UE. Returns whether the connection is over.
    pub fn pass_data(&mut self, packet: &Packet, segment: &Segment, cache: u64) -> bool {
        if segment.flags.rst {
            return true;
        }
        let octets = u64::from(segment.payload);
        // A segment out of order was lost before the proxy. The duplicate ACKs for it must reach
        // the server.
        let is_next = segment.seq >= self.passed;
        self.passed = self.passed.max(segment.end());
        if is_data(segment) && !is_next && segment.seq != self.acked {
            self.excused += 1;
        }
        if is_data(segment) && is_next && self.octets + octets <= cache {
            self.octets += octets;
            self.kept.insert(segment.seq, *packet);
            self.expected = self.expected.map(|expected| expected + 1);
        }
        false
    }

    /// Handles an ACK of the UE. New ACKs pass. Duplicate ACKs are answered from the kept segments
    /// if the missing one is kept, and otherwise pass.
    pub fn pass_ack(&mut self, packet: Packet, segment: &Segment) -> Passing {
        let tells_window = std::mem::replace(&mut self.window, segment.window) != segment.window;
        if segment.ack > self.acked || tells_window || !self.kept.contains_key(&segment.ack) {
            self.advance(segment.ack);
            return Passing { up: vec![packet], ..Passing::default() };
        }
        if self.excused > 0 {
            self.excused -= 1;
            return Passing { up: vec![packet], ..Passing::default() };
        }
        if let Some(expected) = self.expected.filter(|&expected| expected > 0) {
            self.expected = Some(expected - 1);
            return Passing { done: Some(Help::Hid), hidden: true, ..Passing::default() };
        }
        // The segment or its retransmission was lost.
        self.expected = Some(self.kept.range(segment.ack + 1..).count());
        let down = self.kept.get(&segment.ack).copied();
        Passing { down, done: Some(Help::Repeated), hidden: true, ..Passing::default() }
    }

    fn advance(&mut self, ack: u64) {
        if ack <= self.acked {
            return;
        }
        self.acked = ack;
        self.expected = None;
        while let Some(first) = self.kept.first_entry()
            && first.get().segment().is_some_and(|segment| segment.end() <= ack)
        {
            self.octets -= u64::from(first.remove().payload());
        }
    }
}
