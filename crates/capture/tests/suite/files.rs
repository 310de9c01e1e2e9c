//! Capture files of all formats: complete, cut off, damaged and random. Builds files from parts.

use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::path::Path;

use crate::common::{Conversation, End, Packet};
use proptest::prelude::*;
use umts_capture::reader::{ReadError, ReadOptions, Reason, analyse, analyse_file};
use umts_capture::{Analyser, Analysis, LinkType};

/// Number of the link type without a link header.
const RAW_IP: u32 = 101;

/// A small download with a loss, as packets with their times in nanoseconds.
pub fn packets() -> Vec<(u64, Vec<u8>)> {
    let mut conversation = Conversation::with_handshake();
    conversation.flight(100, 6).ack(200, 1).ack(201, 1).ack(202, 1).ack(203, 1).data(203, 1).ack(303, 6);
    let list = conversation.packets.iter();
    list.map(|(at, packet)| (crate::common::ms(*at).as_nanos(), packet.ipv4())).collect()
}

/// The analysis of [`packets`] without a file.
pub fn expected() -> Analysis {
    let mut analyser = Analyser::new();
    for (at, bytes) in packets() {
        let time = umts_units::Time::from_nanos(at);
        analyser.packet(time, LinkType::Raw, &bytes, bytes.len() as u32);
    }
    analyser.finish()
}

#[derive(Debug, Clone, Copy)]
pub enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub fn half(self, number: u16) -> [u8; 2] {
        match self {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        }
    }

    pub fn word(self, number: u32) -> [u8; 4] {
        match self {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        }
    }
}

/// Returns [`packets`] as a pcap file of link type raw.
fn pcap(order: ByteOrder, is_nanoseconds: bool) -> Vec<u8> {
    let magic = if is_nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut file = order.word(magic).to_vec();
    file.extend([order.half(2), order.half(4)].concat());
    // Time zone, accuracy, maximum captured length, link type.
    for word in [0, 0, 65_535, RAW_IP] {
        file.extend(order.word(word));
    }
    for (at, bytes) in packets() {
        let unit_ns = if is_nanoseconds { 1 } else { 1000 };
        let length = bytes.len() as u32;
        let (seconds, fraction) = (at / 1_000_000_000, at % 1_000_000_000 / unit_ns);
        for word in [seconds as u32, fraction as u32, length, length] {
            file.extend(order.word(word));
        }
        file.extend(bytes);
    }
    file
}

/// Returns a block of pcapng, padded to 32 bits.
pub fn block(order: ByteOrder, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
    let length = order.word((12 + body.len() + padding.len()) as u32);
    [&order.word(kind)[..], &length, body, &padding, &length].concat()
}

/// Returns a Section Header Block.
pub fn section(order: ByteOrder) -> Vec<u8> {
    let body = [&order.word(0x1a2b_3c4d)[..], &order.half(1), &order.half(0), &[0xff; 8]].concat();
    block(order, 0x0a0d_0d0a, &body)
}

/// Returns an Interface Description Block of link type raw. `resolution` as in the option
/// if_tsresol; `None` leaves the default of microseconds. `offset` is in seconds.
pub fn interface(order: ByteOrder, resolution: Option<u8>, offset: Option<i64>) -> Vec<u8> {
    let mut body = [&order.half(RAW_IP as u16)[..], &order.half(0), &order.word(0)].concat();
    // Options: code, length, value, padding.
    if let Some(resolution) = resolution {
        body.extend([&order.half(9)[..], &order.half(1), &[resolution, 0, 0, 0]].concat());
    }
    if let Some(offset) = offset {
        let bytes = match order {
            ByteOrder::Little => offset.to_le_bytes(),
            ByteOrder::Big => offset.to_be_bytes(),
        };
        body.extend([&order.half(14)[..], &order.half(8), &bytes].concat());
    }
    if body.len() > 8 {
        body.extend([0; 4]);
    }
    block(order, 1, &body)
}

/// Returns an Enhanced Packet Block. `units` is the time in the units of the interface.
pub fn packet(order: ByteOrder, interface: u32, units: u64, bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u32;
    let mut body = Vec::new();
    for word in [interface, (units >> 32) as u32, units as u32, length, length] {
        body.extend(order.word(word));
    }
    body.extend(bytes);
    block(order, 6, &body)
}

