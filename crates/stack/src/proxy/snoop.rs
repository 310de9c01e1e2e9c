//! State of one connection in a snooping proxy (Balakrishnan and others, MobiCom 1995). The proxy
//! keeps copies of the segments that the UE has not acknowledged. If a duplicate ACK shows the loss
//! of a segment on the radio, the proxy retransmits its copy and hides the ACK from the server.

use std::collections::BTreeMap;

use super::helper::{HelperOutput, is_data};
use crate::packet::{Packet, Segment};
use crate::trace::Help;

/// The proxy's state of one connection.
#[derive(Debug, Default)]
pub(super) struct Snoop {
    // Data towards the UE.
    /// Copies of segments, by sequence number.
    copies: BTreeMap<u64, Packet>,
    /// Payload of all copies in octets.
    octets: u64,
    /// Sequence number after the data that passed towards the UE.
    passed: u64,

    // ACKs of the UE.
    /// Highest acknowledgment number of the UE.
    acked: u64,
    /// Last window of the UE.
    window: u32,

    // Duplicate ACKs to come.
    /// Number of duplicate ACKs that the segments after the retransmitted one will still cause.
    /// `None`: no segment was retransmitted since the last new ACK.
    expected: Option<usize>,
    /// Number of duplicate ACKs expected from segments that the server retransmitted although the
    /// UE may have them. They pass.
    tolerated: usize,
}

impl Snoop {
    /// Handles a packet to the UE. Returns whether the connection is over.
    pub fn pass_data(&mut self, packet: &Packet, segment: &Segment, cache: u64) -> bool {
        if segment.flags.rst {
            return true;
        }
        // A segment below `passed` is a retransmission by the server. It is not copied, so that the
        // duplicate ACKs for a segment that was lost before the proxy reach the server.
        let is_retransmission = segment.seq < self.passed;
        self.passed = self.passed.max(segment.end());
        if is_data(segment) && is_retransmission {
            let is_requested = segment.seq == self.acked;
            self.tolerated += usize::from(!is_requested);
        } else if is_data(segment) {
            self.copy(packet, segment, cache);
        }
        false
    }

    /// Keeps a copy of new data if the cache of this many octets has room. The segment will cause a
    /// duplicate ACK if an earlier one was lost.
    fn copy(&mut self, packet: &Packet, segment: &Segment, cache: u64) {
        let octets = u64::from(segment.payload);
        if self.octets + octets > cache {
            return;
        }
        self.octets += octets;
        self.copies.insert(segment.seq, *packet);
        self.expected = self.expected.map(|expected| expected + 1);
    }

    /// Handles an ACK of the UE. New ACKs pass. If there is a copy of the segment that a duplicate
    /// ACK requests, the proxy sends the copy and hides the ACK. Other duplicate ACKs pass.
    pub fn pass_ack(&mut self, packet: Packet, segment: &Segment) -> HelperOutput {
        let pass = || HelperOutput { up: vec![packet], ..HelperOutput::default() };
        let changes_window = std::mem::replace(&mut self.window, segment.window) != segment.window;
        let is_duplicate = segment.ack <= self.acked && !changes_window;
        let has_copy = self.copies.contains_key(&segment.ack);
        if !is_duplicate || !has_copy {
            self.advance(segment.ack);
            return pass();
        }
        if self.tolerated > 0 {
            self.tolerated -= 1;
            return pass();
        }
        if let Some(expected) = self.expected.filter(|&expected| expected > 0) {
            self.expected = Some(expected - 1);
            return HelperOutput { action: Some(Help::Hid), hidden: true, ..HelperOutput::default() };
        }
        // The segment or its retransmission was lost. Each segment after it causes a duplicate.
        self.expected = Some(self.copies.range(segment.ack + 1..).count());
        let down = self.copies.get(&segment.ack).copied();
        HelperOutput { down, action: Some(Help::Repeated), hidden: true, ..HelperOutput::default() }
    }

    /// Removes the copies that `ack` acknowledges.
    fn advance(&mut self, ack: u64) {
        if ack <= self.acked {
            return;
        }
        self.acked = ack;
        self.expected = None;
        while let Some(first) = self.copies.first_entry()
            && first.get().segment().is_some_and(|segment| segment.end() <= ack)
        {
            self.octets -= u64::from(first.remove().payload());
        }
    }
}
