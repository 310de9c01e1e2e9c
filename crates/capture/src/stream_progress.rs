//! Progress of the data and of the acknowledgments of connections over time, and the first octets
//! of the data. Used for captures of both sides of a proxy, which carry the same data on two
//! connections: the first octets show which connections belong together.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use umts_units::Time;

use crate::analyser::{Analyser, Analysis};
use crate::blocks::{Blocks, Captured, Ending};
use crate::connection::PacketEffect;
use crate::headers::parse;
use crate::order::TimeWindow;
use crate::packet::{Packet, Protocol, SkipReason};
use crate::reader::{ReadError, Reason, damage_warning};
use crate::reader_thread::reordering_warning;

/// Interval of progress reports, in octets of the file.
const PROGRESS_INTERVAL: u64 = 8 << 20;
/// Number of first octets of each direction that are recorded: more than the common beginning of
/// all requests or greetings.
const PREFIX_OCTETS: usize = 512;
/// Maximum number of steps of all connections together: 64 MiB.
const MAX_STEPS: usize = 4 << 20;

/// The time at which a number of octets was first reached, and that number.
pub type ProgressStep = (Time, i64);

/// The progress of the data of a connection, and of their acknowledgments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamProgress {
    /// The connection's number.
    pub connection: u64,
    /// Octets that the sender had sent. A FIN counts as an octet.
    pub sent: Vec<ProgressStep>,
    /// Octets that were acknowledged.
    pub acked: Vec<ProgressStep>,
    /// First octets of the client's data, and of the server's.
    pub prefixes: [Vec<u8>; 2],
}

/// Analyses a file, and collects the progress of the first `max_connections` connections.
/// `progress` is called with the fraction of the file that has been read, from 0 to 1; `Break`
/// stops the analysis.
///
/// # Errors
/// As [`analyse_file`](crate::reader::analyse_file), except for standard input.
pub fn analyse_stream_progress(
    path: &Path,
    max_connections: usize,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Analysis, ReadError> {
    let error = |offset: u64, reason: Reason| ReadError { path: path.to_owned(), offset, reason };
    let file = File::open(path).map_err(|source| error(0, source.into()))?;
    let size = file.metadata().map_err(|source| error(0, source.into()))?.len();
    let mut blocks = Blocks::open(file).map_err(|reason| error(0, reason))?;
    let mut analyser = Analyser::new().with_limit(max_connections).with_stream_progress(max_connections);
    let mut window = TimeWindow::new(PacketWithPayload::default);
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
        if blocks.offset() - reported >= PROGRESS_INTERVAL {
            reported = blocks.offset();
            if progress((blocks.position() as f64 / size.max(1) as f64).min(1.0)).is_break() {
                return Err(error(reported, Reason::Stopped));
            }
        }
    };
    while let Some(packet) = window.pop() {
        packet.analyse(&mut analyser);
    }
    let mut warnings: Vec<String> = damage_warning(ending, blocks.offset()).into_iter().collect();
    warnings.extend(blocks.warnings().chain(reordering_warning(window.moved)));
    let mut analysis = analyser.finish();
    analysis.warnings.splice(0..0, warnings);
    Ok(analysis)
}

/// A packet with the first octets of its payload.
struct PacketWithPayload {
    time: Time,
    length: u32,
    parsed: Result<Protocol, SkipReason>,
    packet: Packet,
    payload: Vec<u8>,
}

impl Default for PacketWithPayload {
    fn default() -> Self {
        let parsed = Err(SkipReason::Short);
        PacketWithPayload {
            time: Time::ZERO,
            length: 0,
            parsed,
            packet: Packet::default(),
            payload: Vec::new(),
        }
    }
}

impl PacketWithPayload {
    fn read(&mut self, captured: &Captured<'_>) {
        (self.time, self.length) = (captured.time, captured.length);
        self.parsed = parse(captured.link, captured.bytes, captured.length, &mut self.packet);
        self.payload.clear();
        if self.parsed.is_ok() {
            let payload = payload(captured.bytes, &self.packet);
            self.payload.extend_from_slice(&payload[..payload.len().min(PREFIX_OCTETS)]);
        }
    }

    /// Passes the packet to the analyser.
    fn analyse(&self, analyser: &mut Analyser) {
        analyser.set_payload(&self.payload);
        analyser.process_parsed(self.time, self.length, self.parsed, &self.packet);
    }
}

/// Returns the captured payload of a packet that could be parsed.
fn payload<'a>(bytes: &'a [u8], packet: &Packet) -> &'a [u8] {
    let start = packet.payload_at as usize;
    let end = start.saturating_add(packet.segment.payload as usize);
    bytes.get(start..end.min(bytes.len())).unwrap_or_default()
}

/// Collects the progress of the first connections of a capture, in bounded memory.
#[derive(Debug)]
pub(crate) struct ProgressCollector {
    by_connection: BTreeMap<u64, Directions>,
    max_connections: u64,
    /// First octets of the payload of the next packet.
    payload: Vec<u8>,
    /// Number of steps of all connections.
    steps: usize,
    max_steps: usize,
    /// Steps were removed to bound memory.
    pub is_thinned: bool,
}

/// The progress of both directions: only at the end is it known which one carried more data.
#[derive(Debug, Default)]
struct Directions {
    sent: [Vec<ProgressStep>; 2],
    acked: [Vec<ProgressStep>; 2],
    prefixes: [Vec<u8>; 2],
}

impl ProgressCollector {
    pub fn new(max_connections: usize) -> Self {
        ProgressCollector {
            by_connection: BTreeMap::new(),
            max_connections: max_connections as u64,
            payload: Vec::new(),
            steps: 0,
            max_steps: MAX_STEPS,
            is_thinned: false,
        }
    }

