//! Sums of users whose RRC states the RNC switches.

use umts_units::Duration;

use super::Intervals;

/// Users with RRC states that the RNC switches, and their cells.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::metrics) struct CellTotals {
    pub window: Duration,
    /// Number of users with RRC states that the RNC switches.
    pub switched: u64,
    /// Payload bytes acknowledged in the whole network.
    pub acknowledged: u64,
    pub connections_with_data: u64,
    /// Time by RRC state (`RrcState` as index), summed over users.
    pub time_in: [Duration; 5],
    /// Time in switches between states, summed over users.
    pub switching: Duration,
    /// Switches between states, by previous and target state.
    pub switches: [[u64; 5]; 5],
    /// Switches because a DCH was preempted.
    pub preemptions: u64,
    /// Requests for a DCH.
    pub dch_requests: u64,
    /// Requests that began a need for a DCH. All other requests repeat a refused one.
    pub dch_needs: u64,
    pub dch_grants: u64,
    /// Grants that became possible by the release of another DCH.
    pub dch_grants_after_release: u64,
    pub dch_refusals: u64,
    pub dch_queued: u64,
    /// Times from the first request of a need to the state CELL_DCH.
    pub dch_waits: Intervals,
    /// Reserved downlink bit/s times nanoseconds, summed over cells.
    pub reserved_bit_ns: u128,
    /// Integral of the number of DCHs over time, summed over cells.
    pub dch_time: Duration,
    pub max_dchs: u64,
    /// Time in which cells were full.
    pub full: Duration,
    pub energy_j: f64,
    pub channels: ChannelTotals,
}

/// Channel use of the connections of switched users.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::metrics) struct ChannelTotals {
    /// Closed connections.
    pub connections: u64,
    /// Closed connections of users with a DCH at some time.
    pub with_dch: u64,
    /// Closed connections of users with a DCH at the opening.
    pub reused_dch: u64,
    /// Time from the opening of a connection to the first switch to a DCH.
    pub until_switch: Intervals,
    /// Time from the allocation of a DCH to its use. Index 0: the cell had room for the DCH.
    /// Index 1: the DCH had to wait for the release of another user's DCH.
    pub set_ups: [Intervals; 2],
    /// Octets of downlink packets that RLC delivered.
    pub octets: u64,
    /// Octets of downlink packets that RLC delivered on the common channels.
    pub octets_on_common: u64,
    /// Time on the common channels with an open connection, summed over users.
    pub busy_on_common: Duration,
    /// RLC delays of downlink packets that waited for a switch to a DCH.
    pub delays_with_switch: Intervals,
    /// RLC delays of all other downlink packets.
    pub delays_without_switch: Intervals,
}
