//! The time budget of transfers that a proxy splits into two connections, the *legs*: one between
//! server and proxy, one between proxy and UE. The data passes the *first* leg, the proxy, and the
//! *second* leg. The budget follows the octet for which the receiver waits on this way.
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

/// Time of transfers by use. The parts add up exactly to the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferParts {
    /// By leg (see [`leg_index`]) and by cause.
    legs: [[Duration; Cause::ALL.len()]; 2],
    queue: Duration,
    setup: Duration,
}

impl Default for TransferParts {
    fn default() -> Self {
        let [queue, setup] = [Duration::ZERO; 2];
        TransferParts { legs: [[Duration::ZERO; Cause::ALL.len()]; 2], queue, setup }
    }
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

/// Index of a leg in [`TransferParts`]: the server's leg first.
fn leg_index(leg: ProxyLeg) -> usize {
    usize::from(leg == ProxyLeg::Radio)
}

/// All open transfers.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    open: BTreeMap<ConnectionId, Transfer>,
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

impl Transfers {
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub fn ids(&self) -> Vec<ConnectionId> {
        self.open.keys().copied().collect()
    }

    /// The open transfer to which this connection belongs, if there is one: the one with the
    /// highest number up to the connection's number.
    pub fn of(&self, id: ConnectionId) -> Option<TransferLegs> {
        let (transfer, open) = self.open.range(..=id).next_back()?;
        let connections = open.legs.each_ref().map(|leg| leg.connection);
        let legs = TransferLegs { transfer: *transfer, connections, sender: open.sender };
        connections.contains(&id).then_some(legs)
    }

    /// A connection of a split transfer opened. The server's leg has the number of the transfer,
    /// the radio leg the next number.
    pub fn opened(&mut self, now: Time, transfer: ConnectionId, sender: End) {
        let server = Leg::new(transfer, ProxyLeg::Server);
        let radio = Leg::new(ConnectionId(transfer.0 + 1), ProxyLeg::Radio);
        let legs = if sender == End::Server { [server, radio] } else { [radio, server] };
        let new = Transfer { legs, sender, opened: now, known_until: now, stays: Vec::new() };
        self.open.entry(transfer).or_insert(new);
    }

    /// Records the place of the octet until `now`, from the states of the first and the second leg.
    pub fn advance(
        &mut self,
        now: Time,
        transfer: ConnectionId,
        first: Option<Progress>,
        second: Option<Progress>,
    ) {
        let Some(open) = self.open.get_mut(&transfer) else { return };
        let [_, second_leg] = &open.legs;
        if open.known_until >= now || second_leg.has_ended {
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
        if let Some((_, leg)) = self.leg_mut(id) {
            leg.waited.extend_from_slice(intervals);
        }
    }

    /// A connection ended. The transfer's time ends with the second leg, which delivers the data to
    /// the receiver. Returns the budget when both legs have ended.
    pub fn closed(&mut self, id: ConnectionId) -> Option<TransferBudget> {
        let (transfer, leg) = self.leg_mut(id)?;
        leg.has_ended = true;
        let has_ended = self.open.get(&transfer)?.legs.iter().all(|leg| leg.has_ended);
        if has_ended { self.finish(transfer) } else { None }
    }

    /// Ends a transfer, and returns its budget.
    pub fn finish(&mut self, transfer: ConnectionId) -> Option<TransferBudget> {
        let open = self.open.remove(&transfer)?;
        let (opened, until) = (open.opened, open.known_until);
        Some(TransferBudget { transfer, opened, until, intervals: open.intervals() })
    }

    /// The leg of an open transfer that is this connection, and the number of the transfer.
    fn leg_mut(&mut self, id: ConnectionId) -> Option<(ConnectionId, &mut Leg)> {
        let transfer = self.of(id)?.transfer;
        let leg = self.open.get_mut(&transfer)?.legs.iter_mut().find(|leg| leg.connection == id)?;
        Some((transfer, leg))
    }
}

/// An open transfer.
#[derive(Debug)]
struct Transfer {
    /// The first and the second leg.
    legs: [Leg; 2],
    /// The end that sends the data.
    sender: End,
    opened: Time,
    /// Time up to which `stays` is known.
    known_until: Time,
    /// Places of the octet, without gaps in time.
    stays: Vec<Stay>,
}

/// A connection of a transfer.
#[derive(Debug)]
struct Leg {
    connection: ConnectionId,
    leg: ProxyLeg,
    /// Intervals of the connection with their final causes.
    waited: Vec<Interval>,
    has_ended: bool,
}

/// A stay of the octet at a place.
#[derive(Debug, Clone, Copy)]
struct Stay {
    start: Time,
    end: Time,
    place: OctetPlace,
}

/// Place of the octet for which the receiver waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OctetPlace {
    /// On the first leg, or not sent yet.
    FirstLeg,
    /// In the proxy, although the second leg could send it.
    Queue,
    /// In the proxy, or held up by it, during the set-up of the second leg.
    Setup,
    /// On the second leg, or held back by a window of the second leg.
    SecondLeg,
}

impl Transfer {
    /// The intervals of the transfer: of the legs with their causes, and of the proxy.
    fn intervals(&self) -> Vec<TransferInterval> {
        let [first, second] = &self.legs;
        let mut intervals = Vec::new();
        for Stay { start, end, place } in self.stays.iter().copied() {
            let in_proxy = |part| TransferInterval { start, end, part };
            match place {
                OctetPlace::FirstLeg => first.push_intervals(start, end, &mut intervals),
                OctetPlace::Queue => intervals.push(in_proxy(TransferPart::Queue)),
                OctetPlace::Setup => intervals.push(in_proxy(TransferPart::Setup)),
                OctetPlace::SecondLeg => second.push_intervals(start, end, &mut intervals),
            }
        }
        intervals
    }
}

impl Leg {
    fn new(connection: ConnectionId, leg: ProxyLeg) -> Self {
        Leg { connection, leg, waited: Vec::new(), has_ended: false }
    }

