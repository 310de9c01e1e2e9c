//! The rows of the curves, and the file of simulated points.

use std::fmt::Write as _;
use std::str::FromStr;

use crate::bounds::{Code, Decision};
use crate::viterbi::{Count, Size, simulate};

/// Blocks per point: up to this number of losses or of blocks. Ratios above 0.01 are accurate to 3
/// %.
pub const SIZE: Size = Size { lost: 1_000, sent: 100_000 };
/// Points with fewer losses are not used.
const RELIABLE_LOSSES: u32 = 50;

/// Rows every 0.05 dB from -5 to 15 dB.
const ROWS: std::ops::RangeInclusive<i32> = -100..=300;
const ROWS_PER_DB: f64 = 20.0;

/// Simulated points every 0.25 dB from -2 to 6.5 dB.
const POINTS: std::ops::RangeInclusive<i32> = -8..=26;
const POINTS_PER_DB: f64 = 4.0;

/// Results of the simulation at one SIR.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// SIR in dB.
    pub sir_db: f64,
    /// Blocks decoded with hard decisions.
    pub hard: Count,
    /// Blocks decoded with soft decisions.
    pub soft: Count,
}

const POINTS_HEADER: &str = "sir_db,hard_lost,hard_sent,soft_lost,soft_sent";

/// Simulates all points for each decision: every 0.25 dB, from the SIR at which every block is lost
/// until too few are lost.
pub fn simulate_points() -> Vec<Point> {
    let enough = Count { lost: SIZE.lost, sent: SIZE.lost };
    let mut before = Point { sir_db: f64::NEG_INFINITY, hard: enough, soft: enough };
    let points = POINTS.map(|n| {
        let sir_db = f64::from(n) / POINTS_PER_DB;
        let count = |decision, before: Count| {
            if before.lost < RELIABLE_LOSSES { Count::default() } else { simulate(decision, sir_db, SIZE) }
        };
        let (hard, soft) = (count(Decision::Hard, before.hard), count(Decision::Soft, before.soft));
        before = Point { sir_db, hard, soft };
        eprintln!(
            "{sir_db:5.2} dB: hard {} of {}, soft {} of {}",
            hard.lost, hard.sent, soft.lost, soft.sent
        );
        before
    });
    points.collect()
}

/// Formats the points as a file.
pub fn write_points(points: &[Point]) -> String {
    let mut text = format!("{POINTS_HEADER}\n");
    for Point { sir_db, hard, soft } in points {
        let row = [hard.lost, hard.sent, soft.lost, soft.sent].map(|number| number.to_string()).join(",");
        writeln!(text, "{sir_db:.2},{row}").expect("writing to a string cannot fail");
    }
    text
}

/// Parses the points of a file.
pub fn read_points(text: &str) -> Result<Vec<Point>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(POINTS_HEADER) {
        return Err(format!("the first line is not {POINTS_HEADER}"));
    }
    lines.map(|line| point(line).ok_or_else(|| format!("not a point: {line}"))).collect()
}

fn point(line: &str) -> Option<Point> {
    let mut fields = line.split(',');
    let sir_db = number(&mut fields)?;
    let mut count = || Some(Count { lost: number(&mut fields)?, sent: number(&mut fields)? });
    Some(Point { sir_db, hard: count()?, soft: count()? })
}

fn number<'a, T: FromStr>(fields: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    fields.next()?.parse().ok()
}

/// A curve through simulated points: linear interpolation of logarithmic ratios. Beyond the last
/// reliable point it is the bound, shifted to meet that point.
struct Simulated {
    /// SIR in dB, and logarithm of the block error ratio.
    points: Vec<(f64, f64)>,
    decision: Decision,
    /// Shift of the bound, in powers of ten.
    shift: f64,
}

impl Simulated {
    fn new(code: &Code, decision: Decision, points: &[Point]) -> Self {
        let count = |point: &Point| match decision {
            Decision::Hard => point.hard,
            Decision::Soft => point.soft,
        };
        let reliable = points.iter().filter(|point| count(point).lost >= RELIABLE_LOSSES);
        let points: Vec<_> =
            reliable.map(|point| (point.sir_db, libm::log10(count(point).ratio()))).collect();
        let &(last_sir_db, last_ratio) = points.last().expect("where each block is lost there are losses");
        let shift = last_ratio - log_bound(code, decision, last_sir_db);
        Simulated { points, decision, shift }
    }

    /// Returns the block error ratio.
    fn ratio(&self, code: &Code, sir_db: f64) -> f64 {
        let next_point = self.points.iter().position(|&(at, _)| at >= sir_db);
        libm::exp10(match next_point {
            Some(0) => {
                let (_, first_ratio) = self.points[0];
                first_ratio
            }
            Some(n) => {
                let [(left_db, left), (right_db, right)] = [self.points[n - 1], self.points[n]];
                left + (right - left) * (sir_db - left_db) / (right_db - left_db)
            }
            None => log_bound(code, self.decision, sir_db) + self.shift,
        })
    }
}

/// Returns the logarithm of the bound of the block error ratio.
fn log_bound(code: &Code, decision: Decision, sir_db: f64) -> f64 {
    libm::log10(code.bounds(decision, libm::exp10(sir_db / 10.0)).blocks)
}

/// Returns the file of the curves.
pub fn curves(points: &[Point]) -> String {
    let code = Code::default();
    let [hard, soft] =
        [Decision::Hard, Decision::Soft].map(|decision| Simulated::new(&code, decision, points));
    let mut text = "sir_db,union_bound,soft_bound,viterbi_hard,viterbi_soft\n".to_owned();
    for row in ROWS {
        let sir_db = f64::from(row) / ROWS_PER_DB;
        let bound = |decision| code.bounds(decision, libm::exp10(sir_db / 10.0)).blocks;
        let ratios = [
            bound(Decision::Hard),
            bound(Decision::Soft),
            hard.ratio(&code, sir_db),
            soft.ratio(&code, sir_db),
        ];
        let ratios = ratios.map(|ratio| format!("{ratio:.7e}")).join(",");
        writeln!(text, "{sir_db:.2},{ratios}").expect("writing to a string cannot fail");
    }
    text
}
