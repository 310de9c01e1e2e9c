//! Every metric of a capture: name, unit, meaning and formula. Names that the simulation also has
//! mean the same here. A metric has no value if a capture cannot show it.

use umts_units::Duration;

use crate::totals::Totals;

/// Definition of a metric.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// Name in results. Names that the simulation also has mean the same.
    pub name: &'static str,
    /// Unit of the value. `1` for counts and ratios.
    pub unit: &'static str,
    /// How the value is computed from a capture.
    pub meaning: &'static str,
}

/// Values of all metrics, in the order of their definitions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricSet(Vec<Option<f64>>);

impl MetricSet {
    /// Returns all names and values, in the order of the definitions.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Option<f64>)> {
        METRICS.iter().map(|metric| metric.definition.name).zip(self.0.iter().copied())
    }

    /// Returns the values, in the order of the definitions.
    pub fn values(&self) -> &[Option<f64>] {
        &self.0
    }

    /// Returns the value of the metric `name`. `None` if it has no value or does not exist.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.iter().find(|(known, _)| *known == name)?.1
    }

    pub(crate) fn of(totals: &Totals) -> Self {
        MetricSet(METRICS.iter().map(|metric| (metric.formula)(totals)).collect())
    }
}

/// Returns the definitions of all metrics, in the order of results. Connections and the capture
/// have the same metrics.
pub fn definitions() -> impl Iterator<Item = Definition> {
    METRICS.iter().map(|metric| metric.definition)
}

struct Metric {
    definition: Definition,
    formula: fn(&Totals) -> Option<f64>,
}

macro_rules! metrics {
    ($($name:literal [$unit:literal] $meaning:literal => $formula:expr;)*) => {
        static METRICS: &[Metric] = &[$(Metric {
            definition: Definition { name: $name, unit: $unit, meaning: $meaning },
            formula: $formula,
        },)*];
    };
}

