//! Finds the cause of a connection's wait at each instant, and logs it for the time budget.
//!
//! A connection waits for one packet at a time: the packet with the next byte in order at the
//! receiver, or, if that byte has not left its sender, the acknowledgment that would release it
//! (`wait_object.rs`). The cause follows from the position of this packet: in the fixed network, in
//! the radio access network, or lost (`wait_cause.rs`). If there is no such packet, the state of
//! the sender gives the cause.
//!
//! The budget calls [`Connection::advance`] before each event that may change the wait, and then
//! changes the state of a direction ([`Connection::direction_mut`]).

mod wait_cause;
mod wait_object;

use umts_stack::ids::{ConnectionId, End, FlowId, PacketId, UeId};
use umts_units::Time;

use super::cause::Cause;
use super::direction_state::DirectionState;
use super::log::{FinishedLog, Interval, Log};
use super::loss::Loss;
use super::rto::{Expiry, Timeouts};
use super::ue::Ue;
use wait_cause::CurrentCause;
use wait_object::{LostData, WaitObject};

/// Kind of a connection in the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A TCP connection.
    Tcp,
    /// A flow of datagrams. As far as the network can see, they are neither acknowledged nor
    /// repeated.
    Datagrams,
    /// DNS queries and their answers, until the connection for which they are made begins.
    Lookup,
}

impl Kind {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Tcp => "tcp",
            Kind::Datagrams => "udp",
            Kind::Lookup => "dns",
        }
    }
}

/// Progress of the data of one end. If a proxy splits a transfer into two connections, the progress
/// of both shows where the octet is for which the receiver waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    /// Number of the next octet that the receiver expects (RCV.NXT, RFC 9293 §3.3.1).
    pub next: u64,
    /// Number after the highest octet sent.
    pub sent: u64,
    /// Whether data that were sent or written have not arrived, or the connection is not
    /// established.
    pub has_more: bool,
    /// Whether a window holds back unsent data.
    pub is_held_back: bool,
    /// Whether an end has completed the handshake.
    pub is_established: bool,
    /// Whether the handshake waits while none of its packets is on the way.
    pub waits_for_handshake: bool,
}

/// The participants of a connection and its segment size, known from its opening.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    pub id: ConnectionId,
    pub flow: FlowId,
    pub ue: UeId,
    /// The end that sends the flow's data.
    pub sender: End,
    /// Payload of a full segment, in bytes.
    pub mss: u32,
}

/// A connection and the log of its waits.
#[derive(Debug)]
pub(super) struct Connection {
    pub id: ConnectionId,
    pub flow: FlowId,
    pub ue: UeId,
    pub opened: Time,
    pub kind: Kind,
    /// The end that sends the flow's data.
    sender: End,
    /// Whether written data and windows of the senders are known.
    knows_senders: bool,

    /// State of both directions, by sending end.
    directions: [DirectionState; 2],
    /// Expiries of the retransmission timers of both ends.
    pub timeouts: Timeouts,

    pub log: Log,
    /// End of the log: the causes up to this time are known.
    logged_until: Time,
    /// Object of the current wait. `None` if an event may have changed it.
    object: Option<WaitObject>,
    /// The current wait, if its object is lost data.
    lost_wait: Option<LostWait>,
}

/// A wait for lost data, which ends when a retransmitted copy leaves.
#[derive(Debug, Clone, Copy)]
struct LostWait {
    data: LostData,
    since: Time,
}

impl Connection {
    /// A TCP connection that opens at `now`.
    pub fn new(opening: Opening, now: Time, log: Log, knows_senders: bool) -> Self {
        let Opening { id, flow, ue, sender, mss } = opening;
        Connection {
            id,
            flow,
            ue,
            opened: now,
            kind: Kind::Tcp,
            sender,
            knows_senders,
            directions: [DirectionState::new(mss, now), DirectionState::new(mss, now)],
            timeouts: Timeouts::default(),
            log,
            logged_until: now,
            object: None,
            lost_wait: None,
        }
    }

    /// Logs the wait up to `now`.
    #[inline]
    pub fn advance(&mut self, ue: &Ue, now: Time) {
        while self.logged_until < now {
            let start = self.logged_until;
            let object = match self.object {
                Some(object) => object,
                None => *self.object.insert(self.find_object()),
            };
            self.lost_wait = self.lost_wait_for(object);
            let CurrentCause { cause, holds_until } = wait_cause::cause_at(object, ue, start);
            let end = holds_until.min(now);
            self.log.push(start, end, cause);
            self.logged_until = end;
        }
    }

