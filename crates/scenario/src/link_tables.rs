//! Link tables for `power.tables`: text files with lines `format,ebn0_db,bler`, one per point.
//!
//! A table gives the block error ratio of a transport format at an Eb/N0 in dB. The simulation then
//! uses it instead of the built-in curve of the format.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use umts_stack::radio::phy::LinkTable;

use crate::error::Problem;
use crate::model::{CONVERSATIONAL, DSCH, LinkTables, Scenario};
use crate::named_file::{NamedFile, WrongLine};
use crate::tree::{Node, Source};

/// Points of each format: Eb/N0 in dB and block error ratio.
type Points = BTreeMap<String, Vec<(f64, f64)>>;

/// Reads the link tables of every cell of `scenario`. Makes the files' names relative to the
/// scenario's folder.
pub(crate) fn read_all(scenario: &mut Scenario, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    let bearers = dch_bearers(scenario);
    for (i, cell) in scenario.cell.iter_mut().enumerate() {
        let formats = cell.dsch.clone().unwrap_or_default().format.len();
        let Some(power) = &mut cell.power else { continue };
        let Some(file) = &mut power.tables else { continue };
        let path = format!("cell.{i}.power.tables");
        let file_content = NamedFile::read(file, &path, tree, sources)?;
        let points = parse(&file_content.text()).map_err(|wrong| {
            file_content
                .wrong_line(&wrong)
                .help("a line is a format, an Eb/N0 in dB and a block error ratio, as in TF1,3.25,0.01")
        })?;
        let known: Vec<String> = (0..formats)
            .map(LinkTables::format)
            .chain([LinkTables::CALLS.to_owned()])
            .chain(bearers.iter().cloned())
            .collect();
        let mut tables = BTreeMap::new();
        for (format, points) in points {
            if !known.contains(&format) {
                let wrong = file_content.problem(&format!(": there is no format `{format}`"));
                return Err(wrong.help(format!("formats are {}", known.join(", "))));
            }
            let table = LinkTable::new(&points).map_err(|wrong| {
                file_content.problem(&format!(": the table of {format} is not valid: {wrong}")).help("write the points of a format in ascending order of Eb/N0, with descending block error ratios")
            })?;
            tables.insert(format, table);
        }
        power.links = Arc::new(LinkTables(tables));
        *file = file_content.name;
    }
    Ok(())
}

/// Names of the bearers of users, without those of DSCHs and calls.
fn dch_bearers(scenario: &Scenario) -> BTreeSet<String> {
    let users = scenario.ue.iter().filter(|ue| ![DSCH, CONVERSATIONAL].contains(&ue.bearer.as_str()));
    users.map(|ue| ue.bearer.clone()).collect()
}

/// Returns the points of each format.
fn parse(text: &str) -> Result<Points, WrongLine> {
    let mut points = Points::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if line.is_empty() || (points.is_empty() && fields == ["format", "ebn0_db", "bler"]) {
            continue;
        }
        let (format, point) = point(&fields).map_err(|message| WrongLine { number: index + 1, message })?;
        points.entry(format).or_default().push(point);
    }
    Ok(points)
}

/// Parses a line: the format, and its point.
fn point(fields: &[&str]) -> Result<(String, (f64, f64)), String> {
    let [format, ebn0_db, bler] = fields else {
        return Err(format!("{} fields instead of three", fields.len()));
    };
    let number = |text: &str, quantity: &str| {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| format!("`{text}` is not {quantity}"))
    };
    let (ebn0_db, ratio) = (number(ebn0_db, "an Eb/N0 in dB")?, number(bler, "a block error ratio")?);
    if !(0.0..=1.0).contains(&ratio) {
        return Err(format!("`{bler}` is not a block error ratio"));
    }
    Ok(((*format).to_owned(), (ebn0_db, ratio)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_gathered_by_format() {
        let text = "format,ebn0_db,bler\n# measured\nTF1, 1.0, 0.2\nTF2,0,0.5\nTF1,2.5,0.01 # target\n";
        let points = parse(text).expect("the input is valid");
        assert_eq!(points["TF1"], [(1.0, 0.2), (2.5, 0.01)]);
        assert_eq!(points["TF2"], [(0.0, 0.5)]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        // Text of a file, number of its first wrong line, message.
        for (text, number, message) in [
            ("TF1,1\n", 1, "2 fields instead of three"),
            ("TF1,1,0.1\nTF1,x,0.1\n", 2, "`x` is not an Eb/N0 in dB"),
            ("TF1,nan,0.1\n", 1, "`nan` is not an Eb/N0 in dB"),
            ("TF1,1,1.5\n", 1, "`1.5` is not a block error ratio"),
        ] {
            let wrong = WrongLine { number, message: message.to_owned() };
            assert_eq!(parse(text), Err(wrong), "{text}");
        }
    }
}
