//! Timeouts, TTI by TTI.

use super::*;

fn rows(mut cell: Cell, taken: &[&[u16]]) -> Vec<Row> {
    taken.iter().flat_map(|taken| cell.tti(taken)).collect()
}

#[test]
fn worked_cases() {
    let free: &[u16] = &[];
    let all: &[u16] = &[8, 8];
    let table = [
        // 75 ms are 3 whole TTIs. With 3, 2 and 1 TTIs left, 15/3 = 5, ⌈7/2⌉ = 4 and 3 blocks per TTI
        // are needed.
        (
            "S4",
            timeouts(75),
            vec![(0, 570, 15)],
            vec![free; 3],
            vec![granted(4, 16, 8), granted(3, 32, 4), granted(3, 32, 3)],
        ),
        // The SDU is due after 300 ms · 80/570 = 42.1 ms: 2, 1 and 0 TTIs are left. A late SDU requests
        // the largest format.
        (
            "S5",
            timeouts(300),
            vec![(0, 80, 2)],
            vec![all, all, free],
            vec![postponed(1), postponed(2), granted(6, 8, 2)],
        ),
        // 4 blocks are due in 100 ms · 342/570 = 60 ms (3 TTIs), and 15 blocks behind them in 100 ms (5
        // TTIs): max(⌈4/3⌉, ⌈19/5⌉) = 4 blocks per TTI.
        ("S6", timeouts(100), vec![(0, 342, 4), (0, 570, 15)], vec![free], vec![granted(3, 32, 4)]),
    ];
    for (name, config, sdus, taken, expected) in table {
        assert_eq!(rows(Cell::new(config).user(&sdus), &taken), expected, "{name}");
    }
}

#[test]
fn timeout_options_change_the_requested_format() {
    let reading = |change: fn(&mut TimeoutConfig), timeout| {
        let mut config = timeouts(timeout);
        change(&mut config.timeout);
        config
    };
    let table = [
        // The timeout of 300 ms applies to all sizes: 15 TTIs for 2 blocks.
        ("alike", reading(|timeout| timeout.of_size = None, 300), vec![(0, 80, 2)], 1),
        // Late, and only the remaining blocks are requested.
        ("rest", reading(|timeout| timeout.expired = Expired::RestOfSdu, 300), vec![(0, 20, 2)], 2),
        ("late", timeouts(300), vec![(0, 20, 2)], 6),
        // S6, but only its first SDU counts: ⌈4/3⌉ = 2.
        (
            "head",
            reading(|timeout| timeout.looks_at = LooksAt::Head, 100),
            vec![(0, 342, 4), (0, 570, 15)],
            2,
        ),
    ];
    for (name, config, sdus, wanted) in table {
        assert_eq!(Cell::new(config).user(&sdus).tti(&[])[0].wanted, wanted, "{name}");
    }
}

#[test]
fn the_user_with_the_least_time_left_is_first() {
    // The branch holds two codes of SF 8. The SDUs are due after 300, 158 and 200 ms.
    let mut config = timeouts(300);
    config.requirement = RatePolicy::FullBacklog;
    let mut cell = Cell::new(config).user(&[(0, 570, 16)]).user(&[(0, 300, 16)]).user(&[(0, 380, 16)]);
    assert_eq!(cell.tti(&[]), [postponed(6), granted(6, 8, 16), granted(6, 8, 16)]);
    assert!(cell.mac.config().needs_sdus());
    assert!(!credits(1.0).needs_sdus());
}

#[test]
fn control_pdus_alone_request_one_block_and_come_first() {
    let mut mac = MacSh::new(timeouts(300));
    let mut candidates = Candidates::default();
    let candidate = Candidate { gain: 1e-10, ..Candidate::new(UeId(0), Bytes(0), 1, Some(Time::ZERO)) };
    let sdu = WaitingSdu { entered: Time::ZERO, size: Bytes(570), blocks: 15 };
    candidates.push(candidate, [sdu]);
    candidates.push(Candidate { ue: UeId(1), ..candidate }, []);
    let radio = Radio { power: &power(), interference: &|_| 0.0 };
    let grants = mac.schedule(Time::ZERO, 0, &candidates, &radio, &mut Load::default());
    let order: Vec<(u16, u32)> = grants.iter().map(|grant| (grant.ue.0, grant.blocks)).collect();
    assert_eq!(order, [(1, 1), (0, 1)]);
}
