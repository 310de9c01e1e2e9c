//! Log-normal shadows: what a mobile meets on its way, one value for each site.
//!
//! ```text
//!   knots, one decorrelation distance apart:  K' = ρ K + √(1 - ρ²) w,   ρ = 1/2
//!   points between two knots:                 drawn given the point before and the knot to come
//! ```
//!
//! Along its way the shadow of a mobile is autoregressive, with a correlation of one half at the decorrelation distance
//! (UMTS 30.03 B.1.4, after Gudmundson). Knots are reached in one step each, however far the mobile went while nobody
//! looked; what lies between them is their bridge, whose law is that of the same process. Each draw is addressed by the
//! mobile, the point of its way and the site, so a shadow depends on how far a mobile went and never on when it was looked
//! at: under another scheduler users meet the same shadows.
//!
//! A shadow has a part that all sites share and one of each site; sectors of a site have one shadow (TR 25.942). Sites out
//! of reach have none, and no draws are made for them. A shadow forgets by half from knot to knot, so whatever comes into
//! reach, or wakes far from where it was, begins a number of knots back and is what it would have been.

use std::f64::consts::LN_2;

use umts_kernel::random::AddressedStream;

use super::propagation::DECIBEL;

/// Points of a way in one decorrelation distance: between two of them a shadow stays as it is.
pub const POINTS: u64 = 16;

/// Knots after which a shadow is the same to the last bit wherever it began: twice what its digits need.
const FORGOTTEN: u64 = 128;

/// How shadows vary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShadowingConfig {
    /// Standard deviation; 0 for no shadows.
    pub deviation_db: f64,
    /// How far apart two shadows of one site have a correlation of one half.
    pub decorrelation_m: f64,
    /// Correlation of the shadows of two sites.
    pub between_sites: f64,
}

impl Default for ShadowingConfig {
    fn default() -> Self {
        ShadowingConfig { deviation_db: 10.0, decorrelation_m: 20.0, between_sites: 0.5 }
    }
}

/// A value from the one before, from that at the next knot, and from a draw.
#[derive(Debug, Clone, Copy, Default)]
struct Weights {
    before: f64,
    knot: f64,
    draw: f64,
}

/// The law of all shadows of a network.
#[derive(Debug, Clone)]
pub struct Shadowing {
    /// Whether there are any.
    vary: bool,
    /// Size of the common part and of that of a site, as logarithms to base 2 of a power.
    common: f64,
    own: f64,
    /// What the part of a site lets through on average, as a gain.
    mean_of_own: f64,
    /// From point to point.
    spacing: f64,
    from_knot_to_knot: Weights,
    /// To point n, n from 1 on.
    to_point: [Weights; POINTS as usize],
}

/// The shadows of one mobile: where on its way they are, and two values of deviation 1 for each part, here and at the next
/// knot. The common part is the first, those of sites within reach follow.
#[derive(Debug, Clone, Default)]
pub struct Shadows {
    knot: u64,
    point: u64,
    parts: Box<[[f64; 2]]>,
}

/// The draw of a mobile at a point that is for the common part; the others follow, site by site. Those before are of its
/// way.
const COMMON: u32 = 8;

impl Shadowing {
    /// For this configuration.
    pub fn new(config: &ShadowingConfig) -> Self {
        let deviation = config.deviation_db * DECIBEL;
        // Of the correlation from one point to the next, to the power of n.
        let correlation = |n: u64| libm::exp2(-(n as f64) / POINTS as f64);
        let to_point = std::array::from_fn(|n| bridge(&correlation, POINTS - (n as u64).max(1) + 1));
        let own = deviation * libm::sqrt(1.0 - config.between_sites);
        Shadowing {
            vary: deviation > 0.0,
            common: deviation * libm::sqrt(config.between_sites),
            own,
            mean_of_own: libm::exp(own * LN_2 * own * LN_2 / 2.0),
            spacing: config.decorrelation_m / POINTS as f64,
            from_knot_to_knot: Weights {
                before: correlation(POINTS),
                knot: 0.0,
                draw: libm::sqrt(1.0 - correlation(2 * POINTS)),
            },
            to_point,
        }
    }

    /// Brings the shadows of a mobile, whose draws these are, to where it is after `travelled` metres. They are those of
    /// `sites`, which have not changed since the last time.
    pub fn advance(&self, shadows: &mut Shadows, sites: &[u16], draws: &AddressedStream, travelled: f64) {
        if self.vary {
            let point = (travelled / self.spacing) as u64;
            self.bring(shadows, sites, draws, [point / POINTS, point % POINTS]);
        }
    }

    /// From now on the shadows are those of `sites`, no longer those of `before`. Whose are new are what they would be had
    /// they always been there.
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
            self.leave_knot(shadows, sites, draws);
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
        self.leave_knot(shadows, sites, draws);
    }

    /// The next knot becomes the present one, and gets a next one.
    fn leave_knot(&self, shadows: &mut Shadows, sites: &[u16], draws: &AddressedStream) {
        let weights = self.from_knot_to_knot;
        let draws = draws.tti((shadows.knot + 1) * POINTS);
        shadows.each(sites, |[here, knot], number| {
            *here = *knot;
            *knot = weights.before * *here + weights.draw * draws.normal(number);
        });
    }

    /// What the shadow of one of its sites lets through, as a logarithm to base 2.
    #[inline]
    pub fn of_site(&self, shadows: &Shadows, among: usize) -> f64 {
        match &*shadows.parts {
            [] => 0.0,
            [[common, _], sites @ ..] => self.common * common + self.own * sites[among][0],
        }
    }

    /// What shadows let through of sites that have none of their own, on average, as a gain.
    pub fn of_others(&self, shadows: &Shadows) -> f64 {
        let common = shadows.parts.first().map_or(0.0, |[common, _]| *common);
        libm::exp2(self.common * common) * self.mean_of_own
    }
}

impl Shadows {
    /// Each part with the number of its draws.
    #[inline]
    fn each(&mut self, sites: &[u16], mut change: impl FnMut(&mut [f64; 2], u32)) {
        let [common, own @ ..] = &mut *self.parts else { return };
        change(common, COMMON);
        for (part, site) in own.iter_mut().zip(sites) {
            change(part, COMMON + 1 + u32::from(*site));
        }
    }
}

/// The next point of an autoregressive process whose value is known here and `left` points ahead.
fn bridge(correlation: &impl Fn(u64) -> f64, left: u64) -> Weights {
    let unknown = |n: u64| 1.0 - correlation(2 * n);
    Weights {
        before: correlation(1) * unknown(left - 1) / unknown(left),
        knot: correlation(left - 1) * unknown(1) / unknown(left),
        draw: libm::sqrt(unknown(1) * unknown(left - 1) / unknown(left)),
    }
}
