//! The cells of a layout and their common TTI. The power of each cell is interference in all
//! others, so all cells schedule before any of them transmits (Rendón et al. 2004, §2).
//!
//! ```text
//!   measure    moving UEs are measured every 100 ms and change cells           mobility, active_sets, bearer_users
//!   schedule   all links are added up, then DSCH users cell by cell            power_solver, dsch, mac_sh
//!   powers     the powers of all cells, with the interference and Eb/N0        power_solver, steps
//!   transmit   RLC is pulled, and the Eb/N0 of each link decides the losses    dsch, voice_calls, bearer_users
//! ```
//!
//! A turn is one pass through these steps: a TTI, or a frame if the DSCH is scheduled every frame.
//! In the second case half of the users are in the middle of their TTI (`in_progress.rs`).
//!
//! Idle users of DSCHs take no part in these steps until they have data. MAC-hs of a cell transmits
//! to users of its HS-DSCH between the turns, with the SNR of the last turn (`hs_dsch`).

mod active_sets;
mod associated;
mod bearer_users;
mod clock;
mod codes;
mod config;
mod dch_allocation;
mod dsch;
mod hs_dsch;
mod in_progress;
mod mobility;
mod power_admission;
mod power_solver;
mod ready;
mod steps;
#[cfg(test)]
mod testing;
mod voice_calls;

use std::sync::Arc;

use umts_kernel::random::Streams;
use umts_kernel::{Phase, TraceSink};
use umts_units::{Bytes, Duration, Erlang, Time};

use self::active_sets::ActiveSets;
use self::bearer_users::{BearerUsers, PlacedUser};
use self::clock::{Clock, MEASURED_EACH, MeasuredTurn};
use self::codes::DchCodes;
pub use self::codes::{FixedCodes, WithoutCode};
pub use self::config::{
    AssociatedConfig, BufferAtHandover, CallClassConfig, CodeLimit, DchConfig, DchUserConfig, DchUserOptions,
    DownlinkConfig, HandoverConfig, MulticellConfig, RlcAtHandover, SccpchConfig, SccpchOptions,
};
use self::dsch::Dschs;
pub use self::hs_dsch::HsCellConfig;
use self::hs_dsch::HsDschs;
use self::mobility::Mobility;
pub use self::mobility::{CellChange, Handover};
use self::power_admission::PowerAdmission;
use self::power_solver::{PowerSolver, Receivers};
use self::voice_calls::{CallCounts, VoiceCalls};
use crate::environment::{Environment, MobilityConfig};
use crate::ids::{CellId, Direction, MacTimer, UeId};
use crate::mac::{Below, CarrierConfig, Mac};
use crate::radio::phy::LinkTable;
use crate::radio::phy::power_control::PowerControl;
use crate::scheduling::{SharedChannel, UserSchedulers};
use crate::trace::TraceEvent;
use crate::ue::{UeConfig, UeContext, Ues};
use crate::{Context, EventContext};

/// The MAC of all cells of a layout.
#[derive(Debug)]
pub struct Multicell {
    mobility: Mobility,
    calls: VoiceCalls,
    active_sets: ActiveSets,
    bearers: BearerUsers,
    /// `None`: the cells have no HS-DSCH.
    hs_dschs: Option<HsDschs>,
    codes: DchCodes,
    dschs: Dschs,
    solver: PowerSolver,
    /// Admission by power. `None`: nothing is refused for lack of power.
    admission: Option<PowerAdmission>,
    clock: Clock,
    /// Whether the resources of DCHs are limited, so that requests may have to wait for them.
    has_limits: bool,
    /// Whether waiting requests for DCHs should be repeated: the measurements of a period have
    /// ended.
    is_retry_due: bool,
}

impl Multicell {
    /// Cells with those of `ues` that are in the layout.
    pub fn new(config: &MulticellConfig, ues: &[UeConfig], streams: &Streams) -> Self {
        let environment = Environment::new(&config.environment, streams);
        let (cells, clock) = (environment.cells(), Clock::new(&config.dsch));
        let period = clock.period;
        let (mobilities, users) = users(ues);
        let mut codes = DchCodes::new(&config.dch, &fixed_codes(config, &mobilities), cells);
        let mut solver = PowerSolver::new(config.power, cells);
        let bearers = BearerUsers::new(config, &users, &environment, &mut codes, period);
        let hs_dschs = config.hs_dsch.as_ref().map(|config| HsDschs::new(config, &mut solver));
        Multicell {
            mobility: Mobility::new(environment, config.handover, &mobilities, period),
            calls: VoiceCalls::new(config, cells, MEASURED_EACH, streams),
            active_sets: ActiveSets::new(config),
            bearers,
            hs_dschs,
            codes,
            dschs: Dschs::new(config, cells, streams),
            solver,
            admission: config
                .power_for_dchs()
                .map(|limit| PowerAdmission::new(limit, cells, period, config.power.common)),
            clock,
            has_limits: config.dch.has_one_tree() || config.admission_power.is_some(),
            is_retry_due: false,
        }
    }

