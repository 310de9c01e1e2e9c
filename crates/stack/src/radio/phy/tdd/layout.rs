//! The structure of a TDD frame: slots and their use, codes per slot, and codes per transport
//! block.
//!
//! ```text
//!  code 15 │ R │   │   │   │   │   │   │   │   │   │   │   │   │   │ C │    R random access
//!     …    │ R │ ▲ │ ▲ │ ▲ │ ▲ │ ▼ │ ▼ │ ▼ │ ▼ │ ▼ │ ▼ │ ▼ │ ▼ │ ▼ │ C │    C common channels, downlink
//!        0 │ R │ ▲ │ ▲ │ ▲ │ ▲ │ ▼ │ ▼ │ ▼ │ ▼ │ ▼ │ ▼ │ ▼ │ ▼ │ ▼ │ C │    ▲ ▼ user data, one direction per slot
//!  slot      0   1   2   3   4   5   6   7   8   9  10  11  12  13  14
//! ```

use umts_units::Duration;

use crate::ids::Direction;

/// The purpose of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotUse {
    /// The RACH, for capacity requests.
    RandomAccess,
    /// BCH, PCH, SCH and FACH.
    Common,
    /// User data, uplink or downlink.
    Data,
}

/// Permitted directions of data slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotRule {
    /// Each slot may have either direction.
    Any,
    /// Uplink slots come first, and the first data slot is an uplink slot: one switching point
    /// between the directions.
    OneSwitchingPoint,
}

/// The slots of a frame, and the codes of each slot.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    pub slots: &'static [SlotUse],
    pub rule: SlotRule,
    /// Codes per slot. One code in one slot of one frame is a resource unit.
    pub codes: u8,
    /// Codes that a block takes, all in one slot.
    pub codes_per_block: u8,
}

/// The available layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum LayoutKind {
    /// UTRA TDD at 3.84 Mcps: 15 slots, 13 of them for data. A block takes 4 codes (Baiocchi and
    /// Vacirca 2002, §II.A).
    #[default]
    #[cfg_attr(feature = "schema", serde(rename = "3.84 Mcps"))]
    HighChipRate,
    /// TD-SCDMA at 1.28 Mcps: two sub-frames of 7 slots, 6 of them for data. A block takes 5 codes
    /// in each sub-frame (TS 25.221 §5A). UEs send requests by SYNC_UL between slots 0 and 1 and
    /// are answered on the FPACH.
    #[cfg_attr(feature = "schema", serde(rename = "1.28 Mcps"))]
    LowChipRate,
}

/// Length of a frame, which is also the TTI.
pub const FRAME: Duration = Duration::from_millis(10);

/// Upper bound on the slots of all layouts.
pub const MAX_SLOTS: usize = 16;

use SlotUse::{Common as C, Data as D, RandomAccess as R};

static HIGH: Layout = Layout {
    slots: &[R, D, D, D, D, D, D, D, D, D, D, D, D, D, C],
    rule: SlotRule::Any,
    codes: 16,
    codes_per_block: 4,
};

static LOW: Layout = Layout {
    slots: &[C, D, D, D, D, D, D],
    rule: SlotRule::OneSwitchingPoint,
    codes: 16,
    codes_per_block: 5,
};

impl LayoutKind {
    pub fn layout(self) -> &'static Layout {
        match self {
            LayoutKind::HighChipRate => &HIGH,
            LayoutKind::LowChipRate => &LOW,
        }
    }
}

impl Layout {
    pub fn data_slots(&self) -> impl Iterator<Item = usize> {
        (0..self.slots.len()).filter(|&slot| self.slots[slot] == SlotUse::Data)
    }

    pub fn blocks_per_slot(&self) -> u32 {
        u32::from(self.codes / self.codes_per_block)
    }

