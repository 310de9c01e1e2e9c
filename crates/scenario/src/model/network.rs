//! The fixed network: links and their queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::core_network::{self, LinkConfig, RedConfig};
pub use umts_stack::core_network::{QueueLimit, Ways};
use umts_units::keyword::{Off, Unlimited};
use umts_units::{BitRate, Bytes, Duration, Probability, Time};

/// One hop of the chain server → … → ggsn → sgsn → rnc, the same in both directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Node nearer to the server. The chain begins at `server`.
    #[schemars(extend("x-label" = "Link from"))]
    pub from: String,
    /// Node nearer to the user. The chain ends at `rnc`.
    #[schemars(extend("x-label" = "Link to"))]
    pub to: String,
    /// Bit rate in each direction; unlimited if absent.
    #[serde(default, with = "Unlimited::<BitRate>")]
    #[schemars(extend("x-label" = "Link rate"))]
    pub rate: Option<BitRate>,
    /// Propagation delay in each direction.
    #[serde(default)]
    #[schemars(extend("x-label" = "Link delay", "x-max" = "1 h"))]
    pub delay: Duration,
    /// Largest random addition to the delay of a packet. The addition is uniform from zero to this
    /// value; packets keep their order.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("x-label" = "Link jitter", "x-max" = "1 h"))]
    pub jitter: Duration,
    /// Capacity of the queue of the link, including the packet in transmission; unlimited if
    /// absent.
    #[serde(default, with = "Unlimited::<QueueLimit>")]
    #[schemars(extend("x-label" = "Link queue", "x-min" = "1 packets"))]
    pub queue: Option<QueueLimit>,
    /// Queue length from which a packet is marked instead of dropped if its TCP has `ecn`. `"off"`:
    /// no packet is marked.
    #[serde(default, with = "Off::<QueueLimit>", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-label" = "ECN threshold", "x-min" = "1 packets", "x-source" = "RFC 3168 §5"))]
    pub ecn_threshold: Option<QueueLimit>,
    /// Random early detection instead of a drop-tail queue. Needs `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Red", extend("x-default" = "none"))]
    pub red: Option<Red>,
    /// Random loss of IP packets in each direction.
    #[serde(default)]
    #[schemars(extend("x-label" = "Link loss rate"))]
    pub loss: Probability,
    /// Random loss of packets towards the user, instead of `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Probability", extend("x-label" = "Link loss rate, downlink", "x-default" = "loss"))]
    pub downlink_loss: Option<Probability>,
    /// Random loss of packets from the user, instead of `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Probability", extend("x-label" = "Link loss rate, uplink", "x-default" = "loss"))]
    pub uplink_loss: Option<Probability>,
    /// Whether all flows share the link. If not, each flow has a link of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool", extend("x-label" = "Shared link", "x-default" = "true, but of the first link of the chain"))]
    pub shared: Option<bool>,
    /// Internet delay after the link, in addition to `delay`: lognormal above a minimum, with
    /// long-range dependence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "InternetDelay", extend("x-default" = "none"))]
    pub internet_delay: Option<InternetDelay>,
    /// Intervals in which the link is down in both directions and accepts no packet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outage: Vec<Outage>,
}

impl Link {
    /// Configuration of the link for the stack, with `red` already converted and checked.
    pub fn config(&self, red: Option<RedConfig>) -> LinkConfig {
        let outage =
            |of: &Outage| core_network::Outage { from: Time::ZERO + of.from, to: Time::ZERO + of.to };
        LinkConfig {
            rate: self.rate,
            delay: self.delay,
            jitter: self.jitter,
            queue: self.queue,
            mark_from: self.ecn_threshold,
            red,
            shared: self.shared,
            internet_delay: self.internet_delay.as_ref().map(InternetDelay::config),
            loss: self.loss.value(),
            loss_by_direction: [self.downlink_loss, self.uplink_loss]
                .map(|loss| loss.map(Probability::value)),
            outages: self.outage.iter().map(outage).collect(),
        }
    }
}

/// An interval in which a link is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// Time at which the link goes down.
    #[schemars(extend("x-label" = "Start of the outage", "x-max" = "1000000 h"))]
    pub from: Duration,
    /// Time at which the link is up again.
    #[schemars(extend("x-label" = "End of the outage", "x-max" = "1000000 h"))]
    pub to: Duration,
}

