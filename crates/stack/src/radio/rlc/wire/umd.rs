//! Unacknowledged mode data PDU: TS 25.322 §9.2.1.3.
//!
//! ```text
//!   ┌────────┬───┬────────────────┬────────────────┐
//!   │   SN   │ E │ { LI 7|15, E } │ data │ padding │
//!   │ 7 bits │ 1 │                │                │
//!   └────────┴───┴────────────────┴────────────────┘
//! ```
//!
//! E = 0 in the first octet means that data follow without length indicators. With the normal E-bit
//! no SDU start or end is then indicated. With the alternative E-bit (release 6) the data are one
//! whole SDU, and a PDU that contains the middle of an SDU has a length indicator for this.

use super::error::{Rule, WireError};
use super::length_indicator::{LengthIndicator, LiWidth, Mode};
use super::payload::Payload;
use crate::radio::bits::BitWriter;

/// Octets of the fixed header.
pub const UMD_HEADER: usize = 1;

/// Format of the UMD PDUs of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UmdFormat {
    /// Width of length indicators. In the downlink it is 7 bits unless signalled otherwise.
    pub width: LiWidth,
    /// The alternative interpretation of the E-bit is configured.
    pub alternative_e_bit: bool,
}

impl UmdFormat {
    /// For PDUs of `octets` octets including the header, with the normal E-bit.
    pub fn of_size(octets: usize) -> Self {
        UmdFormat { width: LiWidth::of_umd(octets), alternative_e_bit: false }
    }

    fn mode(self) -> Mode {
        Mode::Um { alternative_e_bit: self.alternative_e_bit }
    }
}

/// A sequence number of unacknowledged mode: modulo 128.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct UmSn(u8);

impl UmSn {
    /// Number of sequence numbers.
    pub const MODULUS: u64 = 128;

    /// The sequence number of the PDU with this count.
    pub fn of(count: u64) -> Self {
        UmSn((count % Self::MODULUS) as u8)
    }

    /// The 7 bits.
    pub fn value(self) -> u8 {
        self.0
    }
}

/// View of the fixed header. The PDU has at least one octet.
#[derive(Debug, Clone, Copy)]
pub struct UmdView<'a>(&'a [u8]);

impl<'a> UmdView<'a> {
    /// Creates a view of the octets of a PDU.
    ///
    /// # Errors
    /// Returns an error if `octets` is empty.
    pub fn over(octets: &'a [u8]) -> Result<Self, WireError> {
        if octets.is_empty() { Err(Rule::Truncated.at(0)) } else { Ok(UmdView(octets)) }
    }

    pub fn sn(&self) -> UmSn {
        UmSn(self.0[0] >> 1)
    }

    /// The extension bit.
    pub fn extension(&self) -> bool {
        self.0[0] & 1 == 1
    }
}

/// A valid UMD PDU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UmdPdu<'a> {
    sn: UmSn,
    payload: Payload<'a>,
}

impl<'a> UmdPdu<'a> {
    /// A PDU with these length indicators, followed by `octets`: data and, according to the
    /// indicators, padding. With the alternative E-bit a PDU without indicators is one whole SDU.
    ///
    /// # Errors
    /// Returns an error if the parts are inconsistent.
    pub fn new(
        format: UmdFormat,
        sn: UmSn,
        indicators: Vec<LengthIndicator>,
        octets: &'a [u8],
    ) -> Result<Self, WireError> {
        let payload = Payload::new(UMD_HEADER, format.width, format.mode(), indicators, octets)?;
        Ok(UmdPdu::of(format, sn, payload))
    }

    fn of(format: UmdFormat, sn: UmSn, mut payload: Payload<'a>) -> Self {
        payload.ends_exactly = format.alternative_e_bit && payload.indicators().is_empty();
        UmdPdu { sn, payload }
    }

    /// Parses a whole PDU.
    ///
    /// # Errors
    /// Returns the first violated rule and its position.
    pub fn parse(octets: &'a [u8], format: UmdFormat) -> Result<Self, WireError> {
        let view = UmdView::over(octets)?;
        let payload = Payload::parse(octets, UMD_HEADER, view.extension(), format.width, format.mode())?;
        Ok(UmdPdu::of(format, view.sn(), payload))
    }

    /// Appends the PDU to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let more = !self.payload.indicators().is_empty();
        BitWriter::new(out).put(self.sn.0.into(), 7).put(more.into(), 1);
        self.payload.emit(out);
    }

    pub fn sn(&self) -> UmSn {
        self.sn
    }

    /// Length indicators and data.
    pub fn payload(&self) -> &Payload<'a> {
        &self.payload
    }

    /// Size in octets.
    pub fn size(&self) -> usize {
        UMD_HEADER + self.payload.len()
    }
}
