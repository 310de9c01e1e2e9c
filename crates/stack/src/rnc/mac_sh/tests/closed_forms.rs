//! Schedulers of the DSCH with an outcome that is known in closed form, and TTIs with too little power.
//! The branch of the DSCH has room for two codes of spreading factor 8, so two users with large backlogs
//! send 16 blocks each in a TTI.

use std::cell::RefCell;

use super::*;

fn full_backlog(priority: SchedulerKind) -> MacShConfig {
    config(RatePolicy::FullBacklog, priority, 1.0, 300)
}

/// Simulates `ttis` TTIs. Returns the users served in each of them.
fn served(cell: &mut Cell, ttis: u32) -> Vec<Vec<u16>> {
    let serve = |_| {
        let rows = cell.tti(&[]);
        (0..).zip(rows).filter(|(_, row)| row.spreading_factor.is_some()).map(|(ue, _)| ue).collect()
    };
    (0..ttis).map(serve).collect()
}

/// Blocks that each user has sent, if `at_start` blocks waited at the start.
fn sent_blocks(cell: &Cell, at_start: u32) -> Vec<u32> {
    cell.users.iter().map(|user| at_start - user.sdus.iter().map(|sdu| sdu.blocks).sum::<u32>()).collect()
}

#[test]
fn round_robin_serves_all_users_equally() {
    let mut cell = Cell::new(full_backlog(SchedulerKind::RoundRobin));
    for _ in 0..5 {
        cell = cell.user(&[sdu(570, 10_000)]);
    }
    let turns = [vec![0, 1], vec![2, 3], vec![0, 4], vec![1, 2], vec![3, 4]];
    assert_eq!(served(&mut cell, 5), turns);
    // Two users with SF 8 are served in each TTI, 16 blocks each. Over 100 TTIs each of the five users
    // gets 2/5 of 100 · 16 blocks.
    served(&mut cell, 95);
    assert_eq!(sent_blocks(&cell, 10_000), [100 * 2 * 16 / 5; 5]);
}

#[test]
fn max_ci_serves_the_best_users_until_their_backlog_is_empty() {
    let mut cell = Cell::new(full_backlog(SchedulerKind::MaxCi));
    for loss in [110.0, 100.0, 105.0, 120.0] {
        cell = cell.user_at(loss, &[sdu(570, 64)]);
    }
    // Two users at a time send 64 blocks each in four TTIs, the nearer users first.
    let best = served(&mut cell, 8);
    assert_eq!(best[..4], [const { [1, 2] }; 4]);
    assert_eq!(sent_blocks(&cell, 64), [64, 64, 64, 64]);
}

#[test]
fn interference_counts_like_path_loss() {
    let mut cell = Cell::new(full_backlog(SchedulerKind::MaxCi));
    for loss in [100.0, 103.0, 101.0] {
        cell = cell.user_at(loss, &[sdu(570, 64)]);
    }
    // Interference as strong as the noise counts like another 3.01 dB of path loss.
    cell.users[0].interference = cell.power.noise;
    assert_eq!(served(&mut cell, 1), [vec![1, 2]]);
}

#[test]
fn proportional_fairness_gives_equal_users_equal_shares() {
    let mut cell = Cell::new(full_backlog(SchedulerKind::ProportionalFair));
    for _ in 0..5 {
        cell = cell.user(&[sdu(570, 100_000)]);
    }
    served(&mut cell, 1000);
    let sent = sent_blocks(&cell, 100_000);
    assert_eq!(sent.iter().sum::<u32>(), 1000 * 32);
    assert!(sent.iter().all(|blocks| blocks.abs_diff(6400) <= 32), "{sent:?}");
}

#[test]
fn a_mean_decays_in_closed_form() {
    // m(n) = memory · m(n - 1) + (1 - memory) · blocks, with 16 blocks in 50 TTIs and then none.
    let memory: f64 = 0.98;
    let mut credit = Credit::new(&credits(1.0).credit, 0);
    (1..=50).for_each(|tti| credit.serve(memory, tti, 16));
    let after_50 = 16.0 * (1.0 - memory.powi(50));
    assert!((credit.mean_served(memory, 50) - after_50).abs() < 1e-9);
    assert!((credit.mean_served(memory, 150) - after_50 * memory.powi(100)).abs() < 1e-9);
}

/// Spreading factor granted to a user at path loss `loss` dB that requests TF6, and the reason if it is
/// refused. Calls leave the fraction `power_left` of the cell's power.
fn outcome_of_far_user(loss: f64, power_left: f64) -> (Option<u16>, Option<Postponed>) {
    let mut cell = Cell::new(full_backlog(SchedulerKind::MaxCi)).user_at(loss, &[sdu(570, 100)]);
    cell.dchs.outside = cell.power.max * (1.0 - power_left);
    let row = cell.tti(&[])[0];
    assert_eq!(row.wanted, 6);
    (row.spreading_factor, cell.mac.refusals().first().map(|refusal| refusal.reason))
}

#[test]
fn the_rate_is_halved_until_power_is_enough() {
    // Power of a user: P = (ω P_T + L P_N) / (G + ω). ω = 0.4 is the part of the own cell's power that
    // interferes, P_T = 43 dBm the power of the cell, L = 130 dB the path loss, P_N the noise, and
    // G = chip rate / bit rate / target Eb/N0 = 3.84e6 / 256e3 / 1.43 = 10.5 for TF6. Interference and
    // noise need 732 + 115 mW for TF6, 393 + 62 mW for TF4, 215 + 34 mW for TF3, 121 + 19 mW for TF2,
    // and 68 + 11 mW for TF1.
    let table = [
        (0.10, Some(8), None),
        (0.03, Some(16), None),
        (0.015, Some(32), None),
        (0.008, Some(64), None),
        (0.005, Some(128), None),
        (0.003, None, Some(Postponed::Power)),
    ];
    for (power_left, spreading_factor, reason) in table {
        let outcome = outcome_of_far_user(130.0, power_left);
        assert_eq!(outcome, (spreading_factor, reason), "{power_left} of the power left");
    }
}

#[test]
fn interference_is_queried_only_with_codes_and_power_left() {
    let mut mac = MacSh::new(full_backlog(SchedulerKind::RoundRobin));
    let (power, since) = (power(), Time::ZERO);
    let mut candidates = Candidates::default();
    for ue in (0..5).map(UeId) {
        candidates.push(Candidate { gain: 1e-10, ..Candidate::new(ue, Bytes(4000), 100, Some(since)) }, []);
    }
    let mut queried_users = |outside: f64| {
        let users = RefCell::new(Vec::new());
        let interference = |ue: UeId| {
            users.borrow_mut().push(ue.0);
            0.0
        };
        let radio = Radio { power: &power, interference: &interference };
        let mut load = Load { outside, ..Load::default() };
        mac.schedule(Time::ZERO, 0, &candidates, &radio, &mut load);
        let reasons: Vec<_> = mac.refusals().iter().map(|refusal| refusal.reason).collect();
        (users.into_inner(), reasons)
    };
    // Two codes of SF 8 fill the branch, so the other three users are not queried. If calls need all of
    // the power, no user is.
    assert_eq!(queried_users(0.0), (vec![0, 1], vec![Postponed::Codes; 3]));
    assert_eq!(queried_users(power.max), (vec![], vec![Postponed::Power; 5]));
}
