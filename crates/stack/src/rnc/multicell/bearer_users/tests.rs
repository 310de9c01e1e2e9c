//! Sums of powers and of codes over users of DCHs, of HS-DSCHs, of the FACH, and of all of these in
//! turn.

use proptest::prelude::*;
use umts_kernel::random::Streams;
use umts_units::Db;

use super::*;
use crate::environment::Legs;
use crate::radio::phy::power_control::PowerControl;
use crate::radio::phy::sir::CHIP_RATE;
use crate::rnc::multicell::mobility::Mobility;
use crate::rnc::multicell::power_solver::{HsDschPower, Receivers};
use crate::rnc::multicell::steps::follow_commands;
use crate::rnc::multicell::testing::{CELLS, HANDOVER, active_sets, environment_with};
use crate::rnc::multicell::voice_calls::VoiceCalls;
use crate::rnc::multicell::{AssociatedConfig, CodeLimit, DchConfig, FixedCodes, WithoutCode};
use crate::rnc::rrc::SoftHandover;

const DSCH: Code = Code { spreading_factor: 4, number: 3 };
/// Time between two turns.
const TURN: Duration = Duration::from_millis(20);
/// Turns between two measurements of a user: 100 ms.
const PERIOD: u64 = 5;

const SCCPCH: Code = Code { spreading_factor: 32, number: 1 };

/// Numbers of the channels of a switched user: an HS-DSCH, a DCH of spreading factor 16 and one of 64.
const HS_DSCH: usize = 0;
const LARGE: usize = 1;
const SMALL: usize = 2;

/// Numbers of users of each kind.
#[derive(Debug, Clone, Default)]
struct Groups {
    /// Spreading factor of each permanent DCH.
    factors: Vec<u16>,
    on_fach: usize,
    on_hs_dsch: usize,
    /// RRC switches these users between all channels.
    switched: usize,
}

/// Codes from the one tree of each cell.
fn one_tree() -> DchConfig {
    DchConfig { codes: CodeLimit::OneTree, ..DchConfig::default() }
}

/// A DCH of this spreading factor: 64 kbit/s with a factor of 32.
fn dch(factor: u16) -> DownlinkConfig {
    DownlinkConfig::from(DchUserConfig {
        processing: CHIP_RATE / (64e3 * 32.0 / f64::from(factor)),
        spreading_factor: factor,
        target: 1.7,
        errors: LinkTable::logistic(2.25, 2.5).into(),
    })
}

impl Groups {
    /// Users at 50 km/h, in the order of the groups.
    fn placed(&self) -> impl Iterator<Item = PlacedUser> {
        let permanent = self.factors.iter().map(|&factor| (vec![dch(factor)], false));
        let on_fach = std::iter::repeat_n((Vec::new(), false), self.on_fach);
        let on_hs_dsch = std::iter::repeat_n((vec![DownlinkConfig::HsDsch], false), self.on_hs_dsch);
        let of_rrc = vec![DownlinkConfig::HsDsch, dch(16), dch(64)];
        let switched = std::iter::repeat_n((of_rrc, true), self.switched);
        let channels = permanent.chain(on_fach).chain(on_hs_dsch).chain(switched);
        let mobility = MobilityConfig::Legs(Legs::vehicular(50.0 / 3.6));
        (0..).map(UeId).zip(channels).map(move |(ue, (dchs, is_switched))| PlacedUser {
            ue,
            mobility: mobility.clone(),
            dchs,
            is_switched,
        })
    }
}

/// Progress of RRC with a switched user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    OnFach,
    /// Switches to this channel, which is granted.
    To(usize),
    On(usize),
    /// Changes to this channel from another one.
    ChangesTo(usize),
    ToFach,
}

impl Step {
    /// The number of the channel in use. On the FACH the number of the smallest DCH.
    fn channel(self) -> usize {
        if let Step::On(channel) = self { channel } else { SMALL }
    }

    fn is_switching(self) -> bool {
        matches!(self, Step::To(_) | Step::ChangesTo(_) | Step::ToFach)
    }
}

