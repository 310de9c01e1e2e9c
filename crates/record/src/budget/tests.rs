//! Tests of the log of waits, and of the causes and labels in the reference page. The tests of the
//! simulation check the budgets of whole runs.

use std::path::Path;

use proptest::prelude::*;
use umts_units::{Duration, Time};

use super::log::{FinishedLog, Log, WaitCause};
use super::{Cause, Loss, TimeoutReason};
use crate::metrics::Window;

fn at(ns: u64) -> Time {
    Time::from_nanos(ns)
}

/// A log with a window of the metrics between two times in nanoseconds, which keeps its intervals.
fn log(from: u64, to: u64) -> Log {
    let keeps_intervals = true;
    Log::new(Window::new(at(from), at(to)), keeps_intervals)
}

/// The wait for the retransmission of a lost packet.
fn lost(loss: Loss) -> WaitCause {
    WaitCause { cause: Cause::CoreLoss, sn: None, loss: Some(loss) }
}

/// The connection waits for a lost packet from 20 ns to 40 ns, and the wait that a timer ends began
/// at 25 ns.
#[test]
fn a_timer_relabels_the_wait_for_the_lost_packet_and_nothing_before() {
    let mut log = log(0, 100);
    log.push(at(0), at(10), Cause::Serialisation.into());
    log.push(at(10), at(20), WaitCause { sn: Some(7), ..Cause::RlcRecovery.into() });
    log.push(at(20), at(30), lost(Loss::CoreLoss));
    log.push(at(30), at(40), lost(Loss::CoreDrop));
    log.relabel_timer_wait(at(25));
    log.push(at(40), at(50), Cause::Serialisation.into());
    let FinishedLog { parts, intervals, .. } = log.finish();
    let logged: Vec<_> = intervals.iter().map(|i| (i.start, i.end, i.cause, i.sn, i.loss)).collect();
    assert_eq!(
        logged,
        [
            (at(0), at(10), Cause::Serialisation, None, None),
            (at(10), at(20), Cause::RlcRecovery, Some(7), None),
            (at(20), at(25), Cause::CoreLoss, None, Some(Loss::CoreLoss)),
            (at(25), at(30), Cause::RtoNeeded, None, Some(Loss::CoreLoss)),
            (at(30), at(40), Cause::RtoNeeded, None, Some(Loss::CoreDrop)),
            (at(40), at(50), Cause::Serialisation, None, None),
        ]
    );
    assert_eq!(parts.of(Cause::RtoNeeded), Duration::from_nanos(15));
    assert_eq!(parts.needed_after(Loss::CoreDrop), Duration::from_nanos(10));
}

#[test]
fn reference_page_lists_every_cause_and_reason() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/time-budget.md");
    let page = std::fs::read_to_string(page).expect("docs/reference/time-budget.md exists");
    let (causes, labels) = page.split_once("## Timeouts").expect("the page has a section on timeouts");
    let mut previous_offset = 0;
    for cause in Cause::ALL {
        let offset = causes.find(&format!("| `{}` |", cause.name()));
        let offset = offset.unwrap_or_else(|| panic!("the page does not define {}", cause.name()));
        assert!(offset > previous_offset, "{} stands in its order", cause.name());
        previous_offset = offset;
    }
    for reason in TimeoutReason::ALL {
        assert!(labels.contains(&format!("`{}`", reason.name())), "{}", reason.name());
    }
}

proptest! {
    /// For all sequences of pushes, relabellings and settlements, both the parts and the intervals
    /// add up to the pushed time. A step is the length of the wait, its cause, how long before the
    /// end a relabelled wait began (0: none), and how long before the end the log is settled.
    #[test]
    fn nothing_is_lost_or_counted_twice(
        steps in prop::collection::vec((1_u64..50, 0..Cause::ALL.len(), 0_u64..60, 0_u64..90), 1..60),
        (one_bound, other_bound) in (0_u64..500, 0_u64..500),
    ) {
        let (from, to) = (one_bound.min(other_bound), one_bound.max(other_bound));
        let mut log = log(from, to);
        let mut now = 0;
        for (length, cause, relabelled, unsettled) in steps {
            log.push(at(now), at(now + length), Cause::ALL[cause].into());
            now += length;
            if relabelled > 0 {
                log.relabel_timer_wait(at(now.saturating_sub(relabelled)));
            }
            log.settle(at(now.saturating_sub(unsettled)));
        }
        let FinishedLog { parts, in_window, intervals } = log.finish();
        prop_assert_eq!(parts.total(), Duration::from_nanos(now));
        // The log covers 0 to `now`. Its part inside the window:
        let overlap = now.min(to).saturating_sub(from);
        prop_assert_eq!(in_window.total(), Duration::from_nanos(overlap));
        let mut end = at(0);
        for interval in &intervals {
            prop_assert!(interval.start == end && interval.end > end);
            end = interval.end;
        }
        prop_assert_eq!(end, at(now));
    }
}
