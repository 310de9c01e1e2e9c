//! The street grid, the losses along streets, and pedestrians.

use umts_units::Duration;

use super::super::street_loss::StreetLoss;
use super::*;

/// At 2 GHz, in metres.
const WAVELENGTH: f64 = 0.149_896_229;

/// Loss in dB over this distance in free space.
fn free_space_loss(metres: f64) -> f64 {
    20.0 * libm::log10(4.0 * std::f64::consts::PI * metres / WAVELENGTH)
}

/// 8 by 6 blocks of 200 m, with streets of 30 m.
fn town(border: Border) -> Streets {
    Streets { blocks: [8, 6], block: 200.0, width: 30.0, border }
}

fn place(x: f64, y: f64) -> Place {
    Place { x, y }
}

/// Stations at these places, without shadows and without propagation over the roofs. `change` sets
/// further parameters of the loss along streets.
fn losses(border: Border, stations: &[Place], change: impl Fn(&mut StreetLossConfig)) -> Environment {
    let mut propagation = PropagationConfig {
        model: PathLoss::Manhattan,
        minimum_coupling_loss: Db(0.0),
        shadowing: shadows(0.0),
        ..PropagationConfig::default()
    };
    let streets = propagation.streets.insert(StreetLossConfig { over_roofs: false, ..Default::default() });
    change(streets);
    let config = EnvironmentConfig { layout: Layout::town(town(border), stations.to_vec()), propagation };
    Environment::new(&config, &Streams::new(1, 0))
}

/// For `losses`: the default parameters.
fn unchanged(_: &mut StreetLossConfig) {}

/// Loss in dB from a station to a place.
fn loss(environment: &Environment, station: usize, at: Place) -> f64 {
    let mut gains = vec![0.0; environment.cells()];
    environment.gains_at(at, &mut gains);
    -decibels(gains[station])
}

/// Coordinate of the middle of street `number`: streets are 30 m wide and 230 m apart.
fn line(number: u32) -> f64 {
    15.0 + 230.0 * f64::from(number)
}

/// Coordinate of the middle of the block after street `number`.
fn middle(number: u32) -> f64 {
    line(number) + 115.0
}

#[test]
fn street_losses_match_worked_examples() {
    let environment = losses(Border::Reflect, &[place(middle(2), line(3))], unchanged);
    for (at, expected) in [
        // Line of sight: free space up to 300 m, twice the slope beyond.
        (place(middle(2) + 100.0, line(3)), 78.47),
        (place(middle(2) - 300.0, line(3)), 88.01),
        (place(middle(2) + 600.0, line(3)), 100.05),
        // One corner after 115 m, then 115 m or 230 m. Apparent distances: 6,842.5 m and 13,570 m.
        (place(line(3), line(3) + 115.0), 115.17),
        (place(line(2), line(3) - 230.0), 122.33),
        // Two corners, sections of 115, 230 and 115 m. Apparent distance: 800,572.5 m.
        (place(middle(2), line(4)), 160.25),
    ] {
        let computed = loss(&environment, 0, at);
        assert!((computed - expected).abs() < 0.006, "{at:?}: {computed} instead of {expected}");
    }
}

/// A station on a crossing is in both of its streets.
#[test]
fn a_station_on_a_crossing_has_one_corner_to_the_next_street() {
    let environment = losses(Border::Reflect, &[place(line(2), line(3))], unchanged);
    let config = StreetLossConfig::default();
    let apparent = config.apparent_distance(&[230.0, 230.0]);
    // k_1 = 1 and k_2 = 1 + 0.5 · 230, so d = 230 + 230 + 0.5 · 230². The breakpoint is at 300 m.
    assert!((apparent - (460.0 + 0.5 * 230.0 * 230.0) * (460.0 / 300.0)).abs() < 1e-6, "{apparent}");
    let expected = free_space_loss(apparent);
    // The diagonally opposite crossing: one corner by either street.
    assert!((loss(&environment, 0, place(line(3), line(4))) - expected).abs() < 1e-4);
    // Line of sight along both streets.
    let [along, up] = [place(line(3), line(3)), place(line(2), line(4))].map(|at| loss(&environment, 0, at));
    assert!((along - up).abs() < 1e-9 && (along - 85.70).abs() < 0.01, "{along} {up}");
}

