//! Acknowledged mode data PDU: TS 25.322 §9.2.1.4.
//!
//! ```text
//!   ┌─────┬──────────────┬───┬────┬────────────────┬───────────────────────────────────────────────┐
//!   │ D/C │      SN      │ P │ HE │ { LI 7|15, E } │ data │ padding or piggybacked STATUS          │
//!   │  1  │   12 bits    │ 1 │  2 │                │                                               │
//!   └─────┴──────────────┴───┴────┴────────────────┴───────────────────────────────────────────────┘
//!   HE  00 data follows · 01 a length indicator follows · 10 data follows, its last octet ends an SDU · 11 reserved
//! ```

use super::error::{Rule, WireError, take};
use super::length_indicator::{LengthIndicator, LiWidth, Mode};
use super::payload::Payload;
use super::status::StatusPdu;
use crate::radio::bits::{BitReader, BitWriter};
use crate::radio::rlc::Sn;

/// Octets of the fixed header.
pub const AMD_HEADER: usize = 2;

/// Format of the AMD PDUs of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AmdFormat {
    /// Width of length indicators.
    pub width: LiWidth,
    /// "Use special value of HE field" is configured: HE may be 10.
    pub special_he: bool,
}

impl AmdFormat {
    /// For PDUs of `octets` octets including the header, without the special value of HE.
    pub fn of_size(octets: usize) -> Self {
        AmdFormat { width: LiWidth::of_amd(octets), special_he: false }
    }
}

/// View of the fixed header. The PDU has at least two octets.
#[derive(Debug, Clone, Copy)]
pub struct AmdView<'a>(&'a [u8]);

impl<'a> AmdView<'a> {
    /// Creates a view of the octets of a PDU.
    ///
    /// # Errors
    /// Returns an error if the header is incomplete.
    pub fn over(octets: &'a [u8]) -> Result<Self, WireError> {
        if octets.len() < AMD_HEADER {
            Err(Rule::Truncated.at(octets.len() * 8))
        } else {
            Ok(AmdView(octets))
        }
    }

    /// Whether D/C marks a data PDU.
    pub fn is_data(&self) -> bool {
        self.0[0] & 0x80 != 0
    }

    pub fn sn(&self) -> Sn {
        Sn::of(u64::from(u16::from_be_bytes([self.0[0], self.0[1]]) >> 3 & 0xFFF))
    }

    /// The polling bit.
    pub fn poll(&self) -> bool {
        self.0[1] & 0x04 != 0
    }

    /// The header extension type.
    pub fn header_extension(&self) -> u8 {
        self.0[1] & 0x03
    }

    /// The fields that would be length indicators of `width`, valid or not, up to the first E = 0 or
    /// the end of the PDU.
    pub fn raw_length_indicators(&self, width: LiWidth) -> impl Iterator<Item = u16> + use<'a> {
        let mut reader = BitReader::new(&self.0[AMD_HEADER..]);
        let mut more = self.header_extension() == 0b01;
        std::iter::from_fn(move || {
            if !more {
                return None;
            }
            let value = take(&mut reader, width.bits()).ok()?;
            more = take(&mut reader, 1).ok()? == 1;
            Some(value as u16)
        })
    }
}

/// A valid AMD PDU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmdPdu<'a> {
    sn: Sn,
    poll: bool,
    payload: Payload<'a>,
    piggyback: Option<StatusPdu<'a>>,
}

impl<'a> AmdPdu<'a> {
    /// A PDU with these length indicators, followed by `octets`: data and, according to the
    /// indicators, padding or a STATUS.
    ///
    /// # Errors
    /// Returns an error if the parts are inconsistent.
    pub fn new(
        format: AmdFormat,
        sn: Sn,
        poll: bool,
        indicators: Vec<LengthIndicator>,
        octets: &'a [u8],
    ) -> Result<Self, WireError> {
        let payload = Payload::new(AMD_HEADER, format.width, Mode::Am, indicators, octets)?;
        AmdPdu::of(sn, poll, payload)
    }

    /// A PDU with data only. Its last octet ends an SDU (HE = 10).
    ///
    /// # Errors
    /// Returns an error if the special value of HE is not configured or there are no data.
    pub fn ending_exactly(
        format: AmdFormat,
        sn: Sn,
        poll: bool,
        octets: &'a [u8],
    ) -> Result<Self, WireError> {
        if !format.special_he {
            return Err(Rule::ReservedHeaderExtension.at(14));
        }
        let mut pdu = AmdPdu::new(format, sn, poll, Vec::new(), octets)?;
        pdu.payload.ends_exactly = true;
        Ok(pdu)
    }

    fn of(sn: Sn, poll: bool, payload: Payload<'a>) -> Result<Self, WireError> {
        let piggyback = match payload.indicators().last() {
            Some(LengthIndicator::PiggybackedStatus) => {
                let status = payload.rest();
                let octets_before = AMD_HEADER + payload.len() - status.len();
                let status = StatusPdu::parse(status);
                Some(status.map_err(|error| error.rule.at(error.bit + octets_before * 8))?)
            }
            _ => None,
        };
        Ok(AmdPdu { sn, poll, payload, piggyback })
    }

    /// Parses a whole PDU.
    ///
    /// # Errors
    /// Returns the first violated rule and its position.
    pub fn parse(octets: &'a [u8], format: AmdFormat) -> Result<Self, WireError> {
        let view = AmdView::over(octets)?;
        if !view.is_data() {
            return Err(Rule::DataOrControl.at(0));
        }
        let more = match view.header_extension() {
            0b00 => false,
            0b01 => true,
            0b10 if format.special_he => {
                return AmdPdu::ending_exactly(format, view.sn(), view.poll(), &octets[AMD_HEADER..]);
            }
            _ => return Err(Rule::ReservedHeaderExtension.at(14)),
        };
        let payload = Payload::parse(octets, AMD_HEADER, more, format.width, Mode::Am)?;
        AmdPdu::of(view.sn(), view.poll(), payload)
    }

    /// Appends the PDU to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let he = match (self.payload.ends_exactly, self.payload.indicators().is_empty()) {
            (true, _) => 0b10,
            (false, true) => 0b00,
            (false, false) => 0b01,
        };
        let mut writer = BitWriter::new(out);
        writer.put(1, 1).put(self.sn.value().into(), 12).put(self.poll.into(), 1).put(he, 2);
        self.payload.emit(out);
    }

    pub fn sn(&self) -> Sn {
        self.sn
    }

    /// The polling bit.
    pub fn poll(&self) -> bool {
        self.poll
    }

    /// Length indicators and data.
    pub fn payload(&self) -> &Payload<'a> {
        &self.payload
    }

    /// The piggybacked STATUS.
    pub fn piggyback(&self) -> Option<&StatusPdu<'a>> {
        self.piggyback.as_ref()
    }

    /// Size in octets.
    pub fn size(&self) -> usize {
        AMD_HEADER + self.payload.len()
    }
}
