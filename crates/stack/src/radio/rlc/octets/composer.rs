//! Encodes the block sets of a sending RLC entity as octets, for wire mode and captures. The entity
//! describes its PDUs without their contents. The composer stores the octets of the SDUs, segments
//! them in the same way, and so builds the same PDUs with contents.

use std::collections::VecDeque;

use super::encoding::{Encoding, Mode};
use super::sufis::status_pdu;
use crate::ids::PacketId;
use crate::radio::phy::Lost;
use crate::radio::rlc::segmentation::Fit;
use crate::radio::rlc::wire::{
    AmdFormat, AmdPdu, LengthIndicator, RESET_OCTETS, ResetPdu, StatusPdu, UmSn, UmdPdu, WireError,
};
use crate::radio::rlc::{BlockSet, DataRun, Pdu, Sn, Status};
use crate::trace::TraceEvent;

/// HFNI field of a RESET. Hyper frame numbers have no effect without ciphering and are not stored.
const HFNI: u32 = 0;

/// Follows a sending entity and encodes its block sets.
///
/// Call [`queue`](Self::queue) with the octets of an SDU when `SduQueued` is recorded,
/// [`observe`](Self::observe) for the other events of the entity, and [`compose`](Self::compose)
/// for each block set in the order of transmission. The composer stores SDUs that are not
/// completely in PDUs, and the PDUs of one window.
#[derive(Debug, Clone)]
pub struct Composer {
    encoding: Encoding,
    /// SDUs that are not completely in PDUs.
    waiting: VecDeque<QueuedSdu>,
    /// Number of octets of the first SDU that are already in PDUs.
    head_sent: usize,
    /// Number of waiting SDUs that may still be started.
    startable_sdus: u64,
    /// An SDU that is completely sent except for its length indicator, which the next PDU contains.
    pending_end: Option<PendingEnd>,
    /// PDUs that may be retransmitted, in ascending order of their counts.
    sent: VecDeque<SentPdu>,
}

/// A PDU that was sent.
#[derive(Debug, Clone)]
struct SentPdu {
    /// Sequence number that does not wrap.
    count: u64,
    pdu: DataPdu,
}

/// An SDU with octets that are not in PDUs yet.
#[derive(Debug, Clone)]
struct QueuedSdu {
    sdu: PacketId,
    octets: Vec<u8>,
}

/// The end of an SDU, which the next PDU indicates.
#[derive(Debug, Clone, Copy)]
struct PendingEnd {
    sdu: PacketId,
    indicator: LengthIndicator,
}

/// A data PDU without the fields that may change between transmissions.
#[derive(Debug, Clone, Default)]
struct DataPdu {
    indicators: Vec<LengthIndicator>,
    /// The SDUs that end according to the length indicators of this PDU.
    ends: Vec<PacketId>,
    /// Whether the header indicates that the last octet ends an SDU.
    ends_exactly: bool,
    data: Vec<u8>,
    transmissions: u32,
}

/// One block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    /// The RLC PDU.
    pub octets: Vec<u8>,
    /// Number of transmissions of this data PDU, including this one. Zero for a control PDU.
    pub transmissions: u32,
}

impl Composer {
    /// A composer for an entity that has not sent anything yet.
    pub fn new(encoding: Encoding) -> Self {
        let (waiting, sent) = (VecDeque::new(), VecDeque::new());
        Composer { encoding, waiting, head_sent: 0, startable_sdus: u64::MAX, pending_end: None, sent }
    }

    /// The formats of the PDUs.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// Handles an SDU that entered the transmission buffer.
    pub fn queue(&mut self, sdu: PacketId, octets: Vec<u8>) {
        self.waiting.push_back(QueuedSdu { sdu, octets });
    }

    /// Handles an event of the entity: new PDUs, discarded SDUs, a limit on SDUs to start, or the
    /// return to the initial state.
    pub fn observe(&mut self, event: &TraceEvent) {
        match *event {
            TraceEvent::PdusSent { first_sn, count, retransmission: false, .. } => {
                self.fill(u64::from(first_sn), u64::from(count));
            }
            TraceEvent::SduDiscarded { sdu, .. } => self.discard(sdu),
            TraceEvent::SdusLimited { sdus, .. } => self.startable_sdus = sdus.map_or(u64::MAX, u64::from),
            TraceEvent::RlcInitialState { .. } => {
                self.sent.clear();
                debug_assert!(
                    self.head_sent == 0 && self.pending_end.is_none(),
                    "incomplete SDUs were discarded before"
                );
            }
            _ => {}
        }
    }

    /// Octets of stored SDUs and PDUs.
    pub fn stored_octets(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(|waiting| waiting.octets.len()).sum();
        waiting + self.sent.iter().map(|sent| sent.pdu.data.len()).sum::<usize>()
    }

    /// Removes an SDU that the entity discarded. PDUs that contain parts of it stay.
    fn discard(&mut self, sdu: PacketId) {
        if self.pending_end.is_some_and(|pending| pending.sdu == sdu) {
            self.pending_end = None;
        } else if let Some(index) = self.waiting.iter().position(|waiting| waiting.sdu == sdu) {
            if index == 0 {
                self.head_sent = 0;
            }
            self.waiting.remove(index);
        }
    }

