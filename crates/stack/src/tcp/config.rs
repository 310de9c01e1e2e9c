//! What a TCP end is told when it is made.

use umts_units::{BitRate, Duration};

use super::congestion::CubicConfig;

#[cfg(doc)]
use crate::packet::SackBlocks;

/// Maximum segment size where no other is asked for: 1500 octets of Ethernet less 40 of headers.
pub const DEFAULT_MSS: u16 = 1460;

/// The version of TCP.
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
    /// By delay (Brakmo and Peterson 1995).
    Vegas,
    /// With selective acknowledgements (RFC 6675; `one_way`: Fall and Floyd 1996).
    Sack,
    /// Forward acknowledgement (Mathis and Mahdavi 1996).
    Fack,
    /// Westwood+: the window after a loss is the bandwidth times the least round trip (Grieco and Mascolo 2004).
    Westwood,
    /// CUBIC: the window is a cubic function of the time since the last loss (RFC 9438).
    Cubic,
    /// BBR version 1: paced at the bandwidth that the path has shown (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr,
    /// The class of `python`: slow, for experiments.
    // The number of its flow, by which a law from outside is asked for (`UserLaws`); the standard one where none is given.
    #[cfg_attr(feature = "schema", serde(rename = "python"), schemars(transform = word_alone))]
    User(#[cfg_attr(feature = "schema", serde(skip))] u16),
}

/// The word for a law from outside stands alone in a file: the number of a flow follows from its place.
#[cfg(feature = "schema")]
fn word_alone(variant: &mut schemars::Schema) {
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
    /// HyStart: the round trip has grown, or acknowledgments come in a long train (Ha and Rhee 2011, as in Linux).
    Hystart,
    /// HyStart++: the round trip has grown and stays grown (RFC 9406).
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
    // With integer shifts.
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
    /// How far ns-2's clock is past a tick at time zero, below `granularity`; ns-2 draws it at random.
    pub clock_phase: Duration,
    /// Before the first sample.
    pub initial: Duration,
    /// Lower bound, applied before the back-off factor.
    pub min: Duration,
    /// Upper bound, applied last.
    pub max: Duration,
}

/// One end of a connection. Both ends get the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TcpConfig {
    /// The version of TCP.
    pub variant: Variant,
    /// ns-2's one-way connection in place of a full duplex one.
    pub one_way: bool,
    /// Maximum segment size: payload of a full segment, in bytes.
    pub segment_payload: u32,
    /// TCP and IP headers charged on every segment, in bytes.
    pub header: u16,
    /// Receive window, in bytes.
    pub advertised_window: u32,
    /// Congestion window once the connection is established, in segments.
    pub initial_window: u32,
    /// Slow start threshold at the beginning, in segments; unlimited if absent.
    pub initial_ssthresh: Option<u32>,
    /// How long an acknowledgment may wait for a second segment; `None` acknowledges every segment.
    pub delayed_ack: Option<Duration>,
    /// New data on the first and second duplicate ACK (RFC 3042).
    pub limited_transmit: bool,
    /// Blocks of selective acknowledgments that an ACK may carry (at most [`SackBlocks::MAX`]); 0 for none, and full
    /// duplex for not offering any.
    pub sack_blocks: u8,
    /// Report duplicates in the first block (RFC 2883).
    pub dsack: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Tick of the timestamps' clock.
    pub timestamp_tick: Duration,
    /// Offer to scale windows (RFC 7323); without, they end at 65,535 bytes. (One way they have no bound.)
    pub window_scaling: bool,
    /// Which options full duplex segments are charged for; one way it is 8 octets for each block, as in ns-2.
    pub charged_options: ChargedOptions,
    /// The window falls by proportion in a recovery by selective acknowledgments, not at once (RFC 9937; full duplex).
    pub prr: bool,
    /// A segment that was sent again and is lost again is found out by what left after it (full duplex).
    pub lost_retransmissions: bool,
    /// Losses are told by time (RFC 8985 §6), where both ends acknowledge selectively (full duplex, not FACK).
    pub rack: bool,
    /// A segment leaves when a tail may be lost (RFC 8985 §7); with `rack`.
    pub tail_loss_probes: bool,
    /// FACK over full duplex.
    pub fack: FackConfig,
    /// How needless retransmissions are found out (full duplex).
    pub spurious: SpuriousConfig,
    /// Count bytes, not ACKs, when the window grows (RFC 3465; Tahoe to FACK, and CUBIC).
    pub abc: bool,
    /// Most segments by which one ACK raises the window in slow start with `abc` (L of RFC 3465); `None` without bound, and
    /// then also after a timeout.
    pub abc_limit: Option<u32>,
    /// The window grows only while it is what limits the sender, and so a loss reduces it and not what is under way.
    pub window_validation: bool,
    /// How slow start ends before a loss (full duplex).
    pub slow_start: SlowStart,
    /// Whether an end that hears nothing asks (full duplex).
    pub keepalive: Option<Keepalive>,
    /// The window falls to the initial one after a pause longer than a timeout (RFC 5681 §4.1).
    pub slow_start_restart: bool,
    /// Whether small segments wait.
    pub nagle: Nagle,
    /// How fast the application reads; `None` at once (and one way).
    pub read_rate: Option<BitRate>,
    /// When an end gives up (full duplex).
    pub retries: Retries,
    /// Whether the passive end takes connections; if not, it answers a SYN with a RST.
    pub listens: bool,
    /// Ask for explicit congestion notification (RFC 3168; full duplex).
    pub ecn: bool,
    /// So many segments are acknowledged at once at the start of a connection, whatever `delayed_ack` (Linux).
    pub quick_acks: u32,
    /// Where RFC 6582 and its predecessors leave NewReno a choice.
    pub newreno: NewRenoConfig,
    /// What Vegas aims at.
    pub vegas: VegasConfig,
    /// What CUBIC uses.
    pub cubic: CubicConfig,
    /// The retransmission timeout.
    pub rto: RtoConfig,
}

