//! What a user equipment is made of.

use std::sync::Arc;

use crate::environment::MobilityConfig;
use crate::radio::capacity::CapacityConfig;
use crate::radio::flat::FlatConfig;
use crate::radio::mac::{Channel, TransportFormat};
use crate::radio::pdcp::PdcpConfig;
use crate::radio::phy::ErrorModel;
use crate::radio::rlc::RlcConfig;
use crate::rnc::SchedulerKind;
use crate::rnc::rrc::{ConnectionConfig, RrcConfig};

/// One user equipment and its bearer.
#[derive(Debug, Clone)]
pub struct UeConfig {
    /// Index of its cell.
    pub cell: usize,
    /// How it moves among the cells of a layout, where its own is the best; `None`: it is in no layout.
    pub mobility: Option<MobilityConfig>,
    /// Header compression, both directions alike.
    pub pdcp: Option<PdcpConfig>,
    /// RLC, both ends alike.
    pub rlc: RlcConfig,
    /// Whether they exchange octets.
    pub wire_mode: bool,
    /// What it uses in each direction; where it is switched, at the beginning: FACH and RACH.
    pub channels: [ChannelConfig; 2],
    /// Supervision of its RRC connection.
    pub connection: Arc<ConnectionConfig>,
    /// RRC, if it is switched.
    pub switching: Option<SwitchingConfig>,
    /// Block errors in each direction.
    pub errors: [ErrorModel; 2],
    /// What stands in place of RLC, MAC and the air, if anything does.
    pub substitute: Option<SubstituteConfig>,
}

/// A radio without RLC and MAC.
#[derive(Debug, Clone, PartialEq)]
pub enum SubstituteConfig {
    /// A measured one.
    Capacity(CapacityConfig),
    /// A flat one.
    Flat(FlatConfig),
}

/// How a UE is switched between channels.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchingConfig {
    /// Thresholds, timers, delays.
    pub rrc: Arc<RrcConfig>,
    /// The channels of each of [`RrcConfig::dchs`].
    pub dchs: Vec<[ChannelConfig; 2]>,
}

/// A transport channel as one UE uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelConfig {
    /// Which it is.
    pub channel: Channel,
    /// Tells it from others of its kind that UEs of the cell share; 0 where there is one alone, and for DCHs.
    pub number: u16,
    /// Who of those that share it is next, where MAC-c asks them.
    pub scheduler: SchedulerKind,
    /// TTI and blocks.
    pub format: TransportFormat,
    /// Size of one block on the Iub.
    pub block_bits: u32,
}
