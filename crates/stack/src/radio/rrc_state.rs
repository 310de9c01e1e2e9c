//! The states of radio resource control (TS 25.331 §7.1).

/// RRC states, and idle mode, in ascending order of their use of radio resources.
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
    pub const ALL: [RrcState; 5] =
        [RrcState::Idle, RrcState::UraPch, RrcState::CellPch, RrcState::CellFach, RrcState::CellDch];

    /// Name in TS 25.331.
    pub fn name(self) -> &'static str {
        match self {
            RrcState::Idle => "IDLE",
            RrcState::UraPch => "URA_PCH",
            RrcState::CellPch => "CELL_PCH",
            RrcState::CellFach => "CELL_FACH",
            RrcState::CellDch => "CELL_DCH",
        }
    }

    /// Whether user data can be sent.
    pub fn carries_data(self) -> bool {
        self >= RrcState::CellFach
    }
}
