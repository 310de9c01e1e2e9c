//! Log of a connection's waits by interval, for the time budget. If a retransmission timer ends the
//! wait for a lost packet, the cause of this wait changes to [`Cause::RtoNeeded`]; no other
//! interval changes. Intervals that cannot change any more are *settled*: they are added to the
//! sums, and can be taken for a table during the run.

use std::collections::VecDeque;

use umts_units::Time;

use super::cause::{Cause, Parts};
use super::loss::Loss;
use crate::metrics::Window;

/// An interval of a connection's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Start of the interval.
    pub start: Time,
    /// End of the interval.
    pub end: Time,
    /// Cause of the wait.
    pub cause: Cause,
    /// Number of the first lost PDU that RLC repaired in this interval.
    pub sn: Option<u16>,
    /// Loss of the packet, if the connection waited for TCP to retransmit it.
    pub loss: Option<Loss>,
}

/// Cause of a wait at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WaitCause {
    pub cause: Cause,
    pub sn: Option<u16>,
    pub loss: Option<Loss>,
}

impl From<Cause> for WaitCause {
    fn from(cause: Cause) -> Self {
        WaitCause { cause, sn: None, loss: None }
    }
}

impl Interval {
    /// Whether an interval with this cause can extend this one.
    fn continues(&self, cause: Cause, loss: Option<Loss>) -> bool {
        (self.cause, self.loss) == (cause, loss)
    }
}

/// The result of a [`Log`].
pub(super) struct FinishedLog {
    /// Time of the intervals by cause.
    pub parts: Parts,
    /// As `parts`, inside the window of the metrics only.
    pub in_window: Parts,
    /// Intervals that were not taken for a table during the run. Empty if intervals are not kept.
    pub intervals: Vec<Interval>,
}

/// The intervals of one connection. Each begins where the previous one ends.
#[derive(Debug)]
pub(super) struct Log {
    /// Intervals that may get another cause.
    recent: VecDeque<Interval>,
    /// Earlier intervals, if they are kept. Their causes are final.
    settled: Option<Vec<Interval>>,
    /// Time of the settled intervals by cause.
    parts: Parts,
    /// As `parts`, inside the window of the metrics only.
    in_window: Parts,
    window: Window,
}

impl Log {
    pub fn new(window: Window, keeps_intervals: bool) -> Self {
        Log {
            recent: VecDeque::new(),
            settled: keeps_intervals.then(Vec::new),
            parts: Parts::default(),
            in_window: Parts::default(),
            window,
        }
    }

    /// Logs the wait from `start`, which must be the end of the last interval, to `end`.
    #[inline]
    pub fn push(&mut self, start: Time, end: Time, wait: WaitCause) {
        let WaitCause { cause, sn, loss } = wait;
        match self.recent.back_mut() {
            Some(last) if last.continues(cause, loss) => {
                last.end = end;
                last.sn = last.sn.or(sn);
            }
            _ => self.recent.push_back(Interval { start, end, cause, sn, loss }),
        }
    }

    /// The recent intervals that overlap `from..to`, clipped to it.
    pub fn between(&self, from: Time, to: Time) -> impl Iterator<Item = Interval> {
        self.recent.iter().filter_map(move |interval| {
            let (start, end) = (interval.start.max(from), interval.end.min(to));
            (start < end).then_some(Interval { start, end, ..*interval })
        })
    }

    /// A retransmission timer ended the wait for a lost packet that began at `from`. Sets the cause
    /// since then to [`Cause::RtoNeeded`].
    pub fn relabel_timer_wait(&mut self, from: Time) {
        let mut changed: VecDeque<Interval> = VecDeque::with_capacity(self.recent.len() + 1);
        let mut append = |next: Interval| {
            if next.start < next.end {
                match changed.back_mut() {
                    Some(last) if last.continues(next.cause, next.loss) => last.end = next.end,
                    _ => changed.push_back(next),
                }
            }
        };
        for interval in self.recent.drain(..) {
            // The part before `from` keeps its cause. An empty part is not appended.
            append(Interval { end: interval.end.min(from), ..interval });
            let start = interval.start.max(from);
            append(Interval { start, cause: Cause::RtoNeeded, sn: None, ..interval });
        }
        self.recent = changed;
    }

    /// Removes a recent interval with this cause from the end of the log. Returns the new end of
    /// the log.
    pub fn trim(&mut self, cause: Cause) -> Option<Time> {
        let last = self.recent.pop_back_if(|last| last.cause == cause)?;
        Some(last.start)
    }

    /// Settles the intervals that end up to `until`.
    #[inline]
    pub fn settle(&mut self, until: Time) {
        while self.recent.front().is_some_and(|first| first.end <= until) {
            let Some(first) = self.recent.pop_front() else { return };
            self.add(first);
        }
    }

    /// Adds a settled interval to the sums, and to the settled intervals if they are kept.
    fn add(&mut self, interval: Interval) {
        let Interval { start, end, cause, loss, .. } = interval;
        self.parts.add(cause, loss, end - start);
        self.in_window.add(cause, loss, self.window.overlap(start, end));
        if let Some(settled) = &mut self.settled {
            match settled.last_mut() {
                Some(last) if last.continues(cause, loss) => last.end = end,
                _ => settled.push(interval),
            }
        }
    }

    /// Takes the settled intervals if there are more than `min_count`, except the last one, which
    /// may grow.
    pub fn take_settled(&mut self, min_count: usize) -> Vec<Interval> {
        match &mut self.settled {
            Some(settled) if settled.len() > min_count.max(1) => {
                let last = settled.split_off(settled.len() - 1);
                std::mem::replace(settled, last)
            }
            _ => Vec::new(),
        }
    }

    /// Ends the log.
    pub fn finish(mut self) -> FinishedLog {
        self.settle(Time::NEVER);
        let intervals = self.settled.unwrap_or_default();
        FinishedLog { parts: self.parts, in_window: self.in_window, intervals }
    }
}
