//! Configuration of a user equipment (UE): its place, bearer, channels and radio.

use std::sync::Arc;

use crate::environment::MobilityConfig;
use crate::mac::e::EUeConfig;
use crate::mac::hs::HsUeConfig;
use crate::radio::capacity::CapacityConfig;
use crate::radio::flat::FlatConfig;
use crate::radio::mac::{Channel, TransportFormat};
use crate::radio::pdcp::PdcpConfig;
use crate::radio::phy::ErrorModel;
use crate::radio::rlc::RlcConfig;
use crate::rnc::multicell::DownlinkConfig;
use crate::rnc::rrc::{ConnectionConfig, RrcConfig};
use crate::scheduling::{QosConfig, SchedulerKind};

/// A UE and its bearer.
#[derive(Debug, Clone)]
pub struct UeConfig {
    /// Index of its cell.
    pub cell: usize,
    /// Movement among the cells of a layout. The UE uses its best cell there. `None`: the UE is in
    /// no layout.
    pub mobility: Option<MobilityConfig>,
    /// Quality of service of the bearer.
    pub qos: QosConfig,
    /// Header compression of both directions.
    pub pdcp: PdcpConfig,
    /// RLC configuration of both ends.
    pub rlc: Arc<RlcConfig>,
    /// Both RLC entities exchange octets.
    pub wire_mode: bool,
    /// Channels by direction. For a UE that switches channels: the FACH and RACH at the start.
    pub channels: [ChannelConfig; 2],
    /// Options of the HS-DSCH, if the UE uses it.
    pub hs_dsch: Option<Arc<HsUeConfig>>,
    /// Its downlink in a layout, on a DCH or HS-DSCH: of its bearer, or of each bearer that RRC may allocate.
    /// Empty: it has neither there.
    pub dchs: Vec<DownlinkConfig>,
    /// Options of the E-DCH, if the UE uses it.
    pub e_dch: Option<Arc<EUeConfig>>,
    /// Supervision of the RRC connection.
    pub connection: Arc<ConnectionConfig>,
    /// `None`: the channels never change.
    pub switching: Option<SwitchingConfig>,
    /// Block errors by direction.
    pub errors: [ErrorModel; 2],
    /// Replaces RLC, MAC and the air.
    pub substitute: Option<SubstituteConfig>,
}

impl UeConfig {
    /// Whether the UE starts on the FACH.
    pub fn is_on_fach(&self) -> bool {
        let [downlink, _] = self.channels;
        downlink.channel == Channel::Fach && self.substitute.is_none()
    }

    /// Whether the UE has an HS-DSCH in the cells of a layout, all the time or when RRC allocates it.
    pub fn has_hs_dsch_of_layout(&self) -> bool {
        self.dchs.iter().any(|dch| matches!(dch, DownlinkConfig::HsDsch))
    }

    /// Whether the UE has an E-DCH in the cells of a layout, all the time or when RRC allocates it.
    pub fn has_e_dch_of_layout(&self) -> bool {
        self.has_hs_dsch_of_layout() && self.e_dch.is_some()
    }
}

/// A radio model without RLC and MAC.
#[derive(Debug, Clone, PartialEq)]
pub enum SubstituteConfig {
    /// A measured radio.
    Capacity(CapacityConfig),
    /// A flat radio.
    Flat(FlatConfig),
}

/// Channel switching of a UE.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchingConfig {
    /// Thresholds, timers and delays.
    pub rrc: Arc<RrcConfig>,
    /// The channels of each of [`RrcConfig::dchs`].
    pub dchs: Vec<[ChannelConfig; 2]>,
}

/// A transport channel of one UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelConfig {
    pub channel: Channel,
    /// Distinguishes shared channels of the same kind in a cell. 0 if there is only one, and for
    /// DCHs.
    pub number: u16,
    /// Order in which MAC-c queries the UEs that share the channel.
    pub scheduler: SchedulerKind,
    pub format: TransportFormat,
    /// Size of a block on the Iub in bits.
    pub block_bits: u32,
}
