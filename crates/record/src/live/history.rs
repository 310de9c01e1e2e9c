//! Rates, buffers and windows of users over the last minutes, in bins of equal length.

use std::collections::VecDeque;

use umts_stack::ids::{Direction, UeId};
use umts_units::{Duration, Time};

use super::LiveUe;

/// Length of a bin.
const BIN: Duration = Duration::from_millis(100);

/// Interval over which a current rate is measured.
pub const RATE_WINDOW: Duration = Duration::from_secs(1);

/// Number of bins in `RATE_WINDOW`.
const BINS_OF_RATE: usize = (RATE_WINDOW.as_nanos() / BIN.as_nanos()) as usize;

/// Number of users with a long history. With more users, all have short ones.
const FEW_USERS: usize = 64;

/// Number of bins of a long history: 10 minutes.
const LONG: usize = 6_000;

/// Number of bins of a short history: 1 minute.
const SHORT: usize = 600;

/// A part of a user's history. Arrays are indexed by direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// End of the part.
    pub end: Time,
    /// Mean bit rates of delivered SDUs in bit/s.
    pub rates: [f64; 2],
    /// SDU octets in the RLC buffers at the end.
    pub buffers: [u64; 2],
    /// Congestion window in segments at the end.
    pub cwnd: Option<f64>,
}

/// One finished bin of a user.
#[derive(Debug, Clone, Copy)]
struct Bin {
    octets: [u32; 2],
    buffers: [u32; 2],
    /// Negative without a connection.
    cwnd: f32,
}

/// The histories of all users.
#[derive(Debug)]
pub(super) struct Histories {
    bins: Vec<VecDeque<Bin>>,
    /// Octets that were delivered in the open bin.
    open: Vec<[u64; 2]>,
    /// Number of finished bins since the start.
    finished: u64,
    capacity: usize,
}

impl Histories {
    pub fn new(users: usize) -> Self {
        Histories {
            bins: vec![VecDeque::new(); users],
            open: vec![[0; 2]; users],
            finished: 0,
            capacity: if users <= FEW_USERS { LONG } else { SHORT },
        }
    }

    /// Counts octets that were delivered in the open bin.
    pub fn deliver(&mut self, ue: UeId, direction: Direction, octets: u64) {
        self.open[ue.index()][direction.index()] += octets;
    }

    /// Finishes the bins that end at `now` or before. Users have had their current values since the
    /// last event.
    #[inline]
    pub fn advance(&mut self, now: Time, users: &[LiveUe]) {
        while now >= end_of(self.finished) {
            self.finish_bin(users);
        }
    }

    #[inline(never)]
    fn finish_bin(&mut self, users: &[LiveUe]) {
        let saturated = |octets: u64| u32::try_from(octets).unwrap_or(u32::MAX);
        for ((bins, open), user) in self.bins.iter_mut().zip(&mut self.open).zip(users) {
            if bins.len() == self.capacity {
                bins.pop_front();
            }
            bins.push_back(Bin {
                octets: std::mem::take(open).map(saturated),
                buffers: user.buffers.map(saturated),
                cwnd: user.cwnd.map_or(-1.0, |cwnd| cwnd as f32),
            });
        }
        self.finished += 1;
    }

    /// Bit rates over the last `RATE_WINDOW`, or since the start.
    pub fn rates(&self, ue: UeId) -> [f64; 2] {
        let bins = &self.bins[ue.index()];
        let last = bins.len().saturating_sub(BINS_OF_RATE);
        mean_rates(bins.range(last..))
    }

    /// Up to `count` points of `bins_of_point` bins each, oldest first. Points begin at multiples of
    /// their length, so they keep their values while time passes. The last one may still grow.
    pub fn points(&self, ue: UeId, bins_of_point: usize, count: usize) -> Vec<Point> {
        let bins = &self.bins[ue.index()];
        let length = bins_of_point as u64;
        let oldest = self.finished - bins.len() as u64;
        let last = self.finished.div_ceil(length);
        let first = last.saturating_sub(count as u64).max(oldest.div_ceil(length));
        let points = (first..last).map(|number| {
            let (from, to) = (number * length, ((number + 1) * length).min(self.finished));
            let part = bins.range((from - oldest) as usize..(to - oldest) as usize);
            let end = part.clone().next_back().expect("a point has a bin");
            Point {
                end: end_of(to - 1),
                rates: mean_rates(part),
                buffers: end.buffers.map(u64::from),
                cwnd: (end.cwnd >= 0.0).then_some(f64::from(end.cwnd)),
            }
        });
        points.collect()
    }
}

/// End of bin number `bin`.
fn end_of(bin: u64) -> Time {
    Time::ZERO + BIN * (bin + 1)
}

fn mean_rates<'a>(bins: impl ExactSizeIterator<Item = &'a Bin>) -> [f64; 2] {
    let seconds = bins.len() as f64 * BIN.as_secs();
    if seconds == 0.0 {
        return [0.0; 2];
    }
    let mut octets = [0_u64; 2];
    for bin in bins {
        octets[0] += u64::from(bin.octets[0]);
        octets[1] += u64::from(bin.octets[1]);
    }
    octets.map(|octets| 8.0 * octets as f64 / seconds)
}
