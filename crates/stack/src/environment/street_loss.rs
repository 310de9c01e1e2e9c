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
use super::streets::{AXES, Spot, Streets};
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

/// Minimum distance to an antenna in metres.
const MIN_DISTANCE: f64 = 1.0;

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

/// Loss over the roofs: 24 + 45 log(R + 20) dB, R in metres. As log2 of a gain the slope is 4.5,
/// because 45 log10(x) dB = 10 · 4.5 log10(x) dB.
const ROOFS_DB: f64 = 24.0;
const ROOFS_SLOPE: f64 = 4.5;
const ROOFS_OFFSET: f64 = 20.0;

impl StreetLoss {
    /// Returns `None` if the layout has no streets.
    pub fn new(config: &PropagationConfig, layout: &Layout) -> Option<Self> {
        let streets = *layout.streets()?;
        let antenna = config.antenna.net_gain_db() * DECIBEL;
        let wavelength = 299.792_458 / config.frequency.megahertz();
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

    /// Gain of a station at a place. `shadow` is the log2 of the shadow as a gain.
    pub fn gain(&self, station: usize, layout: &Layout, place: Place, shadow: f64) -> f64 {
        let from = self.stations[station];
        let start = Place { x: from.at[0], y: from.at[1] };
        // On a torus the copy of the place that is nearest to the station.
        let vector = layout.vector(start, place);
        let position = self.streets.spot(Place { x: start.x + vector.x, y: start.y + vector.y });
        let mut gain = self.at_1_m
            - 2.0 * self.fast_math.log2(self.apparent_distance(&from, &position).max(MIN_DISTANCE));
        if self.config.over_roofs {
            let [x, y] = AXES.map(|axis| position.at[axis] - from.at[axis]);
            let distance = libm::sqrt(x * x + y * y) + ROOFS_OFFSET;
            gain = gain.max(self.antenna - ROOFS_DB * DECIBEL - ROOFS_SLOPE * self.fast_math.log2(distance));
        }
        if position.is_indoors {
            gain -= self.config.penetration.0 * DECIBEL;
        }
        self.fast_math.exp2((gain + shadow).min(self.max_gain))
    }

    /// Apparent distance of the path with the least loss through the streets: the straight line if
    /// both positions are in the same street.
    fn apparent_distance(&self, from: &Spot, to: &Spot) -> f64 {
        // The middles of two parallel streets are equal, except for rounding, or at least one period
        // apart.
        let is_same_street = |from_line: f64, to_line: f64| (from_line - to_line).abs() < self.streets.width;
        let is_in_sight =
            |axis: usize| from.lines[axis].zip(to.lines[axis]).is_some_and(|(a, b)| is_same_street(a, b));
        if AXES.into_iter().any(is_in_sight) {
            return self.straight(from, to);
        }
        let mut shortest = f64::INFINITY;
        for first in AXES {
            for last in AXES {
                let (Some(from_line), Some(to_line)) = (from.lines[first], to.lines[last]) else { continue };
                let corners = if first == last { Self::two_corners } else { Self::one_corner };
                shortest = shortest.min(corners(self, from, to, first, [from_line, to_line]));
            }
        }
        shortest
    }

    /// Path in line of sight.
    fn straight(&self, from: &Spot, to: &Spot) -> f64 {
        let [x, y] = AXES.map(|axis| to.at[axis] - from.at[axis]);
        self.config.apparent_distance(&[libm::sqrt(x * x + y * y)])
    }

    /// Path from a street along `axis` at `from_line` into a crossing street at `to_line`.
    fn one_corner(&self, from: &Spot, to: &Spot, axis: usize, [from_line, to_line]: [f64; 2]) -> f64 {
        let to_corner = (to_line - from.at[axis]).abs();
        let after_corner = (to.at[1 - axis] - from_line).abs();
        self.config.apparent_distance(&[to_corner, after_corner])
    }

    /// Path from a street along `axis` to a parallel street, through one of the crossing streets. The
    /// loss is least if the first or the last section is short, so only the crossing streets next to
    /// either end are tried.
    fn two_corners(&self, from: &Spot, to: &Spot, axis: usize, [from_line, to_line]: [f64; 2]) -> f64 {
        let next_to = |at: f64| {
            let before = self.streets.line_before(at);
            [before, before + 1]
        };
        let crossing = [next_to(from.at[axis]), next_to(to.at[axis])].into_iter().flatten();
        crossing
            .filter(|number| self.streets.has_line(axis, *number))
            .map(|number| {
                let line = self.streets.line(number);
                let sections =
                    [(line - from.at[axis]).abs(), (to_line - from_line).abs(), (to.at[axis] - line).abs()];
                self.config.apparent_distance(&sections)
            })
            .fold(f64::INFINITY, f64::min)
    }
}
