//! How users of a layout move: `mobility` of a `[[ue]]`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::environment::{Legs, MobilityConfig, Place, Track};
use umts_units::{Angle, Duration, Length, Probability, Speed};

/// Where users are and how they move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mobility {
    /// By which rule; users of whom nothing is said stand still.
    pub model: MobilityModel,
    /// How fast (`vehicular` only).
    #[schemars(extend("x-max" = "500 km/h", "x-source" = "a reading; UMTS 30.03 (TR 101 112) B.1.8: 120 km/h, pedestrians 3 km/h"))]
    pub speed: Speed,
    /// How far it is from one place where they may turn to the next.
    #[schemars(extend("x-min" = "1 m", "x-max" = "100 km", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8: 20 m, pedestrians 5 m"))]
    pub leg: Length,
    /// How likely they turn there.
    #[schemars(extend("x-source" = "UMTS 30.03 (TR 101 112) B.1.8"))]
    pub turn_probability: Probability,
    /// By how much at most, to either side.
    #[schemars(extend("x-max" = "180 deg", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8"))]
    pub turn: Angle,
    /// Where they are at first, from the corner of the area; anywhere if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Length>", extend("x-default" = "anywhere", "x-range" = "two, within the area"))]
    pub place: Option<Vec<Length>>,
    /// Their track (`track` only): lines of a time in seconds and a place in metres, relative to the folder of the scenario
    /// file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub file: Option<String>,
    /// What that says.
    #[serde(skip)]
    pub track: Option<Arc<Track>>,
}

/// How users move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MobilityModel {
    /// Not at all.
    Still,
    /// On straight legs, at one speed, with a turn now and then.
    Vehicular,
    /// As a file says.
    Track,
}

impl Default for Mobility {
    fn default() -> Self {
        let Legs { turning, .. } = Legs::vehicular(0.0);
        Mobility {
            model: MobilityModel::Vehicular,
            speed: Speed::from_metres_per_hour(50_000),
            leg: Length::from_millimetres(20_000),
            turn_probability: Probability::new(turning).expect("a probability"),
            turn: Angle::from_millidegrees(45_000),
            place: None,
            file: None,
            track: None,
        }
    }
}

impl Mobility {
    /// Of users of whom nothing is said.
    pub(crate) fn still() -> Self {
        Mobility { model: MobilityModel::Still, ..Mobility::default() }
    }

    /// The rule as the stack has it. A track that was not read is a panic.
    pub fn config(&self) -> MobilityConfig {
        let place = self.place.as_ref().map(|place| Place { x: place[0].metres(), y: place[1].metres() });
        match self.model {
            // Who stands at a place is on a track that leads nowhere.
            MobilityModel::Still => match place.and_then(|place| Track::new(&[(Duration::ZERO, place)])) {
                Some(track) => MobilityConfig::Track(Arc::new(track)),
                None => MobilityConfig::Still,
            },
            MobilityModel::Vehicular => MobilityConfig::Legs(Legs {
                speed: self.speed.metres_per_second(),
                length: self.leg.metres(),
                turning: self.turn_probability.value(),
                most: self.turn.radians(),
                begins: place,
            }),
            MobilityModel::Track => MobilityConfig::Track(self.track.clone().expect("it was read")),
        }
    }
}
