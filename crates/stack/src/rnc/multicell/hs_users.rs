//! Users of an HS-DSCH in the cells of a layout: their serving cells, the power of the HS-DSCHs in a turn, and
//! the mean SNR of each user. MAC-hs of their cells serves them as everywhere (`mac::hs`); fading and the delay
//! of the CQI are part of its link model.
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

use std::collections::VecDeque;

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use super::HandoverConfig;
use super::mobility::{CellChange, Handover};
use super::power_solver::PowerSolver;
use crate::EventContext;
use crate::environment::{Environment, Mobile, MobilityConfig};
use crate::ids::{CellId, UeId};
use crate::mac::hs::TTI;
use crate::rnc::rrc::CellSelection;
use crate::trace::{Real, TraceEvent};
use crate::ue::Ues;

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

/// A user of an HS-DSCH.
#[derive(Debug)]
struct HsUser {
    ue: UeId,
    mobile: Mobile,
    /// Its serving cell.
    cell: CellId,
    /// Blocks that were sent to it in the last turn.
    blocks: u32,
}

/// All users of HS-DSCHs, by UE number.
#[derive(Debug)]
pub(super) struct HsUsers {
    users: Vec<HsUser>,
    config: HsCellConfig,
    selection: CellSelection,
    handover: HandoverConfig,
    /// Turns between two measurements of a user.
    period: u64,
    /// Blocks that each cell has sent in the last turn.
    blocks: Vec<u32>,
}

impl HsUsers {
    /// Each user starts in its best cell. Sets the largest power of each HS-DSCH in `solver`.
    pub fn new(
        (config, handover): (&HsCellConfig, &HandoverConfig),
        users: &[(UeId, MobilityConfig)],
        environment: &Environment,
        solver: &mut PowerSolver,
        period: u64,
    ) -> Self {
        let user = |(ue, mobility): &(UeId, MobilityConfig)| {
            let mut mobile = environment.appear(u64::from(ue.0), mobility, None, Time::ZERO);
            environment.measure(&mut mobile, Time::ZERO);
            HsUser { ue: *ue, cell: mobile.gains().best(), mobile, blocks: 0 }
        };
        solver.hs_dschs.iter_mut().for_each(|hs_dsch| hs_dsch.max = config.max_power);
        HsUsers {
            users: users.iter().map(user).collect(),
            config: *config,
            selection: CellSelection::new(handover.hysteresis.0),
            handover: *handover,
            period,
            blocks: vec![0; environment.cells()],
        }
    }

    /// The serving cell of a UE. `None` for UEs without an HS-DSCH.
    pub fn cell_of(&self, ue: UeId) -> Option<CellId> {
        let number = self.users.binary_search_by_key(&ue, |user| user.ue).ok()?;
        Some(self.users[number].cell)
    }

    /// Counts the blocks that were sent since the last turn, by the cell that sent them.
    pub fn count_blocks(&mut self, ues: &mut Ues) {
        self.blocks.fill(0);
        for user in &mut self.users {
            user.blocks = ues[user.ue].hs_in_layout.as_mut().map_or(0, |hs| hs.take_blocks());
            self.blocks[user.cell.index()] += user.blocks;
        }
    }

    /// Measures the part of the users that turn number `turn` measures. Adds changes of their serving cells to
    /// `handovers`. `can_change_cell`: whether a user may change its cell.
    pub fn measure(
        &mut self,
        (now, turn): (Time, u64),
        environment: &Environment,
        can_change_cell: impl Fn(UeId) -> bool,
        handovers: &mut VecDeque<Handover>,
    ) {
        let phase = turn % self.period;
        for user in self.users.iter_mut().filter(|user| u64::from(user.ue.0) % self.period == phase) {
            environment.measure(&mut user.mobile, now);
            let (ue, from) = (user.ue, user.cell);
            let better = self.selection.better(from, user.mobile.gains());
            let Some(to) = better.filter(|_| can_change_cell(ue)) else { continue };
            user.cell = to;
            handovers.push_back(Handover { ue, from, to, config: self.handover, change: CellChange::Hard });
        }
    }

    /// Sets the share of a turn of this length in which each HS-DSCH is sent.
    pub fn add_shares(&self, interval: Duration, solver: &mut PowerSolver) {
        let max_blocks = (interval / TTI) as f64 * f64::from(self.config.users_per_tti);
        for (hs_dsch, blocks) in solver.hs_dschs.iter_mut().zip(&self.blocks) {
            hs_dsch.share = (f64::from(*blocks) / max_blocks).min(1.0);
        }
    }

    /// Sets the mean SNR of each user until the next turn. It is recorded for users that received
    /// blocks in the last turn.
    pub fn receive<T: TraceSink<TraceEvent>>(
        &self,
        ctx: &mut EventContext<'_, T>,
        solver: &PowerSolver,
        ues: &mut Ues,
    ) {
        for user in &self.users {
            let Some(in_layout) = &mut ues[user.ue].hs_in_layout else { continue };
            let (ue, cell, snr) = (user.ue, user.cell, self.snr(user, solver));
            in_layout.set_snr(ctx.cx.now, snr);
            if user.blocks > 0 {
                ctx.cx.record(|| TraceEvent::HsSnr { ue, cell: cell.0, snr: Real(snr as f32) });
            }
        }
    }

