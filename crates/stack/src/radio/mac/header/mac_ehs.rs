//! The header of a MAC-ehs PDU on HS-DSCH with one reordering PDU: TS 25.321 §9.2.2.

use super::{MacError, MacRule, Reader};
use crate::radio::bits::{BitReader, BitWriter};

/// A reordering SDU, or a part of one, in a MAC-ehs PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacEhsPart {
    /// Logical channel identifier (LCH-ID), 0 to 14.
    pub channel: u8,
    /// Length (L) in octets, 1 to 2,047.
    pub octets: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacEhsHeader {
    tsn: u8,
    /// Segmentation indication.
    si: u8,
    parts: Vec<MacEhsPart>,
}

impl MacEhsHeader {
    /// `tsn` (transmission sequence number) is 0 to 63, `si` (segmentation indication) 0 to 3.
    ///
    /// # Errors
    /// Returns an error if a value does not fit its field or `parts` is empty.
    pub fn new(tsn: u8, si: u8, parts: Vec<MacEhsPart>) -> Result<Self, MacError> {
        let fits = |part: &MacEhsPart| part.channel < 15 && (1..2048).contains(&part.octets);
        if tsn < 64 && si < 4 && !parts.is_empty() && parts.iter().all(fits) {
            Ok(MacEhsHeader { tsn, si, parts })
        } else {
            Err(MacRule::OutOfField.at(0))
        }
    }

    /// Parses the header of a MAC-ehs PDU.
    ///
    /// # Errors
    /// Returns the first rule that the block violates, and its position.
    pub fn parse(block: &[u8]) -> Result<Self, MacError> {
        let mut reader = Reader(BitReader::new(block));
        let (mut tsn, mut si, mut parts) = (0, 0, Vec::new());
        loop {
            let bit = reader.0.at();
            let (channel, octets) = (reader.take(4)? as u8, reader.take(11)? as u16);
            if octets == 0 || channel == 15 {
                return Err(MacRule::OutOfField.at(bit));
            }
            if parts.is_empty() {
                (tsn, si) = (reader.take(6)? as u8, reader.take(2)? as u8);
            }
            parts.push(MacEhsPart { channel, octets });
            if reader.take(1)? == 1 {
                return Ok(MacEhsHeader { tsn, si, parts });
            }
        }
    }

    /// Appends the header to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut writer = BitWriter::new(out);
        for (index, part) in self.parts.iter().enumerate() {
            let is_last = index + 1 == self.parts.len();
            writer.put(part.channel.into(), 4).put(part.octets.into(), 11);
            if index == 0 {
                writer.put(self.tsn.into(), 6).put(self.si.into(), 2);
            }
            writer.put(is_last.into(), 1);
        }
    }

    /// Length of the header in octets: 3 for the first part, 2 for each further one.
    pub fn octets(&self) -> usize {
        1 + 2 * self.parts.len()
    }

    /// Transmission sequence number.
    pub fn tsn(&self) -> u8 {
        self.tsn
    }

    /// Segmentation indication.
    pub fn si(&self) -> u8 {
        self.si
    }

    pub fn parts(&self) -> &[MacEhsPart] {
        &self.parts
    }
}
