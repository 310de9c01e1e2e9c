//! Codec of RLC PDUs: TS 25.322 §9.2 of release 5, with the alternative E-bit of release 6 and the
//! POLL SUFI of release 7. A SUFI is a super-field of a STATUS PDU.
//!
//! Every format has two layers. A *view* ([`AmdView`], [`UmdView`], [`ControlView`]) reads the fixed
//! header of any bytes. A *value* ([`AmdPdu`], [`UmdPdu`], [`TmdPdu`], [`StatusPdu`], [`ResetPdu`])
//! is always valid: if the input breaks a rule of the standard, its constructor and `parse` return
//! the rule and the position of the first wrong bit. `emit` writes the bytes that `parse` has read,
//! padding included. The figures in [`length_indicator`] show how SDUs share PDUs.
//!
//! The codec contains no procedures: it neither checks windows nor acts on a STATUS. Ciphering is
//! not modelled.

mod amd;
mod error;
pub mod length_indicator;
mod padding;
mod payload;
mod reset;
mod status;
mod sufi;
mod tmd;
mod umd;

#[cfg(test)]
mod tests;

pub use amd::{AMD_HEADER, AmdFormat, AmdPdu, AmdView};
pub use error::{Rule, WireError};
pub use length_indicator::{LengthIndicator, LiWidth};
pub use padding::Padding;
pub use payload::{Payload, Segment};
pub use reset::{RESET_OCTETS, ResetPdu};
pub use status::{StatusEnd, StatusPdu};
pub use sufi::{Bitmap, List, Mrw, MrwCount, Rlist, Sufi, WindowSize};
pub use tmd::TmdPdu;
pub use umd::{UMD_HEADER, UmSn, UmdFormat, UmdPdu, UmdView};

/// Types of control PDUs (§9.2.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PduType {
    /// STATUS.
    Status = 0,
    /// RESET.
    Reset = 1,
    /// RESET ACK.
    ResetAck = 2,
}

/// The first octet of a control PDU, or of a piggybacked STATUS.
#[derive(Debug, Clone, Copy)]
pub struct ControlView<'a>(&'a [u8]);

impl<'a> ControlView<'a> {
    /// Creates a view of the octets of a PDU.
    ///
    /// # Errors
    /// Returns an error if `octets` is empty.
    pub fn over(octets: &'a [u8]) -> Result<Self, WireError> {
        if octets.is_empty() { Err(Rule::Truncated.at(0)) } else { Ok(ControlView(octets)) }
    }

    /// Type according to D/C (or R2) and the type field.
    ///
    /// # Errors
    /// Returns an error if the first bit is set or the type is reserved.
    pub fn pdu_type(&self) -> Result<PduType, WireError> {
        match self.0[0] >> 4 {
            0 => Ok(PduType::Status),
            1 => Ok(PduType::Reset),
            2 => Ok(PduType::ResetAck),
            3..=7 => Err(Rule::ReservedPduType.at(1)),
            _ => Err(Rule::DataOrControl.at(0)),
        }
    }
}

/// Any PDU of acknowledged mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AmPdu<'a> {
    /// AMD.
    Data(AmdPdu<'a>),
    /// STATUS.
    Status(StatusPdu<'a>),
    /// RESET or RESET ACK.
    Reset(ResetPdu<'a>),
}

impl<'a> AmPdu<'a> {
    /// Parses a whole PDU of an entity with AMD PDUs of `format`.
    ///
    /// # Errors
    /// Returns the first violated rule and its position.
    pub fn parse(octets: &'a [u8], format: AmdFormat) -> Result<Self, WireError> {
        let control = ControlView::over(octets)?;
        if octets[0] & 0x80 != 0 {
            return AmdPdu::parse(octets, format).map(AmPdu::Data);
        }
        match control.pdu_type()? {
            PduType::Status => StatusPdu::parse(octets).map(AmPdu::Status),
            PduType::Reset | PduType::ResetAck => ResetPdu::parse(octets).map(AmPdu::Reset),
        }
    }

    /// Appends the PDU to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            AmPdu::Data(pdu) => pdu.emit(out),
            AmPdu::Status(pdu) => pdu.emit(out),
            AmPdu::Reset(pdu) => pdu.emit(out),
        }
    }
}
