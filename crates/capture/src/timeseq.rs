//! Time-sequence tables of a connection: the segments sent, their causes, and the acknowledgments.
//! Memory grows with the connections that are collected.

use std::collections::BTreeMap;

use umts_units::Time;

use crate::cause::Cause;
use crate::connection::{PacketEffect, Side};
use crate::listing::{BeforePacket, ListingRange, PacketCollector, PacketListing};
use crate::packet::Segment;
use crate::stream_progress::{ProgressCollector, StreamProgress};

/// A segment of the connection's sender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SentPoint {
    /// Seconds since the first packet of the connection or of the capture.
    pub time_s: f64,
    /// Octets since the first byte of payload.
    pub seq: i64,
    /// End of the segment, in octets since the first byte of payload.
    pub end: i64,
    /// Why it was sent.
    pub cause: Cause,
}

/// Tables for a time-sequence diagram. All times are in seconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TimeSequenceTables {
    /// The connection's number.
    pub connection: u64,
    /// Segments of the sender of the data.
    pub sent: Vec<SentPoint>,
    /// Time, and the acknowledgment in octets since the first byte of payload.
    pub acked: Vec<(f64, i64)>,
    /// Time, and the start and end of a selective acknowledgment.
    pub sacked: Vec<(f64, i64, i64)>,
    /// Time, and the window in octets that the receiver announces from then on. One row per change.
    /// Windows of which the scale is unknown, because a SYN was not captured, are left out.
    pub windows: Vec<(f64, u32)>,
}

/// The connections that are collected.
#[derive(Debug, Default)]
pub(crate) enum Watched {
    #[default]
    None,
    /// One connection, in seconds since its first packet.
    One(Box<TimeSequence>),
    /// Every connection, in seconds since the first packet of the capture.
    All(BTreeMap<u64, TimeSequence>),
    /// The progress of the first connections.
    Progress(Box<ProgressCollector>),
    /// Packets of one connection.
    Packets(Box<PacketCollector>),
}

/// A collector of the packets of a connection.
pub(crate) enum Watcher<'a> {
    TimeSequence(&'a mut TimeSequence),
    Progress(&'a mut ProgressCollector, u64),
    Packets(&'a mut PacketCollector),
}

impl Watcher<'_> {
    /// Adds a packet of the watched connection.
    pub fn record(self, now: Time, segment: &Segment, before: &BeforePacket, effect: &PacketEffect) {
        match self {
            Watcher::TimeSequence(sequence) => sequence.record(now, segment, effect),
            Watcher::Progress(collector, connection) => collector.record(now, connection, effect),
            Watcher::Packets(collector) => {
                collector.record(now, effect.from, segment, before, Some(effect));
            }
        }
    }

    /// Adds a packet that the watched connection has rejected.
    pub fn record_rejected(self, now: Time, from: Side, segment: &Segment, before: &BeforePacket) {
        if let Watcher::Packets(collector) = self {
            collector.record(now, from, segment, before, None);
        }
    }
}

impl Watched {
    /// Returns the collector of the connection with this number. The capture's first packet came at
    /// `first`.
    #[inline]
    pub fn of(&mut self, connection: u64, first: Option<Time>) -> Option<Watcher<'_>> {
        match self {
            Watched::None => None,
            Watched::One(sequence) => {
                (sequence.connection == connection).then_some(Watcher::TimeSequence(sequence.as_mut()))
            }
            Watched::All(all) => {
                let new_entry = || TimeSequence { begin: first, ..TimeSequence::new(connection) };
                Some(Watcher::TimeSequence(all.entry(connection).or_insert_with(new_entry)))
            }
            Watched::Progress(collector) => Some(Watcher::Progress(collector, connection)),
            Watched::Packets(collector) => {
                (collector.connection() == connection).then_some(Watcher::Packets(collector.as_mut()))
            }
        }
    }

    /// Returns a collector of the packets in a range.
    pub fn packets(range: ListingRange) -> Self {
        Watched::Packets(Box::new(PacketCollector::new(range)))
    }

    /// Sets the payload of the next packet.
    pub fn set_payload(&mut self, payload: &[u8]) {
        if let Watched::Progress(collector) = self {
            collector.set_payload(payload);
        }
    }

    /// Returns the number of connections with recorded progress, if steps were removed from it.
    pub fn thinned_connections(&self) -> u64 {
        match self {
            Watched::Progress(collector) if collector.is_thinned => collector.len(),
            _ => 0,
        }
    }

    /// Returns the results in the order of the connections.
    pub fn finish(self) -> Collected {
        match self {
            Watched::None => Collected::default(),
            Watched::One(sequence) => {
                Collected { time_sequences: vec![sequence.finish()], ..Collected::default() }
            }
            Watched::All(all) => {
                let time_sequences = all.into_values().map(TimeSequence::finish).collect();
                Collected { time_sequences, ..Collected::default() }
            }
            Watched::Progress(collector) => {
                Collected { stream_progress: collector.finish(), ..Collected::default() }
            }
            Watched::Packets(collector) => {
                Collected { listing: Some(collector.finish()), ..Collected::default() }
            }
        }
    }
}

/// Results about the connections that were watched.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub time_sequences: Vec<TimeSequenceTables>,
    pub stream_progress: Vec<StreamProgress>,
    pub listing: Option<PacketListing>,
}

/// The tables of both directions: only at the end is it known which one carried more data.
#[derive(Debug)]
pub(crate) struct TimeSequence {
    connection: u64,
    begin: Option<Time>,
    directions: [TimeSequenceTables; 2],
}

impl TimeSequence {
    pub fn new(connection: u64) -> Self {
        TimeSequence { connection, begin: None, directions: Default::default() }
    }

    /// Records a packet of the connection.
    pub fn record(&mut self, now: Time, segment: &Segment, effect: &PacketEffect) {
        let from = effect.from;
        let time_s = now.saturating_since(*self.begin.get_or_insert(now)).as_secs();
        if let Some(sent) = effect.sent {
            let (seq, end) = (sent.start, sent.end);
            let points = &mut self.directions[from as usize].sent;
            if sent.revokes_probe
                && let Some(probe) = points.iter_mut().rev().find(|point| point.cause == Cause::Probe)
            {
                probe.cause = Cause::Rto;
            }
            points.push(SentPoint { time_s, seq, end, cause: sent.cause });
        }
        let other = &mut self.directions[from.other() as usize];
        other.acked.extend(effect.ack.map(|ack| (time_s, ack)));
        other.sacked.extend(effect.sack.iter().map(|&(left, right)| (time_s, left, right)));
        let announces_window = segment.flags.ack() && !segment.flags.rst();
        let window = effect.window.known_octets().filter(|_| announces_window);
        let last = other.windows.last().map(|&(_, octets)| octets);
        other.windows.extend(window.filter(|&window| Some(window) != last).map(|window| (time_s, window)));
    }

    fn finish(self) -> TimeSequenceTables {
        let bytes = |direction: &TimeSequenceTables| direction.sent.iter().map(|sent| sent.end).max();
        let [client, server] = self.directions;
        let chosen = if bytes(&client) > bytes(&server) { client } else { server };
        TimeSequenceTables { connection: self.connection, ..chosen }
    }
}
