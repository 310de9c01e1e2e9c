//! All metrics of these recorders in one table: name, unit, meaning and formula. The reference page
//! is generated from it and from the tables of the other recorders.

use umts_units::Duration;

use super::radio::{deviation_ms, mean_ms};
use super::results::MetricSet;
use super::totals::{
    CellTotals, DatagramTotals, NetworkTotals, RadioTotals, SectorTotals, TcpTotals, TddTotals,
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

/// Every metric of [`Metrics`](super::Metrics), in the order of the results. All `_uplink` metrics
/// follow the downlink's.
pub fn definitions() -> impl Iterator<Item = Definition> {
    let tcp = TCP.iter().map(|metric| metric.definition(Scope::Connection));
    let radio = RADIO.iter().map(|metric| metric.definition(Scope::Radio));
    let datagrams = DATAGRAM.iter().map(|metric| metric.definition(Scope::Datagram));
    let cell = CELL.iter().map(|metric| metric.definition(Scope::Cell));
    tcp.chain(radio)
        .chain(datagrams)
        .chain(cell)
        .chain(NETWORK.iter().map(|metric| metric.definition(Scope::Network)))
        .chain(TDD.iter().map(|metric| metric.definition(Scope::Network)))
        .chain(SECTORS.iter().map(|metric| metric.definition(Scope::Layout)))
        .chain(PROXY.iter().map(|metric| metric.definition(Scope::Proxy)))
}

/// Names of the metrics of a connection.
pub(super) fn connection_names() -> impl Iterator<Item = &'static str> {
    TCP.iter().map(|metric| metric.name)
}

/// Values of the metrics of a connection, in the order of [`connection_names`].
pub(super) fn connection_values(totals: &TcpTotals) -> impl Iterator<Item = Option<f64>> {
    TCP.iter().map(|metric| (metric.formula)(totals))
}

pub(super) fn network_metrics(
    tcp: &TcpTotals,
    radio: &[RadioTotals; 2],
    datagrams: &[DatagramTotals; 2],
    cell: &CellTotals,
    (network, tdd): (&NetworkTotals, &TddTotals),
    (sectors, transfers): (Option<&SectorTotals>, Option<&TransferTotals>),
) -> MetricSet {
    let [downlink, uplink] = radio;
    connection_names()
        .zip(connection_values(tcp))
        .chain(RADIO.iter().map(|metric| (metric.name, (metric.formula)(downlink))))
        .chain(RADIO.iter().map(|metric| (metric.uplink, (metric.formula)(uplink))))
        .chain(DATAGRAM.iter().map(|metric| (metric.name, (metric.formula)(&datagrams[0]))))
        .chain(DATAGRAM.iter().map(|metric| (metric.uplink, (metric.formula)(&datagrams[1]))))
        .chain(CELL.iter().map(|metric| (metric.name, (metric.formula)(cell))))
        .chain(NETWORK.iter().map(|metric| (metric.name, (metric.formula)(network))))
        .chain(TDD.iter().map(|metric| (metric.name, (metric.formula)(tdd))))
        .chain(
            sectors
                .into_iter()
                .flat_map(|of| SECTORS.iter().map(|metric| (metric.name, (metric.formula)(of)))),
        )
        .chain(
            transfers
                .into_iter()
                .flat_map(|of| PROXY.iter().map(|metric| (metric.name, (metric.formula)(of)))),
        )
        .collect()
}

