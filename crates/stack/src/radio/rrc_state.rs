//! The states of radio resource control (TS 25.331 §7.1).

/// Where a UE can be (TS 25.331 §7.1), in the order of what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RrcState {
    /// No RRC connection.
    Idle,
    /// Connected and reachable by paging in its registration area.
    UraPch,
    /// Connected and reachable by paging in its cell.
    CellPch,
    /// On the common channels FACH and RACH.
    CellFach,
    /// On a DCH.
    CellDch,
}

impl RrcState {
    /// All of them, in their order.
    pub const ALL: [RrcState; 5] =
        [RrcState::Idle, RrcState::UraPch, RrcState::CellPch, RrcState::CellFach, RrcState::CellDch];

    /// As TS 25.331 spells it.
    pub fn name(self) -> &'static str {
        match self {
            RrcState::Idle => "IDLE",
            RrcState::UraPch => "URA_PCH",
            RrcState::CellPch => "CELL_PCH",
            RrcState::CellFach => "CELL_FACH",
            RrcState::CellDch => "CELL_DCH",
        }
    }

    /// Whether user data can be sent in it.
    pub fn carries_data(self) -> bool {
        self >= RrcState::CellFach
    }
}
