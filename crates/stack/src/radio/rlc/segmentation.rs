//! Rules for the segmentation of SDUs into PDUs: the room that length indicators take, and the SDUs
//! that share a PDU (TS 25.322 §9.2.2.8 to §9.2.2.10; EURANE). The transmission buffer and
//! `octets::Composer` segment by these rules, and `BlockCounter` predicts the result.

use super::am::LengthIndicators;

/// EURANE: a second SDU starts in a PDU only if at least this number of octets is free.
const EURANE_MIN_ROOM: u16 = 3;

/// EURANE: maximum number of SDUs with a part in a PDU.
const EURANE_MAX_PARTS: u32 = 2;

/// Rules for the segmentation of SDUs.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentationRules {
    /// Octets of a PDU after its header.
    pub payload: u16,
    /// Octets of a length indicator with its extension bit.
    pub length_indicator: u16,
    /// Ends of SDUs that have a length indicator.
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
            LengthIndicators::Eurane => {
                let fits_completely = left <= u64::from(room);
                parts < EURANE_MAX_PARTS && room >= EURANE_MIN_ROOM && !fits_completely
            }
        }
    }

    /// Number of PDUs for `octets` octets of SDUs and this number of length indicators.
    ///
    /// Exact in acknowledged mode with indicators of one octet according to TS 25.322. Otherwise a
    /// lower bound, for four reasons:
    ///
    /// - PDUs of flexible size are not filled if an SDU ends in them.
    /// - An indicator of two octets can leave one octet of a PDU unused.
    /// - Unacknowledged mode can need further indicators for starts of SDUs.
    /// - The indicators of EURANE are not counted, because only ends inside a PDU have one.
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
