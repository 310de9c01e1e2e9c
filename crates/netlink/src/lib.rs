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
