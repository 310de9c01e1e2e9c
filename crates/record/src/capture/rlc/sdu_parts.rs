//! A data PDU of RLC split into parts of SDUs, which can be moved to another PDU. The delivery view
//! of a capture moves or removes parts, so that Wireshark reassembles the SDUs.
//!
//! Length indicators (LI) in the header say where SDUs end (TS 25.322 §9.2.2.8). Some values have
//! other meanings: the preceding PDU was filled by an SDU to its end, or except one octet; an SDU
//! starts here; the rest is a piggybacked STATUS, or padding.

use umts_stack::radio::rlc::Sn;
use umts_stack::radio::rlc::octets::Encoding;
use umts_stack::radio::rlc::wire::{
    AmPdu, AmdFormat, AmdPdu, LengthIndicator, LiWidth, Payload, UmSn, UmdFormat, UmdPdu,
};

use super::exported::Width;

/// Content of a data PDU, in parts of SDUs.
#[derive(Debug, Clone, Default)]
pub(super) struct SduParts {
    poll: bool,
    /// Length indicator about the preceding PDU, or about the start of this PDU.
    pub leading: Option<LengthIndicator>,
    /// Parts of SDUs that end in the PDU.
    pub ended: Vec<Vec<u8>>,
    /// Start or middle of an SDU that continues in the next PDU.
    pub open: Vec<u8>,
    /// A piggybacked STATUS in the rest of the PDU.
    status: Option<Vec<u8>>,
    /// Whether an octet without length indicator follows the last end. Wireshark decodes it as
    /// data.
    pub has_undescribed_octet: bool,
}

/// Format of the PDUs that are read and written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    Am(AmdFormat),
    Um(UmdFormat),
}

impl Format {
    /// Wide indicators can encode any length.
    const WIDE: LiWidth = LiWidth::Fifteen;

    /// The format of a bearer. `None` if its PDUs have no header.
    pub fn of(encoding: &Encoding) -> Option<Self> {
        encoding.amd_format().map(Format::Am).or(encoding.umd_format().map(Format::Um))
    }

    pub fn width(self) -> Width {
        match self {
            Format::Am(AmdFormat { width, .. }) | Format::Um(UmdFormat { width, .. }) => match width {
                LiWidth::Seven => Width::Seven,
                LiWidth::Fifteen => Width::Fifteen,
            },
        }
    }
}

impl SduParts {
    /// Parses a PDU that the composer encoded.
    pub fn read(format: Format, octets: &[u8]) -> Self {
        const PARSABLE: &str = "composed PDUs can be parsed";
        match format {
            Format::Am(format) => match AmPdu::parse(octets, format).expect(PARSABLE) {
                AmPdu::Data(pdu) => Self::of(pdu.payload(), pdu.poll()),
                AmPdu::Status(_) | AmPdu::Reset(_) => SduParts::default(),
            },
            Format::Um(format) => Self::of(UmdPdu::parse(octets, format).expect(PARSABLE).payload(), false),
        }
    }

    /// Splits the payload of a PDU according to its length indicators.
    fn of(payload: &Payload<'_>, poll: bool) -> Self {
        use LengthIndicator as Li;
        let first = payload.indicators().first().copied();
        let last = payload.indicators().last();
        let is_leading = |li: &Li| matches!(li, Li::PreviousFilled | Li::PreviousOneShort | Li::StartsHere);
        let mut parts = SduParts { poll, leading: first.filter(is_leading), ..SduParts::default() };
        for segment in payload.segments() {
            let octets = segment.octets.to_vec();
            if segment.ends { parts.ended.push(octets) } else { parts.open = octets }
        }
        match last {
            Some(Li::PiggybackedStatus) => parts.status = Some(payload.rest().to_vec()),
            Some(Li::End(_)) => parts.has_undescribed_octet = !payload.rest().is_empty(),
            _ => {}
        }
        parts
    }

    /// Whether the PDU signals the end of an SDU.
    pub fn has_sdu_end(&self) -> bool {
        !self.ended.is_empty() || self.ends_sdu_of_previous_pdu()
    }

    /// Whether the PDU signals that an SDU ended with the preceding PDU.
    fn ends_sdu_of_previous_pdu(&self) -> bool {
        matches!(self.leading, Some(LengthIndicator::PreviousFilled | LengthIndicator::PreviousOneShort))
    }

    /// Removes the first `count` SDU ends with their data.
    pub fn drop_ends(&mut self, count: u8) {
        for _ in 0..count {
            if self.ends_sdu_of_previous_pdu() {
                self.leading = None;
            } else if !self.ended.is_empty() {
                self.ended.remove(0);
            }
        }
    }

    /// Inserts `carried`, the earlier parts of the SDU that continues or ends in this PDU.
    pub fn prepend(&mut self, mut carried: Vec<u8>) {
        if self.ends_sdu_of_previous_pdu() {
            // "One octet short": the last octet of the preceding PDU does not belong to the SDU.
            let is_one_short = self.leading == Some(LengthIndicator::PreviousOneShort);
            carried.truncate(carried.len() - usize::from(is_one_short));
            self.leading = None;
            self.ended.insert(0, carried);
            return;
        }
        let first = self.ended.first_mut().unwrap_or(&mut self.open);
        carried.append(first);
        *first = carried;
    }

    /// Encodes a PDU with only these parts, with wide length indicators and minimal padding. A PDU
    /// without parts begins with "the preceding PDU was filled": Wireshark ignores PDUs that hold
    /// only padding, and waits for them.
    pub fn write(&self, format: Format, sn: Sn) -> Vec<u8> {
        use LengthIndicator as Li;
        let is_empty = self.ended.is_empty() && self.open.is_empty();
        let leading = if is_empty { Some(Li::PreviousFilled) } else { self.leading };
        let mut indicators: Vec<Li> = leading.into_iter().collect();
        let mut data = Vec::new();
        for part in &self.ended {
            data.extend_from_slice(part);
            indicators.push(Li::End(data.len() as u16));
        }
        data.extend_from_slice(&self.open);
        if let Some(status) = self.status.as_ref().filter(|_| self.open.is_empty()) {
            indicators.push(Li::PiggybackedStatus);
            data.extend_from_slice(status);
        } else if is_empty {
            indicators.push(Li::Padding);
        }
        let mut out = Vec::new();
        const VALID: &str = "the parts fit into a PDU";
        match format {
            Format::Am(format) => {
                let format = AmdFormat { width: Format::WIDE, ..format };
                AmdPdu::new(format, sn, self.poll, indicators, &data).expect(VALID).emit(&mut out);
            }
            Format::Um(format) => {
                let format = UmdFormat { width: Format::WIDE, ..format };
                let sn = UmSn::of(sn.value().into());
                UmdPdu::new(format, sn, indicators, &data).expect(VALID).emit(&mut out);
            }
        }
        out
    }
}