    /// SNR of a user in a TTI in which its cell sends the HS-DSCH, linear.
    fn snr(&self, user: &HsUser, solver: &PowerSolver) -> f64 {
        let (cell, gains) = (user.cell.index(), user.mobile.gains());
        let (gain, hs_dsch) = (gains.of(user.cell), &solver.hs_dschs[cell]);
        // The mean power of the cell contains the HS-DSCH with its share of the turn.
        let own = solver.powers[cell] + (1.0 - hs_dsch.share) * hs_dsch.sending;
        let of_block = hs_dsch.sending / f64::from(self.config.users_per_tti);
        let interference = gains.from_others(&solver.powers, user.cell);
        let noise = solver.power.own_share * own * gain + interference + solver.power.noise;
        SPREADING_FACTOR * of_block * gain / noise
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;
    use umts_units::Db;

    use super::*;
    use crate::radio::phy::power_control::PowerConfig;
    use crate::rnc::multicell::testing::{CELLS, HANDOVER, environment, environment_with, mobile_between};

    const PERIOD: u64 = 5;
    const CONFIG: HsCellConfig = HsCellConfig { max_power: f64::INFINITY, codes: 10, users_per_tti: 2 };

    #[test]
    fn snr_follows_from_the_powers_of_the_cells() {
        let environment = environment();
        let mut solver = PowerSolver::new(PowerConfig::default(), CELLS);
        let mut users = HsUsers::new(
            (&CONFIG, &HANDOVER),
            &[(UeId(3), MobilityConfig::Still)],
            &environment,
            &mut solver,
            PERIOD,
        );
        users.users[0].mobile = mobile_between(&environment, [0, 1]);
        users.users[0].cell = CellId(0);
        // The cell sends 9 W on the HS-DSCH in a quarter of the turn, and 1 W otherwise. All others send 2 W.
        solver.powers.fill(2_000.0);
        solver.powers[0] = 1_000.0 + 9_000.0 / 4.0;
        (solver.hs_dschs[0].share, solver.hs_dschs[0].sending) = (0.25, 9_000.0);
        let gains: Vec<(usize, f64)> = users.users[0].mobile.gains().iter().collect();
        let others: f64 = gains.iter().filter(|(cell, _)| *cell != 0).map(|(_, gain)| 2_000.0 * gain).sum();
        let own = gains.iter().find(|(cell, _)| *cell == 0).expect("it is a cell").1;
        let PowerConfig { own_share, noise, .. } = solver.power;
        let expected = 16.0 * 4_500.0 * own / (own_share * 10_000.0 * own + others + noise);
        let snr = users.snr(&users.users[0], &solver);
        assert!((snr / expected - 1.0).abs() < 1e-9, "{snr} and {expected}");
    }

    #[test]
    fn hs_dsch_fills_up_its_cell_in_its_share_of_the_turn() {
        let (mut solver, environment) = (PowerSolver::new(PowerConfig::default(), CELLS), environment());
        let mut users = HsUsers::new((&CONFIG, &HANDOVER), &[], &environment, &mut solver, PERIOD);
        // Ten TTIs of two blocks fit into a turn of 20 ms.
        users.blocks[7] = 5;
        solver.begin();
        users.add_shares(Duration::from_millis(20), &mut solver);
        assert_eq!((solver.hs_dschs[7].share, solver.hs_dschs[8].share), (0.25, 0.0));
    }

    #[test]
    fn users_change_to_a_cell_that_is_better_by_the_hysteresis() {
        let environment = environment_with(Db(8.0), &Streams::new(1, 0));
        let mut solver = PowerSolver::new(PowerConfig::default(), CELLS);
        let users: Vec<_> = (0..20).map(|ue| (UeId(ue), MobilityConfig::Still)).collect();
        let mut users = HsUsers::new((&CONFIG, &HANDOVER), &users, &environment, &mut solver, PERIOD);
        let mut handovers = VecDeque::new();
        users.measure((Time::ZERO, 0), &environment, |_| true, &mut handovers);
        assert_eq!(handovers.len(), 0);
        let best = users.users[10].cell;
        users.users[10].cell = CellId((best.0 + 18) % 36);
        users.measure((Time::ZERO, 0), &environment, |_| false, &mut handovers);
        assert_eq!(handovers.len(), 0);
        users.measure((Time::ZERO, 0), &environment, |_| true, &mut handovers);
        let handover = handovers.pop_front().expect("it changes its cell");
        assert_eq!((handover.ue, handover.to, users.cell_of(UeId(10))), (UeId(10), best, Some(best)));
    }
}
