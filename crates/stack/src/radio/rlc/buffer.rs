//! The transmission buffer of an RLC entity: SDUs that wait, in order, and their segmentation into PDUs
//! (TS 25.322 §9.2.2.8 to §9.2.2.10). PDUs are identified by their *count*, which does not wrap around.
//!
//! ```text
//!   payload of a PDU:  | LI of each SDU that ends here | … end of one SDU | whole SDUs … | start of the next | padding |
//! ```
//!
//! Only the sizes are modelled: octets of SDUs, a length indicator (LI) for each end of an SDU (in
//! the next PDU if this one has no room for it), and padding. [`SegmentationRules`] has the rules,
//! which `octets::Composer` also uses to build the octets.

use std::collections::VecDeque;

use umts_units::Time;

use super::am::LengthIndicators;
use super::backlog::{BlockCounter, WaitingSdu};
use super::managed_sdus::ManagedSdus;
use super::{BlockSet, Sdu, SduEnd, Sn};

/// Rules for the segmentation of SDUs.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentationRules {
    /// Octets of a PDU after its header.
    pub payload: u16,
    /// Octets of a length indicator with its extension bit.
    pub length_indicator: u16,
    pub indicator_rule: LengthIndicators,
    /// UM: a length indicator marks an SDU that begins with the first data octet of a PDU, unless
    /// the PDU has the length indicator for the end of the previous SDU (TS 25.322 §9.2.2.8).
    pub marks_start: bool,
    /// PDUs have the size of their content, up to `payload`. They contain data of one SDU, and their
    /// header indicates its end.
    pub is_flexible: bool,
}

/// How the rest of an SDU fits into the free octets of a PDU (TS 25.322 §9.2.2.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The SDU continues in the next PDU.
    Continues,
    /// The SDU ends in this PDU, which also has its length indicator.
    Ends,
    /// The SDU fills the PDU exactly. The next PDU indicates its end, with LI 0.
    Fills,
    /// The SDU ends one octet before the end of the PDU, which leaves no room for an indicator of
    /// two octets. The next PDU indicates its end, with LI 0x7FFB.
    OneShort,
}

impl SegmentationRules {
    /// PDUs of `payload` octets that contain only SDU octets (transparent mode).
    pub fn without_indicators(payload: u16) -> Self {
        SegmentationRules {
            payload,
            length_indicator: 0,
            indicator_rule: LengthIndicators::Eurane,
            marks_start: false,
            is_flexible: false,
        }
    }

    /// PDUs of flexible size with at most `payload` octets of data.
    pub fn flexible(payload: u16) -> Self {
        SegmentationRules {
            payload,
            length_indicator: 0,
            indicator_rule: LengthIndicators::Ts25322,
            marks_start: false,
            is_flexible: true,
        }
    }

    /// Compares the remaining `left` octets of an SDU with the `room` free octets of a PDU.
    #[inline]
    pub fn fit(&self, left: u64, room: u16) -> Fit {
        let (li, room) = (u64::from(self.length_indicator), u64::from(room));
        match left {
            _ if left > room => Fit::Continues,
            _ if left + li <= room => Fit::Ends,
            _ if left == room => Fit::Fills,
            _ => Fit::OneShort,
        }
    }

    /// Whether a further SDU may start in the `room` octets after the end of an SDU. With indicators
    /// of two octets a single remaining octet stays unused, and no indicator shows this (§9.2.2.8).
    #[inline]
    pub fn may_start_another(&self, room: u16) -> bool {
        !self.is_flexible && room >= self.length_indicator
    }

    /// Whether another SDU of `left` octets may start in a PDU that has parts of `parts` SDUs and
    /// `room` free octets.
    #[inline]
    pub fn may_concatenate(&self, parts: u32, room: u16, left: u64) -> bool {
        match self.indicator_rule {
            LengthIndicators::Ts25322 => self.may_start_another(room),
            LengthIndicators::Eurane => parts < 2 && room >= 3 && left > u64::from(room),
        }
    }

