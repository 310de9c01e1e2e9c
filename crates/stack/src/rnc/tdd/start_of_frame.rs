//! The start of a frame of a TDD cell. The MAC decides the requests for capacity that it knows, sends
//! the data blocks of all grants, and ends grants without data. Then UEs send new requests on the
//! RACH. A grant is a number of blocks per frame for one UE and direction.

use umts_kernel::TraceSink;
use umts_units::{Bytes, Duration};

use super::config::Refused;
use super::grants::Grant;
use super::requests::{Demand, Request, RequestFate};
use super::{MacTdd, frame_start};
use crate::EventContext;
use crate::ids::{Direction, UeId};
use crate::mac::{Below, CarrierConfig};
use crate::nodeb::Iub;
use crate::radio::air::{Transmission, TransmittedSet};
use crate::radio::mac::Channel;
use crate::radio::phy::tdd::SlotTransmission;
use crate::radio::phy::tdd::layout::FRAME;
use crate::radio::rlc::Rlc;
use crate::scheduling::{Candidate, Turn, UserCandidate};
use crate::trace::TraceEvent;
use crate::ue::{Pdus, Ues};

/// Block number of a control PDU on a dedicated channel, for the random draw of its loss: above the
/// data blocks of its UE, direction and frame.
const CONTROL_BLOCK: u32 = 64;

