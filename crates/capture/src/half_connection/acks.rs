//! Acknowledgments of one end's data by the other end.
//!
//! Most acknowledgments are *usual*: they acknowledge new data while no loss is known. They take a
//! short path. All others are evidence for `recovery.rs`.

use umts_units::{Duration, Time};

use super::HalfConnection;
use super::numbers::unwrap;
use crate::packet::Segment;
use crate::recovery::{AckInfo, DUPLICATE_THRESHOLD};

/// An acknowledgment of data that this end sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReceivedAck<'a> {
    pub now: Time,
    /// The segment of the other end that has the acknowledgment.
    pub segment: &'a Segment,
    /// Its number: all data below are acknowledged.
    pub ack: u64,
    /// The oldest number that was not acknowledged before.
    pub una: u64,
    /// It announces the same window as the acknowledgment before.
    pub repeats_window: bool,
}

impl ReceivedAck<'_> {
    /// Returns whether it acknowledges new data.
    fn advances(&self) -> bool {
        self.ack > self.una
    }

    /// Returns whether the segment carries no data of the other end.
    fn is_empty(&self) -> bool {
        self.segment.sequence_length() == 0
    }

    /// Echo of its timestamp option.
    fn echo(&self) -> Option<u32> {
        self.segment.options.timestamps.map(|(_, echo)| echo)
    }
}

/// The contents of the SACK blocks of an acknowledgment.
#[derive(Debug, Clone, Copy, Default)]
struct SackReport {
    /// Whether a block has data that were not acknowledged before.
    sacks_new_data: bool,
    /// End of the block that the receiver got twice.
    duplicate_end: Option<u64>,
}

/// A SACK block with unwrapped numbers: the octets from `left` to before `right`.
#[derive(Debug, Clone, Copy)]
struct Block {
    left: u64,
    right: u64,
}

impl HalfConnection {
    /// Processes an acknowledgment that is not the first.
    #[inline]
    pub(super) fn process_ack(&mut self, received: ReceivedAck, shortest: Option<Duration>) {
        if self.is_usual(&received) {
            self.process_usual_ack(&received);
        } else {
            self.process_unusual_ack(&received);
        }
        if received.advances() {
            self.resolve_retransmissions(&received, shortest);
        }
    }

    /// Returns whether an acknowledgment is usual, because it shows no loss: it acknowledges new
    /// data, or carries data of the other end.
    #[inline]
    fn is_usual(&self, received: &ReceivedAck) -> bool {
        let carries_data = received.ack == received.una && !received.is_empty();
        let has_blocks = !received.segment.options.sack.as_slice().is_empty();
        let is_plain = (received.advances() || carries_data) && !has_blocks;
        is_plain && !self.flight.is_marked(received.una) && self.recoveries.is_calm()
    }

    #[inline]
    fn process_usual_ack(&mut self, received: &ReceivedAck) {
        self.is_stale(received);
        if received.advances() {
            self.advance(received);
        }
        self.recoveries.calm_ack(received.now, received.advances());
        self.rack_deadline = None;
    }

    /// Processes an acknowledgment that may show a loss.
    #[inline(never)]
    fn process_unusual_ack(&mut self, received: &ReceivedAck) {
        let mut info = self.ack_info(received);
        if received.advances() {
            self.advance(received);
            info.original_end = self.flight.original_end;
            if self.recoveries.new_ack(&info) {
                self.end_recovery(received);
            }
        } else if received.ack == received.una || info.sacks_new_data {
            self.process_repeated_ack(received, info);
        }
        self.watch_oldest(received.now);
    }

    /// Processes the end of a recovery. If retransmissions are still outstanding, another one
    /// begins.
    fn end_recovery(&mut self, received: &ReceivedAck) {
        self.flight.rack.recovered();
        if self.has_sack() && self.flight.has_retransmitted() {
            let highest = self.highest.unwrap_or(received.ack);
            self.recoveries.carry_over(received.now, received.ack, highest);
            self.counters.fast_carried += 1;
        }
    }

    /// Processes an acknowledgment without new data, except in SACK blocks.
    fn process_repeated_ack(&mut self, received: &ReceivedAck, mut info: AckInfo) {
        let is_outstanding = self.highest.is_some_and(|highest| highest > received.una);
        let repeats_number = received.ack == received.una && received.is_empty();
        info.repeats_last = repeats_number && (received.repeats_window || info.sacks_new_data);
        info.is_duplicate = info.repeats_last && is_outstanding;
        let duplicates_in_row = self.recoveries.other_ack(&info);
        let reaches_threshold = info.is_duplicate && duplicates_in_row == DUPLICATE_THRESHOLD;
        self.counters.dupack_runs += u64::from(reaches_threshold);
    }

