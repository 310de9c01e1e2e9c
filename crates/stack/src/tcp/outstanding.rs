//! The sender's list of segments that were sent and not yet acknowledged cumulatively: which one is
//! next to send, and which of them a cumulative ACK removes. `scoreboard.rs` applies SACK blocks to
//! them. Sequence numbers are in bytes. An index counts outstanding segments from the oldest one,
//! and a segment number counts all segments of the connection from the SYN, which is 0.

use std::collections::VecDeque;

use umts_units::Time;

use super::congestion::Selection;

/// A segment as it was first sent. A retransmission has the same bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// First sequence number.
    pub seq: u64,
    /// Payload, in octets.
    pub payload: u32,
    /// Number of transmissions.
    pub transmissions: u16,
    pub syn: bool,
    pub fin: bool,
    /// A SACK block covers the segment.
    pub sacked: bool,
    /// RACK has marked the segment as lost, and it has not been sent again since.
    pub lost: bool,
    /// Time of the last transmission.
    pub sent_at: Time,
    /// The next sequence number in order (SND.NXT) when the segment was last retransmitted out of
    /// order. 0: it was not. Segments from this number on were first sent after the retransmission.
    pub(super) snd_nxt_at_resend: u64,
}

impl Sent {
    /// First sequence number after the segment.
    #[inline]
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.payload) + u64::from(self.syn) + u64::from(self.fin)
    }

    /// Removes the part of the segment below `ack`, which must be inside of it. Returns the removed
    /// payload. (A SYN takes the first number and is not payload.)
    fn cut_below(&mut self, ack: u64) -> u64 {
        let removed_numbers = ack - self.seq;
        let removes_syn = self.syn && removed_numbers > 0;
        let removed_payload = removed_numbers - u64::from(removes_syn);
        self.seq = ack;
        self.payload -= removed_payload as u32;
        removed_payload
    }
}

/// The segments that an acknowledgment removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Acknowledged {
    /// Number of segments that the acknowledgment covers completely.
    pub segments: u32,
    /// Payload, in octets, including the part of a segment that is covered partly.
    pub payload: u64,
    /// The SYN was among them.
    pub syn: bool,
    /// The FIN was among them.
    pub fin: bool,

    // How the removed segments had been sent and SACKed.
    /// Segments among them that had been retransmitted out of order and not SACKed.
    pub resent: u32,
    /// Segments among them that had been SACKed.
    pub sacked: u32,
    /// Segments among them that had been sent once and not SACKed.
    pub originals: u32,
    /// Whether any removed segment had been retransmitted.
    pub any_retransmitted: bool,

    // For round-trip samples.
    /// Last transmission time of the first removed segment.
    pub first_sent_at: Time,
    /// Last transmission time of the last removed segment.
    pub last_sent_at: Time,
    /// Number of transmissions of the last removed segment.
    pub last_transmissions: u16,
}

impl Acknowledged {
    /// Counts a segment that the acknowledgment covers completely.
    #[inline]
    fn count(&mut self, sent: &Sent) {
        if self.segments == 0 {
            self.first_sent_at = sent.sent_at;
        }
        self.segments += 1;
        self.payload += u64::from(sent.payload);
        self.syn |= sent.syn;
        self.fin |= sent.fin;
        self.resent += u32::from(sent.is_retransmitted());
        self.sacked += u32::from(sent.sacked);
        self.originals += u32::from(sent.transmissions == 1 && !sent.sacked);
        self.any_retransmitted |= sent.transmissions > 1;
        self.last_sent_at = sent.sent_at;
        self.last_transmissions = sent.transmissions;
    }
}

/// The segments sent and not yet acknowledged, in order.
///
/// ```text
///   una            next             max_sent
///    │ sent, may be │ to be sent     │ never sent
///    │ in flight    │ again          │
///    └──── ring ────┴────────────────┘
/// ```
#[derive(Debug, Clone, Default)]
pub struct Outstanding {
    /// The outstanding segments, the oldest first.
    pub(super) ring: VecDeque<Sent>,
    /// Index of the segment to send next in order.
    pub(super) next: usize,
    /// Oldest unacknowledged sequence number.
    una: u64,
    /// First sequence number after the highest one sent.
    max_sent: u64,
    /// Number of segments acknowledged so far, which is also the number of the oldest outstanding
    /// one.
    acknowledged: u64,
    /// First sequence number after the highest SACKed segment. 0 if none is SACKed.
    pub(super) sacked_to: u64,
    /// Whether new data exists and the receiver has room for it. Valid only while a segment is
    /// SACKed.
    pub(super) has_new_data: bool,
}

