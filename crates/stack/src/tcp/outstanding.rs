//! The segments sent and not yet acknowledged. What selective acknowledgments say about them is in `scoreboard.rs`.

use std::collections::VecDeque;

use umts_units::Time;

use super::congestion::Turn;

/// One segment as it was first sent; it is sent again with the same bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// Its first sequence number.
    pub seq: u64,
    /// Octets of payload.
    pub payload: u32,
    /// How often it has been sent.
    pub transmissions: u16,
    /// It synchronises.
    pub syn: bool,
    /// It is the last.
    pub fin: bool,
    /// It has been selectively acknowledged.
    pub sacked: bool,
    /// It counts as lost by RACK, and has not been sent again since.
    pub lost: bool,
    /// When it was last sent.
    pub sent_at: Time,
    /// The sequence number that was next when it was last sent out of turn; 0 if it never was.
    pub(super) resent_before: u64,
}

impl Sent {
    /// The first sequence number after it.
    #[inline]
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.payload) + u64::from(self.syn) + u64::from(self.fin)
    }
}

/// What an acknowledgment took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Acknowledged {
    /// Segments covered whole.
    pub segments: u32,
    /// Octets of payload.
    pub payload: u64,
    /// The SYN was among them.
    pub syn: bool,
    /// The FIN was among them.
    pub fin: bool,
    /// Segments among them that had been sent out of turn and not selectively acknowledged.
    pub resent: u32,
    /// Segments among them that had been selectively acknowledged.
    pub sacked: u32,
    /// Segments among them that were sent once and not selectively acknowledged.
    pub originals: u32,
    /// When the first of them last left.
    pub first_sent_at: Time,
    /// One of them had been sent again.
    pub again: bool,
    /// How often the last of them was sent, and when it last left.
    pub last_transmissions: u16,
    /// See `last_transmissions`.
    pub last_sent_at: Time,
}

/// The segments sent and not yet acknowledged, in order.
///
/// ```text
///   una            next             max_sent
///    │ sent, maybe  │ to be sent     │ never sent
///    │ on the way   │ again          │
///    └──── ring ────┴────────────────┘
/// ```
#[derive(Debug, Clone, Default)]
pub struct Outstanding {
    pub(super) ring: VecDeque<Sent>,
    pub(super) next: usize,
    una: u64,
    max_sent: u64,
    /// Segments acknowledged so far.
    acknowledged: u64,
    /// The first sequence number after all that is selectively acknowledged; 0 if nothing is.
    pub(super) sacked_to: u64,
    /// New data may leave: there is some, and the receiver has room. Told only while something is SACKed.
    pub(super) more: bool,
}

impl Outstanding {
    /// Oldest unacknowledged sequence number (RFC 9293 SND.UNA).
    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// The sequence number after the highest ever sent.
    #[inline]
    pub fn max_sent(&self) -> u64 {
        self.max_sent
    }

    /// Segments outstanding.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether all that was sent is acknowledged.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Whether the segment at this place from the oldest is selectively acknowledged.
    #[inline]
    pub fn is_sacked(&self, index: usize) -> bool {
        self.ring.get(index).is_some_and(|sent| sent.sacked)
    }

    /// Segments outstanding that are not selectively acknowledged.
    pub fn unsacked(&self) -> usize {
        self.ring.iter().filter(|sent| !sent.sacked).count()
    }

    /// Segments that have left, since the last go-back, and are not selectively acknowledged.
    pub fn on_the_way(&self) -> usize {
        self.ring.iter().take(self.next).filter(|sent| !sent.sacked).count()
    }

    /// How many segments lie before the one to send next: what the window is compared with.
    #[inline]
    pub fn next(&self) -> usize {
        self.next
    }

    /// The number of the segment to send next, counted from the SYN, which is number 0.
    #[inline]
    pub fn next_number(&self) -> u64 {
        self.acknowledged + self.next as u64
    }

    /// The number of the oldest segment outstanding, or of the next one if there is none.
    #[inline]
    pub fn first_number(&self) -> u64 {
        self.acknowledged
    }

    /// The first sequence number of the segment to send next.
    #[inline]
    pub fn next_seq(&self) -> u64 {
        self.ring.get(self.next).map_or(self.max_sent, |sent| sent.seq)
    }

    /// The number of the segment whose turn it is.
    #[inline]
    pub(super) fn number_of(&self, turn: Turn) -> u64 {
        match turn {
            Turn::First => self.acknowledged,
            Turn::Hole(index)
            | Turn::Onward(index)
            | Turn::Rescue(index)
            | Turn::Lost(index)
            | Turn::Probe(index) => self.acknowledged + index as u64,
            Turn::InOrder | Turn::ByWindow | Turn::Wait => self.next_number(),
        }
    }

    /// The oldest segment.
    #[inline]
    pub fn first(&self) -> Option<&Sent> {
        self.ring.front()
    }

    /// Everything outstanding is to be sent again.
    pub(super) fn go_back(&mut self) {
        self.next = 0;
    }

