//! Tests of downlink power against cases calculated by hand, against the exact solution of the
//! linear equations for random networks, and of both loops of power control.

use proptest::prelude::*;
use umts_kernel::random::Streams;

use super::*;
use crate::radio::phy::LinkTable;

fn linear(db: f64) -> f64 {
    libm::exp10(db / 10.0)
}

fn dbm(milliwatts: f64) -> f64 {
    10.0 * libm::log10(milliwatts)
}

/// The default parameters (om = 0.4, noise -99 dBm, pilot 10 mW, limit 43 dBm) with ideal control.
fn power() -> PowerConfig {
    PowerConfig { control: PowerControl::Ideal, ..PowerConfig::default() }
}

/// A user at `kbps` kbit/s with this target Eb/N0 and path loss from its cell, without
/// interference.
fn user(kbps: f64, target_db: f64, loss_db: f64) -> Link {
    let processing = crate::radio::phy::sir::CHIP_RATE / (kbps * 1000.0);
    Link { processing, target: linear(target_db), gain: linear(-loss_db), interference: 0.0 }
}

/// The gains of a user from cells 0 and 1, with the cells' numbers.
fn gains_from_two_cells(first: f64, second: f64) -> impl Iterator<Item = (usize, f64)> {
    [first, second].into_iter().enumerate()
}

/// A user that receives f times as much power from other cells as from its own.
#[derive(Clone, Copy)]
struct InterferedUser {
    /// The link without interference.
    link: Link,
    f: f64,
}

/// The links and the load of a cell with these users. The interference is proportional to the total
/// power, which depends on the interference: 200 iterations are more than enough.
fn with_interference(power: &PowerConfig, users: &[InterferedUser]) -> (Vec<Link>, Load) {
    let mut links: Vec<Link> = users.iter().map(|user| user.link).collect();
    let load_of =
        |links: &[Link]| links.iter().fold(Load::default(), |load, link| load.with(Load::of(power, link)));
    let mut total = power.common;
    for _ in 0..200 {
        for (link, user) in links.iter_mut().zip(users) {
            link.interference = user.f * total * link.gain;
        }
        total = load_of(&links).total(power.common).unwrap();
    }
    let load = load_of(&links);
    (links, load)
}

/// Three calls of 64 kbit/s with a target of 2.25 dB, near the cell to far from it.
fn three_calls() -> Vec<InterferedUser> {
    let call = |loss_db, f| InterferedUser { link: user(64.0, 2.25, loss_db), f };
    vec![call(120.0, 0.2), call(130.0, 1.0), call(135.0, 2.0)]
}

/// Load factor by hand for W1: G = 60 / 1.679 = 35.74, and
/// eta = sum (om + f) / (G + om) = (0.6 + 1.4 + 2.4) / 36.14 = 0.12175. W2 and W3 add a DSCH user.
#[test]
fn one_cell_agrees_with_the_cases_calculated_by_hand() {
    let power = power();
    // Name, DSCH user, load factor, total power in mW and in dBm.
    let cases = [
        ("W1", None, 0.12175, 180.445, 22.5635),
        ("W2", Some(user(128.0, 2.9, 130.0)), 0.21044, 301.719, 24.7960),
        ("W3", Some(user(256.0, 2.6, 130.0)), 0.28373, 424.605, 26.2799),
    ];
    for (name, dsch_user, load_factor, total_mw, total_dbm) in cases {
        let mut users = three_calls();
        users.extend(dsch_user.map(|link| InterferedUser { link, f: 1.0 }));
        let (links, load) = with_interference(&power, &users);
        let sent = load.sent(&power);
        assert!((dbm(sent.total) - total_dbm).abs() < 1e-4, "{name}: {} dBm", dbm(sent.total));
        assert!((sent.total - total_mw).abs() < 1e-3, "{name}: {} mW", sent.total);
        assert!(
            (load.factor(sent.total) - load_factor).abs() < 1e-5,
            "{name}: eta {}",
            load.factor(sent.total)
        );
        // Below its limit a cell has eta = 1 - (P_c + sum L_i P_N / (G_i + om)) / P_T.
        let without_interference = power.common + load.outside - load.others;
        assert!((load.factor(sent.total) - (1.0 - without_interference / sent.total)).abs() < 1e-9, "{name}");
        let powers: Vec<f64> = links.iter().map(|link| sent.power_of(&power, link)).collect();
        assert!((powers.iter().sum::<f64>() + power.common - sent.total).abs() < 1e-9, "{name}");
        if name == "W1" {
            for (actual, expected) in powers.iter().zip([6.4793, 41.825, 122.141]) {
                assert!((actual - expected).abs() < 1e-3, "{actual} instead of {expected} mW");
            }
        }
    }
}

