//! The table `goodput`: acknowledged payload per time, on a constant grid. In every window of the
//! grid there is one row for each connection that was open in it.

use umts_stack::ids::ConnectionId;
use umts_units::{Duration, Time};

use super::table::{Recorded, Rows, Table, row};

row! {
    /// Goodput of a connection in a completed window.
    GoodputRow "goodput" {
        time_s: Float "s",
        connection: Id "",
        goodput_kbps: Float "kbit/s",
    }
}

/// Rows of completed windows, and the octets acknowledged in the current one.
#[derive(Debug)]
pub(super) struct Goodput {
    length: Duration,
    /// Number of the current window.
    window: u64,
    /// Connections that are open or were closed in the current window, sorted by number.
    connections: Vec<Connection>,
    rates: Rows<GoodputRow>,
}

#[derive(Debug)]
struct Connection {
    id: ConnectionId,
    is_open: bool,
    /// Payload acknowledged in the current window.
    bytes: u64,
}

impl Goodput {
    /// # Panics
    /// If `length` is zero.
    pub fn new(length: Duration) -> Self {
        assert!(!length.is_zero(), "goodput needs windows with a length");
        Goodput { length, window: 0, connections: Vec::new(), rates: Rows::default() }
    }

    pub fn opened(&mut self, at: Time, id: ConnectionId) {
        self.write_ended_windows(at);
        let index = self.connections.partition_point(|known| known.id < id);
        self.connections.insert(index, Connection { id, is_open: true, bytes: 0 });
    }

    pub fn acknowledged(&mut self, at: Time, id: ConnectionId, payload: u64) {
        self.write_ended_windows(at);
        if let Some(connection) = self.find(id) {
            connection.bytes += payload;
        }
    }

    pub fn closed(&mut self, at: Time, id: ConnectionId) {
        self.write_ended_windows(at);
        if let Some(connection) = self.find(id) {
            connection.is_open = false;
        }
    }

    fn find(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        let index = self.connections.binary_search_by_key(&id, |known| known.id).ok()?;
        Some(&mut self.connections[index])
    }

    /// Writes the rows of the windows that have ended at `now`.
    #[inline]
    pub fn write_ended_windows(&mut self, now: Time) {
        let window = now.as_nanos() / self.length.as_nanos();
        while self.window < window && !self.connections.is_empty() {
            self.write(self.length);
            self.window += 1;
        }
        self.window = window;
    }

    /// Writes the rows of the current window, of which `measured` has passed.
    fn write(&mut self, measured: Duration) {
        let start = Time::from_nanos(self.window * self.length.as_nanos());
        for connection in &mut self.connections {
            let bytes = std::mem::take(&mut connection.bytes);
            self.rates.push(GoodputRow {
                time_s: start.as_secs(),
                connection: connection.id.0,
                goodput_kbps: bytes as f64 * 8.0 / 1e3 / measured.as_secs(),
            });
        }
        self.connections.retain(|connection| connection.is_open);
    }

    /// Writes the last rows. The goodput of the last window refers to its part before the end of
    /// the run.
    pub fn end(&mut self, end: Time) {
        self.write_ended_windows(end);
        let measured = Duration::from_nanos(end.as_nanos() % self.length.as_nanos());
        if !measured.is_zero() {
            self.write(measured);
        }
    }
}

impl Recorded for Goodput {
    fn rows(&self) -> usize {
        self.rates.rows()
    }

    fn take(&mut self, now: Time) -> Table {
        self.rates.take(now)
    }
}
