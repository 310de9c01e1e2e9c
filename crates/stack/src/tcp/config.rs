//! The configuration of a TCP end.

use umts_units::{BitRate, Duration};

use super::congestion::CubicConfig;

#[cfg(doc)]
use crate::packet::SackBlocks;

/// Default maximum segment size: 1500 octets of Ethernet payload less 40 octets of headers.
pub const DEFAULT_MSS: u16 = 1460;

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

/// The retransmission timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RtoConfig {
    /// The estimator.
    pub rule: RtoRule,
    /// Clock granularity G; the tick of ns-2's clock.
    pub granularity: Duration,
    /// How far ns-2's clock is past a tick at time 0, less than `granularity`. ns-2 draws it at
    /// random.
    pub clock_phase: Duration,
    /// The timeout before the first sample.
    pub initial: Duration,
    /// Lower bound, applied before the back-off factor.
    pub min: Duration,
    /// Upper bound, applied last.
    pub max: Duration,
}

/// Configuration of one end of a connection. Both ends get the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TcpConfig {
    pub variant: Variant,
    /// Use ns-2's one-way connection instead of a full duplex one.
    pub one_way: bool,
    /// Maximum segment size: payload of a full segment, in bytes.
    pub segment_payload: u32,
    /// TCP and IP headers charged on every segment, in bytes.
    pub header: u16,
    /// Receive window, in bytes.
    pub advertised_window: u32,
    /// Congestion window once the connection is established, in segments.
    pub initial_window: u32,
    /// Initial slow start threshold, in segments. `None`: unlimited.
    pub initial_ssthresh: Option<u32>,
    /// The longest time an acknowledgment waits for a second segment. `None`: every segment is
    /// acknowledged at once.
    pub delayed_ack: Option<Duration>,
    /// New data on the first and second duplicate ACK (RFC 3042).
    pub limited_transmit: bool,
    /// The largest number of SACK blocks in an ACK (at most [`SackBlocks::MAX`]). 0: none. Full
    /// duplex connections then do not offer SACK.
    pub sack_blocks: u8,
    /// Report duplicates in the first block (RFC 2883).
    pub dsack: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Tick of the timestamps' clock.
    pub timestamp_tick: Duration,
    /// Offer window scaling (RFC 7323). Without it windows are at most 65,535 bytes. (One-way
    /// connections have no bound.)
    pub window_scaling: bool,
    /// The segments whose options are charged (full duplex). One-way connections charge 8 octets
    /// for each block, as ns-2 does.
    pub charged_options: ChargedOptions,
    /// Reduce the window proportionally during a SACK recovery instead of at once (RFC 9937; full
    /// duplex).
    pub prr: bool,
    /// Detect the loss of a retransmission by segments that left after it (full duplex).
    pub lost_retransmissions: bool,
    /// Detect losses by time (RFC 8985 §6), if both ends use SACK (full duplex, not FACK).
    pub rack: bool,
    /// Send a probe if a tail may be lost (RFC 8985 §7). Requires `rack`.
    pub tail_loss_probes: bool,
    /// Refinements of FACK (full duplex).
    pub fack: FackConfig,
    /// Detection of spurious retransmissions (full duplex).
    pub spurious: SpuriousConfig,
    /// The window grows by acknowledged bytes, not by ACKs (RFC 3465; Tahoe to FACK, and CUBIC).
    pub abc: bool,
    /// With `abc`, the largest growth per ACK in slow start, in segments (L of RFC 3465). `None`:
    /// no limit, not even after a timeout.
    pub abc_limit: Option<u32>,
    /// The window grows only while it limits the sender. A loss then reduces the window and not the
    /// flight size.
    pub window_validation: bool,
    /// How slow start ends before a loss (full duplex).
    pub slow_start: SlowStart,
    /// Send keep-alive probes on an idle connection (full duplex).
    pub keepalive: Option<Keepalive>,
    /// Reduce the window to the initial one after a pause longer than a timeout (RFC 5681 §4.1).
    pub slow_start_restart: bool,
    /// Whether small segments are delayed.
    pub nagle: Nagle,
    /// Reading rate of the application. `None`: it reads at once, as in one-way connections.
    pub read_rate: Option<BitRate>,
    /// Limits after which an end gives up (full duplex).
    pub retries: Retries,
    /// Whether the passive end accepts connections. If not, it answers a SYN with a RST.
    pub listens: bool,
    /// Negotiate explicit congestion notification (RFC 3168; full duplex).
    pub ecn: bool,
    /// Number of segments at the start of a connection that are acknowledged at once, regardless of
    /// `delayed_ack` (Linux).
    pub quick_acks: u32,
    /// The choices that RFC 6582 and its predecessors allow for NewReno.
    pub newreno: NewRenoConfig,
    pub vegas: VegasConfig,
    pub cubic: CubicConfig,
    pub rto: RtoConfig,
}

/// How spurious retransmissions are detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpuriousConfig {
    /// By timestamps (RFC 3522).
    pub eifel: bool,
    /// By the ACKs after a timeout (RFC 5682).
    pub frto: bool,
    /// By duplicate reports (RFC 3708).
    pub dsack: bool,
}

impl SpuriousConfig {
    /// Whether any detection is enabled.
    #[inline]
    pub fn any(self) -> bool {
        self.eifel || self.frto || self.dsack
    }
}

