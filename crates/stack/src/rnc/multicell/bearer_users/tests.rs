//! Sums of powers and of codes over users of DCHs, of HS-DSCHs, of the FACH, and of all of these in
//! turn.

use proptest::prelude::*;
use umts_kernel::random::Streams;
use umts_units::Db;

use super::*;
use crate::environment::Legs;
use crate::radio::phy::sir::CHIP_RATE;
use crate::rnc::multicell::mobility::Mobility;
use crate::rnc::multicell::power_solver::{HsDschPower, Receivers};
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

/// Users at 50 km/h, in the order of the groups.
fn users(
    groups: &Groups,
    environment: &Environment,
    codes: &mut DchCodes,
    associated: Option<AssociatedConfig>,
    soft: Option<SoftHandover>,
) -> BearerUsers {
    let mobility = MobilityConfig::Legs(Legs::vehicular(50.0 / 3.6));
    let config = |factor: u16| DchUserConfig {
        processing: CHIP_RATE / (64e3 * 32.0 / f64::from(factor)),
        spreading_factor: factor,
        target: 1.7,
        errors: LinkTable::logistic(2.25, 2.5).into(),
    };
    let dch = |factor: u16| DownlinkConfig::from(config(factor));
    let permanent = groups.factors.iter().map(|&factor| (vec![dch(factor)], false));
    let on_fach = std::iter::repeat_n((Vec::new(), false), groups.on_fach);
    let on_hs_dsch = std::iter::repeat_n((vec![DownlinkConfig::HsDsch], false), groups.on_hs_dsch);
    let of_rrc = vec![DownlinkConfig::HsDsch, dch(16), dch(64)];
    let switched = std::iter::repeat_n((of_rrc, true), groups.switched);
    let channels = permanent.chain(on_fach).chain(on_hs_dsch).chain(switched);
    let placed = (0..).map(UeId).zip(channels).map(|(ue, (dchs, is_switched))| PlacedUser {
        ue,
        mobility: mobility.clone(),
        dchs,
        is_switched,
    });
    let mut users = BearerUsers::none(HANDOVER, active_sets(soft, WithoutCode::Kept));
    let powers = [10.0; CELLS];
    users.associated = associated.as_ref().map(Dpch::associated);
    let associated = users.associated;
    users.users =
        placed.map(|of| BearerUser::new(&of, environment, (&mut *codes, associated), &powers)).collect();
    users.sccpch = Some(SccpchConfig {
        power: 2_000.0,
        code: SCCPCH,
        processing: CHIP_RATE / 32e3,
        errors: LinkTable::logistic(5.0, 2.5).into(),
    });
    users.period = PERIOD;
    users
}

