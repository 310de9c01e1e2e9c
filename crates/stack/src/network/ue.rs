//! What the network keeps of one user equipment, apart from the cell that it is in: its bearer, the buffers of both ends,
//! and the channels that carry them. It can move as a whole.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::flight::Flight;
use crate::Cx;
use crate::detail::{Detail, Stage};
use crate::ids::{Direction, UeId};
use crate::radio::capacity::CapacityLink;
use crate::radio::pdcp::Pdcp;
use crate::radio::phy::BlockErrors;
use crate::radio::rlc::{BlockSet, Rlc};
use crate::trace::{Channel, TraceEvent};

/// A UE's transport channel in one direction.
#[derive(Debug)]
pub(super) struct Leg {
    /// The carrier that asks for its blocks.
    pub carrier: u16,
    /// Blocks in one TTI, where the channel is the UE's own.
    pub blocks: u32,
    /// Bits of a block on the Iub.
    pub block_bits: u32,
    pub errors: BlockErrors,
}

/// One UE: both ends of its bearer, each array by direction.
#[derive(Debug)]
pub(super) struct UeContext {
    pub id: UeId,
    /// The RLC entities that send: the RNC's downlink, the UE's own uplink.
    pub rlc: [Rlc; 2],
    /// A measured radio in place of them and of all below.
    pub capacity: Option<Box<[CapacityLink; 2]>>,
    /// Header compression in front of them.
    pub pdcp: [Pdcp; 2],
    /// The channels in use.
    pub legs: [Leg; 2],
    /// When the sending RLC entity is next woken; one wake-up at a time is outstanding.
    pub wake: [Time; 2],
    /// Block sets that were shown to somebody.
    pub shown: [u64; 2],
}

impl UeContext {
    /// Asks RLC for `blocks` blocks of TTI number `frame` and takes them aboard `flight`, with what the radio says of them.
    /// Returns how many there were.
    #[inline]
    pub fn send<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        direction: Direction,
        frame: u64,
        blocks: u32,
        flight: &mut Flight,
    ) -> u32 {
        let channel = flight.channel;
        let sent = flight.add(self.id);
        self.rlc[direction.index()].poll_transmit(cx, blocks, &mut sent.set);
        let blocks = sent.set.blocks;
        if blocks == 0 {
            flight.drop_last();
            return 0;
        }
        show_leaving(cx, self.id, direction, channel, &mut self.shown, &mut sent.set);
        sent.lost = self.legs[direction.index()].errors.verdict(frame, blocks);
        self.cross_iub(cx, direction, blocks);
        blocks
    }

    /// Records that blocks cross the Iub.
    #[inline]
    pub fn cross_iub<T: TraceSink<TraceEvent>>(&self, cx: &mut Cx<'_, T>, direction: Direction, blocks: u32) {
        let (ue, bits) = (self.id, self.legs[direction.index()].block_bits);
        cx.record(|| TraceEvent::IubSent { ue, direction, blocks, bits });
    }
}

/// Numbers a set that leaves RLC and shows it, if anybody looks at block sets.
#[inline]
pub(super) fn show_leaving<T: TraceSink<TraceEvent>>(
    cx: &mut Cx<'_, T>,
    ue: UeId,
    direction: Direction,
    channel: Channel,
    shown: &mut [u64; 2],
    set: &mut BlockSet,
) {
    if T::WANTS_DETAIL {
        shown[direction.index()] += 1;
        set.serial = shown[direction.index()];
        cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::Leaves });
    }
}
