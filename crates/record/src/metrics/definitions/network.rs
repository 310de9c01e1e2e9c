//! Metrics of the network as a whole: applications, HS-DSCH, core network, RRC procedures and
//! fairness.

use super::{Metric, count, per, percent};
use crate::metrics::radio::{deviation_ms, mean_ms};
use crate::metrics::totals::NetworkTotals;

metrics! { NETWORK: NetworkTotals;
    "pages" "Web pages" ["1"] "Web pages that users received completely." = "pages ended" / ""
        => |t| count(t.applications.pages.count());
    "page_time_s" "Page time" ["s"] "Time to download a page with all its objects; mean of the pages completed in the window."
        = "last byte at the receiving application - request" / "pages ended"
        => |t| t.applications.pages.mean_s();
    "p95_page_time_s" "95 % quantile of the page time" ["s"] "Exceeded by 5 % of the page times, to three digits." = "95 % quantile of the page times" / ""
        => |t| t.applications.pages.quantile_s(0.95);
    "sessions" "Sessions" ["1"] "Sessions that ended in the window." = "sessions ended" / ""
        => |t| count(t.applications.sessions.count());
    "session_time_s" "Session time" ["s"] "Duration of a session; mean of the sessions that ended in the window."
        = "end of the last packet call - beginning of the first" / "sessions ended"
        => |t| t.applications.sessions.mean_s();
    "fach_queue_drops" "Drops at the Node B's FACH queue" ["1"] "Blocks that arrived at a full FACH queue of the Node B and were dropped." = "blocks dropped" / ""
        => |t| count(t.fach_queue_drops);
    "hs_transmissions" "Transmissions on the HS-DSCH" ["1"] "Transmissions of blocks on the HS-DSCH, retransmissions included." = "transmissions" / ""
        => |t| count(t.hs_dsch.transmissions);
    "hs_first_bler_pct" "First-transmission BLER" ["%"] "Share of the first transmissions of blocks on the HS-DSCH that UEs could not decode."
        = "first transmissions that failed x 100" / "first transmissions"
        => |t| percent(t.hs_dsch.first_failures, t.hs_dsch.first_transmissions);
    "hs_residual_bler_pct" "Residual BLER" ["%"] "Share of the blocks on the HS-DSCH that UEs could not decode after the last transmission. Their PDUs are lost for RLC."
        = "blocks given up x 100" / "blocks decoded or given up"
        => |t| percent(t.hs_dsch.lost, t.hs_dsch.lost + t.hs_dsch.decoded);
    "hs_transmissions_per_block" "Transmissions of a block" ["1"] "Mean number of transmissions of a block on the HS-DSCH."
        = "transmissions" / "blocks decoded or given up"
        => |t| per(t.hs_dsch.transmissions, t.hs_dsch.lost + t.hs_dsch.decoded);
    "hs_mean_cqi" "Mean CQI" ["1"] "Mean CQI on which the Node B based the formats of new blocks." = "sum of the CQIs" / "first transmissions"
        => |t| per(t.hs_dsch.cqis, t.hs_dsch.first_transmissions);
    "hs_t1_expiries" "Expiries of T1" ["1"] "Expiries of timer T1 of the reordering queues: blocks were given up." = "expiries" / ""
        => |t| count(t.hs_dsch.t1_expiries);
    "hs_pdus_discarded" "PDUs discarded by MAC-hs" ["1"] "PDUs that the Node B discarded because the queue of the user was full or its discard timer expired." = "PDUs discarded" / ""
        => |t| count(t.hs_dsch.pdus_discarded);
    "hs_pdus_flushed" "PDUs flushed by MAC-hs" ["1"] "PDUs that the Node B flushed: RLC had discarded or acknowledged them or was reset, or the user left the HS-DSCH." = "PDUs flushed" / ""
        => |t| count(t.hs_dsch.pdus_flushed);
    "hs_blocks_dropped" "Blocks dropped by reordering" ["1"] "Blocks that UEs decoded after the reordering queue had given them up. Their PDUs are lost for RLC." = "blocks dropped" / ""
        => |t| count(t.hs_dsch.blocks_dropped);
    "hs_tsn_misreads" "Misread TSNs" ["1"] "Blocks that the reordering queue took for blocks with other numbers, because more blocks were lost before than their numbers can express." = "blocks" / ""
        => |t| count(t.hs_dsch.tsns_misread);
    "hs_false_acks" "False ACKs" ["1"] "Blocks that UEs had not decoded when the Node B read an ACK for them. Their PDUs are lost for RLC." = "blocks" / ""
        => |t| count(t.hs_dsch.false_acks);
    "hs_needless_retransmissions" "Needless RLC retransmissions" ["1"] "PDUs for the HS-DSCH that RLC retransmitted while a former transmission was still on the Iub, at the Node B or in HARQ." = "PDUs" / ""
        => |t| count(t.hs_dsch.needless_retransmissions);
    "link_drops" "Drops in the core network" ["1"] "IP packets lost on the links of the core network, in full queues or at random." = "packets dropped, both directions" / ""
        => |t| count(t.link_drops);
    "internet_delay_ms" "Internet delay" ["ms"] "Mean delay of packets on links with `internet_delay`, in both directions."
        = "sum of the delays" / "packets"
        => |t| mean_ms(t.internet.packets, t.internet.delay_ns);
    "internet_delay_sd_ms" "Standard deviation of the Internet delay" ["ms"] "Standard deviation of the delays of packets on links with `internet_delay`." = "delays" / ""
        => |t| deviation_ms(t.internet.packets, t.internet.delay_ns, t.internet.delay_squares);
    "internet_delay_min_ms" "Minimum Internet delay" ["ms"] "Minimum delay of packets on links with `internet_delay`." = "smallest delay" / ""
        => |t| t.internet.shortest.map(|delay| delay.as_secs() * 1e3);
    "internet_delay_max_ms" "Maximum Internet delay" ["ms"] "Maximum delay of packets on links with `internet_delay`." = "largest delay" / ""
        => |t| t.internet.longest.map(|delay| delay.as_secs() * 1e3);
    "rlc_unrecoverable_errors" "RLC unrecoverable errors" ["1"] "RLC entities, of either end and all users, that reached MaxRST. With `rrc.rlc_unrecoverable_error = \"cell_update\"` RRC re-establishes RLC after a cell update; otherwise the bearer carries no data until the end of the run." = "RLC unrecoverable errors" / ""
        => |t| count(t.rlc_unrecoverable_errors);
    "rlc_reestablishments" "Re-establishments of RLC" ["1"] "Re-establishments of both RLC entities of a user that RRC ordered: after a cell update, at the release of an RRC connection, and at channel switches and handovers if the scenario configures them." = "re-establishments" / ""
        => |t| count(t.rlc_reestablishments);
    "cell_updates" "Cell updates after failures" ["1"] "Cell update procedures that began after an RLC unrecoverable error or a radio link failure." = "cell updates" / ""
        => |t| count(t.cell_updates);
    "radio_link_failures" "Radio link failures" ["1"] "Cell update procedures that began because T313 of a DCH expired (`rrc.t313`)." = "radio link failures" / ""
        => |t| count(t.radio_link_failures);
    "rach_collisions" "Collisions on the RACH" ["1"] "Collisions of UEs that used the same access slot and signature of the RACH." = "collisions" / ""
        => |t| count(t.rach_collisions);
    "jain_fairness" "Jain's fairness index" ["1"] "Fairness between the flows: 1 if all have the same goodput, 1/n if one of n has all of it."
        = "(sum of the flows' goodputs)²" / "number of flows x sum of their squares; flows with a connection in the window"
        => |t| t.fairness.goodputs;
    "jain_fairness_active" "Jain's fairness index while active" ["1"] "Fairness between the flows while they are active: 1 if all have the same rate, 1/n if one of n has all of it."
        = "(sum of the flows' rates)², a rate being payload acknowledged per time in which a connection of the flow was active"
        / "number of flows x sum of their squares; flows with a connection that was active in the window"
        => |t| t.fairness.active_rates;
}
