//! The DSCH of each cell in a turn (a TTI, or a frame if the DSCH is scheduled every frame):
//! `schedule` turns candidates into grants, and `transmit` queries RLC for the blocks of the grants
//! and decides their losses. Between the two, the power solver determines the Eb/N0 of each grant.

use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_kernel::random::{AddressedStream, Streams};
use umts_units::{Bytes, Duration, Time};

use super::in_progress::TtiInProgress;
use super::power_solver::{DownlinkLink, LinkKind, Receiver};
use super::ready::Ready;
use super::voice_calls::CallCounts;
use super::{AssociatedConfig, Multicell, MulticellConfig};
use crate::EventContext;
use crate::ids::{CellId, Direction, UeId};
use crate::mac::{Below, CarrierConfig};
use crate::nodeb::Iub;
use crate::radio::air::Transmission;
use crate::radio::mac::Channel;
use crate::radio::phy::Lost;
use crate::rnc::mac_sh::{Candidates, Grant, MacSh, Radio};
use crate::scheduling::Candidate;
use crate::trace::{Postponed, Real, TraceEvent};
use crate::ue::{Pdus, Ues};

/// The DSCHs of all cells.
#[derive(Debug)]
pub(super) struct Dschs {
    pub cells: Vec<DownlinkCell>,
    /// The DCH beside the DSCH of each user. `None`: it takes neither code nor power.
    pub associated: Option<AssociatedConfig>,
    /// Draws of the blocks.
    draws: AddressedStream,
    /// Candidates of one cell. The buffer is used again for each cell.
    candidates: Candidates,
    /// Users with a grant in this turn, whose RLC was queried for blocks.
    pub served: Vec<UeId>,
}

/// The DSCH of one cell.
#[derive(Debug)]
pub(super) struct DownlinkCell {
    pub mac: MacSh,
    /// Users with something to send, in index order.
    pub ready: Vec<Ready>,
    /// Index of its first grant among the links of all grants.
    pub first_grant: usize,
    /// TTIs that began a frame ago in the order of their priority, if the DSCH is scheduled every
    /// frame.
    pub in_progress: Vec<TtiInProgress>,
    /// The transmission of these TTIs, and its time of arrival.
    pub transmission: Option<(Box<Transmission>, Time)>,
}

impl Dschs {
    pub fn new(config: &MulticellConfig, cells: usize, streams: &Streams) -> Self {
        let dsch = Arc::new(config.dsch.clone());
        let cell = |_| DownlinkCell {
            mac: MacSh::new(dsch.clone()),
            ready: Vec::new(),
            first_grant: 0,
            in_progress: Vec::new(),
            transmission: None,
        };
        Dschs {
            cells: (0..cells).map(cell).collect(),
            associated: config.dch.associated,
            draws: streams.addressed("dsch/blocks"),
            candidates: Candidates::default(),
            served: Vec::new(),
        }
    }
}

