//! Capacity traces in mahimahi's format: one time in milliseconds per line, each an opportunity for
//! 1,500 octets.

use umts_stack::radio::capacity::CapacityTrace;
use umts_units::Duration;

use crate::check::Traces;
use crate::error::Problem;
use crate::model::Scenario;
use crate::named_file::{NamedFile, WrongLine};
use crate::tree::{Node, Source};

/// A longer gap between two opportunities causes a warning.
const MAX_GAP_WITHOUT_WARNING: Duration = Duration::from_secs(10);

/// Reads the traces of every measured radio in `scenario`, and returns them by user group. Makes
/// the files' names relative to the scenario's folder.
pub(crate) fn read_all(scenario: &mut Scenario, tree: &Node, sources: &[Source]) -> Result<Traces, Problem> {
    let groups = scenario.ue.iter_mut().enumerate();
    let traces = groups.map(|(i, ue)| {
        let Some(capacity) = &mut ue.capacity else { return Ok(None) };
        let path = |direction: &str| format!("ue.{i}.capacity.{direction}");
        Ok(Some([
            read(&mut capacity.downlink, &path("downlink"), tree, sources)?,
            read(&mut capacity.uplink, &path("uplink"), tree, sources)?,
        ]))
    });
    traces.collect()
}

/// Reads the trace at `path`. Makes its name relative to the scenario's folder.
fn read(file: &mut String, path: &str, tree: &Node, sources: &[Source]) -> Result<CapacityTrace, Problem> {
    let file_content = NamedFile::read(file, path, tree, sources)?;
    let trace = parse(&file_content.bytes).map_err(|wrong| {
        file_content.wrong_line(&wrong).help(
            "a line is the time of an opportunity to send 1,500 octets: a whole number of milliseconds, not below the line above"
                .to_owned(),
        )
    })?;
    *file = file_content.name;
    Ok(trace)
}

/// The longest time between two opportunities of a trace, which repeats at its end, if it is longer
/// than [`MAX_GAP_WITHOUT_WARNING`].
pub(crate) fn long_gap(trace: &[u32]) -> Option<Duration> {
    let from_zero = std::iter::once(0).chain(trace.iter().copied());
    let longest = from_zero.zip(trace).map(|(before, at)| at - before).max()?;
    Some(Duration::from_millis(u64::from(longest))).filter(|gap| *gap > MAX_GAP_WITHOUT_WARNING)
}

/// Returns the opportunities.
fn parse(bytes: &[u8]) -> Result<CapacityTrace, WrongLine> {
    let text = String::from_utf8_lossy(bytes);
    let mut trace: Vec<u32> = Vec::new();
    let mut number = 0;
    for line in text.trim_end().lines() {
        number += 1;
        let at = line.trim().parse().map_err(|_| {
            let excerpt: String = line.chars().take(20).collect();
            let message = format!("`{}` is not a number of milliseconds below 2^32", excerpt.escape_debug());
            WrongLine { number, message }
        })?;
        if let Some(before) = trace.last().filter(|before| at < **before) {
            return Err(WrongLine { number, message: format!("{at} is before {before} in the line above") });
        }
        trace.push(at);
    }
    if trace.is_empty() {
        return Err(WrongLine { number: 1, message: "the file is empty".to_owned() });
    }
    CapacityTrace::new(trace).ok_or_else(|| {
        let message = "the trace ends at 0: the last line is its length and must be above 0".to_owned();
        WrongLine { number, message }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_line_is_an_opportunity() {
        assert_eq!(parse(b"0\n3\r\n3\n10\n\n").unwrap().milliseconds(), [0, 3, 3, 10]);
    }

    #[test]
    fn wrong_lines_are_reported_with_their_number() {
        // Contents of a file, number of its first wrong line, message.
        for (text, number, message) in [
            ("", 1, "the file is empty"),
            ("1\n\n2", 2, "`` is not a number of milliseconds below 2^32"),
            ("1\n2.5", 2, "`2.5` is not a number of milliseconds below 2^32"),
            ("-1", 1, "`-1` is not a number of milliseconds below 2^32"),
            ("4294967296", 1, "`4294967296` is not a number of milliseconds below 2^32"),
            ("5\n4", 2, "4 is before 5 in the line above"),
            ("0\n0", 2, "the trace ends at 0: the last line is its length and must be above 0"),
        ] {
            let wrong = WrongLine { number, message: message.to_owned() };
            assert_eq!(parse(text.as_bytes()), Err(wrong), "{text:?}");
        }
    }

    #[test]
    fn a_long_gap_is_also_found_at_the_beginning() {
        // Times in milliseconds. The first gap begins at 0; gaps up to 10 s are not reported.
        assert_eq!(long_gap(&[1, 9_000, 18_000]), None);
        assert_eq!(long_gap(&[11_000, 11_001]), Some(Duration::from_secs(11)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn written_lines_are_read_back(mut trace in proptest::collection::vec(1u32.., 1..50)) {
            trace.sort_unstable();
            let text: String = trace.iter().map(|at| format!("{at}\n")).collect();
            let parsed = parse(text.as_bytes()).unwrap();
            prop_assert_eq!(parsed.milliseconds(), trace);
        }
    }
}
