//! Capabilities of a UE on the E-DCH (TS 25.306 table 5.1g), and the sizes of its blocks.
//!
//! A block has the size of its content. The tables of sizes of TS 25.321 annex B, which add padding, are
//! not modelled.

use umts_units::Duration;

/// The shorter TTI of the E-DCH. Only categories 2, 4 and 6 have it.
pub const SHORT_TTI: Duration = Duration::from_millis(2);

/// The longer TTI of the E-DCH, which all categories have.
pub const LONG_TTI: Duration = Duration::from_millis(10);

/// Bits of the headers of a block with PDUs of one size: DDI 6 and N 6 of MAC-e, TSN 6 of MAC-es (TS 25.321
/// §9.2.4).
pub const HEADER_BITS: u32 = 18;

/// Bits of the scheduling information in a block, and of a block with nothing else (TS 25.321 §9.2.5.3).
pub const SCHEDULING_INFORMATION_BITS: u32 = 18;

/// Largest number of PDUs in a MAC-es PDU: N has 6 bits (TS 25.321 §9.2.4).
pub const MAX_PDUS: u32 = 63;

/// An E-DCH category without 16QAM, 1 to 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Category {
    number: u8,
    long_bits: u32,
    short_bits: Option<u32>,
}

impl Category {
    /// Category `number`. `None` outside 1 to 6.
    pub fn new(number: u8) -> Option<Self> {
        let (long_bits, short_bits) = match number {
            1 => (7_110, None),
            2 => (14_484, Some(2_798)),
            3 => (14_484, None),
            4 => (20_000, Some(5_772)),
            5 => (20_000, None),
            6 => (20_000, Some(11_484)),
            _ => return None,
        };
        Some(Category { number, long_bits, short_bits })
    }

    pub fn number(self) -> u8 {
        self.number
    }

    /// Largest transport block in bits. `None` if the category does not have this TTI.
    pub fn max_bits(self, tti: Duration) -> Option<u32> {
        match tti {
            SHORT_TTI => self.short_bits,
            LONG_TTI => Some(self.long_bits),
            _ => None,
        }
    }
}

/// Number of HARQ processes. Each can be used again after that many TTIs (TS 25.212 §4.10).
pub fn processes(tti: Duration) -> u8 {
    if tti == SHORT_TTI { 8 } else { 4 }
}

/// Number of PDUs of `pdu_bits` bits that a block of `bits` bits has room for.
///
/// # Panics
/// If `pdu_bits` is 0.
pub fn pdus_in(bits: u32, pdu_bits: u32) -> u32 {
    (bits.saturating_sub(HEADER_BITS) / pdu_bits).min(MAX_PDUS)
}

/// Bits of a block with `pdus` PDUs of `pdu_bits` bits, and with scheduling information if
/// `is_reporting`.
pub fn block_bits(pdus: u32, pdu_bits: u32, is_reporting: bool) -> u32 {
    let content = if pdus > 0 { HEADER_BITS + pdus * pdu_bits } else { 0 };
    content + if is_reporting { SCHEDULING_INFORMATION_BITS } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of TS 25.306 table 5.1g.
    #[test]
    fn categories_have_the_block_sizes_of_the_standard() {
        let rows = [
            (1, 7_110, None),
            (2, 14_484, Some(2_798)),
            (3, 14_484, None),
            (4, 20_000, Some(5_772)),
            (5, 20_000, None),
            (6, 20_000, Some(11_484)),
        ];
        for (number, long, short) in rows {
            let category = Category::new(number).unwrap();
            let bits = (category.max_bits(LONG_TTI), category.max_bits(SHORT_TTI));
            assert_eq!((category.number(), bits), (number, (Some(long), short)));
        }
        assert!([0, 7, 8, 255].into_iter().all(|number| Category::new(number).is_none()));
    }

    /// PDUs of 336 bits, as the names of the bearers promise. A block of category 3 is exactly full with 43
    /// PDUs and scheduling information.
    #[test]
    fn largest_blocks_carry_whole_pdus() {
        let pdus = |number, tti| pdus_in(Category::new(number).unwrap().max_bits(tti).unwrap(), 336);
        assert_eq!((pdus(1, LONG_TTI), pdus(3, LONG_TTI), pdus(5, LONG_TTI)), (21, 43, 59));
        assert_eq!((pdus(2, SHORT_TTI), pdus(4, SHORT_TTI), pdus(6, SHORT_TTI)), (8, 17, 34));
        assert_eq!(block_bits(43, 336, true), 14_484);
        assert_eq!(block_bits(0, 336, true), 18);
    }

    /// A block that a PDU makes larger than the category allows is never chosen.
    #[test]
    fn every_size_is_at_most_the_largest_of_its_category() {
        for category in (1..=6).filter_map(Category::new) {
            for max_bits in [SHORT_TTI, LONG_TTI].into_iter().filter_map(|tti| category.max_bits(tti)) {
                for pdu_bits in [136, 144, 328, 336, 340, 656, 1_344] {
                    let max_pdus = pdus_in(max_bits, pdu_bits);
                    assert!(block_bits(max_pdus, pdu_bits, false) <= max_bits);
                    assert!(max_pdus == MAX_PDUS || block_bits(max_pdus + 1, pdu_bits, false) > max_bits);
                }
            }
        }
    }
}
