//! Statistics over random places on the torus (best cell, geometry, loss), and properties of the
//! layout. Geometry is the power of the best cell relative to the power of all others, in dB, if
//! all cells transmit the same power. Expected values are from a separate computation with 200,000
//! places.

use super::*;

const PLACES: u64 = 200_000;
/// Standard deviation of the shadows in dB.
const NO_SHADOWS: f64 = 0.0;

/// Results over all places.
struct Statistics {
    /// Number of places per best cell.
    best: Vec<u32>,
    in_own_hexagon: u32,
    /// f of each place, the inverse of the geometry as a ratio: power of other cells relative to
    /// the best cell, if all transmit the same power.
    f: Vec<f64>,
    /// Loss to the best cell in dB.
    loss: Vec<f64>,
    /// Number of places where a second cell is at most 1 dB below the best one.
    second_within_1_db: u32,
    /// Number of places where a second cell is at most 3 dB below the best one.
    second_within_3_db: u32,
}

/// Measures the gains at `PLACES` random places, with shadows of this standard deviation.
fn measure_all(deviation_db: f64) -> Statistics {
    let environment = environment(deviation_db, 1);
    let cells = environment.cells();
    let powers = vec![1.0; cells];
    let mut statistics = Statistics {
        best: vec![0; cells],
        in_own_hexagon: 0,
        f: Vec::new(),
        loss: Vec::new(),
        second_within_1_db: 0,
        second_within_3_db: 0,
    };
    for id in 0..PLACES {
        let mobile = still(&environment, id);
        let gains = mobile.gains();
        let best = gains.best();
        statistics.best[best.index()] += 1;
        statistics.in_own_hexagon += u32::from(environment.layout.hexagon(mobile.place()) == best);
        statistics.f.push(gains.from_others(&powers, best) / gains.of(best));
        statistics.loss.push(-decibels(gains.of(best)));
        let has_second_within = |decibels: f64| {
            let minimum = gains.of(best) * libm::exp10(-decibels / 10.0);
            u32::from(gains.iter().filter(|(_, gain)| *gain >= minimum).count() > 1)
        };
        statistics.second_within_1_db += has_second_within(1.0);
        statistics.second_within_3_db += has_second_within(3.0);
    }
    statistics.f.sort_by(f64::total_cmp);
    statistics.loss.sort_by(f64::total_cmp);
    statistics
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[(share * sorted.len() as f64) as usize]
}

/// Three standard errors of a share of all places.
fn three_errors(share: f64) -> f64 {
    3.0 * libm::sqrt(share * (1.0 - share) / PLACES as f64)
}

#[track_caller]
fn assert_near(measured: f64, expected: f64, bound: f64) {
    assert!((measured - expected).abs() <= bound, "{measured} is not within {bound} of {expected}");
}

/// Compares a quantile in dB with its expected value. The tolerance is 0.15 dB plus three standard
/// errors of the quantile: those of the fraction, divided by the density.
#[track_caller]
fn check_quantile(sorted: &[f64], share: f64, expected: f64) {
    let density = 0.02 / (quantile(sorted, share + 0.01) - quantile(sorted, share - 0.01));
    assert_near(quantile(sorted, share), expected, 0.15 + three_errors(share) / density);
}

/// Compares the quantiles of geometry (5, 25, 50, 75 and 95 %) and of loss (5, 50 and 95 %), and
/// checks that all cells are best equally often.
#[track_caller]
fn check_quantiles(statistics: &Statistics, geometry: [f64; 5], loss: [f64; 3]) {
    let geometries: Vec<f64> = statistics.f.iter().rev().map(|f| -decibels(*f)).collect();
    for (share, expected) in [0.05, 0.25, 0.5, 0.75, 0.95].into_iter().zip(geometry) {
        check_quantile(&geometries, share, expected);
    }
    for (share, expected) in [0.05, 0.5, 0.95].into_iter().zip(loss) {
        check_quantile(&statistics.loss, share, expected);
    }
    for places in &statistics.best {
        assert_near(f64::from(*places) / PLACES as f64, 1.0 / 36.0, three_errors(1.0 / 36.0));
    }
}

/// Compares mean and median of f. The expected values come from a simulation with a statistical
/// error as large as this one, so the variance counts twice.
fn check_f(statistics: &Statistics, mean: f64, median: f64) {
    let n = statistics.f.len() as f64;
    let measured = statistics.f.iter().sum::<f64>() / n;
    let variance = statistics.f.iter().map(|f| (f - measured) * (f - measured)).sum::<f64>() / n;
    assert_near(measured, mean, 0.0005 + 3.0 * libm::sqrt(2.0 * variance / n));
    assert_near(quantile(&statistics.f, 0.5), median, 0.006);
}

#[test]
fn best_cell_without_shadows_is_usually_the_hexagon() {
    let statistics = measure_all(NO_SHADOWS);
    check_quantiles(&statistics, [-2.16, 0.42, 4.02, 8.90, 15.11], [102.3, 121.1, 126.3]);
    check_f(&statistics, 0.576, 0.396);
    assert_near(f64::from(statistics.in_own_hexagon) / PLACES as f64, 0.959, 0.0005 + three_errors(0.959));
}

