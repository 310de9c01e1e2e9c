//! Configuration of a network: the parts of a checked scenario that the stack needs. The crate
//! `simulate` fills it in.

pub use crate::hosts::FlowConfig;
pub use crate::nodeb::Iub;
pub use crate::scheduling::SchedulerKind;
pub use crate::ue::{ChannelConfig, SubstituteConfig, SwitchingConfig, UeConfig};
pub use crate::utran::{CellConfig, FachMode, RachMode};

use super::TimedChange;
use crate::core_network::{Impairment, LinkConfig};
use crate::proxy::ProxyConfig;
use crate::rnc::multicell::MulticellConfig;

/// Configuration of a network.
#[derive(Debug, Clone)]
pub struct NetworkConfig {
    /// The chain of links from the server to the RNC.
    pub core: Vec<LinkConfig>,
    pub proxy: Option<ProxyConfig>,
    pub cells: Vec<CellConfig>,
    /// Air interface and DSCHs that the cells of a layout share.
    pub sectors: Option<MulticellConfig>,
    pub ues: Vec<UeConfig>,
    pub flows: Vec<FlowConfig>,
    /// Whether real programs send packets. They have a server of their own.
    pub programs: bool,
    /// Whether the proxy splits connections of real programs. Its ends are real as well.
    pub splits_programs: bool,
    pub impairments: Vec<Impairment>,
    pub changes: Vec<TimedChange>,
}
