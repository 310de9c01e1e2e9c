//! TCP.

mod config;
mod keys;
mod window;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::tcp::{ChargedOptions, Nagle, RtoRule, SlowStart, Variant as TcpVariant};
use umts_units::{BitRate, Duration, Octets};

pub use self::keys::TcpKeys;
pub use self::window::Window;
pub use self::words::{PythonClass, TcpConnection, TcpProfile};

use crate::text::word_unlimited;

/// TCP, the same at both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// Sets every other key that is not written beside it: `umts profiles` shows to what.
    #[schemars(extend("x-source" = "umts profiles"))]
    pub profile: TcpProfile,
    /// Congestion control and loss recovery.
    #[schemars(extend("x-source" = "RFC 5681, RFC 6582, RFC 6675, RFC 9438; ns-2 for vegas and one_way"))]
    pub variant: TcpVariant,
    /// How connections open and close.
    #[schemars(extend("x-source" = "RFC 9293 §3.5, §3.6; ns-2 for one_way"))]
    pub connection: TcpConnection,
    /// Payload octets of a full segment, the maximum segment size without options.
    #[schemars(extend("x-min" = "1 B", "x-max" = "65000 B", "x-source" = "RFC 9293 §3.7.1: 1500 B less 40 B"))]
    pub segment_payload: Octets,
    /// Octets of IP and TCP header on every segment.
    #[schemars(extend("x-min" = "1 B", "x-max" = "120 B", "x-source" = "RFC 791, RFC 9293: 20 B each"))]
    pub header: Octets,
    /// The receiver's window, in segments or octets.
    #[schemars(extend("x-min" = "1 segments", "x-source" = "RFC 9293 §3.1, RFC 7323 §2"))]
    pub advertised_window: Window,
    /// The congestion window of a new connection, in segments or octets.
    #[schemars(extend("x-min" = "1 segments", "x-source" = "RFC 3390: 3 segments of 1460 B"))]
    pub initial_window: Window,
    /// Slow start threshold of a new connection, or `"unlimited"`.
    #[serde(with = "word_unlimited")]
    #[schemars(
        with = "crate::text::Unlimited<Window>",
        extend("x-min" = "1 segments", "x-source" = "RFC 5681 §3.1: arbitrarily high")
    )]
    pub initial_ssthresh: Option<Window>,
    /// Acknowledge every second segment, or after `delayed_ack_timeout`.
    #[schemars(extend("x-source" = "RFC 5681 §4.2"))]
    pub delayed_ack: bool,
    /// Longest time that an acknowledgement is held back.
    #[schemars(extend("x-max" = "500 ms", "x-source" = "RFC 5681 §4.2: at most 500 ms"))]
    pub delayed_ack_timeout: Duration,
    /// Send new data on the first two duplicate acknowledgements.
    #[schemars(extend("x-source" = "RFC 3042"))]
    pub limited_transmit: bool,
    /// Rate at which the receiving application reads what has arrived, or `"unlimited"`: the buffer is `advertised_window`
    /// (not `one_way`).
    #[serde(with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<BitRate>", extend("x-source" = "RFC 9293 §3.8.6"))]
    pub read_rate: Option<BitRate>,
    /// Whether the other end takes connections; if not, it refuses them with a RST (not `one_way`).
    #[schemars(extend("x-source" = "RFC 9293 §3.5.2"))]
    pub listens: bool,
    /// How often a SYN is sent again before the connection is given up, or `"unlimited"` (not `one_way`).
    #[serde(with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<u32>", extend("x-source" = "RFC 9293 §3.8.3: for 3 min at least; Linux: 6"))]
    pub syn_retries: Option<u32>,
    /// How often a SYN with acknowledgement is sent again, or `"unlimited"` (not `one_way`).
    #[serde(with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<u32>", extend("x-source" = "Linux: 5"))]
    pub syn_ack_retries: Option<u32>,
    /// How often data is sent again in a row before the connection is given up, or `"unlimited"` (not `one_way`).
    #[serde(with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<u32>", extend("x-source" = "RFC 9293 §3.8.3: for 100 s at least; Linux: 15"))]
    pub data_retries: Option<u32>,
    /// Ask for explicit congestion notification; links mark by their `ecn_threshold` or `red` (not `one_way`; `bbr` does not react).
    #[schemars(extend("x-source" = "RFC 3168"))]
    pub ecn: bool,
    /// Segments at the start of a connection that are acknowledged at once, whatever `delayed_ack`.
    #[schemars(extend("x-max" = 1000000, "x-source" = "Linux: 16 at most; none in the RFCs"))]
    pub quick_acks: u32,
    /// Whether small segments wait for acknowledgements.
    #[schemars(extend("x-source" = "RFC 9293 §3.7.4; off as servers of files and pages set it"))]
    pub nagle: Nagle,
    /// Grow the window by what an acknowledgement covers, in slow start by `abc_limit` at most (not the laws of `westwood`
    /// and `bbr`).
    #[schemars(extend("x-source" = "RFC 3465"))]
    pub abc: bool,
    /// With `abc`: most segments by which an acknowledgement raises the window in slow start, 1 after a timeout, or
    /// `"unlimited"`, which then counts what had been acknowledged selectively only once.
    #[serde(with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<u32>", extend("x-min" = 1, "x-source" = "RFC 3465 §2.2: 2; Linux: unlimited"))]
    pub abc_limit: Option<u32>,
    /// Grow the window only while it is what limits the sender, so that a loss reduces the window and not what is under way
    /// (not `one_way`, `vegas` and `bbr`; `cubic` grows so always).
    #[schemars(extend("x-source" = "RFC 7661 §4.4 in part; Linux: tcp_is_cwnd_limited, ssthresh"))]
    pub window_validation: bool,
    /// How slow start ends before a loss; `hystart` and `hystart_plus_plus` need `timestamps` or `rto_rule = "linux"`,
    /// and `hystart` is of `cubic` alone (not `one_way`, `vegas`, `westwood` and `bbr`).
    #[schemars(extend("x-source" = "RFC 5681 §3.1; RFC 9406; Ha and Rhee 2011, Linux: hystart 1"))]
    pub slow_start: SlowStart,
    /// Ask whether the other end is still there when nothing was heard for `keepalive_idle` (not `one_way`).
    #[schemars(extend("x-source" = "RFC 9293 §3.8.4: off unless asked for; Linux: SO_KEEPALIVE"))]
    pub keepalive: bool,
    /// Silence before the first keep-alive.
    #[schemars(extend("x-min" = "1 s", "x-source" = "RFC 1122 §4.2.3.6: 2 h at least; Linux: tcp_keepalive_time"))]
    pub keepalive_idle: Duration,
    /// Time between keep-alives that nobody answers.
    #[schemars(extend("x-min" = "1 s", "x-source" = "Linux: tcp_keepalive_intvl"))]
    pub keepalive_interval: Duration,
    /// Keep-alives without an answer after which the connection is given up.
    #[schemars(extend("x-min" = 1, "x-source" = "Linux: tcp_keepalive_probes"))]
    pub keepalive_probes: u32,
    /// Fall back to the initial window after a pause longer than the retransmission timeout.
    #[schemars(extend("x-source" = "RFC 5681 §4.1"))]
    pub slow_start_restart: bool,
    /// Find needless retransmissions by the timestamps of acknowledgements, and undo their effect; needs `timestamps`.
    #[schemars(extend("x-source" = "RFC 3522, RFC 4015"))]
    pub eifel: bool,
    /// Find needless timeouts by the acknowledgements that follow, and undo their effect.
    #[schemars(extend("x-source" = "RFC 5682, RFC 4015"))]
    pub frto: bool,
    /// Find needless retransmissions by the receiver's reports of duplicates, and undo their effect; needs `dsack` and
    /// `sack`, or a variant with selective acknowledgements.
    #[schemars(extend("x-source" = "RFC 3708, RFC 4015"))]
    pub dsack_undo: bool,
    /// How the retransmission timeout follows from the round trips.
    #[schemars(extend("x-source" = "RFC 6298; ns-2 for ns2; tcp_rtt_estimator of Linux for linux"))]
    pub rto_rule: RtoRule,
    /// Clock granularity G of the retransmission timer.
    #[schemars(extend("x-min" = "1 us", "x-max" = "10 s", "x-source" = "RFC 6298 §4: 100 ms or finer"))]
    pub rto_granularity: Duration,
    /// Retransmission timeout before the first round trip is measured.
    #[schemars(extend("x-min" = "1 ms", "x-source" = "RFC 6298 (2.1)"))]
    pub rto_initial: Duration,
    /// Least retransmission timeout.
    #[schemars(extend("x-source" = "RFC 6298 (2.4)"))]
    pub rto_min: Duration,
    /// Greatest retransmission timeout.
    #[schemars(extend("x-min" = "1 ms", "x-max" = "1000000 s", "x-source" = "RFC 6298 (2.5): at least 60 s"))]
    pub rto_max: Duration,
    /// How far the clock of `rto_rule = "ns2"` is past a tick when the run begins; less than `rto_granularity`.
    #[schemars(extend("x-source" = "ns-2 draws it at random"))]
    pub rto_clock_phase: Duration,
    /// Acknowledge selectively also for variants that need not: `sack` and `fack` always do.
    #[schemars(extend("x-source" = "RFC 2018 §2"))]
    pub sack: bool,
    /// Blocks that a selective acknowledgement may carry; three where there are timestamps.
    #[schemars(extend("x-min" = 1, "x-max" = 4, "x-source" = "RFC 2018 §3; ns-2: 3"))]
    pub sack_blocks: u8,
    /// Report duplicates in the first block (not `one_way`).
    #[schemars(extend("x-source" = "RFC 2883"))]
    pub dsack: bool,
    /// Offer timestamps: a round trip is measured with every acknowledgement, old segments are told by their age.
    #[schemars(extend("x-source" = "RFC 7323 §3"))]
    pub timestamps: bool,
    /// Tick of the clock of the timestamps.
    #[schemars(extend("x-min" = "1 ms", "x-max" = "1 s", "x-source" = "RFC 7323 §5.4: 1 ms to 1 s"))]
    pub timestamp_tick: Duration,
    /// Offer to scale windows; without, they end at 65535 B (`one_way` windows have no bound).
    #[schemars(extend("x-source" = "RFC 7323 §2"))]
    pub window_scaling: bool,
    /// Which segments are charged for the octets of their options, beside `header`. In `one_way` connections each block
    /// of a selective acknowledgement is charged 8 B, as in ns-2.
    #[schemars(extend("x-source" = "RFC 9293 §3.2; what ns-2 and EURANE leave out"))]
    pub charged_options: ChargedOptions,
    /// NewReno: three duplicates after a timeout are a loss only if they acknowledge more than all that had left before it
    /// (also for other variants without selective acknowledgements, not `reno` and `tahoe`); if not, just that is enough.
    #[schemars(extend("x-source" = "RFC 6582 §3.2; false is \"less careful\" of RFC 2582 §5"))]
    pub newreno_careful: bool,
    /// NewReno: only the first partial acknowledgement restarts the timer, so many losses end in a timeout; if not, each does,
    /// and one loss is repaired in a round trip.
    #[schemars(extend("x-source" = "RFC 6582 §3.2; false is \"slow but steady\" of RFC 3782 §4"))]
    pub newreno_impatient: bool,
    /// Spread the reduction of the window over a recovery with selective acknowledgements; without, it falls at once, or as
    /// `fack_data_smoothing` says (not `bbr`, not `one_way`).
    #[schemars(extend("x-source" = "RFC 9937; RFC 6675 §5 without; Linux since 3.2"))]
    pub prr: bool,
    /// Find out that a retransmission is lost when something is acknowledged selectively that left after it for the first time,
    /// and repeat it; without, that waits for the timer (not `one_way`).
    #[schemars(extend("x-source" = "RFC 8985 §3 in part; Linux since 2.4; RFC 6675 §5 without"))]
    pub lost_retransmissions: bool,
    /// Find losses by time: a segment is lost when something that left after it has arrived, and a round trip and the
    /// reordering window have passed; takes the place of counting duplicates where both ends acknowledge selectively, for all
    /// variants with selective acknowledgements but `fack` (not `one_way`).
    #[schemars(extend("x-source" = "RFC 8985 §6; Linux since 4.18: tcp_recovery 1"))]
    pub rack: bool,
    /// Send a probe when two round trips pass in silence, so that a lost tail is repaired before the timer expires; needs
    /// `rack`.
    #[schemars(extend("x-source" = "RFC 8985 §7; Linux since 3.10: tcp_early_retrans 3"))]
    pub tail_loss_probes: bool,
    /// FACK: the window falls by half a segment with each acknowledgement, not at once (not `one_way`).
    #[schemars(extend("x-source" = "Mathis and Mahdavi 1996; Dubois (2005), section 3.2.6"))]
    pub fack_data_smoothing: bool,
    /// FACK: a loss of what left in slow start halves the window twice (not `one_way`).
    #[schemars(extend("x-source" = "Mathis and Mahdavi 1996; Dubois (2005), section 3.2.6"))]
    pub fack_over_damping: bool,
    /// Vegas: with fewer segments in queues the window grows.
    #[schemars(extend("x-source" = "Brakmo and Peterson 1995; ns-2"))]
    pub vegas_alpha: u32,
    /// Vegas: with more segments in queues the window shrinks.
    #[schemars(extend("x-source" = "Brakmo and Peterson 1995; ns-2"))]
    pub vegas_beta: u32,
    /// Vegas: with more segments in queues slow start ends.
    #[schemars(extend("x-source" = "Brakmo and Peterson 1995; ns-2"))]
    pub vegas_gamma: u32,
    /// A file and a class in it, `"my_control.py:MyControl"`, for `variant = "python"`; the file is relative to this one.
    #[schemars(extend("x-source" = "the guide, section on congestion control in Python"))]
    pub python: String,
    /// What that file says. Read by the loader.
    #[serde(skip)]
    pub python_control: Option<PythonClass>,
    /// CUBIC: a flow whose window did not come back to its last maximum leaves more room for others.
    #[schemars(extend("x-source" = "RFC 9438 §4.7"))]
    pub cubic_fast_convergence: bool,
    /// CUBIC: at least the window that Reno would have.
    #[schemars(extend("x-source" = "RFC 9438 §4.3"))]
    pub cubic_reno_friendly: bool,
    /// ns-2: data of one-way `vegas` goes without TCP and IP header, and without a SYN before it.
    #[schemars(extend("x-source" = "ns-2.35; off is what every other version pays"))]
    pub ns2_vegas_no_header: bool,
}
