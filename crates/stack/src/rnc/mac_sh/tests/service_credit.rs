//! Service credits, TTI by TTI: a user earns a number of credits per TTI, requests as many blocks as it
//! has credits, and spends a credit for each block. The branch of the DSCH has room for two codes of
//! spreading factor 8. `cell.tti(&[8, 8])` is a TTI in which users with priority take both of them.
//!
//! | format | blocks per TTI | spreading factor |
//! |---|---|---|
//! | TF1 | 1 | 128 |
//! | TF2 | 2 | 64 |
//! | TF3 | 4 | 32 |
//! | TF4 | 8 | 16 |
//! | TF5 | 12 | 8 |
//! | TF6 | 16 | 8 |
//!
//! The tests `s1` to `s3` and `s7` are worked cases. The cases `s4` to `s6` are in `timeout.rs`.

use super::*;

/// A packet of 570 octets: 15 blocks.
const SDU: WaitingSdu = sdu(570, 15);

#[test]
fn s1_two_credits_per_tti_send_fifteen_blocks_in_160_ms() {
    let mut cell = Cell::new(credits(2.0)).user(&[SDU]);
    for _ in 0..7 {
        assert_eq!(cell.tti(&[]), [tf(2).gets_sf(64).sends(2)]);
    }
    assert_eq!(cell.tti(&[]), [tf(2).gets_sf(64).sends(1)]);
    // In eight TTIs of 20 ms the user has earned 16 credits for its 15 blocks.
    assert_eq!(cell.credit(0), 1.0);
    assert_eq!(cell.tti(&[]), []);
}

#[test]
fn s2_credits_make_up_for_refusals() {
    let mut cell = Cell::new(credits(4.0)).user(&[SDU]);
    // Other users take both codes, and the user saves the four credits of each TTI. TF3 has 4 blocks and
    // TF4 has 8.
    assert_eq!(cell.tti(&[8, 8]), [tf(3).waits()]);
    assert_eq!(cell.credit(0), 4.0);
    assert_eq!(cell.tti(&[8, 8]), [tf(4).waits()]);
    assert_eq!(cell.credit(0), 8.0);
    // With 12 credits the user requests TF5, 12 blocks at SF 8. Only a code of SF 16 is left, for 8
    // blocks.
    assert_eq!(cell.tti(&[8, 16]), [tf(5).gets_sf(16).sends(8)]);
    assert_eq!(cell.credit(0), 12.0 - 8.0);
    assert_eq!(cell.tti(&[]), [tf(4).gets_sf(16).sends(7)]);
    assert_eq!(cell.credit(0), 8.0 - 7.0);
    // The same user without refusals sends 4, 4, 4 and 3 blocks.
    let mut alone = Cell::new(credits(4.0)).user(&[SDU]);
    let blocks: Vec<u32> = (0..4).flat_map(|_| alone.tti(&[])).map(|row| row.sent).collect();
    assert_eq!(blocks, [4, 4, 4, 3]);
}

/// Spreading factors granted to users that request the spreading factors `wanted`, in this order. `None`:
/// the user is postponed.
fn granted_to(wanted: &[u16]) -> Vec<Option<u16>> {
    const CREDITS_PER_TTI: f64 = 1.0;
    /// Without effect, because the rate follows from the credits.
    const TIMEOUT_MS: u64 = 300;
    let (policy, scheduler) = (RatePolicy::ServiceCredit, SchedulerKind::RoundRobin);
    let mut cell = Cell::new(config(policy, scheduler, CREDITS_PER_TTI, TIMEOUT_MS));
    for (ue, wanted) in wanted.iter().enumerate() {
        cell = cell.user(&[SDU]);
        let formats = formats();
        let format = formats.iter().rfind(|format| format.spreading_factor == *wanted).unwrap();
        let mut credit = Credit::new(&cell.mac.config().credit, 0);
        credit.blocks = f64::from(format.blocks);
        cell.mac.join(UeId(ue as u16), credit);
    }
    cell.tti(&[]).into_iter().map(|row| row.spreading_factor).collect()
}

#[test]
fn s3_spreading_factors_are_doubled_until_they_fit() {
    let table = [
        (&[8, 32, 8, 32, 16][..], vec![Some(8), Some(32), Some(16), Some(32), None]),
        (&[8, 8, 128], vec![Some(8), Some(8), None]),
        (&[8, 16, 8, 8], vec![Some(8), Some(16), Some(16), None]),
        (&[16, 16, 16, 32, 64, 128, 64, 16], {
            vec![Some(16), Some(16), Some(16), Some(32), Some(64), Some(128), Some(128), None]
        }),
        (&[64, 8, 8], vec![Some(64), Some(8), Some(16)]),
    ];
    for (wanted, granted) in table {
        assert_eq!(granted_to(wanted), granted, "{wanted:?}");
    }
    // The first row: the mean granted SF is 88 / 4 = 22, and one of five users is postponed.
    let granted = granted_to(&[8, 32, 8, 32, 16]);
    let used: Vec<u16> = granted.iter().flatten().copied().collect();
    assert_eq!((used.iter().sum::<u16>(), used.len(), granted.len()), (88, 4, 5));
}

