//! Where users are, what cells have reserved, and who was given a DCH: a row for every change and every answer.

use umts_stack::ids::UeId;
use umts_stack::rnc::rrc::RrcState;
use umts_units::Time;

use super::table::{Column, Recorded, Table, Values};

/// States of users by time. Between two states `towards` names the one sought.
#[derive(Debug, Default)]
pub(super) struct States {
    time_s: Vec<f64>,
    ue: Vec<u32>,
    state: Vec<&'static str>,
    towards: Vec<&'static str>,
}

impl States {
    pub fn push(&mut self, at: Time, ue: UeId, state: RrcState, towards: Option<RrcState>) {
        self.time_s.push(at.as_secs());
        self.ue.push(u32::from(ue.0));
        self.state.push(state.name());
        self.towards.push(towards.map_or("", RrcState::name));
    }
}

impl Recorded for States {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        let columns = vec![
            Column::new("time_s", "s", Values::Float(all.time_s)),
            Column::new("ue", "", Values::Id(all.ue)),
            Column::new("state", "", Values::Word(all.state)),
            Column::new("towards", "", Values::Word(all.towards)),
        ];
        Table { name: "rrc_state", columns }
    }
}

/// Reserved rates of cells by time.
#[derive(Debug, Default)]
pub(super) struct Reserved {
    time_s: Vec<f64>,
    cell: Vec<u32>,
    downlink: Vec<f64>,
    uplink: Vec<f64>,
    dchs: Vec<u64>,
    is_full: Vec<bool>,
}

impl Reserved {
    pub fn push(&mut self, at: Time, cell: u16, rates: [u64; 2], dchs: u32, is_full: bool) {
        self.time_s.push(at.as_secs());
        self.cell.push(u32::from(cell));
        self.downlink.push(rates[0] as f64 / 1e3);
        self.uplink.push(rates[1] as f64 / 1e3);
        self.dchs.push(u64::from(dchs));
        self.is_full.push(is_full);
    }
}

impl Recorded for Reserved {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        let columns = vec![
            Column::new("time_s", "s", Values::Float(all.time_s)),
            Column::new("cell", "", Values::Id(all.cell)),
            Column::new("downlink_kbps", "kbit/s", Values::Float(all.downlink)),
            Column::new("uplink_kbps", "kbit/s", Values::Float(all.uplink)),
            Column::new("dchs", "", Values::Count(all.dchs)),
            Column::new("is_full", "", Values::Flag(all.is_full)),
        ];
        Table { name: "cell", columns }
    }
}

/// What became of requests for a DCH, by time: who asked, whether for the same need again, and the answer.
#[derive(Debug, Default)]
pub(super) struct Requests {
    time_s: Vec<f64>,
    ue: Vec<u32>,
    again: Vec<bool>,
    answer: Vec<&'static str>,
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
        self.time_s.push(at.as_secs());
        self.ue.push(u32::from(ue.0));
        self.again.push(self.repeated.get(usize::from(ue.0)).copied().unwrap_or(false));
        self.answer.push(answer);
    }
}

impl Recorded for Requests {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let columns = vec![
            Column::new("time_s", "s", Values::Float(std::mem::take(&mut self.time_s))),
            Column::new("ue", "", Values::Id(std::mem::take(&mut self.ue))),
            Column::new("again", "", Values::Flag(std::mem::take(&mut self.again))),
            Column::new("answer", "", Values::Word(std::mem::take(&mut self.answer))),
        ];
        Table { name: "dch_requests", columns }
    }
}