#[test]
fn breakpoint_corner_and_roof_parameters_take_effect() {
    let station = [place(middle(2), line(3))];
    let in_sight = place(middle(2) + 600.0, line(3));
    let without_breakpoint = losses(Border::Reflect, &station, |streets| streets.breakpoint = None);
    assert!((loss(&without_breakpoint, 0, in_sight) - free_space_loss(600.0)).abs() < 0.01);
    let without_corners = losses(Border::Reflect, &station, |streets| streets.corner = 0.0);
    let around_a_corner = loss(&without_corners, 0, place(line(3), line(3) + 115.0));
    assert!((around_a_corner - 85.70).abs() < 0.01, "{around_a_corner}");
    let with_roofs = losses(Border::Reflect, &station, |streets| streets.over_roofs = true);
    let next_street = loss(&with_roofs, 0, place(middle(2), line(4)));
    // 230 m away, plus the 20 m of the formula.
    assert!((next_street - (24.0 + 45.0 * libm::log10(250.0))).abs() < 1e-6, "{next_street}");
    assert!((loss(&with_roofs, 0, in_sight) - 100.05).abs() < 0.01, "in sight the street has less loss");
}

/// Holds in any part of a house, for propagation along streets and over the roofs. The penetration
/// loss is 12 dB.
#[test]
fn indoor_loss_is_the_loss_outside_the_nearest_wall_plus_penetration() {
    for border in [Border::Torus, Border::Reflect] {
        for over_roofs in [false, true] {
            let station = [place(middle(2), line(3))];
            let environment = losses(border, &station, |streets| streets.over_roofs = over_roofs);
            let wall = 15.0;
            for (inside, outside) in [
                // 20 m and 90 m behind the wall of the street with the station.
                ((middle(2) + 40.0, line(3) + 35.0), (middle(2) + 40.0, line(3) + wall)),
                ((middle(2) + 5.0, line(3) - 105.0), (middle(2) + 5.0, line(3) - wall)),
                // Nearest to the street around the corner.
                ((line(3) + 20.0, line(3) + 60.0), (line(3) + wall, line(3) + 60.0)),
                // Nearest to the next parallel street.
                ((middle(4) + 5.0, line(4) - 25.0), (middle(4) + 5.0, line(4) - wall)),
            ] {
                let [inside, outside] = [inside, outside].map(|(x, y)| loss(&environment, 0, place(x, y)));
                assert!((inside - outside - 12.0).abs() < 1e-6, "{border:?}: {inside} {outside}");
            }
        }
    }
    let environment = losses(Border::Reflect, &[place(middle(2), line(3))], unchanged);
    let length = libm::sqrt(40.0 * 40.0 + 15.0 * 15.0);
    let expected = free_space_loss(length) + 12.0;
    let inside = loss(&environment, 0, place(middle(2) + 40.0, line(3) + 35.0));
    assert!((inside - expected).abs() < 1e-4, "{inside} instead of {expected}");
}

#[test]
fn street_losses_are_symmetric_and_at_least_free_space() {
    for border in [Border::Torus, Border::Reflect] {
        let streets = town(border);
        let draws = Streams::new(4, 0).addressed("places");
        let anywhere = |number| streets.anywhere([0, 1].map(|axis| draws.tti(number).uniform(axis)));
        for pair in 0..1_000 {
            let ends = [anywhere(2 * pair), anywhere(2 * pair + 1)];
            let environment = losses(border, &ends, |streets| streets.over_roofs = pair % 2 == 0);
            let [there, back] = [loss(&environment, 0, ends[1]), loss(&environment, 1, ends[0])];
            assert!((there - back).abs() < 1e-6, "{ends:?}: {there} and {back}");
            let metres = libm::sqrt(environment.layout().vector(ends[0], ends[1]).squared());
            // The minimum distance is 1 m.
            assert!(there > free_space_loss(metres.max(1.0)) - 0.01, "{ends:?}: {there}");
        }
    }
}

/// Compares the path with one corner with all paths through the grid that have three.
#[test]
fn paths_with_more_corners_have_more_loss() {
    let config = StreetLossConfig::default();
    for [right, up] in [[1, 2], [3, 1], [3, 3]] {
        // From the middle of a street along x to the middle of a street along y.
        let [x, y] = [right, up].map(|blocks| 115.0 + 230.0 * f64::from(blocks));
        let direct = config.apparent_distance(&[x, y]);
        for turn in 0..=right {
            for rise in 1..=up {
                let first_right = 115.0 + 230.0 * f64::from(turn);
                let first_up = 230.0 * f64::from(rise);
                let zigzag =
                    config.apparent_distance(&[first_right, first_up, x - first_right, y - first_up]);
                assert!(zigzag >= direct - 1e-9, "{turn} {rise}: {zigzag} {direct}");
            }
        }
    }
}

