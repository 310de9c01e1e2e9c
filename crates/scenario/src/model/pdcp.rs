//! Packet data convergence (TS 25.323).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::radio::pdcp::PdcpConfig;
use umts_units::Octets;
use umts_units::keyword::Off;

/// Header compression above RLC, the same in both directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pdcp {
    /// Whether TCP/IP headers are compressed.
    #[schemars(extend("x-label" = "Header compression", "x-source" = "TS 25.323 §5.1"))]
    pub header_compression: HeaderCompression,
    /// Size of a compressed header, in octets.
    #[schemars(extend("x-label" = "Compressed header", "x-max" = "40 B", "x-source" = "RFC 1144: 3 to 5 octets"))]
    pub compressed_header: Octets,
    /// Number of packets of a flow per packet with full headers. `"off"`: only the first packet has
    /// full headers.
    #[serde(with = "Off::<u32>")]
    #[schemars(extend("x-label" = "Refresh of full headers (packets)", "x-min" = 1, "x-source" = "RFC 2507 §3.3.2: F_MAX_PERIOD is 256"))]
    pub refresh: Option<u32>,
}

impl Pdcp {
    /// Header compression of a bearer, or `None` if it is off.
    pub fn config(&self) -> Option<PdcpConfig> {
        let Pdcp { header_compression, compressed_header, refresh } = *self;
        let config = PdcpConfig { compressed_header: compressed_header.0, refresh };
        (header_compression == HeaderCompression::Ideal).then_some(config)
    }
}

impl Default for Pdcp {
    fn default() -> Self {
        let header_compression = HeaderCompression::Off;
        Pdcp { header_compression, compressed_header: Octets(4), refresh: Some(256) }
    }
}

/// Whether TCP/IP headers are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeaderCompression {
    /// Headers are not compressed.
    Off,
    /// Headers are compressed to a fixed size, except in refreshes. A loss never damages the
    /// context.
    Ideal,
}
