//! Log-normal shadowing along the path of a mobile, one value per site. A shadow is the deviation
//! of the gain from the path loss model.
//!
//! ```text
//!   knots, one decorrelation distance apart:  K' = ρ K + √(1 - ρ²) w,   ρ = 1/2
//!   points between two knots:                 drawn given the previous point and the next knot
//! ```
//!
//! The shadow along the path is an autoregressive process, with a correlation of one half at the
//! decorrelation distance (UMTS 30.03 B.1.4, after Gudmundson). Knots are computed one after
//! another. Points between two knots are drawn from the conditional distribution of the same process
//! (a bridge). Each draw is addressed by the mobile, the point of its path and the site. So a shadow
//! depends only on the travelled distance, not on the times of the updates: users have the same
//! shadows under all schedulers.
//!
//! A shadow is the sum of a part common to all sites and a part of the site, both standard normal
//! values times a deviation. The sectors of a site have the same shadow (TR 25.942). Sites out of
//! reach have only a mean shadow and need no draws. The influence of a knot halves with each
//! following knot. So for a site that comes into reach, and for a mobile that has moved far, the
//! process starts only 128 knots back: the result equals that of the whole process.

use std::f64::consts::LN_2;

use umts_kernel::random::AddressedStream;
use umts_units::{Db, Length, Probability};

use super::propagation::DECIBEL;
use crate::options::options;

/// Points per decorrelation distance. A shadow is constant between two points.
pub const POINTS: u64 = 16;

/// Number of knots after which the starting value has no effect on any bit of the shadow. An f64 has
/// 53 bits of precision, and the influence halves with each knot, so this is twice the number needed.
const MEMORY_KNOTS: u64 = 128;

options! {
    /// Log-normal shadowing.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ShadowingConfig as "Shadowing" {
        /// Standard deviation of shadowing. `"0 dB"` for none.
        [label = "Deviation of shadows", min = "0 dB", max = "30 dB",
            source = "UMTS 30.03 (TR 101 112) B.1.4: 10 dB, indoors 12 dB"]
        pub deviation: Db = Db(10.0),
        /// Distance after which the correlation of a user's shadowing is one half.
        [label = "Decorrelation distance of shadows", min = "1 m", max = "10 km",
            source = "UMTS 30.03 (TR 101 112) B.1.4: 20 m, 5 m for pedestrians and indoors"]
        pub decorrelation: Length = Length::from_millimetres(20_000),
        /// Correlation of the shadowing of two sites. All sectors of a site share one value.
        [label = "Correlation of shadows between sites", source = "TR 25.942"]
        pub between_sites: Probability = Probability::new(0.5).expect("a correlation"),
    }
}

/// Weights of the previous value, of the next knot and of the draw in a new value.
#[derive(Debug, Clone, Copy, Default)]
struct Weights {
    before: f64,
    knot: f64,
    draw: f64,
}

/// The distribution of the shadows of a network.
#[derive(Debug, Clone)]
pub struct Shadowing {
    is_enabled: bool,
    /// Standard deviation of the common part, as log2 of a power ratio.
    common_deviation: f64,
    /// Standard deviation of the part of a site, as log2 of a power ratio.
    site_deviation: f64,
    /// Mean of the part of a site as a linear gain.
    mean_site_gain: f64,
    /// Distance between two points in metres.
    spacing: f64,
    from_knot_to_knot: Weights,
    /// Weights for point n after the knot, for n from 1 on.
    to_point: [Weights; POINTS as usize],
}

/// Shadows of one mobile.
#[derive(Debug, Clone, Default)]
pub struct Shadows {
    /// The last knot that the mobile has passed.
    knot: u64,
    /// The last point that it has passed after this knot.
    point: u64,
    /// The common part, then the parts of the sites within reach.
    parts: Box<[Part]>,
}

/// A part of a shadow: two values of one standard normal process.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// Value at the current point.
    value: f64,
    /// Value at the next knot.
    next_knot: f64,
}

/// A point of the path of a mobile.
#[derive(Debug, Clone, Copy)]
struct PathPoint {
    /// Number of the last knot before the point.
    knot: u64,
    /// Number of the point, counted from this knot.
    point: u64,
}

/// Number of the draw for the common part. The draws of the sites follow. Lower numbers are used for
/// the movement.
const COMMON_DRAW: u32 = 8;

impl Shadowing {
    pub fn new(config: &ShadowingConfig) -> Self {
        let deviation = config.deviation.0 * DECIBEL;
        // Correlation of two values that are n points apart.
        let correlation = |n: u64| libm::exp2(-(n as f64) / POINTS as f64);
        // Point n is drawn from point n - 1, where the next knot is POINTS - (n - 1) points ahead.
        // Entry 0 is not used: a knot has its own weights.
        let to_point = std::array::from_fn(|n| bridge(&correlation, POINTS - (n as u64).max(1) + 1));
        let between_sites = config.between_sites.value();
        let site_deviation = deviation * libm::sqrt(1.0 - between_sites);
        Shadowing {
            is_enabled: deviation > 0.0,
            common_deviation: deviation * libm::sqrt(between_sites),
            site_deviation,
            // The mean of e^X for a normal X of mean 0 and deviation s is e^(s²/2).
            mean_site_gain: libm::exp(site_deviation * LN_2 * site_deviation * LN_2 / 2.0),
            spacing: config.decorrelation.metres() / POINTS as f64,
            from_knot_to_knot: Weights {
                before: correlation(POINTS),
                knot: 0.0,
                draw: libm::sqrt(1.0 - correlation(2 * POINTS)),
            },
            to_point,
        }
    }

