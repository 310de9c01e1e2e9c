//! Options of the HS-DSCH: of a cell, and of a UE.

use umts_units::{Db, Dbm, Duration, Probability, Speed};

use super::link_trace::LinkTrace;
#[cfg(feature = "schema")]
use crate::options::{Auto, OrNone, Unlimited};
use crate::options::{PythonClass, options};
use crate::scheduling::SchedulerKind;

options! {
    /// High-speed downlink shared channel of a cell (HS-DSCH) with its MAC-hs at the Node B.
    #[derive(Debug, Clone, PartialEq)]
    pub struct HsDschConfig as "HsDsch" {
        /// Number of HS-PDSCH codes of spreading factor 16.
        [label = "HS-PDSCH codes", min = 1, max = 15, source = "TS 25.213 §5.2.1"]
        pub codes: u8 = 15,
        /// Power of the HS-DSCH in a TTI in which it is sent, in a cell of a `[layout]`: this power, or what
        /// all other channels leave of `power.max` if that is less. `"auto"`: all that they leave. It is
        /// divided equally among `users_per_tti` blocks.
        [label = "Power of the HS-DSCH", keyword = "Auto::<Dbm>",
            range = "-50 dBm to 80 dBm, with the pilot and the S-CCPCH at most power.max",
            source = "TS 25.214 §6A.2.1 leaves it to the Node B"]
        pub power: Option<Dbm> = None,
        /// Order in which the Node B serves UEs of a class with data: `round_robin`, `oldest_first`,
        /// `largest_backlog`, `timeout`, `max_ci`, `proportional_fair` or `fcds`.
        [label = "Scheduler of the HS-DSCH", source = "TS 25.321 §4.2.3.3, which leaves it to the implementation"]
        pub scheduler: SchedulerKind = SchedulerKind::RoundRobin,
        /// File and class of a scheduler in Python that replaces `scheduler`, as in
        /// `"my_scheduler.py:MyScheduler"`. The path is relative to the scenario file.
        [label = "Python class that schedules the HS-DSCH", source = "for experiments: docs/schedulers.md"]
        pub python: String = String::new(),
        /// Class and text of that file. Filled in by the loader.
        #[cfg_attr(feature = "schema", serde(skip))]
        pub python_scheduler: Option<PythonClass> = None,
        /// Time constant of the mean rate of a UE, for `proportional_fair` and for credits.
        [label = "Averaging time of rates", min = "2 ms", max = "1 h",
            source = "Jalali et al. (2000): 1,000 slots"]
        pub mean_over: Duration = Duration::from_millis(2000),
        /// Weight of the past after one TTI in the mean and the variance of the SNR, for `fcds`.
        [label = "Memory of FCDS", source = "EURANE: 0.999"]
        pub fcds_memory: Probability = Probability::new(0.999).expect("it is a probability"),
        /// Largest number of users of the HS-DSCH at a time: RRC switches no further users to it.
        [label = "Users of the HS-DSCH", keyword = "Unlimited::<u32>", min = 1, max = 65535,
            source = "an operator's choice; codes of the uplink and power for the associated DCHs limit it"]
        pub max_users: Option<u32> = None,
        /// Largest number of UEs in a TTI, each with codes of its own: the number of HS-SCCHs.
        [label = "HS-SCCHs", min = 1, max = 4, source = "TS 25.214 §6A.1: a UE monitors up to 4"]
        pub users_per_tti: u8 = 1,
        /// Number of HARQ processes of a UE. Six are enough to send in every TTI.
        [label = "HARQ processes", min = 1, max = 8, source = "TS 25.321 §11.6.1.3; EURANE: 6"]
        pub processes: u8 = 6,
        /// Owner of the HARQ processes.
        [label = "Scope of HARQ processes", source = "TS 25.321 §11.6.1.3: ue; EURANE: cell"]
        pub process_scope: ProcessScope = ProcessScope::Ue,
        /// Time from the end of the TTI of a block to the use of its acknowledgment by the Node B. The
        /// block is decoded at the end of its TTI. `"auto"`: the timing of the standard, with which a
        /// process is free again 12 ms after the TTI began, and a block is decoded after 8.3 ms.
        [label = "Acknowledgment delay", keyword = "Auto::<Duration>", max = "100 ms",
            source = "TS 25.211 §7.7, §7.8; EURANE: 4 ms"]
        pub ack_delay: Option<Duration> = None,
        /// Largest number of transmissions of a block, the first one included.
        [label = "HARQ transmissions", min = 1, max = 16, source = "EURANE: 3"]
        pub max_transmissions: u8 = 3,
        /// Size of the receiver window of a reordering queue in blocks: 4, 6, 8, 12, 16, 24 or 32.
        [label = "MAC-hs window", min = 4, max = 32, source = "TS 25.331 §10.3.5.1a"]
        pub window: u8 = 32,
        /// Timer T1: how long a reordering queue waits for a missing block.
        [label = "T1", min = "10 ms", max = "400 ms", source = "TS 25.331 §10.3.5.1a; EURANE: 25 ms"]
        pub t1: Duration = Duration::from_millis(50),
        /// Longest time of a PDU in the queue of the Node B.
        [label = "Discard timer of MAC-hs", keyword = "Unlimited::<Duration>", max = "10 s",
            source = "TS 25.435 §6.2.7.24: 20 ms to 7.5 s"]
        pub discard_timer: Option<Duration> = None,
        /// Whether PDUs leave the Iub and the queue of the Node B at once when RLC at the RNC discards their
        /// SDUs, is reset or is re-established. If not, the Node B sends them.
        [label = "Flush of discarded PDUs", source = "TS 25.435 §6.2.7: the flush bit of a data frame"]
        pub flush_discarded: bool = false,
        /// Capacity of the queue of a UE at the Node B, in PDUs, with MAC-ehs in PDUs of the largest size. The
        /// Node B allocates no more credits than it has room for, PDUs on the Iub included.
        [label = "Node B queue of the HS-DSCH", min = 1, max = 65535, source = "an assumption; EURANE: 250"]
        pub nodeb_queue: u32 = 3000,
        /// Time between two allocations of credits.
        [label = "Interval of allocations", min = "10 ms", max = "2550 ms",
            source = "TS 25.435 §6.3.3.11.4: multiples of 10 ms; EURANE: 30 ms"]
        pub allocation_interval: Duration = Duration::from_millis(10),
        /// How the Node B determines the number of credits.
        [label = "Rule for credits", source = "the standard leaves the algorithm to the implementation; EURANE: queue_room"]
        pub credit_rule: CreditRule = CreditRule::QueueTime,
        /// Time for which the PDUs in the queue of the Node B should last, for `credit_rule =
        /// "queue_time"`. The credits of a UE fill its queue up to this time, and cover what is on the
        /// Iub.
        [label = "Target time in the Node B queue", min = "2 ms", max = "1 s",
            source = "the standard leaves the algorithm to the implementation"]
        pub queue_time: Duration = Duration::from_millis(40),
    }
}

