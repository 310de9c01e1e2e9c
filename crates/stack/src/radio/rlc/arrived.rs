//! The parts of a run of PDUs that have arrived.

use super::{DataRun, SduEnd};

/// Calls `take` for each contiguous part of `run` that arrived, with its offset in the run, its
/// number of PDUs, and the SDU ends in it. Bit n of `lost` is set if PDU n of the run is lost.
#[inline(always)]
pub(super) fn for_each_arrived<'a>(
    run: &DataRun,
    mut ends: &'a [SduEnd],
    lost: u128,
    mut take: impl FnMut(u64, u64, &'a [SduEnd]),
) {
    let (first, count) = (run.first, u32::from(run.count));
    // Two words of 64 bits: usually only the lower one is needed, and shifting 128 bits takes
    // several instructions.
    let lost = [lost as u64, (lost >> 64) as u64];
    let arrived = lost.map(|half| !half);
    let mut from = first_member(arrived, 0);
    while from < count {
        let to = first_member(lost, from).min(count);
        let steps = |end: &SduEnd| end.sn.steps_from(first);
        let skip = ends.iter().take_while(|end| steps(end) < u64::from(from)).count();
        let inside = ends[skip..].iter().take_while(|end| steps(end) < u64::from(to)).count();
        take(u64::from(from), u64::from(to - from), &ends[skip..skip + inside]);
        ends = &ends[skip + inside..];
        from = first_member(arrived, to);
    }
}

/// The first member of a set at or after `from`, among 0 to 127. 128 if there is none.
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
