//! Random draws of a user that fetches pages (`browsing.rs`): sizes, counts, times and segment
//! sizes. Each has its own stream, so that an additional draw of one does not shift the others.

use std::collections::VecDeque;

use umts_kernel::random::{Stream, Streams};
use umts_units::Duration;

use super::BrowsingConfig;
use crate::ids::FlowId;
use crate::traffic::laws::exponential;
use crate::traffic::stream_name;

/// The random streams of a user.
#[derive(Debug)]
pub struct Draws {
    /// Sizes of pages and files.
    main: Stream,
    /// Numbers of embedded objects.
    count: Stream,
    /// Sizes of embedded objects.
    embedded: Stream,
    parsing: Stream,
    pause: Stream,
    segments: Stream,
}

impl Draws {
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

    /// Appends the objects of a page to `objects`, the page itself first. All draws of the page are
    /// made at once, so that later events do not shift them.
    pub fn page(&mut self, config: &BrowsingConfig, objects: &mut VecDeque<u64>) {
        objects.push_back(config.main.draw_octets(&mut self.main));
        if let Some(embedded) = &config.embedded {
            for _ in 0..embedded.count.draw(&mut self.count) {
                objects.push_back(embedded.size.draw_octets(&mut self.embedded));
            }
        }
    }

    /// Payload of a call's full segments. `None`: the value of the flow's TCP.
    pub fn segment_payload(&mut self, config: &BrowsingConfig) -> Option<u32> {
        config
            .segments
            .map(|mixed| if self.segments.uniform() < mixed.large_share { mixed.large } else { mixed.small })
    }

    pub fn parsing(&mut self, config: &BrowsingConfig) -> Duration {
        exponential(config.parsing, &mut self.parsing)
    }

    pub fn pause(&mut self, config: &BrowsingConfig) -> Duration {
        exponential(config.pause, &mut self.pause)
    }
}
