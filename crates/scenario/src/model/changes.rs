//! Changes of the network during a run: the tables `[[at]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use umts_units::Duration;

/// Keys that get another value during the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct At {
    /// Time of the change. Changes of one time are made in the order of the file.
    #[schemars(extend("x-label" = "Time of a change", "x-max" = "1000000 h"))]
    pub time: Duration,
    /// The keys and their new values, as in `{ radio.bler = 0.1 }`. These may change: `radio.bler`
    /// and `radio.uplink.bler`, which every group of users also has (`ue.NAME.radio.bler`);
    /// `radio.cut` and `ue.NAME.radio.cut`, true while no block arrives, as in a tunnel; `rate`,
    /// `delay`, `loss`, `downlink_loss` and `uplink_loss` of a link (`link.N.delay`); the rate of a
    /// bearer on a DCH (`bearer.NAME.downlink.rate`), and `calls.offered` of a group of calls.
    #[schemars(extend("x-label" = "Changed keys"))]
    pub set: Map<String, Value>,
}
