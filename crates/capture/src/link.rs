//! Link layers: from the first captured byte to the IP header.

use crate::packet::Skipped;

/// How a capture's packets begin (LINKTYPE numbers of the tcpdump group).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkType {
    /// BSD loopback: address family in the byte order of the machine that captured (0), or in network order (108).
    Loopback,
    /// Ethernet, with any number of VLAN tags, or PPP over Ethernet (1).
    Ethernet,
    /// PPP, in HDLC-like framing or without (9, 50).
    Ppp,
    /// PPP over Ethernet, from its session header on (51).
    PppOverEthernet,
    /// IPv4 or IPv6 without a link header (12, 14, 101, 228, 229).
    Raw,
    /// Linux "cooked", version 1 (113).
    LinuxSll,
    /// Linux "cooked", version 2 (276).
    LinuxSll2,
    /// One that is not read here.
    Other(u32),
}

impl LinkType {
    /// The link type with this number.
    pub fn from_number(number: u32) -> Self {
        match number {
            0 | 108 => LinkType::Loopback,
            1 => LinkType::Ethernet,
            9 | 50 => LinkType::Ppp,
            51 => LinkType::PppOverEthernet,
            12 | 14 | 101 | 228 | 229 => LinkType::Raw,
            113 => LinkType::LinuxSll,
            276 => LinkType::LinuxSll2,
            other => LinkType::Other(other),
        }
    }

    /// What follows the link header.
    pub(crate) fn ip_of(self, bytes: &[u8]) -> Result<&[u8], Skipped> {
        match self {
            LinkType::Raw => Ok(bytes),
            LinkType::Ethernet => of_ether_type(word(bytes, 12)?, &bytes[14..]),
            LinkType::LinuxSll => of_ether_type(word(bytes, 14)?, &bytes[16..]),
            LinkType::LinuxSll2 => match (word(bytes, 0)?, bytes.get(20..)) {
                (protocol, Some(rest)) => of_ether_type(protocol, rest),
                (_, None) => Err(Skipped::Short),
            },
            LinkType::Ppp => of_ppp(bytes),
            LinkType::PppOverEthernet => of_ppp(bytes.get(6..).ok_or(Skipped::Short)?),
            LinkType::Loopback => of_loopback(bytes),
            LinkType::Other(_) => Err(Skipped::LinkType),
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Result<u16, Skipped> {
    let word = bytes.get(at..at + 2).ok_or(Skipped::Short)?;
    Ok(u16::from_be_bytes([word[0], word[1]]))
}

fn of_ether_type(mut ether_type: u16, mut bytes: &[u8]) -> Result<&[u8], Skipped> {
    loop {
        match ether_type {
            0x0800 | 0x86dd => return Ok(bytes),
            // IEEE 802.1Q, 802.1ad and the number that was used for the latter before it had one.
            0x8100 | 0x88a8 | 0x9100 => {
                ether_type = word(bytes, 2)?;
                bytes = &bytes[4..];
            }
            0x8864 => return of_ppp(bytes.get(6..).ok_or(Skipped::Short)?),
            _ => return Err(Skipped::NotIp),
        }
    }
}

/// RFC 1661 §2 and RFC 1662 §3.1: address and control fields are there or not, the protocol takes one octet or two;
/// Cisco's HDLC has 0x0f or 0x8f first, and an EtherType.
fn of_ppp(bytes: &[u8]) -> Result<&[u8], Skipped> {
    let bytes = match bytes {
        [0xff, 0x03, rest @ ..] => rest,
        [0x0f | 0x8f, 0x00, rest @ ..] => return of_ether_type(word(rest, 0)?, &rest[2..]),
        other => other,
    };
    match bytes {
        [0x00, 0x21 | 0x57, rest @ ..] | [0x21 | 0x57, rest @ ..] => Ok(rest),
        [_, _, ..] => Err(Skipped::NotIp),
        _ => Err(Skipped::Short),
    }
}

fn of_loopback(bytes: &[u8]) -> Result<&[u8], Skipped> {
    let [a, b, c, d, rest @ ..] = bytes else { return Err(Skipped::Short) };
    let family = [*a, *b, *c, *d];
    // Families are small numbers, so the order of the bytes shows itself. IPv6 is 24 (NetBSD, OpenBSD), 28 (FreeBSD),
    // 30 (macOS) or 10 (Linux).
    match u32::from_be_bytes(family).min(u32::from_le_bytes(family)) {
        2 | 10 | 24 | 28 | 30 => Ok(rest),
        _ => Err(Skipped::NotIp),
    }
}
