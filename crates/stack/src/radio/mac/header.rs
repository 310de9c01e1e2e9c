//! MAC headers of FDD: TS 25.321 §9.2.1 (MAC-d and MAC-c/sh) and §9.2.2 (MAC-hs), release 5.
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
//! One logical channel alone on a DCH, BCCH on BCH and PCCH on PCH have no header. The row of the DSCH is UNSURE: it is
//! from general knowledge, and nothing here that could judge it has seen one.

use thiserror::Error;

use crate::radio::bits::{BitReader, BitWriter};
use crate::trace::Channel;

const TCTF_SHORT: u32 = 2;
const TCTF_LONG: u32 = 8;
const UE_ID_TYPE: u32 = 2;
const U_RNTI_TYPE: u32 = 0b00;
const C_RNTI_TYPE: u32 = 0b01;
const CT: u32 = 4;
const RACH_CCCH: u32 = 0b00;
const RACH_DEDICATED: u32 = 0b01;
const FACH_BCCH: u32 = 0b00;
const FACH_DEDICATED: u32 = 0b11;
const FACH_CCCH: u32 = 0b0100_0000;
const FACH_CTCH: u32 = 0b1000_0000;

/// A block whose header is none of this release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("at bit {bit}: {rule}")]
pub struct MacError {
    /// The first bit of the field that breaks the rule.
    pub bit: usize,
    /// The rule.
    pub rule: MacRule,
}

/// A rule of TS 25.321 §9.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MacRule {
    /// It ends inside the header.
    #[error("the block ends inside its header")]
    Truncated,
    /// A TCTF without a meaning on this channel.
    #[error("this TCTF is reserved (§9.2.1)")]
    ReservedTctf,
    /// A UE-Id type without a meaning on this channel.
    #[error("this UE-Id type is reserved (§9.2.1)")]
    ReservedUeIdType,
    /// C/T is 15.
    #[error("this logical channel is reserved (§9.2.1)")]
    ReservedLogicalChannel,
    /// Another version of the MAC-hs header.
    #[error("the version flag is zero (§9.2.2)")]
    Version,
    /// The numbers of a MAC-hs header are not those that its fields hold.
    #[error(
        "a MAC-hs header has a queue of 3 bits, a TSN of 6, and sizes of 3 bits with 1 to 127 PDUs (§9.2.2)"
    )]
    OutOfField,
}

/// Logical channel 1 to 15 of a UE: C/T is one less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogicalChannel(u8);

impl LogicalChannel {
    /// Channel number `number`, from 1 to 15.
    pub fn new(number: u8) -> Option<Self> {
        (1..=15).contains(&number).then_some(LogicalChannel(number))
    }

    /// From 1 to 15.
    pub fn number(self) -> u8 {
        self.0
    }
}

/// Who a block on a common channel is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UeAddress {
    /// UTRAN's: 32 bits. DCCH in the downlink only.
    URnti(u32),
    /// The cell's: 16 bits.
    CRnti(u16),
}

/// What a block on a DCH, RACH, FACH, DSCH, BCH or PCH begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MacHeader {
    /// Nothing: a DCH with one logical channel, BCH, PCH, a MAC-d PDU of one logical channel.
    Absent,
    /// Several logical channels share a DCH.
    Dch(LogicalChannel),
    /// DTCH or DCCH on RACH.
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
    /// DTCH on DSCH, with C/T if several logical channels share it.
    Dsch(u16, Option<LogicalChannel>),
}

/// The transport channel that a block came on, as far as its header depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CameOn {
    /// BCH, PCH, or a DCH with one logical channel.
    Headless,
    /// A DCH that logical channels share.
    SharedDch,
    /// RACH.
    Rach,
    /// FACH.
    Fach,
    /// DSCH.
    Dsch {
        /// Logical channels share it.
        multiplexed: bool,
    },
}

