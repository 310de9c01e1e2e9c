//! Lines of a run's metrics. A metric that is 0 or null has no line of its own, but is in a digest.

use blake3::Hasher;

use crate::digest::hex;
use crate::golden::exact;

/// Name of the line with the digest of the metrics that are 0 or null.
pub const OMITTED: &str = "omitted_metrics";

/// Returns names and values of the lines: one for each metric that is neither 0 nor null, then the
/// counts and the digest of all others.
///
/// The digest covers position, name and value of each omitted metric. -0 has a line of its own.
pub fn lines<'a>(metrics: impl Iterator<Item = (&'a str, Option<f64>)>) -> Vec<(String, String)> {
    let (mut zeros, mut nulls) = (0_usize, 0_usize);
    let mut omitted = Hasher::new();
    let mut lines = Vec::new();
    for (position, (name, value)) in metrics.enumerate() {
        match value {
            Some(number) if number.to_bits() != 0 => {
                lines.push((format!("metric.{name}"), exact(value)));
                continue;
            }
            Some(_) => zeros += 1,
            None => nulls += 1,
        }
        omitted.update(format!("{position} {name} = {}\n", exact(value)).as_bytes());
    }
    lines.push((OMITTED.to_owned(), format!("{zeros} of 0, {nulls} null, {}", hex(&omitted))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: [(&str, Option<f64>); 4] =
        [("rtt", Some(0.5)), ("drops", Some(0.0)), ("rate", Some(1.0)), ("delay", None)];

    fn digest(metrics: &[(&str, Option<f64>)]) -> String {
        let (_, digest) = lines(metrics.iter().copied()).pop().expect("the digest is always the last line");
        digest
    }

    #[test]
    fn only_metrics_with_other_values_have_lines() {
        let lines = lines(METRICS.into_iter());
        let names: Vec<&str> = lines.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["metric.rtt", "metric.rate", OMITTED]);
        let values: Vec<&str> = lines.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values[..2], ["0.5", "1.0"]);
        assert!(values[2].starts_with("1 of 0, 1 null, "), "{values:?}");
    }

    #[test]
    fn minus_zero_has_a_line() {
        let lines = lines([("drift", Some(-0.0))].into_iter());
        assert_eq!(lines[0], ("metric.drift".to_owned(), "-0.0".to_owned()));
    }

    #[test]
    fn digest_covers_names_values_and_positions() {
        let [rtt, drops, rate, delay] = METRICS;
        for others in [
            [rtt, ("falls", Some(0.0)), rate, delay],
            [rtt, ("drops", None), rate, ("delay", Some(0.0))],
            [rtt, delay, rate, drops],
            [rtt, rate, drops, delay],
        ] {
            assert_ne!(digest(&others), digest(&METRICS), "{others:?}");
        }
        assert_eq!(digest(&[("rtt", Some(0.6)), drops, rate, delay]), digest(&METRICS));
    }
}