    /// Schedules the DSCH of each cell with an instance of `schedulers` from now on.
    pub fn set_schedulers(&mut self, schedulers: &UserSchedulers) {
        for (number, cell) in self.dschs.cells.iter_mut().enumerate() {
            if let Some(scheduler) = schedulers.make(SharedChannel::Dsch(CellId(number as u16))) {
                cell.mac.set_scheduler(scheduler);
            }
        }
    }

    /// Offered traffic of calls of class number `class`.
    pub fn offered_calls(&self, class: usize) -> Erlang {
        self.calls.classes[class].calls.offered()
    }

    /// Changes the offered traffic of calls of class number `class`.
    pub fn set_offered_calls(&mut self, now: Time, class: usize, offered: Erlang) {
        self.calls.classes[class].calls.set_offered(now, offered);
    }

    /// The TTI of all cells.
    pub fn tti(&self) -> Duration {
        self.dschs.cells[0].mac.config().tti
    }

    /// The cell that a UE is in. `None`: the UE is outside the layout.
    pub fn cell_of(&self, ue: UeId) -> Option<CellId> {
        self.mobility.cell_of(ue).or_else(|| self.bearers.cell_of(ue))
    }

    /// Block error ratio by Eb/N0 of the downlink of a UE with this channel number. `None` unless
    /// it is a DCH or FACH in the layout.
    pub fn errors_of(&self, ue: UeId, number: usize) -> Option<Arc<LinkTable>> {
        self.bearers.errors_of(ue, number)
    }

    /// The next handover to execute.
    pub fn poll_handover(&mut self) -> Option<Handover> {
        self.mobility.handovers.pop_front()
    }

    /// `ue` has data for its DSCH. A user that had none is measured first, which may cause a
    /// handover.
    fn user_has_data(&mut self, now: Time, ue: UeId) {
        if self.mobility.start_measuring(ue) {
            self.measure_user(now, ue);
        }
        self.open_associated(ue);
        self.mark_ready(ue);
    }

    /// Measures the users and calls of this turn. Users without data are not measured again until
    /// they have data.
    fn measure_all(&mut self, now: Time, ues: &mut Ues) {
        let turn = MeasuredTurn { now, number: self.clock.turn };
        if let Some(hs_dschs) = &mut self.hs_dschs {
            self.bearers.count_hs_blocks(hs_dschs, ues);
        }
        for ue in self.mobility.due(turn.number) {
            let rlc = &ues[ue].rlc;
            if rlc.iter().any(|rlc| rlc.buffer_occupancy() > Bytes::ZERO) {
                self.mobility.start_measuring(ue);
                self.measure_user(now, ue);
            } else {
                self.close_associated(ue, self.mobility.user(ue).cell);
            }
        }
        let Multicell { mobility, calls, active_sets, bearers, codes, solver, admission, .. } = self;
        let Mobility { environment, handovers, .. } = mobility;
        calls.measure(turn, environment, active_sets, codes, solver, admission.as_mut());
        let can_change_cell = |ue: UeId| ues[ue].can_change_cell();
        bearers.measure(turn, environment, codes, &solver.before, can_change_cell, handovers);
        bearers.measure_e_dch(turn, ues);
    }

    /// Measures a user, and moves it to another cell if that is better. Its credit goes along.
    fn measure_user(&mut self, now: Time, ue: UeId) {
        let Some(from) = self.mobility.measure(now, ue) else { return };
        let to = self.mobility.user(ue).cell;
        let [old, new] = self.dschs.cells.get_disjoint_mut([from.index(), to.index()]).expect("two cells");
        if ready::remove(&mut old.ready, ue) {
            ready::insert(&mut new.ready, ue);
        }
        if let Some(credit) = old.mac.leave(ue) {
            new.mac.join(ue, credit);
        }
        self.close_associated(ue, from);
    }

