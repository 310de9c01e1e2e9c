//! RACK: which segments a sender takes for lost because others arrived that left later (RFC 8985 §6).
//!
//! The state is the sender's, kept here from the acknowledgments that it gets: of all segments that arrived, the one that
//! left last, and how long it was under way. What left before it, and as long ago, is lost; a reordering window is added
//! for what was overtaken. Whether a sender goes by that at all is seen when it repeats something (`recovery.rs`).

use umts_units::{Duration, Time};

use crate::probe::LONGEST;

/// RFC 8985 §6.2, step 4: recoveries for which a wider reordering window is kept.
const PERSISTENCE: u32 = 16;

/// A segment that was acknowledged, cumulatively or selectively.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivered {
    pub left: Time,
    pub end: u64,
    pub was_repeated: bool,
    /// The acknowledgment echoes a timestamp from before the repetition.
    pub was_earlier_copy: bool,
}

/// RACK's state. Names are those of RFC 8985 §5.3 without the prefix.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rack {
    xmit_ts: Time,
    end_seq: u64,
    /// When that became so.
    since: Time,
    rtt: Duration,
    fack: u64,
    reordering_seen: bool,
    /// Added to one.
    reo_wnd_mult: u32,
    reo_wnd_persist: u32,
    dsack_round: Option<u64>,
}

impl Rack {
    /// RFC 8985 §6.2, steps 2 and 3.
    #[inline]
    pub fn delivered(&mut self, now: Time, what: Delivered, min_rtt: Option<Duration>) {
        if what.end > self.fack {
            self.fack = what.end;
        } else if what.end < self.fack && !what.was_repeated {
            self.reordering_seen = true;
        }
        let rtt = now.saturating_since(what.left).min(LONGEST);
        if what.was_repeated && (what.was_earlier_copy || min_rtt.is_some_and(|least| rtt < least)) {
            return;
        }
        self.rtt = rtt;
        if self.is_after(what.left, what.end) {
            (self.xmit_ts, self.end_seq, self.since) = (what.left, what.end, now);
        }
    }

    /// The same of segments that arrived in order and were sent once; this is the last of them.
    #[inline]
    pub fn delivered_in_order(&mut self, now: Time, left: Time, end: u64) {
        self.fack = self.fack.max(end);
        self.rtt = now.saturating_since(left).min(LONGEST);
        if self.is_after(left, end) {
            (self.xmit_ts, self.end_seq, self.since) = (left, end, now);
        }
    }

    /// Whether the segment that left last of those delivered left after this one (RACK_sent_after).
    #[inline]
    pub fn has_passed(&self, left: Time, end: u64) -> bool {
        (self.xmit_ts, self.end_seq) > (left, end)
    }

    fn is_after(&self, left: Time, end: u64) -> bool {
        (left, end) > (self.xmit_ts, self.end_seq)
    }

    /// When the segment left that left last of those delivered.
    pub fn xmit_ts(&self) -> Time {
        self.xmit_ts
    }

    /// Since when it has been that one: nothing was found to be lost later, but by the passing of time.
    pub fn since(&self) -> Time {
        self.since
    }

    /// How long a segment that was passed has to have been under way to be lost, without the reordering window.
    pub fn rtt(&self) -> Duration {
        self.rtt
    }

    /// The reordering window (step 4): none in a recovery and after three duplicates, unless the path reorders.
    pub fn window(&self, is_urgent: bool, min_rtt: Option<Duration>, srtt: Option<Duration>) -> Duration {
        if is_urgent && !self.reordering_seen {
            return Duration::ZERO;
        }
        let quarter = min_rtt.unwrap_or_default().min(LONGEST).as_nanos() / 4;
        let wide = Duration::from_nanos(quarter.saturating_mul(u64::from(self.reo_wnd_mult) + 1));
        wide.min(srtt.unwrap_or(LONGEST))
    }

    /// The receiver reports what came twice; a report in a new round trip widens the window.
    pub fn duplicated(&mut self, una: u64, highest: u64) {
        if self.dsack_round.is_none_or(|round| una >= round) {
            self.dsack_round = Some(highest);
            self.reo_wnd_mult = self.reo_wnd_mult.saturating_add(1);
            self.reo_wnd_persist = PERSISTENCE;
        }
    }

    /// A recovery is over.
    pub fn recovered(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 0;
        }
    }
}