pub(super) struct Metric<T> {
    name: &'static str,
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
mod proxy;
mod sectors;
mod tdd;

use cell::CELL;
use proxy::PROXY;
use sectors::SECTORS;
use tdd::TDD;

metrics! { TCP: TcpTotals;
    "goodput_kbps" "Goodput" ["kbit/s"] "Acknowledged payload per time: the default for every comparison."
        = "application payload acknowledged to the sender, each byte once" / "run window"
        => |t| kbps(t.acknowledged * 8, t.window);
    "goodput_active_kbps" "Goodput while active" ["kbit/s"] "Acknowledged payload per time in which there was something to transfer."
        = "application payload acknowledged to the sender, each byte once"
        / "active time of the connection; network: time in which any connection was active"
        => |t| kbps(t.acknowledged * 8, t.active_union);
    "goodput_sent_kbps" "Goodput as sent" ["kbit/s"] "Payload that left, without repetitions: what parsetcp calls goodput (Dubois 2005, chapter 6)."
        = "distinct payload sent, each byte once" / "run window"
        => |t| kbps(t.sent_once * 8, t.window);
    "goodput_delivered_kbps" "Goodput as delivered" ["kbit/s"] "Payload that the receiving application got per time."
        = "payload handed up in order at the receiver" / "run window"
        => |t| kbps(t.delivered * 8, t.window);
    "throughput_kbps" "Throughput" ["kbit/s"] "Payload that left per time, repetitions included."
        = "TCP payload of all data segments, counted where they leave the sender" / "run window"
        => |t| kbps(t.sent * 8, t.window);
    "mean_rtt_s" "Mean RTT" ["s"] "Mean of the round-trip times that the sender measured."
        = "sum of the sender's samples (segments sent once: Karn)" / "number of samples"
        => |t| t.rtt.mean_s();
    "mean_rtt_time_avg_s" "Mean RTT over time" ["s"] "Time average of the round-trip time that the sender measured last."
        = "integral of the last sample over active time" / "active time since the first sample"
        => |t| ratio(t.rtt_integral as f64 / 1e9, t.rtt_known.as_nanos() as f64);
    "min_rtt_s" "Shortest RTT" ["s"] "Shortest round-trip time measured." = "smallest sample" / ""
        => |t| t.rtt.min_s();
    "max_rtt_s" "Longest RTT" ["s"] "Longest round-trip time measured." = "largest sample" / ""
        => |t| t.rtt.max_s();
    "p50_rtt_s" "Median RTT" ["s"] "Median of the round-trip times measured, to three digits." = "50 % quantile of the samples" / ""
        => |t| t.rtt.quantile_s(0.50);
    "p95_rtt_s" "95 % quantile of the RTT" ["s"] "Exceeded by one round-trip time in twenty, to three digits." = "95 % quantile of the samples" / ""
        => |t| t.rtt.quantile_s(0.95);
    "p99_rtt_s" "99 % quantile of the RTT" ["s"] "Exceeded by one round-trip time in a hundred, to three digits." = "99 % quantile of the samples" / ""
        => |t| t.rtt.quantile_s(0.99);
    "mean_outstanding_segments" "Mean outstanding data" ["segments"] "Mean amount of data in flight, as the sender sees it; of the network, the mean of one connection."
        = "integral of (highest payload byte sent - cumulative acknowledgment) / MSS over active time"
        / "active time; network: summed over the connections"
        => |t| ratio(t.outstanding_segment_s, t.active.as_secs());
    "max_outstanding_segments" "Most outstanding data" ["segments"] "Most data in flight at any time of the window; of the network, of any one connection."
        = "largest (highest payload byte sent - cumulative acknowledgment) / MSS" / ""
        => |t| (!t.active.is_zero()).then_some(t.max_outstanding);
    "tcp_retransmissions" "TCP retransmissions" ["1"] "Segments that the sender of the data sent again, for any cause; with a proxy on both legs."
        = "segments sent again (data, SYN or FIN)" / ""
        => |t| count(t.retransmissions);
    "tcp_retransmissions_by_dupack" "TCP retransmissions after duplicate ACKs" ["1"] "Segments sent again after duplicate acknowledgments or in the recovery that they began."
        = "those of the retransmissions" / ""
        => |t| count(t.by_dupack);
    "tcp_retransmissions_by_rto" "TCP retransmissions after timeouts" ["1"] "Segments sent again after an expiry of the retransmission timer, go-back-N included."
        = "those of the retransmissions" / ""
        => |t| count(t.by_rto);
    "tcp_retransmissions_unneeded" "Needless TCP retransmissions" ["1"] "Segments sent again although the receiver got an earlier copy, before or after."
        = "retransmissions of whose bytes an earlier copy arrives while the connection is open: known, not guessed" / ""
        => |t| count(t.unneeded);
    "tcp_retransmissions_per_connection" "TCP retransmissions per connection" ["1"] "Segments sent again by a connection, on average."
        = "tcp_retransmissions" / "connections that sent data"
        => |t| per(t.retransmissions, t.connections_with_data);
    "tcp_retransmissions_pct" "TCP retransmissions per segment" ["%"] "Segments sent again, compared with those sent once."
        = "tcp_retransmissions" / "total_packets"
        => |t| percent(t.retransmissions, t.data_segments);
    "rto_count" "Retransmission timeouts" ["1"] "Expiries of the retransmission timer of the end that sends the data of the connection, SYN included, with a proxy on both legs; the timers of the other end are counted in the time budget only." = "expiries" / ""
        => |t| count(t.expiries);
    "syn_retransmissions" "SYN retransmissions" ["1"] "SYN and SYN-ACK segments sent again, by either end." = "segments" / ""
        => |t| count(t.syn_retransmissions);
    "rto_per_connection" "Timeouts per connection" ["1"] "Expiries of a connection's retransmission timer, on average."
        = "rto_count" / "connections that sent data"
        => |t| per(t.expiries, t.connections_with_data);
    "rto_per_retransmission" "Timeouts per retransmission" ["1"] "How many of the retransmissions stand for an expiry."
        = "rto_count" / "tcp_retransmissions"
        => |t| per(t.expiries, t.retransmissions);
    "rto_per_segment_pct" "Timeouts per segment" ["%"] "Expiries compared with segments." = "rto_count" / "total_packets"
        => |t| percent(t.expiries, t.data_segments);
    "connections_failed" "Failed connections" ["1"] "Connections that were refused, reset or given up." = "connections" / ""
        => |t| count(t.failed);
    "spurious_undone" "Reactions undone" ["1"] "Reactions to a loss that the sender found out to be needless and undid."
        = "found by timestamps, F-RTO or duplicate reports" / ""
        => |t| count(t.spurious_undone);
    "rack_losses" "Losses found by RACK" ["1"] "Segments that the sender found to be lost because something that left later had arrived (RACK, RFC 8985 §6)."
        = "segments marked lost; one that is lost again counts again" / ""
        => |t| count(t.rack_losses);
    "tail_loss_probes" "Tail loss probes" ["1"] "The last segment repeated after silence, when a tail loss probe is due (RFC 8985 §7)."
        = "probes that repeat data" / ""
        => |t| count(t.probes);
    "tail_loss_probes_of_new_data" "Tail loss probes of new data" ["1"] "Segments of new data that the sender sent after silence, as a tail loss probe."
        = "probes with new data" / ""
        => |t| count(t.new_probes);
    "tail_loss_probe_repairs" "Repairs by tail loss probes" ["1"] "Probes that repaired a loss: more was acknowledged than had been sent before, and no second copy was reported (RFC 8985 §7.4)."
        = "losses that a probe repaired" / ""
        => |t| count(t.probe_repairs);
    "dupack_runs" "Runs of duplicate ACKs" ["1"] "Times that three or more duplicate acknowledgments reached the sender in a row."
        = "runs, counted at their third" / ""
        => |t| count(t.dupack_runs);
    "acks_received" "ACKs received" ["1"] "Acknowledgments without payload, SYN or FIN that reached the sender." = "pure ACKs" / ""
        => |t| count(t.acks_received);
    "ecn_marks" "ECN marks" ["1"] "Segments of the sender of the data that a router had marked, in place of dropping them (CE)."
        = "segments that reached the receiver with CE" / ""
        => |t| count(t.ecn_marks);
    "ecn_echoes" "ECN echoes" ["1"] "Acknowledgments that tell the sender of a mark (ECE): every one until its answer arrives."
        = "segments with ECE, without SYN, that reached the sender" / ""
        => |t| count(t.ecn_echoes);
    "ecn_answers" "ECN answers" ["1"] "Answers of the sender that it knows (CWR)." = "segments with CWR, without SYN, that left" / ""
        => |t| count(t.ecn_answers);
    "ecn_reductions" "Window reductions by ECN" ["1"] "Reductions of the congestion window because of marks, once for a window of data."
        = "reductions, without those that a loss in the same window had made already" / ""
        => |t| count(t.ecn_reductions);
    "keep_alives" "Keep-alives" ["1"] "Segments that only ask whether the other end is there."
        = "keep-alives of the sender of the data" / ""
        => |t| count(t.keep_alives);
    "zero_windows" "Zero windows" ["1"] "Acknowledgments that announce no room." = "ACKs with a window of 0 that reached the sender" / ""
        => |t| count(t.zero_windows);
    "zero_window_probes" "Zero window probes" ["1"] "Segments of the sender that ask whether a shut window has opened."
        = "probes of the persist timer" / ""
        => |t| count(t.zero_window_probes);
    "zero_window_time_s" "Time with a zero window" ["s"] "Time with a shut window, in which the persist timer runs; of the network, summed over connections."
        = "time from an ACK that announces no room to the next that announces some, as they reach the sender" / ""
        => |t| Some(t.zero_window_time.as_secs());
    "sender_idle_gaps" "Idle gaps of senders" ["1"] "Silences of a sender that had data to send, longer than two TTIs of 20 ms and half a round trip (Rendón et al. 2004, Figure 4)."
        = "times without a data segment while data waited that were never sent, longer than 40 ms and half of the RTT measured last; counted where a segment ends them" / ""
        => |t| count(t.idle_gaps);
    "total_packets" "Data segments" ["1"] "Data segments sent, each once; with a proxy on both legs." = "distinct data segments" / ""
        => |t| count(t.data_segments);
    "transmission_time_s" "Transmission time" ["s"] "From the first packet to the last, either way, at the ends of the connection."
        = "last time - first time that a segment left or reached TCP" / ""
        => |t| Some((t.last_packet? - t.first_packet?).as_secs());
    "connection_off_time_s" "Time without a connection" ["s"] "Time without a connection between those of one pair; of a connection, the gap before it."
        = "time from a flow's last closing to its next opening" / ""
        => |t| Some(t.off.as_secs());
    "download_time_s" "Download time" ["s"] "Time to get a file, TCP's handshake included; mean of the files that ended in the window."
        = "last payload byte at the receiving application - first SYN sent" / "files wholly received"
        => |t| t.downloads.mean_s();
    "download_time_data_s" "Download time without handshake" ["s"] "Time to get a file without TCP's handshake; mean of the files that ended in the window."
        = "last payload byte at the receiving application - first data segment sent" / "files wholly received"
        => |t| t.data_downloads.mean_s();
    "packet_call_time_s" "Packet call time" ["s"] "Time of a packet call; mean of those that ended in the window."
        = "last byte acknowledged - request (first byte sent after all before was acknowledged, where no request is modelled)"
        / "packet calls ended"
        => |t| t.packet_calls.mean_s();
    "packet_calls" "Packet calls" ["1"] "Packet calls that ended in the window." = "packet calls ended" / ""
        => |t| count(t.packet_calls.count);
    "link_utilization_pct" "Utilisation of the bearer" ["%"] "How much of the downlink's payload rate the transfers used while they lasted."
        = "acknowledged downlink payload"
        / "payload rate of the UE's bearer (network: of all downlink channels) x active time since the first data segment"
        => |t| percent_of(kbps(t.acknowledged * 8, t.transfer_union)?, t.capacity?.bps() as f64 / 1e3);
}

metrics! { RADIO: RadioTotals;
    "rlc_throughput_iub_kbps" "RLC throughput on the Iub" ["kbit/s"] "Everything that RLC sent over the Iub: what Dubois (2005) calls RLC throughput."
        = "bits of all blocks on the Iub (data, retransmissions, status, headers as charged)" / "run window"
        => |t| kbps(t.iub_bits, t.window);
    "rlc_throughput_payload_kbps" "RLC throughput, payload" ["kbit/s"] "What RLC delivered while it had something to deliver."
        = "bits of the SDUs that the receiving RLC handed up" / "time in which any UE's RLC buffer held data"
        => |t| kbps(t.delivered_bits, t.buffered);
    "iub_pdus_per_s" "Blocks on the Iub" ["PDU/s"] "Blocks on the Iub per time." = "blocks that crossed the Iub" / "run window"
        => |t| ratio(t.iub_blocks as f64, t.window.as_secs());
    "sdu_delay_ms" "SDU delay" ["ms"] "Mean time from RLC's buffer to the layer above its peer."
        = "sum of (handed up - entered the sender's buffer)" / "SDUs delivered"
        => |t| mean_ms(t.sdus_delivered, t.delay_ns);
    "sdu_jitter_ms" "SDU jitter" ["ms"] "Standard deviation (n - 1) of that time." = "spread of the delays" / "SDUs delivered"
        => |t| deviation_ms(t.sdus_delivered, t.delay_ns, t.delay_squares);
    "sdu_error_pct" "SDUs lost" ["%"] "SDUs that entered RLC's buffer and did not come up at its peer, in any mode: discarded by the sender, lost in a RESET or a re-establishment, or lost on the air without acknowledged mode. SDUs that are under way at the end of the run do not count as lost."
        = "SDUs lost" / "SDUs that entered RLC's buffer"
        => |t| percent(t.sdus_lost, t.sdus_entered);
    "residual_loss_pct" "Residual loss" ["%"] "SDUs that the layer above RLC loses in spite of RLC, in any mode, among the SDUs that were delivered or lost. SDUs that are under way at the end of the run do not count."
        = "SDUs lost" / "SDUs delivered or lost"
        => |t| percent(t.sdus_lost, t.sdus_delivered + t.sdus_lost);
    "rlc_sdu_discards" "SDUs discarded by RLC" ["1"] "SDUs that the sending RLC discarded, those that its peer had delivered already included." = "SDUs discarded" / ""
        => |t| count(t.sdus_discarded);
    "rlc_buffer_sdu_drops" "SDUs refused by RLC's buffer" ["1"] "SDUs that found RLC's buffer full." = "SDUs refused" / ""
        => |t| count(t.sdus_refused);
    "pdu_transmissions" "Data PDUs sent" ["1"] "Data PDUs sent, retransmissions included." = "data PDUs sent" / ""
        => |t| count(t.pdus);
    "rlc_retransmissions" "RLC retransmissions" ["1"] "Data PDUs sent again." = "data PDUs sent again" / ""
        => |t| count(t.pdus_again);
    "mean_transmissions_per_pdu" "Transmissions per PDU" ["1"] "How often a data PDU was sent."
        = "pdu_transmissions" / "pdu_transmissions - rlc_retransmissions"
        => |t| per(t.pdus, t.pdus - t.pdus_again);
    "rlc_pdus_dropped" "PDUs dropped by the receiving RLC" ["1"] "PDUs that arrived and that the receiving RLC dropped: malformed, of another mode, outside its window, during a RESET, or a STATUS that names an impossible number. Repetitions of what it has are not counted."
        = "PDUs dropped" / ""
        => |t| count(t.pdus_dropped);
    "rlc_resets" "RLC resets" ["1"] "RESET procedures that the sender of this direction's data began." = "RESET procedures" / ""
        => |t| count(t.resets);
    "status_pdus_sent" "STATUS PDUs" ["1"] "STATUS PDUs of their own about the data of this direction: they go the other way. Those in data PDUs and those that move the receiving window are not counted."
        = "STATUS PDUs" / ""
        => |t| count(t.status_pdus);
    "status_overhead_pct" "STATUS PDUs per data PDU" ["%"] "STATUS PDUs compared with the data PDUs that they are about."
        = "status_pdus_sent" / "pdu_transmissions"
        => |t| percent(t.status_pdus, t.pdus);
    "bler_pct" "Block error rate, measured" ["%"] "Transport blocks lost on the air, all channels of this direction." = "blocks received in error" / "blocks sent"
        => |t| percent(t.block_errors, t.blocks);
}

metrics! { DATAGRAM: DatagramTotals;
    "udp_sent" "UDP datagrams sent" ["1"] "UDP datagrams that left their host." = "datagrams sent" / ""
        => |t| count(t.sent);
    "udp_received" "UDP datagrams received" ["1"] "UDP datagrams that reached their host." = "datagrams received" / ""
        => |t| count(t.received);
    "udp_loss_pct" "UDP loss" ["%"] "UDP datagrams that did not arrive, as a receiver tells from their numbers (RFC 3550 §6.4.1)."
        = "numbers missing, summed over flows"
        / "numbers from the first sent in the window to the highest received in it, summed over flows"
        => |t| percent(t.expected - t.arrived.min(t.expected), t.expected);
    "udp_goodput_kbps" "UDP goodput" ["kbit/s"] "UDP payload that arrived per time." = "payload of the datagrams received" / "run window"
        => |t| kbps(t.bytes * 8, t.window);
    "udp_delay_ms" "UDP delay" ["ms"] "Mean time of a datagram from host to host." = "sum of (received - sent)" / "datagrams received"
        => |t| t.delay.mean_s().map(|s| s * 1e3);
    "udp_p95_delay_ms" "95 % quantile of the UDP delay" ["ms"] "Exceeded by one delay in twenty, to three digits." = "95 % quantile of the delays" / ""
        => |t| t.delay.quantile_s(0.95).map(|s| s * 1e3);
    "udp_max_delay_ms" "Longest UDP delay" ["ms"] "Longest delay." = "largest of the delays" / ""
        => |t| t.delay.max_s().map(|s| s * 1e3);
    "udp_jitter_ms" "UDP jitter" ["ms"] "How much the delay changes from one datagram to the next: the mean of what RFC 3550 §6.4.1 smooths."
        = "sum of |delay - delay of the datagram received before in the flow|" / "pairs of datagrams"
        => |t| t.delay_steps.mean_s().map(|s| s * 1e3);
}

metrics! { NETWORK: NetworkTotals;
    "pages" "Web pages" ["1"] "Web pages that users got whole." = "pages ended" / ""
        => |t| count(t.applications.pages.count());
    "page_time_s" "Page time" ["s"] "Time to get a page with all its objects; mean of those that ended in the window."
        = "last byte at the receiving application - request" / "pages ended"
        => |t| t.applications.pages.mean_s();
    "p95_page_time_s" "95 % quantile of the page time" ["s"] "Exceeded by one page in twenty, to three digits." = "95 % quantile of the page times" / ""
        => |t| t.applications.pages.quantile_s(0.95);
    "sessions" "Sessions" ["1"] "Sessions that ended in the window." = "sessions ended" / ""
        => |t| count(t.applications.sessions.count());
    "session_time_s" "Session time" ["s"] "Length of a session; mean of those that ended in the window."
        = "end of the last packet call - beginning of the first" / "sessions ended"
        => |t| t.applications.sessions.mean_s();
    "fach_queue_drops" "Drops at the Node B's FACH queue" ["1"] "Blocks that found the Node B's FACH queue full." = "blocks dropped" / ""
        => |t| count(t.fach_queue_drops);
    "link_drops" "Drops in the core network" ["1"] "IP packets lost on the links of the core network, in full queues or at random." = "packets dropped, both ways" / ""
        => |t| count(t.link_drops);
    "internet_delay_ms" "Internet delay" ["ms"] "How long packets took because of the Internet, where links have `internet_delay`; both ways."
        = "sum of the delays" / "packets"
        => |t| mean_ms(t.internet.packets, t.internet.delay_ns);
    "internet_delay_sd_ms" "Spread of the Internet delay" ["ms"] "Standard deviation of these delays." = "delays" / ""
        => |t| deviation_ms(t.internet.packets, t.internet.delay_ns, t.internet.delay_squares);
    "internet_delay_min_ms" "Shortest Internet delay" ["ms"] "The shortest of these delays." = "smallest delay" / ""
        => |t| t.internet.shortest.map(|delay| delay.as_secs() * 1e3);
    "internet_delay_max_ms" "Longest Internet delay" ["ms"] "The longest of these delays." = "largest delay" / ""
        => |t| t.internet.longest.map(|delay| delay.as_secs() * 1e3);
    "rlc_unrecoverable_errors" "RLC unrecoverable errors" ["1"] "RLC entities, of either end and all users, that reached MaxRST. With `rrc.rlc_unrecoverable_error = \"cell_update\"` RRC re-establishes RLC after a cell update, otherwise the bearer carries nothing until the end of the run." = "RLC unrecoverable errors" / ""
        => |t| count(t.rlc_unrecoverable_errors);
    "rlc_reestablishments" "Re-establishments of RLC" ["1"] "Re-establishments of both RLC entities of a user that RRC ordered: after a cell update, at the release of an RRC connection, and at channel switches and handovers if the scenario says so." = "re-establishments" / ""
        => |t| count(t.rlc_reestablishments);
    "cell_updates" "Cell updates after failures" ["1"] "Cell update procedures that began after an RLC unrecoverable error or a radio link failure." = "cell updates" / ""
        => |t| count(t.cell_updates);
    "radio_link_failures" "Radio link failures" ["1"] "Cell update procedures that began because T313 of a DCH expired (`rrc.t313`)." = "radio link failures" / ""
        => |t| count(t.radio_link_failures);
    "rach_collisions" "Collisions on the RACH" ["1"] "Times that UEs met on the RACH with the same access slot and signature." = "collisions" / ""
        => |t| count(t.rach_collisions);
    "jain_fairness" "Jain's fairness index" ["1"] "How evenly the flows share: 1 if all get the same, 1/n if one gets all."
        = "(sum of the flows' goodputs)²" / "number of flows x sum of their squares; flows with a connection in the window"
        => |t| t.fairness.goodputs;
    "jain_fairness_active" "Jain's fairness index while active" ["1"] "How evenly the flows share while they want something: 1 if all are as fast, 1/n if one gets all."
        = "(sum of the flows' rates)², a rate being payload acknowledged per time in which a connection of the flow was active"
        / "number of flows x sum of their squares; flows with a connection in the window that was active in it"
        => |t| t.fairness.active_rates;
}

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
