//! The configuration of a TCP end.

use umts_units::{BitRate, Bytes, Duration, Octets};

use super::window_size::WindowSize;
#[cfg(feature = "schema")]
use crate::options::Unlimited;
use crate::options::{PythonClass, options};

options! {
    /// TCP parameters, the same at both ends.
    #[derive(Debug, Clone, PartialEq)]
    pub struct TcpConfig as "Tcp" {
        /// Profile that sets every other key that is not written beside it. `umts profiles` shows the
        /// values.
        [label = "TCP profile", source = "umts profiles"]
        pub profile: TcpProfile = TcpProfile::None,
        /// Congestion control and loss recovery.
        [label = "TCP version", source = "RFC 5681, RFC 6582, RFC 6675, RFC 9438; ns-2 for vegas and one_way"]
        pub variant: Variant = Variant::NewReno,
        /// How connections open and close.
        [label = "TCP connections", source = "RFC 9293 §3.5, §3.6; ns-2 for one_way"]
        pub connection: TcpConnection = TcpConnection::FullDuplex,
        /// Payload octets of a full segment, the maximum segment size without options.
        [label = "Segment payload", min = "1 B", max = "65000 B",
            source = "RFC 9293 §3.7.1: 1500 B less 40 B"]
        pub segment_payload: Octets = Octets(1460),
        /// Octets of IP and TCP header on every segment.
        [label = "TCP/IP header", min = "1 B", max = "120 B", source = "RFC 791, RFC 9293: 20 B each"]
        pub header: Octets = Octets(40),
        /// The receiver's window, in segments or octets.
        [label = "Advertised window", min = "1 segments", source = "RFC 9293 §3.1, RFC 7323 §2"]
        pub advertised_window: WindowSize = WindowSize::Bytes(Bytes(64_000)),
        /// The congestion window of a new connection, in segments or octets.
        [label = "Initial window", min = "1 segments", source = "RFC 3390: 3 segments of 1460 B"]
        pub initial_window: WindowSize = WindowSize::Segments(3),
        /// Slow start threshold of a new connection, or `"unlimited"`.
        [label = "Initial slow start threshold", keyword = "Unlimited::<WindowSize>", min = "1 segments",
            source = "RFC 5681 §3.1: arbitrarily high"]
        pub initial_ssthresh: Option<WindowSize> = None,
        /// Acknowledge every second segment, or after `delayed_ack_timeout` at the latest.
        [label = "Delayed ACKs", source = "RFC 5681 §4.2"]
        pub delayed_ack: bool = true,
        /// Longest delay of an acknowledgement.
        [label = "Delayed ACK timeout", max = "500 ms", source = "RFC 5681 §4.2: at most 500 ms"]
        pub delayed_ack_timeout: Duration = Duration::from_millis(200),
        /// Send new data on the first two duplicate acknowledgements.
        [label = "Limited transmit", source = "RFC 3042"]
        pub limited_transmit: bool = true,
        /// Rate at which the receiving application reads data from its buffer of size
        /// `advertised_window`, or `"unlimited"` (not `one_way`).
        [label = "Read rate", keyword = "Unlimited::<BitRate>", source = "RFC 9293 §3.8.6"]
        pub read_rate: Option<BitRate> = None,
        /// Whether the other end accepts connections. If not, it refuses them with a RST (not
        /// `one_way`).
        [label = "Listening end", source = "RFC 9293 §3.5.2"]
        pub listens: bool = true,
        /// Number of retransmissions of a SYN before the connection is given up, or `"unlimited"` (not
        /// `one_way`).
        [label = "Retries of the SYN", keyword = "Unlimited::<u32>",
            source = "RFC 9293 §3.8.3: for 3 min at least; Linux: 6"]
        pub syn_retries: Option<u32> = Some(6),
        /// Number of retransmissions of a SYN-ACK, or `"unlimited"` (not `one_way`).
        [label = "Retries of the SYN-ACK", keyword = "Unlimited::<u32>", source = "Linux: 5"]
        pub syn_ack_retries: Option<u32> = Some(5),
        /// Number of successive retransmissions of data before the connection is given up, or
        /// `"unlimited"` (not `one_way`).
        [label = "Retries of data", keyword = "Unlimited::<u32>",
            source = "RFC 9293 §3.8.3: for 100 s at least; Linux: 15"]
        pub data_retries: Option<u32> = Some(15),
        /// Request explicit congestion notification. Links mark by their `ecn_threshold` or `red` (not
        /// `one_way`; `bbr` does not react).
        [label = "ECN", source = "RFC 3168"]
        pub ecn: bool = false,
        /// Number of segments at the start of a connection that are acknowledged without delay,
        /// independent of `delayed_ack`.
        [label = "Quick ACKs", max = 1000000, source = "Linux: 16 at most; none in the RFCs"]
        pub quick_acks: u32 = 0,
        /// Whether small segments wait for acknowledgements (Nagle's algorithm).
        [label = "Nagle's algorithm", source = "RFC 9293 §3.7.4; off as servers of files and pages set it"]
        pub nagle: Nagle = Nagle::Off,
        /// Appropriate byte counting: grow the window by the octets that an acknowledgement covers, in
        /// slow start by at most `abc_limit` (not the algorithms of `westwood` and `bbr`).
        [label = "Appropriate byte counting", source = "RFC 3465"]
        pub abc: bool = false,
        /// Largest increase of the window per acknowledgement in slow start with `abc`, in segments; 1
        /// after a timeout. `"unlimited"`: data that was already acknowledged selectively is then
        /// counted only once.
        [label = "Limit of byte counting (segments)", keyword = "Unlimited::<u32>", min = 1,
            source = "RFC 3465 §2.2: 2; Linux: unlimited"]
        pub abc_limit: Option<u32> = Some(2),
        /// Grow the window only while it limits the sender. After a loss the window is reduced, not the
        /// amount in flight (not `one_way`, `vegas` and `bbr`; `cubic` always grows in this way).
        [label = "Congestion window validation",
            source = "RFC 7661 §4.4 in part; Linux: tcp_is_cwnd_limited, ssthresh"]
        pub window_validation: bool = false,
        /// Method that ends slow start before a loss. `hystart` and `hystart_plus_plus` need
        /// `timestamps` or `rto_rule = "linux"`; `hystart` works only with `cubic` (not `one_way`,
        /// `vegas`, `westwood` and `bbr`).
        [label = "Slow start", source = "RFC 5681 §3.1; RFC 9406; Ha and Rhee 2011, Linux: hystart 1"]
        pub slow_start: SlowStart = SlowStart::Standard,
        /// Probe whether the other end is still there when nothing was received for `keepalive_idle`
        /// (not `one_way`).
        [label = "Keep-alives", source = "RFC 9293 §3.8.4: off unless asked for; Linux: SO_KEEPALIVE"]
        pub keepalive: bool = false,
        /// Idle time before the first keep-alive.
        [label = "Idle time before keep-alives", min = "1 s",
            source = "RFC 1122 §4.2.3.6: 2 h at least; Linux: tcp_keepalive_time"]
        pub keepalive_idle: Duration = Duration::from_secs(7200),
        /// Time between unanswered keep-alives.
        [label = "Interval of keep-alives", min = "1 s", source = "Linux: tcp_keepalive_intvl"]
        pub keepalive_interval: Duration = Duration::from_secs(75),
        /// Number of unanswered keep-alives after which the connection is given up.
        [label = "Probes of a keep-alive", min = 1, source = "Linux: tcp_keepalive_probes"]
        pub keepalive_probes: u32 = 9,
        /// Return to the initial window after a pause longer than the retransmission timeout.
        [label = "Slow start after idle", source = "RFC 5681 §4.1"]
        pub slow_start_restart: bool = true,
        /// Detect spurious retransmissions by the timestamps of acknowledgements (Eifel), and undo
        /// their effect. Needs `timestamps`.
        [label = "Eifel", source = "RFC 3522, RFC 4015"]
        pub eifel: bool = false,
        /// Detect spurious timeouts by the acknowledgements that follow (F-RTO), and undo their effect.
        [label = "F-RTO", source = "RFC 5682, RFC 4015"]
        pub frto: bool = false,
        /// Detect spurious retransmissions by the receiver's reports of duplicates, and undo their
        /// effect. Needs `dsack` and `sack`, or a variant with selective acknowledgements.
        [label = "Undo by D-SACK", source = "RFC 3708, RFC 4015"]
        pub dsack_undo: bool = false,
        /// Rule by which the retransmission timeout is computed from round-trip times.
        [label = "RTO rule", source = "RFC 6298; ns-2 for ns2; tcp_rtt_estimator of Linux for linux"]
        pub rto_rule: RtoRule = RtoRule::Rfc6298,
        /// Clock granularity G of the retransmission timer.
        [label = "RTO granularity", min = "1 us", max = "10 s", source = "RFC 6298 §4: 100 ms or finer"]
        pub rto_granularity: Duration = Duration::from_millis(1),
        /// Retransmission timeout before the first round-trip time is measured.
        [label = "Initial RTO", min = "1 ms", source = "RFC 6298 (2.1)"]
        pub rto_initial: Duration = Duration::from_secs(1),
        /// Minimum retransmission timeout.
        [label = "Minimum RTO", source = "RFC 6298 (2.4)"]
        pub rto_min: Duration = Duration::from_secs(1),
        /// Maximum retransmission timeout.
        [label = "Maximum RTO", min = "1 ms", max = "1000000 s", source = "RFC 6298 (2.5): at least 60 s"]
        pub rto_max: Duration = Duration::from_secs(60),
        /// Phase of the clock of `rto_rule = "ns2"` at the start of the run: time since its last tick.
        /// Less than `rto_granularity`.
        [label = "Phase of the RTO clock", source = "ns-2 draws it at random"]
        pub rto_clock_phase: Duration = Duration::ZERO,
        /// Use selective acknowledgements with variants that do not require them. `sack` and `fack`
        /// always use them.
        [label = "SACK", source = "RFC 2018 §2"]
        pub sack: bool = false,
        /// Largest number of blocks in a selective acknowledgement; at most three with timestamps.
        [label = "SACK blocks", min = 1, max = 4, source = "RFC 2018 §3; ns-2: 3"]
        pub sack_blocks: u8 = 3,
        /// Report duplicate segments in the first block (DSACK) (not `one_way`).
        [label = "D-SACK", source = "RFC 2883"]
        pub dsack: bool = true,
        /// Offer timestamps. Every acknowledgement then gives a round-trip time, and old segments are
        /// recognised by their age.
        [label = "Timestamps", source = "RFC 7323 §3"]
        pub timestamps: bool = false,
        /// Tick of the timestamp clock.
        [label = "Tick of the timestamps", min = "1 ms", max = "1 s", source = "RFC 7323 §5.4: 1 ms to 1 s"]
        pub timestamp_tick: Duration = Duration::from_millis(1),
        /// Offer window scaling. Without it windows are at most 65535 B (`one_way` windows have no
        /// limit).
        [label = "Window scaling", source = "RFC 7323 §2"]
        pub window_scaling: bool = true,
        /// Segments on which the octets of options are counted, in addition to `header`. In `one_way`
        /// connections each block of a selective acknowledgement takes 8 B, as in ns-2.
        [label = "Charged options", source = "RFC 9293 §3.2; what ns-2 and EURANE leave out"]
        pub charged_options: ChargedOptions = ChargedOptions::AfterSyn,
        /// NewReno: whether three duplicates after a timeout count as a loss only if they acknowledge
        /// more than all data sent before the timeout. If not, acknowledging exactly that data is
        /// enough. Also for other variants without selective acknowledgements, except `reno` and
        /// `tahoe`.
        [label = "Careful NewReno", source = "RFC 6582 §3.2; false is \"less careful\" of RFC 2582 §5"]
        pub newreno_careful: bool = true,
        /// NewReno: only the first partial acknowledgement restarts the timer, so a recovery with many
        /// losses ends in a timeout. If not, each one restarts it, and one loss is repaired per round
        /// trip.
        [label = "Impatient NewReno", source = "RFC 6582 §3.2; false is \"slow but steady\" of RFC 3782 §4"]
        pub newreno_impatient: bool = true,
        /// Proportional rate reduction: spread the reduction of the window over a recovery with
        /// selective acknowledgements. Without it the window falls at once, or as `fack_data_smoothing`
        /// says (not `bbr`, not `one_way`).
        [label = "Proportional rate reduction", source = "RFC 9937; RFC 6675 §5 without; Linux since 3.2"]
        pub prr: bool = false,
        /// Detect the loss of a retransmission when data first sent after it is acknowledged
        /// selectively, and repeat it. Without this, the loss is repaired by the timer (not `one_way`).
        [label = "Detection of lost retransmissions",
            source = "RFC 8985 §3 in part; Linux since 2.4; RFC 6675 §5 without"]
        pub lost_retransmissions: bool = false,
        /// RACK: detect losses by time. A segment is lost if a segment sent after it has arrived, and a
        /// round trip and the reordering window have passed. Replaces counting duplicates if both ends
        /// acknowledge selectively, for all variants with selective acknowledgements except `fack` (not
        /// `one_way`).
        [label = "RACK", source = "RFC 8985 §6; Linux since 4.18: tcp_recovery 1"]
        pub rack: bool = false,
        /// Send a probe after two round trips without an acknowledgement, so that a loss at the tail is
        /// repaired before the timer expires. Needs `rack`.
        [label = "Tail loss probes", source = "RFC 8985 §7; Linux since 3.10: tcp_early_retrans 3"]
        pub tail_loss_probes: bool = false,
        /// FACK: the window falls by half a segment per acknowledgement instead of at once (not
        /// `one_way`).
        [label = "FACK's data smoothing", source = "Mathis and Mahdavi 1996; Dubois (2005), section 3.2.6"]
        pub fack_data_smoothing: bool = false,
        /// FACK: the loss of a segment sent in slow start halves the window twice (not `one_way`).
        [label = "FACK's over-damping", source = "Mathis and Mahdavi 1996; Dubois (2005), section 3.2.6"]
        pub fack_over_damping: bool = false,
        /// Vegas: the window grows if fewer segments than this are queued in the network.
        [label = "Vegas alpha (segments)", source = "Brakmo and Peterson 1995; ns-2"]
        pub vegas_alpha: u32 = 1,
        /// Vegas: the window shrinks if more segments than this are queued in the network.
        [label = "Vegas beta (segments)", source = "Brakmo and Peterson 1995; ns-2"]
        pub vegas_beta: u32 = 3,
        /// Vegas: slow start ends if more segments than this are queued in the network.
        [label = "Vegas gamma (segments)", source = "Brakmo and Peterson 1995; ns-2"]
        pub vegas_gamma: u32 = 1,
        /// Vegas: added to the number of queued segments before it is truncated to an integer. In
        /// ns-2 the noise of the clock decides ties. Here a slightly smaller or larger value does.
        /// Not a key.
        #[cfg_attr(feature = "schema", serde(skip))]
        pub vegas_rounding: f64 = 0.5,
        /// File and class of a congestion control in Python, as in `"my_control.py:MyControl"`, for
        /// `variant = "python"`. The path is relative to the scenario file.
        [label = "Python class", source = "the guide, section on congestion control in Python"]
        pub python: String = String::new(),
        /// Class and text of that file. Filled in by the loader.
        #[cfg_attr(feature = "schema", serde(skip))]
        pub python_control: Option<PythonClass> = None,
        /// CUBIC: a flow whose window stays below its last maximum releases more bandwidth to other
        /// flows.
        [label = "CUBIC's fast convergence", source = "RFC 9438 §4.7"]
        pub cubic_fast_convergence: bool = true,
        /// CUBIC: the window is at least the window of Reno.
        [label = "CUBIC's Reno-friendly region", source = "RFC 9438 §4.3"]
        pub cubic_reno_friendly: bool = true,
        /// ns-2: one-way `vegas` sends data without TCP and IP header, and without a SYN before it.
        [label = "ns-2's Vegas without header", source = "ns-2.35; off is what every other version pays"]
        pub ns2_vegas_no_header: bool = false,
    }
}

