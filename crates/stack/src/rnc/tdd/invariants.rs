//! Invariants of every frame.

use super::MacTdd;
use super::slots::Place;
use crate::ids::Direction;

impl MacTdd {
    /// Checks that no resource unit is allocated twice, that the codes of a block are in one slot and of the
    /// right number, that no slot has both directions, and that free and allocated units are all units.
    pub(crate) fn check(&self) {
        let layout = self.config.layout.layout();
        let mut held = vec![0_u16; layout.slots.len()];
        let mut way = vec![None; layout.slots.len()];
        let mut take = |place: Place, direction: Direction| {
            let slot = usize::from(place.slot);
            assert_eq!(place.codes.count_ones(), u32::from(layout.codes_per_block));
            assert_eq!(held[slot] & place.codes, 0, "a resource unit is held twice");
            assert!(way[slot].is_none_or(|way| way == direction), "slot {slot} goes both ways");
            held[slot] |= place.codes;
            way[slot] = Some(direction);
        };
        for grant in &self.grants {
            grant.places.iter().for_each(|&place| take(place, grant.direction));
            grant.reverse.iter().for_each(|&place| take(place, grant.direction.reversed()));
        }
        let of_grants: u32 = held.iter().map(|codes| codes.count_ones()).sum();
        let of_acks = self.ack_units();
        let all = Direction::BOTH.iter().map(|&direction| self.slots.held(direction)).sum::<u32>();
        assert_eq!(all, of_grants + of_acks, "every held unit belongs to a grant or an ACK channel");
        let counted = Direction::BOTH.map(|way| (self.slots.going(way) as u8, self.slots.held(way) as u16));
        let (going, held_units) = self.slots.in_use();
        assert_eq!([0, 1].map(|way| (going[way], held_units[way])), counted, "units in use are counted");
        let units = layout.data_slots().count() as u32 * u32::from(layout.codes);
        assert_eq!(self.slots.free() + all, units, "free and held are all");
        let per_slot = layout.blocks_per_slot() * u32::from(layout.codes_per_block);
        assert!(held.iter().all(|codes| codes.count_ones() <= per_slot), "a slot has too many blocks");
        for sent in &self.on_air {
            let way = way[usize::from(sent.slot)];
            assert!(way.is_none_or(|way| way == sent.direction), "data go where the slot does not");
        }
    }

    /// Number of grants and requests.
    pub(crate) fn held(&self) -> usize {
        self.grants.len() + usize::from(self.requests.next().is_some()) + self.asking.len()
    }

    /// Resource units of the common channels of control PDUs.
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