impl Multicell {
    /// Selects the users of a cell's DSCH in this turn, and adds their links to the power solver.
    pub(super) fn schedule<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
        ues: &Ues,
    ) {
        self.gather_candidates(ctx, cell, ues);
        let Multicell { dschs: Dschs { cells, candidates, .. }, mobility, solver, clock, .. } = self;
        let dsch = &mut cells[cell.index()];
        let mut load = solver.cells[cell.index()].load;
        let interference = |ue: UeId| mobility.user(ue).interference(&solver.before);
        let radio = Radio { power: &solver.limits(cell.index()), interference: &interference };
        dsch.mac.schedule(ctx.cx.now, clock.turn, candidates, &radio, &mut load);
        solver.cells[cell.index()].load = load;
        dsch.first_grant = solver.links(LinkKind::Dsch).len();
        for grant in dsch.mac.grants() {
            solver.add(LinkKind::Dsch, Receiver::User(grant.ue), cell, grant.link);
        }
        for refusal in dsch.mac.refusals() {
            let (ue, why) = (refusal.ue, refusal.reason);
            ctx.cx.record(|| TraceEvent::DschPostponed { ue, cell: cell.0, why });
        }
    }

    /// Collects the users of a cell with data that may get a grant.
    fn gather_candidates<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
        ues: &Ues,
    ) {
        let (now, needs_dch) = (ctx.cx.now, self.dschs.associated.is_some());
        let Multicell { dschs: Dschs { cells, candidates, .. }, mobility, clock, .. } = self;
        let dsch = &mut cells[cell.index()];
        let (needs_sdus, decision) = (dsch.mac.config().needs_sdus(), dsch.mac.config().decision);
        candidates.begin();
        for ready in &mut dsch.ready {
            let (ue, user) = (ready.ue, mobility.user(ready.ue));
            if !user.can_start(ue, decision, clock.turn) {
                continue;
            }
            // A user in the list may have nothing left to send, for example because acknowledgments
            // arrived. It stays in the list until its RLC is queried.
            let Some(backlog) = ready.backlog(now, &ues[ue]) else { continue };
            if needs_dch && user.dch.is_none() {
                ctx.cx.record(|| TraceEvent::DschPostponed { ue, cell: cell.0, why: Postponed::Codes });
                continue;
            }
            if ues[ue].silent_until > now {
                ctx.cx.record(|| TraceEvent::DschPostponed { ue, cell: cell.0, why: Postponed::Handover });
                continue;
            }
            let candidate = Candidate {
                gain: user.gain,
                outer_loop: user.loops.target_scale,
                ..Candidate::new(ue, backlog.octets, backlog.pdus.max(1), backlog.since)
            };
            let context = &ues[ue];
            let candidate = candidate.with_qos(&context.qos, context.is_rate_met(now, Direction::Downlink));
            candidates.push_with(candidate, |sdus| {
                if needs_sdus {
                    ues[ue].rlc[Direction::Downlink.index()].waiting_sdus(sdus);
                }
            });
        }
    }

    /// Queries RLC for the blocks of the users that have the DSCH of a cell. Decides which blocks
    /// are lost, unless a TTI lasts two frames: then `end_in_progress` decides.
    pub(super) fn transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
        config: &CarrierConfig,
        Below { ues, air, .. }: &mut Below<'_>,
    ) {
        let direction = Direction::Downlink;
        let lasts_two_turns = self.clock.turns_per_tti > 1;
        let mut transmission = air.begin(direction, Channel::Dsch);
        let mut max_octets = Bytes::ZERO;
        let first_grant = self.dschs.cells[cell.index()].first_grant;
        for number in 0..self.dschs.cells[cell.index()].mac.grants().len() {
            let grant = self.dschs.cells[cell.index()].mac.grants()[number];
            let DownlinkLink { power_mw, ebn0, .. } = self.solver.links(LinkKind::Dsch)[first_grant + number];
            let ue = &mut ues[grant.ue];
            let block_bits = ue.channel(direction).block_bits;
            let blocks = ue.send(&mut ctx.cx, direction, Pdus::All, grant.blocks, None, &mut transmission);
            self.dschs.served.push(grant.ue);
            max_octets = max_octets.max(Iub::octets(blocks, block_bits));
            ctx.cx.record(|| self.granted_event(cell, &grant, blocks, power_mw as f32));
            if lasts_two_turns {
                self.begin_tti(cell, grant, blocks, ebn0);
                continue;
            }
            let lost = self.lost(cell, &grant, ebn0, blocks);
            if blocks > 0 {
                transmission.last().lost = lost;
            }
            let loops = &mut self.mobility.user_mut(grant.ue).loops;
            loops.handle_blocks(&self.solver.power, blocks, lost.count());
            let received = blocks - lost.count();
            self.dschs.cells[cell.index()].mac.served(self.clock.turn, &grant, blocks, received);
        }
        // All block sets arrive when the largest one has crossed the Iub.
        let arrival = config.arrival(ctx.cx.now, max_octets, Duration::ZERO);
        if lasts_two_turns {
            self.dschs.cells[cell.index()].transmission = Some((transmission, arrival));
        } else {
            air.depart(ctx, transmission, arrival);
        }
    }

    /// Which blocks of a grant are lost at this Eb/N0.
    #[inline]
    pub(super) fn lost(&self, cell: CellId, grant: &Grant, ebn0: f64, blocks: u32) -> Lost {
        let format = &self.dschs.cells[cell.index()].mac.config().formats[grant.format];
        let first = u32::from(grant.ue.0) * Lost::MAX_BLOCKS;
        format.errors.losses(self.dschs.draws.tti(self.clock.turn), first, blocks, ebn0)
    }

    fn granted_event(&self, cell: CellId, grant: &Grant, sent: u32, power: f32) -> TraceEvent {
        let formats = &self.dschs.cells[cell.index()].mac.config().formats;
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

    /// Records the power of a cell in this turn: its calls, its channels without power control, and
    /// its DCHs if they need codes or power that are limited.
    pub(super) fn record_power<T: TraceSink<TraceEvent>>(
        &self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
        &CallCounts { calls, compressed, sent, lost }: &CallCounts,
    ) {
        let power = &self.solver.cells[cell.index()];
        ctx.cx.record(|| TraceEvent::CellPower {
            cell: cell.0,
            power: Real(power.sent.total as f32),
            load: Real(power.achieved.factor(power.sent.total) as f32),
            calls,
            sent,
            lost,
            scaled: power.sent.factor < 1.0,
        });
        let sccpch = self.solver.commons[cell.index()] - self.solver.power.common;
        if sccpch > 0.0 {
            ctx.cx.record(|| TraceEvent::SccpchSent { cell: cell.0, power: Real(sccpch as f32) });
        }
        let hs_dsch = &self.solver.hs_dschs[cell.index()];
        if hs_dsch.share > 0.0 {
            let (power, share) = (Real(hs_dsch.mean() as f32), Real(hs_dsch.share as f32));
            ctx.cx.record(|| TraceEvent::HsDschSent { cell: cell.0, power, share });
        }
        let has_dchs = self.active_sets.is_recorded
            || self.dschs.associated.is_some()
            || self.bearers.have_dedicated_channels();
        if has_dchs {
            ctx.cx.record(|| TraceEvent::CellDchs {
                cell: cell.0,
                further: power.soft_legs.count,
                further_power: Real(power.soft_legs.power as f32),
                associated: power.associated.count,
                associated_power: Real(power.associated.power as f32),
                compressed,
                codes: Real(self.codes.used(cell.index()) as f32),
            });
        }
    }
}
