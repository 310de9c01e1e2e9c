//! Gain from an antenna to a mobile: path loss, antenna pattern, minimum coupling loss.
//!
//! Path losses are from UMTS 30.03 (ETSI TR 101 112) B.1.4.1, the pattern from TR 25.996 §4.5.1.
//! All losses are linear in the logarithm of the distance. So a site costs one logarithm and one
//! angle, and each sector one power of two.

use std::f64::consts::{LOG2_10, PI};

use super::layout::{Place, SECTORS, THIRD};
use super::quick::{Quick, smaller, turned};
use super::street_loss::StreetLossConfig;

/// Path loss as a function of the distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum PathLoss {
    /// UMTS 30.03 B.1.4.1.3: antennas above the roofs, `40 (1 - 0.004 dh) log R - 18 log dh + 21
    /// log f + 80` dB.
    #[default]
    Vehicular,
    /// UMTS 30.03 B.1.4.1.2: antennas in the street, `40 log R + 30 log f + 49` dB.
    Pedestrian,
    /// UMTS 30.03 B.1.4.1.2: antennas in streets, recursive model around corners. Only with
    /// `layout.streets`.
    Manhattan,
    /// UMTS 30.03 B.1.4.1.1: in an office, `37 + 30 log R + 18.3 n^((n + 2)/(n + 1) - 0.46)` dB, R
    /// in metres.
    IndoorOffice,
}

/// A directional antenna.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Antenna {
    /// Gain in the main direction minus cable, wall and body losses.
    pub net_gain_db: f64,
    /// Angle between the two directions with 3 dB less gain.
    pub beamwidth_deg: f64,
    /// Maximum attenuation of the pattern, behind the antenna.
    pub front_to_back_db: f64,
}

impl Antenna {
    /// Mean of the pattern over all directions, relative to the main direction.
    fn mean_share(&self) -> f64 {
        let share = |degrees: i32| {
            let beside = f64::from(degrees) / self.beamwidth_deg;
            libm::exp10(-(12.0 * beside * beside).min(self.front_to_back_db) / 10.0)
        };
        (-180..180).map(share).sum::<f64>() / 360.0
    }
}

/// Propagation between antennas and mobiles, except shadows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PropagationConfig {
    pub path_loss: PathLoss,
    /// Carrier frequency.
    pub frequency_mhz: f64,
    /// Antenna height above the roofs, for [`PathLoss::Vehicular`].
    pub above_roofs_m: f64,
    /// Number of floors between, for [`PathLoss::IndoorOffice`].
    pub floors: u32,
    pub antenna: Antenna,
    /// Minimum coupling loss, including antenna gain and shadow.
    pub minimum_coupling_db: f64,
    /// Reach in metres: more distant sites contribute only a mean gain. Infinite: all sites have
    /// individual gains.
    pub reach_m: f64,
    /// Losses in streets, for [`PathLoss::Manhattan`].
    pub streets: StreetLossConfig,
}

impl Default for PropagationConfig {
    fn default() -> Self {
        PropagationConfig {
            path_loss: PathLoss::default(),
            frequency_mhz: 2000.0,
            above_roofs_m: 15.0,
            floors: 0,
            antenna: Antenna { net_gain_db: 0.0, beamwidth_deg: 70.0, front_to_back_db: 20.0 },
            minimum_coupling_db: 70.0,
            reach_m: f64::INFINITY,
            streets: StreetLossConfig::default(),
        }
    }
}

/// A loss in dB: `at_1_km + slope log10(km)`.
#[derive(Debug, Clone, Copy)]
struct Line {
    at_1_km: f64,
    slope: f64,
}

impl Line {
    fn at(self, km: f64) -> f64 {
        self.at_1_km + self.slope * libm::log10(km)
    }

    /// The gain as a line over log2 of the squared distance in metres: log2 of the gain at 1 m, and
    /// slope.
    fn binary(self) -> [f64; 2] {
        let at_1_m = self.at_1_km - 3.0 * self.slope;
        [-at_1_m * DECIBEL, -self.slope / 20.0]
    }
}

