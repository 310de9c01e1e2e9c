//! A golden file: one line per number, so that a diff of two versions shows which one changed.

use std::fmt;

/// A number or a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The run: for example `"seed 1, whole length"`.
    pub run: String,
    /// Name of the value: for example `"metric.goodput_kbps"`.
    pub name: String,
    /// The value, in full precision.
    pub value: String,
}

/// Results of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Golden {
    /// Lines, grouped by run.
    pub lines: Vec<Line>,
}

impl Golden {
    /// Adds a line.
    pub fn add(&mut self, run: &str, name: impl Into<String>, value: impl Into<String>) {
        self.lines.push(Line { run: run.to_owned(), name: name.into(), value: value.into() });
    }

    /// Parses a golden file.
    ///
    /// # Errors
    /// A description of the first line that is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut golden = Golden::default();
        let mut run = None;
        for (number, line) in (1..).zip(text.lines()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(heading) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                run = Some(heading);
                continue;
            }
            match (run, line.split_once(" = ")) {
                (None, _) => return Err(format!("line {number}: a [run] comes first, not {line:?}")),
                (_, None) => return Err(format!("line {number}: {line:?} is not of the form NAME = VALUE")),
                (Some(run), Some((name, value))) => golden.add(run, name, value),
            }
        }
        Ok(golden)
    }
}

impl fmt::Display for Golden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "# Written by `UMTS_BLESS=1 make golden`; tools/golden/src/lib.rs says what the lines are.\n",
        )?;
        let mut run = "";
        for line in &self.lines {
            if line.run != run {
                run = &line.run;
                write!(f, "\n[{run}]\n")?;
            }
            writeln!(f, "{} = {}", line.name, line.value)?;
        }
        Ok(())
    }
}

/// Formats a metric as the shortest decimal that parses to the same bits.
pub fn exact(value: Option<f64>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| format!("{value:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_golden_parses_to_the_same_value() {
        let mut golden = Golden::default();
        golden.add("seed 1, whole length", "events", "12");
        golden.add("seed 1, whole length", "metric.goodput_kbps", exact(Some(0.1 + 0.2)));
        golden.add("seed 2, recorded", "metric.goodput_kbps", exact(None));
        assert!(golden.to_string().contains("\n[seed 2, recorded]\nmetric.goodput_kbps = null\n"));
        assert_eq!(Golden::parse(&golden.to_string()), Ok(golden));
    }

    #[test]
    fn metrics_are_exact_to_the_bit() {
        for value in [0.1 + 0.2, 1e300, 5e-324, -0.0, 29.344_312_5_f64.next_down()] {
            let read: f64 = exact(Some(value)).parse().expect("a number");
            assert_eq!(read.to_bits(), value.to_bits());
        }
    }

    #[test]
    fn invalid_lines_are_reported_with_their_number() {
        assert_eq!(
            Golden::parse("events = 1\n"),
            Err("line 1: a [run] comes first, not \"events = 1\"".to_owned())
        );
        let conflict = Golden::parse("[seed 1]\n<<<<<<< HEAD\n");
        assert_eq!(conflict, Err("line 2: \"<<<<<<< HEAD\" is not of the form NAME = VALUE".to_owned()));
    }
}
