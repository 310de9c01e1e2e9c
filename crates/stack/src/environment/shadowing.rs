//! Log-normal shadows along the path of a mobile, one value per site.
//!
//! ```text
//!   knots, one decorrelation distance apart:  K' = ρ K + √(1 - ρ²) w,   ρ = 1/2
//!   points between two knots:                 drawn given the previous point and the next knot
//! ```
//!
//! The shadow along the path is an autoregressive process, with a correlation of one half at the
//! decorrelation distance (UMTS 30.03 B.1.4, after Gudmundson). Each knot takes one step, however
//! far the mobile has moved since its last update. Points between two knots are drawn from the
//! conditional distribution of the same process (a bridge). Each draw is addressed by the mobile,
//! the point of its path and the site. So a shadow depends only on the travelled distance, not on
//! the times of the updates: users have the same shadows under all schedulers.
//!
//! A shadow is the sum of a part common to all sites and a part of each site. The sectors of a site
//! have the same shadow (TR 25.942). Sites out of reach have no shadow of their own and need no
//! draws. The influence of a knot halves with each following knot. So for a site that comes into
//! reach, and for a mobile that has moved far, the process starts 128 knots back and reaches the
//! value that a continuous process would have.

use std::f64::consts::LN_2;

use umts_kernel::random::AddressedStream;
use umts_units::{Db, Length, Probability};

use super::propagation::DECIBEL;
use crate::options::options;

/// Points per decorrelation distance. A shadow is constant between two points.
pub const POINTS: u64 = 16;

/// Number of knots after which the starting value has no effect on any bit of the shadow: twice the
/// number that the precision requires.
const FORGOTTEN: u64 = 128;

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

/// Weights of the previous value, of the next knot and of the draw.
#[derive(Debug, Clone, Copy, Default)]
struct Weights {
    before: f64,
    knot: f64,
    draw: f64,
}

/// The distribution of the shadows of a network.
#[derive(Debug, Clone)]
pub struct Shadowing {
    vary: bool,
    /// Standard deviation of the common part and of the part of a site, as log2 of a power ratio.
    common: f64,
    own: f64,
    /// Mean of the part of a site as a gain.
    mean_of_own: f64,
    /// Distance of two points in metres.
    spacing: f64,
    from_knot_to_knot: Weights,
    /// Weights to get to point n, for n from 1 on.
    to_point: [Weights; POINTS as usize],
}

/// Shadows of one mobile: the current knot and point, and two standard normal values for each part,
/// at the current point and at the next knot. The common part is first, followed by the sites
/// within reach.
#[derive(Debug, Clone, Default)]
pub struct Shadows {
    knot: u64,
    point: u64,
    parts: Box<[[f64; 2]]>,
}

/// Number of the draw for the common part. The draws of the sites follow. Lower numbers belong to
/// the movement.
const COMMON: u32 = 8;

impl Shadowing {
    pub fn new(config: &ShadowingConfig) -> Self {
        let deviation = config.deviation.0 * DECIBEL;
        // Correlation of two values that are n points apart.
        let correlation = |n: u64| libm::exp2(-(n as f64) / POINTS as f64);
        let to_point = std::array::from_fn(|n| bridge(&correlation, POINTS - (n as u64).max(1) + 1));
        let between_sites = config.between_sites.value();
        let own = deviation * libm::sqrt(1.0 - between_sites);
        Shadowing {
            vary: deviation > 0.0,
            common: deviation * libm::sqrt(between_sites),
            own,
            mean_of_own: libm::exp(own * LN_2 * own * LN_2 / 2.0),
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
        if self.vary {
            let point = (travelled / self.spacing) as u64;
            self.bring(shadows, sites, draws, [point / POINTS, point % POINTS]);
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
        let new: Vec<u16> =
            sites.iter().copied().filter(|site| before.binary_search(site).is_err()).collect();
        let mut fresh = Shadows::default();
        self.bring(&mut fresh, &new, draws, [shadows.knot, shadows.point]);
        let of = |list: &[u16], parts: &[[f64; 2]], site| Some(parts[1 + list.binary_search(site).ok()?]);
        let part = |site| of(before, &shadows.parts, site).or_else(|| of(&new, &fresh.parts, site));
        shadows.parts = std::iter::once(common).chain(sites.iter().filter_map(part)).collect();
    }

    fn bring(&self, shadows: &mut Shadows, sites: &[u16], draws: &AddressedStream, [knot, point]: [u64; 2]) {
        if shadows.parts.is_empty() || shadows.knot + FORGOTTEN < knot {
            self.begin(shadows, sites, draws, knot.saturating_sub(FORGOTTEN));
        }
        while shadows.knot < knot {
            shadows.knot += 1;
            shadows.point = 0;
            self.advance_knot(shadows, sites, draws);
        }
        while shadows.point < point {
            shadows.point += 1;
            let weights = self.to_point[shadows.point as usize];
            let draws = draws.tti(shadows.knot * POINTS + shadows.point);
            shadows.each(sites, |[here, knot], number| {
                *here = weights.before * *here + weights.knot * *knot + weights.draw * draws.normal(number);
            });
        }
    }

    fn begin(&self, shadows: &mut Shadows, sites: &[u16], draws: &AddressedStream, knot: u64) {
        *shadows = Shadows { knot, point: 0, parts: vec![[0.0; 2]; 1 + sites.len()].into() };
        let first = draws.tti(knot * POINTS);
        shadows.each(sites, |[_, knot], number| *knot = first.normal(number));
        self.advance_knot(shadows, sites, draws);
    }

    /// Moves to the next knot, and draws the one after it.
    fn advance_knot(&self, shadows: &mut Shadows, sites: &[u16], draws: &AddressedStream) {
        let weights = self.from_knot_to_knot;
        let draws = draws.tti((shadows.knot + 1) * POINTS);
        shadows.each(sites, |[here, knot], number| {
            *here = *knot;
            *knot = weights.before * *here + weights.draw * draws.normal(number);
        });
    }

    /// Shadow of a site by its index in the list of sites, as log2 of a gain.
    #[inline]
    pub fn of_site(&self, shadows: &Shadows, among: usize) -> f64 {
        match &*shadows.parts {
            [] => 0.0,
            [[common, _], sites @ ..] => self.common * common + self.own * sites[among][0],
        }
    }

    /// Mean shadow of the sites out of reach, as a gain.
    pub fn of_others(&self, shadows: &Shadows) -> f64 {
        let common = shadows.parts.first().map_or(0.0, |[common, _]| *common);
        libm::exp2(self.common * common) * self.mean_of_own
    }
}

impl Shadows {
    /// Calls `change` for each part, with the number of its draw.
    #[inline]
    fn each(&mut self, sites: &[u16], mut change: impl FnMut(&mut [f64; 2], u32)) {
        let [common, own @ ..] = &mut *self.parts else { return };
        change(common, COMMON);
        for (part, site) in own.iter_mut().zip(sites) {
            change(part, COMMON + 1 + u32::from(*site));
        }
    }
}

/// Weights for the next point of an autoregressive process whose value is known at the current
/// point and `left` points ahead.
fn bridge(correlation: &impl Fn(u64) -> f64, left: u64) -> Weights {
    let unknown = |n: u64| 1.0 - correlation(2 * n);
    Weights {
        before: correlation(1) * unknown(left - 1) / unknown(left),
        knot: correlation(left - 1) * unknown(1) / unknown(left),
        draw: libm::sqrt(unknown(1) * unknown(left - 1) / unknown(left)),
    }
}