impl Outstanding {
    /// Oldest unacknowledged sequence number (RFC 9293 SND.UNA).
    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// First sequence number after the highest one sent.
    #[inline]
    pub fn max_sent(&self) -> u64 {
        self.max_sent
    }

    /// Number of outstanding segments.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether all that was sent is acknowledged.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Whether the segment at this index is SACKed. Indices count from the oldest segment.
    #[inline]
    pub fn is_sacked(&self, index: usize) -> bool {
        self.ring.get(index).is_some_and(|sent| sent.sacked)
    }

    /// Number of outstanding segments that are not SACKed.
    pub fn unsacked(&self) -> usize {
        self.ring.iter().filter(|sent| !sent.sacked).count()
    }

    /// Number of segments sent since the sender last went back to `una` (go-back-N) that are not
    /// SACKed.
    pub fn in_flight(&self) -> usize {
        self.ring.iter().take(self.next).filter(|sent| !sent.sacked).count()
    }

    /// Number of outstanding segments before the one to send next. It is compared with the window.
    #[inline]
    pub fn next(&self) -> usize {
        self.next
    }

    /// Number of the segment to send next, counted from the SYN, which is number 0.
    #[inline]
    pub fn next_number(&self) -> u64 {
        self.acknowledged + self.next as u64
    }

    /// Number of the oldest outstanding segment, or of the next one if none is outstanding.
    #[inline]
    pub fn first_number(&self) -> u64 {
        self.acknowledged
    }

    /// First sequence number of the segment to send next.
    #[inline]
    pub fn next_seq(&self) -> u64 {
        self.ring.get(self.next).map_or(self.max_sent, |sent| sent.seq)
    }

    /// Number of the segment that `selection` selects.
    #[inline]
    pub(super) fn number_of(&self, selection: Selection) -> u64 {
        match selection {
            Selection::First => self.acknowledged,
            Selection::Hole(index)
            | Selection::NextUnsacked(index)
            | Selection::Rescue(index)
            | Selection::Lost(index)
            | Selection::Probe(index) => self.acknowledged + index as u64,
            Selection::InOrder | Selection::ByWindow | Selection::Wait => self.next_number(),
        }
    }

    #[inline]
    pub fn first(&self) -> Option<&Sent> {
        self.ring.front()
    }

    /// Marks all outstanding segments to be sent again.
    pub(super) fn go_back(&mut self) {
        self.next = 0;
    }

    /// Marks no outstanding segment to be sent again.
    pub(super) fn go_to_end(&mut self) {
        self.next = self.ring.len();
    }

    /// Appends a new segment that is about to be sent.
    #[inline]
    pub(super) fn push(&mut self, sent: Sent) {
        debug_assert_eq!(sent.seq, self.max_sent);
        debug_assert_eq!(self.next, self.ring.len());
        self.max_sent = sent.end();
        self.ring.push_back(sent);
    }

    /// Starts at sequence number `seq` instead of 0. All before it counts as sent and acknowledged.
    pub(super) fn starting_at(seq: u64) -> Self {
        Outstanding { una: seq, max_sent: seq, ..Outstanding::default() }
    }

    /// Counts a retransmission of a hole. The next segment in order is then at least the one after
    /// the hole. Returns the previous state of the hole.
    #[inline]
    pub(super) fn send_hole(&mut self, index: usize, now: Time) -> Option<Sent> {
        let previous_state = self.resend_out_of_order(index, now);
        self.next = self.next.max(index + 1);
        previous_state
    }

