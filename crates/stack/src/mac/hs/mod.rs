//! MAC-hs or MAC-ehs of a cell: the HS-DSCH from the RNC's RLC to the UE's RLC (TS 25.308; TS 25.321 §4.2.3.3).
//!
//! ```text
//! RLC ─ credits ─► Iub ─► priority queue ─► HARQ process ═ air ═► HARQ ─► reordering ─► RLC
//!        RNC              Node B                                  UE
//! ```
//!
//! The RNC sends MAC-d PDUs only for credits that the Node B has allocated ([`flow_control`]). The
//! Node B schedules its queues in every TTI of 2 ms ([`schedule`]). The first timer runs the Node B:
//! its TTIs and allocations. The second timer runs both ends of the path: allocations that reach the
//! RNC, and timer T1 of the reordering queues.
//!
//! What the UE makes of a transmission is decided when it is sent, as on all carriers. The reordering
//! queue then receives the block with the instant at which the UE decodes it. These instants
//! ascend, because every block takes the same time.
//!
//! MAC-hs fills blocks with whole PDUs of one size, which are the unit of credits, queues and rates.
//! MAC-ehs (Release 7) divides PDUs, and octets are the unit.
//!
//! A UE without data, blocks in HARQ and blocks on the Iub costs no event.

mod config;
mod flow_control;
mod in_flight;
mod in_layout;
mod link;
mod link_trace;
mod mean_snr;
mod schedule;
mod user;

use std::collections::BTreeMap;
use std::sync::Arc;

use umts_kernel::random::Streams;
use umts_kernel::{Phase, TraceSink};
use umts_units::{Bytes, Duration, Time};

pub use self::config::{BlockErrorModel, CreditRule, Fading, HsDschConfig, HsMac, HsUeConfig, ProcessScope};
use self::flow_control::FlowControl;
pub use self::in_layout::HsInLayout;
pub use self::link_trace::{LinkTrace, POWERS, TraceTti};
use self::schedule::drop_pdu;
pub use self::user::HeldPdus;
use self::user::User;
use super::{Below, CarrierConfig, Mac};
use crate::detail::Detail;
use crate::ids::{Direction, MacTimer, UeId};
use crate::scheduling::{Scheduler, UserScheduler};
use crate::trace::TraceEvent;
use crate::ue::UeContext;
use crate::{Context, EventContext};

/// TTI of the HS-DSCH (TS 25.211 §5.3.3.13).
pub const TTI: Duration = Duration::from_millis(2);

/// TTIs after which a HARQ process can be used again: HS-SCCH, HS-PDSCH, the UE's processing and its
/// answer take 12 ms (TS 25.211 §7.7, §7.8).
const ROUND_TRIP_TTIS: u64 = 6;

/// Times of HARQ from the start of a TTI, at which the HS-SCCH is sent.
#[derive(Debug, Clone, Copy)]
struct HarqTiming {
    /// Until the UE has decoded the block.
    decoding: Duration,
    /// Until the Node B can act on the answer of the UE.
    answer: Duration,
}

impl HarqTiming {
    fn new(ack_delay: Option<Duration>) -> Self {
        match ack_delay {
            // 2 slots until the HS-PDSCH begins, its 3 slots, and 7.5 slots until the UE answers (TS
            // 25.211 §7.7, §7.8).
            None => HarqTiming { decoding: Duration::from_nanos(8_333_333), answer: TTI * ROUND_TRIP_TTIS },
            Some(delay) => HarqTiming { decoding: TTI, answer: TTI + delay },
        }
    }
}

/// Data of a UE on the HS-DSCH that wait at the Node B. PDUs that end in blocks in HARQ do not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodebQueue {
    /// Number of MAC-d PDUs.
    pub pdus: u64,
    /// Octets of these PDUs.
    pub octets: Bytes,
    /// Credits that the Node B has allocated and the RNC has not used yet (TS 25.435 §5.11). With
    /// MAC-ehs a credit stands for the octets of the largest PDU.
    pub credits: u32,
}

