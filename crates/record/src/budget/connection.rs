//! Finds the cause of a connection's wait at each instant.
//!
//! A connection waits for one packet at a time: the packet with the next byte in order at the
//! receiver, or, if that byte has not left its sender, the acknowledgment that would release it.

use umts_stack::ids::{ConnectionId, Direction, End, FlowId, PacketId, UeId};
use umts_units::Time;

use super::bearer::WaitReason;
use super::cause::{Cause, Parts};
use super::direction_state::{DirectionState, Flying, Place};
use super::log::{Interval, Log, Waited};
use super::loss::Loss;
use super::missing;
use super::rto::Timeouts;
use super::ue::Ue;

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

/// Object of a connection's wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// A packet of this direction in the radio access network. `served` is the cause while the
    /// packet is served.
    Radio { direction: Direction, packet: PacketId, served: Cause },
    /// A packet in the fixed network, which would leave an empty network at `until`. From then on
    /// the cause is `later`.
    Core { until: Time, moving: Cause, later: Cause },
    /// The data with this sequence number, of which every copy is lost and which `end` holds.
    Lost { end: End, number: u64, loss: Loss },
    /// An acknowledgment that was lost.
    LostAck(Loss),
    /// No packet.
    Nothing(Cause),
}

/// Progress of the data of one end, as needed by the transfer to which the connection belongs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    /// Number of the octet that arrives next, and the number after the highest sent.
    pub next: u64,
    pub sent: u64,
    /// Whether some known data has not arrived.
    pub has_more: bool,
    /// Whether a window holds back unsent data.
    pub is_held_back: bool,
    pub is_established: bool,
    /// Whether the handshake waits while none of its packets is on the way.
    pub waits_for_handshake: bool,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub id: ConnectionId,
    pub flow: FlowId,
    pub ue: UeId,
    pub opened: Time,
    pub kind: Kind,
    /// The end that sends the flow's data.
    sender: End,
    /// By sending end.
    ways: [DirectionState; 2],
    pub log: Log,
    pub timeouts: Timeouts,
    /// End of the log.
    since: Time,
    waits: Option<Waits>,
    /// The current wait for a lost packet, and its start.
    lost: Option<(Waits, Time)>,
    /// Whether written data and windows of the senders are known.
    sees_sender: bool,
}

impl Connection {
    pub fn new(
        (id, flow, ue, sender): (ConnectionId, FlowId, UeId, End),
        mss: u32,
        now: Time,
        (log, sees_sender): (Log, bool),
    ) -> Self {
        Connection {
            id,
            flow,
            ue,
            opened: now,
            kind: Kind::Tcp,
            sender,
            ways: [DirectionState::new(mss, now), DirectionState::new(mss, now)],
            log,
            timeouts: Timeouts::default(),
            since: now,
            waits: None,
            lost: None,
            sees_sender,
        }
    }

    /// Gives mutable access to the direction of the sender at `end`. The object of the wait is then
    /// determined again.
    pub fn way(&mut self, end: End) -> &mut DirectionState {
        self.waits = None;
        &mut self.ways[end as usize]
    }

    /// Changes the kind of the connection, and forgets its packets.
    pub fn change_kind(&mut self, kind: Kind, now: Time) {
        self.kind = kind;
        self.ways = [DirectionState::new(1, now), DirectionState::new(1, now)];
        self.waits = None;
    }

    /// Progress of the data of `end`.
    pub fn progress(&self, end: End) -> Progress {
        let way = &self.ways[end as usize];
        let is_established = self.ways.iter().any(|way| way.is_established);
        Progress {
            next: way.rcv_next,
            sent: way.max_sent,
            has_more: !is_established || way.rcv_next < way.max_sent || way.unsent() > 0,
            is_held_back: way.limiting_window().is_some(),
            is_established,
            waits_for_handshake: !is_established && self.ways.iter().all(DirectionState::is_held),
        }
    }

    /// A packet left the sender at `end`, or reached it. This ends the silence of that sender, so
    /// earlier intervals can be settled.
    pub fn active(&mut self, end: End, now: Time) {
        self.ways[end as usize].active = now;
        let waiting = self.ways.iter().filter(|way| way.una < way.max_sent).map(|way| way.active);
        let lost = self.lost.map(|(_, since)| since);
        let settled = waiting.chain(lost).min().unwrap_or(now);
        self.log.settle(settled.min(self.since));
    }

