//! The scheduler of the Node B: serving grants under a budget of noise rise.
//!
//! All UEs that want to send get grants as equal as the steps allow. A UE wants more if it is unhappy,
//! and keeps the grant that it uses if it is happy. The load of a UE is that of the highest grant
//! which it may still use, and of its blocks in HARQ: a higher grant is sent only when lower grants
//! of others have taken effect. So the sum of the loads never exceeds the budget, repetitions included.
//!
//! If the budget is too small for all UEs, they take turns.

use std::collections::BTreeMap;

use umts_units::{Duration, Time};

use super::config::EDchConfig;
use super::grant::{Grant, Grants};
use super::scheduling_information::SchedulingInformation;
use super::uplink_load::{UplinkLoad, ratio_of_headroom};
use crate::ids::UeId;

/// Time after which UEs that take turns are served in another order.
const TURN: Duration = Duration::from_millis(100);

/// Allowance for rounding in sums of loads.
const ROUNDING: f64 = 1e-9;

/// Information of a transmission for the scheduler.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    pub is_happy: bool,
    /// Serving grant that the PDUs of the block need. `None` without PDUs.
    pub used: Option<Grant>,
    /// Scheduling information, if the block was decoded.
    pub information: Option<SchedulingInformation>,
}

/// A UE as the scheduler knows it.
#[derive(Debug)]
pub struct Member {
    pub grants: Grants,
    tti: Duration,
    /// The lowest grant that carries a PDU.
    least: Grant,
    /// The lowest grant that carries the largest block of the category.
    most: Grant,
    /// Power ratio of the bits beyond the grant: scheduling information and non-scheduled bits.
    beyond: f64,
    /// The highest power ratio of the blocks in HARQ. The MAC updates it.
    pub in_harq: f64,
    is_happy: bool,
    /// Octets in the buffer by the last scheduling information. `None`: more than it can express.
    buffer: Option<u64>,
    headroom_db: Option<f64>,
    /// The highest grant that was used since the last decision.
    used: Option<Grant>,
    last_block: Time,
}

impl Member {
    /// A UE without a grant. Blocks that carry one PDU and the most PDUs have these sizes in bits, and
    /// `beyond` bits may be sent beyond the grant.
    pub fn new(uplink: &UplinkLoad, tti: Duration, [least, most]: [u32; 2], beyond: u32) -> Self {
        let grant = |bits| Grant::at_least(uplink.ratio(bits, tti)).unwrap_or(Grant::HIGHEST);
        Member {
            grants: Grants::default(),
            tti,
            least: grant(least),
            most: grant(most),
            beyond: uplink.ratio(beyond, tti),
            in_harq: 0.0,
            is_happy: true,
            buffer: Some(0),
            headroom_db: None,
            used: None,
            last_block: Time::ZERO,
        }
    }

    /// Handles a report that the Node B receives at `now`.
    pub fn handle_report(&mut self, now: Time, report: Report) {
        // Without a grant every UE with data is unhappy.
        if report.used.is_some() {
            self.is_happy = report.is_happy;
        }
        self.used = self.used.max(report.used);
        self.last_block = now;
        if let Some(information) = report.information {
            (self.buffer, self.headroom_db) = (information.octets(), information.headroom_db());
        }
    }

    /// Sends a grant that the UE uses from `at` on.
    pub fn send_grant(&mut self, at: Time, grant: Option<Grant>) {
        self.is_happy |= self.grants.last().is_none() || grant.is_none();
        self.grants.send(at, grant);
    }

    fn load_of(&self, uplink: &UplinkLoad, grant: Option<Grant>) -> f64 {
        uplink.load(grant.map_or(0.0, Grant::ratio) + self.beyond)
    }

    /// Load of the highest grant that the UE may still use if `grant` follows, and of its blocks in HARQ.
    fn committed(&self, uplink: &UplinkLoad, grant: Option<Grant>) -> f64 {
        self.load_of(uplink, self.grants.highest().max(grant)).max(uplink.load(self.in_harq))
    }

