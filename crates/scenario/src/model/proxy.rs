//! A proxy in the fixed network that splits TCP connections, or helps those that pass it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::proxy::{self, HelperKind, ProxyConfig};
pub use umts_stack::proxy::{AtLimit, Setup, Then};
use umts_units::{Bytes, Duration, Time};

use super::tcp::{Tcp, TcpKeys};
use super::users::Flow;
use crate::text::word_unlimited;

/// A performance enhancing proxy (RFC 3135): two TCP connections in place of one, joined by a buffer each way; or a node that helps
/// connections which stay whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Proxy {
    /// The node of the chain of links where it is: the end of one link and the beginning of the next, or `rnc`.
    pub at: String,
    /// What it does to the connections that pass it.
    #[serde(default)]
    pub mode: ProxyMode,
    /// The `[[flow]]`s whose connections it takes, by their names, by those of their users, or by their numbers from 0; all of
    /// TCP if there is none.
    #[serde(default, deserialize_with = "flows")]
    pub flows: Vec<FlowChoice>,
    /// Ports of servers: it takes only connections to these; to all if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
    /// Sending again from a copy (`mode = "snoop"`).
    #[serde(default)]
    pub snoop: ProxySnoop,
    /// Holding acknowledgments back (`mode = "ack_regulation"`).
    #[serde(default)]
    pub ack_regulation: ProxyAckRegulation,
    /// Lowering windows (`mode = "window_clamp"`).
    #[serde(default)]
    pub window_clamp: ProxyWindowClamp,
    /// When it answers a SYN.
    #[serde(default = "early")]
    pub setup: Setup,
    /// Room each way for octets of a transfer that are read from one connection and not acknowledged on the other.
    #[serde(default = "buffer", with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<Bytes>", extend("x-min" = "1 B"))]
    pub buffer: Option<Bytes>,
    /// Room for the buffers of all transfers, two of each.
    #[serde(default, with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<Bytes>", extend("x-min" = "1 B"))]
    pub memory: Option<Bytes>,
    /// What becomes of a transfer for which there is no room.
    #[serde(default = "pass")]
    pub at_limit: AtLimit,
    /// When it is out of order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outage: Vec<ProxyOutage>,
    /// Keys of a flow's `[tcp]` that differ at its end towards the server.
    #[serde(default, skip_serializing_if = "TcpKeys::is_empty")]
    #[schemars(with = "Tcp", extend("x-default" = "[flow.tcp]", "x-overrides" = "tcp"))]
    pub server_side: TcpKeys,
    /// Keys of a flow's `[tcp]` that differ at its end towards the user.
    #[serde(default, skip_serializing_if = "TcpKeys::is_empty")]
    #[schemars(with = "Tcp", extend("x-default" = "[flow.tcp]", "x-overrides" = "tcp"))]
    pub radio_side: TcpKeys,
}

/// One or several flows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FlowChoice {
    /// By the place in the file, from 0.
    Number(u32),
    /// By their name, or that of their users.
    Name(String),
}

impl FlowChoice {
    /// Whether it means this flow, which is number `number` of the file.
    pub(crate) fn means(&self, number: usize, flow: &Flow) -> bool {
        match self {
            FlowChoice::Number(chosen) => *chosen as usize == number,
            FlowChoice::Name(name) => flow.name.as_ref() == Some(name) || flow.ue == *name,
        }
    }
}

impl<'de> Deserialize<'de> for FlowChoice {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Choice;
        impl serde::de::Visitor<'_> for Choice {
            type Value = FlowChoice;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(
                    "the name of a [[flow]] or of its users, or its number from 0 in the order of the file,",
                )
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<FlowChoice, E> {
                let wrong = |_| E::invalid_value(serde::de::Unexpected::Signed(number), &self);
                u32::try_from(number).map(FlowChoice::Number).map_err(wrong)
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<FlowChoice, E> {
                Ok(FlowChoice::Name(name.to_owned()))
            }
        }
        d.deserialize_any(Choice)
    }
}

/// What a proxy does to the connections that pass it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProxyMode {
    /// It ends them, and carries their octets over to another connection (RFC 3135 §2.4).
    #[default]
    Split,
    /// It keeps copies of data that the user has not acknowledged, sends them again on duplicate acknowledgments, and hides
    /// these from the server.
    Snoop,
    /// It holds acknowledgments back while too much is under way to the user.
    AckRegulation,
    /// It lowers the window that the user advertises.
    WindowClamp,
    /// Nothing: for comparisons.
    Pass,
}

/// What a snooping proxy keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProxySnoop {
    /// Room for copies, of each connection; what finds none passes without a copy.
    #[schemars(extend("x-min" = "1 B"))]
    pub cache: Bytes,
}

