//! A TTI of the HS-DSCH: which UEs are served, and with how many codes.

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

use super::user::Sendable;
use super::{MacHs, TTI};
use crate::EventContext;
use crate::detail::{Detail, Stage};
use crate::ids::{Direction, UeId};
use crate::mac::{Below, CarrierConfig};
use crate::radio::phy::Lost;
use crate::radio::phy::link_quality::lowest_snr_db;
use crate::scheduling::{Candidate, ChannelState, Rank, memory};
use crate::trace::TraceEvent;

/// State of the HS-DSCH that schedulers query for a candidate.
struct HsState {
    sendable: Sendable,
    mean_pdus: f64,
}

impl ChannelState for HsState {
    /// From the lowest SNR of the reported CQI.
    fn interference_to_signal(&self) -> f64 {
        libm::pow(10.0, -lowest_snr_db(self.sendable.cqi) / 10.0)
    }

    fn possible_blocks(&self) -> u32 {
        self.sendable.pdus
    }

    fn mean_blocks(&mut self) -> f64 {
        self.mean_pdus
    }
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
        let mut candidates = self.candidates(tti, memory);
        candidates.sort_by_key(|&(rank, since, ue, _)| (rank, since, ue));
        let (mut codes, mut channels) = (self.config.codes, self.config.users_per_tti);
        for (.., ue, sendable) in candidates {
            if channels == 0 {
                break;
            }
            if sendable.codes > codes {
                continue;
            }
            channels -= 1;
            codes -= sendable.codes;
            let user = self.users.get_mut(&ue).expect("an active UE is a user");
            let pdus = user.transmit(ctx, config, below.air, ue, tti);
            user.add_to_mean(memory, tti, pdus);
            self.scheduler.served(ue);
        }
        self.schedule_next(now);
    }

    /// Takes over what has reached the Node B.
    fn update<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let (direction, channel) = (config.direction, config.channel);
        for &ue in &self.active {
            let user = self.users.get_mut(&ue).expect("an active UE is a user");
            user.update(ctx.cx.now, |pdu| {
                let set = &pdu.set;
                ctx.cx.record(|| TraceEvent::HsPduDiscarded { ue });
                ctx.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::Dropped });
                let receiver = &below.ues[ue].rlc[Direction::Uplink.index()];
                receiver.record_lost_ends(&mut ctx.cx, set, Lost::all(set.blocks));
                below.air.return_set(pdu.set);
            });
        }
    }

    /// UEs that can receive a block in TTI number `tti`, each with its rank, the arrival of its oldest
    /// PDU, and its block.
    fn candidates(&mut self, tti: u64, memory: f64) -> Vec<(Rank, Option<Time>, UeId, Sendable)> {
        let Self { users, scheduler, active, .. } = self;
        let candidates = active.iter().filter_map(|&ue| {
            let user = users.get_mut(&ue).expect("an active UE is a user");
            let sendable = user.sendable(tti)?;
            let octets = Bytes(user.queued() as u64 * u64::from(user.pdu_bits()) / 8);
            let candidate = Candidate::new(ue, octets, sendable.pdus, user.oldest());
            let mut state = HsState { sendable, mean_pdus: user.mean_pdus(memory, tti) };
            Some((scheduler.rank(&candidate, &mut state), user.oldest(), ue, sendable))
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
