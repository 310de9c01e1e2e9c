//! Link curves: the block error ratio at a SIR, of the rate 1/2 convolutional code of TS 25.222 §4.2.3.1 over 336 bits and
//! 16 of CRC, with ideal interleaving.
//!
//! `tools/link-curves` makes the numbers: bounds are computed from the distance spectrum of the code, the decoder of
//! Viterbi is simulated. Here they become a table that is asked with the SIR as it is, not in dB: a block that is judged
//! costs no logarithm.

use umts_kernel::random::Chance;

use super::octaves::OctaveTable;

/// How block errors follow from the SIR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Curve {
    /// The union bound of hard decisions: what independent bit errors after demodulation suggest.
    UnionBound,
    /// The union bound of soft decisions.
    SoftBound,
    /// A simulated decoder of hard decisions.
    ViterbiHard,
    /// A simulated decoder of soft decisions.
    ViterbiSoft,
}

impl Curve {
    /// All of them, in the order of their columns.
    pub const ALL: [Curve; 4] = [Curve::UnionBound, Curve::SoftBound, Curve::ViterbiHard, Curve::ViterbiSoft];

    fn column(self) -> usize {
        // The SIR is the first.
        1 + self as usize
    }
}

/// Rows of a SIR in dB and the ratio of each curve, 0.05 dB apart.
const NUMBERS: &str = include_str!("link_curve.csv");

/// One curve, ready to be asked: from 2⁻² (-6 dB), below which every block is lost, to 2⁵ (15 dB), above which none is.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkCurve(OctaveTable<-2, 5>);

impl LinkCurve {
    /// This curve.
    pub fn new(curve: Curve) -> Self {
        let rows = rows(curve);
        LinkCurve(OctaveTable::new(|sir| between(&rows, 10.0 * libm::log10(sir))))
    }

    /// The block error ratio at a SIR, linear.
    #[inline]
    pub fn ratio(&self, sir: f64) -> f64 {
        self.0.at(sir, 1.0, 0.0)
    }

    /// The chance that a block is lost at a SIR, linear.
    #[inline]
    pub fn loss(&self, sir: f64) -> Chance {
        Chance::of(self.ratio(sir))
    }
}

/// The SIR in dB and the logarithm of the ratio, row by row.
fn rows(curve: Curve) -> Vec<(f64, f64)> {
    let row = |line: &str| {
        let mut fields = line.split(',');
        let sir_db = fields.next()?.parse().ok()?;
        let ratio: f64 = fields.nth(curve.column() - 1)?.parse().ok()?;
        Some((sir_db, libm::log10(ratio)))
    };
    NUMBERS.lines().skip(1).map(|line| row(line).expect("the tool wrote numbers")).collect()
}

/// The ratio at a SIR in dB: a straight line between two rows where ratios are logarithms.
fn between(rows: &[(f64, f64)], sir_db: f64) -> f64 {
    let behind = rows.partition_point(|&(at, _)| at < sir_db);
    let log_ratio = match (behind.checked_sub(1).map(|before| rows[before]), rows.get(behind)) {
        (Some((a, from)), Some(&(b, to))) => from + (to - from) * (sir_db - a) / (b - a),
        (None, Some(&(_, ratio))) | (Some((_, ratio)), None) => ratio,
        (None, None) => unreachable!("the curve has rows"),
    };
    libm::exp10(log_ratio)
}
