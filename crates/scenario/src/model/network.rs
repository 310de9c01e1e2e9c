//! The fixed network: links and their queues.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_units::{BitRate, Bytes, Duration, Probability};

use crate::text::{as_text, count_of, word_off, word_unlimited};

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
    /// Random loss of IP packets, each way.
    #[serde(default)]
    pub loss: Probability,
    /// When the link is down, each way: it takes no packet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outage: Vec<Outage>,
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

/// Room in a drop-tail queue: `"50 packets"` or `"100 kB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// So many packets of any size.
    Packets(u32),
    /// So many octets of IP packets.
    Bytes(Bytes),
}

impl FromStr for QueueLimit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match count_of(text, &["packets", "packet"]) {
            Some(count) => count.map(QueueLimit::Packets),
            None => text.parse().map(QueueLimit::Bytes).map_err(|e| format!("{e}, or as in \"50 packets\"")),
        }
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLimit::Packets(n) => write!(f, "{n} packets"),
            QueueLimit::Bytes(size) => size.fmt(f),
        }
    }
}

as_text!(
    QueueLimit,
    "QueueLimit",
    "room in packets or octets with its unit, as in \"50 packets\" or \"100 kB\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(packets?|B|kB|MB|GB|KiB|MiB|GiB)$"
);

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
        loss: Probability::ZERO,
        outage: Vec::new(),
    };
    vec![
        hop("server", "router", 10, 35_000),
        hop("router", "ggsn", 10, 15_000),
        hop("ggsn", "sgsn", 622, 10_000),
        hop("sgsn", "rnc", 622, 400),
    ]
}
