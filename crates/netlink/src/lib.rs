//! Configures the kernel's network without external tools: devices, addresses, routes and policy
//! rules (rtnetlink, RFC 3549), and rules of nftables. Everything applies to the network namespace
//! in which a socket was opened.
#![cfg(target_os = "linux")]

pub mod nftables;
mod policy;
mod route_copies;
mod routing;

pub use netlink_packet_route::route::RouteMetric;
pub use policy::Rule;
pub use routing::{Link, Netlink, Route, Table};

/// Returns the route metrics that set a minimum retransmission timeout, in milliseconds. The metric
/// is locked, because the kernel treats an unlocked one as a hint only.
pub fn rto_min(milliseconds: u32) -> [RouteMetric; 2] {
    /// RTAX_RTO_MIN, as a bit.
    const RTO_MIN: u32 = 1 << 13;
    [RouteMetric::Lock(RTO_MIN), RouteMetric::RtoMin(milliseconds)]
}
