//! The tables of the timeline: the type of a row, the name of its table, and the columns with their
//! units. [`table!`] declares them together.
//!
//! Numbers have 32 bits (`Id`) or 64 bits (`Count`). Columns that several tables share: `packet`
//! numbers the packets of the run, `block_set` the transport block sets; `time_s` and `end_s` are
//! the start and the end of the row.

use umts_stack::detail::PollCauses;
use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::phy::Lost;
use umts_units::{Duration, Time};

use super::table::{OpenRows, RowIndex, TimelineRow, table};
use crate::series::Column;

table! {
    /// A segment, from the sender to the arrival or loss. `repeats` is the packet that carried the
    /// same bytes before, `radio_s` the time of arrival in RLC.
    SegmentRow "timeline_segments" {
        time_s: Float "s",
        end_s: OptionalFloat "s",
        packet: Id "",
        connection: Id "",
        ue: Id "",
        direction: Word "",
        kind: Word "",
        cause: Word "",
        seq: Count "B",
        end: Count "B",
        ack: Count "B",
        payload: Count "B",
        repeats: OptionalId "",
        radio_s: OptionalFloat "s",
        lost: Flag "",
        loss: Word "",
    }
}

table! {
    /// An SDU in RLC: a packet from the transmission buffer to delivery or discard. `first` and
    /// `last` are the numbers of its PDUs, which do not wrap around. `ahead_octets` is the content
    /// of the buffer when the SDU enters it.
    SduRow "timeline_sdus" {
        time_s: Float "s",
        end_s: OptionalFloat "s",
        packet: Id "",
        ue: Id "",
        direction: Word "",
        octets: Count "B",
        ahead_octets: Count "B",
        first: OptionalId "",
        last: OptionalId "",
        first_sent_s: OptionalFloat "s",
        last_sent_s: OptionalFloat "s",
        fate: Word "",
        reason: Word "",
    }
}

table! {
    /// Consecutive PDUs of a block set with the same fate: `count` PDUs from number `first` on. The
    /// number of the last PDU is not stored: in a file, a column of counts takes a tenth of the
    /// space of a column of last numbers. `transmission` is the number of the transmission, from 1.
    PduPart "timeline_pdus" {
        time_s: Float "s",
        end_s: OptionalFloat "s",
        ue: Id "",
        direction: Word "",
        block_set: Count "",
        channel: Word "",
        kind: Word "",
        first: OptionalId "",
        count: Id "",
        transmission: OptionalId "",
        poll: Flag "",
        poll_causes: Text "",
        lost: Flag "",
        lost_at: Word "",
    }
}

/// Consecutive PDUs of a block set with the same number of transmissions. Divided into
/// [`PduPart`]s when the table is written.
#[derive(Debug, Clone)]
pub(super) struct PduRun {
    pub time_s: f64,
    pub end_s: Option<f64>,
    pub ue: u32,
    pub direction: &'static str,
    pub block_set: u64,
    pub channel: &'static str,
    pub kind: &'static str,
    /// Number of the first PDU. `None` for control PDUs.
    pub first: Option<u64>,
    pub count: u32,
    pub transmission: Option<u32>,
    /// Set in the last PDU.
    pub poll: bool,
    pub poll_causes: PollCauses,
    /// Position of the first PDU among the blocks of the set.
    pub block: u32,
    /// Lost blocks of the set, and the place of their loss.
    pub lost: Lost,
    pub lost_at: &'static str,
}

impl PduRun {
    /// Appends the parts of the run with the same fate to `parts`. A poll belongs to the last PDU,
    /// so to the last part.
    fn divide(&self, parts: &mut Vec<PduPart>) {
        let mut start = 0;
        while start < self.count {
            let is_lost = |offset: u32| self.lost.contains(self.block + offset);
            let lost = is_lost(start);
            let length = (start..self.count).take_while(|offset| is_lost(*offset) == lost).count() as u32;
            let is_last = start + length == self.count;
            parts.push(PduPart {
                time_s: self.time_s,
                end_s: self.end_s,
                ue: self.ue,
                direction: self.direction,
                block_set: self.block_set,
                channel: self.channel,
                kind: self.kind,
                first: self.first.map(|first| (first + u64::from(start)) as u32),
                count: length,
                transmission: self.transmission,
                poll: self.poll && is_last,
                poll_causes: if self.poll && is_last { self.poll_causes.to_string() } else { String::new() },
                lost,
                lost_at: if lost { self.lost_at } else { "" },
            });
            start += length;
        }
    }
}

impl TimelineRow for PduRun {
    const TABLE: &'static str = PduPart::TABLE;

    fn columns(rows: Vec<Self>) -> Vec<Column> {
        let mut parts = Vec::new();
        rows.iter().for_each(|row| row.divide(&mut parts));
        PduPart::columns(parts)
    }
}

table! {
    /// A transport block set of one UE, from RLC to the other side.
    BlockSetRow "timeline_block_sets" {
        time_s: Float "s",
        end_s: OptionalFloat "s",
        ue: Id "",
        direction: Word "",
        block_set: Count "",
        channel: Word "",
        blocks: Id "",
        lost_blocks: Id "",
        on_air_s: OptionalFloat "s",
        nodeb_drop: Flag "",
    }
}

table! {
    /// A STATUS with the reported PDUs. All PDUs below `below` are acknowledged, except those in
    /// `missing`. `mrw` is the sequence number to which a request moves the receiving window (MRW).
    StatusRow "timeline_status" {
        time_s: Float "s",
        end_s: OptionalFloat "s",
        ue: Id "",
        direction: Word "",
        block_set: Count "",
        piggybacked: Flag "",
        below: OptionalId "",
        missing: Text "",
        mrw: OptionalId "",
        lost: Flag "",
    }
}

