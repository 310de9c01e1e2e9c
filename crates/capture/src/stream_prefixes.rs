//! Courses of connections: the progress of the data and of the acknowledgments over time, and the
//! first octets of the data. Used for captures of both sides of a proxy, whose connections are
//! paired by these octets.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use umts_units::Time;

use crate::analyser::{Analyser, Analysis};
use crate::blocks::{Blocks, Captured, Ending};
use crate::connection::Seen;
use crate::headers::parse;
use crate::order::TimeWindow;
use crate::packet::{Packet, Protocol, Skipped};
use crate::reader::{ReadError, Reason, damage};
use crate::reader_thread::moved;

/// Interval of progress reports, in octets of the file.
const STEP: u64 = 8 << 20;
/// Number of first octets that are kept: more than the common beginning of all requests or
/// greetings.
const BEGINNING: usize = 512;
/// Maximum number of steps of all courses together: 64 MiB.
const MOST_STEPS: usize = 4 << 20;

/// The time at which a number of octets was first reached, and that number.
pub type CourseStep = (Time, i64);

/// The progress of the data of a connection, and of their acknowledgments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Course {
    /// The connection's number.
    pub connection: u64,
    /// Octets that the sender had sent. A FIN counts as an octet.
    pub sent: Vec<CourseStep>,
    /// Octets that were acknowledged.
    pub acked: Vec<CourseStep>,
    /// First octets of the client's data, and of the server's.
    pub begins: [Vec<u8>; 2],
}

/// Analyses a file with the courses of the first `most_connections`. `progress` is called with the
/// fraction of the file that has been read, from 0 to 1; `Break` stops the analysis.
///
/// # Errors
/// As [`analyse_file`](crate::reader::analyse_file), except for standard input.
pub fn analyse_courses(
    path: &Path,
    most_connections: usize,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Analysis, ReadError> {
    let error = |offset: u64, reason: Reason| ReadError { path: path.to_owned(), offset, reason };
    let file = File::open(path).map_err(|source| error(0, source.into()))?;
    let size = file.metadata().map_err(|source| error(0, source.into()))?.len();
    let mut blocks = Blocks::open(file).map_err(|reason| error(0, reason))?;
    let mut analyser = Analyser::new().with_limit(most_connections).with_courses(most_connections);
    let mut window = TimeWindow::new(Shown::default);
    let mut reported = 0;
    let ending: Ending = loop {
        if window.is_full() {
            window.pop().expect("a full window has packets").analyse(&mut analyser);
        }
        let ended = blocks.next(|captured| {
            window.next_slot().read(&captured);
            window.push(captured.time);
        });
        if let Some(ending) = ended.map_err(|reason| error(blocks.offset(), reason))? {
            break ending;
        }
        if blocks.offset() - reported >= STEP {
            reported = blocks.offset();
            if progress((blocks.position() as f64 / size.max(1) as f64).min(1.0)).is_break() {
                return Err(error(reported, Reason::Stopped));
            }
        }
    };
    while let Some(shown) = window.pop() {
        shown.analyse(&mut analyser);
    }
    let mut warnings: Vec<String> = damage(ending, blocks.offset()).into_iter().collect();
    warnings.extend(blocks.warnings().chain(moved(window.moved)));
    let mut analysis = analyser.finish();
    analysis.warnings.splice(0..0, warnings);
    Ok(analysis)
}

/// A packet with the beginning of its payload.
struct Shown {
    time: Time,
    length: u32,
    read: Result<Protocol, Skipped>,
    packet: Packet,
    payload: Vec<u8>,
}

impl Default for Shown {
    fn default() -> Self {
        let read = Err(Skipped::Short);
        Shown { time: Time::ZERO, length: 0, read, packet: Packet::default(), payload: Vec::new() }
    }
}

impl Shown {
    fn read(&mut self, captured: &Captured<'_>) {
        (self.time, self.length) = (captured.time, captured.length);
        self.read = parse(captured.link, captured.bytes, captured.length, &mut self.packet);
        self.payload.clear();
        if self.read.is_ok() {
            let payload = payload(captured.bytes, &self.packet);
            self.payload.extend_from_slice(&payload[..payload.len().min(BEGINNING)]);
        }
    }

    fn analyse(&self, analyser: &mut Analyser) {
        analyser.show(&self.payload);
        analyser.read(self.time, self.length, self.read, &self.packet);
    }
}

/// Returns the captured payload of a packet that could be parsed.
fn payload<'a>(bytes: &'a [u8], packet: &Packet) -> &'a [u8] {
    let start = packet.payload_at as usize;
    let end = start.saturating_add(packet.segment.payload as usize);
    bytes.get(start..end.min(bytes.len())).unwrap_or_default()
}

/// The courses of the first connections of a capture, in bounded memory.
#[derive(Debug)]
pub(crate) struct Courses {
    of: BTreeMap<u64, Ways>,
    most_connections: u64,
    /// First octets of the payload of the next packet.
    payload: Vec<u8>,
    steps: usize,
    most_steps: usize,
    /// Steps were removed to bound memory.
    pub is_thinned: bool,
}

/// Both directions, until the end shows which one carried more.
#[derive(Debug, Default)]
struct Ways {
    sent: [Vec<CourseStep>; 2],
    acked: [Vec<CourseStep>; 2],
    begins: [Vec<u8>; 2],
}

impl Courses {
    pub fn new(most_connections: usize) -> Self {
        Courses {
            of: BTreeMap::new(),
            most_connections: most_connections as u64,
            payload: Vec::new(),
            steps: 0,
            most_steps: MOST_STEPS,
            is_thinned: false,
        }
    }

