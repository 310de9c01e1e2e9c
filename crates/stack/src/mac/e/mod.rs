//! MAC of the E-DCH of a cell: MAC-e/es of the UEs, MAC-e of the Node B, MAC-es of the RNC (TS 25.309; TS
//! 25.321 §4.2.3.4, §11.8).
//!
//! ```text
//! RLC ─► E-TFC selection ─► HARQ process ═ air ═► HARQ ─► Iub ─► reordering ─► RLC
//!        UE  ▲                                    Node B         RNC
//!            └─ grants ─ scheduler ◄─ happy bits, scheduling information ┘
//! ```
//!
//! HARQ is synchronous: each TTI has its process, in which a block that failed is repeated. The first
//! timer runs the TTIs of the UEs and the decisions of the scheduler. The second timer runs arrivals
//! at the RNC, and T1 of its reordering queues. TTIs of all UEs begin at multiples of the TTI; UEs of
//! one cell may have different TTIs, and share its noise rise.
//!
//! Whether the Node B decodes a transmission is decided when it is sent, as on all carriers.
//!
//! A UE without data and without blocks in HARQ costs no event once its grant is withdrawn.
//!
//! In a layout the MACs of all cells are coupled by interference: each TTI a cell receives the power that
//! users of other cells had in the TTI before (`in_layout.rs`, `other_cells.rs`).

pub mod category;
mod config;
pub mod etfc;
pub mod grant;
mod in_layout;
mod other_cells;
mod reception;
pub mod scheduler;
pub mod scheduling_information;
pub mod uplink_load;
mod user;

use std::collections::BTreeMap;
use std::sync::Arc;

use umts_kernel::random::Streams;
use umts_kernel::{Phase, TraceSink};
use umts_units::{Duration, Time};

pub use self::config::{DEFAULT_PATH_LOSS, EDchConfig, EUeConfig};
pub use self::in_layout::EInLayout;
use self::other_cells::OtherCells;
use self::scheduler::{Command, Member, decide};
use self::uplink_load::UplinkLoad;
use self::user::{Opportunity, Sent, User};
use super::{Below, CarrierConfig, Mac};
use crate::ids::{Direction, MacTimer, UeId};
use crate::trace::{Real, TraceEvent};
use crate::ue::UeContext;
use crate::{Context, EventContext};

/// Values of the cell that its UEs need.
#[derive(Debug)]
struct CellContext<'a> {
    config: &'a EDchConfig,
    uplink: &'a UplinkLoad,
    carrier: &'a CarrierConfig,
}

/// MAC-e and MAC-es of one cell.
#[derive(Debug)]
pub struct MacE {
    config: Arc<EDchConfig>,
    uplink: UplinkLoad,
    users: BTreeMap<UeId, User>,
    /// The UEs as the scheduler knows them.
    members: BTreeMap<UeId, Member>,
    /// UEs with data or blocks in HARQ, in ascending order.
    active: Vec<UeId>,
    /// Blocks on the air.
    on_air: Vec<(UeId, Sent)>,
    /// Sum of the loads of all UEs in the last TTI.
    load: f64,
    /// Power from users of other cells. `None`: the cell is in no layout.
    other_cells: Option<OtherCells>,
    /// Start of the next TTI of an active UE.
    next_tti: Option<Time>,
    /// Start of the last TTI.
    last_tti: Option<Time>,
    /// Next decision of the scheduler.
    next_decision: Option<Time>,
    streams: Streams,
}

impl MacE {
    pub fn new(config: Arc<EDchConfig>, streams: &Streams) -> Self {
        MacE {
            uplink: UplinkLoad::new(&config),
            config,
            users: BTreeMap::new(),
            members: BTreeMap::new(),
            active: Vec::new(),
            on_air: Vec::new(),
            load: 0.0,
            other_cells: None,
            next_tti: None,
            last_tti: None,
            next_decision: None,
            streams: *streams,
        }
    }

    /// `ue` has data: it uses its TTIs from `now` on.
    fn activate(&mut self, ue: UeId, now: Time) {
        let Err(position) = self.active.binary_search(&ue) else { return };
        self.active.insert(position, ue);
        let tti = self.users[&ue].tti_from(self.after_last_tti(now));
        self.next_tti = Some(self.next_tti.map_or(tti, |next| next.min(tti)));
        let decision = now.round_up_to(self.config.scheduling_interval);
        self.next_decision = Some(self.next_decision.map_or(decision, |next| next.min(decision)));
    }

    /// The first instant from `now` on at which a TTI can begin. One that began at `now` does not begin
    /// again.
    fn after_last_tti(&self, now: Time) -> Time {
        if self.last_tti == Some(now) { now + Duration::from_nanos(1) } else { now }
    }

    /// Passes reports that the Node B has received by now to the scheduler.
    fn update_members(&mut self, now: Time) {
        for (ue, user) in &mut self.users {
            let member = self.members.get_mut(ue).expect("each user is a member");
            while let Some((at, report)) = user.poll_report(now) {
                member.handle_report(at, report);
            }
            member.grants.update(now);
            member.in_harq = user.ratio_in_harq();
        }
    }

