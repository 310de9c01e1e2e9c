//! Reports of duplicates (RFC 2883), used according to RFC 3708: if all data retransmitted in a
//! recovery is reported as duplicate, no segment was lost.

use crate::packet::Segment;

/// Counts retransmitted octets and the duplicates reported for them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Duplicates {
    /// The range of sequence numbers of the recovery.
    from: u64,
    to: u64,
    /// Octets retransmitted and not yet reported.
    left: u64,
    sent_again: bool,
}

impl Duplicates {
    pub fn new(una: u64, max_sent: u64) -> Self {
        Duplicates { from: una, to: max_sent, left: 0, sent_again: false }
    }

    /// Counts a retransmission.
    pub fn on_sent_again(&mut self, payload: u32) {
        self.left += u64::from(payload);
        self.sent_again = true;
    }

    /// Returns whether with this ACK all retransmitted octets are reported.
    pub fn on_ack(&mut self, ack: &Segment) -> bool {
        let Some((start, end)) = ack.sack.duplicate(ack.ack) else { return false };
        if start < self.from || end > self.to {
            return false;
        }
        self.left = self.left.saturating_sub(end - start);
        self.sent_again && self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ConnectionId, Direction};
    use crate::packet::SackBlocks;

    fn report(start: u64, end: u64) -> Segment {
        let sack = SackBlocks::new(900, [(start, end)]);
        Segment { ack: 900, sack, ..Segment::new(ConnectionId(0), Direction::Uplink) }
    }

    #[test]
    fn all_retransmitted_data_must_be_reported_as_duplicate() {
        let mut duplicates = Duplicates::new(100, 900);
        assert!(!duplicates.on_ack(&report(100, 200)), "nothing was sent again yet");
        duplicates.on_sent_again(100);
        duplicates.on_sent_again(100);
        assert!(!duplicates.on_ack(&report(100, 200)));
        assert!(!duplicates.on_ack(&report(0, 100)), "from before the recovery");
        assert!(duplicates.on_ack(&report(200, 300)));
    }
}
