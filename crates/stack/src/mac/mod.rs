//! MAC of the carriers. A carrier is a set of UEs that share timing: the UEs of a FACH or RACH, the
//! DCHs of a cell with the same direction and TTI, a TDD cell, or the DSCHs of a layout.
//!
//! Each MAC implements [`Mac`], which like RLC and TCP has no clock: it is notified when RLC has data,
//! returns when it must be called next, and then schedules, pulls PDUs from RLC and transmits them. The
//! MACs of TDD cells and of layouts are in [`rnc::tdd`](crate::rnc::tdd) and
//! [`rnc::multicell`](crate::rnc::multicell).

mod dedicated;
pub mod e;
pub mod hs;
mod pushed;
mod rach;
mod shared;
mod ticks;

use umts_kernel::{Phase, TraceSink};
use umts_units::{Bytes, Duration, Time};

pub use self::dedicated::Dedicated;
pub use self::e::MacE;
pub use self::hs::MacHs;
pub use self::pushed::Pushed;
pub use self::rach::{PrivateRach, Rach};
pub use self::shared::Shared;
pub use self::ticks::Ticks;
use crate::ids::{CellId, Direction, MacTimer, UeId};
use crate::nodeb::Iub;
use crate::radio::Air;
use crate::radio::mac::{Channel, TransportFormat};
use crate::trace::TraceEvent;
use crate::ue::{UeContext, Ues};
use crate::{Context, EventContext};

/// MAC of one carrier.
pub trait Mac {
    /// The RLC entity of `ue` that sends in `direction` has data, and their amount may have changed.
    /// Returns whether the timers of the entity need a wake-up. They need none while the MAC queries the
    /// entity at every tick.
    fn handle_backlog<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &CarrierConfig,
        ue: &mut UeContext,
        direction: Direction,
    ) -> bool;

    /// The RLC entity of `ue` has no data. The timers of the entity get a wake-up.
    #[inline]
    fn handle_empty_backlog(&mut self, _ue: UeId) {}

    /// `ue` leaves the carrier.
    fn leave<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
    );

    /// Expiries of both timers, each with the phase of the instant in which the MAC must be called.
    fn poll_timeouts(&self) -> [Option<(Time, Phase)>; 2];

    /// A timer expired: schedules, pulls RLC or a Node B queue, and puts transmissions on the air.
    fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        timer: MacTimer,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    );
}

/// The UEs and the air, which a MAC uses while it transmits.
#[derive(Debug)]
pub struct Below<'a> {
    pub ues: &'a mut Ues,
    pub air: &'a mut Air,
    /// UEs with an RRC that must be notified of the transmission. The MAC appends them.
    pub watched: &'a mut Vec<UeId>,
}

/// Configuration of a carrier.
#[derive(Debug, Clone)]
pub struct CarrierConfig {
    pub cell: CellId,
    pub direction: Direction,
    pub channel: Channel,
    /// TTI, and blocks per TTI if the UEs share them.
    pub format: TransportFormat,
    pub iub: Iub,
}

impl CarrierConfig {
    /// Arrival of blocks that RLC provided at `now`, as in [`Iub::arrival`].
    #[inline]
    pub fn arrival(&self, now: Time, octets: Bytes, access: Duration) -> Time {
        self.iub.arrival(self.direction, self.format.tti, now, octets, access)
    }
}
