//! Transmissions in flight: the block sets of all UEs that arrive at the same time, on the Iub and the
//! air. A MAC fills a transmission and sends it. An event returns it when it arrives. Their memory is
//! reused.

use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use crate::EventContext;
use crate::event::Event;
use crate::ids::{Direction, TransmissionId, UeId};
use crate::radio::mac::Channel;
use crate::radio::phy::Lost;
use crate::radio::rlc::BlockSet;
use crate::trace::TraceEvent;

/// The blocks of one UE in one TTI, and the blocks of them that are lost on the air.
#[derive(Debug, Default)]
pub struct TransmittedSet {
    pub ue: UeId,
    /// The blocks. Boxed, so that passing a set on moves only a pointer.
    pub set: Box<BlockSet>,
    /// Index of the first block among the blocks of the UE in this TTI. In a TDD cell, among all
    /// blocks of the frame.
    pub first: u32,
    pub lost: Lost,
    /// Epoch of the UE's RLC entities, which counts their re-establishments.
    pub epoch: u16,
}

/// Block sets that arrive at the same time. `sets` keeps unused sets after the first `used` ones, so
/// that their memory is reused.
#[derive(Debug)]
pub struct Transmission {
    id: TransmissionId,
    pub direction: Direction,
    pub channel: Channel,
    sets: Vec<TransmittedSet>,
    used: usize,
}

impl Transmission {
    /// Adds an empty set for `ue`.
    #[inline]
    pub fn add(&mut self, ue: UeId) -> &mut TransmittedSet {
        let sent = self.next_place(ue);
        sent.set.clear();
        sent
    }

    /// Adds `set` for `ue`. Returns the added set, and an unused one whose memory the caller may reuse.
    #[inline]
    pub fn take(&mut self, ue: UeId, set: Box<BlockSet>) -> (&mut TransmittedSet, Box<BlockSet>) {
        let sent = self.next_place(ue);
        let unused = std::mem::replace(&mut sent.set, set);
        (sent, unused)
    }

    /// The first unused set, for `ue`. Its blocks are those of an earlier transmission.
    #[inline]
    fn next_place(&mut self, ue: UeId) -> &mut TransmittedSet {
        if self.used >= self.sets.len() {
            self.sets.push(TransmittedSet::default());
        }
        let sent = &mut self.sets[self.used];
        self.used += 1;
        sent.ue = ue;
        sent.first = 0;
        sent
    }

    /// The set added last.
    #[inline]
    pub fn last(&mut self) -> &mut TransmittedSet {
        &mut self.sets[self.used - 1]
    }

    /// The sets, for the radio to mark lost blocks.
    #[inline]
    pub fn sets_mut(&mut self) -> &mut [TransmittedSet] {
        &mut self.sets[..self.used]
    }

    /// Removes the set added last.
    #[inline]
    pub fn drop_last(&mut self) {
        self.used -= 1;
    }

    #[inline]
    pub fn sets(&self) -> &[TransmittedSet] {
        &self.sets[..self.used]
    }
}

/// All transmissions in flight.
#[derive(Debug, Default)]
pub struct Air {
    /// One slot per transmission, occupied while it is in flight.
    slots: Vec<Option<Box<Transmission>>>,
    #[expect(clippy::vec_box, reason = "boxes are reused")]
    spare: Vec<Box<Transmission>>,
    #[expect(clippy::vec_box, reason = "boxes are reused")]
    spare_sets: Vec<Box<BlockSet>>,
}

impl Air {
    /// An empty transmission.
    #[inline]
    pub fn begin(&mut self, direction: Direction, channel: Channel) -> Box<Transmission> {
        let mut transmission = self.spare.pop().unwrap_or_else(|| self.new_transmission(direction, channel));
        (transmission.direction, transmission.channel, transmission.used) = (direction, channel, 0);
        transmission
    }

    #[cold]
    fn new_transmission(&mut self, direction: Direction, channel: Channel) -> Box<Transmission> {
        let id = TransmissionId(self.slots.len() as u32);
        self.slots.push(None);
        Box::new(Transmission { id, direction, channel, sets: Vec::new(), used: 0 })
    }

    /// Sends the transmission, which arrives at `arrival`. An empty one is recycled instead.
    #[inline]
    pub fn depart<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        transmission: Box<Transmission>,
        arrival: Time,
    ) {
        if transmission.used == 0 {
            return self.finish(transmission);
        }
        let id = transmission.id;
        self.slots[id.index()] = Some(transmission);
        ctx.at(arrival, Phase::Receive, Event::BlocksArrive(id));
    }

    /// Returns a transmission that has arrived.
    #[inline]
    pub fn arrive(&mut self, id: TransmissionId) -> Box<Transmission> {
        self.slots[id.index()].take().expect("a transmission arrives once")
    }

    /// An empty set for a block that is sent alone.
    #[inline]
    pub fn spare_set(&mut self) -> Box<BlockSet> {
        let mut set = self.spare_sets.pop().unwrap_or_default();
        set.clear();
        set
    }

    /// Recycles the memory of a set from `spare_set`.
    #[inline]
    pub fn return_set(&mut self, set: Box<BlockSet>) {
        self.spare_sets.push(set);
    }

    /// Recycles the memory of a transmission.
    #[inline]
    pub fn finish(&mut self, transmission: Box<Transmission>) {
        self.spare.push(transmission);
    }
}
