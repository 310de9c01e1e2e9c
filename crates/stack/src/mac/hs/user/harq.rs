//! Blocks of a UE in HARQ: which block can be sent, new blocks, and transmissions with their answers.

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

use super::User;
use super::delivery::ReceivedBlock;
use crate::EventContext;
use crate::detail::{Detail, Stage};
use crate::ids::UeId;
use crate::mac::hs::TTI;
use crate::mac::hs::config::HsMac;
use crate::mac::hs::link::SentBlock;
use crate::mac::{Below, CarrierConfig};
use crate::nodeb::QueuedBlock;
use crate::radio::mac::hs::category::Format;
use crate::radio::mac::hs::harq::{Announcement, Feedback};
use crate::radio::mac::hs::priority_queue::Block;
use crate::radio::mac::hs::segmentation::Segmentation;
use crate::trace::TraceEvent;

/// A block in a HARQ process.
#[derive(Debug)]
pub(super) struct HsBlock {
    /// Number of the block, without wrap-around.
    pub(super) count: u64,
    pub(super) format: Format,
    /// The CQI that the UE had reported.
    pub(super) cqi: u8,
    /// TTI number of the first transmission.
    pub(super) first_tti: u64,
    /// Whether the UE had received its guaranteed rate then. It decides the priority of repetitions too:
    /// they are part of the rate that the first transmission used.
    pub(super) is_rate_met: bool,
    /// Its content. `None` once the UE has decoded the block, or HARQ has given it up.
    pub(super) content: Option<Content>,
}

/// Content of a block.
#[derive(Debug)]
pub(super) struct Content {
    /// PDUs that end in the block.
    pub(super) pdus: Vec<QueuedBlock>,
    pub(super) segmentation: Segmentation,
    /// In the unit of the MAC.
    pub(super) size: u32,
}

/// A transmission of a block.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// Size of the content in the unit of the MAC, 0 if the UE has the block already.
    pub size: u32,
    /// Whether the UE decodes the block, and did not have it before.
    pub is_decoded: bool,
}

/// What the Node B could send to a UE.
#[derive(Debug, Clone, Copy)]
pub struct Sendable {
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

impl User {
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
    /// process of the cell, if the cell has the processes.
    pub fn transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
        ue: UeId,
        tti: u64,
        process: Option<u8>,
    ) -> Sent {
        let (is_cut, air) = (below.ues[ue].is_cut, &mut *below.air);
        below.ues[ue].hs_in_layout.iter_mut().for_each(|in_layout| in_layout.count_block());
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
        Sent { size, is_decoded }
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
}
