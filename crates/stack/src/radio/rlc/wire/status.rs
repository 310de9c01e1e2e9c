//! STATUS and piggybacked STATUS PDUs: TS 25.322 §9.2.1.5, §9.2.2.11. Both have the same bits: the
//! first one is D/C = 0 in a STATUS, and the reserved bit R2 = 0 in a piggybacked STATUS.
//!
//! ```text
//!   ┌─────┬──────┬─────────┬─────────┬─ ─ ─┬────────────────┬─────────────────────────────┐
//!   │ 0   │ type │ SUFI 1  │ SUFI 2  │     │ ACK or NO_MORE │ bits, then octets of padding│
//!   │     │ 000  │         │         │     │                │                             │
//!   └─────┴──────┴─────────┴─────────┴─ ─ ─┴────────────────┴─────────────────────────────┘
//! ```
//!
//! SUFIs (super-fields) begin at bit 4 and are not aligned to octets. If the last SUFI fills the
//! STATUS to its end, no NO_MORE is needed. This is how the words "if it is included" of the
//! standard are interpreted here.

use super::error::{Rule, WireError, take};
use super::padding::Padding;
use super::sufi::{SUFI_TYPE, Sufi, ack, no_more};
use super::{ControlView, PduType};
use crate::radio::bits::{BitReader, BitWriter};
use crate::radio::rlc::Sn;

/// End of a STATUS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusEnd {
    /// NO_MORE.
    NoMore,
    /// ACK: all PDUs below LSN have arrived or are listed as missing.
    Ack(Sn),
    /// Neither: the SUFIs leave fewer bits than the type of another SUFI needs.
    Full,
}

/// A valid STATUS PDU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusPdu<'a> {
    sufis: Vec<Sufi>,
    end: StatusEnd,
    padding: Padding<'a>,
}

impl<'a> StatusPdu<'a> {
    /// The shortest STATUS with these SUFIs and this end.
    pub fn new(sufis: Vec<Sufi>, end: StatusEnd) -> Self {
        // Every SUFI has a whole number of half octets. If half an octet remains, it is zero and
        // would be read as NO_MORE. So the end is NO_MORE.
        let mut status = StatusPdu { sufis, end, padding: Padding::default() };
        if end == StatusEnd::Full && !status.bits().is_multiple_of(8) {
            status.end = StatusEnd::NoMore;
        }
        status
    }

    /// Pads the STATUS with zeros to `size` octets.
    ///
    /// # Errors
    /// Returns an error if the STATUS is longer.
    pub fn padded_to(mut self, size: usize) -> Result<Self, WireError> {
        let unpadded = self.bits().div_ceil(8);
        let padding = size.checked_sub(unpadded).ok_or(Rule::Truncated.at(size * 8))?;
        if padding > 0 && self.end == StatusEnd::Full {
            self.end = StatusEnd::NoMore;
            return self.padded_to(size);
        }
        self.padding = Padding::zeros(padding);
        Ok(self)
    }

    /// Parses a STATUS up to the end of `octets`.
    ///
    /// # Errors
    /// Returns the first violated rule and its position.
    pub fn parse(octets: &'a [u8]) -> Result<Self, WireError> {
        let view = ControlView::over(octets)?;
        if view.pdu_type()? != PduType::Status {
            return Err(Rule::ReservedPduType.at(1));
        }
        let mut reader = BitReader::new(octets);
        take(&mut reader, 4)?;
        let mut sufis = Vec::new();
        let end = loop {
            if reader.left() < SUFI_TYPE as usize {
                break StatusEnd::Full;
            }
            let bit = reader.at();
            match take(&mut reader, SUFI_TYPE)? {
                no_more::TYPE => break StatusEnd::NoMore,
                ack::TYPE => break StatusEnd::Ack(Sn::of(take(&mut reader, 12)?.into())),
                kind => sufis.push(Sufi::parse(kind, bit, &mut reader)?),
            }
        };
        let free = reader.left() as u32 % 8;
        let bits = take(&mut reader, free)? as u8;
        Ok(StatusPdu { sufis, end, padding: Padding::read(bits, &octets[reader.at() / 8..]) })
    }

    /// Appends the PDU to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut writer = BitWriter::new(out);
        writer.put(0, 1).put(PduType::Status as u32, 3);
        for sufi in &self.sufis {
            sufi.emit(&mut writer);
        }
        match self.end {
            StatusEnd::NoMore => {
                writer.put(no_more::TYPE, SUFI_TYPE);
            }
            StatusEnd::Ack(lsn) => {
                writer.put(ack::TYPE, SUFI_TYPE).put(lsn.value().into(), 12);
            }
            StatusEnd::Full => {}
        }
        let free = writer.free();
        self.padding.emit(free, out);
    }

    /// All SUFIs except the last.
    pub fn sufis(&self) -> &[Sufi] {
        &self.sufis
    }

    /// The last SUFI.
    pub fn end(&self) -> StatusEnd {
        self.end
    }

    /// Bits without padding.
    pub fn bits(&self) -> usize {
        let end = match self.end {
            StatusEnd::NoMore => SUFI_TYPE as usize,
            StatusEnd::Ack(_) => SUFI_TYPE as usize + 12,
            StatusEnd::Full => 0,
        };
        4 + self.sufis.iter().map(Sufi::bits).sum::<usize>() + end
    }

    /// Size in octets.
    pub fn size(&self) -> usize {
        self.bits().div_ceil(8) + self.padding.octets()
    }
}
