//! A performance enhancing proxy (RFC 3135) at a node of the chain or at the RNC. It terminates the
//! connections of both sides and relays octets between them ("split").
//!
//! ```text
//!   server ══ leg `Server` ══► end of the proxy │ relay │ end of the proxy ══ leg `Radio` ══► UE
//!                              (acts as the UE) │       │ (acts as the server)
//!                              reads while there│       │ keeps octets until
//!                              is room          │       │ they are acknowledged
//! ```
//!
//! A transfer consists of two connections with numbers of their own. Octets that were read from one
//! connection and are not acknowledged on the other are in the proxy's buffer, one per direction.
//! While the buffer is full, the proxy does not read, and TCP closes the window towards the sender.
//!
//! The table of split transfers is in `transfers.rs`. Alternatively the proxy does not split
//! connections and acts on passing packets (`helper.rs`).

mod ack_regulator;
mod ends;
mod helper;
mod relay;
mod snoop;
#[cfg(test)]
mod tests;
mod transfers;

use umts_units::{Duration, Time};

pub use ends::{ProxyEnds, SplitConnections};
pub use helper::{Helper, HelperKind, HelperOutput};
pub use relay::{Relay, Side};
pub use transfers::{Transfer, TransferId, Transfers};

/// Configuration of the simulated proxy.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyConfig {
    /// Number of hops between the proxy and the servers.
    pub hops: u32,
    pub setup: Setup,
    /// Buffer per direction and transfer in octets. `None`: unlimited.
    pub buffer: Option<u64>,
    /// Memory for all transfers in octets. `None`: unlimited. Each transfer takes two buffers.
    pub memory: Option<u64>,
    /// Treatment of a transfer for which there is no memory.
    pub at_limit: AtLimit,
    pub outages: Vec<Outage>,
    /// Set if the proxy does not split connections.
    pub helper: Option<HelperKind>,
}

/// When the proxy answers a SYN, and when it opens the other connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "ProxySetup"))]
pub enum Setup {
    /// Answers and opens the other connection immediately.
    #[default]
    Early,
    /// Answers immediately, and opens the other connection when the handshake is complete, like a
    /// program with sockets.
    Accepted,
    /// Opens the other connection first, and answers when that connection is established.
    ServerFirst,
}

/// Treatment of a further transfer if the proxy is out of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "ProxyAtLimit"))]
pub enum AtLimit {
    /// Passes the transfer through: one connection from end to end.
    #[default]
    Pass,
    /// Answers the SYN with a RST.
    Refuse,
}

/// An interval in which the proxy is out of order. Its transfers are lost at the start of the
/// interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields), schemars(rename = "ProxyOutage"))]
pub struct Outage {
    /// Start of the outage. The proxy loses its transfers.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "Start of the proxy's outage", "x-max" = "1000000 h")))]
    pub from: Duration,
    /// End of the outage. New transfers are possible.
    #[cfg_attr(feature = "schema", schemars(extend("x-label" = "End of the proxy's outage", "x-max" = "1000000 h")))]
    pub to: Duration,
    /// Answer to segments of transfers that the proxy has lost.
    #[cfg_attr(feature = "schema", serde(default), schemars(extend("x-label" = "After the proxy's outage")))]
    pub then: LostTransferAnswer,
}

/// Treatment of segments of a transfer that the proxy has lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "ProxyThen"))]
pub enum LostTransferAnswer {
    /// Answers with a RST.
    #[default]
    Reset,
    /// Discards them.
    Silent,
}

impl ProxyConfig {
    /// Whether `now` is within an outage.
    pub fn is_down(&self, now: Time) -> bool {
        let now = now - Time::ZERO;
        self.outages.iter().any(|outage| (outage.from..outage.to).contains(&now))
    }

    /// Whether the proxy answers segments of lost transfers with a RST, according to its last
    /// outage.
    pub fn answers_lost(&self, now: Time) -> bool {
        let started = self.outages.iter().filter(|outage| Time::ZERO + outage.from <= now);
        started.max_by_key(|outage| outage.from).is_some_and(|last| last.then == LostTransferAnswer::Reset)
    }
}
