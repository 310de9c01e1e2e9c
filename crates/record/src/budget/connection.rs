//! One connection: what it waits for at each instant. It waits for one packet at a time: for the next byte in order at
//! the receiver, or, if that has not left its sender, for the acknowledgment that would let it leave.

use umts_stack::ids::{ConnectionId, Direction, End, FlowId, PacketId, UeId};
use umts_units::Time;

use super::bearer::Held;
use super::cause::{Cause, Parts};
use super::log::{Interval, Log};
use super::rto::Timeouts;
use super::ue::Ue;
use super::way::{Flying, Loss, Place, Way};

/// What a connection waits for.
#[derive(Debug, Clone, Copy)]
enum Waits {
    /// For a packet of this direction in the radio access network. The second cause is that of a packet that is served.
    Radio(Direction, PacketId, Cause),
    /// For a packet in the fixed network, through which an empty one would let it pass until this instant.
    Core(Time, Cause),
    /// For no packet.
    Nothing(Cause),
}

/// How far the data of one end have come, as a transfer of which the connection is a part sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// The number of the octet that arrives next, and the one after the highest sent.
    pub next: u64,
    pub sent: u64,
    /// Not all that is known of has arrived.
    pub has_more: bool,
    /// A window keeps unsent data back.
    pub is_held_back: bool,
    pub is_established: bool,
    /// The handshake waits, and none of it is on its way.
    pub waits_for_handshake: bool,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub id: ConnectionId,
    pub flow: FlowId,
    pub ue: UeId,
    pub opened: Time,
    /// The end whose data the flow is about.
    sender: End,
    /// By the end that sends.
    ways: [Way; 2],
    pub log: Log,
    pub timeouts: Timeouts,
    /// The log ends here.
    since: Time,
    waits: Option<Waits>,
    /// What its senders have written, and their windows, are known.
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
            sender,
            ways: [Way::new(mss, now), Way::new(mss, now)],
            log,
            timeouts: Timeouts::default(),
            since: now,
            waits: None,
            sees_sender,
        }
    }

    /// What the sender at `end` has under way, to be changed: what the connection waits for is then found anew.
    pub fn way(&mut self, end: End) -> &mut Way {
        self.waits = None;
        &mut self.ways[end as usize]
    }

    /// How far the data of `end` have come.
    pub fn seen(&self, end: End) -> Seen {
        let way = &self.ways[end as usize];
        let is_established = self.ways.iter().any(|way| way.is_established);
        Seen {
            next: way.rcv_next,
            sent: way.max_sent,
            has_more: !is_established || way.rcv_next < way.max_sent || way.unsent() > 0,
            is_held_back: way.held_back_by().is_some(),
            is_established,
            waits_for_handshake: !is_established && self.ways.iter().all(Way::is_held),
        }
    }

    /// Something left the sender at `end`, or reached it: nothing before is a silence of that sender any more.
    pub fn active(&mut self, end: End, now: Time) {
        self.ways[end as usize].active = now;
        let waiting = self.ways.iter().filter(|way| way.una < way.max_sent).map(|way| way.active);
        let settled = waiting.chain(self.timeouts.undecided_since()).min().unwrap_or(now);
        self.log.settle(settled.min(self.since));
    }

    /// Until `now` the connection waited for what it has waited for.
    #[inline]
    pub fn advance(&mut self, ue: &Ue, now: Time) {
        while self.since < now {
            let waits = match self.waits {
                Some(waits) => waits,
                None => *self.waits.insert(self.find()),
            };
            let (cause, sn, until) = judge(waits, ue, self.since);
            let end = until.min(now);
            self.log.push(self.since, end, cause, sn);
            self.since = end;
        }
    }

    fn find(&self) -> Waits {
        let order = [self.sender, self.sender.other()];
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

    fn if_seen(&self, cause: Cause) -> Cause {
        if self.sees_sender { cause } else { Cause::NotVisible }
    }

    /// The next byte in order has left `end`.
    fn for_data(&self, end: End) -> Waits {
        let way = &self.ways[end as usize];
        if let Some(copy) = way.copies(way.rcv_next).find(|copy| copy.is_alive()) {
            let (served, moving) = match way.in_setup() || way.rcv_next == 0 {
                true => (Cause::Setup, Cause::Setup),
                // More of it would be on the radio by now, were it not for the window.
                false => (Cause::Serialisation, way.held_back_by().unwrap_or(Cause::Propagation)),
            };
            return follow(end, copy, served, moving);
        }
        match way.copies(way.rcv_next).last().map(|copy| copy.place) {
            Some(Place::Lost(loss)) => Waits::Nothing(loss.cause()),
            _ => Waits::Nothing(Cause::Unexplained),
        }
    }

    /// All that `end` has sent has arrived, and there is more.
    fn for_leave(&self, end: End) -> Waits {
        let way = &self.ways[end as usize];
        if way.in_setup() {
            let first = [end.other(), end].into_iter().find_map(|from| {
                self.ways[from as usize]
                    .first_alive()
                    .map(|flying| follow(from, flying, Cause::Setup, Cause::Setup))
            });
            return first.unwrap_or(Waits::Nothing(Cause::Setup));
        }
        match way.held_back_by() {
            None => Waits::Nothing(Cause::SenderIdle),
            Some(cause) => self.for_acknowledgment(end, cause),
        }
    }

    /// `end` waits for an acknowledgment; `cause` is what makes it wait.
    fn for_acknowledgment(&self, end: End, cause: Cause) -> Waits {
        let una = self.ways[end as usize].una;
        let back = &self.ways[end.other() as usize];
        match (back.first_ack_beyond(una), back.lost_ack) {
            (Some(ack), _) => follow(end.other(), ack, cause, cause),
            (None, Some(loss)) => Waits::Nothing(loss.cause()),
            (None, None) => Waits::Nothing(cause),
        }
    }

    /// The retransmission timer of `end` expired after a silence, which is what the connection waited for.
    pub fn timeout(&mut self, end: End, now: Time) {
        let way = &self.ways[end as usize];
        let back = &self.ways[end.other() as usize];
        let silent_since = way.active.max(self.opened);
        let causes: Vec<Interval> = self.log.between(silent_since, now).collect();
        let decided = self.timeouts.expired(way, back, (end, silent_since, now), &causes);
        self.log.rewrite(silent_since, now, if decided { Cause::RtoNeeded } else { Cause::RtoSpurious });
    }

    /// A packet of `end` has come, or was lost: a timeout may have waited to hear of it.
    pub fn settle_timeouts(&mut self, packet: PacketId, loss: Option<Loss>) {
        for (from, to, cause) in self.timeouts.heard_of(packet, loss) {
            self.log.rewrite(from, to, cause);
        }
    }

    /// Takes the intervals that change no more, if there are more than so many.
    pub fn take_intervals(&mut self, least: usize) -> Vec<Interval> {
        self.log.take_settled(least)
    }

    /// The connection is over: its sums, those inside the window, its intervals.
    pub fn finish(self) -> (Parts, Parts, Vec<Interval>) {
        self.log.finish()
    }
}

