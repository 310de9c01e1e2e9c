//! Configuration of a TDD cell. The model is from Baiocchi and Vacirca (2002). Where their paper can
//! be interpreted in several ways, each interpretation is an option (see the table in `docs/tdd.md`).

use crate::ids::Direction;
use crate::radio::phy::tdd::TddRadioConfig;
use crate::radio::phy::tdd::layout::LayoutKind;
use crate::scheduling::SchedulerKind;

/// A TDD cell.
#[derive(Debug, Clone, PartialEq)]
pub struct TddConfig {
    /// Structure of the frame.
    pub layout: LayoutKind,
    /// Fixed direction of each slot. `None`: directions follow the demand.
    pub pattern: Option<Vec<Option<Direction>>>,
    /// Size and order of grants.
    pub grant: GrantConfig,
    /// How users request a grant.
    pub rach: TddRachConfig,
    /// Channels for RLC's control PDUs.
    pub ack: AckConfig,
    /// Radio model. `None`: no block is lost.
    pub radio: Option<TddRadioConfig>,
}

/// Size and order of grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantConfig {
    /// Maximum number of SDUs that may be started in a grant, N.
    pub sdus: u32,
    /// Upper limits of the first and second backlog level, in SDUs. Larger backlogs are the third level.
    pub levels: [u32; 2],
    /// Blocks per frame for each level.
    pub weights: [u32; 3],
    /// Treatment of a request without room.
    pub refused: Refused,
    /// Order in which requests are granted.
    pub order: GrantOrder,
}

/// Order in which the requests of one direction are granted in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum GrantOrder {
    /// First come, first served.
    #[default]
    FirstCome,
    /// The users take turns.
    RoundRobin,
    /// The user with the packet that has waited longest. For the uplink, the RNC knows only the
    /// time of the request.
    OldestFirst,
    /// The user with the most to send. For the uplink, the RNC knows only the backlog reported with
    /// the request.
    LargestBacklog,
}

impl GrantOrder {
    /// The scheduler for this order; `None`: the order of the requests.
    pub fn scheduler(self) -> Option<SchedulerKind> {
        match self {
            GrantOrder::FirstCome => None,
            GrantOrder::RoundRobin => Some(SchedulerKind::RoundRobin),
            GrantOrder::OldestFirst => Some(SchedulerKind::OldestFirst),
            GrantOrder::LargestBacklog => Some(SchedulerKind::LargestBacklog),
        }
    }
}

/// Treatment of a request without room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Refused {
    /// The user is notified, backs off and repeats the request.
    #[default]
    BackOff,
    /// The RNC keeps the request until there is room.
    Queue,
}

/// How users request capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TddRachConfig {
    /// Codes to draw from.
    pub codes: u32,
    /// Frames from a request to its answer on the FACH; a grant begins with the frame after that.
    pub answer: u64,
    /// The longest back-off, in frames.
    pub backoff: u64,
}

/// Channels for RLC's control PDUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckConfig {
    /// Kind of channel.
    pub channel: AckChannel,
    /// Control PDUs per downlink frame, each in the resource units of a block. `None`: any number, in
    /// the resource units of one block.
    pub downlink_per_frame: Option<u32>,
    /// Places per uplink frame that UEs contend for, each with the resource units of a block.
    pub uplink_places: u32,
    /// The longest back-off after a collision, in frames.
    pub uplink_backoff: u64,
    /// Additional delay of a control PDU in frames. 0: it arrives at the end of the frame in which the
    /// data arrived.
    pub delay: u64,
    /// Whether control PDUs are subject to block errors.
    pub errors: bool,
}

/// On which channel RLC's control PDUs travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum AckChannel {
    /// On two channels that all share: the downlink in turns, the uplink by contention.
    #[default]
    Common,
    /// Each grant has a channel of one block per frame the other way.
    Dedicated,
}

impl GrantConfig {
    /// Blocks of a frame for a backlog of `sdus`.
    pub fn blocks(&self, sdus: u32) -> u32 {
        let level = self.levels.iter().filter(|&&reaches| sdus > reaches).count();
        self.weights[level]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backlog_has_one_of_three_levels() {
        let (refused, order) = (Refused::default(), GrantOrder::default());
        let grant = GrantConfig { sdus: 20, levels: [1, 5], weights: [1, 2, 4], refused, order };
        assert_eq!([0, 1, 2, 5, 6, 1000].map(|sdus| grant.blocks(sdus)), [1, 1, 2, 2, 4, 4]);
    }
}
