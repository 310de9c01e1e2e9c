//! PDUs between RLC at the RNC and RLC of the UE: on the Iub, at the Node B, in HARQ and in the
//! reordering queue.

use crate::nodeb::QueuedBlock;
use crate::radio::rlc::{BlockSet, DataRun, Pdu, Sn};

/// Number of copies of each AMD PDU in flight, by sequence number.
#[derive(Debug)]
pub(super) struct InFlight {
    copies: Box<[u16]>,
    /// Epoch of RLC. PDUs of earlier epochs have other numbers.
    epoch: u16,
}

impl InFlight {
    pub fn new(epoch: u16) -> Self {
        InFlight { copies: vec![0; Sn::MODULUS as usize].into(), epoch }
    }

    /// Adds a set that leaves RLC. Returns how many of its PDUs are retransmissions of PDUs of which a
    /// copy is in flight.
    pub fn add(&mut self, set: &BlockSet, epoch: u16) -> u32 {
        if epoch != self.epoch {
            *self = InFlight::new(epoch);
        }
        let mut repeated = 0;
        for run in data_runs(set) {
            for sn in numbers(run) {
                let copies = &mut self.copies[sn];
                repeated += u32::from(run.retransmission && *copies > 0);
                *copies += 1;
            }
        }
        repeated
    }

    /// Removes a PDU that has reached RLC of the UE, or is lost.
    pub fn remove(&mut self, pdu: &QueuedBlock) {
        if pdu.epoch == self.epoch {
            let numbers = data_runs(&pdu.set).flat_map(numbers);
            numbers.for_each(|sn| self.copies[sn] = self.copies[sn].saturating_sub(1));
        }
    }
}

/// Runs of AMD PDUs in `set`.
pub(super) fn data_runs(set: &BlockSet) -> impl Iterator<Item = &DataRun> {
    set.pdus.iter().filter_map(|pdu| match pdu {
        Pdu::Data(run) => Some(run),
        _ => None,
    })
}

fn numbers(run: &DataRun) -> impl Iterator<Item = usize> + use<> {
    let first = run.first;
    (0..u64::from(run.count)).map(move |n| usize::from(first.plus(n).value()))
}
