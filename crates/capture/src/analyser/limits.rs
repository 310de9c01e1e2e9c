//! Limits on connections: which open connections are dropped, and which connections get no row.

use std::collections::VecDeque;

use crate::analyser::host_pairs::HostPair;
use crate::analyser::lifetime::{Check, ConnectionKey, HALF_OPEN};
use crate::analyser::{Analyser, Rest};
use crate::connection::Connection;
use crate::metrics::MetricSet;
use crate::packet::Packet;

/// Maximum number of connections with packets of one end only, separately for those with and
/// without a SYN: a SYN flood or a scan opens millions. The oldest is dropped first.
const MAX_ONE_SIDED: usize = 1 << 17;

/// If too many connections are open, one in `DROPPED_FRACTION` of the limit is dropped at a time,
/// because each pass visits all of them.
const DROPPED_FRACTION: usize = 16;

/// Limits on connections, and the counts of dropped ones.
#[derive(Debug)]
pub(super) struct ConnectionLimits {
    /// Maximum number of rows.
    max_rows: u64,
    /// Maximum number of open connections.
    max_open: usize,
    /// Maximum number of open connections with packets of one end only, with and without a SYN
    /// separately.
    max_one_sided: usize,
    /// Number of a connection that has a row beyond the limit, too.
    requested_row: Option<u64>,
    /// The latest connections that began without a SYN, in the order of their numbers.
    mid_stream: VecDeque<ConnectionKey>,
    /// Dropped connections with packets of one end only.
    pub dropped_one_sided: u64,
    /// Other open connections that were dropped.
    pub dropped_open: u64,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            max_rows: u64::MAX,
            max_open: usize::MAX,
            max_one_sided: MAX_ONE_SIDED,
            requested_row: None,
            mid_stream: VecDeque::new(),
            dropped_one_sided: 0,
            dropped_open: 0,
        }
    }
}

impl ConnectionLimits {
    /// Returns whether a connection has a row of its own.
    pub fn has_row(&self, number: u64) -> bool {
        number < self.max_rows || self.requested_row == Some(number)
    }
}

impl Analyser {
    /// Keeps at most `connections` open connections, and gives the first `connections` a row of
    /// their own. The others are summed.
    pub fn with_limit(mut self, connections: usize) -> Self {
        self.limits.max_rows = connections as u64;
        self.limits.max_open = connections.max(1);
        self.udp.limit(connections);
        self.limits.max_one_sided = (connections / 2).clamp(1, MAX_ONE_SIDED);
        self
    }

    /// Gives this connection a row, whatever the limit.
    pub fn with_row_of(mut self, connection: u64) -> Self {
        self.limits.requested_row = Some(connection);
        self
    }

    /// Creates the connection that begins with the packet, and returns its slot.
    #[cold]
    pub(super) fn begin(&mut self, packet: &Packet) -> usize {
        self.make_room();
        let number = self.next;
        self.next += 1;
        let mut connection = Box::new(Connection::new(number, self.now, packet));
        connection.idle_before = self.host_pairs.open(HostPair::of(&connection), self.now);
        let key = ConnectionKey { ends: packet.ends, number };
        if packet.segment.flags.syn() {
            self.opening.push_back(Check { due: self.now + HALF_OPEN, key });
            if self.opening.len() > self.limits.max_one_sided
                && let Some(oldest) = self.opening.pop_front()
            {
                self.drop_one_sided(oldest.key);
            }
        } else {
            self.limits.mid_stream.push_back(key);
            if self.limits.mid_stream.len() > self.limits.max_one_sided
                && let Some(oldest) = self.limits.mid_stream.pop_front()
            {
                self.drop_one_sided(oldest);
            }
        }
        self.open.insert(connection)
    }

    /// Returns the sum of the connections without rows, if there are any.
    pub(super) fn rest(&mut self) -> Option<Rest> {
        self.rest.window = self.window();
        let (connections, metrics) = (self.rest.connections, MetricSet::of(&self.rest));
        (connections > 0).then_some(Rest { connections, metrics })
    }

    /// Drops a connection if packets of only one end were seen.
    fn drop_one_sided(&mut self, key: ConnectionKey) {
        if self.open_connection(key).is_some_and(Connection::is_one_sided)
            && let Some(dropped) = self.open.remove(&key.ends)
        {
            self.limits.dropped_one_sided += 1;
            self.finish_connection(dropped);
        }
    }

    /// Drops some connections if there are too many: closed ones first, then the ones that were
    /// quiet longest.
    fn make_room(&mut self) {
        if self.open.len() < self.limits.max_open {
            return;
        }
        for ends in self.open.quietest(self.limits.max_open.div_ceil(DROPPED_FRACTION)) {
            let dropped = self.open.remove(&ends).expect("the table returned these ends");
            self.limits.dropped_open += u64::from(dropped.closed.is_none());
            self.finish_connection(dropped);
        }
    }
}
