//! Packets of real programs, as much of them as the network between must know.

use std::net::IpAddr;

use thiserror::Error;

/// Why a packet is not forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Malformed {
    /// Neither version 4 nor 6.
    #[error("no IP packet")]
    NoIp,
    /// The header does not fit.
    #[error("the IP header is cut off or too short")]
    Header,
    /// The header tells of more octets than there are, or of fewer than the header has.
    #[error("the length in the IP header is wrong")]
    Length,
}

/// Where a packet comes from and goes to.
///
/// A router looks at no more (RFC 1812 §5.2.2, RFC 8200 §3): what is wrong above is for the ends to find.
///
/// # Errors
/// If a router could not read it.
pub fn addresses(packet: &[u8]) -> Result<(IpAddr, IpAddr), Malformed> {
    match packet.first().ok_or(Malformed::NoIp)? >> 4 {
        4 => {
            let header: &[u8; 20] = packet.first_chunk().ok_or(Malformed::Header)?;
            let header_length = usize::from(header[0] & 15) * 4;
            let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
            if header_length < 20 || packet.len() < header_length {
                return Err(Malformed::Header);
            }
            if length < header_length || length > packet.len() {
                return Err(Malformed::Length);
            }
            let address =
                |at: usize| IpAddr::from([header[at], header[at + 1], header[at + 2], header[at + 3]]);
            Ok((address(12), address(16)))
        }
        6 => {
            let header: &[u8; 40] = packet.first_chunk().ok_or(Malformed::Header)?;
            let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
            if length + 40 > packet.len() {
                return Err(Malformed::Length);
            }
            let address = |at: usize| {
                let octets: [u8; 16] = header[at..at + 16].try_into().expect("sixteen of forty octets");
                IpAddr::from(octets)
            };
            Ok((address(8), address(24)))
        }
        _ => Err(Malformed::NoIp),
    }
}
