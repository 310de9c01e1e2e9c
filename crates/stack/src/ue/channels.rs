//! A transport channel as one UE uses it.

use super::SIGNALLING_BLOCK;
use crate::ids::{CarrierId, CellId, Direction, UeId};
use crate::radio::mac::TransportFormat;
use crate::radio::phy::{BlockErrors, Lost, Question};

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
    /// Asks the radio about `blocks` blocks of `ue` that leave in TTI number `tti`, of which the first is number `first`.
    // Inlined in `UeContext::judge`, the hot path, although it has a second caller.
    #[inline]
    pub fn verdict(&mut self, ue: UeId, direction: Direction, tti: u64, first: u32, blocks: u32) -> Lost {
        let (cell, format) = (self.cell, self.format);
        self.errors.verdict(&Question { cell, ue, direction, tti, first, blocks, format })
    }

    /// Whether a signalling message of `ue`, one block in TTI number `tti`, is lost.
    #[inline(never)]
    pub fn loses_signalling(&mut self, ue: UeId, direction: Direction, tti: u64) -> bool {
        !self.verdict(ue, direction, tti, SIGNALLING_BLOCK, 1).is_none()
    }
}
