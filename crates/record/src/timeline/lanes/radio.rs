//! Lanes of MAC and of the radio: transport blocks, HS-DSCH and E-DCH.
//!
//! A lane draws rows of one recorded table above the time axis. The parent module defines
//! [`Lane`] and the functions of the declarations, for example [`category`] and [`range`]. Lanes of
//! transport blocks show only the direction of the connection's data ([`Rows::UeData`]). Tables of
//! HS-DSCH and E-DCH have one direction, so all rows of the UE are shown ([`Rows::Ue`]).

use super::{
    Condition, Draw, HARQ_ATTEMPTS, INSTANT, LANE, Lane, Rows, SPAN, UNTIL_NEXT, category, range, single,
    span, test,
};

pub(super) const BLOCK_SETS: Lane = Lane {
    name: "block_sets",
    label: "Transport blocks",
    area: "block_sets",
    layer: "MAC",
    table: "timeline_block_sets",
    rows: Rows::UeData,
    time: SPAN,
    values: range("", "blocks"),
    text: "channel",
    meaning: "Transport block sets, from RLC to the other side.",
    draw: Draw::Bar,
    categories: &[
        category("lost", "a block lost", "ghost", &[test("lost_blocks", Condition::Above(0))]),
        category("whole", "received", "serial", &[]),
    ],
    ..LANE
};

pub(super) const NODE_B_QUEUE: Lane = Lane {
    name: "node_b_queue",
    label: "Node B queue",
    area: "node_b_queue",
    layer: "MAC",
    table: "timeline_block_sets",
    rows: Rows::UeData,
    tests: &[test("on_air_s", Condition::Present)],
    time: span("time_s", "on_air_s"),
    text: "channel",
    meaning: "Block sets on the Iub and in the queue of the Node B, until they go on the air.",
    draw: Draw::Bar,
    categories: &[category("waits", "on the Iub or queued", "queue", &[])],
    ..LANE
};

pub(super) const HS_ATTEMPTS: Lane = Lane {
    name: "hs_attempts",
    label: "HS-DSCH",
    area: "hs_attempts",
    layer: "MAC-hs",
    table: "timeline_hs_blocks",
    rows: Rows::Ue,
    time: INSTANT,
    text: "attempt",
    meaning: "Transmissions of blocks on the HS-DSCH, with the number of the attempt.",
    draw: Draw::Tick,
    categories: HARQ_ATTEMPTS,
    ..LANE
};

pub(super) const HS_CQI: Lane = Lane {
    name: "hs_cqi",
    label: "CQI",
    area: "hs_cqi",
    layer: "MAC-hs",
    table: "timeline_hs_blocks",
    rows: Rows::Ue,
    time: UNTIL_NEXT,
    values: single("cqi"),
    text: "cqi",
    meaning: "CQI that the UE reported, at each transmission on the HS-DSCH.",
    draw: Draw::Steps,
    categories: &[category("value", "CQI", "prop-e", &[])],
    ..LANE
};

pub(super) const HS_CREDITS: Lane = Lane {
    name: "hs_credits",
    label: "Credits",
    area: "hs_credits",
    layer: "Iub",
    table: "timeline_hs_credits",
    rows: Rows::Ue,
    time: UNTIL_NEXT,
    values: single("credits"),
    text: "credits",
    unit: "PDU",
    meaning: "Credits of the Node B for PDUs of the UE, as they reach the RNC (TS 25.435 §5.11).",
    draw: Draw::Filled,
    categories: &[category("value", "credits", "pale", &[])],
    ..LANE
};

pub(super) const E_ATTEMPTS: Lane = Lane {
    name: "e_attempts",
    label: "E-DCH",
    area: "e_attempts",
    layer: "MAC-e",
    table: "timeline_e_blocks",
    rows: Rows::Ue,
    time: INSTANT,
    text: "attempt",
    meaning: "Transmissions of blocks on the E-DCH, with the number of the attempt.",
    draw: Draw::Tick,
    categories: HARQ_ATTEMPTS,
    ..LANE
};

pub(super) const E_HAPPY: Lane = Lane {
    name: "e_happy",
    label: "Happy bit",
    area: "e_happy",
    layer: "MAC-e",
    table: "timeline_e_blocks",
    rows: Rows::Ue,
    time: INSTANT,
    text: "happy",
    meaning: "Happy bit of each transmission on the E-DCH; a UE is unhappy if its grant is too small (TS 25.321 §11.8.1.5).",
    draw: Draw::Tick,
    categories: &[
        category("unhappy", "unhappy", "rto", &[test("happy", Condition::Unset)]),
        category("happy", "happy", "ghost", &[]),
    ],
    ..LANE
};

pub(super) const E_GRANT: Lane = Lane {
    name: "e_grant",
    label: "Serving grant",
    area: "e_grant",
    layer: "MAC-e",
    table: "timeline_e_grants",
    rows: Rows::Ue,
    time: UNTIL_NEXT,
    values: single("ratio"),
    text: "ratio",
    meaning: "Serving grants that the Node B sends: allowed power of the E-DPDCHs relative to the DPCCH, linear. It is proportional to the bits of a block.",
    draw: Draw::Filled,
    categories: &[category("value", "grant", "pale", &[])],
    ..LANE
};

pub(super) const E_NOISE_RISE: Lane = Lane {
    name: "e_noise_rise",
    label: "Noise rise",
    area: "e_noise_rise",
    layer: "MAC-e",
    table: "timeline_e_blocks",
    rows: Rows::Ue,
    time: UNTIL_NEXT,
    values: single("noise_rise_db"),
    text: "noise_rise_db",
    unit: "dB",
    meaning: "Noise rise of the cell by all its E-DCH users, at each transmission of the UE on the E-DCH.",
    draw: Draw::Steps,
    categories: &[category("value", "noise rise", "prop-e", &[])],
    ..LANE
};
