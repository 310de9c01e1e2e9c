//! The areas of the page, in which lanes are drawn.

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

const fn area(name: &'static str, label: &'static str, note: &'static str, height: u32) -> Area {
    Area { name, label, note, height }
}
