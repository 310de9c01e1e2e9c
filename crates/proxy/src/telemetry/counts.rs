//! What is counted: of connections that are over, and of those that go on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::relay::Joined;
use crate::relay::ended::Ended;
use crate::relay::tcp_info::Leg;

/// Of one way of connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WayTotal {
    /// Octets that the sinks' kernels took.
    pub octets: u64,
    /// Octets that are with the proxy now.
    pub held: u64,
    /// Times that a sink took nothing though there was something.
    pub stalls: u64,
    /// How long, in nanoseconds.
    pub stalled_ns: u64,
}

/// Of all connections.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Connections that were accepted.
    pub accepted: u64,
    /// Connections that were refused because there was no room.
    pub refused: u64,
    /// How those that are over ended.
    pub ended: BTreeMap<Ended, u64>,
    /// From clients to servers, and back.
    pub ways: [WayTotal; 2],
    /// Segments sent again to clients, and to servers.
    pub retransmissions: [u64; 2],
    /// Of connections that go on: the legs to clients, and to servers.
    pub legs: [Vec<Leg>; 2],
}

/// Connections that go on, and the sums of those that are over.
#[derive(Debug, Default)]
pub struct Counts {
    accepted: AtomicU64,
    refused: AtomicU64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    live: BTreeMap<u64, Weak<Joined>>,
    over: Totals,
}

impl Counts {
    /// One more was accepted: its number.
    pub fn accepted(&self) -> u64 {
        self.accepted.fetch_add(1, Ordering::Relaxed)
    }

    /// There was no room for one.
    pub fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Both connections of a transfer are there.
    pub fn joined(&self, number: u64, joined: &Arc<Joined>) {
        self.kept().live.insert(number, Arc::downgrade(joined));
    }

    /// A transfer is over, and `legs` are what the kernel said last.
    pub fn over(&self, number: u64, ended: Ended, joined: Option<&Joined>, legs: [Option<Leg>; 2]) {
        let mut kept = self.kept();
        kept.live.remove(&number);
        *kept.over.ended.entry(ended).or_default() += 1;
        if let Some(joined) = joined {
            kept.over.add(joined, legs);
            // What the proxy still held is gone.
            kept.over.ways.iter_mut().for_each(|way| way.held = 0);
        }
    }

    /// The sums, those of connections that go on included.
    pub fn totals(&self) -> Totals {
        let (mut totals, live) = {
            let kept = self.kept();
            (kept.over.clone(), kept.live.values().filter_map(Weak::upgrade).collect::<Vec<_>>())
        };
        for joined in live {
            let legs = [&joined.client, &joined.server].map(Leg::of);
            totals.add(&joined, legs);
            for (all, leg) in totals.legs.iter_mut().zip(legs) {
                all.extend(leg);
            }
        }
        totals.accepted = self.accepted.load(Ordering::Relaxed);
        totals.refused = self.refused.load(Ordering::Relaxed);
        totals
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Totals {
    fn add(&mut self, joined: &Joined, legs: [Option<Leg>; 2]) {
        for (total, passed) in self.ways.iter_mut().zip(&joined.passed) {
            total.octets += passed.octets.load(Ordering::Relaxed);
            total.held += passed.held.load(Ordering::Relaxed);
            total.stalls += passed.stalls.load(Ordering::Relaxed);
            total.stalled_ns += passed.stalled_ns.load(Ordering::Relaxed);
        }
        for (total, leg) in self.retransmissions.iter_mut().zip(legs) {
            *total += leg.map_or(0, |leg| u64::from(leg.retransmissions));
        }
    }
}
