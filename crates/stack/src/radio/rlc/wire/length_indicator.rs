//! Length indicators: TS 25.322 §9.2.2.8. They are between the fixed header and the data, each
//! followed by a bit E: 1 before another indicator, 0 before data.
//!
//! An ordinary length indicator is the offset of the end of an SDU in this PDU. It counts the octets
//! from the start of the data, so offsets are cumulative. An AMD PDU with 7-bit indicators, in which
//! two SDUs end and one begins:
//!
//! ```text
//!    1 bit  12 bits  1   2      7   1    7   1
//!   ┌─────┬────────┬───┬────┬─────┬───┬─────┬───┬──────────────┬──────────────────┬──────────────────────┐
//!   │ D/C │   SN   │ P │ HE │ LI  │ E │ LI  │ E │ end of SDU a │    SDU b         │ beginning of SDU c … │
//!   │  1  │        │   │ 01 │ 11  │ 1 │ 29  │ 0 │  11 octets   │    18 octets     │   to the end         │
//!   └─────┴────────┴───┴────┴─────┴───┴─────┴───┴──────────────┴──────────────────┴──────────────────────┘
//!                                                ╰──── 11 ────╯
//!                                                ╰───────────── 29 ──────────────╯
//! ```
//!
//! If an SDU fills a PDU exactly, there is no room for an indicator. The first indicator of the
//! *next* PDU shows the end:
//!
//! ```text
//!   ┌────────┬───────────────────────────────┐   ┌────────┬──────┬────────────────────────────────────┐
//!   │ header │ last 40 octets of SDU a       │   │ header │ LI 0 │ first 39 octets of SDU b           │
//!   └────────┴───────────────────────────────┘   └────────┴──────┴────────────────────────────────────┘
//! ```
//!
//! With 15-bit indicators one octet may remain at the end of a PDU, too few for an indicator. The
//! receiver ignores it. If the end of the SDU before it has no indicator, the next PDU indicates
//! both with 0x7FFB (first figure). Otherwise the indicated end implies it (second figure).
//!
//! ```text
//!   ┌────────┬──────────────────────┬───┐        ┌────────┬────────┬──────────────────────────────────┐
//!   │ header │ last octets of SDU a │ ╳ │        │ header │ 0x7FFB │ SDU b …                          │
//!   └────────┴──────────────────────┴───┘        └────────┴────────┴──────────────────────────────────┘
//!   ┌────────┬─────┬────────────────────┬───┐    ┌────────┬───────────────────────────────────────────┐
//!   │ header │ LI  │ last octets of a   │ ╳ │    │ header │ SDU b …                                   │
//!   └────────┴─────┴────────────────────┴───┘    └────────┴───────────────────────────────────────────┘
//! ```
//!
//! Padding and a piggybacked STATUS take the rest of a PDU after the last SDU that ends in the PDU:
//!
//! ```text
//!   ┌────────┬───────┬─────────┬──────────────────────┬───────────────────────────────────────────────┐
//!   │ header │ LI 20 │ LI 0x7F │ last 20 octets of a  │ padding (any content)                         │
//!   └────────┴───────┴─────────┴──────────────────────┴───────────────────────────────────────────────┘
//!   ┌────────┬───────┬─────────┬──────────────────────┬─────────────────────────────┬─────────────────┐
//!   │ header │ LI 20 │ LI 0x7E │ last 20 octets of a  │ R2, type, SUFIs             │ padding         │
//!   └────────┴───────┴─────────┴──────────────────────┴─────────────────────────────┴─────────────────┘
//! ```

use super::error::Rule;

/// Width of length indicators, fixed for each entity and direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiWidth {
    /// 7 bits, one octet with E.
    Seven,
    /// 15 bits, two octets with E.
    Fifteen,
}

impl LiWidth {
    /// Width for AMD PDUs of at most `octets` octets: 7 bits up to 126.
    pub fn of_amd(octets: usize) -> Self {
        if octets <= 126 { LiWidth::Seven } else { LiWidth::Fifteen }
    }

    /// Width for UMD PDUs of at most `octets` octets: 7 bits up to 125.
    pub fn of_umd(octets: usize) -> Self {
        if octets <= 125 { LiWidth::Seven } else { LiWidth::Fifteen }
    }

    /// Bits without E.
    pub fn bits(self) -> u32 {
        match self {
            LiWidth::Seven => 7,
            LiWidth::Fifteen => 15,
        }
    }

    /// Octets with E.
    pub fn octets(self) -> usize {
        match self {
            LiWidth::Seven => 1,
            LiWidth::Fifteen => 2,
        }
    }

