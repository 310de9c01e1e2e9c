//! Packets in the bearers of UEs: SDUs of RLC that are delivered, discarded, or lost for good.

use umts_stack::ids::{ConnectionId, Direction, PacketId, UeId};
use umts_units::Time;

use crate::budget::Budget;
use crate::budget::bearer::Undeliverable;
use crate::budget::loss::Loss;
use crate::timeline::LostPacket;

impl Budget {
    /// An SDU was delivered or discarded. Returns its connection.
    pub(super) fn leaves_bearer(
        &mut self,
        now: Time,
        ue: UeId,
        direction: Direction,
        packet: PacketId,
    ) -> Option<ConnectionId> {
        let ue_state = self.ue_at(now, ue);
        let bearer = &mut ue_state.bearers[direction.index()];
        let connection = bearer.remove(packet);
        if bearer.is_empty() {
            let cell = ue_state.cell;
            self.waiting.remove(cell, direction.index(), ue);
        }
        connection
    }

    /// The sender of a bearer discarded an SDU.
    pub(super) fn discarded(&mut self, now: Time, ue: UeId, direction: Direction, sdu: PacketId) {
        let ue_state = &self.ues[ue.index()];
        let is_by_reset = ue_state.is_resetting() || ue_state.is_in_cell_update();
        let loss = if is_by_reset { Loss::RlcReset } else { Loss::RlcDiscard };
        let connection = self.leaves_bearer(now, ue, direction, sdu);
        self.record_loss(now, ue, direction, Undeliverable { packet: sdu, connection, loss });
    }

    /// Both entities of a bearer return to their initial state, after a reset or a
    /// re-establishment.
    pub(super) fn reinitialise(&mut self, now: Time, ue: UeId, direction: Direction) {
        let mut undeliverable = std::mem::take(&mut self.undeliverable);
        self.ue_at(now, ue).bearers[direction.index()].reinitialise(&mut undeliverable);
        self.undeliverable = undeliverable;
        self.record_undeliverable(now, ue, direction);
    }

    /// Records the packets of a bearer that cannot arrive any more, as lost.
    pub(super) fn record_undeliverable(&mut self, now: Time, ue: UeId, direction: Direction) {
        let ue_state = &self.ues[ue.index()];
        if ue_state.bearers[direction.index()].is_empty() {
            self.waiting.remove(ue_state.cell, direction.index(), ue);
        }
        while let Some(lost) = self.undeliverable.pop() {
            if let Some(waterfall) = &mut self.waterfall {
                waterfall.lost(now, lost.packet, lost.loss);
            }
            self.record_loss(now, ue, direction, lost);
        }
    }

    /// Records a loss on the radio in the timeline, and in the budget of its connection.
    fn record_loss(&mut self, now: Time, ue: UeId, direction: Direction, lost: Undeliverable) {
        let Undeliverable { packet, connection, loss } = lost;
        if let Some(timeline) = &mut self.timeline {
            let loss = loss.name();
            timeline.lost(now, LostPacket { packet, ue, direction, connection, loss, link: None });
        }
        if let Some(connection) = connection {
            self.lost(now, direction, packet, connection, loss);
        }
    }
}
