//! One turn of all cells: a TTI, or a frame if the DSCH is scheduled every frame.

use umts_kernel::{Phase, TraceSink};
use umts_units::{Bytes, Duration, Time};

use super::{Multicell, PowerUse, link};
use crate::ids::{CellId, Direction, MacTimer, UeId};
use crate::mac::{Below, CarrierConfig, Mac};
use crate::nodeb::Iub;
use crate::radio::mac::Channel;
use crate::radio::phy::Lost;
use crate::radio::phy::power_control::{Load, PowerControl};
use crate::radio::phy::sir::Link;
use crate::rnc::calls::{self, EbN0Average};
use crate::rnc::mac_sh::{Grant, Radio};
use crate::scheduling::Candidate;
use crate::trace::{Postponed, Real, TraceEvent};
use crate::ue::{Pdus, UeContext, Ues};
use crate::{Context, EventContext};

/// Class of all DSCH users. Conversational calls have DCHs.
const INTERACTIVE: u8 = 1;

/// Call numbers modulo this value address the draws: calls under way at one time differ.
const NUMBERS: u64 = 1 << 30;

impl Multicell {
    /// Schedules all cells, then transmits in all of them.
    fn turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        self.record_calls(ctx);
        self.aim_of_calls();
        self.load_of_calls();
        for cell in 0..self.cells.len() {
            self.schedule(ctx, CellId(cell as u16), below.ues);
        }
        self.control_powers();
        self.judge_further_legs();
        self.judge_associated();
        self.judge_calls();
        for cell in 0..self.cells.len() {
            self.land_held(ctx, CellId(cell as u16), below.air);
            self.transmit(ctx, CellId(cell as u16), config, below);
            self.record_power(ctx, cell);
        }
        std::mem::swap(&mut self.powers, &mut self.before);
        self.tti += 1;
        for ue in std::mem::take(&mut self.served) {
            let context = &mut below.ues[ue];
            self.backlog_changed(ue, context.rlc[Direction::Downlink.index()].has_work(ctx.cx.now));
            context.schedule_wake(ctx, Direction::Downlink);
        }
    }

    /// Determines the load of each cell without new DSCH grants, with the interference of the
    /// previous TTI.
    fn load_of_calls(&mut self) {
        for cell in &mut self.cells {
            (cell.load, cell.used) = (Load::default(), PowerUse::default());
        }
        self.add_calls();
        self.add_associated();
        self.add_held();
    }

    fn add_calls(&mut self) {
        for class in &mut self.call_classes {
            for call in class.calls.under_way_mut() {
                let cell = &mut self.cells[call.at.main.cell.index()];
                cell.load = cell.load.with(Load::of(&self.power, &link(call, class.target)));
            }
        }
        self.add_further_legs();
    }

    /// Selects the users of a cell's DSCH in this TTI.
    fn schedule<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, cell: CellId, ues: &Ues) {
        let (now, tti, needs_dch) = (ctx.cx.now, self.tti, self.dch.associated.is_some());
        let sector = &mut self.cells[cell.index()];
        let (needs_sdus, decision) = (sector.mac.config().needs_sdus(), sector.mac.config().decision);
        self.asks.begin();
        for ready in &mut sector.ready {
            let ue = ready.ue;
            let user = self.users.get(ue);
            if !user.is_decided_on(decision, tti) {
                continue;
            }
            // A user may have nothing left to send without a grant, for example because
            // acknowledgments arrived. It stays in the list until its RLC is queried.
            ready.update(now, &ues[ue]);
            let Some(backlog) = ready.waits else { continue };
            if needs_dch && user.dch.is_none() {
                ctx.cx.record(|| TraceEvent::DschPostponed { ue, cell: cell.0, why: Postponed::Codes });
                continue;
            }
            if ues[ue].silent_until > now {
                ctx.cx.record(|| TraceEvent::DschPostponed { ue, cell: cell.0, why: Postponed::Handover });
                continue;
            }
            let (gain, outer_loop) = (user.gain, user.loops.target_scale);
            let ask = Candidate {
                ue,
                class: INTERACTIVE,
                octets: backlog.octets,
                blocks: backlog.pdus.max(1),
                since: backlog.since,
                gain,
                outer_loop,
            };
            if needs_sdus {
                let rlc = &ues[ue].rlc[Direction::Downlink.index()];
                self.asks.push_with(ask, |sdus| rlc.waiting_sdus(sdus));
            } else {
                self.asks.push_with(ask, |_| {});
            }
        }
        let interference = |ue: UeId| self.users.get(ue).interference(&self.before);
        let radio = Radio { power: &self.power, interference: &interference };
        sector.mac.schedule(now, tti, &self.asks, &radio, &mut sector.load);
        sector.links.clear();
        sector.links.extend(sector.mac.grants().iter().map(|grant| grant.link));
        for refusal in sector.mac.refusals() {
            let (ue, why) = (refusal.ue, refusal.reason.into());
            ctx.cx.record(|| TraceEvent::DschPostponed { ue, cell: cell.0, why });
        }
    }

    /// Sets the power of each cell and link.
    fn control_powers(&mut self) {
        if self.power.control == PowerControl::Ideal {
            self.solve_all_cells();
        }
        for (cell, power) in self.cells.iter_mut().zip(&mut self.powers) {
            let sent = cell.load.sent(&self.power);
            cell.granted.clear();
            cell.granted.extend(cell.links.iter().map(|link| sent.power_of(&self.power, link)));
            (cell.sent, *power) = (sent, sent.total);
        }
        self.power_associated();
        self.power_held();
        if self.power.control == PowerControl::Steps {
            self.follow_commands();
        }
    }

    /// Solves for the powers of all cells at once, so that interference is known exactly.
    fn solve_all_cells(&mut self) {
        self.couple_all_cells();
        self.powers.copy_from_slice(&self.before);
        self.coupled.solve(&vec![self.power; self.powers.len()], &mut self.powers);
        let Multicell { power, call_classes, cells, users, powers, .. } = self;
        for class in call_classes {
            for call in class.calls.under_way_mut() {
                let main = &mut call.at.main;
                main.interference = call.at.mobile.gains().from_others(powers, main.cell);
            }
        }
        for (cell, sector) in cells.iter_mut().enumerate() {
            for (grant, link) in sector.mac.grants().iter().zip(&mut sector.links) {
                let gains = users.get(grant.ue).mobile.gains();
                link.interference = gains.from_others(powers, CellId(cell as u16));
            }
            sector.load =
                sector.links.iter().fold(Load::default(), |load, link| load.with(Load::of(power, link)));
        }
        self.hear_further_legs();
        self.add_calls();
        self.solve_associated();
        self.solve_held();
    }

    /// Builds the power equations of this TTI.
    fn couple_all_cells(&mut self) {
        let Multicell { power, call_classes, cells, users, coupled, .. } = self;
        coupled.begin();
        for class in call_classes.iter() {
            for call in class.calls.under_way() {
                let cell = call.at.main.cell.index();
                coupled.add(power, cell, &link(call, class.target), call.at.mobile.gains().iter());
            }
        }
        for (cell, sector) in cells.iter().enumerate() {
            for (grant, link) in sector.mac.grants().iter().zip(&sector.links) {
                coupled.add(power, cell, link, users.get(grant.ue).mobile.gains().iter());
            }
        }
        self.couple_further_legs();
        self.couple_associated();
        self.couple_held();
    }

    /// Decides the losses of all calls with the powers of this TTI.
    fn judge_calls(&mut self) {
        let (power, powers) = (self.power, &self.powers);
        for class in &mut self.call_classes {
            let draws = class.draws.tti(self.tti);
            for call in class.calls.under_way_mut() {
                let known = link(call, class.target);
                let at = &mut call.at;
                at.main.interference = at.mobile.gains().from_others(powers, at.main.cell);
                let meets = Link { interference: at.main.interference, ..known };
                let cell = &mut self.cells[at.main.cell.index()];
                let ebn0 = match power.control {
                    PowerControl::Steps => call.loops.achieved,
                    PowerControl::Ideal | PowerControl::Frame => {
                        let sent = power.dch_power(&cell.sent, &known);
                        meets.achieved(power.own_share, power.noise, cell.sent.total, sent) + at.beside
                    }
                };
                cell.used.calls += 1;
                cell.used.compressed += u32::from(at.raise > 1.0);
                let mut heard = ebn0 / at.raise;
                // A TTI of a call may last several turns. Its losses depend on their mean.
                if self.call_ttis > 1 {
                    heard = call.heard.mean_with(heard);
                }
                if (self.tti + call.number + 1).is_multiple_of(self.call_ttis) {
                    call.heard = EbN0Average::default();
                    let chance = class.errors.loss(heard);
                    let first = (call.number % NUMBERS) as u32 * calls::BLOCKS;
                    let blocks = first..first + calls::BLOCKS;
                    let lost = blocks.filter(|&block| draws.happens(block, chance)).count();
                    call.loops.handle_blocks(&power, calls::BLOCKS, lost as u32);
                    cell.used.sent += calls::BLOCKS;
                    cell.used.lost += lost as u32;
                }
                cell.used.load = cell.used.load.with(Load::of(&power, &meets));
            }
        }
    }

    /// Pulls RLC of the users that have the DSCH of a cell, and decides which blocks are lost
    /// unless their TTI lasts two frames.
    fn transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
        config: &CarrierConfig,
        Below { ues, air, .. }: &mut Below<'_>,
    ) {
        let mut transmission = air.begin(Direction::Downlink, Channel::Dsch);
        let mut octets = Bytes::ZERO;
        for number in 0..self.cells[cell.index()].mac.grants().len() {
            let grant = self.cells[cell.index()].mac.grants()[number];
            let ue = &mut ues[grant.ue];
            let bits = ue.channel(Direction::Downlink).block_bits;
            let blocks =
                ue.send(&mut ctx.cx, Direction::Downlink, Pdus::All, grant.blocks, None, &mut transmission);
            self.served.push(grant.ue);
            octets = octets.max(Iub::octets(blocks, bits));
            let power = self.cells[cell.index()].granted[number];
            ctx.cx.record(|| self.granted_event(cell, &grant, blocks, power as f32));
            if self.tti_phases > 1 {
                self.hold(cell, (grant, power, blocks));
                continue;
            }
            let ebn0 = self.meets(cell, &grant.link, grant.ue, power);
            let lost = self.lost(cell, &grant, ebn0, blocks);
            if blocks > 0 {
                transmission.last().lost = lost;
            }
            let received = blocks - lost.count();
            self.users.get_mut(grant.ue).loops.handle_blocks(&self.power, blocks, lost.count());
            self.cells[cell.index()].mac.served(self.tti, &grant, blocks, received);
        }
        // All arrive at the time of the longest.
        let arrival = config.arrival(ctx.cx.now, octets, Duration::ZERO);
        if self.tti_phases > 1 {
            self.cells[cell.index()].in_progress.transmission = Some((transmission, arrival));
        } else {
            air.depart(ctx, transmission, arrival);
        }
    }

    /// The Eb/N0 of a user of the DSCH with the powers of this turn.
    #[inline]
    pub(super) fn meets(&mut self, cell: CellId, link: &Link, ue: UeId, power: f64) -> f64 {
        let gains = self.users.get(ue).mobile.gains();
        let meets = Link { interference: gains.from_others(&self.powers, cell), ..*link };
        let sector = &mut self.cells[cell.index()];
        sector.used.load = sector.used.load.with(Load::of(&self.power, &meets));
        meets.achieved(self.power.own_share, self.power.noise, sector.sent.total, power)
    }

    /// Which blocks of a grant are lost at this Eb/N0.
    #[inline]
    pub(super) fn lost(&self, cell: CellId, grant: &Grant, ebn0: f64, blocks: u32) -> Lost {
        let chance = self.cells[cell.index()].mac.config().formats[grant.format].errors.loss(ebn0);
        let draws = self.blocks.tti(self.tti);
        let first = u32::from(grant.ue.0) * Lost::MOST_BLOCKS;
        Lost::which(blocks, |block| draws.happens(first + block, chance))
    }

    fn granted_event(&self, cell: CellId, grant: &Grant, sent: u32, power: f32) -> TraceEvent {
        let formats = &self.cells[cell.index()].mac.config().formats;
        TraceEvent::DschGranted {
            ue: grant.ue,
            cell: cell.0,
            blocks: grant.blocks as u8,
            sent: sent as u8,
            spreading_factor: grant.code.spreading_factor,
            wanted: formats[grant.wanted].spreading_factor,
            code: grant.code.number,
            power: Real(power),
        }
    }

    /// Records the TTI of a cell.
    fn record_power<T: TraceSink<TraceEvent>>(&self, ctx: &mut EventContext<'_, T>, cell: usize) {
        let sector = &self.cells[cell];
        let PowerUse { calls, sent, lost, load, .. } = sector.used;
        ctx.cx.record(|| TraceEvent::CellPower {
            cell: cell as u16,
            power: Real(sector.sent.total as f32),
            load: Real(load.factor(sector.sent.total) as f32),
            calls,
            sent,
            lost,
            scaled: sector.sent.factor < 1.0,
        });
        if self.dchs.is_recorded || self.dch.associated.is_some() {
            self.record_dchs(ctx, cell);
        }
    }

    fn record_dchs<T: TraceSink<TraceEvent>>(&self, ctx: &mut EventContext<'_, T>, cell: usize) {
        let PowerUse { further, further_power, associated, associated_power, compressed, .. } =
            self.cells[cell].used;
        ctx.cx.record(|| TraceEvent::CellDchs {
            cell: cell as u16,
            further,
            further_power: Real(further_power as f32),
            associated,
            associated_power: Real(associated_power as f32),
            compressed,
            codes: Real(self.dchs.codes.used(cell) as f32),
        });
    }

    /// Records the call events since the previous TTI.
    fn record_calls<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>) {
        for (cell, does) in self.dchs.steps.drain(..) {
            ctx.cx.record(|| TraceEvent::Call { cell: cell.0, step: does });
        }
    }
}

/// The timer expires twice at the start of a TTI: for the measurements, and after the handovers that these
/// require for the TTI of all cells.
impl Mac for Multicell {
    /// The timers of RLC run while a user waits for a grant.
    fn handle_backlog<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        _config: &CarrierConfig,
        ue: &mut UeContext,
        direction: Direction,
    ) -> bool {
        let has_data = ue.rlc[direction.index()].has_work(cx.now);
        if has_data {
            self.user_has_data(cx.now, ue.id);
        }
        self.backlog_changed(ue.id, has_data);
        true
    }

    fn leave(&mut self, _ue: &mut UeContext, _direction: Direction) {}

    fn poll_timeout(&self, timer: MacTimer) -> Option<(Time, Phase)> {
        (timer == MacTimer::First).then_some((self.next_turn, Phase::Schedule))
    }

    // Large, and of one carrier: not inlined into the dispatch for all carriers.
    #[inline(never)]
    fn handle_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        _timer: MacTimer,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        self.is_measured = !self.is_measured;
        if !self.is_measured {
            self.next_turn = ctx.cx.now + self.interval();
            self.turn(ctx, config, below);
        } else {
            self.measure_all(ctx.cx.now, below.ues);
        }
    }
}
