//! State of a UE that switches channels: its RRC (radio resource control), the measurements that RRC
//! receives, and the channels that it may use. The pair of common channels, FACH and RACH, has number
//! 0, and the pair of DCHs of each bearer has a number from 1 on. Each pair keeps the state of its radio
//! while another one is in use.

use umts_units::Time;

use super::{ChannelConfig, SwitchingConfig, UeChannel};
use crate::event_context::Wakeup;
use crate::ids::Direction;
use crate::radio::phy::ErrorModel;
use crate::rnc::rrc::{Order, Rrc};

/// Number of the common channels FACH and RACH. The DCHs of bearer n have the number n + 1.
pub const COMMON: usize = 0;

/// The RRC of a UE that switches channels, and the channels that it may use.
#[derive(Debug)]
pub struct Control {
    rrc: Rrc,
    /// Whether RRC was started.
    pub started: bool,
    /// Next wake-up of RRC.
    pub wake: Wakeup,
    /// End of the last TTI with data in either direction.
    pub active_until: Time,
    /// Blocks sent, by direction.
    pub sent: [u64; 2],
    /// Block errors on all channels of the UE, by direction.
    pub errors: [ErrorModel; 2],
    /// Channels of each DCH bearer.
    dchs: Vec<[ChannelConfig; 2]>,
    /// Number of the channels in use.
    in_use: usize,
    /// Former channels by number. They keep the state of their radio.
    former: Vec<Option<[UeChannel; 2]>>,
}

impl Control {
    /// RRC of a UE that starts on the common channels.
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
            former: Vec::new(),
        }
    }

    #[inline]
    pub fn rrc(&self) -> &Rrc {
        &self.rrc
    }

    /// Only for [`UeContext::notify_rrc_with`](super::UeContext::notify_rrc_with), which updates what depends on
    /// RRC.
    #[inline]
    pub(super) fn rrc_mut(&mut self) -> &mut Rrc {
        &mut self.rrc
    }

    #[inline]
    pub fn poll_order(&mut self) -> Option<Order> {
        self.rrc.poll_order()
    }

    /// Whether the channels with this number are in use.
    pub fn uses(&self, number: usize) -> bool {
        self.in_use == number
    }

    /// Channels of DCH bearer `dch`.
    pub fn dch(&self, dch: usize) -> [ChannelConfig; 2] {
        self.dchs[dch]
    }

    /// Sets the number of blocks in a full TTI of DCH bearer `dch` in `direction`, for its next
    /// allocations. Returns whether the DCH is in use: the caller must then change its channel.
    pub fn set_full_tti(&mut self, dch: usize, direction: Direction, blocks: u32) -> bool {
        self.dchs[dch][direction.index()].format.blocks = blocks;
        let number = dch + 1;
        if let Some(Some(kept)) = self.former.get_mut(number) {
            kept[direction.index()].format.blocks = blocks;
        }
        self.uses(number)
    }

    /// Removes and returns the channels with this number, if they were in use before.
    pub fn take_kept_channels(&mut self, number: usize) -> Option<[UeChannel; 2]> {
        self.former.get_mut(number)?.take()
    }

    /// The channels in `direction` that are not in use, but were before.
    pub fn kept_channels(&mut self, direction: Direction) -> impl Iterator<Item = &mut UeChannel> {
        self.former.iter_mut().flatten().map(move |channels| &mut channels[direction.index()])
    }

    /// Stores the former channels, and notes that the channels with this number are in use.
    pub fn keep_channels(&mut self, number: usize, former: [UeChannel; 2]) {
        if self.former.len() <= self.in_use {
            self.former.resize_with(self.in_use + 1, || None);
        }
        self.former[self.in_use] = Some(former);
        self.in_use = number;
    }
}
