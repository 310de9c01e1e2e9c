//! Tests of parts of the captures. `crates/simulate/tests/suite/rlc_captures.rs` checks whole
//! captures with tshark.

use etherparse::{Ipv4Header, TcpHeader, TcpOptionElement};
use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::rlc::Sn;
use umts_stack::radio::rlc::octets::PduMode;
use umts_stack::radio::rlc::wire::{AmdFormat, AmdPdu, LengthIndicator, LiWidth};
use umts_stack::trace::Channel;
use umts_units::Time;

use super::sdu_parts::{Format, SduParts};
use super::{mac, packets};

const NARROW: AmdFormat = AmdFormat { width: LiWidth::Seven, special_he: false };
const WIDE: AmdFormat = AmdFormat { width: LiWidth::Fifteen, special_he: false };

/// The SYN has an option of 4 octets, so 44 octets in all. The model counts 40 octets without it.
#[test]
fn syn_without_counted_options_is_written_without_them() {
    let mut tcp = TcpHeader::new(5001, 49_152, 7, 1000);
    tcp.syn = true;
    tcp.set_options(&[TcpOptionElement::MaximumSegmentSize(1460)]).expect("four octets fit");
    let length = tcp.header_len() as u16;
    let ip = Ipv4Header::new(length, 64, etherparse::IpNumber::TCP, [10, 0, 0, 1], [198, 18, 0, 1]);
    let mut octets = ip.expect("the packet fits").to_bytes().to_vec();
    octets.extend_from_slice(&tcp.to_bytes());
    let plain = packets::of_size(octets.clone(), 40);
    let (ip, rest) = Ipv4Header::from_slice(&plain).expect("it is IP");
    let (tcp, _) = TcpHeader::from_slice(rest).expect("it is TCP");
    assert_eq!((plain.len(), ip.total_len, tcp.header_len()), (40, 40, 20));
    assert_eq!(ip.header_checksum, ip.calc_header_checksum());
    assert_eq!(Ok(tcp.checksum), tcp.calc_checksum_ipv4(&ip, &[]).map_err(|_| ()));
    assert!(tcp.syn && tcp.sequence_number == 7);
    // A packet of the right size is unchanged.
    assert_eq!(packets::of_size(octets.clone(), 44), octets);
}

/// An AMD PDU with number 0 and narrow length indicators.
fn pdu(indicators: Vec<LengthIndicator>, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    AmdPdu::new(NARROW, Sn::of(0), false, indicators, data).expect("the PDU is valid").emit(&mut out);
    out
}

/// The first octets of an SDU, `ab`, were in the last PDU of a round. They are moved to the first
/// PDU of the next round.
#[test]
fn sdu_across_a_wraparound_is_shown_in_the_later_round() {
    use LengthIndicator as Li;
    // The PDU before, then length indicators and data after the move. Capitals belong to the next
    // SDU.
    let ends_here = (pdu(vec![Li::End(2)], b"cdEF"), vec![Li::End(4)], b"abcdEF".to_vec());
    let continues_here = (pdu(vec![], b"cdef"), vec![], b"abcdef".to_vec());
    let ended_with_the_round = (pdu(vec![Li::PreviousFilled], b"CD"), vec![Li::End(2)], b"abCD".to_vec());
    let cases = [ends_here, continues_here, ended_with_the_round];
    for (octets, indicators, data) in cases {
        let mut parts = SduParts::read(Format::Am(NARROW), &octets);
        parts.prepend(b"ab".to_vec());
        let written = parts.write(Format::Am(NARROW), Sn::of(0));
        let read = AmdPdu::parse(&written, WIDE).expect("the PDU is valid");
        assert_eq!((read.payload().indicators(), read.payload().octets()), (&indicators[..], &data[..]));
    }
}

/// The PDU signals that an SDU ended with the preceding PDU, and contains the ends of two further
/// SDUs, `ab` and `c`, and the start of a fourth, `DE`. The sender discarded the first two SDUs.
#[test]
fn discarded_sdus_are_removed_from_their_pdu() {
    use LengthIndicator as Li;
    let octets = pdu(vec![Li::PreviousFilled, Li::End(2), Li::End(3)], b"abcDE");
    let mut parts = SduParts::read(Format::Am(NARROW), &octets);
    parts.drop_ends(2);
    assert_eq!((parts.leading, &parts.ended, &parts.open), (None, &vec![b"c".to_vec()], &b"DE".to_vec()));
    // Without parts the PDU signals that the preceding one was filled, which Wireshark evaluates.
    let written = SduParts::default().write(Format::Am(NARROW), Sn::of(9));
    let read = AmdPdu::parse(&written, WIDE).expect("the PDU is valid");
    assert_eq!((read.sn(), read.payload().indicators()), (Sn::of(9), &[Li::PreviousFilled, Li::Padding][..]));
}

#[test]
fn mac_is_shown_only_where_readers_decode_it() {
    let frame = |channel, mode, octets: usize| {
        let pdu = vec![0x80; octets];
        mac::frame(Time::ZERO, UeId(0), Direction::Downlink, channel, mode, &[&pdu]).is_some()
    };
    assert!(frame(Channel::Dch, PduMode::Um, 42) && frame(Channel::Fach, PduMode::Am, 42));
    assert!(!frame(Channel::Fach, PduMode::Um, 42) && !frame(Channel::Rach, PduMode::Tm, 42));
    // The hint has 13 bits for the size of a block.
    assert!(frame(Channel::Dch, PduMode::Am, 1023) && !frame(Channel::Dch, PduMode::Am, 1024));
}