impl MacHeader {
    /// Reads the header of a block.
    ///
    /// # Errors
    /// The first rule that it breaks, and where.
    pub fn parse(block: &[u8], on: CameOn) -> Result<Self, MacError> {
        let mut reader = Reader(BitReader::new(block));
        match on {
            CameOn::Headless => Ok(MacHeader::Absent),
            CameOn::SharedDch => Ok(MacHeader::Dch(reader.ct()?)),
            CameOn::Rach => match reader.take(TCTF_SHORT)? {
                RACH_CCCH => Ok(MacHeader::RachCcch),
                // The UE always names itself by its C-RNTI.
                RACH_DEDICATED => Ok(MacHeader::RachDedicated(reader.rnti16()?, reader.ct()?)),
                _ => Err(MacRule::ReservedTctf.at(0)),
            },
            CameOn::Fach => match reader.take(TCTF_SHORT)? {
                FACH_BCCH => Ok(MacHeader::FachBcch),
                FACH_DEDICATED => Ok(MacHeader::FachDedicated(reader.address()?, reader.ct()?)),
                high => match high << (TCTF_LONG - TCTF_SHORT) | reader.take(TCTF_LONG - TCTF_SHORT)? {
                    FACH_CCCH => Ok(MacHeader::FachCcch),
                    FACH_CTCH => Ok(MacHeader::FachCtch),
                    _ => Err(MacRule::ReservedTctf.at(0)),
                },
            },
            CameOn::Dsch { multiplexed } => {
                let rnti = reader.rnti16()?;
                let ct = if multiplexed { Some(reader.ct()?) } else { None };
                Ok(MacHeader::Dsch(rnti, ct))
            }
        }
    }

    /// Appends a block of this header and the first `bits` bits of `sdu` to `out`; its last octet is filled with zeros.
    ///
    /// # Panics
    /// If `sdu` has fewer bits.
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
        put_bits(&mut writer, sdu, bits);
    }

    /// Its bits.
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

    /// What stands in front of the PDUs of a user's bearer on `channel`: nothing on a DCH of its own, the C-RNTI on
    /// common channels.
    pub fn of_bearer(channel: Channel, c_rnti: u16, number: LogicalChannel) -> Self {
        match channel {
            Channel::Dch => MacHeader::Absent,
            Channel::Rach => MacHeader::RachDedicated(c_rnti, number),
            Channel::Fach => MacHeader::FachDedicated(UeAddress::CRnti(c_rnti), number),
        }
    }
}

/// The bits of a block behind its header of `header` bits, in whole octets, the last filled with zeros.
pub fn sdu_bits(block: &[u8], header: usize, bits: usize) -> Option<Vec<u8>> {
    let mut reader = BitReader::new(block);
    let mut skip = header;
    while skip > 0 {
        let step = skip.min(32);
        reader.take(step as u32)?;
        skip -= step;
    }
    let mut out = Vec::with_capacity(bits.div_ceil(8));
    let mut writer = BitWriter::new(&mut out);
    for at in (0..bits).step_by(8) {
        let width = (bits - at).min(8) as u32;
        writer.put(reader.take(width)?, width);
    }
    Some(out)
}

/// MAC-d PDUs of one size in a MAC-hs PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacHsSizes {
    /// Size index identifier, 3 bits: which size, by RRC's table.
    pub sid: u8,
    /// How many PDUs follow each other with it, 1 to 127.
    pub pdus: u8,
}

/// What a MAC-hs PDU on HS-DSCH begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacHsHeader {
    queue: u8,
    tsn: u8,
    sizes: Vec<MacHsSizes>,
}

impl MacHsHeader {
    /// A header: queue 0 to 7, transmission sequence number 0 to 63, and what is inside.
    ///
    /// # Errors
    /// If a number does not fit its field, or nothing is inside.
    pub fn new(queue: u8, tsn: u8, sizes: Vec<MacHsSizes>) -> Result<Self, MacError> {
        let fits = |size: &MacHsSizes| size.sid < 8 && (1..128).contains(&size.pdus);
        if queue < 8 && tsn < 64 && !sizes.is_empty() && sizes.iter().all(fits) {
            Ok(MacHsHeader { queue, tsn, sizes })
        } else {
            Err(MacRule::OutOfField.at(1))
        }
    }

    /// Reads the header of a MAC-hs PDU.
    ///
    /// # Errors
    /// The first rule that it breaks, and where.
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

