//! A proxy in the fixed network. It splits TCP connections, or acts on connections that pass
//! through it unsplit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::proxy::{AtLimit, LostTransferAnswer, Outage as ProxyOutage, Setup};
use umts_stack::proxy::{HelperKind, ProxyConfig};
use umts_units::Bytes;
use umts_units::keyword::Unlimited;

use super::tcp::{Tcp, TcpKeys};
use super::users::Flow;

/// A performance enhancing proxy (RFC 3135): it replaces a TCP connection by two, which are joined
/// by a buffer in each direction. Other modes act on connections without splitting them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Proxy {
    /// Node of the chain of links at which the proxy is: `rnc`, or the end of one link and the
    /// start of the next.
    #[schemars(extend("x-label" = "Node of the proxy"))]
    pub at: String,
    /// What the proxy does to the connections that pass through it.
    #[serde(default)]
    #[schemars(extend("x-label" = "Mode of the proxy"))]
    pub mode: ProxyMode,
    /// The `[[flow]]`s whose connections the proxy handles, by name, by the name of their users, or
    /// by number from 0. If the list is empty, the proxy handles all TCP flows.
    #[serde(default, deserialize_with = "flows")]
    #[schemars(extend("x-label" = "Flows of the proxy"))]
    pub flows: Vec<FlowChoice>,
    /// Server ports of the connections that the proxy handles. If the list is empty, it handles all
    /// ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-label" = "Ports of the proxy"))]
    pub ports: Vec<u16>,
    /// Retransmission from copies (`mode = "snoop"`).
    #[serde(default)]
    pub snoop: ProxySnoop,
    /// Delay of acknowledgments (`mode = "ack_regulation"`).
    #[serde(default)]
    pub ack_regulation: ProxyAckRegulation,
    /// Limit of advertised windows (`mode = "window_clamp"`).
    #[serde(default)]
    pub window_clamp: ProxyWindowClamp,
    /// When the proxy answers a SYN.
    #[serde(default)]
    #[schemars(extend("x-label" = "Set-up through the proxy"))]
    pub setup: Setup,
    /// Buffer of a transfer in each direction, for octets that are read from one connection and not
    /// yet acknowledged on the other.
    #[serde(default = "buffer", with = "Unlimited::<Bytes>")]
    #[schemars(extend("x-label" = "Proxy buffer", "x-min" = "1 B"))]
    pub buffer: Option<Bytes>,
    /// Total buffer space of all transfers, with two buffers each.
    #[serde(default, with = "Unlimited::<Bytes>")]
    #[schemars(extend("x-label" = "Memory of the proxy", "x-min" = "1 B"))]
    pub memory: Option<Bytes>,
    /// Treatment of a transfer for which `memory` has no room.
    #[serde(default)]
    #[schemars(extend("x-label" = "Behaviour of a full proxy"))]
    pub at_limit: AtLimit,
    /// Intervals in which the proxy is out of order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outage: Vec<ProxyOutage>,
    /// Keys of a flow's `[tcp]` that differ at the proxy's end towards the server.
    #[serde(default, skip_serializing_if = "TcpKeys::is_empty")]
    #[schemars(with = "Tcp", extend("x-label" = "TCP of the proxy towards the server", "x-default" = "[flow.tcp]", "x-overrides" = "tcp"))]
    pub server_side: TcpKeys,
    /// Keys of a flow's `[tcp]` that differ at the proxy's end towards the user.
    #[serde(default, skip_serializing_if = "TcpKeys::is_empty")]
    #[schemars(with = "Tcp", extend("x-label" = "TCP of the proxy towards the user", "x-default" = "[flow.tcp]", "x-overrides" = "tcp"))]
    pub radio_side: TcpKeys,
}

/// One or several flows, chosen by number or by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FlowChoice {
    /// Index of the flow in the file, from 0.
    Number(u32),
    /// Name of the flow, or of its users.
    Name(String),
}

impl FlowChoice {
    /// Whether the choice includes `flow`, which is number `number` of the file.
    pub(crate) fn includes(&self, number: usize, flow: &Flow) -> bool {
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

/// What a proxy does to the connections that pass through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProxyMode {
    /// Terminates each connection and relays its octets over a second connection (RFC 3135 §2.4).
    #[default]
    Split,
    /// Keeps copies of data that the user has not acknowledged, retransmits them on duplicate
    /// acknowledgments, and hides these acknowledgments from the server.
    Snoop,
    /// Delays acknowledgments while too much data is in flight towards the user.
    AckRegulation,
    /// Lowers the window that the user advertises.
    WindowClamp,
    /// Does nothing: for comparisons.
    Pass,
}

table! {
    /// Cache of a snooping proxy.
    #[derive(Copy, Eq)]
    pub struct ProxySnoop {
        /// Capacity for copies per connection. Data that finds no room passes without a copy.
        #[schemars(extend("x-label" = "Cache of the proxy", "x-min" = "1 B"))]
        pub cache: Bytes = Bytes(64_000),
    }
}

table! {
    /// Condition under which a proxy that regulates acknowledgments delays them.
    #[derive(Copy, Eq)]
    pub struct ProxyAckRegulation {
        /// Acknowledgments are delayed while more data of a connection than this is between the
        /// proxy and the user.
        #[schemars(extend("x-label" = "Data in flight to the user", "x-min" = "1 B"))]
        pub queue: Bytes = Bytes(16_000),
    }
}

table! {
    /// Limit to which a proxy lowers windows.
    #[derive(Copy, Eq)]
    pub struct ProxyWindowClamp {
        /// Largest window of each connection that a user advertises through the proxy.
        #[schemars(extend("x-label" = "Maximum window through the proxy", "x-min" = "1 B", "x-max" = "1 GB"))]
        pub window: Bytes = Bytes(16_000),
    }
}

impl Proxy {
    /// Configuration of the proxy, which is behind `hops` links of the chain.
    pub fn config(&self, hops: u32) -> ProxyConfig {
        ProxyConfig {
            hops,
            setup: self.setup,
            buffer: self.buffer.map(|buffer| buffer.0),
            memory: self.memory.map(|memory| memory.0),
            at_limit: self.at_limit,
            outages: self.outage.clone(),
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

    /// Whether the proxy acts on the connections of `flow` without splitting them. `number` is the
    /// flow's index in the file.
    pub fn helps(&self, number: usize, flow: &Flow) -> bool {
        self.helper().is_some() && self.is_selected(number, flow)
    }

    fn is_selected(&self, number: usize, flow: &Flow) -> bool {
        let is_chosen =
            self.flows.is_empty() || self.flows.iter().any(|choice| choice.includes(number, flow));
        is_chosen && (self.ports.is_empty() || self.ports.contains(&flow.server_port()))
    }

    /// Replaces the names in `flows` by numbers, and sorts `ports`: two spellings of one choice
    /// become equal.
    pub(crate) fn forget_names(&mut self, flows: &[Flow]) {
        if !self.flows.is_empty() {
            let flows = flows.iter().enumerate();
            let chosen = flows.filter(|(i, flow)| self.flows.iter().any(|choice| choice.includes(*i, flow)));
            self.flows = chosen.map(|(i, _)| FlowChoice::Number(i as u32)).collect();
        }
        self.ports.sort_unstable();
    }

    /// Whether the proxy splits the connections of `flow`, which is number `number` of the file.
    pub fn splits(&self, number: usize, flow: &Flow) -> bool {
        self.mode == ProxyMode::Split && self.is_selected(number, flow)
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

#[expect(clippy::unnecessary_wraps, reason = "a default of that key")]
fn buffer() -> Option<Bytes> {
    Some(Bytes(64_000))
}
