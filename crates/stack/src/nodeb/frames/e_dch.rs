//! The E-DCH data frame of type 1, which carries MAC-es PDUs to the RNC: TS 25.427 §6.2.2.

use super::crc::{E_DCH_HEADER, PAYLOAD};
use super::{FrameError, Reader, check_header, fits, has_size};
use crate::radio::bits::BitWriter;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EDchData {
    /// Frame sequence number, 0 to 15.
    pub fsn: u8,
    /// Connection frame number of the radio frame in which the Node B decoded the blocks.
    pub cfn: u8,
    /// One to 16 subframes.
    pub subframes: Vec<Subframe>,
}

/// The content of a block that the Node B decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subframe {
    /// Number of HARQ retransmissions of the block, 0 to 15.
    pub retransmissions: u8,
    /// Subframe of the radio frame, 0 to 7. 0 if the TTI is 10 ms.
    pub number: u8,
    /// At most 15 MAC-es PDUs.
    pub mac_es_pdus: Vec<MacEsPdu>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacEsPdu {
    /// Data description indicator, 0 to 63: logical channel, MAC-d flow and size of the PDUs.
    pub ddi: u8,
    /// Transmission sequence number, 0 to 63.
    pub tsn: u8,
    /// Bits of a MAC-d PDU. Not part of the frame: both ends know the size of each DDI.
    pub pdu_bits: u16,
    /// At most 63 MAC-d PDUs, each padded with zeros to octets.
    pub pdus: Vec<Vec<u8>>,
}

impl EDchData {
    /// Appends the frame to `out`.
    ///
    /// # Errors
    /// If a value does not fit its field. Then `out` does not change.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        const SUBFRAMES: &str = "the number of subframes";
        let fsn = fits(self.fsn, 4, "the FSN")?;
        let last = self.subframes.len().checked_sub(1).ok_or(FrameError::OutOfField(SUBFRAMES))?;
        let last = fits(last, 4, SUBFRAMES)?;
        self.subframes.iter().try_for_each(Subframe::check)?;
        let start = out.len();
        let mut writer = BitWriter::new(out);
        writer.put(0, 12).put(fsn, 4).put(0, 4).put(last, 4).put(self.cfn.into(), 8);
        for Subframe { retransmissions, number, mac_es_pdus } in &self.subframes {
            writer.put(0, 1).put((*retransmissions).into(), 4).put((*number).into(), 3);
            writer.put(mac_es_pdus.len() as u32, 4);
            for MacEsPdu { ddi, pdus, .. } in mac_es_pdus {
                writer.put((*ddi).into(), 6).put(pdus.len() as u32, 6);
            }
            writer.align();
        }
        let crc = E_DCH_HEADER.of(&out[start..]);
        out[start] = (crc >> 4 << 1) as u8;
        out[start + 1] |= (crc << 4) as u8;
        let payload = out.len();
        let mut writer = BitWriter::new(out);
        for MacEsPdu { tsn, pdu_bits, pdus, .. } in self.mac_es_pdus() {
            writer.put((*tsn).into(), 8);
            for pdu in pdus {
                writer.put_octets(pdu, (*pdu_bits).into());
            }
            writer.align();
        }
        out.extend(PAYLOAD.of(&out[payload..]).to_be_bytes());
        Ok(())
    }

    /// Parses a frame. `pdu_bits` returns the size of the MAC-d PDUs of a DDI in bits.
    ///
    /// # Errors
    /// If the frame is not a data frame, a CRC is wrong, or a DDI is unknown.
    pub fn parse(frame: &[u8], pdu_bits: impl Fn(u8) -> Option<u16>) -> Result<Self, FrameError> {
        let mut reader = Reader::new(frame);
        let (high, is_control, low) = (reader.take(7)?, reader.take(1)? == 1, reader.take(4)?);
        if is_control {
            return Err(FrameError::OtherType);
        }
        let fsn = reader.byte(4)?;
        reader.take(4)?;
        let (last, cfn) = (reader.take(4)?, reader.byte(8)?);
        let mut subframes = Vec::new();
        for _ in 0..=last {
            reader.take(1)?;
            let (retransmissions, number) = (reader.byte(4)?, reader.byte(3)?);
            let mut mac_es_pdus = Vec::new();
            for _ in 0..reader.take(4)? {
                let (ddi, count) = (reader.byte(6)?, reader.take(6)?);
                let pdu_bits = pdu_bits(ddi).ok_or(FrameError::UnknownDdi(ddi))?;
                mac_es_pdus.push(MacEsPdu { ddi, tsn: 0, pdu_bits, pdus: vec![Vec::new(); count.into()] });
            }
            reader.0.align();
            subframes.push(Subframe { retransmissions, number, mac_es_pdus });
        }
        let payload = reader.octets();
        check_header(&frame[..payload], E_DCH_HEADER, [0xfe, 0xf0], high << 4 | low)?;
        for pdu in subframes.iter_mut().flat_map(|subframe| &mut subframe.mac_es_pdus) {
            reader.take(2)?;
            pdu.tsn = reader.byte(6)?;
            for octets in &mut pdu.pdus {
                *octets = reader.pdu(pdu.pdu_bits)?;
            }
            reader.0.align();
        }
        reader.finish(frame, payload)?;
        Ok(EDchData { fsn, cfn, subframes })
    }

    /// All MAC-es PDUs in the order of the frame.
    pub fn mac_es_pdus(&self) -> impl Iterator<Item = &MacEsPdu> {
        self.subframes.iter().flat_map(|subframe| &subframe.mac_es_pdus)
    }
}

impl Subframe {
    /// An error if a value does not fit its field.
    fn check(&self) -> Result<(), FrameError> {
        fits(self.retransmissions, 4, "the number of retransmissions")?;
        fits(self.number, 3, "the number of a subframe")?;
        fits(self.mac_es_pdus.len(), 4, "the number of MAC-es PDUs")?;
        for MacEsPdu { ddi, tsn, pdu_bits, pdus } in &self.mac_es_pdus {
            fits(*ddi, 6, "a DDI")?;
            fits(*tsn, 6, "a TSN")?;
            fits(pdus.len(), 6, "the number of MAC-d PDUs")?;
            pdus.iter().try_for_each(|pdu| has_size(pdu, *pdu_bits))?;
        }
        Ok(())
    }
}
