//! What users do: the traffic models and their parameters. Each is a table of the flow that it belongs to, `[flow.web]`.

mod config;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::traffic::laws::Truncation;
pub use umts_stack::traffic::{FirstSession, SizeOf};
pub use umts_stack::traffic::{Pace, Record};
use umts_units::{Bytes, Duration, Octets, Probability};

use crate::text::{word_none, word_unlimited};

/// Web pages as TR 25.892, Annex A.2 has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Web {
    /// What a packet call is.
    #[schemars(extend("x-source" = "Dubois (2005), §5.3: \"page\"; its chapters 7 and 8 fit \"object_per_call\""))]
    pub variant: WebVariant,
    /// Mean size of the page itself, before truncation.
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GB", "x-source" = "TR 25.892, Annex A.2"))]
    pub main_mean: Bytes,
    /// Standard deviation of that size, before truncation; the law is lognormal.
    #[schemars(extend("x-min" = "1 B", "x-max" = "100 GB", "x-source" = "TR 25.892, Annex A.2"))]
    pub main_deviation: Bytes,
    /// Least size of the page itself.
    #[schemars(extend("x-source" = "TR 25.892, Annex A.2"))]
    pub main_min: Bytes,
    /// Largest size of the page itself.
    #[schemars(extend("x-max" = "1000 GB", "x-source" = "TR 25.892, Annex A.2"))]
    pub main_max: Bytes,
    /// Mean size of an embedded object, before truncation.
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GB", "x-source" = "TR 25.892, Annex A.2"))]
    pub embedded_mean: Bytes,
    /// Standard deviation of that size, before truncation; the law is lognormal.
    #[schemars(extend("x-min" = "1 B", "x-max" = "100 GB", "x-source" = "TR 25.892, Annex A.2"))]
    pub embedded_deviation: Bytes,
    /// Least size of an embedded object.
    #[schemars(extend("x-source" = "TR 25.892, Annex A.2"))]
    pub embedded_min: Bytes,
    /// Largest size of an embedded object.
    #[schemars(extend("x-max" = "1000 GB", "x-source" = "TR 25.892, Annex A.2"))]
    pub embedded_max: Bytes,
    /// What becomes of sizes outside their limits.
    pub truncation: Truncation,
    /// Exponent of the number of embedded objects: a Pareto law from `embedded_least` on, less `embedded_least`.
    #[schemars(extend("x-min" = 0.01, "x-max" = 100.0, "x-source" = "TR 25.892, Annex A.2"))]
    pub embedded_shape: f64,
    /// Least value of that law.
    #[schemars(extend("x-min" = 1, "x-max" = 1_000_000, "x-source" = "TR 25.892, Annex A.2"))]
    pub embedded_least: u32,
    /// Largest value of that law: a page has `embedded_most` less `embedded_least` embedded objects at most.
    #[schemars(extend("x-min" = 1, "x-max" = 1_000_000, "x-source" = "TR 25.892, Annex A.2"))]
    pub embedded_most: u32,
    /// What becomes of numbers above the largest; only clipping gives the mean of 5.64 that the table states.
    pub embedded_truncation: Truncation,
    /// How the number is made whole.
    pub embedded_rounding: Rounding,
    /// Mean time before what the page refers to is fetched, exponential. Where the data are pushed, before each object,
    /// from when the one before has left.
    #[schemars(extend("x-max" = "1 h", "x-source" = "TR 25.892, Annex A.2; Dubois (2005), §5.3.2"))]
    pub parsing_time: Duration,
    /// Mean time to read the page, exponential, from when all of it is acknowledged.
    #[schemars(extend("x-max" = "1000 h", "x-source" = "TR 25.892, Annex A.2"))]
    pub reading_time: Duration,
    /// Whether the flow begins with a reading time, so that users do not all ask at once.
    pub start_with_reading: bool,
    /// Size of a request; `"none"` where the end that has the data opens and sends.
    #[serde(with = "word_none")]
    #[schemars(with = "crate::text::OrNone<Bytes>", extend("x-min" = "1 B", "x-max" = "1 MB", "x-source" = "ns-3, ThreeGppHttpClient: 350 B"))]
    pub request: Option<Bytes>,
    /// Most connections at once; more than one needs requests.
    #[schemars(extend("x-min" = 1, "x-max" = 100))]
    pub connections: u32,
    /// Whether a connection carries one object after another (HTTP/1.1) or each object has its own.
    #[schemars(extend("x-source" = "RFC 9112 §9.3"))]
    pub persistent: bool,
    /// Sizes of full segments.
    pub segments: Segments,
    /// Share of the packet calls with large segments (`mixed`).
    #[schemars(extend("x-source" = "TR 25.892, Annex A.2"))]
    pub large_share: Probability,
    /// Payload of a large segment (`mixed`).
    #[schemars(extend("x-min" = "1 B", "x-max" = "65495 B", "x-source" = "TR 25.892, Annex A.2: 1500 B with headers"))]
    pub large_segment: Octets,
    /// Payload of a small segment (`mixed`).
    #[schemars(extend("x-min" = "1 B", "x-max" = "65495 B", "x-source" = "TR 25.892, Annex A.2: 576 B with headers"))]
    pub small_segment: Octets,
    /// Whether each object fills whole segments: ns-2's one-way TCP counts packets and rounds every write up.
    #[schemars(extend("x-source" = "ns-2, TcpAgent::sendmsg"))]
    pub whole_segments: bool,
}

