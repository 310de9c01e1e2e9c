//! Tests of the scheduler without a MAC: UEs report each 10 ms, a decision follows, and its grants take
//! effect 10 ms later (the default latency). In all tests a PDU takes a block of 354 bits: 336 bits and
//! 18 bits of headers.

use proptest::prelude::*;
use umts_units::Duration;

use super::super::category::{LONG_TTI, SHORT_TTI};
use super::super::scheduling_information::SchedulingInformation;
use super::*;

/// Bits of a block with one PDU.
const MIN_BITS: u32 = 354;
/// Largest blocks of category 6 in bits (TS 25.306 table 5.1g), in 2 ms and in 10 ms.
const MAX_BITS_IN_2_MS: u32 = 11_484;
const MAX_BITS_IN_10_MS: u32 = 20_000;
/// Bits of scheduling information.
const BEYOND_GRANT: u32 = 18;
/// Allowance for rounding in sums of loads.
const EPSILON: f64 = 1e-6;

type Members = BTreeMap<UeId, Member>;

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn cell() -> (EDchConfig, UplinkLoad) {
    let config = EDchConfig::default();
    let uplink = UplinkLoad::new(&config);
    (config, uplink)
}

/// UEs 0, 1, … of category 6 with these TTIs.
fn members(uplink: &UplinkLoad, ttis: &[Duration]) -> Members {
    let member = |tti: &Duration| {
        let max = if *tti == SHORT_TTI { MAX_BITS_IN_2_MS } else { MAX_BITS_IN_10_MS };
        Member::new(uplink, *tti, BlockSizes { min: MIN_BITS, max, beyond_grant: BEYOND_GRANT })
    };
    (0..).map(UeId).zip(ttis.iter().map(member)).collect()
}

/// A report with a buffer of `octets`, and a headroom of 31 dB, which means no limit.
fn report(is_happy: bool, used: Option<Grant>, octets: Option<u64>) -> Report {
    Report { is_happy, used, information: octets.map(|octets| SchedulingInformation::new(octets, 31.0)) }
}

/// All UEs report at `now` that they use their grants and are unhappy, with a full buffer.
fn report_unhappy(members: &mut Members, now: Time) {
    for member in members.values_mut() {
        let used = member.grants.update(now);
        member.handle_report(now, report(false, used, Some(100_000)));
    }
}

/// Decides at `now`, and sends the grants. Asserts that the loads keep the budget.
fn decide_and_send(
    now: Time,
    config: &EDchConfig,
    uplink: &UplinkLoad,
    members: &mut Members,
) -> Vec<Command> {
    let commands = decide(now, uplink, config, members);
    for Command { ue, grant, .. } in &commands {
        members.get_mut(ue).unwrap().send_grant(now + config.grant_latency, *grant);
    }
    let load = committed_load(uplink, members);
    assert!(load <= uplink.budget() + EPSILON, "{load} at {now}");
    commands
}

/// Makes `decisions` decisions, one each 10 ms, while all UEs are unhappy. Returns the last grants.
fn saturate(members: &mut Members, decisions: u64) -> Vec<Option<Grant>> {
    let (config, uplink) = cell();
    for number in 0..decisions {
        report_unhappy(members, ms(10 * number));
        decide_and_send(ms(10 * number), &config, &uplink, members);
    }
    members.values().map(|member| member.grants.last()).collect()
}

#[test]
fn a_lone_ue_gets_its_largest_block() {
    let (_, uplink) = cell();
    let grants = saturate(&mut members(&uplink, &[SHORT_TTI]), 20);
    assert_eq!(grants, [Grant::at_least(uplink.ratio(MAX_BITS_IN_2_MS, SHORT_TTI))]);
}

/// The grants of two to seven unhappy UEs differ by at most one step, and use the budget: one more step
/// for all UEs would exceed it.
#[test]
fn equal_ues_get_grants_within_a_step() {
    let (_, uplink) = cell();
    for number in 2..8 {
        let grants = saturate(&mut members(&uplink, &vec![SHORT_TTI; number]), 200);
        let lowest = grants.iter().min().unwrap().expect("all have a grant");
        let highest = *grants.iter().max().unwrap();
        assert!(highest == Some(lowest) || highest == lowest.up(), "{number}: {grants:?}");
        let load_one_step_higher = number as f64 * uplink.load(lowest.up().unwrap().ratio());
        assert!(load_one_step_higher > uplink.budget(), "{number}: {grants:?}");
    }
}