impl TcpConfig {
    /// Whether connections follow ns-2's one-way agents.
    #[inline]
    pub fn is_one_way(&self) -> bool {
        self.connection == TcpConnection::OneWay
    }

    /// Maximum segment size: payload of a full segment, in bytes.
    #[inline]
    pub fn mss(&self) -> u32 {
        self.segment_payload.0.into()
    }

    /// Size of the packet of a full segment.
    pub fn full_segment(&self) -> Bytes {
        Bytes::from(self.segment_payload) + Bytes::from(self.header)
    }

    /// Receive window, in bytes.
    #[inline]
    pub fn receive_window(&self) -> u32 {
        self.advertised_window.in_octets(self.segment_payload)
    }

    /// Congestion window of a new connection, in segments.
    pub fn initial_segments(&self) -> u32 {
        self.initial_window.in_segments(self.segment_payload)
    }

    /// Longest time for which an acknowledgment waits for a second segment. `None`: every segment
    /// is acknowledged at once.
    #[inline]
    pub(super) fn ack_delay(&self) -> Option<Duration> {
        self.delayed_ack.then_some(self.delayed_ack_timeout)
    }

    /// Largest number of SACK blocks in an ACK. 0: full duplex connections do not offer SACK.
    pub fn max_sack_blocks(&self) -> u8 {
        if self.sack || matches!(self.variant, Variant::Sack | Variant::Fack) { self.sack_blocks } else { 0 }
    }

