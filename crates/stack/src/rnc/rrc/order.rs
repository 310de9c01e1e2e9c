//! Orders of RRC to the network, and the answers of admission.

use umts_units::Duration;

use crate::trace::CellUpdateCause;

/// An order of RRC to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Stop sending in both directions.
    Suspend,
    /// Carry the UE's data on the common channels.
    UseCommon,
    /// Carry the UE's data on the DCHs of this bearer.
    UseDch(u8),
    /// Re-establish RLC at both ends.
    Reestablish,
    /// Start a [`CellUpdate`] on the common channels, and report its end to
    /// [`Rrc::handle_cell_update_end`].
    UpdateCell(CellUpdateCause),
    /// Request a DCH from admission, and pass the answer to [`Rrc::handle_answer`].
    RequestDch {
        /// The bearer in use. The new DCH must be larger and replaces it. `None`: any DCH.
        instead_of: Option<u8>,
    },
    /// Withdraw the queued request.
    Withdraw,
    /// Release the DCH.
    ReleaseDch,
    /// Change the DCH to this bearer.
    ChangeDch(u8),
}

/// Answer of admission to a request for a DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A DCH is granted.
    Granted {
        /// Index of its bearer in [`RrcConfig::dch`].
        dch: u8,
        /// Time until another UE's DCH is released. Zero if the DCH is free.
        after: Duration,
    },
    /// The request is queued. Another answer follows.
    Queued,
    /// No DCH is available.
    Refused,
}
