//! The resource units of a TDD cell: which are allocated, and the direction of each slot. A resource
//! unit is one code in one slot of the frame. A block takes several codes, as the layout of the frame
//! says.
//!
//! All codes of a block are in one slot, and a slot has one direction in a frame. A free slot gets a
//! direction when all slots of this direction are full, and becomes free again when it is empty. With
//! a fixed pattern the direction of a slot never changes.

use crate::ids::Direction;
use crate::radio::phy::tdd::layout::{Layout, SlotRule};

/// Slot and codes of a block in every frame of its grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub slot: u8,
    /// Codes of the block: bit n is set for code n.
    pub codes: u16,
}

/// One slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Slot {
    /// `None`: the slot is free, or not for data.
    direction: Option<Direction>,
    /// Allocated codes: bit n is set for code n.
    allocated: u16,
    /// The direction never changes.
    is_fixed: bool,
}

/// The slots of a cell.
#[derive(Debug)]
pub struct Slots {
    layout: &'static Layout,
    slots: Vec<Slot>,
    in_use: InUse,
}

/// The parts of a frame that are in use, by direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InUse {
    /// Number of slots.
    pub slots: [u8; 2],
    /// Number of allocated resource units.
    pub units: [u16; 2],
}

impl Slots {
    /// Slots without allocated codes. `pattern`: fixed directions.
    pub fn new(layout: &'static Layout, pattern: Option<&[Option<Direction>]>) -> Self {
        let new_slot = |slot: usize| Slot {
            direction: pattern.and_then(|pattern| pattern[slot]),
            allocated: 0,
            is_fixed: pattern.is_some(),
        };
        let slots: Vec<Slot> = (0..layout.slots.len()).map(new_slot).collect();
        let slot_count =
            |direction| slots.iter().filter(|slot| slot.direction == Some(direction)).count() as u8;
        Slots { layout, in_use: InUse { slots: Direction::BOTH.map(slot_count), units: [0; 2] }, slots }
    }

    /// Allocates the codes of one block in the lowest slot of `direction` that has room, or else in a
    /// free slot. Returns `None` if there is no room.
    pub fn allocate(&mut self, direction: Direction) -> Option<Place> {
        let codes_per_block = u32::from(self.layout.codes_per_block);
        let with_room = self.layout.data_slots().find(|&number| {
            let has_direction = self.slots[number].direction == Some(direction);
            has_direction && self.free_codes(number) >= codes_per_block
        });
        let number = with_room.or_else(|| self.free_slot(direction))?;
        let slot = &mut self.slots[number];
        if slot.direction.replace(direction).is_none() {
            self.in_use.slots[direction.index()] += 1;
        }
        self.in_use.units[direction.index()] += u16::from(self.layout.codes_per_block);
        let codes = lowest_bits(!slot.allocated, self.layout.codes_per_block);
        slot.allocated |= codes;
        Some(Place { slot: number as u8, codes })
    }

    /// Releases the codes of one block.
    pub fn release(&mut self, place: Place) {
        let slot = &mut self.slots[usize::from(place.slot)];
        debug_assert_eq!(slot.allocated & place.codes, place.codes, "the codes are allocated");
        slot.allocated &= !place.codes;
        let direction = slot.direction.expect("a slot with allocated codes has a direction").index();
        self.in_use.units[direction] -= u16::from(self.layout.codes_per_block);
        if slot.allocated == 0 && !slot.is_fixed {
            slot.direction = None;
            self.in_use.slots[direction] -= 1;
        }
    }

    /// A free slot that may get this direction: the lowest one. With one switching point the uplink
    /// grows from the lowest slot and the downlink from the highest, and they must not cross.
    fn free_slot(&self, direction: Direction) -> Option<usize> {
        match (self.layout.rule, direction) {
            (SlotRule::Any, _) => self.free_data_slots().next(),
            (SlotRule::OneSwitchingPoint, Direction::Uplink) => self.lowest_free_below_downlink(),
            (SlotRule::OneSwitchingPoint, Direction::Downlink) => self.highest_free_above_uplink(),
        }
    }

