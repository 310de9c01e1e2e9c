//! Results of the analysis of a capture.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use umts_units::Time;

use crate::connection::Position;
use crate::metrics::MetricSet;
use crate::stream_prefixes::Course;
use crate::timeseq::TimeSequenceTables;
use crate::udp::{UdpFlowRow, UdpRest};

/// One connection.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionRow {
    /// Its number: connections are counted from 0 in the order of their first packets, as tshark does.
    pub connection: u64,
    /// The end that opened it, as far as the capture tells.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// Whose data the row is about, that of more payload: `client` or `server`.
    pub sender: &'static str,
    /// Where the capture was taken, seen from that sender.
    pub position: Position,
    /// First packet, in seconds since the capture's first one.
    pub opened_s: f64,
    /// FIN of both ends acknowledged, or RST; none if neither was seen.
    pub closed_s: Option<f64>,
    /// `finished`, `reset` or `open`.
    pub ended: &'static str,
    /// Maximum segment size that the receiver of the data announced.
    pub mss: Option<u32>,
    /// Shift of the windows that the receiver of the data announces; zero without the option.
    pub window_scale: Option<u8>,
    /// Whether both ends permit selective acknowledgments.
    pub sack_permitted: Option<bool>,
    /// Whether both ends sent timestamps in their SYNs.
    pub timestamps: Option<bool>,
    /// TEIDs of the GTP-U tunnels in which the packets of client and server were last.
    pub teid: [Option<u32>; 2],
    /// Its metrics.
    pub metrics: MetricSet,
}

/// Connections that have no rows of their own, since there are more than were asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    /// How many.
    pub connections: u64,
    /// Of all of them together.
    pub metrics: MetricSet,
}

/// What was captured besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All packets.
    pub packets: u64,
    /// Their octets on the link.
    pub bytes: u64,
    /// Packets that TCP metrics are made of.
    pub tcp: u64,
    /// Of a link type that is not read here.
    pub unknown_link: u64,
    /// Not IP.
    pub not_ip: u64,
    /// Parts of IP packets.
    pub fragments: u64,
    /// IP, but not TCP.
    pub not_tcp: u64,
    /// Of these, datagrams of UDP.
    pub udp: u64,
    /// Cut off or wrong before the end of the fixed header of TCP or UDP.
    pub unreadable: u64,
    /// With more nested headers than are read.
    pub too_deep: u64,
    /// With a length in a header beyond the end of the frame on the link; it counts as the length of the frame.
    pub beyond_frame: u64,
    /// Captured twice.
    pub captured_twice: u64,
    /// With an acknowledgment or a reset that cannot be one of the connection.
    pub not_believed: u64,
    /// With an earlier time than the packet before; they count as of that packet's time.
    pub out_of_time: u64,
}

/// A capture, analysed.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// All connections together.
    pub metrics: MetricSet,
    /// Rows that were not taken before, in the order in which connections closed; open ones last, in that of their
    /// numbers.
    pub connections: Vec<ConnectionRow>,
    /// How many connections there were.
    pub connection_count: u64,
    /// Those that have no rows.
    pub rest: Option<Rest>,
    /// What was captured.
    pub counts: Counts,
    /// The first packet, since 1970.
    pub first: Option<Time>,
    /// The last packet.
    pub last: Option<Time>,
    /// Warnings to read before the numbers are trusted.
    pub warnings: Vec<String>,
    /// The connections that were asked for, in time.
    pub time_sequences: Vec<TimeSequenceTables>,
    /// Courses of the first connections, if [`analyse_courses`](crate::analyse_courses) was called.
    pub courses: Vec<Course>,
    /// UDP flows, in the order of their first packets.
    pub udp_flows: Vec<UdpFlowRow>,
    /// UDP flows that have no rows.
    pub udp_rest: UdpRest,
    /// Packets that are neither TCP nor UDP, by protocol.
    pub passed_over: BTreeMap<String, u64>,
}
