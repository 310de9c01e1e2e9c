//! Losses along streets: the recursive model of UMTS 30.03 (ETSI TR 101 112) B.1.4.1.2, after Berg.
//!
//! ```text
//!   k_n = k_(n-1) + d_(n-1) c        d_n = d_(n-1) + k_n s_(n-1)        k_0 = 1, d_0 = 0
//!   L = 20 log(4π d_n D / λ)         D = 1 up to the breakpoint, then length of the path / breakpoint
//! ```
//!
//! A path has n straight sections s between its corners, and each corner increases the apparent
//! length of the following sections. c is the loss parameter of a corner. The path with the least
//! loss is used. On a grid it has at most two corners, because another corner on a path of the same
//! length increases d. Propagation over the roofs limits the loss of paths with corners (TR 25.942
//! §5.1).

use std::f64::consts::PI;

use umts_units::{Db, Length};

use super::fast_math::FastMath;
use super::layout::{Layout, Place};
use super::propagation::{DECIBEL, PropagationConfig};
use super::streets::{AXES, Spot, Streets, other_axis};
#[cfg(feature = "schema")]
use crate::options::Unlimited;
use crate::options::options;

options! {
    /// Loss along streets (`manhattan` only): 20 log(4π d/λ) dB. Each corner increases the effective
    /// distance d of the street after it.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct StreetLossConfig as "StreetLoss" {
        /// Increase of d at a corner, per metre before it and per metre after it.
        [label = "Loss at a corner", min = 0, max = 10,
            source = "UMTS 30.03 (TR 101 112) B.1.4.1.2: 0.5 at 90°"]
        pub corner: f64 = 0.5,
        /// Path length after which the loss grows twice as fast, or `"unlimited"`.
        [label = "Breakpoint of the loss along streets", keyword = "Unlimited::<Length>", min = "10 m",
            source = "UMTS 30.03 (TR 101 112) B.1.4.1.2"]
        pub breakpoint: Option<Length> = Some(Length::from_millimetres(300_000)),
        /// Whether power also propagates over the roofs if the loss is smaller there: 24 + 45 log(R +
        /// 20) dB, R in metres.
        [label = "Power over the roofs", source = "TR 25.942"]
        pub over_roofs: bool = true,
        /// Penetration loss of the walls, for users in a house.
        [label = "Loss of walls", min = "0 dB", max = "100 dB", source = "UMTS 30.03 (TR 101 112) B.1.4.1.2"]
        pub penetration: Db = Db(12.0),
    }
}

impl StreetLossConfig {
    /// Free-space distance with the same loss as a path with these sections, in metres.
    pub fn apparent_distance(&self, sections: &[f64]) -> f64 {
        // k_n, d_n and the length of the path, see the top of this file.
        let (mut k, mut apparent, mut length) = (1.0, 0.0, 0.0);
        for section in sections {
            k += apparent * self.corner;
            apparent += k * section;
            length += section;
        }
        apparent * self.breakpoint.map_or(1.0, |breakpoint| (length / breakpoint.metres()).max(1.0))
    }
}

/// Minimum apparent distance to an antenna in metres.
const MIN_DISTANCE: f64 = 1.0;

/// Speed of light in metres per microsecond, the wavelength in metres times the frequency in MHz.
const SPEED_OF_LIGHT: f64 = 299.792_458;

/// Loss over the roofs: 24 + 45 log(R + 20) dB, R in metres (TR 25.942 §5.1). As log2 of a gain the
/// slope is 4.5, because 45 log10(x) dB = 10 · 4.5 log10(x) dB.
const ROOFS_DB: f64 = 24.0;
const ROOFS_SLOPE: f64 = 4.5;
const ROOFS_OFFSET: f64 = 20.0;

/// Gains of stations in streets. All gains are logarithms to base 2.
#[derive(Debug, Clone)]
pub struct StreetLoss {
    config: StreetLossConfig,
    streets: Streets,
    stations: Vec<Spot>,
    fast_math: FastMath,
    /// Gain of an antenna.
    antenna: f64,
    /// Gain at a distance of 1 m in free space, antenna included.
    at_1_m: f64,
    /// Maximum gain, from the minimum coupling loss.
    max_gain: f64,
}

impl StreetLoss {
    /// Returns `None` if the layout has no streets.
    pub fn new(config: &PropagationConfig, layout: &Layout) -> Option<Self> {
        let streets = *layout.streets()?;
        let antenna = config.antenna.net_gain_db() * DECIBEL;
        let wavelength = SPEED_OF_LIGHT / config.frequency.megahertz();
        Some(StreetLoss {
            config: config.streets.unwrap_or_default(),
            streets,
            stations: layout.sites().iter().map(|site| streets.spot(site.place)).collect(),
            fast_math: FastMath::new(),
            antenna,
            at_1_m: antenna - 2.0 * libm::log2(4.0 * PI / wavelength),
            max_gain: -config.minimum_coupling_loss.0 * DECIBEL,
        })
    }

