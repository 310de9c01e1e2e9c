//! One direction of a connection: the data that one end sends, and the acknowledgments of the other
//! end.
//!
//! [`HalfConnection`] processes the packets of both ends in their order: [`sent`] takes the segments
//! of this end and classifies them (new, late, or retransmitted, with the cause), and [`acked`] takes
//! the acknowledgments of the other end. Both count what the metrics need.
//!
//! Sequence numbers are unwrapped to 64 bits. They start at 2^32, so that numbers before the first
//! one seen are representable.
//!
//! [`sent`]: HalfConnection::sent
//! [`acked`]: HalfConnection::acked

mod acceptance;
mod acks;
mod activity;
mod arrival;
mod causes;
mod numbers;
mod rack_deadline;

use umts_units::{Duration, Time};

use crate::cause::Cause;
use crate::clock::BusyClock;
use crate::counters::Counters;
use crate::holes::Holes;
use crate::packet::Segment;
use crate::ranges::Ranges;
use crate::recovery::{AckInfo, Recoveries};
use crate::spurious::Retransmissions;
use crate::unacked_segments::UnackedSegments;
use acks::ReceivedAck;
use arrival::SentSegment;
use numbers::{MAX_WINDOW, unwrap};
use rack_deadline::RackDeadline;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnnouncedWindow {
    /// The window in octets if `is_scaled`, otherwise without its unknown shift.
    pub octets: u32,
    pub is_scaled: bool,
}

impl AnnouncedWindow {
    /// Returns the window in octets, if its shift is known.
    pub fn known_octets(self) -> Option<u32> {
        self.is_scaled.then_some(self.octets)
    }
}

/// One direction of a connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct HalfConnection {
    // The data that this end has sent.
    /// Initial sequence number, the number of the SYN.
    pub isn: Option<u32>,
    /// Sequence number of the first byte of payload.
    base: Option<u64>,
    /// End of the highest number sent, SYN and FIN included.
    highest: Option<u64>,
    /// End of the highest payload sent.
    data_end: u64,
    /// Sequence number of the FIN.
    fin: Option<u64>,
    /// When payload was last sent.
    pub last_data: Option<Time>,
    /// Octets that were not seen, below numbers that were seen or acknowledged.
    holes: Holes,
    /// Segments in flight.
    pub flight: UnackedSegments,

    // The acknowledgments of the other end.
    /// The oldest number that is not acknowledged (SND.UNA, RFC 9293 §3.3.1).
    una: Option<u64>,
    /// The FIN was acknowledged.
    pub fin_acked: bool,
    /// Octets above `una` that are selectively acknowledged.
    sacked: Ranges,
    /// Whether both ends permit selective acknowledgments. `None` without a handshake.
    pub sack_permitted: Option<bool>,
    /// A selective acknowledgment was seen.
    is_sacking: bool,
    /// The newest timestamp of the acknowledgments.
    newest_timestamp: Option<u32>,
    /// An acknowledgment beyond `limit`, which was not accepted. Another one beyond it confirms it.
    unconfirmed_ack: Option<u64>,
    /// The other end has sent a SYN, or this end has acknowledged it.
    pub is_answered: bool,

    // The receiver's window.
    /// The window, in octets.
    window: Option<u32>,
    /// Highest end of the windows. `None` before the first window.
    window_edge: Option<u64>,
    /// When the receiver closed its window. `None` while the window is open.
    zero_window_since: Option<Time>,

    // Losses.
    /// Recoveries from loss, for the causes of retransmissions.
    recoveries: Recoveries,
    /// When RACK declares the oldest segment lost. `None` if no later segment was delivered.
    rack_deadline: Option<RackDeadline>,
    /// Recent retransmissions, to find the ones that were not needed.
    retransmissions: Retransmissions,

    // Counts.
    pub counters: Counters,
    /// Until when the integrals in `counters` are complete.
    settled_at: Time,
    /// Whether data are outstanding.
    is_active: bool,
    /// The connection is closed.
    is_over: bool,
}

