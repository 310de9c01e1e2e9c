//! The HS-DSCH data frame of type 1, which carries MAC-d PDUs to MAC-hs: TS 25.435 §6.2.6A.

use super::crc::{HEADER, PAYLOAD};
use super::{FrameError, Reader, check_header, fits, has_size};
use crate::radio::bits::BitWriter;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HsDschData {
    /// Frame sequence number, 0 to 15.
    pub fsn: u8,
    /// Common transport channel priority indicator (CmCH-PI), 0 to 15. 15 is the highest priority.
    pub priority: u8,
    /// Bits of a MAC-d PDU, at most 8,191.
    pub pdu_bits: u16,
    /// Whether the Node B shall discard older PDUs of this priority queue.
    pub flush: bool,
    /// Whether the frame sequence number begins again.
    pub reset: bool,
    /// Octets of the UE that wait at the RNC.
    pub user_buffer: u16,
    /// At most 255 PDUs, each padded with zeros to octets.
    pub pdus: Vec<Vec<u8>>,
}

impl HsDschData {
    /// Appends the frame to `out`.
    ///
    /// # Errors
    /// If a value does not fit its field. Then `out` does not change.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        let fsn = fits(self.fsn, 4, "the FSN")?;
        let priority = fits(self.priority, 4, "CmCH-PI")?;
        let pdu_bits = fits(self.pdu_bits, 13, "the length of a PDU")?;
        let count = fits(self.pdus.len(), 8, "the number of PDUs")?;
        self.pdus.iter().try_for_each(|pdu| has_size(pdu, self.pdu_bits))?;
        let start = out.len();
        let mut writer = BitWriter::new(out);
        writer.put(0, 8).put(fsn, 4).put(priority, 4).put(pdu_bits, 13);
        writer.put(self.flush.into(), 1).put(self.reset.into(), 1).put(0, 1);
        writer.put(count, 8).put(self.user_buffer.into(), 16);
        out[start] = (HEADER.of(&out[start..]) << 1) as u8;
        let payload = out.len();
        let mut writer = BitWriter::new(out);
        for pdu in &self.pdus {
            writer.put(0, 4).put_octets(pdu, self.pdu_bits.into()).align();
        }
        out.extend(PAYLOAD.of(&out[payload..]).to_be_bytes());
        Ok(())
    }

    /// Parses a frame.
    ///
    /// # Errors
    /// If the frame is not a data frame of this type, or one of its CRCs is wrong.
    pub fn parse(frame: &[u8]) -> Result<Self, FrameError> {
        let mut reader = Reader::new(frame);
        let (crc, is_control) = (reader.take(7)?, reader.take(1)? == 1);
        if is_control {
            return Err(FrameError::OtherType);
        }
        let (fsn, priority, pdu_bits) = (reader.byte(4)?, reader.byte(4)?, reader.take(13)?);
        let (flush, reset) = (reader.take(1)? == 1, reader.take(1)? == 1);
        reader.take(1)?;
        let (count, user_buffer) = (reader.take(8)?, reader.take(16)?);
        let payload = reader.octets();
        check_header(&frame[..payload], HEADER, [0xfe, 0], crc)?;
        let mut pdus = Vec::new();
        for _ in 0..count {
            reader.take(4)?;
            pdus.push(reader.pdu(pdu_bits)?);
            reader.0.align();
        }
        reader.finish(frame, payload)?;
        Ok(HsDschData { fsn, priority, pdu_bits, flush, reset, user_buffer, pdus })
    }
}