    /// Nothing outstanding is to be sent again.
    pub(super) fn go_to_end(&mut self) {
        self.next = self.ring.len();
    }

    /// A new segment behind all others, about to be sent.
    #[inline]
    pub(super) fn push(&mut self, sent: Sent) {
        debug_assert_eq!((sent.seq, self.next), (self.max_sent, self.ring.len()));
        self.max_sent = sent.end();
        self.ring.push_back(sent);
    }

    /// Begins at a sequence number in place of 0: everything before it counts as sent and acknowledged.
    pub(super) fn starting_at(seq: u64) -> Self {
        Outstanding { una: seq, max_sent: seq, ..Outstanding::default() }
    }

    /// Counts a transmission of a hole, behind which the turn lies then; returns it as it was before.
    #[inline]
    pub(super) fn send_hole(&mut self, index: usize, now: Time) -> Option<Sent> {
        let before = self.send_again(index, now);
        self.next = self.next.max(index + 1);
        before
    }

    /// Counts a transmission of a segment further on, which takes the turn; returns it as it was before.
    #[inline]
    pub(super) fn send_onward(&mut self, index: usize, now: Time) -> Option<Sent> {
        self.next = self.next.max(index);
        self.send_next(now)
    }

    /// Counts a transmission of a segment out of turn; returns it as it was before.
    #[inline]
    pub(super) fn send_again(&mut self, index: usize, now: Time) -> Option<Sent> {
        let next = self.next_seq();
        let sent = self.ring.get_mut(index)?;
        let before = Self::count(sent, now);
        sent.resent_before = next;
        Some(before)
    }

    /// Counts a transmission of the segment whose turn it is; returns it as it was before.
    #[inline]
    pub(super) fn send_next(&mut self, now: Time) -> Option<Sent> {
        let sent = Self::count(self.ring.get_mut(self.next)?, now);
        self.next += 1;
        Some(sent)
    }

    #[inline]
    fn count(sent: &mut Sent, now: Time) -> Sent {
        let before = *sent;
        sent.transmissions = sent.transmissions.saturating_add(1);
        sent.sent_at = now;
        sent.lost = false;
        before
    }

    /// Removes what lies below `ack`; a segment of which only a part does, is cut.
    #[inline]
    pub(super) fn acknowledge(&mut self, ack: u64) -> Acknowledged {
        let mut done = Acknowledged::default();
        while let Some(front) = self.ring.front_mut() {
            if front.end() > ack {
                let part = ack - front.seq;
                front.seq += part;
                let payload = part - u64::from(front.syn && part > 0);
                front.payload -= payload as u32;
                done.payload += payload;
                break;
            }
            if done.segments == 0 {
                done.first_sent_at = front.sent_at;
            }
            done.segments += 1;
            done.again |= front.transmissions > 1;
            done.payload += u64::from(front.payload);
            done.syn |= front.syn;
            done.fin |= front.fin;
            done.resent += u32::from(front.is_resent());
            done.sacked += u32::from(front.sacked);
            done.originals += u32::from(front.transmissions == 1 && !front.sacked);
            (done.last_transmissions, done.last_sent_at) = (front.transmissions, front.sent_at);
            self.ring.pop_front();
        }
        self.acknowledged += u64::from(done.segments);
        self.next = self.next.saturating_sub(done.segments as usize);
        self.una = ack;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(seq: u64, payload: u32) -> Sent {
        Sent { seq, payload, ..Sent::default() }
    }

    #[test]
    fn an_acknowledgment_takes_whole_segments_and_cuts_the_last() {
        let mut outstanding = Outstanding::default();
        for seq in [0, 100, 200] {
            outstanding.push(data(seq, 100));
            outstanding.send_next(Time::ZERO);
        }
        let done = outstanding.acknowledge(150);
        assert_eq!((done.segments, done.payload), (1, 150));
        assert_eq!((outstanding.una(), outstanding.len(), outstanding.next()), (150, 2, 2));
        let first = outstanding.send_again(0, Time::ZERO).expect("one is outstanding");
        assert_eq!((first.seq, first.payload, first.transmissions), (150, 50, 1));
        assert_eq!(outstanding.acknowledge(300).payload, 150);
        assert!(outstanding.is_empty());
    }

    #[test]
    fn going_back_sends_the_same_segments_again() {
        let mut outstanding = Outstanding::default();
        for seq in [0, 100] {
            outstanding.push(data(seq, 100));
            outstanding.send_next(Time::ZERO);
        }
        outstanding.go_back();
        let again: Vec<_> = std::iter::from_fn(|| outstanding.send_next(Time::ZERO)).collect();
        assert_eq!(again.iter().map(|s| (s.seq, s.transmissions)).collect::<Vec<_>>(), [(0, 1), (100, 1)]);
        // An ACK beyond the turn moves the turn with it.
        outstanding.go_back();
        outstanding.acknowledge(100);
        assert_eq!(outstanding.next(), 0);
    }
}
