//! Lanes of RLC: SDUs, PDUs, STATUS reports and timers.

use super::{
    Condition, Draw, INSTANT, LANE, LOST, Lane, Rows, SPAN, TIMER_ENDS, UNTIL_NEXT, category, range, single,
    test,
};

pub(super) const SDUS: Lane = Lane {
    name: "sdus",
    label: "RLC SDUs",
    area: "sdus",
    layer: "RLC",
    table: "timeline_sdus",
    rows: Rows::UeData,
    time: SPAN,
    text: "fate",
    meaning: "SDUs of RLC, from the transmission buffer to their delivery or discard.",
    draw: Draw::Bar,
    categories: &[
        category("open", "under way at the end", "ghost", &[test("end_s", Condition::Missing)]),
        category("delivered", "delivered", "serial", &[test("fate", Condition::Equal("delivered"))]),
        category("lost", "discarded or lost", "ink", &[]),
    ],
    ..LANE
};

pub(super) const PDUS: Lane = Lane {
    name: "pdus",
    label: "RLC PDUs",
    area: "pdus",
    layer: "RLC",
    table: "timeline_pdus",
    rows: Rows::UeData,
    tests: &[test("first", Condition::Present)],
    time: SPAN,
    values: range("first", "count"),
    text: "transmission",
    unit: "PDU",
    meaning: "PDUs with data, from RLC to the other side or to their loss.",
    draw: Draw::Line,
    categories: &[
        LOST,
        category("again", "PDU sent again", "rlc-e", &[test("transmission", Condition::Above(1))]),
        category("new", "first transmission", "serial", &[]),
    ],
};

pub(super) const STATUS: Lane = Lane {
    name: "status",
    label: "STATUS",
    area: "status",
    layer: "RLC",
    table: "timeline_status",
    rows: Rows::UeReverse,
    time: SPAN,
    text: "missing",
    meaning: "STATUS reports of the receiver, with the missing PDUs that they list.",
    draw: Draw::Mark,
    categories: &[
        LOST,
        category("missing", "PDUs missing", "rlc", &[test("missing", Condition::Not(""))]),
        category("complete", "no PDU missing", "bg", &[]),
    ],
    ..LANE
};

pub(super) const DISCARDS: Lane = Lane {
    name: "discards",
    label: "Discards",
    layer: "RLC",
    table: "timeline_discards",
    rows: Rows::UeData,
    time: INSTANT,
    text: "reason",
    meaning: "SDUs that RLC discarded.",
    draw: Draw::Tick,
    categories: &[category("discard", "discard", "rto", &[])],
    ..LANE
};

pub(super) const RLC_BUFFER: Lane = Lane {
    name: "rlc_buffer",
    label: "RLC buffer",
    area: "rlc_buffer",
    layer: "RLC",
    table: "rlc_buffer",
    rows: Rows::UeData,
    time: UNTIL_NEXT,
    values: single("octets"),
    text: "octets",
    unit: "B",
    meaning: "Bytes of SDUs in the transmission buffer: not sent, or not acknowledged.",
    draw: Draw::Filled,
    categories: &[category("value", "bytes", "pale", &[])],
    ..LANE
};

pub(super) const TIMER_POLL: Lane = Lane {
    name: "timer_poll",
    label: "Timer_Poll",
    area: "timers",
    layer: "RLC",
    table: "timeline_timers",
    rows: Rows::UeData,
    tests: &[test("timer", Condition::Equal("timer_poll"))],
    time: SPAN,
    text: "outcome",
    meaning: "Timer_Poll of the sending RLC entity, from a poll to the expiry or the STATUS.",
    draw: Draw::Bar,
    categories: TIMER_ENDS,
    ..LANE
};

pub(super) const TIMER_STATUS_PROHIBIT: Lane = Lane {
    name: "timer_status_prohibit",
    label: "Timer_Status_Prohibit",
    area: "timers",
    layer: "RLC",
    table: "timeline_timers",
    rows: Rows::UeReverse,
    tests: &[test("timer", Condition::Equal("timer_status_prohibit"))],
    time: SPAN,
    text: "outcome",
    meaning: "Timer_Status_Prohibit of the receiving RLC entity, from a STATUS to the expiry.",
    draw: Draw::Bar,
    categories: &[category("prohibited", "no STATUS allowed", "ghost", &[])],
    ..LANE
};
