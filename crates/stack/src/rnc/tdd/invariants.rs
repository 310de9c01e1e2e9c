//! Invariants of a TDD cell, which tests check after every frame.

use super::MacTdd;
use super::slots::Place;
use crate::ids::Direction;

impl MacTdd {
    /// Asserts that no resource unit is allocated twice, that a block has the right number of codes,
    /// that each slot has one direction, and that free and allocated units add up to all units.
    pub(crate) fn check(&self) {
        let layout = self.config.layout.layout();
        let mut held = vec![0_u16; layout.slots.len()];
        let mut slot_direction = vec![None; layout.slots.len()];
        let mut take = |place: Place, direction: Direction| {
            let slot = usize::from(place.slot);
            assert_eq!(place.codes.count_ones(), u32::from(layout.codes_per_block));
            assert_eq!(held[slot] & place.codes, 0, "a resource unit is held twice");
            assert!(
                slot_direction[slot].is_none_or(|slot_direction| slot_direction == direction),
                "slot {slot} goes both ways"
            );
            held[slot] |= place.codes;
            slot_direction[slot] = Some(direction);
        };
        for grant in &self.grants {
            grant.places.iter().for_each(|&place| take(place, grant.direction));
            grant.reverse.iter().for_each(|&place| take(place, grant.direction.reversed()));
        }
        let grant_units: u32 = held.iter().map(|codes| codes.count_ones()).sum();
        let ack_units = self.ack_units();
        let held_total = Direction::BOTH.iter().map(|&direction| self.slots.held(direction)).sum::<u32>();
        assert_eq!(
            held_total,
            grant_units + ack_units,
            "every held unit belongs to a grant or an ACK channel"
        );
        let counted = Direction::BOTH.map(|slot_direction| {
            (self.slots.slots_in(slot_direction) as u8, self.slots.held(slot_direction) as u16)
        });
        let in_use = self.slots.in_use();
        assert_eq!(
            [0, 1].map(|slot_direction| (in_use.slots[slot_direction], in_use.units[slot_direction])),
            counted,
            "units in use are counted"
        );
        let units = layout.data_slots().count() as u32 * u32::from(layout.codes);
        assert_eq!(self.slots.free() + held_total, units, "free and held are all");
        let per_slot = layout.blocks_per_slot() * u32::from(layout.codes_per_block);
        assert!(held.iter().all(|codes| codes.count_ones() <= per_slot), "a slot has too many blocks");
        for sent in &self.air.blocks {
            let slot_direction = slot_direction[usize::from(sent.slot)];
            assert!(
                slot_direction.is_none_or(|slot_direction| slot_direction == sent.direction),
                "data go where the slot does not"
            );
        }
    }

    /// Number of grants and of open requests. Requests at the RNC count as one.
    pub(crate) fn held(&self) -> usize {
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