#[test]
fn stations_are_on_the_requested_places_of_all_streets() {
    // Border, position of the stations, distance between stations in blocks, number of stations.
    for (border, position, every, number) in [
        (Border::Torus, Stations::Crossings, 2, 24),
        (Border::Torus, Stations::Middles, 2, 48),
        (Border::Torus, Stations::Crossings, 1, 48),
        (Border::Reflect, Stations::Crossings, 2, 32),
        // 7 streets along x with 4 stations each, 9 streets along y with 3 each.
        (Border::Reflect, Stations::Middles, 2, 55),
    ] {
        let layout = Layout::in_streets(town(border), position, every);
        assert_eq!(layout.cells(), number, "{border:?} {position:?}");
        assert_eq!(layout.sites().len(), number, "{border:?} {position:?}");
        let streets = layout.streets().expect("it has some");
        for site in layout.sites() {
            let spot = streets.spot(site.place);
            assert!(!spot.is_indoors, "{site:?}");
            assert_eq!(
                spot.street_along.iter().flatten().count(),
                if position == Stations::Crossings { 2 } else { 1 }
            );
            assert_eq!(layout.within(site.place), site.place);
        }
        assert_eq!(layout.centre(CellId(3)), layout.sites()[3].place);
    }
}

#[test]
fn houses_match_the_indoor_places() {
    for border in [Border::Torus, Border::Reflect] {
        let streets = town(border);
        let [width, height] = streets.size();
        let built = streets.houses().map(|[low, high]| (high.x - low.x) * (high.y - low.y)).sum::<f64>();
        assert!((built - 48.0 * 40_000.0).abs() < 1e-6);
        let mut indoors = 0;
        for id in 0..20_000 {
            let draws = Streams::new(7, 0).addressed("points").tti(id);
            let at = place(draws.uniform(0) * width, draws.uniform(1) * height);
            let is_inside =
                |[low, high]: [Place; 2]| (low.x..high.x).contains(&at.x) && (low.y..high.y).contains(&at.y);
            assert_eq!(streets.houses().any(is_inside), streets.spot(at).is_indoors, "{at:?}");
            indoors += u32::from(streets.spot(at).is_indoors);
        }
        let share = built / (width * height);
        let error = 3.0 * libm::sqrt(share * (1.0 - share) / 20_000.0);
        assert!((f64::from(indoors) / 20_000.0 - share).abs() < error, "{indoors}");
    }
}

#[test]
fn random_places_are_uniform_along_street_middles() {
    for border in [Border::Torus, Border::Reflect] {
        let layout = Layout::in_streets(town(border), Stations::Crossings, 2);
        let streets = layout.streets().expect("it has some");
        let mut along_x = 0;
        // Places in each tenth of a period along their street.
        let mut places_in_tenth = [0u32; 10];
        for id in 0..20_000 {
            let draws = Streams::new(5, 0).addressed("points").tti(id);
            let at = layout.anywhere([draws.uniform(0), draws.uniform(1)]);
            let spot = streets.spot(at);
            let is_in_the_middle =
                |(line, across): (Option<f64>, f64)| line.is_some_and(|line| (line - across).abs() < 1e-6);
            assert!(spot.street_along.into_iter().zip([at.y, at.x]).any(is_in_the_middle));
            assert_eq!(layout.within(at), at);
            let is_along_x = spot.street_along[0].is_some_and(|line| (line - at.y).abs() < 1e-6);
            along_x += u32::from(is_along_x);
            let along = if is_along_x { at.x } else { at.y };
            places_in_tenth[((along - line(0)).rem_euclid(230.0) / 23.0) as usize % 10] += 1;
        }
        let share = if border == Border::Torus { 0.5 } else { 8.0 * 7.0 / (8.0 * 7.0 + 6.0 * 9.0) };
        let error = 3.0 * libm::sqrt(share * (1.0 - share) / 20_000.0);
        assert!((f64::from(along_x) / 20_000.0 - share).abs() < error, "{along_x}");
        let expected = 20_000.0 / 10.0;
        let chi_square = places_in_tenth
            .iter()
            .map(|&count| (f64::from(count) - expected) * (f64::from(count) - expected) / expected);
        // The 99.9 % quantile of χ² with 9 degrees of freedom.
        assert!(chi_square.sum::<f64>() < 27.9, "{places_in_tenth:?}");
    }
}