/// Returns [`packets`] as a pcapng file: sections in both byte orders, with interfaces that count
/// nanoseconds, microseconds, 2^-33 s, and microseconds with an offset.
fn pcapng() -> Vec<u8> {
    let mut file = Vec::new();
    for (index, (at, bytes)) in packets().into_iter().enumerate() {
        // A section has five packets. The byte order changes with each section.
        let order = if index / 5 % 2 == 0 { ByteOrder::Little } else { ByteOrder::Big };
        if index % 5 == 0 {
            file.extend(section(order));
            file.extend(interface(order, Some(9), None));
            file.extend(interface(order, None, None));
            file.extend(interface(order, Some(0x80 | 33), None));
            file.extend(interface(order, Some(6), Some(1_000_000_000)));
            file.extend(block(order, 0x0bad, b"something of some other program"));
        }
        let units = match index % 4 {
            0 => at,
            1 => at / 1000,
            2 => ((u128::from(at) << 33).div_ceil(1_000_000_000)) as u64,
            _ => at / 1000 - 1_000_000_000_000_000,
        };
        file.extend(packet(order, index as u32 % 4, units, &bytes));
    }
    file
}

pub fn read(bytes: &[u8]) -> Result<Analysis, ReadError> {
    let source = Cursor::new(bytes.to_vec());
    analyse(Path::new("some.pcap"), source, bytes.len() as u64, ReadOptions::default())
}

#[test]
fn pcap_in_both_byte_orders_and_resolutions() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for is_nanoseconds in [false, true] {
            let analysis = read(&pcap(order, is_nanoseconds)).expect("the bytes are a capture");
            assert_eq!(analysis, expected(), "{order:?}, nanoseconds {is_nanoseconds}");
        }
    }
}

#[test]
fn pcapng_in_both_byte_orders_with_different_clocks() {
    let (analysis, expected) = (read(&pcapng()).expect("the bytes are a capture"), expected());
    assert_eq!(analysis.counts, expected.counts);
    assert_eq!(analysis.warnings, Vec::<String>::new());
    for ((name, actual), (_, expected)) in analysis.metrics.iter().zip(expected.metrics.iter()) {
        let is_close = match (actual, expected) {
            (Some(actual), Some(expected)) => (actual - expected).abs() <= 1e-6 * expected.abs(),
            (actual, expected) => actual == expected,
        };
        // The clocks change no time: a unit of 2^-33 s is less than a nanosecond, and the times of
        // `packets` are whole microseconds. Only sums may be rounded in another order.
        assert!(is_close, "{name}: {actual:?}, {expected:?}");
    }
}

/// A source that returns at most seven bytes at a time, as a pipe may return few.
struct SmallReads(Cursor<Vec<u8>>);

impl Read for SmallReads {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(7);
        self.0.read(&mut buffer[..length])
    }
}

#[test]
fn result_is_independent_of_read_sizes() {
    for bytes in [pcap(ByteOrder::Little, true), pcapng()] {
        let source = SmallReads(Cursor::new(bytes.clone()));
        let result =
            analyse(Path::new("-"), source, 0, ReadOptions::default()).expect("the capture can be read");
        assert_eq!(result, read(&bytes).expect("the capture can be read"));
    }
}

/// The file is cut off after each of its octets. Every complete packet is analysed. There is no
/// warning if the file ends between packets.
#[test]
fn truncated_file_is_analysed_with_a_warning() {
    for whole in [pcap(ByteOrder::Big, false), pcapng()] {
        let mut packets_before = 0;
        for length in 24..whole.len() {
            let analysis = read(&whole[..length]).expect("the complete records can be read");
            assert!(
                analysis.counts.packets >= packets_before && analysis.counts.packets <= packets_before + 1
            );
            packets_before = analysis.counts.packets;
            match &analysis.warnings[..] {
                [] => {}
                [first, ..] => assert!(first.starts_with("the file ends inside"), "{first}"),
            }
        }
    }
}

/// The captured length in the header of the second packet is impossible.
#[test]
fn damage_is_reported_with_its_offset() {
    let mut file = pcap(ByteOrder::Little, true);
    // After the file header, and the header and octets of the first packet.
    let second = 24 + 16 + packets()[0].1.len();
    file[second + 8..second + 12].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    let analysis = read(&file).expect("the first packet is there");
    assert_eq!(analysis.counts.packets, 1);
    assert_eq!(analysis.warnings[0], format!("the file is damaged at byte {second}: analysed up to there"));
}

