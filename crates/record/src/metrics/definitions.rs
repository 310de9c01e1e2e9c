//! The definitions of the metrics that are computed from totals (`totals.rs`): name, label, unit,
//! meaning, and formula in words and in code. The macro `metrics!` declares a table of definitions
//! for each type of totals.
//!
//! A row of a table is
//!
//! ```text
//! "name" "label" ["unit"] "meaning" = "numerator" / "denominator" => formula;
//! ```
//!
//! The denominator is empty if the value is no ratio. The formula computes the value from the
//! totals.
//!
//! At the end of a run the formulas give the values of the metrics. The reference page of the
//! metrics is generated from these tables and from the tables of the time budget.

use umts_units::Duration;

use super::radio::{deviation_ms, mean_ms};
use super::results::MetricSet;
use super::totals::{
    CellTotals, DatagramTotals, LayoutTotals, NetworkTotals, QueueTotals, RadioTotals, TcpTotals, TddTotals,
};
use super::transfers::TransferTotals;

/// Subject of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// TCP: the network (all connections together) and each connection.
    Connection,
    /// RLC, Iub and air, all users together. The uplink's metric has the suffix `_uplink`.
    Radio,
    /// UDP, all flows together. The uplink's metric has the suffix `_uplink`.
    Datagram,
    /// Cells with switched users, all together.
    Cell,
    /// The network only.
    Network,
    /// The cells of a layout, all together. Recorded only if there is a layout.
    Layout,
    /// A proxy. Recorded only if there is one.
    Proxy,
    /// Queue management of links and RLC. Recorded only if a queue has it.
    Queues,
    /// The time budget of all connections together and of each connection. Recorded only on
    /// request.
    Budget,
    /// The time budget of transfers that a proxy splits, all together. Recorded only on request and
    /// with such a proxy.
    Transfers,
}

/// Definition of a metric.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// Name in results, tables and claims. For a [`Scope::Radio`] or [`Scope::Datagram`] metric,
    /// the name of the downlink's.
    pub name: &'static str,
    /// Label in figures and tables, without the unit.
    pub label: &'static str,
    /// Unit of the number; `1` for counts and ratios.
    pub unit: &'static str,
    /// Subject of the metric.
    pub scope: Scope,
    /// Meaning in one sentence.
    pub meaning: &'static str,
    /// Description of the numerator.
    pub numerator: &'static str,
    /// Description of the denominator; empty if there is none.
    pub denominator: &'static str,
}

/// Every metric of [`Metrics`](super::Metrics), in the order of the results. A metric with a
/// direction is listed once; in the results, its `_uplink` metric follows those of the downlink.
pub fn definitions() -> impl Iterator<Item = Definition> {
    let tcp = TCP.iter().map(|metric| metric.definition(Scope::Connection));
    let radio = RADIO.iter().map(|metric| metric.definition(Scope::Radio));
    let datagrams = DATAGRAM.iter().map(|metric| metric.definition(Scope::Datagram));
    let cell = CELL.iter().map(|metric| metric.definition(Scope::Cell));
    tcp.chain(radio)
        .chain(datagrams)
        .chain(cell)
        .chain(NETWORK.iter().map(|metric| metric.definition(Scope::Network)))
        .chain(E_DCH.iter().map(|metric| metric.definition(Scope::Network)))
        .chain(TDD.iter().map(|metric| metric.definition(Scope::Network)))
        .chain(LAYOUT.iter().map(|metric| metric.definition(Scope::Layout)))
        .chain(PROXY.iter().map(|metric| metric.definition(Scope::Proxy)))
        .chain(QUEUES.iter().map(|metric| metric.definition(Scope::Queues)))
}

/// Names of the metrics of a connection.
pub(super) fn connection_names() -> impl Iterator<Item = &'static str> {
    TCP.iter().map(|metric| metric.name)
}

/// Values of the metrics of a connection, in the order of [`connection_names`].
pub(super) fn connection_values(totals: &TcpTotals) -> impl Iterator<Item = Option<f64>> {
    TCP.iter().map(|metric| (metric.formula)(totals))
}

/// The totals of all areas of a run. Arrays are indexed by direction.
pub(super) struct AllTotals<'a> {
    pub tcp: &'a TcpTotals,
    pub radio: &'a [RadioTotals; 2],
    pub datagrams: &'a [DatagramTotals; 2],
    pub cell: &'a CellTotals,
    pub network: &'a NetworkTotals,
    pub tdd: &'a TddTotals,
    /// `None` without a layout.
    pub layout: Option<&'a LayoutTotals>,
    /// `None` without a proxy.
    pub transfers: Option<&'a TransferTotals>,
    /// `None` without queue management.
    pub queues: Option<&'a QueueTotals>,
}

