//! The blocks of a frame on the air: their losses, and the use of slots and codes.

use umts_kernel::TraceSink;

use super::slots::{InUse, Slots};
use crate::EventContext;
use crate::detail::Detail;
use crate::ids::CellId;
use crate::radio::air::Transmission;
use crate::radio::phy::Lost;
use crate::radio::phy::tdd::layout::MOST_SLOTS;
use crate::radio::phy::tdd::{SlotTransmission, TddRadio};
use crate::trace::TraceEvent;

/// The blocks of a frame, and the radio.
#[derive(Debug)]
pub(super) struct FrameAir {
    /// `None`: no block is lost.
    radio: Option<TddRadio>,
    /// The blocks sent in this frame.
    pub blocks: Vec<SlotTransmission>,
}

impl FrameAir {
    pub fn new(radio: Option<TddRadio>) -> Self {
        FrameAir { radio, blocks: Vec::new() }
    }

    /// Decides which blocks of this frame are lost.
    pub fn decide_losses<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        transmissions: &mut [Box<Transmission>; 2],
    ) {
        if let Some(radio) = &mut self.radio {
            radio.begin_frame(frame, &self.blocks);
        }
        for sent in transmissions.iter_mut().flat_map(|transmission| transmission.sets_mut()) {
            sent.lost = self.losses(sent.first, sent.set.blocks);
        }
        if T::WANTS_DETAIL {
            self.record_slots(ctx);
        }
    }

    /// Which of `blocks` blocks from number `first` of the frame on are lost.
    fn losses(&self, first: u32, blocks: u32) -> Lost {
        self.radio.as_ref().map_or(Lost(0), |radio| radio.losses(first, blocks))
    }

    /// The losses of an additional block, which does not interfere with the blocks of the frame.
    pub fn losses_beside(&mut self, frame: u64, sent: &SlotTransmission) -> Lost {
        self.radio.as_mut().map_or(Lost(0), |radio| radio.losses_beside(frame, sent))
    }

    /// The blocks of the frame, each with whether it is lost.
    fn results(&self) -> impl Iterator<Item = (&SlotTransmission, bool)> {
        (0..).zip(&self.blocks).map(|(number, sent)| (sent, !self.losses(number, 1).is_none()))
    }

    /// Records the use of the frame: slots, resource units, and losses.
    pub fn record_frame<T: TraceSink<TraceEvent>>(
        &self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
        slots: &Slots,
    ) {
        ctx.cx.record(|| {
            let InUse { slots, units: held } = slots.in_use();
            let (mut used, mut in_slot) = ([0; 2], [0_u8; MOST_SLOTS]);
            for sent in &self.blocks {
                used[sent.direction.index()] += u16::from(sent.codes);
                in_slot[usize::from(sent.slot)] += 1;
            }
            let (sent, lost) = self.count_by_neighbours(&in_slot);
            TraceEvent::FrameUsed { cell: cell.0, slots, held, used, sent, lost }
        });
    }

    /// Counts the blocks of this frame, and the lost ones, by the number of other UEs' blocks in the
    /// same slot: 0, 1, 2, and 3 or more. `in_slot`: blocks per slot.
    fn count_by_neighbours(&self, in_slot: &[u8; MOST_SLOTS]) -> ([u8; 4], [u8; 4]) {
        let (mut sent, mut lost) = ([0; 4], [0; 4]);
        let mut add = |slot: u8, blocks: u8, lost_blocks: u8| {
            let neighbours = usize::from(in_slot[usize::from(slot)] - blocks).min(3);
            sent[neighbours] += blocks;
            lost[neighbours] += lost_blocks;
        };
        // Blocks of one UE in one slot are consecutive.
        let (mut current, mut slot, mut blocks, mut lost_blocks) = (None, 0, 0, 0);
        for (this, is_lost) in self.results() {
            let key = Some((this.slot, this.direction, this.ue));
            if current != key {
                add(slot, blocks, lost_blocks);
                (current, slot, blocks, lost_blocks) = (key, this.slot, 0, 0);
            }
            blocks += 1;
            lost_blocks += u8::from(is_lost);
        }
        add(slot, blocks, lost_blocks);
        (sent, lost)
    }

    /// Records slot, codes, SIR and loss of each block.
    fn record_slots<T: TraceSink<TraceEvent>>(&self, ctx: &mut EventContext<'_, T>) {
        let mut sirs = self.radio.iter().flat_map(TddRadio::sirs);
        for (sent, lost) in self.results() {
            let SlotTransmission { ue, direction, slot, codes, .. } = *sent;
            let sir_db = sirs.next().map(|sir| 10.0 * libm::log10(sir));
            ctx.cx.show(|| Detail::Slot { ue, direction, slot, codes, sir_db, lost });
        }
    }
}
