//! What the kernel is asked for: namespaces, the devices in them or given ones, their addresses and routes, the way to the
//! host's network, TCP's settings.
//!
//! ```text
//!   topology ─┬─ tcp_settings                       uplink ─ masquerade    the way out
//!             ├─ net_namespace                         │
//!             └─ tun ─┐                             net_namespace
//!                     port      where packets come in and go out
//!   frames ─── wire ──┘
//! ```
//!
//! `proxy` is a node between the links, of the same parts as `topology`. Addresses, routes and rules are told by
//! `umts_netlink`. Whatever is made here vanishes with the process. No program is started here, and no time passes.

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
