//! TCP metrics of packet captures, simulated or real, under the names of the simulation's metrics.
//!
//! A packet goes from the file to a number in this order:
//!
//! 1. [`reader`]: files in bounded memory; `blocks.rs` has the formats pcap and pcapng.
//! 2. `link.rs`, `packet.rs`: the IP and TCP headers behind a link header, from as many bytes as were captured.
//! 3. [`Analyser`]: which connection it belongs to. No files, no clock: it is given packets, and asked in the end.
//! 4. `connection.rs`: both ends, the handshake, where the capture was taken.
//! 5. `way.rs`: the data of one end and what is acknowledged of it, as the sender's TCP would see it; `flight.rs` has
//!    what may be timed of them, `recovery.rs` says why a segment was sent again (with `rack.rs`, `probe.rs` and
//!    `undo.rs`), `spurious.rs` whether that was needed.
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
mod connection;
mod courses;
mod ends;
mod flight;
mod link;
mod metrics;
mod packet;
mod probe;
mod rack;
mod ranges;
pub mod reader;
mod reading;
mod recovery;
mod rtt;
mod spurious;
mod table;
mod tally;
mod timeseq;
mod timestamps;
mod totals;
mod undo;
mod way;

pub use analyser::{Analyser, Analysis, ConnectionRow, Counts, Rest};
pub use both_ends::analyse_both_ends;
pub use cause::Cause;
pub use connection::Position;
pub use courses::analyse_courses;
pub use link::LinkType;
pub use metrics::{Definition, MetricSet, definitions};
pub use timeseq::{SentPoint, TimeSequenceTables};
