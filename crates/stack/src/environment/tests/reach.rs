//! A network with a reach, compared with the same network without: the gains of near sites must be
//! unchanged except for a common addition, the mean of all other sites.

use umts_units::Duration;

use super::*;

/// Length of a drive.
const DRIVE: Duration = Duration::from_secs(1_200);

/// 36 sites 1.5 km apart on a torus of 9 km by 7.8 km. `deviation_db`: standard deviation of the
/// shadows. A reach of `None` is unlimited.
fn wide(reach: Option<Length>, deviation_db: f64) -> Environment {
    let config = EnvironmentConfig {
        layout: Layout::lattice([6, 6], 500.0, Border::Torus, None),
        propagation: PropagationConfig {
            reach,
            shadowing: shadows(deviation_db),
            ..PropagationConfig::default()
        },
    };
    Environment::new(&config, &Streams::new(3, 0))
}

/// Measures mobile `id`, which moves at 120 km/h, at each `interval` for 20 minutes. Calls `check`
/// with the mobile in the environment with the reach and in the one without.
fn compare(id: u64, interval: Duration, reach: Option<Length>, mut check: impl FnMut(&Mobile, &Mobile)) {
    let [near, all] = [wide(reach, 10.0), wide(None, 10.0)];
    let driving = MobilityConfig::Legs(Legs::vehicular(120.0 / 3.6));
    let [mut limited, mut unlimited] =
        [&near, &all].map(|environment| environment.appear(id, &driving, None, Time::ZERO));
    let mut now = Time::ZERO;
    while now < Time::ZERO + DRIVE {
        near.measure(&mut limited, now);
        all.measure(&mut unlimited, now);
        check(&limited, &unlimited);
        now += interval;
    }
}

/// Sites enter and leave the reach. With long intervals the whole list of sites changes at once.
#[test]
fn reach_keeps_near_gains_and_spreads_the_rest_evenly() {
    for (id, interval_ms) in [(0, 1_000), (1, 7_000), (2, 200_000)] {
        let (mut sites_in_reach, mut previous, mut changes) = (0, Vec::new(), 0);
        compare(
            id,
            Duration::from_millis(interval_ms),
            Some(Length::from_millimetres(2_500_000)),
            |limited, unlimited| {
                assert_eq!(limited.place(), unlimited.place());
                let (near, all) = (limited.gains(), unlimited.gains());
                let (first_cell, first_gain) = near.iter().next().expect("a site is within reach");
                let share_of_far_gain = first_gain - all.of(CellId(first_cell as u16));
                assert!(
                    share_of_far_gain > 0.0 && share_of_far_gain < near.of(near.best()) / 10.0,
                    "{share_of_far_gain}"
                );
                for (cell, gain) in near.iter() {
                    let expected = all.of(CellId(cell as u16)) + share_of_far_gain;
                    assert!(
                        (gain / expected - 1.0).abs() < 1e-9,
                        "cell {cell} of {id}: {gain}, not {expected}"
                    );
                }
                sites_in_reach += near.sites().numbers().len();
                changes += usize::from(near.sites().numbers() != previous);
                previous = near.sites().numbers().to_vec();
            },
        );
        let measurements = (DRIVE.as_nanos() / 1_000_000).div_ceil(interval_ms);
        // Area within the reach of 2.5 km, divided by the area of a site, in km².
        let expected = std::f64::consts::PI * 2.5 * 2.5 / 1.949;
        assert!(
            (sites_in_reach as f64 / measurements as f64 - expected).abs() < 1.0,
            "{sites_in_reach} in {measurements} measurements"
        );
        assert!(changes > 4, "{changes}");
    }
}

/// Without shadows the difference comes from the antenna directions and from the distance to the
/// middle of the square.
#[test]
fn reach_keeps_the_mean_gain_of_far_sites() {
    // Deviation of the shadows, number of mobiles, relative tolerance for each mobile, and for the
    // sum.
    for (deviation_db, mobiles, max_difference, tolerance) in
        [(0.0, 1_000, 0.25, 0.01), (6.0, 4_000, f64::INFINITY, 0.1)]
    {
        let [near, all] =
            [Some(Length::from_millimetres(2_000_000)), None].map(|reach| wide(reach, deviation_db));
        let (mut sum_of_added, mut sum_of_far) = (0.0, 0.0);
        for id in 0..mobiles {
            let [limited, unlimited] = [&near, &all].map(|environment| still(environment, id));
            // The gain that the reach adds to near cells, and the gain of the cells out of reach.
            let (mut added, mut far_gain) = (0.0, 0.0);
            for (cell, gain) in unlimited.gains().iter() {
                let limited_gain = limited.gains().of(CellId(cell as u16));
                if limited_gain > 0.0 { added += limited_gain - gain } else { far_gain += gain }
            }
            assert!((added / far_gain - 1.0).abs() < max_difference, "{id}: {added} instead of {far_gain}");
            sum_of_added += added;
            sum_of_far += far_gain;
        }
        assert!(
            (sum_of_added / sum_of_far - 1.0).abs() < tolerance,
            "{deviation_db} dB: {sum_of_added} instead of {sum_of_far}"
        );
    }
}

#[test]
fn nearest_site_is_always_within_reach() {
    let layout = wide(None, 0.0).layout().clone();
    for id in 0..50 {
        let place = still(&wide(None, 0.0), id).place();
        let [nearest] = layout.sites_within(place, 1.0)[..] else { panic!("one is heard") };
        let distance = |site: usize| layout.vector(layout.sites()[site].place, place).squared();
        assert!((0..36).all(|site| distance(site) >= distance(usize::from(nearest))));
    }
}
