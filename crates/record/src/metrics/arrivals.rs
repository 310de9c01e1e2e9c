//! Sequence numbers that have reached the receiver, and retransmissions that were not needed.
//!
//! A retransmission is unneeded if an earlier copy of its bytes arrives, before or after the
//! retransmission was sent. The second case is decided when that copy arrives, so the newest
//! [`MAX_RESENT`] retransmissions are recorded. Packet ids ascend: a smaller id marks an earlier
//! copy.

use std::collections::VecDeque;

use umts_stack::ids::PacketId;

/// Maximum number of recorded retransmissions: more than one window. The earlier copies of an older
/// retransmission have arrived or are lost.
const MAX_RESENT: usize = 256;

/// Received sequence numbers in one direction of a connection. Ranges are half-open: `seq..end`
/// contains `seq`, but not `end`.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// All numbers below this one have arrived.
    next: u64,
    /// Ranges (start, end) that arrived out of order, beyond `next`: sorted and disjoint.
    ahead: Vec<(u64, u64)>,
    /// The newest retransmissions, oldest first.
    resent: VecDeque<RecentRetransmission>,
    /// End of the highest range in `resent`. New segments beyond it need only one comparison.
    resent_end: u64,
}

/// A retransmission that may still turn out to be unneeded. `seq..end` are its octets that have not
/// arrived in an earlier copy.
#[derive(Debug)]
struct RecentRetransmission {
    packet: PacketId,
    seq: u64,
    end: u64,
    /// Whether the retransmission was sent in the measurement window.
    measured: bool,
}

impl Arrivals {
    /// `seq..end` is retransmitted in `packet`. Returns whether all of it has already arrived.
    pub fn record_retransmission(&mut self, packet: PacketId, seq: u64, end: u64, measured: bool) -> bool {
        let mut first_missing = seq.max(self.next);
        for &(from, to) in &self.ahead {
            if from <= first_missing {
                first_missing = first_missing.max(to);
            }
        }
        if first_missing >= end {
            return true;
        }
        if self.resent.len() == MAX_RESENT {
            self.resent.pop_front();
        }
        self.resent.push_back(RecentRetransmission { packet, seq: first_missing, end, measured });
        self.resent_end = self.resent_end.max(end);
        false
    }

    /// `seq..end` arrives in `packet`. Returns the number of measured retransmissions that this
    /// proves unneeded.
    pub fn arrived(&mut self, packet: PacketId, seq: u64, end: u64) -> u64 {
        let unneeded = if seq < self.resent_end { self.count_unneeded(packet, seq, end) } else { 0 };
        if seq > self.next {
            self.insert_ahead(seq, end);
        } else if end > self.next {
            self.next = end;
            if !self.ahead.is_empty() {
                self.join_ahead();
            }
        }
        unneeded
    }

    /// Shortens the later retransmissions by `seq..end`, which arrived in `packet`. Removes and
    /// counts every retransmission without a remaining octet. Ignores octets in the middle of a
    /// retransmission.
    fn count_unneeded(&mut self, packet: PacketId, seq: u64, end: u64) -> u64 {
        let mut unneeded = 0;
        self.resent.retain_mut(|resent| {
            if packet >= resent.packet {
                return true;
            }
            if seq <= resent.seq {
                resent.seq = resent.seq.max(end);
            } else if end >= resent.end {
                resent.end = resent.end.min(seq);
            }
            let is_decided = resent.seq >= resent.end;
            unneeded += u64::from(is_decided && resent.measured);
            !is_decided
        });
        if self.resent.is_empty() {
            self.resent_end = 0;
        }
        unneeded
    }

    /// Adds `seq..end` to `ahead`, merged with the ranges that it touches.
    fn insert_ahead(&mut self, mut seq: u64, mut end: u64) {
        let first_touched = self.ahead.partition_point(|&(_, to)| to < seq);
        let mut after_touched = first_touched;
        while let Some(&(from, to)) = self.ahead.get(after_touched)
            && from <= end
        {
            (seq, end) = (seq.min(from), end.max(to));
            after_touched += 1;
        }
        self.ahead.splice(first_touched..after_touched, [(seq, end)]);
    }

