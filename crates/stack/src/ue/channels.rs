//! A transport channel of one UE.

use super::SIGNALLING_BLOCK;
use crate::ids::{CarrierId, CellId};
use crate::radio::mac::TransportFormat;
use crate::radio::phy::{BlockErrors, Lost};

#[derive(Debug)]
pub struct UeChannel {
    pub cell: CellId,
    /// The carrier that queries the UE for blocks.
    pub carrier: CarrierId,
    /// TTI, and blocks per TTI if the channel is dedicated.
    pub format: TransportFormat,
    /// Bits of a block on the Iub.
    pub block_bits: u32,
    /// The radio of this channel.
    pub errors: BlockErrors,
}

impl UeChannel {
    /// Decides which of `blocks` blocks in TTI `tti` are lost. `first` is the number of the first
    /// block in the TTI.
    #[inline]
    pub fn losses(&mut self, tti: u64, first: u32, blocks: u32) -> Lost {
        self.errors.losses(tti, first, blocks)
    }

    /// Whether a signalling message, one block in TTI `tti`, is lost.
    #[inline(never)]
    pub fn loses_signalling(&mut self, tti: u64) -> bool {
        !self.losses(tti, SIGNALLING_BLOCK, 1).is_none()
    }
}
