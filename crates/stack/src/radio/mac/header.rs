//! MAC headers of FDD: TS 25.321 §9.2.1 (MAC-d and MAC-c/sh) and §9.2.2 (MAC-hs), release 5. A header
//! precedes the SDU, an RLC PDU, in a transport block. TCTF (target channel type field) names the type
//! of the logical channel on a common channel, an RNTI the UE, and C/T the number of the logical
//! channel. Widths are in bits:
//!
//! ```text
//!   DTCH or DCCH on DCH, multiplexed           │ C/T 4 │ SDU                                          4 bits
//!   DTCH or DCCH on RACH       │ TCTF 01 │ 01 │ C-RNTI 16 │ C/T 4 │ SDU                             24 bits
//!   DTCH or DCCH on FACH       │ TCTF 11 │ 01 │ C-RNTI 16 │ C/T 4 │ SDU                             24 bits
//!   DCCH on FACH               │ TCTF 11 │ 00 │ U-RNTI 32 │ C/T 4 │ SDU                             40 bits
//!   CCCH on RACH, BCCH on FACH │ TCTF 00 │ SDU                                                        2 bits
//!   CCCH on FACH               │ TCTF 01000000 │ SDU                                                  8 bits
//!   CTCH on FACH               │ TCTF 10000000 │ SDU                                                  8 bits
//!   DTCH on DSCH               │ UE-Id type 01 │ DSCH-RNTI 16 │ (C/T 4) │ SDU                   18 or 22 bits
//!   MAC-hs PDU                 │ VF 0 │ queue 3 │ TSN 6 │ { SID 3 │ N 7 │ F 1 } │ SDUs        10 + 11 each
//! ```
//!
//! A single logical channel on a DCH, BCCH on BCH and PCCH on PCH have no header. The row of the DSCH
//! is not verified: it is from general knowledge, and no tool used in the tests decodes it.

mod mac_ehs;
mod mac_hs;

#[cfg(test)]
mod tests;

use thiserror::Error;

pub use mac_ehs::{MacEhsHeader, MacEhsPart};
pub use mac_hs::{MacHsHeader, MacHsSizes};

use super::transport_channel::Channel;
use crate::radio::bits::{BitReader, BitWriter};

// Widths of fields in bits.
const TCTF_SHORT: u32 = 2;
const TCTF_LONG: u32 = 8;
const UE_ID_TYPE: u32 = 2;
const CT: u32 = 4;
// Values of the UE-Id type.
const U_RNTI_TYPE: u32 = 0b00;
const C_RNTI_TYPE: u32 = 0b01;
// Values of the TCTF by transport channel.
const RACH_CCCH: u32 = 0b00;
const RACH_DEDICATED: u32 = 0b01;
const FACH_BCCH: u32 = 0b00;
const FACH_DEDICATED: u32 = 0b11;
const FACH_CCCH: u32 = 0b0100_0000;
const FACH_CTCH: u32 = 0b1000_0000;

/// A block without a valid header of this release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("at bit {bit}: {rule}")]
pub struct MacError {
    /// The first bit of the field that breaks the rule.
    pub bit: usize,
    pub rule: MacRule,
}

/// A rule of TS 25.321 §9.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MacRule {
    #[error("the block ends inside its header")]
    Truncated,
    /// A TCTF that is reserved on this channel.
    #[error("this TCTF is reserved (§9.2.1)")]
    ReservedTctf,
    /// A UE-Id type that is reserved on this channel.
    #[error("this UE-Id type is reserved (§9.2.1)")]
    ReservedUeIdType,
    /// C/T is 15.
    #[error("this logical channel is reserved (§9.2.1)")]
    ReservedLogicalChannel,
    #[error("the version flag is zero (§9.2.2)")]
    Version,
    /// A value of a MAC-hs header is out of the range of its field.
    #[error(
        "a MAC-hs header has a queue of 3 bits, a TSN of 6, and sizes of 3 bits with 1 to 127 PDUs (§9.2.2)"
    )]
    OutOfField,
}

/// Logical channel 1 to 15 of a UE. C/T is one less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogicalChannel(u8);

impl LogicalChannel {
    /// `None` unless `number` is 1 to 15.
    pub fn new(number: u8) -> Option<Self> {
        (1..=15).contains(&number).then_some(LogicalChannel(number))
    }

    /// From 1 to 15.
    pub fn number(self) -> u8 {
        self.0
    }
}

