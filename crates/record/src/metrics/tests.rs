//! Metrics of short lists of trace events, compared with values computed by hand.
//!
//! Most tests send segments of 1,000 bytes (8 kbit) over a link of 8 kbit/s, and measure the first
//! 10 s. A rate in kbit/s is then the number of bytes in thousands, times 8, divided by 10 s.

use umts_kernel::TraceSink;
use umts_stack::ids::{ConnectionId, Direction, End, FlowId, PacketId, ProxyLeg, UeId};
use umts_stack::packet::{Content, Datagram, Ecn, Flags, Packet, Segment};
use umts_stack::tcp::Failure;
use umts_stack::trace::{Channel, DropPlace, PduDrop, SendCause, SpuriousBy, TraceEvent};
use umts_units::{BitRate, Bytes, Duration, Time};

use super::*;

mod cells;
mod rack_and_probes;
mod radio;
mod stalls;
mod tdd;
mod windows;

const MSS: u32 = 1000;
/// The connection and the flow of tests with one connection.
const CONNECTION: u32 = 0;
const FLOW: u32 = 0;

pub(super) fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

/// Metrics of the window between two times in milliseconds, of a network without rates, powers or
/// optional parts.
pub(super) fn config(from: u64, to: u64) -> MetricsConfig {
    MetricsConfig {
        from: ms(from),
        to: ms(to),
        stall: Duration::from_millis(500),
        ue_downlink_rate: Vec::new(),
        downlink_capacity: None,
        ue_power: Vec::new(),
        ue_data_continues: Vec::new(),
        has_proxy: false,
        layout: None,
        has_queue_management: false,
    }
}

/// A list of trace events, which a test writes in the order of their times. `at` sets the time in
/// milliseconds. Each other method adds an event at that time. `packet` is the number of a packet,
/// which is the same when it is sent and when it arrives.
#[derive(Default)]
struct EventScript {
    events: Vec<(Time, TraceEvent)>,
    now: Time,
}

impl EventScript {
    fn at(&mut self, time: u64) -> &mut Self {
        self.now = ms(time);
        self
    }

    fn event(&mut self, event: TraceEvent) -> &mut Self {
        self.events.push((self.now, event));
        self
    }

    /// A connection of `flow` opens. The server sends data to UE 0.
    fn opens(&mut self, connection: u32, flow: u32) -> &mut Self {
        self.event(TraceEvent::ConnectionOpened {
            connection: ConnectionId(connection),
            transfer: ConnectionId(connection),
            leg: ProxyLeg::Whole,
            flow: FlowId(flow),
            ue: UeId(0),
            sender: End::Server,
            mss: MSS,
        })
    }

    fn closes(&mut self, connection: u32) -> &mut Self {
        self.event(TraceEvent::ConnectionClosed { connection: ConnectionId(connection) })
    }

    fn writes(&mut self, connection: u32, bytes: u64) -> &mut Self {
        self.event(TraceEvent::AppWrote { connection: ConnectionId(connection), end: End::Server, bytes })
    }

    fn sends(&mut self, packet: u64, segment: Segment, cause: SendCause) -> &mut Self {
        self.event(TraceEvent::SegmentSent { packet: PacketId(packet), segment, cause })
    }

    /// A segment arrives and brings `delivered` octets in order to the application.
    fn arrives(&mut self, packet: u64, segment: Segment, delivered: u64) -> &mut Self {
        let packet = PacketId(packet);
        self.event(TraceEvent::SegmentReceived { packet, segment, delivered, duplicate: false })
    }

    /// The sender receives an ACK that moves SND.UNA to `una` and covers `payload` new octets.
    fn acked(&mut self, connection: u32, una: u64, payload: u64) -> &mut Self {
        self.event(TraceEvent::Acked { connection: ConnectionId(connection), end: End::Server, una, payload })
    }

    fn samples_rtt(&mut self, connection: u32, rtt: u64) -> &mut Self {
        let rtt = Duration::from_millis(rtt);
        self.event(TraceEvent::RttSample { connection: ConnectionId(connection), end: End::Server, rtt })
    }

    /// The metrics of the window between two times in milliseconds, of the network of [`link`].
    fn result(&self, from: u64, to: u64) -> RunMetrics {
        self.result_of(link(from, to))
    }

