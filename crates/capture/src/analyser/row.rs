//! The row of a connection in the results.

use umts_units::Time;

use crate::analyser::{Analyser, ConnectionRow};
use crate::connection::{Connection, Side};
use crate::metrics::MetricSet;
use crate::totals::Totals;

impl Analyser {
    /// Describes a connection with its metrics. Fields about the data refer to the end that sent
    /// more payload.
    pub(super) fn row_of(&self, connection: &Connection, totals: &Totals) -> ConnectionRow {
        let sender = connection.sender();
        let receiver = connection.options(sender.other());
        let [client, server] = [Side::Client, Side::Server].map(|side| connection.options(side));
        let timestamps = client
            .zip(server)
            .map(|(client, server)| client.timestamps.is_some() && server.timestamps.is_some());
        let since_first = |time: Time| time.saturating_since(self.first.unwrap_or(time)).as_secs();
        ConnectionRow {
            connection: connection.number,
            client: connection.address(Side::Client),
            server: connection.address(Side::Server),
            sender: if sender == Side::Client { "client" } else { "server" },
            position: connection.position(),
            opened_s: since_first(connection.first),
            closed_s: connection.closed.map(since_first),
            ended: match (connection.reset, connection.closed) {
                (true, _) => "reset",
                (false, Some(_)) => "finished",
                (false, None) => "open",
            },
            mss: receiver.and_then(|options| options.mss).map(u32::from),
            window_scale: connection.window_scale(sender.other()),
            sack_permitted: connection.is_sack_permitted(),
            timestamps,
            teid: connection.teid,
            metrics: MetricSet::of(totals),
        }
    }
}
