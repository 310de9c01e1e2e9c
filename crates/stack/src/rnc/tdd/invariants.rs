//! Invariants of a TDD cell, which tests check after every frame.

use super::MacTdd;
use super::slots::Place;
use crate::ids::Direction;

impl MacTdd {
    /// Asserts that no resource unit is allocated twice, that a block has the right number of codes,
    /// that each slot has one direction, and that free and allocated units add up to all units.
    pub(crate) fn check(&self) {
        let layout = self.config.layout.layout();
        // Codes that grants have in each slot, and the direction of the slot.
        let mut granted_codes = vec![0_u16; layout.slots.len()];
        let mut slot_direction = vec![None; layout.slots.len()];
        let mut add = |place: Place, direction: Direction| {
            let slot = usize::from(place.slot);
            assert_eq!(place.codes.count_ones(), u32::from(layout.codes_per_block));
            assert_eq!(granted_codes[slot] & place.codes, 0, "a resource unit is allocated twice");
            assert!(
                slot_direction[slot].is_none_or(|slot_direction| slot_direction == direction),
                "slot {slot} has two directions"
            );
            granted_codes[slot] |= place.codes;
            slot_direction[slot] = Some(direction);
        };
        for grant in &self.grants {
            grant.places.iter().for_each(|&place| add(place, grant.direction));
            grant.reverse.iter().for_each(|&place| add(place, grant.direction.reversed()));
        }
        let grant_units: u32 = granted_codes.iter().map(|codes| codes.count_ones()).sum();
        let allocated_units: u32 =
            Direction::BOTH.iter().map(|&direction| self.slots.allocated_units(direction)).sum();
        assert_eq!(
            allocated_units,
            grant_units + self.ack_units(),
            "every allocated unit belongs to a grant or an ACK channel"
        );
        let in_use = self.slots.in_use();
        for direction in Direction::BOTH {
            let index = direction.index();
            assert_eq!(u32::from(in_use.slots[index]), self.slots.slots_in(direction), "slots in use");
            assert_eq!(u32::from(in_use.units[index]), self.slots.allocated_units(direction), "units in use");
        }
        let all_units = layout.data_slots().count() as u32 * u32::from(layout.codes);
        assert_eq!(self.slots.free_units() + allocated_units, all_units, "a unit is free or allocated");
        let max_codes = layout.blocks_per_slot() * u32::from(layout.codes_per_block);
        assert!(
            granted_codes.iter().all(|codes| codes.count_ones() <= max_codes),
            "a slot has too many blocks"
        );
        for sent in &self.air.blocks {
            let slot_direction = slot_direction[usize::from(sent.slot)];
            assert!(
                slot_direction.is_none_or(|slot_direction| slot_direction == sent.direction),
                "a block is sent in a slot of the other direction"
            );
        }
    }

    /// Number of grants and of open requests. Requests that the RNC knows count as one.
    pub(crate) fn grants_and_requests(&self) -> usize {
        self.grants.len() + usize::from(self.demand.known.next().is_some()) + self.demand.planned.len()
    }

    /// Number of resource units of the common channels for control PDUs.
    fn ack_units(&self) -> u32 {
        use super::AckChannel;
        let ack = self.config.ack;
        let blocks = match ack.channel {
            AckChannel::Common => ack.downlink_per_frame.unwrap_or(1) + ack.uplink_places,
            AckChannel::Dedicated => 0,
        };
        blocks * u32::from(self.config.layout.layout().codes_per_block)
    }
}
