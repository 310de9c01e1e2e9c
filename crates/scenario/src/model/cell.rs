//! Tables of cells (`[[cell]]`), of their common channels, and of dedicated bearers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::mac::e::EDchConfig;
use umts_stack::mac::hs::HsDschConfig;
pub use umts_stack::nodeb::IubTiming;
use umts_stack::rnc::Preemption;
use umts_stack::scheduling::SchedulerKind;
use umts_units::keyword::{OrNone, Unlimited};
use umts_units::{BitRate, Dbm, Duration};

use super::dsch::Dsch;
use super::power::Power;
use super::tdd::{Duplex, Tdd};
use super::{Dchs, PythonClass, Sccpch};
use crate::text::pdus;

/// The transmission time intervals of the channels modelled here (TS 25.302 §7.1), in milliseconds.
pub const TTIS: [u64; 4] = [10, 20, 40, 80];

const TTI_RANGE: &str = "10, 20, 40 or 80 ms";

/// A cell: its Iub link and its common channels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The name that users refer to.
    #[schemars(extend("x-label" = "Cell"))]
    pub name: String,
    /// How downlink and uplink of the cell are separated.
    #[serde(default)]
    #[schemars(extend("x-label" = "Duplex", "x-source" = "TS 25.201 §4.2"))]
    pub duplex: Duplex,
    /// Slots, grants and radio of a TDD cell (`duplex = "tdd"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Tdd")]
    pub tdd: Option<Tdd>,
    /// The link between RNC and Node B.
    #[serde(default)]
    pub iub: Iub,
    /// Time before the start of a frame at which MAC takes the blocks of the frame from RLC, in
    /// both directions and on all channels.
    #[serde(default)]
    #[schemars(extend("x-label" = "Lead of RLC", "x-max" = "10 ms", "x-source" = "EURANE: 1 ms; 3GPP leaves it to the implementation"))]
    pub rlc_lead: Duration,
    /// Forward access channel: downlink, shared by all users on common channels. `"none"` for a
    /// cell without FACH.
    #[serde(default = "default_fach", with = "OrNone::<Fach>")]
    #[schemars(extend("x-label" = "FACH", "x-default" = "present, with the values below", "x-source" = "TS 25.211 §5.3.3.4, TS 25.321 §4.2.3.2"))]
    pub fach: Option<Fach>,
    /// Random access channel, uplink. `"none"` for a cell without RACH.
    #[serde(default = "default_rach", with = "OrNone::<Rach>")]
    #[schemars(extend("x-label" = "RACH", "x-default" = "present, with the values below", "x-source" = "TS 25.211 §5.2.2.1, TS 25.321 §11.2"))]
    pub rach: Option<Rach>,
    /// Limits on the DCHs of the cell: rates, number and queue of requests.
    #[serde(default)]
    pub admission: Admission,
    /// Transmit power of the cell and power control (only in a `[layout]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Power")]
    pub power: Option<Power>,
    /// Downlink shared channel of the cell (only in a `[layout]`); no DSCH if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Dsch")]
    pub dsch: Option<Dsch>,
    /// High-speed downlink shared channel of the cell, for users of an `hsdpa-…` or `hspa-…` bearer.
    #[serde(default)]
    pub hs_dsch: HsDschConfig,
    /// Enhanced uplink of the cell, for users of an `hspa-…` bearer.
    #[serde(default)]
    pub e_dch: EDchConfig,
    /// Codes of dedicated channels of the cell (only in a `[layout]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Dchs")]
    pub dch: Option<Dchs>,
    /// Physical channel of the FACH (only in a `[layout]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Sccpch")]
    pub sccpch: Option<Sccpch>,
}

/// Admission of DCHs. The FACH counts towards the downlink limit, and so do the DCHs that users
/// keep permanently.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Admission {
    /// Limit of the sum of the downlink rates of the cell.
    #[serde(with = "Unlimited::<BitRate>")]
    #[schemars(extend("x-label" = "Downlink rate for DCHs", "x-max" = "100 Gbit/s", "x-source" = "Dubois (2005), Table 7.2: 800 kbit/s"))]
    pub downlink: Option<BitRate>,
    /// Limit of the sum of the rates of the uplink DCHs.
    #[serde(with = "Unlimited::<BitRate>")]
    #[schemars(extend("x-label" = "Uplink rate for DCHs", "x-max" = "100 Gbit/s", "x-source" = "Dubois (2005): no limit"))]
    pub uplink: Option<BitRate>,
    /// Limit of the number of simultaneous DCHs, which depends on the codes of a cell.
    #[serde(with = "Unlimited::<u32>")]
    #[schemars(extend("x-label" = "Maximum number of DCHs of a cell", "x-min" = 1, "x-max" = 65535, "x-source" = "TS 25.213 §4.3.1"))]
    pub dchs: Option<u32>,
    /// Limit of the mean transmit power of a cell of a `[layout]` with a new link: a DCH of switched users or a
    /// call is refused if the mean power and the power that it is expected to need are more. An HS-DSCH counts with
    /// its largest power, unless that is `"auto"`.
    #[serde(with = "Unlimited::<Dbm>")]
    #[schemars(extend("x-label" = "Power for admission", "x-range" = "above power.pilot, 80 dBm at most", "x-source" = "Holma and Toskala (2000), §9.5: power-based admission"))]
    pub power: Option<Dbm>,
    /// Limit of the number of requests that wait for a DCH, by class and then by arrival. A further
    /// request displaces one of a lower class, or is refused. A refused request is repeated after
    /// `rrc.retry`.
    #[schemars(extend("x-label" = "Queue for DCHs (requests)", "x-max" = 65535, "x-source" = "Dubois (2005), §5.2: none waits"))]
    pub queue: u32,
    /// DCHs that a request may take from other users: `inactive` or `lower_class`.
    #[schemars(extend("x-label" = "Preemption of DCHs", "x-source" = "Dubois (2005), §5.2.2: inactive; TS 23.107 §6.4.3 leaves it to the operator"))]
    pub preemption: Preemption,
}

