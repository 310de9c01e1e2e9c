//! Kernel objects of an emulation: namespaces, own and given devices, addresses and routes, access
//! to the host's network, TCP settings.
//!
//! ```text
//!   topology ─┬─ tcp_settings                       uplink ─ masquerade    access to the host's network
//!             ├─ net_namespace                         │
//!             └─ tun ─┐                             net_namespace
//!                     port      where packets enter and leave
//!   frames ─── wire ──┘
//! ```
//!
//! `proxy` is a namespace between the links, built from the same parts as `topology`.
//! `umts_netlink` configures addresses, routes and rules. Everything created here disappears with
//! the process. This module starts no programs and reads no clock.

pub mod addresses;
mod frames;
mod masquerade;
pub mod net_namespace;
pub mod port;
pub mod proxy;
pub mod tcp_settings;
pub mod topology;
pub mod tun;
pub mod uplink;
pub mod wire;
