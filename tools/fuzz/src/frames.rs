//! Any bytes are parsed as frames of the Iub without a panic, and a parsed frame is parsed again from its
//! encoding.

use umts_stack::nodeb::frames::{
    CapacityAllocation, CapacityAllocationType2, CapacityRequest, EDchData, HsDschData, HsDschType2Data, crc,
};

use crate::draw::Draw;

/// Octets of the header of an HS-DSCH data frame, and of an E-DCH data frame with one MAC-es PDU.
const HEADER: usize = 7;
/// Octets of the header of an HS-DSCH data frame of type 2 with one block.
const TYPE_2_HEADER: usize = 9;

/// Random bytes: as they are, or with the length and the CRCs of a frame.
pub fn random_frames(draw: &mut Draw) {
    let size = if draw.one_in(2) { draw.below(12) } else { draw.below(400) } as u16;
    let pdus = draw.below(8) as u8;
    let bits = usize::from(pdus) * usize::from(size);
    let frame = match draw.below(5) {
        0 => {
            let count = if draw.one_in(8) { draw.below(1_500) } else { draw.below(60) };
            draw.octets(count)
        }
        1 => {
            let mut frame = draw.octets(8);
            frame.extend(draw.octets(1));
            (frame[0], frame[1]) = (1, draw.of(&[0x0a, 0x0b, 0x0c]));
            frame.truncate([5, 8, 9][usize::from(frame[1]) - 0x0a]);
            frame[0] |= (crc::HEADER.of(&frame) << 1) as u8;
            frame
        }
        2 => {
            let payload = usize::from(pdus) * (4 + usize::from(size)).div_ceil(8);
            let mut frame = draw.octets((HEADER + payload + 2) as u64);
            (frame[0], frame[4]) = (0, pdus);
            (frame[2], frame[3]) = ((size >> 5) as u8, (size << 3) as u8 | frame[3] & 7);
            frame[0] = (crc::HEADER.of(&frame[..HEADER]) << 1) as u8;
            with_payload_crc(frame, HEADER)
        }
        3 => {
            // One block.
            let payload = usize::from(pdus) * usize::from(size);
            let mut frame = draw.octets((TYPE_2_HEADER + payload + 2) as u64);
            (frame[0], frame[2], frame[3]) = (0, 0x08 | frame[2] & 0x06, frame[3] & 0x7f);
            (frame[6], frame[7]) = ((size >> 3) as u8, (size << 5) as u8 | pdus);
            frame[0] = (crc::HEADER.of(&frame[..TYPE_2_HEADER]) << 1) as u8;
            with_payload_crc(frame, TYPE_2_HEADER)
        }
        _ => {
            let mut frame = draw.octets((HEADER + (8 + bits).div_ceil(8) + 2) as u64);
            (frame[0], frame[1], frame[2]) = (0, frame[1] & 0x0f, frame[2] & 0xf0);
            (frame[5], frame[6]) = (0x10 | frame[5] & 0x0f, frame[6] & 0xc0 | pdus);
            let crc = crc::E_DCH_HEADER.of(&frame[..HEADER]);
            frame[0] = (crc >> 4 << 1) as u8;
            frame[1] |= (crc << 4) as u8;
            with_payload_crc(frame, HEADER)
        }
    };
    parse_all(&frame, size);
    let mut damaged = frame;
    if let Some(octet) = damaged.last_mut().filter(|_| draw.bool()) {
        *octet ^= 1 << draw.below(8);
    }
    damaged.truncate(draw.below(damaged.len() as u64 + 1) as usize);
    parse_all(&damaged, size);
}

/// `frame` with the CRC of its payload in the last two octets. `header`: octets before the payload.
fn with_payload_crc(mut frame: Vec<u8>, header: usize) -> Vec<u8> {
    let end = frame.len() - 2;
    let crc = crc::PAYLOAD.of(&frame[header..end]);
    frame[end..].copy_from_slice(&crc.to_be_bytes());
    frame
}

/// `size`: bits of a MAC-d PDU of an E-DCH.
fn parse_all(frame: &[u8], size: u16) {
    let mut out = Vec::new();
    if let Ok(data) = HsDschData::parse(frame) {
        data.emit(&mut out).expect("a parsed frame has valid fields");
        assert_eq!(HsDschData::parse(&out), Ok(data));
    }
    out.clear();
    if let Ok(data) = HsDschType2Data::parse(frame) {
        data.emit(&mut out).expect("a parsed frame has valid fields");
        assert_eq!(HsDschType2Data::parse(&out), Ok(data));
    }
    out.clear();
    if let Ok(allocation) = CapacityAllocationType2::parse(frame) {
        allocation.emit(&mut out).expect("a parsed frame has valid fields");
        assert_eq!(CapacityAllocationType2::parse(&out), Ok(allocation));
    }
    out.clear();
    if let Ok(data) = EDchData::parse(frame, |_| Some(size)) {
        data.emit(&mut out).expect("a parsed frame has valid fields");
        assert_eq!(EDchData::parse(&out, |_| Some(size)), Ok(data));
    }
    out.clear();
    if let Ok(request) = CapacityRequest::parse(frame) {
        request.emit(&mut out).expect("a parsed frame has valid fields");
        assert_eq!(CapacityRequest::parse(&out), Ok(request));
    }
    out.clear();
    if let Ok(allocation) = CapacityAllocation::parse(frame) {
        allocation.emit(&mut out).expect("a parsed frame has valid fields");
        assert_eq!(CapacityAllocation::parse(&out), Ok(allocation));
    }
}