impl Default for Web {
    fn default() -> Self {
        Web {
            variant: WebVariant::Page,
            main_mean: Bytes(10_710),
            main_deviation: Bytes(25_032),
            main_min: Bytes(100),
            main_max: Bytes(2_000_000),
            embedded_mean: Bytes(7_758),
            embedded_deviation: Bytes(126_168),
            embedded_min: Bytes(50),
            embedded_max: Bytes(2_000_000),
            truncation: Truncation::Redraw,
            embedded_shape: 1.1,
            embedded_least: 2,
            embedded_most: 55,
            embedded_truncation: Truncation::Clip,
            embedded_rounding: Rounding::Nearest,
            parsing_time: Duration::from_millis(130),
            reading_time: Duration::from_secs(30),
            start_with_reading: true,
            request: Some(Bytes(350)),
            connections: 1,
            persistent: true,
            segments: Segments::Mixed,
            large_share: Probability::new(0.76).expect("a share"),
            large_segment: Octets(1460),
            small_segment: Octets(536),
            whole_segments: false,
        }
    }
}

/// What a packet call of the web is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WebVariant {
    /// A page with all that it refers to.
    Page,
    /// One object, with a reading time behind each.
    ObjectPerCall,
}

/// How a number is made whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// To the nearest whole number.
    Nearest,
    /// To the next below.
    Down,
}

/// Sizes of full segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Segments {
    /// Large or small, drawn for each packet call.
    Mixed,
    /// `segment_payload` of the flow's TCP.
    Tcp,
}

/// Files one after another, each over a connection of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FtpSessions {
    /// Mean size of a file, before truncation.
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GB", "x-source" = "Dubois (2005), Table 5.2"))]
    pub file_mean: Bytes,
    /// Standard deviation of that size, before truncation; the law is lognormal.
    #[schemars(extend("x-min" = "1 B", "x-max" = "100 GB", "x-source" = "Dubois (2005), Table 5.2"))]
    pub file_deviation: Bytes,
    /// Least size of a file.
    pub file_min: Bytes,
    /// Largest size of a file.
    #[schemars(extend("x-max" = "1000 GB", "x-source" = "Dubois (2005), Table 5.2"))]
    pub file_max: Bytes,
    /// What becomes of sizes outside their limits.
    pub truncation: Truncation,
    /// Mean time between files, exponential, from when all of one is acknowledged.
    #[schemars(extend("x-max" = "1000 h", "x-source" = "Dubois (2005), Table 5.2"))]
    pub reading_time: Duration,
    /// Whether the flow begins with a reading time.
    pub start_with_reading: bool,
    /// Sizes of full segments.
    pub segments: Segments,
    /// Share of the files with large segments (`mixed`).
    pub large_share: Probability,
    /// Payload of a large segment (`mixed`).
    #[schemars(extend("x-min" = "1 B", "x-max" = "65495 B"))]
    pub large_segment: Octets,
    /// Payload of a small segment (`mixed`).
    #[schemars(extend("x-min" = "1 B", "x-max" = "65495 B"))]
    pub small_segment: Octets,
}

