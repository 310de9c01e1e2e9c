//! A transport channel as one UE uses it.

use super::SIGNALLING_BLOCK;
use crate::ids::{CarrierId, CellId};
use crate::radio::mac::TransportFormat;
use crate::radio::phy::{BlockErrors, Lost};

/// A UE's transport channel in one direction.
#[derive(Debug)]
pub struct UeChannel {
    /// The cell that it is in.
    pub cell: CellId,
    /// The carrier that asks for its blocks.
    pub carrier: CarrierId,
    /// TTI, and blocks in one where the channel is the UE's own.
    pub format: TransportFormat,
    /// Bits of a block on the Iub.
    pub block_bits: u32,
    /// Its radio.
    pub errors: BlockErrors,
}

impl UeChannel {
    /// Decides which of `blocks` blocks sent in TTI number `tti` are lost; `first` is the number of the first one in the TTI.
    #[inline]
    pub fn losses(&mut self, tti: u64, first: u32, blocks: u32) -> Lost {
        self.errors.losses(tti, first, blocks)
    }

    /// Whether a signalling message, one block in TTI number `tti`, is lost.
    #[inline(never)]
    pub fn loses_signalling(&mut self, tti: u64) -> bool {
        !self.losses(tti, SIGNALLING_BLOCK, 1).is_none()
    }
}
