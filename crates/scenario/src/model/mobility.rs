//! How users of a layout move: `mobility` of a `[[ue]]`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::environment::{Legs, MobilityConfig, Place, Track, Walk};
use umts_units::{Angle, Duration, Length, Probability, Speed};

table! {
    /// Where users are and how they move.
    pub struct Mobility {
        /// Mobility model. Users without `mobility` stand still.
        #[schemars(extend("x-label" = "Mobility"))]
        pub model: MobilityModel = MobilityModel::Vehicular,
        /// Speed (`vehicular`), or mean speed (`manhattan`).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Speed", extend("x-label" = "Speed", "x-default" = "50 km/h; manhattan 3 km/h", "x-max" = "500 km/h", "x-source" = "an interpretation; UMTS 30.03 (TR 101 112) B.1.8: 120 km/h, pedestrians 3 km/h"))]
        pub speed: Option<Speed> = None,
        /// Distance between two positions at which a user may turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Length", extend("x-label" = "Length of a leg", "x-default" = "20 m; manhattan 5 m", "x-min" = "1 m", "x-max" = "100 km", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8: 20 m, pedestrians 5 m"))]
        pub leg: Option<Length> = None,
        /// Probability of a turn at such a position, left or right with equal probability. In
        /// streets a user turns only at crossings.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Probability", extend("x-label" = "Probability of a turn", "x-default" = "0.2; manhattan 0.5", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8"))]
        pub turn_probability: Option<Probability> = None,
        /// Standard deviation of the speed (`manhattan` only).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Speed", extend("x-label" = "Deviation of speeds", "x-default" = "0.3 km/h", "x-max" = "500 km/h", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8"))]
        pub speed_deviation: Option<Speed> = None,
        /// Probability that the speed changes at the end of a leg (`manhattan` only).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Probability", extend("x-label" = "Probability of a new speed", "x-default" = "0.2", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8.1.2"))]
        pub speed_change: Option<Probability> = None,
        /// Largest angle of a turn, to either side (`vehicular` only).
        #[schemars(extend("x-label" = "Largest turn", "x-max" = "180 deg", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8"))]
        pub turn: Angle = Angle::from_millidegrees(45_000),
        /// Initial position, as distances from the lower left corner of the area. A random position
        /// if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<Length>", extend("x-label" = "Initial position", "x-default" = "anywhere", "x-range" = "two, within the area"))]
        pub place: Option<Vec<Length>> = None,
        /// File with the track (`track` only). Each line has a time in seconds and a position in
        /// metres. The path is relative to the folder of the scenario file.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String", extend("x-label" = "Track"))]
        pub file: Option<String> = None,
        /// Content of that file. Filled in by the loader.
        #[serde(skip)]
        pub track: Option<Arc<Track>> = None,
    }
}

/// How users move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MobilityModel {
    /// The user does not move.
    Still,
    /// The user moves on straight legs at constant speed and turns at random.
    Vehicular,
    /// The user walks along streets and turns into another street at some crossings
    /// (`layout.streets` only).
    Manhattan,
    /// The user follows the track in a file.
    Track,
}

/// Panic message for keys that `complete` has to fill in.
const COMPLETE: &str = "the loader completes it";

impl Mobility {
    /// Mobility of users without a `mobility` table.
    pub(crate) fn still() -> Self {
        Mobility { model: MobilityModel::Still, ..Mobility::default() }
    }

    /// Sets the defaults that depend on the model: pedestrians are slower than vehicles.
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

    /// Configuration of the mobility for the stack. Panics if the track was not read or `complete`
    /// was not called.
    pub fn config(&self) -> MobilityConfig {
        let place = self.place.as_ref().map(|place| Place { x: place[0].metres(), y: place[1].metres() });
        match self.model {
            // A user that stands at a given place has a track with one point.
            MobilityModel::Still => match place.and_then(|place| Track::new(&[(Duration::ZERO, place)])) {
                Some(track) => MobilityConfig::Track(Arc::new(track)),
                None => MobilityConfig::Still,
            },
            MobilityModel::Vehicular => MobilityConfig::Legs(Legs {
                speed: self.speed.expect(COMPLETE).metres_per_second(),
                length: self.leg.expect(COMPLETE).metres(),
                turning: self.turn_probability.expect(COMPLETE).value(),
                max_turn: self.turn.radians(),
                start: place,
            }),
            MobilityModel::Manhattan => MobilityConfig::Walk(Walk {
                speed: self.speed.expect(COMPLETE).metres_per_second(),
                deviation: self.speed_deviation.expect(COMPLETE).metres_per_second(),
                changing: self.speed_change.expect(COMPLETE).value(),
                leg: self.leg.expect(COMPLETE).metres(),
                turning: self.turn_probability.expect(COMPLETE).value(),
                start: place,
            }),
            MobilityModel::Track => {
                MobilityConfig::Track(self.track.clone().expect("the loader read the file"))
            }
        }
    }
}
