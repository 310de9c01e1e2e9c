//! A change of one bit in a result of a real run is a difference.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use umts_golden::capture::octets;
use umts_golden::difference::difference;
use umts_golden::golden::Golden;
use umts_golden::metrics::{self, OMITTED};
use umts_golden::tables::Series;
use umts_record::series::{Table, Values};
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, RunOutput, run};

const OVERRIDES: [(&str, &str); 3] =
    [("duration", "5 s"), ("measure.budget", "true"), ("measure.rlc_pdus", "true")];

/// A run with errors on the radio, time series and captures. The captures exist as long as the folder.
fn recorded_run() -> (RunOutput, TempDir) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/measured-radio.toml");
    let overrides = OVERRIDES.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let scenario = Scenario::load(&file, &overrides).expect("the scenario is valid").scenario;
    let folder = tempfile::tempdir().expect("a folder");
    let options =
        RunOptions { series: true, pcap_dir: Some(folder.path().to_owned()), ..RunOptions::default() };
    (run(&scenario, options).expect("it runs"), folder)
}

/// Returns the reported difference of two sets of metrics.
fn reported(was: &[(&str, Option<f64>)], is: &[(&str, Option<f64>)]) -> Option<String> {
    let golden = |metrics: &[(&str, Option<f64>)]| {
        let mut golden = Golden::default();
        for (name, value) in metrics::lines(metrics.iter().copied()) {
            golden.add("seed 1, recorded", name, value);
        }
        // Differences that a file would lose do not count.
        Golden::parse(&golden.to_string()).expect("it was written by the tool")
    };
    difference(&golden(was), &golden(is)).map(|difference| difference.to_string())
}

#[test]
fn changed_bit_of_any_metric_is_a_difference() {
    let (output, _folder) = recorded_run();
    let was: Vec<_> = output.metrics.network.iter().collect();
    assert_eq!(reported(&was, &was), None);
    let [mut zeros, mut nulls, mut numbers] = [0; 3];
    for (index, (name, value)) in was.iter().enumerate() {
        let others: Vec<Option<f64>> = match value {
            Some(value) => {
                *if value.to_bits() == 0 { &mut zeros } else { &mut numbers } += 1;
                let flipped = (0..64).map(|bit| f64::from_bits(value.to_bits() ^ (1 << bit)));
                // One NaN is as good as another: the format keeps no payload of a NaN.
                flipped.filter(|value| !value.is_nan()).map(Some).chain([None]).collect()
            }
            None => {
                nulls += 1;
                vec![Some(0.0), Some(-0.0), Some(f64::from_bits(1))]
            }
        };
        for other in others {
            let mut is = was.clone();
            is[index] = (*name, other);
            let report = reported(&was, &is).unwrap_or_else(|| panic!("{name}: {value:?} is like {other:?}"));
            let has_line = |value: Option<f64>| value.is_some_and(|value| value.to_bits() != 0);
            let expected = if has_line(*value) || has_line(other) {
                format!("metric.{name}")
            } else {
                OMITTED.to_owned()
            };
            assert!(report.contains(&expected), "{name}: {report}");
        }
    }
    assert!(zeros > 100 && nulls > 20 && numbers > 30, "{zeros} of 0, {nulls} null, {numbers} others");
}

#[test]
fn missing_metric_is_a_difference() {
    let (output, _folder) = recorded_run();
    let was: Vec<_> = output.metrics.network.iter().collect();
    for index in 0..was.len() {
        let mut is = was.clone();
        let (name, _) = is.remove(index);
        assert!(reported(&was, &is).is_some(), "{name}");
    }
}

#[test]
fn changed_bit_of_any_column_changes_the_digest_of_the_table() {
    let (output, _folder) = recorded_run();
    let tables = output.series.expect("they are recorded").tables;
    let mut filled = 0;
    for table in tables.iter().filter(|table| table.rows() > 0) {
        for column in 0..table.columns.len() {
            let mut other = table.clone();
            flip(&mut other.columns[column].values);
            assert_ne!(digest(&other), digest(table), "{}: {}", table.name, table.columns[column].name);
        }
        filled += 1;
    }
    assert!(filled > 10, "{filled} tables have rows");
}

#[test]
fn changed_bit_of_a_capture_changes_its_digest() {
    let (output, _folder) = recorded_run();
    assert!(!output.files.is_empty());
    for file in &output.files {
        let (was, content) = (octets(file).expect("it is there"), fs::read(file).expect("it is there"));
        for offset in [0, content.len() / 2, content.len() - 1] {
            let mut changed = content.clone();
            changed[offset] ^= 1;
            fs::write(file, &changed).expect("it can be written");
            assert_ne!(octets(file).expect("it is there"), was, "octet {offset} of {}", file.display());
        }
    }
}

fn digest(table: &Table) -> String {
    let mut series = Series::default();
    series.add(table);
    series.finish().map(|(_, digest)| digest).collect()
}

/// Changes the lowest bit of the middle value. Words change their text.
fn flip(values: &mut Values) {
    fn middle<V>(values: &mut [V]) -> &mut V {
        let index = values.len() / 2;
        &mut values[index]
    }
    let float = |value: f64| f64::from_bits(value.to_bits() ^ 1);
    match values {
        Values::Float(values) => *middle(values) = float(*middle(values)),
        Values::Id(values) => *middle(values) ^= 1,
        Values::OptionalId(values) => {
            let value = middle(values);
            *value = value.map_or(Some(0), |value| Some(value ^ 1));
        }
        Values::OptionalFloat(values) => {
            let value = middle(values);
            *value = value.map_or(Some(0.0), |value| Some(float(value)));
        }
        Values::Count(values) => *middle(values) ^= 1,
        Values::Flag(values) => *middle(values) ^= true,
        Values::Word(values) => *middle(values) = "another word",
        Values::Text(values) => middle(values).push('.'),
    }
}