    /// Like `result`, of a network with a layout.
    fn result_of_layout(&self, from: u64, to: u64) -> RunMetrics {
        let layout = Some(CellSupply { fixed: 130.0, slope: 4.7 });
        self.result_of(MetricsConfig { layout, ..link(from, to) })
    }

    fn result_of(&self, config: MetricsConfig) -> RunMetrics {
        let end = config.to;
        let mut metrics = Metrics::new(config);
        for (at, event) in &self.events {
            metrics.record(*at, event);
        }
        metrics.finish(end)
    }
}

/// As [`config`], with a link of 8 kbit/s, over which 1,000 octets take 1 s.
fn link(from: u64, to: u64) -> MetricsConfig {
    let rate = BitRate::from_bps(8_000);
    MetricsConfig { ue_downlink_rate: vec![rate], downlink_capacity: rate, ..config(from, to) }
}

/// A segment of the server with 1000 octets from `seq` on.
fn data(connection: u32, seq: u64) -> Segment {
    let flags = Flags { ack: true, ..Flags::default() };
    let segment = Segment::new(ConnectionId(connection), Direction::Downlink);
    Segment { flags, seq, ack: 1, payload: MSS, window: 20_000, ..segment }
}

fn syn(connection: u32) -> Segment {
    let flags = Flags { syn: true, ..Flags::default() };
    Segment { flags, payload: 0, ..data(connection, 0) }
}

/// A pure acknowledgment from the UE.
fn ack(connection: u32) -> Segment {
    Segment { direction: Direction::Uplink, payload: 0, ..data(connection, 1) }
}

/// The SYN of the server and the SYN of the UE are both repeated. `tcp_retransmissions` counts only
/// the repeated segment of the sender of the data, the server.
#[test]
fn syn_retransmissions_are_counted_for_both_ends() {
    let mut script = EventScript::default();
    script.at(0).opens(CONNECTION, FLOW).writes(CONNECTION, 3000);
    script.at(1000).sends(0, syn(CONNECTION), SendCause::New);
    script.at(2000).sends(1, syn(CONNECTION), SendCause::Rto);
    let syn_of_ue = || Segment { direction: Direction::Uplink, ..syn(CONNECTION) };
    script.at(2100).sends(2, syn_of_ue(), SendCause::New);
    script.at(3100).sends(3, syn_of_ue(), SendCause::Rto);
    check(&script.result(0, 10_000).network, &[("syn_retransmissions", 2.0), ("tcp_retransmissions", 1.0)]);
}

/// A refused connection counts as failed and is closed.
#[test]
fn a_connection_that_fails_is_counted_and_ends() {
    let mut script = EventScript::default();
    script.at(0).opens(CONNECTION, FLOW).writes(CONNECTION, 3000);
    script.at(1000).sends(0, syn(CONNECTION), SendCause::New);
    let (connection, failure) = (ConnectionId(CONNECTION), Failure::Refused);
    script.at(2000).event(TraceEvent::ConnectionFailed { connection, end: End::Server, failure });
    script.at(3000).event(TraceEvent::ConnectionFailed { connection, end: End::Ue, failure: Failure::Reset });
    let result = script.result(0, 10_000);
    check(&result.network, &[("connections_failed", 1.0), ("total_packets", 0.0)]);
    assert_eq!(result.connections[0].closed_s, Some(2.0));
}

