//! Time-sequence tables of a connection: the segments sent, their causes, and the acknowledgments.
//! Memory grows with the connections that are collected.

use std::collections::BTreeMap;

use umts_units::Time;

use crate::cause::Cause;
use crate::connection::Seen;
use crate::stream_prefixes::{Course, Courses};

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
    /// Courses of the first connections.
    Courses(Box<Courses>),
}

/// A collector of the packets of a connection.
pub(crate) enum Watcher<'a> {
    Figure(&'a mut TimeSequence),
    Course(&'a mut Courses, u64),
}

impl Watcher<'_> {
    pub fn seen(self, now: Time, seen: &Seen) {
        match self {
            Watcher::Figure(sequence) => sequence.seen(now, seen),
            Watcher::Course(courses, connection) => courses.seen(now, connection, seen),
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
            Watched::One(wanted) => {
                (wanted.connection == connection).then_some(Watcher::Figure(wanted.as_mut()))
            }
            Watched::All(all) => {
                let begun = || TimeSequence { begin: first, ..TimeSequence::new(connection) };
                Some(Watcher::Figure(all.entry(connection).or_insert_with(begun)))
            }
            Watched::Courses(courses) => Some(Watcher::Course(courses, connection)),
        }
    }

    /// Sets the payload of the next packet.
    pub fn show(&mut self, payload: &[u8]) {
        if let Watched::Courses(courses) = self {
            courses.show(payload);
        }
    }

    /// Returns the number of connections with courses, if steps were removed from the courses.
    pub fn thinned(&self) -> u64 {
        match self {
            Watched::Courses(courses) if courses.is_thinned => courses.len(),
            _ => 0,
        }
    }

    /// Returns the results in the order of the connections.
    pub fn finish(self) -> (Vec<TimeSequenceTables>, Vec<Course>) {
        match self {
            Watched::None => (Vec::new(), Vec::new()),
            Watched::One(wanted) => (vec![wanted.finish()], Vec::new()),
            Watched::All(all) => (all.into_values().map(TimeSequence::finish).collect(), Vec::new()),
            Watched::Courses(courses) => (Vec::new(), courses.finish()),
        }
    }
}

/// Both directions, until the end shows which one carried more.
#[derive(Debug)]
pub(crate) struct TimeSequence {
    connection: u64,
    begin: Option<Time>,
    ways: [TimeSequenceTables; 2],
}

impl TimeSequence {
    pub fn new(connection: u64) -> Self {
        TimeSequence { connection, begin: None, ways: Default::default() }
    }

    /// Records a packet of the connection.
    pub fn seen(&mut self, now: Time, seen: &Seen) {
        let from = seen.from;
        let time_s = now.saturating_since(*self.begin.get_or_insert(now)).as_secs();
        if let Some(sent) = seen.sent {
            let (seq, end) = (sent.start, sent.end);
            let points = &mut self.ways[from as usize].sent;
            if sent.takes_probe_back
                && let Some(probe) = points.iter_mut().rev().find(|point| point.cause == Cause::Probe)
            {
                probe.cause = Cause::Rto;
            }
            points.push(SentPoint { time_s, seq, end, cause: sent.cause });
        }
        let other = &mut self.ways[from.other() as usize];
        other.acked.extend(seen.ack.map(|ack| (time_s, ack)));
        other.sacked.extend(seen.sack.iter().map(|&(left, right)| (time_s, left, right)));
    }

    fn finish(self) -> TimeSequenceTables {
        let bytes = |way: &TimeSequenceTables| way.sent.iter().map(|sent| sent.end).max();
        let [client, server] = self.ways;
        let chosen = if bytes(&client) > bytes(&server) { client } else { server };
        TimeSequenceTables { connection: self.connection, ..chosen }
    }
}
