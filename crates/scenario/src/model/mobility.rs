//! How users of a layout move: `mobility` of a `[[ue]]`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::environment::{Legs, MobilityConfig, Place, Track, Walk};
use umts_units::{Angle, Duration, Length, Probability, Speed};

/// Where users are and how they move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mobility {
    /// By which rule; users of whom nothing is said stand still.
    pub model: MobilityModel,
    /// How fast (`vehicular`, and `manhattan` on average).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Speed", extend("x-default" = "50 km/h; manhattan 3 km/h", "x-max" = "500 km/h", "x-source" = "a reading; UMTS 30.03 (TR 101 112) B.1.8: 120 km/h, pedestrians 3 km/h"))]
    pub speed: Option<Speed>,
    /// How far it is from one place where they may turn to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Length", extend("x-default" = "20 m; manhattan 5 m", "x-min" = "1 m", "x-max" = "100 km", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8: 20 m, pedestrians 5 m"))]
    pub leg: Option<Length>,
    /// How likely they turn there, in streets at a crossing, to either side alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Probability", extend("x-default" = "0.2; manhattan 0.5", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8"))]
    pub turn_probability: Option<Probability>,
    /// Standard deviation of their speeds (`manhattan` only).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Speed", extend("x-default" = "0.3 km/h", "x-max" = "500 km/h", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8"))]
    pub speed_deviation: Option<Speed>,
    /// How likely a leg has a new speed (`manhattan` only).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Probability", extend("x-default" = "0.2", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8.1.2"))]
    pub speed_change: Option<Probability>,
    /// By how much at most, to either side (`vehicular` only).
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
    /// Along streets, on foot, to another street at some crossings; `layout.streets` only.
    Manhattan,
    /// As a file says.
    Track,
}

/// Of what the loader fills in.
const COMPLETE: &str = "the loader completes it";

impl Default for Mobility {
    fn default() -> Self {
        Mobility {
            model: MobilityModel::Vehicular,
            speed: None,
            leg: None,
            turn_probability: None,
            speed_deviation: None,
            speed_change: None,
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

    /// What the file leaves open: who walks is slower than who drives.
    pub(crate) fn complete(&mut self) {
        let is_on_foot = self.model == MobilityModel::Manhattan;
        let (metres_per_hour, millimetres, turning) =
            if is_on_foot { (3_000, 5_000, 0.5) } else { (50_000, 20_000, Legs::vehicular(0.0).turning) };
        self.speed.get_or_insert(Speed::from_metres_per_hour(metres_per_hour));
        self.leg.get_or_insert(Length::from_millimetres(millimetres));
        self.turn_probability.get_or_insert(Probability::new(turning).expect("a probability"));
        if is_on_foot {
            self.speed_deviation.get_or_insert(Speed::from_metres_per_hour(300));
            self.speed_change.get_or_insert(Probability::new(0.2).expect("a probability"));
        }
    }

    /// The rule as the stack has it. A track that was not read, and what was not completed, is a panic.
    pub fn config(&self) -> MobilityConfig {
        let place = self.place.as_ref().map(|place| Place { x: place[0].metres(), y: place[1].metres() });
        match self.model {
            // Who stands at a place is on a track that leads nowhere.
            MobilityModel::Still => match place.and_then(|place| Track::new(&[(Duration::ZERO, place)])) {
                Some(track) => MobilityConfig::Track(Arc::new(track)),
                None => MobilityConfig::Still,
            },
            MobilityModel::Vehicular => MobilityConfig::Legs(Legs {
                speed: self.speed.expect(COMPLETE).metres_per_second(),
                length: self.leg.expect(COMPLETE).metres(),
                turning: self.turn_probability.expect(COMPLETE).value(),
                most: self.turn.radians(),
                begins: place,
            }),
            MobilityModel::Manhattan => MobilityConfig::Walk(Walk {
                speed: self.speed.expect(COMPLETE).metres_per_second(),
                deviation: self.speed_deviation.expect(COMPLETE).metres_per_second(),
                changing: self.speed_change.expect(COMPLETE).value(),
                leg: self.leg.expect(COMPLETE).metres(),
                turning: self.turn_probability.expect(COMPLETE).value(),
                begins: place,
            }),
            MobilityModel::Track => MobilityConfig::Track(self.track.clone().expect("it was read")),
        }
    }
}
