//! The tables of the timeline.

use umts_stack::detail::PollCauses;
use umts_stack::radio::phy::Lost;

use super::table::{TimelineRow, table};
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
    /// `last` are the numbers of the PDUs, which do not wrap around. `ahead_octets` were in the
    /// buffer before.
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
    /// Consecutive PDUs of a block set with the same fate.
    PduPart "timeline_pdus" {
        time_s: Float "s",
        end_s: OptionalFloat "s",
        ue: Id "",
        direction: Word "",
        block_set: Count "",
        channel: Word "",
        kind: Word "",
        first: OptionalId "",
        last: OptionalId "",
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
    fn divide(&self, parts: &mut Vec<PduPart>) {
        let mut start = 0;
        while start < self.count {
            let is_lost = |step: u32| self.lost.contains(self.block + step);
            let lost = is_lost(start);
            let length = (start..self.count).take_while(|step| is_lost(*step) == lost).count() as u32;
            let is_last = start + length == self.count;
            let number = |step: u32| self.first.map(|first| (first + u64::from(step)) as u32);
            parts.push(PduPart {
                time_s: self.time_s,
                end_s: self.end_s,
                ue: self.ue,
                direction: self.direction,
                block_set: self.block_set,
                channel: self.channel,
                kind: self.kind,
                first: number(start),
                last: number(start + length - 1),
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
    /// `missing`.
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
    /// A request for a DCH with the answer. `dchs` is the number of DCHs in the cell at the time of
    /// the answer, `holders` lists their UEs.
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
    /// A timer from the start to the expiry or stop.
    TimerRow "timeline_timers" {
        time_s: Float "s",
        end_s: OptionalFloat "s",
        timer: Word "",
        ue: Id "",
        connection: OptionalId "",
        direction: Word "",
        outcome: Word "",
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
    /// An event without duration.
    EventRow "timeline_events" {
        time_s: Float "s",
        ue: OptionalId "",
        connection: OptionalId "",
        direction: Word "",
        kind: Word "",
        number: OptionalId "",
    }
}
