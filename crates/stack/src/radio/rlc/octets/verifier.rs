//! Wire mode: checks that the octets assembled by a receiver are the octets of the packet.

use std::collections::{BTreeMap, VecDeque};

use super::decoder::Arrived;
use crate::ids::PacketId;
use crate::radio::rlc::wire::LengthIndicator;
use crate::radio::rlc::{Sdu, SduEnd, Sn};

/// Maximum number of SDUs with known ends that are not delivered.
const REMEMBERED: usize = 1 << 15;

/// Stores arrived PDUs by number and assembles SDUs.
#[derive(Debug, Clone)]
pub(super) struct Verifier {
    /// The last PDU that arrived with each number.
    pdus: Vec<Option<Kept>>,
    /// Positions of the SDUs with known ends, and the index of each end in its PDU.
    ends: BTreeMap<PacketId, (SduEnd, usize)>,
    order: VecDeque<PacketId>,
}

/// The data of a PDU.
#[derive(Debug, Clone)]
struct Kept {
    /// Length indicator for the end of the previous PDU.
    tells: Option<LengthIndicator>,
    /// Parts of SDUs that end in this PDU, then the part that continues in the next PDU.
    ended: Vec<Vec<u8>>,
    open: Vec<u8>,
}

impl Verifier {
    pub fn new() -> Self {
        let pdus = (0..Sn::MODULUS).map(|_| None).collect();
        Verifier { pdus, ends: BTreeMap::new(), order: VecDeque::new() }
    }

    /// Stores a data PDU.
    pub fn take(&mut self, pdu: &Arrived<'_>) {
        let leading = pdu.payload.indicators().first().copied();
        let tells = leading
            .filter(|li| matches!(li, LengthIndicator::PreviousFilled | LengthIndicator::PreviousOneShort));
        let (mut ended, mut open) = (Vec::new(), Vec::new());
        for segment in pdu.payload.segments() {
            if segment.ends { ended.push(segment.octets.to_vec()) } else { open = segment.octets.to_vec() }
        }
        self.pdus[usize::from(pdu.sn.value())] = Some(Kept { tells, ended, open });
        for (index, end) in pdu.ends.iter().enumerate() {
            self.ends.insert(end.sdu.packet.id, (*end, index));
            self.order.push_back(end.sdu.packet.id);
        }
        while self.order.len() > REMEMBERED {
            let oldest = self.order.pop_front().expect("there are many");
            if !self.order.contains(&oldest) {
                self.ends.remove(&oldest);
            }
        }
    }

    /// The octets of a delivered SDU, assembled from stored PDUs. `None` if one of them is missing.
    pub fn assemble(&self, sdu: &Sdu) -> Option<Vec<u8>> {
        let (end, index) = self.ends.get(&sdu.packet.id)?;
        let last = self.pdu(end.sn)?;
        let ended_here = index.checked_sub(usize::from(last.tells.is_some()));
        let mut octets = ended_here.map_or_else(Vec::new, |index| last.ended[index].clone());
        let mut strip =
            usize::from(ended_here.is_none() && last.tells == Some(LengthIndicator::PreviousOneShort));
        let mut sn = end.sn;
        while sn != end.first {
            sn = sn.plus(Sn::MODULUS - 1);
            let open = &self.pdu(sn)?.open;
            let part = &open[..open.len() - std::mem::take(&mut strip)];
            octets.splice(0..0, part.iter().copied());
        }
        Some(octets)
    }

    fn pdu(&self, sn: Sn) -> Option<&Kept> {
        self.pdus[usize::from(sn.value())].as_ref()
    }
}