impl PropagationConfig {
    fn model(&self) -> Line {
        let log_f = libm::log10(self.frequency_mhz);
        match self.path_loss {
            PathLoss::Vehicular => {
                let height = self.above_roofs_m;
                Line {
                    at_1_km: 80.0 + 21.0 * log_f - 18.0 * libm::log10(height),
                    slope: 40.0 * (1.0 - 4e-3 * height),
                }
            }
            // Line of sight.
            PathLoss::Manhattan => self.free_space(),
            PathLoss::Pedestrian => Line { at_1_km: 49.0 + 30.0 * log_f, slope: 40.0 },
            PathLoss::IndoorOffice => {
                let n = f64::from(self.floors);
                let floors = 18.3 * libm::pow(n, (n + 2.0) / (n + 1.0) - 0.46);
                Line { at_1_km: 37.0 + 90.0 + floors, slope: 30.0 }
            }
        }
    }

    fn free_space(&self) -> Line {
        Line { at_1_km: 32.45 + 20.0 * libm::log10(self.frequency_mhz), slope: 20.0 }
    }

    /// Path loss in dB without antenna and shadow, at least that of free space.
    pub fn loss_db(&self, metres: f64) -> f64 {
        let km = metres / 1000.0;
        self.model().at(km).max(self.free_space().at(km))
    }
}

/// log2 of the power ratio of 1 dB.
pub(super) const DECIBEL: f64 = LOG2_10 / 10.0;

/// Minimum squared distance in square metres.
const NEAREST: f64 = 1.0;

/// The model in a form that is fast to evaluate. All values are logarithms to base 2.
#[derive(Debug, Clone)]
pub struct Propagation {
    quick: Quick,
    /// Gain at 1 m, and slope over the logarithm of the squared distance.
    model: [f64; 2],
    free_space: [f64; 2],
    /// Gain in the main direction of an antenna.
    antenna: f64,
    /// Attenuation of the pattern per squared radian, and its maximum.
    fall: f64,
    behind: f64,
    /// Maximum gain.
    most: f64,
    /// Sum of the patterns of a site's three antennas, averaged over all directions. Not a
    /// logarithm.
    around: f64,
}

impl Propagation {
    pub fn new(config: &PropagationConfig) -> Self {
        let Antenna { net_gain_db, beamwidth_deg, front_to_back_db } = config.antenna;
        let beamwidth = beamwidth_deg * PI / 180.0;
        Propagation {
            quick: Quick::new(),
            model: config.model().binary(),
            free_space: config.free_space().binary(),
            antenna: net_gain_db * DECIBEL,
            fall: 12.0 * DECIBEL / (beamwidth * beamwidth),
            behind: front_to_back_db * DECIBEL,
            most: -config.minimum_coupling_db * DECIBEL,
            around: SECTORS as f64 * config.antenna.mean_share(),
        }
    }

    /// Gain of all sectors of a site together, averaged over the directions of the antennas. `way`
    /// is the vector from the site to the mobile.
    pub fn mean_gain(&self, way: Place) -> f64 {
        self.around * self.quick.exp2(smaller(self.in_front(way), self.most))
    }

    /// Gain of an omnidirectional antenna. `way` and `shadow` as in `gains`.
    pub fn gain_of_one(&self, way: Place, shadow: f64) -> f64 {
        self.quick.exp2(smaller(self.in_front(way) + shadow, self.most))
    }

    /// Logarithm of the gain in the main direction of an antenna, without shadow.
    #[inline]
    fn in_front(&self, way: Place) -> f64 {
        let distance = self.quick.log2(way.squared().max(NEAREST));
        let line = |[at_1_m, slope]: [f64; 2]| at_1_m + slope * distance;
        smaller(line(self.model), line(self.free_space)) + self.antenna
    }

    /// Gains of the sectors of a site. `way` is the vector from the site to the mobile. `shadow` is
    /// the log2 of the shadow as a gain.
    #[inline]
    pub fn gains(&self, way: Place, azimuth: f64, shadow: f64, into: &mut [f64; SECTORS]) {
        let in_front = self.in_front(way) + shadow;
        // At the site itself the angle is NaN, and `smaller` then returns the maximum attenuation.
        let angle = self.quick.angle(way.x, way.y) - azimuth;
        for (sector, gain) in into.iter_mut().enumerate() {
            let beside = turned(angle - sector as f64 * THIRD);
            let pattern = smaller(self.fall * beside * beside, self.behind);
            *gain = self.quick.exp2(smaller(in_front - pattern, self.most));
        }
    }
}