/// ECN marks (CE) are counted when they reach the receiver, their echoes (ECE) when they reach the
/// sender. The SYN with ECE and CWR, which negotiates ECN, counts as neither. The window of the
/// receiver is zero from 2 s (first echo) to 5 s, and again from 9 s on. A zero window lasts until
/// an ACK with a larger window, or until the end of the run.
#[test]
fn marks_and_zero_windows_are_counted_on_arrival() {
    let marked = |seq| Segment { ecn: Ecn::Experienced, ..data(CONNECTION, seq) };
    let echo_with_zero_window = || Segment {
        flags: Flags { ack: true, ece: true, ..Flags::default() },
        window: 0,
        ..ack(CONNECTION)
    };
    let answer =
        Segment { flags: Flags { ack: true, cwr: true, ..Flags::default() }, ..data(CONNECTION, 1001) };
    let ecn_syn =
        Segment { flags: Flags { syn: true, ece: true, cwr: true, ..Flags::default() }, ..syn(CONNECTION) };
    let (connection, end) = (ConnectionId(CONNECTION), End::Server);
    let mut script = EventScript::default();
    script.at(0).opens(CONNECTION, FLOW).writes(CONNECTION, 3000).sends(0, ecn_syn, SendCause::New);
    script.at(1000).sends(1, data(CONNECTION, 1), SendCause::New);
    script.at(1500).arrives(1, marked(1), 1000);
    script.at(2000).arrives(2, echo_with_zero_window(), 0).acked(CONNECTION, 1001, 1000);
    script.event(TraceEvent::EcnReduction { connection, end });
    script.at(3000).sends(3, Segment { payload: 0, ..data(CONNECTION, 1000) }, SendCause::WindowProbe);
    script.at(3500).arrives(4, echo_with_zero_window(), 0);
    script.at(5000).arrives(5, ack(CONNECTION), 0).sends(6, answer, SendCause::New);
    script.at(9000).arrives(7, Segment { window: 0, ..ack(CONNECTION) }, 0);
    let expected = [
        ("ecn_marks", 1.0),
        ("ecn_echoes", 2.0),
        ("ecn_reductions", 1.0),
        ("ecn_answers", 1.0),
        ("zero_windows", 3.0),
        ("zero_window_probes", 1.0),
        // From 2 s to 5 s, and from 9 s to the end at 10 s.
        ("zero_window_time_s", 4.0),
    ];
    let result = script.result(0, 10_000);
    check(&result.network, &expected);
    check(&result.connections[0].metrics(), &expected);
    // From 3 s to 4 s: the echo of 3.5 s, and 1 s of the zero window.
    let from_3_s_to_4_s =
        [("zero_window_time_s", 1.0), ("ecn_echoes", 1.0), ("zero_windows", 1.0), ("ecn_marks", 0.0)];
    check(&script.result(3000, 4000).network, &from_3_s_to_4_s);
}

/// A file of three segments. The SYN is sent at 1 s. Two segments are sent at 2 s and the third at
/// 3 s; they are acknowledged at 3 s, 4 s and 6 s, with round-trip times of 1 s, 2 s and 3 s. The
/// last byte arrives at 4.5 s.
fn file() -> EventScript {
    let mut script = EventScript::default();
    script.at(0).opens(CONNECTION, FLOW).writes(CONNECTION, 3000);
    script.at(1000).sends(0, syn(CONNECTION), SendCause::New);
    script.at(1100).arrives(0, syn(CONNECTION), 0);
    script.at(1200).acked(CONNECTION, 1, 0);
    script.at(2000).sends(1, data(CONNECTION, 1), SendCause::New).sends(
        2,
        data(CONNECTION, 1001),
        SendCause::New,
    );
    script.at(2500).arrives(1, data(CONNECTION, 1), 1000);
    script.at(3000).arrives(2, data(CONNECTION, 1001), 1000);
    script.at(3000).acked(CONNECTION, 1001, 1000).samples_rtt(CONNECTION, 1000).sends(
        3,
        data(CONNECTION, 2001),
        SendCause::New,
    );
    script.at(4000).acked(CONNECTION, 2001, 1000).samples_rtt(CONNECTION, 2000);
    script.at(4500).arrives(3, data(CONNECTION, 2001), 1000);
    script.at(6000).acked(CONNECTION, 3001, 1000).samples_rtt(CONNECTION, 3000).closes(CONNECTION);
    script
}

/// Checks that each of these metrics has the expected value.
#[track_caller]
fn check(metrics: &MetricSet, expected: &[(&str, f64)]) {
    for &(name, value) in expected {
        let actual = metrics.value(name);
        let is_equal = actual.is_some_and(|actual| (actual - value).abs() <= 1e-9 * value.abs().max(1.0));
        assert!(is_equal, "{name}: {actual:?} instead of {value}");
    }
}

