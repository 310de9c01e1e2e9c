//! Step functions of time, one per key, of which only the changes are kept.
//!
//! Of several changes at one instant the last one stays: an acknowledgment that lets a new segment leave at once does
//! not change the data outstanding, and makes no row.

use umts_units::Time;

use super::table::{Column, Values};

#[derive(Debug, Default)]
pub(super) struct Steps {
    time_s: Vec<f64>,
    key: Vec<u32>,
    value: Vec<f64>,
    last: Vec<Last>,
}

/// The present value of one key, and the one before it.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    row: usize,
    since: Time,
    value: Option<f64>,
    before: Option<f64>,
}

impl Steps {
    /// The value of `key` is `value` from `at` on.
    pub fn set(&mut self, at: Time, key: usize, value: f64) {
        if key >= self.last.len() {
            self.last.resize(key + 1, Last::default());
        }
        let last = &mut self.last[key];
        if last.value == Some(value) {
            return;
        }
        if last.value.is_none() || last.since != at {
            *last = Last { row: self.value.len(), since: at, value: Some(value), before: last.value };
            self.time_s.push(at.as_secs());
            self.key.push(u32::try_from(key).expect("keys are numbers of connections and users"));
            self.value.push(value);
        } else if last.before == Some(value) && last.row + 1 == self.value.len() {
            // Back to what it was before this instant. A row of another key behind this one would have to move, so
            // then it stays and says that nothing changed.
            *last = Last { row: usize::MAX, since: Time::NEVER, value: last.before, before: None };
            self.time_s.pop();
            self.key.pop();
            self.value.pop();
        } else {
            last.value = Some(value);
            self.value[last.row] = value;
        }
    }

    /// Time, key and value as columns.
    pub fn into_columns(self, key: &'static str, value: (&'static str, &'static str)) -> Vec<Column> {
        let (name, unit) = value;
        vec![
            Column { name: "time_s", unit: "s", values: Values::Float(self.time_s) },
            Column { name: key, unit: "", values: Values::Id(self.key) },
            Column { name, unit, values: Values::Float(self.value) },
        ]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(s: u64) -> Time {
        Time::from_nanos(s * 1_000_000_000)
    }

    fn rows(steps: &Steps) -> Vec<(f64, u32, f64)> {
        (0..steps.value.len()).map(|row| (steps.time_s[row], steps.key[row], steps.value[row])).collect()
    }

    #[test]
    fn only_changes_make_rows() {
        let mut steps = Steps::default();
        for (time, value) in [(0, 1.0), (1, 1.0), (2, 3.0), (3, 3.0), (4, 1.0)] {
            steps.set(at(time), 0, value);
        }
        assert_eq!(rows(&steps), [(0.0, 0, 1.0), (2.0, 0, 3.0), (4.0, 0, 1.0)]);
    }

    #[test]
    fn of_one_instant_the_last_value_stays() {
        let mut steps = Steps::default();
        steps.set(at(0), 0, 1.0);
        steps.set(at(1), 0, 2.0);
        steps.set(at(1), 0, 3.0);
        steps.set(at(2), 0, 4.0);
        steps.set(at(2), 0, 3.0);
        steps.set(at(3), 0, 5.0);
        assert_eq!(rows(&steps), [(0.0, 0, 1.0), (1.0, 0, 3.0), (3.0, 0, 5.0)]);
    }

    proptest! {
        /// Whatever the order of changes, each key has at each instant the value that was set last.
        #[test]
        fn says_what_was_set(sets in proptest::collection::vec((0u64..3, 0usize..3, 0u8..3), 1..100)) {
            let (mut steps, mut now) = (Steps::default(), 0);
            let mut set = Vec::new();
            for (wait, key, value) in sets {
                now += wait;
                steps.set(at(now), key, f64::from(value));
                set.push((now as f64, key as u32, f64::from(value)));
            }
            let value = |rows: &[(f64, u32, f64)], key, time: f64| {
                rows.iter().rev().find(|row| row.1 == key && row.0 <= time).map(|row| row.2)
            };
            let rows = rows(&steps);
            prop_assert!(rows.is_sorted_by_key(|row| row.0));
            for key in 0..3 {
                for time in 0..=now {
                    prop_assert_eq!(value(&rows, key, time as f64), value(&set, key, time as f64));
                }
            }
        }
    }
}
