//! Kinds of transport channels, the channels between MAC and the physical layer (TS 25.211 §4).

use crate::radio::rrc_state::RrcState;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// Forward access channel: downlink, shared.
    Fach,
    /// Random access channel: uplink.
    Rach,
    /// Dedicated channel.
    Dch,
    /// Downlink shared channel. Each of its users also has a DCH.
    Dsch,
    /// High-speed downlink shared channel. Each of its users also has a DCH.
    HsDsch,
    /// Enhanced dedicated channel: uplink.
    EDch,
    /// Common channel for control PDUs of RLC in a TDD cell (Baiocchi and Vacirca 2002, §II.C). Not
    /// in any standard.
    Ack,
}

impl Channel {
    /// Whether each UE has a channel of its own, on which it waits for no other UE.
    pub fn is_dedicated(self) -> bool {
        matches!(self, Channel::Dch | Channel::EDch)
    }

    /// Name, and the RRC state in which a UE uses the channel (TS 25.331 §7.1).
    pub fn name(self) -> (&'static str, RrcState) {
        match self {
            Channel::Fach => ("FACH", RrcState::CellFach),
            Channel::Rach => ("RACH", RrcState::CellFach),
            Channel::Dch => ("DCH", RrcState::CellDch),
            Channel::Dsch => ("DSCH", RrcState::CellDch),
            Channel::HsDsch => ("HS-DSCH", RrcState::CellDch),
            Channel::EDch => ("E-DCH", RrcState::CellDch),
            Channel::Ack => ("ACK", RrcState::CellDch),
        }
    }
}
