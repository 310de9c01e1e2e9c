//! The time budget of transfers that a proxy splits into two connections, the *legs*: one between
//! server and proxy, one between proxy and UE. It follows the octet for which the receiver waits,
//! from leg to leg.
//!
//! Until the octet reaches the proxy, the transfer has the cause of the first leg; after the octet
//! has left the proxy, the cause of the second leg. While the octet is in the proxy, the transfer
//! waits for capacity towards the second leg, or for the set-up of the second leg. The causes of a
//! leg are final only when the leg has ended, because timeouts change them. Until then only the
//! places are recorded.

use std::collections::BTreeMap;

use umts_stack::ids::{ConnectionId, End, ProxyLeg};
use umts_units::{Duration, Time};

use super::cause::Cause;
use super::connection::Progress;
use super::log::Interval;
use crate::metrics::Window;

/// Position of the octet for which the receiver waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OctetPlace {
    /// On a leg, or waiting for it. Index 0 is the leg of the sender.
    Leg(usize),
    /// In the proxy, although the second leg could send it.
    Queue,
    /// In the proxy, or held up by it, during the set-up of the second leg.
    Setup,
}

/// Use of a part of a transfer's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferPart {
    /// On this leg, with this cause.
    Leg(ProxyLeg, Cause),
    /// In the proxy.
    Queue,
    /// Set-up of the proxy's second connection.
    Setup,
}

/// An interval of a transfer's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferInterval {
    /// Start of the interval.
    pub start: Time,
    /// End of the interval.
    pub end: Time,
    /// Use of the interval.
    pub part: TransferPart,
}

/// Time of transfers by use. The parts add up exactly to the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferParts {
    /// By leg (see [`leg_index`]) and by cause.
    legs: [[Duration; Cause::ALL.len()]; 2],
    queue: Duration,
    setup: Duration,
}

/// An open transfer.
#[derive(Debug)]
struct Transfer {
    /// The connections with their legs, in the order in which the data passes them.
    legs: [(ConnectionId, ProxyLeg); 2],
    sender: End,
    opened: Time,
    /// Time up to which `stays` is known.
    known_until: Time,
    /// Places of the octet, without gaps in time.
    stays: Vec<Stay>,
    /// Intervals with their final causes, by leg in the order of `legs`.
    waited: [Vec<Interval>; 2],
    /// Whether each of `legs` has ended.
    has_ended: [bool; 2],
}

/// A stay of the octet at a place.
#[derive(Debug, Clone, Copy)]
struct Stay {
    start: Time,
    end: Time,
    place: OctetPlace,
}

/// A finished transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferBudget {
    /// Number of the transfer's connection on the server's side.
    pub transfer: ConnectionId,
    /// Time of opening.
    pub opened: Time,
    /// Time at which the receiver's connection closed, or end of the run.
    pub until: Time,
    /// Intervals without gaps.
    pub intervals: Vec<TransferInterval>,
}

/// The connections of an open transfer.
#[derive(Debug, Clone, Copy)]
pub(super) struct TransferLegs {
    /// Number of the transfer.
    pub transfer: ConnectionId,
    /// Both connections, in the order in which the data passes them.
    pub connections: [ConnectionId; 2],
    /// The end that sends the data.
    pub sender: End,
}

impl TransferLegs {
    /// 0 for the leg of the sender, 1 for the leg of the receiver.
    fn position_of(&self, connection: ConnectionId) -> usize {
        let [_, receiver_leg] = self.connections;
        usize::from(connection == receiver_leg)
    }
}

/// All open transfers.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    open: BTreeMap<ConnectionId, Transfer>,
}

impl Default for TransferParts {
    fn default() -> Self {
        let [queue, setup] = [Duration::ZERO; 2];
        TransferParts { legs: [[Duration::ZERO; Cause::ALL.len()]; 2], queue, setup }
    }
}

/// Index of a leg in [`TransferParts`]: the server's leg first.
fn leg_index(leg: ProxyLeg) -> usize {
    usize::from(leg == ProxyLeg::Radio)
}

impl TransferParts {
    /// The time of one leg and cause.
    pub fn of(&self, leg: ProxyLeg, cause: Cause) -> Duration {
        self.legs[leg_index(leg)][cause as usize]
    }

