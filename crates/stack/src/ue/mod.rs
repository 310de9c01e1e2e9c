//! The user equipments (UEs): the context of each UE with both ends of its bearer. It can move between
//! cells as a whole.

mod capacity_request;
mod channels;
mod config;
mod connection;
mod context;
mod control;

use std::ops::{Index, IndexMut};

pub use capacity_request::CapacityRequest;
pub use channels::UeChannel;
pub use config::{ChannelConfig, SubstituteConfig, SwitchingConfig, UeConfig};
pub use connection::{Connection, SIGNALLING_BLOCK};
pub use context::{Pdus, UeContext};
pub use control::{COMMON, Control};

use crate::ids::{Direction, UeId};
use crate::radio::air::TransmittedSet;

/// All UEs by number.
#[derive(Debug, Default)]
pub struct Ues(Vec<UeContext>);

impl Ues {
    pub fn push(&mut self, ue: UeContext) {
        self.0.push(ue);
    }

    pub fn iter(&self) -> impl Iterator<Item = &UeContext> {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut UeContext> {
        self.0.iter_mut()
    }

    /// Decides the block losses of all transmissions in TTI `frame`. Each UE has a radio of its own,
    /// which depends only on its own blocks.
    #[inline]
    pub fn decide_losses(&mut self, direction: Direction, frame: u64, on_air: &mut [TransmittedSet]) {
        for sent in on_air {
            self[sent.ue].decide_losses(direction, frame, sent);
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
