//! Analysis of a capture, packet by packet: parses each packet, passes TCP segments to their
//! connections and UDP datagrams to their flows, and turns connections that have ended into rows
//! and sums.
//!
//! This file has the path of a packet. `lifetime.rs` finds the connection of a segment, and removes
//! connections that have ended.

mod host_pairs;
mod lifetime;
mod limits;
mod results;
mod row;
mod tunnels;
mod warnings;

use std::collections::{BTreeMap, VecDeque};

use umts_units::{Duration, Time};

use crate::analyser::host_pairs::{HostPair, HostPairs};
use crate::analyser::lifetime::{Check, ConnectionKey, LINGER};
use crate::analyser::limits::ConnectionLimits;
use crate::clock::BusyClock;
use crate::connection::Acceptance;
use crate::copies::{Recent, digest_of_segment};
use crate::headers::parse;
use crate::link::LinkType;
use crate::listing::ListingRange;
use crate::metrics::MetricSet;
use crate::packet::{OtherProtocol, Packet, Protocol, SkipReason};
use crate::stream_progress::ProgressCollector;
use crate::table::Table;
use crate::timeseq::{TimeSequence, Watched};
use crate::totals::Totals;
use crate::udp::{UdpFlows, unread_tunnel};

pub use crate::analyser::results::{Analysis, ConnectionRow, Counts, Rest};

/// The year 2262, the limit of libpcap's nanoseconds. Later times are wrong, and sums of times must
/// not overflow.
const LATEST: Time = Time::from_nanos(i64::MAX as u64);
/// Maximum number of protocols other than TCP and UDP that are counted separately.
const MAX_PROTOCOLS: usize = 64;

/// Number of rows in a batch of [`Analyser::finish_with`].
const ROWS_AT_ONCE: usize = 4096;

/// TCP metrics of a capture, packet by packet. Uses no files and no clock.
///
/// Memory is bounded by the connections that are open at one time, if rows are taken with
/// [`take_finished`](Analyser::take_finished), and in any case by
/// [`with_limit`](Analyser::with_limit). Of the connections with packets of one end only, the
/// latest are kept; a warning counts the others.
#[derive(Debug, Default)]
pub struct Analyser {
    /// Connections without a row yet: the open ones, and closed ones that wait for late packets.
    open: Table,
    /// Closed connections. The delay is constant, so entries are in the order of their times. Only
    /// an entry that was put back for a repeated check may stand behind entries with later times.
    closing: VecDeque<Check>,
    /// Connections that began with a SYN, which are removed if they are still one-sided. In the
    /// order of their times, because a repeated check is due after all others.
    opening: VecDeque<Check>,
    limits: ConnectionLimits,
    /// Sums of the connections without rows.
    rest: Totals,
    /// For the metric of the idle time between connections of the same hosts.
    host_pairs: HostPairs,
    /// Number of the next connection.
    next: u64,
    /// Measures the time in which data of any connection are outstanding.
    busy_clock: BusyClock,
    /// Sums of all connections that have ended.
    totals: Totals,
    finished: Vec<ConnectionRow>,
    counts: Counts,
    /// Digests of recent segments, which reveal copies.
    recent: Recent,
    udp: UdpFlows,
    /// Number of packets that are not decoded, by protocol.
    passed_over: BTreeMap<OtherProtocol, u64>,
    /// Time of the first packet.
    first: Option<Time>,
    /// The latest time of any packet. Packets with an earlier time are processed at `now`.
    now: Time,
    /// Connections whose time-sequence tables or progress are collected.
    watched: Watched,
}

impl Analyser {
    /// Creates an analyser without packets.
    pub fn new() -> Self {
        Analyser::default()
    }

    /// Also collects the time-sequence tables of the connection with this number.
    pub fn with_time_sequence(self, connection: u64) -> Self {
        Analyser {
            watched: Watched::One(Box::new(TimeSequence::new(connection))),
            ..self.with_row_of(connection)
        }
    }

