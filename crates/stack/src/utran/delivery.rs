//! Reception of a transmission: its block sets enter the receiving RLC entities one by one. After each
//! set the caller pulls the packets (SDUs) that the set completes.

use umts_kernel::TraceSink;

use super::Utran;
use crate::EventContext;
use crate::detail::{Detail, Stage};
use crate::ids::{Direction, TransmissionId, UeId};
use crate::packet::Packet;
use crate::radio::air::{Transmission, TransmittedSet};
use crate::radio::phy::Lost;
use crate::radio::rlc::Rlc;
use crate::trace::{Channel, DropPlace, TraceEvent};

impl Utran {
    /// Receives a transmission. Each of its block sets must be passed to [`deliver`](Self::deliver), and then
    /// the transmission to [`recycle`](Self::recycle).
    #[inline]
    pub fn receive(&mut self, id: TransmissionId) -> Box<Transmission> {
        self.air.arrive(id)
    }

    /// Passes the blocks of a UE to RLC. Returns whether they completed SDUs, `None` if RLC was
    /// re-established since they were sent. The SDUs must be pulled ([`next_sdu`](Self::next_sdu)) before
    /// [`finish_delivery`](Self::finish_delivery).
    #[inline]
    pub fn deliver<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        transmission: &Transmission,
        sent: &TransmittedSet,
    ) -> Option<bool> {
        let (ue, direction, channel) = (sent.ue, transmission.direction, transmission.channel);
        let context = &mut self.ues[ue];
        let blocks = sent.set.blocks;
        // On a channel with HARQ the cut has failed the transmissions that it hit: `sent.lost` has them.
        let has_harq = matches!(channel, Channel::HsDsch | Channel::EDch);
        let lost = if context.is_cut && !has_harq { Lost::all(blocks) } else { sent.lost };
        let errors = lost.count();
        ctx.cx.record(|| TraceEvent::BlocksReceived { ue, direction, channel, blocks, errors });
        let (set, stage) = (&sent.set, Stage::Arrives(lost));
        ctx.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage });
        if sent.epoch != context.epoch {
            let all = Lost::all(sent.set.blocks);
            context.rlc[direction.reversed().index()].record_lost_ends(&mut ctx.cx, &sent.set, all);
            return None;
        }
        let rlc = &mut context.rlc[direction.reversed().index()];
        rlc.handle_blocks(&mut ctx.cx, set, lost);
        Some(rlc.has_delivered())
    }

    /// The next packet that RLC delivers: at the UE for the downlink, at the RNC for the uplink.
    #[inline]
    pub fn next_sdu(&mut self, ue: UeId, direction: Direction) -> Option<Packet> {
        self.ues[ue].rlc[direction.reversed().index()].poll_delivered().map(|sdu| sdu.packet)
    }

    /// Ends the delivery of a block set after its SDUs were pulled.
    #[inline]
    pub fn finish_delivery<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        drop_erroneous(ctx, &mut self.ues[ue].rlc[direction.reversed().index()]);
        self.buffers_changed(ctx, ue, direction.reversed());
    }

    /// Recycles a transmission after its delivery.
    #[inline]
    pub fn recycle(&mut self, transmission: Box<Transmission>) {
        self.air.finish(transmission);
    }
}

/// Drops packets with bit errors. Some are marked as erroneous by RLC. In the others the checksums
/// of IP and TCP detect the errors.
#[inline]
fn drop_erroneous<T: TraceSink<TraceEvent>>(ctx: &mut EventContext<'_, T>, rlc: &mut Rlc) {
    while let Some(erroneous) = rlc.poll_erroneous() {
        let place = if erroneous.is_marked { DropPlace::ErroneousSdu } else { DropPlace::Checksum };
        ctx.cx.record(|| TraceEvent::PacketDropped { place, packet: erroneous.sdu.packet });
    }
}
