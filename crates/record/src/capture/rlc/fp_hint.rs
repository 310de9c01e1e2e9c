//! Frames of the Iub in the format of Wireshark's `fp_hint`: link type 252.
//!
//! ```text
//!   │ tag 12, "fp_hint" │ tag 35, direction │ end │ hint │ AAL2, ATM │ frame │
//!
//!   hint, little-endian: │ length 16 │ 0 8 │ channel 8 │ description of the channel │ bearers 8 │ { bearer 64 } │
//! ```

use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::rlc::octets::PduMode;

use super::exported::{RADIO_BEARER, mode_number};

/// Exported PDU, tag 12: name of a dissector.
const DISSECTOR: &[u8] = b"\x00\x0c\x00\x08fp_hint\0";
/// Tag 35: direction between two ends.
const DIRECTION: &[u8] = b"\x00\x23\x00\x04";
const END_OF_TAGS: [u8; 4] = [0; 4];
/// Content of a bearer: PS DTCH.
const PS_DTCH_CONTENT: u8 = 2;
const AAL2_CID: u32 = 8;
const ATM: u32 = 1 << 20 | 40 << 4;

/// Numbers of the transport channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HintChannel {
    Rach = 1,
    Fach = 2,
    Dch = 3,
    HsDsch = 4,
    EDch = 5,
}

/// Wraps `frame`. `description`: the fields of the hint for this channel. `count`: number of blocks with
/// PDUs of this bearer in `mode`.
pub(super) fn wrap(
    (ue, mode, count): (UeId, PduMode, usize),
    direction: Direction,
    channel: HintChannel,
    description: &[u8],
    frame: &[u8],
) -> Vec<u8> {
    let p2p: u32 = if direction == Direction::Uplink { 1 } else { 0 };
    let mut bearer = (u32::from(ue.0) + 1).to_le_bytes().to_vec();
    bearer.extend([mode_number(mode) | PS_DTCH_CONTENT << 2 | RADIO_BEARER << 4, RADIO_BEARER >> 4, 0, 0]);
    let length = 4 + description.len() + 1 + count * bearer.len();
    let mut out = [DISSECTOR, DIRECTION, &p2p.to_be_bytes(), &END_OF_TAGS].concat();
    out.extend((length as u16).to_le_bytes());
    // Frame type 0: ATM AAL2.
    out.extend([0, channel as u8]);
    out.extend(description);
    out.push(count as u8);
    (0..count).for_each(|_| out.extend_from_slice(&bearer));
    out.extend(AAL2_CID.to_be_bytes());
    out.extend(ATM.to_be_bytes());
    out.extend(frame);
    out
}
