//! Writes the link curves. `umts-link-curves` uses the stored simulated points; `umts-link-curves
//! simulate` first simulates them again, which takes seven minutes on one core.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use umts_link_curves::table::{curves, read_points, simulate_points, write_points};

fn main() -> ExitCode {
    match run(&env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let simulated = crate_folder.join("viterbi.csv");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["simulate"] => write(&simulated, &write_points(&simulate_points()))?,
        _ => return Err("usage: umts-link-curves [simulate]".to_owned()),
    }
    let text = fs::read_to_string(&simulated).map_err(|error| format!("{}: {error}", simulated.display()))?;
    let points = read_points(&text).map_err(|error| format!("{}: {error}", simulated.display()))?;
    write(&crate_folder.join("../../crates/stack/src/radio/phy/link_curve.csv"), &curves(&points))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
