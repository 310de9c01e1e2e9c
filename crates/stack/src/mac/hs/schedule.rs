//! A TTI of the HS-DSCH: which UEs are served, and with how many codes.

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

use super::user::{Sendable, Sent, SentWindow, User};
use super::{MacHs, TTI};
use crate::EventContext;
use crate::detail::{Detail, Stage};
use crate::ids::{Direction, UeId};
use crate::mac::{Below, CarrierConfig};
use crate::nodeb::QueuedBlock;
use crate::radio::phy::Lost;
use crate::radio::phy::link_quality::lowest_snr_db;
use crate::scheduling::{
    Candidate, ChannelState, HsValues, PriorityLevel, Rank, RateValues, Turn, UserCandidate, memory,
};
use crate::trace::TraceEvent;

/// State of the HS-DSCH that schedulers query for a candidate.
struct HsState<'a> {
    sendable: Sendable,
    mean_size: f64,
    user: &'a mut User,
    tti: u64,
    /// Weight of the past after one TTI, for FCDS.
    fcds_memory: f64,
}

impl ChannelState for HsState<'_> {
    /// From the lowest SNR of the reported CQI.
    fn interference_to_signal(&self) -> f64 {
        libm::pow(10.0, -lowest_snr_db(self.sendable.cqi) / 10.0)
    }

    fn possible_blocks(&self) -> u32 {
        self.sendable.size
    }

    fn mean_blocks(&mut self) -> f64 {
        self.mean_size
    }

    fn snr_deviation(&mut self) -> f64 {
        self.user.snr_deviation(self.fcds_memory, self.tti)
    }
}

/// A UE that can receive a block, with the values that decide its place.
struct Ranked {
    level: PriorityLevel,
    rank: Rank,
    /// Arrival of its oldest PDU.
    since: Option<Time>,
    ue: UeId,
    sendable: Sendable,
}

