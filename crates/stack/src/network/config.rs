//! What a network is made of, in the words of the stack.

pub use crate::hosts::FlowConfig;
pub use crate::nodeb::Iub;
pub use crate::rnc::SchedulerKind;
pub use crate::ue::{ChannelConfig, SubstituteConfig, SwitchingConfig, UeConfig};
pub use crate::utran::{CellConfig, FachMode, RachMode};

use crate::core_network::{Impairment, LinkConfig};
use crate::proxy::ProxyConfig;
use crate::rnc::multicell::MulticellConfig;

/// A whole network.
#[derive(Debug, Clone)]
pub struct NetworkConfig {
    /// The chain of links from the server to the RNC.
    pub core: Vec<LinkConfig>,
    /// The proxy, if there is one.
    pub proxy: Option<ProxyConfig>,
    /// The cells.
    pub cells: Vec<CellConfig>,
    /// What they share where they are those of a layout: the air, and DSCHs.
    pub sectors: Option<MulticellConfig>,
    /// The user equipments.
    pub ues: Vec<UeConfig>,
    /// What they do.
    pub flows: Vec<FlowConfig>,
    /// Whether real programs send too: they have a server of their own.
    pub programs: bool,
    /// Whether the proxy splits their connections: its ends are real ones too.
    pub splits_programs: bool,
    /// What is done to single packets.
    pub impairments: Vec<Impairment>,
}
