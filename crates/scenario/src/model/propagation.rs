//! Propagation between antennas and users of a layout: `[propagation]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::environment::PathLoss;
use umts_stack::environment::{self, PropagationConfig, ShadowingConfig};
use umts_units::keyword::Unlimited;
use umts_units::{Angle, Db, Frequency, Length, Probability};

use super::streets::StreetLoss;

/// Path loss, antennas and shadowing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Propagation {
    /// Path loss model. The loss is never below free-space loss.
    #[schemars(extend("x-label" = "Path loss", "x-source" = "UMTS 30.03 (TR 101 112) B.1.4.1"))]
    pub model: PathLoss,
    /// Carrier frequency.
    #[schemars(extend("x-label" = "Carrier frequency", "x-min" = "100 MHz", "x-max" = "10 GHz", "x-source" = "UMTS 30.03 (TR 101 112) B.1.4.1"))]
    pub frequency: Frequency,
    /// Height of the antennas above the roofs (`vehicular` only).
    #[schemars(extend("x-label" = "Antennas above the roofs", "x-min" = "1 m", "x-max" = "50 m", "x-source" = "UMTS 30.03 (TR 101 112) B.1.4.1.3"))]
    pub above_roofs: Length,
    /// Number of floors between antenna and user (`indoor_office` only).
    #[schemars(extend("x-label" = "Floors", "x-max" = 20, "x-source" = "UMTS 30.03 (TR 101 112) B.1.4.1.1"))]
    pub floors: u32,
    /// Smallest loss between antenna and user, including antenna gain and shadowing.
    #[schemars(extend("x-label" = "Minimum coupling loss", "x-min" = "0 dB", "x-max" = "200 dB", "x-source" = "TR 25.942: 70 dB for macro cells"))]
    pub minimum_coupling_loss: Db,
    /// Distance up to which a site is computed individually, or `"unlimited"`. Farther sites
    /// contribute their mean.
    #[serde(with = "Unlimited::<Length>")]
    #[schemars(extend("x-label" = "Range of a site", "x-min" = "100 m", "x-source" = "docs/cells.md: what a reach costs"))]
    pub reach: Option<Length>,
    /// Loss along streets (`manhattan` only).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StreetLoss", extend("x-default" = "none"))]
    pub streets: Option<StreetLoss>,
    /// Antennas of the sectors. In streets a station has one omnidirectional antenna of the same
    /// gain.
    pub antenna: Antenna,
    /// Shadowing by obstacles.
    pub shadowing: Shadowing,
}

/// The antenna of a sector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Antenna {
    /// Gain of the antenna in its main direction, including cable losses.
    #[schemars(extend("x-label" = "Gain of antennas", "x-min" = "-50 dB", "x-max" = "50 dB", "x-source" = "a reading: 34 dBm at a load of 0.80 need about 0 dB less losses"))]
    pub gain: Db,
    /// Additional losses in all directions, from walls and bodies.
    #[schemars(extend("x-label" = "Losses of walls and bodies", "x-min" = "0 dB", "x-max" = "100 dB"))]
    pub losses: Db,
    /// Angle between the two directions in which the gain is 3 dB lower (3 dB beamwidth).
    #[schemars(extend("x-label" = "Beamwidth of antennas", "x-min" = "1 deg", "x-max" = "360 deg", "x-source" = "TR 25.996 §4.5.1"))]
    pub beamwidth: Angle,
    /// Front-to-back ratio: attenuation behind the antenna.
    #[schemars(extend("x-label" = "Front-to-back ratio of antennas", "x-min" = "0 dB", "x-max" = "100 dB", "x-source" = "TR 25.996 §4.5.1"))]
    pub front_to_back: Db,
}

/// Log-normal shadowing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Shadowing {
    /// Standard deviation of shadowing. `"0 dB"` for none.
    #[schemars(extend("x-label" = "Deviation of shadows", "x-min" = "0 dB", "x-max" = "30 dB", "x-source" = "UMTS 30.03 (TR 101 112) B.1.4: 10 dB, indoors 12 dB"))]
    pub deviation: Db,
    /// Distance after which the correlation of a user's shadowing is one half.
    #[schemars(extend("x-label" = "Decorrelation distance of shadows", "x-min" = "1 m", "x-max" = "10 km", "x-source" = "UMTS 30.03 (TR 101 112) B.1.4: 20 m, 5 m for pedestrians and indoors"))]
    pub decorrelation: Length,
    /// Correlation of the shadowing of two sites. All sectors of a site share one value.
    #[schemars(extend("x-label" = "Correlation of shadows between sites", "x-source" = "TR 25.942"))]
    pub between_sites: Probability,
}

impl Default for Propagation {
    fn default() -> Self {
        let config = PropagationConfig::default();
        Propagation {
            model: config.path_loss,
            frequency: Frequency::from_hertz(2_000_000_000),
            above_roofs: Length::from_millimetres(15_000),
            floors: config.floors,
            minimum_coupling_loss: Db(config.minimum_coupling_db),
            reach: None,
            streets: None,
            antenna: Antenna::default(),
            shadowing: Shadowing::default(),
        }
    }
}

impl Default for Antenna {
    fn default() -> Self {
        let antenna = PropagationConfig::default().antenna;
        Antenna {
            gain: Db(antenna.net_gain_db),
            losses: Db(0.0),
            beamwidth: Angle::from_millidegrees(70_000),
            front_to_back: Db(antenna.front_to_back_db),
        }
    }
}

impl Default for Shadowing {
    fn default() -> Self {
        let config = ShadowingConfig::default();
        Shadowing {
            deviation: Db(config.deviation_db),
            decorrelation: Length::from_millimetres(20_000),
            between_sites: Probability::new(config.between_sites).expect("a correlation"),
        }
    }
}

impl Propagation {
    /// Sets the street losses if the model needs them.
    pub(crate) fn complete(&mut self) {
        if self.model == PathLoss::Manhattan {
            self.streets.get_or_insert_default();
        }
    }

    /// Configuration of path loss and antennas for the stack.
    pub fn config(&self) -> PropagationConfig {
        PropagationConfig {
            path_loss: self.model,
            frequency_mhz: self.frequency.megahertz(),
            above_roofs_m: self.above_roofs.metres(),
            floors: self.floors,
            antenna: environment::Antenna {
                net_gain_db: self.antenna.gain.0 - self.antenna.losses.0,
                beamwidth_deg: self.antenna.beamwidth.degrees(),
                front_to_back_db: self.antenna.front_to_back.0,
            },
            minimum_coupling_db: self.minimum_coupling_loss.0,
            reach_m: self.reach.map_or(f64::INFINITY, Length::metres),
            streets: self.streets.unwrap_or_default().config(),
        }
    }
}

impl Shadowing {
    /// Configuration of shadowing for the stack.
    pub fn config(&self) -> ShadowingConfig {
        ShadowingConfig {
            deviation_db: self.deviation.0,
            decorrelation_m: self.decorrelation.metres(),
            between_sites: self.between_sites.value(),
        }
    }
}
