//! Configuration of a cell in the radio access network: its Iub (the link from the RNC to the Node B),
//! its channels and the limits of admission.

use std::sync::Arc;

use umts_units::Duration;

use crate::mac::e::EDchConfig;
use crate::mac::hs::HsDschConfig;
use crate::nodeb::Iub;
use crate::rnc::tdd::TddConfig;
use crate::rnc::{Limits, Reserved};

/// A cell: its Iub, its common channels, and the limits of its DCHs.
#[derive(Debug, Clone)]
pub struct CellConfig {
    pub iub: Iub,
    pub fach: FachMode,
    pub rach: RachMode,
    /// Limits of DCHs.
    pub limits: Limits,
    /// Permanent reservations: the common channel, and the DCHs of UEs that do not switch channels.
    pub reserved: Reserved,
    /// The HS-DSCH, for UEs that use it.
    pub hs_dsch: Arc<HsDschConfig>,
    /// The E-DCH, for UEs that use it.
    pub e_dch: Arc<EDchConfig>,
    /// Time division duplex: capacity on request instead of FACH and RACH. `None`: FDD.
    pub tdd: Option<TddConfig>,
}

/// Scheduling of the FACH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FachMode {
    /// MAC-c queries the RLC entities of the UEs in turn.
    Pull,
    /// EURANE: RLC of each UE sends at the full rate into a drop-tail queue of `nodeb_queue` blocks. Each
    /// block is up to `jitter` late.
    PerUePush {
        /// Capacity of the Node B's queue in blocks.
        nodeb_queue: u32,
        /// Maximum delay of a block on leaving the RNC.
        jitter: Duration,
    },
}

/// Access to the RACH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RachMode {
    /// Contention for access slots and signatures.
    Shared,
    /// EURANE: a separate RACH for each UE.
    Private {
        /// Maximum random delay of an access.
        access_delay: Duration,
    },
}
