//! Transport formats: the number of transport blocks in a TTI that a channel has at a bit rate, and the
//! size of the blocks.
//!
//! The rate of a bearer is its RLC payload rate at the full transport format: 32 kbit/s with a TTI
//! of 10 ms is one block with 40 octets of RLC payload. Headers are added: 336 bits on a DCH (2
//! octets of AMD header), 360 bits on FACH and RACH (24 bits of MAC header, see
//! [`header`](super::header)).

use std::sync::Arc;

use umts_units::{BitRate, Bytes, Duration};

use super::header::{LogicalChannel, MacHeader};
use super::transport_channel::Channel;
use crate::radio::phy::{LinkTable, Lost};

/// Capacity of a transport channel in one TTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportFormat {
    pub tti: Duration,
    /// Blocks in a full TTI.
    pub blocks: u32,
    /// The numbers of blocks that a TTI may hold. Only dedicated channels have such limits.
    pub set: TransportFormatSet,
}

impl TransportFormat {
    /// A format with any number of blocks up to `blocks`.
    pub fn up_to(blocks: u32, tti: Duration) -> Self {
        TransportFormat { tti, blocks, set: TransportFormatSet::ANY }
    }

    /// The full format of a channel at `rate`. `None` if not even one PDU fits into a TTI.
    pub fn new(rate: BitRate, tti: Duration, pdu_payload: Bytes) -> Option<Self> {
        let blocks = u32::try_from(rate.bits_in(tti) / pdu_payload.bits()).ok()?;
        (blocks > 0).then_some(TransportFormat::up_to(blocks, tti))
    }

    /// Number of blocks for `ready` PDUs: the largest format that needs no padding PDUs (TS 25.321
    /// §11.4), or the smallest format if every format needs some.
    pub fn blocks_for(&self, ready: u32) -> u32 {
        self.set.largest_up_to(ready.min(self.blocks)).unwrap_or(self.set.smallest())
    }
}

/// The numbers of blocks in a TTI that a transport channel allows (transport format set, TS 25.302
/// §7.1.6). No block at all is always possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportFormatSet {
    /// Bit `n - 1`: `n` blocks are a format.
    counts: u128,
}

impl TransportFormatSet {
    /// Every number of blocks is a format.
    pub const ANY: Self = TransportFormatSet { counts: u128::MAX };

    /// The formats with these numbers of blocks.
    ///
    /// # Panics
    /// Panics if a number exceeds [`Lost::MAX_BLOCKS`], or if all are 0.
    pub fn new(blocks: impl IntoIterator<Item = u32>) -> Self {
        let bit = |blocks| {
            assert!(blocks <= Lost::MAX_BLOCKS, "a TTI holds at most {} blocks", Lost::MAX_BLOCKS);
            1_u128 << (blocks - 1)
        };
        let counts = blocks.into_iter().filter(|&blocks| blocks > 0).map(bit).fold(0, |all, bit| all | bit);
        assert!(counts != 0, "a channel needs a format with a block");
        // Without a gap up to the full format, the set is no limit.
        if counts & counts.wrapping_add(1) == 0 {
            TransportFormatSet::ANY
        } else {
            TransportFormatSet { counts }
        }
    }

    /// Whether every number of blocks is a format.
    pub fn is_any(self) -> bool {
        self == TransportFormatSet::ANY
    }

    fn smallest(self) -> u32 {
        self.counts.trailing_zeros() + 1
    }

    fn largest_up_to(self, blocks: u32) -> Option<u32> {
        let allowed = match blocks {
            0 => 0,
            _ => self.counts & (u128::MAX >> (Lost::MAX_BLOCKS - blocks)),
        };
        (allowed != 0).then(|| u128::BITS - allowed.leading_zeros())
    }
}

/// A transport format of a power-controlled shared channel, the DSCH of a layout.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerFormat {
    /// Transport blocks in a TTI.
    pub blocks: u32,
    /// Spreading factor of its code.
    pub spreading_factor: u16,
    /// Target Eb/N0 of power control, linear.
    pub target: f64,
    /// Block error ratio as a function of Eb/N0.
    pub errors: Arc<LinkTable>,
}

/// Size of a transport block in bits, with an RLC header of `rlc_header` bits. `None`: neither RLC
/// nor MAC headers take room, as in EURANE.
pub fn block_bits(pdu_payload: Bytes, channel: Channel, rlc_header: Option<u32>) -> u32 {
    let payload = u32::try_from(pdu_payload.bits()).expect("a PDU has at most 1,500 octets");
    let Some(rlc_header) = rlc_header else { return payload };
    // The size does not depend on the numbers of UE and logical channel.
    let number = LogicalChannel::new(1).expect("the first of 15");
    payload + rlc_header + MacHeader::of_bearer(channel, 0, number).bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 40 octets of payload in a TTI at this rate.
    fn blocks_per_tti(rate: &str, tti: &str) -> Option<u32> {
        let (rate, tti) = (rate.parse().unwrap(), tti.parse().unwrap());
        TransportFormat::new(rate, tti, Bytes(40)).map(|format| format.blocks)
    }

    #[test]
    fn a_tti_holds_whole_blocks() {
        assert_eq!(blocks_per_tti("32 kbit/s", "10 ms"), Some(1));
        assert_eq!(blocks_per_tti("16 kbit/s", "20 ms"), Some(1));
        assert_eq!(blocks_per_tti("64 kbit/s", "20 ms"), Some(4));
        assert_eq!(blocks_per_tti("384 kbit/s", "10 ms"), Some(12));
        assert_eq!(blocks_per_tti("33 kbit/s", "10 ms"), Some(1));
        assert_eq!(blocks_per_tti("30 kbit/s", "10 ms"), None);
    }

    /// The number of blocks for a number of PDUs that are ready: the largest format that the PDUs fill,
    /// or if none exists, the smallest format with padding.
    #[test]
    fn a_tti_holds_the_largest_format_without_padding() {
        let set = TransportFormatSet::new([0, 1, 2, 4, 8, 12]);
        let format = TransportFormat { set, ..TransportFormat::up_to(12, Duration::from_millis(10)) };
        let blocks = |ready| format.blocks_for(ready);
        assert_eq!([1, 2, 3, 4, 7, 8, 11, 12, 500].map(blocks), [1, 2, 2, 4, 4, 8, 8, 12, 12]);
        let padded = TransportFormat { set: TransportFormatSet::new([4, 8]), ..format };
        assert_eq!([0, 1, 5, 500].map(|ready| padded.blocks_for(ready)), [4, 4, 4, 8]);
        assert!(TransportFormatSet::new(0..=4).is_any() && TransportFormatSet::new(1..=128).is_any());
        assert!(!set.is_any());
    }

    #[test]
    fn blocks_have_the_sizes_of_the_reference_bearers() {
        assert_eq!(block_bits(Bytes(40), Channel::Dch, Some(16)), 336);
        assert_eq!(block_bits(Bytes(40), Channel::Fach, Some(16)), 360);
        assert_eq!(block_bits(Bytes(40), Channel::Dsch, Some(16)), 354);
        assert_eq!(block_bits(Bytes(40), Channel::Fach, None), 320);
    }
}
