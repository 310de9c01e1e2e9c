//! The log keeps time whatever is rewritten; the page in the docs knows every word. Whole runs are tested with the
//! simulation.

use std::path::Path;

use proptest::prelude::*;
use umts_units::{Duration, Time};

use super::log::Log;
use super::{Because, Cause};
use crate::metrics::Window;

fn at(ns: u64) -> Time {
    Time::from_nanos(ns)
}

fn log(from: u64, to: u64) -> Log {
    Log::new(Window::new(at(from), at(to)), true)
}

#[test]
fn a_silence_takes_the_place_of_what_it_covers() {
    let mut log = log(0, 100);
    log.push(at(0), at(10), Cause::Serialisation, None);
    log.push(at(10), at(30), Cause::RlcRecovery, Some(7));
    log.push(at(30), at(40), Cause::Serialisation, None);
    let covered: Vec<_> = log.between(at(5), at(25)).map(|interval| (interval.cause, interval.sn)).collect();
    assert_eq!(covered, [(Cause::Serialisation, None), (Cause::RlcRecovery, Some(7))]);
    log.rewrite(at(5), at(25), Cause::RtoNeeded);
    let (parts, _, intervals) = log.finish();
    let found: Vec<_> = intervals.iter().map(|i| (i.start, i.end, i.cause, i.sn)).collect();
    assert_eq!(
        found,
        [
            (at(0), at(5), Cause::Serialisation, None),
            (at(5), at(25), Cause::RtoNeeded, None),
            (at(25), at(30), Cause::RlcRecovery, Some(7)),
            (at(30), at(40), Cause::Serialisation, None),
        ]
    );
    assert_eq!(parts.of(Cause::Serialisation), Duration::from_nanos(15));
}

#[test]
fn the_page_in_the_docs_knows_every_cause_and_label() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/time-budget.md");
    let page = std::fs::read_to_string(page).expect("docs/reference/time-budget.md exists");
    let (causes, labels) = page.split_once("## Timeouts").expect("the page has a section on timeouts");
    let mut last = 0;
    for cause in Cause::ALL {
        let place = causes.find(&format!("| `{}` |", cause.name()));
        let place = place.unwrap_or_else(|| panic!("the page does not define {}", cause.name()));
        assert!(place > last, "{} stands in its order", cause.name());
        last = place;
    }
    for because in Because::ALL {
        assert!(labels.contains(&format!("`{}`", because.name())), "{}", because.name());
    }
}

proptest! {
    /// Whatever is pushed, rewritten and settled, the parts are the time that was pushed, and so are the intervals.
    #[test]
    fn nothing_is_lost_or_counted_twice(
        steps in prop::collection::vec((1_u64..50, 0..Cause::ALL.len(), 0_u64..60, 0_u64..60, 0_u64..90), 1..60),
        window in (0_u64..500, 0_u64..500),
    ) {
        let (from, to) = (window.0.min(window.1), window.0.max(window.1));
        let mut log = log(from, to);
        let mut now = 0;
        for (length, cause, back, shorter, settled) in steps {
            log.push(at(now), at(now + length), Cause::ALL[cause], None);
            now += length;
            let begin = now.saturating_sub(back);
            let end = now.saturating_sub(shorter);
            if begin < end {
                log.rewrite(at(begin), at(end), Cause::RtoSpurious);
            }
            log.settle(at(now.saturating_sub(settled)));
        }
        let (parts, in_window, intervals) = log.finish();
        prop_assert_eq!(parts.total(), Duration::from_nanos(now));
        let clipped = now.clamp(from, to) - 0_u64.clamp(from, to);
        prop_assert_eq!(in_window.total(), Duration::from_nanos(clipped));
        let mut place = at(0);
        for interval in &intervals {
            prop_assert!(interval.start == place && interval.end > place);
            place = interval.end;
        }
        prop_assert_eq!(place, at(now));
    }
}
