//! Common part of AMD and UMD PDUs: length indicators and the following octets (TS 25.322 §9.2.2.8,
//! §9.2.2.9).

use super::LiWidth;
use super::error::{Rule, WireError, take};
use super::length_indicator::{LengthIndicator, Mode};
use crate::radio::bits::{BitReader, BitWriter};

/// The part of an SDU that is in one PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<'a> {
    pub octets: &'a [u8],
    /// Whether this PDU indicates that the SDU ends with the last octet of the segment. False if the
    /// SDU continues, or if the next PDU indicates its end.
    pub ends: bool,
}

/// Consistent length indicators and the octets after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload<'a> {
    width: LiWidth,
    indicators: Vec<LengthIndicator>,
    octets: &'a [u8],
    /// The header, not a length indicator, shows that the last octet ends an SDU.
    pub(super) ends_exactly: bool,
}

impl<'a> Payload<'a> {
    /// Checks the consistency of the parts. `header` is the number of octets before the indicators.
    pub(super) fn new(
        header: usize,
        width: LiWidth,
        mode: Mode,
        indicators: Vec<LengthIndicator>,
        octets: &'a [u8],
    ) -> Result<Self, WireError> {
        let bit_of = |index: usize| (header + index * width.octets()) * 8;
        if indicators.is_empty() && octets.is_empty() {
            return Err(Rule::Empty.at(bit_of(0)));
        }
        let mut end = 0;
        for (index, &li) in indicators.iter().enumerate() {
            check_position(li, index, indicators.len()).map_err(|rule| rule.at(bit_of(index)))?;
            if !li.has_meaning(width, mode) {
                return Err(Rule::ReservedLengthIndicator.at(bit_of(index)));
            }
            let violated = match li {
                LengthIndicator::End(offset) if offset <= end => Some(Rule::LengthIndicatorsAscend),
                LengthIndicator::End(offset) if usize::from(offset) > octets.len() => {
                    Some(Rule::EndBehindPdu)
                }
                LengthIndicator::WholeSdu | LengthIndicator::Middle if octets.is_empty() => {
                    Some(Rule::TooShortForIndicator)
                }
                LengthIndicator::WholeSduOneShort if octets.len() < 2 => Some(Rule::TooShortForIndicator),
                _ => None,
            };
            if let Some(rule) = violated {
                return Err(rule.at(bit_of(index)));
            }
            if let LengthIndicator::End(offset) = li {
                end = offset;
            }
        }
        Ok(Payload { width, indicators, octets, ends_exactly: false })
    }

    /// Parses the part after a fixed header of `header` octets. `more`: according to the header a
    /// length indicator follows.
    pub(super) fn parse(
        pdu: &'a [u8],
        header: usize,
        mut more: bool,
        width: LiWidth,
        mode: Mode,
    ) -> Result<Self, WireError> {
        let mut reader = BitReader::new(&pdu[header..]);
        let from_pdu_start = |error: WireError| error.rule.at(error.bit + header * 8);
        let mut indicators = Vec::new();
        while more {
            let bit = header * 8 + reader.at();
            let value = take(&mut reader, width.bits()).map_err(from_pdu_start)? as u16;
            more = take(&mut reader, 1).map_err(from_pdu_start)? == 1;
            let li = LengthIndicator::decode(value, width, mode).map_err(|rule| rule.at(bit))?;
            indicators.push(li);
        }
        let octets = &pdu[header + indicators.len() * width.octets()..];
        Payload::new(header, width, mode, indicators, octets)
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let mut writer = BitWriter::new(out);
        for (index, li) in self.indicators.iter().enumerate() {
            let more = index + 1 < self.indicators.len();
            writer.put(li.encode(self.width).into(), self.width.bits()).put(more.into(), 1);
        }
        out.extend_from_slice(self.octets);
    }

    /// Whether the header shows that the last octet ends an SDU.
    pub fn ends_exactly(&self) -> bool {
        self.ends_exactly
    }

    pub fn indicators(&self) -> &[LengthIndicator] {
        &self.indicators
    }

    /// All octets after the indicators: data, then [`Payload::rest`].
    pub fn octets(&self) -> &'a [u8] {
        self.octets
    }

    /// Number of octets of data, which end before padding, a piggybacked STATUS, or an ignored
    /// octet.
    fn data_end(&self) -> usize {
        let last_end = self.indicators.iter().rev().find_map(|li| match li {
            LengthIndicator::End(offset) => Some(usize::from(*offset)),
            _ => None,
        });
        let octets_after_last_end = self.octets.len() - last_end.unwrap_or(0);
        let is_last_octet_ignored = self.width == LiWidth::Fifteen && octets_after_last_end == 1;
        match self.indicators.last() {
            Some(li) if li.is_trailing() => last_end.unwrap_or(0),
            Some(LengthIndicator::End(_)) if is_last_octet_ignored => self.octets.len() - 1,
            Some(LengthIndicator::WholeSduOneShort) => self.octets.len() - 1,
            _ => self.octets.len(),
        }
    }

    /// The parts of SDUs in this PDU, in order.
    pub fn segments(&self) -> Vec<Segment<'a>> {
        let mut segments = Vec::new();
        let mut from = 0;
        for li in &self.indicators {
            if let &LengthIndicator::End(offset) = li {
                let to = usize::from(offset);
                segments.push(Segment { octets: &self.octets[from..to], ends: true });
                from = to;
            }
        }
        // The part of an SDU whose end has no indicator of its own in this PDU.
        let data_end = self.data_end();
        if from < data_end {
            let whole = [LengthIndicator::WholeSdu, LengthIndicator::WholeSduOneShort];
            let ends = self.ends_exactly || self.indicators.first().is_some_and(|li| whole.contains(li));
            segments.push(Segment { octets: &self.octets[from..data_end], ends });
        }
        segments
    }

    /// Octets after the data: padding, a piggybacked STATUS, or an ignored octet.
    pub fn rest(&self) -> &'a [u8] {
        &self.octets[self.data_end()..]
    }

    /// Size in octets, length indicators included.
    pub fn len(&self) -> usize {
        self.indicators.len() * self.width.octets() + self.octets.len()
    }

    /// Always false: a PDU without indicators has data.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Checks that an indicator which must be alone, first or last is so, among `count` indicators.
fn check_position(li: LengthIndicator, index: usize, count: usize) -> Result<(), Rule> {
    match li {
        li if li.is_alone() && count > 1 => Err(Rule::AloneOnly),
        li if li.is_leading() && index > 0 => Err(Rule::FirstOnly),
        li if li.is_trailing() && index + 1 < count => Err(Rule::LastOnly),
        _ => Ok(()),
    }
}
