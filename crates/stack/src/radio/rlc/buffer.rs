//! The transmission buffer of an RLC entity: SDUs that wait, in order, and their segmentation into PDUs
//! (TS 25.322 §9.2.2.8 to §9.2.2.10). PDUs are identified by their *count*, which does not wrap around.
//!
//! ```text
//!   payload of a PDU:  | LI of each SDU that ends here | … end of one SDU | whole SDUs … | start of the next | padding |
//! ```
//!
//! Only the sizes are modelled: octets of SDUs, a length indicator (LI) for each end of an SDU (in
//! the next PDU if this one has no room for it), and padding. The rules are in `segmentation.rs`.
//!
//! The *head* is the first SDU in the queue. PDUs that it fills without ending in them are *full* and
//! are taken in one step ([`Buffer::full_pdus`], [`Buffer::take_full`]). Each other PDU is composed
//! ([`Buffer::compose`]).

use std::collections::VecDeque;

use umts_units::Time;

use super::am::LengthIndicators;
use super::backlog::{BlockCounter, WaitingSdu};
use super::managed_sdus::ManagedSdus;
use super::segmentation::{Fit, SegmentationRules};
use super::{BlockSet, Sdu, SduEnd, Sn};

/// Contents of a filled PDU.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PduContents {
    /// Number of SDUs that have their last octet in the PDU.
    pub finished: u32,
    /// Unused octets.
    pub padding: u16,
}

/// An SDU that is completely in PDUs, but whose end no PDU has indicated yet.
#[derive(Debug, Clone, Copy)]
struct PendingEnd {
    /// The first PDU of the SDU.
    first: u64,
    sdu: Sdu,
}

/// The transmission buffer: SDUs with an unsent part, or with an end that no PDU has indicated yet.
#[derive(Debug, Clone)]
pub(super) struct Buffer {
    /// SDUs that are not completely in PDUs.
    queue: VecDeque<Sdu>,
    /// Octets of the SDUs in the queue.
    octets: u64,
    /// An SDU with an end that the next PDU must indicate. Rare, therefore boxed.
    pending_end: Option<Box<PendingEnd>>,
    /// Number of SDUs that may still be started.
    startable_sdus: u64,

    // The head.
    /// Octets of the head that are already in PDUs.
    head_sent: u64,
    /// The PDU in which the head starts, if it was started.
    head_first: u64,
    // The next two fields follow from the others. They are stored because they are read in every TTI.
    /// Whether there is a head, and it was started or may be started.
    has_head: bool,
    /// Octets of the head that are not in PDUs yet. 0 if the head may not be started.
    head_left: u64,

    /// Queue management. Decides about an SDU when the previous one is completely in PDUs.
    pub(super) managed: Option<Box<ManagedSdus>>,
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer {
            queue: VecDeque::new(),
            octets: 0,
            pending_end: None,
            startable_sdus: u64::MAX,
            head_sent: 0,
            head_first: 0,
            has_head: false,
            head_left: 0,
            managed: None,
        }
    }
}

impl Buffer {
    /// Limits the number of further SDUs that may be started. SDUs that were started continue.
    pub fn limit(&mut self, sdus: u64) {
        self.startable_sdus = sdus;
        self.update_head();
    }

    /// Recomputes `has_head` and `head_left`.
    #[inline]
    fn update_head(&mut self) {
        let can_continue = self.head_sent > 0 || self.startable_sdus > 0;
        let head = self.queue.front().filter(|_| can_continue);
        self.has_head = head.is_some();
        self.head_left = head.map_or(0, |head| head.size().0 - self.head_sent);
    }

    /// Number of SDUs with an unsent part, or with an end that no PDU has indicated yet.
    pub fn sdus(&self) -> usize {
        self.queue.len() + usize::from(self.pending_end.is_some())
    }

    pub fn push(&mut self, sdu: &Sdu) {
        self.octets += sdu.size().0;
        self.queue.push_back(*sdu);
        if self.queue.len() == 1 {
            self.update_head();
        }
    }

    /// The first SDU.
    pub(super) fn head(&self) -> Option<&Sdu> {
        self.queue.front()
    }

    pub(super) fn head_mut(&mut self) -> Option<&mut Sdu> {
        self.queue.front_mut()
    }

    /// Removes the first SDU, which is completely in PDUs at `now`. Queue management may discard the
    /// following ones.
    #[inline]
    fn pop_sent(&mut self, now: Time) -> Option<Sdu> {
        if self.managed.is_some() { self.pop_managed(now) } else { self.pop() }
    }

    #[cold]
    fn pop_managed(&mut self, now: Time) -> Option<Sdu> {
        let mut managed = self.managed.take()?;
        managed.head_leaves(now, self);
        let sdu = self.pop();
        managed.dequeue(now, self);
        self.managed = Some(managed);
        sdu
    }

