//! Packet data convergence (TS 25.323 §5.1): header compression, as far as it changes the number of
//! octets in RLC.
//!
//! TCP/IP and UDP/IP headers shrink to a fixed size (RFC 1144, RFC 2507). The first packet of a
//! flow, SYNs, and every `refresh`-th packet have full headers, which refresh the context. The
//! model is ideal: losses do not damage the context.

use umts_units::Octets;

use crate::ids::FlowId;
#[cfg(feature = "schema")]
use crate::options::Off;
use crate::options::options;
use crate::packet::Packet;

options! {
    /// Header compression above RLC, the same in both directions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct PdcpConfig as "Pdcp" {
        /// Whether TCP/IP and UDP/IP headers are compressed.
        [label = "Header compression", source = "TS 25.323 §5.1"]
        pub header_compression: HeaderCompression = HeaderCompression::Off,
        /// Size of a compressed header, in octets.
        [label = "Compressed header", max = "40 B", source = "RFC 1144: 3 to 5 octets"]
        pub compressed_header: Octets = Octets(4),
        /// Refresh period: one of this number of packets of a flow has full headers. `"off"`: only the
        /// first packet and SYNs have full headers.
        [label = "Refresh of full headers (packets)", keyword = "Off::<u32>", min = 1,
            source = "RFC 2507 §3.3.2: F_MAX_PERIOD is 256"]
        pub refresh: Option<u32> = Some(256),
    }
}

/// Whether TCP/IP and UDP/IP headers are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum HeaderCompression {
    /// Headers are not compressed.
    Off,
    /// Headers are compressed to a fixed size, except in refreshes. A loss never damages the
    /// context.
    Ideal,
}

/// The compressor. The other end restores the full headers.
#[derive(Debug, Clone)]
pub struct Pdcp {
    config: PdcpConfig,
    /// Packets of each flow since the last full header, that packet included.
    since_full: Vec<(FlowId, u32)>,
}

impl Pdcp {
    pub fn new(config: PdcpConfig) -> Self {
        Pdcp { config, since_full: Vec::new() }
    }

    /// Number of octets by which the headers of `packet` shrink.
    #[inline]
    pub fn compress(&mut self, packet: &Packet) -> u16 {
        match self.config.header_compression {
            HeaderCompression::Off => 0,
            HeaderCompression::Ideal => self.compress_ideally(packet),
        }
    }

    fn compress_ideally(&mut self, packet: &Packet) -> u16 {
        let known = self.since_full.iter().position(|&(flow, _)| flow == packet.flow);
        let index = known.unwrap_or_else(|| {
            self.since_full.push((packet.flow, 0));
            self.since_full.len() - 1
        });
        let (_, since) = &mut self.since_full[index];
        let refreshes = self.config.refresh.is_some_and(|refresh| *since >= refresh);
        let is_syn = packet.segment().is_some_and(|segment| segment.flags.syn);
        if *since == 0 || is_syn || refreshes {
            *since = 1;
            return 0;
        }
        *since = since.saturating_add(1);
        packet.header().saturating_sub(self.config.compressed_header.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Content;
    use crate::radio::rlc::testing::packet_of_flow;

    /// Compression of headers to `octets` octets.
    fn ideal(octets: u16, refresh: Option<u32>) -> Pdcp {
        let header_compression = HeaderCompression::Ideal;
        Pdcp::new(PdcpConfig { header_compression, compressed_header: Octets(octets), refresh })
    }

    /// Octets saved for each of `packets` packets of a flow, which have headers of 40 octets.
    fn saved(pdcp: &mut Pdcp, flow: u32, packets: usize) -> Vec<u16> {
        (0..packets).map(|_| pdcp.compress(&packet_of_flow(FlowId(flow), 1000, 40))).collect()
    }

    #[test]
    fn every_nth_packet_of_a_flow_has_full_headers() {
        let mut pdcp = ideal(4, Some(3));
        assert_eq!(saved(&mut pdcp, 0, 7), [0, 36, 36, 0, 36, 36, 0]);
        assert_eq!(saved(&mut pdcp, 1, 2), [0, 36]);
        assert_eq!(saved(&mut pdcp, 0, 2), [36, 36]);
    }

    #[test]
    fn syn_is_uncompressed_and_refreshes_the_context() {
        let mut pdcp = ideal(4, None);
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
        let mut pdcp = ideal(48, None);
        assert_eq!(saved(&mut pdcp, 0, 2), [0, 0]);
        assert_eq!(saved(&mut Pdcp::new(PdcpConfig::default()), 0, 2), [0, 0]);
    }
}
