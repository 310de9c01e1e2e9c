//! Where users are, what cells have reserved, and who was given a DCH: a row for every change and every answer.

use umts_stack::ids::UeId;
use umts_stack::rnc::rrc::RrcState;
use umts_units::Time;

use super::table::{Recorded, Table, columns};

columns! {
    /// States of users by time. Between two states `towards` names the one sought.
    States "rrc_state" {
        time_s: Float "s",
        ue: Id "",
        state: Word "",
        towards: Word "",
    }
}

impl States {
    pub fn push(&mut self, at: Time, ue: UeId, state: RrcState, towards: Option<RrcState>) {
        self.time_s.push(at.as_secs());
        self.ue.push(u32::from(ue.0));
        self.state.push(state.name());
        self.towards.push(towards.map_or("", RrcState::name));
    }
}

columns! {
    /// Reserved rates of cells by time.
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
    pub fn push(&mut self, at: Time, cell: u16, rates: [u64; 2], dchs: u32, is_full: bool) {
        self.time_s.push(at.as_secs());
        self.cell.push(u32::from(cell));
        self.downlink_kbps.push(rates[0] as f64 / 1e3);
        self.uplink_kbps.push(rates[1] as f64 / 1e3);
        self.dchs.push(u64::from(dchs));
        self.is_full.push(is_full);
    }
}

columns! {
    /// What became of requests for a DCH, by time: who asked, whether for the same need again, and the answer.
    Answers "dch_requests" {
        time_s: Float "s",
        ue: Id "",
        again: Flag "",
        answer: Word "",
    }
}

/// Requests for a DCH that wait for their answers, and those that have them.
#[derive(Debug, Default)]
pub(super) struct Requests {
    answers: Answers,
    /// By UE, whether its last request was made again.
    repeated: Vec<bool>,
}

impl Requests {
    /// A UE asks; the answer follows.
    pub fn asked(&mut self, ue: UeId, again: bool) {
        let ue = usize::from(ue.0);
        if self.repeated.len() <= ue {
            self.repeated.resize(ue + 1, false);
        }
        self.repeated[ue] = again;
    }

    pub fn push(&mut self, at: Time, ue: UeId, answer: &'static str) {
        let Answers { time_s, ue: ues, again, answer: answers } = &mut self.answers;
        time_s.push(at.as_secs());
        ues.push(u32::from(ue.0));
        again.push(self.repeated.get(usize::from(ue.0)).copied().unwrap_or(false));
        answers.push(answer);
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