    /// The configuration with another payload of full segments. A window in segments changes with
    /// it, except the initial ones, which keep their number of segments.
    #[must_use]
    pub fn with_payload(&self, segment_payload: Octets) -> Self {
        let in_segments = |window: WindowSize| WindowSize::Segments(window.in_segments(self.segment_payload));
        TcpConfig {
            segment_payload,
            initial_window: in_segments(self.initial_window),
            initial_ssthresh: self.initial_ssthresh.map(in_segments),
            ..self.clone()
        }
    }

    /// Whether the end follows the kernel if the RFCs leave a choice: Linux from 4.4 on, which has
    /// its own timeout rule and validates the window. Older kernels have no window validation.
    #[inline]
    pub(super) fn is_recent_linux(&self) -> bool {
        self.rto_rule == RtoRule::Linux && self.window_validation
    }

    /// Whether data segments have no headers and no SYN precedes them, as in ns-2's Vegas.
    #[inline]
    pub(super) fn vegas_without_header(&self) -> bool {
        self.is_one_way() && self.variant == Variant::Vegas && self.ns2_vegas_no_header
    }
}

/// Named sets of values for all keys of TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum TcpProfile {
    /// No profile: each key has its default.
    #[cfg_attr(feature = "schema", serde(rename = "none"))]
    None,
    /// ns-2.29, on which EURANE runs.
    #[cfg_attr(feature = "schema", serde(rename = "ns2-2.29"))]
    Ns2V29,
    /// ns-2.35.
    #[cfg_attr(feature = "schema", serde(rename = "ns2-2.35"))]
    Ns2V35,
    /// Linux 2.4.16 as Rendon et al. (2004) set it up.
    #[cfg_attr(feature = "schema", serde(rename = "linux-2.4"))]
    Linux24,
    /// Linux 2.6.19 to 2.6.38.
    #[cfg_attr(feature = "schema", serde(rename = "linux-2.6"))]
    Linux26,
    /// Linux 6.x with its own defaults.
    #[cfg_attr(feature = "schema", serde(rename = "linux-6"))]
    Linux6,
    /// The RFCs in force in 2026.
    #[cfg_attr(feature = "schema", serde(rename = "rfc-2026"))]
    Rfc2026,
    /// The parameter table of Hu's study of TCP over WCDMA.
    #[cfg_attr(feature = "schema", serde(rename = "seed-004"))]
    Seed004,
}

