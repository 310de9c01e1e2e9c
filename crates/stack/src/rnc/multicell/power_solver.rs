//! Downlink powers of all cells in a TTI.
//!
//! All contributors with power control are links of one list: calls, further legs of calls in soft
//! handover, DCHs associated with a DSCH, TTIs in progress, new grants on the DSCH, and DCH bearers. The solver adds
//! them up, determines the powers, and then the Eb/N0 that each link achieves with them. The powers of
//! all cells must be known first, because each is interference in the others.
//!
//! Channels without power control are the other contributors: the common channels with a constant power, and
//! the HS-DSCH with what all other channels leave ([`HsDschPower`]).

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

/// Orders in which the kinds of links are summed. An order determines the last bits of its sums: another one would
/// change the results of stored runs.
/// `ADDED`: loads without new grants. `SOLVED`: loads with all links. `COUPLED`: equations with all
/// links. `MEASURED`: loads with the powers of this TTI.
const ADDED: [LinkKind; KINDS - 1] = [Call, SoftLeg, AssociatedDch, InProgress, Dch, DchLeg];
const SOLVED: [LinkKind; KINDS] = [Dsch, Call, SoftLeg, AssociatedDch, InProgress, Dch, DchLeg];
const COUPLED: [LinkKind; KINDS] = [Call, Dsch, SoftLeg, AssociatedDch, InProgress, Dch, DchLeg];
const MEASURED: [LinkKind; KINDS] = [SoftLeg, AssociatedDch, Call, InProgress, Dsch, Dch, DchLeg];

/// Receiver of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Receiver {
    /// Indices of the class and of the call in it.
    Call(usize, usize),
    /// A user of a DSCH.
    User(UeId),
    /// Index of a user of a DCH bearer.
    BearerUser(usize),
}

/// One contributor to the power of a cell in a TTI.
#[derive(Debug, Clone, Copy)]
pub(super) struct DownlinkLink {
    pub receiver: Receiver,
    pub cell: CellId,
    /// The link with the interference that power control knows.
    pub link: Link,
    pub power_mw: f64,
    /// Interference with the powers of this TTI, in mW.
    pub interference: f64,
    /// Eb/N0 with the powers of this TTI, linear.
    pub ebn0: f64,
}

/// Power of one cell in a TTI.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellPower {
    /// Load of the links with the interference that power control knows.
    pub load: Load,
    pub sent: Sent,
    /// Load with the interference of this TTI.
    pub achieved: Load,
    /// Number of soft-handover legs and associated DCHs, and their power in mW.
    pub soft_legs: (u32, f64),
    pub associated: (u32, f64),
}

/// Power of the HS-DSCH of a cell in a turn. In mW.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HsDschPower {
    /// Largest power. 0: the cell has no HS-DSCH.
    pub max: f64,
    /// Share of the turn in which it is sent.
    pub share: f64,
    /// Power while it is sent.
    pub sending: f64,
}

impl HsDschPower {
    /// Its power while it is sent, if all other channels of the cell leave `left`.
    pub fn within(&self, left: f64) -> f64 {
        left.max(0.0).min(self.max)
    }

    /// Mean power in the turn.
    pub fn mean(&self) -> f64 {
        self.share * self.sending
    }
}

/// All links of a TTI, and the power of each cell.
#[derive(Debug)]
pub(super) struct PowerSolver {
    pub power: PowerConfig,
    coupled: Coupled,
    /// By [`LinkKind`].
    links: [Vec<DownlinkLink>; KINDS],
    pub cells: Vec<CellPower>,
    /// Power of the common channels of each cell in this TTI, in mW, with its S-CCPCH if that is sent.
    pub commons: Vec<f64>,
    /// The HS-DSCH of each cell.
    pub hs_dschs: Vec<HsDschPower>,
    /// Transmit power of each cell in this TTI and in the previous one, in mW.
    pub powers: Vec<f64>,
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
            Receiver::Call(class, call) => self.calls.call(class, call).at.mobile.gains(),
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
            soft_legs: (0, 0.0),
            associated: (0, 0.0),
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

    /// Starts a TTI without links.
    pub fn begin(&mut self) {
        self.links.iter_mut().for_each(Vec::clear);
        self.commons.fill(self.power.common);
        for hs_dsch in &mut self.hs_dschs {
            (hs_dsch.share, hs_dsch.sending) = (0.0, 0.0);
        }
        for cell in &mut self.cells {
            (cell.load, cell.achieved) = (Load::default(), Load::default());
            (cell.soft_legs, cell.associated) = ((0, 0.0), (0, 0.0));
        }
    }

    /// Ends a TTI: its powers are the known ones in the next TTI.
    pub fn end(&mut self) {
        std::mem::swap(&mut self.powers, &mut self.before);
    }

    /// Powers of all cells in the TTI that has ended, without their HS-DSCHs, which leave power to new DCHs.
    pub fn powers_without_hs_dsch(&self) -> Vec<f64> {
        let cells = self.before.iter().zip(&self.hs_dschs);
        cells.map(|(power, hs_dsch)| power - hs_dsch.mean()).collect()
    }

    /// The power limits of a cell in this TTI, with the power of the channels without power control.
    #[inline]
    pub fn limits(&self, cell: usize) -> PowerConfig {
        PowerConfig { common: self.commons[cell] + self.hs_dschs[cell].mean(), ..self.power }
    }