#[test]
fn a_file_is_measured_from_its_first_event_to_its_last() {
    let result = file().result(0, 10_000);
    let expected = [
        // 24 kbit in 10 s.
        ("goodput_kbps", 2.4),
        // Active from the write at 0 s to the last ACK at 6 s: 24 kbit in 6 s.
        ("goodput_active_kbps", 4.0),
        ("goodput_sent_kbps", 2.4),
        ("goodput_delivered_kbps", 2.4),
        ("throughput_kbps", 2.4),
        ("mean_rtt_s", 2.0),
        // 1 s from 3 s to 4 s, 2 s from 4 s to 6 s: active with a sample for 3 s.
        ("mean_rtt_time_avg_s", 5.0 / 3.0),
        ("min_rtt_s", 1.0),
        ("max_rtt_s", 3.0),
        // Two segments from 2 s to 4 s, one from 4 s to 6 s; active for 6 s.
        ("mean_outstanding_segments", 1.0),
        ("max_outstanding_segments", 2.0),
        ("total_packets", 3.0),
        ("tcp_retransmissions", 0.0),
        ("tcp_retransmissions_pct", 0.0),
        ("rto_per_connection", 0.0),
        // From the SYN (1 s), and from the first data segment (2 s), to the last byte (4.5 s).
        ("download_time_s", 3.5),
        ("download_time_data_s", 2.5),
        // From the first data segment (2 s) to the last acknowledgment (6 s).
        ("packet_call_time_s", 4.0),
        // From the first packet (1 s) to the last one (4.5 s).
        ("transmission_time_s", 3.5),
        ("connection_off_time_s", 0.0),
        // 24 kbit in the 4 s after the first data segment, at 8 kbit/s.
        ("link_utilization_pct", 75.0),
    ];
    check(&result.network, &expected);
    check(&result.connections[0].metrics(), &expected);
    check(&result.network, &[("jain_fairness", 1.0)]);
    assert!((result.network.value("p50_rtt_s").expect("three samples") - 2.0).abs() < 0.002);
    assert_eq!((result.connections[0].opened_s, result.connections[0].closed_s), (0.0, Some(6.0)));
    assert_eq!(result.network.value("rto_per_retransmission"), None, "there was no retransmission");
}

/// The window from 2.5 s to 5 s contains the acknowledgments of 3 s and 4 s, the sending of the
/// third segment at 3 s, and the arrivals of all three segments.
#[test]
fn a_window_cuts_integrals_and_counts() {
    let result = file().result(2500, 5000);
    check(
        &result.network,
        &[
            // Two segments acknowledged, one sent, three delivered, of 8 kbit each, in 2.5 s.
            ("goodput_kbps", 16.0 / 2.5),
            ("goodput_active_kbps", 16.0 / 2.5),
            ("goodput_sent_kbps", 8.0 / 2.5),
            ("goodput_delivered_kbps", 24.0 / 2.5),
            // The samples of 1 s and 2 s, each valid for 1 s of the window.
            ("mean_rtt_s", 1.5),
            ("mean_rtt_time_avg_s", 1.5),
            // Two segments for 1.5 s, one for 1 s.
            ("mean_outstanding_segments", 1.6),
            ("total_packets", 1.0),
            // The file's last byte arrives in the window, its last acknowledgment does not.
            ("download_time_s", 3.5),
            // From the arrival at 2.5 s to the one at 4.5 s.
            ("transmission_time_s", 2.0),
        ],
    );
    assert_eq!(result.network.value("packet_call_time_s"), None);
    assert_eq!(result.connections[0].closed_s, Some(6.0), "known, although after the window");
}

/// At the start of the window, 3.5 s, two segments are outstanding and the latest sample is 1 s.
/// The acknowledgment at 4 s changes both.
#[test]
fn earlier_state_counts_from_the_start_of_the_window() {
    let result = file().result(3500, 5000);
    check(
        &result.network,
        &[
            ("mean_rtt_s", 2.0),
            // 1 s for 0.5 s, then 2 s for 1 s: 2.5 in 1.5 s.
            ("mean_rtt_time_avg_s", 2.5 / 1.5),
            // Two segments for 0.5 s, then one for 1 s: 2 in 1.5 s.
            ("mean_outstanding_segments", 2.0 / 1.5),
            ("max_outstanding_segments", 2.0),
        ],
    );
    assert_eq!(result.network.value("rto_per_connection"), None, "no connection sent data in this window");
}

