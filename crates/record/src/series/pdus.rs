//! The table `rlc_pdus`: every PDU that leaves RLC, in the order of leaving, with its polling bit
//! and its status report, and whether it was lost on the air or at the Node B. The end of a row is
//! the time at which its block set reached the other side, or would have reached it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

use umts_stack::detail::{Detail, PollCauses, Stage};
use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::rlc::{BlockSet, DataRun, Pdu, Status};
use umts_units::Time;

use super::table::{Column, Recorded, Table, Values};

/// The table under construction. A PDU in transit at the end of the run counts as not lost.
#[derive(Debug, Default)]
pub(super) struct PduTable {
    rows: Vec<Row>,
    /// Number of rows taken before.
    taken_rows: usize,
    /// By UE and direction.
    bearers: Vec<[Bearer; 2]>,
}

#[derive(Debug)]
struct Row {
    /// When the PDU left RLC.
    at: Time,
    /// When the PDU arrived at the other side, or would have arrived.
    end: Time,
    ue: u16,
    direction: Direction,
    kind: &'static str,
    /// Sequence number of a PDU with data.
    sn: Option<u16>,
    /// Number of the transmission of the PDU, from 1.
    transmission: Option<u32>,
    /// The PDU has the polling bit, or a POLL SUFI.
    polls: bool,
    /// Reasons of the poll.
    poll_causes: PollCauses,
    /// LSN of a STATUS: all PDUs below it are acknowledged, except the PDUs in `missing`.
    lsn: Option<u16>,
    /// Sequence numbers that a STATUS reports as missing, separated by spaces.
    missing: String,
    lost: bool,
}

/// State of a bearer for its rows.
#[derive(Debug, Default)]
struct Bearer {
    /// Poll reasons of the PDUs of the next block set.
    causes: VecDeque<PollCauses>,
    /// First rows of the block sets on their way, by serial. Row numbers include the rows taken
    /// before.
    in_transit: BTreeMap<u64, usize>,
    /// Number of transmissions of each PDU in acknowledged mode, by sequence number.
    sent: BTreeMap<u16, u32>,
}

impl PduTable {
    pub fn show(&mut self, at: Time, detail: &Detail<'_>) {
        match *detail {
            Detail::Poll { ue, direction, causes } => self.bearer(ue, direction).causes.push_back(causes),
            Detail::Blocks { ue, direction, set, stage: Stage::Leaves, .. } => {
                self.add_rows(at, ue, direction, set);
            }
            Detail::Blocks { ue, direction, set, stage: Stage::Dropped, .. } => {
                self.end_rows(at, ue, direction, set, |_| true);
            }
            Detail::Blocks { ue, direction, set, stage: Stage::Arrives(lost), .. } => {
                self.end_rows(at, ue, direction, set, |block| lost.contains(block));
            }
            Detail::Blocks { stage: Stage::OnAir, .. }
            | Detail::InSequence { .. }
            | Detail::Skipped { .. }
            | Detail::Discarded { .. }
            | Detail::HsRequest { .. }
            | Detail::HsCredits { .. }
            | Detail::HsPdusSent { .. }
            | Detail::EDchFrame { .. }
            | Detail::Slot { .. } => {}
        }
    }

    fn bearer(&mut self, ue: UeId, direction: Direction) -> &mut Bearer {
        if ue.index() >= self.bearers.len() {
            self.bearers.resize_with(ue.index() + 1, Default::default);
        }
        &mut self.bearers[ue.index()][direction.index()]
    }

    /// Adds a row for each PDU of a block set that leaves RLC. The arrival of the set completes the
    /// rows.
    fn add_rows(&mut self, at: Time, ue: UeId, direction: Direction, set: &BlockSet) {
        let first_row = self.taken_rows + self.rows.len();
        let mut rows = std::mem::take(&mut self.rows);
        let bearer = self.bearer(ue, direction);
        bearer.in_transit.insert(set.serial, first_row);
        for pdu in &set.pdus {
            for offset in 0..pdu.blocks() {
                let mut row = Row::new(at, ue, direction, pdu);
                if let Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) = pdu {
                    bearer.describe_data(&mut row, run, offset);
                }
                match pdu {
                    Pdu::Status(status) | Pdu::Data(DataRun { piggyback: Some(status), .. }) => {
                        row.set_report(set, status);
                        if status.poll.is_some() {
                            bearer.set_poll(&mut row);
                        }
                    }
                    _ => {}
                }
                rows.push(row);
            }
        }
        bearer.causes.clear();
        self.rows = rows;
    }

    /// The blocks of a set arrived or were lost.
    fn end_rows(
        &mut self,
        at: Time,
        ue: UeId,
        direction: Direction,
        set: &BlockSet,
        is_lost: impl Fn(u32) -> bool,
    ) {
        let Some(first_row) = self.bearer(ue, direction).in_transit.remove(&set.serial) else { return };
        for (block, row) in (0..set.blocks).zip(&mut self.rows[first_row - self.taken_rows..]) {
            (row.end, row.lost) = (at, is_lost(block));
        }
    }
}

