//! Downlink power of the cells of a layout: `[cell] power = { … }`.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::radio::phy::LinkTable;
use umts_stack::radio::phy::power_control::{OuterLoopConfig, PowerConfig, PowerControl};
use umts_units::{Db, Dbm, Probability, Watts};

use crate::text::{word_none, word_unlimited};

/// What a cell of a layout may send, and how it finds what each user needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Power {
    /// The most that the cell sends. If its DCHs alone need more, all of them get the same share of what they need.
    #[schemars(extend("x-range" = "-50 dBm to 80 dBm", "x-source" = "Rendón et al. (2004), §3.2"))]
    pub max: Dbm,
    /// Pilot and common channels, which are always sent.
    #[schemars(extend("x-range" = "-50 dBm to 80 dBm, below max", "x-source" = "Rendón et al. (2004), §3.2, read literally; 33 dBm is usual"))]
    pub pilot: Dbm,
    /// Noise at the receivers of users.
    #[schemars(extend("x-range" = "-150 dBm to 0 dBm", "x-source" = "TR 25.942: 9 dB above the thermal noise of 3.84 MHz"))]
    pub noise: Dbm,
    /// How well codes keep the users of a cell apart: 1 is perfectly.
    #[schemars(extend("x-source" = "TR 25.942: 0.6 in Vehicular A"))]
    pub orthogonality: Probability,
    /// The most that one DCH is sent.
    #[serde(with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<Dbm>", extend("x-source" = "a reading: the study names none; TR 25.942: 30 dBm"))]
    pub dch_max: Option<Dbm>,
    /// How powers are found.
    #[schemars(extend("x-source" = "a reading: the study does not say; TS 25.214 §5.2 for steps"))]
    pub control: PowerControl,
    /// The step of a command (`steps` only).
    #[schemars(extend("x-range" = "above 0 dB, 10 dB at most", "x-source" = "TS 25.214 §5.2.1.2.2"))]
    pub step: Db,
    /// Whether the target of each user moves until his block error ratio is `bler_target`.
    #[schemars(extend("x-source" = "a reading: the study does not say"))]
    pub outer_loop: bool,
    /// What a lost block adds to a target.
    #[schemars(extend("x-range" = "above 0 dB, 10 dB at most", "x-source" = "Holma and Toskala (2000)"))]
    pub outer_step: Db,
    /// The block error ratio that power control is after.
    #[schemars(extend("x-range" = "above 0, below 1", "x-source" = "Rendón et al. (2004), Table 2"))]
    pub bler_target: Probability,
    /// Where there is no table: by how much the logit of the block error ratio falls with each dB of Eb/N0.
    #[schemars(extend("x-min" = 0.1, "x-max" = 100, "x-source" = "a reading: 2.5 as simulated convolutional codes have, 1.0 with fading inside a TTI"))]
    pub slope: f64,
    /// What the cell draws from its supply, for the estimate of its energy.
    pub supply: Supply,
    /// A file with block error ratios, `format,ebn0_db,bler`, of `TF1`, `TF2` … and of `conversational`; `"none"`: logistic
    /// curves.
    #[serde(with = "word_none")]
    #[schemars(with = "crate::text::OrNone<String>", extend("x-default" = "none", "x-range" = "the name of a file", "x-source" = "Rendón et al. (2004), §3.1: histograms of link simulations"))]
    pub tables: Option<String>,
    /// What that file says.
    #[serde(skip)]
    pub links: Arc<LinkTables>,
}

/// What a cell draws: a fixed part while it is on air, and so much for each watt that it sends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Supply {
    /// What it draws though it sends next to nothing.
    #[schemars(extend("x-max" = "100000 W", "x-source" = "Auer et al. (2011), Table 2: a macro base station's transceiver of 20 W (LTE)"))]
    pub fixed: Watts,
    /// Watts that it draws for each that it sends.
    #[schemars(extend("x-min" = 1, "x-max" = 1000, "x-source" = "Auer et al. (2011), Table 2: 4.7, with a remote radio head 2.8"))]
    pub slope: f64,
}

impl Default for Supply {
    fn default() -> Self {
        Supply { fixed: Watts::new(130.0).expect("not negative"), slope: 4.7 }
    }
}

/// Link tables by the name of their format.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkTables(pub(crate) BTreeMap<String, LinkTable>);

impl LinkTables {
    /// The name of the format of calls.
    pub const CALLS: &str = "conversational";

    /// The name of format number `number`, from zero: `TF1` is the first.
    pub fn format(number: usize) -> String {
        format!("TF{}", number + 1)
    }
}

impl Default for Power {
    fn default() -> Self {
        Power {
            max: Dbm(43.0),
            pilot: Dbm(10.0),
            noise: Dbm(-99.0),
            orthogonality: Probability::new(0.6).expect("a share"),
            dch_max: None,
            control: PowerControl::default(),
            step: Db(1.0),
            outer_loop: false,
            outer_step: Db(0.5),
            bler_target: Probability::new(0.01).expect("a ratio"),
            slope: 2.5,
            supply: Supply::default(),
            tables: None,
            links: Arc::default(),
        }
    }
}

impl Power {
    /// What the stack is told.
    pub fn config(&self) -> PowerConfig {
        let outer = OuterLoopConfig { up_db: self.outer_step.0, ratio: self.bler_target.value() };
        PowerConfig {
            max: milliwatts(self.max),
            common: milliwatts(self.pilot),
            noise: milliwatts(self.noise),
            own_share: 1.0 - self.orthogonality.value(),
            dch_max: self.dch_max.map(milliwatts),
            control: self.control,
            step_db: self.step.0,
            outer_loop: self.outer_loop.then_some(outer),
        }
    }

    /// The block error ratio of the format of this name; without a table of it the logistic curve with 1 % at `ebn0`.
    pub fn link(&self, format: &str, ebn0: Db) -> LinkTable {
        self.links.0.get(format).cloned().unwrap_or_else(|| LinkTable::logistic(ebn0.0, self.slope))
    }

    /// The Eb/N0 that is aimed at with this table, linear.
    pub fn target(&self, table: &LinkTable) -> f64 {
        libm::exp10(table.ebn0_db(self.bler_target.value()) / 10.0)
    }
}

fn milliwatts(level: Dbm) -> f64 {
    libm::exp10(level.0 / 10.0)
}
