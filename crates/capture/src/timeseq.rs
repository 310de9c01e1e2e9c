//! One connection in time: what was sent, why, and what was acknowledged. For figures; in memory as long as asked for.

use std::collections::BTreeMap;

use umts_units::Time;

use crate::cause::Cause;
use crate::connection::Seen;

/// A segment of the connection's sender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SentPoint {
    /// Seconds since the connection's first packet, or the capture's.
    pub time_s: f64,
    /// Octets since the first byte of payload.
    pub seq: i64,
    /// After its last octet.
    pub end: i64,
    /// Why it was sent.
    pub cause: Cause,
}

/// Rows of a time-sequence diagram.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TimeSequenceTables {
    /// The connection's number.
    pub connection: u64,
    /// What the sender of the data sent.
    pub sent: Vec<SentPoint>,
    /// Time, and what was acknowledged, in octets since the first byte of payload.
    pub acked: Vec<(f64, i64)>,
    /// Time, and what was acknowledged selectively.
    pub sacked: Vec<(f64, i64, i64)>,
    /// What the client's data begin with, and the server's, as far as payload was shown.
    pub begins: [Vec<u8>; 2],
}

/// Octets of a beginning that are kept: more than what requests and greetings have in common.
const BEGINNING: usize = 512;

/// The connections whose course is collected.
#[derive(Debug, Default)]
pub(crate) enum Watched {
    #[default]
    Nobody,
    /// One, in seconds since its first packet.
    One(Box<TimeSequence>),
    /// Every one, in seconds since the capture's first packet; and the beginning of the payload of the next one.
    All(BTreeMap<u64, TimeSequence>, Vec<u8>),
}

impl Watched {
    /// Whoever collects the course of the connection with this number; the capture's first packet was seen at `first`.
    #[inline]
    pub fn of(&mut self, connection: u64, first: Option<Time>) -> Option<&mut TimeSequence> {
        match self {
            Watched::Nobody => None,
            Watched::One(wanted) => (wanted.connection == connection).then_some(wanted),
            Watched::All(courses, payload) => {
                let begun = || TimeSequence { begin: first, ..TimeSequence::new(connection) };
                let course = courses.entry(connection).or_insert_with(begun);
                course.payload.clear();
                course.payload.append(payload);
                Some(course)
            }
        }
    }

    /// The payload of the packet that is seen next.
    pub fn show(&mut self, payload: &[u8]) {
        if let Watched::All(_, shown) = self {
            shown.clear();
            shown.extend_from_slice(&payload[..payload.len().min(BEGINNING)]);
        }
    }

    /// In the order of the connections.
    pub fn finish(self) -> Vec<TimeSequenceTables> {
        match self {
            Watched::Nobody => Vec::new(),
            Watched::One(wanted) => vec![wanted.finish()],
            Watched::All(courses, _) => courses.into_values().map(TimeSequence::finish).collect(),
        }
    }
}

/// Both directions, until it is known which one carried more.
#[derive(Debug)]
pub(crate) struct TimeSequence {
    connection: u64,
    begin: Option<Time>,
    ways: [TimeSequenceTables; 2],
    /// Of the packet that is seen now.
    payload: Vec<u8>,
    begins: [Vec<u8>; 2],
}

impl TimeSequence {
    pub fn new(connection: u64) -> Self {
        TimeSequence {
            connection,
            begin: None,
            ways: Default::default(),
            payload: Vec::new(),
            begins: Default::default(),
        }
    }

    /// A packet of the connection was seen.
    pub fn seen(&mut self, now: Time, seen: &Seen) {
        let from = seen.from;
        let time_s = now.saturating_since(*self.begin.get_or_insert(now)).as_secs();
        if let Some(sent) = seen.sent {
            let (seq, end) = (sent.start, sent.end);
            self.ways[from as usize].sent.push(SentPoint { time_s, seq, end, cause: sent.cause });
            self.keep_beginning(from as usize, seq);
        }
        let other = &mut self.ways[from.other() as usize];
        other.acked.extend(seen.ack.map(|ack| (time_s, ack)));
        other.sacked.extend(seen.sack.iter().map(|&(left, right)| (time_s, left, right)));
    }

    /// Keeps what the payload adds to the beginning; what leaves a gap adds nothing.
    fn keep_beginning(&mut self, from: usize, seq: i64) {
        let kept = &mut self.begins[from];
        let known = usize::try_from(seq).ok().and_then(|seq| kept.len().checked_sub(seq));
        if let Some(new) = known.and_then(|known| self.payload.get(known..)) {
            let room = BEGINNING.saturating_sub(kept.len());
            kept.extend_from_slice(&new[..new.len().min(room)]);
        }
    }

    fn finish(self) -> TimeSequenceTables {
        let bytes = |way: &TimeSequenceTables| way.sent.iter().map(|sent| sent.end).max();
        let [client, server] = self.ways;
        let chosen = if bytes(&client) > bytes(&server) { client } else { server };
        TimeSequenceTables { connection: self.connection, begins: self.begins, ..chosen }
    }
}
