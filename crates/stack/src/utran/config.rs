//! What a cell is made of.

use std::sync::Arc;

use umts_units::Duration;

use crate::mac::hs::HsDschConfig;
use crate::nodeb::Iub;
use crate::rnc::tdd::TddConfig;
use crate::rnc::{Limits, Reserved};

/// One cell: its Iub and its common channels.
#[derive(Debug, Clone)]
pub struct CellConfig {
    /// What its blocks cross between RNC and Node B.
    pub iub: Iub,
    /// How the FACH is shared.
    pub fach: FachMode,
    /// How the RACH is shared.
    pub rach: RachMode,
    /// The most that is given away to DCHs.
    pub limits: Limits,
    /// What is reserved for good: the common channel, and the DCHs of UEs that are not switched.
    pub reserved: Reserved,
    /// Its HS-DSCH, which exists if a UE uses it.
    pub hs_dsch: Arc<HsDschConfig>,
    /// Time division duplex: no FACH and RACH as above, and capacity on request; `None`: FDD.
    pub tdd: Option<TddConfig>,
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