table! {
    /// A discard of an SDU by RLC. `first` and `last` are unknown if no PDU of the SDU had left.
    DiscardRow "timeline_discards" {
        time_s: Float "s",
        packet: Id "",
        ue: Id "",
        direction: Word "",
        octets: Count "B",
        reason: Word "",
        first: OptionalId "",
        last: OptionalId "",
    }
}

table! {
    /// An RRC state of a UE, or a switch from `state` to `to`.
    RrcRow "timeline_rrc" {
        time_s: Float "s",
        end_s: OptionalFloat "s",
        ue: Id "",
        state: Word "",
        to: Word "",
        cause: Word "",
    }
}

table! {
    /// A request for a DCH with the answer. `again`: the same need was refused before. `dchs` is
    /// the number of DCHs in the cell at the time of the answer, `holders` lists their UEs.
    DchRequestRow "timeline_dch_requests" {
        time_s: Float "s",
        end_s: OptionalFloat "s",
        ue: Id "",
        cell: Id "",
        again: Flag "",
        answer: Word "",
        dchs: Id "",
        holders: Text "",
    }
}

table! {
    /// A timer from the start to the expiry or stop. `restarts` counts further starts in between,
    /// `last_start_s` is the last of them.
    TimerRow "timeline_timers" {
        time_s: Float "s",
        end_s: OptionalFloat "s",
        timer: Word "",
        ue: Id "",
        connection: OptionalId "",
        direction: Word "",
        outcome: Word "",
        restarts: Id "",
        last_start_s: OptionalFloat "s",
    }
}

/// A timer that is restarted after this time gets a new row. Rows are written in order, so an open
/// row keeps all later rows in memory.
const LONGEST_RESTARTED: Duration = Duration::from_secs(10);

impl TimerRow {
    /// The row of a timer that starts now.
    pub fn start(now: Time, timer: &'static str, ue: UeId, direction: Direction) -> Self {
        TimerRow {
            time_s: now.as_secs(),
            end_s: None,
            timer,
            ue: u32::from(ue.0),
            connection: None,
            direction: direction.name(),
            outcome: "running",
            restarts: 0,
            last_start_s: None,
        }
    }
}

impl OpenRows<TimerRow> {
    /// A running timer starts again. Returns false if its row is too long and was closed, so that the
    /// timer needs a new row.
    pub fn restart(&mut self, now: Time, index: RowIndex) -> bool {
        let Some(row) = self.get(index) else { return false };
        if now.as_secs() - row.time_s < LONGEST_RESTARTED.as_secs() {
            (row.restarts, row.last_start_s) = (row.restarts + 1, Some(now.as_secs()));
            return true;
        }
        if let Some(row) = self.close(index) {
            (row.end_s, row.outcome) = (Some(now.as_secs()), "restarted");
        }
        false
    }
}

table! {
    /// A transmission of a block on the HS-DSCH: `pdus` MAC-d PDUs in the format for the reported
    /// CQI. `attempt` is the number of the transmission, from 1. `last`: it is not repeated.
    HsBlockRow "timeline_hs_blocks" {
        time_s: Float "s",
        ue: Id "",
        cqi: Id "",
        attempt: Id "",
        pdus: Id "",
        decoded: Flag "",
        last: Flag "",
    }
}

table! {
    /// An allocation of credits for the HS-DSCH that reaches the RNC: the number of PDUs that the
    /// RNC may send to the Node B (TS 25.435 §5.11).
    HsCreditRow "timeline_hs_credits" {
        time_s: Float "s",
        ue: Id "",
        credits: Id "PDU",
    }
}

table! {
    /// A transmission of a block of `bits` bits with `pdus` MAC-d PDUs on the E-DCH. `attempt` is
    /// the number of the transmission, from 1. `last`: the block has ended. `happy` is the happy bit
    /// (TS 25.321 §11.8.1.5), `noise_rise_db` the noise rise of the cell by its E-DCH users.
    EBlockRow "timeline_e_blocks" {
        time_s: Float "s",
        ue: Id "",
        attempt: Id "",
        bits: Id "bit",
        pdus: Id "",
        happy: Flag "",
        decoded: Flag "",
        last: Flag "",
        noise_rise_db: Float "dB",
    }
}

table! {
    /// A serving grant that the Node B sends to a UE. `index` is the index in TS 25.321 table
    /// 9.2.5.2.1.1, `ratio` the power of the E-DPDCHs relative to the DPCCH that it allows (linear).
    /// The zero grant has no index, and the ratio 0.
    EGrantRow "timeline_e_grants" {
        time_s: Float "s",
        ue: Id "",
        index: OptionalId "",
        ratio: Float "",
        absolute: Flag "",
    }
}

table! {
    /// A loss of a packet, with the link of the fixed network where it happened.
    LossRow "timeline_losses" {
        time_s: Float "s",
        packet: Id "",
        connection: OptionalId "",
        ue: OptionalId "",
        direction: Word "",
        loss: Word "",
        link: OptionalId "",
    }
}

table! {
    /// An event without duration. `number` depends on `kind`: the cell to which a `handover` goes,
    /// the count of a `duplicate_ack`, the back-off factor after an `rto`. Other kinds have none.
    EventRow "timeline_events" {
        time_s: Float "s",
        ue: OptionalId "",
        connection: OptionalId "",
        direction: Word "",
        kind: Word "",
        number: OptionalId "",
    }
}