    /// Appends a MAC-hs PDU of this header and the first `bits` bits of `pdus` to `out`.
    ///
    /// # Panics
    /// If `pdus` has fewer bits.
    pub fn emit(&self, pdus: &[u8], bits: usize, out: &mut Vec<u8>) {
        let mut writer = BitWriter::new(out);
        writer.put(0, 1).put(self.queue.into(), 3).put(self.tsn.into(), 6);
        for (index, size) in self.sizes.iter().enumerate() {
            let last = index + 1 == self.sizes.len();
            writer.put(size.sid.into(), 3).put(size.pdus.into(), 7).put(last.into(), 1);
        }
        put_bits(&mut writer, pdus, bits);
    }

    /// Its bits: 21 with one size.
    pub fn bits(&self) -> u32 {
        10 + 11 * self.sizes.len() as u32
    }

    /// The reordering queue.
    pub fn queue(&self) -> u8 {
        self.queue
    }

    /// The transmission sequence number.
    pub fn tsn(&self) -> u8 {
        self.tsn
    }

    /// What is inside.
    pub fn sizes(&self) -> &[MacHsSizes] {
        &self.sizes
    }
}

impl MacRule {
    fn at(self, bit: usize) -> MacError {
        MacError { bit, rule: self }
    }
}

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

    /// An address that can only have 16 bits.
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