    /// Schedules all cells, then transmits in all of them.
    fn turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let cells = self.dschs.cells.len() as u16;
        self.record_calls(ctx);
        self.add_links(ctx.cx.now, below.ues);
        for cell in (0..cells).map(CellId) {
            self.schedule(ctx, cell, below.ues);
        }
        self.determine_powers();
        let counts = self.receive(ctx, below.ues);
        for (cell, counts) in (0..cells).map(CellId).zip(&counts) {
            self.end_in_progress(ctx, cell, below.air);
            self.transmit(ctx, cell, config, below);
            self.record_power(ctx, cell, counts);
        }
        self.end_turn(ctx, below.ues);
    }

    /// Adds the links of this turn to the power solver, except new grants on DSCHs, and adds up
    /// their loads.
    fn add_links(&mut self, now: Time, ues: &mut Ues) {
        self.solver.begin();
        self.calls.add_links(self.clock.turn, &self.active_sets, &mut self.solver);
        self.add_associated();
        self.add_in_progress();
        self.bearers.begin(now, &self.solver.power, ues);
        self.bearers.add_links(&mut self.solver);
        if let Some(hs_dschs) = &self.hs_dschs {
            hs_dschs.add_shares(self.clock.interval, &mut self.solver);
        }
        self.solver.add_up();
    }

    /// Determines the powers of all cells, and the Eb/N0 of all links.
    fn determine_powers(&mut self) {
        let Multicell { calls, mobility, bearers, solver, clock, .. } = self;
        solver.control(Receivers { calls, mobility, bearers });
        if solver.power.control == PowerControl::Steps {
            steps::follow_commands(solver, calls, bearers, clock.interval);
        }
        solver.measure(Receivers { calls, mobility, bearers });
    }

    /// Decides the losses of calls, and sets the Eb/N0 of DCHs, of the FACH and of HS-DSCHs until
    /// the next turn. Returns the counts of calls by cell.
    fn receive<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ues: &mut Ues,
    ) -> Vec<CallCounts> {
        let counts = self.calls.receive(self.clock.turn, &self.solver);
        self.bearers.receive(ctx, self.clock.interval, &self.solver, ues);
        if let Some(hs_dschs) = &mut self.hs_dschs {
            self.bearers.receive_hs_dsch(ctx, hs_dschs, &self.solver, ues);
        }
        counts
    }

    /// Ends a turn. The powers become known to power control and admission, and users without
    /// further data leave the lists of their cells.
    fn end_turn<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ues: &mut Ues) {
        self.solver.end();
        if let Some(admission) = &mut self.admission {
            admission.record(&self.solver.powers_without_hs_dsch());
        }
        self.clock.turn += 1;
        for ue in std::mem::take(&mut self.dschs.served) {
            let context = &mut ues[ue];
            self.backlog_changed(ue, context.rlc[Direction::Downlink.index()].has_work(ctx.cx.now));
            context.schedule_wake(ctx, Direction::Downlink);
        }
    }

    /// Records the call events since the previous turn.
    fn record_calls<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>) {
        for (cell, step) in self.active_sets.events.drain(..) {
            ctx.cx.record(|| TraceEvent::Call { cell: cell.0, step });
        }
    }
}

/// The movement of each user of a DSCH by UE, `None` for others, and the users of other bearers.
fn users(ues: &[UeConfig]) -> (Vec<Option<MobilityConfig>>, Vec<PlacedUser>) {
    let has_bearer = |ue: &UeConfig| !ue.dchs.is_empty() || ue.is_on_fach();
    let on_dsch = ues.iter().map(|ue| ue.mobility.clone().filter(|_| !has_bearer(ue))).collect();
    let others = (0..).map(UeId).zip(ues).filter(|(_, ue)| has_bearer(ue));
    let placed = |(id, ue): (UeId, &UeConfig)| {
        let (mobility, dchs) = (ue.mobility.clone()?, ue.dchs.clone());
        Some(PlacedUser { ue: id, mobility, dchs, is_switched: ue.switching.is_some() })
    };
    (on_dsch, others.filter_map(placed).collect())
}

/// Codes that no dedicated channel can have. The DSCH has its branch if a user has a movement as a
/// DSCH user, or if the cells have no HS-DSCH.
fn fixed_codes(config: &MulticellConfig, on_dsch: &[Option<MobilityConfig>]) -> FixedCodes {
    let has_branch = config.hs_dsch.is_none() || on_dsch.iter().any(Option::is_some);
    let (branch, sccpch) = (has_branch.then_some(config.dsch.codes), config.sccpch.as_ref());
    let codes = FixedCodes::new(&config.dch, branch, sccpch.map(|sccpch| sccpch.code));
    match &config.hs_dsch {
        None => codes,
        Some(hs) => {
            codes.with_hs_dsch(hs.codes, hs.users_per_tti).expect("a checked scenario has room for them")
        }
    }
}

/// The timer expires twice at the start of a TTI: for the measurements, and then, after the
/// handovers that these require, for the TTI of all cells.
impl Mac for Multicell {
    /// The timers of RLC run while a user waits for a grant.
    fn handle_backlog<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        _config: &CarrierConfig,
        ue: &mut UeContext,
        _direction: Direction,
    ) -> bool {
        self.user_has_data(cx.now, ue.id);
        self.backlog_changed(ue.id, true);
        true
    }

    fn handle_empty_backlog(&mut self, ue: UeId) {
        self.backlog_changed(ue, false);
    }

    fn leave<T: TraceSink<TraceEvent>>(
        &mut self,
        _ctx: &mut EventContext<'_, T>,
        _config: &CarrierConfig,
        _below: &mut Below<'_>,
        _ue: UeId,
    ) {
    }

    fn poll_timeouts(&self) -> [Option<(Time, Phase)>; 2] {
        [Some((self.clock.next_turn, Phase::Schedule)), None]
    }

    // Not inlined: only one carrier uses this large function, and inlining would enlarge the
    // dispatch for all carriers.
    #[inline(never)]
    fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        _timer: MacTimer,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        self.clock.is_measured = !self.clock.is_measured;
        if self.clock.is_measured {
            self.measure_all(ctx.cx.now, below.ues);
            self.is_retry_due = self.has_limits && self.clock.turn.is_multiple_of(self.clock.period);
        } else {
            self.clock.next_turn = ctx.cx.now + self.clock.interval;
            self.turn(ctx, config, below);
        }
    }
}