/// Internet delay: a minimum plus a lognormal part, limited to a maximum. Delays of successive
/// packets are correlated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InternetDelay {
    /// Smallest Internet delay.
    #[schemars(extend("x-label" = "Minimum Internet delay", "x-max" = "1 h", "x-source" = "Baiocchi and Vacirca (2002), §III.B: 35 ms"))]
    pub minimum: Duration,
    /// Mean Internet delay.
    #[schemars(extend("x-label" = "Mean Internet delay", "x-max" = "1 h", "x-source" = "Baiocchi and Vacirca (2002), §III.B: 62 ms"))]
    pub mean: Duration,
    /// Largest Internet delay. One packet in 100,000 would exceed it without this limit.
    #[schemars(extend("x-label" = "Maximum Internet delay", "x-max" = "1 h", "x-source" = "Baiocchi and Vacirca (2002), §III.B: 1.5 s"))]
    pub maximum: Duration,
    /// Hurst parameter of the delays, from 0.5. Larger values mean longer memory.
    #[schemars(extend("x-label" = "Hurst parameter of delays", "x-min" = 0.5, "x-max" = 0.99, "x-source" = "Leland et al. (1994): 0.8 to 0.9 for traffic of networks"))]
    pub hurst: f64,
    /// Whether packets keep their order: a faster packet waits for the packet in front of it.
    #[schemars(extend("x-label" = "Packet order in the Internet"))]
    pub keeps_order: bool,
    /// Direction of the packets that are delayed. With both, each direction has its own delays.
    #[schemars(extend("x-label" = "Direction of Internet delays"))]
    pub direction: Ways,
}

impl Default for InternetDelay {
    fn default() -> Self {
        let core_network::InternetDelay { minimum, mean, maximum, hurst, keeps_order, direction } =
            core_network::InternetDelay::default();
        InternetDelay { minimum, mean, maximum, hurst, keeps_order, direction }
    }
}

impl InternetDelay {
    /// Configuration of the delay for the stack.
    pub(crate) fn config(&self) -> core_network::InternetDelay {
        let InternetDelay { minimum, mean, maximum, hurst, keeps_order, direction } = *self;
        core_network::InternetDelay { minimum, mean, maximum, hurst, keeps_order, direction }
    }
}

/// Random early detection (RED). Drops depend on a moving average of the queue length, not on the
/// current length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Red {
    /// Average queue length below which no packet is dropped, in packets or octets. `max_thresh`
    /// must have the same unit.
    #[schemars(extend("x-label" = "RED min_thresh", "x-min" = "1 packets", "x-source" = "Floyd (1997): 5 packets"))]
    pub min_thresh: QueueLimit,
    /// Average queue length at which a packet is dropped with probability `max_p`.
    #[schemars(extend("x-label" = "RED max_thresh", "x-min" = "1 packets", "x-source" = "Floyd (1997): three times min_thresh"))]
    pub max_thresh: QueueLimit,
    /// Probability of a drop at `max_thresh`.
    #[schemars(extend("x-label" = "RED max_p", "x-source" = "Floyd (1997): 0.1; Floyd and Jacobson (1993): 0.02"))]
    pub max_p: Probability,
    /// Queue weight: weight of the current queue length in the moving average.
    #[schemars(extend("x-label" = "RED w_q", "x-min" = 0.000001, "x-max" = 1.0, "x-source" = "Floyd and Jacobson (1993), section 6: 0.002"))]
    pub w_q: f64,
    /// Whether the drop probability rises further above `max_thresh`, to 1 at twice that length. If
    /// not, every packet is dropped above `max_thresh`.
    #[schemars(extend("x-label" = "Gentle RED", "x-source" = "Floyd (2000): Recommendation on using the gentle variant of RED"))]
    pub gentle: bool,
    /// Mark a packet instead of dropping it if its TCP has `ecn`. Where RED drops every packet,
    /// these packets are dropped, too.
    #[schemars(extend("x-label" = "RED marks", "x-source" = "RFC 3168 §5, §7"))]
    pub ecn: bool,
    /// Size of a typical packet. While the queue is empty, the average falls as if packets of this
    /// size had arrived at the rate of the link and found the queue empty.
    #[schemars(extend("x-label" = "RED mean packet", "x-min" = "1 B", "x-max" = "65535 B", "x-source" = "Floyd and Jacobson (1993), figure 2: s; ns-2: 500 B"))]
    pub mean_packet: Bytes,
}

impl Default for Red {
    fn default() -> Self {
        Red {
            min_thresh: QueueLimit::Packets(5),
            max_thresh: QueueLimit::Packets(15),
            max_p: Probability::new(0.1).expect("below one"),
            w_q: 0.002,
            gentle: true,
            ecn: false,
            mean_packet: Bytes(500),
        }
    }
}

fn is_zero(duration: &Duration) -> bool {
    *duration == Duration::ZERO
}

/// The wired side of the EURANE example scripts (Ericsson, 2003): 60.4 ms from the server to the
/// RNC.
pub(crate) fn default_chain() -> Vec<Link> {
    let hop = |from: &str, to: &str, mbps: u64, delay_us: u64| Link {
        from: from.to_owned(),
        to: to.to_owned(),
        rate: BitRate::from_bps(mbps * 1_000_000),
        delay: Duration::from_micros(delay_us),
        jitter: Duration::ZERO,
        queue: Some(QueueLimit::Packets(50)),
        ecn_threshold: None,
        red: None,
        loss: Probability::ZERO,
        downlink_loss: None,
        uplink_loss: None,
        shared: None,
        internet_delay: None,
        outage: Vec::new(),
    };
    vec![
        hop("server", "router", 10, 35_000),
        hop("router", "ggsn", 10, 15_000),
        hop("ggsn", "sgsn", 622, 10_000),
        hop("sgsn", "rnc", 622, 400),
    ]
}