    /// The grant that the UE would get if it were alone.
    fn wanted(&self, now: Time, uplink: &UplinkLoad, config: &EDchConfig) -> Option<Grant> {
        let held = self.grants.last();
        if now >= self.last_block + config.grant_timeout {
            return None;
        }
        let with_power = self.headroom_db.map_or(self.most, |headroom_db| {
            let ratio = ratio_of_headroom(headroom_db) - self.beyond;
            Grant::all().rev().find(|grant| grant.ratio() <= ratio).unwrap_or(Grant::LOWEST)
        });
        let most = self.most.min(with_power).max(self.least);
        match (held, self.buffer) {
            // Unhappy, or nothing is known about the buffer.
            _ if !self.is_happy && held.is_some() => Some(most),
            (Some(held), _) => Some(self.used.unwrap_or(held).clamp(self.least, most)),
            (None, Some(0)) => None,
            (None, None) => Some(most),
            (None, Some(octets)) => {
                // Empties the buffer in the time with which the UE is happy.
                let ttis = config.happy_bit_delay.as_secs() / self.tti.as_secs();
                let bits = (octets as f64 * 8.0 / ttis.max(1.0)) as u32;
                let grant = Grant::at_least(uplink.ratio(bits, self.tti)).unwrap_or(Grant::HIGHEST);
                Some(grant.clamp(self.least, most))
            }
        }
    }

    /// Whether the scheduler has nothing to do for the UE while it sends nothing.
    pub fn is_idle(&self) -> bool {
        self.grants.highest().is_none()
    }
}

/// A grant for a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    pub ue: UeId,
    /// The new serving grant. `None`: the zero grant.
    pub grant: Option<Grant>,
    /// Whether an absolute grant (E-AGCH) carries it, not a relative one (E-RGCH).
    pub is_absolute: bool,
}

/// Sum of the loads of all UEs, with the grants that they may still use.
pub fn committed_load(uplink: &UplinkLoad, members: &BTreeMap<UeId, Member>) -> f64 {
    members.values().map(|member| member.committed(uplink, None)).sum()
}

/// Decides at `now` which grants change. The caller must send the grants.
pub fn decide(
    now: Time,
    uplink: &UplinkLoad,
    config: &EDchConfig,
    members: &mut BTreeMap<UeId, Member>,
) -> Vec<Command> {
    let targets = targets(now, uplink, config, members);
    let mut commands = Vec::new();
    let mut absolute_grants = config.absolute_grants;
    // The grant that comes closest to `target`: an absolute grant if there is one left, else one step.
    let mut command = |ue, held: Option<Grant>, target: Option<Grant>| {
        let step = held.and_then(|held| match target {
            Some(target) if target > held => held.up(),
            _ => held.down(),
        });
        if step.is_some() && step == target {
            return Some(Command { ue, grant: step, is_absolute: false });
        }
        if absolute_grants > 0 {
            absolute_grants -= 1;
            return Some(Command { ue, grant: target, is_absolute: true });
        }
        step.map(|grant| Command { ue, grant: Some(grant), is_absolute: false })
    };
    for (ue, target) in &targets {
        let held = members[ue].grants.last();
        if *target < held {
            commands.extend(command(*ue, held, *target));
        }
    }
    // Lowest grants first, so that UEs without a grant get the absolute ones.
    let mut raised: Vec<(Option<Grant>, UeId, Grant)> = targets
        .iter()
        .filter_map(|(ue, target)| {
            let held = members[ue].grants.last();
            target.filter(|target| Some(*target) > held).map(|target| (held, *ue, target))
        })
        .collect();
    raised.sort_by_key(|(held, ue, _)| (*held, *ue));
    let mut free = uplink.budget() + ROUNDING - committed_load(uplink, members);
    for (held, ue, target) in raised {
        let member = &members[&ue];
        let before = member.committed(uplink, None);
        let fits = |grant: &Grant| member.committed(uplink, Some(*grant)) - before <= free;
        let lowest = held.and_then(Grant::up).map_or(member.least, |next| next.max(member.least));
        let mut possible = Grant::all().rev().filter(|grant| (lowest..=target).contains(grant));
        let Some(grant) = possible.find(fits) else { continue };
        // One step from a grant that carries no PDU is of no use.
        let is_useful = |command: &Command| command.grant >= Some(member.least);
        let Some(command) = command(ue, held, Some(grant)).filter(is_useful) else { continue };
        free -= member.committed(uplink, command.grant) - before;
        commands.push(command);
    }
    for member in members.values_mut() {
        member.used = None;
    }
    commands
}

