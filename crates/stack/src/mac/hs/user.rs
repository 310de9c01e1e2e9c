//! One UE on the HS-DSCH: its PDUs on the Iub and at the Node B, and both ends of HARQ.

use std::collections::VecDeque;
use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_kernel::random::Streams;
use umts_units::{Bytes, Duration, Time};

use super::config::{CreditRule, HsDschConfig, HsMac, HsUeConfig};
use super::in_flight::{InFlight, data_runs};
use super::link::{Link, SentBlock};
use super::{HarqTiming, NodebQueue, TTI};
use crate::EventContext;
use crate::detail::{Detail, Stage};
use crate::ids::{Direction, UeId};
use crate::mac::{Below, CarrierConfig};
use crate::nodeb::QueuedBlock;
use crate::radio::Air;
use crate::radio::mac::hs::category::{Category, Format};
use crate::radio::mac::hs::harq::{Announcement, Ended, Feedback, HarqReceiver, HarqSender, MAX_PROCESSES};
use crate::radio::mac::hs::priority_queue::{Block, PriorityQueue};
use crate::radio::mac::hs::reordering::{ReorderingConfig, ReorderingQueue};
use crate::radio::mac::hs::segmentation::{Reassembly, Segmentation};
use crate::radio::mac::hs::tsn::Tsn;
use crate::radio::mac::hs::{octets_in, pdus_in};
use crate::radio::phy::Lost;
use crate::radio::rlc::{BlockSet, Sn};
use crate::scheduling::{QosConfig, RateGuarantee, SnrFilter};
use crate::trace::TraceEvent;
use crate::ue::UeContext;

/// Most TTIs without a block that are added to the mean of the SNR later.
const FILTERED_TTIS: u64 = 10_000;

/// A block in a HARQ process.
#[derive(Debug)]
struct HsBlock {
    /// Number of the block, without wrap-around.
    count: u64,
    format: Format,
    /// The CQI that the UE had reported.
    cqi: u8,
    /// TTI number of the first transmission.
    first_tti: u64,
    /// Whether the UE had received its guaranteed rate then. It decides the priority of repetitions too:
    /// they are part of the rate that the first transmission used.
    is_rate_met: bool,
    /// Its content. `None` once the UE has decoded the block, or HARQ has given it up.
    content: Option<Content>,
}

/// Content of a block.
#[derive(Debug)]
struct Content {
    /// PDUs that end in the block.
    pdus: Vec<QueuedBlock>,
    segmentation: Segmentation,
    /// In the unit of the MAC.
    size: u32,
}

/// A block that the UE has decoded.
#[derive(Debug)]
struct ReceivedBlock {
    /// Number of the block, without wrap-around. The UE knows only its TSN.
    count: u64,
    content: Content,
}

#[derive(Debug)]
pub(super) struct User {
    category: Category,
    /// Codes of the cell.
    max_codes: u8,
    link: Link,
    /// Quality of service of the bearer.
    qos: QosConfig,
    /// Guaranteed rate of the blocks on the air, repetitions excluded, if the bearer has one.
    guarantee: Option<RateGuarantee>,
    mac: HsMac,
    /// Octets of RLC payload in the largest MAC-d PDU.
    payload: Bytes,
    /// Bits of the largest MAC-d PDU.
    pdu_bits: u32,
    /// Capacity of the queue in the unit of the MAC.
    max_queue: u32,
    queue_time: Duration,
    credit_rule: CreditRule,
    timing: HarqTiming,
    /// PDUs on the Iub, with their arrival at the Node B.
    on_iub: VecDeque<QueuedBlock>,
    queue: PriorityQueue<QueuedBlock>,
    sender: HarqSender<u64>,
    receiver: HarqReceiver,
    /// Blocks in HARQ, by process.
    blocks: [Option<HsBlock>; MAX_PROCESSES],
    /// Answers of the UE, with the instant at which the Node B can act on them.
    feedback: VecDeque<(Time, u8, Feedback)>,
    in_flight: InFlight,
    /// Window of RLC at the RNC when obsolete PDUs were last flushed.
    flushed: SentWindow,
    reordering: ReorderingQueue<ReceivedBlock>,
    reassembly: Reassembly,
    /// Blocks that the reordering queue passes on. Empty between calls.
    up: Vec<ReceivedBlock>,
    /// Number after the last block that was passed on.
    next_up: u64,
    /// Number of the TTI from which the category allows a further block.
    next_allowed: u64,
    /// Credits that the Node B has allocated and the RNC has not used yet.
    outstanding_credits: u32,
    /// Mean size of the content of blocks per TTI, up to TTI number `.1`.
    mean_size: (f64, u64),
    /// Mean and variance of the SNR, for FCDS, and number of the TTI that follows the last one in them.
    snr: SnrFilter,
    filtered_ttis: u64,
}

