//! Timeouts, TTI by TTI: a user requests the number of blocks per TTI that completes each of its SDUs
//! before its timeout. The timeout of an SDU of 570 octets is configured, and a smaller SDU has a
//! proportionally shorter one. TTIs last 20 ms. TF1, TF2, TF3, TF4 and TF6 have 1, 2, 4, 8 and 16
//! blocks.
//!
//! `s4` to `s6` are numbers in one list of worked cases. Cases 1, 2, 3 and 7 are in
//! `service_credit`.

use super::*;

/// No other user takes a code in the TTI.
const ALL_CODES_FREE: &[u16] = &[];
/// Users with priority take both codes of spreading factor 8 in the TTI.
const NO_CODE_FREE: &[u16] = &[8, 8];

#[test]
fn s4_the_rate_follows_the_time_that_is_left() {
    let mut cell = Cell::new(timeouts(75)).user(&[sdu(570, 15)]);
    // 75 ms are 3 whole TTIs. With 3, 2 and 1 TTIs left, 15/3 = 5, ⌈7/2⌉ = 4 and 3 blocks per TTI
    // are needed.
    assert_eq!(cell.tti(ALL_CODES_FREE), [tf(4).gets_sf(16).sends(8)]);
    assert_eq!(cell.tti(ALL_CODES_FREE), [tf(3).gets_sf(32).sends(4)]);
    assert_eq!(cell.tti(ALL_CODES_FREE), [tf(3).gets_sf(32).sends(3)]);
}

#[test]
fn s5_a_late_sdu_requests_the_largest_format() {
    let mut cell = Cell::new(timeouts(300)).user(&[sdu(80, 2)]);
    // The SDU is due after 300 ms · 80/570 = 42.1 ms: 2, 1 and 0 TTIs are left.
    assert_eq!(cell.tti(NO_CODE_FREE), [tf(1).waits()]);
    assert_eq!(cell.tti(NO_CODE_FREE), [tf(2).waits()]);
    assert_eq!(cell.tti(ALL_CODES_FREE), [tf(6).gets_sf(8).sends(2)]);
}

#[test]
fn s6_the_most_urgent_sdu_determines_the_rate() {
    let mut cell = Cell::new(timeouts(100)).user(&[sdu(342, 4), sdu(570, 15)]);
    // 4 blocks are due in 100 ms · 342/570 = 60 ms (3 TTIs), and 15 blocks behind them in 100 ms (5
    // TTIs): max(⌈4/3⌉, ⌈19/5⌉) = 4 blocks per TTI.
    assert_eq!(cell.tti(ALL_CODES_FREE), [tf(3).gets_sf(32).sends(4)]);
}

/// Number of the format that a user with these SDUs requests in the first TTI.
fn requested_format(config: MacShConfig, sdus: &[WaitingSdu]) -> usize {
    Cell::new(config).user(sdus).tti(ALL_CODES_FREE)[0].wanted
}

#[test]
fn one_timeout_may_apply_to_all_sizes() {
    let mut config = timeouts(300);
    config.timeout.of_size = None;
    // 300 ms are 15 TTIs for 2 blocks.
    assert_eq!(requested_format(config, &[sdu(80, 2)]), 1);
}

#[test]
fn a_late_user_may_request_only_its_remaining_blocks() {
    // The SDU is due after 300 ms · 20/570 = 10.5 ms, less than a TTI.
    let late_sdu = [sdu(20, 2)];
    assert_eq!(requested_format(timeouts(300), &late_sdu), 6);
    let mut config = timeouts(300);
    config.timeout.expired = Expired::RestOfSdu;
    assert_eq!(requested_format(config, &late_sdu), 2);
}

#[test]
fn the_first_sdu_alone_may_determine_the_rate() {
    let mut config = timeouts(100);
    config.timeout.looks_at = LooksAt::Head;
    // As in S6, but ⌈4/3⌉ = 2 blocks per TTI are enough for the first SDU.
    assert_eq!(requested_format(config, &[sdu(342, 4), sdu(570, 15)]), 2);
}

#[test]
fn the_user_with_the_least_time_left_is_first() {
    // The branch holds two codes of SF 8. The SDUs are due after 300, 158 and 200 ms.
    let mut config = timeouts(300);
    config.requirement = RatePolicy::FullBacklog;
    let mut cell = Cell::new(config).user(&[sdu(570, 16)]).user(&[sdu(300, 16)]).user(&[sdu(380, 16)]);
    assert_eq!(cell.tti(&[]), [tf(6).waits(), tf(6).gets_sf(8).sends(16), tf(6).gets_sf(8).sends(16)]);
    // The requests need no timeouts with `FullBacklog`, but the order of the users does.
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
    // No waiting SDU: the block of UE 1 has only control PDUs.
    candidates.push(Candidate { ue: UeId(1), ..candidate }, []);
    let radio = Radio { power: &power(), interference: &|_| 0.0 };
    let grants = mac.schedule(Time::ZERO, 0, &candidates, &radio, &mut Load::default());
    // UE and blocks. UE 0 has 15 TTIs (300 ms) for its 15 blocks.
    let order: Vec<(u16, u32)> = grants.iter().map(|grant| (grant.ue.0, grant.blocks)).collect();
    assert_eq!(order, [(1, 1), (0, 1)]);
}
