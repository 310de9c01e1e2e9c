//! RLC PDUs in the format of Wireshark's heuristic `rlc_udp`, without IP and UDP headers: link type
//! 252, exported PDU.
//!
//! ```text
//!   │ tag 13, "rlc_udp" │ end │ "umts-rlc" │ 02 channel │ 03 mode │ 04 direction │ 05 U-RNTI │ 06 bearer │ 07 LI │ 01 │ PDU │
//! ```

use umts_stack::ids::Direction;
use umts_stack::radio::rlc::octets::PduMode;

/// Radio bearer number, the same for all bearers.
pub(super) const RADIO_BEARER: u8 = 5;
/// Exported PDU, tag 13: name of a heuristic dissector, padded to a multiple of four.
const DISSECTOR: &[u8] = b"\x00\x0d\x00\x08rlc_udp\0";
const END_OF_TAGS: [u8; 4] = [0; 4];
const START: &[u8] = b"umts-rlc";
const UNSPECIFIED: u8 = 0;
const PS_DTCH: u8 = 4;

/// Width of length indicators, as encoded in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Seven = 1,
    Fifteen = 2,
}

/// Wireshark's number of a mode.
pub(super) fn mode_number(mode: PduMode) -> u8 {
    match mode {
        PduMode::Tm => 0,
        PduMode::Um => 1,
        PduMode::Am => 2,
    }
}

/// A frame with a PDU that is not an IP packet by itself. The channel is unspecified, so that
/// Wireshark does not decode it as one.
pub(super) fn part(mode: PduMode, direction: Direction, u_rnti: u32, width: Width, pdu: &[u8]) -> Vec<u8> {
    on_channel(UNSPECIFIED, mode, direction, u_rnti, width, pdu)
}

/// A frame with one PDU of a bearer of IP packets.
pub(super) fn frame(mode: PduMode, direction: Direction, u_rnti: u32, width: Width, pdu: &[u8]) -> Vec<u8> {
    on_channel(PS_DTCH, mode, direction, u_rnti, width, pdu)
}

/// Encodes a PDU with the tags from which Wireshark's RLC dissector learns channel, mode and
/// direction.
fn on_channel(
    channel: u8,
    mode: PduMode,
    direction: Direction,
    u_rnti: u32,
    width: Width,
    pdu: &[u8],
) -> Vec<u8> {
    let direction = match direction {
        Direction::Uplink => 0,
        Direction::Downlink => 1,
    };
    let mut frame = [DISSECTOR, &END_OF_TAGS, START].concat();
    frame.extend([0x02, channel, 0x03, mode_number(mode), 0x04, direction, 0x05]);
    frame.extend(u_rnti.to_be_bytes());
    frame.extend([0x06, RADIO_BEARER, 0x07, width as u8, 0x01]);
    frame.extend_from_slice(pdu);
    frame
}