options! {
    /// HS-DSCH of a UE: its category, its radio link, and the errors of its blocks.
    #[derive(Debug, Clone, PartialEq)]
    pub struct HsUeConfig as "HsUe" {
        /// HS-DSCH category: number of codes, largest block and smallest interval between blocks.
        /// `"auto"`: the category of the bearer.
        [label = "HS-DSCH category", keyword = "Auto::<u8>", min = 1, max = 12, source = "TS 25.306 table 5.1a"]
        pub category: Option<u8> = None,
        /// MAC of the HS-DSCH.
        [label = "MAC of the HS-DSCH", source = "TS 25.321 §4.2.3.3 for mac_hs; from Release 7 on for mac_ehs"]
        pub mac: HsMac = HsMac::MacHs,
        /// Constant CQI, or `"auto"`: the CQI follows from the SNR.
        [label = "CQI", keyword = "Auto::<u8>", min = 1, max = 30, source = "TS 25.214 §6A.2"]
        pub cqi: Option<u8> = None,
        /// Mean signal-to-noise ratio of the HS-PDSCH. `"auto"`: 10 dB; in a `[layout]` it follows from the
        /// powers of the cells and the path gains of the UE.
        [label = "SNR of the HS-DSCH", keyword = "Auto::<Db>", min = "-20 dB", max = "40 dB",
            source = "a property of the place; none in 3GPP"]
        pub snr: Option<Db> = None,
        /// Text file with the received powers and the CQI of each TTI, or `"none"`. It replaces SNR, fading,
        /// CQI cycle, CQI delay and CQI error. The name is relative to the folder of the scenario file.
        [label = "Link trace of the HS-DSCH", keyword = "OrNone::<String>", source = "EURANE: three powers and a CQI per TTI"]
        pub trace: Option<String> = None,
        /// Whether the trace starts again at its end. If not, it must be at least as long as the run.
        [label = "Link trace repeats"]
        pub trace_repeats: bool = false,
        /// Content of the trace. Filled in by the loader. Not a key.
        #[cfg_attr(feature = "schema", serde(skip))]
        pub link_trace: LinkTrace = LinkTrace::default(),
        /// Fading around the mean.
        [label = "Fading on the HS-DSCH"]
        pub fading: Fading = Fading::None,
        /// Speed of the UE, for `fading = "rayleigh"`.
        [label = "Speed for fading", max = "500 km/h", source = "TS 25.101 annex B: 3 to 120 km/h"]
        pub speed: Speed = Speed::from_metres_per_hour(3_000),
        /// Time between two measurements of the CQI.
        [label = "CQI cycle", min = "2 ms", max = "160 ms", source = "TS 25.214 §6A.1.2"]
        pub cqi_cycle: Duration = Duration::from_millis(2),
        /// Time from the measurement of a CQI to its first use by the Node B.
        [label = "CQI delay", max = "100 ms", source = "3 TTIs; EURANE: none"]
        pub cqi_delay: Duration = Duration::from_millis(6),
        /// Standard deviation of the measurement error of the SNR behind a CQI.
        [label = "CQI error", min = "0 dB", max = "10 dB", source = "TS 25.101 §9.3 bounds it by tests"]
        pub cqi_error: Db = Db(0.0),
        /// How transmissions of blocks fail.
        [label = "Block errors on the HS-DSCH", source = "Brouwer et al. (2004) for curve"]
        pub errors: BlockErrorModel = BlockErrorModel::Curve,
        /// Error probability of the first, second, … transmission of a block, for `errors =
        /// "per_attempt"`. The last one also holds for all further transmissions.
        [label = "Error probability by transmission"]
        pub attempt_errors: Vec<Probability> = Vec::new(),
        /// Probability that the UE misses the HS-SCCH of a transmission. It then neither receives the block
        /// nor answers.
        [label = "Missed HS-SCCHs", source = "TS 25.101 §9.4: at most 1 % at the given power"]
        pub missed_hs_scch: Probability = Probability::ZERO,
        /// Probability that the Node B reads a NACK as an ACK. The block is lost.
        [label = "NACK read as ACK", source = "TS 25.104 §8.11 bounds it by tests"]
        pub nack_to_ack: Probability = Probability::ZERO,
        /// Probability that the Node B reads an ACK as a NACK. The block is repeated needlessly.
        [label = "ACK read as NACK", source = "TS 25.104 §8.11 bounds it by tests"]
        pub ack_to_nack: Probability = Probability::ZERO,
        /// Probability that the Node B reads an ACK although the UE did not answer, because it missed the
        /// HS-SCCH. The block is lost.
        [label = "No answer read as ACK", source = "TS 25.104 §8.11.1: at most 1 %"]
        pub dtx_to_ack: Probability = Probability::ZERO,
    }
}

