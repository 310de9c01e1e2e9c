//! PDUs of a UE between RLC at the RNC and HARQ: credits, the Iub, and the queue of the Node B.

use std::collections::VecDeque;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Duration, Time};

use super::User;
use crate::EventContext;
use crate::mac::CarrierConfig;
use crate::mac::hs::config::{CreditRule, HsMac};
use crate::mac::hs::in_flight::data_runs;
use crate::mac::hs::{NodebQueue, TTI};
use crate::nodeb::QueuedBlock;
use crate::radio::Air;
use crate::radio::mac::hs::harq::Ended;
use crate::radio::rlc::{BlockSet, Sn};
use crate::trace::TraceEvent;
use crate::ue::UeContext;

/// State of RLC at the RNC, by which the Node B flushes PDUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SentWindow {
    /// Number of re-establishments.
    pub epoch: u16,
    /// Count of the first PDU that is neither acknowledged nor discarded.
    pub from: u64,
    /// Count of the next new PDU. A reset lowers it.
    pub next: u64,
}

/// Octets of the PDU in `set`. `pdu_bits`: bits of a PDU of fixed size.
fn octets_of(set: &BlockSet, pdu_bits: u32) -> u32 {
    match set.flexible_octets {
        0 => pdu_bits.div_ceil(8),
        octets => octets,
    }
}

impl User {
    /// Credits that the Node B allocates in TTI number `tti`, if `sharing` UEs share the channel with it. The UE
    /// is expected to get the rate that it had, or its share of the rate that its CQI allows, whichever
    /// is higher. At this rate the credits fill the queue to its target time, and cover the time until
    /// PDUs for these credits arrive. `memory`: as for `mean_size`.
    pub fn credits(&mut self, tti: u64, memory: f64, iub_delay: Duration, sharing: usize) -> u32 {
        let credit = self.credit_size();
        let on_iub: u32 = match self.mac {
            HsMac::MacHs => self.on_iub.len() as u32,
            HsMac::MacEhs => self.on_iub.iter().map(|pdu| self.size_of(pdu)).sum(),
        };
        let held = self.queue.size() as u32 + on_iub + self.outstanding_credits * credit;
        let room = self.max_queue.saturating_sub(held) / credit;
        if self.credit_rule == CreditRule::QueueRoom {
            self.outstanding_credits += room;
            return room;
        }
        let block = self.format(self.link.reported_cqi(tti)).map_or(1, |(_, room)| room);
        let rate = self.mean_size(memory, tti).max(f64::from(block) / sharing.max(1) as f64);
        let ttis = (self.queue_time + iub_delay * 2).as_secs() / TTI.as_secs();
        // At least one full block, so that small shares do not split blocks.
        let target = ((rate * ttis).ceil() as u32).max(block).min(self.max_queue);
        let credits = target.saturating_sub(held).div_ceil(credit).min(room);
        self.outstanding_credits += credits;
        credits
    }

    /// Size of a PDU in the unit of the MAC.
    fn size_of(&self, pdu: &QueuedBlock) -> u32 {
        match self.mac {
            HsMac::MacHs => 1,
            HsMac::MacEhs => octets_of(&pdu.set, self.pdu_bits),
        }
    }

    /// Size for which one credit stands, in the unit of the MAC: a PDU of the largest size.
    fn credit_size(&self) -> u32 {
        match self.mac {
            HsMac::MacHs => 1,
            HsMac::MacEhs => self.pdu_bits.div_ceil(8),
        }
    }