/// Identity of the UE on a common channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UeAddress {
    /// 32 bits, unique in UTRAN. For DCCH in the downlink only.
    URnti(u32),
    /// 16 bits, unique in the cell.
    CRnti(u16),
}

/// MAC header of a block on a DCH, RACH, FACH, DSCH, BCH or PCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MacHeader {
    /// A DCH with one logical channel, BCH, PCH, or a MAC-d PDU of one logical channel.
    Absent,
    /// A DCH with several logical channels.
    Dch(LogicalChannel),
    /// DTCH or DCCH on RACH, with the C-RNTI.
    RachDedicated(u16, LogicalChannel),
    /// CCCH on RACH.
    RachCcch,
    /// DTCH or DCCH on FACH.
    FachDedicated(UeAddress, LogicalChannel),
    /// CCCH on FACH.
    FachCcch,
    /// BCCH on FACH.
    FachBcch,
    /// CTCH on FACH.
    FachCtch,
    /// DTCH on DSCH, with the DSCH-RNTI, and with C/T if several logical channels share the DSCH.
    Dsch(u16, Option<LogicalChannel>),
}

/// The transport channel of a block, as far as the header depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderChannel {
    /// BCH, PCH, or a DCH with one logical channel.
    Headless,
    /// A DCH with several logical channels.
    SharedDch,
    Rach,
    Fach,
    Dsch {
        /// Whether several logical channels share the DSCH.
        multiplexed: bool,
    },
}

impl MacHeader {
    /// Parses the header of a block.
    ///
    /// # Errors
    /// Returns the first rule that the block violates, and its position.
    pub fn parse(block: &[u8], channel: HeaderChannel) -> Result<Self, MacError> {
        let mut reader = Reader(BitReader::new(block));
        match channel {
            HeaderChannel::Headless => Ok(MacHeader::Absent),
            HeaderChannel::SharedDch => Ok(MacHeader::Dch(reader.ct()?)),
            HeaderChannel::Rach => match reader.take(TCTF_SHORT)? {
                RACH_CCCH => Ok(MacHeader::RachCcch),
                // On RACH a UE is always identified by its C-RNTI.
                RACH_DEDICATED => Ok(MacHeader::RachDedicated(reader.rnti16()?, reader.ct()?)),
                _ => Err(MacRule::ReservedTctf.at(0)),
            },
            HeaderChannel::Fach => match reader.take(TCTF_SHORT)? {
                FACH_BCCH => Ok(MacHeader::FachBcch),
                FACH_DEDICATED => Ok(MacHeader::FachDedicated(reader.address()?, reader.ct()?)),
                // A TCTF of 8 bits: the first two, then six more.
                first_two_bits => {
                    let other_bits = TCTF_LONG - TCTF_SHORT;
                    match first_two_bits << other_bits | reader.take(other_bits)? {
                        FACH_CCCH => Ok(MacHeader::FachCcch),
                        FACH_CTCH => Ok(MacHeader::FachCtch),
                        _ => Err(MacRule::ReservedTctf.at(0)),
                    }
                }
            },
            HeaderChannel::Dsch { multiplexed } => {
                let rnti = reader.rnti16()?;
                let ct = if multiplexed { Some(reader.ct()?) } else { None };
                Ok(MacHeader::Dsch(rnti, ct))
            }
        }
    }

    /// Appends a block with this header and the first `bits` bits of `sdu` to `out`. The last octet
    /// is padded with zeros.
    ///
    /// # Panics
    /// Panics if `sdu` has fewer bits.
    pub fn emit(&self, sdu: &[u8], bits: usize, out: &mut Vec<u8>) {
        let mut writer = BitWriter::new(out);
        match *self {
            MacHeader::Absent => {}
            MacHeader::Dch(channel) => put_ct(&mut writer, channel),
            MacHeader::RachDedicated(c_rnti, channel) => {
                put_rnti16(writer.put(RACH_DEDICATED, TCTF_SHORT), c_rnti);
                put_ct(&mut writer, channel);
            }
            MacHeader::RachCcch => {
                writer.put(RACH_CCCH, TCTF_SHORT);
            }
            MacHeader::FachDedicated(address, channel) => {
                writer.put(FACH_DEDICATED, TCTF_SHORT);
                match address {
                    UeAddress::URnti(u_rnti) => {
                        writer.put(U_RNTI_TYPE, UE_ID_TYPE).put(u_rnti, 32);
                    }
                    UeAddress::CRnti(c_rnti) => put_rnti16(&mut writer, c_rnti),
                }
                put_ct(&mut writer, channel);
            }
            MacHeader::FachCcch => {
                writer.put(FACH_CCCH, TCTF_LONG);
            }
            MacHeader::FachBcch => {
                writer.put(FACH_BCCH, TCTF_SHORT);
            }
            MacHeader::FachCtch => {
                writer.put(FACH_CTCH, TCTF_LONG);
            }
            MacHeader::Dsch(rnti, channel) => {
                put_rnti16(&mut writer, rnti);
                if let Some(channel) = channel {
                    put_ct(&mut writer, channel);
                }
            }
        }
        writer.put_octets(sdu, bits);
    }