#[test]
fn s7_two_of_three_users_fill_the_branch() {
    let mut cell = Cell::new(credits(16.0)).user(&[SDU]).user(&[SDU]).user(&[SDU]);
    assert_eq!(cell.tti(&[]), [tf(6).gets_sf(8).sends(15), tf(6).gets_sf(8).sends(15), tf(6).waits()]);
    // `Refusal::wanted` is an index, counted from 0: index 5 is TF6.
    assert_eq!(cell.mac.refusals(), [Refusal { ue: UeId(2), wanted: 5, reason: Postponed::Codes }]);
}

#[test]
fn a_late_update_earns_the_ttis_in_between_only_if_credits_always_accrue() {
    for (accrues, late) in [(Accrual::Always, 7.0), (Accrual::Backlogged, 2.0)] {
        let config = CreditConfig { accrues, ..credits(1.0).credit };
        let (mut often, mut once) = (Credit::new(&config, 0), Credit::new(&config, 0));
        (1..=6).for_each(|tti| often.earn(&config, tti));
        once.earn(&config, 6);
        assert_eq!((often.blocks(), once.blocks()), (7.0, late), "{accrues:?}");
        once.earn(&config, 6);
        assert_eq!(once.blocks(), late, "nothing twice");
        often.earn(&config, 1000);
        assert!(often.blocks() <= config.max_blocks);
    }
}

/// Credits accrue from TTI 0 on, also for a user with its first request in TTI 7.
#[test]
fn credits_that_always_accrue_begin_with_the_run() {
    for (accrues, row) in
        [(Accrual::Always, tf(4).gets_sf(16).sends(8)), (Accrual::Backlogged, tf(1).gets_sf(128).sends(1))]
    {
        let mut config = credits(1.0);
        config.credit.accrues = accrues;
        let mut cell = Cell::new(config).user(&[SDU]);
        cell.tti = 7;
        assert_eq!(cell.tti(&[]), [row], "{accrues:?}");
    }
    let mut cell = Cell::new(credits(1.0)).user(&[SDU]);
    cell.tti = 1_000;
    assert_eq!(cell.tti(&[]), [tf(6).gets_sf(8).sends(15)], "no more than the limit, 16");
}

#[test]
fn debit_option_selects_sent_blocks_or_the_whole_format() {
    // A user with 8 credits gets a format of 8 blocks and sends 7.
    for (debit, credit_left) in [(Debit::Sent, 8.0 - 7.0), (Debit::Format, 0.0)] {
        let config = CreditConfig { debit, ..credits(8.0).credit };
        let mut credit = Credit::new(&config, 0);
        credit.spend(&config, 8, 7);
        assert_eq!(credit.blocks(), credit_left, "{debit:?}");
    }
}

#[test]
fn user_in_debt_requests_one_block() {
    let mut cell = Cell::new(credits(1.0)).user(&[SDU]);
    let mut credit = Credit::new(&cell.mac.config().credit, 0);
    credit.blocks = -3.0;
    cell.mac.join(UeId(0), credit);
    assert_eq!(cell.tti(&[]), [tf(1).gets_sf(128).sends(1)]);
}

#[test]
fn credit_moves_with_the_user_to_another_cell() {
    let (mut from, mut to) = (Cell::new(credits(1.0)).user(&[SDU]), Cell::new(credits(1.0)).user(&[SDU]));
    let mut credit = Credit::new(&from.mac.config().credit, 0);
    credit.blocks = 5.0;
    from.mac.join(UeId(0), credit);
    let taken_along = from.mac.leave(UeId(0)).unwrap();
    assert_eq!(from.mac.leave(UeId(0)), None);
    to.tti = 3;
    to.mac.join(UeId(0), taken_along);
    // The user brings 5 credits of TTI 0 and earns 3 in TTIs 1 to 3: it requests TF4, 8 blocks.
    assert_eq!(to.tti(&[]), [tf(4).gets_sf(16).sends(8)]);
}

#[test]
fn a_format_may_be_capped_by_the_backlog() {
    for (capped_by_backlog, wanted) in [(false, 6), (true, 2)] {
        let mut cell = Cell::new(MacShConfig { capped_by_backlog, ..credits(16.0) }).user(&[sdu(80, 2)]);
        assert_eq!(cell.tti(&[])[0].wanted, wanted);
    }
}
