//! Metrics of a proxy and its transfers. Results contain them if the scenario has a `[proxy]`.

use umts_stack::trace::Help;

use super::{Metric, count, ratio};
use crate::metrics::transfers::TransferTotals;

metrics! { PROXY: TransferTotals;
    "transfer_time_s" "Transfer time" ["s"] "Time from the SYN of a transfer to the arrival of its last octet at the receiver; mean of the transfers that began in the window and were completed."
        = "sum of the times" / "such transfers"
        => |t| t.times.mean_s();
    "proxy_transfers" "Split transfers" ["1"] "Transfers that the proxy split." = "transfers" / ""
        => |t| count(t.split);
    "proxy_passed" "Passed transfers" ["1"] "TCP connections that the proxy did not split: of other flows, or for lack of room." = "transfers" / ""
        => |t| count(t.passed);
    "proxy_buffer_octets" "Proxy buffer" ["B"] "Mean number of octets of a split transfer that the proxy has read from the sender and that the receiver has not acknowledged."
        = "integral of the octets" / "time with split transfers open, summed over them"
        // `buffered` is in octets times nanoseconds.
        => |t| ratio(t.buffered as f64 / 1e9, t.open.as_secs());
    "proxy_buffer_max_octets" "Largest proxy buffer" ["B"] "Maximum number of octets of a split transfer that the proxy has read from the sender and that the receiver has not acknowledged." = "largest number" / ""
        => |t| count(t.max_buffered);
    "proxy_stalled_s" "Proxy stalled" ["s"] "Time in which the proxy had octets of a transfer to read but no room for them, which closes the sender's window; summed over transfers."
        = "time stalled" / ""
        => |t| Some(t.stalled.as_secs());
    "proxy_ahead_octets" "Acknowledged ahead" ["B"] "Maximum number of octets of a transfer that the proxy had acknowledged to the sender and that had not reached the receiver." = "largest number" / ""
        => |t| count(t.max_ahead);
    "proxy_lost_octets" "Lost in the proxy" ["B"] "Octets that the proxy had acknowledged to the sender and then lost, because one side failed or the proxy had an outage." = "octets" / ""
        => |t| count(t.lost);
    "tcp_retransmissions_server_leg" "TCP retransmissions, server leg" ["1"] "Segments that the sender of the data retransmitted between server and proxy."
        = "retransmitted segments (data, SYN or FIN), connections of split transfers" / ""
        => |t| count(t.legs[0].retransmissions);
    "tcp_retransmissions_radio_leg" "TCP retransmissions, radio leg" ["1"] "Segments that the sender of the data retransmitted between proxy and UE."
        = "retransmitted segments (data, SYN or FIN), connections of split transfers" / ""
        => |t| count(t.legs[1].retransmissions);
    "rto_count_server_leg" "Retransmission timeouts, server leg" ["1"] "Expiries of the retransmission timer between server and proxy with data outstanding."
        = "expiries, connections of split transfers" / ""
        => |t| count(t.legs[0].expiries);
    "rto_count_radio_leg" "Retransmission timeouts, radio leg" ["1"] "Expiries of the retransmission timer between proxy and UE with data outstanding."
        = "expiries, connections of split transfers" / ""
        => |t| count(t.legs[1].expiries);
    "proxy_repeats" "Retransmissions by the proxy" ["1"] "Segments that a snooping proxy retransmitted from its cache." = "segments" / ""
        => |t| count(t.helped[Help::Repeated as usize]);
    "proxy_hidden_acks" "ACKs hidden by the proxy" ["1"] "Duplicate acknowledgments that a snooping proxy did not forward to the server, except those that it answered with a segment."
        = "acknowledgments" / ""
        => |t| count(t.helped[Help::Hid as usize]);
    "proxy_held_acks" "ACKs held by the proxy" ["1"] "Acknowledgments that arrived while a proxy with ACK regulation held acknowledgments back." = "acknowledgments" / ""
        => |t| count(t.helped[Help::Held as usize]);
    "proxy_clamped_windows" "Windows lowered by the proxy" ["1"] "Segments of the UE in which the proxy lowered the advertised window." = "segments" / ""
        => |t| count(t.helped[Help::Clamped as usize]);
}
