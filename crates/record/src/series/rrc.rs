//! The tables `rrc_state`, `cell` and `dch_requests`: RRC states of users, reserved capacity of
//! cells, and answers to requests for DCHs, with one row per change or answer.

use umts_stack::ids::UeId;
use umts_stack::rnc::rrc::RrcState;
use umts_units::Time;

use super::table::{Recorded, Rows, Table, row};

row! {
    /// The state of a user from a time on. During a switch `towards` is the target state.
    State "rrc_state" {
        time_s: Float "s",
        ue: Id "",
        state: Word "",
        towards: Word "",
    }
}

impl State {
    pub fn new(at: Time, ue: UeId, state: RrcState, towards: Option<RrcState>) -> Self {
        State {
            time_s: at.as_secs(),
            ue: u32::from(ue.0),
            state: state.name(),
            towards: towards.map_or("", RrcState::name),
        }
    }
}

row! {
    /// Reserved rates of a cell from a time on.
    Reserved "cell" {
        time_s: Float "s",
        cell: Id "",
        downlink_kbps: Float "kbit/s",
        uplink_kbps: Float "kbit/s",
        dchs: Count "",
        is_full: Flag "",
    }
}

impl Reserved {
    pub fn new(at: Time, cell: u16, rates: [u64; 2], dchs: u32, is_full: bool) -> Self {
        let [downlink, uplink] = rates;
        Reserved {
            time_s: at.as_secs(),
            cell: u32::from(cell),
            downlink_kbps: downlink as f64 / 1e3,
            uplink_kbps: uplink as f64 / 1e3,
            dchs: u64::from(dchs),
            is_full,
        }
    }
}

row! {
    /// The answer to a request for a DCH: the UE, whether it repeats a request, and the answer.
    Answer "dch_requests" {
        time_s: Float "s",
        ue: Id "",
        again: Flag "",
        answer: Word "",
    }
}

/// Pending and answered requests for a DCH.
#[derive(Debug, Default)]
pub(super) struct Requests {
    answers: Rows<Answer>,
    /// Whether the last request of each UE was a repetition.
    is_repetition: Vec<bool>,
}

impl Requests {
    /// Records a request. Its answer follows.
    pub fn begin(&mut self, ue: UeId, again: bool) {
        let ue = usize::from(ue.0);
        if self.is_repetition.len() <= ue {
            self.is_repetition.resize(ue + 1, false);
        }
        self.is_repetition[ue] = again;
    }

    /// Records the answer to the last request of a UE.
    pub fn push(&mut self, at: Time, ue: UeId, answer: &'static str) {
        let is_repeated = self.is_repetition.get(usize::from(ue.0)).copied().unwrap_or(false);
        self.answers.push(Answer { time_s: at.as_secs(), ue: u32::from(ue.0), again: is_repeated, answer });
    }
}

impl Recorded for Requests {
    fn rows(&self) -> usize {
        self.answers.rows()
    }

    fn take(&mut self, now: Time) -> Table {
        self.answers.take(now)
    }
}
