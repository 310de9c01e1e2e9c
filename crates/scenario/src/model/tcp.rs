//! TCP.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::tcp::{ChargedOptions, Nagle, RtoRule, Variant as TcpVariant};
use umts_stack::tcp::{
    CubicConfig, DEFAULT_MSS, FackConfig, NewRenoConfig, Retries, RtoConfig, SpuriousConfig, TcpConfig,
    VegasConfig,
};
use umts_units::{BitRate, Bytes, Duration, Octets, as_text, count_of};

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
    /// Grow the window by what an acknowledgement covers, in slow start by two segments at most (not the laws of
    /// `westwood`, `cubic` and `bbr`).
    #[schemars(extend("x-source" = "RFC 3465"))]
    pub abc: bool,
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
    pub python_control: Option<PythonControl>,
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

impl Tcp {
    /// One end of a connection.
    pub fn config(&self) -> TcpConfig {
        let mss = self.segment_payload;
        let always_selective = matches!(self.variant, TcpVariant::Sack | TcpVariant::Fack);
        TcpConfig {
            version: self.variant,
            one_way: self.connection == TcpConnection::OneWay,
            segment_payload: mss.0.into(),
            header: self.header.0,
            advertised_window: self.advertised_window.in_octets(mss),
            initial_window: self.initial_window.in_segments(mss),
            initial_ssthresh: self.initial_ssthresh.map(|window| window.in_segments(mss)),
            delayed_ack: self.delayed_ack.then_some(self.delayed_ack_timeout),
            limited_transmit: self.limited_transmit,
            sack_blocks: if always_selective || self.sack { self.sack_blocks } else { 0 },
            dsack: self.dsack,
            timestamps: self.timestamps,
            timestamp_tick: self.timestamp_tick,
            window_scaling: self.window_scaling,
            charged_options: self.charged_options,
            spurious: SpuriousConfig { eifel: self.eifel, frto: self.frto, dsack: self.dsack_undo },
            abc: self.abc,
            slow_start_restart: self.slow_start_restart,
            nagle: self.nagle,
            read_rate: self.read_rate,
            retries: Retries {
                syn: self.syn_retries,
                syn_ack: self.syn_ack_retries,
                data: self.data_retries,
            },
            listens: self.listens,
            ecn: self.ecn,
            quick_acks: self.quick_acks,
            prr: self.prr,
            finds_lost_again: self.lost_retransmissions,
            fack: FackConfig {
                data_smoothing: self.fack_data_smoothing,
                over_damping: self.fack_over_damping,
            },
            newreno: NewRenoConfig { careful: self.newreno_careful, impatient: self.newreno_impatient },
            vegas: VegasConfig {
                alpha: self.vegas_alpha,
                beta: self.vegas_beta,
                gamma: self.vegas_gamma,
                ns2_no_header: self.ns2_vegas_no_header,
                ..VegasConfig::default()
            },
            cubic: CubicConfig {
                fast_convergence: self.cubic_fast_convergence,
                reno_friendly: self.cubic_reno_friendly,
            },
            rto: RtoConfig {
                rule: self.rto_rule,
                granularity: self.rto_granularity,
                clock_phase: self.rto_clock_phase,
                initial: self.rto_initial,
                min: self.rto_min,
                max: self.rto_max,
            },
        }
    }

    /// The packet of a full segment.
    pub fn full_segment(&self) -> Bytes {
        Bytes::from(self.segment_payload) + Bytes::from(self.header)
    }
}