/// What a segment of this end is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Data, SYN or FIN.
    Data,
    /// Only an acknowledgment.
    Ack,
    KeepAlive,
    ZeroWindowProbe,
    /// Its numbers are too far away to belong to the connection.
    Foreign,
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

    /// Returns whether selective acknowledgments are in use, by the handshake or, without one, by
    /// those seen.
    fn has_sack(&self) -> bool {
        self.sack_permitted.unwrap_or(self.is_sacking)
    }

    /// Counts of needless retransmissions.
    pub fn unneeded(&self) -> crate::spurious::Unneeded {
        self.retransmissions.unneeded
    }

    /// Returns the numbers of tail loss probes with new data and of losses that probes repaired.
    pub fn probes(&self) -> (u64, u64) {
        (self.recoveries.probes.of_new_data, self.recoveries.probes.repairs)
    }

    /// Returns the number of duplicate acknowledgments in a row.
    pub fn duplicates_in_row(&self) -> u32 {
        self.recoveries.duplicates_in_row()
    }

    /// Returns whether the next segment of this end is a keep-alive, and whether it is a probe of a
    /// closed window.
    pub fn is_probe(&self, segment: &Segment) -> (bool, bool) {
        let start = self.unwrap(segment.seq);
        let purpose = self.purpose(start, start + u64::from(segment.sequence_length()), segment);
        (purpose == Purpose::KeepAlive, purpose == Purpose::ZeroWindowProbe)
    }

    // ── Segments of this end ────────────────────────────────────────────────────────────────────

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
        self.counters.ecn_answers += u64::from(segment.flags.cwr() && !segment.flags.syn());
        let start = self.unwrap(segment.seq);
        let end = start + u64::from(segment.sequence_length());
        match self.purpose(start, end, segment) {
            Purpose::Data => {
                let sent = SentSegment { now, segment, start, end, path };
                return Some(self.record_data(&sent, busy_clock));
            }
            Purpose::Ack => self.record_empty(now, start, segment),
            Purpose::KeepAlive => self.counters.keep_alives += 1,
            Purpose::ZeroWindowProbe => self.counters.zero_window_probes += 1,
            Purpose::Foreign => {}
        }
        None
    }

    /// Counts a packet of this end.
    pub fn count(&mut self, segment: &Segment) {
        self.counters.packets += 1;
        self.counters.resets += u64::from(segment.flags.rst());
    }

    fn purpose(&self, start: u64, end: u64, segment: &Segment) -> Purpose {
        if self.is_keep_alive(start, end, segment) {
            // Into a closed window, Linux sends its zero-window probe (RFC 9293 §3.8.6.1) in this
            // form.
            if self.window == Some(0) { Purpose::ZeroWindowProbe } else { Purpose::KeepAlive }
        } else if self.is_far(end) {
            Purpose::Foreign
        } else if start == end {
            Purpose::Ack
        } else if self.is_probe_of_zero_window(start, segment) {
            Purpose::ZeroWindowProbe
        } else {
            Purpose::Data
        }
    }

    /// Returns whether a segment is a keep-alive (RFC 9293 §3.8.4): its number is one below the
    /// next number, and nothing is outstanding.
    fn is_keep_alive(&self, start: u64, end: u64, segment: &Segment) -> bool {
        let is_plain = !segment.flags.syn() && !segment.flags.fin() && segment.payload <= 1;
        let is_one_below = self.highest == Some(start + 1) && end <= start + 1;
        let is_all_acknowledged = self.una >= self.highest || self.una.is_none();
        is_plain && is_one_below && is_all_acknowledged
    }

    /// Returns whether a segment is a zero-window probe (RFC 9293 §3.8.6.1): one octet of new data
    /// into a closed window.
    fn is_probe_of_zero_window(&self, start: u64, segment: &Segment) -> bool {
        self.window == Some(0) && segment.payload == 1 && self.highest == Some(start) && !segment.flags.fin()
    }

    /// Processes a segment with data, SYN or FIN.
    fn record_data(&mut self, sent: &SentSegment, busy_clock: &mut BusyClock) -> ClassifiedSegment {
        let &SentSegment { now, segment, start, end, .. } = sent;
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
        let cause = self.classify(sent);
        if let Some(timestamp) = sent.timestamp() {
            self.flight.record_timestamp(now, timestamp);
        }
        self.update_activity(now, busy_clock);
        let revokes_probe = cause == Cause::Rto && self.recoveries.revokes_probe();
        ClassifiedSegment { start: self.relative(start), end: self.relative(end), cause, revokes_probe }
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

    // ── Acknowledgments of the other end ────────────────────────────────────────────────────────

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
        let ack = self.unwrap(segment.ack);
        if self.is_far(ack) {
            return None;
        }
        self.settle(now);
        self.record_window_edge(ack, announced);
        self.count_ack(now, segment, announced);
        let repeats_window = self.window.replace(announced.octets) == Some(announced.octets);
        self.flight.record_timestamp_option(segment);
        self.record_unseen(now, ack);
        let Some(una) = self.una else {
            self.una = Some(ack);
            self.base.get_or_insert(ack);
            self.recoveries.new_ack(&AckInfo { now, ack, ..AckInfo::default() });
            return Some(self.relative(ack));
        };
        self.process_ack(ReceivedAck { now, segment, ack, una, repeats_window }, shortest);
        self.update_activity(now, busy_clock);
        Some(self.relative(ack))
    }

    /// Counts an acknowledgment, and signals of congestion and of a closed window in it.
    fn count_ack(&mut self, now: Time, segment: &Segment, announced: AnnouncedWindow) {
        let is_empty = segment.sequence_length() == 0;
        self.counters.acks_received += u64::from(is_empty);
        if !segment.flags.syn() {
            let is_closed = announced.octets == 0;
            self.counters.zero_windows += u64::from(is_closed);
            self.counters.ecn_echoes += u64::from(segment.flags.ece());
            self.record_zero_window(now, is_closed);
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

    /// Returns the selective acknowledgments of a segment, in octets since the first byte of
    /// payload.
    pub fn sack_blocks(&self, segment: &Segment) -> impl Iterator<Item = (i64, i64)> {
        segment.options.sack.as_slice().iter().map(|&(left, right)| {
            let left = self.unwrap(left);
            (self.relative(left), self.relative(unwrap(right, left)))
        })
    }
}
