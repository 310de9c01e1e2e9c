//! Writes a pcap file of synthetic TCP downloads for benchmarks: `traffic KIND MEGABYTES FILE`.
//!
//! - `long`: 16 downloads that last as long as the file, in whole Ethernet frames.
//! - `headers`: the same, with packets cut off after 96 octets.
//! - `short`: a continuous series of downloads of at most 20 segments, 400 at a time.
//!
//! One segment in a hundred is lost after the capture point and retransmitted. Receivers send
//! timestamps, and delayed and selective acknowledgments. Equal arguments give equal files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Write};

const MSS: u32 = 1448;
/// Times are in nanoseconds.
const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
/// Maximum numbers of octets that are captured of a packet.
const WHOLE_PACKETS: usize = 1 << 16;
const HEADERS_ONLY: usize = 96;
/// One segment in `LOST` is lost.
const LOST: u64 = 100;
/// Octets of Ethernet, IPv4 and TCP without options.
const HEADER: usize = 14 + 20 + 20;

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// A packet to be written. Sorted by time, then by the order of creation.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    at: u64,
    order: u64,
    connection: u32,
    is_from_server: bool,
    flags: u8,
    seq: u32,
    ack: u32,
    payload: u32,
    sack: Option<(u32, u32)>,
    /// Time since the other end sent the packet that this one answers.
    answers_after: u64,
}

/// One download: sends a window, then retransmits the lost segments of it, then sends the next
/// window.
struct Download {
    number: u32,
    /// Next octet of the server.
    next: u32,
    segments_left: u64,
    rtt: u64,
    /// Time of the next window.
    at: u64,
}

/// State of the generator.
struct Traffic {
    /// Packets that are not written yet.
    queue: BinaryHeap<Reverse<Packet>>,
    /// Start of the next window of each download, and the download's slot in `open`.
    downloads: BinaryHeap<Reverse<(u64, u32)>>,
    open: Vec<Download>,
    /// Number of packets created, for `Packet::order`.
    created: u64,
    /// State of the random number generator.
    random: u64,
}

impl Traffic {
    /// Returns the upper bits of Knuth's MMIX generator, reduced to less than `below`.
    fn random(&mut self, below: u64) -> u64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % below
    }

    fn enqueue(&mut self, at: u64, packet: Packet) {
        self.created += 1;
        self.queue.push(Reverse(Packet { at, order: self.created, ..packet }));
    }

    /// Starts a new download in `slot`: queues the handshake, and schedules the first window.
    fn open(&mut self, slot: usize, number: u32, at: u64, segments: u64) {
        let rtt = 20 * MILLISECOND + self.random(80) * MILLISECOND;
        let packet = |is_from_server, flags, seq, ack| Packet {
            at,
            order: 0,
            connection: number,
            is_from_server,
            flags,
            seq,
            ack,
            payload: 0,
            sack: None,
            answers_after: 0,
        };
        self.enqueue(at, packet(false, SYN, 0, 0));
        self.enqueue(at + 30 * MICROSECOND, packet(true, SYN | ACK, 0, 1));
        self.enqueue(at + rtt, packet(false, ACK, 1, 1));
        let download =
            Download { number, next: 1, segments_left: segments, rtt, at: at + rtt + 50 * MICROSECOND };
        self.downloads.push(Reverse((download.at, slot as u32)));
        if slot == self.open.len() {
            self.open.push(download);
        } else {
            self.open[slot] = download;
        }
    }

    /// Queues one window of the download in `slot`: its segments, the acknowledgments, and the
    /// retransmissions of lost segments. Returns the time of the download's end if this was its
    /// last window.
    fn window(&mut self, slot: usize) -> Option<u64> {
        let Download { number, next, segments_left, rtt, at } = self.open[slot];
        let count = segments_left.min(8 + self.random(40)) as u32;
        let is_last = u64::from(count) == segments_left;
        let data = |seq| Packet {
            at,
            order: 0,
            connection: number,
            is_from_server: true,
            flags: ACK,
            seq,
            ack: 1,
            payload: MSS,
            sack: None,
            answers_after: MILLISECOND,
        };
        let answer = |ack, sack| Packet {
            is_from_server: false,
            seq: 1,
            ack,
            payload: 0,
            sack,
            answers_after: rtt,
            ..data(0)
        };
        let spacing = 120 * MICROSECOND;
        // Next octet that the receiver expects, lost segments, and time of the last acknowledgment.
        let (mut received, mut lost, mut last_ack) = (next, Vec::new(), at);
        for index in 0..count {
            let (seq, sent) = (next + index * MSS, at + u64::from(index) * spacing);
            self.enqueue(sent, data(seq));
            last_ack = sent + rtt;
            if self.random(LOST) == 0 {
                lost.push(seq);
            } else if let Some(&hole) = lost.last() {
                self.enqueue(last_ack, answer(received, Some((hole + MSS, seq + MSS))));
            } else {
                received = seq + MSS;
                // Every second segment is acknowledged, and the last one.
                if index % 2 == 1 || index + 1 == count {
                    self.enqueue(last_ack, answer(received, None));
                }
            }
        }
        let end = next + count * MSS;
        for index in 0..lost.len() {
            let sent = last_ack + (1 + index as u64) * spacing;
            self.enqueue(sent, data(lost[index]));
            let acknowledged = lost.get(index + 1).copied().unwrap_or(end);
            let sack =
                (acknowledged < end).then_some((acknowledged + MSS, end)).filter(|(from, to)| from < to);
            self.enqueue(sent + rtt, answer(acknowledged, sack));
        }
        let end_time = last_ack + lost.len() as u64 * spacing + rtt + MILLISECOND;
        if is_last {
            self.enqueue(end_time, Packet { flags: FIN | ACK, payload: 0, ..data(end) });
            self.enqueue(end_time + rtt, Packet { flags: FIN | ACK, ..answer(end + 1, None) });
            self.enqueue(end_time + rtt + 30 * MICROSECOND, Packet { payload: 0, ack: 2, ..data(end + 1) });
            return Some(end_time + rtt);
        }
        let download = &mut self.open[slot];
        (download.next, download.at) = (end, end_time);
        download.segments_left -= u64::from(count);
        self.downloads.push(Reverse((end_time, slot as u32)));
        None
    }
}

