//! TCP.

mod config;
mod keys;
mod window;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::tcp::{ChargedOptions, Nagle, RtoRule, SlowStart, Variant as TcpVariant};
use umts_units::keyword::Unlimited;
use umts_units::{BitRate, Duration, Octets};

pub use self::keys::TcpKeys;
pub use self::window::Window;
pub use self::words::{PythonClass, TcpConnection, TcpProfile};

/// TCP parameters, the same at both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// Profile that sets every other key that is not written beside it. `umts profiles` shows the
    /// values.
    #[schemars(extend("x-label" = "TCP profile", "x-source" = "umts profiles"))]
    pub profile: TcpProfile,
    /// Congestion control and loss recovery.
    #[schemars(extend("x-label" = "TCP version", "x-source" = "RFC 5681, RFC 6582, RFC 6675, RFC 9438; ns-2 for vegas and one_way"))]
    pub variant: TcpVariant,
    /// How connections open and close.
    #[schemars(extend("x-label" = "TCP connections", "x-source" = "RFC 9293 §3.5, §3.6; ns-2 for one_way"))]
    pub connection: TcpConnection,
    /// Payload octets of a full segment, the maximum segment size without options.
    #[schemars(extend("x-label" = "Segment payload", "x-min" = "1 B", "x-max" = "65000 B", "x-source" = "RFC 9293 §3.7.1: 1500 B less 40 B"))]
    pub segment_payload: Octets,
    /// Octets of IP and TCP header on every segment.
    #[schemars(extend("x-label" = "TCP/IP header", "x-min" = "1 B", "x-max" = "120 B", "x-source" = "RFC 791, RFC 9293: 20 B each"))]
    pub header: Octets,
    /// The receiver's window, in segments or octets.
    #[schemars(extend("x-label" = "Advertised window", "x-min" = "1 segments", "x-source" = "RFC 9293 §3.1, RFC 7323 §2"))]
    pub advertised_window: Window,
    /// The congestion window of a new connection, in segments or octets.
    #[schemars(extend("x-label" = "Initial window", "x-min" = "1 segments", "x-source" = "RFC 3390: 3 segments of 1460 B"))]
    pub initial_window: Window,
    /// Slow start threshold of a new connection, or `"unlimited"`.
    #[serde(with = "Unlimited::<Window>")]
    #[schemars(extend("x-label" = "Initial slow start threshold", "x-min" = "1 segments", "x-source" = "RFC 5681 §3.1: arbitrarily high"))]
    pub initial_ssthresh: Option<Window>,
    /// Acknowledge every second segment, or after `delayed_ack_timeout` at the latest.
    #[schemars(extend("x-label" = "Delayed ACKs", "x-source" = "RFC 5681 §4.2"))]
    pub delayed_ack: bool,
    /// Longest delay of an acknowledgement.
    #[schemars(extend("x-label" = "Delayed ACK timeout", "x-max" = "500 ms", "x-source" = "RFC 5681 §4.2: at most 500 ms"))]
    pub delayed_ack_timeout: Duration,
    /// Send new data on the first two duplicate acknowledgements.
    #[schemars(extend("x-label" = "Limited transmit", "x-source" = "RFC 3042"))]
    pub limited_transmit: bool,
    /// Rate at which the receiving application reads data from its buffer of size
    /// `advertised_window`, or `"unlimited"` (not `one_way`).
    #[serde(with = "Unlimited::<BitRate>")]
    #[schemars(extend("x-label" = "Read rate", "x-source" = "RFC 9293 §3.8.6"))]
    pub read_rate: Option<BitRate>,
    /// Whether the other end accepts connections. If not, it refuses them with a RST (not
    /// `one_way`).
    #[schemars(extend("x-label" = "Listening end", "x-source" = "RFC 9293 §3.5.2"))]
    pub listens: bool,
    /// Number of retransmissions of a SYN before the connection is given up, or `"unlimited"` (not
    /// `one_way`).
    #[serde(with = "Unlimited::<u32>")]
    #[schemars(extend("x-label" = "Retries of the SYN", "x-source" = "RFC 9293 §3.8.3: for 3 min at least; Linux: 6"))]
    pub syn_retries: Option<u32>,
    /// Number of retransmissions of a SYN-ACK, or `"unlimited"` (not `one_way`).
    #[serde(with = "Unlimited::<u32>")]
    #[schemars(extend("x-label" = "Retries of the SYN-ACK", "x-source" = "Linux: 5"))]
    pub syn_ack_retries: Option<u32>,
    /// Number of successive retransmissions of data before the connection is given up, or
    /// `"unlimited"` (not `one_way`).
    #[serde(with = "Unlimited::<u32>")]
    #[schemars(extend("x-label" = "Retries of data", "x-source" = "RFC 9293 §3.8.3: for 100 s at least; Linux: 15"))]
    pub data_retries: Option<u32>,
    /// Request explicit congestion notification. Links mark by their `ecn_threshold` or `red` (not
    /// `one_way`; `bbr` does not react).
    #[schemars(extend("x-label" = "ECN", "x-source" = "RFC 3168"))]
    pub ecn: bool,
    /// Number of segments at the start of a connection that are acknowledged without delay,
    /// independent of `delayed_ack`.
    #[schemars(extend("x-label" = "Quick ACKs", "x-max" = 1000000, "x-source" = "Linux: 16 at most; none in the RFCs"))]
    pub quick_acks: u32,
    /// Whether small segments wait for acknowledgements (Nagle's algorithm).
    #[schemars(extend("x-label" = "Nagle's algorithm", "x-source" = "RFC 9293 §3.7.4; off as servers of files and pages set it"))]
    pub nagle: Nagle,
    /// Appropriate byte counting: grow the window by the octets that an acknowledgement covers, in
    /// slow start by at most `abc_limit` (not the algorithms of `westwood` and `bbr`).
    #[schemars(extend("x-label" = "Appropriate byte counting", "x-source" = "RFC 3465"))]
    pub abc: bool,
    /// Largest increase of the window per acknowledgement in slow start with `abc`, in segments; 1
    /// after a timeout. `"unlimited"`: data that was already acknowledged selectively is then
    /// counted only once.
    #[serde(with = "Unlimited::<u32>")]
    #[schemars(extend("x-label" = "Limit of byte counting (segments)", "x-min" = 1, "x-source" = "RFC 3465 §2.2: 2; Linux: unlimited"))]
    pub abc_limit: Option<u32>,
    /// Grow the window only while it limits the sender. After a loss the window is reduced, not the
    /// amount in flight (not `one_way`, `vegas` and `bbr`; `cubic` always grows in this way).
    #[schemars(extend("x-label" = "Congestion window validation", "x-source" = "RFC 7661 §4.4 in part; Linux: tcp_is_cwnd_limited, ssthresh"))]
    pub window_validation: bool,
    /// Method that ends slow start before a loss. `hystart` and `hystart_plus_plus` need
    /// `timestamps` or `rto_rule = "linux"`; `hystart` works only with `cubic` (not `one_way`,
    /// `vegas`, `westwood` and `bbr`).
    #[schemars(extend("x-label" = "Slow start", "x-source" = "RFC 5681 §3.1; RFC 9406; Ha and Rhee 2011, Linux: hystart 1"))]
    pub slow_start: SlowStart,
    /// Probe whether the other end is still there when nothing was received for `keepalive_idle`
    /// (not `one_way`).
    #[schemars(extend("x-label" = "Keep-alives", "x-source" = "RFC 9293 §3.8.4: off unless asked for; Linux: SO_KEEPALIVE"))]
    pub keepalive: bool,
    /// Idle time before the first keep-alive.
    #[schemars(extend("x-label" = "Idle time before keep-alives", "x-min" = "1 s", "x-source" = "RFC 1122 §4.2.3.6: 2 h at least; Linux: tcp_keepalive_time"))]
    pub keepalive_idle: Duration,
    /// Time between unanswered keep-alives.
    #[schemars(extend("x-label" = "Interval of keep-alives", "x-min" = "1 s", "x-source" = "Linux: tcp_keepalive_intvl"))]
    pub keepalive_interval: Duration,
    /// Number of unanswered keep-alives after which the connection is given up.
    #[schemars(extend("x-label" = "Probes of a keep-alive", "x-min" = 1, "x-source" = "Linux: tcp_keepalive_probes"))]
    pub keepalive_probes: u32,
    /// Return to the initial window after a pause longer than the retransmission timeout.
    #[schemars(extend("x-label" = "Slow start after idle", "x-source" = "RFC 5681 §4.1"))]
    pub slow_start_restart: bool,
    /// Detect spurious retransmissions by the timestamps of acknowledgements (Eifel), and undo
    /// their effect. Needs `timestamps`.
    #[schemars(extend("x-label" = "Eifel", "x-source" = "RFC 3522, RFC 4015"))]
    pub eifel: bool,
    /// Detect spurious timeouts by the acknowledgements that follow (F-RTO), and undo their effect.
    #[schemars(extend("x-label" = "F-RTO", "x-source" = "RFC 5682, RFC 4015"))]
    pub frto: bool,
    /// Detect spurious retransmissions by the receiver's reports of duplicates, and undo their
    /// effect. Needs `dsack` and `sack`, or a variant with selective acknowledgements.
    #[schemars(extend("x-label" = "Undo by D-SACK", "x-source" = "RFC 3708, RFC 4015"))]
    pub dsack_undo: bool,
    /// Rule by which the retransmission timeout is computed from round-trip times.
    #[schemars(extend("x-label" = "RTO rule", "x-source" = "RFC 6298; ns-2 for ns2; tcp_rtt_estimator of Linux for linux"))]
    pub rto_rule: RtoRule,
    /// Clock granularity G of the retransmission timer.
    #[schemars(extend("x-label" = "RTO granularity", "x-min" = "1 us", "x-max" = "10 s", "x-source" = "RFC 6298 §4: 100 ms or finer"))]
    pub rto_granularity: Duration,
    /// Retransmission timeout before the first round-trip time is measured.
    #[schemars(extend("x-label" = "Initial RTO", "x-min" = "1 ms", "x-source" = "RFC 6298 (2.1)"))]
    pub rto_initial: Duration,
    /// Minimum retransmission timeout.
    #[schemars(extend("x-label" = "Minimum RTO", "x-source" = "RFC 6298 (2.4)"))]
    pub rto_min: Duration,
    /// Maximum retransmission timeout.
    #[schemars(extend("x-label" = "Maximum RTO", "x-min" = "1 ms", "x-max" = "1000000 s", "x-source" = "RFC 6298 (2.5): at least 60 s"))]
    pub rto_max: Duration,
    /// Phase of the clock of `rto_rule = "ns2"` at the start of the run: time since its last tick.
    /// Less than `rto_granularity`.
    #[schemars(extend("x-label" = "Phase of the RTO clock", "x-source" = "ns-2 draws it at random"))]
    pub rto_clock_phase: Duration,
    /// Use selective acknowledgements with variants that do not require them. `sack` and `fack`
    /// always use them.
    #[schemars(extend("x-label" = "SACK", "x-source" = "RFC 2018 §2"))]
    pub sack: bool,
    /// Largest number of blocks in a selective acknowledgement; at most three with timestamps.
    #[schemars(extend("x-label" = "SACK blocks", "x-min" = 1, "x-max" = 4, "x-source" = "RFC 2018 §3; ns-2: 3"))]
    pub sack_blocks: u8,
    /// Report duplicate segments in the first block (DSACK) (not `one_way`).
    #[schemars(extend("x-label" = "D-SACK", "x-source" = "RFC 2883"))]
    pub dsack: bool,
    /// Offer timestamps. Every acknowledgement then gives a round-trip time, and old segments are
    /// recognised by their age.
    #[schemars(extend("x-label" = "Timestamps", "x-source" = "RFC 7323 §3"))]
    pub timestamps: bool,
    /// Tick of the timestamp clock.
    #[schemars(extend("x-label" = "Tick of the timestamps", "x-min" = "1 ms", "x-max" = "1 s", "x-source" = "RFC 7323 §5.4: 1 ms to 1 s"))]
    pub timestamp_tick: Duration,
    /// Offer window scaling. Without it windows are at most 65535 B (`one_way` windows have no
    /// limit).
    #[schemars(extend("x-label" = "Window scaling", "x-source" = "RFC 7323 §2"))]
    pub window_scaling: bool,
    /// Segments on which the octets of options are counted, in addition to `header`. In `one_way`
    /// connections each block of a selective acknowledgement takes 8 B, as in ns-2.
    #[schemars(extend("x-label" = "Charged options", "x-source" = "RFC 9293 §3.2; what ns-2 and EURANE leave out"))]
    pub charged_options: ChargedOptions,
    /// NewReno: whether three duplicates after a timeout count as a loss only if they acknowledge
    /// more than all data sent before the timeout. If not, acknowledging exactly that data is
    /// enough. Also for other variants without selective acknowledgements, except `reno` and
    /// `tahoe`.
    #[schemars(extend("x-label" = "Careful NewReno", "x-source" = "RFC 6582 §3.2; false is \"less careful\" of RFC 2582 §5"))]
    pub newreno_careful: bool,
    /// NewReno: only the first partial acknowledgement restarts the timer, so a recovery with many
    /// losses ends in a timeout. If not, each one restarts it, and one loss is repaired per round
    /// trip.
    #[schemars(extend("x-label" = "Impatient NewReno", "x-source" = "RFC 6582 §3.2; false is \"slow but steady\" of RFC 3782 §4"))]
    pub newreno_impatient: bool,
    /// Proportional rate reduction: spread the reduction of the window over a recovery with
    /// selective acknowledgements. Without it the window falls at once, or as `fack_data_smoothing`
    /// says (not `bbr`, not `one_way`).
    #[schemars(extend("x-label" = "Proportional rate reduction", "x-source" = "RFC 9937; RFC 6675 §5 without; Linux since 3.2"))]
    pub prr: bool,
    /// Detect the loss of a retransmission when data first sent after it is acknowledged
    /// selectively, and repeat it. Without this, the loss is repaired by the timer (not `one_way`).
    #[schemars(extend("x-label" = "Detection of lost retransmissions", "x-source" = "RFC 8985 §3 in part; Linux since 2.4; RFC 6675 §5 without"))]
    pub lost_retransmissions: bool,
    /// RACK: detect losses by time. A segment is lost if a segment sent after it has arrived, and a
    /// round trip and the reordering window have passed. Replaces counting duplicates if both ends
    /// acknowledge selectively, for all variants with selective acknowledgements except `fack` (not
    /// `one_way`).
    #[schemars(extend("x-label" = "RACK", "x-source" = "RFC 8985 §6; Linux since 4.18: tcp_recovery 1"))]
    pub rack: bool,
    /// Send a probe after two round trips without an acknowledgement, so that a loss at the tail is
    /// repaired before the timer expires. Needs `rack`.
    #[schemars(extend("x-label" = "Tail loss probes", "x-source" = "RFC 8985 §7; Linux since 3.10: tcp_early_retrans 3"))]
    pub tail_loss_probes: bool,
    /// FACK: the window falls by half a segment per acknowledgement instead of at once (not
    /// `one_way`).
    #[schemars(extend("x-label" = "FACK's data smoothing", "x-source" = "Mathis and Mahdavi 1996; Dubois (2005), section 3.2.6"))]
    pub fack_data_smoothing: bool,
    /// FACK: the loss of a segment sent in slow start halves the window twice (not `one_way`).
    #[schemars(extend("x-label" = "FACK's over-damping", "x-source" = "Mathis and Mahdavi 1996; Dubois (2005), section 3.2.6"))]
    pub fack_over_damping: bool,
    /// Vegas: the window grows if fewer segments than this are queued in the network.
    #[schemars(extend("x-label" = "Vegas alpha (segments)", "x-source" = "Brakmo and Peterson 1995; ns-2"))]
    pub vegas_alpha: u32,
    /// Vegas: the window shrinks if more segments than this are queued in the network.
    #[schemars(extend("x-label" = "Vegas beta (segments)", "x-source" = "Brakmo and Peterson 1995; ns-2"))]
    pub vegas_beta: u32,
    /// Vegas: slow start ends if more segments than this are queued in the network.
    #[schemars(extend("x-label" = "Vegas gamma (segments)", "x-source" = "Brakmo and Peterson 1995; ns-2"))]
    pub vegas_gamma: u32,
    /// File and class of a congestion control in Python, as in `"my_control.py:MyControl"`, for
    /// `variant = "python"`. The path is relative to the scenario file.
    #[schemars(extend("x-label" = "Python class", "x-source" = "the guide, section on congestion control in Python"))]
    pub python: String,
    /// Class and text of that file. Filled in by the loader.
    #[serde(skip)]
    pub python_control: Option<PythonClass>,
    /// CUBIC: a flow whose window stays below its last maximum releases more bandwidth to other
    /// flows.
    #[schemars(extend("x-label" = "CUBIC's fast convergence", "x-source" = "RFC 9438 §4.7"))]
    pub cubic_fast_convergence: bool,
    /// CUBIC: the window is at least the window of Reno.
    #[schemars(extend("x-label" = "CUBIC's Reno-friendly region", "x-source" = "RFC 9438 §4.3"))]
    pub cubic_reno_friendly: bool,
    /// ns-2: one-way `vegas` sends data without TCP and IP header, and without a SYN before it.
    #[schemars(extend("x-label" = "ns-2's Vegas without header", "x-source" = "ns-2.35; off is what every other version pays"))]
    pub ns2_vegas_no_header: bool,
}
