//! Way 2: the stack on the wall clock. Real programs over the kernel's own TCP, in namespaces of their own, with the
//! modelled radio access network between them.
#![cfg(target_os = "linux")]

mod addresses;
mod children;
mod foreign;
mod isolation;
mod lateness;
mod net_namespace;
mod netlink;
mod topology;
mod tun;
mod wall_clock;

pub use isolation::{leave_host, settle};
pub use lateness::Lateness;
