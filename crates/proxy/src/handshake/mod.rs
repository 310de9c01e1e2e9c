//! Where a client wants to go, and how the server is told who it is.

pub mod proxy_protocol;
pub mod request;
pub mod socks5;
