//! Grants of a TDD cell. A grant is a dedicated channel (DCH) of one UE in one direction, with a number
//! of blocks per frame. It ends with the first frame in which nothing is sent (Baiocchi and Vacirca
//! 2002, §II.B). Later retransmissions need a new grant.

use super::config::{AckChannel, TddConfig};
use super::slots::{Place, Slots};
use crate::ids::{Direction, UeId};

/// A dedicated channel in one direction.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The UE that holds the grant.
    pub ue: UeId,
    /// Direction of the data.
    pub direction: Direction,
    /// Slot and codes of each block per frame.
    pub places: Vec<Place>,
    /// Slot and codes for control PDUs in the other direction, if they have a dedicated channel.
    pub reverse: Option<Place>,
    /// First frame of the grant.
    pub from: u64,
    /// Number of SDUs that RLC had completed or discarded when the grant began.
    pub sdus_before: u64,
    /// Number of data blocks sent so far.
    pub blocks: u32,
}

impl Grant {
    /// Allocates slots and codes for up to `wanted` blocks per frame. Returns `None` if there is no
    /// room for a single block.
    pub fn allocate(
        slots: &mut Slots,
        config: &TddConfig,
        ue: UeId,
        direction: Direction,
        wanted: u32,
        from: u64,
    ) -> Option<Grant> {
        let reverse = match config.ack.channel {
            AckChannel::Common => None,
            AckChannel::Dedicated => Some(slots.allocate(direction.reversed())?),
        };
        let places: Vec<_> = (0..wanted).map_while(|_| slots.allocate(direction)).collect();
        let grant = Grant { ue, direction, places, reverse, from, sdus_before: 0, blocks: 0 };
        if grant.places.is_empty() {
            grant.release(slots);
            return None;
        }
        Some(grant)
    }

    /// Releases all slots and codes of the grant.
    pub fn release(&self, slots: &mut Slots) {
        self.places.iter().chain(&self.reverse).for_each(|&place| slots.release(place));
    }
}
