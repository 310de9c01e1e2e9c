//! Metrics of TCP: of each connection, and of all connections of the network together.

use super::{Metric, count, kbps, per, percent, percent_of, ratio};
use crate::metrics::totals::TcpTotals;

metrics! { TCP: TcpTotals;
    "goodput_kbps" "Goodput" ["kbit/s"] "Acknowledged payload per time. Comparisons use this metric by default."
        = "application payload acknowledged to the sender, each byte once" / "run window"
        => |t| kbps(t.acknowledged * 8, t.window);
    "goodput_active_kbps" "Goodput while active" ["kbit/s"] "Acknowledged payload per active time, in which data were unsent or unacknowledged."
        = "application payload acknowledged to the sender, each byte once"
        / "active time of the connection; network: time in which any connection was active"
        => |t| kbps(t.acknowledged * 8, t.active_union);
    "goodput_sent_kbps" "Goodput as sent" ["kbit/s"] "Payload sent per time, without retransmissions: the goodput of parsetcp (Dubois 2005, chapter 6)."
        = "distinct payload sent, each byte once" / "run window"
        => |t| kbps(t.sent_once * 8, t.window);
    "goodput_delivered_kbps" "Goodput as delivered" ["kbit/s"] "Payload delivered to the receiving application per time."
        = "payload delivered in order at the receiver" / "run window"
        => |t| kbps(t.delivered * 8, t.window);
    "throughput_kbps" "Throughput" ["kbit/s"] "Payload sent per time, retransmissions included."
        = "TCP payload of all data segments, counted where they leave the sender" / "run window"
        => |t| kbps(t.sent * 8, t.window);
    "mean_rtt_s" "Mean RTT" ["s"] "Mean of the round-trip times measured by the sender."
        = "sum of the sender's samples (segments sent once: Karn)" / "number of samples"
        => |t| t.rtt.mean_s();
    "mean_rtt_time_avg_s" "Mean RTT over time" ["s"] "Time average of the sender's latest round-trip time."
        = "integral of the latest sample over active time" / "active time since the first sample"
        => |t| ratio(t.rtt_integral as f64 / 1e9, t.rtt_known.as_nanos() as f64);
    "min_rtt_s" "Minimum RTT" ["s"] "Minimum of the round-trip times measured by the sender." = "smallest sample" / ""
        => |t| t.rtt.min_s();
    "max_rtt_s" "Maximum RTT" ["s"] "Maximum of the round-trip times measured by the sender." = "largest sample" / ""
        => |t| t.rtt.max_s();
    "p50_rtt_s" "Median RTT" ["s"] "Median of the round-trip times measured by the sender, to three digits." = "50 % quantile of the samples" / ""
        => |t| t.rtt.quantile_s(0.50);
    "p95_rtt_s" "95 % quantile of the RTT" ["s"] "Exceeded by 5 % of the round-trip times, to three digits." = "95 % quantile of the samples" / ""
        => |t| t.rtt.quantile_s(0.95);
    "p99_rtt_s" "99 % quantile of the RTT" ["s"] "Exceeded by 1 % of the round-trip times, to three digits." = "99 % quantile of the samples" / ""
        => |t| t.rtt.quantile_s(0.99);
    "mean_outstanding_segments" "Mean outstanding data" ["segments"] "Mean amount of data in flight, as seen by the sender; for the network, the mean per connection."
        = "integral of (highest payload byte sent - cumulative acknowledgment) / MSS over active time"
        / "active time; network: summed over the connections"
        => |t| ratio(t.outstanding_segment_s, t.active.as_secs());
    "max_outstanding_segments" "Maximum outstanding data" ["segments"] "Maximum amount of data in flight; for the network, the maximum of any connection."
        = "largest (highest payload byte sent - cumulative acknowledgment) / MSS" / ""
        => |t| (!t.active.is_zero()).then_some(t.max_outstanding);
    "tcp_retransmissions" "TCP retransmissions" ["1"] "Segments that the sender of the data retransmitted, for any cause; with a proxy, on both legs."
        = "retransmitted segments (data, SYN or FIN)" / ""
        => |t| count(t.retransmissions);
    "tcp_retransmissions_by_dupack" "TCP retransmissions after duplicate ACKs" ["1"] "Segments retransmitted after duplicate acknowledgments or in the recovery that followed."
        = "retransmitted segments with this cause" / ""
        => |t| count(t.by_dupack);
    "tcp_retransmissions_by_rto" "TCP retransmissions after timeouts" ["1"] "Segments retransmitted after an expiry of the retransmission timer, go-back-N included."
        = "retransmitted segments with this cause" / ""
        => |t| count(t.by_rto);
    "tcp_retransmissions_unneeded" "Unneeded TCP retransmissions" ["1"] "Segments retransmitted although an earlier copy reached the receiver, before or after the retransmission."
        = "retransmissions for which an earlier copy of the bytes arrives while the connection is open; known from events, not estimated" / ""
        => |t| count(t.unneeded);
    "tcp_retransmissions_per_connection" "TCP retransmissions per connection" ["1"] "Mean number of segments that a connection retransmitted."
        = "tcp_retransmissions" / "connections that sent data"
        => |t| per(t.retransmissions, t.connections_with_data);
    "tcp_retransmissions_pct" "TCP retransmissions per segment" ["%"] "Ratio of retransmitted segments to distinct data segments."
        = "tcp_retransmissions" / "total_packets"
        => |t| percent(t.retransmissions, t.data_segments);
    "rto_count" "Retransmission timeouts" ["1"] "Expiries of the retransmission timer of the end that sends the data, SYN included; with a proxy, on both legs. The time budget also counts the timers of the other end." = "expiries" / ""
        => |t| count(t.expiries);
    "syn_retransmissions" "SYN retransmissions" ["1"] "SYN and SYN-ACK segments retransmitted by either end." = "segments" / ""
        => |t| count(t.syn_retransmissions);
    "rto_per_connection" "Timeouts per connection" ["1"] "Mean number of expiries of a connection's retransmission timer."
        = "rto_count" / "connections that sent data"
        => |t| per(t.expiries, t.connections_with_data);
    "rto_per_retransmission" "Timeouts per retransmission" ["1"] "Ratio of timer expiries to retransmitted segments."
        = "rto_count" / "tcp_retransmissions"
        => |t| per(t.expiries, t.retransmissions);
    "rto_per_segment_pct" "Timeouts per segment" ["%"] "Ratio of timer expiries to distinct data segments." = "rto_count" / "total_packets"
        => |t| percent(t.expiries, t.data_segments);
    "connections_failed" "Failed connections" ["1"] "Connections that were refused, reset or aborted." = "connections" / ""
        => |t| count(t.failed);
    "spurious_undone" "Reactions undone" ["1"] "Reactions to a loss that the sender found to be unneeded and undid."
        = "found by timestamps, F-RTO or duplicate reports" / ""
        => |t| count(t.spurious_undone);
    "rack_losses" "Losses found by RACK" ["1"] "Segments declared lost because a segment that was sent later had arrived (RACK, RFC 8985 §6)."
        = "segments marked lost; a segment that is lost again counts again" / ""
        => |t| count(t.rack_losses);
    "tail_loss_probes" "Tail loss probes" ["1"] "Tail loss probes that repeat the last segment (RFC 8985 §7)."
        = "probes that repeat data" / ""
        => |t| count(t.probes);
    "tail_loss_probes_of_new_data" "Tail loss probes of new data" ["1"] "Tail loss probes that carry new data (RFC 8985 §7)."
        = "probes with new data" / ""
        => |t| count(t.new_probes);
    "tail_loss_probe_repairs" "Repairs by tail loss probes" ["1"] "Tail loss probes that repaired a loss: the acknowledgment covers data sent after the probe, and no second copy was reported (RFC 8985 §7.4)."
        = "losses that a probe repaired" / ""
        => |t| count(t.probe_repairs);
    "dupack_runs" "Runs of duplicate ACKs" ["1"] "Number of times that the sender received three or more duplicate acknowledgments in a row."
        = "runs, counted at their third" / ""
        => |t| count(t.dupack_runs);
    "acks_received" "ACKs received" ["1"] "Acknowledgments without payload, SYN or FIN that the sender received." = "pure ACKs" / ""
        => |t| count(t.acks_received);
    "ecn_marks" "ECN marks" ["1"] "Segments of the sender of the data that a router marked instead of dropping them (CE)."
        = "segments that reached the receiver with CE" / ""
        => |t| count(t.ecn_marks);
    "ecn_echoes" "ECN echoes" ["1"] "Acknowledgments that report a mark to the sender (ECE). The receiver repeats ECE until the sender's CWR arrives."
        = "segments with ECE, without SYN, that reached the sender" / ""
        => |t| count(t.ecn_echoes);
    "ecn_answers" "ECN answers" ["1"] "Segments in which the sender confirms a reported mark (CWR)." = "segments with CWR, without SYN, that left" / ""
        => |t| count(t.ecn_answers);
    "ecn_reductions" "Window reductions by ECN" ["1"] "Reductions of the congestion window because of marks, at most one per window of data."
        = "reductions, except where a loss in the same window had already caused one" / ""
        => |t| count(t.ecn_reductions);
    "keep_alives" "Keep-alives" ["1"] "Segments that only test whether the other end is still alive."
        = "keep-alives of the sender of the data" / ""
        => |t| count(t.keep_alives);
    "zero_windows" "Zero windows" ["1"] "Acknowledgments that advertise a window of zero." = "ACKs with a window of 0 that reached the sender" / ""
        => |t| count(t.zero_windows);
    "zero_window_probes" "Zero window probes" ["1"] "Segments of the sender that test whether a zero window has opened."
        = "probes of the persist timer" / ""
        => |t| count(t.zero_window_probes);
    "zero_window_time_s" "Time with a zero window" ["s"] "Time with a zero window, in which the persist timer runs; for the network, summed over connections."
        = "time from an ACK with a window of 0 to the next ACK with a larger one, as received by the sender" / ""
        => |t| Some(t.zero_window_time.as_secs());
    "sender_idle_gaps" "Idle gaps of senders" ["1"] "Periods in which a sender with data to send stays silent, longer than two TTIs of 20 ms and half a round trip (Rendón et al. 2004, Figure 4)."
        = "periods without a data segment while new data waited, longer than 40 ms and half of the latest RTT; counted at the segment that ends them" / ""
        => |t| count(t.idle_gaps);
    "stalls" "Stalls" ["1"] "Times of at least measure.stall in which data was in flight and the sender received no new acknowledgment; with a proxy, on both legs."
        = "stalls that begin in the run window; a stall ends with a new acknowledgment, the connection or the run" / ""
        => |t| count(t.stalls.count);
    "stalled_s" "Time stalled" ["s"] "Time in stalls; for the network, summed over connections."
        = "parts of the stalls inside the run window" / ""
        => |t| Some(t.stalls.sum.as_secs());
    "longest_stall_s" "Longest stall" ["s"] "Length of the longest stall; for the network, of any connection. Zero without a stall."
        = "longest part of a stall inside the run window" / ""
        => |t| Some(t.stalls.longest.as_secs());
    "total_packets" "Data segments" ["1"] "Distinct data segments sent; with a proxy, on both legs." = "distinct data segments" / ""
        => |t| count(t.data_segments);
    "transmission_time_s" "Transmission time" ["s"] "Time from the first to the last packet in either direction, at the ends of the connection."
        = "last time - first time that a segment left or reached TCP" / ""
        => |t| Some((t.last_packet? - t.first_packet?).as_secs());
    "connection_off_time_s" "Time without a connection" ["s"] "Time between the connections of a flow; for a connection, the gap before it."
        = "time from a flow's last closing to its next opening" / ""
        => |t| Some(t.off_time.as_secs());
    "download_time_s" "Download time" ["s"] "Time to download a file, TCP's handshake included; mean of the files completed in the window."
        = "last payload byte at the receiving application - first SYN sent" / "files received completely"
        => |t| t.downloads.mean_s();
    "download_time_data_s" "Download time without handshake" ["s"] "Time to download a file without TCP's handshake; mean of the files completed in the window."
        = "last payload byte at the receiving application - first data segment sent" / "files received completely"
        => |t| t.data_downloads.mean_s();
    "packet_call_time_s" "Packet call time" ["s"] "Duration of a packet call; mean of the packet calls that ended in the window."
        = "last byte acknowledged - request (without requests: first byte sent after all previous bytes were acknowledged)"
        / "packet calls ended"
        => |t| t.packet_calls.mean_s();
    "packet_calls" "Packet calls" ["1"] "Packet calls that ended in the window." = "packet calls ended" / ""
        => |t| count(t.packet_calls.count);
    "link_utilization_pct" "Utilisation of the bearer" ["%"] "Share of the downlink's payload rate that the transfers used while they lasted."
        = "acknowledged downlink payload"
        / "payload rate of the UE's bearer (network: of all downlink channels) x active time since the first data segment"
        => |t| percent_of(kbps(t.acknowledged * 8, t.transfer_union)?, t.capacity?.bps() as f64 / 1e3);
}