#[test]
fn other_files_are_refused() {
    let reason = |bytes: &[u8]| read(bytes).expect_err("it is no capture").reason;
    assert!(matches!(reason(b""), Reason::Empty));
    let xz = b"\xfd7zXZ\0\0\x04";
    assert!(matches!(reason(xz), Reason::Compressed));
    let gzip_cut_off = [0x1f, 0x8b, 8, 0];
    assert!(matches!(reason(&gzip_cut_off), Reason::NotUnpacked));
    assert!(matches!(reason(b"hello, world: this is a text"), Reason::NoCapture));
    let missing =
        analyse_file(Path::new("/nowhere/at.pcap"), ReadOptions::default()).expect_err("no such file");
    assert!(missing.to_string().starts_with("cannot read the capture /nowhere/at.pcap"), "{missing}");
    assert!(matches!(missing.reason, Reason::Io(_)));
}

#[test]
fn read_error_is_not_the_end_of_the_file() {
    struct Broken(Cursor<Vec<u8>>);
    impl Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("worn out")),
                octets => Ok(octets),
            }
        }
    }
    let bytes = pcap(ByteOrder::Little, true);
    let source = Broken(Cursor::new(bytes.clone()));
    let error = analyse(Path::new("disk"), source, 0, ReadOptions::default()).expect_err("it broke");
    assert_eq!(error.offset, bytes.len() as u64);
    assert!(error.to_string().ends_with("worn out"), "{error}");
}

/// A packet before the first interface, a Simple Packet Block (type 3), which has no time, and a
/// valid packet.
#[test]
fn packets_without_time_or_interface_are_left_out_and_counted() {
    let order = ByteOrder::Little;
    let bytes = &packets()[0].1;
    let file = [
        section(order),
        packet(order, 0, 0, bytes),
        interface(order, None, None),
        block(order, 3, &[&order.word(bytes.len() as u32)[..], bytes].concat()),
        packet(order, 0, 5, bytes),
    ]
    .concat();
    let analysis = read(&file).expect("the bytes are a capture");
    assert_eq!((analysis.counts.packets, analysis.warnings.len()), (1, 2));
}

#[test]
fn large_file_reports_progress_and_can_be_stopped() {
    let mut file = pcap(ByteOrder::Little, true)[..24].to_vec();
    let bytes = Packet { payload: 1400, ..Packet::new(End::Server, "") }.ipv4();
    for number in 0..20_000u32 {
        for word in [number, 0, bytes.len() as u32, bytes.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(&bytes);
    }
    let run = |stop_after: usize| {
        let mut fractions = Vec::new();
        let mut progress = |fraction| {
            fractions.push(fraction);
            if fractions.len() > stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ReadOptions { progress: Some(&mut progress), ..ReadOptions::default() };
        let (source, size) = (Cursor::new(file.clone()), file.len() as u64);
        let packets =
            analyse(Path::new("large"), source, size, options).map(|analysis| analysis.counts.packets);
        (packets, fractions)
    };
    let (packets, mut fractions) = run(usize::MAX);
    assert_eq!(packets.expect("the capture can be read"), 20_000);
    assert!(fractions.is_sorted() && fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)));
    // While the source is slow, the same fraction is reported again, so that Ctrl-C is noticed.
    // Otherwise there is one report every 8 MiB (2^23 octets).
    fractions.dedup();
    fractions.retain(|&fraction| fraction > 0.0);
    assert_eq!(fractions.len(), file.len() >> 23);
    let (stopped, _) = run(1);
    assert!(matches!(stopped.expect_err("it was stopped").reason, Reason::Stopped));
}

