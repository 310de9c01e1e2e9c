//! Metrics of RLC, Iub and air in one direction, all users together.

use super::{Metric, count, kbps, per, percent, ratio};
use crate::metrics::radio::{deviation_ms, mean_ms};
use crate::metrics::totals::RadioTotals;

metrics! { RADIO: RadioTotals;
    "rlc_throughput_iub_kbps" "RLC throughput on the Iub" ["kbit/s"] "Rate of all blocks that RLC sent over the Iub: the RLC throughput of Dubois (2005)."
        = "bits of all blocks on the Iub (data, retransmissions, status, headers as configured)" / "run window"
        => |t| kbps(t.iub_bits, t.window);
    "rlc_throughput_payload_kbps" "RLC throughput, payload" ["kbit/s"] "Rate at which RLC delivered SDUs while its buffer held data."
        = "bits of the SDUs that the receiving RLC delivered" / "time in which any UE's RLC buffer held data"
        => |t| kbps(t.delivered_bits, t.buffered);
    "iub_pdus_per_s" "Blocks on the Iub" ["PDU/s"] "Blocks on the Iub per time." = "blocks that crossed the Iub" / "run window"
        => |t| ratio(t.iub_blocks as f64, t.window.as_secs());
    "sdu_delay_ms" "SDU delay" ["ms"] "Mean time of an SDU from RLC's buffer to the layer above its peer."
        = "sum of (delivered - entered the sender's buffer)" / "SDUs delivered"
        => |t| mean_ms(t.sdus_delivered, t.delay_ns);
    "sdu_jitter_ms" "SDU jitter" ["ms"] "Standard deviation (n - 1) of the SDU delay." = "spread of the delays" / "SDUs delivered"
        => |t| deviation_ms(t.sdus_delivered, t.delay_ns, t.delay_squares);
    "sdu_error_pct" "SDUs lost" ["%"] "SDUs that entered RLC's buffer and were not delivered by its peer, in any mode: discarded by the sender, lost in a RESET or a re-establishment, or lost on the air without acknowledged mode. SDUs in transit at the end of the run do not count as lost."
        = "SDUs lost" / "SDUs that entered RLC's buffer"
        => |t| percent(t.sdus_lost, t.sdus_entered);
    "residual_loss_pct" "Residual loss" ["%"] "Share of lost SDUs among the SDUs that were delivered or lost, in any mode: the loss that remains for the layer above RLC. SDUs in transit at the end of the run do not count."
        = "SDUs lost" / "SDUs delivered or lost"
        => |t| percent(t.sdus_lost, t.sdus_delivered + t.sdus_lost);
    "rlc_sdu_discards" "SDUs discarded by RLC" ["1"] "SDUs that the sending RLC discarded, including SDUs that its peer had already delivered." = "SDUs discarded" / ""
        => |t| count(t.sdus_discarded);
    "rlc_buffer_sdu_drops" "SDUs refused by RLC's buffer" ["1"] "SDUs that arrived at a full RLC buffer and were dropped." = "SDUs refused" / ""
        => |t| count(t.sdus_refused);
    "pdu_transmissions" "Data PDUs sent" ["1"] "Data PDUs sent, retransmissions included." = "data PDUs sent" / ""
        => |t| count(t.pdus);
    "rlc_retransmissions" "RLC retransmissions" ["1"] "Data PDUs that were retransmitted." = "data PDUs retransmitted" / ""
        => |t| count(t.retransmitted_pdus);
    "mean_transmissions_per_pdu" "Transmissions per PDU" ["1"] "Mean number of transmissions of a data PDU."
        = "pdu_transmissions" / "pdu_transmissions - rlc_retransmissions"
        => |t| per(t.pdus, t.pdus - t.retransmitted_pdus);
    "rlc_pdus_dropped" "PDUs dropped by the receiving RLC" ["1"] "PDUs that arrived and were dropped by the receiving RLC: malformed, of another mode, outside its window, during a RESET, or a STATUS with an impossible sequence number. Duplicates are not counted."
        = "PDUs dropped" / ""
        => |t| count(t.pdus_dropped);
    "rlc_resets" "RLC resets" ["1"] "RESET procedures started by the sender of the data of this direction." = "RESET procedures" / ""
        => |t| count(t.resets);
    "status_pdus_sent" "STATUS PDUs" ["1"] "Separate STATUS PDUs that report on the data of this direction; they are sent in the other direction. Piggybacked STATUS PDUs and those that move the receiving window are not counted."
        = "STATUS PDUs" / ""
        => |t| count(t.status_pdus);
    "status_overhead_pct" "STATUS PDUs per data PDU" ["%"] "Ratio of STATUS PDUs to the data PDUs on which they report."
        = "status_pdus_sent" / "pdu_transmissions"
        => |t| percent(t.status_pdus, t.pdus);
    "bler_pct" "Block error rate, measured" ["%"] "Share of transport blocks lost on the air, on all channels of this direction." = "blocks received in error" / "blocks sent"
        => |t| percent(t.block_errors, t.blocks);
}
