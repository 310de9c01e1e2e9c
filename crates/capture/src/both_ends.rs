//! Two captures of one path, one at each end: every connection as the sender of its data saw it.
//!
//! Round-trip times and data in flight are the sender's own only at the sender. If both ends of a
//! network send data, no single capture has this for all connections. So the captures are read
//! twice: first to find the side of the sender of each connection, then to analyse each packet from
//! the capture of that side.

use std::collections::HashMap;
use std::fs::File;
use std::net::IpAddr;
use std::path::Path;

use umts_units::Time;

use crate::analyser::{Analyser, Analysis};
use crate::ends::Ends;
use crate::packet::{Packet, Protocol};
use crate::reader::ReadError;
use crate::reader_thread::{Batch, End, ReaderOutput, ReaderThread, Record};

/// Analyses two captures of the same packets, taken with the same clock at the two ends of all
/// connections. Connections are left out if `is_wanted` returns false for their addresses. If
/// `with_time_sequences`, the time-sequence tables of all connections that are analysed are
/// collected, in seconds since the first packet.
///
/// # Errors
/// As [`analyse_file`](crate::reader::analyse_file), except for standard input. A file that is cut
/// off or damaged is analysed up to that point.
pub fn analyse_both_ends(
    captures: [&Path; 2],
    with_time_sequences: bool,
    is_wanted: impl Fn(IpAddr, IpAddr) -> bool,
) -> Result<Analysis, ReadError> {
    let mut facts: HashMap<Ends, ConnectionFacts> = HashMap::new();
    for (side, path) in captures.into_iter().enumerate() {
        let mut records = Records::open(path)?;
        while let Some(record) = records.next()? {
            if record.parsed == Ok(Protocol::Tcp) {
                let ends = record.packet.ends;
                let new_entry = || ConnectionFacts {
                    is_wanted: is_wanted(ends.0.socket_address().ip(), ends.1.socket_address().ip()),
                    ..ConnectionFacts::default()
                };
                facts.entry(ends).or_insert_with(new_entry).record(side, record.time, &record.packet);
            }
        }
    }
    let mut analyser = Analyser::new();
    if with_time_sequences {
        analyser = analyser.with_all_time_sequences();
    }
    let [first, second] = captures;
    let mut records = [Records::open(first)?, Records::open(second)?];
    let mut next = [None, None];
    for (next, records) in next.iter_mut().zip(&mut records) {
        *next = records.next()?;
    }
    while let Some(side) = earlier(&next) {
        if let Some(Record { time, length, parsed, packet }) = next[side].take() {
            // Packets other than TCP are counted once, from the first capture.
            let senders_side =
                if parsed == Ok(Protocol::Tcp) { facts[&packet.ends].senders_side() } else { Some(0) };
            if senders_side == Some(side) {
                analyser.process_parsed(time, length, parsed, &packet);
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
        [Some(first), Some(second)] => Some(usize::from(first.time > second.time)),
    }
}

/// The first packet of a connection in one capture.
#[derive(Debug, Clone, Copy)]
struct FirstPacket {
    time: Time,
    is_from_first: bool,
}

/// Facts about a connection from both captures.
#[derive(Debug, Default)]
struct ConnectionFacts {
    is_wanted: bool,
    /// First packet at each side.
    first: [Option<FirstPacket>; 2],
    /// Octets of payload at each side, from the second of the ends and from the first.
    payload: [[u64; 2]; 2],
}

impl ConnectionFacts {
    fn record(&mut self, side: usize, now: Time, packet: &Packet) {
        self.first[side].get_or_insert(FirstPacket { time: now, is_from_first: packet.is_from_first });
        self.payload[side][usize::from(packet.is_from_first)] += u64::from(packet.segment.payload);
    }

    /// Returns the side of the end that sends more, if the connection is wanted. The end that sent
    /// the very first packet is at the side where that packet was captured first.
    fn senders_side(&self) -> Option<usize> {
        if !self.is_wanted {
            return None;
        }
        let openers_side = match self.first {
            [Some(at_first), Some(at_second)] => usize::from(at_second.time < at_first.time),
            [at_first, _] => usize::from(at_first.is_none()),
        };
        let opener_is_first = self.first[openers_side].is_some_and(|packet| packet.is_from_first);
        let sent = |end: usize| self.payload.iter().map(|side| side[end]).max();
        let sender_is_first = sent(1) > sent(0);
        let other_side = 1 - openers_side;
        Some(if sender_is_first == opener_is_first { openers_side } else { other_side })
    }
}

/// Iterates over the packets of a capture.
struct Records<'a> {
    path: &'a Path,
    reader: ReaderThread,
    batch: Option<Batch>,
    at: usize,
}

impl<'a> Records<'a> {
    fn open(path: &'a Path) -> Result<Self, ReadError> {
        let open_error =
            |error: std::io::Error| ReadError { path: path.to_owned(), offset: 0, reason: error.into() };
        let reader = ReaderThread::start(File::open(path).map_err(open_error)?);
        Ok(Records { path, reader, batch: None, at: 0 })
    }

    /// Returns the next record, or `None` at the end of the file. Waits for the reader's next
    /// batch.
    fn next(&mut self) -> Result<Option<Record>, ReadError> {
        loop {
            if let Some(batch) = self.batch.take() {
                if let Some(record) = batch.records().get(self.at).copied() {
                    self.at += 1;
                    self.batch = Some(batch);
                    return Ok(Some(record));
                }
                self.reader.recycle(batch);
            }
            match self.reader.next() {
                ReaderOutput::Batch(batch) => (self.batch, self.at) = (Some(batch), 0),
                ReaderOutput::Pending => {}
                ReaderOutput::End(End { ending: Ok(_), .. }) => return Ok(None),
                ReaderOutput::End(End { ending: Err(reason), offset, .. }) => {
                    return Err(ReadError { path: self.path.to_owned(), offset, reason });
                }
            }
        }
    }
}
