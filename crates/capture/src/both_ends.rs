//! Two captures of one path, one at each end: every connection as the sender of its data saw it.
//!
//! Round-trip times and data in flight are the sender's own only at the sender. If both ends of a
//! network send data, no single capture has this for all connections. So the captures are read
//! twice: first to find the side of the sender of each connection, then to analyse each packet from
//! the capture of that side.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs::File;
use std::net::IpAddr;
use std::path::Path;

use umts_units::Time;

use crate::analyser::{Analyser, Analysis};
use crate::ends::Ends;
use crate::packet::{Packet, Protocol};
use crate::reader::ReadError;
use crate::reader_thread::{Batch, End, Next, Reading, Record};

/// Analyses two captures of the same packets, taken with the same clock at the two ends of all
/// connections. Connections are left out if `is_wanted` returns false for their addresses. With
/// `courses`, the time-sequence tables of every other connection are collected, in seconds since
/// the first packet.
///
/// # Errors
/// As [`analyse_file`](crate::reader::analyse_file), except for standard input. A file that is cut
/// off or damaged is analysed up to that point.
pub fn analyse_both_ends(
    captures: [&Path; 2],
    courses: bool,
    is_wanted: impl Fn(IpAddr, IpAddr) -> bool,
) -> Result<Analysis, ReadError> {
    let mut known: HashMap<Ends, Known> = HashMap::new();
    for (side, path) in captures.into_iter().enumerate() {
        let mut records = Records::open(path)?;
        while let Some(record) = records.next()? {
            if record.read == Ok(Protocol::Tcp) {
                let ends = record.packet.ends;
                let begun = || Known {
                    is_wanted: is_wanted(ends.0.socket_address().ip(), ends.1.socket_address().ip()),
                    ..Known::default()
                };
                known.entry(ends).or_insert_with(begun).notes(side, record.time, &record.packet);
            }
        }
    }
    let mut analyser = Analyser::new();
    if courses {
        analyser = analyser.with_all_time_sequences();
    }
    let [first, second] = captures;
    let mut records = [Records::open(first)?, Records::open(second)?];
    let mut next = [None, None];
    for (next, records) in next.iter_mut().zip(&mut records) {
        *next = records.next()?;
    }
    while let Some(side) = earlier(&next) {
        if let Some(Record { time, length, read, packet }) = next[side].take() {
            // Packets other than TCP are counted once, from the first capture.
            let wanted = if read == Ok(Protocol::Tcp) { known[&packet.ends].senders_side() } else { Some(0) };
            if wanted == Some(side) {
                analyser.read(time, length, read, &packet);
            }
        }
        next[side] = records[side].next()?;
    }
    Ok(analyser.finish())
}

/// Returns the side of the earlier record, or the first side if both have the same time.
fn earlier(next: &[Option<Record>; 2]) -> Option<usize> {
    match next {
        [None, None] => None,
        [Some(_), None] => Some(0),
        [None, Some(_)] => Some(1),
        [Some(a), Some(b)] => Some(usize::from(a.time.cmp(&b.time) == Ordering::Greater)),
    }
}

/// The facts about a connection from both captures.
#[derive(Debug, Default)]
struct Known {
    is_wanted: bool,
    /// First packet at each side: its time, and whether it is from the first of the ends.
    first: [Option<(Time, bool)>; 2],
    /// Octets of payload at each side, from the second of the ends and from the first.
    payload: [[u64; 2]; 2],
}

impl Known {
    fn notes(&mut self, side: usize, now: Time, packet: &Packet) {
        self.first[side].get_or_insert((now, packet.is_from_first));
        self.payload[side][usize::from(packet.is_from_first)] += u64::from(packet.segment.payload);
    }

    /// Returns the side of the end that sends more, if the connection is wanted. The end that sent
    /// the very first packet is at the side where that packet was captured first.
    fn senders_side(&self) -> Option<usize> {
        let [here, there] = self.first;
        let is_there = match (here, there) {
            (Some((here, _)), Some((there, _))) => there < here,
            (here, _) => here.is_none(),
        };
        let opener_is_first =
            (if is_there { there } else { here }).is_some_and(|(_, is_from_first)| is_from_first);
        let sent = |end: usize| self.payload.iter().map(|side| side[end]).max();
        let sender_is_first = sent(1) > sent(0);
        self.is_wanted.then(|| usize::from(is_there == (sender_is_first == opener_is_first)))
    }
}

/// Iterates over the packets of a capture.
struct Records<'a> {
    path: &'a Path,
    reading: Reading,
    batch: Option<Batch>,
    at: usize,
}

impl<'a> Records<'a> {
    fn open(path: &'a Path) -> Result<Self, ReadError> {
        let refused =
            |error: std::io::Error| ReadError { path: path.to_owned(), offset: 0, reason: error.into() };
        let reading = Reading::start(File::open(path).map_err(refused)?);
        Ok(Records { path, reading, batch: None, at: 0 })
    }

    fn next(&mut self) -> Result<Option<Record>, ReadError> {
        loop {
            if let Some(batch) = self.batch.take() {
                if let Some(record) = batch.records().get(self.at).copied() {
                    self.at += 1;
                    self.batch = Some(batch);
                    return Ok(Some(record));
                }
                self.reading.give_back(batch);
            }
            match self.reading.next() {
                Next::Batch(batch) => (self.batch, self.at) = (Some(batch), 0),
                Next::Nothing => {}
                Next::End(End { ending: Ok(_), .. }) => return Ok(None),
                Next::End(End { ending: Err(reason), offset, .. }) => {
                    return Err(ReadError { path: self.path.to_owned(), offset, reason });
                }
            }
        }
    }
}
