//! MAC on the RACH (random access channel) of a cell, at the UEs: contention for access slots and
//! signatures, or as in EURANE, an extension of ns-2, a separate channel per UE. The carrier calls the
//! MAC once per TTI, at a tick.

use umts_kernel::random::AddressedStream;
use umts_kernel::{Phase, TraceSink};
use umts_units::{Duration, Time};

use super::{Below, CarrierConfig, Mac, Ticks};
use crate::ids::{Direction, MacTimer, UeId};
use crate::nodeb::Iub;
use crate::radio::mac::{RachAccess, RachAttempt};
use crate::radio::phy::Lost;
use crate::trace::TraceEvent;
use crate::ue::{Pdus, UeContext};
use crate::{Context, EventContext};

/// The RACH of a cell.
#[derive(Debug)]
pub struct Rach {
    ticks: Ticks,
    access: Access,
    /// Attempts of this TTI.
    attempts: Vec<RachAttempt>,
}

/// How a UE gets access.
#[derive(Debug)]
enum Access {
    /// The UEs contend.
    Contention(RachAccess),
    /// Each UE has a RACH of its own.
    Private(PrivateRach),
}

/// EURANE: access takes a random delay of up to `max_delay`.
#[derive(Debug)]
pub struct PrivateRach {
    pub max_delay: Duration,
    pub draws: AddressedStream,
}

impl Rach {
    /// A RACH for which the UEs contend.
    pub fn new(access: RachAccess) -> Self {
        Rach { ticks: Ticks::default(), access: Access::Contention(access), attempts: Vec::new() }
    }

    /// A RACH for each UE.
    pub fn private(access: PrivateRach) -> Self {
        Rach { ticks: Ticks::default(), access: Access::Private(access), attempts: Vec::new() }
    }

    /// Sends the message of one UE in frame number `frame` of the channel's TTIs.
    fn send<T: TraceSink<TraceEvent>>(
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        config: &CarrierConfig,
        attempt: RachAttempt,
        below: &mut Below<'_>,
    ) {
        let (direction, max_blocks, ue) = (config.direction, config.format.blocks, attempt.ue);
        let mut transmission = below.air.begin(direction, config.channel);
        let context = &mut below.ues[ue];
        let blocks = context.send(&mut ctx.cx, direction, Pdus::All, max_blocks, None, &mut transmission);
        let octets = Iub::octets(blocks, context.channel(direction).block_bits);
        below.ues.decide_losses(direction, frame, transmission.sets_mut());
        if blocks > 0 && attempt.collides {
            transmission.last().lost = Lost::all(blocks);
            ctx.cx.record(|| TraceEvent::RachCollision { ue });
        }
        let arrival = config.arrival(ctx.cx.now, octets, attempt.delay);
        below.air.depart(ctx, transmission, arrival);
    }
}

impl Mac for Rach {
    #[inline]
    fn handle_backlog<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &CarrierConfig,
        ue: &mut UeContext,
        direction: Direction,
    ) -> bool {
        self.ticks.join(cx.now, config, ue, direction);
        false
    }

    fn leave<T: TraceSink<TraceEvent>>(
        &mut self,
        _ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
    ) {
        self.ticks.leave(&mut below.ues[ue], config.direction);
    }

    #[inline]
    fn poll_timeouts(&self) -> [Option<(Time, Phase)>; 2] {
        [self.ticks.next(), None]
    }

    /// Sends for each UE that gets access in this TTI.
    fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        _timer: MacTimer,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let frame = self.ticks.begin(ctx.cx.now, config);
        let ready = self.ticks.members().iter().copied();
        match &mut self.access {
            Access::Contention(access) => access.resolve(frame, ready, &mut self.attempts),
            Access::Private(PrivateRach { max_delay, draws }) => {
                let draws = draws.tti(frame);
                self.attempts.clear();
                self.attempts.extend(ready.map(|ue| {
                    let nanos = max_delay.as_nanos() as f64 * draws.uniform(u32::from(ue.0));
                    RachAttempt { ue, delay: Duration::from_nanos(nanos as u64), collides: false }
                }));
            }
        }
        for &attempt in &self.attempts {
            Rach::send(ctx, frame, config, attempt, below);
        }
        self.ticks.end(ctx, config, below);
    }
}
