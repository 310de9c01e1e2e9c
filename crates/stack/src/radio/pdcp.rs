//! Packet data convergence (TS 25.323 §5.1): header compression, as far as it changes the number of
//! octets in RLC.
//!
//! TCP/IP and UDP/IP headers shrink to a fixed size (RFC 1144, RFC 2507). The first packet of a
//! flow, SYNs, and every `refresh`-th packet have full headers, which refresh the context. The
//! model is ideal: losses do not damage the context.

use crate::ids::FlowId;
use crate::packet::Packet;

/// Header compression of one direction of a bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PdcpConfig {
    /// Octets of a compressed header.
    pub compressed_header: u16,
    /// Distance in packets between full headers. `None`: only the first packet of a flow and SYNs.
    pub refresh: Option<u32>,
}

/// The compressor. The other end restores the full headers.
#[derive(Debug, Clone)]
pub struct Pdcp {
    config: Option<PdcpConfig>,
    /// Packets of each flow since the last full header, that packet included.
    since_full: Vec<(FlowId, u32)>,
}

impl Pdcp {
    /// `None`: headers are not compressed.
    pub fn new(config: Option<PdcpConfig>) -> Self {
        Pdcp { config, since_full: Vec::new() }
    }

    /// Number of octets by which the headers of `packet` shrink.
    #[inline]
    pub fn compress(&mut self, packet: &Packet) -> u16 {
        match self.config {
            Some(config) => self.compress_with(config, packet),
            None => 0,
        }
    }

    fn compress_with(&mut self, config: PdcpConfig, packet: &Packet) -> u16 {
        let known = self.since_full.iter().position(|&(flow, _)| flow == packet.flow);
        let at = known.unwrap_or_else(|| {
            self.since_full.push((packet.flow, 0));
            self.since_full.len() - 1
        });
        let since = &mut self.since_full[at].1;
        let refreshes = config.refresh.is_some_and(|refresh| *since >= refresh);
        let is_syn = packet.segment().is_some_and(|segment| segment.flags.syn);
        if *since == 0 || is_syn || refreshes {
            *since = 1;
            return 0;
        }
        *since = since.saturating_add(1);
        packet.header().saturating_sub(config.compressed_header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Content;
    use crate::radio::rlc::testing::packet_of_flow;

    fn saved(pdcp: &mut Pdcp, flow: u32, packets: usize) -> Vec<u16> {
        (0..packets).map(|_| pdcp.compress(&packet_of_flow(FlowId(flow), 1000, 40))).collect()
    }

    #[test]
    fn every_nth_packet_of_a_flow_has_full_headers() {
        let mut pdcp = Pdcp::new(Some(PdcpConfig { compressed_header: 4, refresh: Some(3) }));
        assert_eq!(saved(&mut pdcp, 0, 7), [0, 36, 36, 0, 36, 36, 0]);
        assert_eq!(saved(&mut pdcp, 1, 2), [0, 36]);
        assert_eq!(saved(&mut pdcp, 0, 2), [36, 36]);
    }

    #[test]
    fn syn_is_uncompressed_and_refreshes_the_context() {
        let mut pdcp = Pdcp::new(Some(PdcpConfig { compressed_header: 4, refresh: None }));
        assert_eq!(saved(&mut pdcp, 0, 3), [0, 36, 36]);
        let mut syn = packet_of_flow(FlowId(0), 0, 40);
        if let Content::Segment(segment) = &mut syn.content {
            segment.flags.syn = true;
        }
        assert_eq!(pdcp.compress(&syn), 0);
        assert_eq!(saved(&mut pdcp, 0, 1), [36]);
    }

    #[test]
    fn small_headers_and_disabled_compression_save_nothing() {
        let mut pdcp = Pdcp::new(Some(PdcpConfig { compressed_header: 48, refresh: None }));
        assert_eq!(saved(&mut pdcp, 0, 2), [0, 0]);
        assert_eq!(saved(&mut Pdcp::new(None), 0, 2), [0, 0]);
    }
}