/// The grants that all UEs should have: as equal as possible, up to what each wants.
fn targets(
    now: Time,
    uplink: &UplinkLoad,
    config: &EDchConfig,
    members: &BTreeMap<UeId, Member>,
) -> BTreeMap<UeId, Option<Grant>> {
    let mut targets: BTreeMap<UeId, Option<Grant>> = members.keys().map(|ue| (*ue, None)).collect();
    let mut wanting: Vec<(UeId, Grant)> =
        members.iter().filter_map(|(ue, member)| Some((*ue, member.wanted(now, uplink, config)?))).collect();
    if wanting.is_empty() {
        return targets;
    }
    // The UEs that come first change with time: they get the steps that do not suffice for all.
    let turn = (now.as_nanos() / TURN.as_nanos()) as usize % wanting.len();
    wanting.rotate_left(turn);
    let mut free =
        uplink.budget() + ROUNDING - members.values().map(|of| of.load_of(uplink, None)).sum::<f64>();
    // Raises the target of a UE, if the budget allows it.
    let mut raise = |ue: &UeId, target: &mut Option<Grant>, to: Grant| {
        let member = &members[ue];
        let cost = member.load_of(uplink, Some(to)) - member.load_of(uplink, *target);
        let fits = cost <= free;
        if fits {
            (*target, free) = (Some(to), free - cost);
        }
        fits
    };
    wanting.retain(|(ue, _)| raise(ue, targets.get_mut(ue).expect("it is a member"), members[ue].least));
    // One step at a time for the UEs with the lowest target.
    while let Some(lowest) = wanting.iter().map(|(ue, _)| targets[ue]).min() {
        wanting.retain(|(ue, wanted)| {
            let target = targets.get_mut(ue).expect("it is a member");
            if *target > lowest {
                return true;
            }
            let next = target.and_then(Grant::up).filter(|next| next <= wanted);
            next.is_some_and(|next| raise(ue, target, next))
        });
    }
    targets
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::category::{LONG_TTI, SHORT_TTI};
    use super::*;

    const PDU: u32 = 354;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn cell() -> (EDchConfig, UplinkLoad) {
        let config = EDchConfig::default();
        let uplink = UplinkLoad::new(&config);
        (config, uplink)
    }

    fn members(uplink: &UplinkLoad, ttis: &[Duration]) -> BTreeMap<UeId, Member> {
        let most = |tti| if tti == SHORT_TTI { 11_484 } else { 20_000 };
        let member = |tti: &Duration| Member::new(uplink, *tti, [PDU, most(*tti)], 18);
        (0..).map(UeId).zip(ttis.iter().map(member)).collect()
    }

    fn report(is_happy: bool, used: Option<Grant>, octets: Option<u64>) -> Report {
        Report { is_happy, used, information: octets.map(|octets| SchedulingInformation::new(octets, 31.0)) }
    }

    /// Runs decisions every 10 ms while all UEs are unhappy. Returns the last grants.
    fn saturate(members: &mut BTreeMap<UeId, Member>, decisions: u64) -> Vec<Option<Grant>> {
        let (config, uplink) = cell();
        for number in 0..decisions {
            let now = ms(10 * number);
            for member in members.values_mut() {
                member.grants.update(now);
                let used = member.grants.last();
                member.handle_report(now, report(false, used, Some(100_000)));
            }
            for Command { ue, grant, .. } in decide(now, &uplink, &config, members) {
                members.get_mut(&ue).unwrap().send_grant(now + config.grant_latency, grant);
            }
            assert!(committed_load(&uplink, members) <= uplink.budget() + 1e-6);
        }
        members.values().map(|member| member.grants.last()).collect()
    }

    #[test]
    fn a_lone_ue_gets_its_largest_block() {
        let (_, uplink) = cell();
        let mut one = members(&uplink, &[SHORT_TTI]);
        assert_eq!(saturate(&mut one, 20), [Grant::at_least(uplink.ratio(11_484, SHORT_TTI))]);
    }

    #[test]
    fn equal_ues_get_grants_within_a_step() {
        let (_, uplink) = cell();
        for number in 2..8 {
            let grants = saturate(&mut members(&uplink, &vec![SHORT_TTI; number]), 200);
            let (low, high) = (grants.iter().min().unwrap(), grants.iter().max().unwrap());
            let low = low.expect("all have a grant");
            assert!(*high == Some(low) || *high == low.up(), "{number}: {grants:?}");
            // A further step for all would exceed the budget.
            let next: f64 = (0..number).map(|_| uplink.load(low.up().unwrap().ratio())).sum();
            assert!(next > uplink.budget() - 0.1, "{number}: {grants:?}");
        }
    }

    /// A PDU in 2 ms needs a load of 0.07: the budget of 0.749 suffices for ten UEs. Forty take turns.
    #[test]
    fn too_many_ues_take_turns() {
        let (config, uplink) = cell();
        let mut all = members(&uplink, &[SHORT_TTI; 40]);
        let mut served = std::collections::BTreeSet::new();
        for number in 0..2_000 {
            let now = ms(10 * number);
            for member in all.values_mut() {
                let used = member.grants.update(now);
                member.handle_report(now, report(false, used, Some(100_000)));
            }
            for Command { ue, grant, .. } in decide(now, &uplink, &config, &mut all) {
                served.extend(grant.map(|_| ue));
                all.get_mut(&ue).unwrap().send_grant(now + config.grant_latency, grant);
            }
            assert!(committed_load(&uplink, &all) <= uplink.budget() + 1e-6);
        }
        assert_eq!(served.len(), 40);
    }

    #[test]
    fn unused_grants_are_withdrawn() {
        let (config, uplink) = cell();
        let mut all = members(&uplink, &[LONG_TTI, LONG_TTI]);
        saturate(&mut all, 50);
        // From now on only the second UE sends.
        let mut withdrawn = None;
        for number in 50..100 {
            let now = ms(10 * number);
            let second = all.get_mut(&UeId(1)).unwrap();
            let used = second.grants.update(now);
            second.handle_report(now, report(false, used, None));
            all.get_mut(&UeId(0)).unwrap().grants.update(now);
            for command in decide(now, &uplink, &config, &mut all) {
                if command.ue == UeId(0) && command.grant.is_none() {
                    assert!(command.is_absolute);
                    withdrawn = Some(number);
                }
                all.get_mut(&command.ue).unwrap().send_grant(now + config.grant_latency, command.grant);
            }
        }
        // 200 ms after the last block, which came at 490 ms.
        assert_eq!(withdrawn, Some(69));
    }

    #[test]
    fn small_buffers_get_small_grants() {
        let (config, uplink) = cell();
        let mut all = members(&uplink, &[LONG_TTI]);
        all.get_mut(&UeId(0)).unwrap().handle_report(ms(10), report(false, None, Some(500)));
        let commands = decide(ms(10), &uplink, &config, &mut all);
        // The level of 500 octets ends at 533: 853 bits in each of five TTIs.
        let grant = Grant::at_least(uplink.ratio(852, LONG_TTI));
        assert_eq!(commands, [Command { ue: UeId(0), grant, is_absolute: true }]);
    }

    proptest! {
        /// Whatever UEs report and whatever their blocks in HARQ need, the grants that UEs may use
        /// never exceed the budget, and no UE gets a grant that carries no PDU.
        #[test]
        fn grants_never_exceed_the_budget(
            ttis in prop::collection::vec(prop::bool::ANY, 1..12),
            budget_db in 1.0..12.0_f64,
            steps in prop::collection::vec((0..12_usize, any::<bool>(), 0..60_000_u64, 0..4_u8), 1..300),
        ) {
            let config = EDchConfig { noise_rise: umts_units::Db(budget_db), ..EDchConfig::default() };
            let uplink = UplinkLoad::new(&config);
            let ttis: Vec<_> = ttis.iter().map(|short| if *short { SHORT_TTI } else { LONG_TTI }).collect();
            let mut all = members(&uplink, &ttis);
            prop_assume!(committed_load(&uplink, &all) <= uplink.budget());
            for (number, (ue, is_happy, octets, harq)) in steps.into_iter().enumerate() {
                let now = ms(10 * number as u64);
                let ue = UeId((ue % ttis.len()) as u16);
                let member = all.get_mut(&ue).unwrap();
                let in_force = member.grants.update(now);
                member.handle_report(now, report(is_happy, in_force, Some(octets)));
                // A block with the present grant enters HARQ, or all blocks end.
                member.in_harq = match harq {
                    0 => 0.0,
                    _ => member.in_harq.max(in_force.map_or(0.0, Grant::ratio) + member.beyond),
                };
                for Command { ue, grant, .. } in decide(now, &uplink, &config, &mut all) {
                    let member = all.get_mut(&ue).unwrap();
                    prop_assert!(grant.is_none_or(|grant| grant >= member.least || Some(grant) < member.grants.last()));
                    member.send_grant(now + config.grant_latency, grant);
                }
                let load = committed_load(&uplink, &all);
                prop_assert!(load <= uplink.budget() + 1e-6, "{load} at {now}");
            }
        }
    }
}
