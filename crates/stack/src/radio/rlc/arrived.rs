//! What of a run of PDUs has arrived.

use super::{DataRun, SduEnd};

/// The parts of `run` that arrived, where bit n of `lost` tells of its n-th PDU: offset in the run, count and ends.
pub(super) fn arrived_parts<'a>(
    run: &DataRun,
    mut ends: &'a [SduEnd],
    lost: u128,
) -> impl Iterator<Item = (u64, u64, &'a [SduEnd])> {
    let (first, count) = (run.first, u64::from(run.count));
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < count && lost >> at & 1 == 1 {
            at += 1;
        }
        if at >= count {
            return None;
        }
        let from = at;
        let rest = lost >> at;
        at = if rest == 0 { count } else { (at + u64::from(rest.trailing_zeros())).min(count) };
        let steps = |end: &SduEnd| end.sn.steps_from(first);
        let skip = ends.iter().take_while(|end| steps(end) < from).count();
        let take = ends[skip..].iter().take_while(|end| steps(end) < at).count();
        let these = &ends[skip..skip + take];
        ends = &ends[skip + take..];
        Some((from, at - from, these))
    })
}
