//! TCP metrics of packet captures, simulated or real, under the names of the simulation's metrics.
//!
//! A packet passes through the modules in this order:
//!
//! 1. [`reader`] reads files in bounded memory. `blocks.rs` has the formats pcap and pcapng,
//!    `compressed.rs` decompresses, and `order.rs` sorts packets by time.
//! 2. `link.rs`, `headers.rs` and `tunnel.rs` parse the headers from the link to TCP or UDP,
//!    through tunnels, from as many bytes as were captured. `packet.rs` has the fields that are
//!    kept.
//! 3. [`Analyser`] finds the connection of the packet, and whether it was captured twice
//!    (`copies.rs`). It uses no files and no clock: it receives packets, and returns results.
//!    `udp.rs` has UDP flows.
//! 4. `connection.rs` has both ends, the handshake, and the position of the capture point.
//! 5. `half_connection.rs` has the data of one end and their acknowledgments, as the sender's TCP
//!    would see them. `unacked_segments.rs` measures round trips, and `holes.rs` has octets that
//!    did not pass the capture point. `recovery.rs` infers why a segment was retransmitted (with
//!    `rack.rs`, `probe.rs` and `undo.rs`), and `spurious.rs` whether that was needed.
//! 6. [`metrics`](definitions) has the formulas.
//!
//! What a capture can show depends on where it was taken. At the sender of the data, round-trip
//! times and the outstanding window are the sender's own. At the receiver, a segment is
//! acknowledged at once, so both show little more than the receiver's delay. Losses before the
//! capture point appear as holes, and the segments that fill them count as retransmissions.
//! [`ConnectionRow::position`] is the position, as far as the handshake shows it.

#![warn(missing_docs)]

mod analyser;
mod blocks;
mod both_ends;
mod cause;
mod clock;
mod compressed;
mod connection;
mod copies;
mod counters;
mod ends;
mod half_connection;
mod headers;
mod holes;
mod interface;
mod link;
mod listing;
mod metrics;
mod order;
mod packet;
mod probe;
mod rack;
mod ranges;
pub mod reader;
mod reader_thread;
mod recovery;
mod rtt;
mod spurious;
mod stream_progress;
mod table;
mod timeseq;
mod timestamps;
mod totals;
mod tunnel;
mod udp;
mod unacked_segments;
mod undo;

pub use analyser::{Analyser, Analysis, ConnectionRow, Counts, Rest};
pub use both_ends::analyse_both_ends;
pub use cause::Cause;
pub use connection::Position;
pub use link::LinkType;
pub use listing::{ListedPacket, ListingRange, ListingStart, PacketKind, PacketListing};
pub use metrics::{Definition, MetricSet, definitions};
pub use stream_progress::{ProgressStep, StreamProgress, analyse_stream_progress};
pub use timeseq::{SentPoint, TimeSequenceTables};
pub use udp::{UdpDirection, UdpFlowRow, UdpRest};
