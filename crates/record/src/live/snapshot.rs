//! Copies of the live state, which other threads can read.

use umts_stack::ids::UeId;
use umts_units::Time;

use super::{LiveCell, LiveState, LiveUe, Notable, NotableKind, Point};

/// Limits on the content of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotSize {
    /// Largest number of users: those with the lowest numbers.
    pub ues: usize,
    /// Bins of each point of a history, at least 1.
    pub bins: usize,
    /// Largest number of points of each history.
    pub points: usize,
}

/// A copy of the state at an instant.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Number of all users.
    pub users: usize,
    /// The users that are part of the copy.
    pub ues: Vec<UeSnapshot>,
    /// The cells, as in [`LiveState::cells`].
    pub cells: Vec<Option<LiveCell>>,
    /// Numbers of notable events, in the order of [`NotableKind::ALL`].
    pub counts: [u64; NotableKind::ALL.len()],
    /// The last notable events, the newest last.
    pub notable: Vec<Notable>,
}

/// A user in a copy.
#[derive(Debug, Clone)]
pub struct UeSnapshot {
    pub state: LiveUe,
    /// Rates in bit/s of the SDUs that the UE received during the last `RATE_WINDOW`, by direction.
    pub rates: [f64; 2],
    /// The last points of the history. Those of all users end at the same instants.
    pub history: Vec<Point>,
}

impl LiveState {
    /// Copies the state at `now`, which must not be before the last event.
    pub fn snapshot(&mut self, now: Time, size: SnapshotSize) -> Snapshot {
        self.advance(now);
        let SnapshotSize { ues, bins, points } = size;
        let shown = (0..).map(UeId).zip(self.ues()).take(ues);
        let shown = shown.map(|(number, ue)| UeSnapshot {
            state: ue.clone(),
            rates: self.rates(number),
            history: self.history(number, bins, points),
        });
        Snapshot {
            users: self.ues().len(),
            ues: shown.collect(),
            cells: self.cells().to_vec(),
            counts: NotableKind::ALL.map(|kind| self.count(kind)),
            notable: self.last_events().cloned().collect(),
        }
    }
}