    /// Gain of a station at a place, linear. `shadow` is the log2 of the shadow as a gain.
    pub fn gain(&self, station: usize, layout: &Layout, place: Place, shadow: f64) -> f64 {
        let from = self.stations[station];
        let to = self.streets.spot(nearest_copy(layout, &from, place));
        let mut gain = self.gain_along_streets(&from, &to);
        if self.config.over_roofs {
            gain = gain.max(self.gain_over_roofs(&from, &to));
        }
        if to.is_indoors {
            gain -= self.config.penetration.0 * DECIBEL;
        }
        self.fast_math.exp2((gain + shadow).min(self.max_gain))
    }

    /// Free-space gain at the apparent distance, as log2.
    fn gain_along_streets(&self, from: &Spot, to: &Spot) -> f64 {
        let distance = self.apparent_distance(from, to).max(MIN_DISTANCE);
        self.at_1_m - 2.0 * self.fast_math.log2(distance)
    }

    /// Gain of the straight line over the roofs, as log2.
    fn gain_over_roofs(&self, from: &Spot, to: &Spot) -> f64 {
        let distance = straight_distance(from, to) + ROOFS_OFFSET;
        self.antenna - ROOFS_DB * DECIBEL - ROOFS_SLOPE * self.fast_math.log2(distance)
    }

    /// Apparent distance in metres of the path with the least loss through the streets: the straight
    /// line if both positions are in the same street, otherwise a path with one or two corners.
    fn apparent_distance(&self, from: &Spot, to: &Spot) -> f64 {
        if AXES.into_iter().any(|axis| self.share_street_along(axis, from, to)) {
            return self.config.apparent_distance(&[straight_distance(from, to)]);
        }
        let mut shortest = f64::INFINITY;
        for first_axis in AXES {
            for last_axis in AXES {
                let (Some(from_line), Some(to_line)) =
                    (from.street_along[first_axis], to.street_along[last_axis])
                else {
                    continue;
                };
                let ends = PathEnds { from, from_line, to, to_line };
                let distance = if first_axis == last_axis {
                    self.with_two_corners(&ends, first_axis)
                } else {
                    self.with_one_corner(&ends, first_axis)
                };
                shortest = shortest.min(distance);
            }
        }
        shortest
    }

    /// Whether both positions are in the same street along `axis`.
    fn share_street_along(&self, axis: usize, from: &Spot, to: &Spot) -> bool {
        let (Some(from_line), Some(to_line)) = (from.street_along[axis], to.street_along[axis]) else {
            return false;
        };
        // The lines of two parallel streets are equal, except for rounding, or at least one period
        // apart.
        (from_line - to_line).abs() < self.streets.width
    }

    /// Apparent distance from a street along `axis` into a crossing street.
    fn with_one_corner(&self, ends: &PathEnds<'_>, axis: usize) -> f64 {
        let to_corner = (ends.to_line - ends.from.position[axis]).abs();
        let after_corner = (ends.to.position[other_axis(axis)] - ends.from_line).abs();
        self.config.apparent_distance(&[to_corner, after_corner])
    }

    /// Apparent distance from a street along `axis` to a parallel street, through one of the crossing
    /// streets. The loss is least if the first or the last section is short, so only the crossing
    /// streets next to either end are tried.
    fn with_two_corners(&self, ends: &PathEnds<'_>, axis: usize) -> f64 {
        let [start, end] = [ends.from, ends.to].map(|spot| spot.position[axis]);
        let between_streets = (ends.to_line - ends.from_line).abs();
        let candidates =
            [start, end].map(|at| self.streets.line_before(at)).map(|before| [before, before + 1]);
        candidates
            .into_iter()
            .flatten()
            .filter(|&number| self.streets.has_line(axis, number))
            .map(|number| {
                let line = self.streets.line(number);
                let sections = [(line - start).abs(), between_streets, (end - line).abs()];
                self.config.apparent_distance(&sections)
            })
            .fold(f64::INFINITY, f64::min)
    }
}

/// The ends of a path with corners, and the lines of the streets in which they are.
struct PathEnds<'a> {
    from: &'a Spot,
    from_line: f64,
    to: &'a Spot,
    to_line: f64,
}

/// The copy of `place` that is nearest to the station `from`. On a torus a place has many copies.
fn nearest_copy(layout: &Layout, from: &Spot, place: Place) -> Place {
    let [x, y] = from.position;
    let vector = layout.vector(Place { x, y }, place);
    Place { x: x + vector.x, y: y + vector.y }
}

/// Length of the straight line in metres.
fn straight_distance(from: &Spot, to: &Spot) -> f64 {
    let [x, y] = AXES.map(|axis| to.position[axis] - from.position[axis]);
    libm::sqrt(x * x + y * y)
}
