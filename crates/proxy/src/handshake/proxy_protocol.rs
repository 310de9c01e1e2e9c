//! The header of the PROXY protocol, version 2, by which a server learns the client's address (haproxy's proxy-protocol.txt,
//! §2.2): twelve octets that no other protocol begins with, what it is about, both addresses.

use std::net::{IpAddr, SocketAddr};

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// Version 2, on behalf of somebody.
const PROXIED: u8 = 0x21;
/// A stream over IPv4, and over IPv6.
const TCP: [u8; 2] = [0x11, 0x21];

/// What is sent before the client's first octet: it came from `client` and was for `destination`.
pub fn header(client: SocketAddr, destination: SocketAddr) -> Vec<u8> {
    let (client_ip, destination_ip) = (octets(client.ip()), octets(destination.ip()));
    let of_same_version = client_ip.len() == destination_ip.len();
    debug_assert!(of_same_version, "both are ends of one connection");
    let family = TCP[usize::from(client.is_ipv6())];
    let length = (client_ip.len() + destination_ip.len() + 4) as u16;
    [
        &SIGNATURE[..],
        &[PROXIED, family],
        &length.to_be_bytes(),
        &client_ip,
        &destination_ip,
        &client.port().to_be_bytes(),
        &destination.port().to_be_bytes(),
    ]
    .concat()
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_ipv4_has_28_octets_and_one_of_ipv6_52() {
        let found = header("192.0.2.1:5000".parse().unwrap(), "198.51.100.2:80".parse().unwrap());
        let expected =
            b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x01\xc6\x33\x64\x02\x13\x88\x00\x50";
        assert_eq!(found, expected);
        let found = header("[2001:db8::1]:1".parse().unwrap(), "[2001:db8::2]:2".parse().unwrap());
        assert_eq!((found.len(), found[13], &found[14..16]), (52, 0x21, &[0, 36][..]));
    }
}
