//! One frame of a TDD cell.

use umts_kernel::TraceSink;
use umts_units::{Bytes, Duration, Time};

use super::config::{GrantEnds, Refused};
use super::grants::Grant;
use super::requests::{Fate, Request};
use super::{MacTdd, begin};
use crate::EventContext;
use crate::detail::Detail;
use crate::ids::{Direction, UeId};
use crate::mac::{Below, CarrierConfig};
use crate::nodeb::Iub;
use crate::radio::air::Transmission;
use crate::radio::mac::Channel;
use crate::radio::phy::Lost;
use crate::radio::phy::tdd::layout::{FRAME, MOST_SLOTS};
use crate::radio::phy::tdd::{SlotTransmission, TddRadio};
use crate::radio::rlc::Rlc;
use crate::scheduling::Candidate;
use crate::trace::TraceEvent;
use crate::ue::{Pdus, Ues};

/// Block number of control PDUs of a UE, direction and frame: above all block numbers of data.
const CONTROL_BLOCK: u32 = 64;

/// A request for its scheduler: the RNC's own backlog, or the backlog that the UE reported.
fn candidate(ues: &Ues, request: &Request) -> Candidate {
    match request.reported {
        None => ues[request.ue].candidate(request.direction),
        Some(sdus) => Candidate::new(request.ue, Bytes(sdus.into()), sdus, Some(begin(request.from))),
    }
}

