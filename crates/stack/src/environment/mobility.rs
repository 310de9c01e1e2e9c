//! Movement of a mobile: still, on straight legs with random turns, in streets, or along a recorded
//! track.
//!
//! The distance follows from the time alone (in streets from the speeds of the legs), and turns
//! from draws that are addressed by the number of the leg. So a mobile needs no updates while it is
//! idle: the next query advances it leg by leg.

use std::f64::consts::TAU;
use std::sync::Arc;

use umts_kernel::random::AddressedStream;
use umts_units::Duration;

use super::layout::{Layout, Place};
use super::walk::{Walk, Walker};

#[derive(Debug, Clone, PartialEq, Default)]
pub enum MobilityConfig {
    #[default]
    Still,
    /// On straight legs with random turns.
    Legs(Legs),
    /// In streets.
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
    pub most: f64,
    /// Start of the first leg. `None`: uniform in the area.
    pub begins: Option<Place>,
}

impl Legs {
    /// The values of UMTS 30.03 at a speed in metres per second.
    pub fn vehicular(speed: f64) -> Self {
        Legs { speed, length: 20.0, turning: 0.2, most: TAU / 8.0, begins: None }
    }
}

/// Places with the times at which they are passed, counted from the appearance of the mobile. The
/// mobile moves in straight lines between them and stays at the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    points: Vec<Passed>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Passed {
    at: Duration,
    place: Place,
    travelled: f64,
}

impl Track {
    /// Returns `None` if there are no places, if the first time is not 0, or if the times do not
    /// increase.
    pub fn new(places: &[(Duration, Place)]) -> Option<Self> {
        let begins = places.first().is_some_and(|(at, _)| at.is_zero());
        if !begins || !places.is_sorted_by(|(a, _), (b, _)| a < b) {
            return None;
        }
        let mut travelled = 0.0;
        let mut before = places[0].1;
        let points = places.iter().map(|&(at, place)| {
            travelled += libm::sqrt(difference(before, place).squared());
            before = place;
            Passed { at, place, travelled }
        });
        Some(Track { points: points.collect() })
    }

    /// Position and travelled distance in metres.
    fn at(&self, since: Duration) -> (Place, f64) {
        let next = self.points.partition_point(|point| point.at <= since);
        let from = self.points[next - 1];
        let Some(to) = self.points.get(next) else { return (from.place, from.travelled) };
        let share = (since - from.at).as_secs() / (to.at - from.at).as_secs();
        let way = difference(from.place, to.place);
        let place = Place { x: from.place.x + share * way.x, y: from.place.y + share * way.y };
        (place, from.travelled + share * (to.travelled - from.travelled))
    }
}

fn difference(from: Place, to: Place) -> Place {
    Place { x: to.x - from.x, y: to.y - from.y }
}

/// Movement of one mobile up to the last query.
#[derive(Debug, Clone)]
pub struct Trajectory {
    mobility: MobilityConfig,
    /// Start of the current leg in the unbounded plane.
    begins: Place,
    leg: u64,
    heading: f64,
    /// Cosine and sine of `heading`.
    direction: [f64; 2],
    /// State for [`MobilityConfig::Walk`].
    walker: Option<Box<Walker>>,
}

/// Draws of a mobile at a leg. Draws from 8 on belong to its shadows.
const PLACE: [u32; 2] = [0, 1];
const HEADING: u32 = 2;
const TURNS: u32 = 3;
const TURN: u32 = 4;

impl Trajectory {
    /// Starts at `place`, otherwise at the start of the mobility model, otherwise at a random
    /// place.
    ///
    /// # Panics
    /// Panics if a mobile walks in a layout without streets.
    pub fn new(
        mobility: &MobilityConfig,
        place: Option<Place>,
        layout: &Layout,
        draws: &AddressedStream,
    ) -> Self {
        let first = draws.tti(0);
        let said = match mobility {
            MobilityConfig::Legs(legs) => legs.begins,
            MobilityConfig::Walk(walk) => walk.begins,
            _ => None,
        };
        let begins = place.or(said).unwrap_or_else(|| layout.anywhere(PLACE.map(|axis| first.uniform(axis))));
        let heading = TAU * first.uniform(HEADING);
        let walker = match mobility {
            MobilityConfig::Walk(walk) => {
                let streets = layout.streets().expect("it was checked that there are streets");
                Some(Box::new(Walker::new(walk, begins, streets, first.uniform(HEADING))))
            }
            _ => None,
        };
        Trajectory {
            mobility: mobility.clone(),
            begins,
            leg: 0,
            heading,
            direction: direction(heading),
            walker,
        }
    }

    /// Position in the area and travelled distance in metres at `since` after the appearance.
    /// `since` must not decrease.
    #[inline]
    pub fn at(&mut self, since: Duration, layout: &Layout, draws: &AddressedStream) -> (Place, f64) {
        let (place, travelled) = match &self.mobility {
            MobilityConfig::Still => (self.begins, 0.0),
            MobilityConfig::Legs(legs) => {
                let legs = *legs;
                let travelled = legs.speed * since.as_secs();
                (self.on_legs(legs, travelled, draws), travelled)
            }
            MobilityConfig::Walk(walk) => {
                let walker = self.walker.as_mut().expect("a walking user has a walker");
                let streets = layout.streets().expect("it was checked that there are streets");
                walker.at(since.as_secs(), walk, streets, draws)
            }
            MobilityConfig::Track(track) => track.at(since),
        };
        (layout.within(place), travelled)
    }

    fn on_legs(&mut self, legs: Legs, travelled: f64, draws: &AddressedStream) -> Place {
        let leg = (travelled / legs.length) as u64;
        while self.leg < leg {
            self.begins = self.begins.ahead(legs.length, self.direction);
            self.leg += 1;
            let draws = draws.tti(self.leg);
            if draws.uniform(TURNS) < legs.turning {
                self.heading += legs.most * (2.0 * draws.uniform(TURN) - 1.0);
                self.direction = direction(self.heading);
            }
        }
        self.begins.ahead(travelled - self.leg as f64 * legs.length, self.direction)
    }
}

fn direction(heading: f64) -> [f64; 2] {
    [libm::cos(heading), libm::sin(heading)]
}