impl MacHs {
    /// Sends blocks to UEs in the order of the scheduler while codes and HS-SCCHs are left, if a TTI
    /// begins now.
    pub(super) fn transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let now = ctx.cx.now;
        if self.next_tti.is_none_or(|at| at > now) {
            return;
        }
        let tti = now.as_nanos() / TTI.as_nanos();
        self.update(ctx, config, below);
        let memory = memory(TTI, self.config.mean_over);
        // Process of the cell in this TTI, if the cell has the processes.
        let process = self.process_of(tti);
        let order = match self.user_scheduler {
            None => self.order(tti, memory, process),
            Some(_) => self.user_order(tti, memory, process),
        };
        let (mut codes, mut channels) = (self.config.codes, self.config.users_per_tti);
        for (ue, sendable) in order {
            if channels == 0 {
                break;
            }
            if sendable.codes > codes {
                continue;
            }
            channels -= 1;
            codes -= sendable.codes;
            let user = self.users.get_mut(&ue).expect("an active UE is a user");
            let Sent { size, is_decoded } = user.transmit(ctx, config, below, ue, tti, process);
            if let Some(scheduler) = &mut self.user_scheduler {
                let octets = user.octets(f64::from(size)) as u32;
                scheduler.served(tti, ue, octets, Some(if is_decoded { octets } else { 0 }));
            }
            if let Some(process) = process {
                self.processes[usize::from(process)] = Some(ue);
            }
            user.add_to_mean(memory, tti, size);
            let expiry = user.t1_expiry();
            self.set_t1(ue, expiry);
            self.scheduler.served(ue);
        }
        self.schedule_next(now);
    }

    /// Number of the process of the cell in TTI number `tti`. `None` if UEs have the processes. Forgets
    /// the UE of a block that has ended.
    fn process_of(&mut self, tti: u64) -> Option<u8> {
        let process = tti.checked_rem(self.processes.len() as u64)? as u8;
        let holder = &mut self.processes[usize::from(process)];
        let user = holder.and_then(|ue| self.users.get(&ue));
        if user.is_none_or(|user| user.is_process_idle(process)) {
            *holder = None;
        }
        Some(process)
    }

    /// Takes over what has reached the Node B.
    fn update<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        for position in 0..self.active.len() {
            let ue = self.active[position];
            self.flush_obsolete(ctx, config, below, ue);
            let user = self.users.get_mut(&ue).expect("an active UE is a user");
            user.update(ctx.cx.now, |pdu| {
                ctx.cx.record(|| TraceEvent::HsPduDiscarded { ue });
                drop_pdu(ctx, config, below, pdu);
            });
        }
    }

    /// Flushes PDUs of `ue` that RLC has discarded or sent before a reset, if `flush_discarded` is set.
    pub(super) fn flush_obsolete<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
    ) {
        if !self.config.flush_discarded {
            return;
        }
        let context = &below.ues[ue];
        let Some((from, next)) = context.rlc[config.direction.index()].sent_window() else { return };
        let window = SentWindow { epoch: context.epoch, from, next };
        let Some(user) = self.users.get_mut(&ue) else { return };
        user.flush_obsolete(window, |pdu| {
            ctx.cx.record(|| TraceEvent::HsPduFlushed { ue });
            drop_pdu(ctx, config, below, pdu);
        });
    }

    /// UEs that can receive a block in TTI number `tti`, with their blocks, in the order of the scheduler.
    fn order(&mut self, tti: u64, memory: f64, process: Option<u8>) -> Vec<(UeId, Sendable)> {
        let (scheduler, fcds_memory) = (self.scheduler, self.config.fcds_memory.value());
        let mut ranked = self.candidates(tti, process, |user, candidate, sendable| {
            let mean_size = user.mean_size(memory, tti);
            let mut state = HsState { sendable, mean_size, user, tti, fcds_memory };
            let rank = scheduler.rank(&candidate, &mut state);
            Ranked { level: candidate.level(), rank, since: candidate.since, ue: candidate.ue, sendable }
        });
        ranked.sort_by_key(|&Ranked { level, rank, since, ue, .. }| (level, rank, since, ue));
        ranked.into_iter().map(|ranked| (ranked.ue, ranked.sendable)).collect()
    }

    /// UEs that can receive a block in TTI number `tti`, with their blocks, in the order of the scheduler of
    /// the user. UEs that it leaves out are missing.
    fn user_order(&mut self, tti: u64, memory: f64, process: Option<u8>) -> Vec<(UeId, Sendable)> {
        let candidates = self.candidates(tti, process, |user, candidate, sendable| {
            let Sendable { cqi, codes, size, .. } = sendable;
            let mean_size = user.mean_size(memory, tti);
            let rate = RateValues {
                possible: Bytes(user.octets(f64::from(size)) as u64),
                mean: user.octets(mean_size),
            };
            (UserCandidate { candidate, rate: Some(rate), hs: Some(HsValues { cqi, codes }) }, sendable)
        });
        let (candidates, sendables): (Vec<UserCandidate>, Vec<Sendable>) = candidates.into_iter().unzip();
        let Some(scheduler) = self.user_scheduler.as_mut().filter(|_| !candidates.is_empty()) else {
            return Vec::new();
        };
        let turn = Turn { now: Time::ZERO + TTI * tti, number: tti };
        let order = scheduler.order(turn, &candidates);
        order.into_iter().map(|index| (candidates[index].candidate.ue, sendables[index])).collect()
    }

    /// UEs that can receive a block in TTI number `tti`, in ascending order. `make` is called for each, with
    /// its block.
    fn candidates<T>(
        &mut self,
        tti: u64,
        process: Option<u8>,
        mut make: impl FnMut(&mut User, Candidate, Sendable) -> T,
    ) -> Vec<T> {
        // Only the UE of the block in the process of this TTI may be served.
        let holder = process.and_then(|process| self.processes[usize::from(process)]);
        let Self { users, active, .. } = self;
        let candidates = active.iter().filter_map(|&ue| {
            let user = users.get_mut(&ue).expect("an active UE is a user");
            let sendable = match holder {
                None => user.sendable(tti, process)?,
                Some(holder) => user.repeatable(tti, process?).filter(|_| holder == ue)?,
            };
            let candidate = Candidate::new(ue, user.queued(), sendable.size, user.oldest())
                .with_qos(user.qos(), sendable.is_rate_met);
            Some(make(user, candidate, sendable))
        });
        candidates.collect()
    }

    /// Schedules the next TTI: the following one if a UE has PDUs or blocks in HARQ, else the one after
    /// the next arrival from the Iub.
    fn schedule_next(&mut self, now: Time) {
        let users = &self.users;
        self.active.retain(|ue| !users[ue].is_idle() || users[ue].next_arrival().is_some());
        let next = self.active.iter().map(|ue| match users[ue].is_idle() {
            false => now + TTI,
            true => users[ue].next_arrival().map_or(now + TTI, |at| at.max(now + TTI).round_up_to(TTI)),
        });
        self.next_tti = next.min();
    }
}

/// Drops a PDU at the Node B. Records the SDUs that end in it as lost.
pub(super) fn drop_pdu<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    config: &CarrierConfig,
    below: &mut Below<'_>,
    pdu: QueuedBlock,
) {
    let QueuedBlock { ue, set, .. } = pdu;
    let (direction, channel) = (config.direction, config.channel);
    ctx.cx.show(|| Detail::Blocks { ue, direction, channel, set: &set, stage: Stage::Dropped });
    // RLC entities are indexed by the direction in which they send: the receiver is the one in the UE.
    let receiver = &below.ues[ue].rlc[Direction::Uplink.index()];
    receiver.record_lost_ends(&mut ctx.cx, &set, Lost::all(set.blocks));
    below.air.return_set(set);
}
