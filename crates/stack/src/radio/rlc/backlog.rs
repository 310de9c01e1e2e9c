//! Data that an RLC entity could send now, for the schedulers of the MAC: octets and PDUs of the
//! whole entity ([`Backlog`]), or of each SDU that waits ([`WaitingSdu`]). A PDU takes one block.

#[cfg(test)]
mod tests;

use umts_units::{Bytes, Time};

use super::am::LengthIndicators;
use super::segmentation::{Fit, SegmentationRules};

/// New data and retransmissions that an entity has to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Octets of SDUs with an unsent part, and of PDUs to retransmit.
    pub octets: Bytes,
    /// When the oldest of these SDUs entered the buffer. `None` if `octets` is 0: the entity may
    /// still have control PDUs to send.
    pub since: Option<Time>,
    /// Data PDUs that the window allows now, including the room for length indicators.
    pub pdus: u32,
    /// Number of SDUs with an unsent part. At least 1 if PDUs are to be retransmitted.
    pub sdus: u32,
}

/// An SDU that is not completely sent or must be retransmitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingSdu {
    /// When the SDU entered RLC.
    pub entered: Time,
    pub size: Bytes,
    /// Blocks of the SDU to send or retransmit. A block that two SDUs share counts for the first
    /// one.
    pub blocks: u32,
}

/// Counts the blocks of successive SDUs before they are sent. It segments them as
/// [`Buffer::compose`] does, and keeps the free octets of the PDU in which the last SDU ended,
/// because the next SDU may start there.
///
/// [`Buffer::compose`]: super::buffer::Buffer::compose
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockCounter {
    rules: SegmentationRules,
    /// SDUs do not share PDUs (transparent mode, PDUs of flexible size).
    one_sdu_per_pdu: bool,
    /// Free octets of the PDU being filled. 0 if no PDU is being filled.
    room: u16,
    /// Number of SDUs with a part in that PDU.
    parts: u32,
}

impl BlockCounter {
    /// For unacknowledged or acknowledged mode.
    pub fn new(rules: SegmentationRules) -> Self {
        BlockCounter { rules, one_sdu_per_pdu: rules.is_flexible, room: 0, parts: 0 }
    }

    /// For PDUs of `payload` octets without length indicators, which contain octets of only one SDU.
    pub fn one_sdu_per_pdu(payload: u16) -> Self {
        BlockCounter {
            one_sdu_per_pdu: true,
            ..BlockCounter::new(SegmentationRules::without_indicators(payload))
        }
    }

    /// Adds the last `octets` octets of an SDU. Returns the number of PDUs that begin with a part
    /// of it, including a PDU with only the length indicator of its end. `is_started`: earlier
    /// octets of the SDU were sent.
    pub fn blocks(&mut self, octets: u64, is_started: bool) -> u32 {
        let mut opened = 0;
        let mut octets_left = octets;
        let mut marks_start = self.rules.marks_start && !is_started;
        let fit_of_last_part = loop {
            if !self.has_room(octets_left) {
                opened += 1;
                self.open(if marks_start { self.rules.length_indicator } else { 0 });
            }
            marks_start = false;
            self.parts += 1;
            let fit = self.rules.fit(octets_left, self.room);
            if fit != Fit::Continues {
                break fit;
            }
            octets_left -= u64::from(self.room);
            self.room = 0;
            // PDUs that contain only the middle of the SDU. At least one octet remains for its end.
            let full = (octets_left - 1) / u64::from(self.rules.payload);
            opened += full;
            octets_left -= full * u64::from(self.rules.payload);
        };
        opened += self.end_sdu(fit_of_last_part, octets_left);
        u32::try_from(opened).unwrap_or(u32::MAX)
    }

    /// Ends an SDU whose last `octets` octets are in the open PDU. Returns the number of PDUs opened
    /// for its length indicator.
    fn end_sdu(&mut self, fit: Fit, octets: u64) -> u64 {
        let ends_inside = fit == Fit::Ends;
        let needs_indicator = self.rules.indicator_rule == LengthIndicators::Ts25322;
        self.room = if ends_inside { self.room - self.rules.length_indicator - octets as u16 } else { 0 };
        let opened = if !ends_inside && needs_indicator { self.open_for_end() } else { 0 };
        if self.one_sdu_per_pdu {
            self.room = 0;
        }
        u64::from(opened)
    }

    /// Opens a PDU that begins with the length indicator of an SDU that ended in the previous PDU.
    /// Returns 1, the number of PDUs opened.
    pub fn open_for_end(&mut self) -> u32 {
        self.open(self.rules.length_indicator);
        1
    }

    /// Opens a PDU that begins with `indicators` octets of length indicators.
    fn open(&mut self, indicators: u16) {
        self.room = self.rules.payload - indicators;
        self.parts = 0;
    }

    /// Whether the next part of an SDU with `octets_left` octets may be in the open PDU.
    fn has_room(&self, octets_left: u64) -> bool {
        self.room > 0 && (self.parts == 0 || self.rules.may_concatenate(self.parts, self.room, octets_left))
    }
}
