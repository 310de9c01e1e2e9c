//! Block sets on their way, in slots that are used again and again.

use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use crate::EventContext;
use crate::event::Event;
use crate::ids::{Direction, TransmissionId, UeId};
use crate::radio::mac::Channel;
use crate::radio::phy::Lost;
use crate::radio::rlc::BlockSet;
use crate::trace::TraceEvent;

/// The blocks of one UE in one TTI, and which of them are lost on the air.
#[derive(Debug, Default)]
pub struct TransmittedSet {
    /// Whose they are.
    pub ue: UeId,
    /// The blocks. Sets change hands on their way, so they are boxed: moving one moves a pointer.
    pub set: Box<BlockSet>,
    /// Where they are placed: the number of the first of them among the blocks of the UE's TTI, in a TDD cell among all that is
    /// on the air in the frame.
    pub first: u32,
    /// Those that are lost.
    pub lost: Lost,
    /// The life of the UE's RLC entities that it belongs to.
    pub epoch: u16,
}

/// What arrives at one instant. Flights change hands too, boxed as sets are.
#[derive(Debug)]
pub struct Transmission {
    id: TransmissionId,
    /// The way they go.
    pub direction: Direction,
    /// What they are sent on.
    pub channel: Channel,
    sets: Vec<TransmittedSet>,
    used: usize,
}

impl Transmission {
    /// An empty set for `ue`.
    #[inline]
    pub fn add(&mut self, ue: UeId) -> &mut TransmittedSet {
        let sent = self.place_for(ue);
        sent.set.clear();
        sent
    }

    /// Takes `set` aboard for `ue`; returns one that is no longer used.
    #[inline]
    pub fn take(&mut self, ue: UeId, set: Box<BlockSet>) -> (&mut TransmittedSet, Box<BlockSet>) {
        let sent = self.place_for(ue);
        let before = std::mem::replace(&mut sent.set, set);
        (sent, before)
    }

    #[inline]
    fn place_for(&mut self, ue: UeId) -> &mut TransmittedSet {
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

    /// The blocks of each UE, for the radio to say which of them are lost.
    #[inline]
    pub fn sets_mut(&mut self) -> &mut [TransmittedSet] {
        &mut self.sets[..self.used]
    }

    /// Takes the set added last back.
    #[inline]
    pub fn drop_last(&mut self) {
        self.used -= 1;
    }

    /// The blocks of each UE.
    #[inline]
    pub fn sets(&self) -> &[TransmittedSet] {
        &self.sets[..self.used]
    }
}

/// All that is on its way.
#[derive(Debug, Default)]
pub struct Air {
    /// Each flight has a slot of its own, empty unless it is on its way.
    slots: Vec<Option<Box<Transmission>>>,
    #[expect(clippy::vec_box, reason = "they come and go boxed")]
    spare: Vec<Box<Transmission>>,
    #[expect(clippy::vec_box, reason = "they come and go boxed")]
    spare_sets: Vec<Box<BlockSet>>,
}

impl Air {
    /// An empty flight.
    #[inline]
    pub fn begin(&mut self, direction: Direction, channel: Channel) -> Box<Transmission> {
        let mut transmission = self.spare.pop().unwrap_or_else(|| self.new_flight(direction, channel));
        (transmission.direction, transmission.channel, transmission.used) = (direction, channel, 0);
        transmission
    }

    #[cold]
    fn new_flight(&mut self, direction: Direction, channel: Channel) -> Box<Transmission> {
        let id = TransmissionId(self.slots.len() as u32);
        self.slots.push(None);
        Box::new(Transmission { id, direction, channel, sets: Vec::new(), used: 0 })
    }

    /// Sends it off, to arrive at `arrival`; an empty one stays.
    // Inlined into the turns.
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

    /// It has arrived.
    #[inline]
    pub fn arrive(&mut self, id: TransmissionId) -> Box<Transmission> {
        self.slots[id.index()].take().expect("a flight arrives once")
    }

    /// An empty set for a block that travels by itself.
    #[inline]
    pub fn spare_set(&mut self) -> Box<BlockSet> {
        let mut set = self.spare_sets.pop().unwrap_or_default();
        set.clear();
        set
    }

    /// Gives such a set's memory back.
    #[inline]
    pub fn return_set(&mut self, set: Box<BlockSet>) {
        self.spare_sets.push(set);
    }

    /// Gives a flight's memory back.
    #[inline]
    pub fn finish(&mut self, transmission: Box<Transmission>) {
        self.spare.push(transmission);
    }
}