/// After the file, which is acknowledged at 6 s, the connection stays open and is idle. At 8 s the
/// application writes a fourth segment, which is acknowledged at 9 s.
#[test]
fn idle_time_is_not_active_time() {
    let mut script = file();
    let last_event = script.events.pop();
    assert!(matches!(last_event, Some((_, TraceEvent::ConnectionClosed { .. }))));
    script.at(8000).writes(CONNECTION, 1000).sends(4, data(CONNECTION, 3001), SendCause::New);
    script.at(9000).arrives(4, data(CONNECTION, 3001), 1000).acked(CONNECTION, 4001, 1000);
    let result = script.result(0, 10_000);
    check(
        &result.network,
        &[
            // 32 kbit in 10 s.
            ("goodput_kbps", 3.2),
            // Active from 0 s to 6 s and from 8 s to 9 s.
            ("goodput_active_kbps", 32.0 / 7.0),
            // Two segments for 2 s, one for 2 s, one for 1 s: 7 in 7 s.
            ("mean_outstanding_segments", 1.0),
            // The last sample, 3 s, counts again while the fourth segment is outstanding:
            // (1 s x 1 s + 2 s x 2 s + 3 s x 1 s) / 4 s.
            ("mean_rtt_time_avg_s", 8.0 / 4.0),
            // Packet calls from 2 s to 6 s and from 8 s to 9 s.
            ("packet_call_time_s", 2.5),
            // From the SYN at 1 s to the last byte at 9 s.
            ("download_time_s", 8.0),
        ],
    );
    assert_eq!(result.connections[0].closed_s, None);
}

/// A greedy sender writes data without end (`u64::MAX` bytes). It is active from the write at 0.5 s
/// to the end of the window at 10.5 s.
#[test]
fn a_greedy_sender_is_always_active_and_downloads_no_file() {
    let mut script = EventScript::default();
    script.at(500).opens(CONNECTION, FLOW).writes(CONNECTION, u64::MAX);
    script.at(500).sends(0, data(CONNECTION, 1), SendCause::New);
    script.at(1000).arrives(0, data(CONNECTION, 1), 1000).acked(CONNECTION, 1001, 1000);
    let result = script.result(0, 10_500);
    // 8 kbit in 10 s, and one segment outstanding for 0.5 s of 10 s.
    check(&result.network, &[("goodput_active_kbps", 0.8), ("mean_outstanding_segments", 0.05)]);
    assert_eq!(result.network.value("download_time_s"), None);
    assert_eq!(result.network.value("packet_call_time_s"), None);
}

#[test]
fn retransmissions_are_counted_by_cause_and_need() {
    let retransmitted = |seq| Segment { transmission: 1, ..data(CONNECTION, seq) };
    let (connection, end) = (ConnectionId(CONNECTION), End::Server);
    let mut script = EventScript::default();
    script.at(0).opens(CONNECTION, FLOW).writes(CONNECTION, u64::MAX);
    for packet in 0..3 {
        script.sends(packet, data(CONNECTION, 1 + 1000 * packet), SendCause::New);
    }
    // The first segment is lost, and the others cause duplicate acknowledgments. Its retransmission
    // is needed.
    script.at(1000).arrives(1, data(CONNECTION, 1001), 0).arrives(2, data(CONNECTION, 2001), 0);
    for count in 1..=4 {
        script.event(TraceEvent::DupAck { connection, end, count }).arrives(90, ack(CONNECTION), 0);
    }
    script.at(2000).sends(3, retransmitted(1), SendCause::DupAck);
    // The timer expires. The retransmission of the second segment is not needed, because the
    // receiver already has it.
    script.at(3000).event(TraceEvent::RtoExpired { connection, end, backoff: 1 });
    script.sends(4, retransmitted(1001), SendCause::Rto);
    script.at(4000).arrives(3, retransmitted(1), 3000).acked(CONNECTION, 3001, 3000);
    // A timeout of the other end is not counted.
    script.event(TraceEvent::RtoExpired { connection, end: End::Ue, backoff: 1 });
    script.event(TraceEvent::SpuriousRetransmission {
        connection,
        end,
        by: SpuriousBy::Eifel,
        timeout: true,
    });
    let result = script.result(0, 10_000);
    check(
        &result.network,
        &[
            ("tcp_retransmissions", 2.0),
            ("tcp_retransmissions_by_dupack", 1.0),
            ("tcp_retransmissions_by_rto", 1.0),
            ("tcp_retransmissions_unneeded", 1.0),
            ("tcp_retransmissions_per_connection", 2.0),
            ("tcp_retransmissions_pct", 200.0 / 3.0),
            ("rto_count", 1.0),
            ("spurious_undone", 1.0),
            ("rto_per_connection", 1.0),
            ("rto_per_retransmission", 0.5),
            ("rto_per_segment_pct", 100.0 / 3.0),
            ("dupack_runs", 1.0),
            ("acks_received", 4.0),
            ("total_packets", 3.0),
            ("throughput_kbps", 4.0),
            ("goodput_sent_kbps", 2.4),
            ("goodput_delivered_kbps", 2.4),
        ],
    );
}

