//! A transport channel of one UE.

use umts_units::BitRate;

use super::{ChannelConfig, SIGNALLING_BLOCK};
use crate::ids::{CarrierId, CellId};
use crate::radio::mac::{Channel, TransportFormat};
use crate::radio::phy::{BlockErrors, EbN0Errors, Lost};
use crate::scheduling::SchedulerKind;

/// A transport channel in one direction, with the radio that decides the losses of its blocks.
#[derive(Debug)]
pub struct UeChannel {
    pub cell: CellId,
    /// The carrier that queries the UE for blocks.
    pub carrier: CarrierId,
    /// Number and scheduler of the channel, as in its [`ChannelConfig`](super::ChannelConfig).
    pub number: u16,
    pub scheduler: SchedulerKind,
    /// TTI, and blocks per TTI if the channel is dedicated.
    pub format: TransportFormat,
    /// Bits of a block on the Iub.
    pub block_bits: u32,
    /// The radio of this channel.
    pub errors: BlockErrors,
    /// Block errors of a downlink DCH or FACH in a layout, which replace `errors`.
    pub in_layout: Option<Box<EbN0Errors>>,
}

impl UeChannel {
    /// The configuration of this channel, which is of kind `channel`.
    pub fn config(&self, channel: Channel) -> ChannelConfig {
        let UeChannel { number, scheduler, format, block_bits, .. } = *self;
        ChannelConfig { channel, number, scheduler, format, block_bits }
    }

    /// Decides which of `blocks` blocks in TTI `tti` are lost. `first` is the number of the first
    /// block in the TTI.
    #[inline]
    pub fn losses(&mut self, tti: u64, first: u32, blocks: u32) -> Lost {
        match &mut self.in_layout {
            None => self.errors.losses(tti, first, blocks),
            Some(errors) => errors.losses(tti, first, blocks),
        }
    }

    /// Rate of the largest transport format, and of one block per TTI if the number of blocks is not
    /// known.
    pub fn full_rate(&self) -> BitRate {
        let bits = f64::from(self.format.blocks.max(1)) * f64::from(self.block_bits);
        let bps = (bits / self.format.tti.as_secs()).round() as u64;
        BitRate::from_bps(bps.max(1)).expect("at least 1 bit/s")
    }

    /// Whether a block that is not sent would be lost in TTI `tti`.
    pub fn would_lose(&mut self, tti: u64) -> bool {
        match &self.in_layout {
            None => self.errors.would_lose(tti),
            Some(errors) => errors.would_lose(tti),
        }
    }

    /// Whether a signalling message, one block in TTI `tti`, is lost.
    #[inline(never)]
    pub fn loses_signalling(&mut self, tti: u64) -> bool {
        !self.losses(tti, SIGNALLING_BLOCK, 1).is_none()
    }
}
