//! Pedestrians in streets (UMTS 30.03 B.1.8.1.2), with random changes of speed and random turns at
//! crossings.
//!
//! A walk is a sequence of legs of equal length, each at constant speed. The random numbers of a
//! leg are addressed by the number of the leg, not drawn in sequence. So a walk depends only on the
//! time, and an idle mobile needs no updates: the next query advances it leg by leg.

use umts_kernel::random::AddressedStream;

use super::layout::Place;
use super::mobility::PathPosition;
use super::streets::{AXES, Streets};

/// How a pedestrian walks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walk {
    /// Mean speed in metres per second.
    pub speed: f64,
    /// Standard deviation of drawn speeds in metres per second.
    pub deviation: f64,
    /// Probability of a new speed at the start of a leg.
    pub changing: f64,
    /// Length of a leg in metres. At most the side of a block, so that a leg passes at most one
    /// crossing.
    pub leg: f64,
    /// Probability of a turn at a crossing, left and right equally likely.
    pub turning: f64,
    /// Start of the walk. `None`: uniform on the streets.
    pub start: Option<Place>,
}

/// Minimum speed as a fraction of the mean speed.
const MIN_SPEED_FRACTION: f64 = 0.1;

/// Numbers of a walker's draws at a leg. Lower numbers are used for the starting place, higher ones
/// for the shadows.
const TURN: u32 = 3;
const SPEED_DECISION: u32 = 5;
const SPEED: u32 = 6;

/// Headings east, north, west and south as steps along both axes.
const HEADINGS: [[i64; 2]; 4] = [[1, 0], [0, 1], [-1, 0], [0, -1]];

/// Indices in [`HEADINGS`] of the headings along each axis: with growing and with falling coordinates.
const FORWARD: [usize; 2] = [0, 1];
const BACKWARD: [usize; 2] = [2, 3];

/// A position on the grid: `distance` metres from a crossing towards the next one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct GridPosition {
    /// Numbers of the crossing on both axes.
    crossing: [i64; 2],
    /// Index in [`HEADINGS`].
    heading: usize,
    distance: f64,
}

/// A pedestrian at the start of a leg.
#[derive(Debug, Clone)]
pub struct Walker {
    position: GridPosition,
    /// Number of the leg.
    leg: u64,
    /// Start of the leg in seconds since the appearance.
    leg_start: f64,
    /// Metres per second.
    speed: f64,
}

impl Walker {
    /// Starts in the middle of the street of `place`. `heading` is a uniform draw that selects the
    /// direction along the street.
    pub fn new(walk: &Walk, place: Place, streets: &Streets, heading: f64) -> Self {
        let spot = streets.spot(place);
        // The axis along which the street runs. On a crossing the street along x counts.
        let axis = if spot.street_along[0].is_some() { 0 } else { 1 };
        let street_line = spot.street_along[axis].expect("a place or its nearest wall is in a street");
        // Half a width beyond the line of the street, so that rounding does not matter.
        let street = streets.line_before(street_line + streets.width / 2.0);
        // The crossing before the place along the street, at most the last one with a block after it.
        let before = streets.line_before(spot.position[axis]);
        let is_between_crossings = streets.has_line(axis, before) && streets.has_line(axis, before + 1);
        let last_with_block = i64::from(streets.blocks[axis]) - 1;
        let before = if is_between_crossings { before } else { before.clamp(0, last_with_block) };
        let offset = (spot.position[axis] - streets.line(before)).clamp(0.0, streets.period());
        let mut crossing = [street; 2];
        let is_forward = heading < 0.5;
        let (heading, distance) = if is_forward {
            crossing[axis] = before;
            (FORWARD[axis], offset)
        } else {
            // A walk backwards begins at the next crossing.
            crossing[axis] = before + 1;
            (BACKWARD[axis], streets.period() - offset)
        };
        Walker {
            position: GridPosition { crossing, heading, distance },
            leg: 0,
            leg_start: 0.0,
            speed: walk.speed,
        }
    }

    /// Position in the unbounded plane `since` seconds after the appearance. `since` must not
    /// decrease.
    pub fn at(
        &mut self,
        since: f64,
        walk: &Walk,
        streets: &Streets,
        draws: &AddressedStream,
    ) -> PathPosition {
        if self.speed == 0.0 {
            return PathPosition { place: self.position.place(streets), travelled: 0.0 };
        }
        while self.leg_start + walk.leg / self.speed <= since {
            self.position =
                self.position.advanced(walk.leg, walk, streets, draws.tti(self.leg).uniform(TURN));
            self.leg_start += walk.leg / self.speed;
            self.leg += 1;
            let draws = draws.tti(self.leg);
            if draws.uniform(SPEED_DECISION) < walk.changing {
                self.speed =
                    (walk.speed + walk.deviation * draws.normal(SPEED)).max(MIN_SPEED_FRACTION * walk.speed);
            }
        }
        let offset = self.speed * (since - self.leg_start);
        let position = self.position.advanced(offset, walk, streets, draws.tti(self.leg).uniform(TURN));
        PathPosition { place: position.place(streets), travelled: self.leg as f64 * walk.leg + offset }
    }
}

impl GridPosition {
    /// The position `metres` further on, at most the distance of two crossings. `draw` is uniform
    /// and selects the heading at the crossing that may be passed.
    fn advanced(self, metres: f64, walk: &Walk, streets: &Streets, draw: f64) -> GridPosition {
        let distance = self.distance + metres;
        if distance < streets.period() {
            return GridPosition { distance, ..self };
        }
        let crossing = self.next_crossing(self.heading);
        let past_crossing =
            GridPosition { crossing, heading: self.heading, distance: distance - streets.period() };
        GridPosition { heading: past_crossing.next_heading(walk.turning, streets, draw), ..past_crossing }
    }

    /// The heading after the current crossing: straight on, left or right, except where no street
    /// continues.
    fn next_heading(self, turning: f64, streets: &Streets, draw: f64) -> usize {
        // Quarter turns counterclockwise, with their probabilities.
        let choices = [(0, 1.0 - turning), (1, turning / 2.0), (3, turning / 2.0)];
        let weighted = choices.map(|(turn, weight)| {
            let heading = (self.heading + turn) % HEADINGS.len();
            let next_crossing = self.next_crossing(heading);
            let is_open = AXES.into_iter().all(|axis| streets.has_line(axis, next_crossing[axis]));
            // If the street ahead ends, the mobile turns even with a turning probability of 0.
            (heading, if is_open { weight.max(f64::MIN_POSITIVE) } else { 0.0 })
        });
        let mut remaining = draw * weighted.iter().map(|(_, weight)| weight).sum::<f64>();
        for (heading, weight) in weighted {
            if remaining < weight {
                return heading;
            }
            remaining -= weight;
        }
        // If rounding errors left a remainder, the last possible heading is taken.
        weighted
            .into_iter()
            .rev()
            .find(|(_, weight)| *weight > 0.0)
            .map_or(self.heading, |(heading, _)| heading)
    }

    /// The crossing after the current one in the direction `heading`.
    fn next_crossing(self, heading: usize) -> [i64; 2] {
        AXES.map(|axis| self.crossing[axis] + HEADINGS[heading][axis])
    }

    /// The place in metres, in the unbounded plane.
    fn place(self, streets: &Streets) -> Place {
        let [x, y] = AXES.map(|axis| {
            streets.line(self.crossing[axis]) + HEADINGS[self.heading][axis] as f64 * self.distance
        });
        Place { x, y }
    }
}
