//! Writes a link trace of the HS-DSCH from the fading model of a scenario.
//!
//! `umts-link-traces SCENARIO.toml USER SECONDS [KEY=VALUE …] > FILE` records the first user of the
//! group USER. The trace has the link that this user has in run 0 of the scenario.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use umts_kernel::random::Streams;
use umts_scenario::Scenario;
use umts_stack::mac::hs::{LinkTrace, TTI};
use umts_units::Duration;

const USAGE: &str = "usage: umts-link-traces SCENARIO.toml USER SECONDS [KEY=VALUE …] > FILE";

/// Longest trace: about 1 GB of text.
const MAX_SECONDS: f64 = 86_400.0;

fn main() -> ExitCode {
    match trace(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(trace) => match std::io::stdout().write_all(trace.to_text().as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("cannot write the trace: {error}");
                ExitCode::FAILURE
            }
        },
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn trace(arguments: &[String]) -> Result<LinkTrace, String> {
    let [path, user, seconds, overrides @ ..] = arguments else { return Err(USAGE.to_owned()) };
    let range = TTI.as_secs()..=MAX_SECONDS;
    let seconds = seconds.parse().ok().filter(|seconds| range.contains(seconds));
    let seconds = seconds.ok_or_else(|| {
        format!("SECONDS must be a number from {} to {MAX_SECONDS}\n{USAGE}", TTI.as_secs())
    })?;
    let overrides = overrides.iter().map(|text| {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not KEY=VALUE"))?;
        Ok((key.to_owned(), value.to_owned()))
    });
    let overrides: Vec<_> = overrides.collect::<Result<_, String>>()?;
    let scenario = Scenario::load(Path::new(path), &overrides).map_err(|error| error.render(false))?.scenario;
    let groups = scenario.ue.iter().zip(&scenario.plan().groups);
    let (ue, group) = groups
        .into_iter()
        .find(|(ue, _)| ue.name == *user)
        .ok_or_else(|| format!("there is no user `{user}`"))?;
    if group.hs_dsch_category.is_none() {
        return Err(format!("bearer `{}` of `{user}` has no HS-DSCH", ue.bearer));
    }
    let config = Arc::new(ue.hs_dsch.clone().unwrap_or_default());
    let ttis = Duration::from_secs_f64(seconds).as_nanos() / TTI.as_nanos();
    Ok(LinkTrace::record(&config, group.first, &Streams::new(scenario.seed, 0), ttis))
}
