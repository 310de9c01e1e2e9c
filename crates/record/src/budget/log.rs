//! What a connection waited for, interval by interval. The latest intervals may still be given another cause: a silence
//! is known to have been one before a timeout only when the timer expires.

use std::collections::VecDeque;

use umts_units::Time;

use super::cause::{Cause, Parts};
use crate::metrics::Window;

/// Part of a connection's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// It begins.
    pub start: Time,
    /// It ends.
    pub end: Time,
    /// What the connection waited for.
    pub cause: Cause,
    /// The lost PDU that it waited for first, of [`Cause::RlcRecovery`].
    pub sn: Option<u16>,
}

/// The intervals of one connection; each begins where the one before it ends.
#[derive(Debug)]
pub(super) struct Log {
    /// Those whose cause may change.
    recent: VecDeque<Interval>,
    /// Those before, if they are kept.
    settled: Option<Vec<Interval>>,
    /// Their sums: all, and what lies in the window of the metrics.
    parts: Parts,
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

    /// The connection waited from `start`, where the last interval ended, to `end`.
    #[inline]
    pub fn push(&mut self, start: Time, end: Time, cause: Cause, sn: Option<u16>) {
        match self.recent.back_mut() {
            Some(last) if last.cause == cause => {
                last.end = end;
                last.sn = last.sn.or(sn);
            }
            _ => self.recent.push_back(Interval { start, end, cause, sn }),
        }
    }

    /// The recent intervals that touch `from..to`, cut to it.
    pub fn between(&self, from: Time, to: Time) -> impl Iterator<Item = Interval> {
        self.recent.iter().filter_map(move |interval| {
            let (start, end) = (interval.start.max(from), interval.end.min(to));
            (start < end).then_some(Interval { start, end, ..*interval })
        })
    }

    /// What lies in `from..to`, and is recent, has this cause after all.
    pub fn rewrite(&mut self, from: Time, to: Time, cause: Cause) {
        let mut changed: VecDeque<Interval> = VecDeque::with_capacity(self.recent.len() + 2);
        let mut put = |start: Time, end: Time, cause, sn| {
            if start < end {
                match changed.back_mut() {
                    Some(last) if last.cause == cause => last.end = end,
                    _ => changed.push_back(Interval { start, end, cause, sn }),
                }
            }
        };
        for Interval { start, end, cause: was, sn } in self.recent.drain(..) {
            put(start, end.min(from), was, sn);
            put(start.max(from), end.min(to), cause, None);
            put(start.max(to), end, was, sn);
        }
        self.recent = changed;
    }

    /// Nothing before `until` changes any more.
    #[inline]
    pub fn settle(&mut self, until: Time) {
        while self.recent.front().is_some_and(|first| first.end <= until) {
            let Some(first) = self.recent.pop_front() else { return };
            self.add(first);
        }
    }

    fn add(&mut self, interval: Interval) {
        let Interval { start, end, cause, .. } = interval;
        self.parts.add(cause, end - start);
        self.in_window.add(cause, self.window.overlap(start, end));
        if let Some(settled) = &mut self.settled {
            match settled.last_mut() {
                Some(last) if last.cause == cause => last.end = end,
                _ => settled.push(interval),
            }
        }
    }

    /// Takes the intervals that are kept, if there are more than so many: all but the last, which may grow.
    pub fn take_settled(&mut self, least: usize) -> Vec<Interval> {
        match &mut self.settled {
            Some(settled) if settled.len() > least.max(1) => {
                let last = settled.split_off(settled.len() - 1);
                std::mem::replace(settled, last)
            }
            _ => Vec::new(),
        }
    }

    /// All is over: sums, sums inside the window, intervals.
    pub fn finish(mut self) -> (Parts, Parts, Vec<Interval>) {
        self.settle(Time::NEVER);
        (self.parts, self.in_window, self.settled.unwrap_or_default())
    }
}
