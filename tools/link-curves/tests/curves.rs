//! Compares the curves with the results of a second program
//! (`crates/stack/tests/link-level/README.md`), and the file of the stack with the output of this
//! tool.

use umts_link_curves::bounds::{BLOCK_BITS, Bounds, Code, Decision, MAX_WEIGHT, raw_bit_error};
use umts_link_curves::code::spectrum;
use umts_link_curves::table::{Point, curves, read_points};
use umts_link_curves::viterbi::Count;

const POINTS: &str = include_str!("../viterbi.csv");

fn points() -> Vec<Point> {
    read_points(POINTS).expect("the tool wrote them")
}

/// Returns the numbers of a table's rows, `None` for a field without a number.
fn rows(table: &str) -> impl Iterator<Item = Vec<Option<f64>>> {
    table.lines().skip(1).map(|line| line.split(',').map(|field| field.parse().ok()).collect())
}

#[test]
fn spectrum_equals_the_table() {
    let table = rows(include_str!("../../../crates/stack/tests/link-level/tdd-bler-spectrum.csv"));
    let expected: Vec<[f64; 3]> = table.map(|row| [0, 1, 2].map(|n| row[n].expect("a number"))).collect();
    let found: Vec<[f64; 3]> = spectrum(MAX_WEIGHT)
        .iter()
        .map(|weight| [weight.d as f64, weight.events as f64, weight.bits as f64])
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn bounds_equal_the_table() {
    let code = Code::default();
    for row in rows(include_str!("../../../crates/stack/tests/link-level/tdd-bler.csv")) {
        let number = |n: usize| row[n].expect("a number");
        let sir = libm::exp10(number(0) / 10.0);
        let near = |found: f64, expected: f64, floor: f64| {
            let deviation = (found - expected).abs();
            assert!(deviation <= 1e-5 * expected + floor, "{} dB: {found}, not {expected}", number(0));
        };
        near(raw_bit_error(sir), number(1), 0.0);
        for (decision, bits, blocks) in [(Decision::Hard, 2, 3), (Decision::Soft, 4, 5)] {
            let found: Bounds = code.bounds(decision, sir);
            near(found.bits, number(bits), 0.0);
            // The program that wrote the table computes a power of 1 - P. Rounding 1 - P changes the
            // result by at most `BLOCK_BITS` times the machine epsilon.
            near(found.blocks, number(blocks), BLOCK_BITS as f64 * f64::EPSILON);
        }
    }
}

#[test]
fn simulated_decoders_agree_with_the_table() {
    let table: Vec<_> = rows(include_str!("../../../crates/stack/tests/link-level/tdd-bler.csv")).collect();
    let mut compared = 0;
    for Point { sir_db, hard, soft } in points() {
        let row = table.iter().find(|row| row[0] == Some(sir_db)).expect("points of the table's grid");
        // Columns 6 to 9: ratio of lost blocks and number of blocks, for hard and for soft decisions.
        for (ours, theirs) in [(hard, &row[6..8]), (soft, &row[8..10])] {
            let (&[Some(ratio), Some(sent)], true) = (theirs, ours.sent > 0) else { continue };
            let pooled = (f64::from(ours.lost) + ratio * sent) / (f64::from(ours.sent) + sent);
            let error = f64::sqrt(pooled * (1.0 - pooled) * (1.0 / f64::from(ours.sent) + 1.0 / sent));
            let deviation = (ours.ratio() - ratio).abs();
            assert!(deviation <= 3.0 * error, "{sir_db} dB: {ours:?}, not {ratio} of {sent}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn stack_has_the_current_curves() {
    let file = include_str!("../../../crates/stack/src/radio/phy/link_curve.csv");
    assert!(file == curves(&points()), "cargo run --release -p umts-link-curves rewrites it");
}

#[test]
fn stack_interpolates_the_curves_between_rows() {
    use umts_stack::radio::phy::{Curve, LinkCurve};
    let code = Code::default();
    for (curve, decision) in [(Curve::UnionBound, Decision::Hard), (Curve::SoftBound, Decision::Soft)] {
        let table = LinkCurve::new(curve);
        for n in -650..2_000 {
            let sir = libm::exp10(f64::from(n) / 1_000.0);
            let (found, expected) = (table.ratio(sir), code.bounds(decision, sir).blocks);
            // Linear interpolation over 0.05 dB. Where the bound reaches 1, the interpolation
            // exceeds it.
            assert!((found - expected).abs() < 0.01 * expected + 1e-9, "{n}: {found}, not {expected}");
        }
    }
}

#[test]
fn invalid_point_files_are_refused() {
    let refused = |text| read_points(text).expect_err("it is no file of points");
    assert!(refused("sir_db\n1,2").starts_with("the first line is not sir_db,hard_lost"));
    let header = POINTS.lines().next().expect("a header");
    assert_eq!(refused(&format!("{header}\n1.0,2,3,4")), "not a point: 1.0,2,3,4");
    let whole = read_points(&format!("{header}\n1.0,2,3,4,5\n")).expect("five numbers");
    let count = |lost, sent| Count { lost, sent };
    assert_eq!(whole, [Point { sir_db: 1.0, hard: count(2, 3), soft: count(4, 5) }]);
}
