//! Grants. A grant is a DCH in one direction with a number of blocks per frame, until it ends
//! (`GrantEnds`).

use super::config::{AckChannel, TddConfig};
use super::slots::{Place, Slots};
use crate::ids::{Direction, UeId};

/// A dedicated channel.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The UE that holds the grant.
    pub ue: UeId,
    /// The way of the data.
    pub direction: Direction,
    /// Where its blocks lie, one for each of a frame.
    pub places: Vec<Place>,
    /// Where the control PDUs of the other way lie, if they have a channel beside this one.
    pub reverse: Option<Place>,
    /// Its first frame.
    pub from: u64,
    /// SDUs that were done with when it began.
    pub sdus_before: u64,
    /// Blocks that were sent.
    pub blocks: u32,
}

impl Grant {
    /// Takes room for `wanted` blocks per frame, or for as many as there is room for; `None` if there is none.
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

    /// Gives up its room.
    pub fn give_back(&self, slots: &mut Slots) {
        self.places.iter().chain(&self.reverse).for_each(|&place| slots.give_back(place));
    }
}
