//! Connections that are too many: which of the open ones are let go of, and which get no rows.

use std::collections::VecDeque;

use crate::analyser::{Analyser, HALF_OPEN, Rest, pair, pair_opened};
use crate::connection::Connection;
use crate::ends::Ends;
use crate::metrics::MetricSet;
use crate::packet::Packet;

/// Connections of which one end was heard only, of each kind, that are kept at a time: a flood of SYNs, or a scan, opens
/// millions. The oldest goes first.
const MOST_ONE_SIDED: usize = 1 << 17;

/// Of too many open connections one in so many goes at a time, since all have to be looked at.
const PART: usize = 16;

/// What is known of the crowd, and the most that it may be.
#[derive(Debug)]
pub(super) struct HalfOpenTable {
    /// Rows, open connections, and open ones of each kind of which one end was heard only.
    most_rows: u64,
    most_open: usize,
    most_one_sided: usize,
    /// Has a row in any case.
    wanted: Option<u64>,
    /// Connections that began without a SYN, in the order of their numbers: the latest of them.
    mid_stream: VecDeque<(Ends, u64)>,
    /// Connections that were let go of because there were too many: of which one end was heard only, and others.
    pub one_sided: u64,
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
    /// Whether a connection has a row of its own.
    pub fn has_row(&self, number: u64) -> bool {
        number < self.most_rows || self.wanted == Some(number)
    }
}

impl Analyser {
    /// Keeps so many connections at a time, and gives as many a row of their own, the first ones; the others are summed.
    pub fn with_limit(mut self, connections: usize) -> Self {
        self.crowd.most_rows = connections as u64;
        self.crowd.most_open = connections.max(1);
        self.udp.limit(connections);
        self.crowd.most_one_sided = (connections / 2).clamp(1, MOST_ONE_SIDED);
        self
    }

    /// Gives this connection a row, however many others there are.
    pub fn with_row_of(mut self, connection: u64) -> Self {
        self.crowd.wanted = Some(connection);
        self
    }

    /// The place of the connection that the packet begins.
    #[cold]
    pub(super) fn begin(&mut self, packet: &Packet) -> usize {
        self.make_room();
        let number = self.next;
        self.next += 1;
        let mut connection = Box::new(Connection::new(number, self.now, packet));
        connection.off = pair_opened(&mut self.pairs, pair(&connection), self.now);
        if packet.segment.flags.syn() {
            self.opening.push_back((self.now + HALF_OPEN, packet.ends, number));
            if self.opening.len() > self.crowd.most_one_sided
                && let Some((_, ends, number)) = self.opening.pop_front()
            {
                self.crowd_out(ends, number);
            }
        } else {
            self.crowd.mid_stream.push_back((packet.ends, number));
            if self.crowd.mid_stream.len() > self.crowd.most_one_sided
                && let Some((ends, number)) = self.crowd.mid_stream.pop_front()
            {
                self.crowd_out(ends, number);
            }
        }
        self.open.insert(connection)
    }

    /// Those without rows, added up.
    pub(super) fn rest(&mut self) -> Option<Rest> {
        self.rest.window = self.window();
        let (connections, metrics) = (self.rest.connections, MetricSet::of(&self.rest));
        (connections > 0).then_some(Rest { connections, metrics })
    }

    /// Lets go of a connection if one end of it was heard only.
    fn crowd_out(&mut self, ends: Ends, number: u64) {
        if self.open.get(&ends).is_some_and(|found| found.number == number && found.is_one_sided())
            && let Some(over) = self.open.remove(&ends)
        {
            self.crowd.one_sided += 1;
            self.fold(over);
        }
    }

    /// Lets go of some connections if there are too many: of those that are over, and then of those that were quiet longest.
    fn make_room(&mut self) {
        if self.open.len() < self.crowd.most_open {
            return;
        }
        for ends in self.open.quietest(self.crowd.most_open.div_ceil(PART)) {
            let over = self.open.remove(&ends).expect("it was found");
            self.crowd.open += u64::from(over.closed.is_none());
            self.fold(over);
        }
    }
}
