//! Length indicators: TS 25.322 §9.2.2.8. They stand between the fixed header and the data, each followed by a bit E
//! that says whether another one comes (1) or data (0).
//!
//! An ordinary length indicator is a *cumulative* offset: octets from the end of the header to the last octet of an SDU
//! that ends in this PDU. Two SDUs that end and one that begins, in an AMD PDU with 7-bit indicators:
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
//! A PDU that an SDU fills exactly has no room to say so; the first indicator of the *next* PDU does:
//!
//! ```text
//!   ┌────────┬───────────────────────────────┐   ┌────────┬──────┬────────────────────────────────────┐
//!   │ header │ last 40 octets of SDU a       │   │ header │ LI 0 │ first 39 octets of SDU b           │
//!   └────────┴───────────────────────────────┘   └────────┴──────┴────────────────────────────────────┘
//! ```
//!
//! With 15-bit indicators one octet may be left that no indicator can describe. It is ignored: either the next PDU says
//! so (0x7FFB, where the SDU's own end could not be told), or it follows from the end that was told.
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
//! Padding and a piggybacked STATUS take the rest of a PDU behind the last SDU that ends there:
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

/// How wide a length indicator is: one width for each entity and direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiWidth {
    /// Seven bits, one octet with its E.
    Seven,
    /// Fifteen bits, two octets with their E.
    Fifteen,
}

impl LiWidth {
    /// That of AMD PDUs of which the largest has `octets`: 7 bits up to 126.
    pub fn of_amd(octets: usize) -> Self {
        if octets <= 126 { LiWidth::Seven } else { LiWidth::Fifteen }
    }

    /// That of UMD PDUs of which the largest has `octets`: 7 bits up to 125.
    pub fn of_umd(octets: usize) -> Self {
        if octets <= 125 { LiWidth::Seven } else { LiWidth::Fifteen }
    }

    /// Its bits, without E.
    pub fn bits(self) -> u32 {
        match self {
            LiWidth::Seven => 7,
            LiWidth::Fifteen => 15,
        }
    }

    /// Its octets, with E.
    pub fn octets(self) -> usize {
        match self {
            LiWidth::Seven => 1,
            LiWidth::Fifteen => 2,
        }
    }

    /// All bits set: padding. The other special values lie below.
    fn ones(self) -> u16 {
        (1 << self.bits()) - 1
    }

    /// The largest offset that can be told.
    pub fn last_offset(self) -> u16 {
        match self {
            LiWidth::Seven => 0x7B,
            LiWidth::Fifteen => 0x7FF9,
        }
    }
}

/// What a length indicator says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthIndicator {
    /// 0: an SDU filled the previous PDU exactly, and no indicator there told its end.
    PreviousFilled,
    /// 0x7FFB: an SDU ended one octet before the end of the previous PDU, and no indicator there told it.
    PreviousOneShort,
    /// 0x7C, 0x7FFC (UM): the first data octet is the first of an SDU.
    StartsHere,
    /// 0x7D, 0x7FFD (UM, alternative E-bit): the data is one whole SDU.
    WholeSdu,
    /// 0x7FFA (UM, alternative E-bit): the data but its last octet is one whole SDU.
    WholeSduOneShort,
    /// 0x7E, 0x7FFE (UM, alternative E-bit): the data is the middle of an SDU.
    Middle,
    /// An SDU ends after this many octets of data.
    End(u16),
    /// 0x7E, 0x7FFE (AM): a STATUS takes the rest.
    PiggybackedStatus,
    /// 0x7F, 0x7FFF: the rest is padding.
    Padding,
}

/// Who reads: some values have a meaning in one mode only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Am,
    Um { alternative_e_bit: bool },
}

impl LengthIndicator {
    /// What `value` says.
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

    /// Whether this can be said in `mode` with indicators of `width`.
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

    /// The value of its field.
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

    /// Speaks of the beginning of the data, or of the PDU before.
    pub(super) fn is_leading(self) -> bool {
        use LengthIndicator as Li;
        matches!(self, Li::PreviousFilled | Li::PreviousOneShort | Li::StartsHere) || self.is_alone()
    }

    /// Describes the whole PDU.
    pub(super) fn is_alone(self) -> bool {
        use LengthIndicator as Li;
        matches!(self, Li::WholeSdu | Li::WholeSduOneShort | Li::Middle)
    }

    /// Speaks of the rest of the PDU.
    pub(super) fn is_trailing(self) -> bool {
        matches!(self, LengthIndicator::PiggybackedStatus | LengthIndicator::Padding)
    }
}
