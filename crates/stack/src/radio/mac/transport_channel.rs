//! Transport channels (TS 25.211 §4).

use crate::radio::rrc_state::RrcState;

/// A transport channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// Forward access channel: downlink, shared.
    Fach,
    /// Random access channel: uplink.
    Rach,
    /// Dedicated channel.
    Dch,
    /// Downlink shared channel: its users have a DCH each beside it.
    Dsch,
    /// Common channel of RLC's control PDUs in a TDD cell (Baiocchi and Vacirca 2002, §II.C); no standard knows it.
    Ack,
}

impl Channel {
    /// Its name, and the RRC state in which a UE uses it (TS 25.331 §7.1).
    pub fn name(self) -> (&'static str, RrcState) {
        match self {
            Channel::Fach => ("FACH", RrcState::CellFach),
            Channel::Rach => ("RACH", RrcState::CellFach),
            Channel::Dch => ("DCH", RrcState::CellDch),
            Channel::Dsch => ("DSCH", RrcState::CellDch),
            Channel::Ack => ("ACK", RrcState::CellDch),
        }
    }
}