metrics! {
    "goodput_kbps" ["kbit/s"] "Payload acknowledged, each byte once, per time from the capture's first packet to its last."
        => |t| kbps(of_acks(t, t.counters.acknowledged)? * 8, t.window);
    "goodput_active_kbps" ["kbit/s"] "Payload acknowledged per time in which data were outstanding; for the capture, in any connection and direction."
        => |t| ratio(of_both(t, t.counters.acknowledged)? as f64 * 8.0 / 1e3, seconds(t.active_union));
    "goodput_sent_kbps" ["kbit/s"] "Distinct payload sent, per time of the capture."
        => |t| kbps(of_sender(t, t.counters.sent_once)? * 8, t.window);
    "goodput_delivered_kbps" ["kbit/s"] "Unknown: packets do not show when the application reads."
        => |_| None;
    "throughput_kbps" ["kbit/s"] "Payload sent, retransmissions included, per time of the capture."
        => |t| kbps(of_sender(t, t.counters.sent)? * 8, t.window);
    "mean_rtt_s" ["s"] "Mean round-trip time from data to acknowledgment: with timestamps one sample per acknowledgment, otherwise one segment at a time (RFC 6298 §3), excluding retransmitted segments (Karn)."
        => |t| t.rtt.sums.mean_s();
    "mean_rtt_time_avg_s" ["s"] "The latest round-trip time, averaged over the time in which data were outstanding."
        => |t| ratio(t.counters.rtt_integral as f64 / 1e9, t.counters.rtt_known as f64);
    "min_rtt_s" ["s"] "Minimum of the round-trip times from data to acknowledgment." => |t| t.rtt.sums.min_s();
    "max_rtt_s" ["s"] "Maximum of the round-trip times from data to acknowledgment." => |t| t.rtt.sums.max_s();
    "p50_rtt_s" ["s"] "Median of the round-trip times from data to acknowledgment, to three digits." => |t| t.rtt.quantile_s(0.50);
    "p95_rtt_s" ["s"] "Exceeded by 5 % of the round-trip times from data to acknowledgment." => |t| t.rtt.quantile_s(0.95);
    "p99_rtt_s" ["s"] "Exceeded by 1 % of the round-trip times from data to acknowledgment." => |t| t.rtt.quantile_s(0.99);
    "mean_outstanding_segments" ["segments"] "Payload sent but not acknowledged, in full segments, averaged over the time in which data are outstanding."
        => |t| ratio(of_both(t, t.outstanding_segment_s)?, seconds(t.counters.active));
    "max_outstanding_segments" ["segments"] "Maximum payload sent but not acknowledged, in full segments; for the capture, the maximum of any connection."
        => |t| of_both(t, t.max_outstanding_segments).filter(|_| t.counters.active > 0);
    "tcp_retransmissions" ["1"] "Retransmitted segments (data, SYN or FIN). A segment that fills a hole is a retransmission if its timestamp is later than the timestamp of the segment that showed the hole. Without timestamps, it is a retransmission if it arrives more than 3 ms after the hole was shown; with equal timestamps, if it arrives after both 3 ms and the shortest round-trip time."
        => |t| count(of_sender(t, t.counters.retransmissions)?);
    "tcp_retransmissions_by_dupack" ["1"] "Segments retransmitted because of duplicate or selective acknowledgments or RACK, and in the recovery that followed."
        => |t| count(of_both(t, t.counters.by_dupack)?);
    "tcp_retransmissions_by_rto" ["1"] "Segments retransmitted after an expiry of the retransmission timer, go-back-N included."
        => |t| count(of_both(t, t.counters.by_rto)?);
    "tcp_retransmissions_unneeded" ["1"] "Retransmissions that acknowledgments show to be unneeded: a lower bound."
        => |t| count(of_both(t, t.unneeded.total())?);
    "tcp_retransmissions_per_connection" ["1"] "Retransmissions per connection with data."
        => |t| per(of_sender(t, t.counters.retransmissions)?, t.connections_with_data);
    "tcp_retransmissions_pct" ["%"] "Ratio of retransmissions to distinct data segments."
        => |t| percent(of_sender(t, t.counters.retransmissions)?, t.counters.data_segments);
    "rto_count" ["1"] "Expiries of the retransmission timer: the oldest segment is retransmitted, and neither acknowledgments, nor RACK, nor a tail loss probe explain it."
        => |t| count(of_both(t, t.counters.expiries)?);
    "rto_per_connection" ["1"] "Expiries of the retransmission timer per connection with data."
        => |t| per(of_both(t, t.counters.expiries)?, t.connections_with_data);
    "rto_per_retransmission" ["1"] "Ratio of expiries of the retransmission timer to retransmissions."
        => |t| per(of_both(t, t.counters.expiries)?, t.counters.retransmissions);
    "rto_per_segment_pct" ["%"] "Ratio of expiries of the retransmission timer to distinct data segments."
        => |t| percent(of_both(t, t.counters.expiries)?, t.counters.data_segments);
    "dupack_runs" ["1"] "Number of times that three or more duplicate acknowledgments arrived in a row."
        => |t| count(of_both(t, t.counters.dupack_runs)?);
    "acks_received" ["1"] "Acknowledgments without payload, SYN or FIN."
        => |t| count(of_acks(t, t.counters.acks_received)?);
    "ecn_marks" ["1"] "Segments of the data's sender with a mark (CE) at the capture point. A capture at the receiver shows all marks, a capture at the sender none."
        => |t| count(of_sender(t, t.counters.ecn_marks)?);
    "ecn_echoes" ["1"] "Acknowledgments with ECE, without SYN." => |t| count(of_acks(t, t.counters.ecn_echoes)?);
    "ecn_answers" ["1"] "Segments of the data's sender with CWR, without SYN." => |t| count(of_sender(t, t.counters.ecn_answers)?);
    "ecn_reductions" ["1"] "Unknown: packets do not show the sender's windows." => |_| None;
    "zero_windows" ["1"] "Acknowledgments that advertise a window of zero." => |t| count(of_acks(t, t.counters.zero_windows)?);
    "zero_window_probes" ["1"] "Segments that test whether a zero window has opened: one octet beyond the window, or no new data."
        => |t| count(of_both(t, t.counters.zero_window_probes)?);
    "zero_window_time_s" ["s"] "Time from an acknowledgment with a window of zero to the next one with a larger window; for the capture, summed over connections."
        => |t| Some(seconds(of_acks(t, t.counters.zero_window_time)?));
    "sender_idle_gaps" ["1"] "Unknown: packets do not show whether data waited." => |_| None;
    "stalls" ["1"] "Unknown: computed for simulated connections only." => |_| None;
    "stalled_s" ["s"] "Unknown: computed for simulated connections only." => |_| None;
    "longest_stall_s" ["s"] "Unknown: computed for simulated connections only." => |_| None;
    "total_packets" ["1"] "Distinct data segments." => |t| count(of_sender(t, t.counters.data_segments)?);
    "transmission_time_s" ["s"] "Time from the first to the last packet in either direction."
        => |t| Some(t.last?.saturating_since(t.first?).as_secs());
    "connection_off_time_s" ["s"] "Time between connections of the same two hosts and server port; for a connection, the gap before it."
        => |t| Some(seconds(t.idle_before));
    "download_time_s" ["s"] "Time from the SYN to the last byte at the receiver; only for complete connections that the receiver opened, captured at the receiver."
        => |t| ratio(seconds(t.download_time), t.downloads as f64);
    "download_time_data_s" ["s"] "Unknown: a capture at the sender does not show it, and it is not computed for others." => |_| None;
    "packet_call_time_s" ["s"] "Unknown: packets do not show which data form a packet call of the application." => |_| None;
    "packet_calls" ["1"] "Unknown: packets do not show which data form a packet call of the application." => |_| None;
    "connections_failed" ["1"] "Unknown: a reset may end a connection that was complete." => |_| None;
    "rack_losses" ["1"] "Unknown: packets show retransmissions, but not which segments the sender declared lost." => |_| None;
    "spurious_undone" ["1"] "Unknown: packets do not show the sender's windows." => |_| None;
    "link_utilization_pct" ["%"] "Unknown: packets do not show the rate of the bearer." => |_| None;

    "handshake_rtt_s" ["s"] "Time from the SYN to the acknowledgment of the SYN+ACK, a complete round trip at any capture point; for the capture, the mean."
        => |t| ratio(t.handshake_ns as f64 / 1e9, t.handshakes as f64);
    "syn_retransmissions" ["1"] "SYN and SYN+ACK segments retransmitted by either end." => |t| count(t.syn_retransmissions);
    "retransmitted_segments" ["1"] "Retransmissions that carry payload, as counted by tcptrace."
        => |t| count(of_sender(t, t.counters.retransmitted_segments)?);
    "retransmitted_bytes" ["B"] "Payload of the retransmissions."
        => |t| count(of_sender(t, t.counters.retransmitted)?);
    "fast_retransmissions" ["1"] "Fast recoveries: the sum of `fast_retransmissions_by_dupacks`, `fast_retransmissions_by_sack`, `fast_retransmissions_by_rack` and `fast_retransmissions_carried_over`."
        => |t| count(of_both(t, t.counters.fast_recoveries())?);
    "fast_retransmissions_by_dupacks" ["1"] "Fast recoveries that begin with a fast retransmission after three duplicate acknowledgments."
        => |t| count(of_both(t, t.counters.fast_by_dupacks)?);
    "fast_retransmissions_by_sack" ["1"] "Fast recoveries that begin with a retransmission because of selective acknowledgments, before three duplicates."
        => |t| count(of_both(t, t.counters.fast_by_sack)?);
    "fast_retransmissions_by_rack" ["1"] "Fast recoveries that begin with a retransmission because a segment sent later has arrived (RACK, RFC 8985 §6), before the condition of `fast_retransmissions_by_dupacks` or of `fast_retransmissions_by_sack` holds."
        => |t| count(of_both(t, t.counters.fast_by_rack)?);
    "fast_retransmissions_carried_over" ["1"] "Fast recoveries that begin without a new retransmission, because segments retransmitted by the previous recovery are still outstanding."
        => |t| count(of_both(t, t.counters.fast_carried)?);
    "tail_loss_probes" ["1"] "Tail loss probes: the last segment, retransmitted after silence when a probe is due (RFC 8985 §7)."
        => |t| count(of_both(t, t.counters.probes)?);
    "tail_loss_probes_of_new_data" ["1"] "Tail loss probes of new data: a full segment that a sender sends after waiting for acknowledgments, at the time at which a probe is due."
        => |t| count(of_both(t, t.new_probes)?);
    "tail_loss_probe_repairs" ["1"] "Tail loss probes that repaired a loss: the acknowledgment covers data sent after the probe, and no second copy was reported (RFC 8985 §7.4)."
        => |t| count(of_both(t, t.probe_repairs)?);
    "tcp_retransmissions_unexplained" ["1"] "Retransmissions without a visible reason: not the oldest segment and without a triggering acknowledgment, or already acknowledged."
        => |t| count(of_both(t, t.counters.unknown)?);
    "unneeded_by_dsack" ["1"] "Unneeded retransmissions that the receiver reports (RFC 2883)."
        => |t| count(of_both(t, t.unneeded.by_dsack)?);
    "unneeded_by_timestamps" ["1"] "Unneeded retransmissions, shown by an acknowledgment that echoes an earlier timestamp (RFC 3522)."
        => |t| count(of_both(t, t.unneeded.by_timestamps)?);
    "unneeded_by_early_ack" ["1"] "Unneeded retransmissions that were acknowledged before they were sent, or earlier than the shortest round trip allows."
        => |t| count(of_both(t, t.unneeded.by_early_ack)?);
    "out_of_order_packets" ["1"] "Data segments that were captured after later segments because of reordering, not because of a retransmission; `tcp_retransmissions` states the distinction."
        => |t| count(of_sender(t, t.counters.out_of_order)?);
    "payload_bytes" ["B"] "Payload sent, retransmissions included." => |t| count(of_sender(t, t.counters.sent)?);
    "distinct_bytes" ["B"] "Payload sent, each byte once." => |t| count(of_sender(t, t.counters.sent_once)?);
    "acknowledged_bytes" ["B"] "Payload acknowledged." => |t| count(of_acks(t, t.counters.acknowledged)?);
    "unseen_bytes" ["B"] "Payload that was acknowledged but not captured." => |t| count(of_both(t, t.counters.unseen)?);
    "max_outstanding_bytes" ["B"] "Maximum payload sent but not acknowledged."
        => |t| count(of_both(t, t.counters.max_outstanding)?);
    "active_time_s" ["s"] "Time with data outstanding, summed over connections."
        => |t| Some(seconds(of_both(t, t.counters.active)?));
    "rtt_samples" ["1"] "Number of samples of the round-trip times from data to acknowledgment." => |t| count(t.rtt.sums.count());
    "mean_rtt_every_ack_s" ["s"] "Mean round-trip time with one sample per acknowledgment, as in tcptrace."
        => |t| t.rtt_every.mean_s();
    "min_rtt_every_ack_s" ["s"] "Minimum round-trip time with one sample per acknowledgment." => |t| t.rtt_every.min_s();
    "max_rtt_every_ack_s" ["s"] "Maximum round-trip time with one sample per acknowledgment." => |t| t.rtt_every.max_s();
    "mean_rtt_timestamps_s" ["s"] "Mean round-trip time from the timestamps that acknowledgments echo (RFC 7323 §4.1)."
        => |t| t.rtt_timestamps.mean_s();
    "min_rtt_timestamps_s" ["s"] "Minimum round-trip time from echoed timestamps." => |t| t.rtt_timestamps.min_s();
    "max_rtt_timestamps_s" ["s"] "Maximum round-trip time from echoed timestamps." => |t| t.rtt_timestamps.max_s();
    "keep_alives" ["1"] "Keep-alive segments of the data's sender: no new data, one octet below the window."
        => |t| count(of_sender(t, t.counters.keep_alives)?);
    "fin_packets" ["1"] "Segments with FIN, both directions." => |t| count(t.fins);
    "rst_packets" ["1"] "Segments with RST, both directions." => |t| count(t.resets);
    "packets" ["1"] "All packets of the connection, both directions." => |t| count(t.packets);
    "reverse_payload_bytes" ["B"] "Payload that the other end sent." => |t| count(t.reverse_payload);
    "reverse_total_packets" ["1"] "Distinct data segments that the other end sent." => |t| count(t.reverse_segments);
    "reverse_tcp_retransmissions" ["1"] "Segments that the other end retransmitted." => |t| count(t.reverse_retransmissions);
    "reverse_keep_alives" ["1"] "Keep-alive segments that the other end sent." => |t| count(t.reverse_keep_alives);
}

