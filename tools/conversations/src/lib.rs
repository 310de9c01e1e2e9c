//! Conversations with one end of a TCP connection. A script has the actions of the other end and of
//! the application, the segments that must leave in answer, their times, and the sender's state
//! afterwards. There is no network in between, so a script shows one mechanism of one RFC alone.
//! `docs/reference/conversations.md` describes the format.
//!
//! The end under test is the model, or the kernel of this machine.

#[cfg(target_os = "linux")]
mod kernel;
mod model;
mod parse;
mod problem;
mod run;
mod script;
mod segment;
mod tested_end;

pub use problem::Problem;
pub use script::Script;

use std::path::{Path, PathBuf};

use problem::Mistake;

/// The end under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implementation {
    /// TCP of the model.
    Model,
    /// TCP of the kernel, in a network namespace of its own.
    Kernel,
}

/// Plays a script with the model.
///
/// # Errors
///
/// The first line that cannot be parsed, or that is not met.
pub fn play_with_model(path: &Path) -> Result<(), Problem> {
    play_with(Implementation::Model, path)
}

/// As [`play_with_model`], with the model or with the kernel.
///
/// # Errors
///
/// The first line that cannot be parsed, or that is not met.
pub fn play_with(implementation: Implementation, path: &Path) -> Result<(), Problem> {
    let (file, text) = read(path)?;
    match implementation {
        Implementation::Model => play_text(&file, &text),
        Implementation::Kernel => {
            let played = with_kernel(&text, |script, end| run::run(&script, end));
            played.map_err(|mistake| mistake.in_file(&file))
        }
    }
}

/// As [`play_with_model`], with the script in memory.
///
/// # Errors
///
/// The first line that cannot be parsed, or that is not met.
pub fn play_text(file: &str, text: &str) -> Result<(), Problem> {
    let played = run_with_model(text, |script, end| run::run(&script, end));
    played.map_err(|mistake| mistake.in_file(file))
}

/// Plays a script, and returns a line for each event, whatever the script expects.
///
/// # Errors
///
/// The first line that cannot be parsed or played.
pub fn protocol(implementation: Implementation, path: &Path) -> Result<Vec<String>, Problem> {
    let (file, text) = read(path)?;
    let lines = match implementation {
        Implementation::Model => run_with_model(&text, |script, end| run::protocol(&script, end)),
        Implementation::Kernel => with_kernel(&text, |script, end| run::protocol(&script, end)),
    };
    lines.map_err(|mistake| mistake.in_file(&file))
}

/// Number of additional attempts for a failed conversation with the kernel, each on its own, before
/// it counts as failed: a delay of the machine changes round trips and the order of events.
const MAX_ATTEMPTS: u32 = 3;

/// Plays conversations with the kernel, first all at the same time, then the failed ones one by
/// one. Returns the problems that remain.
pub fn play_all_with_kernel(files: &[PathBuf]) -> Vec<Problem> {
    let failed: Vec<&PathBuf> = std::thread::scope(|scope| {
        let start = |file| scope.spawn(move || play_with(Implementation::Kernel, file));
        let threads: Vec<_> = files.iter().map(|file| (file, start(file))).collect();
        let mut failed = Vec::new();
        for (file, thread) in threads {
            if !matches!(thread.join(), Ok(Ok(()))) {
                failed.push(file);
            }
        }
        failed
    });
    failed.into_iter().filter_map(|file| play_again(file).err()).collect()
}

/// Plays a conversation with the kernel, at most [`MAX_ATTEMPTS`] times, until an attempt succeeds.
fn play_again(file: &Path) -> Result<(), Problem> {
    let mut played = play_with(Implementation::Kernel, file);
    for _ in 1..MAX_ATTEMPTS {
        if played.is_ok() {
            break;
        }
        played = play_with(Implementation::Kernel, file);
    }
    played
}

/// Returns why conversations with the kernel of this machine are impossible. `None` if they are
/// possible.
pub fn why_kernel_is_out_of_reach() -> Option<String> {
    #[cfg(target_os = "linux")]
    return kernel::why_out_of_reach();
    #[cfg(not(target_os = "linux"))]
    return Some("it takes Linux".to_owned());
}

/// Returns the name and the text of a script.
fn read(path: &Path) -> Result<(String, String), Problem> {
    let file = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => Ok((file, text)),
        Err(error) => Err(Problem { file, line: 0, message: error.to_string() }),
    }
}

fn run_with_model<R>(
    text: &str,
    play: impl FnOnce(Script, model::Model) -> Result<R, Mistake>,
) -> Result<R, Mistake> {
    let script = Script::parse(text)?;
    let model = model::Model::new(&run::config(&script.settings)?);
    play(script, model)
}

#[cfg(target_os = "linux")]
fn with_kernel<R: Send>(
    text: &str,
    play: impl FnOnce(Script, kernel::Kernel) -> Result<R, Mistake> + Send,
) -> Result<R, Mistake> {
    let script = Script::parse(text)?;
    let settings = kernel::Settings::new(&script)?;
    // In a thread of its own, because the thread enters another network namespace and cannot
    // return.
    let converse = move || {
        let kernel = kernel::Kernel::new(&settings).map_err(|message| Mistake::new(0, message))?;
        play(script, kernel)
    };
    std::thread::scope(|scope| scope.spawn(converse).join())
        .unwrap_or_else(|_| Err(Mistake::new(0, "the conversation with the kernel panicked")))
}

#[cfg(not(target_os = "linux"))]
fn with_kernel<R>(_: &str, _: impl FnOnce(Script, model::Model) -> Result<R, Mistake>) -> Result<R, Mistake> {
    Err(Mistake::new(0, "a conversation with the kernel requires Linux"))
}
