//! The gain from one site to a place: path loss, antenna pattern, minimum coupling loss. Also the
//! sum of the power from all other cells.

use super::*;
use crate::environment::Sites;

#[test]
fn path_loss_matches_umts_30_03() {
    let propagation = |model, floors| PropagationConfig { model, floors, ..PropagationConfig::default() };
    let vehicular = propagation(PathLoss::Vehicular, 0);
    let pedestrian = propagation(PathLoss::Pedestrian, 0);
    // Vehicular at 2 GHz, antennas 15 m above the roofs: 128.1 + 37.6 log10(km) dB. Pedestrian:
    // 148 + 40 log10(km) dB. Indoors at 10 m: 67 dB and the loss of the floors.
    for (config, metres, loss_db) in [
        (vehicular, 100.0, 90.5),
        (vehicular, 250.0, 105.5),
        (vehicular, 500.0, 116.8),
        (vehicular, 1000.0, 128.1),
        // Below about 20 m the loss of free space is larger.
        (vehicular, 10.0, 58.5),
        (pedestrian, 1000.0, 148.0),
        (pedestrian, 100.0, 108.0),
        (propagation(PathLoss::IndoorOffice, 0), 10.0, 67.0),
        (propagation(PathLoss::IndoorOffice, 1), 10.0, 85.3),
        (propagation(PathLoss::IndoorOffice, 4), 10.0, 67.0 + 18.3 * libm::pow(4.0, 0.74)),
    ] {
        let computed = config.loss_db(metres);
        assert!((computed - loss_db).abs() < 0.06, "{config:?} at {metres} m: {computed}");
    }
}

/// Loss in dB from each sector of a site, at a distance and an angle from its first antenna.
fn losses(config: &PropagationConfig, metres: f64, degrees: f64) -> [f64; SECTORS] {
    let angle = degrees * std::f64::consts::PI / 180.0;
    let vector = Place::default().ahead(metres, [libm::cos(angle), libm::sin(angle)]);
    let mut gains = [0.0; SECTORS];
    let (azimuth, no_shadow) = (0.0, 0.0);
    Propagation::new(config).gains(vector, azimuth, no_shadow, &mut gains);
    gains.map(|gain| -decibels(gain))
}

#[test]
fn antenna_pattern_matches_tr_25_996() {
    let config = PropagationConfig::default();
    let main_loss = config.loss_db(700.0);
    // 12 (angle / beamwidth)² dB, at most 20 dB.
    let off_axis = |degrees: f64| 12.0 * (degrees / 70.0) * (degrees / 70.0);
    for (degrees, attenuation) in [
        (0.0, [0.0, 20.0, 20.0]),
        (35.0, [off_axis(35.0), off_axis(85.0), 20.0]),
        (60.0, [off_axis(60.0), off_axis(60.0), 20.0]),
        (120.0, [20.0, 0.0, 20.0]),
        (-120.0, [20.0, 20.0, 0.0]),
        (180.0, [20.0, off_axis(60.0), off_axis(60.0)]),
        (-35.0, [off_axis(35.0), 20.0, off_axis(85.0)]),
    ] {
        for (loss, attenuation) in losses(&config, 700.0, degrees).into_iter().zip(attenuation) {
            assert!(
                (loss - main_loss - attenuation).abs() < 1e-9,
                "{degrees}°: {loss} dB, not {main_loss} + {attenuation}"
            );
        }
    }
}

#[test]
fn loss_never_falls_below_the_minimum_coupling_loss() {
    let straight_ahead = 0.0;
    let near = losses(&PropagationConfig::default(), 5.0, straight_ahead);
    assert!((near[0] - 70.0).abs() < 1e-9, "{near:?}");
    assert!(near[1] > 70.0, "behind the antenna: {near:?}");
    let at_the_mast = losses(&PropagationConfig::default(), 0.0, straight_ahead);
    assert!(at_the_mast.iter().all(|loss| loss.is_finite()), "{at_the_mast:?}");
}

#[test]
fn net_gain_applies_in_all_directions() {
    let config = PropagationConfig::default();
    let antenna = Antenna { gain: Db(14.0), ..config.antenna };
    let stronger = losses(&PropagationConfig { antenna, ..config }, 800.0, 50.0);
    for (stronger, loss) in stronger.into_iter().zip(losses(&config, 800.0, 50.0)) {
        assert!((loss - stronger - 14.0).abs() < 1e-9);
    }
}

#[test]
fn power_of_other_cells_excludes_the_own_cell() {
    let powers: Vec<f64> = (1..=21).map(|cell| f64::from(cell * cell)).collect();
    for sites in [vec![0, 1, 2, 3, 4, 5, 6], vec![0, 2, 3, 6], vec![5]] {
        let mut gains = Gains::of_sites(Arc::new(Sites::new(sites.clone())));
        for (site, sector_gains) in gains.each_site() {
            *sector_gains = [1.0, 2.0, 4.0].map(|gain| gain / (site as f64 + 3.0));
        }
        let cells: Vec<(usize, f64)> = gains.iter().collect();
        assert!(cells.iter().all(|&(cell, gain)| gains.of(CellId(cell as u16)) == gain && gain > 0.0));
        assert_eq!(cells.len(), 3 * sites.len());
        assert_eq!(gains.best(), CellId(3 * sites[0] + 2));
        for own in 0..21 {
            let others =
                cells.iter().filter(|(cell, _)| *cell != own).map(|(cell, gain)| gain * powers[*cell]);
            let expected = others.sum::<f64>();
            let received = gains.from_others(&powers, CellId(own as u16));
            assert!((received - expected).abs() < 1e-12 * expected, "{own}: {received}, not {expected}");
            let is_within_reach = sites.contains(&((own / SECTORS) as u16));
            assert_eq!(gains.of(CellId(own as u16)) > 0.0, is_within_reach);
        }
    }
}
