//! Downlink powers of all cells in a turn (a TTI, or a frame if the DSCH is scheduled every frame).
//! Powers are in mW, Eb/N0, gains and loads are linear.
//!
//! All contributors with power control are links of one list: calls, further legs of calls in soft
//! handover, DCHs associated with a DSCH, TTIs in progress, new grants on the DSCH, and DCH
//! bearers. Channels without power control are the other contributors: the common channels with a
//! constant power, and the HS-DSCH with the power that all other channels leave ([`HsDschPower`]).
//!
//! A turn has four steps: `begin`, `add` for each link, `control`, which determines the powers of
//! all cells and links, and `measure`, which determines the Eb/N0 of each link with these powers.
//! The powers of all cells must be known before any Eb/N0, because each is interference in the
//! others.

use super::bearer_users::BearerUsers;
use super::mobility::Mobility;
use super::voice_calls::VoiceCalls;
use crate::environment::Gains;
use crate::ids::{CellId, UeId};
use crate::radio::phy::power_control::{Coupled, Load, PowerConfig, PowerControl, Sent};
use crate::radio::phy::sir::Link;

/// Owner of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkKind {
    /// A call from its best cell.
    Call,
    /// A call from another cell of its active set.
    SoftLeg,
    /// The DCH that a DSCH user has beside the DSCH.
    AssociatedDch,
    /// A DSCH grant of the previous frame. Its TTI ends with this frame.
    InProgress,
    /// A DSCH grant of this TTI.
    Dsch,
    /// The DCH of a user from its best cell.
    Dch,
    /// The DCH of a user from another cell of its active set.
    DchLeg,
}

use LinkKind::{AssociatedDch, Call, Dch, DchLeg, Dsch, InProgress, SoftLeg};

/// Number of kinds.
const KINDS: usize = 7;

// Orders in which the kinds of links are summed. An order determines the last bits of its sums:
// another one would change the results of stored runs.
/// Loads without new grants.
const ADDED: [LinkKind; KINDS - 1] = [Call, SoftLeg, AssociatedDch, InProgress, Dch, DchLeg];
/// Loads with all links.
const SOLVED: [LinkKind; KINDS] = [Dsch, Call, SoftLeg, AssociatedDch, InProgress, Dch, DchLeg];
/// Equations with all links.
const COUPLED: [LinkKind; KINDS] = [Call, Dsch, SoftLeg, AssociatedDch, InProgress, Dch, DchLeg];
/// Loads with the powers of this turn.
const MEASURED: [LinkKind; KINDS] = [SoftLeg, AssociatedDch, Call, InProgress, Dsch, Dch, DchLeg];

/// Receiver of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Receiver {
    /// Indices of the class, and of the call in it.
    Call { class: usize, call: usize },
    /// A user of a DSCH.
    User(UeId),
    /// Index of a user of a DCH bearer.
    BearerUser(usize),
}

/// One contributor to the power of a cell in a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct DownlinkLink {
    pub receiver: Receiver,
    /// The cell that transmits.
    pub cell: CellId,
    /// The link with the interference that power control knows.
    pub link: Link,
    /// Transmit power, in mW.
    pub power_mw: f64,
    /// Interference with the powers of this turn, in mW.
    pub interference: f64,
    /// Eb/N0 with the powers of this turn, linear.
    pub ebn0: f64,
}

/// Power of one cell in a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellPower {
    /// Load of the links with the interference that power control knows.
    pub load: Load,
    /// Transmit power of the cell, and the factor by which it scales the powers of its links.
    pub sent: Sent,
    /// Load with the interference of this turn.
    pub achieved: Load,
    /// Legs of calls in soft handover.
    pub soft_legs: LinkSum,
    /// DCHs associated with the DSCH.
    pub associated: LinkSum,
}

/// Number and power of the links of one kind in a cell.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LinkSum {
    pub count: u32,
    /// In mW.
    pub power: f64,
}

impl LinkSum {
    fn add(&mut self, power: f64) {
        self.count += 1;
        self.power += power;
    }
}

