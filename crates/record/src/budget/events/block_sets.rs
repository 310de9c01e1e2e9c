//! Block sets of UEs on their way from RLC to RLC, and the radio resources that UEs lack: which UE a
//! channel serves, and which other UEs wait for it.

use umts_stack::detail::Stage;
use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::BlockSet;
use umts_stack::trace::{Channel, TraceEvent};
use umts_units::{Duration, Time};

use crate::budget::Budget;
use crate::budget::bearer::statuses;
use crate::budget::capacity::Capacity;
use crate::budget::dsch_postponement::DschPostponement;
use crate::budget::harq::Transmission;
use crate::budget::missing::LossPlace;
use crate::budget::ue::{ChannelId, Ue};

/// The channel that carries a block set of a UE.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carrier {
    pub ue: UeId,
    pub direction: Direction,
    pub channel: Channel,
}

/// One TTI in which a channel that several UEs share carries blocks of one of them.
#[derive(Debug, Clone, Copy)]
struct SharedTti {
    served: UeId,
    direction: Direction,
    /// Index of the cell.
    cell: usize,
    channel: ChannelId,
    length: Duration,
}

impl Budget {
    /// A block set of a UE reached a stage of its way from RLC to RLC.
    pub(super) fn record_blocks(&mut self, now: Time, carrier: Carrier, set: &BlockSet, stage: &Stage) {
        let Carrier { ue, direction, channel } = carrier;
        let (forward, reverse) = (direction.index(), direction.reversed().index());
        let is_queued_at_nodeb = self.is_queued_at_nodeb(ue, channel);
        let mut undeliverable = std::mem::take(&mut self.undeliverable);
        let ue_state = self.ue_at(now, ue);
        let bearer = &mut ue_state.bearers[forward];
        match stage {
            Stage::Leaves => {
                bearer.leave(set, is_queued_at_nodeb);
                ue_state.capacity.leaves(direction, set);
                if statuses(set, Lost::default()).any(|status| status.lsn.is_some()) {
                    ue_state.bearers[reverse].report_sent(now);
                }
            }
            Stage::OnAir => bearer.leave_nodeb(set),
            Stage::Dropped => {
                bearer.leave_nodeb(set);
                bearer.arrive(set, Lost::all(set.blocks), LossPlace::NodebQueue, &mut undeliverable);
            }
            Stage::Arrives(lost) => {
                bearer.arrive(set, *lost, LossPlace::Air, &mut undeliverable);
                for status in statuses(set, *lost) {
                    ue_state.bearers[reverse].report_arrived(set, status);
                }
            }
        }
        self.undeliverable = undeliverable;
        self.record_undeliverable(now, ue, direction);
        let goes_on_air = match stage {
            Stage::Leaves => !is_queued_at_nodeb,
            Stage::OnAir => true,
            Stage::Dropped | Stage::Arrives(_) => false,
        };
        if goes_on_air {
            self.serve(now, carrier, set);
        }
    }

    /// Whether block sets on this channel wait in a queue of the Node B before they go on the air.
    fn is_queued_at_nodeb(&self, ue: UeId, channel: Channel) -> bool {
        match channel {
            Channel::HsDsch => true,
            Channel::Fach => self.has_fach_queue[self.ues[ue.index()].cell],
            Channel::Rach | Channel::Dch | Channel::EDch | Channel::Dsch | Channel::Ack => false,
        }
    }

    /// The channel carries blocks of a UE for one TTI. Outside a layout a shared channel serves one
    /// UE at a time, so its other UEs wait for this TTI.
    fn serve(&mut self, now: Time, carrier: Carrier, set: &BlockSet) {
        let Carrier { ue, direction, channel } = carrier;
        let forward = direction.index();
        let served_ue = &mut self.ues[ue.index()];
        let (cell, length) = (served_ue.cell, served_ue.tti(forward, channel));
        let shared_channel = served_ue.channel(forward, channel);
        let refused_dch = served_ue.refused_dch(direction).filter(|_| !channel.is_dedicated());
        served_ue.bearers[forward].served(now, length, set, refused_dch);
        let serves_one_ue = !channel.is_dedicated() && !served_ue.is_in_layout;
        if serves_one_ue {
            let tti = SharedTti { served: ue, direction, cell, channel: shared_channel, length };
            self.others_wait(now, tti);
        }
    }

    /// The UEs with data for a shared channel wait, except the UE that the channel serves.
    fn others_wait(&mut self, now: Time, tti: SharedTti) {
        let SharedTti { served, direction, cell, channel, length } = tti;
        let forward = direction.index();
        for index in 0..self.waiting.in_cell(cell, forward).len() {
            let other = self.waiting.in_cell(cell, forward)[index];
            if other != served && self.ues[other.index()].uses_shared(forward, channel) {
                self.ue_at(now, other).bearers[forward].others_served(now, length);
            }
        }
    }

    /// Records events of HARQ and reordering on the HS-DSCH and the E-DCH. Returns whether `event` is one.
    pub(super) fn record_harq(&mut self, now: Time, event: &TraceEvent) -> bool {
        match *event {
            TraceEvent::HsBlockSent { ue, attempt, is_decoded, is_last, .. } => {
                let transmission = Transmission { attempt, is_decoded, is_last };
                self.block_transmitted(now, ue, Channel::HsDsch, transmission);
            }
            TraceEvent::EBlockSent { ue, attempt, is_decoded, is_last, .. } => {
                let transmission = Transmission { attempt, is_decoded, is_last };
                self.block_transmitted(now, ue, Channel::EDch, transmission);
            }
            TraceEvent::T1Expired { ue } => {
                self.ue_at(now, ue).bearers[Direction::Downlink.index()].harq.released();
            }
            TraceEvent::ET1Expired { ue } => {
                self.ue_at(now, ue).bearers[Direction::Uplink.index()].harq.released();
            }
            _ => return false,
        }
        true
    }

    /// A block of a UE is transmitted on the HS-DSCH or the E-DCH for one TTI.
    fn block_transmitted(&mut self, now: Time, ue: UeId, channel: Channel, transmission: Transmission) {
        let direction = if channel == Channel::HsDsch { Direction::Downlink } else { Direction::Uplink };
        let forward = direction.index();
        let ue_state = self.ue_at(now, ue);
        let length = ue_state.tti(forward, channel);
        ue_state.bearers[forward].harq.transmitted(now, length, transmission);
        // All other UEs wait during a repetition. During a first transmission they wait too, which
        // `serve` records when the blocks leave the queue of the Node B.
        if channel == Channel::HsDsch && transmission.attempt > 1 {
            let (cell, channel) = (ue_state.cell, ue_state.channel(forward, channel));
            self.others_wait(now, SharedTti { served: ue, direction, cell, channel, length });
        }
    }

    /// Records that a user lacks a radio resource, or no longer lacks it.
    pub(super) fn record_radio_shortage(&mut self, now: Time, event: &TraceEvent) {
        if let Some(ue) = Capacity::concerned_ue(event) {
            self.ue_at(now, ue).capacity.record(event);
        } else if let Some(ue) = Ue::requesting_ue(event) {
            self.ue_at(now, ue).record_dch_answer(event);
        } else if let Some(ue) = DschPostponement::concerned_ue(event) {
            let ue_state = self.ue_at(now, ue);
            let tti = ue_state.tti(Direction::Downlink.index(), Channel::Dsch);
            ue_state.dsch.record(now, event, tti);
        }
    }
}
