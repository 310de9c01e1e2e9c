//! The turns of all cells.

use umts_units::{Duration, Time};

use crate::rnc::mac_sh::MacShConfig;

/// Interval of the measurements of a mobile. A part of the mobiles is measured in each TTI (Rendón
/// et al. 2004, §3.2).
pub(super) const MEASURED_EACH: Duration = Duration::from_millis(100);

/// A turn whose measurements are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeasuredTurn {
    pub now: Time,
    pub number: u64,
}

impl MeasuredTurn {
    /// Whether a call or user with this number is measured in this turn, if each is measured once
    /// per `period` turns.
    pub fn measures(self, number: u64, period: u64) -> bool {
        number % period == self.number % period
    }
}

/// Turns of all cells: TTIs, or frames if the DSCH is scheduled every frame. For example, a TTI of
/// 20 ms with decisions every frame has 2 turns, an interval of 10 ms and a period of 10 turns.
#[derive(Debug)]
pub(super) struct Clock {
    /// Number of the next turn, from 0.
    pub turn: u64,
    /// Number of turns in a TTI of the DSCH: a power of two.
    pub turns_per_tti: u64,
    /// Number of turns between two measurements of a mobile.
    pub period: u64,
    /// Time between two turns.
    pub interval: Duration,
    /// Start of the next turn.
    pub next_turn: Time,
    /// Whether the measurements of the next turn are made.
    pub is_measured: bool,
}

impl Clock {
    /// The first turn is at the start of the run.
    pub fn new(dsch: &MacShConfig) -> Self {
        Clock {
            turn: 0,
            turns_per_tti: dsch.phases(),
            period: MEASURED_EACH / dsch.interval(),
            interval: dsch.interval(),
            next_turn: Time::ZERO,
            is_measured: false,
        }
    }
}
