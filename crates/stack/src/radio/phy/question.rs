//! The one question that the radio is asked.

use crate::ids::{CellId, Direction, UeId};
use crate::radio::mac::TransportFormat;

/// Which of these blocks are lost on the air?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The cell in which they are sent.
    pub cell: CellId,
    /// The UE to which they go, or from which they come.
    pub ue: UeId,
    /// The way they go.
    pub direction: Direction,
    /// The number of their TTI. TTIs do not go back.
    pub tti: u64,
    /// The number of the first of them in its TTI: where a TTI is asked for piece by piece it is not 0.
    pub first: u32,
    /// How many there are.
    pub blocks: u32,
    /// The full transport format of their channel.
    pub format: TransportFormat,
}
