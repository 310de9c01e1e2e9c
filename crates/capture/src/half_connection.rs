//! One direction of a connection: the data that one end sends, and the acknowledgments of the other
//! end. [`HalfConnection`] processes the packets of both ends in their order, classifies each
//! segment (new, late, or retransmitted, with the cause), and counts what the metrics need.
//!
//! Sequence numbers are unwrapped to 64 bits. They start at 2^32, so that numbers before the first
//! one seen are representable.

mod acceptance;
mod arrival;
mod causes;

use umts_units::{Duration, Time};

use crate::cause::Cause;
use crate::clock::BusyClock;
use crate::counters::Counters;
use crate::holes::Holes;
use crate::packet::Segment;
use crate::ranges::Ranges;
use crate::recovery::{AckInfo, Recoveries};
use crate::spurious::Retransmissions;
use crate::unacked_segments::{SentCopy, UnackedSegments};

/// The unwrapped number of the first sequence number 0: room below the first number seen.
const ORIGIN: u64 = 1 << 32;
/// The largest possible window (RFC 7323 §2.3). A number farther away does not belong to this
/// connection.
const MAX_WINDOW: u64 = 1 << 30;
/// Octets beyond the receiver's window that are accepted: probes exceed windows, and window updates
/// may not be captured.
const WINDOW_SLACK: u64 = 1 << 16;

/// A segment in the time-sequence tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClassifiedSegment {
    /// First octet and end, counted from the first octet of the connection's payload.
    pub start: i64,
    pub end: i64,
    /// Why the segment was sent.
    pub cause: Cause,
    /// This segment shows that the segment before, which was classified as a probe, was sent by an
    /// expiry.
    pub revokes_probe: bool,
}

/// Properties of the path that the handshake shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path {
    /// Shortest round-trip time between the two ends.
    pub shortest: Option<Duration>,
    /// Time from a packet to the sender until the sender's answer, as seen at the capture point.
    pub sender_delay: Duration,
}

/// A window that an end announces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnnouncedWindow {
    /// The window in octets if `is_scaled`, otherwise without its unknown shift.
    pub octets: u32,
    pub is_scaled: bool,
}

/// When RACK declares a segment lost.
#[derive(Debug, Clone, Copy)]
struct RackDeadline {
    segment: SentCopy,
    due: Time,
}

/// One direction of a connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct HalfConnection {
    /// Sequence number of the first byte of payload.
    base: Option<u64>,
    /// Initial sequence number, the number of the SYN.
    pub isn: Option<u32>,
    /// End of the highest number sent, SYN and FIN included.
    highest: Option<u64>,
    /// End of the highest payload sent.
    data_end: u64,
    /// Sequence number of the FIN.
    fin: Option<u64>,
    /// The oldest number that is not acknowledged (SND.UNA, RFC 9293 §3.3.1).
    una: Option<u64>,
    /// Octets that were not seen, below numbers that were seen or acknowledged.
    holes: Holes,
    /// Octets above `una` that are selectively acknowledged.
    sacked: Ranges,
    /// Whether both ends permit selective acknowledgments. `None` without a handshake.
    pub sack_permitted: Option<bool>,
    /// A selective acknowledgment was seen.
    is_sacking: bool,
    /// The newest timestamp of the acknowledgments.
    newest_timestamp: Option<u32>,
    /// Recoveries from loss, for the causes of retransmissions.
    recoveries: Recoveries,
    /// When RACK declares the oldest segment lost. `None` if no later segment was delivered.
    rack_deadline: Option<RackDeadline>,
    /// Recent retransmissions, to find the ones that were not needed.
    retransmissions: Retransmissions,
    /// The receiver's window, in octets.
    window: Option<u32>,
    /// Highest end of the receiver's windows. `None` before the first window.
    window_edge: Option<u64>,
    /// An acknowledgment beyond `limit`, which was not accepted. Another one beyond it confirms it.
    unconfirmed_ack: Option<u64>,
    /// The other end has sent a SYN, or this end has acknowledged it.
    pub is_answered: bool,
    /// When the receiver closed its window. `None` while the window is open.
    zero_window_since: Option<Time>,
    /// Until when the integrals in `counters` are complete.
    settled_at: Time,
    /// Whether data are outstanding.
    is_active: bool,
    /// The connection is closed.
    is_over: bool,
    pub counters: Counters,
    /// Segments in flight.
    pub flight: UnackedSegments,
    /// When payload was last sent.
    pub last_data: Option<Time>,
    /// The FIN was acknowledged.
    pub fin_acked: bool,
}

