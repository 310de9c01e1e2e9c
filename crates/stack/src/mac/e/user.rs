//! One UE on the E-DCH: its serving grant, the UE's end of HARQ and E-TFC selection, and the soft
//! buffers of the Node B.

use std::collections::VecDeque;
use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_kernel::random::{AddressedStream, Streams};
use umts_units::{Bytes, Db, Duration, Probability, Time};

use super::CellContext;
use super::category::{
    Category, HEADER_BITS, SCHEDULING_INFORMATION_BITS, SHORT_TTI, block_bits, pdus_in, processes,
};
use super::config::{DEFAULT_PATH_LOSS, EDchConfig, EUeConfig};
use super::etfc::{Limits, Selection};
use super::grant::Grant;
use super::reception::{Content, DecodedBlock, Reception, lose};
use super::scheduler::{BlockSizes, Member, Report, max_grant};
use super::scheduling_information::SchedulingInformation;
use super::uplink_load::{UplinkLoad, ratio_of_headroom};
use crate::EventContext;
use crate::ids::{Direction, UeId};
use crate::mac::{Below, CarrierConfig};
use crate::nodeb::{Iub, QueuedBlock};
use crate::radio::Air;
use crate::radio::mac::hs::harq::{Announcement, Ended, Feedback, HarqReceiver, HarqSender, MAX_PROCESSES};
use crate::trace::{ELimit, TraceEvent};
use crate::ue::UeContext;

/// Addresses of the draws of a TTI.
const DECODING_DRAW: u32 = 0;
const ANSWER_DRAW: u32 = 1;

/// A block in a HARQ process.
#[derive(Debug)]
struct EBlock {
    bits: u32,
    /// Power of the E-DPDCHs relative to the DPCCH.
    ratio: f64,
    is_happy: bool,
    /// Limit of the number of its PDUs.
    limit: ELimit,
    /// The grant that its PDUs need. `None` without PDUs.
    used: Option<Grant>,
    information: Option<SchedulingInformation>,
    /// Number of its PDUs.
    pdus: u32,
    /// `None` without PDUs, and once the Node B has decoded the block.
    content: Option<Content>,
    /// Whether the Node B has decoded the block.
    is_decoded: bool,
}

/// A UE on the E-DCH, with its parts of the Node B and the RNC.
#[derive(Debug)]
pub(super) struct User {
    config: Arc<EUeConfig>,
    pub tti: Duration,
    /// Largest block of the category in bits.
    max_bits: u32,
    /// Bits of a PDU.
    pdu_bits: u32,
    /// Size of the window of the RNC in blocks.
    window: u64,
    /// The UE's end of HARQ.
    sender: HarqSender<()>,
    /// The Node B's end of HARQ.
    receiver: HarqReceiver,
    /// Blocks in HARQ, by process.
    blocks: [Option<EBlock>; MAX_PROCESSES],
    /// Answers to the last transmissions, by process. The UE has each before the process is used again.
    answers: [Option<Feedback>; MAX_PROCESSES],
    /// Reports to the scheduler, with their arrival.
    reports: VecDeque<(Time, Report)>,
    /// When scheduling information was last sent. `None`: it must be sent with the next block.
    reported: Option<Time>,
    /// The headroom in dB that was last reported, as [`SchedulingInformation::headroom_db`].
    reported_headroom_db: Option<f64>,
    /// Number of the next MAC-es PDU.
    next_count: u64,
    /// Blocks on the way to the RNC and in its reordering queue.
    reception: Reception,
    /// Draws of decoding errors and misread answers, by TTI of 2 ms.
    draws: AddressedStream,
}

/// A TTI in which a UE may send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opportunity {
    pub ue: UeId,
    /// The serving grant. `None`: the zero grant.
    pub grant: Option<Grant>,
    /// Sum of the loads of all UEs.
    pub load: f64,
}

/// A block on the air.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    /// Start of its TTI.
    pub from: Time,
    /// End of its TTI.
    pub until: Time,
    /// Power ratio of the block.
    pub ratio: f64,
    /// Limit of the number of its PDUs. `None`: it is a repetition.
    pub limit: Option<ELimit>,
}

