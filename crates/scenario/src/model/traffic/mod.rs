//! Traffic models and their parameters. Each model has a table in its flow, as in `[flow.web]`.

mod config;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::traffic::laws::Truncation;
pub use umts_stack::traffic::{
    EtsiWwwConfig as EtsiWww, FirstSession, Pace, Record, ReplayConfig as Replay, SizeOf, Transport,
};
use umts_units::keyword::{OrNone, Unlimited};
use umts_units::{Bytes, Duration, Octets, Probability};

table! {
    /// Web pages according to TR 25.892, Annex A.2.
    pub struct Web {
        /// Content of a packet call: a page with its embedded objects, or one object.
        #[schemars(extend("x-label" = "Packet calls", "x-source" = "Dubois (2005), §5.3: \"page\"; its chapters 7 and 8 fit \"object_per_call\""))]
        pub variant: WebVariant = WebVariant::Page,
        /// Mean size of the main object of a page, before truncation.
        #[schemars(extend("x-label" = "Mean page size", "x-min" = "1 B", "x-max" = "1 GB", "x-source" = "TR 25.892, Annex A.2"))]
        pub main_mean: Bytes = Bytes(10_710),
        /// Standard deviation of the size of the main object, before truncation. The distribution
        /// is lognormal.
        #[schemars(extend("x-label" = "Standard deviation of the page size", "x-min" = "1 B", "x-max" = "100 GB", "x-source" = "TR 25.892, Annex A.2"))]
        pub main_deviation: Bytes = Bytes(25_032),
        /// Minimum size of the main object of a page.
        #[schemars(extend("x-label" = "Minimum page size", "x-source" = "TR 25.892, Annex A.2"))]
        pub main_min: Bytes = Bytes(100),
        /// Maximum size of the main object of a page.
        #[schemars(extend("x-label" = "Maximum page size", "x-max" = "1000 GB", "x-source" = "TR 25.892, Annex A.2"))]
        pub main_max: Bytes = Bytes(2_000_000),
        /// Mean size of an embedded object, before truncation.
        #[schemars(extend("x-label" = "Mean object size", "x-min" = "1 B", "x-max" = "1 GB", "x-source" = "TR 25.892, Annex A.2"))]
        pub embedded_mean: Bytes = Bytes(7_758),
        /// Standard deviation of the size of an embedded object, before truncation. The
        /// distribution is lognormal.
        #[schemars(extend("x-label" = "Standard deviation of the object size", "x-min" = "1 B", "x-max" = "100 GB", "x-source" = "TR 25.892, Annex A.2"))]
        pub embedded_deviation: Bytes = Bytes(126_168),
        /// Minimum size of an embedded object.
        #[schemars(extend("x-label" = "Minimum object size", "x-source" = "TR 25.892, Annex A.2"))]
        pub embedded_min: Bytes = Bytes(50),
        /// Maximum size of an embedded object.
        #[schemars(extend("x-label" = "Maximum object size", "x-max" = "1000 GB", "x-source" = "TR 25.892, Annex A.2"))]
        pub embedded_max: Bytes = Bytes(2_000_000),
        /// Treatment of sizes outside their limits.
        #[schemars(extend("x-label" = "Truncation of sizes"))]
        pub truncation: Truncation = Truncation::Redraw,
        /// Exponent of the number of embedded objects: a Pareto distribution from `embedded_least`,
        /// minus `embedded_least`.
        #[schemars(extend("x-label" = "Pareto exponent of the number of objects", "x-min" = 0.01, "x-max" = 100.0, "x-source" = "TR 25.892, Annex A.2"))]
        pub embedded_shape: f64 = 1.1,
        /// Smallest value of the Pareto distribution of the number of embedded objects.
        #[schemars(extend("x-label" = "Smallest value of the Pareto law of objects", "x-min" = 1, "x-max" = 1_000_000, "x-source" = "TR 25.892, Annex A.2"))]
        pub embedded_least: u32 = 2,
        /// Largest value of that Pareto distribution. A page has at most `embedded_most` minus
        /// `embedded_least` embedded objects.
        #[schemars(extend("x-label" = "Largest value of the Pareto law of objects", "x-min" = 1, "x-max" = 1_000_000, "x-source" = "TR 25.892, Annex A.2"))]
        pub embedded_most: u32 = 55,
        /// Treatment of numbers above `embedded_most`. Only clipping gives the mean of 5.64 that
        /// the source states.
        #[schemars(extend("x-label" = "Truncation of the number of objects"))]
        pub embedded_truncation: Truncation = Truncation::Clip,
        /// Rounding of the number of embedded objects.
        #[schemars(extend("x-label" = "Rounding of the number of objects"))]
        pub embedded_rounding: Rounding = Rounding::Nearest,
        /// Mean time between the arrival of the main object and the requests for embedded objects,
        /// exponential. If data are pushed, the mean time before each object, from when the
        /// preceding one has left.
        #[schemars(extend("x-label" = "Mean parsing time", "x-max" = "1 h", "x-source" = "TR 25.892, Annex A.2; Dubois (2005), §5.3.2"))]
        pub parsing_time: Duration = Duration::from_millis(130),
        /// Mean time to read the page, exponential. It starts when the whole page is acknowledged.
        #[schemars(extend("x-label" = "Mean reading time", "x-max" = "1000 h", "x-source" = "TR 25.892, Annex A.2"))]
        pub reading_time: Duration = Duration::from_secs(30),
        /// Whether the flow begins with a reading time, so that users do not start at the same
        /// time.
        #[schemars(extend("x-label" = "Start with a reading time"))]
        pub start_with_reading: bool = true,
        /// Size of a request. `"none"`: the end that has the data opens the connection and sends.
        #[serde(with = "OrNone::<Bytes>")]
        #[schemars(extend("x-label" = "Size of a request", "x-min" = "1 B", "x-max" = "1 MB", "x-source" = "ns-3, ThreeGppHttpClient: 350 B"))]
        pub request: Option<Bytes> = Some(Bytes(350)),
        /// Largest number of simultaneous connections. More than one requires requests.
        #[schemars(extend("x-label" = "Maximum number of connections at once", "x-min" = 1, "x-max" = 100))]
        pub connections: u32 = 1,
        /// Whether a connection carries several objects in succession (HTTP/1.1), or each object
        /// has its own connection.
        #[schemars(extend("x-label" = "Persistent connections", "x-source" = "RFC 9112 §9.3"))]
        pub persistent: bool = true,
        /// Sizes of full segments: drawn for each packet call, or the size of the flow's TCP.
        #[schemars(extend("x-label" = "Segment sizes"))]
        pub segments: Segments = Segments::Mixed,
        /// Share of the packet calls with large segments (`mixed`).
        #[schemars(extend("x-label" = "Share of packet calls with large segments", "x-source" = "TR 25.892, Annex A.2"))]
        pub large_share: Probability = Probability::new(0.76).expect("a share"),
        /// Payload of a large segment (`mixed`).
        #[schemars(extend("x-label" = "Large segment", "x-min" = "1 B", "x-max" = "65495 B", "x-source" = "TR 25.892, Annex A.2: 1500 B with headers"))]
        pub large_segment: Octets = Octets(1460),
        /// Payload of a small segment (`mixed`).
        #[schemars(extend("x-label" = "Small segment", "x-min" = "1 B", "x-max" = "65495 B", "x-source" = "TR 25.892, Annex A.2: 576 B with headers"))]
        pub small_segment: Octets = Octets(536),
        /// Whether each object is rounded up to whole segments, as ns-2's one-way TCP rounds every
        /// write.
        #[schemars(extend("x-label" = "Objects of whole segments", "x-source" = "ns-2, TcpAgent::sendmsg"))]
        pub whole_segments: bool = false,
    }
}

