//! The blocks of a TTI with MAC headers in a frame of the Iub, in the format of Wireshark's
//! `fp_hint`: link type 252.
//!
//! ```text
//!   │ tag 12, "fp_hint" │ tag 35, direction │ end │ hint about the frame │ AAL2, ATM │ FP data frame │
//!
//!   FP data frame (TS 25.427, TS 25.435):
//!   │ header CRC 7 │ FT 1 │ CFN 8 │ 0 3 │ TFI 5 │ (FACH, RACH: 8) │ blocks, whole octets each │ (uplink: quality, CRCI) │ CRC 16 │
//! ```
//!
//! The frame is the one that carries the blocks from or to the Node B, before losses on the air.
//! Its CRC indicators mark all blocks as correct; comments name the lost ones.

use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::mac::header::{LogicalChannel, MacHeader};
use umts_stack::radio::rlc::octets::PduMode;
use umts_stack::trace::Channel;
use umts_units::Time;

use super::exported::{RADIO_BEARER, mode_number};

/// Exported PDU, tag 12: name of a dissector.
const DISSECTOR: &[u8] = b"\x00\x0c\x00\x08fp_hint\0";
/// Tag 35: direction between two ends.
const DIRECTION: &[u8] = b"\x00\x23\x00\x04";
const END_OF_TAGS: [u8; 4] = [0; 4];
/// A logical channel that Wireshark decodes as a PS DTCH in acknowledged mode.
const PS_DTCH: u8 = 9;
const PS_DTCH_CONTENT: u8 = 2;
const AAL2_CID: u32 = 8;
/// ATM header: VPI 1 and VCI 40.
const ATM: u32 = 1 << 20 | 40 << 4;
/// Length of a radio frame in milliseconds. The CFN counts frames modulo 256.
const FRAME_MS: u64 = 10;
/// The largest block that the hint can describe, in bits.
const MAX_BITS: usize = (1 << 13) - 1;

/// A frame with the blocks of one TTI, with RLC PDUs of one size. `None` if Wireshark would
/// misinterpret them.
pub(super) fn frame(
    at: Time,
    ue: UeId,
    direction: Direction,
    channel: Channel,
    mode: PduMode,
    pdus: &[&[u8]],
) -> Option<Vec<u8>> {
    // Wireshark would decode a TMD PDU as a complete IP packet.
    if mode == PduMode::Tm || (channel != Channel::Dch && mode != PduMode::Am) {
        return None;
    }
    let c_rnti = ue.0.wrapping_add(1);
    let logical = LogicalChannel::new(PS_DTCH).expect("there are fifteen logical channels");
    let header = MacHeader::of_bearer(channel, c_rnti, logical);
    let bits = header.bits() as usize + pdus.first()?.len() * 8;
    if bits > MAX_BITS {
        return None;
    }
    let p2p: u32 = if direction == Direction::Uplink { 1 } else { 0 };
    let mut frame = [DISSECTOR, DIRECTION, &p2p.to_be_bytes(), &END_OF_TAGS].concat();
    frame.extend(hint(ue, channel, mode, pdus.len(), bits)?);
    frame.extend(AAL2_CID.to_be_bytes());
    frame.extend(ATM.to_be_bytes());
    let mut blocks = Vec::new();
    for pdu in pdus {
        header.emit(pdu, pdu.len() * 8, &mut blocks);
    }
    frame.extend(data_frame(at, direction, channel, pdus.len(), blocks));
    Some(frame)
}

/// The hint about the channel, in little-endian order. A word describes the blocks: their number in
/// the low bits, the bits of a block above them. `None` for a DSCH, an HS-DSCH, an E-DCH and the
/// acknowledgment channels of a TDD cell, which the hint cannot describe.
fn hint(ue: UeId, channel: Channel, mode: PduMode, blocks: usize, bits: usize) -> Option<Vec<u8>> {
    let (count, bits) = (blocks as u32, bits as u32);
    let (kind, formats) = match channel {
        Channel::Rach => (1, (count | bits << 9).to_le_bytes().to_vec()),
        Channel::Fach => (2, (count | bits << 9).to_le_bytes().to_vec()),
        Channel::Dsch | Channel::HsDsch | Channel::EDch | Channel::Ack => return None,
        Channel::Dch => (3, [&[1], (count << 5 | bits << 14).to_le_bytes().as_slice()].concat()),
    };
    let mut bearer = (u32::from(ue.0) + 1).to_le_bytes().to_vec();
    bearer.extend([mode_number(mode) | PS_DTCH_CONTENT << 2 | RADIO_BEARER << 4, RADIO_BEARER >> 4, 0, 0]);
    let length = 4 + formats.len() + 1 + blocks * bearer.len();
    let mut hint = (length as u16).to_le_bytes().to_vec();
    // Frame type 0: ATM AAL2.
    hint.extend([0, kind]);
    hint.extend(formats);
    hint.push(blocks as u8);
    (0..blocks).for_each(|_| hint.extend_from_slice(&bearer));
    Some(hint)
}

/// The FP data frame with these blocks.
fn data_frame(at: Time, direction: Direction, channel: Channel, count: usize, blocks: Vec<u8>) -> Vec<u8> {
    let is_common = channel != Channel::Dch;
    let cfn = (at.as_nanos() / 1_000_000 / FRAME_MS) as u8;
    let tfi = count.min(31) as u8;
    let mut header = vec![0, cfn, tfi];
    header.extend(is_common.then_some(0));
    header[0] = crc7(&header) << 1;
    let mut payload = blocks;
    if direction == Direction::Uplink {
        // Quality estimate of a DCH, then one bit per block.
        payload.extend((!is_common).then_some(0));
        payload.resize(payload.len() + count.div_ceil(8), 0);
    }
    let crc = crc16(&payload);
    let mut frame = header;
    frame.extend(payload);
    frame.extend(crc.to_be_bytes());
    frame
}

/// CRC over the header without its first seven bits, which hold the CRC. The polynomial is
/// x⁷ + x⁶ + x² + 1.
fn crc7(header: &[u8]) -> u8 {
    divide(bits(header).skip(7), 0x45, 7) as u8
}

/// CRC over the payload, with the polynomial x¹⁶ + x¹⁵ + x² + 1.
fn crc16(payload: &[u8]) -> u16 {
    divide(bits(payload), 0x8005, 16) as u16
}

/// The bits of octets, the most significant bit of each octet first.
fn bits(octets: &[u8]) -> impl Iterator<Item = u8> {
    octets.iter().flat_map(|octet| (0..8).map(move |bit| octet >> (7 - bit) & 1))
}

/// The remainder of `bits` divided by a polynomial of degree `width`, whose highest power is left
/// out.
fn divide(bits: impl Iterator<Item = u8>, polynomial: u32, width: u32) -> u32 {
    bits.fold(0, |register, bit| {
        let top = register >> (width - 1) & 1;
        let shifted = register << 1 & ((1 << width) - 1);
        if top ^ u32::from(bit) == 1 { shifted ^ polynomial } else { shifted }
    })
}
