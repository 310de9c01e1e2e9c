//! Block sets as octets, and back: what is described elsewhere is written here with the codec of [`wire`](super::wire).
//!
//! ```text
//!   sending entity ── events ──► Composer ── octets of each block ──►  air  ──► decode ──► receiving entity
//!         └──────── block set, described ────────┘                              (wire mode)
//! ```
//!
//! A [`Composer`] watches one sending entity: it keeps the octets of the SDUs that wait, cuts them as the entity does (by
//! the same [`Cutting`](super::buffer::Cutting)) and keeps each PDU until no window reaches it any more. Captures use it.
//!
//! In *wire mode* ([`Wired`]) both ends of a bearer exchange nothing but octets: what the receiver is told it reads from
//! bits. A packet's description, which no bit carries, is found beside them by block and length indicator; that the
//! octets put together are those of that packet is checked.
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