    /// Processes the acknowledgment of new data.
    #[inline]
    fn advance(&mut self, received: &ReceivedAck) {
        let &ReceivedAck { now, segment, ack, una, .. } = received;
        let first = una.max(self.base.unwrap_or(una));
        let acks_fin = self.fin.is_some_and(|fin| una <= fin && fin < ack);
        self.fin_acked |= acks_fin;
        // The FIN takes a sequence number but is no payload.
        self.counters.acknowledged += ack.saturating_sub(first).saturating_sub(u64::from(acks_fin));
        self.una = Some(ack);
        self.counters.unseen += self.holes.acknowledge(ack, now);
        self.sacked.remove_below(ack);
        self.flight.acknowledged(now, una, ack, segment);
    }

    /// Decides whether retransmissions that are acknowledged now were needed. `shortest` is the
    /// round-trip time of the handshake.
    #[inline]
    fn resolve_retransmissions(&mut self, received: &ReceivedAck, shortest: Option<Duration>) {
        if self.retransmissions.has_unacknowledged() {
            let shortest = self.flight.rtt_every.sums.min().into_iter().chain(shortest).min();
            self.retransmissions.acknowledged(received.now, received.ack, received.echo(), shortest);
        }
    }

    /// Returns whether an acknowledgment is stale, because others overtook it. A sender ignores it
    /// (RFC 7323 §5.3, R1). An acknowledgment that repeats the last number is not stale: Linux
    /// processes it, and only the timestamp shows its order.
    ///
    /// Also records the newest timestamp.
    #[inline]
    fn is_stale(&mut self, received: &ReceivedAck) -> bool {
        let Some((value, _)) = received.segment.options.timestamps else { return false };
        let is_older = self.newest_timestamp.is_some_and(|newest| (value.wrapping_sub(newest) as i32) < 0);
        if !is_older {
            self.newest_timestamp = Some(value);
        }
        is_older && received.ack < received.una
    }

    /// Processes the options of an acknowledgment: SACK blocks and timestamps.
    fn ack_info(&mut self, received: &ReceivedAck) -> AckInfo {
        let is_stale = self.is_stale(received);
        self.flight.begin_ack();
        let SackReport { sacks_new_data, duplicate_end } = self.process_sack(received, is_stale);
        if sacks_new_data && !received.advances() {
            self.flight.sample_sacked(received.una);
        }
        AckInfo {
            now: received.now,
            ack: received.ack,
            sacks_new_data,
            duplicate_end,
            echo: received.echo(),
            original_end: self.flight.original_end,
            ..AckInfo::default()
        }
    }

    /// Processes selective acknowledgments. If the acknowledgment is stale, only a report of a
    /// duplicate is used, as evidence of a needless retransmission.
    fn process_sack(&mut self, received: &ReceivedAck, is_stale: bool) -> SackReport {
        let &ReceivedAck { now, segment, ack, una, .. } = received;
        let unwrap_block = |&(left, right): &(u32, u32)| {
            let left = unwrap(left, ack);
            Block { left, right: unwrap(right, left) }
        };
        let mut blocks = segment.options.sack.as_slice().iter().map(unwrap_block);
        let all_blocks = blocks.clone();
        let Some(first) = blocks.next() else { return SackReport::default() };
        self.is_sacking = true;
        let is_dsack = is_dsack(first, blocks.next(), ack);
        // A sender in TIME-WAIT ignores the report.
        if is_dsack && !self.is_over {
            self.retransmissions.duplicated(first.left, first.right);
        }
        let Some(highest) = self.highest.filter(|_| !is_stale) else { return SackReport::default() };
        if is_dsack {
            self.flight.rack.duplicated(una, highest);
        }
        let mut sacks_new_data = false;
        for Block { left, right } in all_blocks {
            let is_of_outstanding = ack.max(una) <= left && left < right && right <= highest;
            if is_of_outstanding {
                self.sacked.for_each_gap(left, right, |from, to| self.flight.sacked(now, from, to));
                sacks_new_data |= self.sacked.insert(left, right);
            }
        }
        SackReport { sacks_new_data, duplicate_end: is_dsack.then_some(first.right) }
    }
}

/// Returns whether the first SACK block of an acknowledgment reports a duplicate: it is below the
/// acknowledgment or inside the second block (RFC 2883 §4).
fn is_dsack(first: Block, second: Option<Block>, ack: u64) -> bool {
    let is_below = first.right <= ack;
    let is_inside = second.is_some_and(|second| second.left <= first.left && first.right <= second.right);
    first.left < first.right && (is_below || is_inside)
}
