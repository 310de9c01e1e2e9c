//! The mean SNR of a UE on the HS-DSCH by TTI, as the cells of a layout determine it.

use std::collections::VecDeque;

/// Number of TTIs for which former values are kept: the longest CQI delay and the longest CQI cycle
/// together are 130 TTIs.
const KEPT_TTIS: u64 = 150;

/// Mean SNR in dB, constant between changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct MeanSnr {
    /// Number of the first TTI of each value, in ascending order.
    values: VecDeque<(u64, f64)>,
}

impl MeanSnr {
    /// The same SNR in all TTIs.
    pub fn constant(snr_db: f64) -> Self {
        MeanSnr { values: VecDeque::from([(0, snr_db)]) }
    }

    /// The SNR is `snr_db` from TTI number `tti` on.
    pub fn set(&mut self, tti: u64, snr_db: f64) {
        if self.values.back().is_some_and(|(_, last)| *last == snr_db) {
            return;
        }
        self.values.push_back((tti, snr_db));
        while self.values.get(1).is_some_and(|(from, _)| from + KEPT_TTIS <= tti) {
            self.values.pop_front();
        }
    }

    /// The SNR is `snr_db` from TTI number `tti` on. Earlier values are forgotten.
    pub fn restart(&mut self, tti: u64, snr_db: f64) {
        self.values.clear();
        self.values.push_back((tti, snr_db));
    }

    /// SNR in dB in TTI number `tti`; before the first value as with the first one. No signal without any value.
    pub fn at(&self, tti: u64) -> f64 {
        let later = self.values.partition_point(|(from, _)| *from <= tti);
        self.values.get(later.saturating_sub(1)).map_or(f64::NEG_INFINITY, |(_, snr_db)| *snr_db)
    }

    /// Takes over the values of `other`, which is this history continued.
    pub fn follow(&mut self, other: &MeanSnr) {
        if self.values.back() != other.values.back() {
            self.values.clone_from(&other.values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snr_is_constant_between_changes() {
        let mut snr = MeanSnr::default();
        assert_eq!(snr.at(7), f64::NEG_INFINITY);
        snr.set(10, 3.0);
        snr.set(20, 3.0);
        snr.set(30, 5.0);
        assert_eq!([0, 10, 29, 30, 99].map(|tti| snr.at(tti)), [3.0, 3.0, 3.0, 5.0, 5.0]);
        assert_eq!(snr.values.len(), 2);
    }

    #[test]
    fn restart_forgets_earlier_values() {
        let mut snr = MeanSnr::default();
        (0..5).for_each(|turn| snr.set(10 * turn, turn as f64));
        snr.restart(100, 9.0);
        assert_eq!([0, 45, 100, 200].map(|tti| snr.at(tti)), [9.0; 4]);
    }

    #[test]
    fn history_covers_the_oldest_measurement() {
        let mut snr = MeanSnr::default();
        (0..100).for_each(|turn| snr.set(10 * turn, turn as f64));
        // 130 TTIs before the last change.
        assert_eq!(snr.at(990 - 130), 86.0);
        assert!(snr.values.len() < 20);
    }

    #[test]
    fn a_copy_follows_its_origin() {
        let mut origin = MeanSnr::constant(1.0);
        let mut copy = origin.clone();
        origin.set(5, 2.0);
        copy.follow(&origin);
        assert_eq!(copy, origin);
    }
}
