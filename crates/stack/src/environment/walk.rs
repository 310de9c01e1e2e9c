//! Who walks in streets (UMTS 30.03 B.1.8.1.2): a new speed now and then, and at each crossing perhaps another street.
//!
//! A walk is a sequence of legs of one length, each at one speed. The draws of a leg are addressed by its number, so a
//! walk depends on the time alone, and who slept is brought up to date leg by leg.

use umts_kernel::random::AddressedStream;

use super::layout::Place;
use super::streets::{AXES, Streets};

/// How somebody walks in streets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walk {
    /// Metres in a second on average.
    pub speed: f64,
    /// Standard deviation of the speeds that are drawn.
    pub deviation: f64,
    /// How likely a leg has a new one.
    pub changing: f64,
    /// Metres of a leg: at most as long as a side of a block, so that there is one crossing in it.
    pub leg: f64,
    /// How likely he turns at a crossing, to either side alike.
    pub turning: f64,
    /// Where he begins; anywhere in the streets if that is not said.
    pub begins: Option<Place>,
}

/// Nobody walks slower than this share of the mean speed.
const SLOWEST: f64 = 0.1;

/// Draws of a walker at a leg; those of his place come before, those of his shadows after.
const TURN: u32 = 3;
const CHANGES: u32 = 5;
const SPEED: u32 = 6;

/// East, north, west, south.
const HEADINGS: [[i64; 2]; 4] = [[1, 0], [0, 1], [-1, 0], [0, -1]];

/// Where on the grid somebody is: so many metres from a crossing towards the next.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    crossing: [i64; 2],
    heading: usize,
    gone: f64,
}

/// Somebody on his way, at the beginning of a leg.
#[derive(Debug, Clone)]
pub struct Walker {
    step: Step,
    leg: u64,
    /// In seconds since he appeared.
    began: f64,
    speed: f64,
}

impl Walker {
    /// Begins at a place, which is in a street, one way or the other as the draw says. Walkers keep to the middle.
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

    /// Where he is so many seconds after he appeared, as if the area had no end, and how far he went. Time does not go back.
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
    /// So many metres further, with the draw for the crossing that may be passed.
    fn after(self, metres: f64, walk: &Walk, streets: &Streets, draw: f64) -> Step {
        let gone = self.gone + metres;
        if gone < streets.period() {
            return Step { gone, ..self };
        }
        let crossing = self.next(self.heading);
        let there = Step { crossing, heading: self.heading, gone: gone - streets.period() };
        Step { heading: there.turned(walk.turning, streets, draw), ..there }
    }

    /// The way that he takes from the crossing that he came to. Where a street ends, one of the others.
    fn turned(self, turning: f64, streets: &Streets, draw: f64) -> usize {
        let ways = [(0, 1.0 - turning), (1, turning / 2.0), (3, turning / 2.0)];
        let open = ways.map(|(turn, likely)| {
            let heading = (self.heading + turn) % HEADINGS.len();
            let next = self.next(heading);
            let is_open = AXES.into_iter().all(|axis| streets.has_line(axis, next[axis]));
            // Where he cannot go on he turns, even if he never did.
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
