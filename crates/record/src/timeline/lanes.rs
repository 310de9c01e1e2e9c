//! The lanes of the timeline: the rows that a viewer draws above one time axis, declared once for
//! pages, `umts lanes`, exports and documentation.

/// A lane: the rows of one table, or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Name, unique among the lanes.
    pub name: &'static str,
    /// Protocol layer.
    pub layer: &'static str,
    /// The table of the rows. `time_s`, or `start_s`, is the start, and `end_s` is the end.
    pub table: &'static str,
    /// Column and value that select the rows. Empty if the lane has all rows of the table.
    pub filter: (&'static str, &'static str),
    /// The column with the text of a row.
    pub label: &'static str,
    /// Unit of the vertical axis. Empty for bars and marks.
    pub unit: &'static str,
    /// Meaning in one sentence.
    pub meaning: &'static str,
    /// Fill in the light and in the dark theme.
    pub colour: [&'static str; 2],
}

const BLUE: [&str; 2] = ["#0072b2", "#2f87c4"];
const LIGHT_BLUE: [&str; 2] = ["#56b4e9", "#7cc6f0"];
const GREEN: [&str; 2] = ["#009e73", "#1fa67f"];
const VERMILION: [&str; 2] = ["#d55e00", "#e8742c"];
const ORANGE: [&str; 2] = ["#e69f00", "#e9a820"];
const PURPLE: [&str; 2] = ["#cc79a7", "#d58bb4"];
const GREY: [&str; 2] = ["#5b636c", "#98a1aa"];
const LIGHT_GREY: [&str; 2] = ["#cdd2d8", "#4b525a"];

macro_rules! lanes {
    ($($name:literal: $layer:literal $table:literal [$column:literal = $value:literal] $label:literal
        $unit:literal $colour:ident $meaning:literal;)*) => {
        /// All lanes, from TCP down to the radio, then RRC and timers.
        pub const LANES: &[Lane] = &[$(Lane {
            name: $name,
            layer: $layer,
            table: $table,
            filter: ($column, $value),
            label: $label,
            unit: $unit,
            meaning: $meaning,
            colour: $colour,
        }),*];
    };
}

lanes! {
    "causes": "budget" "budget_intervals" ["" = ""] "cause" "" BLUE
        "What each connection waits for: the intervals of the time budget. Each cause has its own colour.";
    "segments": "TCP" "timeline_segments" ["cause" = "new"] "kind" "B" BLUE
        "Segments sent for the first time, from their sender to their arrival or loss.";
    "acknowledgments": "TCP" "timeline_segments" ["cause" = "ack"] "kind" "B" GREEN
        "Pure acknowledgments, from their sender to their arrival or loss.";
    "fast_retransmissions": "TCP" "timeline_segments" ["cause" = "dup_ack"] "kind" "B" VERMILION
        "Segments retransmitted after duplicate acknowledgments.";
    "retransmissions_after_timeouts": "TCP" "timeline_segments" ["cause" = "rto"] "kind" "B" VERMILION
        "Segments retransmitted after an expiry of the retransmission timer.";
    "timeouts": "TCP" "timeline_events" ["kind" = "rto"] "kind" "" VERMILION
        "Expiries of retransmission timers.";
    "retransmission_timer": "TCP" "timeline_timers" ["timer" = "rto"] "outcome" "" LIGHT_GREY
        "The retransmission timer of each sender, from its start to its expiry, restart or stop.";
    "sdus": "RLC" "timeline_sdus" ["" = ""] "fate" "B" LIGHT_BLUE
        "SDUs of RLC, from the transmission buffer to their delivery or discard.";
    "pdus": "RLC" "timeline_pdus" ["kind" = "amd"] "transmission" "PDU" BLUE
        "PDUs in acknowledged mode, from RLC to the other side or to their loss.";
    "unacknowledged_pdus": "RLC" "timeline_pdus" ["kind" = "umd"] "transmission" "PDU" BLUE
        "PDUs in unacknowledged mode, from RLC to the other side or to their loss.";
    "status": "RLC" "timeline_status" ["" = ""] "missing" "" PURPLE
        "STATUS reports with the missing PDUs that they list.";
    "discards": "RLC" "timeline_discards" ["" = ""] "reason" "" VERMILION
        "SDUs that RLC discarded.";
    "timer_poll": "RLC" "timeline_timers" ["timer" = "timer_poll"] "outcome" "" LIGHT_GREY
        "Timer_Poll of each sending RLC entity, from a poll to the expiry or the STATUS.";
    "timer_status_prohibit": "RLC" "timeline_timers" ["timer" = "timer_status_prohibit"] "outcome" "" LIGHT_GREY
        "Timer_Status_Prohibit of each receiving RLC entity, from a STATUS to the expiry.";
    "block_sets": "MAC" "timeline_block_sets" ["" = ""] "channel" "blocks" GREY
        "Transport block sets, from RLC to the other side.";
    "rrc": "RRC" "timeline_rrc" ["" = ""] "state" "" ORANGE
        "RRC states of each UE, and switches between them.";
    "dch_requests": "RRC" "timeline_dch_requests" ["" = ""] "answer" "" ORANGE
        "Requests for a DCH until the answer of admission control.";
    "losses": "IP" "timeline_losses" ["" = ""] "loss" "" VERMILION
        "Lost packets, with place and reason of the loss.";
}
