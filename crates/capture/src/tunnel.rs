//! Headers of tunnels over IP and UDP: GTP-U, VXLAN, VXLAN-GPE, Geneve, GRE, and MPLS in UDP.

use crate::headers::{Header, Octets};
use crate::packet::{OtherProtocol, Packet, SkipReason};

/// UDP ports of tunnels.
const GTP_U: u16 = 2152;
const VXLAN: u16 = 4789;
/// The port that Linux used for VXLAN before one was assigned.
const VXLAN_LINUX: u16 = 8472;
const VXLAN_GPE: u16 = 4790;
const GENEVE: u16 = 6081;
const MPLS_IN_UDP: u16 = 6635;
const GRE_IN_UDP: u16 = 4754;

/// Type of a message that carries a user's packet (TS 29.281, table 6.1-1).
const G_PDU: u8 = 255;

/// Skips the header of a tunnel over UDP, and returns the header that follows. Returns `None`, with
/// `rest` unchanged, if the datagram belongs to no tunnel.
pub(crate) fn in_udp(
    (source, destination): (u16, u16),
    rest: &mut Octets<'_>,
    packet: &mut Packet,
) -> Result<Option<Header>, SkipReason> {
    match destination {
        _ if source == GTP_U || destination == GTP_U => gtp_u(rest, packet),
        VXLAN | VXLAN_LINUX => vxlan(rest),
        VXLAN_GPE => vxlan_gpe(rest),
        GENEVE => geneve(rest),
        MPLS_IN_UDP => Ok(Some(Header::Mpls)),
        GRE_IN_UDP => gre(rest).map(Some),
        _ => Ok(None),
    }
}

/// Skips a header of GTP-U, version 1 (TS 29.281 §5). The TEID in `packet` is the one of the
/// innermost tunnel.
fn gtp_u(rest: &mut Octets<'_>, packet: &mut Packet) -> Result<Option<Header>, SkipReason> {
    let Ok([flags, kind, ..]) = rest.get::<8>(0) else { return Ok(None) };
    // Version 1, and GTP instead of GTP'.
    if flags & 0xf0 != 0x30 {
        return Ok(None);
    }
    if kind != G_PDU {
        return Err(SkipReason::NotTcp(OtherProtocol::GtpSignalling));
    }
    let (length, teid) = (rest.half(2)?, rest.word(4)?);
    let options = *rest;
    rest.skip(8)?;
    rest.limit(u32::from(length));
    // All three optional fields are present if one of the three flags is set.
    if flags & 0x07 != 0 {
        let mut next = if flags & 0x04 != 0 { options.octet(11)? } else { 0 };
        rest.skip(4)?;
        while next != 0 {
            // Length in units of four octets, including itself. The last octet is the type of the
            // next header (§5.2.1).
            let octets = 4 * usize::from(rest.octet(0)?);
            if octets == 0 {
                return Err(SkipReason::Short);
            }
            next = rest.octet(octets - 1)?;
            rest.skip(octets)?;
        }
    }
    packet.teid = Some(teid);
    match rest.captured {
        [first, ..] if matches!(first >> 4, 4 | 6) => Ok(Some(Header::Ip)),
        // A PDP context of type PPP.
        [0xff, 0x03, ..] => Ok(Some(Header::Ppp)),
        [] => Err(SkipReason::Short),
        _ => Err(SkipReason::NotTcp(OtherProtocol::GtpContent)),
    }
}

/// Skips a header of VXLAN (RFC 7348 §5).
fn vxlan(rest: &mut Octets<'_>) -> Result<Option<Header>, SkipReason> {
    if rest.octet(0).is_ok_and(|flags| flags & 0x08 != 0) && rest.captured.len() >= 8 {
        rest.skip(8)?;
        return Ok(Some(Header::Ethernet));
    }
    Ok(None)
}

/// Skips a header of VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe §3). Its last octet before the VNI names the
/// contents.
fn vxlan_gpe(rest: &mut Octets<'_>) -> Result<Option<Header>, SkipReason> {
    const HAS_VNI: u8 = 0x08;
    const NAMES_CONTENTS: u8 = 0x04;
    let Ok([flags, _, _, contents, ..]) = rest.get::<8>(0) else { return Ok(None) };
    if flags & HAS_VNI == 0 {
        return Ok(None);
    }
    let header = match contents {
        _ if flags & NAMES_CONTENTS == 0 => Header::Ethernet,
        1 | 2 => Header::Ip,
        3 => Header::Ethernet,
        5 => Header::Mpls,
        _ => return Ok(None),
    };
    rest.skip(8)?;
    Ok(Some(header))
}

/// Skips a header of Geneve (RFC 8926 §3.4).
fn geneve(rest: &mut Octets<'_>) -> Result<Option<Header>, SkipReason> {
    match rest.get::<8>(0) {
        Ok([first, _, high, low, ..]) if first >> 6 == 0 => {
            rest.skip(8 + 4 * usize::from(first & 0x3f))?;
            Ok(Some(Header::OfType(u16::from_be_bytes([high, low]))))
        }
        _ => Ok(None),
    }
}

/// Skips the source routes of GRE: entries of a length, ended by an empty one (RFC 1701).
fn skip_source_routes(rest: &mut Octets<'_>) -> Result<(), SkipReason> {
    loop {
        let (family, length) = (rest.half(0)?, rest.octet(3)?);
        rest.skip(4 + usize::from(length))?;
        if family == 0 && length == 0 {
            return Ok(());
        }
    }
}

/// Skips a header of GRE: version 0 (RFC 1701, RFC 2784, RFC 2890), or version 1 with PPP (RFC 2637).
pub(crate) fn gre(rest: &mut Octets<'_>) -> Result<Header, SkipReason> {
    let (flags, kind) = (rest.half(0)?, rest.half(2)?);
    let field = |flag: u16| if flags & flag != 0 { 4 } else { 0 };
    let (key, sequence) = (field(0x2000), field(0x1000));
    let has_routing = flags & 0x4000 != 0;
    match flags & 0x0007 {
        0 => {
            let checksum_and_offset = if has_routing { 4 } else { field(0x8000) };
            rest.skip(4 + checksum_and_offset + key + sequence)?;
            if has_routing {
                skip_source_routes(rest)?;
            }
        }
        1 => rest.skip(4 + key + sequence + field(0x0080))?,
        _ => return Err(SkipReason::NotTcp(OtherProtocol::GreContent)),
    }
    match kind {
        0x880b => Ok(Header::Ppp),
        // ERSPAN types I and II. Type II has a sequence number in the GRE header, and a header of
        // its own.
        0x88be => {
            rest.skip(if sequence > 0 { 8 } else { 0 })?;
            Ok(Header::Ethernet)
        }
        // ERSPAN type III, with an optional part.
        0x22eb => {
            let has_more = rest.octet(11)? & 1 == 1;
            rest.skip(if has_more { 20 } else { 12 })?;
            Ok(Header::Ethernet)
        }
        // An acknowledgment of RFC 2637 has no payload.
        0 => Err(SkipReason::NotTcp(OtherProtocol::GreContent)),
        number => Ok(Header::OfType(number)),
    }
}
