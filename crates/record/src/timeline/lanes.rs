//! Declares how the recorded tables are drawn as lanes of a timeline.
//!
//! A lane shows rows of one recorded table above the common time axis, for example the TCP segments
//! of a connection, or the RLC PDUs of a UE. The declaration of a [`Lane`] names the table, the
//! columns with time and value, the tests that select rows, and the [`Category`] of each row, which
//! decides its colour. A page stacks lanes in [`Area`]s from top to bottom. The page of a run,
//! `umts lanes`, exports and documentation all read these declarations.

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

    /// Summary of the rows in one cell of a coarse time grid, which a viewer draws if there are too
    /// many rows: `count` of the rows that begin in it, `share` of time of each category, or
    /// `maximum` of the values.
    pub fn cells(self) -> &'static str {
        match self {
            Draw::Strip => "share",
            Draw::Steps | Draw::DashedSteps | Draw::Filled => "maximum",
            Draw::Line | Draw::Bar | Draw::Mark | Draw::Tick => "count",
        }
    }
}

/// Which rows of a table belong to the timeline of one connection: the rows of the
/// connection itself, or the rows of its UE. In a download the direction of the connection's data
/// is the downlink.
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
    /// The column by which rows are selected: the number of the connection or of the UE.
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

/// A condition on the value that a row has in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnTest {
    /// Name of the column.
    pub column: &'static str,
    /// Condition on the value.
    pub condition: Condition,
}

const fn test(column: &'static str, condition: Condition) -> ColumnTest {
    ColumnTest { column, condition }
}

/// Condition of a [`ColumnTest`]. As a text, a missing value is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// The text is equal to this one.
    Equal(&'static str),
    /// The text differs from this one.
    Not(&'static str),
    /// The text begins with this one.
    Prefix(&'static str),
    /// The number is larger than this one. A flag counts as 1 if it is set, otherwise as 0.
    Above(u32),
    /// The flag is not set.
    Unset,
    /// There is no value.
    Missing,
    /// There is a value.
    Present,
}

impl Condition {
    /// Name of the operator, and the operand as text, which is empty for operators without operand.
    pub fn operator_and_operand(self) -> (&'static str, String) {
        match self {
            Condition::Equal(text) => ("equal", text.to_owned()),
            Condition::Not(text) => ("not", text.to_owned()),
            Condition::Prefix(text) => ("prefix", text.to_owned()),
            Condition::Above(number) => ("above", number.to_string()),
            Condition::Unset => ("unset", String::new()),
            Condition::Missing => ("missing", String::new()),
            Condition::Present => ("present", String::new()),
        }
    }
}

/// A category of the rows of a lane, such as `lost`. A row belongs to the first category of its
/// lane of which it passes all tests. The last category of a lane has no tests, so it takes all
/// other rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Category {
    /// Name, unique in the lane.
    pub name: &'static str,
    /// Label.
    pub label: &'static str,
    /// Name of a [`Hue`](crate::looks::Hue), with `-e` for its edge.
    pub colour: &'static str,
    /// Tests that a row of the category passes.
    pub tests: &'static [ColumnTest],
}

/// Names of the columns with the start and the end of a row. An empty `end` says that a row lasts
/// until the start of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeColumns {
    /// Column with the start.
    pub start: &'static str,
    /// Column with the end, or empty.
    pub end: &'static str,
}

const fn span(start: &'static str, end: &'static str) -> TimeColumns {
    TimeColumns { start, end }
}

/// Names of the columns with the range of values that a row covers on the vertical axis. Both are
/// empty if the lane has no such axis, and equal if a row has one value. If `high` is the column
/// `count`, it is the number of values from `low` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueColumns {
    /// Column with the smallest value.
    pub low: &'static str,
    /// Column with the largest value.
    pub high: &'static str,
}

const fn range(low: &'static str, high: &'static str) -> ValueColumns {
    ValueColumns { low, high }
}

const fn single(column: &'static str) -> ValueColumns {
    range(column, column)
}

