//! Capabilities of a UE on the HS-DSCH by its category (TS 25.306 table 5.1a), and the format of the
//! transport blocks that a Node B sends for each channel quality indicator (CQI) that a UE reports (TS
//! 25.214 tables 7A to 7D).

use super::{Modulation, block_size};

/// Highest channel quality indicator. 0 stands for "out of range".
pub const MAX_CQI: u8 = 30;

/// An HS-DSCH category without 64QAM and MIMO, 1 to 12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Category {
    number: u8,
    codes: u8,
    max_bits: u32,
    min_interval: u8,
}

/// Format of the transport blocks that a Node B sends to a UE that reported a CQI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// The CQI that stands for this format: the reported one, or the highest one with a format of
    /// its own.
    pub cqi: u8,
    /// Number of the transport block size.
    pub size: u8,
    pub codes: u8,
    pub modulation: Modulation,
    /// Power that the UE's category cannot use, in dB: the reference power adjustment of TS 25.214
    /// tables 7A to 7D with the sign changed.
    pub reduction_db: u8,
}

impl Category {
    /// Category `number`. `None` outside 1 to 12.
    pub fn new(number: u8) -> Option<Self> {
        // Codes, bits of the largest block, and TTIs between blocks.
        let (codes, max_bits, min_interval) = match number {
            1 | 2 => (5, 7_298, 3),
            3 | 4 => (5, 7_298, 2),
            5 | 6 => (5, 7_298, 1),
            7 | 8 => (10, 14_411, 1),
            9 => (15, 20_251, 1),
            10 => (15, 27_952, 1),
            11 => (5, 3_630, 2),
            12 => (5, 3_630, 1),
            _ => return None,
        };
        Some(Category { number, codes, max_bits, min_interval })
    }

    pub fn number(self) -> u8 {
        self.number
    }

    /// Largest number of HS-PDSCH codes in a TTI.
    pub fn codes(self) -> u8 {
        self.codes
    }

    /// Largest transport block in bits.
    pub fn max_bits(self) -> u32 {
        self.max_bits
    }

    /// Smallest distance of the beginnings of two transport blocks in TTIs.
    pub fn min_interval(self) -> u8 {
        self.min_interval
    }

    /// The format that a reported `cqi` stands for. `None` for 0, with which the UE can receive
    /// nothing.
    ///
    /// # Panics
    /// If `cqi` is above 30.
    pub fn format(self, cqi: u8) -> Option<Format> {
        assert!(cqi <= MAX_CQI, "a CQI is 0 to 30, not {cqi}");
        let used = cqi.min(self.highest_format());
        let row = used.checked_sub(1)?;
        let (bits, codes) = ROWS[usize::from(row)];
        let modulation = if used < FIRST_16QAM { Modulation::Qpsk } else { Modulation::Qam16 };
        let size = block_size::largest_within(bits)?;
        Some(Format { cqi: used, size, codes, modulation, reduction_db: cqi - used })
    }

    /// The format for a reported `cqi` in a cell with `codes` HS-PDSCH codes: the format of the
    /// highest CQI up to `cqi` that needs at most `codes` codes.
    ///
    /// # Panics
    /// If `cqi` is above 30.
    pub fn format_within(self, cqi: u8, codes: u8) -> Option<Format> {
        (0..=cqi).rev().filter_map(|cqi| self.format(cqi)).find(|format| format.codes <= codes)
    }

    /// The highest CQI with a format of its own: above it, the Node B sends the same format with
    /// 1 dB less for each step.
    fn highest_format(self) -> u8 {
        match self.number {
            1..=6 => 22,
            7 | 8 => 25,
            9 => 26,
            10 => 30,
            _ => 15,
        }
    }
}

impl Format {
    /// Size of the transport block in bits.
    pub fn bits(self) -> u32 {
        block_size::bits(self.size)
    }
}

/// The lowest CQI with 16QAM.
const FIRST_16QAM: u8 = 16;

/// Bits and codes for CQI 1 to 30: TS 25.214 table 7D. The tables of the other categories end at
/// lower CQIs with the same rows.
const ROWS: [(u32, u8); MAX_CQI as usize] = [
    (137, 1),
    (173, 1),
    (233, 1),
    (317, 1),
    (377, 1),
    (461, 1),
    (650, 2),
    (792, 2),
    (931, 2),
    (1_262, 3),
    (1_483, 3),
    (1_742, 3),
    (2_279, 4),
    (2_583, 4),
    (3_319, 5),
    (3_565, 5),
    (4_189, 5),
    (4_664, 5),
    (5_287, 5),
    (5_887, 5),
    (6_554, 5),
    (7_168, 5),
    (9_719, 7),
    (11_418, 8),
    (14_411, 10),
    (17_237, 12),
    (21_754, 15),
    (23_370, 15),
    (24_222, 15),
    (25_558, 15),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_1_to_12_exist() {
        assert!(
            (1..=12).all(|number| Category::new(number).is_some_and(|category| category.number() == number))
        );
        assert!([0, 13, 14, 20, 255].into_iter().all(|number| Category::new(number).is_none()));
    }

    /// Each row must be a size of annex A, to the bit, and the HS-SCCH must be able to signal it.
    #[test]
    fn every_format_has_an_exact_size_with_an_index_of_six_bits() {
        for number in 1..=12 {
            let category = Category::new(number).unwrap();
            assert_eq!(category.format(0), None);
            for cqi in 1..=MAX_CQI {
                let format = category.format(cqi).unwrap();
                let (bits, codes) = ROWS[usize::from(cqi - format.reduction_db) - 1];
                assert_eq!((format.bits(), format.codes), (bits, codes), "category {number}, CQI {cqi}");
                let index = block_size::signalled(format.size, format.modulation, format.codes);
                assert!(index.is_some(), "category {number}, CQI {cqi}");
                assert!(format.bits() <= category.max_bits() && format.codes <= category.codes());
            }
        }
    }

    #[test]
    fn the_largest_blocks_of_all_categories_are_sizes_of_annex_a() {
        for number in 1..=12 {
            let bits = Category::new(number).unwrap().max_bits();
            let size = block_size::largest_within(bits).unwrap();
            assert_eq!(block_size::bits(size), bits);
        }
    }

    #[test]
    fn above_the_last_format_of_a_category_only_power_falls() {
        let reductions = |number, cqi| Category::new(number).unwrap().format(cqi).unwrap().reduction_db;
        assert_eq!((reductions(6, 22), reductions(6, 23), reductions(6, 30)), (0, 1, 8));
        assert_eq!((reductions(8, 25), reductions(8, 30)), (0, 5));
        assert_eq!((reductions(10, 30), reductions(12, 30)), (0, 15));
    }
}
