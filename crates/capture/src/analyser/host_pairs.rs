//! Pairs of hosts with connections, for the time that a pair has no open connection.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use umts_units::{Duration, Time};

use crate::connection::{Connection, Side};

/// Maximum number of pairs without an open connection that are remembered.
const MAX_IDLE_PAIRS: usize = 1 << 16;

/// Two hosts and the server's port. Successive connections of a program have the same pair, but
/// other client ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct HostPair {
    client: IpAddr,
    server: IpAddr,
    server_port: u16,
}

impl HostPair {
    /// Returns the hosts of a connection and the server's port.
    pub fn of(connection: &Connection) -> Self {
        let server = connection.address(Side::Server);
        HostPair {
            client: connection.address(Side::Client).ip(),
            server: server.ip(),
            server_port: server.port(),
        }
    }
}

/// The pairs that have open connections, and the pairs whose last connection closed most recently.
#[derive(Debug, Default)]
pub(super) struct HostPairs {
    pairs: HashMap<HostPair, PairState>,
    /// The times at which pairs became idle, in order. An entry is outdated if the pair has opened
    /// another connection since.
    idle: VecDeque<IdlePair>,
}

#[derive(Debug, Clone, Copy, Default)]
struct PairState {
    /// Number of open connections of the pair.
    open: u64,
    /// When its last connection closed. `None` while a connection is open.
    idle_since: Option<Time>,
}

#[derive(Debug, Clone, Copy)]
struct IdlePair {
    pair: HostPair,
    since: Time,
}

impl HostPairs {
    /// Counts a new connection of a pair. Returns how long the pair had no open connection before:
    /// 0 if this is its first one.
    pub fn open(&mut self, pair: HostPair, now: Time) -> Duration {
        let state = self.pairs.entry(pair).or_default();
        state.open += 1;
        state.idle_since.take().map_or(Duration::ZERO, |since| now.saturating_since(since))
    }

    /// Counts the end of a connection of a pair.
    pub fn close(&mut self, pair: HostPair, at: Time) {
        let Some(state) = self.pairs.get_mut(&pair) else { return };
        state.open = state.open.saturating_sub(1);
        if state.open == 0 {
            state.idle_since = Some(at);
            self.idle.push_back(IdlePair { pair, since: at });
            self.forget_longest_idle();
        }
    }

    /// Forgets the pair that has been idle longest if there are too many.
    fn forget_longest_idle(&mut self) {
        if self.idle.len() > MAX_IDLE_PAIRS
            && let Some(IdlePair { pair, since }) = self.idle.pop_front()
            && self.pairs.get(&pair).is_some_and(|state| state.idle_since == Some(since))
        {
            self.pairs.remove(&pair);
        }
    }
}