/// Flow 1 has connection 1 (0 s to 2 s) and connection 2 (from 6 s on), flow 0 has connection 0 (1
/// s to 3 s). Each connection transfers one segment.
#[test]
fn two_flows_are_summed_and_time_between_connections_is_off_time() {
    let mut script = EventScript::default();
    // Connection 1 opens before connection 0: numbers need not ascend.
    script.at(0).opens(1, 1).writes(1, 1000).sends(0, data(1, 1), SendCause::New);
    script.at(1000).opens(CONNECTION, FLOW).writes(CONNECTION, 1000).sends(
        1,
        data(CONNECTION, 1),
        SendCause::New,
    );
    script.at(2000).acked(1, 1001, 1000).samples_rtt(1, 1000).closes(1);
    script.at(3000).acked(CONNECTION, 1001, 1000).samples_rtt(CONNECTION, 3000).closes(CONNECTION);
    script.at(6000).opens(2, 1).writes(2, 1000).sends(2, data(2, 1), SendCause::New);
    script.at(7000).acked(2, 1001, 1000);
    let result = script.result(0, 10_000);
    check(
        &result.network,
        &[
            ("goodput_kbps", 2.4),
            // At least one connection is active from 0 s to 3 s and from 6 s to 7 s: 24 kbit in 4
            // s.
            ("goodput_active_kbps", 6.0),
            // Each connection has one segment outstanding while it is active.
            ("mean_outstanding_segments", 1.0),
            ("max_outstanding_segments", 1.0),
            ("mean_rtt_s", 2.0),
            // Flow 1 has no connection from 2 s to 6 s.
            ("connection_off_time_s", 4.0),
            // From the first packet (0 s) to the last one (6 s).
            ("transmission_time_s", 6.0),
            ("tcp_retransmissions_per_connection", 0.0),
            // 2 s, 2 s and 1 s.
            ("packet_call_time_s", 5.0 / 3.0),
            // Jain's index of n values x is (sum x)^2 / (n sum x^2). Flow 0 moved 1000 bytes, flow
            // 1 moved 2000 bytes, in the ratio 1 to 2: 3^2 / (2 x (1 + 4)).
            ("jain_fairness", 0.9),
            // Flow 0 was active for 2 s, flow 1 for 3 s: 500 and 2000/3 bytes a second, in the
            // ratio 3 to 4: 7^2 / (2 x (9 + 16)).
            ("jain_fairness_active", 0.98),
        ],
    );
    let rows: Vec<_> = result.connections.iter().map(|row| row.connection.0).collect();
    assert_eq!(rows, [1, 0, 2]);
    check(&result.connections[2].metrics(), &[("connection_off_time_s", 4.0), ("goodput_active_kbps", 8.0)]);
    let first_5_s = script.result(0, 5000);
    assert_eq!(first_5_s.connections.len(), 2, "the third opens after the window");
    check(&script.result(6500, 9000).network, &[("jain_fairness", 1.0), ("goodput_kbps", 3.2)]);
}

#[test]
fn rows_of_closed_connections_can_be_taken_during_the_run() {
    let mut metrics = Metrics::new(config(0, 9000));
    for (at, event) in &file().events {
        metrics.record(*at, event);
    }
    assert_eq!(metrics.take_finished().len(), 1);
    assert_eq!(metrics.take_finished(), vec![]);
    // A second end of the same connection has no effect.
    metrics.record(ms(7000), &TraceEvent::ConnectionClosed { connection: ConnectionId(CONNECTION) });
    let result = metrics.finish(ms(9000));
    assert_eq!(result.connections, vec![]);
    check(&result.network, &[("goodput_kbps", 24.0 / 9.0)]);
    assert_eq!(result.network.value("link_utilization_pct"), None, "no rate was given");
}