/// Content of a packet call of the web model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WebVariant {
    /// A page with its embedded objects.
    Page,
    /// One object, followed by a reading time.
    ObjectPerCall,
}

/// Rounding of a number to a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// To the nearest whole number.
    Nearest,
    /// To the next lower whole number.
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

table! {
    /// Files in succession, each over its own connection.
    pub struct FtpSessions {
        /// Mean size of a file, before truncation.
        #[schemars(extend("x-label" = "Mean file size", "x-min" = "1 B", "x-max" = "1 GB", "x-source" = "Dubois (2005), Table 5.2"))]
        pub file_mean: Bytes = Bytes(2_000_000),
        /// Standard deviation of the size of a file, before truncation. The distribution is
        /// lognormal.
        #[schemars(extend("x-label" = "Standard deviation of the file size", "x-min" = "1 B", "x-max" = "100 GB", "x-source" = "Dubois (2005), Table 5.2"))]
        pub file_deviation: Bytes = Bytes(722_000),
        /// Minimum size of a file.
        #[schemars(extend("x-label" = "Minimum file size"))]
        pub file_min: Bytes = Bytes(1),
        /// Maximum size of a file.
        #[schemars(extend("x-label" = "Maximum file size", "x-max" = "1000 GB", "x-source" = "Dubois (2005), Table 5.2"))]
        pub file_max: Bytes = Bytes(5_000_000),
        /// Treatment of sizes outside their limits.
        #[schemars(extend("x-label" = "Truncation of sizes"))]
        pub truncation: Truncation = Truncation::Redraw,
        /// Mean time between files, exponential. It starts when the whole file is acknowledged.
        #[schemars(extend("x-label" = "Mean reading time", "x-max" = "1000 h", "x-source" = "Dubois (2005), Table 5.2"))]
        pub reading_time: Duration = Duration::from_secs(180),
        /// Whether the flow begins with a reading time.
        #[schemars(extend("x-label" = "Start with a reading time"))]
        pub start_with_reading: bool = true,
        /// Sizes of full segments: drawn for each file, or the size of the flow's TCP.
        #[schemars(extend("x-label" = "Segment sizes"))]
        pub segments: Segments = Web::default().segments,
        /// Share of the files with large segments (`mixed`).
        #[schemars(extend("x-label" = "Share of files with large segments"))]
        pub large_share: Probability = Web::default().large_share,
        /// Payload of a large segment (`mixed`).
        #[schemars(extend("x-label" = "Large segment", "x-min" = "1 B", "x-max" = "65495 B"))]
        pub large_segment: Octets = Web::default().large_segment,
        /// Payload of a small segment (`mixed`).
        #[schemars(extend("x-label" = "Small segment", "x-min" = "1 B", "x-max" = "65495 B"))]
        pub small_segment: Octets = Web::default().small_segment,
    }
}

