//! Applies selective acknowledgments (RFC 2018) to the outstanding segments.
//!
//! ```text
//!   una                      sacked_to
//!    │ hole │ SACKed │ hole │ SACKed │ nothing known │
//!    └──────┴────────┴──────┴────────┴───────────────┘
//! ```
//!
//! A hole is a segment below the highest SACKed one that is not SACKed itself. A retransmitted hole
//! counts as in flight until a segment first sent after the retransmission is SACKed.

use crate::packet::SackBlocks;

use super::outstanding::{Outstanding, Sent};

/// The segments that the blocks of an acknowledgment newly SACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewlySacked {
    /// Number of newly SACKed segments.
    pub segments: u32,
    /// Number of segments among them that had been retransmitted out of order.
    pub resent: u32,
}

impl Sent {
    /// Whether the segment was retransmitted out of order and not SACKed since.
    #[inline]
    pub(super) fn is_retransmitted(&self) -> bool {
        self.snd_nxt_at_resend > 0 && !self.sacked
    }
}

impl Outstanding {
    /// Marks the segments that blocks above `ack` cover completely.
    pub fn mark_sacked(&mut self, ack: u64, blocks: &SackBlocks) -> NewlySacked {
        self.mark_sacked_with(ack, blocks, |_| {})
    }

    /// Number of segments that [`mark_sacked`](Self::mark_sacked) would newly mark.
    pub(super) fn count_newly_sacked(&self, ack: u64, blocks: &SackBlocks) -> u32 {
        let max_sent = self.max_sent();
        let is_covered = |sent: &Sent| {
            let mut valid = blocks.ranges(ack).filter(|&(_, end)| end <= max_sent);
            valid.any(|(start, end)| start <= sent.seq && sent.end() <= end)
        };
        self.ring.iter().filter(|sent| !sent.sacked && is_covered(sent)).count() as u32
    }

    /// Like [`mark_sacked`](Self::mark_sacked), and calls `on_sacked` for each newly SACKed segment
    /// before marking it.
    pub(super) fn mark_sacked_with(
        &mut self,
        ack: u64,
        blocks: &SackBlocks,
        mut on_sacked: impl FnMut(&Sent),
    ) -> NewlySacked {
        let mut newly_sacked = NewlySacked::default();
        // Blocks with numbers that were never sent are ignored.
        let max_sent = self.max_sent();
        for (start, end) in blocks.ranges(ack).filter(|&(_, end)| end <= max_sent) {
            let first_index = self.ring.partition_point(|sent| sent.seq < start);
            for sent in self.ring.range_mut(first_index..).take_while(|sent| sent.end() <= end) {
                if !sent.sacked {
                    newly_sacked.segments += 1;
                    newly_sacked.resent += u32::from(sent.is_retransmitted());
                    on_sacked(sent);
                    (sent.sacked, sent.lost) = (true, false);
                    self.sacked_to = self.sacked_to.max(sent.end());
                }
            }
        }
        newly_sacked
    }

    /// Clears all SACK marks and all marks of retransmission out of order.
    pub fn clear_sack_marks(&mut self) {
        self.sacked_to = 0;
        for sent in &mut self.ring {
            sent.sacked = false;
            sent.snd_nxt_at_resend = 0;
        }
    }

    /// Clears all loss marks.
    pub fn clear_lost_marks(&mut self) {
        self.ring.iter_mut().for_each(|sent| sent.lost = false);
    }

    /// Clears all marks of retransmission out of order.
    pub fn clear_resent_marks(&mut self) {
        for sent in &mut self.ring {
            sent.snd_nxt_at_resend = 0;
        }
    }

    /// Number of segments that end at or below the highest SACKed number.
    pub fn count_up_to_sacked(&self) -> usize {
        self.ring.partition_point(|sent| sent.end() <= self.sacked_to)
    }

    /// After going back to `una` (go-back-N), skips the segments up to the highest SACKed one. The
    /// holes among them are sent separately.
    pub fn skip_sacked(&mut self) {
        self.next = self.next.max(self.count_up_to_sacked());
    }

    /// Index of the lowest hole that has not been retransmitted, counted from the oldest segment.
    pub fn first_hole(&self) -> Option<usize> {
        let below_sacked = self.ring.iter().take_while(|sent| sent.end() < self.sacked_to);
        below_sacked
            .enumerate()
            .find(|(_, sent)| !sent.sacked && sent.snd_nxt_at_resend == 0)
            .map(|(index, _)| index)
    }

    /// Whether a retransmitted segment is still missing although a segment first sent after it has
    /// arrived.
    pub fn has_lost_retransmission(&self) -> bool {
        let mut below_sacked = self.ring.iter().take_while(|sent| sent.end() < self.sacked_to);
        below_sacked.any(|sent| sent.is_retransmitted() && sent.snd_nxt_at_resend < self.sacked_to)
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Time;

    use super::*;

    /// Segments of 100 octets from 0, all sent.
    fn sent(count: u64) -> Outstanding {
        let mut outstanding = Outstanding::default();
        for i in 0..count {
            outstanding.push(Sent { seq: 100 * i, payload: 100, ..Sent::default() });
            outstanding.send_next(Time::ZERO);
        }
        outstanding
    }

    #[test]
    fn holes_between_blocks_are_filled_in_order() {
        let mut board = sent(8);
        let newly_sacked = board.mark_sacked(0, &SackBlocks::new(0, [(500, 600), (200, 300)]));
        assert_eq!(newly_sacked.segments, 2);
        assert_eq!(board.count_up_to_sacked(), 6);
        let holes: Vec<usize> = std::iter::from_fn(|| {
            let hole = board.first_hole()?;
            board.send_hole(hole, Time::ZERO);
            Some(hole)
        })
        .collect();
        assert_eq!(holes, [0, 1, 3, 4]);
        // Repeated blocks, and a block that covers a part of a segment, have no effect.
        assert_eq!(
            board.mark_sacked(0, &SackBlocks::new(0, [(500, 600), (600, 650)])),
            NewlySacked::default()
        );
        assert_eq!(
            board.mark_sacked(0, &SackBlocks::new(0, [(600, 900)])),
            NewlySacked::default(),
            "never sent"
        );
        assert_eq!(
            board.mark_sacked(0, &SackBlocks::new(0, [(300, 400)])),
            NewlySacked { segments: 1, resent: 1 }
        );
    }

    #[test]
    fn retransmission_is_lost_if_later_segments_arrive() {
        let mut board = sent(4);
        board.mark_sacked(0, &SackBlocks::new(0, [(300, 400)]));
        board.resend_out_of_order(0, Time::ZERO);
        board.mark_sacked(0, &SackBlocks::new(0, [(200, 400)]));
        assert!(!board.has_lost_retransmission(), "200 was first sent before the retransmission");
        board.push(Sent { seq: 400, payload: 100, ..Sent::default() });
        board.mark_sacked(0, &SackBlocks::new(0, [(400, 500)]));
        assert!(board.has_lost_retransmission());
        board.clear_sack_marks();
        assert_eq!(board.first_hole(), None);
        assert_eq!(board.count_up_to_sacked(), 0);
        assert!(!board.has_lost_retransmission());
    }

    #[test]
    fn acknowledgment_counts_resent_segments() {
        let mut board = sent(4);
        board.mark_sacked(0, &SackBlocks::new(0, [(200, 300)]));
        board.resend_out_of_order(0, Time::ZERO);
        board.resend_out_of_order(1, Time::ZERO);
        assert_eq!(board.acknowledge(300).resent, 2);
        assert_eq!(board.first_number(), 3);
        assert_eq!(board.next_number(), 4);
    }
}
