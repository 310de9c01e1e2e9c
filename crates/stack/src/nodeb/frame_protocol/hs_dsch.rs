//! Frames of the HS-DSCH: TS 25.435 §6.2.6A (data frame type 1), §6.3.3.10 and §6.3.3.11 (capacity
//! request and allocation).

use super::{FrameError, header_crc, payload_crc};
use crate::radio::bits::{BitReader, BitWriter};

/// Octets of the header of a data frame.
const DATA_HEADER: usize = 7;
/// Bits of padding before each MAC-d PDU.
const PDU_PADDING: u32 = 4;
/// Frame type in the first octet: a control frame.
const CONTROL: u8 = 1;
const CAPACITY_REQUEST: u8 = 0x0a;
const CAPACITY_ALLOCATION: u8 = 0x0b;

/// Most MAC-d PDUs that Wireshark 4.0 accepts in a data frame of type 1.
pub const MAX_PDUS: usize = 63;

/// Credits that stand for "without limit".
pub const UNLIMITED_CREDITS: u16 = 2047;

/// A data frame of type 1: MAC-d PDUs of one size for MAC-hs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFrame {
    /// Frame sequence number, 0 to 15.
    pub sequence: u8,
    /// Common transport channel priority indicator (CmCH-PI), 0 to 15; 15 is the highest priority.
    pub priority: u8,
    /// Size of each MAC-d PDU in bits, at most 8,191.
    pub pdu_bits: u16,
    /// MAC-d PDUs. Unused bits of the last octet of a PDU are zero.
    pub pdus: Vec<Vec<u8>>,
    /// Octets of the user that are left at the RNC.
    pub buffer: u16,
}

/// The RNC asks for credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapacityRequest {
    /// Common transport channel priority indicator, 0 to 15.
    pub priority: u8,
    /// Octets of the user at the RNC.
    pub buffer: u16,
}

/// The Node B grants credits. It replaces the allocation before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapacityAllocation {
    /// Congestion status, 0 to 3: none, reserved, delay build-up, loss.
    pub congestion: u8,
    /// Common transport channel priority indicator, 0 to 15.
    pub priority: u8,
    /// Size of the largest MAC-d PDU in bits, at most 8,191.
    pub max_pdu_bits: u16,
    /// MAC-d PDUs that may be sent in each interval. 2,047: any number. 0: none.
    pub credits: u16,
    /// Length of an interval in units of 10 ms.
    pub interval: u8,
    /// Number of intervals. 0: until the next allocation.
    pub repetition: u8,
}

impl DataFrame {
    /// # Panics
    /// If a value does not fit its field, or a PDU has another size than `pdu_bits`.
    pub fn emit(&self) -> Vec<u8> {
        let mut frame = Vec::new();
        let count = u32::try_from(self.pdus.len()).expect("at most 255 PDUs");
        let mut header = BitWriter::new(&mut frame);
        header.put(0, 8).put(self.sequence.into(), 4).put(self.priority.into(), 4);
        header.put(self.pdu_bits.into(), 13).put(0, 3).put(count, 8).put(self.buffer.into(), 16);
        frame[0] |= header_crc(&frame) << 1;
        for pdu in &self.pdus {
            assert_eq!(pdu.len(), usize::from(self.pdu_bits).div_ceil(8), "a PDU of {} bits", self.pdu_bits);
            let mut writer = BitWriter::new(&mut frame);
            writer.put(0, PDU_PADDING);
            pdu.iter().for_each(|octet| {
                writer.put((*octet).into(), 8);
            });
            frame.truncate(frame.len() - (pdu.len() + 1 - self.octets_of_pdu()));
        }
        let crc = payload_crc(&frame[DATA_HEADER..]);
        frame.extend(crc.to_be_bytes());
        frame
    }

    /// Octets that a PDU and its padding take.
    fn octets_of_pdu(&self) -> usize {
        (usize::from(self.pdu_bits) + PDU_PADDING as usize).div_ceil(8)
    }