/// The application reports a packet call from 0 s to 1.5 s: a page with two objects. All data is
/// acknowledged between the objects, from 0.7 s to 0.9 s, but the packet call continues.
#[test]
fn reported_packet_call_spans_pauses() {
    let mut script = EventScript::default();
    let connection = ConnectionId(CONNECTION);
    script.at(0).opens(CONNECTION, FLOW).event(TraceEvent::PacketCallStarted { connection });
    script.at(500).writes(CONNECTION, 1000).sends(1, data(CONNECTION, 1), SendCause::New);
    script.at(700).acked(CONNECTION, 1001, 1000);
    script.at(900).writes(CONNECTION, 1000).sends(2, data(CONNECTION, 1001), SendCause::New);
    script
        .at(1500)
        .acked(CONNECTION, 2001, 1000)
        .event(TraceEvent::PacketCallEnded { connection, since: ms(0) });
    script.event(TraceEvent::PageEnded { flow: FlowId(FLOW), since: ms(0) });
    script.event(TraceEvent::SessionEnded { flow: FlowId(FLOW), since: ms(0) });
    let expected = [("packet_calls", 1.0), ("packet_call_time_s", 1.5)];
    check(&script.result(0, 2000).network, &expected);
    check(&script.result(0, 2000).connections[0].metrics(), &expected);
    check(
        &script.result(0, 2000).network,
        &[
            ("pages", 1.0),
            ("page_time_s", 1.5),
            ("p95_page_time_s", 1.5),
            ("sessions", 1.0),
            ("session_time_s", 1.5),
        ],
    );
    check(&script.result(0, 1400).network, &[("packet_calls", 0.0), ("pages", 0.0)]);
}

#[test]
fn results_and_definitions_list_the_same_metrics() {
    let result = file().result(0, 10_000);
    let names_of = |scopes: &[Scope]| {
        let metrics = definitions().filter(|metric| scopes.contains(&metric.scope));
        metrics.map(|metric| metric.name).collect::<Vec<_>>()
    };
    let listed: Vec<_> = result.connections[0].metrics().iter().map(|(name, _)| name).collect();
    assert_eq!(listed, names_of(&[Scope::Connection]));
    let listed: Vec<_> =
        result.network.iter().map(|(name, _)| name).filter(|name| !name.ends_with("_uplink")).collect();
    assert_eq!(
        listed,
        names_of(&[Scope::Connection, Scope::Radio, Scope::Datagram, Scope::Cell, Scope::Network])
    );
    let unique: std::collections::BTreeSet<_> = result.network.iter().map(|(name, _)| name).collect();
    assert_eq!(unique.len(), result.network.iter().count());
}

/// Queue management of links and of RLC drops or marks packets. The metrics are missing if the
/// network has no queue management.
#[test]
fn actions_of_queue_management_are_counted_by_place_and_direction() {
    let counts = |has_queue_management| {
        let mut metrics = Metrics::new(MetricsConfig { has_queue_management, ..config(1000, 9000) });
        for (at, place, direction, marked) in [
            // Before the window.
            (500, QueuePlace::Rlc, Direction::Downlink, false),
            (2000, QueuePlace::Rlc, Direction::Downlink, false),
            (2000, QueuePlace::Link(1), Direction::Downlink, true),
            (3000, QueuePlace::Link(2), Direction::Downlink, true),
            (4000, QueuePlace::Rlc, Direction::Uplink, true),
        ] {
            metrics.record(ms(at), &TraceEvent::QueueManaged { place, direction, marked });
        }
        let network = metrics.finish(ms(9000)).network;
        let names = ["rlc_aqm_drops", "link_aqm_marks", "rlc_aqm_marks_uplink", "link_aqm_drops"];
        names.map(|name| network.value(name))
    };
    assert_eq!(counts(true), [Some(1.0), Some(2.0), Some(1.0), Some(0.0)]);
    assert_eq!(counts(false), [None; 4]);
}