    /// Logs the wait up to `now`.
    #[inline]
    pub fn advance(&mut self, ue: &Ue, now: Time) {
        while self.since < now {
            let waits = match self.waits {
                Some(waits) => waits,
                None => *self.waits.insert(self.find()),
            };
            self.lost = match (waits, self.lost) {
                (Waits::Lost { .. }, Some((same, since))) if same == waits => Some((waits, since)),
                (Waits::Lost { .. }, _) => Some((waits, self.since)),
                _ => None,
            };
            let (waited, until) = waited_at(waits, ue, self.since);
            let end = until.min(now);
            self.log.push(self.since, end, waited);
            self.since = end;
        }
    }

    fn find(&self) -> Waits {
        let order = [self.sender, self.sender.other()];
        if self.kind != Kind::Tcp {
            return self.for_datagram(order);
        }
        for end in order {
            let way = &self.ways[end as usize];
            if way.rcv_next < way.max_sent {
                return self.for_data(end);
            }
            if way.unsent() > 0 {
                return self.for_leave(end);
            }
        }
        for end in order {
            let way = &self.ways[end as usize];
            if way.una < way.max_sent {
                return self.for_acknowledgment(end, self.if_seen(Cause::Propagation));
            }
        }
        let is_open = self.ways.iter().any(|way| way.is_established);
        Waits::Nothing(if is_open { self.if_seen(Cause::ApplicationIdle) } else { Cause::Setup })
    }

    /// The wait for the first datagram on its way.
    fn for_datagram(&self, order: [End; 2]) -> Waits {
        let (served, moving) = match self.kind {
            Kind::Lookup => (Cause::Names, Cause::Names),
            Kind::Tcp | Kind::Datagrams => (Cause::Serialisation, Cause::Propagation),
        };
        let first = order.into_iter().find_map(|end| Some((end, self.ways[end as usize].first_alive()?)));
        let is_unanswered = self.ways[End::Server as usize].max_sent < self.ways[End::Ue as usize].max_sent;
        match first {
            Some((end, packet)) => follow(end, packet, served, moving, Cause::CoreQueue),
            None if self.kind == Kind::Lookup && is_unanswered => Waits::Nothing(Cause::Names),
            None => Waits::Nothing(Cause::NotVisible),
        }
    }

    fn if_seen(&self, cause: Cause) -> Cause {
        if self.sees_sender { cause } else { Cause::NotVisible }
    }

    /// The wait for the next byte in order, which has left `end`.
    fn for_data(&self, end: End) -> Waits {
        let way = &self.ways[end as usize];
        let number = way.rcv_next;
        if let Some(copy) = way.copies(number).find(|copy| copy.is_alive()) {
            let (served, moving) = match way.in_setup() || number == 0 {
                true => (Cause::Setup, Cause::Setup),
                // Without the window, more data would be on the radio at this time.
                false => (Cause::Serialisation, way.limiting_window().unwrap_or(Cause::Propagation)),
            };
            return if way.has_needless_ahead(copy.packet) {
                follow(end, copy, Cause::NeedlessRepeats, moving, Cause::NeedlessRepeats)
            } else {
                follow(end, copy, served, moving, Cause::CoreQueue)
            };
        }
        match way.copies(number).last().map(|copy| copy.place) {
            Some(Place::Lost(loss)) => Waits::Lost { end, number, loss },
            _ => Waits::Nothing(Cause::Unexplained),
        }
    }

    /// The wait if all data sent by `end` has arrived and unsent data exists.
    fn for_leave(&self, end: End) -> Waits {
        let way = &self.ways[end as usize];
        if way.in_setup() {
            let first = [end.other(), end].into_iter().find_map(|from| {
                self.ways[from as usize]
                    .first_alive()
                    .map(|flying| follow(from, flying, Cause::Setup, Cause::Setup, Cause::CoreQueue))
            });
            let answer = &self.ways[end.other() as usize];
            return match first {
                Some(waits) => waits,
                None if answer.rcv_next < answer.max_sent => self.for_data(end.other()),
                None => Waits::Nothing(Cause::Setup),
            };
        }
        match way.limiting_window() {
            None => Waits::Nothing(Cause::SenderIdle),
            Some(cause) => self.for_acknowledgment(end, cause),
        }
    }

    /// The wait of `end` for an acknowledgment. `cause` is the reason why it has to wait.
    fn for_acknowledgment(&self, end: End, cause: Cause) -> Waits {
        let una = self.ways[end as usize].una;
        let back = &self.ways[end.other() as usize];
        match (back.first_ack_beyond(una), back.lost_ack) {
            (Some(ack), _) => follow(end.other(), ack, cause, cause, Cause::CoreQueue),
            (None, Some(loss)) => Waits::LostAck(loss),
            (None, None) => Waits::Nothing(cause),
        }
    }