    /// Number of PDUs for `octets` octets of SDUs and this number of length indicators.
    ///
    /// Exact in acknowledged mode with indicators of one octet according to TS 25.322. Otherwise a
    /// lower bound, for four reasons. PDUs of flexible size are not filled if an SDU ends in them. An indicator of two octets can leave one octet of a PDU
    /// unused. Unacknowledged mode can need further indicators for starts of SDUs. The indicators
    /// of EURANE are not counted, because only ends inside a PDU have one.
    #[inline]
    pub fn pdus(&self, octets: u64, indicators: u64) -> u64 {
        if self.is_flexible {
            return octets.div_ceil(u64::from(self.payload)).max(indicators);
        }
        let indicators = match self.indicator_rule {
            LengthIndicators::Ts25322 => indicators * u64::from(self.length_indicator),
            LengthIndicators::Eurane => 0,
        };
        (octets + indicators).div_ceil(u64::from(self.payload))
    }
}

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
    /// Octets of the first SDU that are not in PDUs yet. 0 if the SDU may not be started. This
    /// value follows from the queue. It is stored because it is read in every TTI.
    head_left: u64,
    /// Whether there is a first SDU, and it was started or may be started.
    has_head: bool,
    /// An SDU with an end that the next PDU must indicate. Rare, therefore boxed.
    pending_end: Option<Box<PendingEnd>>,
    /// Octets of the first SDU that are already in PDUs.
    head_sent: u64,
    /// The PDU in which the first SDU starts, if it was started.
    head_first: u64,
    /// Number of SDUs that may still be started.
    startable_sdus: u64,
    queue: VecDeque<Sdu>,
    /// Octets of the SDUs in the queue.
    octets: u64,
    /// Queue management. Decides about an SDU when the previous one is completely in PDUs.
    pub(super) managed: Option<Box<ManagedSdus>>,
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer {
            head_left: 0,
            has_head: false,
            pending_end: None,
            head_sent: 0,
            head_first: 0,
            startable_sdus: u64::MAX,
            queue: VecDeque::new(),
            octets: 0,
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
        let li = rules.length_indicator;
        if let Some(pending_end) = self.pending_end.take() {
            let PendingEnd { first, sdu } = *pending_end;
            room -= li;
            set.ends.push(SduEnd { first: Sn::of(first), sn: Sn::of(count), sdu });
        } else if self.marks_start(rules) {
            room -= li;
        }
        let sdus_before = self.queue.len();
        let discarded_before = self.discarded();
        let mut parts = 0;
        while room > 0 && self.has_head {
            if parts > 0 && !rules.may_concatenate(parts, room, self.head_left) {
                break;
            }
            parts += 1;
            room = self.take_part(now, rules, count, room, set);
        }
        let removed = sdus_before - self.queue.len();
        PduContents { finished: (removed - (self.discarded() - discarded_before)) as u32, padding: room }
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
        let sdu = self.queue.front().expect("the queue is not empty");
        if ends_inside || rules.indicator_rule == LengthIndicators::Eurane {
            set.ends.push(SduEnd { first: Sn::of(self.head_first), sn: Sn::of(count), sdu: *sdu });
        } else {
            self.pending_end = Some(Box::new(PendingEnd { first: self.head_first, sdu: *sdu }));
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
        let li = u64::from(rules.length_indicator);
        let mut used = if self.pending_end.is_some() { li } else { 0 };
        for (index, sdu) in self.queue.iter().enumerate() {
            used += li + sdu.size().0 - if index == 0 { self.head_sent } else { 0 };
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
        let sent = std::iter::once(self.head_sent).chain(std::iter::repeat(0));
        for (sdu, sent) in self.queue.iter().zip(sent) {
            let blocks = counter.blocks(sdu.size().0 - sent, sent > 0) + std::mem::take(&mut retransmissions);
            into.push(WaitingSdu { entered: sdu.entered, size: sdu.size(), blocks });
        }
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