impl HalfConnection {
    /// Whether packets of this direction were seen.
    pub fn has_packets(&self) -> bool {
        self.counters.packets > 0
    }

    /// Whether acknowledgments of this direction's data were seen.
    pub fn is_acknowledged(&self) -> bool {
        self.window.is_some()
    }

    /// Counts of needless retransmissions.
    pub fn unneeded(&self) -> crate::spurious::Unneeded {
        self.retransmissions.unneeded
    }

    /// Returns the numbers of tail loss probes with new data and of losses that probes repaired.
    pub fn probes(&self) -> (u64, u64) {
        (self.recoveries.probes.of_new_data, self.recoveries.probes.repairs)
    }

    /// Returns `number` in octets since the first byte of payload.
    pub fn relative(&self, number: u64) -> i64 {
        number.wrapping_sub(self.base.unwrap_or(ORIGIN)) as i64
    }

    /// Processes a segment of this end. Returns `None` if it has no data, or is a keep-alive, a
    /// window probe or a reset.
    pub fn sent(
        &mut self,
        now: Time,
        segment: &Segment,
        path: Path,
        busy_clock: &mut BusyClock,
    ) -> Option<ClassifiedSegment> {
        self.count(segment);
        if segment.flags.rst() {
            return None;
        }
        self.is_answered |= segment.flags.ack();
        let (start, length) = (self.unwrap(segment.seq), u64::from(segment.sequence_length()));
        let end = start + length;
        self.counters.ecn_answers += u64::from(segment.flags.cwr() && !segment.flags.syn());
        if self.is_keep_alive(start, end, segment) {
            // Into a closed window, Linux sends its zero-window probe (RFC 9293 §3.8.6.1) in this
            // form.
            let counter = match self.window {
                Some(0) => &mut self.counters.zero_window_probes,
                _ => &mut self.counters.keep_alives,
            };
            *counter += 1;
            return None;
        }
        if self.is_far(end) {
            return None;
        }
        if length == 0 {
            self.record_empty(now, start, segment);
            return None;
        }
        if self.is_probe_of_zero_window(start, segment) {
            self.counters.zero_window_probes += 1;
            return None;
        }
        self.settle(now);
        self.begin(start, segment);
        self.counters.sent += u64::from(segment.payload);
        self.counters.largest_segment = self.counters.largest_segment.max(segment.payload);
        if segment.flags.fin() {
            self.counters.fins += 1;
            self.fin = Some(end - 1);
        }
        if segment.payload > 0 {
            self.last_data = Some(now);
        }
        let cause = self.classify(now, start, end, segment, path);
        if let Some((value, _)) = segment.options.timestamps {
            self.flight.record_timestamp(now, value);
        }
        self.update_activity(now, busy_clock);
        let revokes_probe = cause == Cause::Rto && self.recoveries.revokes_probe();
        Some(ClassifiedSegment { start: self.relative(start), end: self.relative(end), cause, revokes_probe })
    }

