//! Grants. A grant is a DCH in one direction with a number of blocks per frame, until it ends
//! (`GrantEnds`).

use super::config::{AckChannel, TddConfig};
use super::slots::{Place, Slots};
use crate::ids::{Direction, UeId};

/// A granted DCH.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The UE that holds the grant.
    pub ue: UeId,
    pub direction: Direction,
    /// Places of its blocks in a frame.
    pub places: Vec<Place>,
    /// Place of the control PDUs of the other direction, if they have a dedicated channel.
    pub reverse: Option<Place>,
    /// First frame.
    pub from: u64,
    /// SDUs that were complete at its start.
    pub sdus_before: u64,
    /// Number of blocks sent.
    pub blocks: u32,
}

impl Grant {
    /// Allocates `wanted` blocks per frame, or as many as there is room for. `None`: there is no room.
    pub fn take(
        slots: &mut Slots,
        config: &TddConfig,
        (ue, direction): (UeId, Direction),
        wanted: u32,
        from: u64,
    ) -> Option<Grant> {
        let reverse = match config.ack.channel {
            AckChannel::Common => None,
            AckChannel::Dedicated => Some(slots.take(direction.reversed())?),
        };
        let places: Vec<_> = (0..wanted).map_while(|_| slots.take(direction)).collect();
        let grant = Grant { ue, direction, places, reverse, from, sdus_before: 0, blocks: 0 };
        if grant.places.is_empty() {
            grant.give_back(slots);
            return None;
        }
        Some(grant)
    }

    /// Releases its places.
    pub fn give_back(&self, slots: &mut Slots) {
        self.places.iter().chain(&self.reverse).for_each(|&place| slots.give_back(place));
    }
}