    /// Determines the power of each HS-DSCH while it is sent: what the common channels and the links leave of
    /// the maximum power, at which the cell then transmits.
    fn fill_up(&mut self) {
        let cells = self.cells.iter().zip(&self.commons);
        for (hs_dsch, (cell, common)) in self.hs_dschs.iter_mut().zip(cells) {
            let max = self.power.max;
            let needed = common + cell.load.own * max + cell.load.outside;
            hs_dsch.sending = hs_dsch.within(max - needed);
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

    /// Determines the load of each cell without new grants. Before `control` the DSCH of each cell adds the loads
    /// of its grants (`dsch.rs`).
    pub fn add_up(&mut self) {
        self.sum_loads(&ADDED);
    }

    fn sum_loads(&mut self, order: &[LinkKind]) {
        for &kind in order {
            for of in &self.links[kind as usize] {
                let load = &mut self.cells[of.cell.index()].load;
                *load = load.with(Load::of(&self.power, &of.link));
            }
        }
    }

    /// Determines the powers of all cells and links.
    pub fn control(&mut self, receivers: Receivers<'_>) {
        // The powers of HS-DSCHs limit what the links get.
        self.fill_up();
        if self.power.control == PowerControl::Ideal {
            self.solve(receivers);
            self.fill_up();
        }
        for cell in 0..self.cells.len() {
            let sent = self.cells[cell].load.sent(&self.limits(cell));
            (self.cells[cell].sent, self.powers[cell]) = (sent, sent.total);
        }
        for kind in SOLVED {
            for of in &mut self.links[kind as usize] {
                let sent = &self.cells[of.cell.index()].sent;
                of.power_mw = match kind {
                    Call | SoftLeg | Dch | DchLeg => self.power.dch_power(sent, &of.link),
                    AssociatedDch | InProgress | Dsch => sent.power_of(&self.power, &of.link),
                };
            }
        }
        self.release_excess();
        for of in &self.links[AssociatedDch as usize] {
            let (dchs, power) = &mut self.cells[of.cell.index()].associated;
            *dchs += 1;
            *power += of.power_mw;
        }
    }

    /// Subtracts the power that DCH bearers need beyond the limit of a DCH from the powers of their cells.
    fn release_excess(&mut self) {
        if self.power.dch_max.is_none() {
            return;
        }
        let mut excess = vec![0.0; self.cells.len()];
        for of in [Dch, DchLeg].iter().flat_map(|&kind| &self.links[kind as usize]) {
            let cell = of.cell.index();
            excess[cell] += self.cells[cell].sent.power_of(&self.power, &of.link) - of.power_mw;
        }
        for ((cell, power), excess) in self.cells.iter_mut().zip(&mut self.powers).zip(excess) {
            cell.sent.total -= excess;
            *power = cell.sent.total;
        }
    }

    /// Solves the equations of all cells together. Power control then knows the interference of this TTI.
    fn solve(&mut self, receivers: Receivers<'_>) {
        self.coupled.begin();
        for of in COUPLED.iter().flat_map(|&kind| &self.links[kind as usize]) {
            let gains = receivers.gains(of.receiver).iter();
            self.coupled.add(&self.power, of.cell.index(), &of.link, gains);
        }
        self.powers.copy_from_slice(&self.before);
        let limits: Vec<PowerConfig> = (0..self.powers.len()).map(|cell| self.limits(cell)).collect();
        self.coupled.solve(&limits, &mut self.powers);
        for of in self.links.iter_mut().flatten() {
            of.link.interference = receivers.gains(of.receiver).from_others(&self.powers, of.cell);
        }
        self.cells.iter_mut().for_each(|cell| cell.load = Load::default());
        self.sum_loads(&SOLVED);
    }

    /// Determines the interference and the Eb/N0 of each link with the powers of this TTI.
    pub fn measure(&mut self, receivers: Receivers<'_>) {
        let power = &self.power;
        for kind in MEASURED {
            for of in &mut self.links[kind as usize] {
                of.interference = receivers.gains(of.receiver).from_others(&self.powers, of.cell);
                let met = Link { interference: of.interference, ..of.link };
                let cell = &mut self.cells[of.cell.index()];
                of.ebn0 = met.achieved(power.own_share, power.noise, cell.sent.total, of.power_mw);
                cell.achieved = cell.achieved.with(Load::of(power, &met));
                if kind == SoftLeg {
                    cell.soft_legs = (cell.soft_legs.0 + 1, cell.soft_legs.1 + of.power_mw);
                }
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

    /// One TTI in which each user has a link of `rate` bit/s on the DSCH.
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
                target: 2.0,
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
        assert!(ebn0s(&solver).all(|ebn0| (ebn0 / 2.0 - 1.0).abs() < 1e-4));
        let dchs: u32 = solver.cells.iter().map(|cell| cell.associated.0).sum();
        assert_eq!(dchs as usize, USERS / 2);
    }

    #[test]
    fn interference_of_the_previous_tti_misses_the_targets() {
        let solver = solved(PowerControl::Frame, 16e3);
        // In the TTI before, the cells sent their common channels only.
        assert!(ebn0s(&solver).any(|ebn0| ebn0 < 1.9));
        assert!(ebn0s(&solver).all(|ebn0| ebn0 < 2.0 + 1e-9));
    }

    #[test]
    fn cells_never_exceed_their_power() {
        let solver = solved(PowerControl::Ideal, 2e6);
        let limited = solver.cells.iter().filter(|cell| cell.sent.factor < 1.0).count();
        assert!(limited > 0);
        assert!(solver.powers.iter().all(|&power| power <= solver.power.max));
    }
}