#[test]
fn geometry_under_shadows_of_8_db() {
    let statistics = measure_all(8.0);
    check_quantiles(&statistics, [-3.24, -0.22, 3.36, 8.47, 15.04], [98.4, 118.7, 132.3]);
    check_f(&statistics, 0.696, 0.461);
}

#[test]
fn geometry_under_shadows_of_10_db() {
    let statistics = measure_all(10.0);
    check_quantiles(&statistics, [-3.39, -0.33, 3.21, 8.30, 15.00], [96.1, 117.7, 133.7]);
    check_f(&statistics, 0.717, 0.478);
    for (places, expected, rounding) in
        [(statistics.second_within_1_db, 0.094, 0.0005), (statistics.second_within_3_db, 0.26, 0.005)]
    {
        assert_near(f64::from(places) / PLACES as f64, expected, rounding + three_errors(expected));
    }
}

#[test]
fn lattice_has_sites_three_radii_apart_and_sectors_towards_neighbours() {
    let layout = torus();
    assert_eq!(layout.sites().len(), 12);
    assert_eq!(layout.cells(), 36);
    assert_near(layout.size()[0], 4500.0, 1e-9);
    assert_near(layout.size()[1], 5_196.152_422_7, 1e-6);
    for site in layout.sites() {
        let vectors = layout.sites().iter().map(|other| layout.vector(site.place, other.place));
        let mut distances: Vec<_> = vectors.map(|vector| libm::sqrt(vector.squared())).collect();
        distances.sort_by(f64::total_cmp);
        for distance in &distances[1..=6] {
            assert_near(*distance, 1500.0, 1e-9);
        }
        let ahead = layout.within(site.place.ahead(1500.0, [1.0, 0.0]));
        let is_there = |other: &Site| layout.vector(ahead, other.place).squared() < 1e-12;
        assert!(layout.sites().iter().any(is_there), "{ahead:?}");
    }
    // The three hexagons of a site: each contains its own centre.
    for cell in (0..36).map(CellId) {
        let site = layout.sites()[cell.index() / 3].place;
        assert_near(libm::sqrt(layout.vector(site, layout.centre(cell)).squared()), 500.0, 1e-9);
        assert_eq!(layout.hexagon(layout.centre(cell)), cell);
    }
}

#[test]
fn torus_distances_are_symmetric_and_minimal() {
    let layout = torus();
    let [width, height] = layout.size();
    let mut stream = Streams::new(3, 0).stream("places");
    for _ in 0..20_000 {
        let [from, to] = [(); 2].map(|()| layout.at([stream.uniform(), stream.uniform()]));
        let distance = layout.vector(from, to).squared();
        assert_eq!(distance, layout.vector(to, from).squared());
        // Places of the neighbouring copies of the area that are the same place as `to`.
        let images = (-1..=1).flat_map(|column| (-1..=1).map(move |row| (f64::from(column), f64::from(row))));
        let minimum = images
            .map(|(column, row)| {
                let (x, y) = (to.x + column * width - from.x, to.y + row * height - from.y);
                x * x + y * y
            })
            .fold(f64::INFINITY, f64::min);
        assert!((distance - minimum).abs() <= 1e-6, "{from:?} {to:?}: {distance} {minimum}");
    }
}

#[test]
fn places_outside_are_mapped_into_the_area() {
    let torus = torus();
    let mirror = Layout::lattice([3, 5], 500.0, Border::Reflect, Some([5000.0; 2]));
    let [width, height] = torus.size();
    for (layout, from, to) in [
        (&torus, Place { x: -100.0, y: height + 50.0 }, Place { x: width - 100.0, y: 50.0 }),
        (&torus, Place { x: -1e-20, y: height }, Place { x: 0.0, y: 0.0 }),
        (&torus, Place { x: 7.0 * width + 3.0, y: 4.0 }, Place { x: 3.0, y: 4.0 }),
        (&mirror, Place { x: -100.0, y: 5050.0 }, Place { x: 100.0, y: 4950.0 }),
        (&mirror, Place { x: 10_100.0, y: 12.0 }, Place { x: 100.0, y: 12.0 }),
        (&mirror, Place { x: 5000.0, y: 0.0 }, Place { x: 5000.0, y: 0.0 }),
    ] {
        let inside = layout.within(from);
        assert_near(inside.x, to.x, 1e-6);
        assert_near(inside.y, to.y, 1e-6);
        assert!(inside.x < width || layout.border() == Border::Reflect, "{inside:?}");
    }
}

#[test]
fn five_kilometre_area_has_fifteen_sites_around_a_central_one() {
    let layout = Layout::lattice([3, 5], 500.0, Border::Reflect, Some([5000.0; 2]));
    assert_eq!(layout.sites().len(), 15);
    assert_eq!(layout.central_site(), 7);
    let middle = layout.vector(layout.at([0.5; 2]), layout.sites()[7].place);
    assert_near(middle.y, 0.0, 1e-9);
    assert!(middle.x.abs() <= 375.0, "{middle:?}");
}
