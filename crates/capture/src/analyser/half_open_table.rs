//! Limits on connections: which open ones are dropped, and which get no row.

use std::collections::VecDeque;

use crate::analyser::{Analyser, HALF_OPEN, Rest, pair, pair_opened};
use crate::connection::Connection;
use crate::ends::Ends;
use crate::metrics::MetricSet;
use crate::packet::Packet;

/// Maximum number of connections with packets of one end only, separately for those with and
/// without a SYN: a SYN flood or a scan opens millions. The oldest is dropped first.
const MOST_ONE_SIDED: usize = 1 << 17;

/// If there are too many open connections, one in `PART` is dropped at a time, because each pass
/// visits all of them.
const PART: usize = 16;

/// Limits on connections, and the counts of dropped ones.
#[derive(Debug)]
pub(super) struct HalfOpenTable {
    /// Maximum number of rows.
    most_rows: u64,
    /// Maximum number of open connections.
    most_open: usize,
    /// Maximum number of open connections with packets of one end only, with and without a SYN
    /// separately.
    most_one_sided: usize,
    /// Number of a connection that always has a row.
    wanted: Option<u64>,
    /// The latest connections that began without a SYN, in the order of their numbers.
    mid_stream: VecDeque<(Ends, u64)>,
    /// Dropped connections with packets of one end only.
    pub one_sided: u64,
    /// Other open connections that were dropped.
    pub open: u64,
}

impl Default for HalfOpenTable {
    fn default() -> Self {
        HalfOpenTable {
            most_rows: u64::MAX,
            most_open: usize::MAX,
            most_one_sided: MOST_ONE_SIDED,
            wanted: None,
            mid_stream: VecDeque::new(),
            one_sided: 0,
            open: 0,
        }
    }
}

impl HalfOpenTable {
    /// Returns whether a connection has a row of its own.
    pub fn has_row(&self, number: u64) -> bool {
        number < self.most_rows || self.wanted == Some(number)
    }
}

impl Analyser {
    /// Keeps at most `connections` open connections, and gives the first `connections` a row of
    /// their own. The others are summed.
    pub fn with_limit(mut self, connections: usize) -> Self {
        self.half_open.most_rows = connections as u64;
        self.half_open.most_open = connections.max(1);
        self.udp.limit(connections);
        self.half_open.most_one_sided = (connections / 2).clamp(1, MOST_ONE_SIDED);
        self
    }

    /// Gives this connection a row, whatever the limit.
    pub fn with_row_of(mut self, connection: u64) -> Self {
        self.half_open.wanted = Some(connection);
        self
    }

    /// Creates the connection that begins with the packet, and returns its slot.
    #[cold]
    pub(super) fn begin(&mut self, packet: &Packet) -> usize {
        self.make_room();
        let number = self.next;
        self.next += 1;
        let mut connection = Box::new(Connection::new(number, self.now, packet));
        connection.off = pair_opened(&mut self.pairs, pair(&connection), self.now);
        if packet.segment.flags.syn() {
            self.opening.push_back((self.now + HALF_OPEN, packet.ends, number));
            if self.opening.len() > self.half_open.most_one_sided
                && let Some((_, ends, number)) = self.opening.pop_front()
            {
                self.drop_one_sided(ends, number);
            }
        } else {
            self.half_open.mid_stream.push_back((packet.ends, number));
            if self.half_open.mid_stream.len() > self.half_open.most_one_sided
                && let Some((ends, number)) = self.half_open.mid_stream.pop_front()
            {
                self.drop_one_sided(ends, number);
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
    fn drop_one_sided(&mut self, ends: Ends, number: u64) {
        if self.open.get(&ends).is_some_and(|found| found.number == number && found.is_one_sided())
            && let Some(over) = self.open.remove(&ends)
        {
            self.half_open.one_sided += 1;
            self.fold(over);
        }
    }

    /// Drops some connections if there are too many: closed ones first, then the ones that were
    /// quiet longest.
    fn make_room(&mut self) {
        if self.open.len() < self.half_open.most_open {
            return;
        }
        for ends in self.open.quietest(self.half_open.most_open.div_ceil(PART)) {
            let over = self.open.remove(&ends).expect("it was found");
            self.half_open.open += u64::from(over.closed.is_none());
            self.fold(over);
        }
    }
}
