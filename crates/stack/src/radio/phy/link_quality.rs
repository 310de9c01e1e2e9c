//! Link quality on HS-DSCH: the CQI that a UE reports for an SNR, and the block error probability.
//!
//! Both curves are fits to link-level simulations: the CQI curve of EURANE, and the block error
//! probability of Brouwer et al. (ISSSTA 2004). They agree: at the lowest SNR of a CQI the
//! probability is about 0.1.

use crate::radio::mac::hs::category::MAX_CQI;

/// Step between two CQIs in dB.
pub const CQI_STEP_DB: f64 = 1.02;

/// CQI for an SNR of 0 dB, before rounding.
const CQI_OFFSET: f64 = 16.62;

/// The CQI for an SNR in dB. 0: out of range.
pub fn cqi(snr_db: f64) -> u8 {
    // NaN and values below the range become 0.
    (snr_db / CQI_STEP_DB + CQI_OFFSET).clamp(0.0, f64::from(MAX_CQI)) as u8
}

/// Lowest SNR in dB of a CQI.
pub fn lowest_snr_db(cqi: u8) -> f64 {
    (f64::from(cqi) - CQI_OFFSET) * CQI_STEP_DB
}

/// Probability that a block in the format of `cqi` cannot be decoded at an SNR in dB. The SNR is
/// that of all combined transmissions.
///
/// # Panics
/// If `cqi` is not 1 to 30.
pub fn block_error_probability(cqi: u8, snr_db: f64) -> f64 {
    assert!((1..=MAX_CQI).contains(&cqi), "formats have CQI 1 to 30, not {cqi}");
    // Brouwer et al.: BLER = (1 + 10^(2 (SNR - 1.03 CQI + 17.3) / (√3 - log10 CQI)))^(-1/0.7).
    let cqi = f64::from(cqi);
    let exponent = 2.0 * (snr_db - 1.03 * cqi + 17.3) / (libm::sqrt(3.0) - libm::log10(cqi));
    libm::pow(1.0 + libm::pow(10.0, exponent), -1.0 / 0.7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cqis_follow_the_snr_from_0_to_30() {
        let cases =
            [(f64::NEG_INFINITY, 0), (-16.0, 0), (-15.9, 1), (0.0, 16), (13.6, 29), (14.0, 30), (90.0, 30)];
        for (snr, expected) in cases {
            assert_eq!(cqi(snr), expected, "{snr} dB");
        }
    }

    #[test]
    fn a_format_fails_about_one_time_in_ten_at_the_lowest_snr_of_its_cqi() {
        for format in 5..=25 {
            let probability = block_error_probability(format, lowest_snr_db(format));
            assert!((0.07..0.11).contains(&probability), "CQI {format}: {probability}");
        }
    }

    /// Two combined transmissions have twice the SNR, 3 dB more.
    #[test]
    fn a_second_transmission_at_the_same_snr_almost_never_fails() {
        for format in 5..=25 {
            let combined_snr_db = lowest_snr_db(format) + 10.0 * libm::log10(2.0);
            assert!(block_error_probability(format, combined_snr_db) < 1e-3, "CQI {format}");
        }
    }

    #[test]
    fn the_probability_falls_with_the_snr() {
        for format in 1..=MAX_CQI {
            for snr in -20..20 {
                let probability = block_error_probability(format, f64::from(snr));
                assert!((0.0..=1.0).contains(&probability));
                assert!(block_error_probability(format, f64::from(snr + 1)) <= probability);
            }
        }
    }
}
