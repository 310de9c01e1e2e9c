//! The movement of vehicles on straight legs, and of mobiles on recorded tracks. Positions must not
//! depend on other mobiles or on the times of measurement.

use std::sync::Arc;

use umts_units::Duration;

use super::*;

/// 50 km/h.
const SPEED: f64 = 50.0 / 3.6;

fn driving() -> MobilityConfig {
    MobilityConfig::Legs(Legs::vehicular(SPEED))
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// Position and gains of mobile `id` at these instants.
fn measured_at(environment: &Environment, id: u64, millis: &[u64]) -> Vec<(Place, Gains)> {
    let mut mobile = environment.appear(id, &driving(), None, Time::ZERO);
    let mut measure = |&millis| {
        environment.measure(&mut mobile, at(millis));
        (mobile.place(), mobile.gains().clone())
    };
    millis.iter().map(&mut measure).collect()
}

#[test]
fn places_and_shadows_depend_only_on_user_and_time() {
    let environment = environment(10.0, 2);
    // Every 100 ms for 300 s: the measurement at 1,000 ms has index 10.
    let often: Vec<u64> = (0..=3_000).map(|step| 100 * step).collect();
    for id in 0..5 {
        let all = measured_at(&environment, id, &often);
        assert_eq!(measured_at(&environment, id, &[300_000])[0], all[3_000]);
        let seldom = measured_at(&environment, id, &[1_000, 1_100, 55_000, 200_000]);
        for (measurement, index) in seldom.iter().zip([10, 11, 550, 2_000]) {
            assert_eq!(*measurement, all[index]);
        }
    }
}

#[test]
fn user_and_seed_determine_the_start() {
    let place_and_gains = |seed, id| measured_at(&environment(10.0, seed), id, &[500]).remove(0);
    let place_of = |seed, id| {
        let (place, _) = place_and_gains(seed, id);
        place
    };
    assert_eq!(place_and_gains(1, 1), place_and_gains(1, 1));
    assert_ne!(place_of(1, 1), place_of(1, 2));
    assert_ne!(place_of(1, 1), place_of(2, 1));
}

/// A mobile that appears later takes the same path later.
#[test]
fn time_counts_from_when_a_mobile_appears() {
    let environment = environment(10.0, 2);
    let mut late = environment.appear(3, &driving(), None, at(40_000));
    environment.measure(&mut late, at(47_000));
    let early = measured_at(&environment, 3, &[7_000]).remove(0);
    assert_eq!((late.place(), late.gains().clone()), early);
}

#[test]
fn legs_are_straight_and_one_in_five_ends_in_a_turn_of_up_to_45_degrees() {
    let layout = Layout::lattice([6, 6], 50_000.0, Border::Torus, None);
    let (mut turns, mut sum_of_squares, mut legs) = (0, 0.0, 0);
    for id in 0..50 {
        let draws = Streams::new(9, 0).addressed(&format!("environment/{id}"));
        let mut trajectory = Trajectory::new(&driving(), Some(layout.at([0.5; 2])), &layout, &draws);
        // A leg of 20 m takes 1.44 s.
        let mut places =
            (0..=200).map(|leg| trajectory.at(Duration::from_millis(1_440) * leg, &layout, &draws).place);
        let mut previous = places.next().expect("the first");
        let mut heading = None;
        for place in places {
            let step = layout.vector(previous, place);
            assert!((libm::sqrt(step.squared()) - 20.0).abs() < 1e-6, "a leg is a straight line of 20 m");
            let new_heading = libm::atan2(step.y, step.x);
            if let Some(heading) = heading.replace(new_heading) {
                // From -π to π.
                let half_turn = std::f64::consts::PI;
                let turn = (new_heading - heading + half_turn).rem_euclid(2.0 * half_turn) - half_turn;
                assert!(turn.abs() <= std::f64::consts::FRAC_PI_4 + 1e-6, "{turn}");
                legs += 1;
                turns += u32::from(turn.abs() > 1e-9);
                sum_of_squares += turn * turn;
            }
            previous = place;
        }
    }
    let share = f64::from(turns) / f64::from(legs);
    // Three standard errors: the variance of a decision is 0.2 · 0.8 = 0.16.
    let bound = 3.0 * libm::sqrt(0.16 / f64::from(legs));
    assert!((share - 0.2).abs() < bound, "{turns} of {legs}");
    // Turns are uniform within ±45°, so their mean square is a third of the squared maximum. The
    // variance of the square of a uniform value within ±1 is 4/45 = 0.0889.
    let mean_square =
        sum_of_squares / f64::from(turns) / (std::f64::consts::FRAC_PI_4 * std::f64::consts::FRAC_PI_4);
    let bound = 3.0 * libm::sqrt(0.0889 / f64::from(turns));
    assert!((mean_square - 1.0 / 3.0).abs() < bound, "{mean_square}");
}

/// A uniform distribution of mobiles stays uniform.
#[test]
fn vehicular_mobiles_stay_uniformly_distributed() {
    let environment = environment(0.0, 6);
    // χ² of the number of mobiles per hexagon.
    let expected = 20_000.0 / 36.0;
    let chi_square = |millis| {
        let mut cells = [0u32; 36];
        for id in 0..20_000 {
            let mut mobile = environment.appear(id, &driving(), None, Time::ZERO);
            environment.measure(&mut mobile, at(millis));
            cells[environment.layout().hexagon(mobile.place()).index()] += 1;
        }
        cells
            .iter()
            .map(|&count| (f64::from(count) - expected) * (f64::from(count) - expected) / expected)
            .sum::<f64>()
    };
    // The 99.9 % quantile of χ² with 35 degrees of freedom is 66.6.
    for millis in [0, 5_000, 60_000] {
        assert!(chi_square(millis) < 66.6, "{millis} ms: {}", chi_square(millis));
    }
}

#[test]
fn shadow_of_a_still_mobile_is_constant() {
    let environment = environment(10.0, 2);
    let mut mobile = still(&environment, 8);
    let previous = (mobile.place(), mobile.gains().clone());
    environment.measure(&mut mobile, at(900_000));
    assert_eq!((mobile.place(), mobile.gains().clone()), previous);
}

#[test]
fn a_track_is_followed_from_place_to_place() {
    let place = |x, y| Place { x, y };
    let seconds = Duration::from_secs;
    let track = Track::new(&[
        (Duration::ZERO, place(100.0, 100.0)),
        (seconds(10), place(200.0, 100.0)),
        (seconds(30), place(200.0, 100.0)),
        (seconds(40), place(200.0, -100.0)),
    ]);
    let track = MobilityConfig::Track(Arc::new(track.expect("times rise")));
    let layout = torus();
    let draws = Streams::new(1, 0).addressed("environment/0");
    let mut trajectory = Trajectory::new(&track, None, &layout, &draws);
    let height = layout.size()[1];
    // Second, expected place, and distance travelled in metres. The last section leaves the torus
    // at the bottom and enters it at the top.
    for (second, expected, travelled) in [
        (0, place(100.0, 100.0), 0.0),
        (4, place(140.0, 100.0), 40.0),
        (20, place(200.0, 100.0), 100.0),
        (35, place(200.0, 0.0), 200.0),
        (39, place(200.0, height - 80.0), 280.0),
        (99, place(200.0, height - 100.0), 300.0),
    ] {
        let position = trajectory.at(seconds(second), &layout, &draws);
        assert!(layout.vector(position.place, expected).squared() < 1e-12, "{second} s: {position:?}");
        assert!((position.travelled - travelled).abs() < 1e-9, "{second} s: {position:?}");
    }
}

#[test]
fn tracks_without_rising_times_from_zero_are_rejected() {
    let point = |seconds| (Duration::from_secs(seconds), Place::default());
    assert_eq!(Track::new(&[]), None);
    assert_eq!(Track::new(&[point(1), point(2)]), None);
    assert_eq!(Track::new(&[point(0), point(2), point(2)]), None);
    assert!(Track::new(&[point(0)]).is_some());
}