    /// Processes a segment of the other end with an acknowledgment. `shortest` is the round-trip
    /// time of the handshake. Returns the acknowledgment in octets since the first byte of payload,
    /// or `None` if it is too far away to belong to the connection.
    pub fn acked(
        &mut self,
        now: Time,
        segment: &Segment,
        announced: AnnouncedWindow,
        shortest: Option<Duration>,
        busy_clock: &mut BusyClock,
    ) -> Option<i64> {
        let AnnouncedWindow { octets: window, is_scaled } = announced;
        let ack = self.unwrap(segment.ack);
        if self.is_far(ack) {
            return None;
        }
        self.settle(now);
        self.record_window_edge(ack, window, is_scaled);
        let is_empty = segment.sequence_length() == 0;
        self.counters.acks_received += u64::from(is_empty);
        if !segment.flags.syn() {
            self.counters.zero_windows += u64::from(window == 0);
            self.counters.ecn_echoes += u64::from(segment.flags.ece());
            self.record_zero_window(now, window == 0);
        }
        let same_window = self.window.replace(window) == Some(window);
        self.flight.record_timestamp_option(segment);
        self.record_unseen(now, ack);
        let Some(una) = self.una else {
            self.una = Some(ack);
            self.base.get_or_insert(ack);
            self.recoveries.new_ack(&AckInfo { now, ack, ..AckInfo::default() });
            return Some(self.relative(ack));
        };
        if self.is_usual(segment, ack, una) {
            self.process_usual_ack(now, segment, ack, una);
        } else {
            self.process_unusual_ack(now, segment, ack, una, same_window);
        }
        if ack > una {
            self.resolve_retransmissions(now, ack, segment, shortest);
        }
        self.update_activity(now, busy_clock);
        Some(self.relative(ack))
    }

    /// Measures how long the receiver's window is zero.
    fn record_zero_window(&mut self, now: Time, is_zero: bool) {
        match (self.zero_window_since, is_zero) {
            _ if self.is_over => {}
            (None, true) => self.zero_window_since = Some(now),
            (Some(_), false) => self.end_zero_window(now),
            _ => {}
        }
    }

    /// Adds the time for which the receiver's window was zero, if it was.
    fn end_zero_window(&mut self, now: Time) {
        if let Some(since) = self.zero_window_since.take() {
            self.counters.zero_window_time += u128::from(now.saturating_since(since).as_nanos());
        }
    }

    /// Returns the selective acknowledgments of a segment, in octets since the first byte of
    /// payload.
    pub fn sack_blocks(&self, segment: &Segment) -> impl Iterator<Item = (i64, i64)> {
        segment.options.sack.as_slice().iter().map(|&(left, right)| {
            let left = self.unwrap(left);
            (self.relative(left), self.relative(unwrap(right, left)))
        })
    }

    /// Ends the direction: the connection was closed or removed. Nothing is outstanding afterwards.
    pub fn close(&mut self, now: Time, busy_clock: &mut BusyClock) {
        self.settle(now);
        self.end_zero_window(now);
        self.is_over = true;
        if std::mem::take(&mut self.is_active) {
            busy_clock.stop(now);
        }
    }

    /// Sets the first numbers, by the SYN or by the first segment captured.
    fn begin(&mut self, start: u64, segment: &Segment) {
        if segment.flags.syn() {
            self.isn = Some(segment.seq);
            self.base = Some(start + 1);
            self.una = Some(self.una.map_or(start, |una| una.max(start)));
        }
        self.base.get_or_insert(start);
        // Data in flight at the beginning of the capture are acknowledged later, which sets `una`.
        self.highest.get_or_insert(start);
    }

    /// Counts a packet of this end.
    pub fn count(&mut self, segment: &Segment) {
        self.counters.packets += 1;
        self.counters.resets += u64::from(segment.flags.rst());
    }

