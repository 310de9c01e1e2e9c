//! Declares how the recorded tables are drawn as lanes of a timeline.
//!
//! A lane shows rows of one recorded table above the common time axis, for example the TCP segments
//! of a connection, or the RLC PDUs of a UE. The declaration of a [`Lane`] names the table, the
//! columns with time and value, the tests that select rows, and the [`Category`] of each row, which
//! decides its colour. A page stacks lanes in [`Area`]s from top to bottom. The page of a run,
//! `umts lanes`, exports and documentation all read these declarations.

mod areas;
mod radio;
mod rlc;
mod rrc;
mod tcp;

use crate::looks::HUES;

pub use areas::{AREAS, Area};

/// All lanes: from TCP down to the radio, then RRC and timers.
pub const LANES: &[Lane] = &[
    tcp::CAUSES,
    tcp::SEGMENTS,
    tcp::ACKNOWLEDGMENTS,
    tcp::TIMEOUTS,
    tcp::OUTSTANDING,
    tcp::CWND,
    tcp::SSTHRESH,
    tcp::SRTT,
    tcp::RTO,
    rlc::SDUS,
    rlc::PDUS,
    radio::BLOCK_SETS,
    radio::NODE_B_QUEUE,
    radio::HS_ATTEMPTS,
    radio::HS_CQI,
    radio::HS_CREDITS,
    radio::E_ATTEMPTS,
    radio::E_HAPPY,
    radio::E_GRANT,
    radio::E_NOISE_RISE,
    rlc::STATUS,
    rlc::DISCARDS,
    rrc::RRC,
    rrc::DCH_REQUESTS,
    rlc::RLC_BUFFER,
    tcp::RETRANSMISSION_TIMER,
    rlc::TIMER_POLL,
    rlc::TIMER_STATUS_PROHIBIT,
    tcp::LOSSES,
];

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

// ── Rows and columns ────────────────────────────────────────────────────────────────────────────────

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

/// Names of the columns with the start and the end of a row. An empty `end` says that a row lasts
/// until the start of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeColumns {
    /// Column with the start.
    pub start: &'static str,
    /// Column with the end, or empty.
    pub end: &'static str,
}

/// Names of the columns with the range of values that a row covers on the vertical axis. Both are
/// empty if the lane has no such axis, and equal if a row has one value. If only `low` is empty,
/// the range begins at 0. If `high` is the column `count`, it is the number of values from `low`
/// on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueColumns {
    /// Column with the smallest value.
    pub low: &'static str,
    /// Column with the largest value.
    pub high: &'static str,
}

/// A condition on the value that a row has in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnTest {
    /// Name of the column.
    pub column: &'static str,
    /// Condition on the value.
    pub condition: Condition,
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

// ── Drawing ─────────────────────────────────────────────────────────────────────────────────────────

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

// ── Parts of the declarations ───────────────────────────────────────────────────────────────────

/// A lane without an area, an axis and tests. Declarations replace the empty names.
const LANE: Lane = Lane {
    name: "",
    label: "",
    area: "",
    layer: "",
    table: "",
    rows: Rows::Connection,
    tests: &[],
    time: SPAN,
    values: NO_VALUES,
    text: "",
    unit: "",
    meaning: "",
    draw: Draw::Bar,
    categories: &[],
};

const fn test(column: &'static str, condition: Condition) -> ColumnTest {
    ColumnTest { column, condition }
}

const fn span(start: &'static str, end: &'static str) -> TimeColumns {
    TimeColumns { start, end }
}

/// Values from the column `low`, or from 0 if `low` is empty, to the column `high`.
const fn range(low: &'static str, high: &'static str) -> ValueColumns {
    ValueColumns { low, high }
}

/// One value for each row.
const fn single(column: &'static str) -> ValueColumns {
    range(column, column)
}

/// Start and end of most rows.
const SPAN: TimeColumns = span("time_s", "end_s");
/// Rows without duration.
const INSTANT: TimeColumns = span("time_s", "time_s");
/// Rows that last until the next one.
const UNTIL_NEXT: TimeColumns = span("time_s", "");
const NO_VALUES: ValueColumns = range("", "");

/// A category with its name, its label, the name of its hue, and the tests of its rows. Without
/// tests (`&[]`) the category takes all rows that no earlier category of the lane has taken.
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
