//! The receiving half of a connection end: which data has arrived, which data an acknowledgment
//! reports (RFC 2018, RFC 2883), and how soon it must be sent (RFC 5681 §4.2). Segments come here
//! after the acceptance test (`acceptance.rs`). All positions are sequence numbers in bytes: the
//! SYN is number 0, so data begin at 1.

use umts_units::Time;

use super::config::TcpConfig;
use crate::packet::{SackBlocks, Segment};

/// Whether and how an acknowledgment is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AckDue {
    No,
    /// May wait for a second segment or the timer.
    Delayed,
    /// Send an acknowledgment at once. Data may carry it.
    Now,
    /// Send an acknowledgment at once and without data. With data it would not count as a duplicate
    /// ACK (RFC 5681 §2).
    Alone,
}

/// The effect of a received segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Payload that became available in order, in bytes, including data that waited behind a hole.
    pub delivered: u64,
    /// The whole payload had arrived before.
    pub duplicate: bool,
    /// How soon the segment must be acknowledged.
    pub ack: AckDue,
    /// Neither the segment nor its acknowledgment was accepted.
    pub rejected: bool,
}

impl Arrival {
    /// For a segment that has no effect and gets no answer.
    pub const IGNORED: Arrival = Arrival { rejected: true, ..NOTHING };
}

const NOTHING: Arrival = Arrival { delivered: 0, duplicate: false, ack: AckDue::No, rejected: false };

/// The reception buffer. It stores only ranges received out of order.
#[derive(Debug, Clone, Default)]
pub(super) struct Receiver {
    // Arrived data.
    /// Next sequence number expected (RFC 9293 RCV.NXT); 0 before the SYN.
    next: u64,
    /// Ranges that have arrived out of order, above `next`: sorted, disjoint and not adjacent.
    above: Vec<Range>,
    /// The sequence number of the other end's FIN, if it was received.
    fin_at: Option<u64>,
    /// The range of the segment that arrived last.
    latest: Range,
    /// The last duplicate, until an acknowledgment reports it.
    duplicate: Option<Range>,

    // SACK blocks.
    /// The ranges of `above` that recent acknowledgments reported, the most recent first.
    reported: Vec<Range>,
    /// Maximum length of `reported`.
    max_reported: usize,
    /// Duplicates are reported (RFC 2883).
    reports_duplicates: bool,
    /// Reports include the number of a FIN, as in Linux. Otherwise they have only data.
    reports_fin: bool,

    // Other contents of acknowledgments.
    /// The acknowledgment number of the last acknowledgment.
    acknowledged: u64,
    /// The timestamp that the next acknowledgment echoes (RFC 7323 §4.3).
    echo: Time,
    /// The right edge of the advertised window: the sequence number after the last that the other
    /// end may send.
    edge: u64,
}

/// The sequence numbers from `start` up to but excluding `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Range {
    start: u64,
    end: u64,
}

impl Range {
    /// The payload of a segment.
    #[inline]
    fn of(segment: &Segment) -> Self {
        Range { start: segment.seq, end: segment.seq + u64::from(segment.payload) }
    }

    #[inline]
    fn contains(self, other: Range) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

impl Receiver {
    /// The state before any arrival. Without a SYN the first byte is expected at once.
    pub fn new(config: &TcpConfig) -> Self {
        Receiver {
            next: u64::from(config.vegas_without_header()),
            max_reported: usize::from(config.max_sack_blocks()),
            reports_duplicates: config.dsack && !config.is_one_way() && config.max_sack_blocks() > 0,
            reports_fin: config.is_recent_linux(),
            ..Receiver::default()
        }
    }

    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The acknowledgment number of the last acknowledgment.
    #[inline]
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// The right edge of the largest advertised window.
    #[inline]
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// Records that a segment with this window is sent. The edge never moves to the left (RFC 9293
    /// §3.8.6).
    #[inline]
    pub fn advertise(&mut self, window: u32) {
        self.edge = self.edge.max(self.next.max(1) + u64::from(window));
    }