    /// # Errors
    /// Returns an error if the octets are not one whole data frame with the right CRCs.
    pub fn parse(octets: &[u8]) -> Result<Self, FrameError> {
        let (header, rest) = octets.split_at_checked(DATA_HEADER).ok_or(FrameError::Truncated)?;
        check_header(header, header[0])?;
        if header[0] & 1 == CONTROL {
            return Err(FrameError::Type);
        }
        let mut fields = BitReader::new(&header[1..]);
        let mut take = |width| fields.take(width).ok_or(FrameError::Truncated);
        let (sequence, priority) = (take(4)? as u8, take(4)? as u8);
        let (pdu_bits, flags) = (take(13)? as u16, take(3)?);
        let (count, buffer) = (take(8)? as usize, take(16)? as u16);
        if flags != 0 || pdu_bits == 0 {
            return Err(FrameError::Value);
        }
        let mut frame = DataFrame { sequence, priority, pdu_bits, pdus: Vec::new(), buffer };
        let payload = rest.len().checked_sub(2).ok_or(FrameError::Truncated)?;
        if payload < count * frame.octets_of_pdu() {
            return Err(FrameError::Truncated);
        }
        let (payload, found) = rest.split_at(payload);
        let (found, computed) = (u16::from_be_bytes([found[0], found[1]]), payload_crc(payload));
        if found != computed {
            return Err(FrameError::PayloadCrc { found, computed });
        }
        for octets in payload.chunks_exact(frame.octets_of_pdu()).take(count) {
            let pdu = pdu_in(octets, pdu_bits).ok_or(FrameError::Truncated)?;
            frame.pdus.push(pdu);
        }
        Ok(frame)
    }
}

/// The PDU behind its padding.
fn pdu_in(octets: &[u8], pdu_bits: u16) -> Option<Vec<u8>> {
    let mut reader = BitReader::new(octets);
    reader.take(PDU_PADDING)?;
    let mut pdu = Vec::new();
    let mut writer = BitWriter::new(&mut pdu);
    let mut left = u32::from(pdu_bits);
    while left > 0 {
        let width = left.min(8);
        writer.put(reader.take(width)?, width);
        left -= width;
    }
    Some(pdu)
}

impl CapacityRequest {
    /// # Panics
    /// If the priority is above 15.
    pub fn emit(self) -> Vec<u8> {
        let mut payload = Vec::new();
        BitWriter::new(&mut payload).put(0, 4).put(self.priority.into(), 4).put(self.buffer.into(), 16);
        control_frame(CAPACITY_REQUEST, &payload)
    }

    /// # Errors
    /// Returns an error if the octets do not begin with a request with the right CRC.
    pub fn parse(octets: &[u8]) -> Result<Self, FrameError> {
        let mut fields = control_fields(octets, CAPACITY_REQUEST)?;
        let mut take = |width| fields.take(width).ok_or(FrameError::Truncated);
        take(4)?;
        Ok(CapacityRequest { priority: take(4)? as u8, buffer: take(16)? as u16 })
    }
}

impl CapacityAllocation {
    /// # Panics
    /// If a value does not fit its field.
    pub fn emit(self) -> Vec<u8> {
        let mut payload = Vec::new();
        let mut writer = BitWriter::new(&mut payload);
        writer.put(0, 2).put(self.congestion.into(), 2).put(self.priority.into(), 4);
        writer.put(self.max_pdu_bits.into(), 13).put(self.credits.into(), 11);
        writer.put(self.interval.into(), 8).put(self.repetition.into(), 8);
        control_frame(CAPACITY_ALLOCATION, &payload)
    }

    /// # Errors
    /// Returns an error if the octets do not begin with an allocation with the right CRC.
    pub fn parse(octets: &[u8]) -> Result<Self, FrameError> {
        let mut fields = control_fields(octets, CAPACITY_ALLOCATION)?;
        let mut take = |width| fields.take(width).ok_or(FrameError::Truncated);
        take(2)?;
        Ok(CapacityAllocation {
            congestion: take(2)? as u8,
            priority: take(4)? as u8,
            max_pdu_bits: take(13)? as u16,
            credits: take(11)? as u16,
            interval: take(8)? as u8,
            repetition: take(8)? as u8,
        })
    }
}

