//! The transmission buffer: waiting SDUs, and their segmentation into PDUs (TS 25.322 §9.2.2.8 to
//! §9.2.2.10).
//!
//! ```text
//!   payload of a PDU:  | LI of each SDU that ends here | … end of one SDU | whole SDUs … | start of the next | padding |
//! ```
//!
//! Only the room of fields is modelled: a length indicator for each end inside the PDU (or in the
//! next PDU, if there is no room for it), and padding. [`Cutting`] holds the rules.
//! `octets::Composer`, which writes the octets, uses the same rules.

use std::collections::VecDeque;

use umts_units::Time;

use super::am::LengthIndicators;
use super::backlog::{Cut, WaitingSdu};
use super::{BlockSet, Sdu, SduEnd, Sn};

/// Rules for the segmentation of SDUs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cutting {
    /// Octets of a PDU after its header.
    pub payload: u16,
    /// Octets of a length indicator with its extension bit.
    pub length_indicator: u16,
    pub rule: LengthIndicators,
    /// UM: a length indicator marks an SDU that begins with the first data octet of a PDU, unless
    /// the PDU has the length indicator for the end of the previous SDU (TS 25.322 §9.2.2.8).
    pub marks_start: bool,
}

/// Relation between the rest of an SDU and the room in a PDU (TS 25.322 §9.2.2.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The SDU continues in the next PDU.
    Goes,
    /// The SDU ends inside, with a length indicator in this PDU.
    Ends,
    /// The SDU ends with the PDU. The next PDU indicates this (0).
    Fills,
    /// The SDU ends one octet before the end of the PDU, which leaves no room for an indicator of
    /// two octets. The next PDU indicates this (0x7FFB).
    OneShort,
}

impl Cutting {
    /// PDUs of `payload` octets with nothing but SDU octets (transparent mode).
    pub fn without_indicators(payload: u16) -> Self {
        Cutting { payload, length_indicator: 0, rule: LengthIndicators::Eurane, marks_start: false }
    }

    /// Compares `left` octets of an SDU with `room`.
    #[inline]
    pub fn fit(&self, left: u64, room: u16) -> Fit {
        let (li, room) = (u64::from(self.length_indicator), u64::from(room));
        match left {
            _ if left > room => Fit::Goes,
            _ if left + li <= room => Fit::Ends,
            _ if left == room => Fit::Fills,
            _ => Fit::OneShort,
        }
    }

    /// Whether `room` after the end of an SDU can be used. A single octet stays unused with
    /// indicators of two octets, without any indication (§9.2.2.8).
    #[inline]
    pub fn takes_more(&self, room: u16) -> bool {
        room >= self.length_indicator
    }

    /// Whether the first `left` octets of an SDU may follow the parts of `parts` SDUs in a PDU with this `room`.
    #[inline]
    pub fn may_concatenate(&self, parts: u32, room: u16, left: u64) -> bool {
        match self.rule {
            LengthIndicators::Ts25322 => self.takes_more(room),
            LengthIndicators::Eurane => parts < 2 && room >= 3 && left > u64::from(room),
        }
    }

    /// Number of PDUs for `octets` octets of SDUs and this number of length indicators. Exact in
    /// acknowledged mode for indicators of one octet by TS 25.322, otherwise a lower bound. An
    /// indicator of two octets can leave one octet of a PDU unused. Unacknowledged mode can mark
    /// further starts. The indicators of EURANE are not counted, because only ends inside a PDU
    /// have one.
    #[inline]
    pub fn pdus(&self, octets: u64, indicators: u64) -> u64 {
        let indicators = match self.rule {
            LengthIndicators::Ts25322 => indicators * u64::from(self.length_indicator),
            LengthIndicators::Eurane => 0,
        };
        (octets + indicators).div_ceil(u64::from(self.payload))
    }
}

/// Contents of a filled PDU.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Composed {
    /// Number of SDUs whose last octet is in the PDU.
    pub finished: u32,
    /// Unused octets.
    pub padding: u16,
}

/// SDUs that are not completely in PDUs.
#[derive(Debug, Clone)]
pub(super) struct Buffer {
    /// Octets of the first SDU that are not in PDUs yet. 0 if the SDU may not be started. Stored
    /// because every TTI reads it.
    head_left: u64,
    /// Whether there is a first SDU that was started or may be started.
    has_head: bool,
    /// An SDU that filled its last PDU exactly, and its first PDU. The next PDU indicates its end.
    /// Rare, therefore boxed.
    untold_end: Option<Box<(u64, Sdu)>>,
    /// Octets of the first SDU that are already in PDUs, and its first PDU.
    head_sent: u64,
    head_first: u64,
    /// Number of SDUs that may still be started.
    may_begin: u64,
    queue: VecDeque<Sdu>,
    /// Octets of the SDUs in the queue.
    octets: u64,
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer {
            head_left: 0,
            has_head: false,
            untold_end: None,
            head_sent: 0,
            head_first: 0,
            may_begin: u64::MAX,
            queue: VecDeque::new(),
            octets: 0,
        }
    }
}

