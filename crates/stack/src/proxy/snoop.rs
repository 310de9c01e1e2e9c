//! What a snooping proxy knows of one connection: segments that the UE has not acknowledged.

use std::collections::BTreeMap;

use super::helper::{Passing, is_data};
use crate::packet::{Packet, Segment};
use crate::trace::Help;

#[derive(Debug, Default)]
pub(super) struct Snoop {
    /// By their sequence numbers.
    kept: BTreeMap<u64, Packet>,
    octets: u64,
    /// The end of what has passed towards the UE.
    passed: u64,
    /// The highest acknowledgment of the UE, and the window that came with the last one.
    acked: u64,
    window: u32,
    /// Duplicates that segments behind the one sent again will still cause.
    expected: Option<usize>,
    /// Duplicates that segments will cause which the server sent again although the UE may have them.
    excused: usize,
}

impl Snoop {
    /// A packet to the UE passes. Tells whether the connection is over.
    pub fn pass_data(&mut self, packet: &Packet, segment: &Segment, cache: u64) -> bool {
        if segment.flags.rst {
            return true;
        }
        let octets = u64::from(segment.payload);
        // One that comes late was lost in front of the proxy: what is acknowledged meanwhile asks the server for it.
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

    /// An acknowledgment of the UE comes: new ones pass; those that repeat the last one are answered from here, if what is
    /// missing was kept, and else pass.
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
        // It was lost, or its repetition was.
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
