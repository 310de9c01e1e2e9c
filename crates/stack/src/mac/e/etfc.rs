//! E-TFC selection: the content of a new block (TS 25.321 §11.8.1.4).

use super::category::{SCHEDULING_INFORMATION_BITS, block_bits, pdus_in};
use crate::trace::ELimit;

/// Limits of a block in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Size that the serving grant allows. 0 without a grant.
    pub granted: u32,
    /// Non-scheduled bits, in addition to the grant.
    pub non_scheduled: u32,
    /// Largest size for which the UE has power.
    pub power: u32,
    /// Largest size of the category.
    pub category: u32,
    pub pdu_bits: u32,
}

/// The content of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    pub pdus: u32,
    /// Whether the block has scheduling information.
    pub is_reporting: bool,
    /// Size of the block.
    pub bits: u32,
    /// The smallest limit of the number of PDUs.
    pub limit: ELimit,
}

impl Limits {
    /// Number of PDUs that the grant allows, whatever power and category allow.
    pub fn granted_pdus(&self) -> u32 {
        pdus_in(self.granted + self.non_scheduled, self.pdu_bits)
    }

    /// The largest block for `ready` PDUs. Scheduling information that is due goes with the data or
    /// alone, and takes precedence over the last PDU. The grant does not limit it. `None`: nothing to send,
    /// or no power.
    pub fn select(&self, ready: u32, is_report_due: bool) -> Option<Selection> {
        let report = if is_report_due { SCHEDULING_INFORMATION_BITS } else { 0 };
        let room = |bits: u32| pdus_in(bits.saturating_sub(report), self.pdu_bits);
        let limits = [
            (ready, ELimit::Data),
            (room(self.category), ELimit::Category),
            (room(self.power), ELimit::Power),
            (self.granted_pdus(), ELimit::Grant),
        ];
        // The first one of equal limits.
        let (pdus, limit) = limits.into_iter().min_by_key(|(pdus, _)| *pdus).expect("there are four");
        let bits = block_bits(pdus, self.pdu_bits, is_report_due);
        let is_sent = bits > 0 && bits <= self.power.min(self.category);
        is_sent.then_some(Selection { pdus, is_reporting: is_report_due, bits, limit })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: Limits =
        Limits { granted: 20_000, non_scheduled: 0, power: 20_000, category: 14_484, pdu_bits: 336 };

    #[test]
    fn the_smallest_limit_decides() {
        let pdus = |limits: Limits, ready| limits.select(ready, false).map_or(0, |selected| selected.pdus);
        assert_eq!(pdus(LIMITS, 100), 43);
        assert_eq!(pdus(LIMITS, 5), 5);
        assert_eq!(pdus(Limits { granted: 1_026, ..LIMITS }, 100), 3);
        assert_eq!(pdus(Limits { granted: 1_025, ..LIMITS }, 100), 2);
        assert_eq!(pdus(Limits { power: 700, ..LIMITS }, 100), 2);
        assert_eq!(pdus(Limits { granted: 0, ..LIMITS }, 100), 0);
        assert_eq!(pdus(Limits { granted: 0, non_scheduled: 354, ..LIMITS }, 100), 1);
        assert_eq!(pdus(Limits { granted: 354, non_scheduled: 336, ..LIMITS }, 100), 2);
    }

    #[test]
    fn first_of_equal_limits_counts() {
        let limit = |limits: Limits, ready| limits.select(ready, false).expect("a block").limit;
        assert_eq!(limit(LIMITS, 100), ELimit::Category);
        assert_eq!(limit(LIMITS, 43), ELimit::Data);
        assert_eq!(limit(Limits { granted: 1_026, power: 1_026, ..LIMITS }, 100), ELimit::Power);
        assert_eq!(limit(Limits { granted: 1_025, power: 1_026, ..LIMITS }, 100), ELimit::Grant);
    }

    #[test]
    fn a_report_needs_no_grant_and_goes_before_the_last_pdu() {
        let without_grant = Limits { granted: 0, ..LIMITS }.select(9, true).unwrap();
        assert_eq!((without_grant.pdus, without_grant.bits), (0, 18));
        let full = Limits { category: 14_483, ..LIMITS };
        assert_eq!(full.select(100, false).unwrap().pdus, 43);
        assert_eq!(full.select(100, true).unwrap().pdus, 42);
        assert_eq!(LIMITS.select(100, true).unwrap().bits, 14_484);
        assert_eq!(Limits { power: 17, ..LIMITS }.select(9, true), None);
    }

    proptest! {
        /// No block exceeds the category, the power, or the grant with the non-scheduled bits.
        #[test]
        fn every_block_keeps_all_limits(
            (granted, non_scheduled, power) in (0..25_000_u32, 0..2_000_u32, 0..25_000_u32),
            (category, pdu_bits) in (2_000..20_001_u32, 100..1_500_u32),
            (ready, is_due) in (0..200_u32, any::<bool>()),
        ) {
            let limits = Limits { granted, non_scheduled, power, category, pdu_bits };
            if let Some(selected) = limits.select(ready, is_due) {
                let Selection { pdus, bits, limit, .. } = selected;
                prop_assert!(bits <= power && bits <= category && pdus <= ready);
                let report = if is_due { SCHEDULING_INFORMATION_BITS } else { 0 };
                prop_assert!(pdus == 0 || bits - report <= granted + non_scheduled);
                prop_assert_eq!(limit == ELimit::Data, pdus == ready);
                prop_assert!(limit != ELimit::Grant || pdus == limits.granted_pdus());
            }
        }
    }
}
