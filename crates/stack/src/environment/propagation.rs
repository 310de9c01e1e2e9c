//! Gain from an antenna to a mobile: path loss, antenna pattern, minimum coupling loss.
//!
//! Path losses are from UMTS 30.03 (ETSI TR 101 112) B.1.4.1, the pattern from TR 25.996 §4.5.1. All
//! losses in dB are linear in the logarithm of the distance. So the gains of a site need one
//! logarithm and one angle, and each of its sectors one power of two.

use std::f64::consts::{LOG2_10, PI};

use umts_units::{Angle, Db, Frequency, Length};

use super::fast_math::{FastMath, min_ignoring_nan, wrap_angle};
use super::layout::{Place, SECTORS, THIRD};
use super::shadowing::ShadowingConfig;
use super::street_loss::StreetLossConfig;
#[cfg(feature = "schema")]
use crate::options::Unlimited;
use crate::options::options;

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

options! {
    /// The antenna of a sector.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Antenna as "Antenna" {
        /// Gain of the antenna in its main direction, including cable losses.
        [label = "Gain of antennas", min = "-50 dB", max = "50 dB",
            source = "inferred: 34 dBm at a load of 0.80 agree with a gain of about 0 dB after losses"]
        pub gain: Db = Db(0.0),
        /// Additional losses in all directions, from walls and bodies.
        [label = "Losses of walls and bodies", min = "0 dB", max = "100 dB"]
        pub losses: Db = Db(0.0),
        /// Angle between the two directions in which the gain is 3 dB lower (3 dB beamwidth).
        [label = "Beamwidth of antennas", min = "1 deg", max = "360 deg", source = "TR 25.996 §4.5.1"]
        pub beamwidth: Angle = Angle::from_millidegrees(70_000),
        /// Front-to-back ratio: attenuation behind the antenna.
        [label = "Front-to-back ratio of antennas", min = "0 dB", max = "100 dB", source = "TR 25.996 §4.5.1"]
        pub front_to_back: Db = Db(20.0),
    }
}

impl Antenna {
    /// Gain in the main direction minus the losses in all directions.
    pub(super) fn net_gain_db(&self) -> f64 {
        self.gain.0 - self.losses.0
    }

    /// Linear mean of the pattern over all directions, relative to the main direction.
    fn mean_pattern(&self) -> f64 {
        let pattern = |degrees: i32| {
            let offset = f64::from(degrees) / self.beamwidth.degrees();
            libm::exp10(-(12.0 * offset * offset).min(self.front_to_back.0) / 10.0)
        };
        (-180..180).map(pattern).sum::<f64>() / 360.0
    }
}

options! {
    /// Path loss, antennas and shadowing.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct PropagationConfig as "Propagation" {
        /// Path loss model. The loss is never below free-space loss.
        [label = "Path loss", source = "UMTS 30.03 (TR 101 112) B.1.4.1"]
        pub model: PathLoss = PathLoss::Vehicular,
        /// Carrier frequency.
        [label = "Carrier frequency", min = "100 MHz", max = "10 GHz",
            source = "UMTS 30.03 (TR 101 112) B.1.4.1"]
        pub frequency: Frequency = Frequency::from_hertz(2_000_000_000),
        /// Height of the antennas above the roofs (`vehicular` only).
        [label = "Antennas above the roofs", min = "1 m", max = "50 m",
            source = "UMTS 30.03 (TR 101 112) B.1.4.1.3"]
        pub above_roofs: Length = Length::from_millimetres(15_000),
        /// Number of floors between antenna and user (`indoor_office` only).
        [label = "Floors", max = 20, source = "UMTS 30.03 (TR 101 112) B.1.4.1.1"]
        pub floors: u32 = 0,
        /// Smallest loss between antenna and user, including antenna gain and shadowing.
        [label = "Minimum coupling loss", min = "0 dB", max = "200 dB",
            source = "TR 25.942: 70 dB for macro cells"]
        pub minimum_coupling_loss: Db = Db(70.0),
        /// Distance up to which a site is computed individually, or `"unlimited"`. Farther sites
        /// contribute their mean.
        [label = "Range of a site", keyword = "Unlimited::<Length>", min = "100 m",
            source = "docs/cells.md, cost of the reach"]
        pub reach: Option<Length> = None,
        /// Loss along streets (`manhattan` only).
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        #[cfg_attr(feature = "schema", schemars(with = "StreetLossConfig", extend("x-default" = "none")))]
        pub streets: Option<StreetLossConfig> = None,
        /// Antennas of the sectors. In streets a station has one omnidirectional antenna of the same
        /// gain.
        pub antenna: Antenna = Antenna::default(),
        /// Shadowing by obstacles.
        pub shadowing: ShadowingConfig = ShadowingConfig::default(),
    }
}

/// A loss in dB: `at_1_km + slope log10(km)`.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// Loss at 1 km, in dB.
    at_1_km: f64,
    /// Increase of the loss for ten times the distance, in dB.
    slope: f64,
}

impl Line {
    fn at(self, km: f64) -> f64 {
        self.at_1_km + self.slope * libm::log10(km)
    }