// A capture may contain only one direction of a connection. The metrics of the other direction have
// no value then.

/// Returns `value` if packets of the data's sender were captured.
fn of_sender<T>(t: &Totals, value: T) -> Option<T> {
    (t.with_sender > 0).then_some(value)
}

/// Returns `value` if acknowledgments were captured.
fn of_acks<T>(t: &Totals, value: T) -> Option<T> {
    (t.with_acks > 0).then_some(value)
}

/// Returns `value` if packets of the data's sender and acknowledgments were captured.
fn of_both<T>(t: &Totals, value: T) -> Option<T> {
    (t.with_both > 0).then_some(value)
}

// Quotients are `None` if the denominator is 0.

fn count(number: u64) -> Option<f64> {
    Some(number as f64)
}

fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    (denominator > 0.0).then(|| numerator / denominator)
}

fn per(numerator: u64, denominator: u64) -> Option<f64> {
    ratio(numerator as f64, denominator as f64)
}

fn percent(numerator: u64, denominator: u64) -> Option<f64> {
    ratio(100.0 * numerator as f64, denominator as f64)
}

fn seconds(ns: u128) -> f64 {
    ns as f64 / 1e9
}

/// 1 kbit/s is 1,000 bit/s.
fn kbps(bits: u64, time: Duration) -> Option<f64> {
    ratio(bits as f64 / 1e3, time.as_secs())
}
