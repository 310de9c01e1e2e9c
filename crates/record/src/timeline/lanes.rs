//! The lanes of the timeline: the rows that a viewer draws above one time axis, declared once for
//! the page, `umts lanes`, exports and documentation.

use crate::looks::HUES;

/// A strip of the page with one vertical axis, for one or more lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Name, unique among the areas.
    pub name: &'static str,
    /// Label.
    pub label: &'static str,
    /// Remark below the label: the vertical axis, or the kind of the items.
    pub note: &'static str,
    /// Height in CSS pixels.
    pub height: u32,
}

/// How a viewer draws the rows of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// A strip without gaps, with the name of each interval.
    Strip,
    /// A line from start and low value to end and high value.
    Line,
    /// A bar from start to end; bars that overlap are below each other.
    Bar,
    /// A triangle at the start.
    Mark,
    /// A vertical line at the start.
    Tick,
    /// A line at the value, with a step at each change.
    Steps,
    /// A dashed line at the value, with a step at each change.
    DashedSteps,
    /// An area below the value.
    Filled,
}

impl Draw {
    /// Name in exports.
    pub fn name(self) -> &'static str {
        match self {
            Draw::Strip => "strip",
            Draw::Line => "line",
            Draw::Bar => "bar",
            Draw::Mark => "mark",
            Draw::Tick => "tick",
            Draw::Steps => "steps",
            Draw::DashedSteps => "dashed_steps",
            Draw::Filled => "filled",
        }
    }

    /// Value of a cell that stands for many rows: how many begin in it, the share of time of each
    /// category, or the largest value.
    pub fn cells(self) -> &'static str {
        match self {
            Draw::Strip => "share",
            Draw::Steps | Draw::DashedSteps | Draw::Filled => "maximum",
            Draw::Line | Draw::Bar | Draw::Mark | Draw::Tick => "count",
        }
    }
}

/// Rows of a table that belong to the lane of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Rows of the connection, in both directions.
    Connection,
    /// Rows of the connection in the direction of its data.
    ConnectionData,
    /// Rows of the connection against the direction of its data.
    ConnectionReverse,
    /// Rows of the UE, in both directions.
    Ue,
    /// Rows of the UE in the direction of the connection's data.
    UeData,
    /// Rows of the UE against the direction of the connection's data.
    UeReverse,
}

impl Rows {
    /// The column with the connection or UE.
    pub fn owner(self) -> &'static str {
        match self {
            Rows::Connection | Rows::ConnectionData | Rows::ConnectionReverse => "connection",
            Rows::Ue | Rows::UeData | Rows::UeReverse => "ue",
        }
    }

    /// `data`, `reverse`, or empty for both directions.
    pub fn direction(self) -> &'static str {
        match self {
            Rows::Connection | Rows::Ue => "",
            Rows::ConnectionData | Rows::UeData => "data",
            Rows::ConnectionReverse | Rows::UeReverse => "reverse",
        }
    }
}

