//! Any bytes are parsed without a panic, and a parsed PDU encodes to the same bytes.

use std::sync::LazyLock;

use umts_stack::radio::mac::header::{HeaderChannel, MacEhsHeader, MacHeader, MacHsHeader};
use umts_stack::radio::rlc::wire::{AmPdu, AmdFormat, LiWidth, StatusPdu, TmdPdu, UmdFormat, UmdPdu};

use crate::draw::Draw;

/// All PDUs of the captures that are used to test the codec.
const MANIFEST: &str = include_str!("../../../crates/stack/tests/rlc_wire/manifest.json");

static PDUS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    MANIFEST.split("\"pdu\": \"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
});

/// Random bytes, as long as a PDU or longer.
pub fn random_bytes(draw: &mut Draw) {
    let count = if draw.one_in(8) { draw.below(400) } else { draw.below(48) };
    let mut octets = draw.octets(count);
    // Most random first octets are no control PDU of this release: half are turned into control
    // PDUs, and a quarter into data PDUs.
    if let Some(first) = octets.first_mut() {
        match draw.below(4) {
            // A STATUS.
            0 => *first &= 0x0f,
            1 => *first |= 0x80,
            // Any of the lower types: STATUS, RESET, RESET ACK, and a reserved one.
            2 => *first = *first & 0x0f | (draw.below(4) as u8) << 4,
            _ => {}
        }
    }
    parse_all(draw, &octets);
}

/// Valid PDUs with errors.
pub fn mutated_pdus(draw: &mut Draw) {
    let mut octets = from_hex(draw.of(&PDUS));
    for _ in 0..draw.below(6) {
        let at = draw.below(octets.len().max(1) as u64) as usize;
        match draw.below(5) {
            _ if octets.is_empty() => {}
            0 => octets[at] ^= 1 << draw.below(8),
            1 => octets[at] = draw.of(&[0x00, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0xfe, 0xff]),
            2 => octets.truncate(at),
            3 => octets.insert(at, draw.below(256) as u8),
            _ => {
                let other = from_hex(draw.of(&PDUS));
                octets.truncate(at);
                octets.extend(other.into_iter().skip(at));
            }
        }
    }
    parse_all(draw, &octets);
}

fn from_hex(text: &str) -> Vec<u8> {
    let octet =
        |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("the manifest holds hexadecimal");
    (0..text.len() / 2).map(|index| octet(index * 2)).collect()
}

/// Parses the octets as every kind of PDU.
fn parse_all(draw: &mut Draw, octets: &[u8]) {
    let assert_same = |name: &str, emit: &dyn Fn(&mut Vec<u8>)| {
        let mut written = Vec::new();
        emit(&mut written);
        assert_eq!(written, octets, "{name} gives other bytes again");
    };
    for width in [LiWidth::Seven, LiWidth::Fifteen] {
        for flag in [false, true] {
            if let Ok(pdu) = AmPdu::parse(octets, AmdFormat { width, special_he: flag }) {
                assert_same("AM", &|out| pdu.emit(out));
            }
            if let Ok(pdu) = UmdPdu::parse(octets, UmdFormat { width, alternative_e_bit: flag }) {
                assert_same("UMD", &|out| pdu.emit(out));
            }
        }
    }
    // The parser of a piggybacked STATUS begins in the middle of a PDU.
    if let Ok(pdu) = StatusPdu::parse(octets) {
        assert_same("STATUS", &|out| pdu.emit(out));
    }
    let bits = draw.below(octets.len() as u64 * 8 + 9) as usize;
    if let Ok(pdu) = TmdPdu::parse(octets, bits) {
        assert_same("TMD", &|out| pdu.emit(out));
    }
    for channel in [
        HeaderChannel::Headless,
        HeaderChannel::SharedDch,
        HeaderChannel::Rach,
        HeaderChannel::Fach,
        HeaderChannel::Dsch { multiplexed: false },
        HeaderChannel::Dsch { multiplexed: true },
    ] {
        let _ = MacHeader::parse(octets, channel);
    }
    let _ = MacHsHeader::parse(octets);
    if let Ok(header) = MacEhsHeader::parse(octets) {
        let mut again = Vec::new();
        header.emit(&mut again);
        assert_eq!(again, octets[..header.octets()]);
    }
}