/// Power of the HS-DSCH of a cell in a turn, in mW.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HsDschPower {
    /// Maximum power. 0: the cell has no HS-DSCH.
    pub max: f64,
    /// Share of the turn in which the HS-DSCH is sent.
    pub share: f64,
    /// Power while the HS-DSCH is sent.
    pub sending: f64,
}

impl HsDschPower {
    /// Power while the HS-DSCH is sent, if all other channels of the cell leave `left`.
    pub fn within(&self, left: f64) -> f64 {
        left.max(0.0).min(self.max)
    }

    /// Mean power in the turn.
    pub fn mean(&self) -> f64 {
        self.share * self.sending
    }
}

/// All links of a turn, and the power of each cell.
#[derive(Debug)]
pub(super) struct PowerSolver {
    pub power: PowerConfig,
    /// Equations of the powers of all cells. Without cells unless power control is ideal.
    coupled: Coupled,
    /// Links of this turn, by [`LinkKind`].
    links: [Vec<DownlinkLink>; KINDS],

    // By cell.
    pub cells: Vec<CellPower>,
    /// Power of the common channels in this turn, in mW, with the S-CCPCH if that is sent.
    pub commons: Vec<f64>,
    pub hs_dschs: Vec<HsDschPower>,
    /// Transmit power in this turn, in mW.
    pub powers: Vec<f64>,
    /// Transmit power in the previous turn, in mW.
    pub before: Vec<f64>,
}

/// Path gains of all receivers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Receivers<'a> {
    pub calls: &'a VoiceCalls,
    pub mobility: &'a Mobility,
    pub bearers: &'a BearerUsers,
}

impl Receivers<'_> {
    #[inline]
    fn gains(&self, receiver: Receiver) -> &Gains {
        match receiver {
            Receiver::Call { class, call } => self.calls.call(class, call).at.mobile.gains(),
            Receiver::User(ue) => self.mobility.user(ue).mobile.gains(),
            Receiver::BearerUser(number) => self.bearers.user(number).at.mobile.gains(),
        }
    }
}

impl PowerSolver {
    pub fn new(power: PowerConfig, cells: usize) -> Self {
        let is_ideal = power.control == PowerControl::Ideal;
        let sent = Sent { total: power.common, factor: 1.0 };
        let cell = CellPower {
            load: Load::default(),
            sent,
            achieved: Load::default(),
            soft_legs: LinkSum::default(),
            associated: LinkSum::default(),
        };
        PowerSolver {
            power,
            coupled: Coupled::new(if is_ideal { cells } else { 0 }),
            links: Default::default(),
            cells: vec![cell; cells],
            commons: vec![power.common; cells],
            hs_dschs: vec![HsDschPower::default(); cells],
            powers: vec![power.common; cells],
            before: vec![power.common; cells],
        }
    }

    /// Starts a turn without links.
    pub fn begin(&mut self) {
        self.links.iter_mut().for_each(Vec::clear);
        self.commons.fill(self.power.common);
        for hs_dsch in &mut self.hs_dschs {
            (hs_dsch.share, hs_dsch.sending) = (0.0, 0.0);
        }
        for cell in &mut self.cells {
            (cell.load, cell.achieved) = (Load::default(), Load::default());
            (cell.soft_legs, cell.associated) = (LinkSum::default(), LinkSum::default());
        }
    }

    #[inline]
    pub fn add(&mut self, kind: LinkKind, receiver: Receiver, cell: CellId, link: Link) {
        let added = DownlinkLink { receiver, cell, link, power_mw: 0.0, interference: 0.0, ebn0: 0.0 };
        self.links[kind as usize].push(added);
    }

    pub fn links(&self, kind: LinkKind) -> &[DownlinkLink] {
        &self.links[kind as usize]
    }

    pub fn links_mut(&mut self, kind: LinkKind) -> &mut [DownlinkLink] {
        &mut self.links[kind as usize]
    }

    /// Determines the load of each cell without new grants. Then, before `control`, the DSCH of
    /// each cell adds the loads of its grants (`dsch.rs`).
    pub fn add_up(&mut self) {
        self.sum_loads(&ADDED);
    }

