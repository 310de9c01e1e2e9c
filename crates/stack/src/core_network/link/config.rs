//! Configuration of one hop of the chain between server and RNC: rate, delay, queue with its
//! management, losses and outages. The keys of a scenario's `[[link]]` are these fields.

use umts_units::{BitRate, Duration, Probability};

use crate::aqm::{CodelConfig, PieConfig, QueueLimit, RedConfig};
use crate::core_network::InternetDelay;
use crate::ids::Direction;
#[cfg(feature = "schema")]
use crate::options::{Off, Unlimited};

/// One hop of the chain server → … → ggsn → sgsn → rnc, the same in both directions.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields), schemars(rename = "Link"))]
pub struct LinkConfig {
    /// Node nearer to the server. The chain begins at `server`.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "Link from")))]
    pub from: String,
    /// Node nearer to the user. The chain ends at `rnc`.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "Link to")))]
    pub to: String,
    /// Bit rate in each direction; unlimited if absent.
    #[cfg_attr(feature = "schema", serde(default, with = "Unlimited::<BitRate>"), schemars(extend("x-label" = "Link rate")))]
    pub rate: Option<BitRate>,
    /// Propagation delay in each direction.
    #[cfg_attr(feature = "schema", serde(default), schemars(extend("x-label" = "Link delay", "x-max" = "1 h")))]
    pub delay: Duration,
    /// Largest random addition to the delay of a packet. The addition is uniform from zero to this
    /// value; packets keep their order.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "is_zero"), schemars(extend("x-label" = "Link jitter", "x-max" = "1 h")))]
    pub jitter: Duration,
    /// Capacity of the queue of the link, including the packet in transmission; unlimited if
    /// absent.
    #[cfg_attr(feature = "schema", serde(default, with = "Unlimited::<QueueLimit>"), schemars(extend("x-label" = "Link queue", "x-min" = "1 packets")))]
    pub queue: Option<QueueLimit>,
    /// Queue length from which a packet is marked instead of dropped if its TCP has `ecn`. `"off"`:
    /// no packet is marked.
    #[cfg_attr(feature = "schema", serde(default, with = "Off::<QueueLimit>", skip_serializing_if = "Option::is_none"), schemars(extend("x-label" = "ECN threshold", "x-min" = "1 packets", "x-source" = "RFC 3168 §5")))]
    pub ecn_threshold: Option<QueueLimit>,
    /// Random early detection instead of a drop-tail queue. Needs `rate`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "RedConfig", extend("x-default" = "none")))]
    pub red: Option<RedConfig>,
    /// Controlled delay (CoDel) in the queue. Needs `rate`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "CodelConfig", extend("x-default" = "none")))]
    pub codel: Option<CodelConfig>,
    /// Proportional integral controller enhanced (PIE) in front of the queue. Needs `rate`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "PieConfig", extend("x-default" = "none")))]
    pub pie: Option<PieConfig>,
    /// Random loss of IP packets in each direction.
    #[cfg_attr(feature = "schema", serde(default), schemars(extend("x-label" = "Link loss rate")))]
    pub loss: Probability,
    /// Random loss of packets towards the user, instead of `loss`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "Probability", extend("x-label" = "Link loss rate, downlink", "x-default" = "loss")))]
    pub downlink_loss: Option<Probability>,
    /// Random loss of packets from the user, instead of `loss`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "Probability", extend("x-label" = "Link loss rate, uplink", "x-default" = "loss")))]
    pub uplink_loss: Option<Probability>,
    /// Whether all flows share the link. If not, each flow has a link of its own.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "bool", extend("x-label" = "Shared link", "x-default" = "true, but of the first link of the chain")))]
    pub shared: Option<bool>,
    /// Internet delay after the link, in addition to `delay`: lognormal above a minimum, with
    /// long-range dependence.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"), schemars(with = "InternetDelay", extend("x-default" = "none")))]
    pub internet_delay: Option<InternetDelay>,
    /// Intervals in which the link is down in both directions and accepts no packet.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub outage: Vec<Outage>,
}

#[cfg(feature = "schema")]
fn is_zero(duration: &Duration) -> bool {
    duration.is_zero()
}

impl LinkConfig {
    /// Whether the queue keeps its packets until they leave, with CoDel or PIE.
    pub fn has_managed_queue(&self) -> bool {
        self.codel.is_some() || self.pie.is_some()
    }

    /// Loss probability of a packet in `direction`.
    pub(super) fn loss(&self, direction: Direction) -> f64 {
        let by_direction = [self.downlink_loss, self.uplink_loss][direction.index()];
        by_direction.unwrap_or(self.loss).value()
    }
}

/// An interval in which a link is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Outage {
    /// Time at which the link goes down.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "Start of the outage", "x-max" = "1000000 h")))]
    pub from: Duration,
    /// Time at which the link is up again.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "End of the outage", "x-max" = "1000000 h")))]
    pub to: Duration,
}