/// MAC-hs of one cell.
#[derive(Debug)]
pub struct MacHs {
    config: Arc<HsDschConfig>,
    scheduler: Scheduler,
    /// Replaces the scheduler.
    user_scheduler: Option<UserScheduler>,
    users: BTreeMap<UeId, User>,
    /// UEs with a running timer T1, and its expiry.
    t1s: BTreeMap<UeId, Time>,
    /// UEs for which the Node B has something to do, in ascending order.
    active: Vec<UeId>,
    flow_control: FlowControl,
    /// UE of the block in each HARQ process of the cell, if the cell has the processes.
    processes: Vec<Option<UeId>>,
    /// Start of the next TTI with an active UE.
    next_tti: Option<Time>,
    /// Whether the cell belongs to a layout.
    is_in_layout: bool,
    streams: Streams,
}

impl MacHs {
    pub fn new(config: Arc<HsDschConfig>, streams: &Streams) -> Self {
        let processes = match config.process_scope {
            ProcessScope::Ue => Vec::new(),
            ProcessScope::Cell => vec![None; config.processes.into()],
        };
        MacHs {
            processes,
            scheduler: Scheduler::new(config.scheduler),
            user_scheduler: None,
            flow_control: FlowControl::new(config.allocation_interval),
            config,
            users: BTreeMap::new(),
            t1s: BTreeMap::new(),
            active: Vec::new(),
            next_tti: None,
            is_in_layout: false,
            streams: *streams,
        }
    }

    /// Sets the scheduler of the user. `None`: the built-in one decides.
    pub fn set_scheduler(&mut self, scheduler: Option<UserScheduler>) {
        self.user_scheduler = scheduler;
    }

    /// PDUs that `ue` has not received yet.
    pub fn held(&self, ue: UeId) -> HeldPdus {
        self.users.get(&ue).map(User::held).unwrap_or_default()
    }

    /// Data of `ue` that wait at the Node B at `now`.
    pub fn nodeb_queue(&self, ue: UeId, now: Time) -> NodebQueue {
        // A UE that has not had data yet is not known here.
        self.users.get(&ue).map_or_else(NodebQueue::default, |user| user.nodeb_queue(now))
    }

    /// PDUs of `ue` reach the Node B at `arrival`: TTIs are scheduled from then on.
    fn activate(&mut self, ue: UeId, arrival: Time) {
        if let Err(at) = self.active.binary_search(&ue) {
            self.active.insert(at, ue);
        }
        let tti = arrival.round_up_to(TTI);
        self.next_tti = Some(self.next_tti.map_or(tti, |next| next.min(tti)));
    }

    /// An allocation reaches the RNC, which sends PDUs for its credits.
    fn send_to_nodeb<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        while let Some((ue, credits)) = self.flow_control.take_due_grant(ctx.cx.now) {
            let (interval, priority) = (self.flow_control.interval(), priority(&below.ues[ue]));
            let is_ehs = below.ues[ue].hs_dsch.as_ref().is_some_and(|hs| hs.mac == HsMac::MacEhs);
            ctx.cx.show(|| Detail::HsCredits { ue, credits, interval, priority, is_ehs });
            self.flush_obsolete(ctx, config, below, ue);
            let Some(user) = self.users.get_mut(&ue) else { continue };
            let context = &mut below.ues[ue];
            let arrival = user.send_to_nodeb(ctx, config, context, below.air, credits);
            if arrival.is_some() {
                let now = ctx.cx.now;
                ctx.cx.show(|| {
                    let buffer = waiting(context, config.direction, now);
                    Detail::HsPdusSent { ue, buffer, priority, is_ehs }
                });
            }
            if !context.rlc[Direction::Downlink.index()].has_work(ctx.cx.now) {
                self.flow_control.buffer_is_empty(ue);
            }
            context.schedule_wake(ctx, Direction::Downlink);
            if context.counts_as_preemptible | context.awaits_fall {
                below.watched.push(ue);
            }
            if let Some(arrival) = arrival {
                self.activate(ue, arrival);
            }
        }
    }

    /// Timer T1 of some UEs expires: blocks that waited for a missing one go up.
    fn expire_t1<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let now = ctx.cx.now;
        let due: Vec<UeId> = self.t1s.iter().filter(|(_, at)| **at <= now).map(|(ue, _)| *ue).collect();
        for ue in due {
            let user = self.users.get_mut(&ue).expect("its timer runs");
            user.expire_t1(ctx, config, below.air, ue, now);
            let expiry = user.t1_expiry();
            self.set_t1(ue, expiry);
        }
    }

    /// Stores when timer T1 of `ue` expires. `None`: it does not run.
    fn set_t1(&mut self, ue: UeId, expiry: Option<Time>) {
        match expiry {
            Some(at) => self.t1s.insert(ue, at),
            None => self.t1s.remove(&ue),
        };
    }

    fn next_t1(&self) -> Option<Time> {
        self.t1s.values().min().copied()
    }
}