/// Walks at 3 km/h with a deviation of 0.3 km/h, in legs of 5 m.
fn walk() -> Walk {
    Walk { speed: 3.0 / 3.6, deviation: 0.3 / 3.6, changing: 0.2, leg: 5.0, turning: 0.5, start: None }
}

fn mobile(environment: &Environment, id: u64, walk: Walk) -> Mobile {
    environment.appear(id, &MobilityConfig::Walk(walk), None, Time::ZERO)
}

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

#[test]
fn walkers_stay_in_streets_and_in_the_area() {
    for border in [Border::Torus, Border::Reflect] {
        let environment = losses(border, &[place(15.0, 15.0)], unchanged);
        let [width, height] = environment.layout().size();
        for id in 0..40 {
            let mut mobile = mobile(&environment, id, Walk { speed: 10.0, ..walk() });
            for second in 0..1_000 {
                environment.measure(&mut mobile, at(second));
                let Place { x, y } = mobile.place();
                // Distances to the middles of the nearest streets along y and along x.
                let distances =
                    [x, y].map(|at| (at - line(0)).rem_euclid(230.0)).map(|after| after.min(230.0 - after));
                assert!(distances[0].min(distances[1]) < 1e-6, "{id} is at {x}, {y} after {second} s");
                assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{id} left: {x}, {y}");
            }
        }
    }
}

/// How often walkers go straight on, left and right at crossings.
#[derive(Debug, Default)]
struct Turns {
    straight: u32,
    left: u32,
    right: u32,
}

/// Counts the turns of walkers that start at a crossing. At 23 m/s they reach a crossing every 10
/// s, because crossings are 230 m apart.
fn turns_at_crossings(border: Border, turning: f64) -> Turns {
    let environment = losses(border, &[place(15.0, 15.0)], unchanged);
    let mut turns = Turns::default();
    for id in 0..100 {
        let start = Some(place(line(3), line(2)));
        let walk = Walk { speed: 23.0, deviation: 0.0, changing: 0.0, leg: 10.0, turning, start };
        let mut mobile = mobile(&environment, id, walk);
        let mut places = (0..60).map(|crossing| {
            environment.measure(&mut mobile, at(10 * crossing));
            mobile.place()
        });
        let mut previous = places.next().expect("the first");
        let mut heading: Option<f64> = None;
        for place in places {
            let step = environment.layout().vector(previous, place);
            assert!((libm::sqrt(step.squared()) - 230.0).abs() < 1e-6, "{id}: {step:?}");
            let new_heading = libm::atan2(step.y, step.x);
            if let Some(heading) = heading {
                let turn = (new_heading - heading).rem_euclid(std::f64::consts::TAU);
                let quarter_turns = (turn / std::f64::consts::FRAC_PI_2).round() as usize % 4;
                match quarter_turns {
                    0 => turns.straight += 1,
                    1 => turns.left += 1,
                    3 => turns.right += 1,
                    _ => panic!("walkers do not turn back"),
                }
            }
            heading = Some(new_heading);
            previous = place;
        }
    }
    turns
}

#[test]
fn half_of_the_walkers_turn_at_crossings_equally_to_both_sides() {
    let turns = turns_at_crossings(Border::Torus, 0.5);
    let crossings = f64::from(turns.straight + turns.left + turns.right);
    for (count, share) in [(turns.straight, 0.5), (turns.left, 0.25), (turns.right, 0.25)] {
        let error = 3.0 * libm::sqrt(share * (1.0 - share) / crossings);
        assert!((f64::from(count) / crossings - share).abs() < error, "{turns:?}");
    }
}

#[test]
fn walkers_turn_only_at_street_ends_if_turning_is_zero() {
    // Streets of a torus have no end.
    let endless = turns_at_crossings(Border::Torus, 0.0);
    assert_eq!(endless.left, 0);
    assert_eq!(endless.right, 0);
    let with_ends = turns_at_crossings(Border::Reflect, 0.0);
    assert!(with_ends.left > 100 && with_ends.right > 100, "{with_ends:?}");
    assert!(with_ends.straight > 1_000, "{with_ends:?}");
}