    /// Builds `pdus` new PDUs, the first one with count `first`, and drops the oldest stored PDUs,
    /// which are below the window.
    fn fill(&mut self, first: u64, pdus: u64) {
        let max_pdus = match self.encoding.mode {
            Mode::Am { window, .. } => window + Lost::MAX_BLOCKS as usize,
            Mode::Um(_) | Mode::Tm { .. } => Lost::MAX_BLOCKS as usize,
        };
        for count in first..first + pdus {
            let pdu = match self.encoding.mode {
                Mode::Am { .. } | Mode::Um(_) => self.segment(),
                Mode::Tm { .. } => self.segment_without_header(),
            };
            self.sent.push_back(SentPdu { count, pdu });
            if self.sent.len() > max_pdus {
                self.sent.pop_front();
            }
        }
    }

    /// Builds one PDU (TS 25.322 §9.2.2.8).
    fn segment(&mut self) -> DataPdu {
        let rules = self.encoding.rules;
        let mut pdu = DataPdu::default();
        if let Some(pending) = self.pending_end.take() {
            pdu.indicators.push(pending.indicator);
            pdu.ends.push(pending.sdu);
        } else if rules.marks_start && self.head_sent == 0 {
            pdu.indicators.push(LengthIndicator::StartsHere);
        }
        let mut room = rules.payload - pdu.indicators.len() as u16 * rules.length_indicator;
        let mut is_first_part = true;
        while room > 0 && (is_first_part || rules.may_start_another(room)) && self.may_send_head() {
            room = self.add_part(&mut pdu, room);
            is_first_part = false;
        }
        pdu
    }

    /// Whether there is a first SDU, and it was started or may be started.
    fn may_send_head(&self) -> bool {
        let may_be_sent = self.head_sent > 0 || self.startable_sdus > 0;
        !self.waiting.is_empty() && may_be_sent
    }

    /// Adds the part of the first SDU that fits into the `room` free octets of `pdu`. Returns the
    /// octets that are free for another SDU: 0 if no other SDU may be in the PDU.
    fn add_part(&mut self, pdu: &mut DataPdu, room: u16) -> u16 {
        let rules = self.encoding.rules;
        if self.head_sent == 0 {
            self.startable_sdus -= 1;
        }
        let head = self.waiting.front().expect("there is a first SDU");
        let sdu = head.sdu;
        let unsent = &head.octets[self.head_sent..];
        let fit = rules.fit(unsent.len() as u64, room);
        let fitting = unsent.len().min(usize::from(room));
        pdu.data.extend_from_slice(&unsent[..fitting]);
        if fit == Fit::Continues {
            self.head_sent += fitting;
        } else {
            self.waiting.pop_front();
            self.head_sent = 0;
        }
        match fit {
            Fit::Continues => 0,
            Fit::Fills => {
                self.pending_end = Some(PendingEnd { sdu, indicator: LengthIndicator::PreviousFilled });
                0
            }
            Fit::OneShort => {
                self.pending_end = Some(PendingEnd { sdu, indicator: LengthIndicator::PreviousOneShort });
                0
            }
            Fit::Ends if rules.is_flexible => {
                pdu.ends.push(sdu);
                pdu.ends_exactly = true;
                0
            }
            Fit::Ends => {
                pdu.ends.push(sdu);
                pdu.indicators.push(LengthIndicator::End(pdu.data.len() as u16));
                room - fitting as u16 - rules.length_indicator
            }
        }
    }

    /// Builds one PDU of transparent mode.
    fn segment_without_header(&mut self) -> DataPdu {
        let head = self.waiting.front().expect("the entity fills PDUs only from waiting SDUs");
        let end = head.octets.len().min(self.head_sent + self.encoding.pdu_octets);
        let mut pdu = DataPdu { data: head.octets[self.head_sent..end].to_vec(), ..DataPdu::default() };
        self.head_sent = end;
        if end == head.octets.len() {
            pdu.ends.push(head.sdu);
            self.waiting.pop_front();
            self.head_sent = 0;
        }
        pdu
    }