impl MacTdd {
    /// Handles the start of a frame.
    pub(super) fn turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let frame = ctx.cx.now.as_nanos() / FRAME.as_nanos();
        if self.frame.is_some_and(|last| last >= frame) {
            return;
        }
        debug_assert_eq!(begin(frame), ctx.cx.now, "called at the start of a frame");
        self.frame = Some(frame);
        self.decide(ctx, frame, below.ues);
        if !self.grants.is_empty() {
            self.data(ctx, frame, config, below);
        }
        self.random_access(ctx, frame, below.ues);
    }

    /// Grants requests for which there is room, in the order of arrival or as a scheduler selects.
    fn decide<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, frame: u64, ues: &mut Ues) {
        if self.requests.next().is_none_or(|from| from > frame) {
            return;
        }
        let mut requests = std::mem::take(&mut self.requests);
        if let Some(schedulers) = &self.schedulers {
            for direction in Direction::BOTH {
                let scheduler = &schedulers[direction.index()];
                requests.reorder(frame, direction, scheduler, |request| candidate(ues, request));
            }
        }
        // Room only shrinks during the decisions. After one refusal the direction is full.
        let mut is_full = [false; 2];
        requests.decide(frame, |request| self.decide_one(ctx, frame, (request, &mut is_full), ues));
        debug_assert!(self.requests.next().is_none(), "no request comes meanwhile");
        self.requests = requests;
    }

    #[inline]
    fn decide_one<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        (request, is_full): (&mut Request, &mut [bool; 2]),
        ues: &mut Ues,
    ) -> Fate {
        let Request { ue, direction, .. } = *request;
        let rlc = &mut ues[ue].rlc[direction.index()];
        if !self.needs_capacity(ctx.cx.now, ue, direction, rlc) {
            self.want_mut(ue, direction).released();
            ctx.cx.record(|| TraceEvent::CapacityWithdrawn { ue, direction });
            return Fate::Over;
        }
        let is_full = &mut is_full[direction.index()];
        *is_full = *is_full || !self.grant(ctx, frame, request, rlc);
        if *is_full { self.refuse(ctx, frame, request) } else { Fate::Over }
    }

    /// Grants a request as many blocks as there is room for. Returns whether there was any room.
    fn grant<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        &Request { ue, direction, reported, .. }: &Request,
        rlc: &mut Rlc,
    ) -> bool {
        let wanted = self.config.grant.blocks(reported.unwrap_or_else(|| rlc.backlog().sdus));
        let Some(mut grant) = Grant::take(&mut self.slots, &self.config, (ue, direction), wanted, frame)
        else {
            return false;
        };
        grant.sdus_before = rlc.sdus_done();
        rlc.limit_sdus(&mut ctx.cx, Some(self.config.grant.sdus));
        self.want_mut(ue, direction).granted();
        if let Some(schedulers) = &mut self.schedulers {
            schedulers[direction.index()].served(ue);
        }
        let blocks = grant.places.len() as u32;
        ctx.cx.record(|| TraceEvent::CapacityGranted { ue, direction, blocks, wanted });
        self.grants.push(grant);
        true
    }

    /// Refuses a request.
    #[inline]
    fn refuse<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        request: &mut Request,
    ) -> Fate {
        let Request { ue, direction, was_refused, .. } = *request;
        let stays = direction == Direction::Downlink || self.config.grant.refused == Refused::Queue;
        if !was_refused {
            request.was_refused = true;
            ctx.cx.record(|| TraceEvent::CapacityRefused { ue, direction, waits: stays });
        }
        if stays {
            return Fate::Stays;
        }
        self.back_off(frame, ue);
        Fate::Over
    }

    /// `ue` repeats its request after a back-off.
    #[inline(never)]
    fn back_off(&mut self, frame: u64, ue: UeId) {
        let access = &self.access;
        let want = &mut self.wants[ue.index()][Direction::Uplink.index()];
        let until = want.failed(|failures| access.backed_off_until(frame, ue, failures));
        self.asking.insert((until, ue));
    }

    /// Sends the blocks of all grants.
    fn data<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let Below { ues, air, .. } = below;
        let mut transmissions = Direction::BOTH.map(|direction| air.begin(direction, Channel::Dch));
        self.on_air.clear();
        let mut grants = std::mem::take(&mut self.grants);
        grants.retain_mut(|grant| {
            let blocks = self.pull(ctx, grant, ues, &mut transmissions);
            let goes_on = blocks > 0 || !self.is_over(ctx.cx.now, grant, ues);
            if !goes_on {
                grant.give_back(&mut self.slots);
                self.released(ctx, frame, grant, ues);
            }
            goes_on
        });
        // A UE without its grant needs a new request, which is granted in the next frame or later.
        debug_assert!(self.grants.is_empty());
        self.grants = grants;
        self.decide_losses(ctx, frame, &mut transmissions);
        self.record_frame(ctx);
        for (direction, transmission) in Direction::BOTH.into_iter().zip(transmissions) {
            let longest = transmission
                .sets()
                .iter()
                .map(|sent| Iub::octets(sent.set.blocks, ues[sent.ue].channel(direction).block_bits));
            let octets = longest.max().unwrap_or(Bytes::ZERO);
            let arrival = config.iub.arrival(direction, FRAME, ctx.cx.now, octets, Duration::ZERO);
            air.depart(ctx, transmission, arrival);
        }
    }

    /// Pulls the blocks of a grant from RLC and gives them their places. Returns the number of data
    /// blocks.
    fn pull<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        grant: &mut Grant,
        ues: &mut Ues,
        transmissions: &mut [Box<Transmission>; 2],
    ) -> u32 {
        let Grant { ue, direction, .. } = *grant;
        let codes = self.config.layout.layout().codes_per_block;
        let context = &mut ues[ue];
        let (most, transmission) = (grant.places.len() as u32, &mut transmissions[direction.index()]);
        // Without common channels control PDUs are sent with the data.
        let pdus = if grant.reverse.is_some() { Pdus::All } else { Pdus::Data };
        let blocks = context.send(&mut ctx.cx, direction, pdus, most, None, transmission);
        self.touched.push((ue, direction));
        if blocks > 0 {
            transmission.last().first = self.on_air.len() as u32;
            let sent = (0..blocks).zip(&grant.places);
            self.on_air.extend(sent.map(|(block, place)| SlotTransmission {
                ue,
                direction,
                slot: place.slot,
                block,
                codes,
            }));
            grant.blocks += blocks;
        }
        if let Some(place) = grant.reverse {
            let (direction, block) = (direction.reversed(), CONTROL_BLOCK);
            let transmission = &mut transmissions[direction.index()];
            if context.send(&mut ctx.cx, direction, Pdus::Control, 1, None, transmission) > 0 {
                transmission.last().first = self.on_air.len() as u32;
                self.on_air.push(SlotTransmission { ue, direction, slot: place.slot, block, codes });
            }
            self.touched.push((ue, direction));
        }
        blocks
    }

    /// Whether a grant ends after an unused frame.
    fn is_over(&self, now: Time, grant: &Grant, ues: &Ues) -> bool {
        let rlc = &ues[grant.ue].rlc[grant.direction.index()];
        match self.config.grant.ends {
            GrantEnds::UnusedFrame => true,
            GrantEnds::Acknowledged => rlc.is_settled() && !rlc.has_data(now),
        }
    }

    /// Ends a grant. A new request follows if there is still something to send.
    fn released<T: TraceSink<TraceEvent>>(
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
        self.want_mut(ue, direction).released();
        // `end_timeout` notes whether the other direction needs capacity without this grant.
        self.touched.push((ue, direction.reversed()));
    }

    fn record_frame<T: TraceSink<TraceEvent>>(&self, ctx: &mut EventContext<'_, T>) {
        let cell = self.cell.0;
        ctx.cx.record(|| {
            let (slots, held) = self.slots.in_use();
            let (mut used, mut in_slot) = ([0; 2], [0_u8; MOST_SLOTS]);
            for sent in &self.on_air {
                used[sent.direction.index()] += u16::from(sent.codes);
                in_slot[usize::from(sent.slot)] += 1;
            }
            let (sent, lost) = self.by_neighbours(&in_slot);
            TraceEvent::FrameUsed { cell, slots, held, used, sent, lost }
        });
    }

    /// Blocks of this frame, and lost blocks, by the number of other UEs' blocks in their slot, 0 to 3.
    fn by_neighbours(&self, in_slot: &[u8; MOST_SLOTS]) -> ([u8; 4], [u8; 4]) {
        let (mut sent, mut lost) = ([0; 4], [0; 4]);
        let mut add = |slot: u8, blocks: u8, lost_blocks: u8| {
            let neighbours = usize::from(in_slot[usize::from(slot)] - blocks).min(3);
            sent[neighbours] += blocks;
            lost[neighbours] += lost_blocks;
        };
        // Blocks of one UE in one slot are adjacent.
        let (mut own, mut slot, mut blocks, mut lost_blocks) = (None, 0, 0, 0);
        for (this, &is_lost) in self.on_air.iter().zip(&self.scratch.lost) {
            let owner = Some((this.slot, this.direction, this.ue));
            if own != owner {
                add(slot, blocks, lost_blocks);
                (own, slot, blocks, lost_blocks) = (owner, this.slot, 0, 0);
            }
            blocks += 1;
            lost_blocks += u8::from(is_lost);
        }
        add(slot, blocks, lost_blocks);
        (sent, lost)
    }

    /// Decides which of the blocks on the air in this frame are lost.
    fn decide_losses<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        transmissions: &mut [Box<Transmission>; 2],
    ) {
        let lost = &mut self.scratch.lost;
        match &mut self.radio {
            Some(radio) => radio.decide_losses(frame, &self.on_air, lost),
            None => {
                lost.clear();
                lost.resize(self.on_air.len(), false);
            }
        }
        for sent in transmissions.iter_mut().flat_map(|transmission| transmission.sets_mut()) {
            let of_set = &lost[sent.first as usize..][..sent.set.blocks as usize];
            sent.lost = Lost::which(sent.set.blocks, |block| of_set[block as usize]);
        }
        if T::WANTS_DETAIL {
            self.show_slots(ctx);
        }
    }

    /// Shows each UE's slots and the SIR of each transmission.
    fn show_slots<T: TraceSink<TraceEvent>>(&self, ctx: &mut EventContext<'_, T>) {
        let mut sirs = self.radio.iter().flat_map(TddRadio::sirs);
        for (sent, &lost) in self.on_air.iter().zip(&self.scratch.lost) {
            let SlotTransmission { ue, direction, slot, codes, .. } = *sent;
            let sir_db = sirs.next().map(|sir| 10.0 * libm::log10(sir));
            ctx.cx.show(|| Detail::Slot { ue, direction, slot, codes, sir_db, lost });
        }
    }

    /// Sends the requests that are due on the RACH of this frame.
    fn random_access<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        ues: &Ues,
    ) {
        let direction = Direction::Uplink;
        let mut asking = std::mem::take(&mut self.scratch.asking);
        asking.clear();
        while let Some(&(at, ue)) = self.asking.first().filter(|(at, _)| *at <= frame) {
            self.asking.remove(&(at, ue));
            if self.needs_capacity(ctx.cx.now, ue, direction, &ues[ue].rlc[direction.index()]) {
                asking.push(ue);
            } else {
                self.want_mut(ue, direction).withdraw();
                ctx.cx.record(|| TraceEvent::CapacityWithdrawn { ue, direction });
            }
        }
        let mut heard = std::mem::take(&mut self.scratch.heard);
        self.access.resolve(frame, &mut asking, &mut heard);
        for (&ue, &is_heard) in asking.iter().zip(&heard) {
            ctx.cx.record(|| TraceEvent::CapacityRequested { ue, heard: is_heard });
            if is_heard {
                self.want_mut(ue, direction).heard();
                let reported = Some(ues[ue].rlc[direction.index()].backlog().sdus);
                let from = frame + self.config.rach.answer + 1;
                self.requests.push(Request { ue, direction, from, reported, was_refused: false });
            } else {
                ctx.cx.record(|| TraceEvent::RachCollision { ue });
                self.back_off(frame, ue);
            }
        }
        (self.scratch.asking, self.scratch.heard) = (asking, heard);
    }
}
