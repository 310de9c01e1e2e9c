//! Transparent mode data PDU: TS 25.322 §9.2.1.2. It has no header. Its size is the size of its
//! transport block, in bits.

use super::error::{Rule, WireError};

/// A valid TMD PDU of `bits` bits. Unused bits of the last octet are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TmdPdu<'a> {
    bits: usize,
    octets: &'a [u8],
}

impl<'a> TmdPdu<'a> {
    /// A PDU with the first `bits` bits of `octets`.
    ///
    /// # Errors
    /// Returns an error if `bits` is 0, if `octets` is shorter or longer than `bits` require, or if
    /// unused bits of the last octet are set.
    pub fn parse(octets: &'a [u8], bits: usize) -> Result<Self, WireError> {
        if bits == 0 {
            return Err(Rule::Empty.at(0));
        }
        if octets.len() < bits.div_ceil(8) {
            return Err(Rule::Truncated.at(octets.len() * 8));
        }
        let spare = octets.len() * 8 - bits;
        let last = octets.last().copied().unwrap_or(0);
        if spare >= 8 || last & ((1u8 << spare) - 1) != 0 {
            return Err(Rule::SpareBits.at(bits));
        }
        Ok(TmdPdu { bits, octets })
    }

    /// Appends the PDU to `out`. The last octet is padded with zeros.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.octets);
    }

    /// Size in bits.
    pub fn bits(&self) -> usize {
        self.bits
    }

    pub fn octets(&self) -> &'a [u8] {
        self.octets
    }
}