impl User {
    pub fn new(cell: &HsDschConfig, ue: &UeContext, streams: &Streams) -> Self {
        let config: &Arc<HsUeConfig> = ue.hs_dsch.as_ref().expect("a UE on the HS-DSCH has its options");
        let reordering = ReorderingConfig { window: cell.window, t1: cell.t1 };
        let pdu_bits = ue.channel(Direction::Downlink).block_bits;
        let max_queue = match config.mac {
            HsMac::MacHs => cell.nodeb_queue,
            HsMac::MacEhs => cell.nodeb_queue * pdu_bits.div_ceil(8),
        };
        User {
            category: config
                .category
                .and_then(Category::new)
                .expect("a checked scenario has a category from 1 to 12"),
            max_codes: cell.codes,
            link: Link::new(config, ue.id, streams),
            qos: ue.qos,
            guarantee: ue.qos.guaranteed.map(RateGuarantee::new),
            payload: ue.rlc[Direction::Downlink.index()].pdu_payload(),
            mac: config.mac,
            pdu_bits,
            max_queue,
            queue_time: cell.queue_time,
            credit_rule: cell.credit_rule,
            timing: HarqTiming::new(cell.ack_delay),
            snr: SnrFilter::default(),
            filtered_ttis: 0,
            on_iub: VecDeque::new(),
            queue: PriorityQueue::new(max_queue.into(), cell.discard_timer, cell.window),
            sender: HarqSender::new(cell.processes.into(), cell.max_transmissions),
            receiver: HarqReceiver::default(),
            blocks: std::array::from_fn(|_| None),
            feedback: VecDeque::new(),
            in_flight: InFlight::new(ue.epoch),
            flushed: SentWindow::default(),
            reordering: ReorderingQueue::new(reordering),
            reassembly: Reassembly::default(),
            up: Vec::new(),
            next_up: 0,
            next_allowed: 0,
            outstanding_credits: 0,
            mean_size: (0.0, 0),
        }
    }

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

    /// Ends HARQ: its blocks are lost, and those in the reordering queue go up. Returns the PDUs that were
    /// not sent yet.
    pub fn reset<T: TraceSink<TraceEvent>>(
        mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        ue: UeId,
    ) -> Vec<QueuedBlock> {
        self.reordering.reset(&mut self.up);
        // Not before blocks that are being decoded.
        let decoded_at = ctx.cx.now + self.timing.decoding;
        self.deliver(ctx, config, air, ue, decoded_at);
        for block in std::mem::take(&mut self.blocks).into_iter().flatten() {
            let pdus = block.content.map_or_else(Vec::new, |content| content.pdus);
            self.deliver_pdus(ctx, config, air, decoded_at, pdus, true);
        }
        let mut unsent: Vec<QueuedBlock> = self.queue.remove_if(|_| true);
        unsent.extend(self.on_iub);
        unsent
    }