impl Buffer {
    /// Starts at most `sdus` further SDUs. SDUs that were started continue.
    pub fn limit(&mut self, sdus: u64) {
        self.may_begin = sdus;
        self.look_at_head();
    }

    /// Updates the fields of the first SDU.
    #[inline]
    fn look_at_head(&mut self) {
        let may_go_on = self.head_sent > 0 || self.may_begin > 0;
        let head = self.queue.front().filter(|_| may_go_on);
        self.has_head = head.is_some();
        self.head_left = head.map_or(0, |head| head.size().0 - self.head_sent);
    }

    /// Number of SDUs that are not completely indicated in PDUs.
    pub fn sdus(&self) -> usize {
        self.queue.len() + usize::from(self.untold_end.is_some())
    }

    pub fn push(&mut self, sdu: &Sdu) {
        self.octets += sdu.size().0;
        self.queue.push_back(*sdu);
        if self.queue.len() == 1 {
            self.look_at_head();
        }
    }

    /// Removes the first SDU, whatever part of it was sent.
    #[inline]
    fn pop(&mut self) -> Option<Sdu> {
        let sdu = self.queue.pop_front()?;
        self.octets -= sdu.size().0;
        self.head_sent = 0;
        self.look_at_head();
        Some(sdu)
    }

    /// Octets of the SDUs in the queue.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Octets that are not in PDUs yet.
    pub fn unsent_octets(&self) -> u64 {
        self.octets - self.head_sent
    }

