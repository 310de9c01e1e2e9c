//! Signs that a recovery was needless, and whether its sender took it back: what is lost after that begins another one.
//!
//! - **Eifel** (RFC 3522, RFC 4015): the acknowledgment of what was repeated echoes a timestamp from before that.
//! - **F-RTO** (RFC 5682): after an expiry, what was not repeated is acknowledged.
//! - **DSACK** (RFC 3708): the receiver reports every repetition as having come twice.
//!
//! The first two are signs alone, for not every sender heeds them. One that does sends new data, or lets acknowledgments
//! pass; one that does not goes on to repeat. Of a sender that goes by RACK both are believed at once: whoever has the one
//! has the others.

use crate::recovery::Heard;

/// Acknowledgments that a sender lets pass when it has taken a recovery back.
const PASSED: u32 = 2;

/// What is known of one recovery.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Undo {
    /// Acknowledgments since a sign that the sender has not answered by repeating something.
    passed: Option<u32>,
    is_done: bool,
    /// Segments sent again, and how many of them the receiver reports; and those sent again since it began anew.
    segments: u32,
    reported: u32,
    anew: u32,
    /// Timestamp of the first repetition, and what was the oldest number outstanding then.
    timestamp: Option<u32>,
    marker: u64,
}

impl Undo {
    /// Whether the sender took the recovery back.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// What is known when another recovery begins before this one is over: repetitions of both may be on their way.
    pub fn begun_anew(self) -> Self {
        Undo { passed: None, is_done: false, anew: 0, ..self }
    }

    /// A segment left again.
    pub fn sent_again(&mut self, una: u64, timestamp: Option<u32>) {
        if self.segments == 0 {
            (self.timestamp, self.marker) = (timestamp, una);
        }
        self.segments = self.segments.saturating_add(1);
        self.anew = self.anew.saturating_add(1);
        self.passed = None;
    }

    /// New data left.
    pub fn sent_new(&mut self) {
        self.is_done |= self.passed.is_some();
    }

    /// An acknowledgment came. `is_telling`: it acknowledges new data, and its echo is of what was repeated if that was
    /// needed. `is_of_original`: it acknowledges, after an expiry, what was outstanding and not repeated. `has_rack`: the
    /// sender is known to go by RACK.
    pub fn hears(&mut self, heard: &Heard, is_telling: bool, is_of_original: bool, has_rack: bool) {
        let is_reported = heard.twice.is_some_and(|end| end > self.marker);
        self.reported = self.reported.saturating_add(u32::from(is_reported));
        self.is_done |= self.segments > 0 && self.reported >= self.segments;
        if let Some(passed) = &mut self.passed {
            *passed += 1;
            self.is_done |= *passed >= PASSED;
        }
        let is_of_earlier_copy =
            heard.echo.zip(self.timestamp).is_some_and(|(echo, sent)| (echo.wrapping_sub(sent) as i32) < 0);
        // F-RTO goes by what comes while nothing but the oldest segment has been repeated.
        if (is_telling && is_of_earlier_copy) || (is_of_original && self.anew == 1) {
            self.passed.get_or_insert(0);
            self.is_done |= has_rack;
        }
    }
}