    /// The value with all bits set, which means padding. The other special values are the next
    /// smaller ones.
    fn ones(self) -> u16 {
        (1 << self.bits()) - 1
    }

    /// Maximum offset of an indicator.
    pub fn last_offset(self) -> u16 {
        match self {
            LiWidth::Seven => 0x7B,
            LiWidth::Fifteen => 0x7FF9,
        }
    }
}

/// Meaning of a length indicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthIndicator {
    /// 0: an SDU filled the previous PDU exactly, and its end has no indicator there.
    PreviousFilled,
    /// 0x7FFB: an SDU ended one octet before the end of the previous PDU, and its end has no
    /// indicator there.
    PreviousOneShort,
    /// 0x7C, 0x7FFC (UM): an SDU starts with the first data octet.
    StartsHere,
    /// 0x7D, 0x7FFD (UM, alternative E-bit): the data is one whole SDU.
    WholeSdu,
    /// 0x7FFA (UM, alternative E-bit): the data except the last octet is one whole SDU.
    WholeSduOneShort,
    /// 0x7E, 0x7FFE (UM, alternative E-bit): the data is the middle of an SDU.
    Middle,
    /// An SDU ends after this many octets of data.
    End(u16),
    /// 0x7E, 0x7FFE (AM): the rest of the PDU is a STATUS.
    PiggybackedStatus,
    /// 0x7F, 0x7FFF: the rest is padding.
    Padding,
}

/// RLC mode. Some values have a meaning in one mode only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Am,
    Um { alternative_e_bit: bool },
}

impl LengthIndicator {
    /// Meaning of `value`.
    pub(super) fn decode(value: u16, width: LiWidth, mode: Mode) -> Result<Self, Rule> {
        use LengthIndicator as Li;
        let fifteen = width == LiWidth::Fifteen;
        let li = match width.ones() - value {
            _ if value == 0 => Li::PreviousFilled,
            0 => Li::Padding,
            1 if mode == Mode::Am => Li::PiggybackedStatus,
            1 => Li::Middle,
            2 => Li::WholeSdu,
            3 => Li::StartsHere,
            4 if fifteen => Li::PreviousOneShort,
            5 if fifteen => Li::WholeSduOneShort,
            _ => Li::End(value),
        };
        if li.has_meaning(width, mode) { Ok(li) } else { Err(Rule::ReservedLengthIndicator) }
    }

    /// Whether this indicator exists in `mode` with `width`.
    pub(super) fn has_meaning(self, width: LiWidth, mode: Mode) -> bool {
        use LengthIndicator as Li;
        match self {
            Li::PreviousFilled | Li::Padding => true,
            Li::PreviousOneShort => width == LiWidth::Fifteen,
            Li::StartsHere => mode != Mode::Am,
            Li::WholeSdu | Li::Middle => mode == Mode::Um { alternative_e_bit: true },
            Li::WholeSduOneShort => width == LiWidth::Fifteen && mode == Mode::Um { alternative_e_bit: true },
            Li::PiggybackedStatus => mode == Mode::Am,
            Li::End(offset) => (1..=width.last_offset()).contains(&offset),
        }
    }

    /// Value of the field.
    pub(super) fn encode(self, width: LiWidth) -> u16 {
        use LengthIndicator as Li;
        match self {
            Li::PreviousFilled => 0,
            Li::End(offset) => offset,
            Li::Padding => width.ones(),
            Li::PiggybackedStatus | Li::Middle => width.ones() - 1,
            Li::WholeSdu => width.ones() - 2,
            Li::StartsHere => width.ones() - 3,
            Li::PreviousOneShort => width.ones() - 4,
            Li::WholeSduOneShort => width.ones() - 5,
        }
    }

    /// Whether it must be the first indicator: it describes the previous PDU, the start of the data,
    /// or the whole PDU.
    pub(super) fn is_leading(self) -> bool {
        use LengthIndicator as Li;
        matches!(self, Li::PreviousFilled | Li::PreviousOneShort | Li::StartsHere) || self.is_alone()
    }

    /// Whether it must be the only indicator, because it describes the whole PDU.
    pub(super) fn is_alone(self) -> bool {
        use LengthIndicator as Li;
        matches!(self, Li::WholeSdu | Li::WholeSduOneShort | Li::Middle)
    }

    /// Whether it must be the last indicator, because it describes the rest of the PDU.
    pub(super) fn is_trailing(self) -> bool {
        matches!(self, LengthIndicator::PiggybackedStatus | LengthIndicator::Padding)
    }
}
