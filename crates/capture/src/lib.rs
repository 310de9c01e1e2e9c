//! TCP metrics of packet captures, simulated or real, under the names of the simulation's metrics.
//!
//! A packet goes from the file to a number in this order:
//!
//! 1. [`reader`]: files in bounded memory; `blocks.rs` has the formats pcap and pcapng, `compressed.rs` what they may be
//!    packed in, `order.rs` puts packets into the order of their times.
//! 2. `link.rs`, `headers.rs`, `tunnel.rs`: the headers from the link to TCP or UDP, through tunnels, from as many bytes
//!    as were captured; `packet.rs` has what is kept of them.
//! 3. [`Analyser`]: which connection it belongs to, and whether it was captured twice (`copies.rs`). No files, no clock: it
//!    is given packets, and asked in the end. `udp.rs` has the flows of UDP.
//! 4. `connection.rs`: both ends, the handshake, where the capture was taken.
//! 5. `way.rs`: the data of one end and what is acknowledged of it, as the sender's TCP would see it; `flight.rs` has
//!    what may be timed of them, `holes.rs` what did not pass here, `recovery.rs` says why a segment was sent again (with
//!    `rack.rs`, `probe.rs` and `undo.rs`), `spurious.rs` whether that was needed.
//! 6. [`metrics`](definitions): the formulas.
//!
//! What is right depends on where the capture was taken. At the sender of the data, round-trip times and the
//! outstanding window are the sender's own. At the receiver, a segment is acknowledged at once, so both show little more
//! than the receiver's delay; losses before the capture point are seen as holes, and the segments that fill them count
//! as retransmissions. [`ConnectionRow::position`] says which of it is the case, as far as the handshake tells.

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
mod stream_prefixes;
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
pub use metrics::{Definition, MetricSet, definitions};
pub use stream_prefixes::{Course, CourseStep, analyse_courses};
pub use timeseq::{SentPoint, TimeSequenceTables};
pub use udp::{UdpDirection, UdpFlowRow, UdpRest};
