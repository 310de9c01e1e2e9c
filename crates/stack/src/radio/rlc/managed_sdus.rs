//! Active queue management of the transmission buffer, with CoDel, PIE or RED.
//!
//! The managed queue consists of the SDUs of which no part has been sent. No PDU that contains a
//! part of such an SDU has a sequence number yet, so RLC can discard the SDU without informing the
//! receiver. An SDU counts as leaving the queue when the previous SDU is completely in PDUs.

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

use super::Sdu;
use super::buffer::Buffer;
use crate::Context;
use crate::aqm::{Aqm, Choice, ManagedQueue, PacketQueue};
use crate::ids::Direction;
use crate::trace::{QueuePlace, TraceEvent};

/// The algorithm, and its effects on the buffer that the entity must still record as trace events.
#[derive(Debug, Clone)]
pub(super) struct ManagedSdus {
    aqm: Aqm,
    /// SDUs that were discarded and are to be recorded.
    pub discarded: Vec<Sdu>,
    /// Number of SDUs that were marked and are to be recorded.
    pub marks: u32,
}

/// Effects on the buffer that are to be recorded as trace events.
#[derive(Debug)]
pub(super) struct UnrecordedActions {
    pub discarded: Vec<Sdu>,
    /// Number of SDUs that were marked.
    pub marks: u32,
}

/// Decision about an arriving SDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Enters,
    EntersMarked,
    Dropped,
}

impl Entry {
    /// The action of queue management that the decision implies.
    pub fn action(self) -> Option<QueueAction> {
        match self {
            Entry::Enters => None,
            Entry::EntersMarked => Some(QueueAction::Mark),
            Entry::Dropped => Some(QueueAction::Drop),
        }
    }
}

/// The SDUs of a buffer as the queue that [`Aqm`] manages: it drops or marks the first SDU.
struct Sdus<'a> {
    buffer: &'a mut Buffer,
    discarded: &'a mut Vec<Sdu>,
    marks: &'a mut u32,
}

impl ManagedSdus {
    /// Decides about an SDU that arrives at `now`, and may mark it. An SDU that should be marked but
    /// whose packet does not permit a mark is dropped.
    fn choose(&mut self, now: Time, sdu: &mut Sdu, buffer: &Buffer) -> Entry {
        match self.aqm.choose(now, sdu.size(), buffer) {
            Choice::Pass => Entry::Enters,
            Choice::Mark if sdu.packet.mark() => Entry::EntersMarked,
            Choice::Mark | Choice::Drop => Entry::Dropped,
        }
    }

    /// Notifies queue management that the first SDU of `buffer` is about to be removed.
    pub fn head_leaves(&mut self, now: Time, buffer: &Buffer) {
        self.aqm.head_leaves(now, buffer);
    }

    /// Lets the algorithm discard or mark SDUs at the front of `buffer`. The first SDU must have no
    /// sent part.
    pub fn dequeue(&mut self, now: Time, buffer: &mut Buffer) {
        let ManagedSdus { aqm, discarded, marks } = self;
        aqm.dequeue(now, &mut Sdus { buffer, discarded, marks });
    }
}

impl Buffer {
    /// Adds queue management.
    pub fn manage(&mut self, aqm: Aqm) {
        self.managed = Some(Box::new(ManagedSdus { aqm, discarded: Vec::new(), marks: 0 }));
    }

    /// Adds an SDU at `now`, unless queue management drops it.
    pub fn push_managed(&mut self, now: Time, sdu: &Sdu) -> Entry {
        let Some(mut managed) = self.managed.take() else {
            self.push(sdu);
            return Entry::Enters;
        };
        let mut sdu = *sdu;
        let entry = managed.choose(now, &mut sdu, self);
        self.managed = Some(managed);
        if entry != Entry::Dropped {
            self.push(&sdu);
        }
        entry
    }

    /// Takes the actions of queue management since the last call. `None`: there were none.
    pub fn take_managed(&mut self) -> Option<UnrecordedActions> {
        let managed = self.managed.as_mut()?;
        let (discarded, marks) = (std::mem::take(&mut managed.discarded), std::mem::take(&mut managed.marks));
        (marks > 0 || !discarded.is_empty()).then_some(UnrecordedActions { discarded, marks })
    }
}

/// An action of queue management on an SDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueueAction {
    Drop,
    Mark,
}

/// Records an action of queue management on an SDU.
#[cold]
pub(super) fn record_action<T: TraceSink<TraceEvent>>(
    cx: &mut Context<'_, T>,
    direction: Direction,
    action: QueueAction,
) {
    let marked = action == QueueAction::Mark;
    cx.record(|| TraceEvent::QueueManaged { place: QueuePlace::Rlc, direction, marked });
}

impl PacketQueue for Buffer {
    fn head_entered(&self) -> Option<Time> {
        self.head().map(|head| head.entered)
    }

    fn packets(&self) -> usize {
        self.unsent_sdus()
    }

    fn octets(&self) -> Bytes {
        Bytes(self.unsent_octets())
    }

    fn head_octets(&self) -> Bytes {
        self.head().map_or(Bytes::ZERO, Sdu::size)
    }
}

impl PacketQueue for Sdus<'_> {
    fn head_entered(&self) -> Option<Time> {
        self.buffer.head_entered()
    }

    fn packets(&self) -> usize {
        PacketQueue::packets(&*self.buffer)
    }

    fn octets(&self) -> Bytes {
        PacketQueue::octets(&*self.buffer)
    }

    fn head_octets(&self) -> Bytes {
        PacketQueue::head_octets(&*self.buffer)
    }
}

impl ManagedQueue for Sdus<'_> {
    fn drop_head(&mut self) {
        let sdu = self.buffer.pop();
        self.discarded.extend(sdu);
    }

    fn mark_head(&mut self) -> bool {
        let marked = self.buffer.head_mut().is_some_and(|head| head.packet.mark());
        *self.marks += u32::from(marked);
        marked
    }
}