table! {
    /// The Iub link between RNC and Node B, the same in both directions.
    pub struct Iub {
        /// Bit rate in each direction, or `"unlimited"`.
        #[serde(with = "Unlimited::<BitRate>")]
        #[schemars(extend("x-label" = "Rate of the Iub", "x-source" = "EURANE example scripts: one STM-4"))]
        pub rate: Option<BitRate> = BitRate::from_bps(622_000_000),
        /// Propagation and switching delay in each direction.
        #[schemars(extend("x-label" = "Delay of the Iub", "x-max" = "10 s", "x-source" = "EURANE example scripts"))]
        pub delay: Duration = Duration::from_millis(15),
        /// When the RNC sends a block to the Node B, relative to its transmission on the air.
        #[schemars(extend("x-label" = "Timing of the Iub", "x-source" = "TS 25.402 §7.2"))]
        pub timing: IubTiming = IubTiming::JustInTime,
    }
}

table! {
    /// Forward access channel.
    pub struct Fach {
        /// RLC payload rate of the whole channel with its largest transport format.
        #[schemars(extend("x-label" = "Rate of the FACH", "x-max" = "100 Mbit/s", "x-source" = "TS 34.108 §6.10.2.4.3; Dubois (2005), Table 6.1"))]
        pub rate: BitRate = BitRate::from_bps(32_000).expect("the rate is not zero"),
        /// Transmission time interval.
        #[schemars(extend("x-label" = "TTI of the FACH", "x-range" = TTI_RANGE, "x-source" = "TS 25.302 §7.1"))]
        pub tti: Duration = Duration::from_millis(10),
        /// Entity that schedules the FACH: MAC-c, or each user's RLC with a queue at the Node B.
        #[schemars(extend("x-label" = "Scheduling of the FACH", "x-source" = "TS 25.321 §4.2.3.2; EURANE for per_ue_push"))]
        pub scheduling: FachScheduling = FachScheduling::Pull,
        /// Order in which users with data are served (`pull` only).
        #[schemars(extend("x-label" = "Scheduler of the FACH", "x-source" = "TS 25.321 §4.2.3.3, which leaves it to the implementation"))]
        pub scheduler: SchedulerKind = SchedulerKind::default(),
        /// File and class of a scheduler in Python that replaces `scheduler`, as in
        /// `"my_scheduler.py:MyScheduler"`. The path is relative to the scenario file.
        #[schemars(extend("x-label" = "Python class that schedules the FACH", "x-source" = "for experiments: docs/schedulers.md"))]
        pub python: String = String::new(),
        /// Class and text of that file. Filled in by the loader.
        #[serde(skip)]
        pub python_scheduler: Option<PythonClass> = None,
        /// Capacity of the Node B's drop-tail queue, in blocks (`per_ue_push` only).
        #[serde(with = "pdus")]
        #[schemars(with = "crate::text::Pdus", extend("x-label" = "Node B queue", "x-min" = "1 PDUs", "x-source" = "EURANE at 32 kbit/s"))]
        pub nodeb_queue: u32 = 9,
        /// Largest random delay of a block on leaving the RNC. The delay is uniform from zero to
        /// this value.
        #[schemars(extend("x-label" = "Jitter of the RNC", "x-max" = "1 s", "x-source" = "EURANE: 20 us; none in 3GPP"))]
        pub rnc_jitter: Duration = Duration::ZERO,
    }
}

/// Entity that schedules the FACH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FachScheduling {
    /// 3GPP: MAC-c pulls from the UEs' RLC entities, one transport block set per TTI.
    Pull,
    /// EURANE: each UE's RLC sends at the full FACH rate into one queue at the Node B.
    PerUePush,
}