    /// Whether the SYN has arrived.
    #[inline]
    pub fn is_synchronised(&self) -> bool {
        self.next > 0
    }

    /// Whether the FIN and all before it have arrived.
    pub fn is_finished(&self) -> bool {
        self.fin_at.is_some_and(|fin| self.next > fin)
    }

    /// Whether `segment` has data that ends at the next expected number, and no range waits above
    /// it.
    pub fn ends_with(&self, segment: &Segment) -> bool {
        segment.payload > 0 && segment.end() == self.next && self.above.is_empty()
    }

    /// The blocks of an acknowledgment that is sent now, at most `max_blocks` (RFC 2018 §4): first
    /// the block with the last segment, then the most recently reported ones. At most
    /// `max_reported` ranges are remembered.
    #[inline]
    pub fn report(&mut self, max_blocks: usize) -> SackBlocks {
        self.acknowledged = self.next;
        if max_blocks == 0 { SackBlocks::NONE } else { self.report_blocks(max_blocks) }
    }

    /// The blocks of an acknowledgment: the duplicate, if any, and then `reported` after its
    /// update.
    #[inline(never)]
    fn report_blocks(&mut self, max_blocks: usize) -> SackBlocks {
        let latest = self.above.iter().find(|range| range.contains(self.latest)).copied();
        let covered = latest.unwrap_or(Range { start: 0, end: self.next });
        self.reported.retain(|range| !covered.contains(*range));
        self.reported.splice(0..0, latest);
        self.reported.truncate(self.max_reported);
        let duplicate = self.duplicate.take();
        let blocks = duplicate.iter().chain(&self.reported);
        SackBlocks::new(self.next, blocks.take(max_blocks).map(|range| (range.start, range.end)))
    }

    /// The timestamp to echo: from the last segment that began at or below the last acknowledgment
    /// number (RFC 7323 §4.3).
    #[inline]
    pub fn echo(&self) -> Time {
        self.echo
    }

    /// Processes an accepted segment. Before the SYN, other segments are dropped, because the first
    /// sequence number is unknown.
    #[inline]
    pub fn receive(&mut self, segment: &Segment) -> Arrival {
        if segment.seq <= self.acknowledged {
            self.echo = self.echo.max(segment.timestamp);
        }
        if segment.flags.syn {
            return self.receive_syn();
        }
        // Nothing follows a FIN (RFC 9293 §3.10.7.4, seventh check): data behind it is ignored.
        if !self.is_synchronised() || segment.sequence_length() == 0 {
            return NOTHING;
        }
        if self.is_finished() {
            let is_repeated = segment.end() <= self.next;
            if is_repeated && self.reports_fin {
                self.note_duplicate(self.reported_range(segment));
            }
            return if is_repeated { Arrival { ack: AckDue::Alone, ..NOTHING } } else { NOTHING };
        }
        self.receive_data(segment)
    }

    /// The numbers of a segment that blocks report.
    #[inline]
    fn reported_range(&self, segment: &Segment) -> Range {
        let data = Range::of(segment);
        let counts_fin = segment.flags.fin && self.reports_fin;
        Range { end: data.end + u64::from(counts_fin), ..data }
    }

    /// Remembers the part of `range` that arrived before, until an acknowledgment reports it.
    #[inline]
    fn note_duplicate(&mut self, range: Range) {
        if self.reports_duplicates {
            self.duplicate = self.duplicate_part(range).or(self.duplicate);
        }
    }

    /// Stores the data of a segment, records its FIN, and decides how soon it is acknowledged.
    #[inline]
    fn receive_data(&mut self, segment: &Segment) -> Arrival {
        let range = self.reported_range(segment);
        let next_before = self.next;
        let duplicate = segment.payload > 0 && self.has_received(Range::of(segment));
        let had_hole = !self.above.is_empty();
        self.latest = range;
        self.note_duplicate(range);
        let is_new_fin = segment.flags.fin && segment.end() > self.next;
        if is_new_fin {
            let fin = segment.end() - 1;
            self.fin_at = Some(self.fin_at.map_or(fin, |before| before.min(fin)));
        }
        self.insert(range);
        let is_now_finished = self.pass_fin();
        let delivered = self.next - next_before - u64::from(is_now_finished);
        let advanced = self.next > next_before;
        let ack = if !advanced {
            // Out of order or a duplicate: a duplicate ACK.
            AckDue::Alone
        } else if had_hole || is_now_finished {
            // The segment fills a hole or a part of it, or the other end has finished.
            AckDue::Now
        } else {
            AckDue::Delayed
        };
        Arrival { delivered, duplicate, ack, rejected: false }
    }

