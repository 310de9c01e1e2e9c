//! PDUs that arrive or are lost, and the packets that cannot arrive any more for that.

use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::{BlockSet, Sn};

use super::{Bearer, Mode, PduRange, QueuedSdu, Undeliverable, data};
use crate::budget::missing::LossPlace;

impl Bearer {
    /// A block set arrives, except the blocks in `lost`, which were lost at `place`. Adds packets
    /// that cannot arrive any more to `undeliverable`.
    pub fn arrive(
        &mut self,
        set: &BlockSet,
        lost: Lost,
        place: LossPlace,
        undeliverable: &mut Vec<Undeliverable>,
    ) {
        if set.serial <= self.void_serial {
            return;
        }
        if lost.0 == 0 && self.missing.is_empty() {
            self.arrive_whole(set);
        } else {
            self.arrive_in_part(set, lost, place);
        }
        if lost != Lost::all(set.blocks) {
            self.harq.delivered(set.serial);
        }
        if self.mode == Mode::Unacknowledged && !self.missing.is_empty() {
            self.collect_undeliverable(undeliverable);
        }
    }

    /// The usual case: no block was lost, and no PDU was missing before.
    fn arrive_whole(&mut self, set: &BlockSet) {
        for run in set.pdus.iter().filter_map(data) {
            let first = self.count_of(run.first);
            self.missing.arrived_below(first + u64::from(run.count));
        }
    }

    /// Records for each PDU whether it arrived.
    fn arrive_in_part(&mut self, set: &BlockSet, lost: Lost, place: LossPlace) {
        let mut block = 0;
        for pdu in &set.pdus {
            if let Some(run) = data(pdu) {
                let first = self.count_of(run.first);
                for offset in 0..u32::from(run.count) {
                    let lost_at = lost.contains(block + offset).then_some(place);
                    self.missing.record_fate(first + u64::from(offset), lost_at, run.retransmission);
                }
            }
            block += pdu.blocks();
        }
    }

    /// Adds the SDUs with a missing PDU to `undeliverable`. Call only in modes without repair.
    fn collect_undeliverable(&mut self, undeliverable: &mut Vec<Undeliverable>) {
        let Bearer { missing, sdus, last_ended, next, .. } = self;
        // PDUs of the first SDU that has left only in part: they follow the last complete SDU.
        let begun = PduRange { first: last_ended.map_or(0, |last| last + 1), last: next.saturating_sub(1) };
        let mut is_first_unsent = true;
        sdus.retain_mut(|queued| {
            let PduRange { first, last } = match queued.pdus {
                Some(pdus) => pdus,
                None if std::mem::take(&mut is_first_unsent) => begun,
                None => return true,
            };
            let Some(place) = missing.place_in(first, last) else { return true };
            if !std::mem::replace(&mut queued.is_undeliverable, true) {
                let QueuedSdu { packet, connection, .. } = *queued;
                undeliverable.push(Undeliverable { packet, connection, loss: place.loss() });
            }
            queued.pdus.is_none()
        });
        self.forget_losses();
    }

    /// Forgets lost PDUs that no SDU in the bearer needs, in the modes without repair.
    pub(super) fn forget_losses(&mut self) {
        if self.mode == Mode::Unacknowledged {
            let oldest_sdu = self.sdus.front().and_then(|queued| queued.pdus);
            let first_needed = oldest_sdu.map(|pdus| pdus.first).or(self.last_ended).unwrap_or(0);
            self.missing.forget_below(first_needed);
        }
    }

    /// The receiver no longer waits for `count` PDUs from `first` on.
    pub fn skip(&mut self, first: Sn, count: u64) {
        let below = self.count_of(first) + count;
        self.missing.forget_below(below);
    }
}