/// Fading of a radio link around its mean SNR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Fading {
    /// The SNR is constant.
    #[default]
    None,
    /// Rayleigh fading that is independent from TTI to TTI.
    PerTti,
    /// Rayleigh fading whose rate follows from the speed of the UE.
    Rayleigh,
}

/// How transmissions of blocks on the HS-DSCH fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum BlockErrorModel {
    /// No transmission fails.
    None,
    /// By the format of the block, and by the SNR of its transmissions, which the UE combines.
    #[default]
    Curve,
    /// With the probabilities of `attempt_errors`.
    PerAttempt,
    /// Each block requires an SNR that is drawn once, with the distribution of `curve` for the reported
    /// CQI. A transmission fails if its SNR is lower.
    RequiredSnr,
}

/// MAC of the HS-DSCH of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum HsMac {
    /// Blocks contain whole PDUs of one size.
    #[default]
    MacHs,
    /// PDUs have any size up to 1,503 octets. The Node B divides a PDU that does not fit into a block.
    MacEhs,
}

/// Owner of HARQ processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum ProcessScope {
    /// Each UE has its processes. A retransmission waits until the scheduler selects the UE.
    #[default]
    Ue,
    /// The cell has the processes and uses them in turn, one in each TTI. A block that failed is
    /// repeated in the next TTI of its process, whatever the scheduler prefers.
    Cell,
}

/// How the Node B determines the number of credits of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum CreditRule {
    /// Enough PDUs for `queue_time` at the expected rate of the UE.
    #[default]
    QueueTime,
    /// As many PDUs as the queue has room for.
    QueueRoom,
}
