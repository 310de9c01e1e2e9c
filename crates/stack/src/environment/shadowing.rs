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
//! A shadow has a part that all sites share and one of each site; sectors of a site have one shadow (TR 25.942).

use umts_kernel::random::{AddressedStream, TtiDraws};

use super::propagation::DECIBEL;

/// Points of a way in one decorrelation distance: between two of them a shadow stays as it is.
pub const POINTS: u64 = 16;

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
    parts: usize,
    /// Size of the common part and of that of a site, as logarithms to base 2 of a power.
    common: f64,
    own: f64,
    /// From point to point.
    spacing: f64,
    from_knot_to_knot: Weights,
    /// To point n, n from 1 on.
    to_point: [Weights; POINTS as usize],
}

/// The shadows of one mobile: where on its way they are, and two values of deviation 1 for each part, here and at the next
/// knot. The common part is the first.
#[derive(Debug, Clone, Default)]
pub struct Shadows {
    knot: u64,
    point: u64,
    parts: Box<[[f64; 2]]>,
}

/// The draw of a mobile at a point that is for the common part; the others follow, site by site. Those before are of its
/// way.
const FIRST_PART: u32 = 8;

impl Shadowing {
    /// For this configuration and so many sites.
    pub fn new(config: &ShadowingConfig, sites: usize) -> Self {
        let deviation = config.deviation_db * DECIBEL;
        // Of the correlation from one point to the next, to the power of n.
        let correlation = |n: u64| libm::exp2(-(n as f64) / POINTS as f64);
        let to_point = std::array::from_fn(|n| bridge(&correlation, POINTS - (n as u64).max(1) + 1));
        Shadowing {
            parts: if deviation > 0.0 { 1 + sites } else { 0 },
            common: deviation * libm::sqrt(config.between_sites),
            own: deviation * libm::sqrt(1.0 - config.between_sites),
            spacing: config.decorrelation_m / POINTS as f64,
            from_knot_to_knot: Weights {
                before: correlation(POINTS),
                knot: 0.0,
                draw: libm::sqrt(1.0 - correlation(2 * POINTS)),
            },
            to_point,
        }
    }

    /// Brings the shadows of a mobile, whose draws these are, to where it is after `travelled` metres.
    pub fn advance(&self, shadows: &mut Shadows, draws: &AddressedStream, travelled: f64) {
        if self.parts == 0 {
            return;
        }
        if shadows.parts.is_empty() {
            self.begin(shadows, draws);
        }
        let point = (travelled / self.spacing) as u64;
        while shadows.knot < point / POINTS {
            self.pass_knot(shadows, draws);
        }
        while shadows.point < point % POINTS {
            shadows.point += 1;
            let weights = self.to_point[shadows.point as usize];
            let draws = draws.tti(shadows.knot * POINTS + shadows.point);
            for (part, [here, knot]) in shadows.parts.iter_mut().enumerate() {
                *here = weights.before * *here + weights.knot * *knot + weights.draw * normal(&draws, part);
            }
        }
    }

    fn begin(&self, shadows: &mut Shadows, draws: &AddressedStream) {
        let first = draws.tti(0);
        let at_knot = |part| [0.0, normal(&first, part)];
        *shadows = Shadows { knot: 0, point: 0, parts: (0..self.parts).map(at_knot).collect() };
        self.leave_knot(shadows, draws);
    }

    fn pass_knot(&self, shadows: &mut Shadows, draws: &AddressedStream) {
        shadows.knot += 1;
        shadows.point = 0;
        self.leave_knot(shadows, draws);
    }

    /// The next knot becomes the present one, and gets a next one.
    fn leave_knot(&self, shadows: &mut Shadows, draws: &AddressedStream) {
        let weights = self.from_knot_to_knot;
        let draws = draws.tti((shadows.knot + 1) * POINTS);
        for (part, [here, knot]) in shadows.parts.iter_mut().enumerate() {
            *here = *knot;
            *knot = weights.before * *here + weights.draw * normal(&draws, part);
        }
    }

    /// What the shadow of a site lets through, as a logarithm to base 2.
    #[inline]
    pub fn of_site(&self, shadows: &Shadows, site: usize) -> f64 {
        match &*shadows.parts {
            [] => 0.0,
            [[common, _], sites @ ..] => self.common * common + self.own * sites[site][0],
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

#[inline]
fn normal(draws: &TtiDraws, part: usize) -> f64 {
    draws.normal(FIRST_PART + part as u32)
}
