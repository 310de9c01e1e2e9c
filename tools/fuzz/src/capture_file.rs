//! Capture files: pcap and pcapng in both byte orders, damaged, and compressed. No input may cause
//! a panic, and a compressed file must give the same analysis as its content.

use std::io::{Cursor, Write};
use std::path::Path;

use umts_capture::Analysis;
use umts_capture::reader::{ReadOptions, analyse};

use crate::capture_packets::{damage, frame};
use crate::draw::Draw;

/// Magic numbers of pcap: with microseconds, with nanoseconds, and with longer packet headers.
const PCAP: u32 = 0xa1b2_c3d4;
const PCAP_NS: u32 = 0xa1b2_3c4d;
const PCAP_MODIFIED: u32 = 0xa1b2_cd34;

/// Types of blocks of pcapng.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// Magic number of a section, which shows its byte order.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// Link types: Ethernet and raw IP.
const ETHERNET: u32 = 1;
const RAW_IP: u32 = 101;

/// Files in every format, whole and damaged.
pub fn files(draw: &mut Draw) {
    let mut file = any_file(draw);
    if draw.bool() {
        damage(draw, &mut file);
    }
    drop(read(file));
}

/// Compressed files, whole and damaged.
pub fn compressed(draw: &mut Draw) {
    let file = any_file(draw);
    let mut packed = match draw.below(4) {
        0 => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&file).and_then(|()| encoder.finish()).expect("writing to a vector cannot fail")
        }
        1 => zstd::encode_all(&file[..], 1).expect("writing to a vector cannot fail"),
        2 => {
            let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
            encoder.write_all(&file).expect("writing to a vector cannot fail");
            encoder.finish().expect("writing to a vector cannot fail")
        }
        // The beginning of a compressed file, followed by random octets.
        _ => {
            let magic: &[u8] = draw.of(&[
                &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..],
                &[0x28, 0xb5, 0x2f, 0xfd],
                &[0x04, 0x22, 0x4d, 0x18],
                &[0x02, 0x21, 0x4c, 0x18],
            ]);
            let count = draw.below(80);
            drop(read([magic, &draw.octets(count)].concat()));
            return;
        }
    };
    if draw.bool() {
        damage(draw, &mut packed);
        drop(read(packed));
        return;
    }
    let (unpacked, expected) = (read(packed), read(file));
    assert_eq!(unpacked.is_some(), expected.is_some());
    if let (Some(unpacked), Some(expected)) = (unpacked, expected) {
        assert_eq!(unpacked, expected, "compression changes nothing");
    }
}

/// Returns the analysis. `None` if the file is refused.
fn read(file: Vec<u8>) -> Option<Analysis> {
    let size = file.len() as u64;
    analyse(Path::new("fuzzed"), Cursor::new(file), size, ReadOptions::default()).ok()
}

fn any_file(draw: &mut Draw) -> Vec<u8> {
    if draw.bool() { pcap(draw) } else { pcapng(draw) }
}

/// Encodes a number, big-endian or little-endian.
fn word(is_big: bool, number: u32) -> [u8; 4] {
    if is_big { number.to_be_bytes() } else { number.to_le_bytes() }
}

/// A pcap file. Some times go back, and some fractions of a second are too large.
fn pcap(draw: &mut Draw) -> Vec<u8> {
    let is_big = draw.bool();
    let magic = draw.of(&[PCAP, PCAP_NS, PCAP_MODIFIED]);
    let link = if draw.bool() { ETHERNET } else { RAW_IP };
    let mut file: Vec<u8> =
        [magic, 0x0002_0004, 0, 0, 65_535, link].iter().flat_map(|&number| word(is_big, number)).collect();
    for number in 0..draw.below(20) {
        let (_, packet) = frame(draw);
        let seconds = 1_700_000_000 + number as u32 - draw.below(3) as u32;
        let fraction = if draw.one_in(30) { u32::MAX } else { draw.below(1_000_000) as u32 };
        let length = packet.len() as u32;
        file.extend([seconds, fraction, length, length].iter().flat_map(|&number| word(is_big, number)));
        if magic == PCAP_MODIFIED {
            file.extend([0; 8]);
        }
        file.extend(packet);
    }
    file
}

/// Returns a block of pcapng.
fn block(is_big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
    let length = word(is_big, (12 + body.len() + padding.len()) as u32);
    [&word(is_big, kind)[..], &length, body, &padding, &length].concat()
}

/// A pcapng file of one or two sections with any byte order and time resolution, and blocks of
/// three kinds with packets. Lengths and times may be odd.
fn pcapng(draw: &mut Draw) -> Vec<u8> {
    let mut file = Vec::new();
    for _ in 0..draw.range(1, 3) {
        let is_big = draw.bool();
        let half = |number: u16| if is_big { number.to_be_bytes() } else { number.to_le_bytes() };
        let section = [&word(is_big, BYTE_ORDER)[..], &half(1), &half(0), &[0xff; 8]].concat();
        file.extend(block(is_big, SECTION, &section));
        // Powers of ten, and powers of two with the highest bit set.
        let resolution = draw.of(&[0u8, 6, 6, 9, 12, 19, 0x80 | 20, 0x80 | 63, 0x7f]);
        let link = half(if draw.bool() { ETHERNET as u16 } else { RAW_IP as u16 });
        let interface =
            [&link[..], &half(0), &word(is_big, 0), &half(9), &half(1), &[resolution, 0, 0, 0], &[0; 4]]
                .concat();
        file.extend(block(is_big, INTERFACE, &interface));
        for _ in 0..draw.below(12) {
            let (_, packet) = frame(draw);
            let units = if draw.one_in(8) { u64::MAX } else { draw.below(1 << 52) };
            let length = packet.len() as u32;
            let stamp = [word(is_big, (units >> 32) as u32), word(is_big, units as u32)].concat();
            let lengths = [word(is_big, length), word(is_big, length)].concat();
            // In one packet of five, the number of an interface that does not exist.
            let number = draw.below(5) as u16 / 4;
            file.extend(match draw.below(4) {
                0 => {
                    let body = [&half(number)[..], &half(0), &stamp, &lengths, &packet].concat();
                    block(is_big, OBSOLETE_PACKET, &body)
                }
                1 => block(is_big, SIMPLE_PACKET, &[&word(is_big, length)[..], &packet].concat()),
                _ => {
                    let body = [&word(is_big, u32::from(number))[..], &stamp, &lengths, &packet].concat();
                    block(is_big, ENHANCED_PACKET, &body)
                }
            });
        }
    }
    file
}
