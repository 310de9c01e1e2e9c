//! MAC of a TDD cell: capacity on request (Baiocchi and Vacirca 2002, §II.B and §II.C).
//!
//! One carrier serves both directions in frames of 10 ms. A frame has slots, and a slot has codes. One
//! code in one slot is a resource unit. A UE that has data requests capacity and gets a *grant*: a
//! number of blocks per frame, with their slots and codes, until it leaves a frame unused.
//!
//! At the start of a frame (`start_of_frame.rs`) requests are decided, data PDUs are pulled from RLC,
//! blocks get the slots and codes of their grants, and the radio decides for all blocks together which
//! are lost (`air.rs`). Then users send requests on the RACH. Control PDUs are sent at the end of the
//! frame, after the data that they acknowledge (`end_of_frame.rs`).
//!
//! ```text
//!   start of frame n       decide requests, pull data, decide losses, RACH
//!   end of frame n         data of frame n arrive, then control PDUs are sent and received
//!   start of frame n + 1   …
//! ```
//!
//! A frame without grants, requests and control PDUs costs no event.

mod air;
mod config;
mod end_of_frame;
mod grants;
#[cfg(test)]
mod invariants;
mod requests;
mod slots;
mod start_of_frame;

use umts_kernel::random::Streams;
use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use self::air::FrameAir;
pub use self::config::{AckChannel, AckConfig, GrantConfig, GrantOrder, Refused, TddConfig, TddRachConfig};
use self::end_of_frame::ControlChannels;
use self::grants::Grant;
use self::requests::Demand;
use self::slots::Slots;
use crate::ids::{CellId, Direction, MacTimer, UeId};
use crate::mac::{Below, CarrierConfig, Mac};
use crate::radio::phy::tdd::TddRadio;
use crate::radio::phy::tdd::layout::FRAME;
use crate::radio::rlc::Rlc;
use crate::scheduling::UserScheduler;
use crate::trace::TraceEvent;
use crate::ue::{CapacityRequest, UeContext, Ues};
use crate::{Context, EventContext};

/// MAC of one TDD cell.
#[derive(Debug)]
pub struct MacTdd {
    cell: CellId,
    config: TddConfig,
    /// The slots and codes of a frame, and those that are allocated.
    slots: Slots,
    /// Requests for capacity that are not granted yet.
    demand: Demand,
    /// In the order of granting.
    grants: Vec<Grant>,
    control: ControlChannels,
    air: FrameAir,
    /// The last frame that was started. Frames are numbered from 0 at the start of the run.
    frame: Option<u64>,
    /// Start of the next frame that has something to do.
    next_start: Option<Time>,
    /// RLC entities that were queried since the last `end_timeout`.
    queried: Vec<(UeId, Direction)>,
}

impl MacTdd {
    /// MAC of `cell`, with its own random streams.
    pub fn new(cell: CellId, config: &TddConfig, streams: &Streams) -> Self {
        let draws = |purpose: &str| streams.addressed(&format!("cell{}/tdd/{purpose}", cell.0));
        let mut slots = Slots::new(config.layout.layout(), config.pattern.as_deref());
        MacTdd {
            cell,
            demand: Demand::new(config, draws),
            control: ControlChannels::new(&config.ack, &mut slots, draws("ack")),
            slots,
            grants: Vec::new(),
            air: FrameAir::new(config.radio.map(|radio| TddRadio::new(radio, streams))),
            frame: None,
            next_start: None,
            queried: Vec::new(),
            config: config.clone(),
        }
    }

    /// Replaces the order of grants, by direction, where there is a scheduler.
    pub fn set_schedulers(&mut self, schedulers: [Option<UserScheduler>; 2]) {
        self.demand.user_schedulers = schedulers;
    }