    /// Processes a segment that is not accepted, which is answered at once (RFC 9293 §3.10.7.4, RFC
    /// 7323 §5.3, R1). `ack_counts`: its acknowledgment counts nevertheless.
    pub fn reject(&mut self, segment: &Segment, ack_counts: bool) -> Arrival {
        self.note_duplicate(self.reported_range(segment));
        let duplicate = segment.payload > 0 && self.has_received(Range::of(segment));
        Arrival { delivered: 0, duplicate, ack: AckDue::Alone, rejected: !ack_counts }
    }

    /// The first part of `range` that arrived before. `None` for a segment without data.
    #[inline(never)]
    fn duplicate_part(&self, range: Range) -> Option<Range> {
        if range.start == range.end {
            return None;
        }
        if range.start < self.next.min(range.end) {
            return Some(Range { start: range.start, end: range.end.min(self.next) });
        }
        let stored = self.above.iter().find(|stored| stored.start < range.end && range.start < stored.end)?;
        Some(Range { start: stored.start.max(range.start), end: stored.end.min(range.end) })
    }

    #[cold]
    fn receive_syn(&mut self) -> Arrival {
        let is_repeated = self.is_synchronised();
        self.next = self.next.max(1);
        self.edge = self.edge.max(self.next);
        Arrival { ack: if is_repeated { AckDue::Alone } else { AckDue::Now }, ..NOTHING }
    }

    /// Returns whether all before a FIN has arrived, and advances over the FIN. The numbers behind it
    /// are discarded: nothing follows a FIN (RFC 9293 §3.10.7.4, seventh check).
    fn pass_fin(&mut self) -> bool {
        let Some(fin) = self.fin_at.filter(|&fin| fin <= self.next) else { return false };
        self.next = fin + 1;
        self.above.clear();
        self.reported.clear();
        // Linux reports no duplicate then (`tcp_fin`).
        self.duplicate = self.duplicate.filter(|_| !self.reports_fin);
        true
    }

    /// Whether all of `range` has arrived.
    #[inline]
    fn has_received(&self, range: Range) -> bool {
        let start = range.start.max(self.next);
        start >= range.end || self.above.iter().any(|stored| stored.start <= start && range.end <= stored.end)
    }

    /// Records that `range` has arrived.
    #[inline]
    fn insert(&mut self, range: Range) {
        // A FIN without data has no range to store above a hole.
        if range.end <= self.next || range.start == range.end {
            return;
        }
        if range.start > self.next {
            return self.insert_above(range);
        }
        self.next = range.end;
        if !self.above.is_empty() {
            self.join_above();
        }
    }

    /// Removes the ranges that `next` has reached, and advances `next` to their end.
    #[inline(never)]
    fn join_above(&mut self) {
        let reached = self.above.iter().take_while(|range| range.start <= self.next).count();
        if let Some(last) = self.above.drain(..reached).next_back() {
            self.next = self.next.max(last.end);
        }
    }