/// A test of a column: the operator and its operand. A missing value is an empty text.
pub type Test = (&'static str, Is);

/// Operator of a [`Test`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    /// The text is equal.
    Equal(&'static str),
    /// The text differs.
    Not(&'static str),
    /// The text begins so.
    Prefix(&'static str),
    /// The flag is set, or the number is larger.
    Above(u32),
    /// The flag is not set.
    Unset,
    /// There is no value.
    Missing,
    /// There is a value.
    Present,
}

impl Is {
    /// Name of the operator, and the operand as text.
    pub fn words(self) -> (&'static str, String) {
        match self {
            Is::Equal(text) => ("equal", text.to_owned()),
            Is::Not(text) => ("not", text.to_owned()),
            Is::Prefix(text) => ("prefix", text.to_owned()),
            Is::Above(number) => ("above", number.to_string()),
            Is::Unset => ("unset", String::new()),
            Is::Missing => ("missing", String::new()),
            Is::Present => ("present", String::new()),
        }
    }
}

/// A category of the rows of a lane. A row has the first category of which all tests hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Category {
    /// Name, unique in the lane.
    pub name: &'static str,
    /// Label.
    pub label: &'static str,
    /// Name of a [`Hue`](crate::looks::Hue), with `-e` for its edge.
    pub colour: &'static str,
    /// Tests of columns.
    pub tests: &'static [Test],
}

/// A lane: the rows of one table, or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Name, unique among the lanes.
    pub name: &'static str,
    /// Label.
    pub label: &'static str,
    /// Name of the [`Area`]. Empty if the page has no area for the lane: it marks these rows in
    /// other lanes.
    pub area: &'static str,
    /// Protocol layer.
    pub layer: &'static str,
    /// The table of the rows.
    pub table: &'static str,
    /// Rows that belong to the lane of a connection.
    pub rows: Rows,
    /// Further tests that select rows.
    pub tests: &'static [Test],
    /// Columns with start and end. An empty end is the start of the next row.
    pub time: (&'static str, &'static str),
    /// Columns with the smallest and largest value on the vertical axis. Empty without an axis. A
    /// column `count` counts from the smallest value on.
    pub values: (&'static str, &'static str),
    /// Column with the text of a row.
    pub text: &'static str,
    /// Unit of the vertical axis. Empty for bars and marks.
    pub unit: &'static str,
    /// Meaning in one sentence.
    pub meaning: &'static str,
    /// How the rows are drawn.
    pub draw: Draw,
    /// Categories. Empty for the lane of causes, whose categories are the causes.
    pub categories: &'static [Category],
}

impl Lane {
    /// Fill in the light and in the dark theme: of the last category, or of serialisation for the
    /// causes.
    pub fn colours(&self) -> [&'static str; 2] {
        let name = self.categories.last().map_or("serial", |category| category.colour);
        colours_of(name).unwrap_or_default()
    }
}

/// The colours of a category in the light and in the dark theme.
pub(super) fn colours_of(name: &str) -> Option<[&'static str; 2]> {
    let (name, part) = name.strip_suffix("-e").map_or((name, 0), |name| (name, 1));
    let hue = HUES.iter().find(|hue| hue.name == name)?;
    Some([hue.light[part], hue.dark[part]])
}

const fn area(name: &'static str, label: &'static str, note: &'static str, height: u32) -> Area {
    Area { name, label, note, height }
}

/// All areas of the page, from top to bottom.
pub const AREAS: &[Area] = &[
    area("causes", "Cause", "time budget", 28),
    area("tcp", "TCP segments", "bytes, sent to arrived", 124),
    area("window", "Window", "segments", 56),
    area("rtt", "SRTT and RTO", "seconds", 48),
    area("sdus", "RLC SDUs", "wait, then transmission", 76),
    area("pdus", "RLC PDUs", "number", 132),
    area("block_sets", "Transport blocks", "sets", 40),
    area("node_b_queue", "Node B queue", "with the Iub", 48),
    area("hs_attempts", "HS-DSCH", "transmissions", 28),
    area("hs_cqi", "CQI", "reported", 36),
    area("hs_credits", "Credits", "PDUs", 36),
    area("e_attempts", "E-DCH", "transmissions", 28),
    area("e_happy", "Happy bit", "large: unhappy", 28),
    area("e_grant", "Serving grant", "power ratio", 36),
    area("e_noise_rise", "Noise rise", "of the cell", 36),
    area("status", "STATUS", "from the receiver", 32),
    area("rrc", "RRC", "state", 28),
    area("dch_requests", "DCH requests", "answers", 28),
    area("rlc_buffer", "RLC buffer", "bytes", 48),
    area("timers", "Timers", "start to end", 48),
];

/// Start and end of most rows.
const SPAN: (&str, &str) = ("time_s", "end_s");
/// Rows without duration.
const INSTANT: (&str, &str) = ("time_s", "time_s");
/// Rows that last until the next one.
const UNTIL_NEXT: (&str, &str) = ("time_s", "");
const NO_VALUES: (&str, &str) = ("", "");

const fn category(
    name: &'static str,
    label: &'static str,
    colour: &'static str,
    tests: &'static [Test],
) -> Category {
    Category { name, label, colour, tests }
}

const LOST: Category = category("lost", "lost", "ink", &[("lost", Is::Above(0))]);

/// Ends of timers.
const TIMER_ENDS: &[Category] = &[
    category("expired", "expired", "rto", &[("outcome", Is::Equal("expired"))]),
    category("stopped", "stopped or restarted", "ghost", &[]),
];

/// Transmissions of HARQ.
const HARQ_ATTEMPTS: &[Category] = &[
    category("lost", "given up", "ink", &[("decoded", Is::Unset), ("last", Is::Above(0))]),
    category("again", "sent again", "rlc-e", &[("attempt", Is::Above(1))]),
    category("new", "first transmission", "serial", &[]),
];

/// All lanes: from TCP down to the radio, then RRC and timers.
pub const LANES: &[Lane] = &[
    Lane {
        name: "causes",
        label: "Cause",
        area: "causes",
        layer: "budget",
        table: "budget_intervals",
        rows: Rows::Connection,
        tests: &[],
        time: ("start_s", "end_s"),
        values: NO_VALUES,
        text: "cause",
        unit: "",
        meaning: "What each connection waits for: the intervals of the time budget. Each cause has its own colour.",
        draw: Draw::Strip,
        categories: &[],
    },
    Lane {
        name: "segments",
        label: "TCP segments",
        area: "tcp",
        layer: "TCP",
        table: "timeline_segments",
        rows: Rows::ConnectionData,
        tests: &[("kind", Is::Not("ack"))],
        time: SPAN,
        values: ("seq", "end"),
        text: "kind",
        unit: "B",
        meaning: "Segments with data, SYN, FIN or RST, from their sender to their arrival or loss.",
        draw: Draw::Line,
        categories: &[
            LOST,
            category("new", "first transmission", "serial", &[("cause", Is::Equal("new"))]),
            category("again", "segment sent again", "rto", &[]),
        ],
    },
    Lane {
        name: "acknowledgments",
        label: "TCP ACKs",
        area: "tcp",
        layer: "TCP",
        table: "timeline_segments",
        rows: Rows::ConnectionReverse,
        tests: &[("ack", Is::Above(0))],
        time: SPAN,
        values: ("ack", "ack"),
        text: "kind",
        unit: "B",
        meaning: "Acknowledgments, from their sender to their arrival or loss.",
        draw: Draw::Line,
        categories: &[LOST, category("ack", "ACK", "prop-e", &[])],
    },
    Lane {
        name: "timeouts",
        label: "Timeouts",
        area: "",
        layer: "TCP",
        table: "timeline_events",
        rows: Rows::Connection,
        tests: &[("kind", Is::Equal("rto"))],
        time: INSTANT,
        values: NO_VALUES,
        text: "kind",
        unit: "",
        meaning: "Expiries of retransmission timers.",
        draw: Draw::Tick,
        categories: &[category("rto", "timeout", "rto", &[])],
    },
    Lane {
        name: "outstanding",
        label: "In flight",
        area: "window",
        layer: "TCP",
        table: "outstanding",
        rows: Rows::Connection,
        tests: &[],
        time: UNTIL_NEXT,
        values: ("outstanding_segments", "outstanding_segments"),
        text: "outstanding_segments",
        unit: "segments",
        meaning: "Payload in flight: from the last acknowledged to the last sent byte, divided by the MSS.",
        draw: Draw::Filled,
        categories: &[category("value", "in flight", "pale", &[])],
    },
    Lane {
        name: "cwnd",
        label: "cwnd",
        area: "window",
        layer: "TCP",
        table: "cwnd",
        rows: Rows::Connection,
        tests: &[],
        time: UNTIL_NEXT,
        values: ("cwnd_segments", "cwnd_segments"),
        text: "cwnd_segments",
        unit: "segments",
        meaning: "Congestion window of the sender.",
        draw: Draw::Steps,
        categories: &[category("value", "cwnd", "ink", &[])],
    },
    Lane {
        name: "ssthresh",
        label: "ssthresh",
        area: "window",
        layer: "TCP",
        table: "ssthresh",
        rows: Rows::Connection,
        tests: &[],
        time: UNTIL_NEXT,
        values: ("ssthresh_segments", "ssthresh_segments"),
        text: "ssthresh_segments",
        unit: "segments",
        meaning: "Slow start threshold of the sender.",
        draw: Draw::DashedSteps,
        categories: &[category("value", "ssthresh", "window-e", &[])],
    },
    Lane {
        name: "srtt",
        label: "SRTT",
        area: "rtt",
        layer: "TCP",
        table: "srtt",
        rows: Rows::Connection,
        tests: &[],
        time: UNTIL_NEXT,
        values: ("srtt_s", "srtt_s"),
        text: "srtt_s",
        unit: "s",
        meaning: "Smoothed round-trip time of the sender (RFC 6298 §2).",
        draw: Draw::Steps,
        categories: &[category("value", "SRTT", "prop-e", &[])],
    },
    Lane {
        name: "rto",
        label: "RTO",
        area: "rtt",
        layer: "TCP",
        table: "rto",
        rows: Rows::Connection,
        tests: &[],
        time: UNTIL_NEXT,
        values: ("rto_s", "rto_s"),
        text: "rto_s",
        unit: "s",
        meaning: "Retransmission timeout of the sender (RFC 6298 §2), with its back-off.",
        draw: Draw::DashedSteps,
        categories: &[category("value", "RTO", "rto-e", &[])],
    },
    Lane {
        name: "sdus",
        label: "RLC SDUs",
        area: "sdus",
        layer: "RLC",
        table: "timeline_sdus",
        rows: Rows::UeData,
        tests: &[],
        time: SPAN,
        values: NO_VALUES,
        text: "fate",
        unit: "",
        meaning: "SDUs of RLC, from the transmission buffer to their delivery or discard.",
        draw: Draw::Bar,
        categories: &[
            category("open", "under way at the end", "ghost", &[("end_s", Is::Missing)]),
            category("delivered", "delivered", "serial", &[("fate", Is::Equal("delivered"))]),
            category("lost", "discarded or lost", "ink", &[]),
        ],
    },
    Lane {
        name: "pdus",
        label: "RLC PDUs",
        area: "pdus",
        layer: "RLC",
        table: "timeline_pdus",
        rows: Rows::UeData,
        tests: &[("first", Is::Present)],
        time: SPAN,
        values: ("first", "count"),
        text: "transmission",
        unit: "PDU",
        meaning: "PDUs with data, from RLC to the other side or to their loss.",
        draw: Draw::Line,
        categories: &[
            LOST,
            category("again", "PDU sent again", "rlc-e", &[("transmission", Is::Above(1))]),
            category("new", "first transmission", "serial", &[]),
        ],
    },
    Lane {
        name: "block_sets",
        label: "Transport blocks",
        area: "block_sets",
        layer: "MAC",
        table: "timeline_block_sets",
        rows: Rows::UeData,
        tests: &[],
        time: SPAN,
        values: ("", "blocks"),
        text: "channel",
        unit: "",
        meaning: "Transport block sets, from RLC to the other side.",
        draw: Draw::Bar,
        categories: &[
            category("lost", "a block lost", "ghost", &[("lost_blocks", Is::Above(0))]),
            category("whole", "received", "serial", &[]),
        ],
    },
    Lane {
        name: "node_b_queue",
        label: "Node B queue",
        area: "node_b_queue",
        layer: "MAC",
        table: "timeline_block_sets",
        rows: Rows::UeData,
        tests: &[("on_air_s", Is::Present)],
        time: ("time_s", "on_air_s"),
        values: NO_VALUES,
        text: "channel",
        unit: "",
        meaning: "Block sets on the Iub and in the queue of the Node B, until they go on the air.",
        draw: Draw::Bar,
        categories: &[category("waits", "on the Iub or queued", "queue", &[])],
    },
    Lane {
        name: "hs_attempts",
        label: "HS-DSCH",
        area: "hs_attempts",
        layer: "MAC-hs",
        table: "timeline_hs_blocks",
        rows: Rows::Ue,
        tests: &[],
        time: INSTANT,
        values: NO_VALUES,
        text: "attempt",
        unit: "",
        meaning: "Transmissions of blocks on the HS-DSCH, with the number of the attempt.",
        draw: Draw::Tick,
        categories: HARQ_ATTEMPTS,
    },
    Lane {
        name: "hs_cqi",
        label: "CQI",
        area: "hs_cqi",
        layer: "MAC-hs",
        table: "timeline_hs_blocks",
        rows: Rows::Ue,
        tests: &[],
        time: UNTIL_NEXT,
        values: ("cqi", "cqi"),
        text: "cqi",
        unit: "",
        meaning: "CQI that the UE reported, at each transmission on the HS-DSCH.",
        draw: Draw::Steps,
        categories: &[category("value", "CQI", "prop-e", &[])],
    },
    Lane {
        name: "hs_credits",
        label: "Credits",
        area: "hs_credits",
        layer: "Iub",
        table: "timeline_hs_credits",
        rows: Rows::Ue,
        tests: &[],
        time: UNTIL_NEXT,
        values: ("credits", "credits"),
        text: "credits",
        unit: "PDU",
        meaning: "Credits of the Node B for PDUs of the UE, as they reach the RNC (TS 25.435 §5.11).",
        draw: Draw::Filled,
        categories: &[category("value", "credits", "pale", &[])],
    },
    Lane {
        name: "e_attempts",
        label: "E-DCH",
        area: "e_attempts",
        layer: "MAC-e",
        table: "timeline_e_blocks",
        rows: Rows::Ue,
        tests: &[],
        time: INSTANT,
        values: NO_VALUES,
        text: "attempt",
        unit: "",
        meaning: "Transmissions of blocks on the E-DCH, with the number of the attempt.",
        draw: Draw::Tick,
        categories: HARQ_ATTEMPTS,
    },
    Lane {
        name: "e_happy",
        label: "Happy bit",
        area: "e_happy",
        layer: "MAC-e",
        table: "timeline_e_blocks",
        rows: Rows::Ue,
        tests: &[],
        time: INSTANT,
        values: NO_VALUES,
        text: "happy",
        unit: "",
        meaning: "Happy bit of each transmission on the E-DCH; a UE is unhappy if its grant is too small (TS 25.321 §11.8.1.5).",
        draw: Draw::Tick,
        categories: &[
            category("unhappy", "unhappy", "rto", &[("happy", Is::Unset)]),
            category("happy", "happy", "ghost", &[]),
        ],
    },
    Lane {
        name: "e_grant",
        label: "Serving grant",
        area: "e_grant",
        layer: "MAC-e",
        table: "timeline_e_grants",
        rows: Rows::Ue,
        tests: &[],
        time: UNTIL_NEXT,
        values: ("ratio", "ratio"),
        text: "ratio",
        unit: "",
        meaning: "Serving grants that the Node B sends: allowed power of the E-DPDCHs relative to the DPCCH, linear. It is proportional to the bits of a block.",
        draw: Draw::Filled,
        categories: &[category("value", "grant", "pale", &[])],
    },
    Lane {
        name: "e_noise_rise",
        label: "Noise rise",
        area: "e_noise_rise",
        layer: "MAC-e",
        table: "timeline_e_blocks",
        rows: Rows::Ue,
        tests: &[],
        time: UNTIL_NEXT,
        values: ("noise_rise_db", "noise_rise_db"),
        text: "noise_rise_db",
        unit: "dB",
        meaning: "Noise rise of the cell by all its E-DCH users, at each transmission of the UE on the E-DCH.",
        draw: Draw::Steps,
        categories: &[category("value", "noise rise", "prop-e", &[])],
    },
    Lane {
        name: "status",
        label: "STATUS",
        area: "status",
        layer: "RLC",
        table: "timeline_status",
        rows: Rows::UeReverse,
        tests: &[],
        time: SPAN,
        values: NO_VALUES,
        text: "missing",
        unit: "",
        meaning: "STATUS reports of the receiver, with the missing PDUs that they list.",
        draw: Draw::Mark,
        categories: &[
            LOST,
            category("missing", "PDUs missing", "rlc", &[("missing", Is::Not(""))]),
            category("complete", "no PDU missing", "bg", &[]),
        ],
    },
    Lane {
        name: "discards",
        label: "Discards",
        area: "",
        layer: "RLC",
        table: "timeline_discards",
        rows: Rows::UeData,
        tests: &[],
        time: INSTANT,
        values: NO_VALUES,
        text: "reason",
        unit: "",
        meaning: "SDUs that RLC discarded.",
        draw: Draw::Tick,
        categories: &[category("discard", "discard", "rto", &[])],
    },
    Lane {
        name: "rrc",
        label: "RRC",
        area: "rrc",
        layer: "RRC",
        table: "timeline_rrc",
        rows: Rows::Ue,
        tests: &[],
        time: SPAN,
        values: NO_VALUES,
        text: "state",
        unit: "",
        meaning: "RRC states of the UE, and switches between them.",
        draw: Draw::Strip,
        categories: &[
            category("switch", "switch", "switch", &[("to", Is::Not(""))]),
            category("CELL_FACH", "CELL_FACH", "fach", &[("state", Is::Equal("CELL_FACH"))]),
            category("CELL_DCH", "CELL_DCH", "dch", &[("state", Is::Equal("CELL_DCH"))]),
            category("other", "other state", "idle-mode", &[]),
        ],
    },
    Lane {
        name: "dch_requests",
        label: "DCH requests",
        area: "dch_requests",
        layer: "RRC",
        table: "timeline_dch_requests",
        rows: Rows::Ue,
        tests: &[],
        time: SPAN,
        values: NO_VALUES,
        text: "answer",
        unit: "",
        meaning: "Requests for a DCH until the answer of admission control.",
        draw: Draw::Tick,
        categories: &[
            category("granted", "granted", "ink", &[("answer", Is::Prefix("granted"))]),
            category("refused", "refused", "ghost", &[]),
        ],
    },
    Lane {
        name: "rlc_buffer",
        label: "RLC buffer",
        area: "rlc_buffer",
        layer: "RLC",
        table: "rlc_buffer",
        rows: Rows::UeData,
        tests: &[],
        time: UNTIL_NEXT,
        values: ("octets", "octets"),
        text: "octets",
        unit: "B",
        meaning: "Bytes of SDUs in the transmission buffer: not sent, or not acknowledged.",
        draw: Draw::Filled,
        categories: &[category("value", "bytes", "pale", &[])],
    },
    Lane {
        name: "retransmission_timer",
        label: "RTO timer",
        area: "timers",
        layer: "TCP",
        table: "timeline_timers",
        rows: Rows::ConnectionData,
        tests: &[("timer", Is::Equal("rto"))],
        time: SPAN,
        values: NO_VALUES,
        text: "outcome",
        unit: "",
        meaning: "The retransmission timer of the sender, from its start to its expiry or stop.",
        draw: Draw::Bar,
        categories: TIMER_ENDS,
    },
    Lane {
        name: "timer_poll",
        label: "Timer_Poll",
        area: "timers",
        layer: "RLC",
        table: "timeline_timers",
        rows: Rows::UeData,
        tests: &[("timer", Is::Equal("timer_poll"))],
        time: SPAN,
        values: NO_VALUES,
        text: "outcome",
        unit: "",
        meaning: "Timer_Poll of the sending RLC entity, from a poll to the expiry or the STATUS.",
        draw: Draw::Bar,
        categories: TIMER_ENDS,
    },
    Lane {
        name: "timer_status_prohibit",
        label: "Timer_Status_Prohibit",
        area: "timers",
        layer: "RLC",
        table: "timeline_timers",
        rows: Rows::UeReverse,
        tests: &[("timer", Is::Equal("timer_status_prohibit"))],
        time: SPAN,
        values: NO_VALUES,
        text: "outcome",
        unit: "",
        meaning: "Timer_Status_Prohibit of the receiving RLC entity, from a STATUS to the expiry.",
        draw: Draw::Bar,
        categories: &[category("prohibited", "no STATUS allowed", "ghost", &[])],
    },
    Lane {
        name: "losses",
        label: "Losses",
        area: "",
        layer: "IP",
        table: "timeline_losses",
        rows: Rows::Connection,
        tests: &[],
        time: INSTANT,
        values: NO_VALUES,
        text: "loss",
        unit: "",
        meaning: "Lost packets, with place and reason of the loss.",
        draw: Draw::Tick,
        categories: &[category("loss", "loss", "rto", &[])],
    },
];
