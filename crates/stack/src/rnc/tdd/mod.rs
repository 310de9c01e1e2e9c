//! MAC of a TDD cell: capacity on request (Baiocchi and Vacirca 2002, §II.B and §II.C).
//!
//! One carrier for both directions. A frame is one turn: requests are decided (*grant*), RLC is asked for data PDUs (*pull*),
//! blocks get the slots and codes of their grants (*place*), and the radio is asked about all of them at once (*judge*):
//! `turn.rs`. Then users ask on the RACH. Control PDUs travel at the end of the frame, behind the data that they are about:
//! `acks.rs`.
//!
//! ```text
//!   frame       n                          n + 1
//!   turn        | decide, pull, judge; RACH |  data of frame n arrive; then control PDUs, which are heard before the next turn
//! ```
//!
//! A frame without grants, requests and control PDUs costs no event.

mod acks;
mod config;
mod grants;
#[cfg(test)]
mod invariants;
mod requests;
mod slots;
mod turn;

use std::collections::BTreeSet;

use umts_kernel::random::Streams;
use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

pub use self::config::{
    AckChannel, AckConfig, GrantConfig, GrantEnds, GrantOrder, Refused, TddConfig, TddRachConfig,
};
use self::grants::Grant;
use self::requests::{Request, Requests};
use self::slots::{Place, Slots};
use crate::EventContext;
use crate::event::Event;
use crate::event_context::Wakeup;
use crate::ids::{CarrierId, CellId, Direction, UeId};
use crate::radio::mac::{AckContention, AckTurns, TddAccess};
use crate::radio::phy::tdd::layout::FRAME;
use crate::radio::phy::tdd::{SlotTransmission, TddRadio};
use crate::radio::rlc::Rlc;
use crate::scheduling::Scheduler;
use crate::trace::TraceEvent;
use crate::ue::{CapacityRequest, UeContext, Ues};

/// MAC of one TDD cell.
#[derive(Debug)]
pub struct MacTdd {
    cell: CellId,
    config: TddConfig,
    slots: Slots,
    /// By UE and direction. What the RNC wants of itself takes the same steps, but for the RACH.
    wants: Vec<[CapacityRequest; 2]>,
    /// When users next ask on the RACH.
    asking: BTreeSet<(u64, UeId)>,
    access: TddAccess,
    requests: Requests,
    /// Who of those that ask is next, by direction; `None`: who asked first.
    schedulers: Option<[Scheduler; 2]>,
    /// In the order in which they were granted.
    grants: Vec<Grant>,
    turns: AckTurns,
    contention: AckContention,
    /// Where the common channels of control PDUs begin, by direction.
    ack_places: [Option<Place>; 2],
    radio: Option<TddRadio>,
    /// The frame whose turn was the last, and what was on the air in it.
    frame: Option<u64>,
    on_air: Vec<SlotTransmission>,
    /// The end of a frame at which control PDUs travelled last.
    boundary: Option<u64>,
    tick: Wakeup,
    control: Wakeup,
    /// Whose RLC entities were asked since somebody looked.
    touched: Vec<(UeId, Direction)>,
    scratch: Scratch,
}

/// Memory that is used again and again.
#[derive(Debug, Default)]
struct Scratch {
    verdicts: Vec<bool>,
    asking: Vec<UeId>,
    heard: Vec<bool>,
    through: Vec<UeId>,
    collided: Vec<UeId>,
}

impl MacTdd {
    /// MAC of `cell`, with draws of its own.
    pub fn new(cell: CellId, config: &TddConfig, streams: &Streams) -> Self {
        let draws = |purpose: &str| streams.addressed(&format!("cell{}/tdd/{purpose}", cell.0));
        let mut slots = Slots::new(config.layout.layout(), config.pattern.as_deref());
        let ack = config.ack;
        let room = [ack.downlink_per_frame.unwrap_or(1), ack.uplink_places];
        let mut ack_places = [None; 2];
        for direction in Direction::BOTH.into_iter().filter(|_| ack.channel == AckChannel::Common) {
            let places = (0..room[direction.index()]).map_while(|_| slots.take(direction));
            ack_places[direction.index()] = places.min_by_key(|place| place.slot);
        }
        let rach = config.rach;
        MacTdd {
            cell,
            slots,
            wants: Vec::new(),
            asking: BTreeSet::new(),
            access: TddAccess::new(rach.codes, rach.backoff, draws("rach/code"), draws("rach/backoff")),
            requests: Requests::default(),
            schedulers: config.grant.order.scheduler().map(|kind| [kind; 2].map(Scheduler::new)),
            grants: Vec::new(),
            turns: AckTurns::new(ack.downlink_per_frame),
            contention: AckContention::new(ack.uplink_places, ack.uplink_backoff, draws("ack")),
            ack_places,
            radio: config.radio.map(|radio| TddRadio::new(radio, streams)),
            frame: None,
            on_air: Vec::new(),
            boundary: None,
            tick: Wakeup::NONE,
            control: Wakeup::NONE,
            touched: Vec::new(),
            scratch: Scratch::default(),
            config: config.clone(),
        }
    }