    /// Also collects the time-sequence tables of every connection.
    pub(crate) fn with_all_time_sequences(self) -> Self {
        Analyser { watched: Watched::All(BTreeMap::new()), ..self }
    }

    /// Also lists the packets of a connection that are in a range.
    pub fn with_packets(self, range: ListingRange) -> Self {
        Analyser { watched: Watched::packets(range), ..self.with_row_of(range.connection) }
    }

    /// Also collects the stream progress of the first `connections` connections.
    pub(crate) fn with_stream_progress(self, connections: usize) -> Self {
        Analyser { watched: Watched::Progress(Box::new(ProgressCollector::new(connections))), ..self }
    }

    /// Processes a packet of `original_length` octets on the link. `bytes` of it were captured at
    /// `time` (since 1970). Nothing in the packet is trusted; unreadable packets are counted.
    pub fn packet(&mut self, time: Time, link: LinkType, bytes: &[u8], original_length: u32) {
        let mut packet = Packet::default();
        let parsed = parse(link, bytes, original_length, &mut packet);
        self.process_parsed(time, original_length, parsed, &packet);
    }

    /// Sets the payload of the next packet. Connections with recorded progress keep the first
    /// octets of their data.
    pub(crate) fn set_payload(&mut self, payload: &[u8]) {
        self.watched.set_payload(payload);
    }

    /// Processes a packet. `parsed` is the result of parsing it.
    pub(crate) fn process_parsed(
        &mut self,
        time: Time,
        original_length: u32,
        parsed: Result<Protocol, SkipReason>,
        packet: &Packet,
    ) {
        self.counts.packets += 1;
        self.counts.bytes += u64::from(original_length);
        let time = time.min(LATEST);
        self.first.get_or_insert(time);
        self.counts.out_of_time += u64::from(time < self.now);
        self.now = self.now.max(time);
        match parsed {
            Ok(Protocol::Tcp) => self.process_segment(packet),
            Ok(Protocol::Udp) => self.process_datagram(packet),
            Err(reason) => self.count_skipped(reason),
        }
    }

    // ── TCP segments ────────────────────────────────────────────────────────────────────────────

    /// Finds the connection of a segment and updates it, unless the segment is the second copy of a
    /// packet. A connection that closes is removed after [`LINGER`].
    fn process_segment(&mut self, packet: &Packet) {
        self.counts.tcp += 1;
        self.counts.beyond_frame += u64::from(packet.exceeds_frame);
        self.remove_expired();
        let digest = digest_of_segment(packet);
        let age = self.recent.age(self.now, digest);
        let slot = self.connection_of(packet, age.is_some());
        if age.is_some_and(|age| self.is_copy(slot, packet, digest, age)) {
            self.counts.captured_twice += 1;
            return;
        }
        let connection = self.open.at(slot);
        let number = connection.number;
        let was_closed = connection.closed.is_some();
        let watcher = self.watched.of(number, self.first);
        let acceptance = connection.packet(self.now, packet, watcher, &mut self.busy_clock);
        self.counts.not_believed += u64::from(acceptance == Acceptance::Rejected);
        if !was_closed && connection.closed.is_some() {
            let key = ConnectionKey { ends: connection.ends, number };
            self.host_pairs.close(HostPair::of(connection), self.now);
            self.closing.push_back(Check { due: self.now + LINGER, key });
        }
    }

    /// Returns whether a packet is a copy of an equal packet that came `age` earlier. Otherwise it
    /// is a retransmission or a duplicate ACK, and later packets are compared with it.
    #[cold]
    fn is_copy(&mut self, slot: usize, packet: &Packet, digest: u64, age: Duration) -> bool {
        let segment = &packet.segment;
        if !self.open.at(slot).is_copy(age, segment) {
            self.recent.renew(self.now, digest);
            return false;
        }
        // An acknowledgment without IP identification has one copy: a third one may be a duplicate
        // ACK of the receiver.
        if segment.identification == 0 && segment.sequence_length() == 0 {
            self.recent.forget(digest);
        }
        true
    }

