//! The fixed network: links and their queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::core_network::{self, LinkConfig, RedConfig};
pub use umts_stack::core_network::{QueueLimit, Ways};
use umts_units::{BitRate, Bytes, Duration, Probability, Time};

use crate::text::{word_off, word_unlimited};

/// One hop of the chain server → … → ggsn → sgsn → rnc, both ways alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The node nearer to the server; the chain begins at `server`.
    pub from: String,
    /// The node nearer to the user; the chain ends at `rnc`.
    pub to: String,
    /// Bit rate each way; unlimited if absent.
    #[serde(default, with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<BitRate>")]
    pub rate: Option<BitRate>,
    /// Propagation delay each way.
    #[serde(default)]
    #[schemars(extend("x-max" = "1 h"))]
    pub delay: Duration,
    /// Up to so much is added to the delay of each packet, uniformly; packets keep their order.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("x-max" = "1 h"))]
    pub jitter: Duration,
    /// Room in front of the link, the packet in transmission included; unlimited if absent.
    #[serde(default, with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<QueueLimit>", extend("x-min" = "1 packets"))]
    pub queue: Option<QueueLimit>,
    /// A packet that finds so much in front of the link is marked in place of dropped, if its TCP has `ecn`; `"off"`: none
    /// is.
    #[serde(default, with = "word_off", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "crate::text::Off<QueueLimit>", extend("x-min" = "1 packets", "x-source" = "RFC 3168 §5"))]
    pub ecn_threshold: Option<QueueLimit>,
    /// Random early detection in place of a queue that drops only when it is full; needs `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Red", extend("x-default" = "none"))]
    pub red: Option<Red>,
    /// Random loss of IP packets, each way.
    #[serde(default)]
    pub loss: Probability,
    /// Random loss of packets to the user, in place of `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Probability", extend("x-default" = "loss"))]
    pub downlink_loss: Option<Probability>,
    /// Random loss of packets from the user, in place of `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Probability", extend("x-default" = "loss"))]
    pub uplink_loss: Option<Probability>,
    /// Whether all flows share the link; if not, each has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool", extend("x-default" = "true, but of the first link of the chain"))]
    pub shared: Option<bool>,
    /// Delays as the Internet has them, behind the link and in addition to `delay`: lognormal above a minimum, with a long memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "InternetDelay", extend("x-default" = "none"))]
    pub internet_delay: Option<InternetDelay>,
    /// When the link is down, each way: it takes no packet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outage: Vec<Outage>,
}

impl Link {
    /// The link with its `red`, which is checked.
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
    /// It goes down.
    #[schemars(extend("x-max" = "1000000 h"))]
    pub from: Duration,
    /// It is up again.
    #[schemars(extend("x-max" = "1000000 h"))]
    pub to: Duration,
}

/// Delays as the Internet has them: a minimum and a lognormal part, cut at a maximum, alike for packets that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InternetDelay {
    /// The shortest delay.
    #[schemars(extend("x-max" = "1 h", "x-source" = "Baiocchi and Vacirca (2002), §III.B: 35 ms"))]
    pub minimum: Duration,
    /// The mean delay.
    #[schemars(extend("x-max" = "1 h", "x-source" = "Baiocchi and Vacirca (2002), §III.B: 62 ms"))]
    pub mean: Duration,
    /// The longest delay; one packet in 100,000 would take longer, were it not cut.
    #[schemars(extend("x-max" = "1 h", "x-source" = "Baiocchi and Vacirca (2002), §III.B: 1.5 s"))]
    pub maximum: Duration,
    /// How long delays remember: the Hurst parameter, from 0.5.
    #[schemars(extend("x-min" = 0.5, "x-max" = 0.99, "x-source" = "Leland et al. (1994): 0.8 to 0.9 for traffic of networks"))]
    pub hurst: f64,
    /// Packets keep their order: one that is faster waits for the one in front of it.
    pub keeps_order: bool,
    /// Which packets are delayed; where it is both, each way has delays of its own.
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
    /// As the stack has it.
    pub(crate) fn config(&self) -> core_network::InternetDelay {
        let InternetDelay { minimum, mean, maximum, hurst, keeps_order, direction } = *self;
        core_network::InternetDelay { minimum, mean, maximum, hurst, keeps_order, direction }
    }
}

/// Random early detection (RED). Which packet is dropped depends on a moving average of the queue, not on its length now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Red {
    /// Below this average no packet is dropped. Packets or octets; `max_thresh` in the same unit.
    #[schemars(extend("x-min" = "1 packets", "x-source" = "Floyd (1997): 5 packets"))]
    pub min_thresh: QueueLimit,
    /// At this average a packet is dropped with a probability of `max_p`.
    #[schemars(extend("x-min" = "1 packets", "x-source" = "Floyd (1997): three times min_thresh"))]
    pub max_thresh: QueueLimit,
    /// Probability of a drop at `max_thresh`.
    #[schemars(extend("x-source" = "Floyd (1997): 0.1; Floyd and Jacobson (1993): 0.02"))]
    pub max_p: Probability,
    /// Weight of the queue's length now in its average (queue weight).
    #[schemars(extend("x-min" = 0.000001, "x-max" = 1.0, "x-source" = "Floyd and Jacobson (1993), section 6: 0.002"))]
    pub w_q: f64,
    /// Above `max_thresh` the probability rises on to 1 at twice that; if not, every packet is dropped there.
    #[schemars(extend("x-source" = "Floyd (2000): Recommendation on using the gentle variant of RED"))]
    pub gentle: bool,
    /// Mark in place of drop, if the packet's TCP has `ecn`; where every packet is dropped those are, too.
    #[schemars(extend("x-source" = "RFC 3168 §5, §7"))]
    pub ecn: bool,
    /// A typical packet: while the queue is empty the average falls as if it had been found so by as many as could pass.
    #[schemars(extend("x-min" = "1 B", "x-max" = "65535 B", "x-source" = "Floyd and Jacobson (1993), figure 2: s; ns-2: 500 B"))]
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

/// The wired side of the EURANE example scripts (Ericsson, 2003): 60.4 ms one way from the server to the RNC.
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
