//! Fixtures of the tests in this folder.

use umts_kernel::random::Streams;
use umts_units::{Db, Duration, Time};

use super::active_sets::ActiveSets;
use super::{BufferAtHandover, HandoverConfig, RlcAtHandover, WithoutCode};
use crate::environment::{
    Border, Environment, EnvironmentConfig, Layout, Mobile, MobilityConfig, Place, PropagationConfig,
    ShadowingConfig,
};
use crate::ids::CellId;
use crate::rnc::rrc::{ActiveSet, CellSelection, SoftHandover};

pub(super) const CELLS: usize = 36;

/// Hard handover with a hysteresis of 1 dB.
pub(super) const HANDOVER: HandoverConfig = HandoverConfig {
    hysteresis: Db(1.0),
    interruption: Duration::ZERO,
    rlc: RlcAtHandover::Kept,
    buffer: BufferAtHandover::Kept,
    soft: None,
    compressed_mode: None,
};

/// Twelve sites in a torus, without shadowing.
pub(super) fn environment() -> Environment {
    environment_with(Db(0.0), &Streams::new(1, 0))
}

/// Twelve sites in a torus, with shadows of this standard deviation.
pub(super) fn environment_with(deviation: Db, streams: &Streams) -> Environment {
    let config = EnvironmentConfig {
        layout: Layout::lattice([3, 4], 500.0, Border::Torus, None),
        propagation: PropagationConfig {
            shadowing: ShadowingConfig { deviation, ..ShadowingConfig::default() },
            ..PropagationConfig::default()
        },
    };
    Environment::new(&config, streams)
}

/// A mobile that was measured half way between the centres of two cells.
pub(super) fn mobile_between(environment: &Environment, cells: [u16; 2]) -> Mobile {
    let [here, there] = cells.map(|cell| environment.layout().centre(CellId(cell)));
    let place = Place { x: (here.x + there.x) / 2.0, y: (here.y + there.y) / 2.0 };
    let mut mobile = environment.appear(0, &MobilityConfig::Still, Some(place), Time::ZERO);
    environment.measure(&mut mobile, Time::ZERO);
    mobile
}

/// Active sets of calls without compressed mode.
pub(super) fn active_sets(soft: Option<SoftHandover>, without: WithoutCode) -> ActiveSets {
    ActiveSets {
        selection: CellSelection::new(HANDOVER.hysteresis.0),
        soft: soft.as_ref().map(ActiveSet::new),
        compressed: None,
        without,
        is_recorded: true,
        events: Vec::new(),
    }
}
