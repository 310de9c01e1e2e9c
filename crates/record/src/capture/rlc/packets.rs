//! IP packets of the size that the model charges.

use etherparse::{IpNumber, Ipv4Header, TcpHeader};

/// IPv4 and TCP without options.
const PLAIN: usize = 40;

/// `packet`, which holds headers and payload, as one of `size` octets. If it is larger, its TCP options go; what is still
/// too much or too little, of a packet that an ns-2 model charges without header, is payload.
pub(super) fn of_size(packet: Vec<u8>, size: usize) -> Vec<u8> {
    if packet.len() == size {
        return packet;
    }
    let fitted = without_options(&packet, size);
    fitted.unwrap_or_else(|| {
        let mut cut = packet;
        cut.resize(size, 0);
        cut
    })
}

/// `None` if it is no TCP packet, or there is no room for its headers.
fn without_options(packet: &[u8], size: usize) -> Option<Vec<u8>> {
    let (mut ip, rest) = Ipv4Header::from_slice(packet).ok()?;
    if ip.protocol != IpNumber::TCP || size < PLAIN {
        return None;
    }
    let (mut tcp, _) = TcpHeader::from_slice(rest).ok()?;
    tcp.set_options_raw(&[]).ok()?;
    let payload = vec![0; size - PLAIN];
    ip.total_len = u16::try_from(size).ok()?;
    ip.header_checksum = ip.calc_header_checksum();
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, &payload).ok()?;
    let mut octets = ip.to_bytes().to_vec();
    octets.extend_from_slice(&tcp.to_bytes());
    octets.extend_from_slice(&payload);
    Some(octets)
}
