//! RESET and RESET ACK PDUs: TS 25.322 §9.2.1.6, §9.2.1.7.
//!
//! ```text
//!   ┌─────┬──────┬─────┬─────┬─────────┬───────────────────────────────┐
//!   │ D/C │ type │ RSN │ R1  │  HFNI   │ 4 bits, then octets of padding│
//!   │  0  │  3   │  1  │ 000 │ 20 bits │                               │
//!   └─────┴──────┴─────┴─────┴─────────┴───────────────────────────────┘
//!   type  001 RESET · 010 RESET ACK
//! ```

use super::error::{Rule, WireError, take};
use super::padding::Padding;
use super::{ControlView, PduType};
use crate::radio::bits::{BitReader, BitWriter};

/// Octets without the octets of padding.
pub const RESET_OCTETS: usize = 4;
/// Bits of padding in the last of these octets.
const SPARE_BITS: u32 = 4;
/// Bits of the hyper frame number indicator.
const HFNI_BITS: u32 = 20;

/// A valid RESET or RESET ACK PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResetPdu<'a> {
    acknowledges: bool,
    rsn: bool,
    hfni: u32,
    padding: Padding<'a>,
}

impl<'a> ResetPdu<'a> {
    /// A RESET, or a RESET ACK if `acknowledges` is set, with this reset sequence number and hyper
    /// frame number (20 bits), padded with zeros to `size` octets.
    ///
    /// # Errors
    /// Returns an error if `hfni` has more than 20 bits or `size` is less than four octets.
    pub fn new(acknowledges: bool, rsn: bool, hfni: u32, size: usize) -> Result<Self, WireError> {
        if hfni >> HFNI_BITS != 0 {
            return Err(Rule::TooLarge.at(8));
        }
        let padding = size.checked_sub(RESET_OCTETS).ok_or(Rule::Truncated.at(size * 8))?;
        Ok(ResetPdu { acknowledges, rsn, hfni, padding: Padding::zeros(padding) })
    }

    /// Parses a whole PDU.
    ///
    /// # Errors
    /// Returns the first violated rule and its position.
    pub fn parse(octets: &'a [u8]) -> Result<Self, WireError> {
        let acknowledges = match ControlView::over(octets)?.pdu_type()? {
            PduType::Reset => false,
            PduType::ResetAck => true,
            PduType::Status => return Err(Rule::ReservedPduType.at(1)),
        };
        let mut reader = BitReader::new(octets);
        take(&mut reader, 4)?;
        let rsn = take(&mut reader, 1)? == 1;
        if take(&mut reader, 3)? != 0 {
            return Err(Rule::ReservedBits.at(5));
        }
        let hfni = take(&mut reader, HFNI_BITS)?;
        let spare = take(&mut reader, SPARE_BITS)? as u8;
        Ok(ResetPdu { acknowledges, rsn, hfni, padding: Padding::read(spare, &octets[RESET_OCTETS..]) })
    }

    /// Appends the PDU to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let kind = if self.acknowledges { PduType::ResetAck } else { PduType::Reset };
        let mut writer = BitWriter::new(out);
        writer.put(0, 1).put(kind as u32, 3).put(self.rsn.into(), 1).put(0, 3).put(self.hfni, HFNI_BITS);
        let free = writer.free();
        self.padding.emit(free, out);
    }

    /// Whether it is a RESET ACK.
    pub fn acknowledges(&self) -> bool {
        self.acknowledges
    }

    pub fn rsn(&self) -> bool {
        self.rsn
    }

    pub fn hfni(&self) -> u32 {
        self.hfni
    }

    /// Size in octets.
    pub fn size(&self) -> usize {
        RESET_OCTETS + self.padding.octets()
    }
}
