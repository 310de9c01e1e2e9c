//! PDUs that were lost below RLC and have not arrived since, for the time budget: it finds here the
//! lost PDU for which a packet waits, and whether the receiver can report this loss yet.
//!
//! PDUs are identified by counts, which are sequence numbers without wrap-around.

use umts_units::Time;

use super::loss::Loss;

/// A PDU that was lost and has not arrived since.
#[derive(Debug, Clone, Copy)]
struct MissingPdu {
    /// Count of the PDU.
    sn: u64,
    /// Place of the last loss.
    place: LossPlace,
    /// Whether the receiver has named the PDU in a status report.
    is_reported: bool,
    /// Whether the PDU has gone on the air again since the last report that names it.
    is_repeated: bool,
}

/// Where a block was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LossPlace {
    Air,
    NodebQueue,
}

impl LossPlace {
    /// The loss of a packet in a mode without repair.
    pub fn loss(self) -> Loss {
        match self {
            LossPlace::Air => Loss::RadioLoss,
            LossPlace::NodebQueue => Loss::NodebDrop,
        }
    }
}

/// A lost PDU that has not been repaired yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hole {
    /// Count of the PDU.
    pub sn: u64,
    pub place: LossPlace,
    /// Whether a later PDU has arrived, so that the receiver knows of the loss.
    pub is_known: bool,
    /// Whether the PDU has gone on the air again since the last report that names it.
    pub is_repeated: bool,
    /// End of the prohibition of the status report about the PDU, if it is prohibited.
    pub prohibited_until: Option<Time>,
}

/// The lost PDUs of one direction of a bearer.
#[derive(Debug, Default)]
pub(super) struct MissingPdus {
    /// Sorted by count.
    lost: Vec<MissingPdu>,
    /// The number after the highest PDU that arrived.
    arrived_below: u64,
    /// Time until which Timer_Status_Prohibit runs at the receiver.
    prohibited_until: Time,
}

impl MissingPdus {
    pub fn is_empty(&self) -> bool {
        self.lost.is_empty()
    }

    /// Forgets everything, because numbers begin at zero again.
    pub fn clear(&mut self) {
        self.lost.clear();
        (self.arrived_below, self.prohibited_until) = (0, Time::ZERO);
    }

    /// Removes the PDUs below `sn`.
    pub fn forget_below(&mut self, sn: u64) {
        self.lost.retain(|missing| missing.sn >= sn);
    }

    /// PDU `sn` arrived (`lost_at` is `None`), or was lost at `lost_at`.
    pub fn record_fate(&mut self, sn: u64, lost_at: Option<LossPlace>, is_retransmission: bool) {
        let position = self.lost.binary_search_by_key(&sn, |missing| missing.sn);
        match (position, lost_at) {
            (Err(at), Some(place)) if !is_retransmission => {
                self.lost.insert(at, MissingPdu { sn, place, is_reported: false, is_repeated: false });
            }
            (Ok(at), Some(place)) => self.lost[at].place = place,
            (Ok(at), None) => {
                self.lost.remove(at);
            }
            // A PDU that was not missing arrived again, or its retransmission was lost.
            _ => {}
        }
        if lost_at.is_none() {
            self.arrived_below(sn + 1);
        }
    }

    /// The PDUs from `first` to before `end` go on the air again.
    pub fn repeated(&mut self, first: u64, end: u64) {
        let range = |missing: &&mut MissingPdu| (first..end).contains(&missing.sn);
        self.lost.iter_mut().filter(range).for_each(|missing| missing.is_repeated = true);
    }

    /// All PDUs below `sn` arrived. None of them was missing.
    pub fn arrived_below(&mut self, sn: u64) {
        self.arrived_below = self.arrived_below.max(sn);
    }

