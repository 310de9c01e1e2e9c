//! Detection of spurious retransmissions by D-SACK (RFC 2883, RFC 3708): if the receiver reports
//! all data that a recovery has retransmitted as duplicate, no segment was lost.

use crate::packet::Segment;

/// Counts retransmitted octets and the duplicates reported for them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Duplicates {
    /// The sequence numbers of the recovery: those outstanding at its beginning, from `from` to
    /// before `to`.
    from: u64,
    to: u64,
    /// Octets retransmitted and not yet reported as duplicate.
    unreported: u64,
    has_retransmitted: bool,
}

impl Duplicates {
    pub fn new(una: u64, max_sent: u64) -> Self {
        Duplicates { from: una, to: max_sent, unreported: 0, has_retransmitted: false }
    }

    /// Counts a retransmission.
    pub fn on_retransmission(&mut self, payload: u32) {
        self.unreported += u64::from(payload);
        self.has_retransmitted = true;
    }

    /// Returns whether all retransmitted octets are reported as duplicates after this ACK.
    pub fn on_ack(&mut self, ack: &Segment) -> bool {
        let Some((start, end)) = ack.sack.duplicate(ack.ack) else { return false };
        if start < self.from || end > self.to {
            return false;
        }
        self.unreported = self.unreported.saturating_sub(end - start);
        self.has_retransmitted && self.unreported == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ConnectionId, Direction};
    use crate::packet::SackBlocks;

    /// An ACK that reports the sequence numbers from `start` to before `end` as duplicate.
    fn report(start: u64, end: u64) -> Segment {
        let sack = SackBlocks::new(900, [(start, end)]);
        Segment { ack: 900, sack, ..Segment::new(ConnectionId(0), Direction::Uplink) }
    }

    #[test]
    fn all_retransmitted_data_must_be_reported_as_duplicate() {
        let mut duplicates = Duplicates::new(100, 900);
        assert!(!duplicates.on_ack(&report(100, 200)), "nothing was sent again yet");
        duplicates.on_retransmission(100);
        duplicates.on_retransmission(100);
        assert!(!duplicates.on_ack(&report(100, 200)));
        assert!(!duplicates.on_ack(&report(0, 100)), "from before the recovery");
        assert!(duplicates.on_ack(&report(200, 300)));
    }
}
