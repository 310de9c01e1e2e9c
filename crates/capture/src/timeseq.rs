//! Time-sequence tables of a connection: the segments sent, their causes, and the acknowledgments.
//! Memory grows with the connections that are collected.

use std::collections::BTreeMap;

use umts_units::Time;

use crate::cause::Cause;
use crate::connection::PacketEffect;
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
}

/// A collector of the packets of a connection.
pub(crate) enum Watcher<'a> {
    TimeSequence(&'a mut TimeSequence),
    Progress(&'a mut ProgressCollector, u64),
}

impl Watcher<'_> {
    /// Adds a packet of the watched connection.
    pub fn record(self, now: Time, effect: &PacketEffect) {
        match self {
            Watcher::TimeSequence(sequence) => sequence.record(now, effect),
            Watcher::Progress(collector, connection) => collector.record(now, connection, effect),
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
        }
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
    pub fn finish(self) -> (Vec<TimeSequenceTables>, Vec<StreamProgress>) {
        match self {
            Watched::None => (Vec::new(), Vec::new()),
            Watched::One(sequence) => (vec![sequence.finish()], Vec::new()),
            Watched::All(all) => (all.into_values().map(TimeSequence::finish).collect(), Vec::new()),
            Watched::Progress(collector) => (Vec::new(), collector.finish()),
        }
    }
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
    pub fn record(&mut self, now: Time, effect: &PacketEffect) {
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
    }

    fn finish(self) -> TimeSequenceTables {
        let bytes = |direction: &TimeSequenceTables| direction.sent.iter().map(|sent| sent.end).max();
        let [client, server] = self.directions;
        let chosen = if bytes(&client) > bytes(&server) { client } else { server };
        TimeSequenceTables { connection: self.connection, ..chosen }
    }
}
