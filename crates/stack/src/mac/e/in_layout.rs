//! A UE on the E-DCH of a layout: the gains to all cells, and the power that the cells receive from it.
//!
//! The path gains of the uplink are those of the downlink. Power control keeps the power that the serving
//! cell receives (`uplink_load.rs`); each other cell receives it in the ratio of the gains.

use umts_units::{Db, Time};

use crate::environment::Gains;
use crate::ids::CellId;

/// Power of a UE from an instant on, in mW.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UePower {
    pub from: Time,
    /// End of its block.
    pub until: Time,
    /// While the block is on the air.
    pub block: f64,
    /// After the block: power of the DPCCH alone.
    pub dpcch: f64,
}

/// A UE on the E-DCH of a layout.
#[derive(Debug, Default)]
pub struct EInLayout {
    /// Empty until the UE is measured for the first time.
    gains: Gains,
    power: UePower,
    /// The power before `power`.
    former: UePower,
}

impl EInLayout {
    /// The UE was measured.
    pub fn set_gains(&mut self, gains: &Gains) {
        self.gains.clone_from(gains);
    }

    /// Path loss between the UE and a cell, infinite if the cell is out of reach.
    pub fn path_loss(&self, cell: CellId) -> Db {
        Db(-10.0 * libm::log10(self.gains.of(cell)))
    }

    pub(super) fn set_power(&mut self, power: UePower) {
        if self.power.from < power.from {
            self.former = self.power;
        }
        self.power = power;
    }

    /// The UE leaves the channel, and transmits nothing on it.
    pub(super) fn leave(&mut self) {
        (self.power, self.former) = (UePower::default(), UePower::default());
    }

    /// Power in mW that `cell` received from the UE just before `now`. Blocks that begin at `now` have no
    /// part in it, so it does not matter in which order cells are served.
    pub(super) fn received_before(&self, now: Time, cell: CellId) -> f64 {
        let UePower { until, block, dpcch, .. } =
            if self.power.from < now { self.power } else { self.former };
        self.gains.of(cell) * if now <= until { block } else { dpcch }
    }
}
