//! The HS-DSCH data frame of type 2, which carries MAC-d PDUs to MAC-ehs: TS 25.435 §6.2.6B.

use super::crc::{HEADER, PAYLOAD};
use super::{FrameError, Reader, check_header, fits};
use crate::radio::bits::BitWriter;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HsDschType2Data {
    /// Frame sequence number, 0 to 15.
    pub fsn: u8,
    /// Common transport channel priority indicator (CmCH-PI), 0 to 15. 15 is the highest priority.
    pub priority: u8,
    /// Whether the Node B shall discard older PDUs of this priority queue.
    pub flush: bool,
    /// Whether the frame sequence number begins again.
    pub reset: bool,
    /// Octets of the UE that wait at the RNC.
    pub user_buffer: u16,
    /// At most 31 blocks.
    pub blocks: Vec<PduBlock>,
}

/// Successive MAC-d PDUs of one logical channel and one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PduBlock {
    /// Field LCH-ID: number of the logical channel minus 1, 0 to 15.
    pub channel: u8,
    /// Octets of a PDU, at most 2,047.
    pub octets: u16,
    /// At most 15 PDUs.
    pub pdus: Vec<Vec<u8>>,
}

impl HsDschType2Data {
    /// Largest number of blocks in a frame, and of PDUs in a block.
    pub const MAX_BLOCKS: usize = 31;
    pub const MAX_PDUS: usize = 15;

    /// Appends the frame to `out`.
    ///
    /// # Errors
    /// If a value does not fit its field. Then `out` does not change.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        let fsn = fits(self.fsn, 4, "the FSN")?;
        let priority = fits(self.priority, 4, "CmCH-PI")?;
        let blocks = fits(self.blocks.len(), 5, "the number of blocks")?;
        let mut headers = Vec::new();
        let mut writer = BitWriter::new(&mut headers);
        for PduBlock { channel, octets, pdus } in &self.blocks {
            writer.put(fits(*octets, 11, "the length of a PDU")?, 11).put(0, 1);
            writer.put(fits(pdus.len(), 4, "the number of PDUs")?, 4).put(fits(*channel, 4, "LCH-ID")?, 4);
            if pdus.iter().any(|pdu| pdu.len() != usize::from(*octets)) {
                return Err(FrameError::OutOfField("a MAC-d PDU"));
            }
        }
        let start = out.len();
        let mut writer = BitWriter::new(out);
        writer.put(0, 8).put(fsn, 4).put(priority, 4).put(blocks, 5);
        // Neither a delay reference time (DRT) nor the indicator of a UE in CELL_FACH.
        writer.put(self.flush.into(), 1).put(self.reset.into(), 1).put(0, 9).put(self.user_buffer.into(), 16);
        out.extend(headers);
        out[start] = (HEADER.of(&out[start..]) << 1) as u8;
        let payload = out.len();
        out.extend(self.blocks.iter().flat_map(|block| block.pdus.iter().flatten()));
        out.extend(PAYLOAD.of(&out[payload..]).to_be_bytes());
        Ok(())
    }

    /// Parses a frame.
    ///
    /// # Errors
    /// If the frame is not a data frame of this type, has optional fields, or one of its CRCs is wrong.
    pub fn parse(frame: &[u8]) -> Result<Self, FrameError> {
        let mut reader = Reader::new(frame);
        let (crc, is_control) = (reader.take(7)?, reader.take(1)? == 1);
        if is_control {
            return Err(FrameError::OtherType);
        }
        let (fsn, priority, count) = (reader.byte(4)?, reader.byte(4)?, reader.byte(5)?);
        let (flush, reset) = (reader.take(1)? == 1, reader.take(1)? == 1);
        let (has_drt, is_in_cell_fach) = (reader.take(1)? == 1, reader.take(1)? == 1);
        reader.take(7)?;
        let user_buffer = reader.take(16)?;
        let mut blocks = Vec::new();
        for _ in 0..count {
            let octets = reader.take(11)?;
            reader.take(1)?;
            let (pdus, channel) = (reader.byte(4)?, reader.byte(4)?);
            blocks.push((PduBlock { channel, octets, pdus: Vec::new() }, pdus));
        }
        reader.0.align();
        let payload = reader.octets();
        check_header(&frame[..payload], HEADER, [0xfe, 0], crc)?;
        if has_drt || is_in_cell_fach {
            return Err(FrameError::Unsupported("a DRT or a UE in CELL_FACH"));
        }
        let mut filled = Vec::new();
        for (mut block, pdus) in blocks {
            for _ in 0..pdus {
                block.pdus.push(reader.pdu(block.octets * 8)?);
            }
            filled.push(block);
        }
        reader.finish(frame, payload)?;
        Ok(HsDschType2Data { fsn, priority, flush, reset, user_buffer, blocks: filled })
    }
}
