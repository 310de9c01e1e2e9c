//! What the RNC has planned for a carrier, and one turn of it: what MAC is told, wherever it runs.

use umts_units::{Bytes, Duration, Time};

use crate::ids::{CarrierId, CellId, Direction, UeId};
use crate::nodeb::Iub;
use crate::radio::mac::{Channel, TransportFormat};

/// What a carrier is and how its blocks travel.
#[derive(Debug, Clone)]
pub struct CarrierConfig {
    /// Its cell.
    pub cell: CellId,
    /// The way its blocks go.
    pub direction: Direction,
    /// Its kind of channel.
    pub channel: Channel,
    /// Its TTI, and where the members share them the blocks in one.
    pub format: TransportFormat,
    /// The Iub that the blocks cross.
    pub iub: Iub,
}

impl CarrierConfig {
    /// When blocks that RLC gave at `now` are through, as [`Iub::arrival`] says.
    #[inline]
    pub fn arrival(&self, now: Time, octets: Bytes, access: Duration) -> Time {
        self.iub.arrival(self.direction, self.format.tti, now, octets, access)
    }
}

/// What is to be seen to after a turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct TtiOutcome {
    /// Another UE could have had the channel of one of those asked until now.
    pub is_watched: bool,
    /// All were asked and told that they have more: nobody leaves.
    pub all_have_more: bool,
}

/// One TTI of a carrier as RLC sees it.
#[derive(Debug, Clone, Copy)]
pub struct TtiInput<'a> {
    /// The carrier.
    pub carrier: CarrierId,
    /// What it is.
    pub plan: &'a CarrierConfig,
    /// The number of the frame that begins.
    pub frame: u64,
    /// The UEs with something to send, in index order.
    pub ready: &'a [UeId],
}