/// Keep-alive probes of an end that receives nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive {
    /// Idle time before the first probe.
    pub idle: Duration,
    /// Interval between probes.
    pub interval: Duration,
    /// Number of probes without answer after which the connection is given up.
    pub probes: u32,
}

impl Default for Keepalive {
    /// The RFC requires an idle time of at least two hours (RFC 1122 §4.2.3.6). The other values
    /// are Linux's.
    fn default() -> Self {
        Keepalive { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 9 }
    }
}

/// The number of retransmissions of a segment before the connection is given up. `None`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    pub syn: Option<u32>,
    pub syn_ack: Option<u32>,
    /// Of data or a FIN.
    pub data: Option<u32>,
}

impl Default for Retries {
    /// As Linux. They last longer than the 3 minutes for a SYN and the 100 s for data that RFC 9293
    /// §3.8.3 requires.
    fn default() -> Self {
        Retries { syn: Some(6), syn_ack: Some(5), data: Some(15) }
    }
}

impl Retries {
    /// No limits.
    pub const UNLIMITED: Retries = Retries { syn: None, syn_ack: None, data: None };
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

/// Refinements of FACK (Dubois 2005, section 3.2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FackConfig {
    /// Reduce cwnd by half a segment with each ACK, down to ssthresh.
    pub data_smoothing: bool,
    /// Halve the window twice if a segment sent in slow start is lost.
    pub over_damping: bool,
}

/// Variants of NewReno. Other congestion laws use them, too, without SACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRenoConfig {
    /// Three duplicates begin a recovery only if they acknowledge more than all that had been sent
    /// at the last timeout or recovery (RFC 6582 §3.2, step 1). Otherwise ("less careful", RFC 2582
    /// §5) it is enough if they acknowledge all of it.
    pub careful: bool,
    /// Only the first partial ACK restarts the timer (RFC 6582 §3.2, step 3). Otherwise each does
    /// ("slow but steady", RFC 3782 §4).
    pub impatient: bool,
}

impl Default for NewRenoConfig {
    /// As RFC 6582 recommends.
    fn default() -> Self {
        NewRenoConfig { careful: true, impatient: true }
    }
}

/// TCP Vegas's thresholds, in segments that it keeps in queues.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VegasConfig {
    /// Below it the window grows.
    pub alpha: u32,
    /// Above it the window shrinks.
    pub beta: u32,
    /// Above it slow start ends.
    pub gamma: u32,
    /// ns-2: a one-way Vegas connection has no SYN, and its data segments have no TCP and IP
    /// headers.
    pub ns2_no_header: bool,
    /// Added to the number of queued segments before it is truncated to an integer. In ns-2 the
    /// noise of the clock decides ties. Here a slightly smaller or larger value does.
    pub rounding: f64,
}

impl Default for VegasConfig {
    /// Thresholds of 1, 3 and 1 segments.
    fn default() -> Self {
        VegasConfig { alpha: 1, beta: 3, gamma: 1, ns2_no_header: false, rounding: 0.5 }
    }
}

impl Default for RtoConfig {
    /// RFC 6298 with a granularity of 1 ms.
    fn default() -> Self {
        RtoConfig {
            rule: RtoRule::Rfc6298,
            granularity: Duration::from_millis(1),
            clock_phase: Duration::ZERO,
            initial: Duration::from_secs(1),
            min: Duration::from_secs(1),
            max: Duration::from_secs(60),
        }
    }
}

impl TcpConfig {
    /// Whether the end follows the kernel if the RFCs leave a choice: Linux from 4.4 on, which has
    /// its own timeout rule and validates the window. Older kernels have no window validation.
    #[inline]
    pub(super) fn is_recent_linux(&self) -> bool {
        self.rto.rule == RtoRule::Linux && self.window_validation
    }

    /// Whether data segments have no headers and no SYN precedes them, as in ns-2's Vegas.
    #[inline]
    pub(super) fn vegas_without_header(&self) -> bool {
        self.one_way && self.variant == Variant::Vegas && self.vegas.ns2_no_header
    }
}

impl Default for TcpConfig {
    /// NewReno, full duplex, windows of RFC 5681 and RFC 3390, delayed ACKs of at most 200 ms.
    fn default() -> Self {
        TcpConfig {
            variant: Variant::NewReno,
            one_way: false,
            segment_payload: DEFAULT_MSS.into(),
            header: 40,
            advertised_window: 64_000,
            initial_window: 3,
            initial_ssthresh: None,
            delayed_ack: Some(Duration::from_millis(200)),
            limited_transmit: true,
            sack_blocks: 0,
            dsack: true,
            timestamps: false,
            timestamp_tick: Duration::from_millis(1),
            window_scaling: true,
            charged_options: ChargedOptions::AfterSyn,
            prr: false,
            lost_retransmissions: false,
            rack: false,
            tail_loss_probes: false,
            fack: FackConfig::default(),
            spurious: SpuriousConfig::default(),
            abc: false,
            abc_limit: Some(2),
            window_validation: false,
            slow_start: SlowStart::Standard,
            keepalive: None,
            slow_start_restart: true,
            nagle: Nagle::Off,
            read_rate: None,
            retries: Retries::default(),
            listens: true,
            ecn: false,
            quick_acks: 0,
            newreno: NewRenoConfig::default(),
            vegas: VegasConfig::default(),
            cubic: CubicConfig::default(),
            rto: RtoConfig::default(),
        }
    }
}
