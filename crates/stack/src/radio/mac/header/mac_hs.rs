//! The header of a MAC-hs PDU, a transport block of the HS-DSCH: TS 25.321 §9.2.2. It has the number of
//! the reordering queue, the transmission sequence number, and for each group of MAC-d PDUs of the same
//! size their size and number.

use super::{MacError, MacRule, Reader};
use crate::radio::bits::{BitReader, BitWriter};

/// MAC-d PDUs of one size in a MAC-hs PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacHsSizes {
    /// Size index identifier, 3 bits: index in the table of sizes from RRC.
    pub sid: u8,
    /// Number of successive PDUs of this size, 1 to 127.
    pub pdus: u8,
}

/// A valid header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacHsHeader {
    queue: u8,
    tsn: u8,
    sizes: Vec<MacHsSizes>,
}

impl MacHsHeader {
    /// `queue` is 0 to 7, `tsn` (transmission sequence number) 0 to 63.
    ///
    /// # Errors
    /// Returns an error if a value does not fit its field or `sizes` is empty.
    pub fn new(queue: u8, tsn: u8, sizes: Vec<MacHsSizes>) -> Result<Self, MacError> {
        let fits = |size: &MacHsSizes| size.sid < 8 && (1..128).contains(&size.pdus);
        if queue < 8 && tsn < 64 && !sizes.is_empty() && sizes.iter().all(fits) {
            Ok(MacHsHeader { queue, tsn, sizes })
        } else {
            Err(MacRule::OutOfField.at(1))
        }
    }

    /// Parses the header of a MAC-hs PDU.
    ///
    /// # Errors
    /// Returns the first rule that the block violates, and its position.
    pub fn parse(block: &[u8]) -> Result<Self, MacError> {
        let mut reader = Reader(BitReader::new(block));
        if reader.take(1)? != 0 {
            return Err(MacRule::Version.at(0));
        }
        let (queue, tsn) = (reader.take(3)? as u8, reader.take(6)? as u8);
        let mut sizes = Vec::new();
        loop {
            let bit = reader.0.at();
            let (sid, pdus) = (reader.take(3)? as u8, reader.take(7)? as u8);
            if pdus == 0 {
                return Err(MacRule::OutOfField.at(bit + 3));
            }
            sizes.push(MacHsSizes { sid, pdus });
            if reader.take(1)? == 1 {
                return Ok(MacHsHeader { queue, tsn, sizes });
            }
        }
    }

    /// Appends a MAC-hs PDU with this header and the first `bits` bits of `pdus` to `out`.
    ///
    /// # Panics
    /// Panics if `pdus` has fewer bits.
    pub fn emit(&self, pdus: &[u8], bits: usize, out: &mut Vec<u8>) {
        let mut writer = BitWriter::new(out);
        writer.put(0, 1).put(self.queue.into(), 3).put(self.tsn.into(), 6);
        for (index, size) in self.sizes.iter().enumerate() {
            let last = index + 1 == self.sizes.len();
            writer.put(size.sid.into(), 3).put(size.pdus.into(), 7).put(last.into(), 1);
        }
        writer.put_octets(pdus, bits);
    }

    /// Length of the header in bits, 21 with one size.
    pub fn bits(&self) -> u32 {
        10 + 11 * self.sizes.len() as u32
    }

    /// Reordering queue.
    pub fn queue(&self) -> u8 {
        self.queue
    }

    /// Transmission sequence number.
    pub fn tsn(&self) -> u8 {
        self.tsn
    }

    pub fn sizes(&self) -> &[MacHsSizes] {
        &self.sizes
    }
}