    /// The largest format for a CQI with the codes of the cell, and its room in the unit of the MAC: PDUs, or
    /// octets of one PDU. `None` if it has no room.
    fn format(&self, cqi: u8) -> Option<(Format, u32)> {
        let format = self.category.format_within(cqi, self.max_codes)?;
        let room = match self.mac {
            HsMac::MacHs => pdus_in(format.bits(), self.pdu_bits),
            HsMac::MacEhs => octets_in(format.bits()),
        };
        (room > 0).then_some((format, room))
    }

    /// What the Node B could send in TTI number `tti`. `None` if it has nothing, or must not send now.
    /// `process`: the process of the cell for a new block, if the cell has the processes.
    pub fn sendable(&self, tti: u64, process: Option<u8>) -> Option<Sendable> {
        if tti < self.next_allowed {
            return None;
        }
        let cqi = self.link.reported_cqi(tti);
        if let Some(process) = self.sender.next_process().filter(|_| process.is_none()) {
            let block = self.blocks[usize::from(process)].as_ref()?;
            return Some(Sendable::repetition(cqi, block));
        }
        if self.queue.is_empty() || !self.queue.is_window_open() || self.sender.idle_process().is_none() {
            return None;
        }
        let (format, size) = self.format(cqi)?;
        Some(Sendable { cqi, codes: format.codes, size, is_rate_met: self.is_rate_met(tti) })
    }

    /// Whether the UE has received its guaranteed rate before TTI number `tti`.
    fn is_rate_met(&self, tti: u64) -> bool {
        self.guarantee.is_some_and(|guarantee| guarantee.is_met(Time::ZERO + TTI * tti))
    }

    /// Whether process number `process` has no block.
    pub fn is_process_idle(&self, process: u8) -> bool {
        self.sender.is_idle(process)
    }

    /// The block in process number `process`, if it can be repeated in TTI number `tti`.
    pub fn repeatable(&self, tti: u64, process: u8) -> Option<Sendable> {
        if tti < self.next_allowed || !self.sender.awaits_retransmission(process) {
            return None;
        }
        let block = self.blocks[usize::from(process)].as_ref()?;
        Some(Sendable::repetition(self.link.reported_cqi(tti), block))
    }

