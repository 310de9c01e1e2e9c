//! Encodes block sets as octets with the codec of [`wire`](super::wire), and decodes them. Otherwise
//! the simulation passes block sets as descriptions: structures that list the PDUs and the ends of
//! SDUs, without payload.
//!
//! ```text
//!   sending entity ── events ──► Composer ── octets of each block ──►  air  ──► decode ──► receiving entity
//!         └──────── block set, described ────────┘                              (wire mode)
//! ```
//!
//! A [`Composer`] follows one sending entity. It stores the octets of waiting SDUs, segments them
//! as the entity does, with the same [`SegmentationRules`](super::segmentation::SegmentationRules), and
//! stores each PDU as long as it may be retransmitted. Captures use it.
//!
//! In *wire mode* ([`Wired`]) the two ends of a bearer exchange only octets, and the receiver
//! decides from these bits alone. The metadata of a packet (its id and times) is not in the bits. It
//! is looked up by block and length indicator, and the assembled octets are compared with the
//! packet's octets.
//!
//! Options that simplify TS 25.322 have no encoding ([`NoEncoding`]).

mod composer;
mod decoder;
mod encoding;
mod sufis;
mod verifier;
mod wired;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;

pub use composer::{Composed, Composer};
pub use encoding::{Encoding, NoEncoding, PduMode};
#[cfg(test)]
pub(in crate::radio::rlc) use sufis::missing_sufis;
pub use wired::Wired;