fn control_frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = [&[CONTROL, kind], payload].concat();
    frame[0] |= header_crc(&frame) << 1;
    frame
}

fn control_fields(octets: &[u8], kind: u8) -> Result<BitReader<'_>, FrameError> {
    let [first, found, payload @ ..] = octets else { return Err(FrameError::Truncated) };
    if first & 1 != CONTROL || *found != kind {
        return Err(FrameError::Type);
    }
    check_header(octets, *first)?;
    Ok(BitReader::new(payload))
}

fn check_header(octets: &[u8], first: u8) -> Result<(), FrameError> {
    let (found, computed) = (first >> 1, header_crc(octets));
    if found == computed { Ok(()) } else { Err(FrameError::HeaderCrc { found, computed }) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Frames that Wireshark decodes with right CRCs.
    #[test]
    fn frames_equal_those_that_wireshark_accepts() {
        let data = DataFrame {
            sequence: 0,
            priority: 3,
            pdu_bits: 336,
            pdus: vec![vec![0x80; 42]; 2],
            buffer: 1_000,
        };
        assert_eq!(data.emit()[..9], [0xcc, 0x03, 0x0a, 0x80, 0x02, 0x03, 0xe8, 0x08, 0x08]);
        let request = CapacityRequest { priority: 3, buffer: 5_000 };
        assert_eq!(request.emit(), [0x45, 0x0a, 0x03, 0x13, 0x88]);
        let allocation = CapacityAllocation {
            congestion: 0,
            priority: 3,
            max_pdu_bits: 336,
            credits: 60,
            interval: 3,
            repetition: 0,
        };
        assert_eq!(allocation.emit(), [0xc9, 0x0b, 0x03, 0x0a, 0x80, 0x3c, 0x03, 0x00]);
    }

    #[test]
    fn a_changed_bit_of_a_data_frame_is_found() {
        let frame =
            DataFrame { sequence: 5, priority: 3, pdu_bits: 340, pdus: vec![vec![0xf0; 43]; 3], buffer: 7 }
                .emit();
        for bit in 0..frame.len() * 8 {
            let mut changed = frame.clone();
            changed[bit / 8] ^= 0x80 >> (bit % 8);
            assert!(DataFrame::parse(&changed).is_err(), "bit {bit}");
        }
    }

    fn data_frame() -> impl Strategy<Value = DataFrame> {
        (0..16_u8, 0..16_u8, 1..700_u16, 0..=MAX_PDUS, any::<u16>(), any::<u8>()).prop_map(
            |(sequence, priority, pdu_bits, count, buffer, fill)| {
                let unused = (8 - pdu_bits % 8) % 8;
                let mut pdu = vec![fill; usize::from(pdu_bits).div_ceil(8)];
                if let Some(last) = pdu.last_mut() {
                    *last = *last >> unused << unused;
                }
                DataFrame { sequence, priority, pdu_bits, pdus: vec![pdu; count], buffer }
            },
        )
    }

    proptest! {
        #[test]
        fn a_data_frame_is_read_back(frame in data_frame()) {
            prop_assert_eq!(DataFrame::parse(&frame.emit()), Ok(frame));
        }

        #[test]
        fn control_frames_are_read_back(
            (congestion, priority, buffer) in (0..4_u8, 0..16_u8, any::<u16>()),
            (max_pdu_bits, credits, interval, repetition) in (0..8_192_u16, 0..2_048_u16, any::<u8>(), any::<u8>()),
        ) {
            let request = CapacityRequest { priority, buffer };
            prop_assert_eq!(CapacityRequest::parse(&request.emit()), Ok(request));
            let allocation =
                CapacityAllocation { congestion, priority, max_pdu_bits, credits, interval, repetition };
            prop_assert_eq!(CapacityAllocation::parse(&allocation.emit()), Ok(allocation));
        }

        #[test]
        fn any_octets_are_read_without_a_panic(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = DataFrame::parse(&octets);
            let _ = CapacityRequest::parse(&octets);
            let _ = CapacityAllocation::parse(&octets);
        }
    }
}
