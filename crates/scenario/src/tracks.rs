//! Tracks for `mobility.model = "track"`: text files with lines `TIME X Y`, in seconds and metres,
//! one per position.

use std::sync::Arc;

use umts_stack::environment::{Place, Track};
use umts_units::Duration;

use crate::error::Problem;
use crate::model::Scenario;
use crate::named_file::{NamedFile, WrongLine};
use crate::tree::{Node, Source};

/// Length of the longest run, in seconds.
const LATEST_S: f64 = 3.6e9;
/// Larger than any area, in metres.
const FARTHEST_M: f64 = 1e9;

/// Reads the tracks of all users of `scenario`. Makes the files' names relative to the scenario's
/// folder.
pub(crate) fn read_all(scenario: &mut Scenario, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    for (i, mobility) in scenario.ue.iter_mut().map(|ue| &mut ue.mobility).enumerate() {
        let Some((file, track)) = mobility.as_mut().and_then(|of| Some((of.file.as_mut()?, &mut of.track)))
        else {
            continue;
        };
        let path = format!("ue.{i}.mobility.file");
        let file_content = NamedFile::read(file, &path, tree, sources)?;
        let points = parse(&file_content.text()).map_err(|wrong| {
            file_content.wrong_line(&wrong).help(
                "a line is a time in seconds and a position in metres, as in 12.5 1040 980; the first time is 0"
                    .to_owned(),
            )
        })?;
        let read = Track::new(&points).ok_or_else(|| file_content.problem(" has no line with a position"))?;
        *track = Some(Arc::new(read));
        *file = file_content.name;
    }
    Ok(())
}

/// Returns the positions with the times at which the user reaches them.
fn parse(text: &str) -> Result<Vec<(Duration, Place)>, WrongLine> {
    let mut points: Vec<(Duration, Place)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.is_empty() {
            continue;
        }
        let wrong = |message: String| WrongLine { number: index + 1, message };
        let (at, place) = point(&fields).map_err(wrong)?;
        match points.last() {
            None if !at.is_zero() => {
                return Err(wrong(format!("a track must begin at 0, not at {}", fields[0])));
            }
            Some((previous, _)) if at <= *previous => {
                return Err(wrong(format!("{} is not after the line above", fields[0])));
            }
            _ => points.push((at, place)),
        }
    }
    Ok(points)
}

/// Parses a line: a time in seconds and a position in metres.
fn point(fields: &[&str]) -> Result<(Duration, Place), String> {
    let [time, x, y] = fields else {
        return Err(format!("{} words instead of three", fields.len()));
    };
    let at = time.parse().ok().filter(|at: &f64| (0.0..=LATEST_S).contains(at));
    let at = at.ok_or_else(|| format!("`{time}` is not a time of at least 0 seconds"))?;
    let metres = |field: &str| {
        let number = field.parse().ok().filter(|metres: &f64| metres.abs() <= FARTHEST_M);
        number.ok_or_else(|| format!("`{field}` is not a number of metres"))
    };
    Ok((Duration::from_secs_f64(at), Place { x: metres(x)?, y: metres(y)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_times_are_read() {
        let points =
            parse("# a walk\n0 100 200\n\n12.5 110 -5.5 # behind the border\n").expect("the input is valid");
        assert_eq!(points[1], (Duration::from_millis(12_500), Place { x: 110.0, y: -5.5 }));
        assert_eq!(points.len(), 2);
    }

    #[test]
    fn a_wrong_line_is_named() {
        // Text of a file, number of its first wrong line, part of the message.
        for (text, number, part) in [
            ("0 1 1\n5 2\n", 2, "2 words"),
            ("1 1 1\n", 1, "must begin at 0"),
            ("0 1 1\n5 1 1\n5 2 2\n", 3, "not after"),
            ("0 x 1\n", 1, "`x` is not a number of metres"),
            ("-1 1 1\n", 1, "not a time"),
            ("0 nan 1\n", 1, "not a number"),
        ] {
            let wrong = parse(text).expect_err(text);
            assert_eq!(wrong.number, number, "{text}");
            assert!(wrong.message.contains(part), "{}", wrong.message);
        }
        assert_eq!(parse("# nothing\n"), Ok(Vec::new()));
    }
}