/// A lane: rows of one table, and how they are drawn.
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
    /// Which rows of the table belong to the timeline of a connection.
    pub rows: Rows,
    /// Tests that a row must pass in addition. Empty if the lane shows all rows of `rows`.
    pub tests: &'static [ColumnTest],
    /// Columns with the start and the end of a row, in seconds.
    pub time: TimeColumns,
    /// Columns with the position of a row on the vertical axis.
    pub values: ValueColumns,
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
    /// Colours of the whole lane in the light and in the dark theme, for viewers without
    /// categories: those of the last category. The lane of causes has no categories and gets the
    /// colours of `serial`, the hue of the cause serialisation.
    pub fn colours(&self) -> [&'static str; 2] {
        let colour = self.categories.last().map_or("serial", |category| category.colour);
        colours_of(colour).unwrap_or_default()
    }
}

/// The colours of a category in the light and in the dark theme. `colour` is the name of a hue, for
/// its fill, or the name with the suffix `-e`, for its edge.
pub(super) fn colours_of(colour: &str) -> Option<[&'static str; 2]> {
    const FILL: usize = 0;
    const EDGE: usize = 1;
    let (hue_name, part) = match colour.strip_suffix("-e") {
        Some(hue_name) => (hue_name, EDGE),
        None => (colour, FILL),
    };
    let hue = HUES.iter().find(|hue| hue.name == hue_name)?;
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
const SPAN: TimeColumns = span("time_s", "end_s");
/// Rows without duration.
const INSTANT: TimeColumns = span("time_s", "time_s");
/// Rows that last until the next one.
const UNTIL_NEXT: TimeColumns = span("time_s", "");
const NO_VALUES: ValueColumns = range("", "");

const fn category(
    name: &'static str,
    label: &'static str,
    colour: &'static str,
    tests: &'static [ColumnTest],
) -> Category {
    Category { name, label, colour, tests }
}

const LOST: Category = category("lost", "lost", "ink", &[test("lost", Condition::Above(0))]);

/// How a timer ended.
const TIMER_ENDS: &[Category] = &[
    category("expired", "expired", "rto", &[test("outcome", Condition::Equal("expired"))]),
    category("stopped", "stopped or restarted", "ghost", &[]),
];

/// Transmissions of HARQ. A block is given up if its last attempt is not decoded.
const HARQ_ATTEMPTS: &[Category] = &[
    category(
        "lost",
        "given up",
        "ink",
        &[test("decoded", Condition::Unset), test("last", Condition::Above(0))],
    ),
    category("again", "sent again", "rlc-e", &[test("attempt", Condition::Above(1))]),
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
        time: span("start_s", "end_s"),
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
    },
    Lane {
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
    },
    Lane {
        name: "timeouts",
        label: "Timeouts",
        area: "",
        layer: "TCP",
        table: "timeline_events",
        rows: Rows::Connection,
        tests: &[test("kind", Condition::Equal("rto"))],
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
        values: single("outstanding_segments"),
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
        values: single("cwnd_segments"),
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
        values: single("ssthresh_segments"),
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
        values: single("srtt_s"),
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
        values: single("rto_s"),
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
            category("open", "under way at the end", "ghost", &[test("end_s", Condition::Missing)]),
            category("delivered", "delivered", "serial", &[test("fate", Condition::Equal("delivered"))]),
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
        values: range("", "blocks"),
        text: "channel",
        unit: "",
        meaning: "Transport block sets, from RLC to the other side.",
        draw: Draw::Bar,
        categories: &[
            category("lost", "a block lost", "ghost", &[test("lost_blocks", Condition::Above(0))]),
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
        tests: &[test("on_air_s", Condition::Present)],
        time: span("time_s", "on_air_s"),
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
        values: single("cqi"),
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
        values: single("credits"),
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
            category("unhappy", "unhappy", "rto", &[test("happy", Condition::Unset)]),
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
        values: single("ratio"),
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
        values: single("noise_rise_db"),
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
            category("missing", "PDUs missing", "rlc", &[test("missing", Condition::Not(""))]),
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
            category("switch", "switch", "switch", &[test("to", Condition::Not(""))]),
            category("CELL_FACH", "CELL_FACH", "fach", &[test("state", Condition::Equal("CELL_FACH"))]),
            category("CELL_DCH", "CELL_DCH", "dch", &[test("state", Condition::Equal("CELL_DCH"))]),
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
            category("granted", "granted", "ink", &[test("answer", Condition::Prefix("granted"))]),
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
        values: single("octets"),
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
        tests: &[test("timer", Condition::Equal("rto"))],
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
        tests: &[test("timer", Condition::Equal("timer_poll"))],
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
        tests: &[test("timer", Condition::Equal("timer_status_prohibit"))],
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
