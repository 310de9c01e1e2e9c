//! Metrics of the cells of a layout. Recorded only if there is a layout.

use umts_stack::trace::CallStep;

use super::{Metric, count, percent, ratio};
use crate::metrics::totals::LayoutTotals;

/// Indices of the reasons in [`LayoutTotals::postponed`].
const CODES: usize = 0;
const POWER: usize = 1;
const CREDIT: usize = 2;
const HANDOVER: usize = 3;

metrics! { LAYOUT: LayoutTotals;
    "load_factor_pct" "Load factor" ["%"] "Share of a cell's transmit power that is needed because of interference, from other cells and from itself; mean of all cells and TTIs." = "sum over users of (om + f) / (G + om)" / "TTIs of cells"
        => |t| t.per_tti(100.0 * t.load);
    "load_factor_sd_pct" "Standard deviation of the load factor" ["%"] "Standard deviation (n - 1) of the load factor over cells and TTIs." = "spread of the load factors" / "TTIs of cells"
        => |t| t.load_deviation_pct();
    "overload_pct" "TTIs at a load of 1 or more" ["%"] "Share of TTIs in which the load factor of a cell is 1 or more." = "such TTIs" / "TTIs of cells"
        => |t| percent(t.overloaded, t.ttis);
    "tx_power_dbm" "Transmission power" ["dBm"] "Transmit power of a cell: the mean in milliwatts, expressed in dBm." = "sum of the powers in mW" / "TTIs of cells"
        => |t| t.per_tti(t.power).map(|mean| 10.0 * libm::log10(mean));
    "tx_power_mean_dbm" "Transmission power, mean level" ["dBm"] "Transmit power of a cell: the mean of the levels in dBm, which is lower than `tx_power_dbm`." = "sum of the levels in dBm" / "TTIs of cells"
        => |t| t.per_tti(t.power_db);
    "dsch_power_pct" "Power of the DSCHs" ["%"] "Share of the transmit power of all cells that is used for DSCHs." = "power of grants" / "power of cells"
        => |t| (t.power > 0.0).then(|| 100.0 * t.dsch_power / t.power);
    "power_limited_pct" "TTIs at the power limit" ["%"] "Share of TTIs in which the power of a cell was insufficient for all dedicated channels." = "such TTIs" / "TTIs of cells"
        => |t| percent(t.scaled, t.ttis);
    "cell_supply_w" "Supply power of a cell" ["W"] "Power that a cell draws according to `cell.power.supply`: a fixed part, and a part proportional to its transmit power." = "sum of fixed + slope x power sent" / "TTIs of cells"
        => |t| t.supply_w();
    "cell_energy_j" "Energy of all cells" ["J"] "Energy that all cells draw in the window, according to `cell.power.supply`." = "supply power x time, summed over cells" / ""
        => |t| t.energy_j();
    "cell_energy_j_per_mbit" "Energy per megabit" ["J/Mbit"] "Energy that all cells draw per megabit delivered on DSCHs and in calls." = "energy of all cells" / "Mbit of downlink SDUs and blocks of calls"
        => |t| ratio(t.energy_j()?, t.mbit());
    "dsch_energy_j_per_mbit" "Energy per megabit of the DSCHs" ["J/Mbit"] "Part of the energy that is due to transmissions on DSCHs, per megabit delivered on them." = "slope x power of grants x time" / "Mbit of downlink SDUs"
        => |t| ratio(t.dsch_energy_j()?, t.dsch_mbit());
    "mean_calls" "Calls" ["1"] "Mean number of calls in a cell." = "calls, summed over TTIs" / "TTIs of cells"
        => |t| t.per_tti(t.calls as f64);
    "call_bler_pct" "Block errors of calls" ["%"] "Share of the blocks of calls that are lost." = "blocks of calls lost" / "blocks of calls sent"
        => |t| percent(t.call_blocks_lost, t.call_blocks);
    "dsch_offered_kbps" "Traffic offered to a DSCH" ["kbit/s"] "Rate of the downlink SDUs that arrive for the users of a cell." = "bits of downlink SDUs" / "run window and cells"
        => |t| t.offered_kbps();
    "dsch_users_per_tti" "Users of a TTI" ["1"] "Mean number of users that share a TTI of a DSCH, or a frame if scheduling decisions are made each frame." = "grants, in each TTI or frame" / "TTIs or frames of cells"
        => |t| t.per_tti((t.grants + t.held) as f64);
    "mean_sf" "Spreading factor" ["1"] "Mean spreading factor of a grant, after doubling for lack of codes or power." = "sum of the spreading factors" / "grants"
        => |t| (t.grants > 0).then(|| t.factors / t.grants as f64);
    "mean_sf_by_blocks" "Spreading factor of a block" ["1"] "Mean spreading factor of grants, weighted by the number of blocks that each grant sends." = "sum of the spreading factors of blocks" / "blocks sent"
        => |t| (t.blocks > 0).then(|| t.block_factors / t.blocks as f64);
    "dsch_codes_pct" "Codes in use" ["%"] "Share of the code tree that grants occupy." = "sum of 1 / spreading factor" / "TTIs of cells"
        => |t| t.per_tti(100.0 * t.codes);
    "dsch_filled_pct" "Filled formats" ["%"] "Share of the capacity of their transport formats that grants use." = "blocks sent" / "blocks of the formats"
        => |t| percent(t.blocks, t.room);
    "dsch_halved_pct" "Reduced grants" ["%"] "Share of grants with a larger spreading factor than requested." = "such grants" / "grants"
        => |t| percent(t.halved, t.grants);
    "dsch_postponed_pct" "Postponed requests" ["%"] "Share of requests for a TTI that were refused. A user has one request in each TTI in which data wait for it." = "requests refused" / "requests"
        => |t| percent(t.postponed.iter().sum(), t.requests());
    "dsch_postponed_codes_pct" "Postponed requests, codes" ["%"] "Share of requests for a TTI that were postponed because no code was free." = "such requests" / "requests"
        => |t| percent(t.postponed[CODES], t.requests());
    "dsch_postponed_power_pct" "Postponed requests, power" ["%"] "Share of requests for a TTI that were postponed because the cell lacked power." = "such requests" / "requests"
        => |t| percent(t.postponed[POWER], t.requests());
    "dsch_postponed_credit_pct" "Postponed requests, left out" ["%"] "Share of requests for a TTI that were postponed because a scheduler in Python left the user out." = "such requests" / "requests"
        => |t| percent(t.postponed[CREDIT], t.requests());
    "dsch_postponed_handover_pct" "Postponed requests, handover" ["%"] "Share of requests for a TTI that were postponed because the user was changing cells." = "such requests" / "requests"
        => |t| percent(t.postponed[HANDOVER], t.requests());
    "handovers" "Handovers" ["1"] "Hard handovers of DSCH users with data to send, and of users of DCH bearers." = "handovers" / ""
        => |t| count(t.handovers);
    "handover_lost_octets" "Lost by handovers" ["B"] "Octets of SDUs that were lost with the buffer of the old cell at a handover." = "octets of those SDUs" / ""
        => |t| count(t.handover_lost);
    "sdu_delay_step_ms" "Steps of the SDU delay" ["ms"] "Mean absolute difference between the delays of consecutive downlink SDUs of a user: another definition of jitter." = "sum of the differences" / "SDUs with a predecessor"
        => |t| t.delay_step_ms();
    "dch_codes_pct" "Codes of DCHs" ["%"] "Share of a code tree that calls, DCH bearers and DCHs associated with DSCHs occupy; above 100 if they are not limited to one tree." = "sum of 1 / spreading factor" / "TTIs of cells"
        => |t| (t.dch_ttis > 0).then(|| 100.0 * t.dch_codes / t.dch_ttis as f64);
    "calls_blocked" "Calls blocked" ["1"] "Calls that did not begin because their cell had no code or, with `cell.admission.power`, no power for them." = "calls blocked" / ""
        => |t| t.steps(CallStep::Blocked).and_then(count);
    "calls_blocked_pct" "Call blocking" ["%"] "Share of the attempted calls that did not begin because their cell had no code or, with `cell.admission.power`, no power for them." = "calls blocked" / "calls blocked or begun"
        => |t| t.steps_pct(CallStep::Blocked, CallStep::Begun);
    "calls_dropped" "Calls dropped" ["1"] "Calls that ended early because a better cell had no code for them." = "calls dropped" / ""
        => |t| t.steps(CallStep::Dropped).and_then(count);
    "call_handovers" "Handovers of calls" ["1"] "Hard handovers of calls: changes of the only cell. There are none with soft handover." = "handovers" / ""
        => |t| t.steps(CallStep::HandedOver).and_then(count);
    "call_legs_refused" "Legs refused" ["1"] "Cases in which a cell had no code for a new leg of a call, or for its gaps. A request that is repeated after the next measurement counts again." = "refusals" / ""
        => |t| t.steps(CallStep::Refused).and_then(count);
    "active_set_updates" "Updates of active sets" ["1"] "Cells that joined or left the active set of a call." = "cells that joined or left" / ""
        => |t| t.steps(CallStep::LegAdded).zip(t.steps(CallStep::LegRemoved)).and_then(|(added, removed)| count(added + removed));
    "mean_legs" "Legs of a call" ["1"] "Mean number of cells that transmit to a call." = "calls and additional legs, summed over TTIs" / "calls, summed over TTIs"
        => |t| (t.dch_ttis > 0 && t.calls > 0).then(|| (t.calls + t.further_legs) as f64 / t.calls as f64);
    "further_legs_power_pct" "Power of additional legs" ["%"] "Share of the transmit power of all cells that is used for legs of calls in cells other than their best cell." = "power of these legs" / "power of cells"
        => |t| t.power_pct(t.further_power);
    "associated_power_pct" "Power of associated DCHs" ["%"] "Share of the transmit power of all cells that is used for the DCHs associated with DSCHs." = "power of these DCHs" / "power of cells"
        => |t| t.power_pct(t.associated_power);
    "dch_code_power_dbm" "Code power of DCH bearers" ["dBm"] "Power of the code of a DCH bearer in the best cell of its user: the mean in milliwatts, expressed in dBm. Only TTIs in which the DCH has power count." = "sum of the powers in mW" / "TTIs of DCH bearers"
        => |t| t.per_dch(t.dch_power).map(|mean| 10.0 * libm::log10(mean));
    "dch_code_power_max_dbm" "Largest code power of DCH bearers" ["dBm"] "Largest power of the code of a DCH bearer in the best cell of its user." = "largest power" / ""
        => |t| (t.dch_sent > 0).then(|| 10.0 * libm::log10(t.dch_power_max));
    "dch_power_pct" "Power of DCH bearers" ["%"] "Share of the transmit power of all cells that is used for DCH bearers." = "power of DCH bearers" / "power of cells"
        => |t| (t.dch_sent > 0 && t.power > 0.0).then(|| 100.0 * (t.dch_power + t.dch_further_power) / t.power);
    "dch_ebn0_db" "Eb/N0 of DCH bearers" ["dB"] "Mean of the downlink Eb/N0 in dB, per bit of the full rate. Only TTIs in which the DCH has power count." = "sum of Eb/N0 in dB" / "TTIs of DCH bearers"
        => |t| t.per_dch(t.dch_ebn0_db);
    "dch_legs" "Active set of DCH bearers" ["1"] "Mean number of cells that send a DCH bearer, in TTIs in which it has power." = "cells, summed over TTIs" / "TTIs of DCH bearers"
        => |t| t.per_dch(t.dch_legs as f64);
    "dch_soft_pct" "Soft handover of DCH bearers" ["%"] "Share of the TTIs in which a DCH bearer has power and several cells send it." = "TTIs with several cells" / "TTIs of DCH bearers"
        => |t| percent(t.dch_soft, t.dch_sent);
    "fach_ebn0_db" "Eb/N0 of the FACH" ["dB"] "Mean of the Eb/N0 in dB at users of the FACH in a layout, per bit of its full rate. Only TTIs in which data wait for the user count." = "sum of Eb/N0 in dB" / "such TTIs of users"
        => |t| (t.fach_sent > 0).then(|| t.fach_ebn0_db / t.fach_sent as f64);
    "sccpch_pct" "Transmission of the S-CCPCH" ["%"] "Share of the TTIs in which a cell transmits the S-CCPCH, which carries the FACH." = "TTIs of cells with S-CCPCH" / "TTIs of cells"
        => |t| percent(t.sccpch_sent, t.ttis).filter(|_| t.sccpch_sent > 0);
    "sccpch_power_pct" "Power of the S-CCPCH" ["%"] "Share of the transmit power of all cells that is used for S-CCPCHs." = "power of S-CCPCHs" / "power of cells"
        => |t| (t.sccpch_sent > 0 && t.power > 0.0).then(|| 100.0 * t.sccpch_power / t.power);
    "cell_reselections" "Cell reselections" ["1"] "Changes of the cell of users on FACH and RACH. Each takes a cell update." = "reselections" / ""
        => |t| (t.fach_sent > 0).then(|| count(t.cell_reselections)).flatten();
    "call_gaps_pct" "TTIs with a gap" ["%"] "Share of the TTIs of calls that contain a gap of compressed mode." = "such TTIs" / "TTIs of calls"
        => |t| (t.dch_ttis > 0).then(|| percent(t.compressed, t.calls)).flatten();
}
