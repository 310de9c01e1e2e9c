//! Lanes of TCP and IP, and of the causes of waits.

use super::{
    Condition, Draw, INSTANT, LANE, LOST, Lane, Rows, SPAN, TIMER_ENDS, UNTIL_NEXT, category, range, single,
    span, test,
};

pub(super) const CAUSES: Lane = Lane {
    name: "causes",
    label: "Cause",
    area: "causes",
    layer: "budget",
    table: "budget_intervals",
    rows: Rows::Connection,
    time: span("start_s", "end_s"),
    text: "cause",
    meaning: "What each connection waits for: the intervals of the time budget. Each cause has its own colour.",
    draw: Draw::Strip,
    categories: &[],
    ..LANE
};

pub(super) const SEGMENTS: Lane = Lane {
    name: "segments",
    label: "TCP segments",
    area: "tcp",
    layer: "TCP",
    table: "timeline_segments",
    rows: Rows::ConnectionData,
    tests: &[test("kind", Condition::Not("ack"))],
    time: SPAN,
    values: range("seq", "end"),
    text: "kind",
    unit: "B",
    meaning: "Segments with data, SYN, FIN or RST, from their sender to their arrival or loss.",
    draw: Draw::Line,
    categories: &[
        LOST,
        category("new", "first transmission", "serial", &[test("cause", Condition::Equal("new"))]),
        category("again", "segment sent again", "rto", &[]),
    ],
};

pub(super) const ACKNOWLEDGMENTS: Lane = Lane {
    name: "acknowledgments",
    label: "TCP ACKs",
    area: "tcp",
    layer: "TCP",
    table: "timeline_segments",
    rows: Rows::ConnectionReverse,
    tests: &[test("ack", Condition::Above(0))],
    time: SPAN,
    values: single("ack"),
    text: "kind",
    unit: "B",
    meaning: "Acknowledgments, from their sender to their arrival or loss.",
    draw: Draw::Line,
    categories: &[LOST, category("ack", "ACK", "prop-e", &[])],
};

pub(super) const TIMEOUTS: Lane = Lane {
    name: "timeouts",
    label: "Timeouts",
    layer: "TCP",
    table: "timeline_events",
    rows: Rows::Connection,
    tests: &[test("kind", Condition::Equal("rto"))],
    time: INSTANT,
    text: "kind",
    meaning: "Expiries of retransmission timers.",
    draw: Draw::Tick,
    categories: &[category("rto", "timeout", "rto", &[])],
    ..LANE
};

pub(super) const OUTSTANDING: Lane = Lane {
    name: "outstanding",
    label: "In flight",
    area: "window",
    layer: "TCP",
    table: "outstanding",
    rows: Rows::Connection,
    time: UNTIL_NEXT,
    values: single("outstanding_segments"),
    text: "outstanding_segments",
    unit: "segments",
    meaning: "Payload in flight: from the last acknowledged to the last sent byte, divided by the MSS.",
    draw: Draw::Filled,
    categories: &[category("value", "in flight", "pale", &[])],
    ..LANE
};

pub(super) const CWND: Lane = Lane {
    name: "cwnd",
    label: "cwnd",
    area: "window",
    layer: "TCP",
    table: "cwnd",
    rows: Rows::Connection,
    time: UNTIL_NEXT,
    values: single("cwnd_segments"),
    text: "cwnd_segments",
    unit: "segments",
    meaning: "Congestion window of the sender.",
    draw: Draw::Steps,
    categories: &[category("value", "cwnd", "ink", &[])],
    ..LANE
};

pub(super) const SSTHRESH: Lane = Lane {
    name: "ssthresh",
    label: "ssthresh",
    area: "window",
    layer: "TCP",
    table: "ssthresh",
    rows: Rows::Connection,
    time: UNTIL_NEXT,
    values: single("ssthresh_segments"),
    text: "ssthresh_segments",
    unit: "segments",
    meaning: "Slow start threshold of the sender.",
    draw: Draw::DashedSteps,
    categories: &[category("value", "ssthresh", "window-e", &[])],
    ..LANE
};

pub(super) const SRTT: Lane = Lane {
    name: "srtt",
    label: "SRTT",
    area: "rtt",
    layer: "TCP",
    table: "srtt",
    rows: Rows::Connection,
    time: UNTIL_NEXT,
    values: single("srtt_s"),
    text: "srtt_s",
    unit: "s",
    meaning: "Smoothed round-trip time of the sender (RFC 6298 §2).",
    draw: Draw::Steps,
    categories: &[category("value", "SRTT", "prop-e", &[])],
    ..LANE
};

pub(super) const RTO: Lane = Lane {
    name: "rto",
    label: "RTO",
    area: "rtt",
    layer: "TCP",
    table: "rto",
    rows: Rows::Connection,
    time: UNTIL_NEXT,
    values: single("rto_s"),
    text: "rto_s",
    unit: "s",
    meaning: "Retransmission timeout of the sender (RFC 6298 §2), with its back-off.",
    draw: Draw::DashedSteps,
    categories: &[category("value", "RTO", "rto-e", &[])],
    ..LANE
};

pub(super) const RETRANSMISSION_TIMER: Lane = Lane {
    name: "retransmission_timer",
    label: "RTO timer",
    area: "timers",
    layer: "TCP",
    table: "timeline_timers",
    rows: Rows::ConnectionData,
    tests: &[test("timer", Condition::Equal("rto"))],
    time: SPAN,
    text: "outcome",
    meaning: "The retransmission timer of the sender, from its start to its expiry or stop.",
    draw: Draw::Bar,
    categories: TIMER_ENDS,
    ..LANE
};

pub(super) const LOSSES: Lane = Lane {
    name: "losses",
    label: "Losses",
    layer: "IP",
    table: "timeline_losses",
    rows: Rows::Connection,
    time: INSTANT,
    text: "loss",
    meaning: "Lost packets, with place and reason of the loss.",
    draw: Draw::Tick,
    categories: &[category("loss", "loss", "rto", &[])],
    ..LANE
};