impl User {
    pub fn new(cell: &EDchConfig, ue: &UeContext, streams: &Streams) -> Self {
        let config = ue.e_dch.clone().expect("a UE on the E-DCH has its options");
        let channel = ue.channel(Direction::Uplink);
        let tti = channel.format.tti;
        let category = config.category.and_then(Category::new);
        let max_bits = category.and_then(|category| category.max_bits(tti));
        User {
            tti,
            max_bits: max_bits.expect("a checked scenario has a category with this TTI"),
            pdu_bits: channel.block_bits,
            window: cell.window.into(),
            sender: HarqSender::new(processes(tti).into(), cell.max_transmissions),
            receiver: HarqReceiver::default(),
            blocks: std::array::from_fn(|_| None),
            answers: [None; MAX_PROCESSES],
            reports: VecDeque::new(),
            reported: None,
            reported_headroom_db: None,
            next_count: 0,
            reception: Reception::new(ue.id, cell),
            draws: streams.addressed(&format!("e_dch/ue{}", ue.id.0)),
            config,
        }
    }

    /// The UE as the scheduler knows it.
    pub fn member(&self, uplink: &UplinkLoad) -> Member {
        let bits = |pdus| block_bits(pdus, self.pdu_bits, false);
        let max_pdus = pdus_in(self.max_bits, self.pdu_bits);
        let beyond_grant = SCHEDULING_INFORMATION_BITS + self.config.non_scheduled;
        Member::new(uplink, self.tti, BlockSizes { min: bits(1), max: bits(max_pdus), beyond_grant })
    }

    /// The next report that has arrived by `now`, and its arrival.
    pub fn poll_report(&mut self, now: Time) -> Option<(Time, Report)> {
        self.reports.pop_front_if(|(at, _)| *at <= now)
    }

    /// The highest power ratio of the blocks in HARQ. They may be repeated.
    pub fn ratio_in_harq(&self) -> f64 {
        self.blocks.iter().flatten().map(|block| block.ratio).fold(0.0, f64::max)
    }

    /// Whether no HARQ process has a block.
    pub fn is_idle(&self) -> bool {
        self.blocks.iter().all(Option::is_none)
    }

    /// Start of the first TTI from `now` on.
    pub fn tti_from(&self, now: Time) -> Time {
        now.round_up_to(self.tti)
    }

    /// Largest transmit power in dBm.
    pub fn max_power_dbm(&self) -> f64 {
        self.config.max_power.0
    }

    /// The path loss that is given for the UE. `None`: its place determines the path loss.
    pub fn given_path_loss(&self) -> Option<Db> {
        self.config.path_loss
    }

    /// Path loss between the UE and its cell.
    fn path_loss(&self, ue: &UeContext) -> Db {
        let of_place = || ue.e_in_layout.as_ref().map(|in_layout| in_layout.path_loss(ue.cell));
        self.config.path_loss.or_else(of_place).unwrap_or(DEFAULT_PATH_LOSS)
    }

    /// The next arrival at the RNC, or expiry of T1.
    pub fn reception_timeout(&self) -> Option<Time> {
        self.reception.poll_timeout()
    }

