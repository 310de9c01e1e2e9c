//! The cells of a layout. They are recorded only if there is one.

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
    "dsch_users_per_tti" "Users of a TTI" ["1"] "Users who share a TTI of a DSCH." = "grants" / "TTIs of cells"
        => |t| t.per_tti(t.grants as f64);
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
}
