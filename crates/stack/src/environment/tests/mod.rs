//! Positions and gains of many mobiles, compared with closed forms and with reference values.

mod geometry;
mod movement;
mod radio;
mod reach;
mod shadows;
mod streets;

use umts_units::Db;

use super::*;
use crate::ids::CellId;

/// 12 sites 1.5 km apart on a torus: 36 cells.
fn torus() -> Layout {
    Layout::lattice([3, 4], 500.0, Border::Torus, None)
}

fn shadows(deviation_db: f64) -> ShadowingConfig {
    ShadowingConfig { deviation: Db(deviation_db), ..ShadowingConfig::default() }
}

fn environment(deviation_db: f64, seed: u64) -> Environment {
    let config = EnvironmentConfig {
        layout: torus(),
        propagation: PropagationConfig { shadowing: shadows(deviation_db), ..PropagationConfig::default() },
    };
    Environment::new(&config, &Streams::new(seed, 0))
}

/// Mobile `id`, which stays at a random place, measured once.
fn still(environment: &Environment, id: u64) -> Mobile {
    let mut mobile = environment.appear(id, &MobilityConfig::Still, None, Time::ZERO);
    environment.measure(&mut mobile, Time::ZERO);
    mobile
}

fn decibels(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}
