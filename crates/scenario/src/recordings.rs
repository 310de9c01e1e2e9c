//! Recordings for `traffic = "replay"`: text files with lines `TIME BYTES DIRECTION`, one per
//! transmission.

use umts_stack::ids::Direction;
use umts_units::Duration;

use crate::error::Problem;
use crate::model::{Record, Scenario, Traffic, Transport};
use crate::named_file::{NamedFile, WrongLine};
use crate::tree::{Node, Source};

/// Largest payload of UDP over IPv4, in octets.
const LARGEST_DATAGRAM: u32 = 65_507;
/// Latest time of a record: the length of the longest run, in seconds.
const MAX_TIME_S: f64 = 3.6e9;

/// Reads the files of all recordings in `scenario`. Makes their names relative to the scenario's
/// folder.
pub(crate) fn read_all(scenario: &mut Scenario, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    for (i, flow) in scenario.flow.iter_mut().enumerate() {
        let Traffic::Replay(replay) = &mut flow.traffic else { continue };
        let path = format!("flow.{i}.replay.file");
        let file_content = NamedFile::read(&replay.file, &path, tree, sources)?;
        let max_octets = if replay.transport == Transport::Udp { LARGEST_DATAGRAM } else { u32::MAX };
        let records = parse(&file_content.text(), max_octets).map_err(|wrong| {
            file_content.wrong_line(&wrong).help(
                "a line is a time in seconds, a number of bytes and `down` or `up`, as in 0.125 1460 down"
                    .to_owned(),
            )
        })?;
        if records.is_empty() {
            return Err(file_content.problem(" has no line to send"));
        }
        replay.records = records.into();
        replay.file = file_content.name;
    }
    Ok(())
}

/// Returns the records.
fn parse(text: &str, max_octets: u32) -> Result<Vec<Record>, WrongLine> {
    let mut records: Vec<Record> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.is_empty() {
            continue;
        }
        let wrong = |message: String| WrongLine { number: index + 1, message };
        let record = record(&fields, max_octets).map_err(wrong)?;
        if records.last().is_some_and(|last| record.at < last.at) {
            return Err(wrong(format!("{} is before the line above", fields[0])));
        }
        records.push(record);
    }
    Ok(records)
}

/// Parses a line.
fn record(fields: &[&str], max_octets: u32) -> Result<Record, String> {
    let &[time, octets, direction] = fields else {
        return Err(format!("{} words instead of three", fields.len()));
    };
    let at = time.parse().ok().filter(|at: &f64| (0.0..=MAX_TIME_S).contains(at));
    let at = at.ok_or_else(|| format!("`{time}` is not a time of at least 0 seconds"))?;
    let bytes = octets.parse().ok().filter(|number| (1..=max_octets).contains(number));
    let bytes = bytes.ok_or_else(|| format!("`{octets}` is not a number of bytes from 1 to {max_octets}"))?;
    let direction = match direction {
        "down" => Direction::Downlink,
        "up" => Direction::Uplink,
        other => return Err(format!("`{other}` is neither down nor up")),
    };
    Ok(Record { at: Duration::from_secs_f64(at), bytes, direction })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_times_bytes_and_directions() {
        let text = "# a comment\n0 100 down\n\n0.125 65507 up # voice\r\n0.125 1 down";
        let at = Duration::from_millis(125);
        let expected = [
            Record { at: Duration::ZERO, bytes: 100, direction: Direction::Downlink },
            Record { at, bytes: 65_507, direction: Direction::Uplink },
            Record { at, bytes: 1, direction: Direction::Downlink },
        ];
        assert_eq!(parse(text, LARGEST_DATAGRAM), Ok(expected.to_vec()));
    }

    #[test]
    fn wrong_lines_are_reported_with_their_number() {
        // Text of a file, number of its first wrong line, message.
        for (text, number, message) in [
            ("0 1 down\n1 1", 2, "2 words instead of three"),
            ("-1 1 down", 1, "`-1` is not a time of at least 0 seconds"),
            ("nan 1 down", 1, "`nan` is not a time of at least 0 seconds"),
            ("0 0 down", 1, "`0` is not a number of bytes from 1 to 65507"),
            ("0 65508 down", 1, "`65508` is not a number of bytes from 1 to 65507"),
            ("0 1 left", 1, "`left` is neither down nor up"),
            ("\n1 1 up\n0.5 1 up", 3, "0.5 is before the line above"),
        ] {
            let wrong = WrongLine { number, message: message.to_owned() };
            assert_eq!(parse(text, LARGEST_DATAGRAM), Err(wrong), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([0-9.e+-]{0,8} ){0,3}(down|up|.{0,4})\n?([0-9]{0,12} )*") {
            let _ = parse(&text, LARGEST_DATAGRAM);
        }

        #[test]
        fn written_lines_are_read_back(lines in proptest::collection::vec((0u32..1000, 1u32..65_507, any::<bool>()), 0..50)) {
            let mut at = Duration::ZERO;
            let (mut text, mut expected) = (String::new(), Vec::new());
            for (wait, bytes, is_downlink) in lines {
                at += Duration::from_millis(u64::from(wait));
                let (field, direction) =
                    if is_downlink { ("down", Direction::Downlink) } else { ("up", Direction::Uplink) };
                text += &format!("{} {bytes} {field}\n", at.as_secs());
                expected.push(Record { at, bytes, direction });
            }
            prop_assert_eq!(parse(&text, LARGEST_DATAGRAM), Ok(expected));
        }
    }
}
