//! The user equipments: the context of each, which moves as a whole, and what only a UE decides, access to the RACH.

mod capacity_request;
mod channels;
mod config;
mod connection;
mod context;
mod control;
mod rach;

use std::ops::{Index, IndexMut};

pub use capacity_request::CapacityRequest;
pub use channels::UeChannel;
pub use config::{ChannelConfig, SubstituteConfig, SwitchingConfig, UeConfig};
pub use connection::{Connection, SIGNALLING_BLOCK};
pub use context::{Pdus, UeContext};
pub use control::{COMMON, Control};
pub use rach::{PrivateRach, Rach};

use crate::ids::{Direction, UeId};
use crate::radio::air::TransmittedSet;

/// All UEs, by their numbers.
#[derive(Debug, Default)]
pub struct Ues(Vec<UeContext>);

impl Ues {
    /// One more.
    pub fn push(&mut self, ue: UeContext) {
        self.0.push(ue);
    }

    /// In the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &UeContext> {
        self.0.iter()
    }

    /// All UEs in the order of their numbers, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut UeContext> {
        self.0.iter_mut()
    }

    /// The last of the four steps of a turn (see [`utran`](crate::utran)): the radio is asked about all that is on the air in
    /// TTI number `frame` at once. Here each UE has a radio of its own, which looks at its blocks alone.
    #[inline]
    pub fn judge(&mut self, direction: Direction, frame: u64, on_air: &mut [TransmittedSet]) {
        for sent in on_air {
            self[sent.ue].judge(direction, frame, sent);
        }
    }
}

impl Index<UeId> for Ues {
    type Output = UeContext;
    #[inline]
    fn index(&self, ue: UeId) -> &UeContext {
        &self.0[ue.index()]
    }
}

impl IndexMut<UeId> for Ues {
    #[inline]
    fn index_mut(&mut self, ue: UeId) -> &mut UeContext {
        &mut self.0[ue.index()]
    }
}