    /// Processes the acknowledgment of new data.
    #[inline]
    fn advance(&mut self, now: Time, una: u64, ack: u64, segment: &Segment) {
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

    /// Decides whether retransmissions that are acknowledged now were needed.
    #[inline]
    fn resolve_retransmissions(
        &mut self,
        now: Time,
        ack: u64,
        segment: &Segment,
        shortest: Option<Duration>,
    ) {
        if self.retransmissions.has_unacknowledged() {
            let echo = segment.options.timestamps.map(|(_, echo)| echo);
            let shortest = self.flight.rtt_every.sums.min().into_iter().chain(shortest).min();
            self.retransmissions.acknowledged(now, ack, echo, shortest);
        }
    }

    /// Records a hole if the acknowledged data were not seen: they must have been sent.
    fn record_unseen(&mut self, now: Time, ack: u64) {
        if let Some(highest) = self.highest
            && ack > highest
        {
            self.counters.unseen += ack - highest;
            self.holes.open_acknowledged(highest, ack, now);
            self.highest = Some(ack);
            self.data_end = self.data_end.max(ack);
        }
    }

    /// Returns whether a segment is a keep-alive (RFC 9293 §3.8.4): its number is one below the
    /// next number, and nothing is outstanding.
    fn is_keep_alive(&self, start: u64, end: u64, segment: &Segment) -> bool {
        let is_plain = !segment.flags.syn() && !segment.flags.fin() && segment.payload <= 1;
        is_plain
            && end <= start + 1
            && self
                .highest
                .is_some_and(|highest| start + 1 == highest && self.una.is_none_or(|una| una >= highest))
    }

    /// Returns whether a segment is a zero-window probe (RFC 9293 §3.8.6.1): one octet of new data
    /// into a closed window.
    fn is_probe_of_zero_window(&self, start: u64, segment: &Segment) -> bool {
        self.window == Some(0) && segment.payload == 1 && self.highest == Some(start) && !segment.flags.fin()
    }

    /// Returns whether `number` is at most `distance` from the numbers in use. True if none are
    /// known.
    pub fn is_near(&self, number: u32, distance: u32) -> bool {
        let near = |known: u64| number.wrapping_sub(known as u32).wrapping_add(distance) <= 2 * distance;
        self.reference().is_none_or(near)
    }

    /// Returns whether `number` is too far away to belong to this connection.
    fn is_far(&self, number: u64) -> bool {
        self.reference().is_some_and(|known| number.abs_diff(known) > MAX_WINDOW)
    }

    /// Returns the highest number in use, against which other numbers are unwrapped.
    fn reference(&self) -> Option<u64> {
        self.highest.max(self.una)
    }

    /// Extends a sequence number to 64 bits, near the highest number in use.
    fn unwrap(&self, number: u32) -> u64 {
        self.reference().map_or(ORIGIN + u64::from(number), |known| unwrap(number, known))
    }

    /// Returns the octets of payload that were sent but not acknowledged.
    fn outstanding(&self) -> u64 {
        match (self.una, self.base) {
            (Some(una), Some(base)) => self.data_end.saturating_sub(una.max(base)),
            _ => 0,
        }
    }

    /// Adds the time since the last packet to the integrals, with the values that held until `now`.
    fn settle(&mut self, now: Time) {
        let passed = now.saturating_since(self.settled_at);
        self.settled_at = now;
        if passed.is_zero() || !self.is_active {
            return;
        }
        let outstanding = self.outstanding();
        let nanos = u128::from(passed.as_nanos());
        self.counters.active += nanos;
        self.counters.outstanding_integral += u128::from(outstanding) * nanos;
        self.counters.max_outstanding = self.counters.max_outstanding.max(outstanding);
        if let Some(rtt) = self.flight.last_rtt {
            let product = u128::from(rtt.as_nanos()) * nanos;
            self.counters.rtt_integral = self.counters.rtt_integral.saturating_add(product);
            self.counters.rtt_known += nanos;
        }
    }

    /// Updates `is_active` and the clock: the direction is active while data are outstanding.
    fn update_activity(&mut self, now: Time, busy_clock: &mut BusyClock) {
        let is_active = !self.is_over && self.outstanding() > 0;
        match (self.is_active, is_active) {
            (false, true) => busy_clock.start(now),
            (true, false) => busy_clock.stop(now),
            _ => {}
        }
        self.is_active = is_active;
    }
}

/// Returns the number nearest to `known` with `number` as its low 32 bits.
fn unwrap(number: u32, known: u64) -> u64 {
    let distance = number.wrapping_sub(known as u32) as i32;
    known.saturating_add_signed(i64::from(distance))
}
