//! One UE on the HS-DSCH: its PDUs on the Iub and at the Node B, and both ends of HARQ.

use std::collections::VecDeque;
use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_kernel::random::Streams;
use umts_units::{Bytes, Duration, Time};

use super::config::{HsDschConfig, HsUeConfig};
use super::link::Link;
use super::{DECODING, ROUND_TRIP_TTIS, TTI};
use crate::EventContext;
use crate::detail::{Detail, Stage};
use crate::ids::{Direction, UeId};
use crate::mac::CarrierConfig;
use crate::nodeb::QueuedBlock;
use crate::radio::Air;
use crate::radio::mac::hs::category::{Category, Format};
use crate::radio::mac::hs::harq::{Announcement, Ended, Feedback, HarqReceiver, HarqSender, MAX_PROCESSES};
use crate::radio::mac::hs::pdus_in;
use crate::radio::mac::hs::priority_queue::PriorityQueue;
use crate::radio::mac::hs::reordering::{ReorderingConfig, ReorderingQueue};
use crate::radio::mac::hs::tsn::Tsn;
use crate::radio::phy::Lost;
use crate::trace::TraceEvent;
use crate::ue::UeContext;

/// A block in a HARQ process.
#[derive(Debug)]
struct HsBlock {
    tsn: Tsn,
    format: Format,
    /// The CQI that the UE had reported.
    cqi: u8,
    /// Its PDUs. Empty once the UE has decoded the block.
    pdus: Vec<QueuedBlock>,
}

#[derive(Debug)]
pub(super) struct User {
    category: Category,
    /// Codes of the cell.
    max_codes: u8,
    link: Link,
    /// Bits of a MAC-d PDU.
    pdu_bits: u32,
    max_queue: u32,
    queue_time: Duration,
    /// PDUs on the Iub, with their arrival at the Node B.
    on_iub: VecDeque<QueuedBlock>,
    queue: PriorityQueue<QueuedBlock>,
    sender: HarqSender<u64>,
    receiver: HarqReceiver,
    /// Blocks in HARQ, by process.
    blocks: [Option<HsBlock>; MAX_PROCESSES],
    /// Answers of the UE, with the instant at which the Node B can act on them.
    feedback: VecDeque<(Time, u8, Feedback)>,
    reordering: ReorderingQueue<Vec<QueuedBlock>>,
    /// Blocks that the reordering queue passes on. Empty between calls.
    up: Vec<Vec<QueuedBlock>>,
    /// Number of the TTI from which the category allows a further block.
    next_allowed: u64,
    /// Credits that the Node B has allocated and the RNC has not used yet.
    outstanding_credits: u32,
    /// Mean of the PDUs per TTI, up to TTI number `.1`.
    mean_pdus: (f64, u64),
}

impl User {
    pub fn new(cell: &HsDschConfig, ue: &UeContext, streams: &Streams) -> Self {
        let config: &Arc<HsUeConfig> = ue.hs_dsch.as_ref().expect("a UE on the HS-DSCH has its options");
        let reordering = ReorderingConfig { window: cell.window, t1: cell.t1 };
        User {
            category: config
                .category
                .and_then(Category::new)
                .expect("a checked scenario has a category from 1 to 12"),
            max_codes: cell.codes,
            link: Link::new(config, ue.id, streams),
            pdu_bits: ue.channel(Direction::Downlink).block_bits,
            max_queue: cell.nodeb_queue,
            queue_time: cell.queue_time,
            on_iub: VecDeque::new(),
            queue: PriorityQueue::new(cell.nodeb_queue as usize, cell.discard_timer, cell.window),
            sender: HarqSender::new(cell.processes.into(), cell.max_transmissions),
            receiver: HarqReceiver::default(),
            blocks: std::array::from_fn(|_| None),
            feedback: VecDeque::new(),
            reordering: ReorderingQueue::new(reordering),
            up: Vec::new(),
            next_allowed: 0,
            outstanding_credits: 0,
            mean_pdus: (0.0, 0),
        }
    }

