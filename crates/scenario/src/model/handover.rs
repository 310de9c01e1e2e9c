//! How users of a layout change cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::rnc::sectors::HandoverConfig;
pub use umts_stack::rnc::sectors::{BufferAtHandover, RlcAtHandover};
use umts_units::{Db, Duration};

/// Hard handover between the cells of a layout: each 100 ms a user is in the cell that it receives best, or stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Handover {
    /// By how much another cell must be better.
    #[schemars(extend("x-range" = "0 dB to 100 dB", "x-source" = "Rendón et al. (2004), §3.2"))]
    pub hysteresis: Db,
    /// How long a user has no turn on the DSCH afterwards.
    #[schemars(extend("x-max" = "10 s", "x-source" = "a reading: Rendón et al. (2004) say nothing"))]
    pub interruption: Duration,
    /// What becomes of its RLC entities.
    #[schemars(extend("x-source" = "a reading: Rendón et al. (2004) say nothing; TS 25.322 §9.7.7 for re-establishment"))]
    pub rlc: RlcAtHandover,
    /// What becomes of the SDUs at the RNC of which nothing was sent.
    #[schemars(extend("x-source" = "a reading: Rendón et al. (2004) say nothing"))]
    pub buffer: BufferAtHandover,
}

impl Default for Handover {
    fn default() -> Self {
        Handover {
            hysteresis: Db(1.0),
            interruption: Duration::ZERO,
            rlc: RlcAtHandover::default(),
            buffer: BufferAtHandover::default(),
        }
    }
}

impl Handover {
    /// What the stack is told.
    pub fn config(&self) -> HandoverConfig {
        let Handover { hysteresis, interruption, rlc, buffer } = *self;
        HandoverConfig { hysteresis_db: hysteresis.0, interruption, rlc, buffer }
    }
}