    /// The time in the proxy although the second leg could send.
    pub fn queue(&self) -> Duration {
        self.queue
    }

    /// The time of the set-up of the second connection.
    pub fn setup(&self) -> Duration {
        self.setup
    }

    /// The sum of all parts.
    pub fn total(&self) -> Duration {
        let legs = self.legs.iter().flatten();
        legs.chain([&self.queue, &self.setup]).fold(Duration::ZERO, |sum, part| sum + *part)
    }

    /// Adds the part of an interval that is inside `window`.
    pub(super) fn add(&mut self, interval: &TransferInterval, window: Window) {
        let time = window.overlap(interval.start, interval.end);
        let part = match interval.part {
            TransferPart::Leg(leg, cause) => &mut self.legs[leg_index(leg)][cause as usize],
            TransferPart::Queue => &mut self.queue,
            TransferPart::Setup => &mut self.setup,
        };
        *part += time;
    }
}

impl Transfers {
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// A connection of a split transfer opened. The server's leg has the number of the transfer,
    /// the radio leg the next number.
    pub fn opened(&mut self, now: Time, transfer: ConnectionId, sender: End) {
        let server = (transfer, ProxyLeg::Server);
        let radio = (ConnectionId(transfer.0 + 1), ProxyLeg::Radio);
        let legs = if sender == End::Server { [server, radio] } else { [radio, server] };
        let new = Transfer {
            legs,
            sender,
            opened: now,
            known_until: now,
            stays: Vec::new(),
            waited: [Vec::new(), Vec::new()],
            has_ended: [false; 2],
        };
        self.open.entry(transfer).or_insert(new);
    }

    /// The open transfer to which this connection belongs, if there is one: the one with the
    /// highest number up to the connection's number.
    pub fn of(&self, id: ConnectionId) -> Option<TransferLegs> {
        let (transfer, state) = self.open.range(..=id).next_back()?;
        let connections = state.legs.map(|(connection, _)| connection);
        let legs = TransferLegs { transfer: *transfer, connections, sender: state.sender };
        connections.contains(&id).then_some(legs)
    }

    pub fn ids(&self) -> Vec<ConnectionId> {
        self.open.keys().copied().collect()
    }

    /// Records the position of the octet until `now`, from the states of both legs.
    pub fn advance(
        &mut self,
        now: Time,
        transfer: ConnectionId,
        first: Option<Progress>,
        second: Option<Progress>,
    ) {
        let Some(open) = self.open.get_mut(&transfer) else { return };
        let [_, receiver_leg_ended] = open.has_ended;
        if open.known_until >= now || receiver_leg_ended {
            return;
        }
        let place = place(first, second);
        match open.stays.last_mut() {
            Some(last) if last.place == place => last.end = now,
            _ => open.stays.push(Stay { start: open.known_until, end: now, place }),
        }
        open.known_until = now;
    }

    /// Adds settled intervals of a connection.
    pub fn waited(&mut self, id: ConnectionId, intervals: &[Interval]) {
        let Some(legs) = self.of(id) else { return };
        if let Some(open) = self.open.get_mut(&legs.transfer) {
            open.waited[legs.position_of(id)].extend_from_slice(intervals);
        }
    }

    /// A connection ended. The transfer's time ends with the connection that delivers the data to
    /// the receiver. Returns the budget when both connections have ended.
    pub fn closed(&mut self, id: ConnectionId) -> Option<TransferBudget> {
        let legs = self.of(id)?;
        let open = self.open.get_mut(&legs.transfer)?;
        open.has_ended[legs.position_of(id)] = true;
        if open.has_ended == [true; 2] { self.finish(legs.transfer) } else { None }
    }

    /// Ends a transfer, and returns its budget.
    pub fn finish(&mut self, transfer: ConnectionId) -> Option<TransferBudget> {
        let open = self.open.remove(&transfer)?;
        let (opened, until) = (open.opened, open.known_until);
        Some(TransferBudget { transfer, opened, until, intervals: open.intervals() })
    }
}

