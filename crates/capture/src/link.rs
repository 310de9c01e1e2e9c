//! Link types of captures, and their link headers.

use crate::headers::{Header, Octets};
use crate::packet::{OtherProtocol, SkipReason};

/// Type of the link header of captured packets (LINKTYPE numbers of the tcpdump group).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkType {
    /// BSD loopback: address family in the byte order of the capturing machine (0), or in network
    /// order (108).
    Loopback,
    /// Ethernet, with any number of VLAN tags, or PPP over Ethernet (1).
    Ethernet,
    /// PPP, with or without HDLC-like framing; Cisco HDLC (9, 50, 104).
    Ppp,
    /// PPP over Ethernet, from the session header on (51).
    PppOverEthernet,
    /// IPv4 or IPv6 without a link header (12, 14, 101, 228, 229).
    Raw,
    /// LLC and SNAP, as over ATM (100).
    Llc,
    /// MPLS labels (219).
    Mpls,
    /// Linux "cooked", version 1 (113).
    LinuxSll,
    /// Linux "cooked", version 2 (276).
    LinuxSll2,
    /// A link type that is not supported.
    Other(u32),
}

impl LinkType {
    /// Returns the link type with this number.
    pub fn from_number(number: u32) -> Self {
        match number {
            0 | 108 => LinkType::Loopback,
            1 => LinkType::Ethernet,
            9 | 50 | 104 => LinkType::Ppp,
            51 => LinkType::PppOverEthernet,
            12 | 14 | 101 | 228 | 229 => LinkType::Raw,
            100 => LinkType::Llc,
            113 => LinkType::LinuxSll,
            219 => LinkType::Mpls,
            276 => LinkType::LinuxSll2,
            other => LinkType::Other(other),
        }
    }

    /// Skips the link header. Returns the header that follows.
    pub(crate) fn skip(self, rest: &mut Octets<'_>) -> Result<Header, SkipReason> {
        match self {
            LinkType::Raw => Ok(Header::Ip),
            LinkType::Ethernet => {
                rest.skip(12)?;
                Ok(Header::EtherType)
            }
            LinkType::LinuxSll => {
                let protocol = rest.half(14)?;
                rest.skip(16)?;
                Ok(Header::OfType(protocol))
            }
            LinkType::LinuxSll2 => {
                let protocol = rest.half(0)?;
                rest.skip(20)?;
                Ok(Header::OfType(protocol))
            }
            LinkType::Ppp => Ok(Header::Ppp),
            LinkType::PppOverEthernet => {
                rest.skip(6)?;
                Ok(Header::Ppp)
            }
            LinkType::Loopback => loopback(rest),
            LinkType::Llc => Ok(Header::Llc),
            LinkType::Mpls => Ok(Header::Mpls),
            LinkType::Other(number) => Err(SkipReason::LinkType(number)),
        }
    }
}

/// Skips the address family.
fn loopback(rest: &mut Octets<'_>) -> Result<Header, SkipReason> {
    let family = rest.word(0)?;
    rest.skip(4)?;
    // Families are small numbers, which shows the byte order. IPv6 is 24 (NetBSD, OpenBSD), 28
    // (FreeBSD), 30 (macOS) or 10 (Linux).
    match family.min(family.swap_bytes()) {
        2 | 10 | 24 | 28 | 30 => Ok(Header::Ip),
        _ => Err(SkipReason::NotIp(OtherProtocol::OtherFamily)),
    }
}