/// All users of a layout, with RRC and power control.
struct Network {
    mobility: Mobility,
    fixed: FixedCodes,
    codes: DchCodes,
    bearers: BearerUsers,
    /// Steps of the switched users, which have the highest numbers.
    steps: Vec<Step>,
    first_switched: usize,
    calls: VoiceCalls,
    solver: PowerSolver,
}

impl Network {
    fn new(
        environment: Environment,
        fixed: FixedCodes,
        groups: &Groups,
        associated: Option<AssociatedConfig>,
        soft: Option<SoftHandover>,
        power: PowerConfig,
    ) -> Self {
        let mut codes = DchCodes::new(&one_tree(), &fixed, CELLS);
        let solver = PowerSolver::new(power, CELLS);
        let associated = associated.as_ref().map(Dpch::associated);
        let user = |placed| BearerUser::new(&placed, &environment, &mut codes, associated, &solver.before);
        let bearers = BearerUsers {
            users: groups.placed().map(user).collect(),
            associated,
            sccpch: Some(SccpchConfig {
                power: 2_000.0,
                code: SCCPCH,
                processing: CHIP_RATE / 32e3,
                errors: LinkTable::logistic(5.0, 2.5).into(),
            }),
            period: PERIOD,
            ..BearerUsers::none(HANDOVER, active_sets(soft, WithoutCode::Kept))
        };
        Network {
            mobility: Mobility::new(environment, HANDOVER, &[], PERIOD),
            fixed,
            codes,
            first_switched: bearers.users.len() - groups.switched,
            bearers,
            steps: vec![Step::OnFach; groups.switched],
            calls: VoiceCalls::none(),
            solver,
        }
    }

    /// Cells with shadowing. DCHs have 23 codes of spreading factor 32.
    fn with_shadows(groups: &Groups, associated: Option<AssociatedConfig>) -> Self {
        let environment = environment_with(Db(8.0), &Streams::new(1, 0));
        let fixed = FixedCodes::new(&one_tree(), Some(DSCH), None);
        Network::new(environment, fixed, groups, associated, None, PowerConfig::default())
    }

    /// Measures the users of turn number `turn`. Returns the changes that UTRAN must execute.
    fn measure(&mut self, turn: u64, can_change_cell: impl Fn(UeId) -> bool) -> Vec<Handover> {
        let Network { mobility, codes, bearers, solver, .. } = self;
        let measured = MeasuredTurn { now: Time::ZERO + TURN * turn, number: turn };
        let mut handovers = VecDeque::new();
        bearers.measure(
            measured,
            &mobility.environment,
            codes,
            &solver.before,
            can_change_cell,
            &mut handovers,
        );
        handovers.into()
    }

    /// Measures the users. A switched user does not change its cell during a switch, and leaves a DCH
    /// that no cell can carry.
    fn measure_between_switches(&mut self, turn: u64) {
        let (first, steps) = (self.first_switched, self.steps.clone());
        let step_of = |ue: UeId| ue.index().checked_sub(first).map(|index| steps[index]);
        let can_change_cell = |ue: UeId| step_of(ue).is_none_or(|step| !step.is_switching());
        for Handover { ue, change, .. } in self.measure(turn, can_change_cell) {
            if change == CellChange::DchLost {
                self.steps[ue.index() - first] = Step::ToFach;
            }
        }
    }

    /// The next step of a switched user, if RRC takes it now. Requests are refused if a cell has no
    /// code.
    fn next_step(&mut self, ue: UeId, step: Step) -> Step {
        let Network { bearers, codes, solver, .. } = self;
        let cell = bearers.cell_of(ue).expect("it is in the layout");
        let may_have = |bearers: &BearerUsers, codes: &DchCodes, channel: &usize| {
            bearers.has_free_codes(codes, ue, cell, *channel)
        };
        // A third of the requests finds the HS-DSCH with its most users.
        let first = if (ue.0 + step.channel() as u16).is_multiple_of(3) { LARGE } else { HS_DSCH };
        match step {
            Step::OnFach => {
                let granted = (first..=SMALL).find(|channel| may_have(bearers, codes, channel));
                let Some(channel) = granted else { return step };
                bearers.allocate(codes, &solver.before, ue, channel);
                Step::To(channel)
            }
            Step::To(channel) | Step::ChangesTo(channel) => {
                if let Step::ChangesTo(_) = step {
                    bearers.change(codes, ue, channel);
                }
                let user = bearers.of_ue_mut(ue).expect("it is in the layout");
                user.downlink = user.dchs[channel].kind();
                Step::On(channel)
            }
            // UEs with an even number change to the smallest DCH, and others to a larger channel if
            // they find one. A smaller DCH needs no allocation: it has room in the code that the
            // change of a DCH releases.
            Step::On(channel) if channel != SMALL && ue.0.is_multiple_of(2) => Step::ChangesTo(SMALL),
            Step::On(channel) => match (first..channel).find(|larger| may_have(bearers, codes, larger)) {
                Some(larger) => {
                    bearers.allocate(codes, &solver.before, ue, larger);
                    Step::ChangesTo(larger)
                }
                None => Step::ToFach,
            },
            Step::ToFach => {
                bearers.release(codes, ue);
                bearers.of_ue_mut(ue).expect("it is in the layout").downlink = Downlink::Fach;
                Step::OnFach
            }
        }
    }

