//! Parses TCP and ICMP headers of real packets, as far as the round-trip times and the time budget
//! of programs need them.

use std::net::IpAddr;

use umts_stack::ids::{End, ProxyLeg, Site};
use umts_stack::trace::CapturePoint;

use crate::packets::foreign;

/// Protocol numbers of IANA.
const ICMP: u8 = 1;
const TCP: u8 = 6;
const ICMPV6: u8 = 58;

/// Control bits of TCP (RFC 9293 §3.1).
pub const FIN: u8 = 0x01;
pub const SYN: u8 = 0x02;
pub const RST: u8 = 0x04;
const ACK: u8 = 0x10;

/// A packet that can begin or end a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transport {
    /// Address of the sender, and its port or the identifier of the echo.
    pub from: (IpAddr, u16),
    /// Address of the receiver, and its port or the identifier of the echo.
    pub to: (IpAddr, u16),
    /// Kind of the packet.
    pub message: Message,
}

/// Kind of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// A TCP segment.
    Segment {
        /// Sequence number.
        seq: u32,
        /// Length in sequence numbers: payload, SYN and FIN.
        length: u32,
        /// Acknowledgment number, if the ACK flag is set.
        ack: Option<u32>,
        /// Flags of the TCP header.
        flags: u8,
    },
    /// An ICMP echo request.
    EchoRequest {
        /// Sequence number of the echo.
        number: u32,
    },
    /// An ICMP echo reply.
    EchoReply {
        /// Sequence number of the echo.
        number: u32,
    },
}

/// Parses the headers of a packet. Returns `None` if it is neither TCP nor an echo, is a later
/// fragment, or is truncated.
pub fn read(packet: &[u8]) -> Option<Transport> {
    let (from, to) = foreign::addresses(packet).ok()?;
    let upper = foreign::upper(packet)?;
    let body = &packet[upper.at..upper.end];
    match upper.protocol {
        TCP => {
            let header: &[u8; 20] = body.first_chunk()?;
            let word =
                |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
            let port = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
            let flags = header[13];
            let offset = usize::from(header[12] >> 4) * 4;
            if offset < header.len() {
                return None;
            }
            let payload = body.len().checked_sub(offset)?;
            let length = payload as u32 + u32::from(flags & FIN != 0) + u32::from(flags & SYN != 0);
            let ack = (flags & ACK != 0).then(|| word(8));
            let message = Message::Segment { seq: word(4), length, ack, flags };
            Some(Transport { from: (from, port(0)), to: (to, port(2)), message })
        }
        ICMP | ICMPV6 => {
            let header: &[u8; 8] = body.first_chunk()?;
            let identifier = u16::from_be_bytes([header[4], header[5]]);
            let number = u32::from(u16::from_be_bytes([header[6], header[7]]));
            let message = match (upper.protocol, header[0]) {
                (ICMP, 8) | (ICMPV6, 128) => Message::EchoRequest { number },
                (ICMP, 0) | (ICMPV6, 129) => Message::EchoReply { number },
                _ => return None,
            };
            Some(Transport { from: (from, identifier), to: (to, identifier), message })
        }
        _ => None,
    }
}

/// Capture point that packets of a connection on `leg` pass at the given end.
pub fn point_of(leg: ProxyLeg, end: End) -> CapturePoint {
    match (leg.site(end), leg) {
        (Site::Server, _) => CapturePoint::Server,
        (Site::Ue, _) => CapturePoint::Ue,
        (Site::Proxy, ProxyLeg::Server) => CapturePoint::ProxyServer,
        (Site::Proxy, _) => CapturePoint::ProxyRadio,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tcp(flags: u8, payload: usize) -> Vec<u8> {
        let mut packet =
            vec![0x45, 0, 0, (40 + payload) as u8, 0, 0, 0, 0, 64, 6, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
        packet.extend([0, 80, 1, 0, 0, 0, 0, 9, 0, 0, 0, 7, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        packet.resize(40 + payload, 0);
        packet
    }

    #[test]
    fn segment_has_sequence_length_and_acknowledgment() {
        let parsed = read(&tcp(0x12, 10)).unwrap();
        assert_eq!(parsed.message, Message::Segment { seq: 9, length: 11, ack: Some(7), flags: 0x12 });
        assert_eq!((parsed.from, parsed.to), (([1, 2, 3, 4].into(), 80), ([5, 6, 7, 8].into(), 256)));
        let nothing = Message::Segment { seq: 9, length: 0, ack: None, flags: 0 };
        assert_eq!(read(&tcp(0, 0)).unwrap().message, nothing);
    }

    #[test]
    fn echoes_are_parsed_in_both_ip_versions() {
        let mut packet = vec![0x60, 0, 0, 0, 0, 8, 58, 64];
        packet.extend([0xfd; 32]);
        packet.extend([128, 0, 0, 0, 0, 3, 0, 4]);
        let parsed = read(&packet).unwrap();
        assert_eq!((parsed.message, parsed.from.1), (Message::EchoRequest { number: 4 }, 3));
        packet[40] = 135;
        assert_eq!(read(&packet), None);
    }

    #[test]
    fn generated_packets_include_segments_and_echoes() {
        let parsed =
            foreign::generated::shares(2000, |packet| match read(packet).map(|parsed| parsed.message) {
                Some(Message::Segment { .. }) => [true, false, false],
                Some(_) => [false, true, false],
                None => [false, false, true],
            });
        // Only a few are echoes, which need one of 256 ICMP types.
        assert!(parsed[0] > 100 && parsed[1] > 0 && parsed[2] > 100, "{parsed:?}");
    }

    proptest! {
        #[test]
        fn arbitrary_packets_do_not_panic(packet in foreign::generated::packet()) {
            let _ = read(&packet);
        }

        #[test]
        fn changed_headers_do_not_panic(at in 0_usize..40, octet in any::<u8>(), length in 0_usize..60) {
            let mut packet = tcp(0x10, 10);
            packet[at] = octet;
            packet.truncate(length);
            let _ = read(&packet);
        }
    }
}