    /// Parses a fixed direction for each data slot. `letters` has one letter per slot: `R` and `C`
    /// where the layout has them, `U` for uplink and `D` for downlink.
    ///
    /// # Errors
    /// Returns an error if the pattern does not fit the layout.
    pub fn pattern(&self, letters: &str) -> Result<Vec<Option<Direction>>, PatternError> {
        let count = letters.chars().count();
        if count != self.slots.len() {
            return Err(PatternError::Length { is: count, needed: self.slots.len() });
        }
        let mut directions = Vec::with_capacity(count);
        for (slot, (letter, usage)) in letters.chars().zip(self.slots).enumerate() {
            directions.push(match (usage, letter) {
                (SlotUse::RandomAccess, 'R') | (SlotUse::Common, 'C') => None,
                (SlotUse::Data, 'U') => Some(Direction::Uplink),
                (SlotUse::Data, 'D') => Some(Direction::Downlink),
                _ => return Err(PatternError::Letter { slot, letter, usage: *usage }),
            });
        }
        for direction in Direction::BOTH {
            if !directions.contains(&Some(direction)) {
                return Err(PatternError::NoSlot(direction));
            }
        }
        match self.rule {
            SlotRule::OneSwitchingPoint if !directions.iter().flatten().rev().is_sorted() => {
                Err(PatternError::SwitchingPoints)
            }
            _ => Ok(directions),
        }
    }

    /// An example of a valid pattern, with about half of the data slots in each direction.
    pub fn example(&self) -> String {
        let data = self.data_slots().count();
        let mut seen = 0;
        let letter = |usage: &SlotUse| match usage {
            SlotUse::RandomAccess => 'R',
            SlotUse::Common => 'C',
            SlotUse::Data => {
                seen += 1;
                if seen <= data / 2 { 'U' } else { 'D' }
            }
        };
        self.slots.iter().map(letter).collect()
    }
}

/// Why letters are not a valid pattern of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternError {
    /// The number of letters differs from the number of slots.
    Length { is: usize, needed: usize },
    /// A letter that is not permitted in this slot.
    Letter { slot: usize, letter: char, usage: SlotUse },
    /// No slot has this direction.
    NoSlot(Direction),
    /// With one switching point: an uplink slot follows a downlink slot, or the first data slot is
    /// not uplink.
    SwitchingPoints,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_of_the_paper_has_240_resource_units_and_52_blocks() {
        let layout = LayoutKind::HighChipRate.layout();
        assert_eq!(layout.slots.len() * usize::from(layout.codes), 240);
        assert_eq!(layout.data_slots().collect::<Vec<_>>(), (1..=13).collect::<Vec<_>>());
        assert_eq!(layout.data_slots().count() as u32 * layout.blocks_per_slot(), 52);
    }

    #[test]
    fn a_frame_of_td_scdma_has_18_blocks() {
        let layout = LayoutKind::LowChipRate.layout();
        assert_eq!(layout.data_slots().count() as u32 * layout.blocks_per_slot(), 18);
    }

    #[test]
    fn valid_patterns_are_accepted() {
        let high = LayoutKind::HighChipRate.layout();
        let directions = high.pattern("RUUUUDDDDDDDDDC").expect("the reference pattern");
        assert_eq!(directions.iter().filter(|direction| **direction == Some(Direction::Uplink)).count(), 4);
        assert!(high.pattern("RUDUDUDUDUDUDUC").is_ok(), "any order of directions");
        let low = LayoutKind::LowChipRate.layout();
        assert!(low.pattern("CUUUDDD").is_ok());
        for kind in [LayoutKind::HighChipRate, LayoutKind::LowChipRate] {
            assert!(kind.layout().pattern(&kind.layout().example()).is_ok());
        }
    }

    #[test]
    fn invalid_patterns_have_specific_errors() {
        let high = LayoutKind::HighChipRate.layout();
        assert_eq!(high.pattern("RUUDDC"), Err(PatternError::Length { is: 6, needed: 15 }));
        assert_eq!(
            high.pattern("UUUUUDDDDDDDDDC"),
            Err(PatternError::Letter { slot: 0, letter: 'U', usage: SlotUse::RandomAccess })
        );
        assert_eq!(high.pattern("RDDDDDDDDDDDDDC"), Err(PatternError::NoSlot(Direction::Uplink)));
        assert_eq!(high.pattern("RUUUUUUUUUUUUUC"), Err(PatternError::NoSlot(Direction::Downlink)));
        let low = LayoutKind::LowChipRate.layout();
        assert_eq!(low.pattern("CUDUDDD"), Err(PatternError::SwitchingPoints));
        assert_eq!(low.pattern("CDDDUUU"), Err(PatternError::SwitchingPoints));
    }
}