impl Recorded for PduTable {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    /// A row can change until its block set has arrived, so rows are taken only up to the first
    /// block set on its way.
    fn take(&mut self, now: Time) -> Table {
        let all = self.taken_rows + self.rows.len();
        let in_transit = self.bearers.iter().flatten().flat_map(|bearer| bearer.in_transit.values());
        let end = if now == Time::NEVER { all } else { in_transit.copied().min().unwrap_or(all) };
        let rows: Vec<Row> = self.rows.drain(..end - self.taken_rows).collect();
        self.taken_rows = end;
        let words = |of: fn(&Row) -> &'static str| Values::Word(rows.iter().map(of).collect());
        let floats = |of: fn(&Row) -> f64| Values::Float(rows.iter().map(of).collect());
        let ids = |of: fn(&Row) -> Option<u32>| Values::OptionalId(rows.iter().map(of).collect());
        let flags = |of: fn(&Row) -> bool| Values::Flag(rows.iter().map(of).collect());
        let texts = |of: fn(&Row) -> String| Values::Text(rows.iter().map(of).collect());
        let columns = vec![
            Column::new("time_s", "s", floats(|row| row.at.as_secs())),
            Column::new("end_s", "s", floats(|row| row.end.as_secs())),
            Column::new("ue", "", Values::Id(rows.iter().map(|row| u32::from(row.ue)).collect())),
            Column::new("direction", "", words(|row| row.direction.name())),
            Column::new("kind", "", words(|row| row.kind)),
            Column::new("sn", "", ids(|row| row.sn.map(u32::from))),
            Column::new("transmission", "", ids(|row| row.transmission)),
            Column::new("polls", "", flags(|row| row.polls)),
            Column::new("poll_causes", "", texts(|row| row.poll_causes.to_string())),
            Column::new("lsn", "", ids(|row| row.lsn.map(u32::from))),
            Column::new("lost", "", flags(|row| row.lost)),
            Column::new("missing", "", texts(|row| row.missing.clone())),
        ];
        Table { name: "rlc_pdus", columns }
    }
}

impl Bearer {
    /// Sets number, number of transmissions and polling bit of the data PDU at `offset` in its run.
    fn describe_data(&mut self, row: &mut Row, run: &DataRun, offset: u32) {
        let sn = run.first.plus(u64::from(offset)).value();
        // Unacknowledged mode has sequence numbers of 7 bits.
        row.sn = Some(if row.kind == "umd" { sn % 128 } else { sn });
        if row.kind != "amd" {
            return;
        }
        let sent = self.sent.entry(sn).or_default();
        *sent = if run.retransmission { *sent + 1 } else { 1 };
        row.transmission = Some(*sent);
        // Only the last PDU of a run can poll.
        if run.poll && offset + 1 == u32::from(run.count) {
            self.set_poll(row);
        }
    }

    /// The PDU of the row polls, for the first of the reasons that are left.
    fn set_poll(&mut self, row: &mut Row) {
        row.polls = true;
        row.poll_causes = self.causes.pop_front().unwrap_or_default();
    }
}

impl Row {
    fn new(at: Time, ue: UeId, direction: Direction, pdu: &Pdu) -> Self {
        Row {
            at,
            end: at,
            ue: ue.0,
            direction,
            kind: pdu.name(),
            sn: None,
            transmission: None,
            polls: false,
            poll_causes: PollCauses::default(),
            lsn: None,
            missing: String::new(),
            lost: false,
        }
    }

    /// Sets the content of a STATUS.
    fn set_report(&mut self, set: &BlockSet, status: &Status) {
        self.lsn = status.lsn.map(|lsn| lsn.value());
        for run in set.missing_of(status) {
            for step in 0..u64::from(run.count) {
                let separator = if self.missing.is_empty() { "" } else { " " };
                write!(self.missing, "{separator}{}", run.first.plus(step).value())
                    .expect("writing to a String cannot fail");
            }
        }
    }
}