    /// Sets which users have data. A user on the FACH has data in every third turn. Users with a code
    /// for their DCH, also beside an HS-DSCH, always have data, except user number `silent`.
    fn set_data(&mut self, turn: u64, silent: usize) {
        for (number, user) in self.bearers.users.iter_mut().enumerate() {
            user.is_sent = match user.downlink {
                Downlink::Fach => number as u64 % 3 == turn % 3,
                Downlink::Dch | Downlink::HsDsch => user.has_code && number != silent,
            };
        }
    }

    /// Determines the powers of all links and cells. The HS-DSCH of a cell, with at most `hs_max` mW,
    /// is on for 0, 1/3, 2/3 and all of successive turns.
    fn control_powers(&mut self, turn: u64, hs_max: f64) {
        let Network { mobility, bearers, calls, solver, .. } = self;
        solver.begin();
        for (cell, hs_dsch) in solver.hs_dschs.iter_mut().enumerate() {
            let share = ((turn + cell as u64) % 4) as f64 / 3.0;
            *hs_dsch = HsDschPower { max: hs_max, share, sending: 0.0 };
        }
        bearers.add_links(solver);
        solver.add_up();
        solver.control(Receivers { calls, mobility, bearers });
        if solver.power.control == PowerControl::Steps {
            follow_commands(solver, calls, bearers, TURN);
        }
        solver.measure(Receivers { calls, mobility, bearers });
    }

    /// Checks that the power of `cell` is the sum of the powers of its channels, within its limit.
    fn check_power(&self, cell: usize) -> Result<(), TestCaseError> {
        let Network { bearers, solver, .. } = self;
        let links = [LinkKind::Dch, LinkKind::DchLeg, LinkKind::AssociatedDch].map(|kind| solver.links(kind));
        let of_cell = links.into_iter().flatten().filter(|link| link.cell.index() == cell);
        let dchs: f64 = of_cell.map(|link| link.power_mw).sum();
        let has_fach_data = bearers
            .users
            .iter()
            .any(|user| user.downlink == Downlink::Fach && user.is_sent && user.at.main.cell.index() == cell);
        let sccpch = bearers.sccpch.as_ref().filter(|_| has_fach_data).map_or(0.0, |sccpch| sccpch.power);
        let hs_dsch = &solver.hs_dschs[cell];
        prop_assert!((0.0..=hs_dsch.max).contains(&hs_dsch.sending));
        let (sum, total) = (solver.power.common + sccpch + hs_dsch.mean() + dchs, solver.powers[cell]);
        prop_assert!((sum - total).abs() < 1e-9 * total, "cell {cell}: {sum}, {total}");
        prop_assert!(total <= solver.power.max * (1.0 + 1e-9));
        Ok(())
    }