impl Default for ProxySnoop {
    fn default() -> Self {
        ProxySnoop { cache: Bytes(64_000) }
    }
}

/// When a proxy that regulates acknowledgments holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProxyAckRegulation {
    /// While more of a connection's data than this are between the proxy and the user.
    #[schemars(extend("x-min" = "1 B"))]
    pub queue: Bytes,
}

impl Default for ProxyAckRegulation {
    fn default() -> Self {
        ProxyAckRegulation { queue: Bytes(16_000) }
    }
}

/// What a proxy lowers windows to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProxyWindowClamp {
    /// The most that a user of it advertises, of each connection.
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GB"))]
    pub window: Bytes,
}

impl Default for ProxyWindowClamp {
    fn default() -> Self {
        ProxyWindowClamp { window: Bytes(16_000) }
    }
}

/// An interval in which the proxy is out of order: its transfers are lost when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProxyOutage {
    /// It begins: what ends at the proxy is lost.
    #[schemars(extend("x-max" = "1000000 h"))]
    pub from: Duration,
    /// It ends: transfers may begin again.
    #[schemars(extend("x-max" = "1000000 h"))]
    pub to: Duration,
    /// What becomes of segments of the transfers that it has lost.
    #[serde(default = "reset")]
    pub then: Then,
}

impl Proxy {
    /// The proxy behind `hops` links of the chain.
    pub fn config(&self, hops: u32) -> ProxyConfig {
        let outage = |outage: &ProxyOutage| proxy::Outage {
            from: Time::ZERO + outage.from,
            to: Time::ZERO + outage.to,
            then: outage.then,
        };
        ProxyConfig {
            hops,
            setup: self.setup,
            buffer: self.buffer.map(|buffer| buffer.0),
            memory: self.memory.map(|memory| memory.0),
            at_limit: self.at_limit,
            outages: self.outage.iter().map(outage).collect(),
            helper: self.helper(),
        }
    }

    fn helper(&self) -> Option<HelperKind> {
        match self.mode {
            ProxyMode::Split | ProxyMode::Pass => None,
            ProxyMode::Snoop => Some(HelperKind::Snoop { cache: self.snoop.cache.0 }),
            ProxyMode::AckRegulation => {
                Some(HelperKind::AckRegulation { queue: self.ack_regulation.queue.0 })
            }
            // A window has 30 bits at most (RFC 7323 §2.3).
            ProxyMode::WindowClamp => {
                Some(HelperKind::WindowClamp { window: self.window_clamp.window.0 as u32 })
            }
        }
    }

    /// Whether it helps the connections of `flow`, number `number` of the file, which stay whole.
    pub fn helps(&self, number: usize, flow: &Flow) -> bool {
        self.helper().is_some() && self.takes(number, flow)
    }

    fn takes(&self, number: usize, flow: &Flow) -> bool {
        let is_chosen = self.flows.is_empty() || self.flows.iter().any(|choice| choice.means(number, flow));
        is_chosen && (self.ports.is_empty() || self.ports.contains(&flow.server_port()))
    }

    /// The flows that it takes by number, whatever they are called.
    pub(crate) fn forget_names(&mut self, flows: &[Flow]) {
        if !self.flows.is_empty() {
            let flows = flows.iter().enumerate();
            let chosen = flows.filter(|(i, flow)| self.flows.iter().any(|choice| choice.means(*i, flow)));
            self.flows = chosen.map(|(i, _)| FlowChoice::Number(i as u32)).collect();
        }
        self.ports.sort_unstable();
    }

    /// Whether it splits the connections of `flow`, number `number` of the file.
    pub fn splits(&self, number: usize, flow: &Flow) -> bool {
        self.mode == ProxyMode::Split && self.takes(number, flow)
    }
}

fn flows<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Vec<FlowChoice>, D::Error> {
    struct Flows;
    impl<'de> serde::de::Visitor<'de> for Flows {
        type Value = Vec<FlowChoice>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of flows, as in [\"download\"] or [0, 2],")
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<FlowChoice>, A::Error> {
            let mut flows = Vec::new();
            while let Some(flow) = seq.next_element()? {
                flows.push(flow);
            }
            Ok(flows)
        }
    }
    d.deserialize_any(Flows)
}

fn early() -> Setup {
    Setup::Early
}

fn pass() -> AtLimit {
    AtLimit::Pass
}

fn reset() -> Then {
    Then::Reset
}

#[expect(clippy::unnecessary_wraps, reason = "a default of that key")]
fn buffer() -> Option<Bytes> {
    Some(Bytes(64_000))
}
