//! The RACH from the UEs' side: contention for access slots and signatures, or as in EURANE a
//! separate channel per UE.

use umts_kernel::TraceSink;
use umts_kernel::random::AddressedStream;
use umts_units::Duration;

use super::{Pdus, Ues};
use crate::EventContext;
use crate::nodeb::Iub;
use crate::radio::Air;
use crate::radio::mac::{RachAccess, RachAttempt};
use crate::radio::phy::Lost;
use crate::rnc::TtiInput;
use crate::trace::TraceEvent;

/// A RACH that all UEs of the cell share.
#[derive(Debug)]
pub struct Rach {
    access: RachAccess,
    /// Scratch: the UEs that may send.
    acquired: Vec<RachAttempt>,
}

impl Rach {
    pub fn new(access: RachAccess) -> Self {
        Rach { access, acquired: Vec::new() }
    }

    /// Sends for each UE that gets access.
    pub fn turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        turn: TtiInput<'_>,
        ues: &mut Ues,
        air: &mut Air,
    ) {
        self.access.resolve(turn.frame, turn.ready.iter().copied(), &mut self.acquired);
        for &attempt in &self.acquired {
            send(ctx, turn, attempt, ues, air);
        }
    }
}

/// EURANE: each UE has a RACH of its own, with a random access delay.
#[derive(Debug)]
pub struct PrivateRach {
    /// Maximum access delay.
    most: Duration,
    draws: AddressedStream,
}

impl PrivateRach {
    pub fn new(most: Duration, draws: AddressedStream) -> Self {
        PrivateRach { most, draws }
    }

    /// Sends for each ready UE.
    pub fn turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        turn: TtiInput<'_>,
        ues: &mut Ues,
        air: &mut Air,
    ) {
        let draws = self.draws.tti(turn.frame);
        for &ue in turn.ready {
            let delay = self.most.as_nanos() as f64 * draws.uniform(u32::from(ue.0));
            let attempt = RachAttempt { ue, delay: Duration::from_nanos(delay as u64), collides: false };
            send(ctx, turn, attempt, ues, air);
        }
    }
}

#[inline(never)]
fn send<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    turn: TtiInput<'_>,
    attempt: RachAttempt,
    ues: &mut Ues,
    air: &mut Air,
) {
    let (direction, ue) = (turn.plan.direction, attempt.ue);
    let mut transmission = air.begin(direction, turn.plan.channel);
    let context = &mut ues[ue];
    let blocks =
        context.send(&mut ctx.cx, direction, Pdus::All, turn.plan.format.blocks, None, &mut transmission);
    let octets = Iub::octets(blocks, context.channel(direction).block_bits);
    ues.judge(direction, turn.frame, transmission.sets_mut());
    if blocks > 0 && attempt.collides {
        transmission.last().lost = Lost::all(blocks);
        ctx.cx.record(|| TraceEvent::RachCollision { ue });
    }
    let arrival = turn.plan.arrival(ctx.cx.now, octets, attempt.delay);
    air.depart(ctx, transmission, arrival);
}
