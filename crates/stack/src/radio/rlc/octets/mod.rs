//! Block sets as octets: encodes the descriptions with the codec of [`wire`](super::wire), and
//! decodes them.
//!
//! ```text
//!   sending entity ── events ──► Composer ── octets of each block ──►  air  ──► decode ──► receiving entity
//!         └──────── block set, described ────────┘                              (wire mode)
//! ```
//!
//! A [`Composer`] follows one sending entity. It keeps the octets of waiting SDUs, cuts them like
//! the entity does (with the same [`Cutting`](super::buffer::Cutting)), and keeps each PDU while a
//! window may need it. Captures use it.
//!
//! In *wire mode* ([`Wired`]) the two ends of a bearer exchange only octets: the receiver gets all
//! its information from bits. The description of a packet, which no bit carries, is found
//! separately by block and length indicator. The assembled octets are checked against that packet.
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