    /// Decides about grants, if a decision is due.
    fn schedule<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>) {
        let now = ctx.cx.now;
        if self.next_decision.is_none_or(|at| at > now) {
            return;
        }
        let uplink = match &self.other_cells {
            Some(others) => self.uplink.with_power_from_others(others.mean_mw()),
            None => self.uplink,
        };
        for command in decide(now, &uplink, &self.config, &mut self.members) {
            let Command { ue, grant, is_absolute } = command;
            let member = self.members.get_mut(&ue).expect("the scheduler knows it");
            member.send_grant(now + self.config.grant_latency, grant);
            let index = grant.map(grant::Grant::index);
            ctx.cx.record(|| TraceEvent::EGrantSent { ue, index, is_absolute });
        }
        let is_needed = !self.active.is_empty() || self.members.values().any(|member| !member.is_idle());
        self.next_decision = is_needed.then(|| now + self.config.scheduling_interval);
    }

    /// Sends the blocks of the UEs with a TTI that begins now.
    fn transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let now = ctx.cx.now;
        if self.next_tti.is_none_or(|at| at > now) {
            return;
        }
        self.on_air.retain(|(_, sent)| sent.until > now);
        let cell = CellContext { config: &self.config, uplink: &self.uplink, carrier };
        for &ue in &self.active {
            let user = self.users.get_mut(&ue).expect("an active UE is a user");
            // A hard handover interrupts the UE.
            if user.tti_from(now) != now || below.ues[ue].silent_until > now {
                continue;
            }
            let member = self.members.get_mut(&ue).expect("each user is a member");
            let grant = member.grants.update(now);
            let opportunity = Opportunity { ue, grant, load: self.load };
            if let Some(sent) = user.transmit(ctx, &cell, below, opportunity) {
                self.on_air.push((ue, sent));
            }
            below.ues[ue].schedule_wake(ctx, carrier.direction);
        }
        self.record_load(ctx, carrier);
        if self.other_cells.is_some() {
            self.power_ues(ctx, carrier, below);
        }
        let users = &self.users;
        self.active.retain(|ue| {
            let has_data = below.ues[*ue].rlc[carrier.direction.index()].has_work(now);
            has_data || !users[ue].is_idle()
        });
        self.last_tti = Some(now);
        let after_now = now + Duration::from_nanos(1);
        self.next_tti = self.active.iter().map(|ue| users[ue].tti_from(after_now)).min();
    }

    /// Records the noise rise until the first of the blocks on the air ends, if there are any.
    fn record_load<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: &CarrierConfig,
    ) {
        let silent = self.users.len() - self.on_air.len();
        let sent: f64 = self.on_air.iter().map(|(_, sent)| self.uplink.load(sent.ratio)).sum();
        self.load = sent + silent as f64 * self.uplink.load(0.0);
        if let Some(until) = self.on_air.iter().map(|(_, sent)| sent.until).min() {
            let rise = Real(self.uplink.noise_rise_db(self.load) as f32);
            let time = until - ctx.cx.now;
            ctx.cx.record(|| TraceEvent::ENoiseRise { cell: carrier.cell.0, rise, time });
            if self.other_cells.is_some() {
                let share = Real(self.uplink.share_of_others(self.load) as f32);
                ctx.cx.record(|| TraceEvent::EFromOthers { cell: carrier.cell.0, share, time });
            }
        }
    }
}

impl Mac for MacE {
    fn handle_backlog<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        _config: &CarrierConfig,
        ue: &mut UeContext,
        _direction: Direction,
    ) -> bool {
        let (config, streams) = (&self.config, &self.streams);
        let user = self.users.entry(ue.id).or_insert_with(|| User::new(config, ue, streams));
        if ue.e_in_layout.is_some() && self.other_cells.is_none() {
            self.other_cells = Some(OtherCells::default());
        }
        self.members.entry(ue.id).or_insert_with(|| user.member(&self.uplink));
        self.activate(ue.id, cx.now);
        true
    }

    /// MAC-e/es of the UE is reset (TS 25.321 §11.8.1.7): blocks in the reordering queue go up, blocks in
    /// HARQ are lost, and the UE has no grant.
    fn leave<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
    ) {
        self.members.remove(&ue);
        self.active.retain(|active| *active != ue);
        self.on_air.retain(|(sender, _)| *sender != ue);
        if let Some(in_layout) = &mut below.ues[ue].e_in_layout {
            in_layout.leave();
        }
        if let Some(user) = self.users.remove(&ue) {
            user.reset(ctx, config, below.air);
        }
    }

    fn poll_timeouts(&self) -> [Option<(Time, Phase)>; 2] {
        let next_at_nodeb = [self.next_tti, self.next_decision].into_iter().flatten().min();
        // MAC-es delivers at once, in the phase of deliveries.
        let next_reception = self.users.values().filter_map(User::reception_timeout).min();
        [next_at_nodeb.map(|at| (at, Phase::Transmit)), next_reception.map(|at| (at, Phase::Receive))]
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
                if let Some(others) = &mut self.other_cells {
                    let received = others.receive(ctx.cx.now, config.cell, below.ues);
                    self.uplink = self.uplink.with_power_from_others(received);
                }
                self.update_members(ctx.cx.now);
                self.schedule(ctx);
                self.transmit(ctx, config, below);
            }
            MacTimer::Second => {
                for user in self.users.values_mut() {
                    user.receive(ctx, config, below.air);
                }
            }
        }
    }
}
