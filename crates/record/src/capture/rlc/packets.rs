//! IP packets with the size that the model counts.

use etherparse::{IpNumber, Ipv4Header, TcpHeader};

/// Length of IPv4 and TCP headers without options.
const WITHOUT_OPTIONS: usize = 40;

/// Converts `packet`, which contains headers and payload, into a packet of `size` octets. First its
/// TCP options are removed. If the size still differs, as for a packet that ns-2 counts without
/// headers, the payload is cut or extended.
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

/// The packet without TCP options. `None` if it is not TCP, or `size` is less than the headers.
fn without_options(packet: &[u8], size: usize) -> Option<Vec<u8>> {
    let (mut ip, rest) = Ipv4Header::from_slice(packet).ok()?;
    if ip.protocol != IpNumber::TCP || size < WITHOUT_OPTIONS {
        return None;
    }
    let (mut tcp, _) = TcpHeader::from_slice(rest).ok()?;
    tcp.set_options_raw(&[]).ok()?;
    let payload = vec![0; size - WITHOUT_OPTIONS];
    ip.total_len = u16::try_from(size).ok()?;
    ip.header_checksum = ip.calc_header_checksum();
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, &payload).ok()?;
    let mut octets = ip.to_bytes().to_vec();
    octets.extend_from_slice(&tcp.to_bytes());
    octets.extend_from_slice(&payload);
    Some(octets)
}