    /// The wait for lost data if the connection waits for `object` at the end of the log: a new
    /// wait, unless the connection already waits for the same data.
    fn lost_wait_for(&self, object: WaitObject) -> Option<LostWait> {
        let WaitObject::Lost(data) = object else { return None };
        let continued = self.lost_wait.filter(|wait| wait.data == data);
        Some(continued.unwrap_or(LostWait { data, since: self.logged_until }))
    }

    /// State of the direction of the sender at `end`.
    fn direction(&self, end: End) -> &DirectionState {
        &self.directions[end as usize]
    }

    /// Gives mutable access to the direction of the sender at `end`. The object of the wait is then
    /// determined again.
    pub fn direction_mut(&mut self, end: End) -> &mut DirectionState {
        self.object = None;
        &mut self.directions[end as usize]
    }

    /// A packet left the sender at `end`, or reached it, which ends the silence of that sender.
    /// Settles the logged intervals that no timeout can change any more: a timeout changes causes
    /// only from the start of a sender's silence, or of the wait for a lost packet, on.
    pub fn active(&mut self, end: End, now: Time) {
        self.directions[end as usize].last_active = now;
        let silences = self
            .directions
            .iter()
            .filter(|direction| direction.una < direction.max_sent)
            .map(|direction| direction.last_active);
        let lost_since = self.lost_wait.map(|wait| wait.since);
        let settled = silences.chain(lost_since).min().unwrap_or(now);
        self.log.settle(settled.min(self.logged_until));
    }

    /// The retransmission timer of `end` expired. If `end` has to retransmit the lost data for
    /// which the connection waits, that wait was a wait for the timer.
    pub fn timeout(&mut self, end: End, now: Time) {
        let direction = &self.directions[end as usize];
        let reverse = &self.directions[end.other() as usize];
        let silent_since = direction.last_active.max(self.opened);
        let silence: Vec<Interval> = self.log.between(silent_since, now).collect();
        let awaited = match &mut self.lost_wait {
            Some(wait) if wait.data.sender == end => {
                self.log.relabel_timer_wait(wait.since);
                wait.since = now;
                Some(wait.data.loss)
            }
            _ => None,
        };
        let expiry = Expiry { end, silent_since, at: now, awaited };
        let is_needed = self.timeouts.expired(direction, reverse, expiry, &silence);
        self.direction_mut(end).timed_out(is_needed);
    }

    /// A packet of `end` arrived or was lost. This may decide whether earlier timeouts were needed.
    pub fn resolve_timeouts(&mut self, packet: PacketId, loss: Option<Loss>) {
        for end in self.timeouts.settle(packet, loss) {
            self.direction_mut(end).was_needed();
        }
    }

    /// Changes the kind of the connection, and forgets its packets.
    pub fn change_kind(&mut self, kind: Kind, now: Time) {
        self.kind = kind;
        self.directions = [DirectionState::new(1, now), DirectionState::new(1, now)];
        self.object = None;
    }

    /// Progress of the data of `end`.
    pub fn progress(&self, end: End) -> Progress {
        let direction = self.direction(end);
        let is_established = self.is_established();
        let is_silent = self.directions.iter().all(DirectionState::is_silent_in_handshake);
        let has_data_in_transit = direction.rcv_next < direction.max_sent;
        let has_unsent_data = direction.unsent() > 0;
        Progress {
            next: direction.rcv_next,
            sent: direction.max_sent,
            has_more: !is_established || has_data_in_transit || has_unsent_data,
            is_held_back: direction.limiting_window().is_some(),
            is_established,
            waits_for_handshake: !is_established && is_silent,
        }
    }

    /// Whether an end has completed the handshake.
    fn is_established(&self) -> bool {
        self.directions.iter().any(|direction| direction.is_established)
    }

    /// Takes the settled intervals if there are more than `min_count`.
    pub fn take_intervals(&mut self, min_count: usize) -> Vec<Interval> {
        self.log.take_settled(min_count)
    }

    /// Ends a flow of datagrams with its last packet: the time after it is not part of the flow.
    /// Returns the end.
    pub fn end_with_last_packet(&mut self) -> Time {
        if self.kind != Kind::Tcp {
            self.logged_until = self.log.trim(Cause::NotVisible).unwrap_or(self.logged_until);
        }
        self.logged_until
    }

    /// Ends the connection. Returns its time by cause and its intervals.
    pub fn finish(self) -> FinishedLog {
        self.log.finish()
    }
}