    /// Handles arrivals at the RNC, and expiries of T1.
    pub fn receive<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: &CarrierConfig,
        air: &mut Air,
    ) {
        self.reception.handle_timeout(ctx, carrier, air);
    }

    /// A TTI of the UE begins: sends a block in the HARQ process of this TTI, the one that failed before or
    /// else a new one.
    pub fn transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: &CellContext<'_>,
        below: &mut Below<'_>,
        opportunity: Opportunity,
    ) -> Option<Sent> {
        let tti = ctx.cx.now.as_nanos() / self.tti.as_nanos();
        let process = (tti % u64::from(processes(self.tti))) as u8;
        self.handle_answer(process);
        let announcement = match self.sender.resend_in(process) {
            Some(repetition) => repetition,
            None => {
                let block = self.new_block(ctx, cell, below, opportunity)?;
                self.blocks[usize::from(process)] = Some(block);
                self.sender.send(process, ())
            }
        };
        Some(self.send(ctx, cell.carrier, below, opportunity.ue, announcement))
    }

    /// Takes the answer to the last transmission in a process, before the process is used again.
    fn handle_answer(&mut self, process: u8) {
        let at = usize::from(process);
        let Some(answer) = self.answers[at].take() else { return };
        let Some(ended) = self.sender.handle_feedback(process, answer) else { return };
        let block = self.blocks[at].take().expect("it ended now");
        // Scheduling information that the Node B does not have is reported again.
        if matches!(ended, Ended::GivenUp(())) && block.information.is_some() && !block.is_decoded {
            self.reported = None;
        }
    }

    /// E-TFC selection, and the PDUs of the block. `None`: the UE has nothing to send, or may not.
    fn new_block<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: &CellContext<'_>,
        below: &mut Below<'_>,
        Opportunity { ue, grant, load }: Opportunity,
    ) -> Option<EBlock> {
        let (uplink, now, uplink_index) = (cell.uplink, ctx.cx.now, cell.carrier.direction.index());
        let rlc = &mut below.ues[ue].rlc[uplink_index];
        rlc.handle_timeout(&mut ctx.cx);
        if !rlc.has_work(now) {
            return None;
        }
        // The number of PDUs can be a lower bound.
        let ready = if self.is_window_open() { rlc.pdus_ready(now).max(1) } else { 0 };
        let path_loss = self.path_loss(&below.ues[ue]);
        let headroom_db = uplink.headroom_db(self.config.max_power.0, path_loss, load);
        let limits = self.limits(uplink, grant, headroom_db);
        let is_report_due = self.is_report_due(now, cell.config, &limits);
        let Selection { pdus, is_reporting, limit, .. } = limits.select(ready, is_report_due)?;
        let content = if pdus > 0 { self.take_pdus(ctx, cell.carrier, below, ue, pdus) } else { None };
        let buffer = below.ues[ue].rlc[uplink_index].available_for_transmission(now);
        let information = is_reporting.then(|| SchedulingInformation::new(buffer.0, headroom_db));
        // The scheduler grants no more than the headroom that it knows.
        let is_granted_by_power = limit == ELimit::Grant
            && below.ues[ue].e_in_layout.is_some()
            && self.is_grant_limited_by_power(uplink, grant);
        if let Some(information) = information {
            (self.reported, self.reported_headroom_db) = (Some(now), information.headroom_db());
        }
        if content.is_none() && !is_reporting {
            return None;
        }
        let pdus = content.as_ref().map_or(0, |content| content.pdus.set.blocks);
        let bits = block_bits(pdus, self.pdu_bits, is_reporting);
        Some(EBlock {
            bits,
            ratio: uplink.ratio(bits, self.tti),
            is_happy: limit != ELimit::Grant || self.empties(&limits, buffer, cell.config.happy_bit_delay),
            limit: if is_granted_by_power { ELimit::Power } else { limit },
            used: content.as_ref().and_then(|_| self.needed_grant(uplink, pdus)),
            information,
            pdus,
            content,
            is_decoded: false,
        })
    }

    /// Limits of a new block.
    fn limits(&self, uplink: &UplinkLoad, grant: Option<Grant>, headroom_db: f64) -> Limits {
        Limits {
            granted: grant.map_or(0, |grant| uplink.bits(grant.ratio(), self.tti)),
            non_scheduled: self.config.non_scheduled,
            power: uplink.bits(ratio_of_headroom(headroom_db), self.tti),
            category: self.max_bits,
            pdu_bits: self.pdu_bits,
        }
    }

    /// Whether the next block must have scheduling information. The period is shorter while the grant
    /// carries no PDU.
    fn is_report_due(&self, now: Time, config: &EDchConfig, limits: &Limits) -> bool {
        let carries_no_pdu = limits.granted_pdus() == 0;
        let period = if carries_no_pdu { config.si_period_no_grant } else { config.si_period };
        self.reported.is_none_or(|last| now >= last + period)
    }

    /// Whether the headroom that the UE has reported allows no higher grant.
    fn is_grant_limited_by_power(&self, uplink: &UplinkLoad, grant: Option<Grant>) -> bool {
        let beyond_grant = uplink.ratio(SCHEDULING_INFORMATION_BITS + self.config.non_scheduled, self.tti);
        self.reported_headroom_db
            .is_some_and(|headroom_db| grant >= Some(max_grant(headroom_db, beyond_grant)))
    }

    /// The grant that a block with `pdus` PDUs needs, beside the non-scheduled bits.
    fn needed_grant(&self, uplink: &UplinkLoad, pdus: u32) -> Option<Grant> {
        let scheduled_bits = (pdus * self.pdu_bits + HEADER_BITS).saturating_sub(self.config.non_scheduled);
        Grant::at_least(uplink.ratio(scheduled_bits, self.tti))
    }

    /// Whether a further block keeps all blocks that the Node B lacks within the window of the RNC. A block
    /// below the window would be taken for a new one.
    fn is_window_open(&self) -> bool {
        let missing = self.blocks.iter().flatten().filter_map(|block| block.content.as_ref());
        let oldest = missing.map(|content| content.count).min();
        oldest.is_none_or(|oldest| self.next_count < oldest + self.window)
    }

    /// Whether the grant empties a buffer within `delay`.
    fn empties(&self, limits: &Limits, buffer: Bytes, delay: Duration) -> bool {
        let ttis = delay.as_nanos() / self.tti.as_nanos();
        buffer.bits() <= u64::from(limits.granted_pdus()) * u64::from(limits.pdu_bits) * ttis
    }

    /// Takes up to `max_pdus` PDUs from RLC for a new block.
    fn take_pdus<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
        max_pdus: u32,
    ) -> Option<Content> {
        let context = &mut below.ues[ue];
        let mut set = below.air.spare_set();
        let pdus = context.take_blocks(&mut ctx.cx, carrier.direction, carrier.channel, max_pdus, &mut set);
        if context.counts_as_preemptible | context.awaits_fall {
            below.watched.push(ue);
        }
        if pdus == 0 {
            below.air.return_set(set);
            return None;
        }
        let count = self.next_count;
        self.next_count += 1;
        Some(Content { count, pdus: QueuedBlock { at: ctx.cx.now, ue, set, epoch: context.epoch } })
    }

    /// Transmits the block of a process. Its decoding and the answer are decided at once.
    fn send<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
        announcement: Announcement,
    ) -> Sent {
        let (now, until, is_cut) = (ctx.cx.now, ctx.cx.now + self.tti, below.ues[ue].is_cut);
        let Announcement { process, attempt, .. } = announcement;
        let is_lost = is_cut || self.happens(now, DECODING_DRAW, self.error_probability(attempt));
        let reception = self.receiver.handle_transmission(announcement, 1.0, |_| !is_lost);
        let is_decoded = reception.is_delivered;
        let answer = self.answer(now, is_cut, reception.is_acknowledged);
        self.answers[usize::from(process)] = Some(answer);

        let block = self.blocks[usize::from(process)].as_mut().expect("the process has a block");
        block.is_decoded |= is_decoded;
        let EBlock { bits, pdus, is_happy, limit, ratio, .. } = *block;
        if !is_cut {
            let information = block.information.filter(|_| is_decoded);
            self.reports.push_back((until, Report { is_happy, used: block.used, information }));
        }
        let harq_ends = answer == Feedback::Ack || self.sender.is_last(announcement);
        let is_given_up = harq_ends && !block.is_decoded;
        let is_last = is_decoded || is_given_up;
        let content = if is_last { block.content.take() } else { None };
        ctx.cx.record(|| TraceEvent::EBlockSent { ue, attempt, bits, pdus, is_decoded, is_last, is_happy });
        if is_given_up && answer == Feedback::Ack {
            ctx.cx.record(|| TraceEvent::EFalseAck { ue });
        }
        if let Some(content) = content {
            let octets = Iub::octets(pdus, self.pdu_bits);
            if is_decoded {
                let block = DecodedBlock { content, tti: now, retransmissions: attempt - 1 };
                self.reception.send_to_rnc(carrier, until, octets, block);
            } else {
                lose(ctx, carrier, below.air, until + carrier.iub.crossing(octets), content);
            }
        }
        Sent { from: now, until, ratio, limit: (attempt == 1).then_some(limit) }
    }

    /// Error probability of transmission number `attempt` of a block, from 1.
    fn error_probability(&self, attempt: u8) -> Probability {
        let errors = &self.config.attempt_errors;
        errors[usize::from(attempt - 1).min(errors.len() - 1)]
    }

    /// The answer that the UE reads. While the air is cut no answer arrives, which the UE takes for a
    /// NACK.
    fn answer(&self, now: Time, is_cut: bool, is_acknowledged: bool) -> Feedback {
        if is_cut {
            return Feedback::Nack;
        }
        let EUeConfig { ack_to_nack, nack_to_ack, .. } = *self.config;
        let misreading = if is_acknowledged { ack_to_nack } else { nack_to_ack };
        let is_misread = self.happens(now, ANSWER_DRAW, misreading);
        if is_acknowledged != is_misread { Feedback::Ack } else { Feedback::Nack }
    }

    /// Whether an event of this probability happens in the TTI that begins at `now`. `draw`: address of
    /// its draw.
    fn happens(&self, now: Time, draw: u32, probability: Probability) -> bool {
        let draws = self.draws.tti(now.as_nanos() / SHORT_TTI.as_nanos());
        probability != Probability::ZERO && draws.uniform(draw) < probability.value()
    }

    /// Ends HARQ: its blocks are lost, and those in the reordering queue go up.
    pub fn reset<T: TraceSink<TraceEvent>>(
        mut self,
        ctx: &mut EventContext<'_, T>,
        carrier: &CarrierConfig,
        air: &mut Air,
    ) {
        let at = ctx.cx.now + self.tti;
        self.reception.reset(ctx, carrier, air, at);
        for content in self.blocks.into_iter().flatten().filter_map(|block| block.content) {
            lose(ctx, carrier, air, at, content);
        }
    }
}
