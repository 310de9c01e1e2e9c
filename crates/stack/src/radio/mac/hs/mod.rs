//! MAC-hs and MAC-ehs, the MAC of the HS-DSCH: TS 25.321 §4.2.3.3, §4.2.4.5 and §11.6.
//!
//! Each file has one part, as a state machine without a clock of its own:
//!
//! | part | where it runs |
//! |---|---|
//! | [`block_size`], [`category`] | formats that both ends know |
//! | [`priority_queue`] | Node B: MAC-d PDUs of one queue, and the numbers of their blocks |
//! | [`harq`] | Node B and UE: transmissions and their combination |
//! | [`reordering`] | UE: blocks back in the order of their numbers |
//! | [`segmentation`] | UE: MAC-d PDUs from parts, for MAC-ehs |

pub mod block_size;
pub mod category;
pub mod harq;
pub mod priority_queue;
pub mod reordering;
pub mod segmentation;
pub mod tsn;

#[cfg(test)]
mod tests;

/// Modulation of the HS-PDSCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modulation {
    Qpsk,
    Qam16,
}

/// Bits of a MAC-hs header with one size of MAC-d PDU: TS 25.321 §9.2.2.
pub const HEADER_BITS: u32 = 21;

/// Largest number of MAC-d PDUs in a block: TS 25.321 §9.2.2.
pub const MAX_PDUS: u32 = 70;

/// Octets for one MAC-d PDU in a transport block of `bits` bits with a MAC-ehs header. The bits after the
/// last whole octet are padding.
pub fn octets_in(bits: u32) -> u32 {
    (bits / 8).saturating_sub(segmentation::FIRST_PART_HEADER)
}

/// Number of MAC-d PDUs of `pdu_bits` bits that a transport block of `bits` bits has room for.
///
/// # Panics
/// If `pdu_bits` is 0.
pub fn pdus_in(bits: u32, pdu_bits: u32) -> u32 {
    (bits.saturating_sub(HEADER_BITS) / pdu_bits).min(MAX_PDUS)
}