impl Transfer {
    /// The intervals of the transfer: of the legs with their causes, and of the proxy.
    fn intervals(self) -> Vec<TransferInterval> {
        let mut intervals = Vec::new();
        for Stay { start, end, place } in self.stays.iter().copied() {
            match place {
                OctetPlace::Leg(leg) => self.on_leg(leg, start, end, &mut intervals),
                OctetPlace::Queue => {
                    intervals.push(TransferInterval { start, end, part: TransferPart::Queue });
                }
                OctetPlace::Setup => {
                    intervals.push(TransferInterval { start, end, part: TransferPart::Setup });
                }
            }
        }
        intervals
    }

    /// Adds the causes of the leg from `start` to `end`.
    fn on_leg(&self, index: usize, start: Time, end: Time, intervals: &mut Vec<TransferInterval>) {
        let ((_, leg), waited) = (self.legs[index], &self.waited[index]);
        let mut at = start;
        let first = waited.partition_point(|interval| interval.end <= start);
        for interval in waited[first..].iter().take_while(|interval| interval.start < end) {
            let until = interval.end.min(end);
            intervals.push(TransferInterval {
                start: at,
                end: until,
                part: TransferPart::Leg(leg, interval.cause),
            });
            at = until;
        }
        if at < end {
            intervals.push(TransferInterval {
                start: at,
                end,
                part: TransferPart::Leg(leg, Cause::Unexplained),
            });
        }
    }
}

/// Position of the octet for which the receiver waits, from the progress of the first and the second
/// leg. `None`: the leg's connection does not exist.
fn place(first: Option<Progress>, second: Option<Progress>) -> OctetPlace {
    let Some(second) = second else { return OctetPlace::Leg(0) };
    // Number 0 is the SYN of the leg; the first octet of data has number 1 on both legs.
    let next_octet = second.next.max(1);
    // The octet has not reached the proxy.
    if let Some(first) = first.filter(|first| first.next <= next_octet && first.has_more) {
        let is_held_by_proxy = first.waits_for_handshake && !second.is_established;
        return if is_held_by_proxy { OctetPlace::Setup } else { OctetPlace::Leg(0) };
    }
    if !second.is_established {
        return OctetPlace::Setup;
    }
    let could_send = second.next == second.sent && !second.is_held_back;
    let proxy_has_octet = first.is_some_and(|first| first.next > next_octet);
    if could_send && proxy_has_octet { OctetPlace::Queue } else { OctetPlace::Leg(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The receiver has octets 1 to 1,000, and the proxy has sent it no more.
    const SECOND: Progress = Progress {
        next: 1001,
        sent: 1001,
        has_more: false,
        is_held_back: false,
        is_established: true,
        waits_for_handshake: false,
    };
    /// The proxy has octets 1 to 3,000 of the 5,000 octets that the sender has sent.
    const FIRST: Progress = Progress { next: 3001, sent: 5001, has_more: true, ..SECOND };

    #[test]
    fn the_octet_is_followed_from_leg_to_leg() {
        let not_established = Progress { is_established: false, ..SECOND };
        let cases = [
            ("the proxy has more than the receiver, and may send", FIRST, SECOND, OctetPlace::Queue),
            ("the proxy has sent the octet", FIRST, Progress { sent: 2001, ..SECOND }, OctetPlace::Leg(1)),
            (
                "a window of the second leg holds the octet back",
                FIRST,
                Progress { is_held_back: true, ..SECOND },
                OctetPlace::Leg(1),
            ),
            (
                "the proxy waits for the octet too",
                Progress { next: 1001, ..FIRST },
                SECOND,
                OctetPlace::Leg(0),
            ),
            (
                "the receiver has all data",
                Progress { next: 1001, has_more: false, ..FIRST },
                SECOND,
                OctetPlace::Leg(1),
            ),
            (
                "the proxy has the octet, and the second leg is not established",
                FIRST,
                Progress { next: 0, sent: 1, ..not_established },
                OctetPlace::Setup,
            ),
            (
                "the proxy holds the SYN of the first leg",
                Progress { next: 1, waits_for_handshake: true, ..FIRST },
                Progress { next: 0, sent: 1, ..not_established },
                OctetPlace::Setup,
            ),
        ];
        for (case, first, second, expected) in cases {
            assert_eq!(place(Some(first), Some(second)), expected, "{case}");
        }
        // The first leg has ended, and the proxy has sent the octet.
        assert_eq!(place(None, Some(Progress { sent: 2001, ..SECOND })), OctetPlace::Leg(1));
    }
}
