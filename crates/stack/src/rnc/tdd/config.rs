//! Configuration of a TDD cell. The model is from Baiocchi and Vacirca (2002). Where their paper can
//! be interpreted in several ways, each interpretation is an option (see the table in `docs/tdd.md`).

use umts_units::Duration;

use crate::count::{Frames, Sdus};
use crate::ids::Direction;
#[cfg(feature = "schema")]
use crate::options::Unlimited;
use crate::options::{PythonClass, options};
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

options! {
    /// A grant: a DCH with a number of blocks per frame. It ends when it is left unused.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct GrantConfig as "Grant" {
        /// N: largest number of SDUs that may begin in one grant.
        [label = "N (SDUs of a grant)", min = 1, max = 65535, source = "Baiocchi and Vacirca (2002), Table I"]
        pub sdus: u32 = 20,
        /// Backlogs up to which the first and the second of three levels extend.
        [label = "Levels of backlog", default = "1 SDU, 5 SDUs", range = "two, rising",
            source = "an interpretation: the study names three levels and no numbers"]
        pub levels: Vec<Sdus> = vec![Sdus(1), Sdus(5)],
        /// Number of blocks per frame for each of the three levels.
        [label = "Weights of the levels (blocks)", default = "1, 2, 4", range = "three, not falling",
            source = "an interpretation: the study names a rough weighting factor and no numbers"]
        pub weights: Vec<u32> = vec![1, 2, 4],
        /// Treatment of a user's request for which there is no capacity. Requests of the RNC itself
        /// always wait.
        [label = "Refused users", source = "Baiocchi and Vacirca (2002), §II.B"]
        pub refused: Refused = Refused::BackOff,
        /// Order in which the requests of one frame and one direction are granted.
        [label = "Order of grants", source = "an interpretation: the study says nothing"]
        pub order: GrantOrder = GrantOrder::FirstCome,
        /// File and class of a scheduler in Python that replaces `order`, as in
        /// `"my_scheduler.py:MyScheduler"`. The path is relative to the scenario file.
        [label = "Python class that orders grants", source = "for experiments: docs/schedulers.md"]
        pub python: String = String::new(),
        /// Class and text of that file. Filled in by the loader.
        #[cfg_attr(feature = "schema", serde(skip))]
        pub python_scheduler: Option<PythonClass> = None,
    }
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

options! {
    /// Random access in a TDD cell.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct TddRachConfig as "TddRach" {
        /// Number of codes from which users draw. If two users draw the same code, neither is received.
        [label = "Codes of the RACH", min = 1, max = 16, source = "TS 25.331 §10.3.6.51"]
        pub codes: u32 = 8,
        /// Time from a request to its answer on the FACH, in whole frames. The grant begins in the
        /// frame after the answer.
        [label = "Answer to a request", min = "10 ms", max = "1 s",
            source = "an interpretation: the study names no delay"]
        pub answer: Duration = Duration::from_millis(20),
        /// Longest back-off after a collision or a refusal. After failure n a user waits 1 to 2^n
        /// frames, up to this limit.
        [label = "Maximum back-off of requests", min = "1 frame", max = "65536 frames",
            source = "an interpretation: the study names back-off rules and no numbers"]
        pub backoff: Frames = Frames(64),
    }
}

options! {
    /// Transport of RLC's acknowledgments and other control PDUs in a TDD cell.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct AckConfig as "Ack" {
        /// Channel for RLC's acknowledgments.
        [label = "Channel of acknowledgments", source = "Baiocchi and Vacirca (2002), §II.C"]
        pub channel: AckChannel = AckChannel::Common,
        /// Number of users whose acknowledgments a downlink frame carries, in turn, each with the
        /// capacity of a block. `"unlimited"`: all acknowledgments share the capacity of one block.
        [label = "Downlink acknowledgments of a frame", keyword = "Unlimited::<u32>", min = 1, max = 48,
            source = "an interpretation: the study names simple TDM"]
        pub downlink_per_frame: Option<u32> = None,
        /// Number of places for acknowledgments in an uplink frame, each with the capacity of a block.
        /// Two users in one place are lost.
        [label = "Places for uplink acknowledgments", min = 1, max = 48,
            source = "an interpretation: the study names a collision type protocol"]
        pub uplink_places: u32 = 1,
        /// Longest wait after a collision of acknowledgments. The wait is drawn from 1 frame up to this
        /// value.
        [label = "Back-off of uplink acknowledgments", min = "1 frame", max = "65536 frames",
            source = "an interpretation: the study says nothing"]
        pub uplink_backoff: Frames = Frames(8),
        /// Delay of acknowledgments on common channels after the end of the frame that they report.
        [label = "Delay of acknowledgments", max = "1000 frames",
            source = "an interpretation: the study says nothing"]
        pub delay: Frames = Frames(0),
        /// Whether acknowledgments on common channels have block errors.
        [label = "Block errors of acknowledgments", source = "an interpretation: the study says nothing"]
        pub errors: bool = true,
    }
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
    /// Blocks per frame of a grant for a backlog of `sdus`.
    pub fn blocks(&self, sdus: u32) -> u32 {
        let level = self.levels.iter().filter(|limit| sdus > limit.0).count();
        self.weights[level]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By default, up to 1, up to 5 and more SDUs give 1, 2 and 4 blocks per frame.
    #[test]
    fn a_backlog_has_one_of_three_levels() {
        let grant = GrantConfig::default();
        assert_eq!([0, 1, 2, 5, 6, 1000].map(|sdus| grant.blocks(sdus)), [1, 1, 2, 2, 4, 4]);
    }
}
