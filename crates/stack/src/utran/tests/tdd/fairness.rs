//! UEs of a TDD cell with equal load get equal capacity, whatever their numbers.

use super::*;

const USERS: u16 = 16;
const SEEDS: u64 = 12;
const FRAMES: u64 = 2_000;
/// SDUs of each user, of 1,000 octets or 26 PDUs.
const SDUS: u64 = 200;

/// Blocks sent by each of 16 UEs that always have SDUs to send, in a cell with more requests than
/// capacity. A grant ends after one SDU, so that a run has hundreds of grants.
fn granted(seed: u64) -> [f64; USERS as usize] {
    let layout = LayoutKind::HighChipRate.layout();
    let pattern = Some(layout.pattern("RUUUDDDDDDDDDDC").expect("it fits"));
    let grant = GrantConfig { sdus: 1, ..tdd().grant };
    let mut bench = Bench::new(TddConfig { pattern, grant, ..tdd() }, rlc(), USERS.into(), seed);
    for (id, ue) in (0..SDUS).flat_map(|_| 0..USERS).enumerate() {
        bench.sends(SentPacket { at_ms: 3, ue, direction: Direction::Uplink, id: id as u64, octets: 1000 });
    }
    let mut blocks = [0.0; USERS as usize];
    bench.frames(FRAMES);
    for (_, event) in &bench.trace {
        if let TraceEvent::CapacityReleased { ue, direction: Direction::Uplink, blocks: sent, .. } = event {
            blocks[ue.index()] += f64::from(*sent);
        }
    }
    // All SDUs of a UE would take more than 25 blocks each.
    assert!(blocks.iter().all(|&sent| sent < 25.0 * SDUS as f64), "SDUs are left at the end");
    blocks
}

/// Test of the users' means over independent runs, with the variance of one run estimated from these runs.
#[test]
fn sixteen_equal_uploads_get_equal_capacity_on_average() {
    let runs: Vec<_> = (1..=SEEDS).map(granted).collect();
    let n = SEEDS as f64;
    let means: Vec<f64> =
        (0..usize::from(USERS)).map(|ue| runs.iter().map(|run| run[ue]).sum::<f64>() / n).collect();
    let mean = means.iter().sum::<f64>() / f64::from(USERS);
    let squares =
        runs.iter().flat_map(|run| run.iter().zip(&means)).map(|(blocks, mean)| (blocks - mean).powi(2));
    let variance = squares.sum::<f64>() / (f64::from(USERS) * (n - 1.0));
    // Analysis of variance: if all users have the same mean, `spread` / 15 has an F distribution with 15
    // degrees of freedom (16 users - 1) and 176 (16 users · (12 runs - 1)). The limit is exceeded with a
    // probability of 0.1 %: 41.6 is 15 times that quantile.
    let spread = means.iter().map(|user_mean| (user_mean - mean).powi(2)).sum::<f64>() * n / variance;
    assert!(spread < 41.6, "{spread:.0}: {means:.0?}");
}
