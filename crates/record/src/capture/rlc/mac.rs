//! The blocks of a TTI with MAC headers in a data frame of the Iub (TS 25.427, TS 25.435), for the
//! air view of a capture of RLC. The frame protocol (FP) of the Iub has this layout; numbers are
//! bits:
//!
//! ```text
//!   │ header CRC 7 │ FT 1 │ CFN 8 │ 0 3 │ TFI 5 │ (FACH, RACH: 8) │ blocks, whole octets each │ (uplink: quality, CRCI) │ CRC 16 │
//! ```
//!
//! FT is the frame type, CFN the connection frame number, TFI the transport format indicator, CRCI
//! the CRC indicators of the blocks. Before the frame stands a *hint* ([`super::fp_hint`]), with
//! which Wireshark decodes it without settings.
//!
//! The frame is the one that carries the blocks from or to the Node B, before losses on the air.
//! Its CRC indicators mark all blocks as correct; comments name the lost ones.

use umts_stack::ids::{Direction, UeId};
use umts_stack::nodeb::frames::crc;
use umts_stack::radio::mac::header::{LogicalChannel, MacHeader};
use umts_stack::radio::rlc::octets::PduMode;
use umts_stack::trace::Channel;
use umts_units::Time;

use super::fp_hint::{HintChannel, wrap};

/// A logical channel that Wireshark decodes as a PS DTCH in acknowledged mode.
pub(super) const PS_DTCH: u8 = 9;
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
    let (hint_channel, formats) = describe(channel, pdus.len(), bits)?;
    let mut blocks = Vec::new();
    for pdu in pdus {
        header.emit(pdu, pdu.len() * 8, &mut blocks);
    }
    let frame = data_frame(at, direction, channel, pdus.len(), blocks);
    Some(wrap((ue, mode, pdus.len()), direction, hint_channel, &formats, &frame))
}

/// The channel and its formats for the hint: number of blocks and bits of a block. `None` for a
/// DSCH and for the acknowledgment channels of a TDD cell, which the hint cannot describe, and for
/// an HS-DSCH and an E-DCH, whose frames carry the blocks of several TTIs or a block of several
/// transmissions ([`super::iub`]).
fn describe(channel: Channel, blocks: usize, bits: usize) -> Option<(HintChannel, Vec<u8>)> {
    let (count, bits) = (blocks as u32, bits as u32);
    // Fields of 9 and 13 bits, from the least significant bit on.
    let common_formats = || (count | bits << 9).to_le_bytes().to_vec();
    match channel {
        Channel::Rach => Some((HintChannel::Rach, common_formats())),
        Channel::Fach => Some((HintChannel::Fach, common_formats())),
        Channel::Dch => {
            // One DCH, with number 0 in the first 5 bits.
            let formats = (count << 5 | bits << 14).to_le_bytes();
            Some((HintChannel::Dch, [&[1], formats.as_slice()].concat()))
        }
        Channel::Dsch | Channel::HsDsch | Channel::EDch | Channel::Ack => None,
    }
}

/// The connection frame number at `at`.
pub(super) fn cfn(at: Time) -> u8 {
    (at.as_nanos() / 1_000_000 / FRAME_MS) as u8
}

/// The FP data frame with these blocks.
fn data_frame(at: Time, direction: Direction, channel: Channel, count: usize, blocks: Vec<u8>) -> Vec<u8> {
    let is_common = channel != Channel::Dch;
    let tfi = count.min(31) as u8;
    let mut header = vec![0, cfn(at), tfi];
    header.extend(is_common.then_some(0));
    header[0] = (crc::HEADER.of(&header) << 1) as u8;
    let mut payload = blocks;
    if direction == Direction::Uplink {
        // Quality estimate of a DCH, then one bit per block.
        payload.extend((!is_common).then_some(0));
        payload.resize(payload.len() + count.div_ceil(8), 0);
    }
    let crc = crc::PAYLOAD.of(&payload);
    let mut frame = header;
    frame.extend(payload);
    frame.extend(crc.to_be_bytes());
    frame
}
