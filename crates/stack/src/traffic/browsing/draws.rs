//! What chance decides of a user: sizes, numbers, times, the packets of a call. A stream for each, so that one more draw of
//! the one does not move the others.

use std::collections::VecDeque;

use umts_kernel::random::{Stream, Streams};
use umts_units::Duration;

use super::BrowsingConfig;
use crate::ids::FlowId;
use crate::traffic::laws::exponential;
use crate::traffic::stream_name;

/// The draws of one user.
#[derive(Debug)]
pub struct Draws {
    main: Stream,
    count: Stream,
    embedded: Stream,
    parsing: Stream,
    pause: Stream,
    segments: Stream,
}

impl Draws {
    /// Those of the user of `flow`.
    pub fn new(flow: FlowId, streams: &Streams) -> Self {
        let stream = |purpose| streams.stream(&stream_name(flow, purpose));
        Draws {
            main: stream("main"),
            count: stream("count"),
            embedded: stream("embedded"),
            parsing: stream("parsing"),
            pause: stream("pause"),
            segments: stream("segments"),
        }
    }

    /// Appends the objects of a page to `objects`, the page itself first. All of its draws are made now: what happens to
    /// its calls does not shift them.
    pub fn page(&mut self, config: &BrowsingConfig, objects: &mut VecDeque<u64>) {
        objects.push_back(config.main.draw_octets(&mut self.main));
        if let Some((count, size)) = &config.embedded {
            for _ in 0..count.draw(&mut self.count) {
                objects.push_back(size.draw_octets(&mut self.embedded));
            }
        }
    }

    /// Payload of the full segments of a call, if it is not that of the flow's TCP.
    pub fn segment_payload(&mut self, config: &BrowsingConfig) -> Option<u32> {
        config
            .segments
            .map(|mixed| if self.segments.uniform() < mixed.large_share { mixed.large } else { mixed.small })
    }

    /// A parsing time.
    pub fn parsing(&mut self, config: &BrowsingConfig) -> Duration {
        exponential(config.parsing, &mut self.parsing)
    }

    /// A pause.
    pub fn pause(&mut self, config: &BrowsingConfig) -> Duration {
        exponential(config.pause, &mut self.pause)
    }
}