    /// The same line for the gain, in logarithms to base 2.
    fn log2_gain(self) -> Log2Line {
        // 1 m is three decades below 1 km.
        let at_1_m = self.at_1_km - 3.0 * self.slope;
        // `slope` dB are slope / 10 decades of power for a decade of distance, which is two decades of
        // squared distance.
        Log2Line { at_1_m: -at_1_m * DECIBEL, slope: -self.slope / 20.0 }
    }
}

/// log2 of a gain: `at_1_m + slope log2(squared distance in m²)`.
#[derive(Debug, Clone, Copy)]
struct Log2Line {
    at_1_m: f64,
    slope: f64,
}

impl Log2Line {
    #[inline]
    fn at(self, log2_squared_distance: f64) -> f64 {
        self.at_1_m + self.slope * log2_squared_distance
    }
}

impl PropagationConfig {
    /// The path loss model as a line.
    fn line(&self) -> Line {
        let log_f = libm::log10(self.frequency.megahertz());
        match self.model {
            PathLoss::Vehicular => {
                let height = self.above_roofs.metres();
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
                // 30 log R is 90 dB at 1 km, because R is in metres.
                Line { at_1_km: 37.0 + 90.0 + floors, slope: 30.0 }
            }
        }
    }

    /// Loss in free space: 32.45 + 20 log(f in MHz) + 20 log(R in km) dB.
    fn free_space(&self) -> Line {
        Line { at_1_km: 32.45 + 20.0 * libm::log10(self.frequency.megahertz()), slope: 20.0 }
    }

    /// Path loss in dB without antenna and shadow, at least the path loss in free space.
    pub fn loss_db(&self, metres: f64) -> f64 {
        let km = metres / 1000.0;
        self.line().at(km).max(self.free_space().at(km))
    }
}

/// log2 of the power ratio that 1 dB stands for.
pub(super) const DECIBEL: f64 = LOG2_10 / 10.0;

/// Minimum squared distance in square metres.
const MIN_SQUARED_DISTANCE: f64 = 1.0;

/// The model in a form that is fast to evaluate. All values are logarithms to base 2.
#[derive(Debug, Clone)]
pub struct Propagation {
    fast_math: FastMath,
    /// Gain by the path loss model.
    model: Log2Line,
    /// Gain in free space, the maximum gain at a distance.
    free_space: Log2Line,
    /// Gain in the main direction of an antenna.
    antenna: f64,
    /// Attenuation of the pattern per squared radian from the main direction.
    attenuation_per_rad2: f64,
    /// Front-to-back ratio, the maximum attenuation of the pattern.
    max_attenuation: f64,
    /// Maximum gain, from the minimum coupling loss.
    max_gain: f64,
    /// Sum of the patterns of a site's three antennas, averaged over all directions. Linear, not a
    /// logarithm.
    mean_pattern_sum: f64,
}

impl Propagation {
    pub fn new(config: &PropagationConfig) -> Self {
        let antenna = config.antenna;
        let beamwidth = antenna.beamwidth.degrees() * PI / 180.0;
        Propagation {
            fast_math: FastMath::new(),
            model: config.line().log2_gain(),
            free_space: config.free_space().log2_gain(),
            antenna: antenna.net_gain_db() * DECIBEL,
            attenuation_per_rad2: 12.0 * DECIBEL / (beamwidth * beamwidth),
            max_attenuation: antenna.front_to_back.0 * DECIBEL,
            max_gain: -config.minimum_coupling_loss.0 * DECIBEL,
            mean_pattern_sum: SECTORS as f64 * config.antenna.mean_pattern(),
        }
    }

    /// Sum of the gains of a site's three sectors, averaged over all directions. `vector` is the
    /// vector from the site to the mobile in metres.
    pub fn mean_gain(&self, vector: Place) -> f64 {
        self.mean_pattern_sum * self.fast_math.exp2(min_ignoring_nan(self.main_gain(vector), self.max_gain))
    }

    /// Gain of an omnidirectional antenna. `vector` and `shadow` as in `gains`.
    pub fn omnidirectional_gain(&self, vector: Place, shadow: f64) -> f64 {
        self.fast_math.exp2(min_ignoring_nan(self.main_gain(vector) + shadow, self.max_gain))
    }

    /// Logarithm of the gain in the main direction of an antenna, without shadow.
    #[inline]
    fn main_gain(&self, vector: Place) -> f64 {
        let distance = self.fast_math.log2(vector.squared().max(MIN_SQUARED_DISTANCE));
        min_ignoring_nan(self.model.at(distance), self.free_space.at(distance)) + self.antenna
    }

    /// Gains of the sectors of a site. `vector` is the vector from the site to the mobile in metres.
    /// `shadow` is the log2 of the shadow as a gain.
    #[inline]
    pub fn gains(&self, vector: Place, azimuth: f64, shadow: f64, into: &mut [f64; SECTORS]) {
        let main_gain = self.main_gain(vector) + shadow;
        // At the site itself the angle is NaN, and `min_ignoring_nan` then returns the maximum
        // attenuation.
        let angle = self.fast_math.angle(vector.x, vector.y) - azimuth;
        for (sector, gain) in into.iter_mut().enumerate() {
            let offset = wrap_angle(angle - sector as f64 * THIRD);
            let pattern = min_ignoring_nan(self.attenuation_per_rad2 * offset * offset, self.max_attenuation);
            *gain = self.fast_math.exp2(min_ignoring_nan(main_gain - pattern, self.max_gain));
        }
    }
}