    /// The receiver sends a status report about the losses that it knows of. The next report is
    /// prohibited until `until`.
    pub fn reported(&mut self, until: Time) {
        let known = self.lost.partition_point(|missing| missing.sn < self.arrived_below);
        for missing in &mut self.lost[..known] {
            (missing.is_reported, missing.is_repeated) = (true, false);
        }
        self.prohibited_until = until;
    }

    /// Place of the loss of the first missing PDU from `first` to `last`.
    pub fn place_in(&self, first: u64, last: u64) -> Option<LossPlace> {
        let at = self.lost.partition_point(|missing| missing.sn < first);
        self.lost.get(at).filter(|missing| missing.sn <= last).map(|missing| missing.place)
    }

    /// The first lost PDU from `first` to `last`, with its state at `now`.
    pub fn hole(&self, first: u64, last: u64, now: Time) -> Option<Hole> {
        let at = self.lost.partition_point(|missing| missing.sn < first);
        let MissingPdu { sn, place, is_reported, is_repeated } =
            *self.lost.get(at).filter(|missing| missing.sn <= last)?;
        let is_known = sn < self.arrived_below;
        let is_prohibited = !is_reported && is_known && now < self.prohibited_until;
        let prohibited_until = is_prohibited.then_some(self.prohibited_until);
        Some(Hole { sn, place, is_known, is_repeated, prohibited_until })
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Duration;

    use super::*;

    const ARRIVED: Option<LossPlace> = None;
    const NEW: bool = false;
    const RETRANSMITTED: bool = true;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn repeated_pdu_is_open_until_it_is_reported_again() {
        let mut missing = MissingPdus::default();
        missing.record_fate(3, Some(LossPlace::Air), NEW);
        missing.record_fate(4, ARRIVED, NEW);
        let is_repeated = |missing: &MissingPdus| missing.hole(0, 9, ms(0)).map(|hole| hole.is_repeated);
        missing.reported(ms(0));
        assert_eq!(is_repeated(&missing), Some(false));
        missing.repeated(3, 4);
        assert_eq!(is_repeated(&missing), Some(true));
        missing.record_fate(3, Some(LossPlace::Air), RETRANSMITTED);
        assert_eq!(is_repeated(&missing), Some(true), "the receiver may not have noticed");
        missing.reported(ms(0));
        assert_eq!(is_repeated(&missing), Some(false));
    }

    /// A receiver detects a loss when a later PDU arrives. An earlier status report does not name
    /// the loss.
    #[test]
    fn known_loss_waits_for_timer_status_prohibit() {
        let mut missing = MissingPdus::default();
        missing.reported(ms(100));
        missing.record_fate(0, ARRIVED, NEW);
        missing.record_fate(1, Some(LossPlace::Air), NEW);
        let prohibited = |missing: &MissingPdus, at| missing.hole(0, 9, ms(at)).unwrap().prohibited_until;
        assert_eq!(prohibited(&missing, 10), None, "no later PDU has arrived");
        missing.record_fate(2, ARRIVED, NEW);
        assert_eq!(prohibited(&missing, 20), Some(ms(100)));
        assert_eq!(prohibited(&missing, 100), None);
        missing.reported(ms(200));
        assert_eq!(prohibited(&missing, 110), None, "the report has left");
    }

    #[test]
    fn missing_pdu_keeps_its_last_place_until_it_arrives() {
        let mut missing = MissingPdus::default();
        missing.record_fate(3, Some(LossPlace::NodebQueue), NEW);
        missing.record_fate(4, Some(LossPlace::Air), RETRANSMITTED);
        assert_eq!(
            missing.place_in(0, 9),
            Some(LossPlace::NodebQueue),
            "a lost retransmission of 4, which had arrived, is ignored"
        );
        missing.record_fate(3, Some(LossPlace::Air), RETRANSMITTED);
        assert_eq!(missing.place_in(3, 3), Some(LossPlace::Air));
        missing.record_fate(3, ARRIVED, RETRANSMITTED);
        assert!(missing.is_empty());
    }
}
