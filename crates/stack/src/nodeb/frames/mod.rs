//! Frames of the Iub as octets: HS-DSCH (TS 25.435 §6.2, §6.3) and E-DCH (TS 25.427 §6.2).
//!
//! ```text
//!   HS-DSCH data, type 1  │ CRC 7 │ FT 0 │ FSN 4 │ CmCH-PI 4 │ PDU length 13 │ flush 1 │ reset 1 │ 0 │ PDUs 8 │ buffer 16 │
//!                         │ { 0 4 │ PDU, to octets } │ CRC 16 │
//!   HS-DSCH data, type 2  │ CRC 7 │ FT 0 │ FSN 4 │ CmCH-PI 4 │ blocks 5 │ flush 1 │ reset 1 │ 0 9 │ buffer 16 │
//!                         │ { PDU length 11 │ 0 1 │ PDUs 4 │ LCH-ID 4 }, to octets │ { PDU } │ CRC 16 │
//!   Capacity Request      │ CRC 7 │ FT 1 │ 0x0a │ 0 4 │ CmCH-PI 4 │ buffer 16 │
//!   Capacity Allocation   │ CRC 7 │ FT 1 │ 0x0b │ 0 2 │ congestion 2 │ CmCH-PI 4 │ PDU length 13 │ credits 11 │ interval 8 │ repetition 8 │
//!   Allocation, type 2    │ CRC 7 │ FT 1 │ 0x0c │ 0 2 │ congestion 2 │ CmCH-PI 4 │ 0 5 │ PDU length 11 │ credits 16 │ interval 8 │ repetition 8 │
//!   E-DCH data, type 1    │ CRC 7 │ FT 0 │ CRC 4 │ FSN 4 │ 0 4 │ subframes - 1 4 │ CFN 8 │
//!                         │ { 0 1 │ retransmissions 4 │ subframe 3 │ MAC-es PDUs 4 │ { DDI 6 │ N 6 }, to octets } │
//!                         │ { { 0 2 │ TSN 6 │ PDUs, to octets } } │ CRC 16 │
//! ```
//!
//! HS-DSCH frames of type 2 belong to MAC-ehs, E-DCH frames of type 2 to MAC-i, which is not modelled.

mod capacity;
pub mod crc;
mod e_dch;
mod hs_dsch;
mod hs_dsch_type_2;

#[cfg(test)]
mod tests;

use thiserror::Error;

pub use self::capacity::{CapacityAllocation, CapacityAllocationType2, CapacityRequest, UNLIMITED_CREDITS};
use self::crc::{Crc, PAYLOAD};
pub use self::e_dch::{EDchData, MacEsPdu, Subframe};
pub use self::hs_dsch::HsDschData;
pub use self::hs_dsch_type_2::{HsDschType2Data, PduBlock};
use crate::radio::bits::BitReader;

/// Octets of the CRC at the end of a data frame.
const PAYLOAD_CRC_OCTETS: usize = 2;

/// A frame that cannot be encoded or decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    #[error("the frame ends at octet {0}, inside a field")]
    Truncated(usize),
    #[error("the frame has {0} octets after its last field")]
    TooLong(usize),
    #[error("the CRC of the header is {read:#x}, and the header has {computed:#x}")]
    HeaderCrc { read: u16, computed: u16 },
    #[error("the CRC of the payload is {read:#x}, and the payload has {computed:#x}")]
    PayloadCrc { read: u16, computed: u16 },
    #[error("the frame is of another type")]
    OtherType,
    /// The size of MAC-d PDUs with this DDI is unknown.
    #[error("DDI {0} is not defined for this UE")]
    UnknownDdi(u8),
    /// The frame has a part that these decoders do not know.
    #[error("a frame with {0} is not supported")]
    Unsupported(&'static str),
    /// A value does not fit its field.
    #[error("{0} does not fit its field")]
    OutOfField(&'static str),
}

/// Fields of a frame that is decoded.
struct Reader<'a>(BitReader<'a>);

impl<'a> Reader<'a> {
    fn new(octets: &'a [u8]) -> Self {
        Reader(BitReader::new(octets))
    }

    fn take(&mut self, width: u32) -> Result<u16, FrameError> {
        let truncated = FrameError::Truncated(self.0.at().div_ceil(8));
        self.0.take(width).map(|value| value as u16).ok_or(truncated)
    }

    fn byte(&mut self, width: u32) -> Result<u8, FrameError> {
        self.take(width).map(|value| value as u8)
    }

    fn pdu(&mut self, bits: u16) -> Result<Vec<u8>, FrameError> {
        let truncated = FrameError::Truncated(self.0.at().div_ceil(8));
        self.0.take_octets(bits.into()).ok_or(truncated)
    }

    /// Number of octets that were read. The last one may be incomplete.
    fn octets(&self) -> usize {
        self.0.at().div_ceil(8)
    }

    /// Checks that the CRC of a payload that began at octet `from` follows, and nothing else.
    fn finish(&mut self, frame: &[u8], from: usize) -> Result<(), FrameError> {
        let end = self.octets();
        let read = self.take(16)?;
        let computed = PAYLOAD.of(&frame[from..end]);
        match frame.len() - end - PAYLOAD_CRC_OCTETS {
            0 if read == computed => Ok(()),
            0 => Err(FrameError::PayloadCrc { read, computed }),
            more => Err(FrameError::TooLong(more)),
        }
    }
}

/// Checks the CRC of a header, which has been read as `read`. `header`: its octets; `crc_bits`: the bits
/// of the CRC in the first two octets.
fn check_header(header: &[u8], crc: Crc, crc_bits: [u8; 2], read: u16) -> Result<(), FrameError> {
    let mut zeroed = header.to_vec();
    for (octet, bits) in zeroed.iter_mut().zip(crc_bits) {
        *octet &= !bits;
    }
    let computed = crc.of(&zeroed);
    if read == computed { Ok(()) } else { Err(FrameError::HeaderCrc { read, computed }) }
}

/// An error unless `value` has at most `width` bits.
fn fits(value: impl Into<usize>, width: u32, field: &'static str) -> Result<u32, FrameError> {
    let value = value.into();
    if value >> width == 0 { Ok(value as u32) } else { Err(FrameError::OutOfField(field)) }
}

/// An error unless `pdu` has `bits` bits, followed by zeros up to an octet.
fn has_size(pdu: &[u8], bits: u16) -> Result<(), FrameError> {
    let (octets, padding) = (usize::from(bits).div_ceil(8), bits.wrapping_neg() % 8);
    let is_padded = pdu.last().is_none_or(|last| last.trailing_zeros() >= u32::from(padding));
    if pdu.len() == octets && is_padded { Ok(()) } else { Err(FrameError::OutOfField("a MAC-d PDU")) }
}
