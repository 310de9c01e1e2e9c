//! Sums of powers and of codes over users of DCHs, of the FACH, and of both in turn, beside
//! HS-DSCHs.

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
use crate::rnc::multicell::{CodeLimit, DchConfig, FixedCodes, WithoutCode};
use crate::rnc::rrc::SoftHandover;

const DSCH: Code = Code { spreading_factor: 4, number: 3 };
/// Time between two turns.
const TURN: Duration = Duration::from_millis(20);
/// Turns between two measurements of a user: 100 ms.
const PERIOD: u64 = 5;

const SCCPCH: Code = Code { spreading_factor: 32, number: 1 };

/// Spreading factors of the DCHs of a switched user, the larger DCH first.
const SWITCHED: [u16; 2] = [16, 64];

/// Users at 50 km/h: each of `factors` is a user with a DCH of that spreading factor. `on_fach`
/// users stay on the FACH, and RRC switches `switched` users.
fn users(
    (factors, on_fach, switched): (&[u16], usize, usize),
    environment: &Environment,
    codes: &mut DchCodes,
    soft: Option<SoftHandover>,
) -> BearerUsers {
    let mobility = MobilityConfig::Legs(Legs::vehicular(50.0 / 3.6));
    let config = |factor: u16| DchUserConfig {
        processing: CHIP_RATE / (64e3 * 32.0 / f64::from(factor)),
        spreading_factor: factor,
        target: 1.7,
        errors: LinkTable::logistic(2.25, 2.5).into(),
    };
    let dch = |factor: u16| Arc::new(config(factor));
    let permanent = factors.iter().map(|&factor| (vec![dch(factor)], false));
    let on_fach = std::iter::repeat_n((Vec::new(), false), on_fach);
    let switched = std::iter::repeat_n((SWITCHED.map(dch).to_vec(), true), switched);
    let channels = permanent.chain(on_fach).chain(switched);
    let placed = (0..).map(UeId).zip(channels).map(|(ue, (dchs, is_switched))| PlacedUser {
        ue,
        mobility: mobility.clone(),
        dchs,
        is_switched,
    });
    let mut users = BearerUsers::none(HANDOVER, active_sets(soft, WithoutCode::Kept));
    let powers = [10.0; CELLS];
    users.users = placed.map(|of| BearerUser::new(&of, environment, codes, &powers)).collect();
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
    /// Switches to this DCH, which is granted.
    ToDch(usize),
    OnDch(usize),
    /// Changes from this DCH to the other one.
    Changes(usize),
    ToFach,
}

impl Step {
    fn is_switching(self) -> bool {
        matches!(self, Step::ToDch(_) | Step::Changes(_) | Step::ToFach)
    }

    /// The next step of user `ue`, if RRC takes it now. Requests are refused if a cell has no code.
    fn next(self, bearers: &mut BearerUsers, codes: &mut DchCodes, powers: &[f64], ue: UeId) -> Step {
        let cell = bearers.cell_of(ue).expect("it is in the layout");
        let may_have = |bearers: &BearerUsers, codes: &DchCodes, dch| {
            bearers.has_free_codes(codes, ue, cell, dch).then_some(dch)
        };
        match self {
            Step::OnFach => {
                let granted = [0, 1].into_iter().find_map(|dch| may_have(bearers, codes, dch));
                let Some(dch) = granted else { return self };
                bearers.allocate(codes, powers, ue, dch);
                Step::ToDch(dch)
            }
            Step::ToDch(dch) => {
                bearers.of_ue_mut(ue).expect("it is in the layout").downlink = Downlink::Dch;
                Step::OnDch(dch)
            }
            Step::OnDch(1) => match may_have(bearers, codes, 0) {
                Some(larger) => {
                    bearers.allocate(codes, powers, ue, larger);
                    Step::Changes(1)
                }
                None => Step::ToFach,
            },
            // From the larger DCH, UEs with an even number change to the smaller one, and others to
            // the FACH. A smaller DCH needs no allocation: it has room in the code that the change
            // releases.
            Step::OnDch(_) if ue.0.is_multiple_of(2) => Step::Changes(0),
            Step::OnDch(_) => Step::ToFach,
            Step::Changes(from) => {
                bearers.change(codes, ue, 1 - from);
                Step::OnDch(1 - from)
            }
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
        prop_assert!(next.is_empty() || next.len() == user.at.legs().count());
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
    /// its share of the turn, and of the codes that it sends, at most its limit. An HS-DSCH has at
    /// most its own limit. The codes in use are those of the legs and of DCHs that users are
    /// switching to, and none meets a code of the S-CCPCH or the HS-DSCH.
    #[test]
    fn powers_and_codes_of_each_cell_add_up(
        factors in prop::collection::vec((3_u32..8).prop_map(|level| 1_u16 << level), 1..80),
        (on_fach, switched) in (0_usize..40, 0_usize..80),
        control in prop::sample::select(vec![PowerControl::Frame, PowerControl::Ideal, PowerControl::Steps]),
        (is_soft, is_dropped) in (any::<bool>(), any::<bool>()),
        silent in any::<prop::sample::Index>(),
        has_limit in any::<bool>(),
        (pdschs, hs_max) in (0_u8..9, prop::sample::select(vec![0.0, 3_000.0, f64::INFINITY])),
        seed in 0_u64..1000,
    ) {
        let environment = environment_with(Db(8.0), &Streams::new(seed, 0));
        let config = DchConfig { codes: CodeLimit::OneTree, ..DchConfig::default() };
        let fixed = FixedCodes::new(&config, Some(DSCH), Some(SCCPCH));
        let fixed = fixed.with_hs_dsch(pdschs, 2).expect("there is room");
        let mut codes = DchCodes::new(&config, &fixed, CELLS);
        let soft = is_soft.then(SoftHandover::default);
        let mut bearers = users((&factors, on_fach, switched), &environment, &mut codes, soft);
        bearers.sets.without = if is_dropped { WithoutCode::Dropped } else { WithoutCode::Kept };
        let first_switched = factors.len() + on_fach;
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
            // A user on the FACH has data in every third turn. Users with a code for their DCH
            // always have data, except the permanent user that `silent` selects.
            for (number, user) in bearers.users.iter_mut().enumerate() {
                user.is_sent = match user.downlink {
                    Downlink::Fach => number as u64 % 3 == turn % 3,
                    Downlink::Dch => user.has_code && number != silent.index(factors.len()),
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
            for (cell, &total) in solver.powers.iter().enumerate() {
                let sent: f64 = links().filter(|of| of.cell.index() == cell).map(|of| of.power_mw).sum();
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
            solver.end();
        }
        // Without DCHs of switched users, the permanent DCHs have all codes that are in use.
        for ue in (first_switched..first_switched + switched).map(|ue| UeId(ue as u16)) {
            bearers.release(&mut codes, ue);
        }
        for cell in 0..CELLS {
            check_codes(&bearers, &codes, &fixed, cell)?;
            prop_assert!(bearers.users[first_switched..].iter().all(|user| !user.has_code && user.granted.next.is_none()));
        }
    }
}
