//! Counters of ended and open connections.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::relay::Joined;
use crate::relay::ended::Ended;
use crate::relay::tcp_info::Leg;

/// Totals of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WayTotal {
    /// Bytes that the receiving sockets accepted.
    pub octets: u64,
    /// Bytes that the proxy holds between its sockets now.
    pub held: u64,
    /// Number of stalls: the send buffer towards the receiver was full.
    pub stalls: u64,
    /// Duration of all stalls, in nanoseconds.
    pub stalled_ns: u64,
}

/// Totals of all connections.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Number of accepted connections.
    pub accepted: u64,
    /// Number of connections that were refused because the limit of connections was reached.
    pub refused: u64,
    /// Number of ended connections by outcome.
    pub ended: BTreeMap<Ended, u64>,
    /// Totals of the direction from clients to servers, and of the reverse direction.
    pub ways: [WayTotal; 2],
    /// Segments that the kernel retransmitted to clients, and to servers.
    pub retransmissions: [u64; 2],
    /// TCP state of open connections: those to clients, and those to servers.
    pub legs: [Vec<Leg>; 2],
}

/// Counters that all workers update.
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
    /// Counts an accepted connection. Returns its number.
    pub fn accepted(&self) -> u64 {
        self.accepted.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a connection that was refused because the limit was reached.
    pub fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds an established connection to the open ones.
    pub fn joined(&self, number: u64, joined: &Arc<Joined>) {
        self.kept().live.insert(number, Arc::downgrade(joined));
    }

    /// Counts an ended connection. `legs` are the last values of `TCP_INFO`, if they were read.
    pub fn over(&self, number: u64, ended: Ended, joined: Option<&Joined>, legs: [Option<Leg>; 2]) {
        let mut kept = self.kept();
        kept.live.remove(&number);
        *kept.over.ended.entry(ended).or_default() += 1;
        if let Some(joined) = joined {
            kept.over.add(joined, legs);
            // The bytes that the proxy still held are lost.
            kept.over.ways.iter_mut().for_each(|way| way.held = 0);
        }
    }

    /// Returns the totals, including open connections.
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