    /// The retransmission timer of `end` expired. If `end` holds the lost packet for which the
    /// connection waits, that wait was a wait for the timer.
    pub fn timeout(&mut self, end: End, now: Time) {
        let way = &self.ways[end as usize];
        let back = &self.ways[end.other() as usize];
        let silent_since = way.active.max(self.opened);
        let causes: Vec<Interval> = self.log.between(silent_since, now).collect();
        let is_needed = self.timeouts.expired(way, back, (end, silent_since, now), &causes);
        if let Some((Waits::Lost { end: holder, .. }, since)) = &mut self.lost
            && *holder == end
        {
            self.log.was_for_timer(*since);
            *since = now;
        }
        self.way(end).timed_out(is_needed);
    }

    /// A packet of `end` arrived or was lost. This may decide whether earlier timeouts were needed.
    pub fn settle_timeouts(&mut self, packet: PacketId, loss: Option<Loss>) {
        for end in self.timeouts.settle(packet, loss) {
            self.way(end).was_needed();
        }
    }

    /// Takes the settled intervals if there are more than `least`.
    pub fn take_intervals(&mut self, least: usize) -> Vec<Interval> {
        self.log.take_settled(least)
    }

    /// Ends a flow of datagrams with its last packet: the time after it is not part of the flow.
    /// Returns the end.
    pub fn end_with_last_packet(&mut self) -> Time {
        if self.kind != Kind::Tcp {
            self.since = self.log.trim(Cause::NotVisible).unwrap_or(self.since);
        }
        self.since
    }

    /// Ends the connection. Returns the sums, the sums inside the window, and the intervals.
    pub fn finish(self) -> (Parts, Parts, Vec<Interval>) {
        self.log.finish()
    }
}

/// The wait for a packet that `end` sent. `later` is the cause if the packet is in the fixed
/// network longer than an empty network takes.
fn follow(end: End, packet: &Flying, served: Cause, moving: Cause, later: Cause) -> Waits {
    match packet.place {
        Place::Core(until) => Waits::Core { until, moving, later },
        Place::Radio => Waits::Radio { direction: end.sends(), packet: packet.packet, served },
        Place::Lost(loss) => Waits::LostAck(loss),
    }
}

/// The cause of a wait at an instant, and until when it holds without an event.
fn waited_at(waits: Waits, ue: &Ue, at: Time) -> (Waited, Time) {
    let of_loss = |cause, loss| Waited { loss: Some(loss), ..Waited::from(cause) };
    match waits {
        Waits::Nothing(cause) => (cause.into(), Time::NEVER),
        Waits::Lost { loss, .. } => (of_loss(loss.cause(), loss), Time::NEVER),
        Waits::LostAck(loss) => (of_loss(Cause::AckLoss, loss), Time::NEVER),
        Waits::Core { until, moving, .. } if at < until => (moving.into(), until),
        Waits::Core { later, .. } => (later.into(), Time::NEVER),
        Waits::Radio { .. } if ue.is_in_cell_update() => (Cause::RlcReestablishment.into(), Time::NEVER),
        Waits::Radio { .. } if ue.is_cut_off() => (Cause::ChannelSwitch.into(), Time::NEVER),
        Waits::Radio { .. } if ue.is_resetting() => (Cause::RlcReset.into(), Time::NEVER),
        Waits::Radio { direction, packet, served } => on_radio(ue, direction, packet, served, at),
    }
}

/// The same for a packet in the radio access network.
fn on_radio(ue: &Ue, direction: Direction, packet: PacketId, served: Cause, at: Time) -> (Waited, Time) {
    let (held, until) = ue.bearers[direction.index()].wait_reason(packet, at);
    let sn = match held {
        WaitReason::Recovering(sn, _) | WaitReason::Prohibited(sn) => Some(sn),
        _ => None,
    };
    let cause = match held {
        WaitReason::OnAir => return (served.into(), until),
        WaitReason::OnSlowChannel => return (Cause::DchRefused.into(), until),
        WaitReason::Served => served,
        WaitReason::Queued if ue.is_refused_dch() => Cause::DchRefused,
        WaitReason::Queued => Cause::RadioQueue,
        WaitReason::WindowFull => Cause::RlcWindow,
        WaitReason::Recovering(..) | WaitReason::Prohibited(_) if ue.capacity.is_report_late(direction) => {
            Cause::AckChannel
        }
        WaitReason::Prohibited(_) => Cause::StatusProhibited,
        WaitReason::Recovering(_, missing::Place::NodebQueue) => Cause::NodebDrop,
        WaitReason::Recovering(_, missing::Place::Air) => Cause::RlcRecovery,
    };
    match ue.lacks(direction, at) {
        Some((lack, to)) => (Waited { sn, ..Waited::from(lack) }, until.min(to)),
        None => (Waited { sn, ..Waited::from(cause) }, until),
    }
}
