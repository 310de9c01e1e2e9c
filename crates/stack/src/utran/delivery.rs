//! What comes down from the air at one instant: the block sets of a flight go into RLC one by one, and of each the SDUs that it
//! completes are pulled up.

use umts_kernel::TraceSink;

use super::Utran;
use crate::EventContext;
use crate::detail::{Detail, Stage};
use crate::ids::{Direction, TransmissionId, UeId};
use crate::packet::Packet;
use crate::radio::air::{Transmission, TransmittedSet};
use crate::radio::phy::Lost;
use crate::radio::rlc::Rlc;
use crate::trace::{DropPlace, TraceEvent};

impl Utran {
    /// Block sets end on the air or reach the RNC. Each is to be [taken](Self::deliver), and the flight [given
    /// back](Self::landed) then.
    #[inline]
    pub fn receive(&mut self, id: TransmissionId) -> Box<Transmission> {
        self.air.arrive(id)
    }

    /// RLC takes the blocks of a UE that have come down. Tells whether they completed SDUs, or nothing where they are of an
    /// earlier life of it. Pull [`next_sdu`](Self::next_sdu) until there is none, then tell [`finish_delivery`](Self::finish_delivery).
    #[inline]
    pub fn deliver<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        transmission: &Transmission,
        sent: &TransmittedSet,
    ) -> Option<bool> {
        let (ue, direction, channel) = (sent.ue, transmission.direction, transmission.channel);
        let (blocks, errors) = (sent.set.blocks, sent.lost.count());
        ctx.cx.record(|| TraceEvent::BlocksReceived { ue, direction, channel, blocks, errors });
        let (set, stage) = (&sent.set, Stage::Arrives(sent.lost));
        ctx.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage });
        let context = &mut self.ues[ue];
        if sent.epoch != context.epoch {
            let all = Lost::all(sent.set.blocks);
            context.rlc[direction.reversed().index()].record_lost_ends(&mut ctx.cx, &sent.set, all);
            return None;
        }
        let rlc = &mut context.rlc[direction.reversed().index()];
        rlc.handle_blocks(&mut ctx.cx, set, sent.lost);
        Some(rlc.has_delivered())
    }

    /// The next packet of `ue` that goes up in `direction`: to the UE for the downlink, to the RNC for the uplink.
    #[inline]
    pub fn next_sdu(&mut self, ue: UeId, direction: Direction) -> Option<Packet> {
        self.ues[ue].rlc[direction.reversed().index()].poll_delivered().map(|sdu| sdu.packet)
    }

    /// All of it was pulled.
    #[inline]
    pub fn finish_delivery<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        self.buffers_changed_by(ctx, ue, direction.reversed(), drop_erroneous);
    }

    /// All of the flight was taken up.
    #[inline]
    pub fn recycle(&mut self, transmission: Box<Transmission>) {
        self.air.finish(transmission);
    }
}

/// The IP and TCP checksums find what nobody marked.
#[inline]
fn drop_erroneous<T: TraceSink<TraceEvent>>(ctx: &mut EventContext<'_, T>, rlc: &mut Rlc) {
    while let Some((sdu, is_marked)) = rlc.poll_erroneous() {
        let place = if is_marked { DropPlace::ErroneousSdu } else { DropPlace::Checksum };
        ctx.cx.record(|| TraceEvent::PacketDropped { place, packet: sdu.packet });
    }
}
