//! The DSCH of the cells of a layout: `[cell] dsch = { … }`. Where Rendón et al. (2004) leave a
//! rule open, a key selects the interpretation.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::count::Blocks;
use umts_stack::radio::mac::PowerFormat;
use umts_stack::radio::phy::ovsf::Code;
pub use umts_stack::radio::phy::ovsf::TreeShare;
use umts_stack::rnc::mac_sh::{Decision, MacShConfig, RatePolicy};
use umts_stack::scheduling::{Accrual, CreditConfig, Debit, Expired, LooksAt, SchedulerKind, TimeoutConfig};
use umts_units::keyword::{Any, Auto};
use umts_units::{BitRate, Bytes, Db, Duration};

use super::PythonClass;
use super::power::{LinkTables, Power};

table! {
    /// A DSCH: a branch of the code tree that MAC-c/sh allocates again in each TTI.
    pub struct Dsch {
        /// Branch of the code tree that the DSCH has, as a share of the tree.
        #[schemars(extend("x-label" = "Codes of the DSCH", "x-range" = "1/1, 1/2, 1/4 … 1/512", "x-source" = "Rendón et al. (2004), §3.2"))]
        pub codes: TreeShare = TreeShare::of(4),
        /// Transmission time interval. The allocation is decided again in each TTI.
        #[schemars(extend("x-label" = "DSCH TTI", "x-range" = "10 or 20 ms", "x-source" = "Rendón et al. (2004), Table 1"))]
        pub tti: Duration = Duration::from_millis(20),
        /// Time at which the allocation of the DSCH is decided.
        #[schemars(extend("x-label" = "Time of the decision on the DSCH", "x-source" = "an interpretation: Rendón et al. (2004) assign \"at frame basis (10ms)\", §2, TTIs of 20 ms, Table 1"))]
        pub decision: Decision = Decision::default(),
        /// RLC payload of a transport block on the DSCH.
        #[schemars(extend("x-label" = "Block of the DSCH", "x-min" = "1 B", "x-max" = "1 kB", "x-source" = "Rendón et al. (2004), Table 1: 320 bits"))]
        pub block: Bytes = Bytes(40),
        /// Transport formats of the DSCH, in ascending order.
        pub format: Vec<DschFormat> = FORMATS.map(DschFormat::new).to_vec(),
        /// Offset that is added to the Eb/N0 of all transport formats of the DSCH.
        #[schemars(extend("x-label" = "Eb/N0 offset of the DSCH", "x-range" = "-30 dB to 30 dB", "x-source" = "calibrated: the mean load of Rendón et al. (2004), Tables 3 and 4"))]
        pub ebn0_offset: Db = Db(0.0),
        /// Rule for the transport format that a user requests in a TTI.
        #[schemars(extend("x-label" = "Requirement on the DSCH", "x-source" = "Rendón et al. (2004), §2.A"))]
        pub requirement: RatePolicy = RatePolicy::default(),
        /// Rule for the order of the users. It may differ from the rule in `requirement`.
        #[schemars(extend("x-label" = "Priority on the DSCH", "x-source" = "Rendón et al. (2004), §2.B"))]
        pub priority: SchedulerKind = SchedulerKind::ServiceCredit,
        /// File and class of a scheduler in Python that replaces `requirement` and `priority`, as
        /// in `"my_scheduler.py:MyScheduler"`. The path is relative to the scenario file.
        #[schemars(extend("x-label" = "Python class that schedules the DSCH", "x-source" = "for experiments: docs/schedulers.md"))]
        pub python: String = String::new(),
        /// Class and text of that file. Filled in by the loader.
        #[serde(skip)]
        pub python_scheduler: Option<PythonClass> = None,
        /// Whether a user requests at most the format that its backlog fills.
        #[schemars(extend("x-label" = "Formats capped by the backlog", "x-source" = "an interpretation: the spreading factors of Rendón et al. (2004), Table 3, are those of credits alone"))]
        pub capped_by_backlog: bool = false,
        /// Bit rate that service credits guarantee.
        #[schemars(extend("x-label" = "Guaranteed rate", "x-range" = "a block per TTI or more", "x-source" = "Rendón et al. (2004), §4.1: 16 to 256 kbit/s"))]
        pub guaranteed: BitRate = kbps(64),
        /// Largest number of credits that a user keeps. `"auto"`: the blocks of the largest format,
        /// or two TTIs of the guaranteed rate if that is more.
        #[serde(with = "Auto::<Blocks>")]
        #[schemars(extend("x-label" = "Limit of service credits", "x-source" = "an interpretation: the study says nothing"))]
        pub credit_limit: Option<Blocks> = None,
        /// When the service credits of a user grow.
        #[schemars(extend("x-label" = "Accrual of service credits", "x-source" = "an interpretation: the study says nothing"))]
        pub credit_accrual: Accrual = Accrual::default(),
        /// Blocks for which service credits are spent.
        #[schemars(extend("x-label" = "Debit of service credits", "x-source" = "an interpretation: the study says nothing"))]
        pub credit_debit: Debit = Debit::default(),
        /// Target time from the entry of an SDU into RLC to its complete delivery.
        #[schemars(extend("x-label" = "Timeout of the DSCH", "x-range" = "a TTI or more", "x-source" = "Rendón et al. (2004), §4.1: 75 to 1,200 ms"))]
        pub timeout: Duration = Duration::from_millis(300),
        /// Size of the SDU to which `timeout` applies. Smaller SDUs have a proportionally smaller
        /// timeout. `"any"`: all SDUs have the same timeout.
        #[serde(with = "Any::<Bytes>")]
        #[schemars(extend("x-label" = "SDU size of the timeout", "x-min" = "1 B", "x-source" = "Rendón et al. (2004), §4.1: applied to the largest SDU"))]
        pub timeout_of: Option<Bytes> = Some(Bytes(570)),
        /// Request of a user for an SDU after its timeout.
        #[schemars(extend("x-label" = "Format after the timeout", "x-source" = "an interpretation: the study says nothing"))]
        pub expired: Expired = Expired::default(),
        /// SDUs of which the timeouts are considered.
        #[schemars(extend("x-label" = "SDUs whose timeouts count", "x-source" = "an interpretation: the study says nothing"))]
        pub looks_at: LooksAt = LooksAt::default(),
        /// RLC payload rate of the uplink DCH that each user of the DSCH has.
        #[schemars(extend("x-label" = "Uplink beside the DSCH", "x-max" = "10 Mbit/s", "x-source" = "an interpretation: the study says nothing"))]
        pub uplink: BitRate = kbps(64),
        /// Time constant of the mean rate in `proportional_fair`.
        #[schemars(extend("x-label" = "Time constant of proportional fairness", "x-min" = "20 ms", "x-max" = "1000 s", "x-source" = "Jalali et al. (2000): about 1 s"))]
        pub mean_over: Duration = Duration::from_secs(1),
    }
}