/// CmCH-PI of the data of a UE, by its service class. 15 is the highest priority.
fn priority(ue: &UeContext) -> u8 {
    15 - ue.qos.class as u8
}

/// Octets of a UE that wait in RLC at `now`.
fn waiting(ue: &UeContext, direction: Direction, now: Time) -> Bytes {
    ue.rlc[direction.index()].available_for_transmission(now)
}

impl Mac for MacHs {
    fn handle_backlog<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &CarrierConfig,
        ue: &mut UeContext,
        direction: Direction,
    ) -> bool {
        self.is_in_layout |= ue.hs_in_layout.is_some();
        self.users.entry(ue.id).or_insert_with(|| User::new(&self.config, ue, &self.streams));
        if self.flow_control.request(ue.id, cx.now + config.iub.delay) {
            let now = cx.now;
            cx.show(|| {
                let (buffer, priority) = (waiting(ue, direction, now), priority(ue));
                Detail::HsRequest { ue: ue.id, buffer, priority }
            });
        }
        true
    }

    /// MAC-hs of the UE is reset (TS 25.321 §11.6.2): blocks in the reordering queue go up. Blocks in HARQ
    /// are lost, and PDUs on the Iub and at the Node B are flushed.
    fn leave<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
    ) {
        self.t1s.remove(&ue);
        self.flow_control.leave(ue);
        self.active.retain(|active| *active != ue);
        if let Some(user) = self.users.remove(&ue) {
            for pdu in user.reset(ctx, config, below.air, ue) {
                ctx.cx.record(|| TraceEvent::HsPduFlushed { ue });
                drop_pdu(ctx, config, below, pdu);
            }
        }
    }

    fn poll_timeouts(&self) -> [Option<(Time, Phase)>; 2] {
        let instants = [self.next_tti, self.flow_control.next_allocation()];
        let transmission = instants.into_iter().flatten().min().map(|at| (at, Phase::Transmit));
        let grant = self.flow_control.next_grant().map(|at| (at, Phase::Transmit));
        // T1 delivers at once, in the phase of deliveries.
        let t1 = self.next_t1().map(|at| (at, Phase::Receive));
        [transmission, [t1, grant].into_iter().flatten().min_by_key(|&(at, phase)| (at, phase as u8))]
    }

    fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        timer: MacTimer,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        match timer {
            MacTimer::First => {
                if self.is_in_layout {
                    self.users.iter_mut().for_each(|(ue, user)| user.follow(&below.ues[*ue]));
                }
                self.transmit(ctx, config, below);
                self.allocate(ctx.cx.now, config.iub.delay);
            }
            MacTimer::Second => {
                self.expire_t1(ctx, config, below);
                self.send_to_nodeb(ctx, config, below);
            }
        }
    }
}
