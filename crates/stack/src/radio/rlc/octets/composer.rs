//! The octets that a sending entity puts on the air.

use std::collections::VecDeque;

use super::encoding::{Encoding, Mode};
use super::sufis::status_pdu;
use crate::ids::PacketId;
use crate::radio::phy::Lost;
use crate::radio::rlc::buffer::Fit;
use crate::radio::rlc::wire::{AmdPdu, LengthIndicator, ResetPdu, StatusPdu, UmSn, UmdPdu, WireError};
use crate::radio::rlc::{BlockSet, DataRun, Pdu, Sn, Status};
use crate::trace::TraceEvent;

/// Hyper frame numbers have no effect without ciphering and are not kept.
const HFNI: u32 = 0;

/// Encodes the block sets of a sending entity as octets.
///
/// [`queue`](Self::queue) takes the octets of an SDU when `SduQueued` is recorded,
/// [`observe`](Self::observe) the other events of the entity, and [`compose`](Self::compose) its
/// block sets in the order in which they leave. The composer keeps SDUs that are not completely in
/// PDUs, and the PDUs of one window.
#[derive(Debug, Clone)]
pub struct Composer {
    encoding: Encoding,
    waiting: VecDeque<Waiting>,
    /// Octets of the first SDU that are in PDUs.
    head_sent: usize,
    /// Number of waiting SDUs that may still be started.
    may_begin: u64,
    /// An SDU whose end is indicated in the next PDU, and the length indicator.
    untold: Option<(PacketId, LengthIndicator)>,
    /// PDUs with their counts, in ascending order.
    sent: VecDeque<(u64, Layout)>,
}

#[derive(Debug, Clone)]
struct Waiting {
    sdu: PacketId,
    octets: Vec<u8>,
}

