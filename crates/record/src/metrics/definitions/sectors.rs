//! Metrics of the cells of a layout. Recorded only if there is a layout.

use umts_stack::trace::CallStep;

use super::{Metric, count, percent, ratio};
use crate::metrics::totals::SectorTotals;

const CODES: usize = 0;
const POWER: usize = 1;
const CREDIT: usize = 2;
const HANDOVER: usize = 3;

metrics! { SECTORS: SectorTotals;
    "load_factor_pct" "Load factor" ["%"] "How much of its power a cell sends because others send, and it itself; mean of all cells and TTIs." = "sum over users of (om + f) / (G + om)" / "TTIs of cells"
        => |t| t.per_tti(100.0 * t.load);
    "load_factor_sd_pct" "Deviation of the load factor" ["%"] "Standard deviation (n - 1) of that over cells and TTIs." = "spread of the load factors" / "TTIs of cells"
        => |t| t.load_deviation_pct();
    "overload_pct" "TTIs at a load of 1 or more" ["%"] "TTIs of cells whose load factor is 1 or more." = "such TTIs" / "TTIs of cells"
        => |t| percent(t.overloaded, t.ttis);
    "tx_power_dbm" "Transmission power" ["dBm"] "Power of a cell: the mean of milliwatts, as a level." = "sum of the powers in mW" / "TTIs of cells"
        => |t| t.per_tti(t.power).map(|mean| 10.0 * libm::log10(mean));
    "tx_power_mean_dbm" "Transmission power, mean level" ["dBm"] "The mean of levels, which is lower." = "sum of the levels in dBm" / "TTIs of cells"
        => |t| t.per_tti(t.power_db);
    "dsch_power_pct" "Power of the DSCHs" ["%"] "The part of the power of all cells that goes to DSCHs." = "power of grants" / "power of cells"
        => |t| (t.power > 0.0).then(|| 100.0 * t.dsch_power / t.power);
    "power_limited_pct" "TTIs at the power limit" ["%"] "TTIs of cells that had not the power for all dedicated channels." = "such TTIs" / "TTIs of cells"
        => |t| percent(t.scaled, t.ttis);
    "cell_supply_w" "Supply power of a cell" ["W"] "Power that a cell draws by `cell.power.supply`: a fixed part, and more the more it sends." = "sum of fixed + slope x power sent" / "TTIs of cells"
        => |t| t.supply_w();
    "cell_energy_j" "Energy of all cells" ["J"] "Energy that all cells draw." = "supply power x time, summed over cells" / ""
        => |t| t.energy_j();
    "cell_energy_j_per_mbit" "Energy per megabit" ["J/Mbit"] "The same per megabit that comes through, of DSCHs and calls." = "energy of all cells" / "Mbit of downlink SDUs and blocks of calls"
        => |t| ratio(t.energy_j()?, t.mbit());
    "dsch_energy_j_per_mbit" "Energy per megabit of the DSCHs" ["J/Mbit"] "Energy that the transmissions of the DSCHs add to it, per megabit that comes through on them." = "slope x power of grants x time" / "Mbit of downlink SDUs"
        => |t| ratio(t.dsch_energy_j()?, t.dsch_mbit());
    "mean_calls" "Calls" ["1"] "Calls in a cell." = "calls, summed over TTIs" / "TTIs of cells"
        => |t| t.per_tti(t.calls as f64);
    "call_bler_pct" "Block errors of calls" ["%"] "Blocks of calls that are lost." = "blocks of calls lost" / "blocks of calls sent"
        => |t| percent(t.call_blocks_lost, t.call_blocks);
    "dsch_offered_kbps" "Offered to a DSCH" ["kbit/s"] "SDUs that come for the users of a cell, per time." = "bits of downlink SDUs" / "run window and cells"
        => |t| t.offered_kbps();
    "dsch_users_per_tti" "Users of a TTI" ["1"] "Users who share a TTI of a DSCH; where it is decided each frame, a frame." = "grants, in each TTI or frame" / "TTIs or frames of cells"
        => |t| t.per_tti((t.grants + t.held) as f64);
    "mean_sf" "Spreading factor" ["1"] "Spreading factor of a grant, after it was doubled for lack of codes or power." = "sum of the spreading factors" / "grants"
        => |t| (t.grants > 0).then(|| t.factors / t.grants as f64);
    "mean_sf_by_blocks" "Spreading factor of a block" ["1"] "The same, each grant weighted with the blocks that it sends." = "sum of the spreading factors of blocks" / "blocks sent"
        => |t| (t.blocks > 0).then(|| t.block_factors / t.blocks as f64);
    "dsch_codes_pct" "Codes in use" ["%"] "The part of the code tree that grants have." = "sum of 1 / spreading factor" / "TTIs of cells"
        => |t| t.per_tti(100.0 * t.codes);
    "dsch_filled_pct" "Filled formats" ["%"] "How much of what their formats hold grants send." = "blocks sent" / "blocks of the formats"
        => |t| percent(t.blocks, t.room);
    "dsch_halved_pct" "Grants of less than wanted" ["%"] "Grants with a larger spreading factor than was wanted." = "such grants" / "grants"
        => |t| percent(t.halved, t.grants);
    "dsch_postponed_pct" "Postponed requests" ["%"] "Requests of users for a TTI that got none; a user counts once in each TTI in which something waits." = "requests refused" / "requests"
        => |t| percent(t.postponed.iter().sum(), t.requests());
    "dsch_postponed_codes_pct" "Postponed requests, codes" ["%"] "Those for which there was no code." = "such requests" / "requests"
        => |t| percent(t.postponed[CODES], t.requests());
    "dsch_postponed_power_pct" "Postponed requests, power" ["%"] "Those for which there was not the power." = "such requests" / "requests"
        => |t| percent(t.postponed[POWER], t.requests());
    "dsch_postponed_credit_pct" "Postponed requests, credit" ["%"] "Those of users without credit." = "such requests" / "requests"
        => |t| percent(t.postponed[CREDIT], t.requests());
    "dsch_postponed_handover_pct" "Postponed requests, handover" ["%"] "Those of users who were changing cells." = "such requests" / "requests"
        => |t| percent(t.postponed[HANDOVER], t.requests());
    "handovers" "Handovers" ["1"] "Times that a user with something to send changed cells." = "handovers" / ""
        => |t| count(t.handovers);
    "handover_lost_octets" "Lost by handovers" ["B"] "Octets of SDUs lost with the buffers of cells that their users left." = "octets of those SDUs" / ""
        => |t| count(t.handover_lost);
    "sdu_delay_step_ms" "Steps of the SDU delay" ["ms"] "By how much the delay of a downlink SDU differs from that of the user's SDU before: the other reading of jitter." = "sum of the differences" / "SDUs with one before"
        => |t| t.delay_step_ms();
    "dch_codes_pct" "Codes of DCHs" ["%"] "The part of a code tree that calls and the DCHs beside DSCHs have; more than 100 where they are not limited to one." = "sum of 1 / spreading factor" / "TTIs of cells"
        => |t| (t.dch_ttis > 0).then(|| 100.0 * t.dch_codes / t.dch_ttis as f64);
    "calls_blocked" "Calls blocked" ["1"] "Calls that did not begin, since their cell had no code for them." = "calls blocked" / ""
        => |t| t.steps(CallStep::Blocked).and_then(count);
    "calls_blocked_pct" "Blocking of calls" ["%"] "The same, compared with all calls that wanted to begin." = "calls blocked" / "calls blocked or begun"
        => |t| t.steps_pct(CallStep::Blocked, CallStep::Begun);
    "calls_dropped" "Calls dropped" ["1"] "Calls that ended before their time, since a better cell had no code for them." = "calls dropped" / ""
        => |t| t.steps(CallStep::Dropped).and_then(count);
    "call_handovers" "Handovers of calls" ["1"] "Times that a call changed its only cell; soft handover has none of them." = "handovers" / ""
        => |t| t.steps(CallStep::HandedOver).and_then(count);
    "call_legs_refused" "Legs refused" ["1"] "Times that a cell had no code for a call that wanted into it, or for its gaps; who is measured again asks again." = "refusals" / ""
        => |t| t.steps(CallStep::Refused).and_then(count);
    "active_set_updates" "Updates of active sets" ["1"] "Cells that joined or left the active set of a call." = "cells that joined or left" / ""
        => |t| t.steps(CallStep::LegAdded).zip(t.steps(CallStep::LegRemoved)).and_then(|(added, removed)| count(added + removed));
    "mean_legs" "Legs of a call" ["1"] "Cells that send to a call." = "calls and further legs, summed over TTIs" / "calls, summed over TTIs"
        => |t| (t.dch_ttis > 0 && t.calls > 0).then(|| (t.calls + t.further_legs) as f64 / t.calls as f64);
    "further_legs_power_pct" "Power of further legs" ["%"] "The part of the power of all cells that goes to calls whose best cell is another." = "power of these legs" / "power of cells"
        => |t| t.power_pct(t.further_power);
    "associated_power_pct" "Power beside DSCHs" ["%"] "The part of the power of all cells that goes to the DCHs beside DSCHs." = "power of these DCHs" / "power of cells"
        => |t| t.power_pct(t.associated_power);
    "call_gaps_pct" "TTIs with a gap" ["%"] "TTIs of calls with a gap of compressed mode." = "such TTIs" / "TTIs of calls"
        => |t| (t.dch_ttis > 0).then(|| percent(t.compressed, t.calls)).flatten();
}