table! {
    /// Requests for files with heavy-tailed sizes (Baiocchi and Vacirca).
    pub struct ParetoWww {
        /// Size of a request. `"none"`: the end that has the data opens the connection and sends.
        #[serde(with = "OrNone::<Bytes>")]
        #[schemars(extend("x-label" = "Size of a request", "x-min" = "1 B", "x-max" = "1 MB", "x-source" = "assumed: the study states no length"))]
        pub request: Option<Bytes> = Some(Bytes(300)),
        /// Mean size of a file, after truncation. The minimum size follows from it.
        #[schemars(extend("x-label" = "Mean file size", "x-min" = "1 B", "x-max" = "1 GB", "x-source" = "Baiocchi and Vacirca: 40 kbyte"))]
        pub file_mean: Bytes = Bytes(40_000),
        /// Exponent of the Pareto distribution of file sizes.
        #[schemars(extend("x-label" = "Pareto exponent of the file size", "x-min" = 0.01, "x-max" = 100.0, "x-source" = "assumed: the study states no shape"))]
        pub file_shape: f64 = 1.2,
        /// Maximum size of a file.
        #[schemars(extend("x-label" = "Maximum file size", "x-min" = "1 B", "x-max" = "1000 GB", "x-source" = "assumed: the study states no limit"))]
        pub file_max: Bytes = Bytes(2_000_000),
        /// Treatment of sizes above the maximum.
        #[schemars(extend("x-label" = "Truncation of sizes"))]
        pub truncation: Truncation = Truncation::Redraw,
        /// Mean time between requests, exponential.
        #[schemars(extend("x-label" = "Mean time between requests", "x-max" = "1000 h", "x-source" = "Baiocchi and Vacirca: 21.5 s"))]
        pub interarrival: Duration = Duration::from_millis(21_500),
        /// Start of the time between requests: the preceding request, or the end of its file.
        #[schemars(extend("x-label" = "Pace of the requests"))]
        pub pace: Pace = Pace::RequestToRequest,
    }
}

table! {
    /// Frames at a constant rate, in UDP datagrams.
    pub struct Cbr {
        /// Payload of a datagram.
        #[schemars(extend("x-label" = "Payload of the datagrams", "x-min" = "1 B", "x-max" = "65507 B"))]
        pub payload: Octets = Octets(160),
        /// Time from one datagram to the next.
        #[schemars(extend("x-label" = "Interval of the datagrams", "x-min" = "1 us", "x-max" = "1 h"))]
        pub interval: Duration = Duration::from_millis(20),
        /// Whether the first datagram is delayed by a random part of the interval, so that users do
        /// not send in step.
        #[schemars(extend("x-label" = "Random phase"))]
        pub random_phase: bool = true,
        /// Duration for which the flow sends. `"unlimited"`: until the end of the run.
        #[serde(with = "Unlimited::<Duration>")]
        #[schemars(extend("x-label" = "Length of the flow", "x-max" = "1000000 h"))]
        pub length: Option<Duration> = None,
    }
}

table! {
    /// Voice or video with silences, in UDP datagrams.
    pub struct OnOff {
        /// Payload of a datagram.
        #[schemars(extend("x-label" = "Payload of the datagrams", "x-min" = "1 B", "x-max" = "65507 B", "x-source" = "TS 26.101: 244 bits of AMR 12.2 and RTP's 12 B, in octets"))]
        pub payload: Octets = Octets(43),
        /// Time from one datagram to the next inside a spurt.
        #[schemars(extend("x-label" = "Interval of the datagrams", "x-min" = "1 us", "x-max" = "1 h", "x-source" = "TS 26.101: 20 ms"))]
        pub interval: Duration = Duration::from_millis(20),
        /// Mean length of a spurt, exponential.
        #[schemars(extend("x-label" = "Mean length of a spurt", "x-min" = "1 us", "x-max" = "1000 h", "x-source" = "ITU-T P.59: 1.004 s"))]
        pub on: Duration = Duration::from_millis(1004),
        /// Mean length of a silence, exponential.
        #[schemars(extend("x-label" = "Mean length of a silence", "x-min" = "1 us", "x-max" = "1000 h", "x-source" = "ITU-T P.59: 1.587 s"))]
        pub off: Duration = Duration::from_millis(1587),
        /// Whether the first datagram is delayed by a random part of the interval, so that users do
        /// not send in step.
        #[schemars(extend("x-label" = "Random phase"))]
        pub random_phase: bool = true,
        /// Duration for which the flow sends. `"unlimited"`: until the end of the run.
        #[serde(with = "Unlimited::<Duration>")]
        #[schemars(extend("x-label" = "Length of the flow", "x-max" = "1000000 h"))]
        pub length: Option<Duration> = None,
    }
}
