//! Control frames of the HS-DSCH: Capacity Request and Capacity Allocation (TS 25.435 §5.9,
//! §5.10, §6.3).

use super::crc::HEADER;
use super::{FrameError, Reader, check_header, fits};
use crate::radio::bits::BitWriter;

/// Control frame types.
const REQUEST: u8 = 0x0a;
const ALLOCATION: u8 = 0x0b;
const ALLOCATION_TYPE_2: u8 = 0x0c;

/// The value of the credits that allows any number of PDUs.
pub const UNLIMITED_CREDITS: u16 = 2047;

/// The RNC reports data of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapacityRequest {
    /// Common transport channel priority indicator (CmCH-PI), 0 to 15. 15 is the highest priority.
    pub priority: u8,
    /// Octets of the UE that wait at the RNC.
    pub user_buffer: u16,
}

/// The Node B allows the RNC to send PDUs of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapacityAllocation {
    /// Congestion of the transport network, as the Node B detects it: 0 (none) to 3.
    pub congestion: u8,
    /// As in the request.
    pub priority: u8,
    /// Bits of the largest MAC-d PDU, at most 8,191.
    pub max_pdu_bits: u16,
    /// Number of PDUs in an interval. 0: none; 2,047: unlimited.
    pub credits: u16,
    /// Length of an interval in units of 10 ms.
    pub interval: u8,
    /// Number of intervals. 0: unlimited.
    pub repetition: u8,
}

/// The Node B allows the RNC to send octets of a UE, for MAC-ehs: at most `credits` PDUs of the largest size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapacityAllocationType2 {
    /// As in type 1.
    pub congestion: u8,
    /// As in the request.
    pub priority: u8,
    /// Octets of the largest MAC-d PDU, at most 2,047.
    pub max_pdu_octets: u16,
    /// Number of PDUs of this size in an interval. 0: none; 65,535: unlimited.
    pub credits: u16,
    /// Length of an interval in units of 10 ms.
    pub interval: u8,
    /// Number of intervals. 0: unlimited.
    pub repetition: u8,
}

impl CapacityRequest {
    /// Appends the frame to `out`.
    ///
    /// # Errors
    /// If a value does not fit its field. Then `out` does not change.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        let priority = fits(self.priority, 4, "CmCH-PI")?;
        emit_control(out, REQUEST, |writer| {
            writer.put(0, 4).put(priority, 4).put(self.user_buffer.into(), 16);
        });
        Ok(())
    }

    /// Parses a frame.
    ///
    /// # Errors
    /// If the frame is not a Capacity Request, or its CRC is wrong.
    pub fn parse(frame: &[u8]) -> Result<Self, FrameError> {
        parse_control(frame, REQUEST, |reader| {
            reader.take(4)?;
            Ok(CapacityRequest { priority: reader.byte(4)?, user_buffer: reader.take(16)? })
        })
    }
}

impl CapacityAllocation {
    /// Appends the frame to `out`.
    ///
    /// # Errors
    /// If a value does not fit its field. Then `out` does not change.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        let congestion = fits(self.congestion, 2, "the congestion status")?;
        let priority = fits(self.priority, 4, "CmCH-PI")?;
        let max_pdu_bits = fits(self.max_pdu_bits, 13, "the length of a PDU")?;
        let credits = fits(self.credits, 11, "the number of credits")?;
        emit_control(out, ALLOCATION, |writer| {
            writer.put(0, 2).put(congestion, 2).put(priority, 4).put(max_pdu_bits, 13).put(credits, 11);
            writer.put(self.interval.into(), 8).put(self.repetition.into(), 8);
        });
        Ok(())
    }

    /// Parses a frame.
    ///
    /// # Errors
    /// If the frame is not a Capacity Allocation, or its CRC is wrong.
    pub fn parse(frame: &[u8]) -> Result<Self, FrameError> {
        parse_control(frame, ALLOCATION, |reader| {
            reader.take(2)?;
            Ok(CapacityAllocation {
                congestion: reader.byte(2)?,
                priority: reader.byte(4)?,
                max_pdu_bits: reader.take(13)?,
                credits: reader.take(11)?,
                interval: reader.byte(8)?,
                repetition: reader.byte(8)?,
            })
        })
    }
}

impl CapacityAllocationType2 {
    /// Appends the frame to `out`.
    ///
    /// # Errors
    /// If a value does not fit its field. Then `out` does not change.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        let congestion = fits(self.congestion, 2, "the congestion status")?;
        let priority = fits(self.priority, 4, "CmCH-PI")?;
        let max_pdu_octets = fits(self.max_pdu_octets, 11, "the length of a PDU")?;
        emit_control(out, ALLOCATION_TYPE_2, |writer| {
            writer.put(0, 2).put(congestion, 2).put(priority, 4).put(max_pdu_octets, 16);
            writer.put(self.credits.into(), 16).put(self.interval.into(), 8).put(self.repetition.into(), 8);
        });
        Ok(())
    }

    /// Parses a frame.
    ///
    /// # Errors
    /// If the frame is not a Capacity Allocation of type 2, or its CRC is wrong.
    pub fn parse(frame: &[u8]) -> Result<Self, FrameError> {
        parse_control(frame, ALLOCATION_TYPE_2, |reader| {
            reader.take(2)?;
            let (congestion, priority) = (reader.byte(2)?, reader.byte(4)?);
            reader.take(5)?;
            Ok(CapacityAllocationType2 {
                congestion,
                priority,
                max_pdu_octets: reader.take(11)?,
                credits: reader.take(16)?,
                interval: reader.byte(8)?,
                repetition: reader.byte(8)?,
            })
        })
    }
}

/// Appends a control frame of type `kind`, with the fields that `put` writes.
fn emit_control(out: &mut Vec<u8>, kind: u8, put: impl FnOnce(&mut BitWriter<'_>)) {
    let start = out.len();
    let mut writer = BitWriter::new(out);
    writer.put(0, 7).put(1, 1).put(kind.into(), 8);
    put(&mut writer);
    out[start] |= (HEADER.of(&out[start..]) << 1) as u8;
}

/// Parses a control frame of type `kind`, with the fields that `take` reads.
fn parse_control<F>(
    frame: &[u8],
    kind: u8,
    take: impl FnOnce(&mut Reader<'_>) -> Result<F, FrameError>,
) -> Result<F, FrameError> {
    let mut reader = Reader::new(frame);
    let (crc, is_control) = (reader.take(7)?, reader.take(1)? == 1);
    if !is_control || reader.byte(8)? != kind {
        return Err(FrameError::OtherType);
    }
    let fields = take(&mut reader)?;
    check_header(frame, HEADER, [0xfe, 0], crc)?;
    match frame.len() - reader.octets() {
        0 => Ok(fields),
        more => Err(FrameError::TooLong(more)),
    }
}