/// Applies changes one after the other: sets a byte, removes a part, or duplicates a part. A change
/// is a position, the kind of the change, and the new byte or the length of the part.
fn mutated(mut file: Vec<u8>, changes: &[(usize, u8, u8)]) -> Vec<u8> {
    for &(at, kind, byte) in changes {
        let at = at % file.len().max(1);
        match kind % 4 {
            0 | 1 => {
                if let Some(octet) = file.get_mut(at) {
                    *octet = byte;
                }
            }
            2 => drop(file.drain(at..(at + usize::from(byte)).min(file.len()))),
            _ => {
                let part = file[at..(at + usize::from(byte)).min(file.len())].to_vec();
                file.splice(at..at, part);
            }
        }
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn mutated_captures_never_panic(
        format in 0..3usize,
        changes in proptest::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..20),
    ) {
        let file = match format {
            0 => pcap(ByteOrder::Little, true),
            1 => pcap(ByteOrder::Big, false),
            _ => pcapng(),
        };
        // Errors are valid results: only a panic fails.
        drop(read(&mutated(file, &changes)));
    }

    #[test]
    fn random_files_never_panic(body in proptest::collection::vec(any::<u8>(), 0..400), format in 0..3usize) {
        let mut file = match format {
            0 => pcap(ByteOrder::Little, true)[..24].to_vec(),
            1 => [section(ByteOrder::Big), interface(ByteOrder::Big, None, None)].concat(),
            _ => Vec::new(),
        };
        file.extend(body);
        drop(read(&file));
    }

    /// Blocks of pcapng with random bodies, options and lengths. Each entry of `list` is a block:
    /// its kind, its body or the value of its option, a random field (times, lengths), and a random
    /// number.
    #[test]
    fn random_blocks_never_panic(
        is_big in any::<bool>(),
        list in proptest::collection::vec(
            (0..8usize, proptest::collection::vec(any::<u8>(), 0..60), any::<Option<u32>>(), 0..200u32), 1..12),
    ) {
        let order = if is_big { ByteOrder::Big } else { ByteOrder::Little };
        let mut file = section(order);
        for (kind, body, field, number) in list {
            let option = |code: u16, length: u16| [&order.half(code)[..], &order.half(length), &body].concat();
            let ip = &packets()[0].1;
            let mut block_bytes = match kind {
                0 => section(order),
                1 => interface(order, body.first().copied(), field.map(i64::from)),
                // An interface with options of any length.
                2 => block(order, 1, &[&order.half(101)[..], &order.half(0), &order.word(0),
                    &option(number as u16 % 16, field.unwrap_or(8) as u16)].concat()),
                3 => packet(order, number % 3, u64::from(field.unwrap_or(1)) << 20, ip),
                // A packet with a captured length of more or less than the block has, with an
                // option.
                4 => block(order, 6, &[&order.word(0)[..], &order.word(number), &order.word(7),
                    &order.word(field.unwrap_or(number)), &order.word(number), ip, &option(1, number as u16)].concat()),
                5 => block(order, 3, &body),
                6 => block(order, number, &body),
                _ => body.clone(),
            };
            // Some blocks have wrong lengths, at their beginning or at their end.
            if let Some(length) = field.filter(|_| number % 4 == 0 && block_bytes.len() >= 8) {
                let at = if number % 8 == 0 { 4 } else { block_bytes.len() - 4 };
                block_bytes[at..at + 4].copy_from_slice(&order.word(length % 300));
            }
            file.extend(block_bytes);
        }
        if let Ok(analysis) = read(&file) {
            prop_assert!(analysis.counts.packets <= 12);
        }
    }

    #[test]
    fn random_packets_never_panic(
        list in proptest::collection::vec(
            (any::<u64>(), 0..300u32, proptest::collection::vec(any::<u8>(), 0..90), any::<u32>()), 1..20),
    ) {
        let mut analyser = Analyser::new().with_time_sequence(0);
        for (time, link, bytes, length) in list {
            analyser.packet(umts_units::Time::from_nanos(time), LinkType::from_number(link), &bytes, length);
        }
        analyser.finish();
    }

    /// Valid headers with arbitrary numbers, flags, options and times: no metric is negative or
    /// infinite.
    #[test]
    fn random_conversations_never_panic(
        list in proptest::collection::vec(
            (any::<u64>(), any::<bool>(), 0..8usize, any::<[u32; 6]>(), 0..3000usize), 1..60),
    ) {
        let mut analyser = Analyser::new().with_time_sequence(0);
        for (time, is_client, flags, numbers, payload) in list {
            let [seq, ack, left, right, value, echo] = numbers;
            // Half of the numbers are close together.
            let near = |number: u32| if number & 1 == 0 { number } else { number % 10_000 };
            let from = if is_client { End::Client } else { End::Server };
            let flags = ["", "", "", "S", "F", "R", "SF", "SR"][flags];
            let packet = Packet { seq: near(seq), ack: Some(near(ack)).filter(|_| seq & 7 > 0), payload, ..Packet::new(from, flags) };
            let packet = packet.sack((near(left), near(right)), [Some((near(value), near(echo))), None, None]);
            let bytes = packet.timestamps(near(value), near(echo)).ipv4();
            let time = if time & 1 == 0 { time } else { time % 10_000_000_000 };
            analyser.packet(umts_units::Time::from_nanos(time), LinkType::Raw, &bytes, bytes.len() as u32);
        }
        let analysis = analyser.finish();
        for (name, value) in analysis.metrics.iter() {
            prop_assert!(value.is_none_or(|value| value.is_finite() && value >= 0.0), "{} {:?}", name, value);
        }
    }
}
