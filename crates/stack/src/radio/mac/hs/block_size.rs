//! Transport block sizes of the HS-DSCH: TS 25.321 §9.2.3 and annex A (FDD, QPSK and 16QAM). There are
//! 254 sizes. The HS-SCCH, the control channel that announces a transmission, signals a size with 6
//! bits, relative to a size that depends on the modulation and the number of codes.

use std::sync::OnceLock;

use super::Modulation;

/// Number of transport block sizes.
pub const SIZES: u8 = 254;

/// Largest number of HS-PDSCH codes.
pub const MAX_CODES: u8 = 15;

/// Lowest size number k_0 that the HS-SCCH can signal, by modulation and by number of codes from 1
/// on: TS 25.321 §9.2.3.1.
const FIRST: [[u8; MAX_CODES as usize]; 2] = [
    [1, 40, 63, 79, 92, 102, 111, 118, 125, 131, 136, 141, 145, 150, 153],
    [40, 79, 102, 118, 131, 141, 150, 157, 164, 169, 175, 180, 184, 188, 192],
];

/// Size number `k` in bits, 1 to 254.
///
/// # Panics
/// If `k` is 0 or above 254.
pub fn bits(k: u8) -> u32 {
    assert!((1..=SIZES).contains(&k), "size numbers are 1 to 254, not {k}");
    table()[usize::from(k) - 1]
}

/// Number of the largest size of at most `bits` bits. `None` below 137 bits.
pub fn largest_within(bits: u32) -> Option<u8> {
    // At most 254.
    let count = table().partition_point(|size| *size <= bits) as u8;
    (count > 0).then_some(count)
}

/// Number of the smallest size of at least `bits` bits. `None` above 27,952 bits.
pub fn smallest_holding(bits: u32) -> Option<u8> {
    let before = table().partition_point(|size| *size < bits) as u8;
    (before < SIZES).then_some(before + 1)
}

/// The 6 bits k_i that the HS-SCCH signals for size number `k`, or `None` if that size cannot be
/// signalled with this modulation and number of codes.
///
/// # Panics
/// If `codes` is not 1 to 15.
pub fn signalled(k: u8, modulation: Modulation, codes: u8) -> Option<u8> {
    assert!((1..=MAX_CODES).contains(&codes), "1 to 15 codes, not {codes}");
    let first = FIRST[modulation as usize][usize::from(codes) - 1];
    k.checked_sub(first).filter(|index| *index < 64)
}

fn table() -> &'static [u32; SIZES as usize] {
    static TABLE: OnceLock<[u32; SIZES as usize]> = OnceLock::new();
    TABLE.get_or_init(|| std::array::from_fn(|index| computed(index as u32 + 1)))
}

/// Size number `k` in bits by the formula of annex A: L(k) = 125 + 12 k for k < 40, and otherwise
/// L(k) = ⌊296 (2085/2048)^k⌋.
fn computed(k: u32) -> u32 {
    if k < 40 { 125 + 12 * k } else { (296.0 * libm::pow(2085.0 / 2048.0, f64::from(k))) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_distinct_and_rise_from_137_to_27952_bits() {
        assert_eq!((bits(1), bits(39), bits(40), bits(254)), (137, 593, 605, 27_952));
        assert!((2..=SIZES).all(|k| bits(k) > bits(k - 1)));
    }

    /// Otherwise a rounding error of `libm::pow` could change the size.
    #[test]
    fn no_size_is_within_a_millionth_of_the_next_whole_number() {
        for k in 40..=u32::from(SIZES) {
            let exact = 296.0 * libm::pow(2085.0 / 2048.0, f64::from(k));
            assert!((exact - exact.round()).abs() > 1e-6, "size {k}: {exact}");
        }
    }

    #[test]
    fn a_size_is_found_from_its_bits() {
        for k in 1..=SIZES {
            assert_eq!(largest_within(bits(k)), Some(k));
            assert_eq!(smallest_holding(bits(k)), Some(k));
            assert_eq!(largest_within(bits(k) - 1), k.checked_sub(1).filter(|k| *k > 0));
        }
        assert_eq!((largest_within(136), smallest_holding(27_953)), (None, None));
    }

    #[test]
    fn the_hs_scch_signals_64_sizes_for_each_modulation_and_number_of_codes() {
        for modulation in [Modulation::Qpsk, Modulation::Qam16] {
            for codes in 1..=MAX_CODES {
                let known = (1..=SIZES).filter(|k| signalled(*k, modulation, codes).is_some());
                let first = FIRST[modulation as usize][usize::from(codes) - 1];
                assert_eq!(known.count(), 64.min(usize::from(SIZES - first) + 1));
                assert_eq!(signalled(first, modulation, codes), Some(0));
            }
        }
    }
}
