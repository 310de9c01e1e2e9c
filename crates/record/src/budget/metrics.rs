//! The budget as metrics: seconds and shares of each cause, and timeouts by what brought them about.

use umts_units::Duration;

use super::cause::{Cause, Parts};
use super::rto::{Because, Timeout};
use crate::metrics::{Definition, MetricSet, Scope};

const TOTAL: &str = "budget_total_s";

/// Every metric of the budget, in the order in which results list them.
pub fn definitions() -> impl Iterator<Item = Definition> {
    let of = |(name, label), unit, meaning, numerator, denominator| Definition {
        name,
        label,
        unit,
        scope: Scope::Budget,
        meaning,
        numerator,
        denominator,
    };
    let total = of(
        (TOTAL, "Time with a connection open"),
        "s",
        "Time for which connections were open: the sum of the causes.",
        "close (or end of the run) - open, summed over connections",
        "",
    );
    let parts = Cause::ALL.iter().map(move |cause| {
        of(
            (cause.metrics().0, cause.label()),
            "s",
            cause.meaning(),
            "time under this cause, summed over connections",
            "",
        )
    });
    let shares = Cause::ALL.iter().map(move |cause| {
        let meaning = "The same, as a share of the whole.";
        of((cause.metrics().1, cause.label()), "%", meaning, cause.metrics().0, TOTAL)
    });
    let timeouts = Because::ALL.iter().flat_map(move |because| {
        let [spurious, needed] = because.metrics();
        let [as_spurious, as_needed] = because.labels();
        [
            spurious.map(|name| {
                of((name, as_spurious), "1", because.meaning(), "timeouts that were not needed", "")
            }),
            needed.map(|name| of((name, as_needed), "1", because.meaning(), "timeouts that were needed", "")),
        ]
    });
    std::iter::once(total).chain(parts).chain(shares).chain(timeouts.flatten())
}

/// Timeouts by whether they were needed and what brought them about.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TimeoutCounts([[u64; Because::ALL.len()]; 2]);

impl TimeoutCounts {
    pub fn count(&mut self, timeout: &Timeout) {
        self.0[usize::from(timeout.is_needed)][timeout.because as usize] += 1;
    }
}

/// The metrics of these sums.
pub(super) fn metrics(parts: &Parts, timeouts: &TimeoutCounts) -> MetricSet {
    let total = parts.total();
    let share = |part: Duration| (!total.is_zero()).then(|| 100.0 * part.as_secs() / total.as_secs());
    let seconds = Cause::ALL.iter().map(|cause| (cause.metrics().0, Some(parts.of(*cause).as_secs())));
    let shares = Cause::ALL.iter().map(|cause| (cause.metrics().1, share(parts.of(*cause))));
    let counts = Because::ALL.iter().flat_map(|because| {
        let counted = |needed: usize| Some(timeouts.0[needed][*because as usize] as f64);
        let [spurious, needed] = because.metrics();
        [spurious.map(|name| (name, counted(0))), needed.map(|name| (name, counted(1)))]
    });
    let total = std::iter::once((TOTAL, Some(total.as_secs())));
    total.chain(seconds).chain(shares).chain(counts.flatten()).collect()
}
