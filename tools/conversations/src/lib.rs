//! Conversations with one end of a TCP connection, written down: what the other end and the application do, what must
//! leave in answer, when, and what the sender then thinks. No network is in between, so a script shows one mechanism
//! of one RFC and nothing else. `docs/reference/conversations.md` describes the format.

mod parse;
mod problem;
mod run;
mod script;
mod segment;

pub use problem::Problem;
pub use script::Script;

use std::path::Path;

/// Reads a script and holds the conversation.
///
/// # Errors
///
/// The first line that cannot be read, or that does not come true.
pub fn hold(path: &Path) -> Result<(), Problem> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| Problem {
        file: file.clone(),
        line: 0,
        message: error.to_string(),
    })?;
    hold_text(&file, &text)
}

/// As [`hold`], with the script in memory.
///
/// # Errors
///
/// The first line that cannot be read, or that does not come true.
pub fn hold_text(file: &str, text: &str) -> Result<(), Problem> {
    let script = Script::parse(text).map_err(|mistake| mistake.in_file(file))?;
    run::run(&script).map_err(|mistake| mistake.in_file(file))
}
