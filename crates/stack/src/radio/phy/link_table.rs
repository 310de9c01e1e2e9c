//! Link tables: block error ratio of a transport format as a function of Eb/N0, the energy per bit over
//! the noise and interference. They come from link level simulations, which include the fast fading
//! within a TTI. The logit of a ratio p is log(p / (1 - p)).

use umts_kernel::random::{Chance, TtiDraws};

use super::octaves::OctaveTable;
use super::{Lost, independent_losses};

/// Why points are not a link table.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum LinkTableError {
    /// Fewer than two points.
    #[error("it has {0} points, but an interpolation needs two")]
    TooFew(usize),
    /// The logit is defined only for ratios between 0 and 1.
    #[error("a block error ratio of {0} is not between 0 and 1")]
    Ratio(f64),
    /// The Eb/N0 does not rise, or the ratio does not fall, between two points.
    #[error("it does not fall from {0} dB to {1} dB")]
    NotFalling(f64, f64),
}

/// Block error ratio of one format.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkTable {
    /// At least two points, with ascending Eb/N0 and descending logit.
    points: Vec<Point>,
    /// The same function as a table from -12 dB to 18 dB. Below the table every block is lost, above it
    /// none.
    ratios: OctaveTable<-4, 6>,
}

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    ebn0_db: f64,
    /// Logit of the block error ratio.
    logit: f64,
}

fn logit(ratio: f64) -> f64 {
    libm::log(ratio / (1.0 - ratio))
}

impl LinkTable {
    /// A table of measured points: Eb/N0 in dB and ratio. The logit of the ratio is interpolated
    /// and extrapolated linearly.
    ///
    /// # Errors
    /// Returns an error if there are fewer than two points, if a ratio is not between 0 and 1, or
    /// if the ratios do not fall.
    pub fn new(points: &[(f64, f64)]) -> Result<Self, LinkTableError> {
        if points.len() < 2 {
            return Err(LinkTableError::TooFew(points.len()));
        }
        if let Some(&(_, ratio)) = points.iter().find(|(_, ratio)| !(*ratio > 0.0 && *ratio < 1.0)) {
            return Err(LinkTableError::Ratio(ratio));
        }
        for (&(from_db, from_ratio), &(to_db, to_ratio)) in points.iter().zip(&points[1..]) {
            if !(from_db < to_db && from_ratio > to_ratio) {
                return Err(LinkTableError::NotFalling(from_db, to_db));
            }
        }
        let point = |&(ebn0_db, ratio): &(f64, f64)| Point { ebn0_db, logit: logit(ratio) };
        Ok(LinkTable::through(points.iter().map(point).collect()))
    }

    /// A logistic curve for formats without measurements: 1 % at `target_db`. The logit falls by
    /// `slope` per dB.
    pub fn logistic(target_db: f64, slope: f64) -> Self {
        let at_target = logit(0.01);
        LinkTable::through(vec![
            Point { ebn0_db: target_db, logit: at_target },
            Point { ebn0_db: target_db + 1.0, logit: at_target - slope },
        ])
    }

    /// The curve through these points.
    fn through(points: Vec<Point>) -> Self {
        let ratios = OctaveTable::new(|ebn0| ratio(&points, 10.0 * libm::log10(ebn0)));
        LinkTable { points, ratios }
    }

    /// Block error ratio at a linear Eb/N0.
    #[inline]
    pub fn ratio(&self, ebn0: f64) -> f64 {
        self.ratios.at(ebn0, 1.0, 0.0)
    }

    /// Decides which of `blocks` blocks at a linear Eb/N0 are lost. The draws have addresses from
    /// `first` on.
    #[inline]
    pub fn losses(&self, draws: TtiDraws, first: u32, blocks: u32, ebn0: f64) -> Lost {
        independent_losses(draws, first, blocks, Chance::of(self.ratio(ebn0)))
    }

    /// Eb/N0 in dB at which the block error ratio is `ratio`: a target for power control.
    pub fn ebn0_db(&self, ratio: f64) -> f64 {
        let wanted = logit(ratio);
        let next = self.points.partition_point(|point| point.logit > wanted);
        let [from, to] = segment(&self.points, next);
        from.ebn0_db + (to.ebn0_db - from.ebn0_db) * (wanted - from.logit) / (to.logit - from.logit)
    }
}

/// Ends of the line segment before the point with index `next`, or of the nearest segment if there is
/// none.
fn segment(points: &[Point], next: usize) -> [Point; 2] {
    let to = next.clamp(1, points.len() - 1);
    [points[to - 1], points[to]]
}

/// Block error ratio at an Eb/N0 in dB, by linear interpolation of the logit.
fn ratio(points: &[Point], ebn0_db: f64) -> f64 {
    let next = points.partition_point(|point| point.ebn0_db < ebn0_db);
    let [from, to] = segment(points, next);
    let logit = from.logit + (to.logit - from.logit) * (ebn0_db - from.ebn0_db) / (to.ebn0_db - from.ebn0_db);
    1.0 / (1.0 + libm::exp(-logit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(db: f64) -> f64 {
        libm::exp10(db / 10.0)
    }

    #[test]
    fn logistic_curve_has_one_percent_at_its_target() {
        let table = LinkTable::logistic(2.25, 2.5);
        // Odds at the target: 1/99. They rise by a factor of exp(2.5) per dB below it.
        for (below_target, percent) in [(0.0, 1.0), (0.5, 3.4), (1.0, 11.0), (2.0, 60.0)] {
            let ratio = table.ratio(linear(2.25 - below_target));
            assert!((ratio * 100.0 - percent).abs() < 0.02 * percent, "{below_target} dB short: {ratio}");
        }
        assert!((table.ebn0_db(0.01) - 2.25).abs() < 1e-9);
        assert_eq!([table.ratio(linear(-20.0)), table.ratio(linear(30.0))], [1.0, 0.0]);
    }

    #[test]
    fn measured_table_interpolates_and_extrapolates_in_the_logit() {
        let points = [(1.0, 0.2), (2.0, 0.05), (4.0, 0.001)];
        let table = LinkTable::new(&points).unwrap();
        for (ebn0_db, ratio) in points {
            assert!((table.ratio(linear(ebn0_db)) / ratio - 1.0).abs() < 1e-3, "{ebn0_db} dB");
            assert!((table.ebn0_db(ratio) - ebn0_db).abs() < 1e-9);
        }
        let odds = |db: f64| table.ratio(linear(db)) / (1.0 - table.ratio(linear(db)));
        // Linear in the logit: geometric means of odds, between the points and beyond both ends.
        for (a, middle, b) in [(1.0, 1.5, 2.0), (2.0, 3.0, 4.0), (-1.0, 0.0, 1.0), (4.0, 5.0, 6.0)] {
            assert!((odds(middle) / (odds(a) * odds(b)).sqrt() - 1.0).abs() < 3e-3, "{middle} dB");
        }
    }

    #[test]
    fn non_falling_tables_are_rejected() {
        let cases = [
            (&[(1.0, 0.1)][..], "it has 1 points, but an interpolation needs two"),
            (&[(1.0, 0.1), (2.0, 0.0)], "a block error ratio of 0 is not between 0 and 1"),
            (&[(1.0, 0.1), (2.0, 0.1)], "it does not fall from 1 dB to 2 dB"),
            (&[(1.0, 0.2), (3.0, 0.1), (2.0, 0.05)], "it does not fall from 3 dB to 2 dB"),
        ];
        for (points, error) in cases {
            assert_eq!(LinkTable::new(points).unwrap_err().to_string(), error);
        }
    }
}
