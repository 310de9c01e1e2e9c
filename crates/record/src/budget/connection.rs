//! Finds the cause of a connection's wait at each instant, and logs it for the time budget.
//!
//! A connection waits for one packet at a time: the packet with the next byte in order at the
//! receiver, or, if that byte has not left its sender, the acknowledgment that would release it.
//! The cause follows from the position of this packet: in the fixed network, in the radio access
//! network, or lost. If there is no such packet, the state of the sender gives the cause.

use umts_stack::ids::{ConnectionId, Direction, End, FlowId, PacketId, UeId};
use umts_units::Time;

use super::bearer::{Wait, WaitReason};
use super::cause::Cause;
use super::direction_state::{DirectionState, Position, SegmentInTransit};
use super::log::{FinishedLog, Interval, Log, WaitCause};
use super::loss::Loss;
use super::missing::LossPlace;
use super::rto::{Expiry, Timeouts};
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
enum WaitObject {
    /// A packet of this direction in the radio access network. `served` is the cause while the
    /// packet is served.
    Radio { direction: Direction, packet: PacketId, served: Cause },
    /// A packet in the fixed network, which would leave an empty network at `until`. The cause is
    /// `moving` until then and `late` afterwards.
    Core { until: Time, moving: Cause, late: Cause },
    /// A packet of the uplink in the fixed network, while the radio still carries `packet` with
    /// later data. The radio, not the fixed network, then limits the rate: until the awaited packet
    /// would leave an empty network at `until`, the cause is the one of a wait for `packet`.
    /// Afterwards the cause is `late`.
    CoreBehindRadio { until: Time, packet: PacketId, served: Cause, late: Cause },
    /// The data with this sequence number, which `end` has to retransmit: every copy is lost.
    Lost { end: End, number: u64, loss: Loss },
    /// An acknowledgment that was lost.
    LostAck(Loss),
    /// No packet.
    Nothing(Cause),
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

#[derive(Debug)]
pub(super) struct Connection {
    pub id: ConnectionId,
    pub flow: FlowId,
    pub ue: UeId,
    pub opened: Time,
    pub kind: Kind,
    /// The end that sends the flow's data.
    sender: End,
    /// State of both directions, by sending end.
    directions: [DirectionState; 2],
    pub log: Log,
    /// Expiries of the retransmission timers of both ends.
    pub timeouts: Timeouts,
    /// End of the log: the causes up to this time are known.
    logged_until: Time,
    /// The current wait. `None` if an event may have changed it.
    wait: Option<WaitObject>,
    /// The current wait for a lost packet, and its start.
    lost_wait: Option<(WaitObject, Time)>,
    /// Whether written data and windows of the senders are known.
    knows_senders: bool,
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
            directions: [DirectionState::new(mss, now), DirectionState::new(mss, now)],
            log,
            timeouts: Timeouts::default(),
            logged_until: now,
            wait: None,
            lost_wait: None,
            knows_senders,
        }
    }

    /// Gives mutable access to the direction of the sender at `end`. The object of the wait is then
    /// determined again.
    pub fn direction_mut(&mut self, end: End) -> &mut DirectionState {
        self.wait = None;
        &mut self.directions[end as usize]
    }

    /// Changes the kind of the connection, and forgets its packets.
    pub fn change_kind(&mut self, kind: Kind, now: Time) {
        self.kind = kind;
        self.directions = [DirectionState::new(1, now), DirectionState::new(1, now)];
        self.wait = None;
    }

    /// Progress of the data of `end`.
    pub fn progress(&self, end: End) -> Progress {
        let direction = &self.directions[end as usize];
        let is_established = self.directions.iter().any(|direction| direction.is_established);
        Progress {
            next: direction.rcv_next,
            sent: direction.max_sent,
            has_more: !is_established || direction.rcv_next < direction.max_sent || direction.unsent() > 0,
            is_held_back: direction.limiting_window().is_some(),
            is_established,
            waits_for_handshake: !is_established
                && self.directions.iter().all(DirectionState::is_silent_in_handshake),
        }
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
        let lost_since = self.lost_wait.map(|(_, since)| since);
        let settled = silences.chain(lost_since).min().unwrap_or(now);
        self.log.settle(settled.min(self.logged_until));
    }

    /// Logs the wait up to `now`.
    #[inline]
    pub fn advance(&mut self, ue: &Ue, now: Time) {
        while self.logged_until < now {
            let wait = match self.wait {
                Some(wait) => wait,
                None => *self.wait.insert(self.find_object()),
            };
            self.lost_wait = match (wait, self.lost_wait) {
                (WaitObject::Lost { .. }, Some((before, since))) if before == wait => Some((wait, since)),
                (WaitObject::Lost { .. }, _) => Some((wait, self.logged_until)),
                _ => None,
            };
            let (wait_cause, until) = cause_at(wait, ue, self.logged_until);
            let end = until.min(now);
            self.log.push(self.logged_until, end, wait_cause);
            self.logged_until = end;
        }
    }

    /// Finds the packet for which the connection waits: first the data of the flow's sender, then
    /// the data of the other end, then acknowledgments.
    fn find_object(&self) -> WaitObject {
        let order = [self.sender, self.sender.other()];
        if self.kind != Kind::Tcp {
            return self.for_datagram(order);
        }
        for end in order {
            let direction = &self.directions[end as usize];
            if direction.rcv_next < direction.max_sent {
                return self.for_data(end);
            }
            if direction.unsent() > 0 {
                return self.for_unsent_data(end);
            }
        }
        for end in order {
            let direction = &self.directions[end as usize];
            if direction.una < direction.max_sent {
                return self.for_acknowledgment(end, self.if_visible(Cause::Propagation));
            }
        }
        let is_open = self.directions.iter().any(|direction| direction.is_established);
        WaitObject::Nothing(if is_open { self.if_visible(Cause::ApplicationIdle) } else { Cause::Setup })
    }

    /// The wait for the first datagram that is on the way.
    fn for_datagram(&self, order: [End; 2]) -> WaitObject {
        let causes = match self.kind {
            Kind::Lookup => {
                PacketCauses { served: Cause::Names, moving: Cause::Names, late: Cause::CoreQueue }
            }
            Kind::Tcp | Kind::Datagrams => PacketCauses {
                served: Cause::Serialisation,
                moving: Cause::Propagation,
                late: Cause::CoreQueue,
            },
        };
        let first =
            order.into_iter().find_map(|end| Some((end, self.directions[end as usize].first_alive()?)));
        let is_unanswered =
            self.directions[End::Server as usize].max_sent < self.directions[End::Ue as usize].max_sent;
        match first {
            Some((end, packet)) => self.for_segment(end, packet, causes),
            None if self.kind == Kind::Lookup && is_unanswered => WaitObject::Nothing(Cause::Names),
            None => WaitObject::Nothing(Cause::NotVisible),
        }
    }

    /// Returns `cause` if the state of the senders is known.
    fn if_visible(&self, cause: Cause) -> Cause {
        if self.knows_senders { cause } else { Cause::NotVisible }
    }

    /// The wait for the next byte in order, which has left `end`.
    fn for_data(&self, end: End) -> WaitObject {
        let direction = &self.directions[end as usize];
        let number = direction.rcv_next;
        if let Some(copy) = direction.copies(number).find(|copy| copy.is_alive()) {
            let mut causes = if direction.in_setup() || number == 0 {
                SETUP_CAUSES
            } else {
                // While the packet crosses the fixed network, a window that holds back data is the
                // cause: without it, the radio would have data to send at this time.
                let moving = direction.limiting_window().unwrap_or(Cause::Propagation);
                PacketCauses { served: Cause::Serialisation, moving, late: Cause::CoreQueue }
            };
            if direction.has_needless_ahead(copy.packet) {
                (causes.served, causes.late) = (Cause::NeedlessRepeats, Cause::NeedlessRepeats);
            }
            return self.for_segment(end, copy, causes);
        }
        match direction.copies(number).last().map(|copy| copy.place) {
            Some(Position::Lost(loss)) => WaitObject::Lost { end, number, loss },
            _ => WaitObject::Nothing(Cause::Unexplained),
        }
    }

    /// The wait for a segment that `end` sent. An uplink segment that has left the radio holds
    /// nothing up while later data keeps the radio busy.
    fn for_segment(&self, end: End, segment: &SegmentInTransit, causes: PacketCauses) -> WaitObject {
        let direction = &self.directions[end as usize];
        if end == End::Ue
            && let Position::Core(until) = segment.place
            && let Some(later) = direction.first_data_on_radio()
        {
            let is_needless = later.is_needless(direction.rcv_next);
            return WaitObject::CoreBehindRadio {
                until,
                packet: later.packet,
                served: if is_needless { Cause::NeedlessRepeats } else { causes.served },
                late: causes.late,
            };
        }
        wait_for_packet(end, segment, causes)
    }

    /// The wait if all data sent by `end` has arrived and unsent data exists.
    fn for_unsent_data(&self, end: End) -> WaitObject {
        let direction = &self.directions[end as usize];
        if direction.in_setup() {
            let first = [end.other(), end].into_iter().find_map(|from| {
                let segment = self.directions[from as usize].first_alive()?;
                Some(wait_for_packet(from, segment, SETUP_CAUSES))
            });
            let answer = &self.directions[end.other() as usize];
            return match first {
                Some(wait) => wait,
                None if answer.rcv_next < answer.max_sent => self.for_data(end.other()),
                None => WaitObject::Nothing(Cause::Setup),
            };
        }
        match direction.limiting_window() {
            None => WaitObject::Nothing(Cause::SenderIdle),
            Some(cause) => self.for_acknowledgment(end, cause),
        }
    }

    /// The wait of `end` for an acknowledgment. `cause` is the reason why it has to wait.
    fn for_acknowledgment(&self, end: End, cause: Cause) -> WaitObject {
        let una = self.directions[end as usize].una;
        let reverse = &self.directions[end.other() as usize];
        match (reverse.first_ack_beyond(una), reverse.lost_ack) {
            (Some(ack), _) => {
                let causes = PacketCauses { served: cause, moving: cause, late: Cause::CoreQueue };
                wait_for_packet(end.other(), ack, causes)
            }
            (None, Some(loss)) => WaitObject::LostAck(loss),
            (None, None) => WaitObject::Nothing(cause),
        }
    }

    /// The retransmission timer of `end` expired. If `end` holds the lost packet for which the
    /// connection waits, that wait was a wait for the timer.
    pub fn timeout(&mut self, end: End, now: Time) {
        let direction = &self.directions[end as usize];
        let reverse = &self.directions[end.other() as usize];
        let silent_since = direction.last_active.max(self.opened);
        let causes: Vec<Interval> = self.log.between(silent_since, now).collect();
        let awaited = match &mut self.lost_wait {
            Some((WaitObject::Lost { end: holder, loss, .. }, since)) if *holder == end => {
                self.log.relabel_timer_wait(*since);
                *since = now;
                Some(*loss)
            }
            _ => None,
        };
        let expiry = Expiry { end, silent_since, at: now, awaited };
        let is_needed = self.timeouts.expired(direction, reverse, expiry, &causes);
        self.direction_mut(end).timed_out(is_needed);
    }

    /// A packet of `end` arrived or was lost. This may decide whether earlier timeouts were needed.
    pub fn resolve_timeouts(&mut self, packet: PacketId, loss: Option<Loss>) {
        for end in self.timeouts.settle(packet, loss) {
            self.direction_mut(end).was_needed();
        }
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

/// The causes of a wait for one packet, by its position.
#[derive(Debug, Clone, Copy)]
struct PacketCauses {
    /// In the radio access network, while the packet is served.
    served: Cause,
    /// In the fixed network, for as long as an empty network takes.
    moving: Cause,
    /// In the fixed network, for longer than that.
    late: Cause,
}

/// The causes of a wait for a packet of the handshake.
const SETUP_CAUSES: PacketCauses =
    PacketCauses { served: Cause::Setup, moving: Cause::Setup, late: Cause::CoreQueue };

/// The wait for a packet that `end` sent.
fn wait_for_packet(end: End, packet: &SegmentInTransit, causes: PacketCauses) -> WaitObject {
    let PacketCauses { served, moving, late } = causes;
    match packet.place {
        Position::Core(until) => WaitObject::Core { until, moving, late },
        Position::Radio => WaitObject::Radio { direction: end.sends(), packet: packet.packet, served },
        Position::Lost(loss) => WaitObject::LostAck(loss),
    }
}

/// The cause of a wait at an instant, and until when it holds without an event.
fn cause_at(wait: WaitObject, ue: &Ue, at: Time) -> (WaitCause, Time) {
    let of_loss = |cause, loss| WaitCause { loss: Some(loss), ..WaitCause::from(cause) };
    match wait {
        WaitObject::Nothing(cause) => (cause.into(), Time::NEVER),
        WaitObject::Lost { loss, .. } => (of_loss(loss.cause(), loss), Time::NEVER),
        WaitObject::LostAck(loss) => (of_loss(Cause::AckLoss, loss), Time::NEVER),
        WaitObject::Core { until, moving, .. } if at < until => (moving.into(), until),
        WaitObject::CoreBehindRadio { until, packet, served, .. } if at < until => {
            let (cause, holds_until) = cause_on_radio(ue, Direction::Uplink, packet, served, at);
            (cause, until.min(holds_until))
        }
        WaitObject::Core { late, .. } | WaitObject::CoreBehindRadio { late, .. } => {
            (late.into(), Time::NEVER)
        }
        WaitObject::Radio { direction, packet, served } => cause_on_radio(ue, direction, packet, served, at),
    }
}

/// The cause of a wait for a packet in the radio access network, and until when it holds without an
/// event.
fn cause_on_radio(
    ue: &Ue,
    direction: Direction,
    packet: PacketId,
    served: Cause,
    at: Time,
) -> (WaitCause, Time) {
    if ue.is_in_cell_update() {
        (Cause::RlcReestablishment.into(), Time::NEVER)
    } else if ue.is_cut_off() {
        (Cause::ChannelSwitch.into(), Time::NEVER)
    } else if ue.is_resetting() {
        (Cause::RlcReset.into(), Time::NEVER)
    } else {
        cause_on_bearer(ue, direction, packet, served, at)
    }
}

/// The cause of a wait for a packet in a bearer that is in use, and until when it holds without an
/// event.
fn cause_on_bearer(
    ue: &Ue,
    direction: Direction,
    packet: PacketId,
    served: Cause,
    at: Time,
) -> (WaitCause, Time) {
    let Wait { reason, until } = ue.bearers[direction.index()].wait_reason(packet, at);
    let sn = match reason {
        WaitReason::Recovering { sn, .. } | WaitReason::Prohibited { sn } | WaitReason::Reordered { sn } => {
            Some(sn)
        }
        _ => None,
    };
    let cause = match reason {
        WaitReason::OnAir => return (served.into(), until),
        WaitReason::OnSlowChannel => return (Cause::DchRefused.into(), until),
        WaitReason::Served => served,
        WaitReason::Queued if ue.is_refused_dch() => Cause::DchRefused,
        WaitReason::Queued => Cause::RadioQueue,
        WaitReason::WindowFull => Cause::RlcWindow,
        WaitReason::NoCredit => Cause::IubCredit,
        WaitReason::Repeated => Cause::Harq,
        WaitReason::Reordered { .. } => Cause::Reordering,
        WaitReason::Recovering { .. } | WaitReason::Prohibited { .. }
            if ue.capacity.is_report_late(direction) =>
        {
            Cause::AckChannel
        }
        WaitReason::Prohibited { .. } => Cause::StatusProhibited,
        WaitReason::Recovering { place: LossPlace::NodebQueue, .. } => Cause::NodebDrop,
        WaitReason::Recovering { place: LossPlace::Air, .. } => Cause::RlcRecovery,
    };
    // A missing radio resource takes precedence over the state of RLC.
    match ue.missing_resource(direction, at) {
        Some((resource, missing_until)) => {
            (WaitCause { sn, ..WaitCause::from(resource) }, until.min(missing_until))
        }
        None => (WaitCause { sn, ..WaitCause::from(cause) }, until),
    }
}