    /// Length of the header in bits.
    pub fn bits(&self) -> u32 {
        let rnti16 = UE_ID_TYPE + 16;
        match self {
            MacHeader::Absent => 0,
            MacHeader::Dch(_) => CT,
            MacHeader::RachDedicated(..) | MacHeader::FachDedicated(UeAddress::CRnti(_), _) => {
                TCTF_SHORT + rnti16 + CT
            }
            MacHeader::FachDedicated(UeAddress::URnti(_), _) => TCTF_SHORT + UE_ID_TYPE + 32 + CT,
            MacHeader::RachCcch | MacHeader::FachBcch => TCTF_SHORT,
            MacHeader::FachCcch | MacHeader::FachCtch => TCTF_LONG,
            MacHeader::Dsch(_, ct) => rnti16 + if ct.is_some() { CT } else { 0 },
        }
    }

    /// Header of the PDUs of a user's bearer on `channel`: none on a dedicated channel, with the
    /// C-RNTI on common channels, and with the DSCH-RNTI on a DSCH, which here has the same value.
    pub fn of_bearer(channel: Channel, c_rnti: u16, number: LogicalChannel) -> Self {
        match channel {
            Channel::Dch | Channel::HsDsch | Channel::EDch | Channel::Ack => MacHeader::Absent,
            Channel::Dsch => MacHeader::Dsch(c_rnti, None),
            Channel::Rach => MacHeader::RachDedicated(c_rnti, number),
            Channel::Fach => MacHeader::FachDedicated(UeAddress::CRnti(c_rnti), number),
        }
    }
}

/// The `bits` bits of a block after its header of `header` bits. The last octet is padded with
/// zeros. `None` if the block is shorter.
pub fn sdu_bits(block: &[u8], header: usize, bits: usize) -> Option<Vec<u8>> {
    let mut reader = BitReader::new(block);
    let mut header_left = header;
    while header_left > 0 {
        let width = header_left.min(32);
        reader.take(width as u32)?;
        header_left -= width;
    }
    reader.take_octets(bits)
}

impl MacRule {
    fn at(self, bit: usize) -> MacError {
        MacError { bit, rule: self }
    }
}

/// Reads the fields of a header, and reports the position of a wrong one.
struct Reader<'a>(BitReader<'a>);

impl Reader<'_> {
    fn take(&mut self, width: u32) -> Result<u32, MacError> {
        let bit = self.0.at();
        self.0.take(width).ok_or(MacRule::Truncated.at(bit))
    }

    fn ct(&mut self) -> Result<LogicalChannel, MacError> {
        let bit = self.0.at();
        let number = self.take(CT)? as u8 + 1;
        LogicalChannel::new(number).ok_or(MacRule::ReservedLogicalChannel.at(bit))
    }

    fn address(&mut self) -> Result<UeAddress, MacError> {
        let bit = self.0.at();
        match self.take(UE_ID_TYPE)? {
            U_RNTI_TYPE => Ok(UeAddress::URnti(self.take(32)?)),
            C_RNTI_TYPE => Ok(UeAddress::CRnti(self.take(16)? as u16)),
            _ => Err(MacRule::ReservedUeIdType.at(bit)),
        }
    }

    /// Reads a UE identity that must have 16 bits.
    fn rnti16(&mut self) -> Result<u16, MacError> {
        let bit = self.0.at();
        match self.address()? {
            UeAddress::CRnti(rnti) => Ok(rnti),
            UeAddress::URnti(_) => Err(MacRule::ReservedUeIdType.at(bit)),
        }
    }
}

fn put_ct(writer: &mut BitWriter<'_>, channel: LogicalChannel) {
    writer.put(u32::from(channel.0) - 1, CT);
}

fn put_rnti16(writer: &mut BitWriter<'_>, rnti: u16) {
    writer.put(C_RNTI_TYPE, UE_ID_TYPE).put(rnti.into(), 16);
}
