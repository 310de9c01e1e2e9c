//! The grants that all UEs should have: as equal as possible, up to the grant that each UE wants.

use std::collections::BTreeMap;

use umts_units::{Duration, Time};

use super::super::config::EDchConfig;
use super::super::grant::Grant;
use super::super::uplink_load::UplinkLoad;
use super::{Member, ROUNDING};
use crate::ids::UeId;

/// Time after which UEs that take turns are served in another order.
const TURN: Duration = Duration::from_millis(100);

/// A UE that wants a grant.
struct Demand {
    ue: UeId,
    wanted: Grant,
}

/// The target of each UE. All UEs that want a grant first get one that carries a PDU, then one more
/// step each, and so on, until the budget is used or each has what it wants.
pub(super) fn targets(
    now: Time,
    uplink: &UplinkLoad,
    config: &EDchConfig,
    members: &BTreeMap<UeId, Member>,
) -> BTreeMap<UeId, Option<Grant>> {
    let mut demands = demands(now, uplink, config, members);
    let mut allocation = Allocation::new(uplink, members);
    demands.retain(|demand| allocation.raise(demand.ue, members[&demand.ue].min_grant));
    // In each pass the UEs with the lowest target get one step. UEs that get none are satisfied, or
    // the budget is too small for them.
    while let Some(lowest) = demands.iter().map(|demand| allocation.targets[&demand.ue]).min() {
        demands.retain(|demand| {
            let target = allocation.targets[&demand.ue];
            if target > lowest {
                return true;
            }
            let next = target.and_then(Grant::up).filter(|next| *next <= demand.wanted);
            next.is_some_and(|next| allocation.raise(demand.ue, next))
        });
    }
    allocation.targets
}

/// The UEs that want a grant, in the order in which they get the steps that do not suffice for all. The
/// order changes with time.
fn demands(
    now: Time,
    uplink: &UplinkLoad,
    config: &EDchConfig,
    members: &BTreeMap<UeId, Member>,
) -> Vec<Demand> {
    let demand = |(&ue, member): (&UeId, &Member)| {
        let wanted = member.wanted(now, uplink, config)?;
        Some(Demand { ue, wanted })
    };
    let mut demands: Vec<Demand> = members.iter().filter_map(demand).collect();
    if !demands.is_empty() {
        let turn = (now.as_nanos() / TURN.as_nanos()) as usize;
        let first = turn % demands.len();
        demands.rotate_left(first);
    }
    demands
}

/// Targets so far, and the rest of the budget.
struct Allocation<'a> {
    uplink: &'a UplinkLoad,
    members: &'a BTreeMap<UeId, Member>,
    /// `None`: the zero grant.
    targets: BTreeMap<UeId, Option<Grant>>,
    /// Load that further grants may add.
    free_load: f64,
}

impl<'a> Allocation<'a> {
    /// All UEs have the zero grant.
    fn new(uplink: &'a UplinkLoad, members: &'a BTreeMap<UeId, Member>) -> Self {
        let load_without_grants = members.values().map(|member| member.load_of(uplink, None)).sum::<f64>();
        Allocation {
            uplink,
            members,
            targets: members.keys().map(|ue| (*ue, None)).collect(),
            free_load: uplink.budget() + ROUNDING - load_without_grants,
        }
    }

    /// Raises the target of a UE to `grant` if the budget allows it. Returns whether it does.
    fn raise(&mut self, ue: UeId, grant: Grant) -> bool {
        let member = &self.members[&ue];
        let target = self.targets.get_mut(&ue).expect("each member has a target");
        let increase = member.load_of(self.uplink, Some(grant)) - member.load_of(self.uplink, *target);
        if increase > self.free_load {
            return false;
        }
        *target = Some(grant);
        self.free_load -= increase;
        true
    }
}