fn put_bits(writer: &mut BitWriter<'_>, octets: &[u8], bits: usize) {
    for at in (0..bits).step_by(8) {
        let width = (bits - at).min(8);
        writer.put(u32::from(octets[at / 8]) >> (8 - width), width as u32);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn channel(number: u8) -> LogicalChannel {
        LogicalChannel::new(number).expect("1 to 15")
    }

    fn block(header: MacHeader) -> Vec<u8> {
        let mut block = Vec::new();
        header.emit(&[0xFF; 42], 336, &mut block);
        block
    }

    #[test]
    fn blocks_have_the_sizes_of_ts_34_108() {
        let dtch = channel(9);
        let bits = |header: MacHeader| header.bits() + 336;
        assert_eq!(bits(MacHeader::Absent), 336);
        assert_eq!(bits(MacHeader::Dch(dtch)), 340);
        assert_eq!(bits(MacHeader::RachDedicated(7, dtch)), 360);
        assert_eq!(bits(MacHeader::FachDedicated(UeAddress::CRnti(7), dtch)), 360);
        assert_eq!(bits(MacHeader::FachDedicated(UeAddress::URnti(7), dtch)), 376);
        // CCCH: transparent mode up, unacknowledged mode down.
        assert_eq!(MacHeader::RachCcch.bits() + 166, 168);
        assert_eq!(MacHeader::FachCcch.bits() + 8 + 152, 168);
        assert_eq!(MacHsHeader::new(0, 0, vec![MacHsSizes { sid: 0, pdus: 3 }]).expect("fits").bits(), 21);
    }

    #[test]
    fn headers_have_these_bits() {
        // The first octets of blocks that tshark reads as C-RNTI 0x1234 (U-RNTI 0x00200004) and C/T 8, behind them ones.
        let begins = |header: MacHeader, octets: &[u8]| assert_eq!(&block(header)[..octets.len()], octets);
        let dtch = channel(9);
        begins(MacHeader::Dch(dtch), &[0x8F, 0xFF]);
        begins(MacHeader::FachDedicated(UeAddress::CRnti(0x1234), dtch), &[0xD1, 0x23, 0x48, 0xFF]);
        begins(
            MacHeader::FachDedicated(UeAddress::URnti(0x0020_0004), dtch),
            &[0xC0, 0x02, 0x00, 0x00, 0x48, 0xFF],
        );
        begins(MacHeader::RachDedicated(0x1234, dtch), &[0x51, 0x23, 0x48, 0xFF]);
        begins(MacHeader::FachCcch, &[0x40, 0xFF]);
        begins(MacHeader::FachCtch, &[0x80, 0xFF]);
        begins(MacHeader::FachBcch, &[0x3F]);
        begins(MacHeader::RachCcch, &[0x3F]);
    }

    #[test]
    fn what_is_reserved_is_refused() {
        let rule = |block: &[u8], on| MacHeader::parse(block, on).expect_err("it is reserved");
        assert_eq!(rule(&[0b1100_0000], CameOn::Rach), MacRule::ReservedTctf.at(0));
        assert_eq!(rule(&[0b0100_0001], CameOn::Fach), MacRule::ReservedTctf.at(0));
        assert_eq!(rule(&[0b1110_0000], CameOn::Fach), MacRule::ReservedUeIdType.at(2));
        assert_eq!(rule(&[0b0100_0000; 9], CameOn::Rach), MacRule::ReservedUeIdType.at(2));
        assert_eq!(rule(&[0xF0], CameOn::SharedDch), MacRule::ReservedLogicalChannel.at(0));
        assert_eq!(rule(&[0b1101_0000, 0], CameOn::Fach), MacRule::Truncated.at(4));
        assert_eq!(MacHsHeader::parse(&[0x80]), Err(MacRule::Version.at(0)));
        assert_eq!(MacHsHeader::parse(&[0, 0, 0]), Err(MacRule::OutOfField.at(13)));
        assert_eq!(MacHsHeader::parse(&[0]), Err(MacRule::Truncated.at(4)));
    }

    fn header() -> impl Strategy<Value = (MacHeader, CameOn)> {
        (any::<u16>(), any::<u32>(), 1u8..=15).prop_flat_map(|(c_rnti, u_rnti, number)| {
            let number = channel(number);
            select(vec![
                (MacHeader::Absent, CameOn::Headless),
                (MacHeader::Dch(number), CameOn::SharedDch),
                (MacHeader::RachDedicated(c_rnti, number), CameOn::Rach),
                (MacHeader::RachCcch, CameOn::Rach),
                (MacHeader::FachDedicated(UeAddress::CRnti(c_rnti), number), CameOn::Fach),
                (MacHeader::FachDedicated(UeAddress::URnti(u_rnti), number), CameOn::Fach),
                (MacHeader::FachCcch, CameOn::Fach),
                (MacHeader::FachBcch, CameOn::Fach),
                (MacHeader::FachCtch, CameOn::Fach),
                (MacHeader::Dsch(c_rnti, None), CameOn::Dsch { multiplexed: false }),
                (MacHeader::Dsch(c_rnti, Some(number)), CameOn::Dsch { multiplexed: true }),
            ])
        })
    }

    proptest! {
        #[test]
        fn headers_survive((header, on) in header(), sdu in proptest::collection::vec(any::<u8>(), 0..50), cut in 0usize..8) {
            let bits = (sdu.len() * 8).saturating_sub(cut);
            let mut block = Vec::new();
            header.emit(&sdu, bits, &mut block);
            prop_assert_eq!(block.len(), (header.bits() as usize + bits).div_ceil(8));
            prop_assert_eq!(MacHeader::parse(&block, on), Ok(header));
            let mut again = Vec::new();
            header.emit(&sdu_bits(&block, header.bits() as usize, bits).expect("all is there"), bits, &mut again);
            prop_assert_eq!(again, block);
        }

        #[test]
        fn any_block_has_a_header_or_an_error(block in proptest::collection::vec(any::<u8>(), 0..12)) {
            for on in [CameOn::Headless, CameOn::SharedDch, CameOn::Rach, CameOn::Fach,
                       CameOn::Dsch { multiplexed: false }, CameOn::Dsch { multiplexed: true }] {
                match MacHeader::parse(&block, on) {
                    Ok(header) => {
                        let rest = block.len() * 8 - header.bits() as usize;
                        let sdu = sdu_bits(&block, header.bits() as usize, rest).expect("all is there");
                        let mut again = Vec::new();
                        header.emit(&sdu, rest, &mut again);
                        prop_assert_eq!(&again, &block);
                    }
                    Err(error) => prop_assert!(error.bit <= block.len() * 8),
                }
            }
            if let Ok(header) = MacHsHeader::parse(&block) {
                let rest = block.len() * 8 - header.bits() as usize;
                let pdus = sdu_bits(&block, header.bits() as usize, rest).expect("all is there");
                let mut again = Vec::new();
                header.emit(&pdus, rest, &mut again);
                prop_assert_eq!(&again, &block);
            }
        }
    }
}
