//! Wire mode: assembles SDUs from the octets of received PDUs. [`Wired`](super::Wired) compares them
//! with the octets that were sent.

use std::collections::{BTreeMap, VecDeque};

use super::decoder::DecodedPdu;
use crate::ids::PacketId;
use crate::radio::rlc::wire::LengthIndicator;
use crate::radio::rlc::{Sdu, SduEnd, Sn};

/// Maximum number of stored SDU positions: enough for all undelivered SDUs of a window.
const MAX_KNOWN_ENDS: usize = 1 << 15;

/// Stores received PDUs by sequence number and assembles SDUs from them.
#[derive(Debug, Clone)]
pub(super) struct Verifier {
    /// The last PDU that arrived with each number.
    pdus: Vec<Option<StoredPdu>>,
    /// The ends of the SDUs that end in received PDUs.
    ends: BTreeMap<PacketId, KnownEnd>,
    /// The SDUs in `ends`, oldest first.
    order: VecDeque<PacketId>,
}

/// The end of an SDU in a received PDU.
#[derive(Debug, Clone)]
struct KnownEnd {
    end: SduEnd,
    /// Index among the SDU ends that PDU `end.sn` indicates, the end of an SDU in the previous PDU
    /// included.
    index: usize,
}

/// The data of a PDU.
#[derive(Debug, Clone)]
struct StoredPdu {
    /// The first length indicator, if it indicates the end of an SDU in the previous PDU.
    previous_end: Option<LengthIndicator>,
    /// The parts of the SDUs that end in this PDU.
    ended: Vec<Vec<u8>>,
    /// The part of the SDU that continues in the next PDU, or whose end the next PDU indicates.
    open: Vec<u8>,
}

impl Verifier {
    pub fn new() -> Self {
        let pdus = (0..Sn::MODULUS).map(|_| None).collect();
        Verifier { pdus, ends: BTreeMap::new(), order: VecDeque::new() }
    }

    /// Stores a data PDU.
    pub fn store(&mut self, pdu: &DecodedPdu<'_>) {
        let leading = pdu.payload.indicators().first().copied();
        let previous_end = leading
            .filter(|li| matches!(li, LengthIndicator::PreviousFilled | LengthIndicator::PreviousOneShort));
        let (mut ended, mut open) = (Vec::new(), Vec::new());
        for segment in pdu.payload.segments() {
            if segment.ends { ended.push(segment.octets.to_vec()) } else { open = segment.octets.to_vec() }
        }
        self.pdus[usize::from(pdu.sn.value())] = Some(StoredPdu { previous_end, ended, open });
        for (index, end) in pdu.ends.iter().enumerate() {
            self.ends.insert(end.sdu.packet.id, KnownEnd { end: *end, index });
            self.order.push_back(end.sdu.packet.id);
        }
        while self.order.len() > MAX_KNOWN_ENDS {
            let oldest = self.order.pop_front().expect("the loop condition implies an element");
            // A PDU that arrives again adds the SDUs that end in it to `order` again.
            if !self.order.contains(&oldest) {
                self.ends.remove(&oldest);
            }
        }
    }

    /// The octets of a delivered SDU, assembled from stored PDUs. `None` if one of them is missing.
    pub fn assemble(&self, sdu: &Sdu) -> Option<Vec<u8>> {
        let KnownEnd { end, index } = self.ends.get(&sdu.packet.id)?;
        let last = self.pdu(end.sn)?;
        // Index in `ended`, which lacks an SDU that ended in the previous PDU. `None` if this is
        // that SDU: only its indicator, which precedes all others, is in this PDU.
        let ended_here = index.checked_sub(usize::from(last.previous_end.is_some()));
        let mut octets = ended_here.map_or_else(Vec::new, |index| last.ended[index].clone());
        // The unused last octet of a PDU in which the SDU ended one octet short is not data.
        let mut unused_octets =
            usize::from(ended_here.is_none() && last.previous_end == Some(LengthIndicator::PreviousOneShort));
        let mut sn = end.sn;
        while sn != end.first {
            sn = sn.plus(Sn::MODULUS - 1);
            let open = &self.pdu(sn)?.open;
            let part = &open[..open.len() - std::mem::take(&mut unused_octets)];
            octets.splice(0..0, part.iter().copied());
        }
        Some(octets)
    }

    fn pdu(&self, sn: Sn) -> Option<&StoredPdu> {
        self.pdus[usize::from(sn.value())].as_ref()
    }
}