impl Default for Tcp {
    /// As [`TcpConfig`] has it.
    fn default() -> Self {
        let tcp = TcpConfig::default();
        Tcp {
            profile: TcpProfile::None,
            variant: tcp.version,
            connection: TcpConnection::FullDuplex,
            segment_payload: Octets(DEFAULT_MSS),
            header: Octets(tcp.header),
            advertised_window: Window::Bytes(Bytes(tcp.advertised_window.into())),
            initial_window: Window::Segments(tcp.initial_window),
            initial_ssthresh: tcp.initial_ssthresh.map(Window::Segments),
            delayed_ack: tcp.delayed_ack.is_some(),
            delayed_ack_timeout: tcp.delayed_ack.unwrap_or_default(),
            limited_transmit: tcp.limited_transmit,
            read_rate: tcp.read_rate,
            listens: tcp.listens,
            syn_retries: tcp.retries.syn,
            syn_ack_retries: tcp.retries.syn_ack,
            data_retries: tcp.retries.data,
            ecn: tcp.ecn,
            quick_acks: tcp.quick_acks,
            nagle: tcp.nagle,
            abc: tcp.abc,
            slow_start_restart: tcp.slow_start_restart,
            eifel: tcp.spurious.eifel,
            frto: tcp.spurious.frto,
            dsack_undo: tcp.spurious.dsack,
            rto_rule: tcp.rto.rule,
            rto_granularity: tcp.rto.granularity,
            rto_initial: tcp.rto.initial,
            rto_min: tcp.rto.min,
            rto_max: tcp.rto.max,
            rto_clock_phase: tcp.rto.clock_phase,
            sack: false,
            sack_blocks: 3,
            dsack: tcp.dsack,
            timestamps: tcp.timestamps,
            timestamp_tick: tcp.timestamp_tick,
            window_scaling: tcp.window_scaling,
            charged_options: tcp.charged_options,
            newreno_careful: tcp.newreno.careful,
            newreno_impatient: tcp.newreno.impatient,
            prr: tcp.prr,
            lost_retransmissions: tcp.finds_lost_again,
            fack_data_smoothing: tcp.fack.data_smoothing,
            fack_over_damping: tcp.fack.over_damping,
            vegas_alpha: tcp.vegas.alpha,
            vegas_beta: tcp.vegas.beta,
            vegas_gamma: tcp.vegas.gamma,
            python: String::new(),
            python_control: None,
            cubic_fast_convergence: tcp.cubic.fast_convergence,
            cubic_reno_friendly: tcp.cubic.reno_friendly,
            ns2_vegas_no_header: tcp.vegas.ns2_no_header,
        }
    }
}

/// A window: `"20 segments"` or `"32 kB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// So many full segments.
    Segments(u32),
    /// So many octets of payload.
    Bytes(Bytes),
}

impl Window {
    /// The window in octets, for segments of `segment_payload`.
    pub fn in_bytes(self, segment_payload: Octets) -> Bytes {
        match self {
            Window::Segments(n) => Bytes::from(segment_payload) * u64::from(n),
            Window::Bytes(size) => size,
        }
    }

    /// The same in whole segments, the last of which may be small; more than any TCP can have is `u32::MAX`.
    pub fn in_segments(self, segment_payload: Octets) -> u32 {
        match self {
            Window::Segments(n) => n,
            Window::Bytes(size) => saturated(size.0.div_ceil(segment_payload.0.into())),
        }
    }

    /// [`Window::in_bytes`] as TCP counts them; more than it can count is `u32::MAX`.
    pub fn in_octets(self, segment_payload: Octets) -> u32 {
        saturated(self.in_bytes(segment_payload).0)
    }
}

fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl FromStr for Window {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match count_of(text, &["segments", "segment"]) {
            Some(count) => count.map(Window::Segments),
            None => text.parse().map(Window::Bytes).map_err(|e| format!("{e}, or as in \"20 segments\"")),
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Window::Segments(n) => write!(f, "{n} segments"),
            Window::Bytes(size) => size.fmt(f),
        }
    }
}

as_text!(
    Window,
    "Window",
    "a window in segments or octets with its unit, as in \"20 segments\" or \"32 kB\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(segments?|B|kB|MB|GB|KiB|MiB|GiB)$"
);

/// A class of congestion control in a Python file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonControl {
    /// The file.
    pub file: PathBuf,
    /// The class in it.
    pub class: String,
    /// What the file says.
    pub text: String,
}

/// All of TCP under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TcpProfile {
    /// The defaults of each key.
    #[serde(rename = "none")]
    None,
    /// ns-2.29, on which EURANE runs.
    #[serde(rename = "ns2-2.29")]
    Ns2V29,
    /// ns-2.35.
    #[serde(rename = "ns2-2.35")]
    Ns2V35,
    /// Linux 2.4.16 as Rendon et al. (2004) set it up.
    #[serde(rename = "linux-2.4")]
    Linux24,
    /// Linux 2.6.19 to 2.6.38.
    #[serde(rename = "linux-2.6")]
    Linux26,
    /// The RFCs in force in 2026.
    #[serde(rename = "rfc-2026")]
    Rfc2026,
    /// The parameter table of Hu's study of TCP over WCDMA.
    #[serde(rename = "seed-004")]
    Seed004,
}

/// How connections open and close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TcpConnection {
    /// Three-way handshake, data both ways, FIN (RFC 9293).
    FullDuplex,
    /// ns-2: a SYN and its acknowledgement, data one way, no FIN.
    OneWay,
}
