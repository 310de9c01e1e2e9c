//! The header of version 2 of the PROXY protocol, which carries the client's address to the server
//! (haproxy's proxy-protocol.txt, §2.2): a signature of twelve octets, command, family, length,
//! both addresses and ports.

use std::net::{IpAddr, SocketAddr};

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// Version 2, command PROXY.
const PROXIED: u8 = 0x21;
/// Family and protocol: TCP over IPv4, TCP over IPv6.
const TCP: [u8; 2] = [0x11, 0x21];

/// Builds the header that precedes the client's data. Both addresses must have the same IP version.
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
    fn header_has_28_octets_for_ipv4_and_52_for_ipv6() {
        let v4 = header("192.0.2.1:5000".parse().unwrap(), "198.51.100.2:80".parse().unwrap());
        let expected =
            b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x01\xc6\x33\x64\x02\x13\x88\x00\x50";
        assert_eq!(v4, expected);
        let v6 = header("[2001:db8::1]:1".parse().unwrap(), "[2001:db8::2]:2".parse().unwrap());
        // Two addresses of 16 octets and two ports of 2 octets follow the first 16 octets.
        let (family, length) = (v6[13], &v6[14..16]);
        assert_eq!((v6.len(), family, length), (16 + 36, 0x21, &[0, 36][..]));
    }
}
