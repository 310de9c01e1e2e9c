//! A digest of all trace events of a run.

use std::fmt::Write;

use blake3::Hasher;
use umts_kernel::TraceSink;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::digest::hex;

/// Number of bytes that are hashed at a time. BLAKE3 is fast for long inputs only.
const CHUNK: usize = 1 << 16;

/// Hashes events. Their `Debug` text names variants and fields but no modules, so that types may
/// move.
#[derive(Debug, Default)]
pub struct TraceDigest {
    events: u64,
    /// Text that is not hashed yet.
    text: String,
    hasher: Hasher,
}

impl TraceDigest {
    /// Hashes the text collected so far.
    fn hash(&mut self) {
        self.hasher.update(self.text.as_bytes());
        self.text.clear();
    }

    /// Returns the number of events and their digest.
    pub fn finish(mut self) -> String {
        self.hash();
        format!("{} events, {}", self.events, hex(&self.hasher))
    }
}

impl TraceSink<TraceEvent> for TraceDigest {
    fn record(&mut self, at: Time, event: &TraceEvent) {
        self.events += 1;
        writeln!(self.text, "{} {event:?}", at.as_nanos()).expect("writing to a string cannot fail");
        if self.text.len() >= CHUNK {
            self.hash();
        }
    }
}

#[cfg(test)]
mod tests {
    use umts_stack::ids::{ConnectionId, End};
    use umts_stack::trace::Real;

    use super::*;

    /// Returns the digest of events with their times in nanoseconds.
    fn digest(events: &[(u64, TraceEvent)]) -> String {
        let mut digest = TraceDigest::default();
        for (at, event) in events {
            digest.record(Time::from_nanos(*at), event);
        }
        digest.finish()
    }

    fn window(cwnd: f64) -> TraceEvent {
        let (cwnd, ssthresh) = (Real(cwnd), Real(10.0));
        TraceEvent::Window { connection: ConnectionId(0), end: End::Server, cwnd, ssthresh }
    }

    #[test]
    fn every_change_of_events_changes_the_digest() {
        let events = [(5, window(1.0)), (7, window(2.0))];
        let others = [
            digest(&[(5, window(1.0)), (7, window(2.0_f64.next_up()))]),
            digest(&[(5, window(1.0)), (8, window(2.0))]),
            digest(&[(5, window(2.0)), (7, window(1.0))]),
            digest(&[(5, window(1.0))]),
        ];
        assert_eq!(digest(&events), digest(&events));
        assert!(others.iter().all(|other| *other != digest(&events)), "{others:?}");
    }

    #[test]
    fn digest_of_chunks_equals_the_digest_of_the_whole_text() {
        let events: Vec<_> = (0..2_000).map(|at| (at, window(at as f64))).collect();
        let mut text = String::new();
        for (at, event) in &events {
            writeln!(text, "{at} {event:?}").expect("writing to a string cannot fail");
        }
        assert!(text.len() > CHUNK);
        let mut hasher = Hasher::new();
        hasher.update(text.as_bytes());
        assert_eq!(digest(&events), format!("2000 events, {}", hex(&hasher)));
    }
}