    /// Determines the powers of all cells and links, within the limits of the cells.
    pub fn control(&mut self, receivers: Receivers<'_>) {
        // The powers of HS-DSCHs limit the powers of the links.
        self.set_hs_dsch_powers();
        if self.power.control == PowerControl::Ideal {
            self.solve(receivers);
            self.set_hs_dsch_powers();
        }
        for cell in 0..self.cells.len() {
            let sent = self.cells[cell].load.sent(&self.limits(cell));
            (self.cells[cell].sent, self.powers[cell]) = (sent, sent.total);
        }
        self.set_link_powers();
        self.release_excess();
        for downlink in &self.links[AssociatedDch as usize] {
            self.cells[downlink.cell.index()].associated.add(downlink.power_mw);
        }
    }

    /// Determines the power of each HS-DSCH while it is sent: the part of the maximum power that
    /// the common channels and the links leave. The cell then transmits at its maximum power.
    fn set_hs_dsch_powers(&mut self) {
        let max = self.power.max;
        let cells = self.cells.iter().zip(&self.commons);
        for (hs_dsch, (cell, common)) in self.hs_dschs.iter_mut().zip(cells) {
            let needed = common + cell.load.own * max + cell.load.outside;
            hs_dsch.sending = hs_dsch.within(max - needed);
        }
    }

    /// Solves the equations of all cells together. Power control then knows the interference of
    /// this turn.
    fn solve(&mut self, receivers: Receivers<'_>) {
        self.coupled.begin();
        for downlink in COUPLED.iter().flat_map(|&kind| &self.links[kind as usize]) {
            let gains = receivers.gains(downlink.receiver).iter();
            self.coupled.add(&self.power, downlink.cell.index(), &downlink.link, gains);
        }
        self.powers.copy_from_slice(&self.before);
        let limits: Vec<PowerConfig> = (0..self.powers.len()).map(|cell| self.limits(cell)).collect();
        self.coupled.solve(&limits, &mut self.powers);
        for downlink in self.links.iter_mut().flatten() {
            let gains = receivers.gains(downlink.receiver);
            downlink.link.interference = gains.from_others(&self.powers, downlink.cell);
        }
        self.cells.iter_mut().for_each(|cell| cell.load = Load::default());
        self.sum_loads(&SOLVED);
    }

    /// Determines the power of each link from the power of its cell. Only calls and DCHs of users
    /// have the limit of a DCH.
    fn set_link_powers(&mut self) {
        for kind in SOLVED {
            for downlink in &mut self.links[kind as usize] {
                let sent = &self.cells[downlink.cell.index()].sent;
                downlink.power_mw = match kind {
                    Call | SoftLeg | Dch | DchLeg => self.power.dch_power(sent, &downlink.link),
                    AssociatedDch | InProgress | Dsch => sent.power_of(&self.power, &downlink.link),
                };
            }
        }
    }

    /// Subtracts the power that DCH bearers need beyond the limit of a DCH from the powers of their
    /// cells.
    fn release_excess(&mut self) {
        if self.power.dch_max.is_none() {
            return;
        }
        let mut excess = vec![0.0; self.cells.len()];
        for downlink in [Dch, DchLeg].iter().flat_map(|&kind| &self.links[kind as usize]) {
            let cell = downlink.cell.index();
            let needed = self.cells[cell].sent.power_of(&self.power, &downlink.link);
            excess[cell] += needed - downlink.power_mw;
        }
        for ((cell, power), excess) in self.cells.iter_mut().zip(&mut self.powers).zip(excess) {
            cell.sent.total -= excess;
            *power = cell.sent.total;
        }
    }

    /// Determines the interference and the Eb/N0 of each link with the powers of this turn.
    pub fn measure(&mut self, receivers: Receivers<'_>) {
        let power = &self.power;
        for kind in MEASURED {
            for downlink in &mut self.links[kind as usize] {
                let gains = receivers.gains(downlink.receiver);
                downlink.interference = gains.from_others(&self.powers, downlink.cell);
                let measured = Link { interference: downlink.interference, ..downlink.link };
                let cell = &mut self.cells[downlink.cell.index()];
                downlink.ebn0 =
                    measured.achieved(power.own_share, power.noise, cell.sent.total, downlink.power_mw);
                cell.achieved = cell.achieved.with(Load::of(power, &measured));
                if kind == SoftLeg {
                    cell.soft_legs.add(downlink.power_mw);
                }
            }
        }
    }