/// A transport format of the DSCH.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DschFormat {
    /// RLC payload rate of the format: a whole number of blocks in each TTI.
    #[schemars(extend("x-label" = "Rate of a format", "x-max" = "10 Mbit/s", "x-source" = "Rendón et al. (2004), Table 1"))]
    pub rate: BitRate,
    /// Spreading factor of the code of the format.
    #[schemars(extend("x-label" = "Spreading factor of a format", "x-range" = "a power of two from 4 to 512", "x-source" = "Rendón et al. (2004), Table 1; TS 25.213 §4.3.1"))]
    pub spreading_factor: u16,
    /// Eb/N0 at which 1 % of the blocks of the format are lost, unless `cell.power.tables` has a
    /// table for it.
    #[schemars(extend("x-label" = "Eb/N0 of a format", "x-range" = "-30 dB to 30 dB", "x-source" = "an assumption: larger blocks need less"))]
    pub ebn0: Db,
}

/// Transport formats TF1 to TF6 of Rendón et al. (2004): kbit/s, spreading factor, and Eb/N0 in dB.
const FORMATS: [(u64, u16, f64); 6] =
    [(16, 128, 3.25), (32, 64, 2.75), (64, 32, 2.25), (128, 16, 1.85), (192, 8, 1.65), (256, 8, 1.55)];

fn kbps(kbps: u64) -> BitRate {
    BitRate::from_bps(kbps * 1000).expect("the rate is not zero")
}

impl DschFormat {
    fn new((rate, spreading_factor, ebn0): (u64, u16, f64)) -> Self {
        DschFormat { rate: kbps(rate), spreading_factor, ebn0: Db(ebn0) }
    }
}

impl Dsch {
    /// Blocks per TTI at this rate, not necessarily a whole number.
    pub fn blocks(&self, rate: BitRate) -> f64 {
        rate.bps() as f64 * self.tti.as_secs() / self.block.bits() as f64
    }

    /// Configuration of the channel for the stack. Panics if the scenario was not checked.
    pub fn config(&self, power: &Power) -> MacShConfig {
        MacShConfig {
            tti: self.tti,
            decision: self.decision,
            block: self.block,
            formats: (0..self.format.len()).map(|number| self.stack_format(number, power)).collect(),
            codes: Code::last(self.codes.spreading_factor()),
            requirement: self.requirement,
            priority: self.priority,
            capped_by_backlog: self.capped_by_backlog,
            credit: self.credit(),
            timeout: TimeoutConfig {
                timeout: self.timeout,
                of_size: self.timeout_of,
                expired: self.expired,
                looks_at: self.looks_at,
            },
            mean_over: self.mean_over,
        }
    }

    fn stack_format(&self, number: usize, power: &Power) -> PowerFormat {
        let format = &self.format[number];
        let table = power.link(&LinkTables::format(number), format.ebn0 + self.ebn0_offset);
        PowerFormat {
            blocks: self.blocks(format.rate).round() as u32,
            spreading_factor: format.spreading_factor,
            target: power.target(&table),
            errors: Arc::new(table),
        }
    }

    /// Whether formats or order depend on timeouts.
    pub(crate) fn reads_timeouts(&self) -> bool {
        self.requirement == RatePolicy::Timeout || self.priority == SchedulerKind::Timeout
    }

    fn credit(&self) -> CreditConfig {
        let per_tti = self.blocks(self.guaranteed);
        let largest = self.format.last().map_or(0.0, |format| self.blocks(format.rate));
        CreditConfig {
            per_tti,
            max_blocks: self.credit_limit.map_or(largest.max(2.0 * per_tti), |limit| f64::from(limit.0)),
            accrues: self.credit_accrual,
            debit: self.credit_debit,
        }
    }
}