impl Default for FtpSessions {
    fn default() -> Self {
        let Web { segments, large_share, large_segment, small_segment, .. } = Web::default();
        FtpSessions {
            file_mean: Bytes(2_000_000),
            file_deviation: Bytes(722_000),
            file_min: Bytes(1),
            file_max: Bytes(5_000_000),
            truncation: Truncation::Redraw,
            reading_time: Duration::from_secs(180),
            start_with_reading: true,
            segments,
            large_share,
            large_segment,
            small_segment,
        }
    }
}

/// Requests for files whose sizes have a heavy tail (Baiocchi and Vacirca).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ParetoWww {
    /// Size of a request; `"none"` where the end that has the data opens and sends.
    #[serde(with = "word_none")]
    #[schemars(with = "crate::text::OrNone<Bytes>", extend("x-min" = "1 B", "x-max" = "1 MB", "x-source" = "assumed: the study states no length"))]
    pub request: Option<Bytes>,
    /// Mean size of a file, after truncation: the least size follows from it.
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GB", "x-source" = "Baiocchi and Vacirca: 40 kbyte"))]
    pub file_mean: Bytes,
    /// Exponent of the Pareto law.
    #[schemars(extend("x-min" = 0.01, "x-max" = 100.0, "x-source" = "assumed: the study states no shape"))]
    pub file_shape: f64,
    /// Largest size of a file.
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 GB", "x-source" = "assumed: the study states no limit"))]
    pub file_max: Bytes,
    /// What becomes of sizes above the largest.
    pub truncation: Truncation,
    /// Mean time between requests, exponential.
    #[schemars(extend("x-max" = "1000 h", "x-source" = "Baiocchi and Vacirca: 21.5 s"))]
    pub interarrival: Duration,
    /// From what the time between requests is counted.
    pub pace: Pace,
    /// Whether the flow begins with such a time.
    pub start_with_pause: bool,
}

impl Default for ParetoWww {
    fn default() -> Self {
        ParetoWww {
            request: Some(Bytes(300)),
            file_mean: Bytes(40_000),
            file_shape: 1.2,
            file_max: Bytes(2_000_000),
            truncation: Truncation::Redraw,
            interarrival: Duration::from_millis(21_500),
            pace: Pace::RequestToRequest,
            start_with_pause: true,
        }
    }
}

/// WWW sessions of datagrams (ETSI TR 101 112, UMTS 30.03, B.1.2.2). Sizes are its Pareto law from 81.5 B on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EtsiWww {
    /// Mean number of packet calls in a session, geometric.
    #[schemars(extend("x-min" = 1, "x-max" = 1_000_000, "x-source" = "ETSI TR 101 112, B.1.2.2"))]
    pub calls: u32,
    /// Mean reading time between packet calls, exponential.
    #[schemars(extend("x-max" = "1000 h", "x-source" = "ETSI TR 101 112, B.1.2.2; 12 s in many studies"))]
    pub reading_time: Duration,
    /// Mean number of datagrams in a packet call, geometric.
    #[schemars(extend("x-min" = 1, "x-max" = 1_000_000, "x-source" = "ETSI TR 101 112, B.1.2.2"))]
    pub datagrams: u32,
    /// Mean time between datagrams, exponential: 3,840 bit over the source's rate.
    #[schemars(extend("x-max" = "1 h", "x-source" = "ETSI TR 101 112, B.1.2.2: 0.0625 s for 64 kbit/s"))]
    pub interval: Duration,
    /// Mean time between sessions, exponential; also before the first.
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 h", "x-source" = "Rendon et al.: 100 s"))]
    pub between_sessions: Duration,
    /// The largest size.
    #[schemars(extend("x-min" = "100 B", "x-max" = "66666 B", "x-source" = "ETSI TR 101 112, B.1.2.2; Rendon et al.: 570 B"))]
    pub largest: Bytes,
    /// What becomes of sizes above the largest; only clipping gives the mean of 480 B that the report states.
    pub truncation: Truncation,
    /// What sizes are sizes of: the payload, on which 28 B of headers come, or the IP packet.
    pub size_of: SizeOf,
    /// How a user's first session begins.
    pub first_session: FirstSession,
    /// Largest payload of a UDP packet: a larger datagram leaves in several.
    #[schemars(extend("x-min" = "1 B", "x-max" = "65507 B"))]
    pub packet: Octets,
}

