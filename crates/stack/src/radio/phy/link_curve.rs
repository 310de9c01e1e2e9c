//! Link curves of a TDD cell: block error ratio as a function of the SIR (signal-to-interference ratio)
//! for the rate 1/2 convolutional code of TS 25.222 §4.2.3.1, with 336 bits and 16 bits of CRC, and
//! ideal interleaving.
//!
//! `tools/link-curves` computes the numbers: union bounds from the distance spectrum of the code,
//! and simulations of the Viterbi decoder. The table is indexed by the linear SIR, so that a lookup
//! needs no logarithm.

use umts_kernel::random::Chance;

use super::octaves::OctaveTable;

/// Relation between block errors and the SIR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Curve {
    /// The union bound for hard decisions: assumes independent bit errors after demodulation.
    UnionBound,
    /// The union bound for soft decisions.
    SoftBound,
    /// A simulated Viterbi decoder with hard decisions.
    ViterbiHard,
    /// A simulated Viterbi decoder with soft decisions.
    ViterbiSoft,
}

impl Curve {
    /// In the order of the columns of `link_curve.csv`.
    pub const ALL: [Curve; 4] = [Curve::UnionBound, Curve::SoftBound, Curve::ViterbiHard, Curve::ViterbiSoft];

    /// Index of the curve's column in `link_curve.csv`.
    fn column(self) -> usize {
        // The first column is the SIR.
        1 + self as usize
    }
}

/// Rows with a SIR in dB and the ratio of each curve, in steps of 0.05 dB.
const NUMBERS: &str = include_str!("link_curve.csv");

/// A curve as a table of the linear SIR from 2⁻² (-6 dB) to 2⁵ (15 dB). Below the table every block is
/// lost, above it none.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkCurve(OctaveTable<-2, 5>);

impl LinkCurve {
    pub fn new(curve: Curve) -> Self {
        let rows = rows(curve);
        LinkCurve(OctaveTable::new(|sir| interpolate(&rows, 10.0 * libm::log10(sir))))
    }

    /// Block error ratio at a linear SIR.
    #[inline]
    pub fn ratio(&self, sir: f64) -> f64 {
        let (below, above) = (1.0, 0.0);
        self.0.at(sir, below, above)
    }

    /// Probability of a block loss at a linear SIR.
    #[inline]
    pub fn loss(&self, sir: f64) -> Chance {
        Chance::of(self.ratio(sir))
    }
}

/// The SIR in dB and the log10 of the ratio of each row.
fn rows(curve: Curve) -> Vec<(f64, f64)> {
    let row = |line: &str| {
        let mut fields = line.split(',');
        let sir_db = fields.next()?.parse().ok()?;
        // The column of the SIR is already consumed.
        let ratio: f64 = fields.nth(curve.column() - 1)?.parse().ok()?;
        Some((sir_db, libm::log10(ratio)))
    };
    NUMBERS.lines().skip(1).map(|line| row(line).expect("the tool wrote numbers")).collect()
}

/// Ratio at a SIR in dB, by linear interpolation of its logarithm. Outside the rows, the ratio of the
/// nearest row.
fn interpolate(rows: &[(f64, f64)], sir_db: f64) -> f64 {
    let next = rows.partition_point(|&(row_db, _)| row_db < sir_db);
    let log_ratio = match (next.checked_sub(1).map(|previous| rows[previous]), rows.get(next)) {
        (Some((from_db, from)), Some(&(to_db, to))) => {
            from + (to - from) * (sir_db - from_db) / (to_db - from_db)
        }
        (None, Some(&(_, nearest))) | (Some((_, nearest)), None) => nearest,
        (None, None) => unreachable!("the curve has rows"),
    };
    libm::exp10(log_ratio)
}
