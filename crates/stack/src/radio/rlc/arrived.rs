//! What of a run of PDUs has arrived.

use super::{DataRun, SduEnd};

/// The parts of `run` that arrived, where bit n of `lost` tells of its n-th PDU: offset in the run, count and ends.
pub(super) fn arrived_parts<'a>(
    run: &DataRun,
    mut ends: &'a [SduEnd],
    mut lost: u128,
) -> impl Iterator<Item = (u64, u64, &'a [SduEnd])> {
    let (first, count) = (run.first, u64::from(run.count));
    let mut at = 0;
    std::iter::from_fn(move || {
        // Nearly all is told by the lower half, and in two halves each step takes several instructions.
        let missing =
            if lost as u64 == u64::MAX { lost.trailing_ones() } else { (lost as u64).trailing_ones() };
        let from = at + u64::from(missing);
        if from >= count {
            return None;
        }
        lost >>= missing;
        let here = if lost as u64 == 0 { lost.trailing_zeros() } else { (lost as u64).trailing_zeros() };
        let here = here.min((count - from) as u32);
        at = from + u64::from(here);
        lost = lost.checked_shr(here).unwrap_or(0);
        let steps = |end: &SduEnd| end.sn.steps_from(first);
        let skip = ends.iter().take_while(|end| steps(end) < from).count();
        let take = ends[skip..].iter().take_while(|end| steps(end) < at).count();
        let these = &ends[skip..skip + take];
        ends = &ends[skip + take..];
        Some((from, at - from, these))
    })
}