/// Two cells with 20 equal calls each. By hand, with G = 35.74: a = 20 om / (G + om) = 0.2214 for
/// the own cell, 0.6 / 0.4 times as much for the other one, b + P_c = 230.3 mW, and P = 230.3 / (1
/// - 0.2214 - 0.3320) = 515.7 mW = 27.124 dBm for each.
#[test]
fn two_coupled_cells_converge_from_any_start() {
    let power = power();
    let mut coupled = Coupled::new(2);
    let link = user(64.0, 2.25, 125.0);
    let gain_from_other = 0.6 * link.gain;
    for _ in 0..20 {
        coupled.add(&power, 0, &link, gains_from_two_cells(link.gain, gain_from_other));
        coupled.add(&power, 1, &link, gains_from_two_cells(gain_from_other, link.gain));
    }
    assert!((coupled.coupling[0] - 0.221363).abs() < 1e-6 && (coupled.coupling[1] - 0.332045).abs() < 1e-6);
    assert!((coupled.noise[0] + power.common - 230.316).abs() < 1e-3);
    for start in [[1e-9, 1e-9], [10.0, 10.0], [linear(43.0), 10.0], [1e9, 1e9]] {
        let mut powers = start;
        coupled.solve(&[power; 2], &mut powers);
        for sent in powers {
            assert!((dbm(sent) - 27.1241).abs() < 1e-4, "from {start:?}: {} dBm", dbm(sent));
        }
    }
}

/// Solves a system of linear equations by Gaussian elimination with partial pivoting.
fn solve_exactly(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for at in 0..n {
        let pivot = (at..n).max_by(|&a, &b| matrix[a][at].abs().total_cmp(&matrix[b][at].abs())).unwrap();
        matrix.swap(at, pivot);
        right.swap(at, pivot);
        let (row, value) = (matrix[at].clone(), right[at]);
        for below in at + 1..n {
            let factor = matrix[below][at] / row[at];
            matrix[below].iter_mut().zip(&row).for_each(|(a, b)| *a -= factor * b);
            right[below] -= factor * value;
        }
    }
    for at in (0..n).rev() {
        let known: f64 = (at + 1..n).map(|k| matrix[at][k] * right[k]).sum();
        right[at] = (right[at] - known) / matrix[at][at];
    }
    right
}

const CELLS: usize = 5;

/// A user of a cell, with its gains from all cells.
#[derive(Debug, Clone)]
struct LayoutUser {
    cell: usize,
    link: Link,
    gains: Vec<f64>,
}

/// Fewer than `limit` users, each in the cell from which it has the largest gain.
fn layout_users(limit: usize) -> impl Strategy<Value = Vec<LayoutUser>> {
    let kbps = prop::sample::select(vec![16.0, 64.0, 128.0, 256.0]);
    let user_of = (0..CELLS, kbps, 1.0..4.0, prop::collection::vec(95.0..140.0, CELLS)).prop_map(
        |(cell, kbps, target, mut losses): (usize, f64, f64, Vec<f64>)| {
            let smallest = losses.iter().copied().fold(f64::INFINITY, f64::min);
            losses[cell] = smallest;
            let gains = losses.iter().map(|loss| linear(-loss)).collect();
            LayoutUser { cell, link: user(kbps, target, smallest), gains }
        },
    );
    prop::collection::vec(user_of, 1..limit)
}

/// The equations of the cells with these users.
fn equations(power: &PowerConfig, users: &[LayoutUser]) -> Coupled {
    let mut coupled = Coupled::new(CELLS);
    for user in users {
        coupled.add(power, user.cell, &user.link, user.gains.iter().copied().enumerate());
    }
    coupled
}

/// The link of a user, with the interference at these transmit powers of the cells.
fn link_of(user: &LayoutUser, powers: &[f64]) -> Link {
    let others = (0..CELLS).filter(|&cell| cell != user.cell);
    Link { interference: others.map(|cell| powers[cell] * user.gains[cell]).sum(), ..user.link }
}

proptest! {
    /// Below the limit the solution equals the solution of the linear equations, and each
    /// recomputed Eb/N0 is its target. No cell exceeds the limit, a cell at the limit serves all
    /// users with the same factor, and the iteration terminates.
    #[test]
    fn ideal_control_solves_the_equations(users in layout_users(60)) {
        let power = power();
        let coupled = equations(&power, &users);
        let mut powers = vec![power.common; CELLS];
        coupled.solve(&[power; CELLS], &mut powers);
        prop_assert!(powers.iter().all(|&sent| sent <= power.max && sent >= power.common));
        let rows = coupled.coupling.chunks(CELLS).enumerate();
        // The matrix I - A.
        let unit = |k: usize, j: usize| f64::from(u8::from(k == j));
        let matrix = rows.map(|(k, row)| row.iter().enumerate().map(|(j, a)| unit(k, j) - a).collect()).collect();
        let linear_solution = solve_exactly(matrix, coupled.noise.iter().map(|b| b + power.common).collect());
        if linear_solution.iter().all(|&sent| sent > 0.0 && sent < power.max * 0.999) {
            for (sent, exact) in powers.iter().zip(&linear_solution) {
                prop_assert!((dbm(*sent) - dbm(*exact)).abs() < 1e-4, "{} instead of {}", sent, exact);
            }
        }
        // In each cell the powers of the users add up, and at the limit no user reaches its target.
        for cell in 0..CELLS {
            let links: Vec<Link> = users.iter().filter(|user| user.cell == cell).map(|user| link_of(user, &powers)).collect();
            let load = links.iter().fold(Load::default(), |load, link| load.with(Load::of(&power, link)));
            let sent = load.sent(&power);
            let user_power: f64 = links.iter().map(|link| sent.power_of(&power, link)).sum();
            prop_assert!((user_power + power.common - sent.total).abs() < 1e-6 * sent.total);
            prop_assert!(sent.factor <= 1.0 + 1e-12);
            for link in links {
                let own = sent.power_of(&power, &link);
                let achieved = link.achieved(power.own_share, power.noise, sent.total, own);
                if sent.factor == 1.0 {
                    prop_assert!((dbm(achieved) - dbm(link.target)).abs() < 1e-4);
                } else {
                    prop_assert!(achieved < link.target);
                }
            }
        }
    }
}

