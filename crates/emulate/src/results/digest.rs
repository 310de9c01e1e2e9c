//! A fingerprint of everything that happened, to hold a replay against its emulation.

use std::fmt::Write;

use umts_kernel::TraceSink;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// The hash takes so many octets at once: it is several times faster than line by line.
const AT_ONCE: usize = 32 * 1024;

/// Hash over all events with their times.
#[derive(Debug, Default)]
pub struct Digest {
    hasher: blake3::Hasher,
    lines: String,
}

impl Digest {
    /// The hash so far, in hexadecimal digits.
    pub fn finish(&mut self) -> String {
        self.take_lines();
        self.hasher.finalize().to_hex().to_string()
    }

    fn take_lines(&mut self) {
        self.hasher.update(self.lines.as_bytes());
        self.lines.clear();
    }
}

impl TraceSink<TraceEvent> for Digest {
    fn record(&mut self, at: Time, event: &TraceEvent) {
        writeln!(self.lines, "{} {event:?}", at.as_nanos()).expect("text takes everything");
        if self.lines.len() >= AT_ONCE {
            self.take_lines();
        }
    }
}