    /// Skips to the segment at `index`, counts its transmission, and continues in order after it.
    /// Returns the previous state of the segment.
    #[inline]
    pub(super) fn send_from(&mut self, index: usize, now: Time) -> Option<Sent> {
        self.next = self.next.max(index);
        self.send_next(now)
    }

    /// Counts a retransmission out of order. Returns the previous state of the segment.
    #[inline]
    pub(super) fn resend_out_of_order(&mut self, index: usize, now: Time) -> Option<Sent> {
        let snd_nxt = self.next_seq();
        let sent = self.ring.get_mut(index)?;
        let previous_state = Self::count_transmission(sent, now);
        sent.snd_nxt_at_resend = snd_nxt;
        Some(previous_state)
    }

    /// Counts a transmission of the segment next in order. Returns the previous state of the
    /// segment.
    #[inline]
    pub(super) fn send_next(&mut self, now: Time) -> Option<Sent> {
        let previous_state = Self::count_transmission(self.ring.get_mut(self.next)?, now);
        self.next += 1;
        Some(previous_state)
    }

    /// Updates the state of a segment that is sent now. Returns its previous state.
    #[inline]
    fn count_transmission(sent: &mut Sent, now: Time) -> Sent {
        let previous_state = *sent;
        sent.transmissions = sent.transmissions.saturating_add(1);
        sent.sent_at = now;
        sent.lost = false;
        previous_state
    }

    /// Removes all below `ack`. A segment that is partly below is cut.
    #[inline]
    pub(super) fn acknowledge(&mut self, ack: u64) -> Acknowledged {
        let mut removed = Acknowledged::default();
        while let Some(oldest) = self.ring.front_mut() {
            if oldest.end() > ack {
                removed.payload += oldest.cut_below(ack);
                break;
            }
            removed.count(oldest);
            self.ring.pop_front();
        }
        self.acknowledged += u64::from(removed.segments);
        self.next = self.next.saturating_sub(removed.segments as usize);
        self.una = ack;
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment that is not sent yet: its first sequence number, and its payload in bytes.
    fn data(seq: u64, payload: u32) -> Sent {
        Sent { seq, payload, ..Sent::default() }
    }

    /// Segments of 100 octets from 0, all sent once.
    fn sent(count: u64) -> Outstanding {
        let mut outstanding = Outstanding::default();
        for index in 0..count {
            outstanding.push(data(100 * index, 100));
            outstanding.send_next(Time::ZERO);
        }
        outstanding
    }

    /// An ACK of 150 covers the first of three segments and half of the second.
    #[test]
    fn acknowledgment_removes_whole_segments_and_cuts_the_last() {
        let mut outstanding = sent(3);
        let removed = outstanding.acknowledge(150);
        assert_eq!(removed.segments, 1);
        assert_eq!(removed.payload, 100 + 50);
        assert_eq!(outstanding.una(), 150);
        assert_eq!(outstanding.len(), 2);
        assert_eq!(outstanding.next(), 2, "both were sent");
        let second_half = Sent { seq: 150, payload: 50, transmissions: 1, ..Sent::default() };
        assert_eq!(outstanding.first(), Some(&second_half));
    }

    #[test]
    fn acknowledgment_of_everything_leaves_nothing() {
        let mut outstanding = sent(3);
        outstanding.acknowledge(150);
        assert_eq!(outstanding.acknowledge(300).payload, 50 + 100);
        assert!(outstanding.is_empty());
    }

    #[test]
    fn go_back_resends_the_same_segments() {
        let mut outstanding = sent(2);
        outstanding.go_back();
        let resent: Vec<_> = std::iter::from_fn(|| outstanding.send_next(Time::ZERO)).collect();
        let sent_once = |seq| Sent { transmissions: 1, ..data(seq, 100) };
        assert_eq!(resent, [sent_once(0), sent_once(100)]);
    }

    /// Index 0 is the oldest outstanding segment, before and after the ACK.
    #[test]
    fn acknowledgment_after_a_go_back_moves_to_the_new_oldest_segment() {
        let mut outstanding = sent(2);
        outstanding.go_back();
        outstanding.acknowledge(100);
        assert_eq!(outstanding.next(), 0);
        assert_eq!(outstanding.next_seq(), 100);
    }
}
