//! Metrics of a proxy and its transfers. Results contain them if the scenario has a `[proxy]`.

use umts_stack::trace::Help;

use super::{Metric, count, ratio};
use crate::metrics::transfers::TransferTotals;

metrics! { PROXY: TransferTotals;
    "transfer_time_s" "Transfer time" ["s"] "From the opening of a transfer (its SYN) to the arrival of its last octet at the receiver; mean of the transfers that began in the window and were completed."
        = "sum of the times" / "such transfers"
        => |t| t.times.mean_s();
    "proxy_transfers" "Split transfers" ["1"] "Transfers that the proxy split." = "transfers" / ""
        => |t| count(t.split);
    "proxy_passed" "Passed transfers" ["1"] "TCP connections that the proxy let pass: of other flows, or for lack of room." = "transfers" / ""
        => |t| count(t.passed);
    "proxy_buffer_octets" "Proxy buffer" ["B"] "What the proxy has read from the sender of a split transfer and the receiver's side has not acknowledged, on average."
        = "integral of the octets" / "time with split transfers open, summed over them"
        => |t| ratio(t.buffered as f64 / 1e9, t.open.as_secs());
    "proxy_buffer_max_octets" "Largest proxy buffer" ["B"] "The most of that in any transfer." = "largest number" / ""
        => |t| count(t.most_buffered);
    "proxy_stalled_s" "Proxy stalled" ["s"] "Time in which the proxy had octets of a transfer to read and no room for them, so that the window of its sender closes; of several transfers the sum."
        = "time stalled" / ""
        => |t| Some(t.stalled.as_secs());
    "proxy_ahead_octets" "Acknowledged ahead" ["B"] "The most octets of a transfer that the proxy had acknowledged to their sender and that had not reached their receiver." = "largest number" / ""
        => |t| count(t.most_ahead);
    "proxy_lost_octets" "Lost in the proxy" ["B"] "Octets that the proxy had acknowledged to their sender and lost: one side failed, or the proxy was out of order." = "octets" / ""
        => |t| count(t.lost);
    "tcp_retransmissions_server_leg" "TCP retransmissions, server's leg" ["1"] "Segments sent again between server and proxy by the sender of the data."
        = "segments sent again (data, SYN or FIN), connections of split transfers" / ""
        => |t| count(t.legs[0].retransmissions);
    "tcp_retransmissions_radio_leg" "TCP retransmissions, radio's leg" ["1"] "Segments sent again between proxy and UE by the sender of the data."
        = "segments sent again (data, SYN or FIN), connections of split transfers" / ""
        => |t| count(t.legs[1].retransmissions);
    "rto_count_server_leg" "Retransmission timeouts, server's leg" ["1"] "Expiries of the retransmission timer between server and proxy with data outstanding."
        = "expiries, connections of split transfers" / ""
        => |t| count(t.legs[0].expiries);
    "rto_count_radio_leg" "Retransmission timeouts, radio's leg" ["1"] "Expiries of the retransmission timer between proxy and UE with data outstanding."
        = "expiries, connections of split transfers" / ""
        => |t| count(t.legs[1].expiries);
    "proxy_repeats" "Repeats by the proxy" ["1"] "Segments that a snooping proxy sent again from its copy." = "segments" / ""
        => |t| count(t.helped[Help::Repeated as usize]);
    "proxy_hidden_acks" "ACKs hidden by the proxy" ["1"] "Duplicate acknowledgments that a snooping proxy kept from the server, without those that it answered by a segment."
        = "acknowledgments" / ""
        => |t| count(t.helped[Help::Hid as usize]);
    "proxy_held_acks" "ACKs held by the proxy" ["1"] "Acknowledgments upon whose arrival a proxy that regulates them had some to hold back." = "acknowledgments" / ""
        => |t| count(t.helped[Help::Held as usize]);
    "proxy_clamped_windows" "Windows lowered by the proxy" ["1"] "Segments of the UE whose advertised window the proxy lowered." = "segments" / ""
        => |t| count(t.helped[Help::Clamped as usize]);
}