    /// Adds the causes of this leg from `start` to `end`. A part without a logged cause at the end
    /// is unexplained.
    fn push_intervals(&self, start: Time, end: Time, intervals: &mut Vec<TransferInterval>) {
        let on_leg = |start, end, cause| {
            let part = TransferPart::Leg(self.leg, cause);
            TransferInterval { start, end, part }
        };
        let mut covered_until = start;
        let first = self.waited.partition_point(|interval| interval.end <= start);
        for interval in self.waited[first..].iter().take_while(|interval| interval.start < end) {
            let until = interval.end.min(end);
            intervals.push(on_leg(covered_until, until, interval.cause));
            covered_until = until;
        }
        if covered_until < end {
            intervals.push(on_leg(covered_until, end, Cause::Unexplained));
        }
    }
}

/// The place of the octet for which the receiver waits, from the progress of the first and the second
/// leg. `None`: the leg's connection does not exist.
fn place(first: Option<Progress>, second: Option<Progress>) -> OctetPlace {
    let Some(second) = second else { return OctetPlace::FirstLeg };
    // Number 0 is the SYN of the leg; the first octet of data has number 1 on both legs.
    let awaited = second.next.max(1);
    let is_before_proxy = |first: &Progress| first.next <= awaited && first.has_more;
    if let Some(first) = first.filter(is_before_proxy) {
        let is_held_by_proxy = first.waits_for_handshake && !second.is_established;
        return if is_held_by_proxy { OctetPlace::Setup } else { OctetPlace::FirstLeg };
    }
    if !second.is_established {
        return OctetPlace::Setup;
    }
    let could_send = second.next == second.sent && !second.is_held_back;
    let proxy_has_octet = first.is_some_and(|first| first.next > awaited);
    if could_send && proxy_has_octet { OctetPlace::Queue } else { OctetPlace::SecondLeg }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The proxy has octets 1 to 3,000 of the 5,000 octets that the sender has sent.
    const FIRST: Progress = Progress {
        next: 3001,
        sent: 5001,
        has_more: true,
        is_held_back: false,
        is_established: true,
        waits_for_handshake: false,
    };
    /// The receiver has octets 1 to 1,000, and the proxy has sent it no more.
    const SECOND: Progress = Progress { next: 1001, sent: 1001, has_more: false, ..FIRST };
    /// The proxy has sent the SYN of the second leg, which has number 0.
    const SECOND_IN_SETUP: Progress = Progress { next: 0, sent: 1, is_established: false, ..SECOND };

    #[test]
    fn an_octet_that_the_proxy_has_not_received_is_on_the_first_leg() {
        // Proxy and receiver both wait for octet 1,001.
        let first = Progress { next: 1001, ..FIRST };
        assert_eq!(place(Some(first), Some(SECOND)), OctetPlace::FirstLeg);
    }

    #[test]
    fn an_octet_that_the_proxy_may_send_is_in_its_queue() {
        // The proxy has octets 1,001 to 3,000, which the receiver lacks.
        assert_eq!(place(Some(FIRST), Some(SECOND)), OctetPlace::Queue);
    }

    #[test]
    fn an_octet_that_the_proxy_has_sent_is_on_the_second_leg() {
        let second = Progress { sent: 2001, ..SECOND };
        assert_eq!(place(Some(FIRST), Some(second)), OctetPlace::SecondLeg);
        let first_has_ended = None;
        assert_eq!(place(first_has_ended, Some(second)), OctetPlace::SecondLeg);
    }

    #[test]
    fn an_octet_that_a_window_holds_back_is_on_the_second_leg() {
        let second = Progress { is_held_back: true, ..SECOND };
        assert_eq!(place(Some(FIRST), Some(second)), OctetPlace::SecondLeg);
    }

    #[test]
    fn the_second_leg_delays_its_end_if_the_receiver_has_all_data() {
        let first = Progress { next: 1001, has_more: false, ..FIRST };
        assert_eq!(place(Some(first), Some(SECOND)), OctetPlace::SecondLeg);
    }

    #[test]
    fn an_octet_in_the_proxy_waits_for_the_set_up_of_the_second_leg() {
        assert_eq!(place(Some(FIRST), Some(SECOND_IN_SETUP)), OctetPlace::Setup);
    }

    #[test]
    fn a_first_leg_whose_syn_the_proxy_holds_waits_for_the_set_up_of_the_second_leg() {
        let first = Progress { next: 1, waits_for_handshake: true, ..FIRST };
        assert_eq!(place(Some(first), Some(SECOND_IN_SETUP)), OctetPlace::Setup);
    }
}
