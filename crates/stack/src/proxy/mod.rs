//! A performance enhancing proxy (RFC 3135) at a node of the chain, or at the RNC: it ends the connections of both sides
//! and carries octets from one to the other ("split").
//!
//! ```text
//!   server ══ leg `Server` ══► end of the UE │ relay │ end of the server ══ leg `Radio` ══► UE
//!                               reads when   │       │   keeps what is not
//!                               there is room│       │   acknowledged
//! ```
//!
//! A transfer is two connections with numbers of their own. What is read from one and not yet acknowledged on the other is
//! the proxy's buffer, one each way; while it is full nothing is read, and TCP closes the window towards the sender.
//!
//! The table of split transfers is in `transfers.rs`. Or the proxy leaves connections whole and helps the packets that pass it (`helper.rs`).

mod ack_regulator;
mod helper;
mod relay;
mod snoop;
#[cfg(test)]
mod tests;
mod transfers;

use umts_units::Time;

pub use helper::{Helper, HelperKind, Passing};
pub use relay::{Relay, Side};
pub use transfers::{Transfer, TransferId, Transfers};

/// What a proxy does.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyConfig {
    /// So many hops of the chain are between it and the servers.
    pub hops: u32,
    /// When it answers a SYN.
    pub setup: Setup,
    /// Room for each way of each transfer, in octets; `None` without bound.
    pub buffer: Option<u64>,
    /// Room for all transfers, in octets; `None` without bound. Each takes both its buffers.
    pub memory: Option<u64>,
    /// What becomes of a transfer for which there is no room.
    pub at_limit: AtLimit,
    /// When it is out of order, and what it does about the transfers of before.
    pub outages: Vec<Outage>,
    /// What it does if it splits nothing.
    pub helper: Option<HelperKind>,
}

/// When the proxy answers a SYN, and when it opens the other connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "ProxySetup"))]
pub enum Setup {
    /// It answers at once, and opens the other connection at once.
    Early,
    /// It answers at once, and opens the other connection when the handshake is complete, as a program over sockets does.
    Accepted,
    /// It opens the other connection first, and answers when that is established.
    ServerFirst,
}

/// What a proxy without room does about a further transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "ProxyAtLimit"))]
pub enum AtLimit {
    /// It passes: one connection from end to end.
    Pass,
    /// A RST answers its SYN.
    Refuse,
}

/// An interval in which the proxy is out of order. All that it knows of its transfers is lost when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// It begins: from now on packets that end here are lost.
    pub from: Time,
    /// It ends: transfers may begin again.
    pub to: Time,
    /// What it does about segments of the lost transfers.
    pub then: Then,
}

/// What becomes of segments of a transfer that the proxy has forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "ProxyThen"))]
pub enum Then {
    /// A RST answers them.
    Reset,
    /// Nothing does.
    Silent,
}

impl ProxyConfig {
    /// Whether it is out of order.
    pub fn is_down(&self, now: Time) -> bool {
        self.outages.iter().any(|outage| (outage.from..outage.to).contains(&now))
    }

    /// Whether it answers segments of transfers that it has lost, by the last outage.
    pub fn answers_lost(&self, now: Time) -> bool {
        let before = self.outages.iter().filter(|outage| outage.from <= now);
        before.max_by_key(|outage| outage.from).is_some_and(|last| last.then == Then::Reset)
    }
}