    /// The RNC sends PDUs for `credits`. Returns the arrival of the first one at the Node B.
    pub fn send_to_nodeb<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        ue: &mut UeContext,
        air: &mut Air,
        credits: u32,
    ) -> Option<Time> {
        self.outstanding_credits -= credits;
        let (mut unused, credit) = (credits * self.credit_size(), self.credit_size());
        let mut sent = Bytes::ZERO;
        // These PDUs follow those that are still being sent to the Node B.
        let busy_until = self.on_iub.back().map_or(Time::ZERO, |pdu| pdu.at);
        let start = (ctx.cx.now + config.iub.delay).max(busy_until);
        let mut first = None;
        // The size of a PDU is known when RLC has built it: there must be credit for the largest one.
        while unused >= credit {
            let mut set = air.spare_set();
            if ue.take_blocks(&mut ctx.cx, config.direction, config.channel, 1, &mut set) == 0 {
                air.return_set(set);
                break;
            }
            let repeated = self.in_flight.add(&set, ue.epoch);
            if repeated > 0 {
                let ue = ue.id;
                ctx.cx.record(|| TraceEvent::HsNeedlessRetransmission { ue, pdus: repeated });
            }
            sent += Bytes(octets_of(&set, self.pdu_bits).into());
            let at = start + config.iub.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(sent));
            first = first.or(Some(at));
            let pdu = QueuedBlock { at, ue: ue.id, set, epoch: ue.epoch };
            unused -= self.size_of(&pdu);
            self.on_iub.push_back(pdu);
        }
        first
    }

    /// Takes over what has reached the Node B by `now`: PDUs, and answers of the UE. Calls `lost` for
    /// PDUs that are discarded.
    pub fn update(&mut self, now: Time, mut lost: impl FnMut(QueuedBlock)) {
        while self.on_iub.front().is_some_and(|pdu| pdu.at <= now) {
            let pdu = self.on_iub.pop_front().expect("it was looked at");
            let size = self.size_of(&pdu);
            if let Some(pdu) = self.queue.push(pdu.at, size, pdu) {
                self.in_flight.remove(&pdu);
                lost(pdu);
            }
        }
        while let Some((_, process, feedback)) = self.feedback.pop_front_if(|(at, ..)| *at <= now) {
            if let Some(Ended::Acknowledged(count) | Ended::GivenUp(count)) =
                self.sender.handle_feedback(process, feedback)
            {
                self.queue.handle_ended(count);
                self.blocks[usize::from(process)] = None;
            }
        }
        for pdu in self.queue.discard_expired(now) {
            self.in_flight.remove(&pdu);
            lost(pdu);
        }
    }

    /// Removes PDUs on the Iub and in the queue that RLC of the RNC has discarded or seen acknowledged,
    /// or that it sent before a reset. Calls `flushed` for each. `window`: state of RLC.
    pub fn flush_obsolete(&mut self, window: SentWindow, mut flushed: impl FnMut(QueuedBlock)) {
        let before = std::mem::replace(&mut self.flushed, window);
        if window == before {
            return;
        }
        let is_reset = window.epoch != before.epoch || window.next < before.next;
        let from = Sn::of(window.from);
        // Sequence numbers in the half behind the first useful PDU.
        let is_old = |sn: Sn| sn.steps_from(from) >= Sn::MODULUS / 2;
        let is_obsolete = |pdu: &QueuedBlock| {
            let mut runs = data_runs(&pdu.set).peekable();
            runs.peek().is_some()
                && runs.all(|run| {
                    is_reset || (is_old(run.first) && is_old(run.first.plus(u64::from(run.count) - 1)))
                })
        };
        let mut removed = self.queue.remove_if(is_obsolete);
        let (on_iub, kept) = std::mem::take(&mut self.on_iub).into_iter().partition(is_obsolete);
        self.on_iub = kept;
        removed.extend(VecDeque::into_iter(on_iub));
        for pdu in removed {
            self.in_flight.remove(&pdu);
            flushed(pdu);
        }
    }

    /// Arrival of the next PDU at the Node B.
    pub fn next_arrival(&self) -> Option<Time> {
        self.on_iub.front().map(|pdu| pdu.at)
    }

    /// Arrival of the PDU at the head of the queue.
    pub fn oldest(&self) -> Option<Time> {
        self.queue.oldest()
    }

    /// Octets in the queue.
    pub fn queued(&self) -> Bytes {
        match self.mac {
            HsMac::MacHs => Bytes(self.queue.len() as u64 * u64::from(self.pdu_bits) / 8),
            HsMac::MacEhs => Bytes(self.queue.size()),
        }
    }

    /// PDUs and octets that wait at the Node B at `now`, and credits.
    pub fn nodeb_queue(&self, now: Time) -> NodebQueue {
        // PDUs that have arrived since the last TTI enter the queue in the next one.
        let arrived = self.on_iub.iter().take_while(|pdu| pdu.at <= now);
        let octets: u64 = arrived.clone().map(|pdu| u64::from(octets_of(&pdu.set, self.pdu_bits))).sum();
        NodebQueue {
            pdus: (self.queue.len() + arrived.count()) as u64,
            octets: self.queued() + Bytes(octets),
            credits: self.outstanding_credits,
        }
    }

    /// Octets of a size in the unit of the MAC.
    pub fn octets(&self, size: f64) -> f64 {
        match self.mac {
            HsMac::MacHs => size * f64::from(self.pdu_bits) / 8.0,
            HsMac::MacEhs => size,
        }
    }
}