impl Default for EtsiWww {
    fn default() -> Self {
        EtsiWww {
            calls: 5,
            reading_time: Duration::from_secs(412),
            datagrams: 25,
            interval: Duration::from_micros(62_500),
            between_sessions: Duration::from_secs(100),
            largest: Bytes(66_666),
            truncation: Truncation::Clip,
            size_of: SizeOf::Payload,
            first_session: FirstSession::AfterAPause,
            packet: Octets(1472),
        }
    }
}

/// Frames at a constant rate, in UDP datagrams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cbr {
    /// Payload of a datagram.
    #[schemars(extend("x-min" = "1 B", "x-max" = "65507 B"))]
    pub payload: Octets,
    /// From datagram to datagram.
    #[schemars(extend("x-min" = "1 us", "x-max" = "1 h"))]
    pub interval: Duration,
    /// Whether the first one is late by a random part of the interval, so that users do not send in step.
    pub random_phase: bool,
    /// How long the flow sends; `"unlimited"`: to the end of the run.
    #[serde(with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<Duration>", extend("x-max" = "1000000 h"))]
    pub length: Option<Duration>,
}

impl Default for Cbr {
    fn default() -> Self {
        Cbr { payload: Octets(160), interval: Duration::from_millis(20), random_phase: true, length: None }
    }
}

/// Voice or video with silences, in UDP datagrams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OnOff {
    /// Payload of a datagram.
    #[schemars(extend("x-min" = "1 B", "x-max" = "65507 B", "x-source" = "TS 26.101: 244 bits of AMR 12.2 and RTP's 12 B, in octets"))]
    pub payload: Octets,
    /// From datagram to datagram inside a spurt.
    #[schemars(extend("x-min" = "1 us", "x-max" = "1 h", "x-source" = "TS 26.101: 20 ms"))]
    pub interval: Duration,
    /// Mean length of a spurt, exponential.
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 h", "x-source" = "ITU-T P.59: 1.004 s"))]
    pub on: Duration,
    /// Mean length of a silence, exponential.
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 h", "x-source" = "ITU-T P.59: 1.587 s"))]
    pub off: Duration,
    /// Whether the first one is late by a random part of the interval, so that users do not send in step.
    pub random_phase: bool,
    /// How long the flow sends; `"unlimited"`: to the end of the run.
    #[serde(with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<Duration>", extend("x-max" = "1000000 h"))]
    pub length: Option<Duration>,
}

impl Default for OnOff {
    fn default() -> Self {
        OnOff {
            payload: Octets(43),
            interval: Duration::from_millis(20),
            on: Duration::from_millis(1004),
            off: Duration::from_millis(1587),
            random_phase: true,
            length: None,
        }
    }
}

/// A recording, sent again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// Text file beside the scenario file: one line for each `TIME BYTES DIRECTION`, as in `0.125 1460 down`; time in
    /// seconds since the flow's start, direction `down` or `up`.
    pub file: String,
    /// In UDP datagrams, or over one TCP connection that the sender of the flow's direction opens.
    #[serde(default = "udp")]
    pub transport: Transport,
    /// The recording begins again so long after its last line; `"none"`: it ends there.
    #[serde(default, with = "word_none")]
    #[schemars(with = "crate::text::OrNone<Duration>", extend("x-min" = "1 us", "x-max" = "1000 h"))]
    pub repeat_after: Option<Duration>,
    /// What the file says. Read by the loader, never empty in a loaded scenario.
    #[serde(skip)]
    pub records: Arc<[Record]>,
}

/// What carries a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A datagram for each line.
    Udp,
    /// One connection, written to at each line.
    Tcp,
}

fn udp() -> Transport {
    Transport::Udp
}