    /// Stores a range above a hole, joined with the stored ranges that overlap it or are adjacent.
    #[inline(never)]
    fn insert_above(&mut self, range: Range) {
        let first = self.above.partition_point(|stored| stored.end < range.start);
        let count = self.above[first..].iter().take_while(|stored| stored.start <= range.end).count();
        let touched = first..first + count;
        let joined = self.above[touched.clone()].iter().fold(range, |joined, stored| Range {
            start: joined.start.min(stored.start),
            end: joined.end.max(stored.end),
        });
        self.above.splice(touched, [joined]);
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::{ConnectionId, Direction};
    use crate::packet::Flags;

    use super::*;

    fn segment(seq: u64, payload: u32, flags: Flags) -> Segment {
        Segment { flags, seq, payload, ..Segment::new(ConnectionId(0), Direction::Downlink) }
    }

    /// A data segment: its first sequence number, and its payload in bytes.
    fn data(seq: u64, payload: u32) -> Segment {
        segment(seq, payload, Flags::default())
    }

    /// A receiver that has the other end's SYN.
    fn synchronised() -> Receiver {
        let mut receiver = Receiver::default();
        receiver.receive(&segment(0, 0, Flags { syn: true, ..Flags::default() }));
        receiver
    }

    #[test]
    fn data_behind_a_hole_is_delivered_when_the_hole_is_filled() {
        let mut receiver = synchronised();
        let in_order = Arrival { delivered: 10, ack: AckDue::Delayed, ..NOTHING };
        let out_of_order = Arrival { ack: AckDue::Alone, ..NOTHING };
        let duplicate = Arrival { duplicate: true, ack: AckDue::Alone, ..NOTHING };
        // The segment that fills a hole, and the ten bytes that waited behind the hole.
        let fills_hole = Arrival { delivered: 10 + 10, ack: AckDue::Now, ..NOTHING };
        assert_eq!(receiver.receive(&data(1, 10)), in_order);
        assert_eq!(receiver.receive(&data(21, 10)), out_of_order);
        assert_eq!(receiver.receive(&data(41, 10)), out_of_order);
        assert_eq!(receiver.receive(&data(21, 10)), duplicate);
        // The hole from 11 to 20, then the hole from 31 to 40.
        assert_eq!(receiver.receive(&data(11, 10)), fills_hole);
        assert_eq!(receiver.receive(&data(31, 10)), fills_hole);
        assert_eq!(receiver.next(), 51);
        assert_eq!(receiver.receive(&data(1, 10)), duplicate);
    }

    #[test]
    fn fin_counts_once_all_data_has_arrived() {
        let mut receiver = synchronised();
        receiver.receive(&segment(11, 5, Flags { fin: true, ..Flags::default() }));
        assert!(!receiver.is_finished());
        assert_eq!(receiver.receive(&data(1, 10)).delivered, 10 + 5);
        assert!(receiver.is_finished());
        // 15 bytes from 1 on, and the FIN, which takes a number.
        assert_eq!(receiver.next(), 1 + 15 + 1);
    }

    #[test]
    fn fin_without_data_is_not_reported_as_a_block() {
        let mut receiver = Receiver { max_reported: 3, ..synchronised() };
        for segment in [data(11, 5), data(31, 5)] {
            receiver.receive(&segment);
            receiver.report(3);
        }
        receiver.receive(&segment(41, 0, Flags { fin: true, ..Flags::default() }));
        assert_eq!(receiver.report(3).ranges(1).collect::<Vec<_>>(), [(31, 36), (11, 16)]);
        assert_eq!(receiver.above.len(), 2, "{:?}", receiver.above);
    }

    #[test]
    fn rejected_pure_ack_is_not_reported_as_duplicate() {
        let mut receiver = Receiver { max_reported: 3, reports_duplicates: true, ..synchronised() };
        receiver.receive(&data(11, 20));
        let ack_counts = false;
        receiver.reject(&data(21, 0), ack_counts);
        assert_eq!(receiver.report(3).ranges(1).collect::<Vec<_>>(), [(11, 31)]);
    }

    #[test]
    fn data_before_the_syn_is_dropped() {
        let mut receiver = Receiver::default();
        assert_eq!(receiver.receive(&data(1, 10)), NOTHING);
        assert_eq!(receiver.next(), 0);
    }

    #[test]
    fn adjacent_ranges_are_merged() {
        let mut receiver = synchronised();
        for seq in [21, 41, 31, 61] {
            receiver.receive(&data(seq, 10));
        }
        assert_eq!(receiver.above, [Range { start: 21, end: 51 }, Range { start: 61, end: 71 }]);
    }
}
