//! Metrics of the time budget, their definitions and their values: seconds and shares of each
//! cause, and timeouts by their reasons. Definitions and values are in the same order.

use umts_stack::ids::ProxyLeg;
use umts_units::Duration;

use super::cause::{Cause, Parts};
use super::loss::Loss;
use super::rto::{Timeout, TimeoutReason};
use super::transfers::TransferParts;
use crate::metrics::{Definition, MetricSet, Scope};

const TOTAL: &str = "budget_total_s";
const SPURIOUS_SILENCE: &str = "budget_spurious_silence_s";

/// All metrics of the budget, in the order of the results.
pub fn definitions() -> impl Iterator<Item = Definition> {
    let definition = |(name, label), unit, meaning, numerator, denominator| Definition {
        name,
        label,
        unit,
        scope: Scope::Budget,
        meaning,
        numerator,
        denominator,
    };
    let total = definition(
        (TOTAL, "Time with a connection open"),
        "s",
        "Time in which connections were open: the sum of the causes.",
        "close (or end of the run) - open, summed over connections",
        "",
    );
    let parts = Cause::ALL.iter().map(move |cause| {
        definition(
            (cause.time_metric(), cause.label()),
            "s",
            cause.meaning(),
            "time with this cause, summed over connections",
            "",
        )
    });
    let shares = Cause::ALL.iter().map(move |cause| {
        definition((cause.share_metric(), cause.label()), "%", cause.meaning(), cause.time_metric(), TOTAL)
    });
    let needed = Loss::ALL.iter().map(move |loss| {
        let (name, label, meaning) = loss.needed_metric();
        definition((name, label), "s", meaning, "time with this cause, summed over connections", "")
    });
    let silence = definition(
        (SPURIOUS_SILENCE, "Silence before spurious RTOs"),
        "s",
        "Silence of a sender before spurious retransmission timeouts. This time is also part of the causes of the delay.",
        "expiry - last segment sent or received by the sender, summed over timeouts",
        "",
    );
    let timeouts = TimeoutReason::ALL.iter().flat_map(move |reason| {
        let [spurious, needed] = reason.metrics();
        let [spurious_label, needed_label] = reason.labels();
        let count = |name, label, counted| definition((name, label), "1", reason.meaning(), counted, "");
        [
            spurious.map(|name| count(name, spurious_label, "spurious timeouts")),
            needed.map(|name| count(name, needed_label, "needed timeouts")),
        ]
    });
    let whole = std::iter::once(total).chain(parts).chain(shares).chain(needed).chain([silence]);
    whole.chain(timeouts.flatten()).chain(transfer_definitions())
}

/// Names, labels and meanings of the metrics of transfers that belong to no leg.
const TRANSFER: [(&str, &str, &str); 3] = [
    (
        "transfer_budget_total_s",
        "Time of split transfers",
        "Time in which transfers that a proxy splits were open: the sum of the parts.",
    ),
    (
        "transfer_budget_proxy_queue_s",
        "Transfers: in the proxy",
        "The next octet for the receiver is in the proxy, and the connection towards the receiver could send it.",
    ),
    (
        "transfer_budget_proxy_setup_s",
        "Transfers: handshake of the second connection",
        "The transfer waits for the handshake of the connection that the proxy opens.",
    ),
];

/// Metrics of transfers that a proxy splits.
fn transfer_definitions() -> impl Iterator<Item = Definition> {
    let definition = |name, label, meaning| Definition {
        name,
        label,
        unit: "s",
        scope: Scope::Transfers,
        meaning,
        numerator: "time, summed over transfers",
        denominator: "",
    };
    let whole = TRANSFER.into_iter().map(move |(name, label, meaning)| definition(name, label, meaning));
    let legs = [0, 1].into_iter().flat_map(move |leg| {
        Cause::ALL.iter().map(move |cause| {
            definition(cause.transfer_metrics()[leg], cause.transfer_labels()[leg], cause.meaning())
        })
    });
    whole.chain(legs)
}

/// Values of the metrics of transfers.
pub(super) fn transfer_metrics(parts: &TransferParts) -> MetricSet {
    let whole = [parts.total(), parts.queue(), parts.setup()];
    let names = TRANSFER.iter().zip(whole).map(|((name, ..), time)| (*name, Some(time.as_secs())));
    let legs = [ProxyLeg::Server, ProxyLeg::Radio].into_iter().enumerate().flat_map(|(index, leg)| {
        let seconds = move |cause: Cause| Some(parts.of(leg, cause).as_secs());
        Cause::ALL.iter().map(move |cause| (cause.transfer_metrics()[index], seconds(*cause)))
    });
    names.chain(legs).collect()
}

/// Numbers of timeouts, by whether they were needed and by reason.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TimeoutCounts {
    /// Index 0: spurious timeouts; index 1: needed timeouts.
    by_reason: [[u64; TimeoutReason::ALL.len()]; 2],
    spurious_silence: Duration,
}

impl TimeoutCounts {
    pub fn count(&mut self, timeout: &Timeout) {
        self.by_reason[usize::from(timeout.is_needed)][timeout.reason as usize] += 1;
        if !timeout.is_needed {
            self.spurious_silence += timeout.at - timeout.silent_since;
        }
    }
}

/// Values of the metrics of connections.
pub(super) fn metrics(parts: &Parts, timeouts: &TimeoutCounts) -> MetricSet {
    let total = parts.total();
    let share = |part: Duration| (!total.is_zero()).then(|| 100.0 * part.as_secs() / total.as_secs());
    let seconds = Cause::ALL.iter().map(|cause| (cause.time_metric(), Some(parts.of(*cause).as_secs())));
    let shares = Cause::ALL.iter().map(|cause| (cause.share_metric(), share(parts.of(*cause))));
    let counts = TimeoutReason::ALL.iter().flat_map(|reason| {
        let [spurious_counts, needed_counts] = timeouts.by_reason;
        let [spurious, needed] = reason.metrics();
        [
            spurious.map(|name| (name, Some(spurious_counts[*reason as usize] as f64))),
            needed.map(|name| (name, Some(needed_counts[*reason as usize] as f64))),
        ]
    });
    let total = std::iter::once((TOTAL, Some(total.as_secs())));
    let needed =
        Loss::ALL.iter().map(|loss| (loss.needed_metric().0, Some(parts.needed_after(*loss).as_secs())));
    let silence = (SPURIOUS_SILENCE, Some(timeouts.spurious_silence.as_secs()));
    total.chain(seconds).chain(shares).chain(needed).chain([silence]).chain(counts.flatten()).collect()
}