/// A data PDU without the fields that may change between transmissions.
#[derive(Debug, Clone, Default)]
struct Layout {
    indicators: Vec<LengthIndicator>,
    /// The SDUs whose ends are in this PDU.
    ends: Vec<PacketId>,
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
        Composer { encoding, waiting, head_sent: 0, may_begin: u64::MAX, untold: None, sent }
    }

    /// The formats of the PDUs.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// Handles an SDU that entered the transmission buffer.
    pub fn queue(&mut self, sdu: PacketId, octets: Vec<u8>) {
        self.waiting.push_back(Waiting { sdu, octets });
    }

    /// Handles an event of the entity: PDUs sent, SDUs discarded or held back, return to the
    /// initial state.
    pub fn observe(&mut self, event: &TraceEvent) {
        match *event {
            TraceEvent::PdusSent { first_sn, count, retransmission: false, .. } => {
                self.fill(u64::from(first_sn), u64::from(count));
            }
            TraceEvent::SduDiscarded { sdu, .. } => self.discard(sdu),
            TraceEvent::SdusLimited { sdus, .. } => self.may_begin = sdus.map_or(u64::MAX, u64::from),
            TraceEvent::RlcInitialState { .. } => {
                self.sent.clear();
                debug_assert!(
                    self.head_sent == 0 && self.untold.is_none(),
                    "incomplete SDUs were discarded before"
                );
            }
            _ => {}
        }
    }

    /// Octets of stored SDUs and PDUs.
    pub fn kept_octets(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(|waiting| waiting.octets.len()).sum();
        waiting + self.sent.iter().map(|(_, layout)| layout.data.len()).sum::<usize>()
    }

    fn discard(&mut self, sdu: PacketId) {
        if self.untold.is_some_and(|(untold, _)| untold == sdu) {
            self.untold = None;
        } else if let Some(at) = self.waiting.iter().position(|waiting| waiting.sdu == sdu) {
            if at == 0 {
                self.head_sent = 0;
            }
            self.waiting.remove(at);
        }
    }

    /// Builds `pdus` new PDUs. The first one has number `first`.
    fn fill(&mut self, first: u64, pdus: u64) {
        let keep = match self.encoding.mode {
            Mode::Am { window, .. } => window + Lost::MOST_BLOCKS as usize,
            Mode::Um(_) | Mode::Tm { .. } => Lost::MOST_BLOCKS as usize,
        };
        for count in first..first + pdus {
            let layout = match self.encoding.mode {
                Mode::Am { .. } | Mode::Um(_) => self.cut(),
                Mode::Tm { .. } => self.cut_without_header(),
            };
            self.sent.push_back((count, layout));
            if self.sent.len() > keep {
                self.sent.pop_front();
            }
        }
    }

    /// Builds one PDU (TS 25.322 §9.2.2.8).
    fn cut(&mut self) -> Layout {
        let cutting = self.encoding.cutting;
        let mut layout = Layout::default();
        let mut room = cutting.payload;
        if let Some((sdu, indicator)) = self.untold.take() {
            layout.indicators.push(indicator);
            layout.ends.push(sdu);
        } else if cutting.marks_start && self.head_sent == 0 {
            layout.indicators.push(LengthIndicator::StartsHere);
        }
        room -= layout.indicators.len() as u16 * cutting.length_indicator;
        let mut parts = 0;
        while room > 0 && (parts == 0 || cutting.takes_more(room)) {
            let Some(head) = self.waiting.front().filter(|_| self.head_sent > 0 || self.may_begin > 0) else {
                break;
            };
            self.may_begin -= u64::from(self.head_sent == 0);
            let rest = &head.octets[self.head_sent..];
            let fit = cutting.fit(rest.len() as u64, room);
            let taken = rest.len().min(usize::from(room));
            layout.data.extend_from_slice(&rest[..taken]);
            parts += 1;
            if fit == Fit::Goes {
                self.head_sent += taken;
                break;
            }
            let sdu = head.sdu;
            self.waiting.pop_front();
            self.head_sent = 0;
            self.untold = match fit {
                Fit::Fills => Some((sdu, LengthIndicator::PreviousFilled)),
                Fit::OneShort => Some((sdu, LengthIndicator::PreviousOneShort)),
                Fit::Ends | Fit::Goes => None,
            };
            if self.untold.is_some() {
                break;
            }
            layout.indicators.push(LengthIndicator::End(layout.data.len() as u16));
            layout.ends.push(sdu);
            room -= taken as u16 + cutting.length_indicator;
        }
        layout
    }

    /// Builds one PDU of transparent mode.
    fn cut_without_header(&mut self) -> Layout {
        let head = self.waiting.front().expect("PDUs are made of SDUs");
        let end = head.octets.len().min(self.head_sent + self.encoding.pdu_octets);
        let mut layout = Layout { data: head.octets[self.head_sent..end].to_vec(), ..Layout::default() };
        self.head_sent = end;
        if end == head.octets.len() {
            layout.ends.push(head.sdu);
            self.waiting.pop_front();
            self.head_sent = 0;
        }
        layout
    }

    /// Octets of a block set that leaves now, one entry per block.
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
                    self.status(status, set, self.encoding.pdu_octets)?.emit(out);
                    Ok(())
                })),
                &Pdu::Reset(rsn) => blocks.push(self.reset(false, rsn)),
                &Pdu::ResetAck(rsn) => blocks.push(self.reset(true, rsn)),
            }
        }
        blocks
    }

    fn reset(&self, acknowledges: bool, rsn: bool) -> Composed {
        control(|out| {
            ResetPdu::new(acknowledges, rsn, HFNI, self.encoding.pdu_octets)?.emit(out);
            Ok(())
        })
    }

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

    /// PDU number `step` of a run.
    fn data_pdu(&mut self, set: &BlockSet, run: &DataRun, step: u64) -> Composed {
        let sn = run.first.plus(step);
        let at = self.place(sn);
        self.sent[at].1.transmissions += 1;
        let (count, layout) = &self.sent[at];
        let told = set.ends_of(run).iter().filter(|end| end.sn == sn).map(|end| end.sdu.packet.id);
        assert!(told.eq(layout.ends.iter().copied()), "PDU {count} encodes the described ends of SDUs");
        let is_last = step + 1 == u64::from(run.count);
        let status = run.piggyback.as_ref().filter(|_| is_last);
        let octets = self.emit(*count, layout, run.poll && is_last, status, set);
        Composed { octets, transmissions: layout.transmissions }
    }

    /// Index of the newest PDU with this number.
    fn place(&self, sn: Sn) -> usize {
        let newest = self.sent.back().expect("it was sent before").0;
        let count = newest - Sn::of(newest).steps_from(sn);
        self.sent.binary_search_by_key(&count, |(count, _)| *count).expect("a PDU of the window is kept")
    }

    fn emit(
        &self,
        count: u64,
        layout: &Layout,
        poll: bool,
        status: Option<&Status>,
        set: &BlockSet,
    ) -> Vec<u8> {
        let Encoding { mode, cutting, pdu_octets } = self.encoding;
        let li = usize::from(cutting.length_indicator);
        let mut indicators = layout.indicators.clone();
        let mut data = layout.data.clone();
        let left = usize::from(cutting.payload) - indicators.len() * li - data.len();
        if let Some(status) = status {
            indicators.push(LengthIndicator::PiggybackedStatus);
            let status = self.status(status, set, left - li).expect("it rides where it fits");
            status.emit(&mut data);
        } else {
            // One octet after an indicator of two octets is ignored without any indication.
            let is_told = li > 0 && left >= li;
            indicators.extend(is_told.then_some(LengthIndicator::Padding));
            data.resize(data.len() + left - if is_told { li } else { 0 }, 0);
        }
        let mut out = Vec::with_capacity(pdu_octets);
        match mode {
            Mode::Am { format, .. } => AmdPdu::new(format, Sn::of(count), poll, indicators, &data)
                .expect("it is composed by the rules")
                .emit(&mut out),
            Mode::Um(format) => UmdPdu::new(format, UmSn::of(count), indicators, &data)
                .expect("it is composed by the rules")
                .emit(&mut out),
            Mode::Tm { .. } => out = data,
        }
        debug_assert_eq!(out.len(), pdu_octets);
        out
    }
}

fn control(emit: impl FnOnce(&mut Vec<u8>) -> Result<(), WireError>) -> Composed {
    let mut octets = Vec::new();
    emit(&mut octets).expect("control PDUs are no longer than data PDUs");
    Composed { octets, transmissions: 0 }
}