    /// Whether nothing may be put into a PDU.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !(self.has_head | self.untold_end.is_some())
    }

    /// Whether the next PDU marks the start of an SDU with its first data octet.
    #[inline]
    pub fn marks_start(&self, cutting: &Cutting) -> bool {
        cutting.marks_start && self.head_sent == 0 && self.untold_end.is_none()
    }

    /// Number of PDUs, at most `most`, that can be filled with nothing but the middle of the first
    /// SDU.
    #[inline]
    pub fn full_pdus(&self, cutting: &Cutting, most: u32) -> u32 {
        if self.untold_end.is_some() || self.marks_start(cutting) {
            return 0;
        }
        // A PDU that the SDU fills to its end is not counted, because `compose` must record the
        // end. Usually the SDU is long enough for all PDUs, which saves the division.
        let payload = u64::from(cutting.payload);
        if self.head_left > u64::from(most) * payload {
            return most;
        }
        (self.head_left.saturating_sub(1) / payload) as u32
    }

    /// Takes `pdus` full PDUs. The first one has number `count`.
    #[inline]
    pub fn take_full(&mut self, cutting: &Cutting, count: u64, pdus: u32) {
        self.begin_head(count);
        self.take_octets(u64::from(pdus) * u64::from(cutting.payload));
    }

    /// Moves `octets` further octets of the first SDU into PDUs.
    #[inline]
    fn take_octets(&mut self, octets: u64) {
        self.head_sent += octets;
        self.head_left -= octets;
    }

    /// Notes that the first SDU starts in PDU `count`, if it was not started before.
    #[inline]
    fn begin_head(&mut self, count: u64) {
        if self.head_sent == 0 {
            self.head_first = count;
            self.may_begin -= 1;
        }
    }

    /// Fills PDU `count` with up to `room` octets of length indicators and data.
    pub fn compose(&mut self, cutting: &Cutting, count: u64, mut room: u16, set: &mut BlockSet) -> Composed {
        let li = cutting.length_indicator;
        if let Some(untold) = self.untold_end.take() {
            let (first, sdu) = *untold;
            room -= li;
            set.ends.push(SduEnd { first: Sn::of(first), sn: Sn::of(count), sdu });
        } else if self.marks_start(cutting) {
            room -= li;
        }
        let before = self.queue.len();
        let mut parts = 0;
        while room > 0 && self.has_head {
            if parts > 0 && !cutting.may_concatenate(parts, room, self.head_left) {
                break;
            }
            parts += 1;
            room = self.take_part(cutting, count, room, set);
        }
        Composed { finished: (before - self.queue.len()) as u32, padding: room }
    }

    /// Puts the part of the first SDU that fits into the PDU. Returns the remaining room.
    fn take_part(&mut self, cutting: &Cutting, count: u64, room: u16, set: &mut BlockSet) -> u16 {
        let left = self.head_left;
        self.begin_head(count);
        let fit = cutting.fit(left, room);
        if fit == Fit::Goes {
            self.take_octets(u64::from(room));
            return 0;
        }
        let ends_inside = fit == Fit::Ends;
        let sdu = self.queue.front().expect("the queue is not empty");
        if ends_inside || cutting.rule == LengthIndicators::Eurane {
            set.ends.push(SduEnd { first: Sn::of(self.head_first), sn: Sn::of(count), sdu: *sdu });
        } else {
            self.untold_end = Some(Box::new((self.head_first, *sdu)));
        }
        self.pop();
        if ends_inside { room - cutting.length_indicator - left as u16 } else { 0 }
    }

    /// Padding of a PDU with the rest of the buffer. `None` if the rest does not fit into one PDU.
    pub fn padding_of_last_pdu(&self, cutting: &Cutting) -> Option<u16> {
        let li = u64::from(cutting.length_indicator);
        let untold = if self.untold_end.is_some() { li } else { 0 };
        let mut used = untold;
        for (index, sdu) in self.queue.iter().enumerate() {
            used += li + sdu.size().0 - if index == 0 { self.head_sent } else { 0 };
            if used > u64::from(cutting.payload) {
                return None;
            }
        }
        Some(cutting.payload - used as u16)
    }

    /// Number of PDUs that the rest of a partly sent first SDU would take alone. 0 if nothing of it
    /// was sent.
    pub fn pdus_of_rest(&self, cutting: &Cutting) -> u64 {
        if self.head_sent == 0 { 0 } else { self.head_left.div_ceil(u64::from(cutting.payload)) }
    }

    /// Discards the partly sent first SDU and the SDU without an indicated end, if `lost` returns
    /// true. `lost` receives the first PDU of the SDU. Returns whether an SDU was discarded.
    pub fn discard_started(
        &mut self,
        lost: impl Fn(u64, &Sdu) -> bool,
        mut given_up: impl FnMut(Sdu),
    ) -> bool {
        let mut any = false;
        if let Some((first, sdu)) = self.untold_end.as_deref().copied()
            && lost(first, &sdu)
        {
            self.untold_end = None;
            given_up(sdu);
            any = true;
        }
        let head = self.queue.front().filter(|_| self.head_sent > 0);
        if head.is_some_and(|head| lost(self.head_first, head)) {
            given_up(self.pop().expect("a part of it was sent"));
            any = true;
        }
        any
    }

    /// Discards the SDUs of which nothing was sent and that entered at `entered` or before.
    pub fn discard_unsent(&mut self, entered: Time, mut given_up: impl FnMut(Sdu)) {
        while self.head_sent == 0 && self.queue.front().is_some_and(|head| head.entered <= entered) {
            given_up(self.pop().expect("it was looked at"));
        }
    }

    /// Discards all SDUs of which nothing was sent.
    pub fn discard_all_unsent(&mut self, mut given_up: impl FnMut(Sdu)) {
        let begun = usize::from(self.head_sent > 0);
        for sdu in self.queue.drain(begun..) {
            self.octets -= sdu.size().0;
            given_up(sdu);
        }
        self.look_at_head();
    }

    /// Removes the first SDU. Nothing of it may have been sent.
    pub fn take_whole(&mut self) -> Option<Sdu> {
        debug_assert!(self.head_sent == 0, "whole SDUs and parts are not mixed");
        self.pop()
    }

    /// Arrival of the oldest SDU.
    pub fn oldest(&self) -> Option<Time> {
        let untold = self.untold_end.as_deref().map(|(_, sdu)| sdu.entered);
        untold.or_else(|| self.queue.front().map(|head| head.entered))
    }

    /// Appends the SDUs in order. `again` blocks of the first one are to be retransmitted.
    pub fn waiting_sdus(&self, mut cut: Cut, mut again: u32, into: &mut Vec<WaitingSdu>) {
        if let Some((_, sdu)) = self.untold_end.as_deref() {
            let blocks = cut.open_for_end() + std::mem::take(&mut again);
            into.push(WaitingSdu { entered: sdu.entered, size: sdu.size(), blocks });
        }
        let sent = std::iter::once(self.head_sent).chain(std::iter::repeat(0));
        for (sdu, sent) in self.queue.iter().zip(sent) {
            let blocks = cut.blocks(sdu.size().0 - sent, sent > 0) + std::mem::take(&mut again);
            into.push(WaitingSdu { entered: sdu.entered, size: sdu.size(), blocks });
        }
    }

    /// Size of the first SDU.
    pub fn head_octets(&self) -> Option<u64> {
        self.queue.front().map(|head| head.size().0)
    }

    /// First PDU of the first waiting SDU. `None` if it was not started.
    pub fn head_began_in(&self) -> Option<u64> {
        if let Some((first, _)) = self.untold_end.as_deref().copied() {
            return Some(first);
        }
        (self.head_sent > 0).then_some(self.head_first)
    }
}
