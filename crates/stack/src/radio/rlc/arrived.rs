//! Splits a received run of consecutive PDUs at the PDUs that the radio lost. The receiving sides of
//! acknowledged and unacknowledged mode handle each part that arrived at once, not PDU by PDU.

use super::{DataRun, SduEnd};

/// Consecutive PDUs of a run, all of which arrived.
pub(super) struct ArrivedPart<'a> {
    /// Position of the first PDU in the run, from 0.
    pub offset: u64,
    /// Number of PDUs.
    pub count: u64,
    /// SDU ends in these PDUs.
    pub ends: &'a [SduEnd],
}

/// Calls `receive` for each longest part of `run` without a lost PDU, in order. `ends`: all SDU ends
/// in the run. Bit n of `lost` is set if PDU n of the run is lost.
#[inline(always)]
pub(super) fn for_each_arrived<'a>(
    run: &DataRun,
    mut ends: &'a [SduEnd],
    lost: u128,
    mut receive: impl FnMut(ArrivedPart<'a>),
) {
    let count = u32::from(run.count);
    // Two words of 64 bits: usually only the lower one is needed, and shifting 128 bits takes
    // several instructions.
    let lost = [lost as u64, (lost >> 64) as u64];
    let arrived = lost.map(|half| !half);
    let offset_of = |end: &SduEnd| end.sn.steps_from(run.first);
    let mut from = first_member(arrived, 0);
    while from < count {
        let to = first_member(lost, from).min(count);
        let ends_before = ends.iter().take_while(|end| offset_of(end) < u64::from(from)).count();
        let ends_from_here = &ends[ends_before..];
        let ends_inside = ends_from_here.iter().take_while(|end| offset_of(end) < u64::from(to)).count();
        receive(ArrivedPart {
            offset: u64::from(from),
            count: u64::from(to - from),
            ends: &ends_from_here[..ends_inside],
        });
        ends = &ends_from_here[ends_inside..];
        from = first_member(arrived, to);
    }
}

/// The first member of a set of the numbers 0 to 127 that is `from` or greater. 128 if there is
/// none. Bit n of the first word stands for n, bit n of the second word for 64 + n.
#[inline]
fn first_member(set: [u64; 2], from: u32) -> u32 {
    match (set[0].checked_shr(from), from) {
        (Some(0), _) => 64 + set[1].trailing_zeros(),
        (Some(low), _) => from + low.trailing_zeros(),
        (None, 64..128) => (from + (set[1] >> (from - 64)).trailing_zeros()).min(128),
        (None, _) => 128,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn first_member_matches_a_linear_search(words: [u64; 2], sparse: [u64; 2], from in 0u32..=128) {
            for set in [words, [words[0] & sparse[0], words[1] & sparse[1]], [0, words[1]], [words[0], 0], [0; 2]] {
                let all = u128::from(set[1]) << 64 | u128::from(set[0]);
                let found = (from..128).find(|bit| all >> bit & 1 == 1).unwrap_or(128);
                prop_assert_eq!(first_member(set, from), found);
            }
        }
    }
}