#[test]
fn unservable_load_is_sent_at_the_power_limit() {
    let power = power();
    let link = user(256.0, 2.0, 120.0);
    // 100 users of 256 kbit/s: their own interference alone (sum om / (G + om)) exceeds 1.
    let load = (0..100).fold(Load::default(), |load, _| load.with(Load::of(&power, &link)));
    assert!(load.own > 1.0 && load.total(power.common).is_none() && !load.fits(&power));
    let sent = load.sent(&power);
    assert_eq!(sent.total, power.max);
    assert!((100.0 * sent.power_of(&power, &link) + power.common - power.max).abs() < 1e-6);
    assert!(load.factor(sent.total) > 1.0);
    // Two such cells increase each other's power up to the limit, and the iteration terminates.
    let mut coupled = Coupled::new(2);
    for cell in [0, 1].repeat(100) {
        coupled.add(&power, cell, &link, gains_from_two_cells(link.gain, link.gain));
    }
    let mut powers = [10.0; 2];
    coupled.solve(&[power; 2], &mut powers);
    assert_eq!(powers, [power.max; 2]);
}

#[test]
fn dch_power_respects_its_own_limit() {
    let power = PowerConfig { dch_max: Some(linear(20.0)), ..power() };
    let sent = Sent { total: 2000.0, factor: 1.0 };
    // A path loss of 150 dB would need much more than the limit of 20 dBm, one of 100 dB less.
    assert_eq!(power.dch_power(&sent, &user(64.0, 2.25, 150.0)), linear(20.0));
    let close_user = user(64.0, 2.25, 100.0);
    assert_eq!(power.dch_power(&sent, &close_user), sent.power_of(&power, &close_user));
}

#[test]
fn inner_loop_stays_within_two_steps_of_its_target() {
    let (power, link) = (power(), user(64.0, 2.25, 120.0));
    // mW of the cell's other users, which interfere.
    let other_power = 500.0;
    let mut inner = InnerLoop::new(0.01);
    let mut errors_db = Vec::new();
    for _ in 0..200 {
        let ebn0 = link.achieved(power.own_share, power.noise, inner.power + other_power, inner.power);
        errors_db.push(dbm(ebn0) - 2.25);
        inner.handle_slot(ebn0, link.target, linear(power.step_db));
    }
    // The Eb/N0 rises by one dB per slot, except in the first, in which no command takes effect
    // yet. Then it alternates around the target.
    let rises =
        errors_db.windows(2).take_while(|pair| (pair[1] - pair[0] - 1.0).abs() < 1e-9 || pair[1] == pair[0]);
    assert!(rises.count() > 10, "{errors_db:?}");
    assert!(errors_db[100..].iter().all(|error| error.abs() <= 2.0), "{errors_db:?}");
}

#[test]
fn outer_loop_keeps_one_percent_of_errors() {
    let config = OuterLoopConfig { up_db: 0.5, ratio: 0.01 };
    let table = LinkTable::logistic(2.25, 2.5);
    let draws = Streams::new(1, 0).addressed("blocks");
    // The initial Eb/N0 is 1.5 dB below the 1 % point of the table. The loop adds about 1.5 dB.
    let (mut outer, mut lost) = (OuterLoop::default(), 0_u32);
    let (warm_up, blocks) = (20_000_u32, 400_000_u32);
    for block in 0..warm_up + blocks {
        let ebn0 = linear(2.25 - 1.5) * outer.factor();
        let lost_now = table.losses(draws.tti(u64::from(block)), 0, 1, ebn0).count();
        lost += if block >= warm_up { lost_now } else { 0 };
        outer.handle_blocks(&config, 1, lost_now);
    }
    let ratio = f64::from(lost) / f64::from(blocks);
    let standard_error = (0.01_f64 * 0.99 / f64::from(blocks)).sqrt();
    assert!((ratio - 0.01).abs() < 3.0 * standard_error, "{ratio}");
    let offset_db = dbm(outer.factor());
    assert!((offset_db - 1.5).abs() < 1.5, "{offset_db}");
}
