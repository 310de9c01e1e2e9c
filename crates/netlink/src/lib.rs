//! What the kernel's network is told without a tool: devices, addresses, routes and policy rules (rtnetlink, RFC 3549), rules
//! of nftables. Of the network namespace in which a socket was opened.
#![cfg(target_os = "linux")]

mod copies;
pub mod nftables;
mod policy;
mod routing;

pub use netlink_packet_route::route::RouteMetric;
pub use policy::Rule;
pub use routing::{Link, Netlink, Route, Table};

/// The least retransmission timeout over a route, in milliseconds. The kernel takes one that is not locked for a hint, and
/// does not obey it.
pub fn rto_min(milliseconds: u32) -> [RouteMetric; 2] {
    /// RTAX_RTO_MIN, as a bit.
    const RTO_MIN: u32 = 1 << 13;
    [RouteMetric::Lock(RTO_MIN), RouteMetric::RtoMin(milliseconds)]
}
