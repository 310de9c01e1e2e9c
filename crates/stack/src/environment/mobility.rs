//! Movement of a mobile: still, on straight legs with random turns, in streets, or along a recorded
//! track.
//!
//! The travelled distance depends only on the time, in streets also on the speeds of the legs. The
//! random draw for a turn depends only on the number of the leg. So a mobile needs no updates while
//! it is idle: the next query advances it leg by leg.

use std::f64::consts::TAU;
use std::sync::Arc;

use umts_kernel::random::AddressedStream;
use umts_units::Duration;

use super::layout::{Layout, Place};
use super::walk::{Walk, Walker};

/// How a mobile moves.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum MobilityConfig {
    #[default]
    Still,
    /// On straight legs with random turns.
    Legs(Legs),
    /// Pedestrian in streets.
    Walk(Walk),
    /// Along a recorded track.
    Track(Arc<Track>),
}

/// Straight legs of one length at constant speed (UMTS 30.03 B.1.8).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Legs {
    /// Metres per second.
    pub speed: f64,
    /// Length of a leg in metres. The mobile may turn at the end of each leg.
    pub length: f64,
    /// Probability of a turn.
    pub turning: f64,
    /// Maximum turn to either side in radians. Turns are uniformly distributed.
    pub max_turn: f64,
    /// Start of the first leg. `None`: uniform in the area.
    pub start: Option<Place>,
}

impl Legs {
    /// The values of UMTS 30.03 at a speed in metres per second.
    pub fn vehicular(speed: f64) -> Self {
        Legs { speed, length: 20.0, turning: 0.2, max_turn: TAU / 8.0, start: None }
    }
}

/// Places with the times at which they are passed, counted from the appearance of the mobile. The
/// mobile moves in straight lines between them and stays at the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    points: Vec<TrackPoint>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct TrackPoint {
    /// Time since the appearance of the mobile.
    at: Duration,
    place: Place,
    /// Metres from the first point along the track.
    travelled: f64,
}

impl Track {
    /// Returns `None` if there are no places, if the first time is not 0, or if the times do not
    /// increase.
    pub fn new(places: &[(Duration, Place)]) -> Option<Self> {
        let &(first_time, first_place) = places.first()?;
        if !first_time.is_zero() || !places.is_sorted_by(|(earlier, _), (later, _)| earlier < later) {
            return None;
        }
        let mut travelled = 0.0;
        let mut previous = first_place;
        let points = places.iter().map(|&(at, place)| {
            travelled += libm::sqrt(difference(previous, place).squared());
            previous = place;
            TrackPoint { at, place, travelled }
        });
        Some(Track { points: points.collect() })
    }

    /// Position at `since` after the appearance.
    fn at(&self, since: Duration) -> PathPosition {
        let next = self.points.partition_point(|point| point.at <= since);
        let from = self.points[next - 1];
        let Some(to) = self.points.get(next) else {
            return PathPosition { place: from.place, travelled: from.travelled };
        };
        let fraction = (since - from.at).as_secs() / (to.at - from.at).as_secs();
        let vector = difference(from.place, to.place);
        let place = Place { x: from.place.x + fraction * vector.x, y: from.place.y + fraction * vector.y };
        PathPosition { place, travelled: from.travelled + fraction * (to.travelled - from.travelled) }
    }
}

/// The vector from one place to another.
fn difference(from: Place, to: Place) -> Place {
    Place { x: to.x - from.x, y: to.y - from.y }
}

/// Where a mobile is, and how far it has moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathPosition {
    pub place: Place,
    /// Metres travelled since the appearance, on which the shadows depend.
    pub travelled: f64,
}

/// Movement of one mobile up to the last query.
#[derive(Debug, Clone)]
pub struct Trajectory {
    mobility: MobilityConfig,
    /// Start of the current leg in the unbounded plane.
    start: Place,
    /// Number of the current leg.
    leg: u64,
    /// Direction of the current leg in radians, counterclockwise from the positive x axis.
    heading: f64,
    /// Cosine and sine of `heading`.
    direction: [f64; 2],
    /// State for [`MobilityConfig::Walk`].
    walker: Option<Box<Walker>>,
}

/// Numbers of a mobile's draws at a leg. Numbers from 8 on are used for its shadows.
const PLACE: [u32; 2] = [0, 1];
const HEADING: u32 = 2;
const TURN_DECISION: u32 = 3;
const TURN_ANGLE: u32 = 4;

impl Trajectory {
    /// Starts at `place`. If it is `None`, starts at the start of the mobility model, or else at a
    /// random place.
    ///
    /// # Panics
    /// Panics if a mobile walks in a layout without streets.
    pub fn new(
        mobility: &MobilityConfig,
        place: Option<Place>,
        layout: &Layout,
        draws: &AddressedStream,
    ) -> Self {
        let start_draws = draws.tti(0);
        let configured = match mobility {
            MobilityConfig::Legs(legs) => legs.start,
            MobilityConfig::Walk(walk) => walk.start,
            _ => None,
        };
        let start = place
            .or(configured)
            .unwrap_or_else(|| layout.anywhere(PLACE.map(|axis| start_draws.uniform(axis))));
        let heading = TAU * start_draws.uniform(HEADING);
        let walker = match mobility {
            MobilityConfig::Walk(walk) => {
                let streets = layout.streets().expect("the configuration has streets");
                Some(Box::new(Walker::new(walk, start, streets, start_draws.uniform(HEADING))))
            }
            _ => None,
        };
        Trajectory {
            mobility: mobility.clone(),
            start,
            leg: 0,
            heading,
            direction: direction(heading),
            walker,
        }
    }

    /// Position in the area at `since` after the appearance. `since` must not decrease.
    #[inline]
    pub fn at(&mut self, since: Duration, layout: &Layout, draws: &AddressedStream) -> PathPosition {
        let position = match &self.mobility {
            MobilityConfig::Still => PathPosition { place: self.start, travelled: 0.0 },
            MobilityConfig::Legs(legs) => {
                let legs = *legs;
                let travelled = legs.speed * since.as_secs();
                PathPosition { place: self.position_on_legs(legs, travelled, draws), travelled }
            }
            MobilityConfig::Walk(walk) => {
                let walker = self.walker.as_mut().expect("a walking user has a walker");
                let streets = layout.streets().expect("the configuration has streets");
                walker.at(since.as_secs(), walk, streets, draws)
            }
            MobilityConfig::Track(track) => track.at(since),
        };
        PathPosition { place: layout.within(position.place), ..position }
    }

    /// Position after `travelled` metres in total. Advances the state to the current leg.
    fn position_on_legs(&mut self, legs: Legs, travelled: f64, draws: &AddressedStream) -> Place {
        let current_leg = (travelled / legs.length) as u64;
        while self.leg < current_leg {
            self.start = self.start.ahead(legs.length, self.direction);
            self.leg += 1;
            let draws = draws.tti(self.leg);
            if draws.uniform(TURN_DECISION) < legs.turning {
                self.heading += legs.max_turn * (2.0 * draws.uniform(TURN_ANGLE) - 1.0);
                self.direction = direction(self.heading);
            }
        }
        self.start.ahead(travelled - self.leg as f64 * legs.length, self.direction)
    }
}

/// Cosine and sine of a heading in radians.
fn direction(heading: f64) -> [f64; 2] {
    [libm::cos(heading), libm::sin(heading)]
}
