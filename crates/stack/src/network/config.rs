//! What a network is made of, in the words of the stack.

use std::sync::Arc;

use umts_units::{BitRate, Duration, Time};

use crate::core_network::{Impairment, LinkConfig};
use crate::ids::{Direction, UeId};
use crate::radio::capacity::CapacityConfig;
use crate::radio::flat::FlatConfig;
use crate::radio::mac::TransportFormat;
use crate::radio::pdcp::PdcpConfig;
use crate::radio::phy::ErrorModel;
use crate::radio::rlc::RlcConfig;
use crate::rnc::rrc::RrcConfig;
use crate::rnc::{Limits, Reserved};
use crate::tcp::TcpConfig;
use crate::traffic::TrafficConfig;

/// A whole network.
#[derive(Debug, Clone)]
pub struct NetworkConfig {
    /// The chain of links from the server to the RNC.
    pub core: Vec<LinkConfig>,
    /// The cells.
    pub cells: Vec<CellConfig>,
    /// The user equipments.
    pub ues: Vec<UeConfig>,
    /// What they do.
    pub flows: Vec<FlowConfig>,
    /// What is done to single packets.
    pub impairments: Vec<Impairment>,
}

/// One cell: its Iub and its common channels.
#[derive(Debug, Clone)]
pub struct CellConfig {
    /// Rate of the Iub; `None`: blocks take no time to cross it.
    pub iub_rate: Option<BitRate>,
    /// Delay of the Iub, one way.
    pub iub_delay: Duration,
    /// When blocks leave the RNC.
    pub iub_timing: IubTiming,
    /// How long before its frame RLC is asked for blocks (EURANE: 1 ms), both ways.
    pub rlc_lead: Duration,
    /// How the FACH is shared.
    pub fach: FachMode,
    /// How the RACH is shared.
    pub rach: RachMode,
    /// The most that is given away to DCHs.
    pub limits: Limits,
    /// What is reserved for good: the common channel, and the DCHs of UEs that are not switched.
    pub reserved: Reserved,
}

/// When blocks leave the RNC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IubTiming {
    /// So that they reach the Node B when their frame begins (TS 25.402 §7.2).
    JustInTime,
    /// On the RNC's own ticks: they wait at the Node B for the next frame.
    NextFrame,
}

/// How the FACH is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FachMode {
    /// MAC-c asks the UEs' RLC entities in turn.
    Pull,
    /// EURANE: each UE's RLC sends at the full rate into a drop-tail queue of `nodeb_queue` blocks; each block is up to
    /// `jitter` late.
    PerUePush {
        /// Blocks that the Node B keeps.
        nodeb_queue: u32,
        /// Most that a block leaves late.
        jitter: Duration,
    },
}

/// How the RACH is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RachMode {
    /// Contention for access slots and signatures.
    Shared,
    /// EURANE: a pipe for each UE, with up to `access_delay` of delay.
    Private {
        /// Most that an access takes.
        access_delay: Duration,
    },
}

/// One user equipment and its bearer.
#[derive(Debug, Clone)]
pub struct UeConfig {
    /// Index of its cell.
    pub cell: usize,
    /// Header compression, both directions alike.
    pub pdcp: Option<PdcpConfig>,
    /// RLC, both ends alike.
    pub rlc: RlcConfig,
    /// Whether they exchange octets.
    pub wire_mode: bool,
    /// What it uses in each direction; where it is switched, at the beginning: FACH and RACH.
    pub channels: [ChannelConfig; 2],
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
    /// FACH and RACH, or a DCH.
    pub dedicated: bool,
    /// TTI and blocks.
    pub format: TransportFormat,
    /// Size of one block on the Iub.
    pub block_bits: u32,
}

/// One flow of one UE.
#[derive(Debug, Clone)]
pub struct FlowConfig {
    /// Whose it is.
    pub ue: UeId,
    /// The way its data goes.
    pub direction: Direction,
    /// What is asked for.
    pub traffic: TrafficConfig,
    /// When it begins.
    pub start: Time,
    /// Both ends' TCP.
    pub tcp: TcpConfig,
    /// The advertised window is so many segments, whatever segment size a connection has.
    pub window_in_segments: bool,
}