/// The metrics of the whole network in the order of the reference page. Metrics of layouts, proxies
/// and queue management exist only in networks that have them.
pub(super) fn network_metrics(totals: &AllTotals<'_>) -> MetricSet {
    let [radio_downlink, radio_uplink] = totals.radio;
    let [datagrams_downlink, datagrams_uplink] = totals.datagrams;
    connection_names()
        .zip(connection_values(totals.tcp))
        .chain(values_of(RADIO, radio_downlink))
        .chain(uplink_values_of(RADIO, radio_uplink))
        .chain(values_of(DATAGRAM, datagrams_downlink))
        .chain(uplink_values_of(DATAGRAM, datagrams_uplink))
        .chain(values_of(CELL, totals.cell))
        .chain(values_of(NETWORK, totals.network))
        .chain(values_of(E_DCH, totals.network))
        .chain(values_of(TDD, totals.tdd))
        .chain(totals.layout.into_iter().flat_map(|layout| values_of(LAYOUT, layout)))
        .chain(totals.transfers.into_iter().flat_map(|transfers| values_of(PROXY, transfers)))
        .chain(totals.queues.into_iter().flat_map(|queues| values_of(QUEUES, queues)))
        .collect()
}

/// Name and value of each metric.
fn values_of<'a, T>(
    metrics: &'static [Metric<T>],
    totals: &'a T,
) -> impl Iterator<Item = (&'static str, Option<f64>)> + use<'a, T> {
    metrics.iter().map(|metric| (metric.name, (metric.formula)(totals)))
}

/// As [`values_of`], with the names of the uplink's metrics.
fn uplink_values_of<'a, T>(
    metrics: &'static [Metric<T>],
    totals: &'a T,
) -> impl Iterator<Item = (&'static str, Option<f64>)> + use<'a, T> {
    metrics.iter().map(|metric| (metric.uplink, (metric.formula)(totals)))
}

/// A metric that is computed from totals of type `T`.
pub(super) struct Metric<T> {
    name: &'static str,
    /// Name of the uplink's metric, if the metric has a direction.
    uplink: &'static str,
    label: &'static str,
    unit: &'static str,
    meaning: &'static str,
    numerator: &'static str,
    denominator: &'static str,
    formula: fn(&T) -> Option<f64>,
}

impl<T> Metric<T> {
    fn definition(&self, scope: Scope) -> Definition {
        let Metric { name, label, unit, meaning, numerator, denominator, .. } = *self;
        Definition { name, label, unit, scope, meaning, numerator, denominator }
    }
}

/// Defines a table of metrics: name, label, unit, meaning, numerator, denominator and formula.
macro_rules! metrics {
    ($table:ident: $totals:ty; $($name:literal $label:literal [$unit:literal] $meaning:literal
        = $numerator:literal / $denominator:literal => $formula:expr;)*) => {
        pub(super) static $table: &[Metric<$totals>] = &[$(Metric {
            name: $name,
            uplink: concat!($name, "_uplink"),
            label: $label,
            unit: $unit,
            meaning: $meaning,
            numerator: $numerator,
            denominator: $denominator,
            formula: $formula,
        },)*];
    };
}

mod cell;
mod e_dch;
mod layout;
mod proxy;
mod queues;
mod tdd;

use cell::CELL;
use e_dch::E_DCH;
use layout::LAYOUT;
use proxy::PROXY;
use queues::QUEUES;
use tdd::TDD;

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

metrics! { DATAGRAM: DatagramTotals;
    "udp_sent" "UDP datagrams sent" ["1"] "UDP datagrams sent by their host." = "datagrams sent" / ""
        => |t| count(t.sent);
    "udp_received" "UDP datagrams received" ["1"] "UDP datagrams received by their host." = "datagrams received" / ""
        => |t| count(t.received);
    "udp_loss_pct" "UDP loss" ["%"] "Share of UDP datagrams that did not arrive, computed from the numbers received (RFC 3550 §6.4.1)."
        = "numbers missing, summed over flows"
        / "numbers from the first one sent to the highest one received in the window, summed over flows"
        => |t| percent(t.expected - t.arrived.min(t.expected), t.expected);
    "udp_goodput_kbps" "UDP goodput" ["kbit/s"] "UDP payload received per time." = "payload of the datagrams received" / "run window"
        => |t| kbps(t.bytes * 8, t.window);
    "udp_delay_ms" "UDP delay" ["ms"] "Mean delay of a datagram from host to host." = "sum of (received - sent)" / "datagrams received"
        => |t| t.delay.mean_s().map(|s| s * 1e3);
    "udp_p95_delay_ms" "95 % quantile of the UDP delay" ["ms"] "Exceeded by 5 % of the UDP delays, to three digits." = "95 % quantile of the delays" / ""
        => |t| t.delay.quantile_s(0.95).map(|s| s * 1e3);
    "udp_max_delay_ms" "Maximum UDP delay" ["ms"] "Maximum delay of a datagram from host to host." = "largest of the delays" / ""
        => |t| t.delay.max_s().map(|s| s * 1e3);
    "udp_jitter_ms" "UDP jitter" ["ms"] "Mean change of the delay from one datagram of a flow to the next: the mean of the values that RFC 3550 §6.4.1 smooths."
        = "sum of |delay - delay of the previous datagram received in the flow|" / "pairs of datagrams"
        => |t| t.delay_steps.mean_s().map(|s| s * 1e3);
}

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

fn percent_of(numerator: f64, denominator: f64) -> Option<f64> {
    ratio(100.0 * numerator, denominator)
}

fn percent(numerator: u64, denominator: u64) -> Option<f64> {
    percent_of(numerator as f64, denominator as f64)
}

/// 1 kbit/s is 1,000 bit/s.
fn kbps(bits: u64, time: Duration) -> Option<f64> {
    ratio(bits as f64 / 1e3, time.as_secs())
}
