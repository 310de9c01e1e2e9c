//! Reads the destination that a client requests, and sends the client's address to the server.

pub mod proxy_protocol;
pub mod request;
pub mod socks5;
