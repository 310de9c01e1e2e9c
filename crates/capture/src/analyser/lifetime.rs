//! The connections in the table: which connection a segment belongs to, and when a connection is
//! removed.

use std::collections::VecDeque;

use umts_units::{Duration, Time};

use crate::analyser::Analyser;
use crate::analyser::host_pairs::HostPair;
use crate::connection::Connection;
use crate::ends::Ends;
use crate::packet::Packet;

/// How long a closed connection waits for late packets: two maximum segment lifetimes, as in Linux.
pub(super) const LINGER: Duration = Duration::from_secs(120);
/// How long a connection with packets of one end only is kept: longer than a sender repeats its
/// SYN.
pub(super) const HALF_OPEN: Duration = Duration::from_secs(300);

/// A connection in the table. Later connections between the same ends have another number.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionKey {
    pub ends: Ends,
    pub number: u64,
}

/// A connection, and the time at which to check whether to remove it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Check {
    pub due: Time,
    pub key: ConnectionKey,
}

impl Analyser {
    /// Returns the slot of the connection of the packet. Creates the connection if the packet
    /// begins it. `is_copy`: an equal packet was seen at most 10 ms ago, possibly in another
    /// tunnel.
    pub(super) fn connection_of(&mut self, packet: &Packet, is_copy: bool) -> usize {
        match self.open.find(&packet.ends) {
            Some(slot) if self.open.at(slot).is_in_tunnel_of(packet) => self.slot_or_successor(slot, packet),
            None if packet.teid.is_none() => self.begin(packet),
            // The connection of these ends is in another tunnel, or the packet is the first of
            // these ends and is in a tunnel. Addresses and ports alone do not identify a
            // connection: several GTP-U tunnels may use the same ones.
            _ => {
                let packet = Packet { ends: self.ends_in_tunnel(packet, is_copy), ..*packet };
                match self.open.find(&packet.ends) {
                    Some(slot) => self.slot_or_successor(slot, &packet),
                    None => self.begin(&packet),
                }
            }
        }
    }

    /// Returns `slot`, or the slot of a new connection if the packet begins one between the same
    /// ends.
    fn slot_or_successor(&mut self, slot: usize, packet: &Packet) -> usize {
        // Only a SYN begins a connection between ends that have one.
        if !packet.segment.flags.syn() || !self.open.at(slot).is_succeeded_by(packet) {
            return slot;
        }
        let ended = self.open.remove(&packet.ends).expect("the slot has this connection");
        self.finish_connection(ended);
        self.begin(packet)
    }

    /// Removes connections that are not expected to have further packets.
    pub(super) fn remove_expired(&mut self) {
        while let Some(Check { key, .. }) = pop_expired(&mut self.closing, self.now) {
            self.check_closed(key);
        }
        while let Some(Check { key, .. }) = pop_expired(&mut self.opening, self.now) {
            self.check_one_sided(key);
        }
    }

    /// Removes a connection that closed [`LINGER`] ago, unless it had packets since. Then it is
    /// checked again [`LINGER`] after its last packet.
    fn check_closed(&mut self, key: ConnectionKey) {
        let Some(connection) = self.open_connection(key) else { return };
        let due = connection.last + LINGER;
        if due > self.now {
            self.closing.push_back(Check { due, key });
        } else if let Some(ended) = self.open.remove(&key.ends) {
            self.finish_connection(ended);
        }
    }

    /// Removes a connection that has had packets of one end only for [`HALF_OPEN`], unless its SYN
    /// was repeated. Then it is checked again after another [`HALF_OPEN`], so it may stay for up to
    /// twice [`HALF_OPEN`] after its last packet.
    fn check_one_sided(&mut self, key: ConnectionKey) {
        let open = self.open_connection(key);
        let Some(connection) = open.filter(|connection| connection.is_one_sided()) else { return };
        if connection.last + HALF_OPEN > self.now {
            self.opening.push_back(Check { due: self.now + HALF_OPEN, key });
        } else if let Some(ended) = self.open.remove(&key.ends) {
            self.finish_connection(ended);
        }
    }

    /// Returns a connection unless it was removed.
    pub(super) fn open_connection(&self, key: ConnectionKey) -> Option<&Connection> {
        self.open.get(&key.ends).filter(|connection| connection.number == key.number)
    }

    /// Adds a connection to the sums, and creates its row if the limits allow one.
    pub(super) fn finish_connection(&mut self, mut connection: Box<Connection>) {
        let mut totals = connection.close(self.now, &mut self.busy_clock);
        // The pair of a closed connection was updated when the connection closed.
        if connection.closed.is_none() {
            self.host_pairs.close(HostPair::of(&connection), connection.last);
        }
        self.totals.add(&totals);
        if self.limits.has_row(connection.number) {
            totals.window = self.window();
            self.finished.push(self.row_of(&connection, &totals));
        } else {
            self.rest.add(&totals);
        }
    }
}

/// Removes and returns the first entry if it is due at `now`.
fn pop_expired(queue: &mut VecDeque<Check>, now: Time) -> Option<Check> {
    queue.pop_front_if(|check| check.due <= now)
}
