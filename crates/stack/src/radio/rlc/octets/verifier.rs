//! Wire mode: whether the octets that a receiver puts together are those of the packet.

use std::collections::{BTreeMap, VecDeque};

use super::decoder::Arrived;
use crate::ids::PacketId;
use crate::radio::rlc::wire::LengthIndicator;
use crate::radio::rlc::{Sdu, SduEnd, Sn};

/// SDUs whose ends have arrived and that were not handed up, at most.
const REMEMBERED: usize = 1 << 15;

/// Keeps what arrived, by number, and puts SDUs together.
#[derive(Debug, Clone)]
pub(super) struct Verifier {
    /// Of each number the PDU that arrived last.
    pdus: Vec<Option<Kept>>,
    /// Where SDUs lie whose ends have arrived, and which of the ends in its PDU an SDU's is.
    ends: BTreeMap<PacketId, (SduEnd, usize)>,
    order: VecDeque<PacketId>,
}

/// The data of a PDU.
#[derive(Debug, Clone)]
struct Kept {
    /// What it says of the end of the PDU before.
    tells: Option<LengthIndicator>,
    /// Parts of SDUs that end here, then what goes on in the next PDU.
    ended: Vec<Vec<u8>>,
    open: Vec<u8>,
}

impl Verifier {
    pub fn new() -> Self {
        let pdus = (0..Sn::MODULUS).map(|_| None).collect();
        Verifier { pdus, ends: BTreeMap::new(), order: VecDeque::new() }
    }

    /// A data PDU arrived.
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

    /// The octets of an SDU that is handed up, read from what arrived; `None` if a PDU of it did not.
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
