//! Results of the analysis of a capture.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use umts_units::Time;

use crate::connection::Position;
use crate::listing::PacketListing;
use crate::metrics::MetricSet;
use crate::stream_progress::StreamProgress;
use crate::timeseq::TimeSequenceTables;
use crate::udp::{UdpFlowRow, UdpRest};

/// One connection.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionRow {
    /// Number of the connection: from 0, in the order of first packets, as in tshark.
    pub connection: u64,
    /// The end that opened the connection, as far as the capture shows it.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// The sender of the data, which sent more payload: `client` or `server`.
    pub sender: &'static str,
    /// Where the capture was taken, relative to that sender.
    pub position: Position,
    /// Time of the first packet, in seconds since the first packet of the capture.
    pub opened_s: f64,
    /// When the FINs of both ends were acknowledged, or an RST was sent. `None` if neither was
    /// seen.
    pub closed_s: Option<f64>,
    /// `finished`, `reset` or `open`.
    pub ended: &'static str,
    /// Maximum segment size that the receiver of the data announced.
    pub mss: Option<u32>,
    /// Shift of the windows that the receiver of the data announces. Zero without the option.
    pub window_scale: Option<u8>,
    /// Whether both ends permit selective acknowledgments.
    pub sack_permitted: Option<bool>,
    /// Whether both ends sent timestamps in their SYNs.
    pub timestamps: Option<bool>,
    /// TEIDs of the GTP-U tunnels that last carried packets of the client and of the server.
    pub teid: [Option<u32>; 2],
    /// Metrics of the connection.
    pub metrics: MetricSet,
}

/// Connections without rows of their own, because there are more than the limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    /// Number of connections.
    pub connections: u64,
    /// Metrics of all of them together.
    pub metrics: MetricSet,
}

/// Counts of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All packets.
    pub packets: u64,
    /// Octets of all packets on the link.
    pub bytes: u64,
    /// TCP segments, from which the metrics are computed.
    pub tcp: u64,
    /// Packets with an unsupported link type.
    pub unknown_link: u64,
    /// Packets other than IP.
    pub not_ip: u64,
    /// IP fragments.
    pub fragments: u64,
    /// IP packets other than TCP.
    pub not_tcp: u64,
    /// UDP datagrams among the IP packets other than TCP.
    pub udp: u64,
    /// Packets that are cut off or wrong before the end of the fixed header of TCP or UDP.
    pub unreadable: u64,
    /// Packets with more nested headers than are read.
    pub too_deep: u64,
    /// Packets with a length in a header beyond the end of the frame. The length of the frame is
    /// used instead.
    pub beyond_frame: u64,
    /// Packets that were captured twice.
    pub captured_twice: u64,
    /// Segments with an acknowledgment or a reset that cannot belong to their connection.
    pub not_believed: u64,
    /// Packets with an earlier time than the packet before. That packet's time is used instead.
    pub out_of_time: u64,
}

/// Result of the analysis of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Metrics of all connections together.
    pub metrics: MetricSet,
    /// Rows that [`take_finished`](crate::Analyser::take_finished) has not returned, in the order
    /// in which connections closed. Open connections come last, in the order of their numbers.
    pub connections: Vec<ConnectionRow>,
    /// Number of connections.
    pub connection_count: u64,
    /// Connections without rows.
    pub rest: Option<Rest>,
    /// Counts of packets.
    pub counts: Counts,
    /// Time of the first packet, since 1970.
    pub first: Option<Time>,
    /// Time of the last packet, since 1970.
    pub last: Option<Time>,
    /// Warnings to read before the numbers are trusted.
    pub warnings: Vec<String>,
    /// Time-sequence tables of the requested connections.
    pub time_sequences: Vec<TimeSequenceTables>,
    /// Progress of the first connections, if
    /// [`analyse_stream_progress`](crate::analyse_stream_progress) was called.
    pub stream_progress: Vec<StreamProgress>,
    /// Packets of a connection, if [`with_packets`](crate::Analyser::with_packets) was called.
    pub listing: Option<PacketListing>,
    /// UDP flows, in the order of their first packets.
    pub udp_flows: Vec<UdpFlowRow>,
    /// UDP flows without rows.
    pub udp_rest: UdpRest,
    /// Number of packets other than TCP and UDP, by protocol.
    pub passed_over: BTreeMap<String, u64>,
}
