//! Link traces of the HS-DSCH: text files with a line for each TTI of 2 ms, three received powers in dB
//! and a CQI.

use umts_stack::mac::hs::{LinkTrace, POWERS, TraceTti};
use umts_stack::radio::mac::hs::category::MAX_CQI;

use crate::error::Problem;
use crate::model::Scenario;
use crate::named_file::{NamedFile, WrongLine};
use crate::tree::{Node, Source};

/// Powers in dB of more than this are refused: the file has another unit.
const MAX_POWER_DB: f64 = 200.0;

/// Reads the link traces of `scenario`. Makes their names relative to the scenario's folder.
pub(crate) fn read_all(scenario: &mut Scenario, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    for (i, ue) in scenario.ue.iter_mut().enumerate() {
        let Some(hs) = &mut ue.hs_dsch else { continue };
        let Some(file) = &mut hs.trace else { continue };
        let path = format!("ue.{i}.hs_dsch.trace");
        let file_content = NamedFile::read(file, &path, tree, sources)?;
        let ttis = parse(&file_content.text()).map_err(|wrong| {
            file_content.wrong_line(&wrong).help(
                "a line has three received powers in dB and a CQI from 0 to 30, as in 5.00 8.01 9.77 21"
                    .to_owned(),
            )
        })?;
        if ttis.is_empty() {
            return Err(file_content.problem(" has no line with powers and a CQI"));
        }
        hs.link_trace = LinkTrace::new(ttis);
        *file = file_content.name;
    }
    Ok(())
}

/// Returns the TTIs. Comments begin with `#` or `%`.
fn parse(text: &str) -> Result<Vec<TraceTti>, WrongLine> {
    let mut ttis = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split(['#', '%']).next().unwrap_or_default();
        let fields: Vec<&str> = line.split_whitespace().collect();
        if !fields.is_empty() {
            ttis.push(tti(&fields).map_err(|message| WrongLine { number: index + 1, message })?);
        }
    }
    Ok(ttis)
}

/// Parses a line.
fn tti(fields: &[&str]) -> Result<TraceTti, String> {
    let [powers @ .., cqi] = fields else { return Err("an empty line".to_owned()) };
    if powers.len() != POWERS {
        return Err(format!("{} numbers instead of {}", fields.len(), POWERS + 1));
    }
    let mut powers_db = [0.0; POWERS];
    for (power, field) in powers_db.iter_mut().zip(powers) {
        let number = field.parse().ok().filter(|db: &f64| db.abs() <= MAX_POWER_DB);
        *power = number.ok_or_else(|| format!("`{field}` is not a power in dB from -200 to 200"))?;
    }
    let known = cqi.parse().ok().filter(|cqi| *cqi <= MAX_CQI);
    let cqi = known.ok_or_else(|| format!("`{cqi}` is not a CQI from 0 to 30"))?;
    Ok(TraceTti { powers_db, cqi })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_three_powers_and_a_cqi() {
        let ttis = parse("% EURANE\n5 8.01 9.77 21\n\n-3.5 -0.5 1.2\t0 # deep fade\r\n").unwrap();
        let expected = [
            TraceTti { powers_db: [5.0, 8.01, 9.77], cqi: 21 },
            TraceTti { powers_db: [-3.5, -0.5, 1.2], cqi: 0 },
        ];
        assert_eq!(ttis, expected);
    }

    #[test]
    fn wrong_lines_are_reported_with_their_number() {
        // Text of a file, number of its first wrong line, message.
        for (text, number, message) in [
            ("1 2 3", 1, "3 numbers instead of 4"),
            ("1 2 3 4\n1 2 3 4 5", 2, "5 numbers instead of 4"),
            ("# powers\nx 2 3 4", 2, "`x` is not a power in dB from -200 to 200"),
            ("1 nan 3 4", 1, "`nan` is not a power in dB from -200 to 200"),
            ("1 2 3 31", 1, "`31` is not a CQI from 0 to 30"),
            ("1 2 3 -1", 1, "`-1` is not a CQI from 0 to 30"),
            ("1 2 3 7.5", 1, "`7.5` is not a CQI from 0 to 30"),
        ] {
            let wrong = WrongLine { number, message: message.to_owned() };
            assert_eq!(parse(text), Err(wrong), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([0-9.e+-]{0,6} ){0,5}(.{0,4})\n?([0-9]{0,4} )*") {
            let _ = parse(&text);
        }

        #[test]
        fn written_traces_are_read_back(
            lines in proptest::collection::vec((-5_000_i32..5_000, 0..3_000_i32, 0..=30_u8), 0..50),
        ) {
            let of_hundredths = |hundredths: i32| f64::from(hundredths) / 100.0;
            let ttis: Vec<_> = lines
                .into_iter()
                .map(|(first, gain, cqi)| {
                    let powers_db = [first, first + gain / 2, first + gain].map(of_hundredths);
                    TraceTti { powers_db, cqi }
                })
                .collect();
            let text = LinkTrace::new(ttis.clone()).to_text();
            prop_assert_eq!(parse(&text), Ok(ttis));
        }
    }
}