    /// Removes the first SDU, whatever part of it was sent.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Sdu> {
        let sdu = self.queue.pop_front()?;
        self.octets -= sdu.size().0;
        self.head_sent = 0;
        self.update_head();
        Some(sdu)
    }

    /// Octets of the SDUs in the queue.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Number of SDUs that are not completely in PDUs.
    pub fn unsent_sdus(&self) -> usize {
        self.queue.len()
    }

    /// Octets that are not in PDUs yet.
    pub fn unsent_octets(&self) -> u64 {
        self.octets - self.head_sent
    }

    /// Whether no PDU may be filled: there is no SDU that may be sent and no end to indicate.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !(self.has_head | self.pending_end.is_some())
    }

    /// Whether the next PDU needs a length indicator for an SDU that starts with its first data
    /// octet.
    #[inline]
    pub fn marks_start(&self, rules: &SegmentationRules) -> bool {
        rules.marks_start && self.head_sent == 0 && self.pending_end.is_none()
    }

    /// Number of PDUs, at most `max_pdus`, that the first SDU fills without ending in them.
    #[inline]
    pub fn full_pdus(&self, rules: &SegmentationRules, max_pdus: u32) -> u32 {
        if self.pending_end.is_some() || self.marks_start(rules) {
            return 0;
        }
        // A PDU that the SDU fills exactly is not counted, because `compose` must record the end.
        // Usually the SDU is long enough for all PDUs, and the division is not needed.
        let payload = u64::from(rules.payload);
        if self.head_left > u64::from(max_pdus) * payload {
            return max_pdus;
        }
        (self.head_left.saturating_sub(1) / payload) as u32
    }

    /// Fills `pdus` PDUs, the first one with count `count`, with the middle of the first SDU.
    #[inline]
    pub fn take_full(&mut self, rules: &SegmentationRules, count: u64, pdus: u32) {
        self.start_head(count);
        self.take_octets(u64::from(pdus) * u64::from(rules.payload));
    }

    /// Moves `octets` further octets of the first SDU into PDUs.
    #[inline]
    fn take_octets(&mut self, octets: u64) {
        self.head_sent += octets;
        self.head_left -= octets;
    }

    /// If the first SDU is not started, starts it in PDU `count`.
    #[inline]
    fn start_head(&mut self, count: u64) {
        if self.head_sent == 0 {
            self.head_first = count;
            self.startable_sdus -= 1;
        }
    }

    /// Fills PDU `count` at `now` with up to `room` octets of length indicators and data. Appends the
    /// SDUs whose ends it indicates to `set.ends`.
    pub fn compose(
        &mut self,
        now: Time,
        rules: &SegmentationRules,
        count: u64,
        mut room: u16,
        set: &mut BlockSet,
    ) -> PduContents {
        if let Some(pending_end) = self.pending_end.take() {
            let PendingEnd { first, sdu } = *pending_end;
            room -= rules.length_indicator;
            set.ends.push(SduEnd { first: Sn::of(first), sn: Sn::of(count), sdu });
        } else if self.marks_start(rules) {
            room -= rules.length_indicator;
        }
        let sdus_before = self.queue.len();
        let discarded_before = self.discarded();
        let mut parts = 0;
        while room > 0 && self.has_head {
            let may_add_part = parts == 0 || rules.may_concatenate(parts, room, self.head_left);
            if !may_add_part {
                break;
            }
            parts += 1;
            room = self.take_part(now, rules, count, room, set);
        }
        let removed = sdus_before - self.queue.len();
        let discarded = self.discarded() - discarded_before;
        PduContents { finished: (removed - discarded) as u32, padding: room }
    }

    /// Number of SDUs that queue management discarded since the last call of `take_managed`.
    #[inline]
    fn discarded(&self) -> usize {
        self.managed.as_ref().map_or(0, |managed| managed.discarded.len())
    }

    /// Puts the part of the first SDU that fits into the PDU. Returns the remaining room.
    fn take_part(
        &mut self,
        now: Time,
        rules: &SegmentationRules,
        count: u64,
        room: u16,
        set: &mut BlockSet,
    ) -> u16 {
        let left = self.head_left;
        self.start_head(count);
        let fit = rules.fit(left, room);
        if fit == Fit::Continues {
            self.take_octets(u64::from(room));
            return 0;
        }
        let ends_inside = fit == Fit::Ends;
        let needs_no_indicator = rules.indicator_rule == LengthIndicators::Eurane;
        let (first, sdu) = (self.head_first, *self.queue.front().expect("there is a head"));
        if ends_inside || needs_no_indicator {
            set.ends.push(SduEnd { first: Sn::of(first), sn: Sn::of(count), sdu });
        } else {
            self.pending_end = Some(Box::new(PendingEnd { first, sdu }));
        }
        self.pop_sent(now);
        if ends_inside { room - rules.length_indicator - left as u16 } else { 0 }
    }

    /// Octets of padding in a PDU that takes the whole content of the buffer. `None` if this does
    /// not fit into one PDU, and for PDUs of flexible size, which have no padding.
    pub fn padding_of_last_pdu(&self, rules: &SegmentationRules) -> Option<u16> {
        if rules.is_flexible {
            return None;
        }
        let indicator = u64::from(rules.length_indicator);
        let mut used = if self.pending_end.is_some() { indicator } else { 0 };
        for (sdu, sent) in self.with_sent_octets() {
            used += indicator + sdu.size().0 - sent;
            if used > u64::from(rules.payload) {
                return None;
            }
        }
        Some(rules.payload - used as u16)
    }

    /// Number of PDUs that the unsent rest of the first SDU would take. 0 if no part of it was sent.
    pub fn pdus_of_rest(&self, rules: &SegmentationRules) -> u64 {
        if self.head_sent == 0 { 0 } else { self.head_left.div_ceil(u64::from(rules.payload)) }
    }

    /// Discards the SDU with an end that is not indicated yet, and the partly sent first SDU, each
    /// only if `is_discarded` returns true for it. The first argument of `is_discarded` is the
    /// first PDU of the SDU. Passes each discarded SDU with its first PDU to `discarded`. Returns
    /// whether there is one.
    pub fn discard_started(
        &mut self,
        is_discarded: impl Fn(u64, &Sdu) -> bool,
        mut discarded: impl FnMut(u64, Sdu),
    ) -> bool {
        let mut any_discarded = false;
        if let Some(PendingEnd { first, sdu }) = self.pending_end.as_deref().copied()
            && is_discarded(first, &sdu)
        {
            self.pending_end = None;
            discarded(first, sdu);
            any_discarded = true;
        }
        let head = self.queue.front().filter(|_| self.head_sent > 0);
        if head.is_some_and(|head| is_discarded(self.head_first, head)) {
            let first = self.head_first;
            discarded(first, self.pop().expect("the condition found an SDU"));
            any_discarded = true;
        }
        any_discarded
    }

    /// Discards the SDUs without a sent part that entered at `entered` or before.
    pub fn discard_unsent(&mut self, entered: Time, mut discarded: impl FnMut(Sdu)) {
        while self.head_sent == 0 && self.queue.front().is_some_and(|head| head.entered <= entered) {
            discarded(self.pop().expect("the loop condition found an SDU"));
        }
    }

    /// Discards all SDUs without a sent part.
    pub fn discard_all_unsent(&mut self, mut discarded: impl FnMut(Sdu)) {
        let started = usize::from(self.head_sent > 0);
        for sdu in self.queue.drain(started..) {
            self.octets -= sdu.size().0;
            discarded(sdu);
        }
        self.update_head();
    }

    /// Removes the first SDU, which must not have a sent part, at `now`.
    pub fn take_whole(&mut self, now: Time) -> Option<Sdu> {
        debug_assert!(self.head_sent == 0, "transparent mode never sends parts of SDUs in this way");
        self.pop_sent(now)
    }

    /// Time at which the oldest SDU entered the buffer.
    pub fn oldest(&self) -> Option<Time> {
        let pending = self.pending_end.as_deref().map(|pending| pending.sdu.entered);
        pending.or_else(|| self.queue.front().map(|head| head.entered))
    }

    /// Appends the SDUs in order. `retransmissions`: number of blocks of the first SDU that must be
    /// retransmitted.
    pub fn waiting_sdus(
        &self,
        mut counter: BlockCounter,
        mut retransmissions: u32,
        into: &mut Vec<WaitingSdu>,
    ) {
        if let Some(PendingEnd { sdu, .. }) = self.pending_end.as_deref() {
            let blocks = counter.open_for_end() + std::mem::take(&mut retransmissions);
            into.push(WaitingSdu { entered: sdu.entered, size: sdu.size(), blocks });
        }
        for (sdu, sent) in self.with_sent_octets() {
            let blocks = counter.blocks(sdu.size().0 - sent, sent > 0) + std::mem::take(&mut retransmissions);
            into.push(WaitingSdu { entered: sdu.entered, size: sdu.size(), blocks });
        }
    }

    /// The SDUs in the queue, each with the number of its octets that are already in PDUs.
    fn with_sent_octets(&self) -> impl Iterator<Item = (&Sdu, u64)> {
        let sent = std::iter::once(self.head_sent).chain(std::iter::repeat(0));
        self.queue.iter().zip(sent)
    }

    /// Size of the first SDU.
    pub fn head_octets(&self) -> Option<u64> {
        self.queue.front().map(|head| head.size().0)
    }

    /// First PDU of the oldest SDU in the buffer. `None` if that SDU is not started.
    pub fn first_pdu_of_head(&self) -> Option<u64> {
        if let Some(pending) = self.pending_end.as_deref() {
            return Some(pending.first);
        }
        (self.head_sent > 0).then_some(self.head_first)
    }
}