    /// Sends a block in TTI number `tti`: one that failed before, or else a new one. `process`: the
    /// process of the cell, if the cell has the processes. Returns the size of the content in the unit of
    /// the MAC, 0 if the UE has the block already.
    pub fn transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
        tti: u64,
        process: Option<u8>,
    ) -> u32 {
        let (is_cut, air) = (below.ues[ue].is_cut, &mut *below.air);
        let again = match process {
            None => self.sender.resend(),
            Some(process) => self.sender.resend_in(process),
        };
        let announcement = match again {
            Some(again) => again,
            None => self.send_new(ctx, config, tti, process),
        };
        self.next_allowed = tti + u64::from(self.category.min_interval());
        let process = usize::from(announcement.process);
        let block = self.blocks[process].as_mut().expect("the process has a block");
        let Announcement { attempt, .. } = announcement;
        let snr = libm::pow(10.0, self.link.snr_db(tti) / 10.0);
        let (link, cqi, first_tti) = (&self.link, block.cqi, block.first_tti);
        let sent = SentBlock { first_tti, attempt, cqi, format_cqi: block.format.cqi };
        let decodes = |combined| link.decodes(tti, &sent, combined);
        // The UE has the block already: its last answer was misread.
        let is_repeated_needlessly = block.content.is_none();
        // While the air is cut the UE receives neither the HS-SCCH nor the block, and sends no answer.
        let reception = (!is_cut && !link.misses_hs_scch(tti))
            .then(|| self.receiver.handle_transmission(announcement, snr, decodes));
        let answer = match reception {
            None => Feedback::Dtx,
            Some(reception) if reception.is_acknowledged => Feedback::Ack,
            Some(_) => Feedback::Nack,
        };
        let read = if is_cut { Feedback::Dtx } else { link.read_answer(tti, answer) };
        let now = ctx.cx.now;
        self.feedback.push_back((now + self.timing.answer, announcement.process, read));
        let (pdus, size) =
            block.content.as_ref().map_or((0, 0), |content| (content.pdus.len() as u32, content.size));
        let is_decoded = reception.is_some_and(|reception| reception.is_delivered);
        let ends = read == Feedback::Ack || self.sender.is_last(announcement);
        let is_last = is_decoded || (ends && !is_repeated_needlessly);
        ctx.cx.record(|| TraceEvent::HsBlockSent { ue, cqi, attempt, pdus, is_decoded, is_last });
        let decoded_at = now + self.timing.decoding;
        if is_decoded {
            let count = block.count;
            if let Some(content) = block.content.take() {
                self.reorder(ctx, config, air, ue, decoded_at, ReceivedBlock { count, content });
            }
        } else if is_last {
            if read == Feedback::Ack {
                ctx.cx.record(|| TraceEvent::HsFalseAck { ue });
            }
            let pdus = block.content.take().map_or_else(Vec::new, |content| content.pdus);
            self.deliver_pdus(ctx, config, air, decoded_at, pdus, true);
        }
        size
    }

    /// Passes a block that the UE has decoded at `at` to the reordering queue, and the blocks that are in
    /// order to RLC.
    fn reorder<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        ue: UeId,
        at: Time,
        received: ReceivedBlock,
    ) {
        self.expire_t1(ctx, config, air, ue, at);
        let tsn = Tsn::of(received.count);
        let dropped = self.reordering.handle_block(at, tsn, received, &mut self.up);
        self.deliver(ctx, config, air, ue, at);
        if let Some(ReceivedBlock { count, content: Content { pdus, .. } }) = dropped {
            let number = pdus.len() as u32;
            ctx.cx.record(|| TraceEvent::HsBlockDropped { ue, pdus: number });
            // The queue can have given up or passed on only blocks before the next one.
            if count >= self.next_up {
                ctx.cx.record(|| TraceEvent::HsTsnMisread { ue });
            }
            self.deliver_pdus(ctx, config, air, at, pdus, true);
        }
    }

    /// Fills a new block in the format of the reported CQI.
    fn send_new<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        tti: u64,
        process: Option<u8>,
    ) -> Announcement {
        let cqi = self.link.reported_cqi(tti);
        let (format, room) = self.format(cqi).expect("the UE can receive a block");
        let filled = match self.mac {
            HsMac::MacHs => self.queue.take(room),
            HsMac::MacEhs => self.queue.take_octets(room),
        };
        let Block { count, pdus, segmentation, size } =
            filled.expect("the queue has PDUs and an open window");
        let process = process.or_else(|| self.sender.idle_process()).expect("a process is idle");
        let (direction, channel) = (config.direction, config.channel);
        for QueuedBlock { ue, set, .. } in &pdus {
            ctx.cx.show(|| Detail::Blocks { ue: *ue, direction, channel, set, stage: Stage::OnAir });
        }
        let is_rate_met = self.is_rate_met(tti);
        if let Some(guarantee) = &mut self.guarantee {
            // The headers of RLC do not count. With MAC-ehs they count as part of the block in which their PDU
            // ends.
            let octets = match self.mac {
                HsMac::MacHs => self.payload * u64::from(size),
                HsMac::MacEhs => {
                    let header = u64::from(self.pdu_bits / 8) - self.payload.0;
                    Bytes(u64::from(size).saturating_sub(header * pdus.len() as u64))
                }
            };
            guarantee.debit(ctx.cx.now, octets);
        }
        let content = Some(Content { pdus, segmentation, size });
        let block = HsBlock { count, format, cqi, first_tti: tti, is_rate_met, content };
        self.blocks[usize::from(process)] = Some(block);
        self.sender.send(process, count)
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
        let mut up = std::mem::take(&mut self.up);
        for ReceivedBlock { count, content: Content { mut pdus, segmentation, .. } } in up.drain(..) {
            if count < self.next_up {
                ctx.cx.record(|| TraceEvent::HsTsnMisread { ue });
            }
            self.next_up = self.next_up.max(count + 1);
            if self.mac == HsMac::MacEhs {
                let lost = self.reassembly.handle_block(Tsn::of(count), segmentation, pdus.len());
                let kept = pdus.split_off(lost);
                let incomplete = std::mem::replace(&mut pdus, kept);
                self.deliver_pdus(ctx, config, air, at, incomplete, true);
            }
            self.deliver_pdus(ctx, config, air, at, pdus, false);
        }
        self.up = up;
    }

    /// Passes PDUs of a block to RLC of the UE at `at`, or counts them as lost.
    fn deliver_pdus<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        air: &mut Air,
        at: Time,
        pdus: Vec<QueuedBlock>,
        is_lost: bool,
    ) {
        let (direction, channel) = (config.direction, config.channel);
        let mut transmission = air.begin(direction, channel);
        for pdu in pdus {
            self.in_flight.remove(&pdu);
            let (sent, unused) = transmission.take(pdu.ue, pdu.set);
            sent.epoch = pdu.epoch;
            sent.lost = if is_lost { Lost::all(sent.set.blocks) } else { Lost::default() };
            air.return_set(unused);
        }
        air.depart(ctx, transmission, at);
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

    pub fn qos(&self) -> &QosConfig {
        &self.qos
    }

    /// Mean size of the content of blocks per TTI before TTI number `tti`. `memory`: weight of the past after
    /// one TTI.
    pub fn mean_size(&mut self, memory: f64, tti: u64) -> f64 {
        let (mean, up_to) = self.mean_size;
        let mean = mean * libm::pow(memory, (tti - up_to) as f64);
        self.mean_size = (mean, tti);
        mean
    }

    /// Difference of the SNR in TTI number `tti` to its mean, in standard deviations. `memory`: weight of
    /// the past after one TTI.
    pub fn snr_deviation(&mut self, memory: f64, tti: u64) -> f64 {
        // SNRs of TTIs in which the UE was idle are added now. Older ones have no weight.
        let oldest = tti.saturating_sub(FILTERED_TTIS);
        for tti in self.filtered_ttis.max(oldest)..=tti {
            self.snr.add(self.link.scheduled_snr_db(tti), memory);
        }
        self.filtered_ttis = tti + 1;
        self.snr.deviation(self.link.scheduled_snr_db(tti))
    }

    /// Adds the content of a block that is sent in TTI number `tti` to the mean.
    pub fn add_to_mean(&mut self, memory: f64, tti: u64, size: u32) {
        let mean = self.mean_size(memory, tti);
        self.mean_size.0 = mean + (1.0 - memory) * f64::from(size);
    }
}

/// State of RLC at the RNC, by which the Node B flushes PDUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SentWindow {
    /// Number of re-establishments.
    pub epoch: u16,
    /// Count of the first PDU that is neither acknowledged nor discarded.
    pub from: u64,
    /// Count of the next new PDU. A reset lowers it.
    pub next: u64,
}

/// What the Node B could send to a UE.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sendable {
    /// The CQI that the Node B has.
    pub cqi: u8,
    pub codes: u8,
    /// Content for which the block has room, in the unit of the MAC.
    pub size: u32,
    /// Whether the UE had received its guaranteed rate before the first transmission of the block.
    pub is_rate_met: bool,
}

impl Sendable {
    fn repetition(cqi: u8, block: &HsBlock) -> Self {
        let HsBlock { format, content, is_rate_met, .. } = block;
        let size = content.as_ref().map_or(0, |content| content.size);
        Sendable { cqi, codes: format.codes, size, is_rate_met: *is_rate_met }
    }
}

/// Octets of the PDU in `set`. `pdu_bits`: bits of a PDU of fixed size.
fn octets_of(set: &BlockSet, pdu_bits: u32) -> u32 {
    match set.flexible_octets {
        0 => pdu_bits.div_ceil(8),
        octets => octets,
    }
}