    /// Checks that the codes in use in `cell` are those of its links and of the DCHs that RRC has
    /// allocated, and that none meets a code of the S-CCPCH or of the HS-DSCH.
    fn check_codes(&self, cell: usize) -> Result<(), TestCaseError> {
        let mut share = 0.0;
        for user in &self.bearers.users {
            let next = user.granted.next.as_ref().map(|next| next.codes.as_slice()).unwrap_or_default();
            // An HS-DSCH has at most one code.
            prop_assert!(next.len() <= 1 || next.len() == user.at.legs().count());
            prop_assert!(user.downlink != Downlink::HsDsch || user.at.further.is_empty());
            let held = user.at.legs().filter(|_| user.has_code).map(|leg| (leg.cell, leg.code));
            let allocated = user.at.legs().zip(next).map(|(leg, code)| (leg.cell, *code));
            for (_, code) in held.chain(allocated).filter(|(of, _)| of.index() == cell) {
                share += 1.0 / f64::from(code.spreading_factor);
                prop_assert!(self.fixed.has_free(code));
            }
        }
        prop_assert_eq!(self.codes.used(cell), share);
        Ok(())
    }

    /// Checks that exactly the DCHs with data have links.
    fn check_links(&mut self) -> Result<(), TestCaseError> {
        let legs: usize = self.bearers.powered().map(|dch| dch.at.legs().count()).sum();
        let links = |kind| self.solver.links(kind).len();
        prop_assert_eq!(links(LinkKind::Dch) + links(LinkKind::DchLeg), legs);
        let beside_hs_dsch = |user: &&BearerUser| user.downlink == Downlink::HsDsch && user.is_sent;
        let associated = self.bearers.users.iter().filter(beside_hs_dsch).count();
        prop_assert_eq!(links(LinkKind::AssociatedDch), associated);
        prop_assert!(self.bearers.associated.is_some() || associated == 0);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// In every turn of every kind of power control, also while RRC switches users: the power of a
    /// cell is that of its common channels, of its S-CCPCH if its FACH has data, of its HS-DSCH in
    /// its share of the turn, and of the codes that it sends, DCHs beside HS-DSCHs included, at most
    /// its limit. An HS-DSCH has at most its own limit. The codes in use are those of the legs and
    /// of the channels that users are switching to, and none meets a code of the S-CCPCH or the
    /// HS-DSCH.
    #[test]
    fn powers_and_codes_of_each_cell_add_up(
        factors in prop::collection::vec((3_u32..8).prop_map(|level| 1_u16 << level), 1..80),
        (on_fach, on_hs_dsch, switched) in (0_usize..40, 0_usize..40, 0_usize..80),
        control in prop::sample::select(vec![PowerControl::Frame, PowerControl::Ideal, PowerControl::Steps]),
        (is_soft, is_dropped) in (any::<bool>(), any::<bool>()),
        silent in any::<prop::sample::Index>(),
        (has_limit, is_charged) in (any::<bool>(), any::<bool>()),
        (pdschs, hs_max) in (0_u8..9, prop::sample::select(vec![0.0, 3_000.0, f64::INFINITY])),
        seed in 0_u64..1000,
    ) {
        let environment = environment_with(Db(8.0), &Streams::new(seed, 0));
        let fixed = FixedCodes::new(&one_tree(), Some(DSCH), Some(SCCPCH));
        let fixed = fixed.with_hs_dsch(pdschs, 2).expect("there is room");
        let silent = silent.index(factors.len());
        let groups = Groups { factors, on_fach, on_hs_dsch, switched };
        let associated = is_charged.then(AssociatedConfig::default);
        let soft = is_soft.then(SoftHandover::default);
        // A DCH has at most 20 mW, which is 13 dBm.
        let power = PowerConfig { control, dch_max: has_limit.then_some(20.0), ..PowerConfig::default() };
        let mut network = Network::new(environment, fixed, &groups, associated, soft, power);
        network.bearers.sets.without = if is_dropped { WithoutCode::Dropped } else { WithoutCode::Kept };
        let switched_ues: Vec<UeId> = (network.first_switched as u16..).map(UeId).take(switched).collect();
        for turn in 0..40 {
            network.measure_between_switches(turn);
            for (number, &ue) in switched_ues.iter().enumerate() {
                // Each user takes its steps at times of its own.
                if (turn + number as u64 + seed).is_multiple_of(3) {
                    network.steps[number] = network.next_step(ue, network.steps[number]);
                }
            }
            network.set_data(turn, silent);
            network.control_powers(turn, hs_max);
            for cell in 0..CELLS {
                network.check_power(cell)?;
                network.check_codes(cell)?;
            }
            network.check_links()?;
            network.solver.end();
        }
        // Without channels of switched users, the permanent channels have all codes that are in use.
        let Network { bearers, codes, first_switched, .. } = &mut network;
        switched_ues.iter().for_each(|&ue| bearers.release(codes, ue));
        let has_no_codes = |user: &BearerUser| !user.has_code && user.granted.next.is_none();
        prop_assert!(bearers.users[*first_switched..].iter().all(has_no_codes));
        for cell in 0..CELLS {
            network.check_codes(cell)?;
        }
    }
}

/// A network with one user of an HS-DSCH, in a cell that is not its best one.
struct UserOfWorseCell {
    network: Network,
    worse: CellId,
    best: CellId,
}

impl UserOfWorseCell {
    fn new(associated: Option<AssociatedConfig>) -> Self {
        let groups = Groups { on_hs_dsch: 1, ..Groups::default() };
        let mut network = Network::with_shadows(&groups, associated);
        let Network { bearers, codes, solver, .. } = &mut network;
        let user = &mut bearers.users[0];
        let best = user.at.main.cell;
        let worse = CellId((best.0 + 18) % CELLS as u16);
        if user.has_code {
            codes.release(best, user.at.main.code);
        }
        user.at.main = without_code(worse);
        user.has_code = false;
        if let Some(dpch) = bearers.associated {
            user.take_code(codes, dpch.spreading_factor, &solver.before);
        }
        UserOfWorseCell { network, worse, best }
    }
}

#[test]
fn user_of_an_hs_dsch_changes_to_a_cell_that_is_better_by_the_hysteresis() {
    for associated in [None, Some(AssociatedConfig::default())] {
        let UserOfWorseCell { mut network, worse, best } = UserOfWorseCell::new(associated);
        assert_eq!(network.measure(0, |_| false), [], "the user may not change its cell");
        let handovers = network.measure(0, |_| true);
        let changes: Vec<_> = handovers.iter().map(|one| (one.from, one.to, one.change)).collect();
        assert_eq!(changes, [(worse, best, CellChange::Hard)]);
        assert_eq!(network.measure(0, |_| true), [], "the user is in its best cell");
        // The code of the DCH beside the HS-DSCH moves with it.
        let used = associated.map_or(0.0, |dch| 1.0 / f64::from(dch.spreading_factor));
        assert_eq!([worse, best].map(|cell| network.codes.used(cell.index())), [0.0, used]);
    }
}

#[test]
fn user_of_an_hs_dsch_stays_in_its_cell_while_the_better_one_has_no_code() {
    let associated = AssociatedConfig::default();
    let UserOfWorseCell { mut network, worse, best } = UserOfWorseCell::new(Some(associated));
    let take = || network.codes.take(best, associated.spreading_factor);
    let taken: Vec<Code> = std::iter::from_fn(take).collect();
    assert_eq!(network.measure(0, |_| true), []);
    assert_eq!(network.bearers.cell_of(UeId(0)), Some(worse));
    network.codes.release(best, taken[0]);
    assert_eq!(network.measure(0, |_| true).len(), 1);
    assert_eq!(network.bearers.cell_of(UeId(0)), Some(best));
}

#[test]
fn smaller_dch_without_a_free_code_after_an_hs_dsch_fails_at_the_next_measurement() {
    let mut network = Network::with_shadows(&Groups { switched: 1, ..Groups::default() }, None);
    let Network { bearers, codes, solver, .. } = &mut network;
    let (ue, cell) = (UeId(0), bearers.users[0].at.main.cell);
    bearers.allocate(codes, &solver.before, ue, HS_DSCH);
    bearers.users[0].downlink = Downlink::HsDsch;
    let taken: Vec<Code> = std::iter::from_fn(|| codes.take(cell, 64)).collect();
    bearers.change(codes, ue, SMALL);
    bearers.users[0].downlink = Downlink::Dch;
    assert!(!bearers.users[0].has_code);
    let changes: Vec<_> = network.measure(0, |_| true).iter().map(|handover| handover.change).collect();
    assert_eq!(changes, [CellChange::DchLost]);
    assert_eq!(network.codes.used(cell.index()), taken.len() as f64 / 64.0);
}
