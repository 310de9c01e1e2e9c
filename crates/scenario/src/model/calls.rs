//! Conversational calls: each has a circuit of its own, without RLC acknowledgments, TCP or IP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::rnc::calls::{CallsConfig, Offered};
use umts_units::{Db, Duration, Erlang};

/// Calls of 64 kbit/s: two blocks of 640 bits in each TTI of 20 ms, from the RNC's circuit domain.
/// They arrive as a Poisson process at uniformly distributed places. No call is refused unless
/// codes are limited (`cell.dch`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Calls {
    /// Mean number of calls in progress.
    #[schemars(extend("x-label" = "Calls offered", "x-max" = "1000 Erl", "x-source" = "Rendon et al. (2004), §3.2: 24 Erl per cell"))]
    pub offered: Erlang,
    /// Whether `offered` applies to each cell or to all cells together.
    #[schemars(extend("x-label" = "Reference of the offered calls"))]
    pub per: Offered,
    /// Mean length of a call; lengths are exponential.
    #[schemars(extend("x-label" = "Mean length of a call", "x-min" = "1 s", "x-max" = "1000 h", "x-source" = "Rendon et al. (2004), §3.2: 120 s"))]
    pub holding: Duration,
    /// Eb/N0 at which 1 % of the blocks of a call are lost, unless `cell.power.tables` has a table
    /// for calls.
    #[schemars(extend("x-label" = "Eb/N0 of calls", "x-range" = "-30 dB to 30 dB", "x-source" = "calibrated: load 0.80 with calls alone (Rendon et al. 2004, §4.1)"))]
    pub ebn0: Db,
    /// Spreading factor of the code of a call.
    #[schemars(extend("x-label" = "Spreading factor of calls", "x-range" = "a power of two from 4 to 512", "x-source" = "Rendon et al. (2004), Table 1"))]
    pub spreading_factor: u16,
}

impl Default for Calls {
    fn default() -> Self {
        Calls {
            offered: Erlang::new(24.0).expect("not negative"),
            per: Offered::Cell,
            holding: Duration::from_secs(120),
            ebn0: Db(2.25),
            spreading_factor: 32,
        }
    }
}

impl Calls {
    /// Configuration of the calls for the stack.
    pub fn config(&self) -> CallsConfig {
        let Calls { offered, per, holding, .. } = *self;
        CallsConfig { offered: offered.value(), per, holding }
    }
}