table! {
    /// Random access channel.
    pub struct Rach {
        /// RLC payload rate during the transmission of a message.
        #[schemars(extend("x-label" = "Rate of the RACH", "x-max" = "100 Mbit/s", "x-source" = "TS 34.108 §6.10.2.4.4; Dubois (2005), Table 6.1"))]
        pub rate: BitRate = BitRate::from_bps(16_000).expect("the rate is not zero"),
        /// Transmission time interval. The standard defines 10 and 20 ms for the RACH.
        #[schemars(extend("x-label" = "TTI of the RACH", "x-range" = TTI_RANGE, "x-source" = "TS 25.211 §5.2.2.1.3"))]
        pub tti: Duration = Duration::from_millis(20),
        /// Whether users contend for the channel.
        #[schemars(extend("x-label" = "Access to the RACH", "x-source" = "TS 25.211 §5.2.2.1, TS 25.321 §11.2; EURANE for private"))]
        pub access: RachAccess = RachAccess::Shared,
        /// Largest random delay before a message. The delay is uniform from zero to this value.
        #[schemars(extend("x-label" = "Access delay of the RACH", "x-max" = "10 s", "x-source" = "EURANE: 3 ms; none in 3GPP"))]
        pub access_delay: Duration = Duration::ZERO,
    }
}

/// Whether users contend for the RACH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RachAccess {
    /// All UEs share the rate; access slots and signatures can collide (TS 25.211 §5.2.2.1).
    Shared,
    /// EURANE: each UE has the whole rate for itself, without collisions.
    Private,
}

/// A named bearer: each of its users has a DCH in each direction, or all share one downlink
/// channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bearer {
    /// The name that users refer to. `common` is reserved for FACH and RACH.
    #[schemars(extend("x-label" = "Bearer"))]
    pub name: String,
    /// Channel from the network to the user.
    #[schemars(extend("x-label-suffix" = ", downlink"))]
    pub downlink: Dch,
    /// Channel from the user to the network.
    #[schemars(extend("x-label-suffix" = ", uplink"))]
    pub uplink: Dch,
}

/// A channel of a bearer in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dch {
    /// RLC payload rate with the largest transport format.
    #[schemars(extend("x-label" = "Rate of the bearer", "x-max" = "1 Gbit/s", "x-source" = "TS 34.108 §6.10.2.4.1"))]
    pub rate: BitRate,
    /// Transmission time interval.
    #[schemars(extend("x-label" = "TTI of the bearer", "x-range" = TTI_RANGE, "x-source" = "TS 25.302 §7.1"))]
    pub tti: Duration,
    /// Transport format set: the numbers of blocks that a TTI may hold, the largest according to the
    /// rate. MAC sends the largest format that needs no padding. Empty: any number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-label" = "Transport formats of the bearer", "x-range" = "numbers of blocks, as in [0, 1, 2, 4, 8, 12]", "x-source" = "TS 25.302 §7.1.6, TS 25.321 §11.4; the sets of reference bearers: TS 34.108 §6.10.2.4.1"))]
    pub transport_formats: Vec<u32>,
    /// Whether all users of the bearer in a cell share one downlink channel of this rate, a DSCH.
    #[serde(default)]
    #[schemars(extend("x-label" = "Shared channel of the bearer", "x-source" = "TS 25.211 §5.3.3.2"))]
    pub shared: bool,
    /// Order in which the users of a shared channel are served.
    #[serde(default)]
    #[schemars(extend("x-label" = "Scheduler of the bearer", "x-source" = "TS 25.321 §4.2.3.3, which leaves it to the implementation"))]
    pub scheduler: SchedulerKind,
    /// File and class of a scheduler in Python that replaces `scheduler`, as in
    /// `"my_scheduler.py:MyScheduler"`. The path is relative to the scenario file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-label" = "Python class that schedules the bearer", "x-source" = "for experiments: docs/schedulers.md"))]
    pub python: String,
    /// Class and text of that file. Filled in by the loader.
    #[serde(skip)]
    pub python_scheduler: Option<PythonClass>,
}

impl Dch {
    /// A channel that is dedicated to one user.
    pub fn new(rate: BitRate, tti: Duration) -> Self {
        let transport_formats = Vec::new();
        let (shared, scheduler, python) = (false, SchedulerKind::default(), String::new());
        Dch { rate, tti, transport_formats, shared, scheduler, python, python_scheduler: None }
    }
}

fn default_fach() -> Option<Fach> {
    Some(Fach::default())
}

fn default_rach() -> Option<Rach> {
    Some(Rach::default())
}

/// The cell of a layout, which has neither FACH nor RACH by default.
pub(crate) fn default_sector() -> Vec<Cell> {
    default_cells().into_iter().map(|cell| Cell { fach: None, rach: None, ..cell }).collect()
}

/// One cell with both common channels.
pub(crate) fn default_cells() -> Vec<Cell> {
    vec![Cell {
        name: "cell".to_owned(),
        duplex: Duplex::Fdd,
        tdd: None,
        iub: Iub::default(),
        rlc_lead: Duration::ZERO,
        fach: default_fach(),
        rach: default_rach(),
        admission: Admission::default(),
        power: None,
        dsch: None,
        dch: None,
        sccpch: None,
        hs_dsch: HsDschConfig::default(),
        e_dch: EDchConfig::default(),
    }]
}
