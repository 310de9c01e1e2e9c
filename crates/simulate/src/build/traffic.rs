//! Traffic models.

use umts_scenario::model as scenario;
use umts_stack::traffic::laws::{Count, Law};
use umts_stack::traffic::{
    BrowsingConfig, EtsiWwwConfig, FramesConfig, MixedSegments, Pace, ReplayConfig, TrafficConfig,
};
use umts_units::{Bytes, Octets, Probability};

/// The traffic of a flow whose TCP has full segments of `segment_payload`.
pub(super) fn traffic(traffic: &scenario::Traffic, segment_payload: u32) -> TrafficConfig {
    match traffic {
        scenario::Traffic::Ftp => TrafficConfig::Ftp { bytes: u64::MAX },
        scenario::Traffic::File { size } => TrafficConfig::Ftp { bytes: size.0 },
        scenario::Traffic::Web(config) => TrafficConfig::Browsing(web(config, segment_payload)),
        scenario::Traffic::FtpSessions(sessions) => TrafficConfig::Browsing(ftp_sessions(sessions)),
        scenario::Traffic::ParetoWww(www) => TrafficConfig::Browsing(pareto_www(www)),
        scenario::Traffic::EtsiWww(www) => TrafficConfig::EtsiWww(EtsiWwwConfig {
            calls: www.calls,
            reading: www.reading_time,
            datagrams: www.datagrams,
            interval: www.interval,
            between_sessions: www.between_sessions,
            truncation: www.truncation,
            packet: www.packet.0.into(),
        }),
        scenario::Traffic::Cbr(cbr) => TrafficConfig::Frames(FramesConfig {
            payload: cbr.payload.0.into(),
            interval: cbr.interval,
            random_phase: cbr.random_phase,
            spurts: None,
            length: cbr.length,
        }),
        scenario::Traffic::OnOff(on_off) => TrafficConfig::Frames(FramesConfig {
            payload: on_off.payload.0.into(),
            interval: on_off.interval,
            random_phase: on_off.random_phase,
            spurts: Some((on_off.on, on_off.off)),
            length: on_off.length,
        }),
        scenario::Traffic::Replay(replay) => TrafficConfig::Replay(ReplayConfig {
            records: replay.records.clone(),
            over_tcp: replay.transport == scenario::Transport::Tcp,
            repeat_after: replay.repeat_after,
        }),
    }
}

fn web(web: &scenario::Web, segment_payload: u32) -> BrowsingConfig {
    let (least, most) = (f64::from(web.embedded_least), f64::from(web.embedded_most));
    let count = Count {
        law: Law::pareto(web.embedded_shape, least, most, web.embedded_truncation),
        least,
        nearest: web.embedded_rounding == scenario::Rounding::Nearest,
    };
    let lognormal = |mean: Bytes, deviation: Bytes, min: Bytes, max: Bytes| {
        let [mean, deviation, min, max] = [mean, deviation, min, max].map(|size| size.0 as f64);
        Law::lognormal(mean, deviation, min, max, web.truncation)
    };
    let embedded = lognormal(web.embedded_mean, web.embedded_deviation, web.embedded_min, web.embedded_max);
    BrowsingConfig {
        main: lognormal(web.main_mean, web.main_deviation, web.main_min, web.main_max),
        embedded: Some((count, embedded)),
        object_per_call: web.variant == scenario::WebVariant::ObjectPerCall,
        parsing: web.parsing_time,
        pause: web.reading_time,
        pace: Pace::AfterCall,
        begins_with_pause: web.start_with_reading,
        segments: segments(web.segments, web.large_share, web.large_segment, web.small_segment),
        whole_segments: web.whole_segments.then_some(segment_payload),
        request: web.request.map(|size| size.0),
        connections: web.connections,
        persistent: web.persistent,
    }
}

fn ftp_sessions(sessions: &scenario::FtpSessions) -> BrowsingConfig {
    let scenario::FtpSessions { file_mean, file_deviation, file_min, file_max, .. } = *sessions;
    let [mean, deviation, min, max] =
        [file_mean, file_deviation, file_min, file_max].map(|size| size.0 as f64);
    let (large, small) = (sessions.large_segment, sessions.small_segment);
    BrowsingConfig {
        pause: sessions.reading_time,
        begins_with_pause: sessions.start_with_reading,
        segments: segments(sessions.segments, sessions.large_share, large, small),
        ..one_object(Law::lognormal(mean, deviation, min, max, sessions.truncation))
    }
}

fn pareto_www(www: &scenario::ParetoWww) -> BrowsingConfig {
    let (mean, max) = (www.file_mean.0 as f64, www.file_max.0 as f64);
    let law = Law::pareto_with_mean(www.file_shape, mean, max, www.truncation);
    BrowsingConfig {
        pause: www.interarrival,
        pace: www.pace,
        begins_with_pause: www.start_with_pause,
        request: www.request.map(|size| size.0),
        ..one_object(law)
    }
}

/// Objects of `size` that refer to nothing, pushed over a connection each.
fn one_object(size: Law) -> BrowsingConfig {
    BrowsingConfig {
        main: size,
        embedded: None,
        object_per_call: false,
        parsing: umts_units::Duration::ZERO,
        pause: umts_units::Duration::ZERO,
        pace: Pace::AfterCall,
        begins_with_pause: false,
        segments: None,
        whole_segments: None,
        request: None,
        connections: 1,
        persistent: true,
    }
}

fn segments(
    segments: scenario::Segments,
    share: Probability,
    large: Octets,
    small: Octets,
) -> Option<MixedSegments> {
    let is_mixed = segments == scenario::Segments::Mixed;
    let (large, small) = (large.0.into(), small.0.into());
    is_mixed.then_some(MixedSegments { large_share: share.value(), large, small })
}
