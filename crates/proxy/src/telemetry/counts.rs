//! Counters of ended and open connections.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::relay::ConnectionPair;
use crate::relay::ended::Ended;
use crate::relay::tcp_info::Leg;

/// Totals of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectionTotal {
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
    pub directions: [DirectionTotal; 2],
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
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: BTreeMap<u64, Weak<ConnectionPair>>,
    /// Totals of the ended connections.
    ended: Totals,
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
    pub fn joined(&self, number: u64, pair: &Arc<ConnectionPair>) {
        self.state().open.insert(number, Arc::downgrade(pair));
    }

    /// Counts an ended connection. `legs` are the last values of `TCP_INFO`, if they were read.
    pub fn ended(&self, number: u64, ended: Ended, pair: Option<&ConnectionPair>, legs: [Option<Leg>; 2]) {
        let mut state = self.state();
        state.open.remove(&number);
        *state.ended.ended.entry(ended).or_default() += 1;
        if let Some(pair) = pair {
            state.ended.add(pair, legs);
            // The bytes that the proxy still held are lost.
            for direction in &mut state.ended.directions {
                direction.held = 0;
            }
        }
    }

    /// Returns the totals, including open connections.
    pub fn totals(&self) -> Totals {
        let (mut totals, open) = {
            let state = self.state();
            (state.ended.clone(), state.open.values().filter_map(Weak::upgrade).collect::<Vec<_>>())
        };
        for pair in open {
            let legs = [&pair.client, &pair.server].map(Leg::of);
            totals.add(&pair, legs);
            for (all, leg) in totals.legs.iter_mut().zip(legs) {
                all.extend(leg);
            }
        }
        totals.accepted = self.accepted.load(Ordering::Relaxed);
        totals.refused = self.refused.load(Ordering::Relaxed);
        totals
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Totals {
    /// Adds the counters of a connection.
    fn add(&mut self, pair: &ConnectionPair, legs: [Option<Leg>; 2]) {
        for (total, progress) in self.directions.iter_mut().zip(&pair.progress) {
            total.octets += progress.octets.load(Ordering::Relaxed);
            total.held += progress.held.load(Ordering::Relaxed);
            total.stalls += progress.stalls.load(Ordering::Relaxed);
            total.stalled_ns += progress.stalled_ns.load(Ordering::Relaxed);
        }
        for (total, leg) in self.retransmissions.iter_mut().zip(legs) {
            *total += leg.map_or(0, |leg| u64::from(leg.retransmissions));
        }
    }
}