    /// Updates the needs of an RLC entity: requests capacity for data and queues the UE for the
    /// common control channels, if necessary. Returns whether something changed.
    #[inline]
    fn update_needs<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        rlc: &Rlc,
        ue: UeId,
        direction: Direction,
    ) -> bool {
        let now = cx.now;
        let requests_capacity = self.demand.state(ue, direction) == CapacityRequest::Idle
            && self.needs_capacity(now, ue, direction, rlc);
        if requests_capacity {
            self.demand.request(cx, ue, direction, self.next_frame(now));
        }
        let queues_control_pdu = self.config.ack.channel == AckChannel::Common
            && rlc.has_control(now)
            && self.queue_control_pdu(now, ue, direction);
        requests_capacity || queues_control_pdu
    }

    /// Queues a UE that has a control PDU for the common channels. Returns whether it was not queued
    /// already.
    fn queue_control_pdu(&mut self, now: Time, ue: UeId, direction: Direction) -> bool {
        match direction {
            Direction::Downlink => self.control.downlink.add(ue),
            Direction::Uplink => self.control.uplink.add(ue, self.next_boundary(now) - 1),
        }
    }

    /// Updates the needs of the RLC entities that were queried in this frame, and schedules wake-ups
    /// for their timers.
    fn end_timeout<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ues: &mut Ues) {
        let mut queried = std::mem::take(&mut self.queried);
        for (ue, direction) in queried.drain(..) {
            let context = &mut ues[ue];
            self.update_needs(&mut ctx.cx, &context.rlc[direction.index()], ue, direction);
            context.schedule_wake(ctx, direction);
        }
        self.queried = queried;
        self.update_deadlines(ctx.cx.now);
    }

    /// Whether an entity has PDUs that need a grant. These are data PDUs, and without common channels
    /// also control PDUs, unless a grant in the other direction has a channel for them.
    fn needs_capacity(&self, now: Time, ue: UeId, direction: Direction, rlc: &Rlc) -> bool {
        let has_reverse_grant =
            || self.grants.iter().any(|grant| (grant.ue, grant.direction) == (ue, direction.reversed()));
        let is_dedicated = self.config.ack.channel == AckChannel::Dedicated;
        rlc.has_data(now) || (is_dedicated && rlc.has_control(now) && !has_reverse_grant())
    }

    /// The first frame at or after `now` that was not started yet.
    fn next_frame(&self, now: Time) -> u64 {
        frame_at_or_after(now).max(self.frame.map_or(0, |frame| frame + 1))
    }

    /// The first frame at whose start control PDUs of the previous frame can still be sent. At least 1,
    /// because frame 0 has no previous frame.
    fn next_boundary(&self, now: Time) -> u64 {
        self.next_frame(now).max(self.control.boundary.map_or(1, |boundary| boundary + 1))
    }

    /// Determines the next frame with data or requests and the next one with control PDUs.
    fn update_deadlines(&mut self, now: Time) {
        // With grants, each frame has data: 0 stands for the next possible frame.
        let data_frame = if self.grants.is_empty() { self.demand.next() } else { Some(0) };
        self.next_start = data_frame.map(|frame| frame_start(frame.max(self.next_frame(now))));
        let control_boundary = self.control.next_boundary();
        self.control.next =
            control_boundary.map(|boundary| frame_start(boundary.max(self.next_boundary(now))));
    }
}

/// The first timer is the start of a frame, the second its end, at which control PDUs are sent.
impl Mac for MacTdd {
    /// The timers of RLC run while a UE waits for capacity.
    #[inline]
    fn handle_backlog<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        _config: &CarrierConfig,
        ue: &mut UeContext,
        direction: Direction,
    ) -> bool {
        if self.update_needs(cx, &ue.rlc[direction.index()], ue.id, direction) {
            self.update_deadlines(cx.now);
        }
        true
    }

    /// A UE without data withdraws its request in the frame in which it would be decided.
    fn leave<T: TraceSink<TraceEvent>>(
        &mut self,
        _ctx: &mut EventContext<'_, T>,
        _config: &CarrierConfig,
        _below: &mut Below<'_>,
        _ue: UeId,
    ) {
    }

    #[inline]
    fn poll_timeouts(&self) -> [Option<(Time, Phase)>; 2] {
        [self.next_start.map(|at| (at, Phase::Transmit)), self.control.next.map(|at| (at, Phase::Schedule))]
    }

    fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        timer: MacTimer,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        match timer {
            MacTimer::First => self.handle_frame_start(ctx, config, below),
            MacTimer::Second => self.handle_frame_end(ctx, config, below),
        }
        self.end_timeout(ctx, below.ues);
    }
}

/// The first frame that begins at `now` or later.
fn frame_at_or_after(now: Time) -> u64 {
    now.as_nanos().div_ceil(FRAME.as_nanos())
}

/// Start of a frame.
fn frame_start(frame: u64) -> Time {
    Time::ZERO + FRAME * frame
}