    /// Encodes a block set that is sent now, one entry per block.
    ///
    /// # Panics
    /// Panics if the set does not belong to the observed entity.
    pub fn compose(&mut self, set: &BlockSet) -> Vec<Composed> {
        let mut blocks = Vec::with_capacity(set.blocks as usize);
        for pdu in &set.pdus {
            match pdu {
                Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) => {
                    for step in 0..u64::from(run.count) {
                        blocks.push(self.data_pdu(set, run, step));
                    }
                }
                Pdu::Status(status) => blocks.push(control(|out| {
                    let octets = self.control_octets(status.octets.into());
                    self.status(status, set, octets)?.emit(out);
                    Ok(())
                })),
                &Pdu::Reset(rsn) => blocks.push(self.reset(false, rsn)),
                &Pdu::ResetAck(rsn) => blocks.push(self.reset(true, rsn)),
            }
        }
        blocks
    }

    /// Encodes a RESET, or a RESET ACK if `acknowledges` is set.
    fn reset(&self, acknowledges: bool, rsn: bool) -> Composed {
        control(|out| {
            ResetPdu::new(acknowledges, rsn, HFNI, self.control_octets(RESET_OCTETS))?.emit(out);
            Ok(())
        })
    }

    /// Octets of a control PDU with `content` octets.
    fn control_octets(&self, content: usize) -> usize {
        if self.encoding.rules.is_flexible { content } else { self.encoding.pdu_octets }
    }

    /// The STATUS PDU for `status`, padded to `octets`.
    fn status(
        &self,
        status: &Status,
        set: &BlockSet,
        octets: usize,
    ) -> Result<StatusPdu<'static>, WireError> {
        let Mode::Am { reports, .. } = self.encoding.mode else {
            unreachable!("only acknowledged mode has a STATUS")
        };
        status_pdu(reports, status, set).padded_to(octets)
    }

    /// Encodes the PDU at offset `step` in a run.
    fn data_pdu(&mut self, set: &BlockSet, run: &DataRun, step: u64) -> Composed {
        let sn = run.first.plus(step);
        let index = self.index_of(sn);
        self.sent[index].pdu.transmissions += 1;
        let SentPdu { count, pdu } = &self.sent[index];
        let described_ends = set.ends_of(run).iter().filter(|end| end.sn == sn).map(|end| end.sdu.packet.id);
        assert!(
            described_ends.eq(pdu.ends.iter().copied()),
            "PDU {count} encodes the described ends of SDUs"
        );
        let is_last = step + 1 == u64::from(run.count);
        let status = run.piggyback.as_ref().filter(|_| is_last);
        let octets = self.emit(*count, pdu, run.poll && is_last, status, set);
        Composed { octets, transmissions: pdu.transmissions }
    }

    /// Index in `sent` of the newest PDU with this sequence number.
    fn index_of(&self, sn: Sn) -> usize {
        let newest = self.sent.back().expect("the PDU was built when it was first sent").count;
        let count = newest - Sn::of(newest).steps_from(sn);
        self.sent.binary_search_by_key(&count, |sent| sent.count).expect("the PDUs of the window are stored")
    }

    /// The octets of a data PDU with the given polling bit, and with padding or a STATUS after its
    /// data.
    fn emit(
        &self,
        count: u64,
        pdu: &DataPdu,
        poll: bool,
        status: Option<&Status>,
        set: &BlockSet,
    ) -> Vec<u8> {
        let Encoding { mode, rules, pdu_octets, .. } = self.encoding;
        if let Mode::Am { format, .. } = mode
            && rules.is_flexible
        {
            return flexible_pdu(format, Sn::of(count), poll, pdu);
        }
        let li = usize::from(rules.length_indicator);
        let mut indicators = pdu.indicators.clone();
        let mut data = pdu.data.clone();
        let free = usize::from(rules.payload) - indicators.len() * li - data.len();
        if let Some(status) = status {
            indicators.push(LengthIndicator::PiggybackedStatus);
            let status =
                self.status(status, set, free - li).expect("RLC piggybacks a STATUS only if it fits");
            status.emit(&mut data);
        } else {
            // A single free octet has no room for an indicator of two octets. The receiver ignores
            // it.
            let has_indicator = li > 0 && free >= li;
            indicators.extend(has_indicator.then_some(LengthIndicator::Padding));
            data.resize(data.len() + free - if has_indicator { li } else { 0 }, 0);
        }
        let mut out = Vec::with_capacity(pdu_octets);
        match mode {
            Mode::Am { format, .. } => AmdPdu::new(format, Sn::of(count), poll, indicators, &data)
                .expect("the composer follows the rules of the format")
                .emit(&mut out),
            Mode::Um(format) => UmdPdu::new(format, UmSn::of(count), indicators, &data)
                .expect("the composer follows the rules of the format")
                .emit(&mut out),
            Mode::Tm { .. } => out = data,
        }
        debug_assert_eq!(out.len(), pdu_octets);
        out
    }
}

/// Encodes a data PDU of flexible size.
fn flexible_pdu(format: AmdFormat, sn: Sn, poll: bool, pdu: &DataPdu) -> Vec<u8> {
    let encoded = match pdu.ends_exactly {
        true => AmdPdu::ending_exactly(format, sn, poll, &pdu.data),
        false => AmdPdu::new(format, sn, poll, Vec::new(), &pdu.data),
    };
    let mut out = Vec::new();
    encoded.expect("the entity fills PDUs only with data").emit(&mut out);
    out
}

/// The block of a control PDU. `emit` encodes it.
fn control(emit: impl FnOnce(&mut Vec<u8>) -> Result<(), WireError>) -> Composed {
    let mut octets = Vec::new();
    emit(&mut octets).expect("control PDUs are no longer than data PDUs");
    Composed { octets, transmissions: 0 }
}