impl MacTdd {
    /// Handles the start of a frame.
    pub(super) fn handle_frame_start<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let frame = ctx.cx.now.as_nanos() / FRAME.as_nanos();
        if self.frame.is_some_and(|last| last >= frame) {
            return;
        }
        debug_assert_eq!(frame_start(frame), ctx.cx.now, "the timer expires at the start of a frame");
        self.frame = Some(frame);
        self.decide(ctx, frame, below.ues);
        if !self.grants.is_empty() {
            self.send_data(ctx, frame, config, below);
        }
        self.random_access(ctx, frame, below.ues);
    }

    /// Grants requests for which there is room: by priority level, then in the order of arrival or as a
    /// scheduler selects.
    fn decide<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, frame: u64, ues: &mut Ues) {
        if self.demand.known.next().is_none_or(|from| from > frame) {
            return;
        }
        let mut requests = std::mem::take(&mut self.demand.known);
        let mut left_out = [Vec::new(), Vec::new()];
        for direction in Direction::BOTH {
            let candidate_of = |request: &Request| candidate(ues, frame, request);
            let Demand { schedulers, user_schedulers, .. } = &mut self.demand;
            if let Some(scheduler) = &mut user_schedulers[direction.index()] {
                let turn = Turn { now: frame_start(frame), number: frame };
                left_out[direction.index()] = requests.reorder_by(frame, direction, |due| {
                    let candidates = due.iter().map(|request| UserCandidate::new(candidate_of(request)));
                    scheduler.order(turn, &candidates.collect::<Vec<_>>())
                });
                continue;
            }
            match schedulers {
                Some(schedulers) => {
                    requests.reorder(frame, direction, &schedulers[direction.index()], candidate_of);
                }
                None => requests.order_by_level(frame, direction, |request| candidate_of(request).level()),
            }
        }
        // Room only shrinks while requests are decided: if a request does not fit, no later request of
        // the same direction fits.
        let mut is_full = [false; 2];
        requests
            .decide(frame, |request| self.decide_request(ctx, frame, request, &left_out, &mut is_full, ues));
        debug_assert!(self.demand.known.next().is_none(), "decisions add no requests");
        self.demand.known = requests;
    }

    /// Withdraws, grants or refuses a request. `left_out`: users whose requests wait, because a scheduler of
    /// the user left them out. `is_full`: there is no room left. Both are by direction.
    #[inline]
    fn decide_request<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        request: &mut Request,
        left_out: &[Vec<UeId>; 2],
        is_full: &mut [bool; 2],
        ues: &mut Ues,
    ) -> RequestFate {
        let Request { ue, direction, .. } = *request;
        let rlc = &mut ues[ue].rlc[direction.index()];
        if !self.needs_capacity(ctx.cx.now, ue, direction, rlc) {
            self.demand.state_mut(ue, direction).released();
            ctx.cx.record(|| TraceEvent::CapacityWithdrawn { ue, direction });
            return RequestFate::Removed;
        }
        if left_out[direction.index()].contains(&ue) {
            return RequestFate::Kept;
        }
        let is_direction_full = &mut is_full[direction.index()];
        if !*is_direction_full && self.grant(ctx, frame, request, rlc) {
            return RequestFate::Removed;
        }
        *is_direction_full = true;
        self.refuse(ctx, frame, request)
    }

    /// Grants as many of the requested blocks as fit. Returns whether there is room for any.
    fn grant<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        &Request { ue, direction, reported_sdus, .. }: &Request,
        rlc: &mut Rlc,
    ) -> bool {
        let wanted = self.config.grant.blocks(reported_sdus.unwrap_or_else(|| rlc.backlog().sdus));
        let Some(mut grant) = Grant::allocate(&mut self.slots, &self.config, ue, direction, wanted, frame)
        else {
            return false;
        };
        grant.sdus_before = rlc.sdus_done();
        rlc.limit_sdus(&mut ctx.cx, Some(self.config.grant.sdus));
        self.demand.state_mut(ue, direction).granted();
        if let Some(schedulers) = &mut self.demand.schedulers {
            schedulers[direction.index()].served(ue);
        }
        let blocks = grant.places.len() as u32;
        if let Some(scheduler) = &mut self.demand.user_schedulers[direction.index()] {
            scheduler.served(frame, ue, blocks, None);
        }
        ctx.cx.record(|| TraceEvent::CapacityGranted { ue, direction, blocks, wanted });
        self.grants.push(grant);
        true
    }

    /// Handles a request for which there is no room: it waits, or the UE backs off.
    #[inline]
    fn refuse<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        request: &mut Request,
    ) -> RequestFate {
        let Request { ue, direction, was_refused, .. } = *request;
        let is_kept = direction == Direction::Downlink || self.config.grant.refused == Refused::Queue;
        if !was_refused {
            request.was_refused = true;
            ctx.cx.record(|| TraceEvent::CapacityRefused { ue, direction, waits: is_kept });
        }
        if is_kept {
            return RequestFate::Kept;
        }
        self.demand.back_off(frame, ue);
        RequestFate::Removed
    }

    /// Sends the blocks of all grants.
    fn send_data<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let Below { ues, air, .. } = below;
        let mut transmissions = Direction::BOTH.map(|direction| air.begin(direction, Channel::Dch));
        self.air.blocks.clear();
        let mut grants = std::mem::take(&mut self.grants);
        grants.retain_mut(|grant| {
            let is_used = self.fill_grant(ctx, grant, ues, &mut transmissions) > 0;
            if !is_used {
                grant.release(&mut self.slots);
                self.end_grant(ctx, frame, grant, ues);
            }
            is_used
        });
        // Ending a grant adds no grant: a new request is granted in the next frame or later.
        debug_assert!(self.grants.is_empty());
        self.grants = grants;
        self.air.decide_losses(ctx, frame, &mut transmissions);
        self.air.record_frame(ctx, self.cell, &self.slots);
        for (direction, transmission) in Direction::BOTH.into_iter().zip(transmissions) {
            let largest_set = largest_set(&transmission, direction, ues);
            // The blocks arrive when the largest block set has crossed the Iub.
            let arrival = config.iub.arrival(direction, FRAME, ctx.cx.now, largest_set, Duration::ZERO);
            air.depart(ctx, transmission, arrival);
        }
    }

    /// Pulls the blocks of a grant in this frame from RLC and assigns them to its slots and codes. Also
    /// sends a control PDU in the reverse direction, if the grant has a channel for it. Returns the
    /// number of data blocks.
    fn fill_grant<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        grant: &mut Grant,
        ues: &mut Ues,
        transmissions: &mut [Box<Transmission>; 2],
    ) -> u32 {
        let Grant { ue, direction, .. } = *grant;
        let codes = self.config.layout.layout().codes_per_block;
        let context = &mut ues[ue];
        let max_blocks = grant.places.len() as u32;
        let transmission = &mut transmissions[direction.index()];
        // Without common channels, control PDUs are sent in the same blocks as data.
        let pdus = if grant.reverse.is_some() { Pdus::All } else { Pdus::Data };
        let blocks = context.send(&mut ctx.cx, direction, pdus, max_blocks, None, transmission);
        self.queried.push((ue, direction));
        if blocks > 0 {
            transmission.last().first = self.air.blocks.len() as u32;
            for (block, place) in (0..blocks).zip(&grant.places) {
                self.air.blocks.push(SlotTransmission { ue, direction, slot: place.slot, block, codes });
            }
            grant.blocks += blocks;
        }
        if let Some(place) = grant.reverse {
            let reverse = direction.reversed();
            let transmission = &mut transmissions[reverse.index()];
            if context.send(&mut ctx.cx, reverse, Pdus::Control, 1, None, transmission) > 0 {
                transmission.last().first = self.air.blocks.len() as u32;
                self.air.blocks.push(SlotTransmission {
                    ue,
                    direction: reverse,
                    slot: place.slot,
                    block: CONTROL_BLOCK,
                    codes,
                });
            }
            self.queried.push((ue, reverse));
        }
        blocks
    }

    /// Ends a grant. A new request follows if there is still something to send.
    fn end_grant<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        grant: &Grant,
        ues: &mut Ues,
    ) {
        let Grant { ue, direction, blocks, from, .. } = *grant;
        let rlc = &mut ues[ue].rlc[direction.index()];
        rlc.limit_sdus(&mut ctx.cx, None);
        let sdus = (rlc.sdus_done() - grant.sdus_before) as u32;
        let frames = (frame - from) as u32;
        ctx.cx.record(|| TraceEvent::CapacityReleased { ue, direction, frames, blocks, sdus });
        self.demand.state_mut(ue, direction).released();
        // `end_timeout` checks whether the other direction, whose control PDUs this grant carried, needs
        // capacity of its own.
        self.queried.push((ue, direction.reversed()));
    }

    /// Sends the requests that are due on the RACH of this frame.
    fn random_access<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        ues: &Ues,
    ) {
        let mut requesting = self.take_requesting_ues(ctx, frame, ues);
        let successes = self.demand.access.resolve(frame, &mut requesting);
        for (&ue, &is_received) in requesting.iter().zip(&successes) {
            ctx.cx.record(|| TraceEvent::CapacityRequested { ue, heard: is_received });
            if is_received {
                self.receive_request(frame, ue, ues);
            } else {
                ctx.cx.record(|| TraceEvent::RachCollision { ue });
                self.demand.back_off(frame, ue);
            }
        }
    }

    /// The UEs that send a request in this frame. UEs without data any more withdraw their planned
    /// request instead.
    fn take_requesting_ues<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        ues: &Ues,
    ) -> Vec<UeId> {
        let direction = Direction::Uplink;
        let mut requesting = Vec::new();
        while let Some(ue) = self.demand.take_planned(frame) {
            if self.needs_capacity(ctx.cx.now, ue, direction, &ues[ue].rlc[direction.index()]) {
                requesting.push(ue);
            } else {
                self.demand.state_mut(ue, direction).withdraw();
                ctx.cx.record(|| TraceEvent::CapacityWithdrawn { ue, direction });
            }
        }
        requesting
    }

    /// The RNC receives the request of a UE, with the number of SDUs in its buffer. It can be granted
    /// after the time of the answer.
    fn receive_request(&mut self, frame: u64, ue: UeId, ues: &Ues) {
        let direction = Direction::Uplink;
        self.demand.state_mut(ue, direction).received();
        let reported_sdus = Some(ues[ue].rlc[direction.index()].backlog().sdus);
        let from = frame + self.config.rach.answer / FRAME + 1;
        self.demand.known.push(Request { ue, direction, from, reported_sdus, was_refused: false });
    }
}

/// Octets on the Iub of the largest block set of a transmission.
fn largest_set(transmission: &Transmission, direction: Direction, ues: &Ues) -> Bytes {
    let octets =
        |sent: &TransmittedSet| Iub::octets(sent.set.blocks, ues[sent.ue].channel(direction).block_bits);
    transmission.sets().iter().map(octets).max().unwrap_or(Bytes::ZERO)
}

/// The UE of a request as a candidate for the scheduler in `frame`. For the downlink the candidate has
/// the backlog in the RNC. For the uplink the RNC knows only the backlog and the time that the UE
/// reported with its request, as a number of SDUs without their sizes.
fn candidate(ues: &Ues, frame: u64, request: &Request) -> Candidate {
    let (now, ue) = (frame_start(frame), &ues[request.ue]);
    let candidate = ue.candidate(now, request.direction);
    match request.reported_sdus {
        None => candidate,
        Some(sdus) => Candidate {
            octets: Bytes(sdus.into()),
            blocks: sdus,
            since: Some(frame_start(request.from)),
            ..candidate
        },
    }
}