/// How needless retransmissions are found out.
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
    /// Whether any is on.
    #[inline]
    pub fn any(self) -> bool {
        self.eifel || self.frto || self.dsack
    }
}

/// When an end that hears nothing asks whether the other one is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive {
    /// After so long.
    pub idle: Duration,
    /// Again after so long each time.
    pub interval: Duration,
    /// So often, before the connection is given up.
    pub probes: u32,
}

impl Default for Keepalive {
    /// RFC 1122 §4.2.3.6: at least two hours; the rest as Linux.
    fn default() -> Self {
        Keepalive { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 9 }
    }
}

/// How often the same segment is sent again before the connection is given up; `None` for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// A SYN.
    pub syn: Option<u32>,
    /// A SYN+ACK.
    pub syn_ack: Option<u32>,
    /// Data, or a FIN.
    pub data: Option<u32>,
}

impl Default for Retries {
    /// As Linux: more than the 3 minutes for a SYN and the 100 s for data that RFC 9293 §3.8.3 asks for.
    fn default() -> Self {
        Retries { syn: Some(6), syn_ack: Some(5), data: Some(15) }
    }
}

impl Retries {
    /// Nothing is ever given up.
    pub const FOR_EVER: Retries = Retries { syn: None, syn_ack: None, data: None };
}

/// Whether small segments wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Nagle {
    /// They leave at once.
    Off,
    /// While anything is unacknowledged (RFC 896).
    On,
    /// While another small segment is unacknowledged (Minshall).
    Minshall,
}

/// Which segments are charged for their options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum ChargedOptions {
    /// All.
    All,
    /// All but the SYNs.
    AfterSyn,
    /// None.
    None,
}

/// The refinements of FACK (Dubois 2005, section 3.2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FackConfig {
    /// cwnd falls by half a segment with each ACK, down to ssthresh.
    pub data_smoothing: bool,
    /// A loss of what left in slow start halves twice.
    pub over_damping: bool,
}

/// NewReno's variants, also for other laws of the window where there are no selective acknowledgments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRenoConfig {
    /// Three duplicates begin a recovery only if they acknowledge more than all that had left at the last timeout or
    /// recovery (RFC 6582 §3.2, step 1); "less careful" (RFC 2582 §5): if they acknowledge all of it.
    pub careful: bool,
    /// Only the first partial ACK restarts the timer (RFC 6582 §3.2, step 3); "slow but steady" (RFC 3782 §4): each does.
    pub impatient: bool,
}

impl Default for NewRenoConfig {
    /// As RFC 6582 recommends.
    fn default() -> Self {
        NewRenoConfig { careful: true, impatient: true }
    }
}

/// The bounds of TCP Vegas on the segments that it keeps in queues.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VegasConfig {
    /// With fewer the window grows.
    pub alpha: u32,
    /// With more it shrinks.
    pub beta: u32,
    /// With more slow start ends.
    pub gamma: u32,
    /// ns-2: a one-way connection of Vegas has no SYN, and its data no TCP and IP header.
    pub ns2_no_header: bool,
    /// What is added to the segments in queues before they are cut to a whole number. ns-2 leaves ties to the noise of its
    /// clock; a little less or more decides them here.
    pub rounding: f64,
}

impl Default for VegasConfig {
    /// Bounds of 1, 3 and 1 segments.
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
    /// Whether the end follows the kernel where the RFCs leave a choice: Linux from 4.4 on, which times by its own rule and
    /// validates the window. Older kernels do not.
    #[inline]
    pub(super) fn is_recent_linux(&self) -> bool {
        self.rto.rule == RtoRule::Linux && self.window_validation
    }

    /// Whether data goes without headers, and without a SYN before it, as in ns-2's Vegas.
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