/// Writes the Ethernet frame of a packet, with a payload of zeros, into `into`: the headers of
/// Ethernet, IPv4 and TCP, field by field, then the options.
fn frame(packet: &Packet, identification: u16, into: &mut Vec<u8>) {
    into.clear();
    into.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00]);
    let options = if packet.flags & SYN != 0 {
        20
    } else if packet.sack.is_some() {
        24
    } else {
        12
    };
    let length = 20 + 20 + options as u16 + packet.payload as u16;
    into.extend([0x45, 0]);
    into.extend(length.to_be_bytes());
    into.extend(identification.to_be_bytes());
    into.extend([0x40, 0, 64, 6, 0, 0]);
    let [_, a, b, c] = (packet.connection / 20_000).to_be_bytes();
    let (client, server) = ([10, a, b, c], [192, 0, 2, 1]);
    let port = (10_000 + packet.connection % 20_000) as u16;
    let (from, to) = if packet.is_from_server { (server, client) } else { (client, server) };
    let (source, destination) = if packet.is_from_server { (80, port) } else { (port, 80) };
    into.extend(from);
    into.extend(to);
    into.extend(u16::to_be_bytes(source));
    into.extend(u16::to_be_bytes(destination));
    into.extend(packet.seq.to_be_bytes());
    into.extend(packet.ack.to_be_bytes());
    into.extend([(5 + options / 4) << 4, packet.flags, 0xff, 0xff, 0, 0, 0, 0]);
    if packet.flags & SYN != 0 {
        // MSS, SACK permitted, timestamps, window scale.
        into.extend([2, 4, 5, 0xb4, 4, 2]);
    } else {
        into.extend([1, 1]);
    }
    let clock = |at: u64| ((at / MILLISECOND) as u32).to_be_bytes();
    into.extend([8, 10]);
    into.extend(clock(packet.at));
    into.extend(clock(packet.at - packet.answers_after));
    if packet.flags & SYN != 0 {
        into.extend([1, 3, 3, 7]);
    }
    if let Some((from, to)) = packet.sack {
        into.extend([1, 1, 5, 10]);
        into.extend(from.to_be_bytes());
        into.extend(to.to_be_bytes());
    }
    into.resize(HEADER + usize::from(options) + packet.payload as usize, 0);
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = || -> ! {
        eprintln!("usage: traffic long|headers|short MEGABYTES FILE");
        std::process::exit(2)
    };
    let [kind, megabytes, path] = &arguments[..] else { usage() };
    let (slots, max_segments, captured) = match kind.as_str() {
        "long" => (16, u64::MAX, WHOLE_PACKETS),
        "headers" => (16, u64::MAX, HEADERS_ONLY),
        "short" => (400, 20, WHOLE_PACKETS),
        _ => usage(),
    };
    let Ok(megabytes) = megabytes.parse::<u64>() else { usage() };
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    // pcap with nanoseconds, version 2.4, Ethernet.
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, captured as u32, 1] {
        file.write_all(&word.to_le_bytes())?;
    }
    let mut traffic = Traffic {
        queue: BinaryHeap::new(),
        downloads: BinaryHeap::new(),
        open: Vec::new(),
        created: 0,
        random: 1,
    };
    let segment_count = |traffic: &mut Traffic| {
        if max_segments == u64::MAX { max_segments } else { 1 + traffic.random(max_segments) }
    };
    let begin = 1_700_000_000_000 * MILLISECOND;
    for slot in 0..slots {
        let segments = segment_count(&mut traffic);
        traffic.open(slot, slot as u32, begin + slot as u64 * MILLISECOND, segments);
    }
    let (mut written, mut number, mut count) = (24, slots as u32, 0_u64);
    let mut bytes = Vec::new();
    while written < megabytes * 1_000_000 {
        // Queues all windows that begin before the next packet.
        while let Some(&Reverse((at, slot))) = traffic.downloads.peek()
            && traffic.queue.peek().is_none_or(|Reverse(packet)| at <= packet.at)
        {
            traffic.downloads.pop();
            if let Some(end_time) = traffic.window(slot as usize) {
                let segments = segment_count(&mut traffic);
                traffic.open(slot as usize, number, end_time + MILLISECOND, segments);
                number += 1;
            }
        }
        let Some(Reverse(packet)) = traffic.queue.pop() else { break };
        count += 1;
        frame(&packet, count as u16 | 1, &mut bytes);
        let captured_octets = bytes.len().min(captured);
        let (seconds, rest) = (packet.at / 1_000_000_000, packet.at % 1_000_000_000);
        for word in [seconds as u32, rest as u32, captured_octets as u32, bytes.len() as u32] {
            file.write_all(&word.to_le_bytes())?;
        }
        file.write_all(&bytes[..captured_octets])?;
        written += 16 + captured_octets as u64;
    }
    file.flush()?;
    println!("{count} packets, {number} connections");
    Ok(())
}