#[test]
fn mean_walking_speed_matches_the_speed_distribution() {
    let environment = losses(Border::Torus, &[place(15.0, 15.0)], unchanged);
    let (mut distance, mut legs, seconds) = (0.0, 0.0, 6_000);
    for id in 0..100 {
        let mut mobile = mobile(&environment, id, walk());
        let mut previous = mobile.place();
        for second in 0..=seconds {
            environment.measure(&mut mobile, at(second));
            distance += libm::sqrt(environment.layout().vector(previous, mobile.place()).squared());
            previous = mobile.place();
        }
        // At 3 km/h, in legs of 5 m.
        legs += seconds as f64 * 3.0 / 3.6 / 5.0;
    }
    let mean = distance / (100.0 * seconds as f64);
    // A speed lasts for five legs on average. Legs have equal length, so the mean of 1/v determines
    // the mean speed. It is 1 % above 1/mean. Measurements once per second cut corners, which costs
    // another 0.5 %.
    let error = 3.0 * 0.1 * libm::sqrt(9.0 / legs);
    assert!((mean * 3.6 / 3.0 - 0.99).abs() < 0.01 + error, "{mean}");
}

#[test]
fn walk_depends_only_on_user_and_time() {
    let environment = losses(Border::Torus, &[place(15.0, 15.0)], unchanged);
    for id in 0..5 {
        let mut often = mobile(&environment, id, walk());
        let mut seldom = mobile(&environment, id, walk());
        for second in 0..=3_000 {
            environment.measure(&mut often, at(second));
            if second % 997 == 0 {
                environment.measure(&mut seldom, at(second));
                assert_eq!(often.place(), seldom.place(), "{id} {second}");
                assert_eq!(often.gains(), seldom.gains(), "{id} {second}");
            }
        }
    }
}

/// Gains of near stations are as without a reach, except for the mean of the other stations over the
/// streets of the square, which is added.
#[test]
fn reach_keeps_gains_of_near_stations() {
    let environment = |reach| {
        let decorrelation = Length::from_millimetres(5_000);
        let shadowing = ShadowingConfig { decorrelation, ..ShadowingConfig::default() };
        let model = PathLoss::Manhattan;
        let propagation = PropagationConfig { model, reach, shadowing, ..PropagationConfig::default() };
        let layout = Layout::in_streets(town(Border::Torus), Stations::Crossings, 2);
        Environment::new(&EnvironmentConfig { layout, propagation }, &Streams::new(3, 0))
    };
    let [near, all] = [Some(Length::from_millimetres(600_000)), None].map(environment);
    for id in 0..20 {
        let [mut limited, mut unlimited] = [&near, &all].map(|environment| mobile(environment, id, walk()));
        for second in 0..300 {
            near.measure(&mut limited, at(10 * second));
            all.measure(&mut unlimited, at(10 * second));
            assert_eq!(limited.place(), unlimited.place());
            let (near, all) = (limited.gains(), unlimited.gains());
            assert!(near.iter().count() < all.iter().count());
            let added: Vec<f64> =
                near.iter().map(|(cell, gain)| gain - all.of(CellId(cell as u16))).collect();
            let largest = all.of(all.best());
            assert!(added.iter().all(|gain| (gain - added[0]).abs() < 1e-9 * largest), "{added:?}");
            assert!(added[0] > 0.0);
        }
    }
}

/// Another path loss model in a street layout uses the straight line.
#[test]
fn other_path_loss_models_ignore_streets() {
    let layout = Layout::in_streets(town(Border::Torus), Stations::Crossings, 2);
    let (model, shadowing) = (PathLoss::Pedestrian, shadows(0.0));
    let config = PropagationConfig { model, shadowing, ..PropagationConfig::default() };
    let environment = Environment::new(
        &EnvironmentConfig { layout: layout.clone(), propagation: config },
        &Streams::new(1, 0),
    );
    let at = place(middle(1), line(1));
    let metres = libm::sqrt(layout.vector(layout.sites()[0].place, at).squared());
    assert!((loss(&environment, 0, at) - config.loss_db(metres)).abs() < 1e-6);
    assert!(StreetLoss::new(&config, &torus()).is_none());
}