    pub fn len(&self) -> u64 {
        self.by_connection.len() as u64
    }

    /// Sets the first octets of the payload of the next packet.
    pub fn set_payload(&mut self, payload: &[u8]) {
        self.payload.clear();
        self.payload.extend_from_slice(payload);
    }

    /// Records a packet of a connection.
    pub fn record(&mut self, now: Time, connection: u64, effect: &PacketEffect) {
        if connection >= self.max_connections {
            return;
        }
        let directions = self.by_connection.entry(connection).or_default();
        let from = effect.from;
        if let Some(sent) = effect.sent {
            self.steps += usize::from(add_step(&mut directions.sent[from as usize], now, sent.end));
            extend_prefix(&mut directions.prefixes[from as usize], sent.start, &self.payload);
        }
        if let Some(ack) = effect.ack {
            self.steps += usize::from(add_step(&mut directions.acked[from.other() as usize], now, ack));
        }
        if self.steps > self.max_steps {
            self.thin();
        }
    }

    /// Removes every second step of each direction, except the last. The other steps are unchanged.
    #[cold]
    fn thin(&mut self) {
        self.is_thinned = true;
        self.steps = 0;
        for directions in self.by_connection.values_mut() {
            for steps in directions.sent.iter_mut().chain(&mut directions.acked) {
                let last = steps.len().saturating_sub(1);
                let mut index = 0;
                steps.retain(|_| {
                    index += 1;
                    index % 2 == 1 || index - 1 == last
                });
                steps.shrink_to_fit();
                self.steps += steps.len();
            }
        }
        // Two steps cannot be thinned, and each connection may have two.
        if self.steps > self.max_steps / 4 * 3 {
            self.max_steps = 2 * self.steps;
        }
    }

    /// Returns the progress in the order of the connections.
    pub fn finish(self) -> Vec<StreamProgress> {
        self.by_connection.into_iter().map(|(connection, directions)| directions.finish(connection)).collect()
    }
}

impl Directions {
    /// Returns the progress of the direction that carried more data.
    fn finish(self, connection: u64) -> StreamProgress {
        let octets_reached = |steps: &Vec<ProgressStep>| steps.last().map(|&(_, octets)| octets);
        let [sent_by_client, sent_by_server] = self.sent;
        let [acked_of_client, acked_of_server] = self.acked;
        let (sent, acked) = if octets_reached(&sent_by_client) > octets_reached(&sent_by_server) {
            (sent_by_client, acked_of_client)
        } else {
            (sent_by_server, acked_of_server)
        };
        StreamProgress { connection, sent, acked, prefixes: self.prefixes }
    }
}

/// Adds a step if `octets` exceeds all earlier steps. Returns whether it does.
fn add_step(steps: &mut Vec<ProgressStep>, now: Time, octets: i64) -> bool {
    let is_progress = octets > steps.last().map_or(0, |&(_, octets)| octets);
    if is_progress {
        steps.push((now, octets));
    }
    is_progress
}

/// Appends the octets of the payload that continue `prefix`. A payload behind a gap adds nothing.
fn extend_prefix(prefix: &mut Vec<u8>, seq: i64, payload: &[u8]) {
    let overlap = usize::try_from(seq).ok().and_then(|seq| prefix.len().checked_sub(seq));
    if let Some(new) = overlap.and_then(|overlap| payload.get(overlap..)) {
        let room = PREFIX_OCTETS.saturating_sub(prefix.len());
        prefix.extend_from_slice(&new[..new.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::Cause;
    use crate::connection::Side;
    use crate::half_connection::AnnouncedWindow;
    use crate::half_connection::ClassifiedSegment;
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
        const PADDING: usize = 9;
        for link in [LinkType::Ethernet, LinkType::Raw] {
            for (options, content) in [(0, &b"octets"[..]), (12, b"octets"), (12, b"")] {
                let mut bytes = packet(link, options, content);
                bytes.extend([0; PADDING]);
                let mut parsed = Packet::default();
                parse(link, &bytes, bytes.len() as u32, &mut parsed).expect("the packet can be parsed");
                assert_eq!(payload(&bytes, &parsed), content);
                // The capture is cut in the middle of the payload.
                let cut = &bytes[..bytes.len() - PADDING - content.len() / 2];
                parse(link, cut, bytes.len() as u32, &mut parsed).expect("the packet can be parsed");
                assert_eq!(payload(cut, &parsed), &content[..content.len() - content.len() / 2]);
            }
        }
    }

    /// Twenty connections send an octet each in turn; the first ten are collected, with at most
    /// 1,000 steps together. Octet `number` leaves at `number` ns.
    #[test]
    fn steps_of_all_connections_are_bounded() {
        let mut collector = ProgressCollector { max_steps: 1000, ..ProgressCollector::new(10) };
        for number in 0..100_000 {
            let sent =
                ClassifiedSegment { start: number, end: number + 1, cause: Cause::New, revokes_probe: false };
            let effect = PacketEffect {
                from: Side::Server,
                sent: Some(sent),
                ack: None,
                sack: Vec::new(),
                window: AnnouncedWindow { octets: 0, is_scaled: false },
                duplicates: 0,
            };
            collector.record(Time::from_nanos(number as u64), number as u64 % 20, &effect);
        }
        assert!(collector.is_thinned && collector.steps <= 1000, "{}", collector.steps);
        let collected = collector.finish();
        assert_eq!(collected.len(), 10, "connections beyond the limit have no progress");
        for progress in collected {
            assert!(progress.sent.iter().all(|&(at, octets)| at.as_nanos() as i64 == octets - 1));
            assert!(progress.sent.len() > 20);
            assert!(progress.sent.last().is_some_and(|&(_, octets)| octets > 99_900));
        }
    }
}
