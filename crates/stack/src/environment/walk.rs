//! Pedestrians in streets (UMTS 30.03 B.1.8.1.2), with random changes of speed and random turns at
//! crossings.
//!
//! A walk is a sequence of legs of equal length, each at constant speed. The draws of a leg are
//! addressed by its number. So a walk depends only on the time, and an idle mobile is advanced leg
//! by leg at its next query.

use umts_kernel::random::AddressedStream;

use super::layout::Place;
use super::streets::{AXES, Streets};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walk {
    /// Mean speed in metres per second.
    pub speed: f64,
    /// Standard deviation of drawn speeds.
    pub deviation: f64,
    /// Probability of a new speed at a leg.
    pub changing: f64,
    /// Length of a leg in metres. At most the side of a block, so that a leg passes at most one
    /// crossing.
    pub leg: f64,
    /// Probability of a turn at a crossing, left and right equally likely.
    pub turning: f64,
    /// Start of the walk. `None`: uniform on the streets.
    pub begins: Option<Place>,
}

/// Minimum speed as a share of the mean speed.
const SLOWEST: f64 = 0.1;

/// Draws of a walker at a leg. Lower numbers belong to the starting place, higher ones to the
/// shadows.
const TURN: u32 = 3;
const CHANGES: u32 = 5;
const SPEED: u32 = 6;

/// East, north, west, south.
const HEADINGS: [[i64; 2]; 4] = [[1, 0], [0, 1], [-1, 0], [0, -1]];

/// A position on the grid: `gone` metres from a crossing towards the next one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    crossing: [i64; 2],
    heading: usize,
    gone: f64,
}

/// A pedestrian at the start of a leg.
#[derive(Debug, Clone)]
pub struct Walker {
    step: Step,
    leg: u64,
    /// Start of the leg in seconds since the appearance.
    began: f64,
    speed: f64,
}

impl Walker {
    /// Starts in the middle of the street of `place`. `heading` is a uniform draw that selects the
    /// direction along the street.
    pub fn new(walk: &Walk, place: Place, streets: &Streets, heading: f64) -> Self {
        let spot = streets.spot(place);
        let axis = usize::from(spot.lines[0].is_none());
        let last = streets.blocks.map(|blocks| i64::from(blocks) - 1);
        let inside = AXES.map(|of| {
            let before = streets.line_before(spot.at[of]);
            if streets.has_line(of, before) && streets.has_line(of, before + 1) {
                before
            } else {
                before.clamp(0, last[of])
            }
        });
        let across = spot.lines[axis].map_or(0, |line| streets.line_before(line + streets.width / 2.0));
        let mut crossing = inside;
        crossing[1 - axis] = across;
        let period = streets.period();
        let ahead = (spot.at[axis] - streets.line(crossing[axis])).clamp(0.0, period);
        let is_forward = heading < 0.5;
        if !is_forward {
            crossing[axis] += 1;
        }
        let gone = if is_forward { ahead } else { period - ahead };
        let heading = axis + if is_forward { 0 } else { 2 };
        Walker { step: Step { crossing, heading, gone }, leg: 0, began: 0.0, speed: walk.speed }
    }

    /// Position in the unbounded plane and travelled distance in metres, `since` seconds after the
    /// appearance. `since` must not decrease.
    pub fn at(
        &mut self,
        since: f64,
        walk: &Walk,
        streets: &Streets,
        draws: &AddressedStream,
    ) -> (Place, f64) {
        if self.speed == 0.0 {
            return (self.step.place(streets), 0.0);
        }
        while self.began + walk.leg / self.speed <= since {
            self.step = self.step.after(walk.leg, walk, streets, draws.tti(self.leg).uniform(TURN));
            self.began += walk.leg / self.speed;
            self.leg += 1;
            let draws = draws.tti(self.leg);
            if draws.uniform(CHANGES) < walk.changing {
                self.speed = (walk.speed + walk.deviation * draws.normal(SPEED)).max(SLOWEST * walk.speed);
            }
        }
        let ahead = self.speed * (since - self.began);
        let step = self.step.after(ahead, walk, streets, draws.tti(self.leg).uniform(TURN));
        (step.place(streets), self.leg as f64 * walk.leg + ahead)
    }
}

impl Step {
    /// Moves by `metres`, with the draw for the crossing that may be passed.
    fn after(self, metres: f64, walk: &Walk, streets: &Streets, draw: f64) -> Step {
        let gone = self.gone + metres;
        if gone < streets.period() {
            return Step { gone, ..self };
        }
        let crossing = self.next(self.heading);
        let there = Step { crossing, heading: self.heading, gone: gone - streets.period() };
        Step { heading: there.turned(walk.turning, streets, draw), ..there }
    }

    /// Heading after the current crossing. A street that ends there is excluded.
    fn turned(self, turning: f64, streets: &Streets, draw: f64) -> usize {
        let ways = [(0, 1.0 - turning), (1, turning / 2.0), (3, turning / 2.0)];
        let open = ways.map(|(turn, likely)| {
            let heading = (self.heading + turn) % HEADINGS.len();
            let next = self.next(heading);
            let is_open = AXES.into_iter().all(|axis| streets.has_line(axis, next[axis]));
            // If the street ahead ends, the mobile turns even with a turning probability of 0.
            (heading, if is_open { likely.max(f64::MIN_POSITIVE) } else { 0.0 })
        });
        let mut rest = draw * open.iter().map(|(_, likely)| likely).sum::<f64>();
        for (heading, likely) in open {
            if rest < likely {
                return heading;
            }
            rest -= likely;
        }
        open.into_iter().rev().find(|(_, likely)| *likely > 0.0).map_or(self.heading, |(heading, _)| heading)
    }

    fn next(self, heading: usize) -> [i64; 2] {
        AXES.map(|axis| self.crossing[axis] + HEADINGS[heading][axis])
    }

    fn place(self, streets: &Streets) -> Place {
        let [x, y] = AXES
            .map(|axis| streets.line(self.crossing[axis]) + HEADINGS[self.heading][axis] as f64 * self.gone);
        Place { x, y }
    }
}
