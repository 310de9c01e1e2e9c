//! What a cell is made of.

use umts_units::{BitRate, Duration};

use crate::nodeb::IubTiming;
use crate::rnc::{Limits, Reserved};

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

/// How the FACH is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FachMode {
    /// MAC-c asks the UEs' RLC entities, one after another.
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