    /// Ends a turn: its powers are the known ones in the next turn.
    pub fn end(&mut self) {
        std::mem::swap(&mut self.powers, &mut self.before);
    }

    /// Powers of all cells in the turn that has ended, without their HS-DSCHs, which leave power to
    /// new DCHs.
    pub fn powers_without_hs_dsch(&self) -> Vec<f64> {
        let cells = self.before.iter().zip(&self.hs_dschs);
        cells.map(|(power, hs_dsch)| power - hs_dsch.mean()).collect()
    }

    /// The power limits of a cell in this turn. Their constant part contains all channels without
    /// power control.
    #[inline]
    pub fn limits(&self, cell: usize) -> PowerConfig {
        PowerConfig { common: self.commons[cell] + self.hs_dschs[cell].mean(), ..self.power }
    }

    /// Adds the links of these kinds to the loads of their cells.
    fn sum_loads(&mut self, order: &[LinkKind]) {
        for &kind in order {
            for downlink in &self.links[kind as usize] {
                let load = &mut self.cells[downlink.cell.index()].load;
                *load = load.with(Load::of(&self.power, &downlink.link));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::MobilityConfig;
    use crate::radio::phy::sir::CHIP_RATE;
    use crate::rnc::multicell::WithoutCode;
    use crate::rnc::multicell::testing::{CELLS, HANDOVER, active_sets, environment};

    const USERS: usize = 60;

    /// Target Eb/N0 of each link, linear.
    const TARGET: f64 = 2.0;

    /// The solver after one turn in which each user has a link of `rate` bit/s from its best cell.
    fn solved(control: PowerControl, rate: f64) -> PowerSolver {
        let mobilities = vec![Some(MobilityConfig::Still); USERS];
        let mobility = Mobility::new(environment(), HANDOVER, &mobilities, 5);
        let calls = VoiceCalls::none();
        let power = PowerConfig { control, ..PowerConfig::default() };
        let mut solver = PowerSolver::new(power, CELLS);
        solver.begin();
        for ue in (0..USERS as u16).map(UeId) {
            let user = mobility.user(ue);
            let link = Link {
                processing: CHIP_RATE / rate,
                target: TARGET,
                gain: user.gain,
                interference: user.interference(&solver.before),
            };
            let kind = if ue.0 % 2 == 0 { AssociatedDch } else { InProgress };
            solver.add(kind, Receiver::User(ue), user.cell, link);
        }
        solver.add_up();
        let bearers = BearerUsers::none(HANDOVER, active_sets(None, WithoutCode::Kept));
        let receivers = Receivers { calls: &calls, mobility: &mobility, bearers: &bearers };
        solver.control(receivers);
        solver.measure(receivers);
        solver
    }

    fn ebn0s(solver: &PowerSolver) -> impl Iterator<Item = f64> {
        solver.links.iter().flatten().map(|link| link.ebn0)
    }

    #[test]
    fn ideal_control_reaches_every_target() {
        let solver = solved(PowerControl::Ideal, 16e3);
        assert!(solver.cells.iter().all(|cell| cell.sent.factor == 1.0));
        assert!(ebn0s(&solver).all(|ebn0| (ebn0 / TARGET - 1.0).abs() < 1e-4));
        let dchs: u32 = solver.cells.iter().map(|cell| cell.associated.count).sum();
        assert_eq!(dchs as usize, USERS / 2);
    }

    #[test]
    fn interference_of_the_previous_turn_misses_the_targets() {
        let solver = solved(PowerControl::Frame, 16e3);
        // In the previous turn the cells sent their common channels only, so power control
        // underestimates the interference.
        assert!(ebn0s(&solver).any(|ebn0| ebn0 < 0.95 * TARGET));
        assert!(ebn0s(&solver).all(|ebn0| ebn0 < TARGET + 1e-9));
    }

    #[test]
    fn cells_never_exceed_their_power() {
        let solver = solved(PowerControl::Ideal, 2e6);
        let limited = solver.cells.iter().filter(|cell| cell.sent.factor < 1.0).count();
        assert!(limited > 0);
        assert!(solver.powers.iter().all(|&power| power <= solver.power.max));
    }
}
