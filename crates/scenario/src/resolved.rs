//! What the names and numbers of a scenario come to: found once, when it is checked, and looked up by nobody after that.

use std::ops::Deref;

use umts_stack::core_network::RedConfig;
use umts_stack::ids::{FlowId, UeId};
use umts_stack::radio::capacity::CapacityTrace;
use umts_stack::radio::mac::TransportFormat;
use umts_stack::radio::rlc::am::Discard;
use umts_stack::rnc::{Reserved, SchedulerKind};
use umts_stack::trace;
use umts_units::BitRate;

use crate::model;

/// A scenario that may be run: what its file says, complete and checked, and what that comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub(crate) model: model::Scenario,
    pub(crate) plan: Resolved,
}

impl Scenario {
    /// What its names and numbers come to.
    pub fn plan(&self) -> &Resolved {
        &self.plan
    }
}

impl Deref for Scenario {
    type Target = model::Scenario;

    fn deref(&self) -> &model::Scenario {
        &self.model
    }
}

/// What the names and numbers of a scenario come to, each table in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// RED in front of each `[[link]]`.
    pub red: Vec<Option<RedConfig>>,
    /// The cells of the network, by their numbers.
    pub cells: Vec<PlannedCell>,
    /// What is reserved for good in each `[[cell]]`.
    pub reserved: Vec<Reserved>,
    /// Each `[[ue]]`.
    pub groups: Vec<Group>,
    /// The flow that each `[[impairment]]` is about.
    pub impaired: Vec<FlowId>,
    /// The proxy, if there is one.
    pub proxy: Option<ProxyPlan>,
}

/// What `[proxy]` comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyPlan {
    /// How many links are between the servers and the proxy.
    pub hops: u32,
    /// TCP of its ends for each `[[flow]]`, the server's side first: the flow's, with what the sides differ in.
    pub sides: Vec<[model::Tcp; 2]>,
}

/// A cell of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCell {
    /// What it is called: its own name, or with a layout that of the only `[[cell]]` and the number of the sector from 1.
    pub name: String,
    /// The `[[cell]]` that describes it.
    pub of: usize,
}

/// What a `[[ue]]` comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its first user equipment; the others follow.
    pub first: UeId,
    /// The `[[cell]]` that it is in; the only one where it is in the best sector.
    pub cell: usize,
    /// What it uses, downlink and uplink; where it is switched, at the beginning.
    pub channels: [Channel; 2],
    /// It is in a TDD cell, whose capacity is granted on request.
    pub is_granted: bool,
    /// The DCHs that it may be given, the largest first; none where it is not switched.
    pub dchs: Vec<[Channel; 2]>,
    /// What ends the attempts of RLC to send an SDU.
    pub discard: Discard,
    /// A measured radio in place of all these, downlink and uplink.
    pub traces: Option<[CapacityTrace; 2]>,
    /// The `[[flow]]`s of its users, by their indices. Flows are numbered group by group, then in the order of the file, then
    /// by user.
    pub flows: Vec<usize>,
}

/// A transport channel as the users of a group have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Which it is.
    pub kind: trace::Channel,
    /// Tells it from others of its kind that users of the cell share; 0 where there is one alone, and for DCHs.
    pub number: u16,
    /// Who of those that share it is next.
    pub scheduler: SchedulerKind,
    /// RLC payload rate at the full transport format, as the file has it.
    pub rate: BitRate,
    /// TTI and blocks: one at least, and no more than a set may have.
    pub format: TransportFormat,
}