/// The lowest grant that carries a PDU in 2 ms makes a load of 0.079, and a UE without a grant one of
/// 0.007, for its DPCCH and scheduling information. The budget of 0.749 suffices for six grants among
/// 40 UEs. All of them get a grant within 20 s.
#[test]
fn too_many_ues_take_turns() {
    let (config, uplink) = cell();
    let mut all = members(&uplink, &[SHORT_TTI; 40]);
    let mut served = std::collections::BTreeSet::new();
    for number in 0..2_000 {
        let now = ms(10 * number);
        report_unhappy(&mut all, now);
        let commands = decide_and_send(now, &config, &uplink, &mut all);
        served.extend(commands.iter().filter(|command| command.grant.is_some()).map(|command| command.ue));
    }
    assert_eq!(served.len(), 40);
}

/// Two UEs send until 490 ms, then only the second one. The default timeout of 200 ms for unused grants
/// ends for the first UE at 690 ms.
#[test]
fn unused_grants_are_withdrawn() {
    let (config, uplink) = cell();
    let mut all = members(&uplink, &[LONG_TTI, LONG_TTI]);
    saturate(&mut all, 50);
    let mut withdrawals = Vec::new();
    for number in 50..100 {
        let now = ms(10 * number);
        all.get_mut(&UeId(0)).unwrap().grants.update(now);
        let second = all.get_mut(&UeId(1)).unwrap();
        let used = second.grants.update(now);
        second.handle_report(now, report(false, used, None));
        let commands = decide_and_send(now, &config, &uplink, &mut all);
        let zero_grants = commands.into_iter().filter(|command| command.grant.is_none());
        withdrawals.extend(zero_grants.map(|command| (now, command)));
    }
    let withdrawal = Command { ue: UeId(0), grant: None, is_absolute: true };
    assert_eq!(withdrawals, [(ms(690), withdrawal)]);
}

/// A UE without a grant reports 500 octets, which means a buffer of at most 533 octets. Within the happy
/// bit delay of 50 ms, five TTIs, they take 533 · 8 / 5 = 852 bits per TTI.
#[test]
fn small_buffers_get_small_grants() {
    let (config, uplink) = cell();
    let mut all = members(&uplink, &[LONG_TTI]);
    all.get_mut(&UeId(0)).unwrap().handle_report(ms(10), report(false, None, Some(500)));
    let commands = decide(ms(10), &uplink, &config, &mut all);
    let grant = Grant::at_least(uplink.ratio(852, LONG_TTI));
    assert_eq!(commands, [Command { ue: UeId(0), grant, is_absolute: true }]);
}

/// One report of a UE before a decision.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Number of the UE, modulo the number of UEs.
    ue: usize,
    is_happy: bool,
    /// Octets in its buffer.
    octets: u64,
    /// Whether all its blocks in HARQ end. Otherwise a block with its grant enters HARQ.
    empties_harq: bool,
}

fn any_step() -> impl Strategy<Value = Step> {
    // One of four steps empties HARQ.
    let draws = (0..12_usize, any::<bool>(), 0..60_000_u64, 0..4_u8);
    draws.prop_map(|(ue, is_happy, octets, harq)| Step { ue, is_happy, octets, empties_harq: harq == 0 })
}

proptest! {
    /// Whatever UEs report and whatever their blocks in HARQ need, the grants that UEs may use never
    /// exceed the budget, and no UE is raised to a grant that carries no PDU.
    #[test]
    fn grants_never_exceed_the_budget(
        is_short in prop::collection::vec(prop::bool::ANY, 1..12),
        budget_db in 1.0..12.0_f64,
        steps in prop::collection::vec(any_step(), 1..300),
    ) {
        let config = EDchConfig { noise_rise: umts_units::Db(budget_db), ..EDchConfig::default() };
        let uplink = UplinkLoad::new(&config);
        let ttis: Vec<_> = is_short.iter().map(|short| if *short { SHORT_TTI } else { LONG_TTI }).collect();
        let mut all = members(&uplink, &ttis);
        prop_assume!(committed_load(&uplink, &all) <= uplink.budget());
        for (number, step) in steps.into_iter().enumerate() {
            let now = ms(10 * number as u64);
            let member = all.get_mut(&UeId((step.ue % ttis.len()) as u16)).unwrap();
            let in_force = member.grants.update(now);
            member.handle_report(now, report(step.is_happy, in_force, Some(step.octets)));
            let block = in_force.map_or(0.0, Grant::ratio) + member.ratio_beyond_grant;
            member.in_harq = if step.empties_harq { 0.0 } else { member.in_harq.max(block) };
            for Command { ue, grant, .. } in decide(now, &uplink, &config, &mut all) {
                let member = all.get_mut(&ue).unwrap();
                let is_lowered = grant < member.grants.last();
                prop_assert!(grant.is_none_or(|grant| grant >= member.min_grant || is_lowered));
                member.send_grant(now + config.grant_latency, grant);
            }
            let load = committed_load(&uplink, &all);
            prop_assert!(load <= uplink.budget() + EPSILON, "{load} at {now}");
        }
    }
}
