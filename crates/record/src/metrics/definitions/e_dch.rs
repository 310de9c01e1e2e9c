//! Metrics of E-DCHs.

use super::{Metric, count, kbps, per, percent, ratio};
use crate::metrics::totals::NetworkTotals;

metrics! { E_DCH: NetworkTotals;
    "e_transmissions" "Transmissions on the E-DCH" ["1"] "TTIs in which a UE sent a block on the E-DCH, retransmissions included." = "transmissions" / ""
        => |t| count(t.e_dch.transmissions);
    "e_block_rate_kbps" "Rate of the E-DCH" ["kbit/s"] "Rate of the blocks on the E-DCH while any is on the air, headers included and retransmissions excluded; sum of users."
        = "bits of first transmissions" / "time with blocks on the air"
        => |t| kbps(t.e_dch.bits, t.e_dch.time_on_air);
    "e_first_bler_pct" "First-transmission BLER of the E-DCH" ["%"] "Share of the first transmissions of blocks on the E-DCH that the Node B could not decode."
        = "first transmissions that failed x 100" / "first transmissions"
        => |t| percent(t.e_dch.first_failures, t.e_dch.first_transmissions);
    "e_residual_bler_pct" "Residual BLER of the E-DCH" ["%"] "Share of the blocks on the E-DCH that the Node B could not decode after the last transmission. Their PDUs are lost for RLC."
        = "blocks that ended without being decoded x 100" / "blocks that ended or were decoded"
        => |t| percent(t.e_dch.lost, t.e_dch.lost + t.e_dch.decoded);
    "e_transmissions_per_block" "Transmissions of a block on the E-DCH" ["1"] "Mean number of transmissions of a block on the E-DCH."
        = "transmissions" / "blocks that ended or were decoded"
        => |t| per(t.e_dch.transmissions, t.e_dch.lost + t.e_dch.decoded);
    "e_max_noise_rise_db" "Maximum noise rise" ["dB"] "Maximum noise rise of a cell by its E-DCH users." = "largest noise rise" / ""
        => |t| t.e_dch.max_noise_rise.map(f64::from);
    "e_mean_noise_rise_db" "Mean noise rise" ["dB"] "Mean noise rise by E-DCH users while any of their blocks is on the air; mean in dB over time and cells."
        = "integral of the noise rise" / "time with blocks on the air"
        => |t| ratio(t.e_dch.noise_rise, t.e_dch.time_on_air.as_secs());
    "e_absolute_grants" "Absolute grants" ["1"] "Serving grants that Node Bs sent on the E-AGCH." = "absolute grants" / ""
        => |t| count(t.e_dch.absolute_grants);
    "e_relative_grants" "Relative grants" ["1"] "Changes of a serving grant by one step that Node Bs sent on the E-RGCH." = "relative grants" / ""
        => |t| count(t.e_dch.relative_grants);
    "e_happy_pct" "Happy transmissions" ["%"] "Share of the transmissions on the E-DCH whose happy bit says that the UE needs no higher grant."
        = "happy transmissions x 100" / "transmissions"
        => |t| percent(t.e_dch.happy, t.e_dch.transmissions);
    "e_t1_expiries" "Expiries of T1 of the E-DCH" ["1"] "Expiries of timer T1 of the RNC's reordering queues: blocks were given up." = "expiries" / ""
        => |t| count(t.e_dch.t1_expiries);
    "e_blocks_dropped" "Blocks of the E-DCH dropped by reordering" ["1"] "Blocks that reached the RNC after its reordering queue had given them up. Their PDUs are lost for RLC." = "blocks dropped" / ""
        => |t| count(t.e_dch.blocks_dropped);
    "e_false_acks" "False ACKs of the E-DCH" ["1"] "Blocks that the Node B had not decoded when the UE read an ACK for them. Their PDUs are lost for RLC." = "blocks" / ""
        => |t| count(t.e_dch.false_acks);
}