    // ── Other packets ───────────────────────────────────────────────────────────────────────────

    /// Passes a UDP datagram to its flow, unless the datagram is the second copy of a packet.
    fn process_datagram(&mut self, packet: &Packet) {
        self.counts.not_tcp += 1;
        self.counts.udp += 1;
        self.counts.beyond_frame += u64::from(packet.exceeds_frame);
        if !self.udp.datagram(self.now, packet) {
            // The flow table has recognised a copy.
            self.counts.captured_twice += 1;
        } else if let Some(tunnel) = unread_tunnel(packet) {
            self.count_protocol(tunnel);
        }
    }

    /// Counts a packet that was not analysed, by the reason.
    fn count_skipped(&mut self, reason: SkipReason) {
        let (count, kind) = match reason {
            SkipReason::LinkType(number) => {
                (&mut self.counts.unknown_link, Some(OtherProtocol::LinkType(number)))
            }
            SkipReason::NotIp(kind) => (&mut self.counts.not_ip, Some(kind)),
            SkipReason::Fragment => (&mut self.counts.fragments, None),
            SkipReason::NotTcp(kind) => (&mut self.counts.not_tcp, Some(kind)),
            SkipReason::Short => (&mut self.counts.unreadable, None),
            SkipReason::TooDeep => (&mut self.counts.too_deep, None),
        };
        *count += 1;
        if let Some(kind) = kind {
            self.count_protocol(kind);
        }
    }

    /// Counts a packet of another protocol. Beyond [`MAX_PROTOCOLS`], further ones are counted
    /// together.
    fn count_protocol(&mut self, kind: OtherProtocol) {
        let has_room = self.passed_over.len() < MAX_PROTOCOLS || self.passed_over.contains_key(&kind);
        *self.passed_over.entry(if has_room { kind } else { OtherProtocol::Others }).or_default() += 1;
    }

    // ── Results ─────────────────────────────────────────────────────────────────────────────────

    /// Takes the rows of connections that have ended.
    pub fn take_finished(&mut self) -> Vec<ConnectionRow> {
        std::mem::take(&mut self.finished)
    }

    /// Returns the number of rows that [`take_finished`](Analyser::take_finished) would return.
    pub fn finished(&self) -> usize {
        self.finished.len()
    }

    /// Closes the open connections, and computes the sums.
    pub fn finish(self) -> Analysis {
        let mut rows = Vec::new();
        let analysis = self.finish_with(&mut |mut batch| rows.append(&mut batch));
        Analysis { connections: rows, ..analysis }
    }

    /// Like [`finish`](Analyser::finish), but passes the rows to `on_rows` in batches.
    pub fn finish_with(mut self, on_rows: &mut dyn FnMut(Vec<ConnectionRow>)) -> Analysis {
        for connection in self.open.take_all() {
            self.finish_connection(connection);
            if self.finished.len() >= ROWS_AT_ONCE {
                on_rows(self.take_finished());
            }
        }
        on_rows(self.take_finished());
        self.totals.window = self.window();
        self.totals.active_union = u128::from(self.busy_clock.total().as_nanos());
        let (rest, warnings) = (self.rest(), self.warnings());
        let collected = self.watched.finish();
        Analysis {
            metrics: MetricSet::of(&self.totals),
            warnings,
            connections: Vec::new(),
            connection_count: self.next,
            rest,
            counts: self.counts,
            first: self.first,
            last: self.first.map(|_| self.now),
            udp_flows: self.udp.rows(self.first.unwrap_or_default()),
            udp_rest: self.udp.rest,
            passed_over: self.passed_over.iter().map(|(kind, count)| (kind.name().into(), *count)).collect(),
            time_sequences: collected.time_sequences,
            stream_progress: collected.stream_progress,
            listing: collected.listing,
        }
    }

    /// Time from the first packet of the capture to the last.
    fn window(&self) -> Duration {
        self.first.map_or(Duration::ZERO, |first| self.now.saturating_since(first))
    }
}
