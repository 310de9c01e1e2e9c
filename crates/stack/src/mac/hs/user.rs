//! One UE on the HS-DSCH: its PDUs on the Iub and at the Node B ([`queue`]), both ends of HARQ ([`harq`]),
//! and the way of decoded blocks to RLC ([`delivery`]). This file has its state and its mean values for
//! schedulers.

mod delivery;
mod harq;
mod queue;

use std::collections::VecDeque;
use std::sync::Arc;

use umts_kernel::random::Streams;
use umts_units::{Bytes, Duration, Time};

use self::delivery::ReceivedBlock;
use self::harq::HsBlock;
pub(super) use self::harq::{Sendable, Sent};
pub(super) use self::queue::SentWindow;
use super::config::{CreditRule, HsDschConfig, HsMac, HsUeConfig};
use super::in_flight::InFlight;
use super::link::Link;
use super::{HarqTiming, TTI};
use crate::ids::Direction;
use crate::nodeb::QueuedBlock;
use crate::radio::mac::hs::category::{Category, Format};
use crate::radio::mac::hs::harq::{Feedback, HarqReceiver, HarqSender, MAX_PROCESSES};
use crate::radio::mac::hs::priority_queue::PriorityQueue;
use crate::radio::mac::hs::reordering::{ReorderingConfig, ReorderingQueue};
use crate::radio::mac::hs::segmentation::Reassembly;
use crate::radio::mac::hs::{octets_in, pdus_in};
use crate::scheduling::{QosConfig, RateGuarantee, SnrFilter};
use crate::ue::UeContext;

/// Maximum number of TTIs without a block that are added to the mean of the SNR later.
const FILTERED_TTIS: u64 = 10_000;

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
        let mut link = Link::new(config, ue.id, streams);
        ue.hs_in_layout.iter().for_each(|in_layout| link.follow(in_layout));
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
            link,
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
            // The interruption by a handover delays the first block in the new cell.
            next_allowed: ue.silent_until.as_nanos().div_ceil(TTI.as_nanos()),
            outstanding_credits: 0,
            mean_size: (0.0, 0),
        }
    }

    /// Takes over the mean SNR that the cells of a layout have set.
    pub fn follow(&mut self, ue: &UeContext) {
        ue.hs_in_layout.iter().for_each(|in_layout| self.link.follow(in_layout));
    }

    /// PDUs that the UE has not received yet: on the Iub or in the queue, and in HARQ.
    pub fn held(&self) -> HeldPdus {
        let in_harq = self.blocks.iter().flatten().filter_map(|block| block.content.as_ref());
        HeldPdus {
            queued: (self.on_iub.len() + self.queue.len()) as u32,
            in_harq: in_harq.map(|content| content.pdus.len() as u32).sum(),
        }
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

    /// Whether the Node B has nothing to do for the UE: no PDU, and no block in HARQ.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.feedback.is_empty() && self.sender.next_process().is_none()
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

/// Numbers of PDUs of a UE that wait for their reception.
#[derive(Debug, Clone, Copy, Default)]
pub struct HeldPdus {
    /// On the Iub or in the queue of the Node B.
    pub queued: u32,
    /// In HARQ.
    pub in_harq: u32,
}