/// How connections open and close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum TcpConnection {
    /// Three-way handshake, data both ways, FIN (RFC 9293).
    FullDuplex,
    /// ns-2: a SYN and its acknowledgement, data one way, no FIN.
    OneWay,
}

/// The variant of TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", schemars(rename = "TcpVariant"))]
pub enum Variant {
    /// Fast retransmit, then slow start (Jacobson 1988).
    Tahoe,
    /// Fast retransmit and fast recovery (RFC 5681).
    Reno,
    /// Reno that stays in recovery on partial acknowledgements (RFC 6582).
    NewReno,
    /// Delay-based (Brakmo and Peterson 1995).
    Vegas,
    /// With selective acknowledgements (RFC 6675; `one_way`: Fall and Floyd 1996).
    Sack,
    /// Forward acknowledgement (Mathis and Mahdavi 1996).
    Fack,
    /// Westwood+: after a loss, the window is bandwidth times minimum RTT (Grieco and Mascolo
    /// 2004).
    Westwood,
    /// CUBIC: the window is a cubic function of the time since the last loss (RFC 9438).
    Cubic,
    /// BBR version 1: paced at the measured rate (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr,
    /// The class of `python`: slow, for experiments.
    // The index of the flow, by which a custom law is looked up (`UserLaws`). Without one the
    // standard law applies.
    #[cfg_attr(feature = "schema", serde(rename = "python"), schemars(transform = without_index))]
    User(#[cfg_attr(feature = "schema", serde(skip))] u16),
}

/// In files the variant is the word `python` alone: the index follows from the position of the
/// flow.
#[cfg(feature = "schema")]
fn without_index(variant: &mut schemars::Schema) {
    for key in ["additionalProperties", "properties", "required"] {
        variant.remove(key);
    }
    variant.insert("type".to_owned(), "string".into());
    variant.insert("const".to_owned(), "python".into());
}

/// How slow start ends before a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum SlowStart {
    /// At the threshold only (RFC 5681).
    Standard,
    /// HyStart: the RTT has grown, or ACKs come in a long train (Ha and Rhee 2011; Linux).
    Hystart,
    /// HyStart++: the RTT has grown and stays high (RFC 9406).
    HystartPlusPlus,
}

/// How the retransmission timeout follows from the round trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RtoRule {
    /// SRTT + max(G, 4 RTTVAR), exact (RFC 6298).
    Rfc6298,
    /// ns-2: the same in whole clock ticks.
    // The arithmetic uses integer shifts.
    Ns2,
    /// Linux: `rto_min` bounds the deviation, which rises at once and falls once in a round trip.
    Linux,
}

/// Whether small segments wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Nagle {
    /// Small segments are sent at once.
    Off,
    /// Small segments wait while any data is unacknowledged (RFC 896).
    On,
    /// Small segments wait while another small segment is unacknowledged (Minshall).
    Minshall,
}

/// Which segments are charged for their options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum ChargedOptions {
    /// All.
    All,
    /// All except SYNs.
    AfterSyn,
    /// None.
    None,
}
