//! The RRC of a UE and what it needs to know.

use umts_units::Time;

use super::{ChannelConfig, SwitchingConfig, UeChannel};
use crate::event_context::Wakeup;
use crate::radio::phy::ErrorModel;
use crate::rnc::rrc::{Order, Rrc};

/// The channels of a switched UE have numbers: FACH and RACH this one, the DCHs of bearer n the number n + 1.
pub const COMMON: usize = 0;

/// The RRC of a switched UE, and the channels that it may use.
#[derive(Debug)]
pub struct Control {
    rrc: Rrc,
    /// Whether it has begun.
    pub started: bool,
    /// When it is next woken.
    pub wake: Wakeup,
    /// The end of the last TTI with data, either way.
    pub active_until: Time,
    /// Blocks sent, by direction.
    pub sent: [u64; 2],
    /// Block errors on any of its channels, in each direction.
    pub errors: [ErrorModel; 2],
    /// The channels of each DCH bearer.
    dchs: Vec<[ChannelConfig; 2]>,
    /// The number of the channels in use, …
    in_use: usize,
    /// … and those that are not in use but were, by their numbers: what their radio has come to is kept.
    left: Vec<Option<[UeChannel; 2]>>,
}

impl Control {
    /// RRC of a UE that begins on the common channels.
    pub fn new(rrc: Rrc, switching: &SwitchingConfig, errors: &[ErrorModel; 2]) -> Self {
        Control {
            rrc,
            started: false,
            wake: Wakeup::NONE,
            active_until: Time::ZERO,
            sent: [0; 2],
            errors: errors.clone(),
            dchs: switching.dchs.clone(),
            in_use: COMMON,
            left: Vec::new(),
        }
    }

    /// RRC itself.
    #[inline]
    pub fn rrc(&self) -> &Rrc {
        &self.rrc
    }

    /// For [`UeContext::tell_rrc`](super::UeContext::tell_rrc), which alone knows what follows when RRC hears something.
    #[inline]
    pub(super) fn rrc_mut(&mut self) -> &mut Rrc {
        &mut self.rrc
    }

    /// The next thing that RRC orders.
    #[inline]
    pub fn poll_order(&mut self) -> Option<Order> {
        self.rrc.poll_order()
    }

    /// Whether its channels number `wanted` are those in use.
    pub fn uses(&self, wanted: usize) -> bool {
        self.in_use == wanted
    }

    /// The channels of DCH bearer number `dch`.
    pub fn dch(&self, dch: usize) -> [ChannelConfig; 2] {
        self.dchs[dch]
    }

    /// Its channels number `wanted`, if they were in use before.
    pub fn take(&mut self, wanted: usize) -> Option<[UeChannel; 2]> {
        self.left.get_mut(wanted)?.take()
    }

    /// Channels number `wanted` are in use from now on, and `before` no longer.
    pub fn keep(&mut self, wanted: usize, before: [UeChannel; 2]) {
        if self.left.len() <= self.in_use {
            self.left.resize_with(self.in_use + 1, || None);
        }
        self.left[self.in_use] = Some(before);
        self.in_use = wanted;
    }
}
