//! Conversion of the `traffic` tables of a scenario into the configurations of the stack's traffic
//! models. The models of browsing and of single files share [`BrowsingConfig`].

use umts_stack::traffic::laws::{Count, Distribution};
use umts_stack::traffic::{
    BrowsingConfig, EmbeddedObjects, FramesConfig, MixedSegments, Spurts, TrafficConfig,
};
use umts_units::{Bytes, Duration, Octets, Probability};

use super::{Cbr, FtpSessions, OnOff, Pace, ParetoWww, Rounding, Segments};
use super::{Truncation, Web, WebVariant};
use crate::model::Traffic;

impl Traffic {
    /// Returns the configuration of a flow's traffic. `segment_payload` is the payload of a full
    /// segment of the flow's TCP.
    pub fn config(&self, segment_payload: Octets) -> TrafficConfig {
        match self {
            // An endless transfer.
            Traffic::Ftp => TrafficConfig::Ftp { bytes: u64::MAX },
            Traffic::File { size } => TrafficConfig::Ftp { bytes: size.0 },
            Traffic::Web(web) => TrafficConfig::Browsing(web.config(segment_payload)),
            Traffic::FtpSessions(sessions) => TrafficConfig::Browsing(sessions.config()),
            Traffic::ParetoWww(www) => TrafficConfig::Browsing(www.config()),
            Traffic::EtsiWww(www) => TrafficConfig::EtsiWww(www.clone()),
            Traffic::Cbr(cbr) => TrafficConfig::Frames(cbr.config()),
            Traffic::OnOff(on_off) => TrafficConfig::Frames(on_off.config()),
            Traffic::Replay(replay) => TrafficConfig::Replay(replay.clone()),
        }
    }
}

impl Web {
    fn config(&self, segment_payload: Octets) -> BrowsingConfig {
        let (min, max) = (f64::from(self.embedded_least), f64::from(self.embedded_most));
        let count = Count {
            distribution: Distribution::pareto(self.embedded_shape, min, max, self.embedded_truncation),
            min,
            nearest: self.embedded_rounding == Rounding::Nearest,
        };
        let page_size = [self.main_mean, self.main_deviation, self.main_min, self.main_max];
        let object_size = [self.embedded_mean, self.embedded_deviation, self.embedded_min, self.embedded_max];
        BrowsingConfig {
            main: lognormal(page_size, self.truncation),
            embedded: Some(EmbeddedObjects { count, size: lognormal(object_size, self.truncation) }),
            object_per_call: self.variant == WebVariant::ObjectPerCall,
            parsing: self.parsing_time,
            pause: self.reading_time,
            pace: Pace::AfterCall,
            begins_with_pause: self.start_with_reading,
            segments: mixed_segments(self.segments, self.large_share, self.large_segment, self.small_segment),
            whole_segments: self.whole_segments.then_some(segment_payload.0.into()),
            request: self.request.map(|size| size.0),
            connections: self.connections,
            persistent: self.persistent,
        }
    }
}

impl FtpSessions {
    fn config(&self) -> BrowsingConfig {
        let file_size = [self.file_mean, self.file_deviation, self.file_min, self.file_max];
        BrowsingConfig {
            pause: self.reading_time,
            begins_with_pause: self.start_with_reading,
            segments: mixed_segments(self.segments, self.large_share, self.large_segment, self.small_segment),
            ..single_files(lognormal(file_size, self.truncation))
        }
    }
}

impl ParetoWww {
    fn config(&self) -> BrowsingConfig {
        let (mean, max) = (self.file_mean.0 as f64, self.file_max.0 as f64);
        BrowsingConfig {
            pause: self.interarrival,
            pace: self.pace,
            begins_with_pause: true,
            request: self.request.map(|size| size.0),
            ..single_files(Distribution::pareto_with_mean(self.file_shape, mean, max, self.truncation))
        }
    }
}

impl Cbr {
    fn config(&self) -> FramesConfig {
        let Cbr { payload, interval, random_phase, length } = *self;
        FramesConfig { payload: payload.0.into(), interval, random_phase, spurts: None, length }
    }
}

impl OnOff {
    fn config(&self) -> FramesConfig {
        let OnOff { payload, interval, on, off, random_phase, length } = *self;
        FramesConfig {
            payload: payload.0.into(),
            interval,
            random_phase,
            spurts: Some(Spurts { spurt: on, silence: off }),
            length,
        }
    }
}

/// A lognormal distribution from its mean, standard deviation, minimum and maximum.
fn lognormal(parameters: [Bytes; 4], truncation: Truncation) -> Distribution {
    let [mean, deviation, min, max] = parameters.map(|size| size.0 as f64);
    Distribution::lognormal(mean, deviation, min, max, truncation)
}

/// Files of `size`, each pushed as one packet call over its own connection, without pauses: the
/// base of the models of single files, which set the pause. A packet call is what a user transfers
/// between two pauses.
fn single_files(size: Distribution) -> BrowsingConfig {
    BrowsingConfig {
        main: size,
        embedded: None,
        // A page is the file alone, so a call has one object with either value.
        object_per_call: false,
        parsing: Duration::ZERO,
        pause: Duration::ZERO,
        pace: Pace::AfterCall,
        begins_with_pause: false,
        segments: None,
        whole_segments: None,
        request: None,
        connections: 1,
        // Every file has its own connection with either value: a connection ends with its packet
        // call. The value decides only which end closes the connection of a requested file: the
        // receiver, when it has the file. With `false` the sender would close, after its last
        // write.
        persistent: true,
    }
}

/// The two segment sizes from which each packet call (a page, an object or a file) draws one.
/// `None` if the flow's TCP sets the size.
fn mixed_segments(kind: Segments, share: Probability, large: Octets, small: Octets) -> Option<MixedSegments> {
    let (large, small) = (large.0.into(), small.0.into());
    let mixed = MixedSegments { large_share: share.value(), large, small };
    (kind == Segments::Mixed).then_some(mixed)
}