    pub fn len(&self) -> u64 {
        self.of.len() as u64
    }

    pub fn show(&mut self, payload: &[u8]) {
        self.payload.clear();
        self.payload.extend_from_slice(payload);
    }

    pub fn seen(&mut self, now: Time, connection: u64, seen: &Seen) {
        if connection >= self.most_connections {
            return;
        }
        let ways = self.of.entry(connection).or_default();
        let from = seen.from;
        if let Some(sent) = seen.sent {
            self.steps += usize::from(rise(&mut ways.sent[from as usize], now, sent.end));
            keep_beginning(&mut ways.begins[from as usize], sent.start, &self.payload);
        }
        if let Some(ack) = seen.ack {
            self.steps += usize::from(rise(&mut ways.acked[from.other() as usize], now, ack));
        }
        if self.steps > self.most_steps {
            self.thin();
        }
    }

    /// Removes every second step of each course except the last. The other steps are unchanged.
    #[cold]
    fn thin(&mut self) {
        self.is_thinned = true;
        self.steps = 0;
        for ways in self.of.values_mut() {
            for course in ways.sent.iter_mut().chain(&mut ways.acked) {
                let last = course.len().saturating_sub(1);
                let mut place = 0;
                course.retain(|_| {
                    place += 1;
                    place % 2 == 1 || place - 1 == last
                });
                course.shrink_to_fit();
                self.steps += course.len();
            }
        }
        // Courses of two steps cannot be thinned, and there may be one for each connection.
        if self.steps > self.most_steps / 4 * 3 {
            self.most_steps = 2 * self.steps;
        }
    }

    /// Returns the courses in the order of the connections.
    pub fn finish(self) -> Vec<Course> {
        self.of.into_iter().map(|(connection, ways)| ways.finish(connection)).collect()
    }
}

impl Ways {
    fn finish(self, connection: u64) -> Course {
        let reached = |course: &Vec<CourseStep>| course.last().map(|&(_, octets)| octets);
        let [client, server] = self.sent;
        let [of_client, of_server] = self.acked;
        let is_of_client = reached(&client) > reached(&server);
        let (sent, acked) = if is_of_client { (client, of_client) } else { (server, of_server) };
        Course { connection, sent, acked, begins: self.begins }
    }
}

/// Adds a step if `octets` exceeds all earlier steps. Returns whether it does.
fn rise(course: &mut Vec<CourseStep>, now: Time, octets: i64) -> bool {
    let rises = octets > course.last().map_or(0, |&(_, octets)| octets);
    if rises {
        course.push((now, octets));
    }
    rises
}

/// Appends the octets of the payload that continue `kept`. A payload behind a gap adds nothing.
fn keep_beginning(kept: &mut Vec<u8>, seq: i64, payload: &[u8]) {
    let known = usize::try_from(seq).ok().and_then(|seq| kept.len().checked_sub(seq));
    if let Some(new) = known.and_then(|known| payload.get(known..)) {
        let room = BEGINNING.saturating_sub(kept.len());
        kept.extend_from_slice(&new[..new.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::Cause;
    use crate::connection::Side;
    use crate::half_connection::SentAs;
    use crate::link::LinkType;

    /// Returns a segment over IPv4 with this number of octets of options and this payload, for
    /// Ethernet after its header.
    fn packet(link: LinkType, options: usize, payload: &[u8]) -> Vec<u8> {
        let mut bytes = match link {
            LinkType::Ethernet => [&[0; 12][..], &[8, 0]].concat(),
            _ => Vec::new(),
        };
        let total = (40 + options + payload.len()) as u16;
        bytes.extend([0x45, 0]);
        bytes.extend(total.to_be_bytes());
        bytes.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([0, 1, 0, 2, 0, 0, 0, 9, 0, 0, 0, 7]);
        bytes.extend([(5 + options as u8 / 4) << 4, 0x10, 1, 1, 0, 0, 0, 0]);
        bytes.extend(vec![1; options]);
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn payload_excludes_headers_and_padding() {
        for link in [LinkType::Ethernet, LinkType::Raw] {
            for (options, content) in [(0, &b"octets"[..]), (12, b"octets"), (12, b"")] {
                let mut bytes = packet(link, options, content);
                bytes.extend([0; 9]);
                let mut found = Packet::default();
                parse(link, &bytes, bytes.len() as u32, &mut found).expect("it is right");
                assert_eq!(payload(&bytes, &found), content);
                let cut = &bytes[..bytes.len() - 9 - content.len() / 2];
                parse(link, cut, bytes.len() as u32, &mut found).expect("it is right");
                assert_eq!(payload(cut, &found), &content[..content.len() - content.len() / 2]);
            }
        }
    }

    #[test]
    fn steps_of_all_courses_are_bounded() {
        let mut courses = Courses { most_steps: 1000, ..Courses::new(10) };
        for number in 0..100_000 {
            let sent = SentAs { start: number, end: number + 1, cause: Cause::New, takes_probe_back: false };
            let seen = Seen { from: Side::Server, sent: Some(sent), ack: None, sack: Vec::new() };
            courses.seen(Time::from_nanos(number as u64), number as u64 % 20, &seen);
        }
        assert!(courses.is_thinned && courses.steps <= 1000, "{}", courses.steps);
        let found = courses.finish();
        assert_eq!(found.len(), 10, "connections beyond the limit have no course");
        for course in found {
            assert!(course.sent.iter().all(|&(at, octets)| at.as_nanos() as i64 == octets - 1));
            assert!(course.sent.len() > 20 && course.sent.last().is_some_and(|step| step.1 > 99_900));
        }
    }
}
