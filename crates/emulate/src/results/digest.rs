//! A fingerprint of everything that happened, to hold a replay against its emulation.

use std::fmt::Write;

use umts_kernel::TraceSink;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// Hash over all events with their times.
#[derive(Debug, Default)]
pub struct Digest {
    hasher: blake3::Hasher,
    line: String,
}

impl Digest {
    /// The hash so far, in hexadecimal digits.
    pub fn finish(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
}

impl TraceSink<TraceEvent> for Digest {
    fn record(&mut self, at: Time, event: &TraceEvent) {
        self.line.clear();
        writeln!(self.line, "{} {event:?}", at.as_nanos()).expect("text takes everything");
        self.hasher.update(self.line.as_bytes());
    }
}