/// What RRC does with a switched user.
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
    /// The number of the channel in use. On the FACH that of the smallest DCH.
    fn channel(self) -> usize {
        if let Step::On(channel) = self { channel } else { SMALL }
    }

    fn is_switching(self) -> bool {
        matches!(self, Step::To(_) | Step::ChangesTo(_) | Step::ToFach)
    }

    /// The next step of user `ue`, if RRC takes it now. Requests are refused if a cell has no code.
    fn next(self, bearers: &mut BearerUsers, codes: &mut DchCodes, powers: &[f64], ue: UeId) -> Step {
        let cell = bearers.cell_of(ue).expect("it is in the layout");
        let may_have = |bearers: &BearerUsers, codes: &DchCodes, channel: &usize| {
            bearers.has_free_codes(codes, ue, cell, *channel)
        };
        // A third of the requests finds the HS-DSCH with its most users.
        let first = if (ue.0 + self.channel() as u16).is_multiple_of(3) { LARGE } else { HS_DSCH };
        match self {
            Step::OnFach => {
                let granted = (first..=SMALL).find(|channel| may_have(bearers, codes, channel));
                let Some(channel) = granted else { return self };
                bearers.allocate(codes, powers, ue, channel);
                Step::To(channel)
            }
            Step::To(channel) | Step::ChangesTo(channel) => {
                if let Step::ChangesTo(_) = self {
                    bearers.change(codes, ue, channel);
                }
                let user = bearers.of_ue_mut(ue).expect("it is in the layout");
                user.downlink = user.dchs[channel].kind();
                Step::On(channel)
            }
            // UEs with an even number change to the smallest DCH, and others to a larger channel if they find
            // one. A smaller DCH needs no allocation: it has room in the code that the change of a DCH releases.
            Step::On(channel) if channel != SMALL && ue.0.is_multiple_of(2) => Step::ChangesTo(SMALL),
            Step::On(channel) => match (first..channel).find(|larger| may_have(bearers, codes, larger)) {
                Some(larger) => {
                    bearers.allocate(codes, powers, ue, larger);
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
}

/// Checks that the codes in use in `cell` are those of its links and of the DCHs that RRC has
/// allocated, and that none meets a code of the S-CCPCH or of the HS-DSCH.
fn check_codes(
    bearers: &BearerUsers,
    codes: &DchCodes,
    fixed: &FixedCodes,
    cell: usize,
) -> Result<(), TestCaseError> {
    let mut share = 0.0;
    for user in &bearers.users {
        let next = user.granted.next.as_ref().map(|next| next.codes.as_slice()).unwrap_or_default();
        // An HS-DSCH has at most one code.
        prop_assert!(next.len() <= 1 || next.len() == user.at.legs().count());
        prop_assert!(user.downlink != Downlink::HsDsch || user.at.further.is_empty());
        let held = user.at.legs().filter(|_| user.has_code).map(|leg| (leg.cell, leg.code));
        let allocated = user.at.legs().zip(next).map(|(leg, code)| (leg.cell, *code));
        for (_, code) in held.chain(allocated).filter(|(of, _)| of.index() == cell) {
            share += 1.0 / f64::from(code.spreading_factor);
            prop_assert!(fixed.has_free(code));
        }
    }
    prop_assert_eq!(codes.used(cell), share);
    Ok(())
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
        let config = DchConfig { codes: CodeLimit::OneTree, ..DchConfig::default() };
        let fixed = FixedCodes::new(&config, Some(DSCH), Some(SCCPCH));
        let fixed = fixed.with_hs_dsch(pdschs, 2).expect("there is room");
        let mut codes = DchCodes::new(&config, &fixed, CELLS);
        let soft = is_soft.then(SoftHandover::default);
        let first_switched = factors.len() + on_fach + on_hs_dsch;
        let groups = Groups { factors, on_fach, on_hs_dsch, switched };
        let associated = is_charged.then(AssociatedConfig::default);
        let mut bearers = users(&groups, &environment, &mut codes, associated, soft);
        bearers.sets.without = if is_dropped { WithoutCode::Dropped } else { WithoutCode::Kept };
        let mut steps = vec![Step::OnFach; switched];
        let sccpch_power = bearers.sccpch.as_ref().map_or(0.0, |sccpch| sccpch.power);
        let mobility = Mobility::new(environment, HANDOVER, &[], PERIOD);
        let mut calls = VoiceCalls::none();
        // With a limit of 13 dBm for a DCH.
        let dch_max = has_limit.then_some(20.0);
        let power = PowerConfig { control, dch_max, ..PowerConfig::default() };
        let mut solver = PowerSolver::new(power, CELLS);
        let mut handovers = VecDeque::new();
        for turn in 0..40 {
            let now = Time::ZERO + TURN * turn;
            let step_of = |ue: UeId| ue.index().checked_sub(first_switched).map(|number| steps[number]);
            let can_change_cell = |ue: UeId| step_of(ue).is_none_or(|step| !step.is_switching());
            bearers.measure(MeasuredTurn { now, number: turn }, &mobility.environment, &mut codes, &solver.before, can_change_cell, &mut handovers);
            for handover in handovers.drain(..) {
                let is_lost = handover.change == CellChange::DchLost;
                if let Some(number) = handover.ue.index().checked_sub(first_switched).filter(|_| is_lost) {
                    steps[number] = Step::ToFach;
                }
            }
            for (number, step) in steps.iter_mut().enumerate() {
                // Each user takes its steps at times of its own.
                if (turn + number as u64 + seed).is_multiple_of(3) {
                    let ue = UeId((first_switched + number) as u16);
                    *step = step.next(&mut bearers, &mut codes, &solver.before, ue);
                }
            }
            // A user on the FACH has data in every third turn. Users with a code for their DCH, also beside an
            // HS-DSCH, always have data, except the permanent user that `silent` selects.
            for (number, user) in bearers.users.iter_mut().enumerate() {
                user.is_sent = match user.downlink {
                    Downlink::Fach => number as u64 % 3 == turn % 3,
                    Downlink::Dch | Downlink::HsDsch => {
                        user.has_code && number != silent.index(groups.factors.len())
                    }
                };
            }
            solver.begin();
            // The HS-DSCH of a cell is on for 0, 1/3, 2/3 and all of successive turns.
            for (cell, hs_dsch) in solver.hs_dschs.iter_mut().enumerate() {
                *hs_dsch = HsDschPower { max: hs_max, share: ((turn + cell as u64) % 4) as f64 / 3.0, sending: 0.0 };
            }
            bearers.add_links(&mut solver);
            solver.add_up();
            solver.control(Receivers { calls: &calls, mobility: &mobility, bearers: &bearers });
            if control == PowerControl::Steps {
                crate::rnc::multicell::steps::follow_commands(&mut solver, &mut calls, &mut bearers, TURN);
            }
            solver.measure(Receivers { calls: &calls, mobility: &mobility, bearers: &bearers });
            let links = || solver.links(LinkKind::Dch).iter().chain(solver.links(LinkKind::DchLeg));
            let associated = solver.links(LinkKind::AssociatedDch);
            for (cell, &total) in solver.powers.iter().enumerate() {
                let of_cell = links().chain(associated).filter(|of| of.cell.index() == cell);
                let sent: f64 = of_cell.map(|of| of.power_mw).sum();
                let has_fach_data = bearers.users.iter().any(|user| {
                    user.downlink == Downlink::Fach && user.is_sent && user.at.main.cell.index() == cell
                });
                let common = power.common + if has_fach_data { sccpch_power } else { 0.0 };
                let hs_dsch = &solver.hs_dschs[cell];
                prop_assert!((0.0..=hs_max).contains(&hs_dsch.sending));
                let common = common + hs_dsch.mean();
                prop_assert!((common + sent - total).abs() < 1e-9 * total, "cell {cell}: {sent}, {total}");
                prop_assert!(total <= power.max * (1.0 + 1e-9));
                check_codes(&bearers, &codes, &fixed, cell)?;
            }
            let legs: usize = bearers.powered().map(|dch| dch.at.legs().count()).sum();
            prop_assert_eq!(links().count(), legs);
            let on_hs_dsch = bearers.users.iter().filter(|user| user.downlink == Downlink::HsDsch);
            prop_assert_eq!(associated.len(), on_hs_dsch.filter(|user| user.is_sent).count());
            prop_assert!(is_charged || associated.is_empty());
            solver.end();
        }
        // Without channels of switched users, the permanent channels have all codes that are in use.
        for ue in (first_switched..first_switched + switched).map(|ue| UeId(ue as u16)) {
            bearers.release(&mut codes, ue);
        }
        for cell in 0..CELLS {
            check_codes(&bearers, &codes, &fixed, cell)?;
            prop_assert!(bearers.users[first_switched..].iter().all(|user| !user.has_code && user.granted.next.is_none()));
        }
    }
}

/// A user of an HS-DSCH in a cell that is not its best one. The cells have 23 codes of spreading factor 32 for DCHs.
fn user_of_a_worse_cell(
    environment: &Environment,
    codes: &mut DchCodes,
    associated: Option<AssociatedConfig>,
) -> (BearerUsers, CellId) {
    let groups = Groups { on_hs_dsch: 1, ..Groups::default() };
    let mut bearers = users(&groups, environment, codes, associated, None);
    let best = bearers.users[0].at.main.cell;
    let worse = CellId((best.0 + 18) % CELLS as u16);
    if bearers.users[0].has_code {
        codes.release(best, bearers.users[0].at.main.code);
    }
    bearers.users[0].at.main = without_code(worse);
    bearers.users[0].has_code = false;
    if let Some(dpch) = bearers.associated {
        bearers.users[0].take_code(codes, dpch.spreading_factor, &[10.0; CELLS]);
    }
    (bearers, best)
}

fn limited_codes() -> DchCodes {
    let config = DchConfig { codes: CodeLimit::OneTree, ..DchConfig::default() };
    DchCodes::new(&config, &FixedCodes::new(&config, Some(DSCH), None), CELLS)
}

#[test]
fn user_of_an_hs_dsch_changes_to_a_cell_that_is_better_by_the_hysteresis() {
    let environment = environment_with(Db(8.0), &Streams::new(1, 0));
    for associated in [None, Some(AssociatedConfig::default())] {
        let mut codes = limited_codes();
        let (mut bearers, best) = user_of_a_worse_cell(&environment, &mut codes, associated);
        let worse = bearers.users[0].at.main.cell;
        let mut handovers = VecDeque::new();
        let mut measure = |may_change: bool, bearers: &mut BearerUsers, codes: &mut DchCodes| {
            let powers = [10.0; CELLS];
            bearers.measure(
                MeasuredTurn { now: Time::ZERO, number: 0 },
                &environment,
                codes,
                &powers,
                |_| may_change,
                &mut handovers,
            );
            handovers
                .drain(..)
                .map(|handover| (handover.from, handover.to, handover.change))
                .collect::<Vec<_>>()
        };
        assert_eq!(measure(false, &mut bearers, &mut codes), []);
        assert_eq!(measure(true, &mut bearers, &mut codes), [(worse, best, CellChange::Hard)]);
        assert_eq!(measure(true, &mut bearers, &mut codes), []);
        // The code of the DCH beside the HS-DSCH moves with it.
        let used = associated.map_or(0.0, |dch| 1.0 / f64::from(dch.spreading_factor));
        assert_eq!([worse, best].map(|cell| codes.used(cell.index())), [0.0, used]);
    }
}

#[test]
fn user_of_an_hs_dsch_stays_in_its_cell_while_the_better_one_has_no_code() {
    let environment = environment_with(Db(8.0), &Streams::new(1, 0));
    let (mut codes, associated) = (limited_codes(), AssociatedConfig::default());
    let (mut bearers, best) = user_of_a_worse_cell(&environment, &mut codes, Some(associated));
    let worse = bearers.users[0].at.main.cell;
    let taken: Vec<Code> = std::iter::from_fn(|| codes.take(best, associated.spreading_factor)).collect();
    let mut handovers = VecDeque::new();
    let powers = [10.0; CELLS];
    bearers.measure(
        MeasuredTurn { now: Time::ZERO, number: 0 },
        &environment,
        &mut codes,
        &powers,
        |_| true,
        &mut handovers,
    );
    assert_eq!((bearers.cell_of(UeId(0)), handovers.len()), (Some(worse), 0));
    codes.release(best, taken[0]);
    bearers.measure(
        MeasuredTurn { now: Time::ZERO, number: 0 },
        &environment,
        &mut codes,
        &powers,
        |_| true,
        &mut handovers,
    );
    assert_eq!((bearers.cell_of(UeId(0)), handovers.len()), (Some(best), 1));
}

#[test]
fn smaller_dch_without_a_free_code_after_an_hs_dsch_fails_at_the_next_measurement() {
    let environment = environment_with(Db(8.0), &Streams::new(1, 0));
    let mut codes = limited_codes();
    let groups = Groups { switched: 1, ..Groups::default() };
    let mut bearers = users(&groups, &environment, &mut codes, None, None);
    let (ue, powers) = (UeId(0), [10.0; CELLS]);
    let cell = bearers.users[0].at.main.cell;
    bearers.allocate(&mut codes, &powers, ue, HS_DSCH);
    bearers.users[0].downlink = Downlink::HsDsch;
    let taken: Vec<Code> = std::iter::from_fn(|| codes.take(cell, 64)).collect();
    bearers.change(&mut codes, ue, SMALL);
    bearers.users[0].downlink = Downlink::Dch;
    assert!(!bearers.users[0].has_code);
    let mut handovers = VecDeque::new();
    bearers.measure(
        MeasuredTurn { now: Time::ZERO, number: 0 },
        &environment,
        &mut codes,
        &powers,
        |_| true,
        &mut handovers,
    );
    assert_eq!(handovers.pop_front().map(|handover| handover.change), Some(CellChange::DchLost));
    assert_eq!(codes.used(cell.index()), taken.len() as f64 / 64.0);
}
