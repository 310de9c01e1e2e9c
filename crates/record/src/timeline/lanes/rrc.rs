//! Lanes of RRC.
//!
//! A lane draws rows of one recorded table above the time axis. The parent module defines [`Lane`]
//! and the functions of the declarations, for example [`category`]. The categories of a lane are
//! tested in order, and the last one, without tests, takes all remaining rows.

use super::{Condition, Draw, LANE, Lane, Rows, SPAN, category, test};

pub(super) const RRC: Lane = Lane {
    name: "rrc",
    label: "RRC",
    area: "rrc",
    layer: "RRC",
    table: "timeline_rrc",
    rows: Rows::Ue,
    time: SPAN,
    text: "state",
    meaning: "RRC states of the UE, and switches between them.",
    draw: Draw::Strip,
    categories: &[
        category("switch", "switch", "switch", &[test("to", Condition::Not(""))]),
        category("CELL_FACH", "CELL_FACH", "fach", &[test("state", Condition::Equal("CELL_FACH"))]),
        category("CELL_DCH", "CELL_DCH", "dch", &[test("state", Condition::Equal("CELL_DCH"))]),
        category("other", "other state", "idle-mode", &[]),
    ],
    ..LANE
};

pub(super) const DCH_REQUESTS: Lane = Lane {
    name: "dch_requests",
    label: "DCH requests",
    area: "dch_requests",
    layer: "RRC",
    table: "timeline_dch_requests",
    rows: Rows::Ue,
    time: SPAN,
    text: "answer",
    meaning: "Requests for a DCH until the answer of admission control.",
    draw: Draw::Tick,
    categories: &[
        category("granted", "granted", "ink", &[test("answer", Condition::Prefix("granted"))]),
        category("refused", "refused", "ghost", &[]),
    ],
    ..LANE
};
