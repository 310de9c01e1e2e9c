//! The scheduler of the Node B: serving grants under a budget of noise rise.
//!
//! All UEs that want to send get grants as equal as the steps allow. A UE wants more if it is unhappy,
//! and keeps the grant that it uses if it is happy. If the budget is too small for all UEs, they take
//! turns.
//!
//! The budget limits the sum of the loads of all UEs, repetitions included. The load of a UE counts
//! with the highest grant that it may still use and with its blocks in HARQ. So a higher grant is sent
//! only when lower grants of others have taken effect.
//!
//! A decision has two steps: the grants that all UEs should have (`targets.rs`), and the commands that
//! come closest to them, which the number of absolute grants and the loads limit (this file).

mod member;
mod targets;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use umts_units::Time;

pub use self::member::{BlockSizes, Member, Report, max_grant};
use self::targets::targets;
use super::config::EDchConfig;
use super::grant::Grant;
use super::uplink_load::UplinkLoad;
use crate::ids::UeId;

/// Allowance for rounding in sums of loads.
const ROUNDING: f64 = 1e-9;

/// A grant for a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    pub ue: UeId,
    /// The new serving grant. `None`: the zero grant.
    pub grant: Option<Grant>,
    /// Whether an absolute grant (E-AGCH) carries it, not a relative one (E-RGCH).
    pub is_absolute: bool,
}

/// Decides at `now` which grants change. The caller must send the grants.
pub fn decide(
    now: Time,
    uplink: &UplinkLoad,
    config: &EDchConfig,
    members: &mut BTreeMap<UeId, Member>,
) -> Vec<Command> {
    let targets = targets(now, uplink, config, members);
    let mut channels = GrantChannels { absolute_left: config.absolute_grants };
    let mut commands = lower_grants(members, &targets, &mut channels);
    commands.extend(raise_grants(uplink, members, &targets, &mut channels));
    members.values_mut().for_each(Member::finish_decision);
    commands
}

/// Commands for the UEs that hold more than their target.
fn lower_grants(
    members: &BTreeMap<UeId, Member>,
    targets: &BTreeMap<UeId, Option<Grant>>,
    channels: &mut GrantChannels,
) -> Vec<Command> {
    let mut commands = Vec::new();
    for (&ue, &target) in targets {
        let held = members[&ue].grants.last();
        if target < held {
            commands.extend(channels.command(ue, held, target));
        }
    }
    commands
}

/// Commands for the UEs that hold less than their target, as far as the loads allow it now.
fn raise_grants(
    uplink: &UplinkLoad,
    members: &BTreeMap<UeId, Member>,
    targets: &BTreeMap<UeId, Option<Grant>>,
    channels: &mut GrantChannels,
) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut free_load = uplink.budget() + ROUNDING - committed_load(uplink, members);
    for Raise { held, ue, target } in raises(members, targets) {
        let member = &members[&ue];
        let increase = |grant| member.committed(uplink, grant) - member.committed(uplink, None);
        let min_grant = held.and_then(Grant::up).map_or(member.min_grant, |next| next.max(member.min_grant));
        let mut candidates = Grant::all().rev().filter(|grant| (min_grant..=target).contains(grant));
        let Some(grant) = candidates.find(|&grant| increase(Some(grant)) <= free_load) else { continue };
        let Some(command) = channels.command(ue, held, Some(grant)) else { continue };
        // One step from a grant that carries no PDU is of no use.
        let carries_a_pdu = command.grant >= Some(member.min_grant);
        if carries_a_pdu {
            free_load -= increase(command.grant);
            commands.push(command);
        }
    }
    commands
}

/// A UE that should get a higher grant. The fields are compared in this order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Raise {
    held: Option<Grant>,
    ue: UeId,
    target: Grant,
}

/// The UEs that should get a higher grant. The lowest grants are first, so that UEs without a grant get
/// the absolute ones.
fn raises(members: &BTreeMap<UeId, Member>, targets: &BTreeMap<UeId, Option<Grant>>) -> Vec<Raise> {
    let raise = |(&ue, &target): (&UeId, &Option<Grant>)| {
        let held = members[&ue].grants.last();
        let target = target?;
        (Some(target) > held).then_some(Raise { held, ue, target })
    };
    let mut raises: Vec<Raise> = targets.iter().filter_map(raise).collect();
    raises.sort();
    raises
}

/// The channels that carry the grants of a decision. Each UE can get a relative grant (E-RGCH), which
/// changes its grant by one step. The number of absolute grants (E-AGCH) is limited.
struct GrantChannels {
    absolute_left: u8,
}

impl GrantChannels {
    /// The command that brings a UE with the grant `held` closest to `target`: a step if it is enough,
    /// otherwise an absolute grant, and if there is none left, a step. `None`: a UE without a grant has
    /// no step.
    fn command(&mut self, ue: UeId, held: Option<Grant>, target: Option<Grant>) -> Option<Command> {
        let step = held.and_then(|held| if target > Some(held) { held.up() } else { held.down() });
        let is_enough = step.is_some() && step == target;
        if !is_enough && self.absolute_left > 0 {
            self.absolute_left -= 1;
            return Some(Command { ue, grant: target, is_absolute: true });
        }
        step.map(|grant| Command { ue, grant: Some(grant), is_absolute: false })
    }
}

/// Sum of the loads of all UEs, with the grants that they may still use.
fn committed_load(uplink: &UplinkLoad, members: &BTreeMap<UeId, Member>) -> f64 {
    members.values().map(|member| member.committed(uplink, None)).sum()
}