    /// Credits that the Node B allocates in TTI number `tti`, if `sharing` UEs share the channel. The UE
    /// is expected to get the rate that it had, or its share of the rate that its CQI allows, whichever
    /// is higher. At this rate the credits fill the queue to its target time, and cover the time until
    /// PDUs for these credits arrive. `memory`: as for `mean_pdus`.
    pub fn credits(&mut self, tti: u64, memory: f64, iub_delay: Duration, sharing: usize) -> u32 {
        let pdus_of_block = self.format(self.link.reported_cqi(tti)).map_or(1, |(_, pdus)| pdus);
        let rate = self.mean_pdus(memory, tti).max(f64::from(pdus_of_block) / sharing.max(1) as f64);
        let ttis = (self.queue_time + iub_delay * 2).as_secs() / TTI.as_secs();
        // At least one full block, so that small shares do not split blocks.
        let target = ((rate * ttis).ceil() as u32).max(pdus_of_block).min(self.max_queue);
        let held = (self.queue.len() + self.on_iub.len()) as u32 + self.outstanding_credits;
        let credits = target.saturating_sub(held);
        self.outstanding_credits += credits;
        credits
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
        let octets = Bytes(u64::from(self.pdu_bits).div_ceil(8));
        // These PDUs follow those that are still being sent to the Node B.
        let busy_until = self.on_iub.back().map_or(Time::ZERO, |pdu| pdu.at);
        let start = (ctx.cx.now + config.iub.delay).max(busy_until);
        let mut first = None;
        for number in 1..=credits {
            let mut set = air.spare_set();
            if ue.take_blocks(&mut ctx.cx, config.direction, config.channel, 1, &mut set) == 0 {
                air.return_set(set);
                break;
            }
            let sent = Bytes(octets.0 * u64::from(number));
            let at = start + config.iub.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(sent));
            first = first.or(Some(at));
            self.on_iub.push_back(QueuedBlock { at, ue: ue.id, set, epoch: ue.epoch });
        }
        first
    }

    /// Takes over what has reached the Node B by `now`: PDUs, and answers of the UE. Calls `lost` for
    /// PDUs that are discarded.
    pub fn update(&mut self, now: Time, mut lost: impl FnMut(QueuedBlock)) {
        while self.on_iub.front().is_some_and(|pdu| pdu.at <= now) {
            let pdu = self.on_iub.pop_front().expect("it was looked at");
            if let Some(pdu) = self.queue.push(pdu.at, pdu) {
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
        self.queue.discard_expired(now).for_each(lost);
    }

    /// The largest format for a CQI with the codes of the cell, and its number of PDUs. `None` if it
    /// has room for no PDU.
    fn format(&self, cqi: u8) -> Option<(Format, u32)> {
        let format = self.category.format_within(cqi, self.max_codes)?;
        let pdus = pdus_in(format.bits(), self.pdu_bits);
        (pdus > 0).then_some((format, pdus))
    }

    /// What the Node B could send in TTI number `tti`. `None` if it has nothing, or must not send now.
    pub fn sendable(&self, tti: u64) -> Option<Sendable> {
        if tti < self.next_allowed {
            return None;
        }
        let cqi = self.link.reported_cqi(tti);
        if let Some(process) = self.sender.next_process() {
            let block = self.blocks[usize::from(process)].as_ref()?;
            return Some(Sendable { cqi, codes: block.format.codes, pdus: block.pdus.len() as u32 });
        }
        if self.queue.is_empty() || !self.queue.is_window_open() || self.sender.idle_process().is_none() {
            return None;
        }
        let (format, pdus) = self.format(cqi)?;
        Some(Sendable { cqi, codes: format.codes, pdus })
    }

    /// Sends a block in TTI number `tti`: one that failed before, or else a new one. Returns its number
    /// of PDUs.
    pub fn transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        ue: UeId,
        tti: u64,
    ) -> u32 {
        let announcement = match self.sender.resend() {
            Some(again) => again,
            None => self.send_new(ctx, config, tti),
        };
        self.next_allowed = tti + u64::from(self.category.min_interval());
        let process = usize::from(announcement.process);
        let block = self.blocks[process].as_mut().expect("the process has a block");
        let Announcement { attempt, .. } = announcement;
        let snr = libm::pow(10.0, self.link.snr_db(tti) / 10.0);
        let (link, cqi, format_cqi) = (&self.link, block.cqi, block.format.cqi);
        let decodes = |sum| link.decodes(tti, format_cqi, attempt, sum);
        let reception = self.receiver.handle_transmission(announcement, snr, decodes);
        let now = ctx.cx.now;
        let answer = if reception.is_acknowledged { Feedback::Ack } else { Feedback::Nack };
        self.feedback.push_back((now + TTI * ROUND_TRIP_TTIS, announcement.process, answer));
        let pdus = block.pdus.len() as u32;
        let is_decoded = reception.is_delivered;
        let is_last = is_decoded || self.sender.is_last(announcement);
        ctx.cx.record(|| TraceEvent::HsBlockSent { ue, cqi, attempt, pdus, is_decoded, is_last });
        let decoded_at = now + DECODING;
        if is_decoded {
            let (tsn, pdus) = (block.tsn, std::mem::take(&mut block.pdus));
            self.expire_t1(ctx, config, air, ue, decoded_at);
            self.reordering.handle_block(decoded_at, tsn, pdus, &mut self.up);
            self.deliver(ctx, config, air, ue, decoded_at);
        } else if is_last {
            let pdus = std::mem::take(&mut block.pdus);
            deliver(ctx, config, air, ue, decoded_at, pdus, true);
        }
        pdus
    }

    /// Fills a new block in the format of the reported CQI.
    fn send_new<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        tti: u64,
    ) -> Announcement {
        let cqi = self.link.reported_cqi(tti);
        let (format, most) = self.format(cqi).expect("the UE can receive a block");
        let filled = self.queue.take(most).expect("the queue has PDUs and an open window");
        let process = self.sender.idle_process().expect("a process is idle");
        let (direction, channel) = (config.direction, config.channel);
        for QueuedBlock { ue, set, .. } in &filled.pdus {
            ctx.cx.show(|| Detail::Blocks { ue: *ue, direction, channel, set, stage: Stage::OnAir });
        }
        let block = HsBlock { tsn: filled.tsn(), format, cqi, pdus: filled.pdus };
        self.blocks[usize::from(process)] = Some(block);
        self.sender.send(process, filled.count)
    }

    /// Expiry of timer T1 of the reordering queue.
    pub fn t1_expiry(&self) -> Option<Time> {
        self.reordering.poll_timeout()
    }

    /// Handles expiries of T1 up to `until`.
    pub fn expire_t1<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        ue: UeId,
        until: Time,
    ) {
        while let Some(at) = self.reordering.poll_timeout().filter(|at| *at <= until) {
            self.reordering.handle_timeout(at, &mut self.up);
            ctx.cx.record(|| TraceEvent::T1Expired { ue });
            self.deliver(ctx, config, air, ue, at);
        }
    }

    /// Passes the PDUs of the blocks in `up` to RLC at `at`.
    fn deliver<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        ue: UeId,
        at: Time,
    ) {
        for pdus in self.up.drain(..) {
            deliver(ctx, config, air, ue, at, pdus, false);
        }
    }

    /// Whether the Node B has nothing to do for the UE: no PDU, and no block in HARQ.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.feedback.is_empty() && self.sender.next_process().is_none()
    }

    /// Arrival of the next PDU at the Node B.
    pub fn next_arrival(&self) -> Option<Time> {
        self.on_iub.front().map(|pdu| pdu.at)
    }

    /// Arrival of the PDU at the head of the queue.
    pub fn oldest(&self) -> Option<Time> {
        self.queue.oldest()
    }

    /// Number of PDUs in the queue.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    pub fn pdu_bits(&self) -> u32 {
        self.pdu_bits
    }

    /// Mean of the PDUs per TTI before TTI number `tti`. `memory`: weight of the past after one TTI.
    pub fn mean_pdus(&mut self, memory: f64, tti: u64) -> f64 {
        let (mean, up_to) = self.mean_pdus;
        let mean = mean * libm::pow(memory, (tti - up_to) as f64);
        self.mean_pdus = (mean, tti);
        mean
    }

    /// Adds `pdus` sent in TTI number `tti` to the mean.
    pub fn add_to_mean(&mut self, memory: f64, tti: u64, pdus: u32) {
        let mean = self.mean_pdus(memory, tti);
        self.mean_pdus.0 = mean + (1.0 - memory) * f64::from(pdus);
    }
}

/// What the Node B could send to a UE.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sendable {
    /// The CQI that the Node B has.
    pub cqi: u8,
    pub codes: u8,
    /// PDUs for which the block has room.
    pub pdus: u32,
}

/// Passes PDUs of a block to RLC of the UE at `at`, or counts them as lost.
fn deliver<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    config: &CarrierConfig,
    air: &mut Air,
    ue: UeId,
    at: Time,
    pdus: Vec<QueuedBlock>,
    is_lost: bool,
) {
    let (direction, channel) = (config.direction, config.channel);
    let mut transmission = air.begin(direction, channel);
    for pdu in pdus {
        let (sent, unused) = transmission.take(ue, pdu.set);
        sent.epoch = pdu.epoch;
        sent.lost = if is_lost { Lost::all(sent.set.blocks) } else { Lost::default() };
        air.return_set(unused);
    }
    air.depart(ctx, transmission, at);
}
