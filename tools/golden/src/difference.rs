//! Comparison of two goldens of one scenario.

use std::fmt;

use crate::golden::{Golden, Line};
use crate::metrics::OMITTED;

/// The first line that differs, and the number of other differing lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The run of the line.
    pub run: String,
    /// Name of the line.
    pub name: String,
    /// Golden value. `None` if the line is new.
    pub was: Option<String>,
    /// Current value. `None` if the line is gone.
    pub is: Option<String>,
    /// Number of other lines that differ.
    pub others: usize,
}

/// Compares line by line. Returns `None` if all lines are equal and in the same order.
pub fn difference(was: &Golden, is: &Golden) -> Option<Difference> {
    let mut changes: Vec<Difference> = changed(was, is).chain(gone(was, is)).collect();
    // The digest of the metrics without a line has no names: any other line says more.
    changes.sort_by_key(|change| change.name == OMITTED);
    if let Some(first) = changes.first() {
        return Some(Difference { others: changes.len() - 1, ..first.clone() });
    }
    let (was, is) = was.lines.iter().zip(&is.lines).find(|(was, is)| was != is)?;
    let first = |line: &Line| Some(format!("{} first", line.name));
    Some(Difference { name: "order of lines".to_owned(), was: first(was), is: first(is), ..new_line(is) })
}

/// Returns the lines with another value and the new lines.
fn changed<'a>(was: &'a Golden, is: &'a Golden) -> impl Iterator<Item = Difference> + 'a {
    is.lines.iter().filter_map(|line| {
        let before = same_line(was, line).map(|line| line.value.clone());
        (before.as_ref() != Some(&line.value)).then(|| Difference { was: before, ..new_line(line) })
    })
}

/// Returns the lines that only the old golden has.
fn gone<'a>(was: &'a Golden, is: &'a Golden) -> impl Iterator<Item = Difference> + 'a {
    let lost = was.lines.iter().filter(|line| same_line(is, line).is_none());
    lost.map(|line| Difference { was: Some(line.value.clone()), is: None, ..new_line(line) })
}

/// Returns the line of `golden` with the same run and name.
fn same_line<'a>(golden: &'a Golden, line: &Line) -> Option<&'a Line> {
    golden.lines.iter().find(|other| other.name == line.name && other.run == line.run)
}

/// Returns the difference of a line that only the new golden has.
fn new_line(line: &Line) -> Difference {
    let Line { run, name, value } = line.clone();
    Difference { run, name, was: None, is: Some(value), others: 0 }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ", self.run, self.name)?;
        match (&self.was, &self.is) {
            (Some(was), Some(is)) => write!(f, "was {was}, is {is}")?,
            (Some(was), None) => write!(f, "was {was}, is gone")?,
            (None, is) => write!(f, "is new: {}", is.as_deref().unwrap_or_default())?,
        }
        match self.others {
            0 => Ok(()),
            1 => f.write_str("; 1 other line differs"),
            others => write!(f, "; {others} other lines differ"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden(lines: &[(&str, &str)]) -> Golden {
        let mut golden = Golden::default();
        for (name, value) in lines {
            golden.add("seed 1, recorded", *name, *value);
        }
        golden
    }

    /// Returns the text of the difference, which is empty if there is none.
    fn report(was: &[(&str, &str)], is: &[(&str, &str)]) -> String {
        difference(&golden(was), &golden(is)).map_or_else(String::new, |difference| difference.to_string())
    }

    #[test]
    fn equal_goldens_do_not_differ() {
        assert_eq!(report(&[("events", "1"), ("trace", "a")], &[("events", "1"), ("trace", "a")]), "");
    }

    #[test]
    fn first_difference_is_shown_and_others_are_counted() {
        let was = [("events", "1"), ("trace", "a"), ("metric.rtt", "0.5"), ("metric.old", "2.0")];
        let is = [("events", "1"), ("trace", "b"), ("metric.rtt", "null"), ("metric.new", "3.0")];
        assert_eq!(report(&was, &is), "seed 1, recorded: trace was a, is b; 3 other lines differ");
        assert_eq!(
            report(&was[..3], &[was[0], is[1], was[2], is[3]]),
            "seed 1, recorded: trace was a, is b; 1 other line differs"
        );
    }

    #[test]
    fn new_and_lost_lines_are_differences() {
        assert_eq!(report(&[("a", "1")], &[("a", "1"), ("b", "2")]), "seed 1, recorded: b is new: 2");
        assert_eq!(report(&[("a", "1"), ("b", "2")], &[("a", "1")]), "seed 1, recorded: b was 2, is gone");
    }

    #[test]
    fn digest_of_omitted_metrics_is_shown_last() {
        let was = [(OMITTED, "1 of 0"), ("metric.rtt", "0.5")];
        let is = [(OMITTED, "2 of 0")];
        assert_eq!(report(&was, &is), "seed 1, recorded: metric.rtt was 0.5, is gone; 1 other line differs");
    }

    #[test]
    fn another_order_is_a_difference() {
        let (was, is) = ([("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")]);
        assert_eq!(report(&was, &is), "seed 1, recorded: order of lines was a first, is b first");
    }

    #[test]
    fn lines_are_compared_within_their_run() {
        let [mut was, mut is] = [Golden::default(), Golden::default()];
        for run in ["seed 1, recorded", "seed 2, recorded"] {
            was.add(run, "events", "1");
            is.add(run, "events", if run.contains('2') { "2" } else { "1" });
        }
        let report = difference(&was, &is).expect("they differ").to_string();
        assert_eq!(report, "seed 2, recorded: events was 1, is 2");
    }
}
