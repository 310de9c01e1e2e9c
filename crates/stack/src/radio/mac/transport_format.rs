//! Transport blocks from a bit rate and a TTI.
//!
//! The rate of a bearer is its RLC payload rate at the full transport format: 32 kbit/s with a TTI
//! of 10 ms is one block with 40 octets of RLC payload. Headers are added: 336 bits on a DCH (2
//! octets of AMD header), 360 bits on FACH and RACH (24 bits of MAC header, see
//! [`header`](super::header)).

use std::sync::Arc;

use umts_units::{BitRate, Bytes, Duration};

use super::header::{LogicalChannel, MacHeader};
use super::transport_channel::Channel;
use crate::radio::phy::LinkTable;

/// Capacity of a transport channel in one TTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportFormat {
    pub tti: Duration,
    /// Blocks in a full TTI.
    pub blocks: u32,
}

impl TransportFormat {
    /// The full format of a channel at `rate`. `None` if not even one PDU fits into a TTI.
    pub fn new(rate: BitRate, tti: Duration, pdu_payload: Bytes) -> Option<Self> {
        let blocks = u32::try_from(rate.bits_in(tti) / pdu_payload.bits()).ok()?;
        (blocks > 0).then_some(TransportFormat { tti, blocks })
    }
}

/// A transport format of a power-controlled shared channel.
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

    fn format(rate: &str, tti: &str) -> Option<u32> {
        let (rate, tti) = (rate.parse().unwrap(), tti.parse().unwrap());
        TransportFormat::new(rate, tti, Bytes(40)).map(|format| format.blocks)
    }

    #[test]
    fn a_tti_holds_whole_blocks() {
        assert_eq!(format("32 kbit/s", "10 ms"), Some(1));
        assert_eq!(format("16 kbit/s", "20 ms"), Some(1));
        assert_eq!(format("64 kbit/s", "20 ms"), Some(4));
        assert_eq!(format("384 kbit/s", "10 ms"), Some(12));
        assert_eq!(format("33 kbit/s", "10 ms"), Some(1));
        assert_eq!(format("30 kbit/s", "10 ms"), None);
    }

    #[test]
    fn blocks_have_the_sizes_of_the_reference_bearers() {
        assert_eq!(block_bits(Bytes(40), Channel::Dch, Some(16)), 336);
        assert_eq!(block_bits(Bytes(40), Channel::Fach, Some(16)), 360);
        assert_eq!(block_bits(Bytes(40), Channel::Dsch, Some(16)), 354);
        assert_eq!(block_bits(Bytes(40), Channel::Fach, None), 320);
    }
}
