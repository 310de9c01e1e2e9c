//! Metrics of cells with switched users. They have no value without such users.

use umts_stack::rnc::rrc::RrcState::{self, CellDch, CellFach, CellPch, Idle, UraPch};

use super::{Metric, count, kbps, per, ratio};
use crate::metrics::totals::CellTotals;

/// States in which no data can be sent.
const RESTING: &[RrcState] = &[Idle, UraPch, CellPch];

metrics! { CELL: CellTotals;
    "cell_occupancy_kbps" "Reserved downlink rate" ["kbit/s"] "Reserved downlink rate: the FACH, and every DCH from its allocation to its release; summed over cells."
        = "integral of the reserved rates" / "run window"
        => |t| occupancy(t);
    "cell_efficiency" "Cell efficiency" ["1"] "Ratio of goodput to the reserved downlink rate (Dubois 2005, §7.2)."
        = "goodput_kbps" / "cell_occupancy_kbps"
        => |t| ratio(kbps(t.acknowledged * 8, t.window)?, occupancy(t)?);
    "full_cell_time_s" "Time with a full cell" ["s"] "Time in which no DCH could be allocated, not even the smallest: none is free, and none can be preempted; summed over cells."
        = "time with the cell full" / ""
        => |t| known(t, t.full.as_secs());
    "simultaneous_dch" "Simultaneous DCHs" ["1"] "Mean number of allocated DCHs." = "integral of the number of DCHs" / "run window"
        => |t| known(t, ratio(t.dch_time.as_secs(), t.window.as_secs())?);
    "max_simultaneous_dch" "Maximum simultaneous DCHs" ["1"] "Maximum number of DCHs allocated in a cell at the same time." = "largest number" / ""
        => |t| count_of(t, t.max_dchs);
    "dch_requests" "Requests for a DCH" ["1"] "Requests for a DCH, repeated ones included." = "requests" / ""
        => |t| count_of(t, t.dch_requests);
    "dch_refusals" "Refused requests for a DCH" ["1"] "Requests for a DCH that were refused." = "refusals" / ""
        => |t| count_of(t, t.dch_refusals);
    "dch_queued" "Queued requests for a DCH" ["1"] "Requests for a DCH that had to wait in the cell's queue." = "requests queued" / ""
        => |t| count_of(t, t.dch_queued);
    "dch_allocations" "Allocations of a DCH" ["1"] "Allocated DCHs, including larger DCHs that replace smaller ones." = "allocations" / ""
        => |t| count_of(t, t.dch_grants);
    "dch_allocations_after_release" "Allocations after a release" ["1"] "Allocated DCHs for which another user lost a DCH." = "allocations" / ""
        => |t| count_of(t, t.dch_grants_after_release);
    "dch_allocations_per_connection" "Allocations per connection" ["1"] "Allocated DCHs per TCP connection." = "dch_allocations" / "connections that sent data"
        => |t| known(t, per(t.dch_grants, t.connections_with_data)?);
    "dch_wait_s" "Wait for a DCH" ["s"] "Time from the first request to CELL_DCH; mean of the users that reached CELL_DCH in the window. Needs for a DCH that end on the FACH do not count."
        = "sum of the times" / "users that reached CELL_DCH"
        => |t| t.dch_waits.mean_s();
    "connections_with_dch_pct" "Connections with a DCH" ["%"] "Connections during which the user had a DCH at some time."
        = "such connections" / "connections of switched users that closed"
        => |t| share(t.channels.with_dch, t.channels.connections);
    "dch_reuse_pct" "Connections that reused a DCH" ["%"] "Connections that opened while the user still had a DCH."
        = "such connections" / "connections of switched users that closed"
        => |t| share(t.channels.reused_dch, t.channels.connections);
    "time_to_upswitch_s" "Time to the upswitch" ["s"] "Time from the opening of a connection to the beginning of a switch to a DCH; mean of the connections with such a switch and without an earlier DCH."
        = "sum of the times" / "such connections"
        => |t| t.channels.until_switch.mean_s();
    "dch_set_up_s" "Set-up of a DCH" ["s"] "Time from the allocation of a DCH to its use, if no other user lost a DCH for it." = "sum of the times" / "such DCHs"
        => |t| t.channels.set_ups[0].mean_s();
    "dch_set_up_after_release_s" "Set-up of a DCH after a release" ["s"] "Time from the allocation of a DCH to its use, if another user lost a DCH for it." = "sum of the times" / "such DCHs"
        => |t| t.channels.set_ups[1].mean_s();
    "bytes_on_fach_pct" "Octets on the FACH" ["%"] "Share of the downlink octets that RLC delivered to switched users on the FACH." = "octets delivered on the FACH" / "octets delivered to switched users"
        => |t| share(t.channels.octets_on_common, t.channels.octets);
    "fach_goodput_kbps" "Goodput on the FACH" ["kbit/s"] "Rate at which downlink packets reach a switched user on the FACH that has a connection open."
        = "octets of these packets" / "time with an open connection in CELL_FACH, and in switches from CELL_FACH during which data continue, summed over users"
        => |t| t.channels.common_kbps();
    "sdu_delay_switch_s" "SDU delay with a switch" ["s"] "RLC delay of the downlink packets that waited for a switch from CELL_FACH to CELL_DCH."
        = "sum of the delays" / "such packets"
        => |t| t.channels.delays_with_switch.mean_s();
    "sdu_delay_no_switch_s" "SDU delay without a switch" ["s"] "RLC delay of the downlink packets of switched users that waited for no switch from CELL_FACH to CELL_DCH." = "sum of the delays" / "such packets"
        => |t| t.channels.delays_without_switch.mean_s();
    "dch_needs_met_pct" "Fulfilled needs for a DCH" ["%"] "Share of the needs for a DCH that led to an allocation." = "dch_allocations" / "needs: requests without repetitions"
        => |t| ratio(100.0 * t.dch_grants as f64, t.dch_needs as f64);
    "rrc_switches" "RRC switches" ["1"] "Switches of users between RRC states or DCHs." = "switches begun" / ""
        => |t| count_of(t, t.switches_of(&RrcState::ALL, &RrcState::ALL));
    "rrc_switches_fach_to_dch" "Switches from FACH to DCH" ["1"] "Switches from CELL_FACH to CELL_DCH." = "switches begun" / ""
        => |t| count_of(t, t.switches_of(&[CellFach], &[CellDch]));
    "rrc_switches_dch_to_fach" "Switches from DCH to FACH" ["1"] "Switches from CELL_DCH to CELL_FACH." = "switches begun" / ""
        => |t| count_of(t, t.switches_of(&[CellDch], &[CellFach]));
    "rrc_switches_dch_to_dch" "Switches from DCH to DCH" ["1"] "Changes to a DCH of another rate." = "switches begun" / ""
        => |t| count_of(t, t.switches_of(&[CellDch], &[CellDch]));
    "rrc_switches_to_rest" "Switches to PCH or idle" ["1"] "Switches to CELL_PCH, URA_PCH or idle mode." = "switches begun" / ""
        => |t| count_of(t, t.switches_of(&RrcState::ALL, RESTING));
    "rrc_promotions" "Switches from PCH or idle" ["1"] "Switches from CELL_PCH, URA_PCH or idle mode to a state in which data can be sent." = "switches begun" / ""
        => |t| count_of(t, t.switches_of(RESTING, &[CellFach, CellDch]));
    "dch_preemptions" "Preempted DCHs" ["1"] "DCHs that were preempted for another user." = "preempted DCHs" / ""
        => |t| count_of(t, t.preemptions);
    "time_in_cell_dch_s" "Time in CELL_DCH" ["s"] "Time that a user spends in CELL_DCH." = "time of all switched users" / "their number"
        => |t| t.per_user_s(t.time_in[CellDch as usize]);
    "time_in_cell_fach_s" "Time in CELL_FACH" ["s"] "Time that a user spends in CELL_FACH." = "time of all switched users" / "their number"
        => |t| t.per_user_s(t.time_in[CellFach as usize]);
    "time_in_cell_pch_s" "Time in CELL_PCH" ["s"] "Time that a user spends in CELL_PCH." = "time of all switched users" / "their number"
        => |t| t.per_user_s(t.time_in[CellPch as usize]);
    "time_in_ura_pch_s" "Time in URA_PCH" ["s"] "Time that a user spends in URA_PCH." = "time of all switched users" / "their number"
        => |t| t.per_user_s(t.time_in[UraPch as usize]);
    "time_in_idle_s" "Time in idle mode" ["s"] "Time that a user spends in idle mode." = "time of all switched users" / "their number"
        => |t| t.per_user_s(t.time_in[Idle as usize]);
    "time_switching_s" "Time in switches" ["s"] "Time that a user spends in switches between states, which counts for neither state."
        = "time of all switched users" / "their number"
        => |t| t.per_user_s(t.switching);
    "energy_j" "Energy of the radio" ["J"] "Estimated energy that a UE's radio consumes, from the power of each RRC state (`rrc.power`)."
        = "sum of power x time over states and switched users" / "their number"
        => |t| known(t, ratio(t.energy_j, t.switched as f64)?);
    "energy_j_per_mb" "Energy per megabyte" ["J/MB"] "Estimated energy that the radios of all switched users consume per megabyte of acknowledged payload." = "energy of all switched users" / "goodput in MB"
        => |t| known(t, ratio(t.energy_j, t.acknowledged as f64 / 1e6)?);
}

/// The mean reserved downlink rate, in kbit/s.
fn occupancy(totals: &CellTotals) -> Option<f64> {
    known(totals, ratio(totals.reserved_bit_ns as f64 / 1e3, totals.window.as_nanos() as f64)?)
}

/// The value, or `None` without switched users.
fn known(totals: &CellTotals, value: f64) -> Option<f64> {
    (totals.switched > 0).then_some(value)
}

/// The count, or `None` without switched users.
fn count_of(totals: &CellTotals, number: u64) -> Option<f64> {
    known(totals, count(number)?)
}

/// The share in percent.
fn share(part: u64, total: u64) -> Option<f64> {
    ratio(100.0 * part as f64, total as f64)
}
