//! Downlink power of the cells of a layout: `[cell] power = { … }`.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::radio::phy::LinkTable;
use umts_stack::radio::phy::power_control::{OuterLoopConfig, PowerConfig, PowerControl};
use umts_units::keyword::{OrNone, Unlimited};
use umts_units::{Db, Dbm, Probability, Watts};

table! {
    /// Transmit power of a cell of a layout, and power control.
    pub struct Power {
        /// Largest transmit power of the cell. If its DCHs alone need more, each gets the same
        /// fraction of the power that it needs.
        #[schemars(extend("x-label" = "Maximum power of a cell", "x-range" = "-50 dBm to 80 dBm", "x-source" = "Rendón et al. (2004), §3.2"))]
        pub max: Dbm = Dbm(43.0),
        /// Power of the pilot and the common channels, which are always transmitted.
        #[schemars(extend("x-label" = "Pilot power", "x-range" = "-50 dBm to 80 dBm, below max", "x-source" = "Rendón et al. (2004), §3.2, read literally; 33 dBm is usual"))]
        pub pilot: Dbm = Dbm(10.0),
        /// Noise power at the receivers of users.
        #[schemars(extend("x-label" = "Receiver noise", "x-range" = "-150 dBm to 0 dBm", "x-source" = "TR 25.942: 9 dB above the thermal noise of 3.84 MHz"))]
        pub noise: Dbm = Dbm(-99.0),
        /// Orthogonality of the codes of a cell. At 1 the users of a cell do not interfere with
        /// each other.
        #[schemars(extend("x-label" = "Orthogonality", "x-source" = "TR 25.942: 0.6 in Vehicular A"))]
        pub orthogonality: Probability = Probability::new(0.6).expect("a share"),
        /// Largest transmit power of one DCH.
        #[serde(with = "Unlimited::<Dbm>")]
        #[schemars(extend("x-label" = "Maximum power of a DCH", "x-source" = "an interpretation: the study names none; TR 25.942: 30 dBm"))]
        pub dch_max: Option<Dbm> = None,
        /// Method of power control.
        #[schemars(extend("x-label" = "Power control", "x-source" = "an interpretation: the study does not say; TS 25.214 §5.2 for steps"))]
        pub control: PowerControl = PowerControl::default(),
        /// Step size of a power control command (`steps` only).
        #[schemars(extend("x-label" = "Step of power control", "x-range" = "above 0 dB, 10 dB at most", "x-source" = "TS 25.214 §5.2.1.2.2"))]
        pub step: Db = Db(1.0),
        /// Whether outer-loop power control moves each user's target until its block error ratio is
        /// `bler_target`.
        #[schemars(extend("x-label" = "Outer loop of power control", "x-source" = "an interpretation: the study does not say"))]
        pub outer_loop: bool = false,
        /// Increase of the outer-loop target after a lost block.
        #[schemars(extend("x-label" = "Step of the outer loop", "x-range" = "above 0 dB, 10 dB at most", "x-source" = "Holma and Toskala (2000)"))]
        pub outer_step: Db = Db(0.5),
        /// Target block error ratio of power control.
        #[schemars(extend("x-label" = "Block error rate of power control", "x-range" = "above 0, below 1", "x-source" = "Rendón et al. (2004), Table 2"))]
        pub bler_target: Probability = Probability::new(0.01).expect("a ratio"),
        /// Decrease of the logit of the block error ratio per dB of Eb/N0, for formats without a
        /// table.
        #[schemars(extend("x-label" = "Slope of block errors", "x-min" = 0.1, "x-max" = 100, "x-source" = "an interpretation: 2.5 as simulated convolutional codes have, 1.0 with fading inside a TTI"))]
        pub slope: f64 = 2.5,
        /// Power that the cell draws from its supply, for the estimate of its energy.
        pub supply: Supply = Supply::default(),
        /// File with block error ratios in columns `format,ebn0_db,bler`, with formats `TF1`, `TF2`
        /// … for the DSCH, `conversational` for calls, `fach` for the FACH, and the name of the
        /// bearer, such as `ps-64`, for DCH bearers. `"none"`: logistic curves.
        #[serde(with = "OrNone::<String>")]
        #[schemars(extend("x-label" = "Link tables", "x-default" = "none", "x-range" = "the name of a file", "x-source" = "Rendón et al. (2004), §3.1: histograms of link simulations"))]
        pub tables: Option<String> = None,
        /// Content of that file. Filled in by the loader.
        #[serde(skip)]
        pub links: Arc<LinkTables> = Arc::default(),
    }
}

table! {
    /// Power that a cell draws: a fixed part while it is on air, and a part proportional to its
    /// transmit power.
    #[derive(Copy)]
    pub struct Supply {
        /// Power drawn at a transmit power near zero.
        #[schemars(extend("x-label" = "Supply power of an idle cell", "x-max" = "100000 W", "x-source" = "Auer et al. (2011), Table 2: a macro base station's transceiver of 20 W (LTE)"))]
        pub fixed: Watts = Watts::new(130.0).expect("not negative"),
        /// Watts drawn per watt of transmit power.
        #[schemars(extend("x-label" = "Supply power per transmitted watt", "x-min" = 1, "x-max" = 1000, "x-source" = "Auer et al. (2011), Table 2: 4.7, with a remote radio head 2.8"))]
        pub slope: f64 = 4.7,
    }
}

/// Link tables by the name of the transport format.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkTables(pub(crate) BTreeMap<String, LinkTable>);

impl LinkTables {
    /// Name of the format of calls.
    pub const CALLS: &str = "conversational";

    /// Name of the format of the FACH.
    pub const FACH: &str = "fach";

    /// Name of format `number`, counted from zero: `TF1` is the first.
    pub fn format(number: usize) -> String {
        format!("TF{}", number + 1)
    }
}

impl Power {
    /// Configuration of power and power control for the stack.
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

    /// The block error ratio of the named format. Without a table, the logistic curve with 1 % at
    /// `ebn0`.
    pub fn link(&self, format: &str, ebn0: Db) -> LinkTable {
        self.links.0.get(format).cloned().unwrap_or_else(|| LinkTable::logistic(ebn0.0, self.slope))
    }

    /// The Eb/N0 target for this table at `bler_target`, linear.
    pub fn target(&self, table: &LinkTable) -> f64 {
        libm::exp10(table.ebn0_db(self.bler_target.value()) / 10.0)
    }
}

/// Converts a level to a power in milliwatts.
pub fn milliwatts(level: Dbm) -> f64 {
    libm::exp10(level.0 / 10.0)
}
