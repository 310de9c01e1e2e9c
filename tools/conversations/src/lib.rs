//! Conversations with one end of a TCP connection: what the other end and the application do, what must leave in answer,
//! when, and the sender's state after it. No network is in between, so a script shows one mechanism of one RFC and
//! nothing else. `docs/reference/conversations.md` describes the format.
//!
//! The end under test is the model's, or that of the kernel of this machine.

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

/// Which end a conversation is held with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The model's.
    Model,
    /// The kernel's, in a network namespace of its own.
    Kernel,
}

/// Reads a script and holds the conversation with the model.
///
/// # Errors
///
/// The first line that cannot be read, or that does not come true.
pub fn hold(path: &Path) -> Result<(), Problem> {
    hold_with(Whose::Model, path)
}

/// As [`hold`], with the model or with the kernel.
///
/// # Errors
///
/// The first line that cannot be read, or that does not come true.
pub fn hold_with(whose: Whose, path: &Path) -> Result<(), Problem> {
    let (file, text) = read(path)?;
    match whose {
        Whose::Model => hold_text(&file, &text),
        Whose::Kernel => {
            with_kernel(&text, |script, end| run::run(&script, end)).map_err(|m| m.in_file(&file))
        }
    }
}

/// As [`hold`], with the script in memory.
///
/// # Errors
///
/// The first line that cannot be read, or that does not come true.
pub fn hold_text(file: &str, text: &str) -> Result<(), Problem> {
    let hold = || run_with_model(text, |script, end| run::run(&script, end));
    hold().map_err(|mistake| mistake.in_file(file))
}

/// Holds a conversation and returns a line for each thing that happened, whatever the script expects.
///
/// # Errors
///
/// The first line that cannot be read or played.
pub fn protocol(whose: Whose, path: &Path) -> Result<Vec<String>, Problem> {
    let (file, text) = read(path)?;
    let lines = match whose {
        Whose::Model => run_with_model(&text, |script, end| run::protocol(&script, end)),
        Whose::Kernel => with_kernel(&text, |script, end| run::protocol(&script, end)),
    };
    lines.map_err(|mistake| mistake.in_file(&file))
}

/// How often a conversation with the kernel is held again, alone, before it counts as failed: a machine that is late once
/// changes round trips and the order of what happens.
const ATTEMPTS: u32 = 3;

/// Holds conversations with the kernel, all at the same time, and those that fail once more one by one. Returns the
/// problems that remain.
pub fn hold_all_with_kernel(files: &[PathBuf]) -> Vec<Problem> {
    let first = std::thread::scope(|scope| {
        let held = |file| scope.spawn(move || hold_with(Whose::Kernel, file).err());
        let threads: Vec<_> = files.iter().map(|file| (file, held(file))).collect();
        let failed =
            |thread: std::thread::ScopedJoinHandle<'_, Option<Problem>>| !matches!(thread.join(), Ok(None));
        threads.into_iter().filter_map(|(file, thread)| failed(thread).then_some(file)).collect::<Vec<_>>()
    });
    first.into_iter().filter_map(|file| hold_again(file).err()).collect()
}

fn hold_again(file: &Path) -> Result<(), Problem> {
    let mut held = hold_with(Whose::Kernel, file);
    for _ in 1..ATTEMPTS {
        if held.is_ok() {
            break;
        }
        held = hold_with(Whose::Kernel, file);
    }
    held
}

/// Why conversations cannot be held with the kernel of this machine; `None` if they can.
pub fn kernel_is_out_of_reach() -> Option<String> {
    #[cfg(target_os = "linux")]
    return kernel::is_out_of_reach();
    #[cfg(not(target_os = "linux"))]
    return Some("it takes Linux".to_owned());
}

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
    // A thread of its own: it changes its network namespace for good.
    let talk = move || {
        let kernel = kernel::Kernel::new(&settings).map_err(|message| Mistake::new(0, message))?;
        play(script, kernel)
    };
    std::thread::scope(|scope| scope.spawn(talk).join())
        .unwrap_or_else(|_| Err(Mistake::new(0, "the conversation with the kernel panicked")))
}

#[cfg(not(target_os = "linux"))]
fn with_kernel<R>(_: &str, _: impl FnOnce(Script, model::Model) -> Result<R, Mistake>) -> Result<R, Mistake> {
    Err(Mistake::new(0, "the kernel's end takes Linux"))
}
