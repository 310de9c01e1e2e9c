//! Voice and video: frames of one size at a constant interval, either continuously or in spurts
//! with silences between them.

use umts_kernel::random::{Stream, Streams};
use umts_units::{Duration, Time};

use super::laws::exponential;
use super::{Action, stream_name};
use crate::ids::{End, FlowId};

/// Configuration of a source of frames.
#[derive(Debug, Clone, PartialEq)]
pub struct FramesConfig {
    /// Payload of a frame's datagram in bytes.
    pub payload: u32,
    /// Time between frames.
    pub interval: Duration,
    /// Whether the first frame is delayed by a random part of the interval.
    pub random_phase: bool,
    /// `None`: one spurt without end.
    pub spurts: Option<Spurts>,
    /// Length of the flow from its start. `None`: without end.
    pub length: Option<Duration>,
}

/// Mean lengths of spurts and silences, exponentially distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spurts {
    pub spurt: Duration,
    pub silence: Duration,
}

/// A source of frames.
#[derive(Debug)]
pub struct Frames {
    config: FramesConfig,
    sender: End,
    /// Delay of the first frame, as a share of the interval.
    phase: Stream,
    spurt_lengths: Stream,
    silence_lengths: Stream,
    /// Time of the next frame.
    next: Option<Time>,
    /// End of the spurt.
    spurt_ends: Time,
    /// End of the flow.
    flow_ends: Time,
    /// Whether a frame must be sent now.
    is_due: bool,
}

impl Frames {
    pub fn new(config: &FramesConfig, sender: End, flow: FlowId, streams: &Streams) -> Self {
        let stream = |purpose| streams.stream(&stream_name(flow, purpose));
        Frames {
            config: config.clone(),
            sender,
            phase: stream("phase"),
            spurt_lengths: stream("on"),
            silence_lengths: stream("off"),
            next: None,
            spurt_ends: Time::NEVER,
            flow_ends: Time::NEVER,
            is_due: false,
        }
    }

    /// Starts the flow with a spurt.
    pub fn handle_start(&mut self, now: Time) {
        let phase_share = if self.config.random_phase { self.phase.uniform() } else { 0.0 };
        let offset = Duration::from_nanos((self.config.interval.as_nanos() as f64 * phase_share) as u64);
        let first = now + offset;
        self.flow_ends = self.config.length.map_or(Time::NEVER, |length| now + length);
        if let Some(Spurts { spurt, .. }) = self.config.spurts {
            self.spurt_ends = first + exponential(spurt, &mut self.spurt_lengths);
        }
        self.wait_until(first);
    }

    pub fn handle_timeout(&mut self, now: Time) {
        self.is_due = true;
        let mut next = now + self.config.interval;
        if let Some(Spurts { spurt, silence }) = self.config.spurts {
            // A spurt or a silence shorter than the frame interval has no effect.
            while next >= self.spurt_ends {
                next = next.max(self.spurt_ends + exponential(silence, &mut self.silence_lengths));
                self.spurt_ends = next + exponential(spurt, &mut self.spurt_lengths);
            }
        }
        self.wait_until(next);
    }

    pub fn poll_action(&mut self) -> Option<Action> {
        std::mem::take(&mut self.is_due)
            .then_some(Action::Send { end: self.sender, bytes: self.config.payload })
    }

    pub fn poll_timeout(&self) -> Option<Time> {
        self.next
    }

    fn wait_until(&mut self, next: Time) {
        self.next = (next < self.flow_ends).then_some(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times at which a source sends frames, up to `until_s` seconds.
    fn frames(config: &FramesConfig, until_s: u64) -> Vec<Time> {
        let mut source = Frames::new(config, End::Server, FlowId(0), &Streams::new(1, 0));
        source.handle_start(Time::ZERO);
        let mut sent = Vec::new();
        while let Some(at) =
            source.poll_timeout().filter(|at| *at < Time::ZERO + Duration::from_secs(until_s))
        {
            source.handle_timeout(at);
            assert_eq!(source.poll_action(), Some(Action::Send { end: End::Server, bytes: 160 }));
            assert_eq!(source.poll_action(), None);
            sent.push(at);
        }
        sent
    }

    fn config() -> FramesConfig {
        FramesConfig {
            payload: 160,
            interval: Duration::from_millis(20),
            random_phase: false,
            spurts: None,
            length: None,
        }
    }

    #[test]
    fn constant_source_sends_at_its_interval_for_its_length() {
        let length = Some(Duration::from_secs(1));
        let sent = frames(&FramesConfig { length, ..config() }, 10);
        // 1 s / 20 ms.
        assert_eq!(sent.len(), 50);
        assert!(sent.windows(2).all(|pair| pair[1] - pair[0] == Duration::from_millis(20)));
        assert_eq!(sent[0], Time::ZERO);
    }

    #[test]
    fn random_phase_delays_the_first_frame_by_less_than_the_interval() {
        let offset = frames(&FramesConfig { random_phase: true, ..config() }, 1)[0];
        assert!(offset > Time::ZERO && offset < Time::ZERO + Duration::from_millis(20));
    }

    #[test]
    fn spurts_and_silences_have_the_configured_means() {
        let spurts = Spurts { spurt: Duration::from_secs(1), silence: Duration::from_millis(1350) };
        let sent = frames(&FramesConfig { spurts: Some(spurts), ..config() }, 100_000);
        // A gap above the frame interval of 0.02 s contains a silence.
        let gaps = sent.windows(2).map(|pair| (pair[1] - pair[0]).as_secs()).filter(|gap| *gap > 0.0201);
        let silences: Vec<f64> = gaps.collect();
        let count = silences.len() as f64;
        // Each observed gap includes the rest of the last frame's interval, 10 ms on average. There
        // are about 42,600 gaps, so the standard error of either mean is 0.5 %. The tolerance is 4
        // standard errors (the mean over the square root of the count), and the effect of an
        // interval.
        let mean_silence = silences.iter().sum::<f64>() / count;
        assert!((mean_silence - 1.36).abs() < 4.0 * 1.35 / count.sqrt() + 0.01, "{mean_silence}");
        let mean_spurt = sent.len() as f64 * 0.02 / count;
        assert!((mean_spurt - 1.0).abs() < 4.0 / count.sqrt() + 0.02, "{mean_spurt}");
    }
}
