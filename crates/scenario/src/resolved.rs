//! Resolved names and numbers of a scenario. They are computed once, when the scenario is checked.

use std::ops::Deref;

use umts_stack::ids::{FlowId, UeId};
use umts_stack::network::TimedChange;
use umts_stack::radio::capacity::CapacityTrace;
use umts_stack::radio::mac::TransportFormat;
use umts_stack::rnc::Reserved;
use umts_stack::scheduling::SchedulerKind;
use umts_stack::trace;
use umts_units::BitRate;

use crate::model;

/// A valid scenario: the complete and checked content of its file, with its resolved names and
/// numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub(crate) model: model::Scenario,
    pub(crate) plan: Resolved,
}

impl Scenario {
    /// The resolved names and numbers.
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

/// The resolved names and numbers of a scenario; each table is in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The cells of the network, by cell number.
    pub cells: Vec<PlannedCell>,
    /// Permanently reserved capacity of each `[[cell]]`.
    pub reserved: Vec<Reserved>,
    /// The resolved `[[ue]]` tables.
    pub groups: Vec<Group>,
    /// The flow of each `[[impairment]]`.
    pub impaired: Vec<FlowId>,
    /// The changes of `[[at]]`, by time.
    pub changes: Vec<TimedChange>,
    /// The proxy, if there is one.
    pub proxy: Option<ProxyPlan>,
}

/// The resolved `[proxy]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyPlan {
    /// Number of links between the servers and the proxy.
    pub hops: u32,
    /// TCP of the proxy's ends for each `[[flow]]`, server side first: the flow's TCP with the keys
    /// of the side.
    pub sides: Vec<[model::Tcp; 2]>,
}

/// A cell of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCell {
    /// Name of the `[[cell]]`. In a layout the sector's number from 1 is appended.
    pub name: String,
    /// Index of the `[[cell]]` that describes the cell.
    pub of: usize,
}

/// A resolved `[[ue]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The first user equipment of the group. The others follow.
    pub first: UeId,
    /// Index of the `[[cell]]` of the group. In a layout it is the only one.
    pub cell: usize,
    /// Channels of the group, downlink and uplink. For switched users the channels at the start of
    /// the run.
    pub channels: [Channel; 2],
    /// Whether the group is in a TDD cell. A TDD cell grants capacity on request.
    pub is_granted: bool,
    /// DCHs that RRC may allocate, the largest first. Empty if the group is not switched.
    pub dchs: Vec<[Channel; 2]>,
    /// HS-DSCH category of the bearer, or of a bearer in `dchs`. `None`: the group has no HS-DSCH.
    pub hs_dsch_category: Option<u8>,
    /// Traces of a measured radio that replaces all these, downlink and uplink.
    pub traces: Option<[CapacityTrace; 2]>,
    /// Indices of the `[[flow]]`s of the group's users. Flows are numbered by group, then in the
    /// order of the file, then by user.
    pub flows: Vec<usize>,
}

/// A transport channel as used by the users of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Type of channel.
    pub kind: trace::Channel,
    /// Distinguishes shared channels of one type in a cell. 0 if there is only one, and for DCHs.
    pub number: u16,
    /// Order in which the users of a shared channel are served.
    pub scheduler: SchedulerKind,
    /// RLC payload rate with the largest transport format, as written in the file.
    pub rate: BitRate,
    /// TTI and number of blocks, which is at least one and at most the largest block set.
    pub format: TransportFormat,
}
