//! HS-DSCHs in the cells of a layout: their power in a turn, and the mean SNR of a user. MAC-hs of their cells
//! serves the users as everywhere (`mac::hs`); fading and the delay of the CQI are part of its link model. The users
//! and their serving cells are in `bearer_users`.
//!
//! ```text
//!                        SF P / u / L              P    power of the HS-DSCH while it is sent, u blocks in a TTI
//! SNR = ------------------------------------       P_T  power of the cell then
//!              om P_T / L + chi + P_N              SF   16, the spreading factor of the HS-PDSCHs
//! ```
//!
//! Other symbols are those of equation (1) (`radio/phy/sir.rs`). P_T contains P: the codes of one block
//! interfere with each other (the SINR of Holma and Toskala 2006, chapter 7).
//!
//! An HS-DSCH is sent in the share of a turn in which it was sent in the turn before. Other cells and DCHs
//! receive its mean power.

use umts_units::Duration;

use super::power_solver::PowerSolver;
use crate::environment::Gains;
use crate::ids::CellId;
use crate::mac::hs::TTI;

/// Spreading factor of the HS-PDSCH (TS 25.211 §5.3.3.13).
const SPREADING_FACTOR: f64 = 16.0;

/// The HS-DSCH of each cell of a layout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HsCellConfig {
    /// Largest power while it is sent, in mW. Infinite: all power that other channels leave.
    pub max_power: f64,
    /// Number of HS-PDSCH codes.
    pub codes: u8,
    /// Largest number of blocks in a TTI, which have equal shares of the power: the number of HS-SCCHs.
    pub users_per_tti: u8,
}

/// The HS-DSCHs of all cells.
#[derive(Debug)]
pub(super) struct HsDschs {
    config: HsCellConfig,
    /// Blocks that each cell has sent in the last turn.
    blocks: Vec<u32>,
}

impl HsDschs {
    /// Sets the power of each HS-DSCH in `solver`: its largest one, and its power before the first turn.
    pub fn new(config: &HsCellConfig, solver: &mut PowerSolver) -> Self {
        let left = solver.power.max - solver.power.common;
        for hs_dsch in &mut solver.hs_dschs {
            hs_dsch.max = config.max_power;
            hs_dsch.sending = hs_dsch.within(left);
        }
        HsDschs { config: *config, blocks: vec![0; solver.hs_dschs.len()] }
    }

    /// Starts to count the blocks of a turn.
    pub fn begin_count(&mut self) {
        self.blocks.fill(0);
    }

    /// `cell` has sent `blocks` blocks in the last turn.
    pub fn count(&mut self, cell: CellId, blocks: u32) {
        self.blocks[cell.index()] += blocks;
    }

    /// Sets the share of a turn of this length in which each HS-DSCH is sent.
    pub fn add_shares(&self, interval: Duration, solver: &mut PowerSolver) {
        let max_blocks = (interval / TTI) as f64 * f64::from(self.config.users_per_tti);
        for (hs_dsch, blocks) in solver.hs_dschs.iter_mut().zip(&self.blocks) {
            hs_dsch.share = (f64::from(*blocks) / max_blocks).min(1.0);
        }
    }

    /// SNR of a user with these path gains in a TTI in which `cell` sends the HS-DSCH, linear. `powers`: mean powers
    /// of all cells in a turn, in mW.
    pub fn snr(&self, gains: &Gains, cell: CellId, solver: &PowerSolver, powers: &[f64]) -> f64 {
        let (gain, hs_dsch) = (gains.of(cell), &solver.hs_dschs[cell.index()]);
        // The mean power of the cell contains the HS-DSCH with its share of the turn.
        let own = powers[cell.index()] + (1.0 - hs_dsch.share) * hs_dsch.sending;
        let of_block = hs_dsch.sending / f64::from(self.config.users_per_tti);
        let interference = gains.from_others(powers, cell);
        let noise = solver.power.own_share * own * gain + interference + solver.power.noise;
        SPREADING_FACTOR * of_block * gain / noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::phy::power_control::PowerConfig;
    use crate::rnc::multicell::testing::{CELLS, environment, mobile_between};

    const CONFIG: HsCellConfig = HsCellConfig { max_power: f64::INFINITY, codes: 10, users_per_tti: 2 };

    #[test]
    fn snr_follows_from_the_powers_of_the_cells() {
        let environment = environment();
        let mut solver = PowerSolver::new(PowerConfig::default(), CELLS);
        let hs_dschs = HsDschs::new(&CONFIG, &mut solver);
        let mobile = mobile_between(&environment, [0, 1]);
        // The cell sends 9 W on the HS-DSCH in a quarter of the turn, and 1 W otherwise. All others send 2 W.
        let mut powers = vec![2_000.0; CELLS];
        powers[0] = 1_000.0 + 9_000.0 / 4.0;
        (solver.hs_dschs[0].share, solver.hs_dschs[0].sending) = (0.25, 9_000.0);
        let gains: Vec<(usize, f64)> = mobile.gains().iter().collect();
        let others: f64 = gains.iter().filter(|(cell, _)| *cell != 0).map(|(_, gain)| 2_000.0 * gain).sum();
        let own = gains.iter().find(|(cell, _)| *cell == 0).expect("it is a cell").1;
        let PowerConfig { own_share, noise, .. } = solver.power;
        let expected = 16.0 * 4_500.0 * own / (own_share * 10_000.0 * own + others + noise);
        let snr = hs_dschs.snr(mobile.gains(), CellId(0), &solver, &powers);
        assert!((snr / expected - 1.0).abs() < 1e-9, "{snr} and {expected}");
    }

    #[test]
    fn before_the_first_turn_the_common_channels_leave_the_rest_of_the_power() {
        let power = PowerConfig::default();
        for (max_power, sending) in [(f64::INFINITY, power.max - power.common), (1.0, 1.0)] {
            let mut solver = PowerSolver::new(power, CELLS);
            HsDschs::new(&HsCellConfig { max_power, ..CONFIG }, &mut solver);
            assert!(solver.hs_dschs.iter().all(|hs_dsch| hs_dsch.sending == sending));
        }
    }

    #[test]
    fn hs_dsch_fills_up_its_cell_in_its_share_of_the_turn() {
        let mut solver = PowerSolver::new(PowerConfig::default(), CELLS);
        let mut hs_dschs = HsDschs::new(&CONFIG, &mut solver);
        // Ten TTIs of two blocks fit into a turn of 20 ms.
        hs_dschs.count(CellId(7), 3);
        hs_dschs.count(CellId(7), 2);
        solver.begin();
        hs_dschs.add_shares(Duration::from_millis(20), &mut solver);
        assert_eq!((solver.hs_dschs[7].share, solver.hs_dschs[8].share), (0.25, 0.0));
        hs_dschs.begin_count();
        hs_dschs.add_shares(Duration::from_millis(20), &mut solver);
        assert_eq!(solver.hs_dschs[7].share, 0.0);
    }
}