    /// Advances the shadows of a mobile to `travelled` metres. `draws` are the draws of the mobile.
    /// `sites` must be the same as at the last call, unless `change_sites` was called.
    pub fn advance(&self, shadows: &mut Shadows, sites: &[u16], draws: &AddressedStream, travelled: f64) {
        if self.is_enabled {
            let point = (travelled / self.spacing) as u64;
            let target = PathPoint { knot: point / POINTS, point: point % POINTS };
            self.advance_to(shadows, sites, draws, target);
        }
    }

    /// Replaces the sites `before` by `sites`. Shadows of new sites have the values that they would
    /// have if the sites had always been within reach.
    pub fn change_sites(
        &self,
        shadows: &mut Shadows,
        draws: &AddressedStream,
        before: &[u16],
        sites: &[u16],
    ) {
        let Some(&common) = shadows.parts.first() else { return };
        let new_sites: Vec<u16> =
            sites.iter().copied().filter(|site| before.binary_search(site).is_err()).collect();
        let mut new_shadows = Shadows::default();
        let current_point = PathPoint { knot: shadows.knot, point: shadows.point };
        self.advance_to(&mut new_shadows, &new_sites, draws, current_point);
        let part_in = |list: &[u16], parts: &[Part], site| Some(parts[1 + list.binary_search(site).ok()?]);
        let part = |site| {
            part_in(before, &shadows.parts, site).or_else(|| part_in(&new_sites, &new_shadows.parts, site))
        };
        shadows.parts = std::iter::once(common).chain(sites.iter().filter_map(part)).collect();
    }

    /// Advances the shadows to `target`.
    fn advance_to(&self, shadows: &mut Shadows, sites: &[u16], draws: &AddressedStream, target: PathPoint) {
        let PathPoint { knot, point } = target;
        if shadows.parts.is_empty() || shadows.knot + MEMORY_KNOTS < knot {
            self.start(shadows, sites, draws, knot.saturating_sub(MEMORY_KNOTS));
        }
        while shadows.knot < knot {
            shadows.knot += 1;
            shadows.point = 0;
            self.advance_knot(shadows, sites, draws);
        }
        while shadows.point < point {
            shadows.point += 1;
            let weights = self.to_point[shadows.point as usize];
            // The address of a draw has the number of the point instead of a TTI.
            let draws = draws.tti(shadows.knot * POINTS + shadows.point);
            shadows.for_each_part(sites, |part, number| {
                part.value = weights.before * part.value
                    + weights.knot * part.next_knot
                    + weights.draw * draws.normal(number);
            });
        }
    }

    /// Starts the process at `knot` with independent values. They are first stored as the values of
    /// the next knot, and `advance_knot` then makes them current. `shadows.knot` stays `knot`.
    fn start(&self, shadows: &mut Shadows, sites: &[u16], draws: &AddressedStream, knot: u64) {
        *shadows = Shadows { knot, point: 0, parts: vec![Part::default(); 1 + sites.len()].into() };
        let knot_draws = draws.tti(knot * POINTS);
        shadows.for_each_part(sites, |part, number| part.next_knot = knot_draws.normal(number));
        self.advance_knot(shadows, sites, draws);
    }

    /// Makes the values of the next knot current, and draws the knot after it. The caller sets
    /// `shadows.knot` to the new current knot before.
    fn advance_knot(&self, shadows: &mut Shadows, sites: &[u16], draws: &AddressedStream) {
        let weights = self.from_knot_to_knot;
        let draws = draws.tti((shadows.knot + 1) * POINTS);
        shadows.for_each_part(sites, |part, number| {
            part.value = part.next_knot;
            part.next_knot = weights.before * part.value + weights.draw * draws.normal(number);
        });
    }

    /// Shadow of the site at `index` in the list of sites, as log2 of a gain.
    #[inline]
    pub fn of_site(&self, shadows: &Shadows, index: usize) -> f64 {
        match &*shadows.parts {
            [] => 0.0,
            [common, sites @ ..] => {
                self.common_deviation * common.value + self.site_deviation * sites[index].value
            }
        }
    }

    /// Mean shadow of the sites out of reach, as a gain.
    pub fn mean_of_far_sites(&self, shadows: &Shadows) -> f64 {
        let common = shadows.parts.first().map_or(0.0, |common| common.value);
        libm::exp2(self.common_deviation * common) * self.mean_site_gain
    }
}

impl Shadows {
    /// Calls `change` for each part, with the number of its draw.
    #[inline]
    fn for_each_part(&mut self, sites: &[u16], mut change: impl FnMut(&mut Part, u32)) {
        let [common, site_parts @ ..] = &mut *self.parts else { return };
        change(common, COMMON_DRAW);
        for (part, site) in site_parts.iter_mut().zip(sites) {
            change(part, COMMON_DRAW + 1 + u32::from(*site));
        }
    }
}

/// Weights for the next point of an autoregressive process whose value is known at the current
/// point and `steps_to_known` points ahead.
fn bridge(correlation: &impl Fn(u64) -> f64, steps_to_known: u64) -> Weights {
    // Variance of a value if the value n points away is known.
    let variance = |n: u64| 1.0 - correlation(2 * n);
    Weights {
        before: correlation(1) * variance(steps_to_known - 1) / variance(steps_to_known),
        knot: correlation(steps_to_known - 1) * variance(1) / variance(steps_to_known),
        draw: libm::sqrt(variance(1) * variance(steps_to_known - 1) / variance(steps_to_known)),
    }
}
