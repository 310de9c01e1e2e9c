//! Addresses of this host and of servers.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::str::FromStr;

use crate::error::{ProxyError, wrong};

/// Parses an address to listen at: `127.0.0.1:8080`, `[::1]:8080`, or a port alone for every
/// address.
pub fn listening_address(option: &str, text: &str) -> Result<SocketAddr, ProxyError> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = u16::from_str(port) {
        return Ok(SocketAddr::from(([0_u16; 8], port)));
    }
    let parsed = text.parse().ok().or_else(|| parse_scoped(text));
    parsed.filter(|parsed: &SocketAddr| is_of_one_host(parsed.ip())).map(unmapped).ok_or_else(|| {
        wrong(format!(
            "{option} takes an address of this host and a port, as in 127.0.0.1:8080 or [::1]:8080, not {text:?}"
        ))
    })
}

/// Parses a link-local address with its device, for example `[fe80::1%eth0]:8080`. The system's
/// resolver maps the device name to its index.
fn parse_scoped(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.strip_prefix('[')?.split_once("]:")?;
    let (_address, _device) = host.split_once('%')?;
    (host, u16::from_str(port).ok()?).to_socket_addrs().ok()?.next()
}

/// Whether an address is neither multicast nor broadcast.
fn is_of_one_host(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !address.is_multicast() && !is_broadcast
}

/// Resolves the server of `--to`. Returns its addresses in the order in which they are tried.
pub fn server_addresses(text: &str) -> Result<Vec<SocketAddr>, ProxyError> {
    let is_complete = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && u16::from_str(port).is_ok_and(|port| port > 0));
    if !is_complete {
        return Err(wrong(format!("--to takes a host and a port, as in server.example:80, not {text:?}")));
    }
    let addresses: Vec<SocketAddr> = match parse_scoped(text) {
        Some(address) => vec![address],
        None => text.to_socket_addrs().map_err(|error| unknown_host(text, error))?.collect(),
    };
    if let Some(group) = addresses.iter().find(|address| !is_of_one_host(address.ip())) {
        return Err(wrong(format!(
            "--to {text}: {} is not the address of a single host, which TCP requires",
            group.ip()
        )));
    }
    if addresses.is_empty() {
        return Err(unknown_host(text, "it has no address"));
    }
    Ok(addresses.into_iter().map(canonical).collect())
}

/// Converts an IPv4-mapped IPv6 address to IPv4.
pub fn unmapped(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        // Keeps the scope of the address.
        IpAddr::V6(_) => address,
        ip @ IpAddr::V4(_) => SocketAddr::new(ip, address.port()),
    }
}

/// The address to which the kernel connects if `address` is the destination: for an unspecified
/// address it is loopback.
pub fn canonical(address: SocketAddr) -> SocketAddr {
    let address = unmapped(address);
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::from((Ipv6Addr::LOCALHOST, address.port())),
        _ => address,
    }
}

fn unknown_host(text: &str, reason: impl Display) -> ProxyError {
    wrong(format!("--to {text}: cannot resolve the host name ({reason})"))
}

/// Returns an error if the proxy would connect to itself.
pub fn refuse_itself(listen: SocketAddr, servers: &[SocketAddr], typed: &str) -> Result<(), ProxyError> {
    let is_own = |server: &SocketAddr| {
        server.port() == listen.port()
            && (canonical(*server).ip() == listen.ip()
                || listen.ip().is_unspecified() && is_of_this_host(canonical(*server).ip()))
    };
    if servers.iter().any(is_own) {
        return Err(wrong(format!(
            "--to {typed} is an address on which this proxy listens: give the address of the server"
        )));
    }
    Ok(())
}

/// Whether an address belongs to this host.
pub fn is_of_this_host(address: IpAddr) -> bool {
    address.is_unspecified() || address.is_loopback() || TcpListener::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_addresses_match_the_kernel() {
        for (typed, expected) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("[::ffff:127.0.0.1]:80", "127.0.0.1:80"),
            ("[::ffff:0.0.0.0]:80", "127.0.0.1:80"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("[fe80::1%1]:80", "[fe80::1%1]:80"),
        ] {
            let address = typed.parse().expect("the address is valid");
            assert_eq!(canonical(address), expected.parse().expect("the address is valid"), "{typed}");
        }
    }

    #[test]
    fn destination_that_is_the_proxy_itself_is_refused_in_every_notation() {
        for (listen, to) in [
            ("127.0.0.1:80", "0.0.0.0:80"),
            ("127.0.0.1:80", "[::ffff:127.0.0.1]:80"),
            ("[::ffff:127.0.0.1]:80", "127.0.0.1:80"),
            ("[::1]:80", "[::]:80"),
            ("[::]:80", "0.0.0.0:80"),
            ("0.0.0.0:80", "127.9.9.9:80"),
        ] {
            let listen = listening_address("--listen", listen).expect("the address is valid");
            let servers = server_addresses(to).expect("the addresses are valid");
            assert!(refuse_itself(listen, &servers, to).is_err(), "{listen} {to}");
        }
        let servers = server_addresses("127.0.0.2:80").expect("the addresses are valid");
        assert!(refuse_itself("127.0.0.1:80".parse().expect("the address is valid"), &servers, "").is_ok());
    }
}