fn follow(end: End, packet: &Flying, served: Cause, moving: Cause) -> Waits {
    match packet.place {
        Place::Core(until) => Waits::Core(until, moving),
        Place::Radio => Waits::Radio(end.sends(), packet.packet, served),
        Place::Lost(loss) => Waits::Nothing(loss.cause()),
    }
}

/// The cause at an instant, the PDU that is named, and until when it is the cause if nothing happens.
fn judge(waits: Waits, ue: &Ue, at: Time) -> (Cause, Option<u16>, Time) {
    match waits {
        Waits::Nothing(cause) => (cause, None, Time::NEVER),
        Waits::Core(until, cause) if at < until => (cause, None, until),
        Waits::Core(..) => (Cause::CoreQueue, None, Time::NEVER),
        Waits::Radio(..) if ue.is_cut_off() => (Cause::ChannelSwitch, None, Time::NEVER),
        Waits::Radio(direction, packet, served) => {
            let (held, until) = ue.bearers[direction.index()].held(packet, at);
            match (held, ue.lacks(direction, at)) {
                (Held::OnAir, _) | (Held::Served, None) => (served, None, until),
                (Held::Recovering(sn), Some((cause, to))) => (cause, sn, until.min(to)),
                (_, Some((cause, to))) => (cause, None, until.min(to)),
                (Held::Queued, None) => (Cause::RadioQueue, None, until),
                (Held::Recovering(sn), None) if ue.capacity.is_report_late(direction) => {
                    (Cause::AckChannel, sn, until)
                }
                (Held::Recovering(sn), None) => (Cause::RlcRecovery, sn, until),
            }
        }
    }
}
