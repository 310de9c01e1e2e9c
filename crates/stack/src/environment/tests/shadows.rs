//! Distribution and correlation of shadows, and their independence of the times of measurement.

use super::*;

const MOBILES: u64 = 20_000;
const SITES: usize = 4;
const ALL: [u16; SITES] = [0, 1, 2, 3];

fn model() -> Shadowing {
    Shadowing::new(&ShadowingConfig::default())
}

/// Shadows in dB for mobile `id`: for each travelled distance in m the shadow of each site. The
/// mobile is measured only at these distances.
fn shadows(id: u64, travelled: &[f64]) -> Vec<[f64; SITES]> {
    let draws = Streams::new(5, 0).addressed(&format!("environment/{id}"));
    let model = model();
    let mut shadows = Shadows::default();
    let mut at = |&metres| {
        model.advance(&mut shadows, &ALL, &draws, metres);
        std::array::from_fn(|site| model.of_site(&shadows, site) / propagation::DECIBEL)
    };
    travelled.iter().map(&mut at).collect()
}

/// Asserts that the products of two normal variables of deviation 10 dB have the correlation
/// `expected`, within five standard errors.
#[track_caller]
fn assert_covariance(products: impl Iterator<Item = f64>, expected: f64) {
    let products: Vec<f64> = products.collect();
    let mean = products.iter().sum::<f64>() / products.len() as f64;
    let bound = 5.0 * 100.0 * libm::sqrt((1.0 + expected * expected) / products.len() as f64);
    assert!((mean - 100.0 * expected).abs() < bound, "{mean} is not within {bound} of {}", 100.0 * expected);
}

#[test]
fn correlation_is_one_half_at_20_metres_and_a_quarter_at_40() {
    // Points are 20 m / 16 = 1.25 m apart. After the first distance: one point, then one, two and
    // five decorrelation distances of 20 m.
    let travelled = [3.75, 5.0, 23.75, 43.75, 103.75];
    let mobiles: Vec<_> = (0..MOBILES).map(|id| shadows(id, &travelled)).collect();
    let one_point = libm::exp2(-1.0 / shadowing::POINTS as f64);
    for (distance, expected) in [1.0, one_point, 0.5, 0.25, 0.031_25].into_iter().enumerate() {
        assert_covariance(mobiles.iter().map(|shadows| shadows[0][1] * shadows[distance][1]), expected);
    }
    // The standard deviation is 10 dB at each distance. All are between knots, which are at the
    // multiples of 20 m.
    for distance in 0..travelled.len() {
        assert_covariance(mobiles.iter().map(|shadows| shadows[distance][0] * shadows[distance][0]), 1.0);
    }
}

#[test]
fn shadows_of_two_sites_have_a_correlation_of_one_half() {
    let mobiles: Vec<_> = (0..MOBILES).map(|id| shadows(id, &[11.0])[0]).collect();
    for (first_site, second_site, expected) in [(0, 1, 0.5), (1, 3, 0.5), (2, 2, 1.0)] {
        let products = mobiles.iter().map(|shadows| shadows[first_site] * shadows[second_site]);
        assert_covariance(products, expected);
    }
}

#[test]
fn shadows_are_normal() {
    let values: Vec<f64> = (0..MOBILES).map(|id| shadows(id, &[31.0])[0][2] / 10.0).collect();
    // Moments of the standard normal distribution, and the variances of the powers.
    for (power, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
        let moment = values.iter().map(|value| value.powi(power)).sum::<f64>() / MOBILES as f64;
        let bound = 5.0 * libm::sqrt(variance / MOBILES as f64);
        assert!((moment - expected).abs() < bound, "moment {power} is {moment}");
    }
}

/// A shadow has the same value, not only the same distribution, for any steps of the measurement.
#[test]
fn shadow_does_not_depend_on_the_step_length() {
    let short: Vec<f64> = (0..=10).map(|step| 4.0 * f64::from(step)).collect();
    for id in 0..200 {
        assert_eq!(shadows(id, &[40.0])[0], shadows(id, &short)[10], "{id}");
        assert_eq!(shadows(id, &[33.0])[0], shadows(id, &[0.0, 19.9, 20.0, 33.0])[3], "{id}");
    }
}

#[test]
fn sectors_of_a_site_have_one_shadow() {
    // Any seed and mobile would do.
    let (seed, mobile) = (4, 17);
    let [clear, shadowed] = [0.0, 10.0].map(|deviation| still(&environment(deviation, seed), mobile));
    assert_eq!(clear.place(), shadowed.place());
    let difference =
        |cell: u16| decibels(shadowed.gains().of(CellId(cell))) - decibels(clear.gains().of(CellId(cell)));
    // The 12 sites of `torus`, with three cells each.
    for site in 0..12 {
        for sector in 1..3 {
            assert!((difference(3 * site) - difference(3 * site + sector)).abs() < 1e-9);
        }
    }
    assert!((difference(0) - difference(3)).abs() > 1e-3);
}
