//! The blocks of a frame of a TDD cell on the air. The radio decides for all of them together which
//! are lost, because blocks in the same slot interfere. The use of slots and codes is recorded.

use umts_kernel::TraceSink;

use super::slots::{InUse, Slots};
use crate::EventContext;
use crate::detail::Detail;
use crate::ids::CellId;
use crate::radio::air::Transmission;
use crate::radio::phy::Lost;
use crate::radio::phy::tdd::layout::MAX_SLOTS;
use crate::radio::phy::tdd::{SlotTransmission, TddRadio};
use crate::trace::TraceEvent;

/// Blocks of a frame by the number of other UEs' blocks in the same slot: 0, 1, 2, and 3 or more.
#[derive(Debug, Default)]
struct BlocksByNeighbours {
    sent: [u8; 4],
    /// The lost ones of `sent`.
    lost: [u8; 4],
}

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
            let (mut used, mut blocks_in_slot) = ([0; 2], [0_u8; MAX_SLOTS]);
            for sent in &self.blocks {
                used[sent.direction.index()] += u16::from(sent.codes);
                blocks_in_slot[usize::from(sent.slot)] += 1;
            }
            let BlocksByNeighbours { sent, lost } = self.count_by_neighbours(&blocks_in_slot);
            TraceEvent::FrameUsed { cell: cell.0, slots, held, used, sent, lost }
        });
    }

    /// Counts the blocks of this frame by their neighbours. `blocks_in_slot`: blocks of all UEs.
    fn count_by_neighbours(&self, blocks_in_slot: &[u8; MAX_SLOTS]) -> BlocksByNeighbours {
        let mut counts = BlocksByNeighbours::default();
        // Blocks of one UE in one slot are consecutive and have the same number of neighbours. They
        // are counted together.
        let key = |sent: &SlotTransmission| (sent.slot, sent.direction, sent.ue);
        let mut first_of_group = 0;
        for group in self.blocks.chunk_by(|one, next| key(one) == key(next)) {
            let blocks = group.len() as u8;
            let neighbours = usize::from(blocks_in_slot[usize::from(group[0].slot)] - blocks).min(3);
            counts.sent[neighbours] += blocks;
            counts.lost[neighbours] += self.losses(first_of_group, blocks.into()).count() as u8;
            first_of_group += u32::from(blocks);
        }
        counts
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