    /// Numbers of the data slots whose direction may be chosen, in ascending order.
    fn free_data_slots(&self) -> impl Iterator<Item = usize> + '_ {
        self.layout.data_slots().filter(|&number| {
            let slot = &self.slots[number];
            slot.direction.is_none() && !slot.is_fixed
        })
    }

    fn lowest_free_below_downlink(&self) -> Option<usize> {
        let first_downlink = self.slots.iter().position(|slot| slot.direction == Some(Direction::Downlink));
        let lowest_free = self.free_data_slots().next()?;
        first_downlink.is_none_or(|first| lowest_free < first).then_some(lowest_free)
    }

    fn highest_free_above_uplink(&self) -> Option<usize> {
        // The first data slot is reserved for the uplink.
        let reserved = self.layout.data_slots().next()?;
        let last_uplink = self.slots.iter().rposition(|slot| slot.direction == Some(Direction::Uplink));
        let last_uplink = last_uplink.map_or(reserved, |last| last.max(reserved));
        self.free_data_slots().filter(|&number| number > last_uplink).last()
    }

    /// Number of free codes of a slot.
    fn free_codes(&self, slot: usize) -> u32 {
        u32::from(self.layout.codes) - self.slots[slot].allocated.count_ones()
    }

    pub fn in_use(&self) -> InUse {
        self.in_use
    }

    /// Number of allocated resource units in slots of this direction.
    #[cfg(test)]
    pub fn allocated_units(&self, direction: Direction) -> u32 {
        let slots = self.slots.iter().filter(|slot| slot.direction == Some(direction));
        slots.map(|slot| slot.allocated.count_ones()).sum()
    }

    /// Number of slots of this direction.
    #[cfg(test)]
    pub fn slots_in(&self, direction: Direction) -> u32 {
        self.slots.iter().filter(|slot| slot.direction == Some(direction)).count() as u32
    }

    /// Number of free resource units of data slots.
    #[cfg(test)]
    pub fn free_units(&self) -> u32 {
        self.layout.data_slots().map(|slot| self.free_codes(slot)).sum()
    }
}

/// The `count` lowest bits that are set in `free`.
fn lowest_bits(mut free: u16, count: u8) -> u16 {
    let mut codes = 0;
    for _ in 0..count {
        let lowest_bit = free & free.wrapping_neg();
        debug_assert_ne!(lowest_bit, 0, "there is room");
        codes |= lowest_bit;
        free &= !lowest_bit;
    }
    codes
}

#[cfg(test)]
mod tests {
    use Direction::{Downlink, Uplink};

    use super::*;
    use crate::radio::phy::tdd::layout::LayoutKind;

    /// Slots with directions that follow the demand. The layout for the high chip rate has 13 data
    /// slots of 16 codes. The layout for the low chip rate has 6 data slots and one switching point
    /// between uplink and downlink. A block takes four codes with the high chip rate, five with the
    /// low one.
    fn slots(kind: LayoutKind) -> Slots {
        Slots::new(kind.layout(), None)
    }

    #[test]
    fn a_slot_is_filled_before_another_is_taken() {
        let mut slots = slots(LayoutKind::HighChipRate);
        let places: Vec<_> = (0..5).map(|_| slots.allocate(Uplink).expect("room")).collect();
        assert_eq!(places.iter().map(|place| place.slot).collect::<Vec<_>>(), [1, 1, 1, 1, 2]);
        assert_eq!(places[..4].iter().fold(0, |all, place| all | place.codes), u16::MAX);
        assert_eq!(slots.allocate(Downlink).expect("room").slot, 3);
        assert_eq!((slots.slots_in(Uplink), slots.slots_in(Downlink)), (2, 1));
        // Five uplink blocks and one downlink block of four codes each.
        assert_eq!((slots.allocated_units(Uplink), slots.allocated_units(Downlink)), (5 * 4, 4));
        assert_eq!(slots.free_units(), 13 * 16 - 6 * 4);
    }

    #[test]
    fn an_empty_slot_may_change_its_direction() {
        let mut slots = slots(LayoutKind::HighChipRate);
        let all: Vec<_> = std::iter::from_fn(|| slots.allocate(Uplink)).collect();
        assert_eq!((all.len(), slots.allocate(Downlink)), (52, None));
        all[..3].iter().for_each(|&place| slots.release(place));
        assert_eq!(slots.allocate(Downlink), None, "one block is still held in slot 1");
        slots.release(all[3]);
        assert_eq!(slots.allocate(Downlink).map(|place| place.slot), Some(1));
    }

    #[test]
    fn a_fixed_pattern_never_changes() {
        let layout = LayoutKind::HighChipRate.layout();
        let pattern = layout.pattern("RUDDDDDDDDDDDDC").expect("it fits");
        let mut slots = Slots::new(layout, Some(&pattern));
        let up: Vec<_> = std::iter::from_fn(|| slots.allocate(Uplink)).collect();
        assert_eq!(up.len(), 4);
        up.into_iter().for_each(|place| slots.release(place));
        assert_eq!(std::iter::from_fn(|| slots.allocate(Downlink)).count(), 48);
    }

    #[test]
    fn with_one_switching_point_the_directions_grow_towards_each_other() {
        let mut slots = slots(LayoutKind::LowChipRate);
        assert_eq!(slots.allocate(Downlink).map(|place| place.slot), Some(6));
        assert_eq!(slots.allocate(Uplink).map(|place| place.slot), Some(1));
        assert_eq!(std::iter::from_fn(|| slots.allocate(Downlink)).count(), 4 * 3 + 2);
        assert_eq!(std::iter::from_fn(|| slots.allocate(Uplink)).count(), 2);
        assert_eq!(slots.slots_in(Downlink), 5);
    }

    #[test]
    fn with_one_switching_point_the_first_slot_is_reserved_for_the_uplink() {
        let mut slots = slots(LayoutKind::LowChipRate);
        assert_eq!(std::iter::from_fn(|| slots.allocate(Downlink)).count(), 15);
        assert_eq!(slots.allocate(Uplink).map(|place| place.slot), Some(1));
    }
}
