//! What the network keeps of one user equipment, apart from the cell that it is in: its bearer, the buffers of both ends,
//! and the channels that carry them. It can move as a whole.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use super::flight::Flight;
use crate::Cx;
use crate::detail::{Detail, Stage};
use crate::ids::{CellId, Direction, UeId};
use crate::radio::capacity::CapacityLink;
use crate::radio::flat::FlatLink;
use crate::radio::pdcp::Pdcp;
use crate::radio::phy::BlockErrors;
use crate::radio::rlc::{BlockSet, Rlc};
use crate::rnc::Preemptible;
use crate::rnc::rrc::{DchRates, Measured, Rrc};
use crate::step::Wakeup;
use crate::trace::{Channel, TraceEvent};

/// The channels of a switched UE have numbers: FACH and RACH this one, the DCHs of bearer n the number n + 1.
pub(super) const COMMON: usize = 0;

/// A UE's transport channel in one direction.
#[derive(Debug)]
pub(super) struct Leg {
    /// The carrier that asks for its blocks.
    pub carrier: u16,
    /// Blocks in one TTI, where the channel is the UE's own.
    pub blocks: u32,
    pub tti: Duration,
    /// Bits of a block on the Iub.
    pub block_bits: u32,
    pub errors: BlockErrors,
}

/// One UE: both ends of its bearer, each array by direction.
#[derive(Debug)]
pub(super) struct UeContext {
    pub id: UeId,
    /// The cell that it is in.
    pub cell: CellId,
    /// The RLC entities that send: the RNC's downlink, the UE's own uplink.
    pub rlc: [Rlc; 2],
    /// What stands in place of them and of all below.
    pub substitute: Option<Box<Substitute>>,
    /// Header compression in front of them.
    pub pdcp: [Pdcp; 2],
    /// The channels in use.
    pub legs: [Leg; 2],
    /// When the sending RLC entity is next woken; one wake-up at a time is outstanding.
    pub wake: [Wakeup; 2],
    /// Block sets that were shown to somebody.
    pub shown: [u64; 2],
    /// How often RLC began anew: what was sent before does not concern it.
    pub epoch: u16,
    /// RRC; none where the channels never change.
    pub control: Option<Box<Control>>,
}

/// A radio without RLC and MAC, each array by direction.
#[derive(Debug)]
pub(super) enum Substitute {
    /// A measured one.
    Capacity([CapacityLink; 2]),
    /// A flat one.
    Flat([FlatLink; 2]),
}

/// The RRC of a UE and what it needs to know.
#[derive(Debug)]
pub(super) struct Control {
    pub rrc: Rrc,
    pub started: bool,
    /// When it is next woken; one wake-up at a time is outstanding.
    pub wake: Wakeup,
    /// The end of the last TTI with data, either way.
    pub active_until: Time,
    /// Its DCH counts as one that can be taken away, until it is used again.
    pub is_takeable: bool,
    /// Blocks sent, by direction.
    sent: [u64; 2],
    /// The number of the channels in use, …
    in_use: usize,
    /// … and those that are not, by their numbers.
    others: Vec<Option<[Leg; 2]>>,
}

impl Control {
    /// RRC of a UE that begins on the common channels; `dchs` are those that it may be given.
    pub fn new(rrc: Rrc, dchs: impl Iterator<Item = [Leg; 2]>) -> Self {
        Control {
            rrc,
            started: false,
            wake: Wakeup::NONE,
            active_until: Time::ZERO,
            is_takeable: false,
            sent: [0; 2],
            in_use: COMMON,
            others: std::iter::once(None).chain(dchs.map(Some)).collect(),
        }
    }
}

impl UeContext {
    /// What RRC is told of the UE.
    pub fn measured(&self) -> Measured {
        let control = self.control.as_ref();
        Measured {
            buffered: [self.rlc[0].buffer_occupancy(), self.rlc[1].buffer_occupancy()],
            active_until: control.map_or(Time::ZERO, |control| control.active_until),
            carried: [0, 1].map(|way| {
                control.map_or(0, |control| control.sent[way]) * self.rlc[way].pdu_payload().bits()
            }),
        }
    }

    /// Rates of the DCHs that it may be given.
    pub fn dchs(&self) -> &[DchRates] {
        self.control.as_ref().map_or(&[], |control| &control.rrc.config().dchs)
    }

    /// Whether another UE could have its DCH, and from when on.
    pub fn preemptible(&self) -> Option<Preemptible> {
        let control = self.control.as_ref()?;
        let since = control.rrc.preemptible_from(control.active_until)?;
        Some(Preemptible { since, release: control.rrc.release_time() })
    }

    /// Puts the channels of number `wanted` in the place of those in use.
    pub fn change_legs(&mut self, wanted: usize) {
        let Some(control) = &mut self.control else { return };
        if let Some(legs) = control.others[wanted].take() {
            let before = std::mem::replace(&mut self.legs, legs);
            control.others[control.in_use] = Some(before);
            control.in_use = wanted;
        }
    }

    /// RLC begins anew at both ends; what is on its way is lost.
    pub fn reestablish<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>) {
        self.epoch = self.epoch.wrapping_add(1);
        self.rlc.iter_mut().for_each(|rlc| rlc.reestablish(cx));
    }

    /// Blocks were sent.
    #[inline]
    fn note_activity(&mut self, now: Time, direction: Direction, blocks: u32) {
        let Some(control) = &mut self.control else { return };
        control.sent[direction.index()] += u64::from(blocks);
        let least = control.rrc.config().inactivity.counts_above;
        if least.is_none_or(|least| self.rlc[direction.index()].buffer_occupancy() > least) {
            let end = now + self.legs[direction.index()].tti;
            control.active_until = control.active_until.max(end);
        }
    }

    /// Asks RLC for `blocks` blocks, which leave on `channel` in `set`. Returns how many there were.
    #[inline]
    pub fn take_blocks<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        direction: Direction,
        channel: Channel,
        blocks: u32,
        set: &mut BlockSet,
    ) -> u32 {
        self.rlc[direction.index()].poll_transmit(cx, blocks, set);
        let blocks = set.blocks;
        if blocks > 0 {
            show_leaving(cx, self.id, direction, channel, &mut self.shown, set);
            self.note_activity(cx.now, direction, blocks);
            let (ue, bits) = (self.id, self.legs[direction.index()].block_bits);
            cx.record(|| TraceEvent::IubSent { ue, direction, blocks, bits });
        }
        blocks
    }

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
        let blocks = self.take_blocks(cx, direction, channel, blocks, &mut sent.set);
        if blocks == 0 {
            flight.drop_last();
            return 0;
        }
        sent.epoch = self.epoch;
        sent.lost = self.legs[direction.index()].errors.verdict(frame, blocks);
        blocks
    }
}

/// Numbers a set that leaves RLC and shows it, if anybody looks at block sets.
#[inline]
fn show_leaving<T: TraceSink<TraceEvent>>(
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