    /// Moves `next` over the ranges that it has reached, and removes them from `ahead`.
    fn join_ahead(&mut self) {
        let reached = self.ahead.iter().take_while(|&&(from, _)| from <= self.next).count();
        for (_, end) in self.ahead.drain(..reached) {
            self.next = self.next.max(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// All retransmissions of the tests are sent in the measurement window.
    const MEASURED: bool = true;

    #[test]
    fn retransmission_after_the_original_arrived_is_unneeded() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.arrived(PacketId(1), 0, 10), 0);
        assert!(arrivals.record_retransmission(PacketId(2), 0, 10, MEASURED));
    }

    #[test]
    fn retransmission_is_unneeded_if_the_original_arrives_later() {
        let mut arrivals = Arrivals::default();
        assert!(!arrivals.record_retransmission(PacketId(2), 0, 10, MEASURED));
        assert_eq!(arrivals.arrived(PacketId(1), 0, 10), 1, "the original arrives");
        assert_eq!(arrivals.arrived(PacketId(2), 0, 10), 0, "the retransmission counts once");
    }

    #[test]
    fn retransmission_that_overtakes_the_original_is_unneeded() {
        let mut arrivals = Arrivals::default();
        assert!(!arrivals.record_retransmission(PacketId(2), 0, 10, MEASURED));
        assert_eq!(arrivals.arrived(PacketId(2), 0, 10), 0, "its own arrival proves nothing");
        assert_eq!(arrivals.arrived(PacketId(1), 0, 10), 1);
    }

    #[test]
    fn a_hole_is_filled_by_a_needed_retransmission() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.arrived(PacketId(2), 10, 20), 0);
        assert!(!arrivals.record_retransmission(PacketId(3), 0, 10, MEASURED), "0..10 is lost");
        assert!(
            arrivals.record_retransmission(PacketId(4), 10, 20, MEASURED),
            "10..20 waits at the receiver"
        );
        assert_eq!(arrivals.arrived(PacketId(3), 0, 10), 0);
        assert!(arrivals.record_retransmission(PacketId(5), 0, 20, MEASURED));
    }

    #[test]
    fn two_small_originals_cover_one_large_retransmission() {
        let mut arrivals = Arrivals::default();
        assert!(!arrivals.record_retransmission(PacketId(3), 0, 20, MEASURED));
        assert_eq!(arrivals.arrived(PacketId(1), 0, 10), 0);
        assert_eq!(arrivals.arrived(PacketId(2), 10, 20), 1);
    }

    #[test]
    fn memory_is_bounded_when_nothing_arrives() {
        let mut arrivals = Arrivals::default();
        for packet in 0..10_000 {
            arrivals.record_retransmission(PacketId(packet), 0, 10, MEASURED);
        }
        assert_eq!(arrivals.resent.len(), MAX_RESENT);
    }

    proptest! {
        /// Compares with a set of single numbers: both must report the same at each retransmission.
        #[test]
        fn agrees_with_a_set_of_received_numbers(steps in proptest::collection::vec((0u64..60, 1u64..15, any::<bool>()), 1..200)) {
            let mut arrivals = Arrivals::default();
            let mut set = BTreeSet::new();
            for (packet, &(seq, length, is_retransmission)) in steps.iter().enumerate() {
                let packet = PacketId(packet as u64);
                if is_retransmission {
                    let has_arrived = (seq..seq + length).all(|number| set.contains(&number));
                    prop_assert_eq!(arrivals.record_retransmission(packet, seq, seq + length, MEASURED), has_arrived);
                } else {
                    arrivals.arrived(packet, seq, seq + length);
                    set.extend(seq..seq + length);
                }
            }
        }
    }
}