    /// The RLC entity of `ue` that sends in `direction` has changed: it may need capacity, or have a control PDU to send.
    pub fn changed<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: CarrierId,
        rlc: &Rlc,
        ue: UeId,
        direction: Direction,
    ) {
        if self.note(ctx, rlc, ue, direction) {
            self.wake(ctx, id);
        }
    }

    /// Notes what an entity wants. Tells whether that is anything new.
    #[inline]
    fn note<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        rlc: &Rlc,
        ue: UeId,
        direction: Direction,
    ) -> bool {
        let now = ctx.cx.now;
        let asks =
            self.want(ue, direction) == CapacityRequest::Idle && self.needs_capacity(now, ue, direction, rlc);
        if asks {
            self.ask(ctx, ue, direction, self.next_frame(now));
        }
        let reports = self.config.ack.channel == AckChannel::Common
            && rlc.has_control(now)
            && self.wants_to_report(now, ue, direction);
        asks || reports
    }

    /// An entity has a control PDU for the channels that all share. Tells whether that is new.
    fn wants_to_report(&mut self, now: Time, ue: UeId, direction: Direction) -> bool {
        match direction {
            Direction::Downlink => self.turns.want(ue),
            Direction::Uplink => self.contention.want(ue, self.next_boundary(now) - 1),
        }
    }

    /// Looks at the entities that were asked for blocks since the last time; `with_each` sees to their timers.
    pub fn look_at_touched<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: CarrierId,
        ues: &mut Ues,
        mut with_each: impl FnMut(&mut EventContext<'_, T>, &mut UeContext, Direction),
    ) {
        let mut touched = std::mem::take(&mut self.touched);
        for (ue, direction) in touched.drain(..) {
            let context = &mut ues[ue];
            self.note(ctx, &context.rlc[direction.index()], ue, direction);
            with_each(ctx, context, direction);
        }
        self.touched = touched;
        self.wake(ctx, id);
    }

    /// Whether an entity has something to send that goes in a grant. Without common channels for control PDUs these do, too,
    /// unless a grant the other way has room for them.
    fn needs_capacity(&self, now: Time, ue: UeId, direction: Direction, rlc: &Rlc) -> bool {
        let has_room = || self.grants.iter().any(|of| (of.ue, of.direction) == (ue, direction.reversed()));
        let has_own = self.config.ack.channel == AckChannel::Dedicated;
        rlc.has_data(now) || (has_own && rlc.has_control(now) && !has_room())
    }

    /// A UE asks on the RACH, the RNC itself without a signal on the air, from `frame` on.
    #[inline(never)]
    fn ask<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
        frame: u64,
    ) {
        let want = self.want_mut(ue, direction);
        if !want.backlog(frame) {
            return;
        }
        match direction {
            Direction::Uplink => {
                self.asking.insert((frame, ue));
            }
            Direction::Downlink => {
                want.heard();
                self.requests.push(Request { ue, direction, from: frame, told: None, again: false });
            }
        }
        ctx.cx.record(|| TraceEvent::CapacityNeeded { ue, direction });
    }

    #[inline]
    fn want(&self, ue: UeId, direction: Direction) -> CapacityRequest {
        self.wants.get(ue.index()).map_or(CapacityRequest::Idle, |wants| wants[direction.index()])
    }

    fn want_mut(&mut self, ue: UeId, direction: Direction) -> &mut CapacityRequest {
        if self.wants.len() <= ue.index() {
            self.wants.resize(ue.index() + 1, [CapacityRequest::Idle; 2]);
        }
        &mut self.wants[ue.index()][direction.index()]
    }

    /// The first frame whose turn is still to come.
    fn next_frame(&self, now: Time) -> u64 {
        begins(now).max(self.frame.map_or(0, |frame| frame + 1))
    }

    /// The first frame at whose beginning control PDUs of the frame before may still travel. The very first has none before
    /// it, and once its turn has come it is too late.
    fn next_boundary(&self, now: Time) -> u64 {
        self.next_frame(now).max(self.boundary.map_or(1, |boundary| boundary + 1))
    }

    /// Schedules the next turn and the next control PDUs, if there are to be any.
    fn wake<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: CarrierId) {
        let now = ctx.cx.now;
        let asked = self.asking.first().map(|&(frame, _)| frame);
        let wanted = if self.grants.is_empty() {
            asked.into_iter().chain(self.requests.next()).min()
        } else {
            Some(0)
        };
        let turn = wanted.map(|frame| begin(frame.max(self.next_frame(now))));
        ctx.wake(&mut self.tick, turn, Phase::Transmit, Event::Tick(id));
        let turns = (!self.turns.is_idle()).then_some(0);
        let wanted = turns.into_iter().chain(self.contention.next().map(|frame| frame + 1)).min();
        let control = wanted.map(|boundary| begin(boundary.max(self.next_boundary(now))));
        ctx.wake(&mut self.control, control, Phase::Schedule, Event::ControlTurn(id));
    }
}

/// The first frame that begins at `now` or later.
fn begins(now: Time) -> u64 {
    now.as_nanos().div_ceil(FRAME.as_nanos())
}

/// When a frame begins.
fn begin(frame: u64) -> Time {
    Time::ZERO + FRAME * frame
}
