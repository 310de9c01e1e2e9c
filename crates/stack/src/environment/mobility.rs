//! Where a mobile is: still, on legs that turn now and then, in streets, or on a track that was recorded.
//!
//! How far it went follows from the time alone, and where it turns from draws addressed by the leg, so nobody has to look
//! meanwhile: a user who slept is brought up to date leg by leg.

use std::f64::consts::TAU;
use std::sync::Arc;

use umts_kernel::random::AddressedStream;
use umts_units::Duration;

use super::layout::{Layout, Place};
use super::walk::{Walk, Walker};

/// How a mobile moves.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum MobilityConfig {
    /// Not at all.
    #[default]
    Still,
    /// On straight legs.
    Legs(Legs),
    /// In streets.
    Walk(Walk),
    /// As recorded.
    Track(Arc<Track>),
}

/// Straight legs of one length at one speed (UMTS 30.03 B.1.8).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Legs {
    /// Metres in a second.
    pub speed: f64,
    /// Metres from one place where it may turn to the next.
    pub length: f64,
    /// How likely it turns there.
    pub turning: f64,
    /// By how much at most, to either side, in radians; uniform.
    pub most: f64,
    /// Where the first leg begins; anywhere if that is not said.
    pub begins: Option<Place>,
}

impl Legs {
    /// Those of UMTS 30.03 at a speed in metres per second.
    pub fn vehicular(speed: f64) -> Self {
        Legs { speed, length: 20.0, turning: 0.2, most: TAU / 8.0, begins: None }
    }
}

/// Places and when they are passed, counted from when the mobile appears. Between them it goes straight on, and at the end
/// it stays.
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
    /// Through these places, the first at once. `None` where there are none, the first has to be waited for, or times do
    /// not rise.
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

    /// Where the mobile is, and how far it went.
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

/// The way of one mobile, as far as it is known.
#[derive(Debug, Clone)]
pub struct Trajectory {
    mobility: MobilityConfig,
    /// Where the leg begins, as if the area had no end.
    begins: Place,
    leg: u64,
    heading: f64,
    /// Its cosine and sine.
    direction: [f64; 2],
    /// Of who walks in streets.
    walker: Option<Box<Walker>>,
}

/// Draws of a mobile at a leg. From 8 on they are of its shadows.
const PLACE: [u32; 2] = [0, 1];
const HEADING: u32 = 2;
const TURNS: u32 = 3;
const TURN: u32 = 4;

impl Trajectory {
    /// Of who appears at a place, or anywhere.
    ///
    /// # Panics
    /// Where somebody walks in a layout without streets.
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

    /// Where the mobile is in the area, so long after it appeared, and how far it went. Time does not go back.
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
                let walker = self.walker.as_mut().expect("who walks has a walker");
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
